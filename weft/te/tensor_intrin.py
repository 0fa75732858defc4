"""Intrinsics of stages, where TVM defines them (`tvm.te.tensor_intrin`)."""

from ..dialects.te.tensor_intrin import TensorIntrin as TensorIntrin
from ..dialects.te.tensor_intrin import decl_tensor_intrin as decl_tensor_intrin
