"""Make a global function of every function value; what it sees around it becomes its first arguments.

    %f = relay.fn(%a) {                          %f = relay.closure @main_fn(%x)
      %0 = relay.add %a, %x                 ->   relay.func private @main_fn(%x, %a) {
      relay.yield %0                               %0 = relay.add %a, %x
    }                                              relay.return %0

Innermost functions go first, so that what one of them sees by way of another is given from hand to hand. Kernels
(`primitive`) and functions for other compilers stay.

Counterpart of TVM's `LambdaLift`, whose lifted functions take the captured values and return a closure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import SSAValue

from ...dialects.relay.control import ClosureOp, FnOp
from ...dialects.relay.core import FuncOp, ReturnOp, YieldOp
from ...dialects.relay.interpreter import free_values
from ...dialects.support.unique_names import UniqueNames, unique_symbols
from ..infra import ModulePass, report_changed
from ..infra.walk import erase, walk

APART = ("primitive", "Compiler", "Extern")
"""Attributes of functions that are left as they are."""


@dataclass(frozen=True)
class LambdaLiftPass(ModulePass):
    """`relay.fn` -> `relay.closure` of a private `relay.func`."""

    name = "lambda-lift"
    opt_level: ClassVar[int] = 0
    tvm_name: ClassVar[str | None] = "LambdaLift"

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        return not any(isinstance(op, FnOp) for op in walk(module))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [f for f in op.ops if isinstance(f, FuncOp) and not any(name in f.attributes for name in APART)]
        names: UniqueNames | None = None
        for function in functions:
            lambdas = [inner for inner in walk(function) if isinstance(inner, FnOp)]
            for inner in reversed(lambdas):  # those within others first
                names = names or unique_symbols(op)
                lift(inner, names.new(f"{function.sym_name.data}_fn"), op)
        report_changed(names is not None)


def lift(op: FnOp, name: str, module: ModuleOp) -> FuncOp:
    """Make a private function of a function value, and a closure of it where the value stood."""
    captured = free_values(op)
    type = op.function_type
    region = op.detach_region(0)
    block, end = region.block, region.block.last_op
    assert isinstance(end, YieldOp)
    for position, value in enumerate(captured):
        argument = block.insert_arg(value.type, position)
        argument.name_hint = value.name_hint
        _replace_within(value, argument, op, block.parent)
    result = ReturnOp(*end.arguments)
    result.location = end.location
    erase(end)
    block.add_op(result)
    whole = FunctionType.from_lists([*(value.type for value in captured), *type.inputs.data], type.outputs.data)
    function = FuncOp(name, whole, region, private=True, attributes=dict(op.attributes))
    function.location = op.location
    module.body.block.add_op(function)
    closure = ClosureOp(name, captured, type)
    closure.location = op.location
    closure.result.name_hint = op.result.name_hint
    parent = op.parent
    assert parent is not None
    parent.insert_op_before(closure, op)
    op.result.replace_all_uses_with(closure.result)
    erase(op)
    return function


def _replace_within(value: SSAValue, new: SSAValue, op: FnOp, region: object) -> None:
    """Use `new` for `value` in a region that was taken from `op`."""
    for use in list(value.uses):
        user = use.operation
        top = user
        while (parent := top.parent_op()) is not None:
            top = parent
        place = top.parent
        if place is not None and place.parent is region:
            user.operands[use.index] = new
