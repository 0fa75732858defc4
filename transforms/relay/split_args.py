"""Concatenate many tensors in steps, where a kernel may not have so many arguments.

    // split-args{max-function-args=4}: three tensors and the result
    %y = relay.concatenate %a, %b, %c, %d, %e   ->   %0 = relay.annotation.stop_fusion (relay.concatenate %a, %b, %c)
                                                     %1 = relay.annotation.stop_fusion (relay.concatenate %d, %e)
                                                     %y = relay.concatenate %0, %1

As often as it takes, so that no step has more. `stop_fusion` keeps the steps from becoming one kernel again.

Counterpart of TVM's `SplitArgs`, which makes one step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.ir import SSAValue

from ...dialects.relay.core import FuncOp, TupleOp
from ...dialects.relay.ops.annotation import StopFusionOp
from ...dialects.relay.ops.slicing import ConcatenateOp
from ..infra import FunctionPass, report_changed
from ..infra.walk import walk
from .emitter import Emitter


@dataclass(frozen=True)
class SplitArgsPass(FunctionPass):
    """Options: `max-function-args` is how many tensors a kernel may take and give, at least 3; -1 for any number."""

    name = "split-args"
    opt_level: ClassVar[int] = 1
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "SplitArgs"

    max_function_args: int = -1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_function_args < 3 and self.max_function_args != -1:
            raise ValueError(f"the option 'max-function-args' must be at least 3, or -1, not {self.max_function_args}")

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        changed = False
        if self.max_function_args > 0:
            for op in list(walk(func)):
                if isinstance(op, ConcatenateOp) and isinstance(op.data.owner, TupleOp):
                    changed |= _split(op, op.data.owner, self.max_function_args - 1)
        report_changed(changed)


def _joined(emit: Emitter, part: list[SSAValue], op: ConcatenateOp) -> SSAValue:
    if len(part) == 1:
        return part[0]
    return emit(StopFusionOp(emit(ConcatenateOp(emit(TupleOp(*part)), axis=op.axis))))


def _split(op: ConcatenateOp, fields: TupleOp, limit: int) -> bool:
    values: list[SSAValue] = list(fields.fields)
    if len(values) <= limit:
        return False
    emit = Emitter()
    while len(values) > limit:
        parts = [values[start : start + limit] for start in range(0, len(values), limit)]
        values = [_joined(emit, part, op) for part in parts]
    result = emit(ConcatenateOp(emit(TupleOp(*values)), axis=op.axis))
    block = op.parent
    assert block is not None
    for new in emit.ops:
        new.location = op.location
        block.insert_op_before(new, op)
    result.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(result)
    for old in (op, fields):
        if all(each.first_use is None for each in old.results):
            old.detach()
            old.erase()
    return True
