"""What a measuring process is asked, and what it answers: plain values, so that they can go anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from ..transforms.tir.scheduling.tuning_records import Status


@dataclass(frozen=True)
class Rules:
    """The rules of a `PassContext`, which hold where a kernel is measured too."""

    opt_level: int
    required: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    config: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True)
class Effort:
    """How carefully is measured."""

    rounds: int = 5
    """Pairs of timings, of the default schedule and the other, that nothing has disturbed."""
    min_ms: float = 4.0
    """Milliseconds that each timing lasts at least."""
    limit_s: float = 30.0
    """Seconds after which compiling and measuring a schedule is given up."""


@dataclass(frozen=True)
class Job:
    """A schedule of a kernel, to be compiled, checked and measured."""

    module: str
    """A module at phase `tir` whose graph calls the kernel."""
    schedule: str
    """The `schedule.sequence` for it."""
    target: str
    """As `Target.parse` reads it."""
    target_name: str
    """`Target.name()`: where it is another, the process is on another machine."""
    threads: int
    weights: tuple[int, ...]
    """Which inputs are weights."""
    copies: int
    """How many copies of the weights take turns."""
    rules: Rules
    effort: Effort


@dataclass(frozen=True)
class Measurement:
    """What became of a job: see `TuningRecord`."""

    status: Status
    ratios: tuple[float, ...] = ()
    seconds: float = 0.0
    default_seconds: float = 0.0
    message: str = ""
    spent: Mapping[str, float] = field(default_factory=dict[str, float])


def measurement(answer: object) -> Measurement:
    """What a worker has answered, in Python's own numbers.

    Raises:
        ValueError: it is no measurement, or its times are none.
    """
    if not isinstance(answer, Measurement) or not isinstance(answer.status, Status):  # pyright: ignore
        raise ValueError(f"a worker answers with {type(answer).__name__}, and not with a measurement")
    ratios = tuple(_number(each) for each in answer.ratios)
    seconds, default = _number(answer.seconds), _number(answer.default_seconds)
    if answer.status is Status.MEASURED:
        if not ratios or min(ratios) <= 0:
            raise ValueError("a worker has measured, and says no times, or such that are not positive")
        if 0 < min(seconds, default) < _SHORTEST_S:
            raise ValueError(f"a worker says {seconds:g} s and {default:g} s, in which nothing can be done")
        if default > 0 and not min(ratios) / _NEAR <= seconds / default <= max(ratios) * _NEAR:
            raise ValueError(f"a worker says {seconds:g} s and {default:g} s, and a ratio of {ratios[0]:g}")
    spent = {what: _number(each) for what, each in answer.spent.items()}
    return Measurement(answer.status, ratios, seconds, default, str(answer.message), spent)


_SHORTEST_S = 1e-10
"""No call is as short as that."""
_NEAR = 1 + 1e-6
"""The ratio of medians lies between the least and the greatest of ratios, but for rounding."""


def _number(value: object) -> float:
    try:
        number = float(value)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        raise ValueError(f"a worker answers with {value!r}, which is no number") from None
    if not isfinite(number) or number < 0:
        raise ValueError(f"a worker measures {number:g}, which is no time")
    return number


class NoMeasurement(Exception):
    """A process cannot measure at all, whatever the schedule: it is on another machine, or cannot be started."""
