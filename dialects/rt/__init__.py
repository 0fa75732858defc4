"""The `rt` dialect: how threads share the work of a running program, and tell of what failed.

It stands between `tir` and the machine.
"""

from xdsl.ir import Dialect

from .checks import CheckOp, RecordOp, RecordType
from .core import ShareOp, SlotsOp, SlotsType
from .dots import DotOp

Rt = Dialect("rt", [ShareOp, SlotsOp, RecordOp, CheckOp, DotOp], [SlotsType, RecordType])
