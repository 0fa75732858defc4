"""Draw what `weft-bench --json` has written.

    weft-bench MODEL.onnx --kernels --against onnxruntime,openvino --json NEW.json
    python bench/plot.py NEW.json --roofline roofline.svg
    python bench/plot.py OLD.json NEW.json --history history.svg

The roofline (Williams, Waterman and Patterson, 2009) has a dot for each kernel, as large as its share of the time: how
many operations it does for each byte, and how many in a second; above it, what the machine can do. The history has a
line for each model over the files in their order: Weft's time to that of the fastest peer of the same run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from html import escape
from math import log10
from pathlib import Path
from typing import Any

WIDTH, HEIGHT, LEFT, TOP = 760, 420, 60, 40
COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")
Report = dict[str, Any]


def text(x: float, y: float, words: str, anchor: str = "start", color: str = "black") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{escape(words)}</text>'


def line(points: Sequence[tuple[float, float]], color: str, dashes: str = "") -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{color}" stroke-dasharray="{dashes}"/>'


def drawing(title: str, parts: Sequence[str], legend: Sequence[str]) -> str:
    """A frame with a title, what is in it, and the names of the colours on the right."""
    names = [
        text(LEFT + WIDTH + 16, TOP + 16 * (number + 1), name, color=COLORS[number % len(COLORS)])
        for number, name in enumerate(legend)
    ]
    height = max(TOP + HEIGHT + 50, TOP + 16 * (len(legend) + 2))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 260}" height="{height}"'
    frame = f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>'
    white = '<rect width="100%" height="100%" fill="white"/>'
    lines = [f'{head} font-family="sans-serif" font-size="11">', white, frame, text(LEFT, 24, title), *parts, *names]
    return "\n".join([*lines, "</svg>"]) + "\n"


def scale(least: float, most: float, start: float, length: float, kind: Callable[[float], float]) -> Any:
    """Numbers from `least` to `most` as places from `start` on."""
    low, high = kind(least), kind(most)

    def place(value: float) -> float:
        return start + length * (kind(min(max(value, least), most)) - low) / (high - low)

    return place


def roofline(report: Report) -> str:
    """The kernels of all results of a file, under the limits that were measured with them.

    Raises:
        SystemExit: the file has no kernels.
    """
    results = [result for result in report["results"] if result.get("kernels") and result.get("limits")]
    if not results:
        raise SystemExit("no kernels: weft-bench writes them with --kernels")
    limits = results[0]["limits"]
    least, most = 1 / 16, 1024.0
    x = scale(least, most, LEFT, WIDTH, log10)
    y = scale(limits["peak"] / 4096, limits["peak"] * 2, TOP + HEIGHT, -HEIGHT, log10)
    parts = [text(LEFT + WIDTH / 2, TOP + HEIGHT + 34, "operations for each byte", "middle")]
    parts += [text(x(2.0**n), TOP + HEIGHT + 16, f"{2.0**n:g}", "middle") for n in range(-4, 11, 2)]
    for exponent in range(-10, 1, 2):
        rate = limits["peak"] * 2.0**exponent
        parts.append(text(LEFT - 6, y(rate) + 4, f"{rate:.3g}", "end"))
    parts.append(text(8, TOP - 8, "GFLOP/s"))
    for size, bandwidth in zip(limits["sizes"], limits["bandwidths"], strict=True):
        knee = limits["peak"] / bandwidth
        points = [(x(least), y(least * bandwidth)), (x(knee), y(limits["peak"])), (x(most), y(limits["peak"]))]
        parts.append(line(points, "#bbb"))
        parts.append(
            text(x(least) + 4, y(least * bandwidth) - 3, f"{size >> 10} KiB: {bandwidth:.0f} GB/s", color="#888")
        )
    for number, result in enumerate(results):
        total = sum(kernel["calls"] * kernel["ms"] for kernel in result["kernels"])
        for kernel in result["kernels"]:
            if not kernel["flops"] or not kernel["bytes"]:
                continue
            share = kernel["calls"] * kernel["ms"] / total
            at = x(kernel["flops"] / kernel["bytes"]), y(kernel["gflops"])
            name = (
                f"{kernel['name']}: {share:.1%}, {kernel['gflops']:.1f} GFLOP/s, {kernel['of_limit']:.0%} of the limit"
            )
            parts.append(
                f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{2 + 24 * share**0.5:.1f}" fill-opacity="0.5" '
                f'fill="{COLORS[number % len(COLORS)]}"><title>{escape(name)}</title></circle>'
            )
    return drawing(f"{report['machine']['processor']}: kernels under their roofs", parts, [_name(r) for r in results])


def history(reports: Sequence[Report]) -> str:
    """The ratios to the fastest peer over the files.

    Raises:
        SystemExit: no file has one.
    """
    found = [{_name(r): min_ratio for r in report["results"] if (min_ratio := _ratio(r))} for report in reports]
    names = list(dict.fromkeys(name for ratios in found for name in ratios))
    if not names:
        raise SystemExit("no ratios: weft-bench writes them with --against")
    most = max(1.2, *(ratio for ratios in found for ratio in ratios.values()))
    x = scale(0, max(1, len(reports) - 1), LEFT + 20, WIDTH - 40, float)
    y = scale(0, most, TOP + HEIGHT, -HEIGHT, float)
    parts = [line([(LEFT, y(1)), (LEFT + WIDTH, y(1))], "#888", "4 3")]
    parts += [text(LEFT - 6, y(n / 5) + 4, f"{n / 5:.1f}", "end") for n in range(int(most * 5) + 1)]
    parts += [text(x(n), TOP + HEIGHT + 16, str(n + 1), "middle") for n in range(len(reports))]
    for number, name in enumerate(names):
        color = COLORS[number % len(COLORS)]
        points = [(x(at), y(ratios[name])) for at, ratios in enumerate(found) if name in ratios]
        parts.append(line(points, color))
        parts += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{color}"/>' for px, py in points]
    return drawing("Weft's time to that of the fastest peer, by file", parts, names)


def _name(result: Report) -> str:
    return f"{result['model']}, {result['threads']} threads"


def _ratio(result: Report) -> float | None:
    return max(result["ratios"].values(), default=None)


def main() -> None:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, help="what weft-bench --json has written, the oldest first")
    parser.add_argument("--roofline", type=Path, metavar="SVG", help="draw the kernels of the last file")
    parser.add_argument("--history", type=Path, metavar="SVG", help="draw the ratios of all files")
    arguments = parser.parse_args()
    reports: list[Report] = [json.loads(path.read_text("utf-8")) for path in arguments.files]
    if arguments.roofline is not None:
        arguments.roofline.write_text(roofline(reports[-1]), "utf-8")
    if arguments.history is not None:
        arguments.history.write_text(history(reports), "utf-8")


if __name__ == "__main__":
    main()
