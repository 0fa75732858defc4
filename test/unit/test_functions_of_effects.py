"""Functions that write none of their arguments: they call others, and check."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tvmscript_texts import function

import weft
from weft.runtime.loading import load_module
from weft.runtime.tensors import InputError

HEARD: list[object] = []


@weft.register_func("test.hear", override=True)
def hear(value: object) -> None:
    HEARD.append(value)


NOTHING = """
@T.prim_func
def nothing():
    T.evaluate(0)
"""
TELLS = """
@T.prim_func
def tells():
    for i in range(3):
        T.evaluate(T.call_packed("test.hear", i))
"""
TELLS_ELEMENTS = """
@T.prim_func
def tells_elements(A: T.Buffer[(4,), "int8"]):
    for i in range(4):
        T.evaluate(T.call_packed("test.hear", T.cast(A[i], "int32")))
"""
HOLDS = """
@T.prim_func
def holds(A: T.Buffer[(4,), "float32"]):
    for i in range(4):
        assert A[i] > T.float32(0), "not above zero"
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_functions_that_write_nothing_do_what_they_do(threads: int) -> None:
    HEARD.clear()
    weft.build(function(NOTHING), threads=threads)()
    assert not HEARD
    weft.build(function(TELLS), threads=threads)()
    assert HEARD == [0, 1, 2]
    weft.build(function(TELLS_ELEMENTS), threads=threads)(np.array([1, 2, 3, -56], np.int8))
    assert HEARD[3:] == [1, 2, 3, -56]
    built = weft.build(function(HOLDS), threads=threads)
    built(np.ones(4, np.float32))
    with pytest.raises(weft.CheckError, match="not above zero"):
        built(np.array([1, 0, 1, 1], np.float32))


def test_functions_that_write_nothing_stand_in_libraries_and_in_c(tmp_path: Path) -> None:
    built = weft.build(function(HOLDS))
    built.export_library(str(tmp_path / "holds.so"))
    loaded = load_module(str(tmp_path / "holds.so"))
    compiled = weft.build(function(HOLDS), target="c")
    for each in (loaded, compiled):
        each["holds"](np.ones(4, np.float32))
        with pytest.raises(weft.CheckError, match="not above zero"):
            each["holds"](np.zeros(4, np.float32))


def test_a_function_that_writes_nothing_takes_the_arrays_it_is_said_to() -> None:
    built = weft.build(function(HOLDS))
    with pytest.raises(InputError, match="takes 1 arrays"):
        built(np.ones(4, np.float32), np.zeros(0, np.int8))
