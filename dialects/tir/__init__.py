"""The `tir` dialect: TVM's TIR, loop nests over buffers with blocks that schedules transform."""

from xdsl.ir import Dialect

from .core import OPS

Tir = Dialect("tir", OPS, [])
