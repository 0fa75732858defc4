"""Compile and run a real model: SqueezeNet, which ships with the `onnx` package, with random weights from a seed.

    python examples/demo.py [MODEL]       # one of the package's nine, squeezenet without an argument

Prints the phases with their times, the result and the milliseconds per inference beside those of ONNX Runtime.
"""

from __future__ import annotations

import os
import sys
from time import perf_counter
from typing import Any

import numpy as np
import onnxruntime
from onnx import ModelProto
from xdsl.dialects.builtin import ModuleOp

import weft
from weft.frontend.onnx import from_onnx
from weft.lowering.phases import PHASES
from weft.testing.models import light_model, light_models, random_feeds
from weft.tools.bench_timing import interleaved
from weft.transforms.infra.info import PassInfo

ROUNDS = 3
"""Turns of each system."""

WHAT_HAPPENS = {
    "import": "the ONNX model becomes relay operators",
    "graph": "operators are simplified, constants folded, layouts chosen",
    "fuse": "operators are grouped into kernels",
    "tir": "kernels become loop nests",
    "schedule": "loops are tiled, vectorised, shared among threads",
    "loops": "blocks and buffers become scf, vector and memref; memory is planned",
    "llvm": "everything becomes the llvm dialect",
    "object": "LLVM makes machine code, in processes of their own",
}


class PhaseTimes(weft.PassInstrument):
    """Adds up the seconds of each phase's passes."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self._started: list[tuple[str | None, float]] = []

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        within = any(phase is not None for phase, _ in self._started)
        self._started.append((None if within else info.name if info.name in PHASES else None, perf_counter()))

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        phase, start = self._started.pop()
        if phase is not None:
            self.seconds[phase] += perf_counter() - start


def compile_and_report(name: str, model: ModelProto) -> weft.Executable:
    """Compile a model, and print how long each phase took."""
    start = perf_counter()
    module = from_onnx(model)
    imported = perf_counter()
    with weft.PassContext(opt_level=3, instruments=[times := PhaseTimes()]):
        exe = weft.compile(module)
    end = perf_counter()
    times.seconds["import"] = imported - start
    times.seconds["object"] = end - start - sum(times.seconds.values())
    print(f"{name}: {len(list(module.walk()))} operations, {len(exe.graph.kernels)} kernels\n")
    for phase, seconds in times.seconds.items():
        print(f"  {phase:8} {seconds:7.3f} s  {WHAT_HAPPENS[phase]}")
    print(f"  {'in all':8} {end - start:7.3f} s\n")
    return exe


def main() -> int:
    name = sys.argv[1] if len(sys.argv) > 1 else "squeezenet"
    if name not in light_models():
        print(f"models: {', '.join(light_models())}", file=sys.stderr)
        return 2
    model = light_model(name)
    exe = compile_and_report(name, model)

    feeds = random_feeds(model)
    (x,) = feeds.values()
    (got,) = exe.run(feeds).values()
    (wanted,) = session(model, 1).run(None, feeds)
    difference = float(np.abs(got - wanted).max() / np.abs(wanted).max())
    same = got.shape == wanted.shape and difference < 1e-4
    print(f"output {list(got.shape)} from {wanted.min():.2g} to {wanted.max():.2g}")
    print(f"greatest difference to ONNX Runtime's: {difference:.2g} of the greatest value")
    print("the result is right\n" if same else "the result is WRONG\n")

    for threads in sorted({1, len(os.sched_getaffinity(0))}):
        exe.threads = threads
        peer = session(model, threads)
        taken = interleaved({"Weft": lambda: exe(x), "peer": lambda peer=peer: peer.run(None, feeds)}, ROUNDS)
        own, other = taken["Weft"].median_ms, taken["peer"].median_ms
        word = "thread " if threads == 1 else "threads"
        print(f"{threads} {word} {own:8.2f} ms per inference, ONNX Runtime {other:8.2f} ms")
    return 0 if same else 1


def session(model: ModelProto, threads: int) -> Any:
    """The model in ONNX Runtime."""
    runtime: Any = onnxruntime
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    return runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


if __name__ == "__main__":
    sys.exit(main())
