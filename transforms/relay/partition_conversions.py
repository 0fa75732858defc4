"""Divide a quantised network into what makes bytes of its inputs, what computes with them, and what makes floats of it.

    relay.func @main(%x)            relay.func @quantize_inputs(%x)     // %0 = relay.qnn.quantize %x
      %0 = relay.qnn.quantize %x    relay.func @quantized_main(%0)      // %1 = relay.qnn.conv2d %0, %w
      %1 = relay.qnn.conv2d %0  ->  relay.func @dequantize_outputs(%1)  // %2 = relay.qnn.dequantize %1
      %2 = relay.qnn.dequantize %1  relay.func @main(%x)                // calls the three, one after the other
      relay.return %2

The first has the quantisations of inputs themselves, the last the dequantisations of what is returned; everything else
is in the middle. With `fully-integral`, that may hold no floats, but for the scales of its operators.

Counterpart of TVM's `partition_conversions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, FunctionType, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from ...dialects.relay.base import tensors_in
from ...dialects.relay.core import CallOp, ConstantOp, FuncOp, ReturnOp
from ...dialects.relay.ops.qnn.quantization import DequantizeOp, QuantizeOp
from ...dialects.support.diagnostics import Diagnostic, UsageError
from ..infra import ModulePass, report_changed

NAME = "partition-conversions"
PARTS = ("quantize_inputs", "quantized_main", "dequantize_outputs")


class PartitionError(Diagnostic, AssertionError):
    """The middle of a network is not computed with integers alone."""


@dataclass(frozen=True)
class PartitionConversionsPass(ModulePass):
    """Options: `fully-integral`.

    Raises:
        PartitionError: there are floats in the middle, and `fully-integral` says that there shall be none.
        UsageError: the module has not `@main` alone.
    """

    name = NAME
    opt_level: ClassVar[int] = 0
    required: ClassVar[tuple[str, ...]] = ("infer-type",)

    fully_integral: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [each for each in op.ops if isinstance(each, FuncOp)]
        if [each.sym_name.data for each in functions] != ["main"]:
            raise UsageError(f"{NAME} divides a module of the function @main alone")
        main = functions[0]
        block = main.body.block
        first = [each for each in block.ops if isinstance(each, QuantizeOp) and _is_at_begin(each)]
        returned = set(main.return_op.arguments)
        last = [each for each in block.ops if isinstance(each, DequantizeOp) and _is_at_end(each, returned)]
        ends = {*first, *last, main.return_op}
        middle = [each for each in block.ops if each not in ends and not isinstance(each, ConstantOp)]
        if self.fully_integral:
            _check_integral(middle, [*block.args])
        made = [value for each in middle for value in each.results]
        inside = _read_by(middle)
        passed = [value for value in (*block.args, *(each.result for each in first)) if value in inside]
        left = [each.data for each in last]
        outer = [value for value in main.return_op.arguments if value.owner not in last]
        given = _unique([*left, *outer])
        through = [value for value in given if value not in made and not isinstance(value.owner, ConstantOp)]
        passed = _unique([*passed, *through])
        results = [value for value in given if not isinstance(value.owner, ConstantOp)]
        parts = [
            _function(PARTS[0], list(block.args), first, passed),
            _function(PARTS[1], passed, middle, results),
            _function(PARTS[2], results, last, list(main.return_op.arguments)),
        ]
        _call(main, parts)
        for each in parts:
            op.body.block.insert_op_before(each, main)
        report_changed(True)


def _is_at_begin(op: QuantizeOp) -> bool:
    """Whether an argument is quantised, by arguments or constants, so that nothing has to be computed before."""
    known = all(isinstance(value, BlockArgument) or isinstance(value.owner, ConstantOp) for value in op.operands)
    return known and isinstance(op.data, BlockArgument)


def _is_at_end(op: DequantizeOp, returned: set[SSAValue]) -> bool:
    """Whether a result is dequantised, by constants, and nothing else reads it."""
    by_constants = all(isinstance(value.owner, ConstantOp) for value in op.operands if value is not op.data)
    alone = all(isinstance(use.operation, ReturnOp) for use in op.result.uses)
    return op.result in returned and by_constants and alone


def _read_by(ops: Iterable[Operation]) -> set[SSAValue]:
    return {value for op in ops for each in op.walk() for value in each.operands}


def _unique(values: Iterable[SSAValue]) -> list[SSAValue]:
    return list(dict.fromkeys(values))


def _check_integral(middle: Sequence[Operation], arguments: Sequence[SSAValue]) -> None:
    """
    Raises:
        PartitionError: something in the middle reads or makes floats that are no constants.
    """
    for op in middle:
        read = [value for value in op.operands if not isinstance(value.owner, ConstantOp)]
        for value in (*read, *op.results):
            if any(isinstance(type.element_type, AnyFloat) for type in tensors_in(value.type)):
                what = "reads" if value in read else "makes"
                message = f"{op.name} {what} floats between what is quantised: the network is not fully integral"
                raise PartitionError.at(op, message, hint="'fully-integral' asks for integers alone")


def _function(name: str, takes: Sequence[SSAValue], ops: Sequence[Operation], gives: Sequence[SSAValue]) -> FuncOp:
    """A function of copies of operations, and of the constants that they read."""
    block = Block(arg_types=[value.type for value in takes])
    values: dict[SSAValue, SSAValue] = dict(zip(takes, block.args, strict=True))
    for value, argument in zip(takes, block.args, strict=True):
        argument.name_hint = value.name_hint
    wanted = [value.owner for value in dict.fromkeys([*_in_order(ops), *gives])]
    constants = [owner for owner in dict.fromkeys(wanted) if isinstance(owner, ConstantOp)]
    for op in (*constants, *ops):
        block.add_op(op.clone(values))
    block.add_op(ReturnOp(*(values[value] for value in gives)))
    types = FunctionType.from_lists([value.type for value in takes], [value.type for value in gives])
    return FuncOp(name, types, Region(block))


def _in_order(ops: Iterable[Operation]) -> list[SSAValue]:
    return [value for op in ops for each in op.walk() for value in each.operands]


def _call(main: FuncOp, parts: Sequence[FuncOp]) -> None:
    """Let a function call others one after the other, each with what the one before it gives."""
    block = main.body.block
    for op in reversed(list(block.ops)):
        op.detach()
        op.erase(safe_erase=False)
    values: list[SSAValue] = list(block.args)
    for part in parts:
        call = CallOp(part.sym_name.data, values, part.function_type.outputs.data)
        block.add_op(call)
        values = list(call.res)
    block.add_op(ReturnOp(*values))
