"""Threads: the system's OpenMP runtime, the stand-in for one thread, and an orderly end of the process."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from weft.dialects.support.diagnostics import Diagnostic, handled_by
from weft.lowering.machine.codegen import compile_module
from weft.lowering.machine.target import Target
from weft.runtime import openmp
from weft.runtime.jit import LoadedObjects

COUNTING = """
declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()

define internal void @body(ptr %counts) {
  %thread = call i32 @omp_get_thread_num()
  %threads = call i32 @omp_get_num_threads()
  %place = getelementptr i32, ptr %counts, i32 %thread
  store i32 %threads, ptr %place
  ret void
}

define void @run(ptr %counts, i32 %threads) {
  call void @GOMP_parallel(ptr @body, ptr %counts, i32 %threads, i32 0)
  ret void
}
"""

needs_openmp = pytest.mark.skipif(openmp.load() is None, reason="this system has no OpenMP runtime")


def run(address: int, threads: int) -> list[int]:
    counts = (ctypes.c_int32 * 4)()
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32)(address)(ctypes.addressof(counts), threads)
    return list(counts)


@needs_openmp
def test_every_thread_runs_the_body() -> None:
    code = LoadedObjects([compile_module(COUNTING, Target())])
    assert run(code.address("run"), 2) == [2, 2, 0, 0]
    assert run(code.address("run"), 3) == [3, 3, 3, 0]


def test_the_stand_in_runs_the_body_on_one_thread() -> None:
    code = LoadedObjects([compile_module(COUNTING, Target())], serial=True)
    assert run(code.address("run"), 4) == [1, 0, 0, 0]


def test_a_system_without_openmp_uses_one_thread_and_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openmp, "load", lambda: None)
    openmp.usable_threads.__globals__["_warn_of_one_thread"].cache_clear()
    said: list[Diagnostic] = []
    with handled_by(said.append):
        assert [openmp.usable_threads(count) for count in (1, 4, 8)] == [1, 1, 1]
    assert [diagnostic.message for diagnostic in said] == [
        "there is no OpenMP runtime on this system; one thread is used"
    ]


@needs_openmp
def test_a_process_that_ends_right_after_a_parallel_region_ends_well() -> None:
    code = f"""
import ctypes
from weft.lowering.machine.codegen import compile_module
from weft.lowering.machine.target import Target
from weft.runtime.jit import LoadedObjects
code = LoadedObjects([compile_module({COUNTING!r}, Target())])
counts = (ctypes.c_int32 * 8)()
for _ in range(100):
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32)(code.address("run"))(ctypes.addressof(counts), 4)
"""
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
        assert done.returncode == 0, done.stderr


ROOT = Path(__file__).parents[2]
