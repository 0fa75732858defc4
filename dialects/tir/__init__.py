"""The `tir` dialect."""

from xdsl.ir import Dialect

from .core import PrimFuncOp

Tir = Dialect("tir", [PrimFuncOp], [])
