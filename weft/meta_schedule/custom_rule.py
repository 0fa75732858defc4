"""`ApplyCustomRule`: blocks that name the function which schedules them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from ..dialects.support.diagnostics import UsageError
from ..dialects.support.hints import is_sequence
from ..dialects.support.packed import get_global_func
from ..dialects.tir.core import BlockOp, OuterBlockOp
from ..transforms.tir.scheduling.handles import BlockRV
from ..transforms.tir.scheduling.schedule import Schedule
from .conditions import op_of, text_in
from .rule import Context, ScheduleRule

CUSTOM = "schedule_rule"
"""The annotation of a block that is scheduled by a rule of its own, which it names, and by no other."""
NONE = "None"
"""Its value on a block that is not to be scheduled at all."""


@dataclass
class ApplyCustomRule(ScheduleRule):
    """Has the function that a block names as its `schedule_rule` schedule it. Counterpart of TVM's rule of this name.

    The function is registered (`weft.register_func`) as `meta_schedule.KEY.NAME`, where the key is one of the target's,
    `cpu` or `gpu`. It is given the schedule and the block, and gives schedules.
    """

    _keys: tuple[str, ...] = field(default=(), init=False, repr=False)

    def initialize_with_tune_context(self, context: Context) -> None:
        """Take from the target the keys that functions are registered by."""
        self._keys = context.target.keys

    def apply(self, sch: Schedule, block: BlockRV) -> list[Schedule]:
        """What the function gives; `sch` of a block that names none.

        Raises:
            UsageError: no function is registered for the target, or it gives something else.
        """
        op = op_of(sch, block)
        name = text_in(op, CUSTOM) if isinstance(op, BlockOp | OuterBlockOp) else None
        if name is None or name == NONE:
            return [sch]
        names = [f"meta_schedule.{key}.{name}" for key in self._keys]
        found = next((function for each in names if (function := get_global_func(each, allow_missing=True))), None)
        if found is None:
            known = " or ".join(f"'{each}'" for each in names) or "a target, of which it has not been told"
            raise UsageError(f"the rule '{name}' of a block is not registered for {known}")
        given = cast(object, found(sch, block))
        designs = list(given) if is_sequence(given) else [given]
        if not all(isinstance(each, Schedule) for each in designs):
            raise UsageError(f"the rule '{name}' gives schedules, and not {given!r}")
        return cast("list[Schedule]", designs)
