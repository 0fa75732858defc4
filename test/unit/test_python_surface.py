"""What a person sees who looks around in a Python shell."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

import weft
from weft import te
from weft.transforms.infra import PassContext, PassTimingInstrument

EXAMPLE = Path(__file__).parents[2] / "examples" / "perceptron.mlir"


def test_completion_offers_what_weft_has() -> None:
    """In an interpreter of its own: what tests have imported would be offered too."""
    code = "import weft, weft.transform, weft.instrument; print(dir(weft), dir(weft.transform), dir(weft.instrument))"
    names = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "'compile'" in names and "'FuseOps'" in names and "'PassTimingInstrument'" in names
    assert "lazy_names" not in names and "import_module" not in names


def test_every_name_that_is_offered_can_be_had() -> None:
    for module in (weft, weft.transform, weft.instrument):
        for name in dir(module):
            assert getattr(module, name) is not None


def test_the_version_is_the_packages() -> None:
    assert weft.__version__ == version("weft")


def test_a_pass_context_shows_what_it_sets() -> None:
    assert repr(PassContext()) == "PassContext(opt_level=2)"
    context = PassContext(3, disabled_pass=["fuse-ops"], instruments=[PassTimingInstrument()])
    assert repr(context) == (
        "PassContext(opt_level=3, disabled_pass=['fuse-ops'], instruments=['PassTimingInstrument'])"
    )


def test_what_runs_shows_what_it_is() -> None:
    exe = weft.compile(EXAMPLE)
    assert repr(exe.bind([np.ones((1, 64), np.float32)])) == "weft.Binding(x: tensor<1x64xf32>)"
    assert repr(exe.program) == f"weft.Program({exe.graph.platform}, {len(exe.graph.kernels)} kernels)"
    a = te.placeholder((8,), name="A")
    built = weft.build(te.create_schedule((b := te.compute((8,), lambda i: a[i] + 1)).op), [a, b], name="add")
    assert repr(built) == "weft.Module(llvm: add)"
