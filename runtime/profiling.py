"""What an inference spends its time on: the time of each step, as a table and as a trace for a browser."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from csv import DictWriter
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from statistics import median

from ..dialects.support.arguments import checked
from ..dialects.support.diagnostics import Diagnostic, Place

COPY = "copy"
"""What a step is called that copies, with no kernel."""
CLEAR = "clear"
"""What a step is called that makes memory zero."""


@dataclass(frozen=True)
class Span:
    """A step once: microseconds from the beginning of its repetition, how many it took, the bytes of its tensors."""

    begin: float
    lasts: float
    bytes: int


@dataclass(frozen=True)
class StepTimes:
    """One step of a graph: the kernel, the layers of the model that it computes, where, and how many bytes it reads and
    writes, with those of constants among them; those of a copy are counted once. `begins` and `lasts` are microseconds,
    one for each repetition; the former from the beginning of its own.

    What branches may take a step several times in a repetition, or not at all: then `lasts` are sums, `begins` the
    first times, `bytes` those of the largest, and `spans` each time in the last repetition."""

    kernel: str
    layers: tuple[str, ...]
    device: str
    bytes: int
    begins: tuple[float, ...]
    lasts: tuple[float, ...]
    spans: tuple[Span, ...] | None = None
    constant_bytes: int = 0

    @property
    def last_spans(self) -> tuple[Span, ...]:
        """Each time that the step was taken in the last repetition."""
        if self.spans is not None:
            return self.spans
        return (Span(self.begins[-1], self.lasts[-1], self.bytes),)

    @property
    def us(self) -> float:
        """The median."""
        return median(self.lasts)

    @property
    def is_copy(self) -> bool:
        return self.kernel == COPY

    @property
    def is_kernel(self) -> bool:
        return self.kernel not in (COPY, CLEAR)

    @property
    def name(self) -> str:
        """What a person calls it: the layers where the model names them."""
        return " + ".join(self.layers) or self.kernel


_UNITS = (
    ("Name", "string"),
    ("Duration (us)", "microseconds"),
    ("Percent", "percent"),
    ("Device", "string"),
    ("Count", "count"),
    ("Bytes", "bytes"),
    ("Layers", "string"),
)
"""The columns of a report, and what TVM calls their units."""


@dataclass(frozen=True)
class Profile:
    """The steps of a graph in their order, each on its own: the graph as a whole takes less, as no step begins anew."""

    steps: tuple[StepTimes, ...]

    @property
    def total_us(self) -> float:
        """The sum of the steps."""
        return sum(step.us for step in self.steps)

    def by_device(self) -> dict[str, tuple[float, int, int]]:
        """Device -> microseconds of its kernels, bytes that are copied to it, and the number of such copies."""
        found: dict[str, tuple[float, int, int]] = {}
        for step in self.steps:
            spent, copied, copies = found.get(step.device, (0.0, 0, 0))
            if step.is_copy:
                found[step.device] = (spent, copied + step.bytes, copies + 1)
            else:
                found[step.device] = (spent + step.us, copied, copies)
        return found

    def __str__(self) -> str:
        """The steps, those that take longest first."""
        total = self.total_us or 1.0
        rows = [("us", "%", "GB/s", "device", "kernel", "layers")]
        for step in sorted(self.steps, key=lambda step: -step.us):
            rate = step.bytes / (step.us * 1e3) if step.us else 0.0
            share = 100 * step.us / total
            layers = " + ".join(step.layers)
            rows.append((f"{step.us:.1f}", f"{share:.1f}", f"{rate:.1f}", step.device, step.kernel, layers))
        rows.append((f"{self.total_us:.1f}", "100.0", "", "", f"{len(self.steps)} steps", ""))
        return _aligned(rows)

    @property
    def calls(self) -> list[dict[str, str | int | float]]:
        """A row for each step, under the names of TVM's reports."""
        total = self.total_us or 1.0
        return [
            {
                "Name": step.kernel,
                "Duration (us)": step.us,
                "Percent": 100 * step.us / total,
                "Device": step.device,
                "Count": len(step.last_spans),
                "Bytes": step.bytes,
                "Layers": " + ".join(step.layers),
            }
            for step in self.steps
        ]

    def csv(self) -> str:
        """`calls` as comma-separated values, with a line of headers."""
        out = StringIO()
        writer = DictWriter(out, [name for name, _ in _UNITS], lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.calls)
        return out.getvalue()

    def json(self) -> str:
        """`calls` as TVM's reports have them in JSON: each value by its unit, beside metrics of each device."""
        units = dict(_UNITS)
        calls = [{name: {units[name]: value} for name, value in call.items()} for call in self.calls]
        devices = {
            device: {"Duration (us)": {"microseconds": spent}, "Copied": {"bytes": copied}, "Copies": {"count": copies}}
            for device, (spent, copied, copies) in self.by_device().items()
        }
        repeated = {"Repetitions": {"count": max((len(step.lasts) for step in self.steps), default=0)}}
        return json.dumps({"calls": calls, "device_metrics": devices, "configuration": repeated})

    def chrome_trace(self) -> str:
        """The last repetition as JSON that `chrome://tracing` and Perfetto show: a line for each device, an event for
        each time that a step was taken."""
        devices = list(dict.fromkeys(step.device for step in self.steps))
        named: list[dict[str, object]] = [
            {"name": "thread_name", "ph": "M", "pid": 0, "tid": number, "args": {"name": device}}
            for number, device in enumerate(devices)
        ]
        events = [
            {
                "name": step.name,
                "cat": "kernel" if step.is_kernel else step.kernel,
                "ph": "X",
                "pid": 0,
                "tid": devices.index(step.device),
                "ts": round(span.begin, 3),
                "dur": round(span.lasts, 3),
                "args": {"kernel": step.kernel, "bytes": span.bytes},
            }
            for step in self.steps
            for span in step.last_spans
        ]
        return json.dumps({"traceEvents": [*named, *events], "displayTimeUnit": "ns"}, indent=1)

    @checked
    def save_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write `chrome_trace()` to a file.

        Raises:
            Diagnostic: the file cannot be written.
        """
        try:
            Path(path).write_text(self.chrome_trace(), "utf-8")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise Diagnostic(f"cannot be written: {reason}", Place(os.fspath(path))) from error


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    """Numbers to the right, the names that follow to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            text.rjust(width) if place < 3 else text.ljust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)
