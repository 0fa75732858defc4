"""Tensors and what makes them, where TVM defines them (`tvm.te.tensor`)."""

from ..dialects.te.tensor import ComputeOp as ComputeOp
from ..dialects.te.tensor import ExternOp as ExternOp
from ..dialects.te.tensor import PlaceholderOp as PlaceholderOp
from ..dialects.te.tensor import Tensor as Tensor
