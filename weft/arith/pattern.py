"""Patterns of expressions, where TVM defines them (`tvm.arith.pattern`)."""

from ..dialects.te.arithmetic import detect_clip_bound as detect_clip_bound
from ..dialects.te.arithmetic import detect_linear_equation as detect_linear_equation
