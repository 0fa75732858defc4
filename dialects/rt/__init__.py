"""The `rt` dialect: how the threads of a running program share work. Between `tir` and the machine."""

from xdsl.ir import Dialect

from .core import ShareOp, SlotsOp, SlotsType

Rt = Dialect("rt", [ShareOp, SlotsOp], [SlotsType])
