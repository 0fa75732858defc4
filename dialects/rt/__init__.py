"""The `rt` dialect: how threads share the work of a running program, and tell of what failed.

It stands between `tir` and the machine.
"""

from xdsl.ir import Dialect, Operation

from .calls import CallOp, CallPackedOp
from .checks import CheckOp, RecordOp, RecordType
from .constants import ConstantOp
from .core import ShareOp, SlotsOp, SlotsType
from .dots import DotOp
from .sources import SourceOp
from .tiles import TILE_OPS

_OPS: list[type[Operation]] = [
    *(ShareOp, SlotsOp, RecordOp, CheckOp, CallOp, CallPackedOp, ConstantOp, DotOp, SourceOp),
    *TILE_OPS,
]

Rt = Dialect("rt", _OPS, [SlotsType, RecordType])
