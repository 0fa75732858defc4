"""`bench/plot.py`: drawings of what `weft-bench --json` writes."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from weft.tools.bench_limits import Limits
from weft.tools.bench_report import KernelResult, Result, as_json
from weft.tools.bench_timing import Timing

PLOT = runpy.run_path(str(Path(__file__).parents[2] / "bench" / "plot.py"))
SVG = "{http://www.w3.org/2000/svg}"


def report(weft: float, kernels: tuple[KernelResult, ...] = ()) -> dict[str, Any]:
    """What is written of a model that takes `weft` seconds, and two peers 0.001 and 0.002."""
    timings = {name: Timing((seconds,)) for name, seconds in (("weft", weft), ("one", 0.001), ("other", 0.002))}
    limits = Limits(100.0, (1 << 14, 1 << 24), (80.0, 10.0))
    return json.loads(json.dumps(as_json([Result("net", 1, 0.5, timings, kernels, limits=limits, target="llvm")], 1)))


def test_the_roofline_has_a_dot_for_each_kernel_and_a_roof_for_each_memory() -> None:
    kernels = (KernelResult("conv<1>", 2, 1.0, 10**7, 10**5), KernelResult("copy", 1, 1.0, None, 10**5))
    root = ElementTree.fromstring(PLOT["roofline"](report(0.001, kernels)))
    (dot,) = root.iter(f"{SVG}circle")
    (title,) = dot
    assert title.text == "conv<1>: 66.7%, 10.0 GFLOP/s, 10% of the limit"
    assert len([*root.iter(f"{SVG}polyline")]) == 2


def test_the_history_has_the_ratio_to_the_fastest_peer_of_each_file() -> None:
    root = ElementTree.fromstring(PLOT["history"]([report(0.001), report(0.0005)]))
    first, second = root.iter(f"{SVG}circle")
    assert first.get("cx") != second.get("cx") and float(first.get("cy", 0)) < float(second.get("cy", 0))


def test_files_without_what_is_to_be_drawn_are_refused() -> None:
    with pytest.raises(SystemExit, match="--kernels"):
        PLOT["roofline"](report(0.001))
    with pytest.raises(SystemExit, match="--against"):
        PLOT["history"]([{"results": [{"model": "net", "threads": 1, "ratios": {}}]}])
