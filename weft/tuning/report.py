"""What a file of records tells: how each kernel became faster, and where the time of tuning went.

As a table for a terminal, and as a drawing (SVG): on the left the best ratio so far of each kernel over its
measurements, on the right the seconds that tuning it has taken, by what for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from ..transforms.tir.scheduling.tuning_records import Status, TuningRecord, best_records

WORK = ("propose", "compile", "check", "time")
"""What tuning spends its time on, as records tell it."""


@dataclass(frozen=True)
class KernelReport:
    """What was measured of one kernel on one target and number of threads."""

    name: str
    target: str
    threads: int
    curve: tuple[float, ...]
    """The best ratio after each measurement; 1 is the default schedule."""
    failed: Mapping[Status, int]
    """How many schedules gave no measurement, and why not."""
    spent: Mapping[str, float]
    """Seconds of tuning by what for."""
    default_us: float
    """A call with the default schedule."""
    used: float | None
    """The ratio of the schedule that compilations use; `None` where that is the default one."""


def reports(records: Sequence[TuningRecord]) -> list[KernelReport]:
    """The kernels in the order in which they were tuned first."""
    groups: dict[tuple[str, str, int], list[TuningRecord]] = {}
    for record in records:
        groups.setdefault((record.kernel, record.target, record.threads), []).append(record)
    return [_report(group) for group in groups.values()]


def _report(records: Sequence[TuningRecord]) -> KernelReport:
    best = 1.0
    curve: list[float] = []
    failed: dict[Status, int] = {}
    spent: dict[str, float] = dict.fromkeys(WORK, 0.0)
    for record in records:
        best = min(best, record.ratio)
        curve.append(best)
        if record.status is not Status.MEASURED:
            failed[record.status] = failed.get(record.status, 0) + 1
        for what, seconds in record.spent.items():
            spent[what] = spent.get(what, 0.0) + seconds
    first = records[0]
    used = best_records(records).get(first.kernel)
    default = next((record.default_seconds for record in records if record.default_seconds), 0.0)
    ratio = None if used is None else used.ratio
    return KernelReport(first.name, first.target, first.threads, tuple(curve), failed, spent, default * 1e6, ratio)


def as_table(kernels: Sequence[KernelReport]) -> str:
    """The reports as text, what gained most first."""
    rows = [("measured", "best", "used", "default us", "seconds", "failed", "kernel")]
    for each in sorted(kernels, key=lambda kernel: kernel.curve[-1]):
        failed = ", ".join(f"{count} {status.value}" for status, count in each.failed.items())
        used = "rules" if each.used is None else f"{each.used:.3f}"
        seconds = f"{sum(each.spent.values()):.1f}"
        best = f"{each.curve[-1]:.3f}"
        rows.append((str(len(each.curve)), best, used, f"{each.default_us:.1f}", seconds, failed or "-", each.name))
    total = {what: sum(each.spent.get(what, 0.0) for each in kernels) for what in WORK}
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(text.rjust(width) for text, width in zip(row[:-1], widths, strict=False)) for row in rows]
    table = "\n".join(f"{line}  {row[-1]}" for line, row in zip(lines, rows, strict=True))
    return f"{table}\ntime went into: {', '.join(f'{what} {seconds:.1f} s' for what, seconds in total.items())}"


COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")
LEFT, TOP, WIDTH, HEIGHT, ROW = 60, 40, 520, 320, 18
BARS = LEFT + WIDTH + 60
SHOWN = 20
"""So many kernels at most are drawn: those that gained most."""


def as_svg(kernels: Sequence[KernelReport], title: str) -> str:
    """The drawing."""
    drawn = sorted(kernels, key=lambda kernel: kernel.curve[-1])[:SHOWN]
    height = max(TOP + HEIGHT + 40, TOP + ROW * (len(drawn) + 4))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{BARS + 700}" height="{height}" '
        f'font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        _text(LEFT, 20, f"{title}: time of the best schedule so far to that of the default one"),
        *_axes(drawn),
        *(_curve(kernel, number, drawn) for number, kernel in enumerate(drawn)),
        *_bars(drawn),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _text(x: float, y: float, text: str, anchor: str = "start", color: str = "black") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{escape(text)}</text>'


def _least(kernels: Sequence[KernelReport]) -> float:
    """The ratio at the bottom of the drawing."""
    return min(0.9, *(each.curve[-1] for each in kernels)) - 0.05 if kernels else 0.85


def _longest(kernels: Sequence[KernelReport]) -> int:
    return max((len(each.curve) for each in kernels), default=1)


def _axes(kernels: Sequence[KernelReport]) -> list[str]:
    least, longest = _least(kernels), _longest(kernels)
    parts = [f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>']
    for tick in range(5):
        y, ratio = TOP + HEIGHT * tick / 4, 1 - (1 - least) * tick / 4
        parts.append(_text(LEFT - 6, y + 4, f"{ratio:.2f}", "end"))
        parts.append(f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(_text(LEFT + WIDTH * tick / 4, TOP + HEIGHT + 16, str(round(longest * tick / 4)), "middle"))
    return [*parts, _text(LEFT + WIDTH / 2, TOP + HEIGHT + 32, "measurements of the kernel", "middle")]


def _curve(kernel: KernelReport, number: int, kernels: Sequence[KernelReport]) -> str:
    """A line that steps down wherever a better schedule was found."""
    least, longest = _least(kernels), _longest(kernels)
    points, before = [(float(LEFT), float(TOP))], float(TOP)
    for count, ratio in enumerate(kernel.curve, 1):
        x, y = LEFT + WIDTH * count / longest, TOP + HEIGHT * (1 - ratio) / (1 - least)
        points += [(x, before), (x, y)]
        before = y
    text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{text}" fill="none" stroke="{COLORS[number % len(COLORS)]}" stroke-width="1.5"/>'


def _bars(kernels: Sequence[KernelReport]) -> list[str]:
    """A bar for each kernel, in a piece for each kind of work, and what is what."""
    parts = [_text(BARS, 20, "seconds of tuning")]
    for number, what in enumerate(WORK):
        x = BARS + 90 * number
        parts.append(f'<rect x="{x}" y="{TOP - 12}" width="10" height="10" fill="{_shade(number)}"/>')
        parts.append(_text(x + 14, TOP - 3, what))
    longest = max((sum(each.spent.values()) for each in kernels), default=1.0) or 1.0
    for number, kernel in enumerate(kernels):
        x, y = float(BARS), TOP + ROW * number + 8
        for place, what in enumerate(WORK):
            width = 240 * kernel.spent.get(what, 0.0) / longest
            parts.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 6}" fill="{_shade(place)}"/>')
            x += width
        color = COLORS[number % len(COLORS)]
        label = f"{sum(kernel.spent.values()):.1f}  {kernel.curve[-1]:.2f}  {kernel.name}"
        parts.append(_text(x + 6, y + 10, label, color=color))
    return parts


def _shade(number: int) -> str:
    return ("#c6dbef", "#6baed6", "#9ecae1", "#2171b5")[number % 4]
