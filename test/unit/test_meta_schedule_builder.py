"""Building modules in processes of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import weft
from weft import te, tir
from weft.dialects.support.diagnostics import UsageError
from weft.meta_schedule.builder import Builder, BuilderInput, BuilderResult, LocalBuilder

ROOT = Path(__file__).parents[2]
TARGET = weft.Target.parse("llvm")


def module() -> tir.IRModule:
    a = te.placeholder((4,), "float32", name="a")
    return tir.IRModule.of(te.create_prim_func([a, te.compute((4,), lambda i: a[i] * 2.0, name="b")]))


def nothing(mod: object, target: object, params: object) -> None:
    """Builds nothing."""


def sleeping(mod: object, target: object, params: object) -> None:
    time.sleep(60)


def kind_of(mod: object, target: weft.Target, params: object) -> str:
    return target.kind


def described(built: object) -> str:
    return f"made of {built}"


def given() -> BuilderInput:
    return BuilderInput(module(), TARGET)


def test_what_is_built_is_a_file_that_loads_and_runs() -> None:
    results = LocalBuilder(max_workers=2).build([given(), given()])
    assert [each.error_msg for each in results] == [None, None]
    paths = [str(each.artifact_path) for each in results]
    assert len(set(paths)) == 2
    for path in paths:
        found = weft.load(path)(np.ones(4, np.float32))
        np.testing.assert_array_equal(np.asarray(found), np.full(4, 2, np.float32))
        shutil.rmtree(Path(path).parent)


LEFT = """
import os, sys
sys.path.append("test/unit")
from test_meta_schedule_builder import LocalBuilder, given
(built,) = LocalBuilder().build([given()])
assert os.path.exists(built.artifact_path), built.error_msg
print(os.path.dirname(built.artifact_path), flush=True)
"""


@pytest.mark.parametrize("end", ["", "os.kill(os.getpid(), 9)"], ids=["ends", "is-killed"])
def test_what_is_built_goes_with_the_process(end: str) -> None:
    done = subprocess.run([sys.executable, "-c", LEFT + end], capture_output=True, text=True, cwd=ROOT)
    folder = Path(done.stdout.strip()).parent
    assert folder.name.startswith("weft-build-"), done.stderr
    until = time.monotonic() + 10
    while folder.exists():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_what_fails_or_ends_the_process_is_told() -> None:
    def failing(mod: object, target: object, params: object) -> None:
        raise ValueError("no such luck")

    def ending(built: object) -> str:
        os._exit(3)

    (failed,) = LocalBuilder(f_build=failing).build([given()])
    assert failed.artifact_path is None
    assert failed.error_msg is not None and failed.error_msg.startswith("LocalBuilder: An exception occurred")
    assert "no such luck" in failed.error_msg
    (ended,) = LocalBuilder(f_build=nothing, f_export=ending).build([given()])
    assert ended == BuilderResult(None, "LocalBuilder: An exception occurred\nthe process ended with 3")


def test_a_process_is_ended_when_its_time_is_up() -> None:
    begun = time.perf_counter()
    (late,) = LocalBuilder(timeout_sec=0.3, f_build=sleeping).build([given()])
    assert late == BuilderResult(None, "LocalBuilder: Timeout, killed after 0.3 seconds")
    assert time.perf_counter() - begun < 30


def test_functions_are_known_by_name_in_the_process() -> None:
    def initializer() -> None:
        weft.register_func("test_builder.export", described)

    builder = LocalBuilder(f_build=kind_of, f_export="test_builder.export", initializer=initializer)
    assert builder.build([given()]) == [BuilderResult("made of llvm", None)]
    assert weft.get_global_func("test_builder.export", allow_missing=True) is None


def test_what_cannot_build_is_refused() -> None:
    with pytest.raises(ValueError, match="no function is registered as 'wrong-name'"):
        LocalBuilder(f_build="wrong-name")
    with pytest.raises(UsageError, match="one process at least"):
        LocalBuilder(max_workers=0)
    (refused,) = LocalBuilder().build([BuilderInput(module(), TARGET, {"a": 1})])
    assert refused.error_msg is not None and "f_build=" in refused.error_msg
    with pytest.raises(NotImplementedError):
        Builder().build([])
