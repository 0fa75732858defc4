"""Graphs whose extents are open: a graph of known extents, some extents of whose arguments are taken away, and the same
graph at other sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from weft.dialects.relay.base import DYNAMIC, RelayOp, Tensor, tensor
from weft.dialects.relay.core import ConstantOp, FuncOp, ReturnOp, TupleGetOp, TupleOp
from weft.dialects.support.diagnostics import Diagnostic


def arguments_of(module: ModuleOp) -> list[Tensor]:
    """The types of the arguments of `@main`."""
    return [tensor(argument) for argument in main_of(module).body.block.args]


def graph_of(op: RelayOp) -> ModuleOp:
    """A graph of a copy of `op` and of the constants and tuples that it takes; arguments are all else."""
    block = Block()
    values: dict[SSAValue, SSAValue] = {}

    def place(value: SSAValue) -> SSAValue:
        if value not in values:
            owner = value.owner
            if isinstance(owner, ConstantOp | TupleOp):
                copy = owner.clone({operand: place(operand) for operand in owner.operands})
                block.add_op(copy)
                values[value] = copy.results[0]
            else:
                values[value] = block.insert_arg(value.type, len(block.args))
        return values[value]

    copy = op.clone({operand: place(operand) for operand in op.operands})
    block.add_ops([copy, ReturnOp(*copy.results)])
    type = FunctionType.from_lists([a.type for a in block.args], [result.type for result in copy.results])
    return ModuleOp([FuncOp("main", type, Region(block))])


def main_of(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")


def with_arguments(module: ModuleOp, types: Sequence[Attribute]) -> ModuleOp | None:
    """The graph with arguments of these types, the other types following from them; `None` where an operator refuses
    them."""
    old = main_of(module)
    block = Block(arg_types=types)
    values: dict[SSAValue, SSAValue] = dict(zip(old.body.block.args, block.args, strict=True))
    for op in old.body.block.ops:
        try:
            made = _again(op, values)
        except (VerifyException, Diagnostic, TypeError, ValueError):
            return None
        block.add_op(made)
        values.update(zip(op.results, made.results, strict=True))
    ending = block.last_op
    assert isinstance(ending, ReturnOp)
    made_type = FunctionType.from_lists(types, [result.type for result in ending.operands])
    made = ModuleOp([FuncOp("main", made_type, Region(block))])
    try:
        made.verify()
    except (VerifyException, Diagnostic):
        return None
    return made


def _again(op: Operation, values: dict[SSAValue, SSAValue]) -> Operation:
    """The operation on other operands, with the types that follow from them."""
    if isinstance(op, ReturnOp):
        return ReturnOp(*(values[operand] for operand in op.operands))
    if isinstance(op, TupleOp):
        return TupleOp(*(values[operand] for operand in op.operands))
    if isinstance(op, TupleGetOp):
        return TupleGetOp(values[op.operands[0]], op.index.value.data)
    made = op.clone(values)
    if isinstance(op, ConstantOp):
        return made
    assert isinstance(made, RelayOp)
    for result, type in zip(made.results, made.infer(), strict=True):
        result._type = type  # pyright: ignore[reportPrivateUsage]
    made.verify()
    return made


def opened(module: ModuleOp, is_open: Callable[[int], bool]) -> ModuleOp | None:
    """The graph without the extents that are chosen by their numbers, those of all arguments being counted."""
    number = 0
    types: list[Tensor] = []
    for type in arguments_of(module):
        shape = [DYNAMIC if is_open(number + d) else n for d, n in enumerate(type.get_shape())]
        number += len(shape)
        types.append(TensorType(type.element_type, shape))
    return with_arguments(module, types)


def resized(module: ModuleOp, open_one: ModuleOp, size: Callable[[int], int]) -> ModuleOp | None:
    """The graph at another size: an extent `n` that `open_one` leaves open is `size(n)`."""
    types = [
        TensorType(
            known.element_type,
            [size(n) if m == DYNAMIC else n for n, m in zip(known.get_shape(), unknown.get_shape(), strict=True)],
        )
        for known, unknown in zip(arguments_of(module), arguments_of(open_one), strict=True)
    ]
    return with_arguments(module, types)
