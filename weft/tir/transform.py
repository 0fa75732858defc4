"""Passes, where TVM defines those of TIR (`tvm.tir.transform`): all of `weft.transform`."""

from ..transform import __all__ as __all__
from ..transform import __dir__ as __dir__
from ..transform import __getattr__ as __getattr__
