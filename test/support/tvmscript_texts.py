"""Functions in TVMScript for tests: a body's lines as a function's text, and what a function's text computes."""

import numpy as np

from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.tir import Schedule, from_source


def func(text: str) -> PrimFuncOp:
    """The function of a text."""
    made = from_source(text)
    assert isinstance(made, PrimFuncOp)
    return made


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
    return Interpreter(func(text))(list(arrays))[0]
