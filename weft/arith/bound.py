"""Bounds, where TVM defines them (`tvm.arith.bound`)."""

from ..dialects.te.arithmetic import deduce_bound as deduce_bound
