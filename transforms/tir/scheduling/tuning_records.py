"""What tuning has measured: a file with one line of JSON for each schedule that was tried.

A line is whole or not there: it is appended by one write under a lock, so that any number of processes may add to a
file, and one that is killed while it writes leaves at most the beginning of a line, which readers pass over and the
next writer closes. Failures are records too, so that they are not tried again.

    append_record("model.jsonl", record)
    best = best_records(read_records("model.jsonl"))     # kernel -> the schedule to use
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from enum import Enum
from statistics import median, quantiles
from typing import TypeAlias, cast

from ....dialects.support.diagnostics import Diagnostic, Place, UsageError
from ....dialects.support.files import check_place
from ....dialects.support.hints import is_list

FORMAT = 1
_HEAD = '{"format": '
"""What each line begins with."""

Gene: TypeAlias = tuple[str, str, int, int]
"""A decision: the rule, the block's name, the number of the option, of how many."""

WORTH = 0.98
"""A schedule is used if three of four times it took no more than this part of the time of the default one."""


class Status(Enum):
    """What became of a schedule."""

    MEASURED = "measured"
    WRONG = "wrong"
    """Its result is not that of the default schedule."""
    REFUSED = "refused"
    """It does not apply, or cannot be lowered."""
    LATE = "late"
    """It took longer than allowed."""
    DIED = "died"
    """The process that ran it has died."""


@dataclass(frozen=True)
class TuningRecord:
    """One schedule of one kernel, and what it is worth."""

    kernel: str
    """What the kernel is known by: see `kernel_key`."""
    target: str
    """`Target.name()` of what the code was made for."""
    name: str
    """What the kernel was called in the model that was tuned."""
    schedule: str
    """A `schedule.sequence`, as text."""
    status: Status
    ratios: tuple[float, ...] = ()
    """The schedule's time to that of the default one, measured in turns, pair by pair."""
    seconds: float = 0.0
    """One call, the median."""
    default_seconds: float = 0.0
    """One call with the default schedule, the median of the same turns."""
    threads: int = 1
    decisions: tuple[Gene, ...] = ()
    """What was chosen of what the rules propose, in order."""
    features: tuple[float, ...] = ()
    """What the cost model saw of the schedule."""
    message: str = ""
    """Why there is no measurement, where there is none."""
    spent: Mapping[str, float] = field(default_factory=dict[str, float])
    """Seconds of work that the record has cost, by what for."""
    when: float = 0.0
    """Seconds since 1970 at which it was measured."""
    weft: str = ""
    """The version of Weft that measured it."""

    @property
    def ratio(self) -> float:
        """The median: below 1, the schedule is faster than the default one."""
        return median(self.ratios) if self.status is Status.MEASURED else float("inf")

    @property
    def surely(self) -> float:
        """The upper quartile: three of four pairs were at least so good."""
        if self.status is not Status.MEASURED:
            return float("inf")
        return quantiles([*self.ratios, *self.ratios], n=4, method="inclusive")[2]

    def to_json(self) -> str:
        """The record as a line."""
        return json.dumps({"format": FORMAT, **asdict(self), "status": self.status.value}, allow_nan=False)


def check_appendable(path: str) -> None:
    """See, before anything is measured, that records can be added to a file, which may have yet to be made.

    Raises:
        Diagnostic: it is no regular file, or cannot be written.
    """
    place = Place(path)
    if os.path.exists(path) and not os.path.isfile(path):
        raise Diagnostic("records are kept in a regular file, which this is not", place)
    try:
        check_place(path, added_to=True)
    except OSError as error:
        raise Diagnostic(f"cannot be written: {(error.strerror or str(error)).lower()}", place) from error


def append_record(path: str, record: TuningRecord) -> None:
    """Add a record to a file, whole.

    Raises:
        Diagnostic: it cannot be written.
    """
    data = record.to_json().encode() + b"\n"
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            _lock(file)
            size = os.fstat(file).st_size
            if size and os.pread(file, 1, size - 1) != b"\n":
                data = b"\n" + data  # whoever wrote last was killed meanwhile
            while data:
                data = data[os.write(file, data) :]
        finally:
            os.close(file)
    except OSError as error:
        raise Diagnostic(f"cannot be written: {(error.strerror or str(error)).lower()}", Place(path)) from error


def _lock(file: int) -> None:
    """Be the only one to write until `file` is closed, where the system has such locks."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_EX)


def read_records(path: str) -> list[TuningRecord]:
    """The records of a file, in their order; lines that were never finished are passed over.

    Raises:
        UsageError: the file cannot be read.
        Diagnostic: a line is something else than a record.
    """
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError(f"the tuning records cannot be read: {(reason or '').lower()}", Place(path)) from error
    return [record for n, line in enumerate(lines, 1) if line and (record := _read(line, Place(path, n, 1, len(line))))]


def _read(line: str, place: Place) -> TuningRecord | None:
    """The record in a line; `None` where it is only the beginning of one.

    Raises:
        Diagnostic: it is something else.
    """
    place = Place(place.file, place.line, 1, min(len(line), 60), line[:120])
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        if line.startswith(_HEAD) or _HEAD.startswith(line):
            return None
        found = None
    if not isinstance(found, dict) or "format" not in found:
        raise Diagnostic("this is no tuning record", place, hint="weft-tune writes such files, one record a line")
    values = cast("dict[str, object]", found)
    if values.pop("format") != FORMAT:
        raise Diagnostic(f"this record has another format than {FORMAT}", place, hint="tune anew, into another file")
    try:
        return _record(values)
    except (KeyError, TypeError, ValueError) as error:
        raise Diagnostic(f"this tuning record cannot be understood: {error}", place) from None


_GREATEST = sys.float_info.max
_FIELDS = {each.name: each for each in fields(TuningRecord)}


def _record(values: Mapping[str, object]) -> TuningRecord:
    """
    Raises:
        TypeError, ValueError: a field is missing, unknown, or not of its type.
    """
    if unknown := sorted(set(values) - set(_FIELDS)):
        raise ValueError(f"there is no '{unknown[0]}' in one")
    made: dict[str, object] = {}
    for name, value in values.items():
        match name:
            case "status":
                made[name] = Status(value)
            case "ratios" | "features":
                made[name] = tuple(_number(each, name) for each in _list(value, name))
            case "seconds" | "default_seconds" | "when":
                made[name] = _number(value, name)
            case "threads":
                made[name] = int(_number(value, name))
            case "decisions":
                made[name] = tuple(_gene(each) for each in _list(value, name))
            case "spent":
                if not isinstance(value, dict):
                    raise TypeError(f"'{name}' is no mapping")
                made[name] = {what: _number(n, name) for what, n in cast("dict[str, object]", value).items()}
            case _:
                if not isinstance(value, str):
                    raise TypeError(f"'{name}' is no text")
                made[name] = value
    if missing := [name for name, each in _FIELDS.items() if _is_needed(each) and name not in values]:
        raise ValueError(f"it does not say its '{missing[0]}'")
    record = TuningRecord(**made)  # pyright: ignore[reportArgumentType]
    if record.status is Status.MEASURED and (not record.ratios or min(record.ratios) <= 0):
        raise ValueError("it was measured, and does not say how often, and how long each time took")
    return record


def _is_needed(field: Field[object]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _list(value: object, name: str) -> Sequence[object]:
    if not is_list(value):
        raise TypeError(f"'{name}' is no list")
    return value


def _number(value: object, name: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= _GREATEST:
        raise TypeError(f"'{name}' holds what is no number")
    return value


def _gene(value: object) -> Gene:
    match value:
        case [str(rule), str(block), int(index), int(count)]:
            return rule, block, index, count
        case _:
            raise TypeError("'decisions' holds what is no decision")


def best_records(records: Iterable[TuningRecord]) -> dict[str, TuningRecord]:
    """Kernel -> its fastest schedule, of those that are surely faster than the default one; the first of equals."""
    best: dict[str, TuningRecord] = {}
    for record in records:
        if record.surely < WORTH and (record.kernel not in best or record.ratio < best[record.kernel].ratio):
            best[record.kernel] = record
    return best
