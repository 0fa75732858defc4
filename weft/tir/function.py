"""Functions, where TVM defines them (`tvm.tir.function`)."""

from ..dialects.tir.analyzer.index_map import IndexMap as IndexMap
from ..dialects.tir.nodes.prim_func import PrimFunc as PrimFunc
from ..transforms.tir.intrinsics.tensor_intrin import TensorIntrin as TensorIntrin
