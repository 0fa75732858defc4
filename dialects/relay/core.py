"""Relay's own structure: functions, calls, constants, tuples, and the regions that fusion makes.

A graph is SSA: `let` is an operation's result, sharing is a second use. Tensors are `tensor` types, tuples `tuple`
types. Each concept has a file of its own.
"""

from __future__ import annotations

from xdsl.ir import Operation

from .calls import CallLoweredOp, CallOp, ReadExtentOp, ViewOp
from .functions import FuncOp, ReturnOp, is_primitive
from .regions import PrimitiveOp, YieldOp
from .values import ConstantOp, TupleGetOp, TupleOp

__all__ = [
    "OPS",
    "CallLoweredOp",
    "CallOp",
    "ConstantOp",
    "FuncOp",
    "PrimitiveOp",
    "ReadExtentOp",
    "ReturnOp",
    "TupleGetOp",
    "TupleOp",
    "ViewOp",
    "YieldOp",
    "is_primitive",
]

OPS: list[type[Operation]] = [
    FuncOp, ReturnOp, CallOp, CallLoweredOp, ConstantOp, TupleOp, TupleGetOp, PrimitiveOp, YieldOp,
    ViewOp, ReadExtentOp,
]  # fmt: skip
"""The structural operations of the dialect."""
