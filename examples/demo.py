"""Compile and run a real model: SqueezeNet, which ships with the `onnx` package beside its recorded output.

    python examples/demo.py [MODEL]       # one of the package's nine, light_squeezenet without an argument

Prints the phases with their times, the result against the recorded output, and milliseconds per inference.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from xdsl.dialects.builtin import ModuleOp

import weft
from weft.frontend.onnx import from_onnx
from weft.lowering.phases import PHASES, phase_passes
from weft.transforms.infra.info import PassInfo, info_of

MODELS = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
RUNS = 30

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
        target = weft.Target()
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self._phases = {info_of(p).name: phase for phase in PHASES for p in phase_passes(phase, target)}
        self._started: list[tuple[str | None, float]] = []

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        within = any(phase is not None for phase, _ in self._started)
        self._started.append((None if within else self._phases.get(info.name), perf_counter()))

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        phase, start = self._started.pop()
        if phase is not None:
            self.seconds[phase] += perf_counter() - start


def compile_and_report(path: Path) -> weft.Executable:
    """Compile a model, and print how long each phase took."""
    start = perf_counter()
    module = from_onnx(path)
    imported = perf_counter()
    with weft.PassContext(opt_level=3, instruments=[times := PhaseTimes()]):
        exe = weft.compile(module)
    end = perf_counter()
    times.seconds["import"] = imported - start
    times.seconds["object"] = end - start - sum(times.seconds.values())
    print(f"{path.stem}: {len(list(module.walk()))} operations, {len(exe.graph.kernels)} kernels\n")
    for phase, seconds in times.seconds.items():
        print(f"  {phase:8} {seconds:7.3f} s  {WHAT_HAPPENS[phase]}")
    print(f"  {'in all':8} {end - start:7.3f} s\n")
    return exe


def main() -> int:
    name = sys.argv[1] if len(sys.argv) > 1 else "light_squeezenet"
    path = MODELS / f"{name}.onnx"
    if not path.exists():
        print(f"models: {', '.join(sorted(p.stem for p in MODELS.glob('*.onnx')))}", file=sys.stderr)
        return 2
    exe = compile_and_report(path)

    recorded = TensorProto.FromString(path.with_name(f"{name}_output_0.pb").read_bytes())
    wanted = numpy_helper.to_array(recorded)
    shape = exe.inputs[0].type.get_shape()
    x = (np.arange(np.prod(shape)).reshape(shape) / np.prod(shape)).astype(np.float32)
    got = exe.run({exe.inputs[0].name: x})[exe.outputs[0].name]
    same = np.allclose(got, wanted, rtol=1e-3, atol=1e-7)
    difference = np.abs(got - wanted).max()
    print(f"output {list(got.shape)}: greatest difference to the recorded one {difference:.2g} of {wanted.max():.2g}")
    print("the result is right\n" if same else "the result is WRONG\n")

    processors = os.cpu_count() or 1
    for threads in sorted({1, processors}):
        exe.threads = threads
        seconds: list[float] = []
        for _ in range(RUNS):
            start = perf_counter()
            exe(x)
            seconds.append(perf_counter() - start)
        print(f"{threads} thread{'s' if threads > 1 else ' '}  {median(seconds) * 1e3:8.2f} ms per inference")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
