"""What a person sees who looks around in a Python shell."""

import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from pkgutil import walk_packages

import numpy as np
import pytest

import weft
from weft import te, tir
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


def test_errors_have_tvms_names() -> None:
    x = weft.relay.var("x", shape=(2,))
    for error in (
        weft.TVMError,
        weft.error.TVMError,
        weft.error.DiagnosticError,
        import_module("weft._ffi").base.TVMError,
    ):
        with pytest.raises(error, match="do not broadcast"):
            weft.relay.IRModule.from_expr(x + weft.relay.var("y", shape=(3,)))
    assert issubclass(weft.tir.ScheduleError, weft.TVMError) and issubclass(weft.error.InternalError, weft.TVMError)


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


@pytest.mark.parametrize("package", ["arith", "ir", "te", "tir"])
def test_a_package_has_the_modules_that_tvm_has_in_it(package: str) -> None:
    """In an interpreter of its own, whose first import is the innermost module: none waits for another."""
    code = "import importlib, sys; print(len([vars(importlib.import_module(name)) for name in sys.argv[1:]]))"
    names = [module.name for module in walk_packages(getattr(weft, package).__path__, f"weft.{package}.")]
    done = subprocess.run([sys.executable, "-c", code, *names[::-1]], capture_output=True, text=True, check=True)
    assert int(done.stdout) == len(names) >= 5


def test_what_tvm_has_in_a_module_of_its_own_is_that_of_the_package() -> None:
    from weft.script.parser import tir as parsed_tir
    from weft.tir import expr, function, schedule, stmt, transform
    from weft.tir.analysis import estimate_tir_flops
    from weft.tir.schedule.testing import verify_trace_roundtrip
    from weft.tir.tensor_intrin.x86 import VNNI_DOT_16x4_INTRIN

    assert expr.Add is tir.Add and stmt.For is tir.For and function.PrimFunc is tir.PrimFunc
    assert schedule.Schedule is tir.Schedule and transform.Simplify is weft.transform.Simplify
    assert estimate_tir_flops is tir.analysis.estimate_tir_flops and tir.TensorIntrin.get(VNNI_DOT_16x4_INTRIN)
    assert te.schedule.InferBound is te.InferBound and te.schedule.Buffer is tir.Buffer
    assert isinstance({}, weft.container.Map) and parsed_tir is tir

    a = te.placeholder((8,), name="A")
    function_ = te.create_prim_func([a, te.compute((8,), lambda i: a[i] + 1, name="B")])
    scheduled = tir.Schedule(function_)
    scheduled.split(scheduled.get_loops("B")[0], [None, 4])
    assert verify_trace_roundtrip(scheduled, function_).mod.is_structurally_equivalent(scheduled.mod)
