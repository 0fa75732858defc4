"""Put schedules that the rules of users and installed packages make beside the functions that they are for.

Each function without a schedule is shown to the database that the context has, if it has one (`with database:`), then
to the rules of `weft.schedules`, those of the highest priority first; what the first that takes it did is written down
as a `schedule.sequence`, and applied by `apply-schedule`: it can be read and changed in between.

Before -> after, with a rule `rows`:

```mlir
tir.prim_func @fused_nn_softmax(...) { ... }

tir.prim_func @fused_nn_softmax(...) { ... }
schedule.sequence @fused_nn_softmax_rows on @fused_nn_softmax { ... }
```

Does not: schedule what no rule takes, which `schedule-rules` does afterwards, nor functions with a schedule beside
them, such as that of an operator's implementation (`weft.strategies`), or with loops that are scheduled already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr

from ...dialects.schedule.core import SequenceOp
from ...dialects.support.unique_names import unique_symbols
from ...dialects.tir.core import ForKind, ForOp, PrimFuncOp
from ...dialects.tir.functions import TARGET
from ...transforms.infra import ModulePass
from ...transforms.infra.config import DATABASE, USE_META_SCHEDULE
from ...transforms.infra.context import PassContext
from ...transforms.infra.execution import report_changed
from ...transforms.infra.remarks import missed, passed
from ...transforms.tir.attach_tuned_schedules import point_at
from .schedules import rules

if TYPE_CHECKING:
    from ...transforms.tir.scheduling.schedule import Schedule
    from ..machine.target import Target


class AsksForSchedules(Protocol):
    """What a database has for compilations."""

    def schedule_for(self, function: PrimFuncOp, target: Target) -> Schedule | None: ...


def current_database() -> AsksForSchedules | None:
    """The database that compilations ask in the current context; `None` where there is none, or none to be asked."""
    context = PassContext.current()
    asked = context.get_config(USE_META_SCHEDULE, True)
    return cast("AsksForSchedules | None", context.get_config(DATABASE, None)) if asked else None


@dataclass(frozen=True)
class AttachSchedulesPass(ModulePass):
    """Ask the schedule rules of users and packages for each function. `target` and `gpu-target` are what they are asked
    for: this machine, unless given."""

    name = "attach-schedules"

    target: str | None = None
    gpu_target: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Raises:
            Diagnostic: what a rule does to a function that it takes does not apply.
        """
        report_changed(False)
        database, known = current_database(), rules()
        if database is None and not known:
            return
        from ..machine.target import Target

        processor = Target.parse(self.target or "llvm")
        names = unique_symbols(op)
        named = {each.function_name for each in op.ops if isinstance(each, SequenceOp)}
        for func in [each for each in op.ops if isinstance(each, PrimFuncOp) and each.sym_name.data not in named]:
            if any(loop.for_kind != ForKind.SERIAL for loop in func.walk() if isinstance(loop, ForOp)):
                continue
            on_gpu = func.attributes.get(TARGET) is not None
            target = Target.parse(self.gpu_target or "cuda") if on_gpu else processor
            name, schedule = "database", None if database is None else _asked(database, func, target)
            for rule in known if schedule is None else ():
                if (schedule := rule.schedule(func, target, self.name)) is not None:
                    name = rule.name
                    break
            if schedule is None:
                continue
            sequence = schedule.trace.op.clone()
            point_at(sequence, func.sym_name.data)
            sequence.properties["sym_name"] = StringAttr(names.new(f"{func.sym_name.data}_{name}"))
            op.body.block.insert_op_after(sequence, func)
            report_changed(True)


def _asked(database: AsksForSchedules, func: PrimFuncOp, target: Target) -> Schedule | None:
    """What a database has for a function.

    Raises:
        Diagnostic: it does not apply.
    """
    schedule = database.schedule_for(func, target)
    if schedule is None:
        missed(AttachSchedulesPass.name, func, "the database has no schedule for it")
    else:
        passed(AttachSchedulesPass.name, func, f"@{func.sym_name.data} has a schedule of the database")
    return schedule
