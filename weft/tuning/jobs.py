"""What a measuring process is asked, and what it answers: plain values, so that they can go anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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


class NoMeasurement(Exception):
    """A process cannot measure at all, whatever the schedule: it is on another machine, or cannot be started."""
