"""`te.create_prim_func`: a function for tensors that are given in the order of its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    Signedness,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.dialects.builtin import IntegerType as _IntegerType
from xdsl.ir import Attribute, BlockArgument, Operation
from xdsl.utils.exceptions import VerifyException

from ...dialects import te
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.hints import is_sequence, isa
from ...dialects.support.name_hints import name_hint
from ...dialects.support.python_values import attribute_of
from ...dialects.te.dims import as_dim
from ...dialects.te.tensor import TensorOp, check_reads
from ...dialects.tir.annotation_keys import LAYOUT_FREE_BUFFERS, verify_annotations
from ...dialects.tir.argument_order import ARGUMENTS
from ...dialects.tir.core import BlockOp, PrimFuncOp, blocks_under
from ...dialects.tir.nodes import tree as tree  # functions are trees of nodes, too
from ...dialects.tir.nodes.parameters import keep_sizes
from ..relay_to_tir.te_to_tir import computation_of
from ..relay_to_tir.te_to_tir import create_prim_func as from_inputs_and_outputs

LAYOUT_FREE_PLACEHOLDERS = "layout_free_placeholders"
"""The attribute of a computation that says which tensors that it reads may lie in memory in any order."""

Argument: TypeAlias = te.Tensor | te.Var
"""What callers give: an array, or the number that a symbol is."""


@checked
def create_prim_func(
    ops: Sequence[te.Tensor | TensorOp | te.Var | te.Slot],
    index_dtype_override: str | None = None,
    name: str = "main",
) -> PrimFuncOp:
    """The function that computes the tensors among `ops` that are no placeholders, from those that are. Its arguments
    are called as the tensors are: placeholders first, symbols last, whatever the order of `ops` (callers keep to
    theirs). A symbol is a `te.var`, or a `tir.Var` that extents speak of.

    Each axis of a tensor is a loop, also one of one value, as in TVM. What `attrs` of a computation say is said of its
    block, a tensor by its name. Placeholders whose layout is free (`layout_free_placeholders`) are the function's
    `layout_free_buffers`, by number, where they are its arguments.

    `index_dtype_override` is TVM's: indices are as wide as the machine's here, and so hold those of either type.

    Raises:
        UsageError: a tensor is given twice, what is computed needs a placeholder that is not given, an index is to be
            neither, or `attrs` have a value that is no attribute.
    """
    if index_dtype_override not in (None, "int32", "int64"):
        raise UsageError(f"indices are int32 or int64, and not {index_dtype_override}")
    arguments = [each.tensor if isinstance(each, TensorOp) else each for each in ops]
    arguments = with_symbols(arguments)
    function, blocks = function_of(name, arguments, unit_loops=True)
    tensors = [each for each in arguments if isinstance(each, te.Tensor)]
    _say_attrs(function, blocks, sorted(tensors, key=lambda each: each.producer is not None))
    return function


def _say_attrs(function: PrimFuncOp, blocks: Mapping[te.Tensor, BlockOp], passed: Sequence[te.Tensor]) -> None:
    """Put what `attrs` of the computations say on their blocks, and on the function what they say of those that are
    `passed`, in the order of its parameters."""
    free: set[int] = set()
    for tensor, block in blocks.items():
        assert tensor.producer is not None
        for key, value in tensor.producer.attrs.items():
            if key == LAYOUT_FREE_PLACEHOLDERS and is_sequence(value):
                tensors = value
                free |= {passed.index(each) for each in tensors if each in passed}
                value = [each for each in tensors if each not in passed]
                if not value:
                    continue
            try:
                said = attribute_of(_named(value))
                verify_annotations({key: said})
            except (TypeError, VerifyException) as error:
                raise UsageError(f"te: attribute '{key}' of '{tensor.name}': {error}") from None
            block.attributes[key] = said
    if free:
        function.attributes[LAYOUT_FREE_BUFFERS] = attribute_of(sorted(free))


def _named(value: object) -> object:
    """A value with the names of tensors for them."""
    if is_sequence(value):
        return [_named(each) for each in value]
    return value.name if isinstance(value, te.Tensor) else value


def function_of(
    name: str, arguments: Sequence[Argument], unit_loops: bool = False
) -> tuple[PrimFuncOp, dict[te.Tensor, BlockOp]]:
    """The function on these tensors and symbols, and the block that computes each tensor, also one in the steps of a
    scan; none where there are no elements, or statements compute it. With `unit_loops` an axis of one value has a loop,
    too.

    Raises:
        UsageError: a tensor is given twice, or what is computed needs a placeholder that is not given.
    """
    check_arguments(arguments)
    tensors = [each for each in arguments if isinstance(each, te.Tensor)]
    symbols = [each for each in arguments if isinstance(each, te.Var)]
    inputs = [tensor for tensor in tensors if tensor.producer is None]
    outputs = [tensor for tensor in tensors if tensor.producer is not None]
    nests: dict[object, Operation] = {}
    sizes: dict[te.Expr, BlockArgument] = {}
    function = from_inputs_and_outputs(
        name, inputs, outputs, symbols=symbols, nests=nests, unit_loops=unit_loops, sizes=sizes
    )
    taken: dict[str, int] = {}
    for argument, tensor in zip(function.region.block.args, [*inputs, *outputs], strict=False):
        count = taken[tensor.name] = taken.get(tensor.name, -1) + 1
        argument.name_hint = name_hint(tensor.name) + (f"_{count}" if count else "")
    keep_sizes(function, {argument.index: symbol for symbol, argument in sizes.items()})
    order: list[Argument] = [*inputs, *outputs, *symbols]
    places = {argument: place for place, argument in enumerate(order)}
    is_partial = 0 < len(symbols) < len(sizes)  # callers give those, and no others
    if order != list(arguments) or is_partial or any(_is_unsigned(tensor) for tensor in tensors):
        function.attributes[ARGUMENTS] = ArrayAttr(
            DictionaryAttr(
                {
                    "name": StringAttr(argument.name),
                    "place": IntegerAttr(places[argument], i64),
                    "type": _type(argument),
                }
            )
            for argument in arguments
        )
    blocks = {computation: next(iter(blocks_under(nest))) for computation, nest in nests.items()}
    computed = [t for t in te.topological_order(outputs) if t.producer is not None]
    steps = {key: block for key, block in blocks.items() if isinstance(key, te.Tensor)}
    return function, steps | {tensor: blocks[key] for tensor in computed if (key := computation_of(tensor)) in blocks}


def with_symbols(arguments: Sequence[Argument | te.Slot]) -> list[Argument]:
    """`arguments` with the symbols that variables (`tir.Var`) are for these.

    Raises:
        UsageError: one is of no integers.
    """
    found: list[Argument] = []
    for argument in arguments:
        if isinstance(argument, te.Slot):
            symbol = as_dim(argument) if isa(argument.type, _IntegerType | IndexType) else None
            if not isinstance(symbol, te.Var):
                raise UsageError(f"the variable '{argument.name}' is of no integers, and no extent")
            argument = symbol
        found.append(argument)
    return found


def check_arguments(arguments: Sequence[Argument]) -> None:
    """Whether these tensors and symbols make a function.

    Raises:
        UsageError: one is given twice, or what is computed needs a placeholder that is not given.
        IndexError: a formula surely reads outside of a tensor.
    """
    for argument in arguments:
        if not isinstance(argument, te.Tensor | te.Var):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"an argument is a {type(argument).__name__}, and not a tensor of te")
    if len(set(arguments)) != len(arguments):
        name = next(each.name for number, each in enumerate(arguments) if each in set(arguments[:number]))
        raise UsageError(f"'{name}' is given twice")
    tensors = [each for each in arguments if isinstance(each, te.Tensor)]
    if not any(tensor.producer is not None for tensor in tensors):
        raise UsageError("none of the tensors that are given is computed", hint="give those that are, too")
    for tensor in te.topological_order(tensors):
        if tensor.producer is None and tensor not in arguments:
            raise UsageError(f"'{tensor.name}' is read, and not among the arguments", hint="add it to them")
        if tensor.producer is not None:
            check_reads(tensor.producer, tensor.name)


def _type(argument: Argument) -> Attribute:
    if isinstance(argument, te.Var):
        return IndexType()
    shape = [dim if isinstance(dim, int) else DYNAMIC_INDEX for dim in argument.dims]
    return TensorType(argument.element_type, shape)


def _is_unsigned(tensor: te.Tensor) -> bool:
    type = tensor.element_type
    return isa(type, _IntegerType) and type.signedness.data == Signedness.UNSIGNED
