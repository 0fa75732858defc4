"""The `schedule` dialect: what was done to a `tir` function, one operation for each primitive."""

from xdsl.ir import Dialect

from . import blocks, loops, queries
from .core import TYPES, SequenceOp

Schedule = Dialect("schedule", [SequenceOp, *queries.OPS, *loops.OPS, *blocks.OPS], TYPES)
