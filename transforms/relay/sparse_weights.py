"""What the passes share that take weights as sparse matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import AnyFloat, ArrayAttr, FunctionType, StringAttr, TensorType, i32
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.relay.base import tensor
from ...dialects.relay.core import FuncOp
from ...dialects.relay.functions import INPUT_NAMES, name_of
from ...dialects.relay.ops.nn.convolution import Conv2dOp
from ...dialects.relay.ops.nn.sparse_conv2d import ORDERS
from ...dialects.support.diagnostics import UsageError
from ..infra import remarks
from .symbol_names import is_referred_to

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray = npt.NDArray[np.generic]

NUMBERS = 5
"""Of a weight's parts: blocks, rows and columns of a block, columns, beginnings of rows."""


def parts_of(names: Sequence[str], numbers: Sequence[int]) -> Mapping[str, Sequence[int]]:
    """The five numbers of each weight, by its name.

    Raises:
        UsageError: there are not five numbers for each weight.
    """
    if len(numbers) != NUMBERS * len(names):
        raise UsageError(
            f"weight-shape has {len(numbers)} numbers, and weight-name {len(names)} names",
            hint="five for each: blocks, rows and columns of a block, columns, beginnings of rows",
        )
    return {name: numbers[NUMBERS * place : NUMBERS * (place + 1)] for place, name in enumerate(names)}


def take_sparse(
    pass_name: str,
    func: FuncOp,
    argument: BlockArgument,
    extents: Sequence[int],
    obstacle: Callable[[Operation], str | None],
    sparse: Callable[[Operation, Sequence[SSAValue]], Operation],
    whole_elements: bool,
) -> bool:
    """Have a function take a weight as a sparse matrix: three arguments in place of one; whether it does.

    Args:
        extents: five numbers, of its parts.
        obstacle: why an operation that reads the weight cannot be computed with a sparse one, if it cannot.
        sparse: the operation that is computed with these arguments in its place.
        whole_elements: whether blocks of one element are numbers, and no blocks.

    Raises:
        UsageError: the parts are not those of the weight.
    """
    name = name_of(argument)
    if is_referred_to(func):
        given = f"%{name} as it is"
        remarks.missed(pass_name, func, f"@{func.sym_name.data} is called, by what gives {given}")
        return False
    users = list(dict.fromkeys(use.operation for use in argument.uses))
    for op in users:
        if (why := obstacle(op)) is not None:
            remarks.missed(pass_name, op, f"%{name} is left as it is: {why}")
            return False
    *block, columns, beginnings = extents
    whole = block[:1] if whole_elements and block[1:] == [1, 1] else block
    types: dict[str, TensorType[Attribute]] = {
        "data": TensorType(tensor(argument).element_type, whole),
        "indices": TensorType(i32, [columns]),
        "indptr": TensorType(i32, [beginnings]),
    }
    body = func.body.block
    parts: list[BlockArgument] = []
    names = [[f"{name}.{part}" for part in types] if each is argument else [name_of(each)] for each in body.args]
    for number, (part, type) in enumerate(types.items()):
        parts.append(body.insert_arg(type, argument.index + 1 + number))
        parts[-1].name_hint = f"{argument.name_hint}.{part}"
    for op in users:
        put_in_place(op, _made(name, op, lambda op=op: sparse(op, parts)))
    body.erase_arg(argument)
    if INPUT_NAMES in func.attributes:
        func.attributes[INPUT_NAMES] = ArrayAttr(StringAttr(each) for both in names for each in both)
    func.function_type = FunctionType.from_lists(body.arg_types, func.function_type.outputs.data)
    return True


def _made(name: str, op: Operation, sparse: Callable[[], Operation]) -> Operation:
    """What is computed with the parts of a weight in the place of `op`.

    Raises:
        UsageError: they are not the parts of a weight that gives what `op` does.
    """
    try:
        new = sparse()
    except VerifyException as error:
        raise UsageError(f"weight-shape: the parts of '{name}' do not fit: {error}") from None
    (given,), (wanted,) = new.result_types, op.result_types
    if given != wanted:
        raise UsageError(f"weight-shape: with the parts of '{name}' the result is {given}, and not {wanted}")
    return new


def put_in_place(op: Operation, new: Operation) -> None:
    """Replace an operation of one result by another."""
    new.location = op.location
    block = op.parent
    assert block is not None
    block.insert_op_before(new, op)
    new.results[0].name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(new.results[0])
    op.detach()
    op.erase()


def why_not_in_floats(op: Operation) -> str | None:
    """Why a product is none of sparse matrices by its element types: those compute in floats of one type."""
    types = {tensor(value).element_type for value in (*op.operands, *op.results)}
    if len(types) > 1 or not all(isinstance(type, AnyFloat) for type in types):
        return f"it computes with {', '.join(sorted(map(str, types)))}, and not with floats of one type"
    return None


def why_not_sparse(op: Conv2dOp, layout: str, side: int) -> str | None:
    """Why a convolution is none that `nn.sparse_conv2d` computes of data in a layout, with `side` rows of taps; `None`
    where it is."""
    if (why := why_not_in_floats(op)) is not None:
        return why
    data, kernel, out = op.layouts()
    window = op.window(tensor(op.weight).get_shape())
    if (data.text, out.text) != (layout, layout) or {*kernel.text} != {*ORDERS[layout]} or len(kernel.text) != 4:
        return f"its layouts are {data.text}, {kernel.text}, {out.text}"
    if op.group_count() != 1:
        return "it has groups"
    if tuple(window.kernel) != (side, side):
        return f"its taps are {' x '.join(map(str, window.kernel))}"
    if side % 2 == 0:
        return "its taps have none in the middle"
    if {*window.strides, *window.dilation} != {1}:
        return "it takes steps"
    if {*window.before, *window.after} != {side // 2}:
        return f"its padding is not {side // 2} on each side"
    return None


def as_matrix(weight: NDArray, kernel_layout: str, layout: str) -> NDArray:
    """The weight of a convolution as a matrix with a row for each output channel."""
    order = ORDERS[layout]
    turned = weight.transpose([kernel_layout.index(axis) for axis in order])
    return turned.reshape(turned.shape[0], -1)


def block_sparse(matrix: NDArray, block: tuple[int, int]) -> tuple[NDArray, NDArray, NDArray]:
    """A matrix `[n, k]` as its blocks that are not all zeros, `[count, r, c]`, the number of each in its row of blocks,
    `[count]`, and where each row of blocks begins, `[n / r + 1]`: the format BSR.

    Raises:
        UsageError: its extents are no multiples of those of a block.
    """
    import numpy as np

    (rows, columns), (height, width) = matrix.shape, block
    if rows % height or columns % width:
        raise UsageError(f"a matrix of {rows} x {columns} has no blocks of {height} x {width}")
    blocks = matrix.reshape(rows // height, height, columns // width, width).swapaxes(1, 2)
    there = blocks.any(axis=(2, 3))
    ends = np.cumsum(there.sum(axis=1), dtype=np.int32)
    return blocks[there], np.nonzero(there)[1].astype(np.int32), np.concatenate([np.zeros(1, np.int32), ends])
