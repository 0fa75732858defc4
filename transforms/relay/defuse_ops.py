"""Undo fusion: put the operators of every kernel back where the kernel is used.

    %1 = relay.call @fused_exp_nn_relu(%x)      %0 = relay.exp %x
                                           ->   %1 = relay.nn.relu %0
    relay.func private @fused_exp_nn_relu(...)

Both forms are undone: `relay.primitive` regions, and calls of functions marked `primitive`, which are erased where they
are private. What `annotation.stop_fusion` had kept apart is not marked again.

Counterpart of TVM's `DefuseOps`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue

from ...dialects.relay.core import CallOp, FuncOp, PrimitiveOp
from ...dialects.relay.functions import is_for
from ...dialects.relay.types import bind_params, substituted, tuple_type, type_params
from ..infra import ModulePass, report_changed
from ..infra.walk import clone, erase, walk
from .outline_primitives import inline_primitive
from .specialize_functions import convert_types, is_generic, used_with


@dataclass(frozen=True)
class DefuseOpsPass(ModulePass):
    """Has no options."""

    name = "defuse-ops"
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    invalidates: ClassVar[tuple[str, ...]] = ("fuse-ops",)
    tvm_name: ClassVar[str | None] = "DefuseOps"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        own = [func for func in op.ops if not is_for(func)]
        kernels = {func.sym_name.data: func for func in own if isinstance(func, FuncOp) and func.is_primitive}
        used = [nested for func in own for nested in walk(func) if isinstance(nested, PrimitiveOp | CallOp)]
        inlined: set[FuncOp] = set()
        for use in used:
            if isinstance(use, PrimitiveOp):
                inline_primitive(use)
            elif (kernel := kernels.get(use.callee.string_value())) is not None:
                inline_call(use, kernel)
                inlined.add(kernel)
        for kernel in inlined:
            if kernel.sym_visibility is not None:
                erase(kernel)
        report_changed(bool(inlined) or any(isinstance(use, PrimitiveOp) for use in used))


def inline_call(call: CallOp, kernel: FuncOp, *, is_only: bool = False) -> None:
    """Put what a function does in the place of a call of it. Of one for any types, what it does with those of the
    call, which has to say them. Where the call `is_only`, the function is left without it, and is to be erased."""
    declared = kernel.function_type
    bound: dict[str, Attribute] = {}
    if is_open := is_generic(kernel):
        bind_params([*declared.inputs, *declared.outputs], used_with(call), bound)

    def known(type: Attribute) -> Attribute:  # of what only the body names there are no values
        return substituted(type, {**dict.fromkeys(type_params(type), tuple_type()), **bound})

    values: dict[SSAValue, SSAValue] = dict(zip(kernel.body.block.args, call.arguments, strict=True))
    block, end = call.parent, kernel.return_op
    assert block is not None
    if is_only:
        for argument, value in values.items():
            argument.name_hint = None  # which the value would take
            argument.replace_all_uses_with(value)
    for op in list(kernel.body.block.ops):
        if op is end:
            continue
        if is_only:
            op.detach()
        block.insert_op_before(copy := op if is_only else clone(op, values), call)
        if is_open:
            convert_types(copy, known)
        values.update(zip(op.results, copy.results, strict=True))
    for result, value in zip(call.results, end.arguments, strict=True):
        result.replace_all_uses_with(values.get(value, value))
    if is_only:
        end.operands = ()  # they stand elsewhere now, and may go before what is left of the function
    erase(call)
