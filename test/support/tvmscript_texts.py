"""Functions in TVMScript for tests: what a text stands for and computes, and schedules of it."""

from collections.abc import Callable

import numpy as np
import pytest

from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.tir import Schedule, ScheduleError, from_source


def function(text: str, *, check_well_formed: bool = False) -> PrimFuncOp:
    """The function of a text."""
    made = from_source(text, check_well_formed=check_well_formed)
    assert isinstance(made, PrimFuncOp)
    return made


def scheduled(text: str) -> Schedule:
    """A schedule of the function of a text, verified after each instruction."""
    return Schedule(function(text), debug_mask="all")


def refused(action: Callable[[], object], schedule: Schedule, reason: str) -> None:
    """`action` raises, and leaves module and trace as they were."""
    before = str(schedule.mod), str(schedule.trace)
    with pytest.raises(ScheduleError, match=reason):
        action()
    assert (str(schedule.mod), str(schedule.trace)) == before


def only(schedule: Schedule) -> PrimFuncOp:
    """The one function of what is scheduled."""
    (made,) = schedule.mod.ops
    assert isinstance(made, PrimFuncOp)
    return made


def body(*lines: str, buffers: str = 'A: T.Buffer[(16,), "float32"], B: T.Buffer[(16,), "float32"]') -> str:
    """A function with one block over 16 elements."""
    header = ["@T.prim_func", f"def f({buffers}):", "    for i in range(16):", '        with T.block("b"):']
    return "\n".join([*header, "            vi = T.axis.spatial(16, i)", *(f"            {line}" for line in lines)])


def interpreted(text: str, *arrays: np.ndarray) -> np.ndarray:
    """The first result of the function of a text, by the interpreter."""
    return Interpreter(function(text))(list(arrays))[0]
