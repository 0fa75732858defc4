"""What verifying costs: the share of a compilation's processor time that goes into checking what each phase has made.

python bench/verification.py squeezenet resnet50 my_model.onnx
python bench/verification.py --jobs 2 squeezenet         # with the processes that lower kernels and generate code
python bench/verification.py --open-batch squeezenet     # for any batch
"""

from __future__ import annotations

import argparse
import os
import struct
from mmap import mmap
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import process_time

from onnx import ModelProto
from xdsl.dialects.builtin import ModuleOp

from weft.dialects.support.verifier import verify
from weft.frontend.onnx import from_onnx
from weft.lowering import compiler, phases
from weft.lowering.machine.target import Target
from weft.testing.models import light_model
from weft.transforms.infra import PassContext

PROCESSES = 4096


class Clock:
    """Verifies, and adds up the time, of this process and of those that are forked from it."""

    def __init__(self) -> None:
        self._times = mmap(-1, 8 * PROCESSES)

    def __call__(self, module: ModuleOp) -> None:
        start = process_time()
        verify(module)
        place = 8 * (os.getpid() % PROCESSES)
        (before,) = struct.unpack_from("d", self._times, place)
        struct.pack_into("d", self._times, place, before + process_time() - start)

    @property
    def seconds(self) -> float:
        """All that it has taken."""
        return sum(struct.unpack(f"{PROCESSES}d", self._times))


def processor_time() -> float:
    """Seconds that this process and those that it has waited for have taken."""
    return sum(used.ru_utime + used.ru_stime for used in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))


def of_any_batch(model: ModelProto | str) -> ModelProto:
    """The model, all in one file if it is one, the first dimension of its inputs and outputs open."""
    if isinstance(model, str):
        model = ModelProto.FromString(Path(model).read_bytes())
    weights = {tensor.name for tensor in model.graph.initializer}
    for value in (*model.graph.input, *model.graph.output):
        if value.name not in weights and value.type.tensor_type.shape.dim:
            value.type.tensor_type.shape.dim[0].dim_param = "batch"
    del model.graph.value_info[:]
    return model


def main(names: list[str], jobs: int, open_batch: bool) -> None:
    """Compile each model, nothing from the cache, so that all of it counts; with one job, all in this process."""
    os.environ["WEFT_CACHE_DIR"] = ""
    for name in names:
        phases.verify = compiler.verify = clock = Clock()
        start = processor_time()
        with PassContext(opt_level=3):
            model = name if name.endswith(".onnx") else light_model(name)
            module = from_onnx(of_any_batch(model) if open_batch else model)
            compiler.compile_graph(module, Target.parse("llvm -mcpu=native"), jobs=jobs)
        total = processor_time() - start
        print(f"{name}: {clock.seconds:.2f} s of {total:.2f} s, {100 * clock.seconds / total:.1f} %")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="MODEL", default=["squeezenet", "resnet50"])
    parser.add_argument("--jobs", type=int, default=1, help="processes that generate code")
    parser.add_argument("--open-batch", action="store_true", help="compile for any batch")
    arguments = parser.parse_args()
    main(arguments.names, arguments.jobs, arguments.open_batch)
