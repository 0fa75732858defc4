"""Operators that make tensors: constants, ranges, shapes, grids."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from math import ceil, isfinite
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.dtypes import numpy_dtype
from ...support.operations import irdl_op_definition
from ...te.assume import at_most
from ...te.contents import contents
from ...te.dim_order import extreme
from ...te.dims import ceil_divided, is_told
from ..base import (
    DYNAMIC,
    Fusion,
    FusionPattern,
    RelayOp,
    flatten_types,
    int_list,
    ints,
    is_static,
    shape_of,
    shape_text,
    string,
    tensor,
)
from ..core import ConstantOp
from ..precision import Accuracy, Precision
from ..types import tuple_type
from .elementwise import ElementwiseOp, named_type

if TYPE_CHECKING:
    from ..base import NDArray
    from ..gradient import Gradient, Terms


class _FillOp(RelayOp, ABC):
    """A tensor of one value: `VALUE`."""

    VALUE: ClassVar[int]

    result = result_def(TensorType)

    shape = int_list()
    dtype = string()

    traits = traits_def(Pure(), FusionPattern(Fusion.ELEMWISE))
    assembly_format = "attr-dict `:` type($result)"

    def infer(self) -> Sequence[Attribute]:
        return [TensorType(named_type(self.dtype.data), ints(self.shape))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        value = te.const(self.VALUE, named_type(self.dtype.data))
        return te.compute(ints(self.shape), lambda *_: value, "full")


@irdl_op_definition
class ZerosOp(_FillOp):
    """A tensor of zeros.

    `y = np.zeros((2, 3), "float32")`

    ```mlir
    %y = relay.zeros {shape = array<i64: 2, 3>, dtype = "float32"} : tensor<2x3xf32>
    ```
    """

    name = "relay.zeros"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    VALUE: ClassVar[int] = 0

    def gradient(self, g: Gradient) -> Terms:
        return []


@irdl_op_definition
class OnesOp(_FillOp):
    """A tensor of ones.

    `y = np.ones((2, 3), "float32")`

    ```mlir
    %y = relay.ones {shape = array<i64: 2, 3>, dtype = "float32"} : tensor<2x3xf32>
    ```
    """

    name = "relay.ones"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    VALUE: ClassVar[int] = 1

    def gradient(self, g: Gradient) -> Terms:
        return []


class _FillLikeOp(ElementwiseOp, ABC):
    """A tensor of one value with the type of another: `VALUE`."""

    VALUE: ClassVar[int]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        return te.compute(x.shape, lambda *_: te.const(self.VALUE, x.element_type), "full_like")


@irdl_op_definition
class ZerosLikeOp(_FillLikeOp):
    """A tensor of zeros with the type of another.

    `y = np.zeros_like(x)`

    ```mlir
    %y = relay.zeros_like %x : tensor<2x3xf32>
    ```
    """

    name = "relay.zeros_like"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    VALUE: ClassVar[int] = 0

    def gradient(self, g: Gradient) -> Terms:
        return [None]


@irdl_op_definition
class OnesLikeOp(_FillLikeOp):
    """A tensor of ones with the type of another.

    `y = np.ones_like(x)`

    ```mlir
    %y = relay.ones_like %x : tensor<2x3xf32>
    ```
    """

    name = "relay.ones_like"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    VALUE: ClassVar[int] = 1

    def gradient(self, g: Gradient) -> Terms:
        return [None]


@irdl_op_definition
class FullOp(RelayOp):
    """A tensor of one value, which a scalar tensor holds. With an empty `dtype`, it keeps the scalar's type.

    `y = np.full((2, 3), v, "float32")`

    ```mlir
    %y = relay.full %v {shape = array<i64: 2, 3>, dtype = "float32"} : (tensor<f32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.full"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    fill_value = operand_def(TensorType)
    result = result_def(TensorType)

    shape = int_list()
    dtype = string("")

    traits = traits_def(Pure(), FusionPattern(Fusion.ELEMWISE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def element(self, value: Attribute) -> Attribute:
        """The result's element type, for a scalar of type `value`."""
        return named_type(self.dtype.data) if self.dtype.data else value

    def infer(self) -> Sequence[Attribute]:
        return [TensorType(self.element(scalar(self.fill_value)), ints(self.shape))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (value,) = inputs
        return te.compute(ints(self.shape), lambda *_: te.cast(value[()], self.element(value.element_type)), "full")

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad.cast(g.input.type.element_type)]


@irdl_op_definition
class FullLikeOp(RelayOp):
    """A tensor of one value, which a scalar tensor holds, with the type of another.

    `y = np.full_like(x, v)`

    ```mlir
    %y = relay.full_like %x, %v : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.full_like"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    data = operand_def(TensorType)
    fill_value = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.ELEMWISE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        scalar(self.fill_value)
        return [tensor(self.data)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, value = inputs
        return te.compute(x.shape, lambda *_: te.cast(value[()], x.element_type), "full_like")

    def gradient(self, g: Gradient) -> Terms:
        return [None, g.grad.cast(g.inputs[1].type.element_type)]


def scalar(value: SSAValue) -> Attribute:
    """The element type of a scalar tensor.

    Raises:
        VerifyException: it has a dimension.
    """
    type = tensor(value)
    if type.get_shape():
        raise VerifyException(f"expected a scalar, got {type}")
    return type.element_type


@irdl_op_definition
class ArangeOp(RelayOp):
    """`start`, `start + step`, ..., as long as it is below `stop` (above, for a negative step).

    The result's extent is static where the three are constants.

    `y = np.arange(a, b, s, "float32")`

    ```mlir
    %a = relay.constant dense<1.0> : tensor<f32>
    %b = relay.constant dense<4.0> : tensor<f32>
    %s = relay.constant dense<0.5> : tensor<f32>
    %y = relay.arange %a, %b, %s {dtype = "float32"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<6xf32>
    ```
    """

    name = "relay.arange"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED
    PRECISION: ClassVar[Precision | None] = Precision.NEVER

    start = operand_def(TensorType)
    stop = operand_def(TensorType)
    step = operand_def(TensorType)
    result = result_def(TensorType)

    dtype = string()

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        if len({scalar(v) for v in self.operands}) != 1:
            raise VerifyException(f"start, stop and step have different types: {[str(v.type) for v in self.operands]}")
        known = [v.owner.numpy() for v in self.operands if isinstance(v.owner, ConstantOp)]
        values = [float(array[()]) for array in known if array is not None]
        extent = self.count(*values) if len(values) == 3 else DYNAMIC
        return [TensorType(named_type(self.dtype.data), [extent])]

    @staticmethod
    def count(start: float, stop: float, step: float) -> int:
        """How many values there are.

        Raises:
            VerifyException: the step is zero, or there is no end of them.
        """
        if step == 0:
            raise VerifyException("the step is zero")
        extent = (stop - start) / step
        if not isfinite(extent):
            raise VerifyException(f"there is no end of numbers from {start:g} to {stop:g} by {step:g}")
        return max(0, ceil(extent))

    def told_extents(self) -> Sequence[SSAValue]:
        return () if is_static(self.result.type) else self.operands

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        start, _, step = inputs
        element = named_type(self.dtype.data)

        def body(i: te.IterVar) -> te.Expr:
            return te.cast(start[()] + te.cast(i, start.element_type) * step[()], element)

        return te.compute(self._dims(inputs), body, "arange")

    def _dims(self, inputs: Sequence[te.Tensor]) -> Sequence[te.Dim]:
        """How many values there are, which may follow from extents.

        Raises:
            TypeError: data decides that.
        """
        if DYNAMIC not in (shape := shape_of(self.result)):
            return shape
        values = [(contents(each) or [None])[0] for each in inputs]
        start, stop, step = (value if isinstance(value, te.Expr) or value is None else int(value) for value in values)
        if start is None or stop is None or not isinstance(step, int) or step == 0:
            raise TypeError("te: how many values there are is known only when it runs")
        first, last = (start, stop) if step > 0 else (stop, start)
        if any(map(is_told, te.variables([first, last]))):
            return [ceil_divided(extreme(te.BinaryKind.MAX, last - first, 0), abs(step))]
        if not at_most(first, last):
            raise TypeError("te: where the values end is known only when it runs")
        return [ceil_divided(last - first, abs(step))]

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        start, stop, step = inputs
        extent = self.count(*(float(v[()]) for v in (start, stop, step)))
        values = start + np.arange(extent).astype(start.dtype) * step  # pyright: ignore[reportOperatorIssue, reportUnknownVariableType]
        return values.astype(numpy_dtype(named_type(self.dtype.data)))  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    def gradient(self, g: Gradient) -> Terms:
        grad = g.grad.cast(g.input.type.element_type)
        steps = grad.op("ones_like").op("cumsum", axis=0) - 1
        return [grad.sum([0]), None, (grad * steps).sum([0])]


def _number(extent: te.Dim, type: Attribute) -> te.Expr:
    return te.const(extent, type) if isinstance(extent, int) else te.cast(extent, type)


class _ShapeQuery(RelayOp, ABC):
    """Something that a tensor's shape says."""

    data = operand_def(TensorType)
    result = result_def(TensorType)

    dtype = string("int32")

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"


@irdl_op_definition
class ShapeOfOp(_ShapeQuery):
    """The extents of a tensor.

    `y = np.array(x.shape)`

    ```mlir
    %y = relay.shape_of %x {dtype = "int64"} : (tensor<2x?xf32>) -> tensor<2xi64>
    ```
    """

    name = "relay.shape_of"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    PRECISION: ClassVar[Precision | None] = Precision.FOLLOW

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))

    def infer(self) -> Sequence[Attribute]:
        return [TensorType(named_type(self.dtype.data), [len(shape_of(self.data))])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        element = named_type(self.dtype.data)

        def body(i: te.IterVar) -> te.Expr:
            extent: te.Expr = te.const(0, element)
            for d, n in reversed(list(enumerate(x.shape))):
                extent = te.select(i.equal(d), _number(n, element), extent)
            return extent

        return te.compute([x.rank], body, "shape_of")


@irdl_op_definition
class NdarraySizeOp(_ShapeQuery):
    """The number of a tensor's elements.

    `y = np.size(x)`

    ```mlir
    %y = relay.ndarray_size %x {dtype = "int64"} : (tensor<2x?xf32>) -> tensor<i64>
    ```
    """

    name = "relay.ndarray_size"

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))

    def infer(self) -> Sequence[Attribute]:
        return [TensorType(named_type(self.dtype.data), [])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        size = _number(te.product(x.dims), named_type(self.dtype.data))
        return te.compute((), lambda: size, "ndarray_size")


@irdl_op_definition
class MeshgridOp(RelayOp):
    """For vectors, the tensors of all combinations of their elements: one for each vector.

    In `indexing` "ij", vector `k` runs along dimension `k`; in "xy", the first two are exchanged. Scalars count as
    vectors of one element.

    `y = np.meshgrid(a, b, indexing="ij")`

    ```mlir
    %t = relay.tuple(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> tuple<tensor<2xf32>, tensor<3xf32>>
    %y = relay.meshgrid %t {indexing = "ij"} : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tuple<tensor<2x3xf32>, tensor<2x3xf32>>
    ```
    """  # noqa: E501

    name = "relay.meshgrid"

    data = operand_def(TupleType)
    result = result_def(TupleType)

    indexing = string("ij")

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def grid(self, shapes: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
        """The dimension along which each vector runs, and the shape of the results.

        Raises:
            VerifyException: a tensor is not a vector, or `indexing` is unknown.
        """
        if any(len(shape) > 1 for shape in shapes):
            raise VerifyException(f"expected vectors, got shapes {', '.join(map(shape_text, shapes))}")
        if self.indexing.data not in ("ij", "xy"):
            raise VerifyException(f'\'indexing\' is "ij" or "xy", not {self.indexing}')
        extents = [shape[0] if shape else 1 for shape in shapes]
        along = list(range(len(shapes)))
        if self.indexing.data == "xy":
            along[:2] = reversed(along[:2])
        return along, [extents[along.index(d)] for d in range(len(along))]

    def infer(self) -> Sequence[Attribute]:
        fields = flatten_types([self.data.type])
        _, shape = self.grid([f.get_shape() for f in fields])
        return [tuple_type(*(TensorType(f.element_type, shape) for f in fields))]

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        along, shape = self.grid([x.shape for x in inputs])
        return [_spread(x, d, shape) for x, d in zip(inputs, along, strict=True)]

    def gradient(self, g: Gradient) -> Terms:
        return g.moved(range(len(g.inputs)))


def _spread(x: te.Tensor, dimension: int, shape: Sequence[int]) -> te.Tensor:
    """A vector (or scalar) along one dimension of a tensor of `shape`."""
    return te.compute(shape, lambda *i: x[(i[dimension],) * x.rank], "meshgrid")


OPS: list[type[Operation]] = [
    ZerosOp, OnesOp, ZerosLikeOp, OnesLikeOp, FullOp, FullLikeOp, ArangeOp, MeshgridOp, ShapeOfOp, NdarraySizeOp,
]  # fmt: skip
"""The operators that make tensors."""
