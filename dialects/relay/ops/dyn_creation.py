"""Operators that make tensors of extents that operands tell, or so many elements: `relay.dyn`."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.dtypes import dtype_name
from ...support.operations import irdl_op_definition
from ...te.assume import at_most
from ..base import (
    DYNAMIC,
    Fusion,
    FusionPattern,
    RelayOp,
    flag,
    integer,
    is_true,
    normalize_axis,
    shape_of,
    string,
    tensor,
)
from ..precision import Accuracy
from ..told import DynOp
from ..types import tuple_type
from .creation import FullOp, OnesOp, ZerosOp
from .dyn_common import count_of, extents, integers, numbers, open_tensor
from .elementwise import named_type
from .gather import GatherOp, OneHotOp
from .sort import TopkOp, order, taken

if TYPE_CHECKING:
    from ..base import NDArray
    from ..gradient import Gradient, Terms


class _DynFill(DynOp, ABC):
    """A tensor of one value, of a shape that is told."""

    TOLD: ClassVar[tuple[str, ...]] = ("shape",)

    traits = traits_def(Pure(), FusionPattern(Fusion.ELEMWISE))

    dtype = string()

    def open_type(self) -> Attribute:
        (shape,) = self.told()
        return open_tensor(named_type(self.dtype.data), count_of(shape, "the shape"))

    VALUE: ClassVar[int] = 0

    def compute_symbolic(self, told: Sequence[Sequence[te.Dim | float]], *data: te.Tensor) -> te.Tensor:
        element = named_type(self.dtype.data)

        def body(*_: te.IterVar) -> te.Expr:
            return te.cast(data[0][()], element) if data else te.const(self.VALUE, element)

        return te.compute(extents(told[0]), body, "full")


@irdl_op_definition
class DynFullOp(_DynFill):
    """A tensor of a value that is given.

    `y = np.full(s, v)`

    ```mlir
    %s = relay.constant dense<[2, 3]> : tensor<2xi64>
    %y = relay.dyn.full %v, %s {dtype = "float32"} : (tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.dyn.full"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    fill_value = operand_def(TensorType)
    shape = operand_def(TensorType)
    result = result_def(TensorType)

    def told_by(self, *values: NDArray) -> RelayOp:
        return FullOp(self.fill_value, shape=numbers(values[0]), dtype=self.dtype)

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad.sum(range(len(g.grad.shape))).cast(g.input.type.element_type), None]


@irdl_op_definition
class DynOnesOp(_DynFill):
    """A tensor of ones.

    `y = np.ones(s)`

    ```mlir
    %s = relay.constant dense<[2, 3]> : tensor<2xi64>
    %y = relay.dyn.ones %s {dtype = "float32"} : (tensor<2xi64>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.dyn.ones"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    VALUE: ClassVar[int] = 1

    shape = operand_def(TensorType)
    result = result_def(TensorType)

    def told_by(self, *values: NDArray) -> RelayOp:
        return OnesOp(shape=numbers(values[0]), dtype=self.dtype)

    def gradient(self, g: Gradient) -> Terms:
        return [None]


@irdl_op_definition
class DynZerosOp(_DynFill):
    """A tensor of zeros.

    `y = np.zeros(s)`

    ```mlir
    %s = relay.constant dense<[2, 3]> : tensor<2xi64>
    %y = relay.dyn.zeros %s {dtype = "float32"} : (tensor<2xi64>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.dyn.zeros"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    shape = operand_def(TensorType)
    result = result_def(TensorType)

    def told_by(self, *values: NDArray) -> RelayOp:
        return ZerosOp(shape=numbers(values[0]), dtype=self.dtype)

    def gradient(self, g: Gradient) -> Terms:
        return [None]


@irdl_op_definition
class DynOneHotOp(DynOp):
    """One value where the place along a new axis of extent `depth` is the index, and another elsewhere.

    ```mlir
    %i = relay.constant dense<[0, 2]> : tensor<2xi64>
    %d = relay.constant dense<3> : tensor<i64>
    %y = relay.dyn.one_hot %i, %on, %off, %d {dtype = "float32"} : (tensor<2xi64>, tensor<f32>, tensor<f32>, tensor<i64>) -> tensor<2x3xf32>
    ```
    """  # noqa: E501

    name = "relay.dyn.one_hot"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    TOLD: ClassVar[tuple[str, ...]] = ("depth",)

    indices = operand_def(TensorType)
    on_value = operand_def(TensorType)
    off_value = operand_def(TensorType)
    depth = operand_def(TensorType)
    result = result_def(TensorType)

    axis = integer(-1)
    dtype = string()

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))

    def told_by(self, *values: NDArray) -> RelayOp:
        (depth,) = numbers(values[0])
        return OneHotOp(self.indices, self.on_value, self.off_value, depth=depth, axis=self.axis, dtype=self.dtype)

    def compute_symbolic(self, told: Sequence[Sequence[te.Dim | float]], *data: te.Tensor) -> te.Tensor:
        indices, on, off = data
        (depth,) = extents(told[0])
        axis = normalize_axis(self.axis.value.data, indices.rank + 1)
        element = named_type(self.dtype.data)

        def body(*i: te.IterVar) -> te.Expr:
            hit = te.cast(indices[(*i[:axis], *i[axis + 1 :])], te.index).equal(i[axis])
            return te.cast(te.select(hit, on[()], off[()]), element)

        return te.compute([*indices.dims[:axis], depth, *indices.dims[axis:]], body, "one_hot")

    def gradient(self, g: Gradient) -> Terms:
        indices, on, off, depth = g.inputs
        dtype = dtype_name(g.grad.type.element_type)
        hot = indices.op(DynOneHotOp, g.grad.like(1), g.grad.like(0), depth, axis=self.axis, dtype=dtype)
        at, elsewhere = g.grad * hot, g.grad * (1 - hot)
        return [None, at.cast(on.type.element_type), elsewhere.cast(off.type.element_type), None]

    def open_type(self) -> Attribute:
        if shape_of(self.depth) not in ((), (1,)):
            raise VerifyException(f"the depth must be one number, got {self.depth.type}")
        shape = list(shape_of(self.indices))
        shape.insert(normalize_axis(self.axis.value.data, len(shape) + 1), DYNAMIC)
        return TensorType(named_type(self.dtype.data), shape)


@irdl_op_definition
class DynTopkOp(DynOp):
    """The first `k` elements along `axis` in order, their indices, or both.

    A `k` below 1 gives all; with `zero_is_none`, one of 0 gives none.

    ```mlir
    %k = relay.constant dense<2> : tensor<i64>
    %y = relay.dyn.topk %x, %k {axis = 1 : i64} : (tensor<2x5xf32>, tensor<i64>) -> tuple<tensor<2x2xf32>, tensor<2x2xi32>>
    ```
    """  # noqa: E501

    name = "relay.dyn.topk"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    TOLD: ClassVar[tuple[str, ...]] = ("k",)

    data = operand_def(TensorType)
    k = operand_def(TensorType)
    result = result_def()

    axis = integer(-1)
    ret_type = string("both")
    is_ascend = flag(False)
    dtype = string("int32")
    zero_is_none = flag(False)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))

    def told_by(self, *values: NDArray) -> RelayOp:
        (k,) = numbers(values[0])
        return TopkOp(self.data, k=k, **self.properties)

    def compute_symbolic(self, told: Sequence[Sequence[te.Dim | float]], *data: te.Tensor) -> list[te.Tensor]:
        (x,), (k,) = data, integers(told[0])
        axis = normalize_axis(self.axis.value.data, x.rank)
        least = 0 if is_true(self.zero_is_none) else 1
        if te.is_number(k) and k < least:
            k = x.dims[axis]
        if not te.is_number(k) and not at_most(least, k):
            raise TypeError("te: whether all elements are taken is known only when it runs")
        if not at_most(k, x.dims[axis]):
            raise TypeError("te: whether there are so many elements is known only when it runs")
        indices = order(x, axis, k, is_true(self.is_ascend))
        element = named_type(self.dtype.data)
        numbered = te.compute(indices.shape, lambda *i: te.cast(indices[i], element), "indices")
        values = taken(x, indices, axis)
        return {"both": [values, numbered], "values": [values], "indices": [numbered]}[self.ret_type.data]

    def gradient(self, g: Gradient) -> Terms:
        data, k = g.inputs
        if self.ret_type.data == "indices":
            return [None, None]
        indices = data.op(DynTopkOp, k, **{**self.properties, "ret_type": "indices"})
        values = data.op(GatherOp, indices, axis=self.axis)
        return g.through(*([values, indices] if self.ret_type.data == "both" else [values]))

    def open_type(self) -> Attribute:
        if shape_of(self.k) not in ((), (1,)):
            raise VerifyException(f"'k' must be one number, got {self.k.type}")
        shape = list(shape_of(self.data))
        shape[normalize_axis(self.axis.value.data, len(shape))] = DYNAMIC
        values = TensorType(tensor(self.data).element_type, shape)
        indices = TensorType(named_type(self.dtype.data), shape)
        match self.ret_type.data:
            case "both":
                return tuple_type(values, indices)
            case "values":
                return values
            case "indices":
                return indices
            case _:
                raise VerifyException(f'\'ret_type\' is "both", "values" or "indices", not {self.ret_type}')


OPS: list[type[Operation]] = [DynFullOp, DynOnesOp, DynZerosOp, DynOneHotOp, DynTopkOp]
"""The operators that are told by data what they give."""
