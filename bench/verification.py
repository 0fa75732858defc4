"""What verifying costs: the share of a compilation's processor time that goes into checking what each phase has made.

python bench/verification.py squeezenet resnet50 my_model.onnx
"""

from __future__ import annotations

import argparse
import os
from time import process_time

from xdsl.dialects.builtin import ModuleOp

from weft.dialects.support.verifier import verify
from weft.frontend.onnx import from_onnx
from weft.lowering import compiler, phases
from weft.lowering.machine.target import Target
from weft.testing.models import light_model
from weft.transforms.infra import PassContext


class Clock:
    """Verifies, and adds up the time."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, module: ModuleOp) -> None:
        start = process_time()
        verify(module)
        self.seconds += process_time() - start


def main(names: list[str]) -> None:
    """Compile each model, code generation in this process and nothing from the cache, so that all of it counts."""
    os.environ["WEFT_CACHE_DIR"] = ""
    for name in names:
        phases.verify = compiler.verify = clock = Clock()
        start = process_time()
        with PassContext(opt_level=3):
            module = from_onnx(name if name.endswith(".onnx") else light_model(name))
            compiler.compile_graph(module, Target.parse("llvm -mcpu=native"), jobs=1)
        total = process_time() - start
        print(f"{name}: {clock.seconds:.2f} s of {total:.2f} s, {100 * clock.seconds / total:.1f} %")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="MODEL", default=["squeezenet", "resnet50"])
    main(parser.parse_args().names)
