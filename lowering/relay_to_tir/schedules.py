"""Schedule rules that users and packages add, asked for each kernel before Weft's own.

    @weft.schedules.register(target="llvm", priority=20)
    def rows_on_threads(schedule, target):
        rows, *_ = schedule.get_loops(schedule.get_block("softmax"))
        schedule.parallel(rows)
        return True

A rule is given a `Schedule` of the kernel as it was lowered, and the target. If it gives `True`, what it did stands
beside the kernel as a `schedule.sequence` (`attach-schedules`), to be read, edited and applied like any other; if
`False` or `None`, the kernel is none of its business, and what it did is forgotten. Of several the one of the highest
priority comes first, and of equals the one that was registered first. Counterpart of TVM's `meta_schedule.ScheduleRule`
and of its schedule functions by `generic_func`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast

from xdsl.dialects.builtin import ModuleOp

from ...dialects.support.arguments import checked, checked_methods
from ...dialects.support.diagnostics import Diagnostic, UsageError
from ...dialects.support.plugins import note_change, warn
from ...dialects.support.plugins import schedules as installed_schedules
from ...dialects.tir.core import PrimFuncOp
from ...transforms.infra.remarks import missed, passed
from ...transforms.infra.walk import clone
from .strategies import USUAL_PRIORITY, refusal_of_target

if TYPE_CHECKING:
    from ...transforms.tir.scheduling.schedule import Schedule
    from ..machine.target import Target

R = TypeVar("R", bound=Callable[..., object])


@checked_methods
@dataclass(frozen=True)
class ScheduleRule:
    """A way to schedule kernels: `apply(schedule, target)` gives `True` where it has scheduled one.

    Args:
        apply: takes a `weft.tir.Schedule` of a function, and the target.
        name: what remarks and the sequence call it.
        priority: of several rules the highest is asked first.
        target: the kinds of targets that it is for, or their keys, `llvm` or `("llvm", "gpu")`; all, unless given.
        features: what the processor must have, as `avx512f`.
    """

    apply: Callable[..., object]
    name: str
    priority: int = USUAL_PRIORITY
    target: str | tuple[str, ...] | None = None
    features: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise UsageError(f"a schedule rule cannot be called '{self.name}': a name is letters, digits and _")

    def schedule(self, func: PrimFuncOp, target: Target, pass_name: str) -> Schedule | None:
        """What the rule does to a copy of a function; `None` where it is not for it.

        Raises:
            Diagnostic: a primitive does not apply, or the rule gives something else than a truth value or `None`.
        """
        if (refusal := refusal_of_target(target, self.target, self.features)) is not None:
            missed(pass_name, func, f"the schedule rule '{self.name}' is not asked: {refusal}")
            return None
        from ...transforms.tir.schedule.errors import ScheduleError
        from ...transforms.tir.scheduling.schedule import Schedule

        schedule = Schedule(ModuleOp([clone(func)]))
        try:
            given = self.apply(schedule, target)
        except ScheduleError as error:
            raise Diagnostic.at(func, f"the schedule rule '{self.name}' does not apply: {error.message}") from error
        if given is not None and not isinstance(given, bool):
            hint = "a rule gives True where it has scheduled the function, and False or None where it has not"
            raise Diagnostic.at(func, f"the schedule rule '{self.name}' gives {type(given).__name__}", hint=hint)
        if not given:
            missed(pass_name, func, f"the schedule rule '{self.name}' is not for it")
            return None
        passed(pass_name, func, f"the schedule rule '{self.name}' schedules it")
        return schedule


@dataclass
class _Registry:
    rules: list[ScheduleRule] = field(default_factory=list[ScheduleRule])
    asked: bool = False


_REGISTRY = _Registry()


@checked
def register(
    *,
    name: str | None = None,
    priority: int = USUAL_PRIORITY,
    target: str | tuple[str, ...] | None = None,
    features: Sequence[str] = (),
) -> Callable[[R], R]:
    """Make a function a schedule rule: see `ScheduleRule`.

    Raises (when the function is there):
        UsageError: there is a rule of this name, or it is no name.
    """

    def added(apply: R) -> R:
        add(ScheduleRule(apply, name or getattr(apply, "__name__", "unnamed"), priority, target, tuple(features)))
        return apply

    return added


@checked
def add(rule: ScheduleRule) -> None:
    """Make a rule known.

    Raises:
        UsageError: there is one of this name.
    """
    note_change("a schedule rule")
    _add(rule)


def _add(rule: ScheduleRule) -> None:
    if any(each.name == rule.name for each in _REGISTRY.rules):
        raise UsageError(f"there is a schedule rule '{rule.name}' already", hint="give it another name")
    _REGISTRY.rules.append(rule)


@checked
def remove(name: str) -> None:
    """Forget a rule, if there is one of that name."""
    rules()
    note_change("")
    _REGISTRY.rules[:] = [each for each in _REGISTRY.rules if each.name != name]


def rules() -> list[ScheduleRule]:
    """The rules of users and installed packages, in the order in which they are asked."""
    if not _REGISTRY.asked:
        _REGISTRY.asked = True
        for title, value in installed_schedules():
            given = list(cast("Iterable[object]", value)) if isinstance(value, list | tuple) else [value]
            for each in given:
                try:
                    if isinstance(each, ScheduleRule):
                        _add(each)
                    else:
                        warn(title, f"{type(each).__name__} is no weft.schedules.ScheduleRule")
                except UsageError as error:
                    warn(title, error.message)
    return sorted(_REGISTRY.rules, key=lambda each: -each.priority)
