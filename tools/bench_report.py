"""What `weft-bench` has measured: as tables to read, and as JSON to keep."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from math import exp, log
from pathlib import Path

from weft.tools.bench_timing import Timing

WEFT = "weft"


@dataclass(frozen=True)
class KernelResult:
    """One kernel on its own: what it costs by its definition, and how long it takes."""

    name: str
    calls: int
    ms: float
    flops: int
    bytes: int

    @property
    def gflops(self) -> float:
        """10^9 operations per second."""
        return self.flops / self.ms / 1e6

    @property
    def gbytes(self) -> float:
        """10^9 bytes per second, each input read and each output written once."""
        return self.bytes / self.ms / 1e6


@dataclass(frozen=True)
class Result:
    """One model on one number of threads."""

    model: str
    threads: int
    compile_seconds: float
    timings: Mapping[str, Timing]
    kernels: Sequence[KernelResult] = field(default=())
    made: str = ""
    """Where the kernels came from when the model was compiled."""

    def ratio(self, peer: str) -> float:
        """Weft's median over the peer's: below 1, Weft is faster."""
        return self.timings[WEFT].median_ms / self.timings[peer].median_ms


def table(results: Sequence[Result]) -> str:
    """Medians, minima and ratios, a line for each model and number of threads."""
    peers = [name for name in (results[0].timings if results else ()) if name != WEFT]
    head = ["model", "threads", "compile s", "weft ms", "min"]
    for peer in peers:
        head += [f"{peer} ms", "min", "ratio"]
    rows = [head]
    for result in results:
        own = result.timings[WEFT]
        row = [result.model, str(result.threads), f"{result.compile_seconds:.2f}", _ms(own.median_ms), _ms(own.min_ms)]
        for peer in peers:
            other = result.timings[peer]
            row += [_ms(other.median_ms), _ms(other.min_ms), f"{result.ratio(peer):.2f}"]
        rows.append(row)
    if len(results) > 1 and peers:
        means = ["geometric mean", "", "", "", ""]
        for peer in peers:
            means += ["", "", f"{_geometric_mean([result.ratio(peer) for result in results]):.2f}"]
        rows.append(means)
    return columns(rows)


def kernel_table(result: Result) -> str:
    """The kernels of a model, those that take longest first."""
    total = sum(kernel.calls * kernel.ms for kernel in result.kernels)
    rows = [["kernel", "calls", "ms", "total ms", "share", "GFLOP/s", "GB/s"]]
    for kernel in sorted(result.kernels, key=lambda k: -k.calls * k.ms):
        whole = kernel.calls * kernel.ms
        rows.append(
            [
                kernel.name,
                str(kernel.calls),
                f"{kernel.ms:.4f}",
                f"{whole:.4f}",
                f"{whole / total:.1%}",
                f"{kernel.gflops:.1f}",
                f"{kernel.gbytes:.1f}",
            ]
        )
    rows.append(["all kernels", str(sum(k.calls for k in result.kernels)), "", f"{total:.4f}", "", "", ""])
    return f"{result.model}, {_threads(result.threads)}, each kernel alone on warm buffers\n{columns(rows)}"


def as_json(results: Sequence[Result], rounds: int, target: str) -> dict[str, object]:
    """Everything, with what it was measured on."""
    return {
        "machine": {"processor": processor(), "cores": os.cpu_count(), "system": platform.platform()},
        "versions": {name: _version(name) for name in (WEFT, "llvmlite", "onnxruntime", "openvino")},
        "rounds": rounds,
        "target": target,
        "results": [
            {
                "model": result.model,
                "threads": result.threads,
                "compile_s": round(result.compile_seconds, 3),
                "kernels_made": result.made,
                "systems": {
                    name: {"median_ms": t.median_ms, "min_ms": t.min_ms, "runs": len(t.seconds)}
                    for name, t in result.timings.items()
                },
                "ratios": {name: result.ratio(name) for name in result.timings if name != WEFT},
                "kernels": [asdict(k) | {"gflops": k.gflops, "gbytes": k.gbytes} for k in result.kernels],
            }
            for result in results
        ],
    }


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows as lines: the first column to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]).rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def processor() -> str:
    """The processor's name, where the system tells it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _ms(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.2f}"


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def _geometric_mean(values: Sequence[float]) -> float:
    return exp(sum(map(log, values)) / len(values))
