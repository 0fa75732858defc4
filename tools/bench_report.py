"""What `weft-bench` has measured: as tables to read, and as JSON to keep."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from math import exp, log
from pathlib import Path

from weft.tools.bench_limits import Limits
from weft.tools.bench_timing import Timing

WEFT = "weft"


@dataclass(frozen=True)
class KernelResult:
    """One kernel: what a call costs by its definition, and how long it takes. `flops` is `None` where it is not known.
    `streams` are the bytes that it reads and writes, each with the bytes of the memory that they are spread over."""

    name: str
    calls: int
    ms: float
    flops: int | None
    bytes: int
    layers: tuple[str, ...] = ()
    streams: tuple[tuple[int, int], ...] = ()

    @property
    def gflops(self) -> float | None:
        """10^9 operations per second."""
        return None if self.flops is None else self.flops / self.ms / 1e6

    @property
    def gbytes(self) -> float:
        """10^9 bytes per second, each input read and each output written once."""
        return self.bytes / self.ms / 1e6

    def share_of(self, limits: Limits) -> float:
        """The least time that the machine would take, over the time taken."""
        return limits.least_ms(self.flops or 0, self.streams) / self.ms


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
    limits: Limits | None = None
    """What the machine can do, where that was measured."""
    warm: bool = False
    """Whether each kernel was timed alone."""
    target: str = ""
    """What the code is for."""

    def ratio(self, peer: str) -> float:
        """Weft's median over the peer's: below 1, Weft is faster."""
        return self.timings[WEFT].median_ms / self.timings[peer].median_ms

    @property
    def ratio_to_best(self) -> float:
        """Weft's median over that of the fastest peer."""
        return max(self.ratio(name) for name in self.timings if name != WEFT)


def table(results: Sequence[Result]) -> str:
    """Medians, minima and ratios, a line for each model and number of threads."""
    peers = [name for name in (results[0].timings if results else ()) if name != WEFT]
    head = ["model", "threads", "compile s", "weft ms", "min"]
    for peer in peers:
        head += [f"{peer} ms", "min", "ratio"]
    several = len(peers) > 1
    rows = [[*head, "to the best"] if several else head]
    for result in results:
        own = result.timings[WEFT]
        row = [result.model, str(result.threads), f"{result.compile_seconds:.2f}", _ms(own.median_ms), _ms(own.min_ms)]
        for peer in peers:
            other = result.timings[peer]
            row += [_ms(other.median_ms), _ms(other.min_ms), f"{result.ratio(peer):.2f}"]
        rows.append([*row, f"{result.ratio_to_best:.2f}"] if several else row)
    if len(results) > 1 and peers:
        means = ["geometric mean", "", "", "", ""]
        for peer in peers:
            means += ["", "", f"{_geometric_mean([result.ratio(peer) for result in results]):.2f}"]
        if several:
            means.append(f"{_geometric_mean([result.ratio_to_best for result in results]):.2f}")
        rows.append(means)
    return columns(rows)


def kernel_table(result: Result) -> str:
    """The kernels of a model, those that take longest first."""
    total = sum(kernel.calls * kernel.ms for kernel in result.kernels)
    rows = [["kernel", "calls", "ms", "total ms", "share", "GFLOP/s", "GB/s", "of limit"]]
    shown = sorted(result.kernels, key=lambda k: -k.calls * k.ms)
    for kernel in shown:
        whole = kernel.calls * kernel.ms
        rows.append(
            [
                kernel.name,
                str(kernel.calls),
                f"{kernel.ms:.4f}",
                f"{whole:.4f}",
                f"{whole / total:.1%}",
                "-" if kernel.gflops is None else f"{kernel.gflops:.1f}",
                f"{kernel.gbytes:.1f}",
                "-" if result.limits is None else f"{kernel.share_of(result.limits):.0%}",
            ]
        )
    rows.append(["all kernels", str(sum(k.calls for k in result.kernels)), "", f"{total:.4f}", "", "", "", ""])
    lines = columns(rows).split("\n")
    width = max(map(len, lines))
    named = [
        f"{line:<{width}}  {' + '.join(kernel.layers)}".rstrip()
        for line, kernel in zip(lines[1:-1], shown, strict=True)
    ]
    head = [f"{lines[0]:<{width}}  layers" if any(kernel.layers for kernel in shown) else lines[0]]
    how = "each kernel alone on warm buffers" if result.warm else "kernels within the graph"
    text = "\n".join([f"{result.model}, {_threads(result.threads)}, {how}", *head, *named, lines[-1]])
    return text if result.limits is None else f"{text}\n{limits_text(result.limits)}"


def limits_text(limits: Limits) -> str:
    """What the machine can do at most, in a line, and as a target says it."""
    from weft.lowering.machine.target import Target

    target = Target("llvm")
    told = limits.rates(target.machine_model(), target.vector_bytes())
    rates = ", ".join(f"{_size(size)} {rate:.0f}" for size, rate in zip(limits.sizes, limits.bandwidths, strict=True))
    measured = f"limits measured: {limits.peak:.0f} GFLOP/s in float32; GB/s read from memory of {rates}"
    return f"{measured}\nof this machine as a target is told: -machine={told}"


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >> 20 else f"{count >> 10} KiB"


def as_json(results: Sequence[Result], rounds: int) -> dict[str, object]:
    """Everything, with what it was measured on."""
    return {
        "machine": {"processor": processor(), "cores": os.cpu_count(), "system": platform.platform()},
        "versions": {name: _version(name) for name in (WEFT, "llvmlite", "onnxruntime", "openvino")},
        "rounds": rounds,
        "results": [
            {
                "model": result.model,
                "threads": result.threads,
                "target": result.target,
                "compile_s": round(result.compile_seconds, 3),
                "kernels_made": result.made,
                "systems": {
                    name: {"median_ms": t.median_ms, "min_ms": t.min_ms, "runs": len(t.seconds)}
                    for name, t in result.timings.items()
                },
                "ratios": {name: result.ratio(name) for name in result.timings if name != WEFT},
                "to_the_best": result.ratio_to_best if len(result.timings) > 1 else None,
                "warm": result.warm,
                "limits": None if result.limits is None else asdict(result.limits),
                "kernels": [_kernel_json(kernel, result.limits) for kernel in result.kernels],
            }
            for result in results
        ],
    }


def _kernel_json(kernel: KernelResult, limits: Limits | None) -> dict[str, object]:
    share = None if limits is None else kernel.share_of(limits)
    return {**asdict(kernel), "gflops": kernel.gflops, "gbytes": kernel.gbytes, "of_limit": share}


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
