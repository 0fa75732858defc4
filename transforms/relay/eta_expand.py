"""Write a global function that is taken as a value as a function that calls it.

    // eta-expand{expand-global-var=true}
    %f = relay.closure @twice()        ->        %f = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
                                                   %0 = relay.call @twice(%a)
                                                   relay.yield %0
                                                 }

A closure that has been given some of its arguments keeps these: they are what the new function sees around it. The
constructor of a data type is an operation here, and never a value, so that `expand-constructor` finds none.

Counterpart of TVM's `EtaExpand`, and the reverse of `lambda-lift`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp

from ...dialects.relay.control import ClosureOp, FnOp
from ...dialects.relay.core import CallOp, YieldOp
from ..infra import ModulePass, report_changed
from ..infra.walk import erase, walk


@dataclass(frozen=True)
class EtaExpandPass(ModulePass):
    """Options: `expand-constructor`, `expand-global-var`."""

    name = "eta-expand"
    opt_level: ClassVar[int] = 1
    tvm_name: ClassVar[str | None] = "EtaExpand"

    expand_constructor: bool = False
    expand_global_var: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        closures = [each for each in walk(op) if isinstance(each, ClosureOp)] if self.expand_global_var else []
        for closure in closures:
            _expand(closure)
        report_changed(bool(closures))


def _expand(closure: ClosureOp) -> None:
    type, block = closure.result.type, closure.parent
    assert isinstance(type, FunctionType) and block is not None
    function = FnOp(type)
    body = function.body.block
    call = CallOp(closure.callee.string_value(), [*closure.captured, *body.args], type.outputs.data)
    body.add_ops([call, YieldOp(*call.results)])
    for op in (function, *body.ops):
        op.location = closure.location
    function.result.name_hint = closure.result.name_hint
    block.insert_op_before(function, closure)
    closure.result.replace_all_uses_with(function.result)
    erase(closure)
