"""Arithmetic of values, where TVM defines it (`tvm.tir.generic`)."""

from ..dialects.te.functions import add as add
from ..dialects.te.functions import floordiv as floordiv
from ..dialects.te.functions import multiply as multiply
from ..dialects.te.functions import subtract as subtract
