"""Operators that make tensors: constants, ranges, shapes, triangles."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from math import ceil, prod
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .. import te
from ..dtypes import numpy_dtype
from .base import DYNAMIC, Fusion, FusionPattern, RelayOp, flag, int_list, ints, is_true, shape_of, string, tensor
from .core import ConstantOp
from .elementwise import ElementwiseOp, named_type

if TYPE_CHECKING:
    from .base import NDArray


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
    VALUE: ClassVar[int] = 0


@irdl_op_definition
class OnesOp(_FillOp):
    """A tensor of ones.

    `y = np.ones((2, 3), "float32")`

    ```mlir
    %y = relay.ones {shape = array<i64: 2, 3>, dtype = "float32"} : tensor<2x3xf32>
    ```
    """

    name = "relay.ones"
    VALUE: ClassVar[int] = 1


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
    VALUE: ClassVar[int] = 0


@irdl_op_definition
class OnesLikeOp(_FillLikeOp):
    """A tensor of ones with the type of another.

    `y = np.ones_like(x)`

    ```mlir
    %y = relay.ones_like %x : tensor<2x3xf32>
    ```
    """

    name = "relay.ones_like"
    VALUE: ClassVar[int] = 1


@irdl_op_definition
class FullOp(RelayOp):
    """A tensor of one value, which a scalar tensor holds. With an empty `dtype`, it keeps the scalar's type.

    `y = np.full((2, 3), v, "float32")`

    ```mlir
    %y = relay.full %v {shape = array<i64: 2, 3>, dtype = "float32"} : (tensor<f32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.full"

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


@irdl_op_definition
class FullLikeOp(RelayOp):
    """A tensor of one value, which a scalar tensor holds, with the type of another.

    `y = np.full_like(x, v)`

    ```mlir
    %y = relay.full_like %x, %v : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.full_like"

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
    ONNX: ClassVar[tuple[str, ...]] = ("Range",)

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
        values = [float(array[()]) for array in known if array is not None]  # pyright: ignore[reportArgumentType]
        extent = self.count(*values) if len(values) == 3 else DYNAMIC
        return [TensorType(named_type(self.dtype.data), [extent])]

    @staticmethod
    def count(start: float, stop: float, step: float) -> int:
        """How many values there are.

        Raises:
            VerifyException: the step is zero.
        """
        if step == 0:
            raise VerifyException("the step is zero")
        return max(0, ceil((stop - start) / step))

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        start, _, step = inputs
        element = named_type(self.dtype.data)

        def body(i: te.IterVar) -> te.Expr:
            return te.cast(start[()] + te.cast(i, start.element_type) * step[()], element)

        return te.compute(shape_of(self.result), body, "arange")

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        start, stop, step = inputs
        extent = self.count(*(float(v[()]) for v in (start, stop, step)))  # pyright: ignore[reportArgumentType]
        values = start + np.arange(extent).astype(start.dtype) * step  # pyright: ignore[reportOperatorIssue, reportUnknownVariableType]
        return values.astype(numpy_dtype(named_type(self.dtype.data)))  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


@irdl_op_definition
class TriluOp(RelayOp):
    """The triangle of the last two dimensions on one side of diagonal `k`, and zero elsewhere.

    Diagonal 0 begins in the corner, positive ones lie above it. With `upper`, what is on and above it stays.

    `y = np.triu(x, k)`

    ```mlir
    %y = relay.trilu %x, %k {upper = true} : (tensor<2x4x4xf32>, tensor<i64>) -> tensor<2x4x4xf32>
    ```
    """

    name = "relay.trilu"
    ONNX: ClassVar[tuple[str, ...]] = ("Trilu",)

    data = operand_def(TensorType)
    k = operand_def(TensorType)
    result = result_def(TensorType)

    upper = flag(True)

    traits = traits_def(Pure(), FusionPattern(Fusion.ELEMWISE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        scalar(self.k)
        if len(data.get_shape()) < 2:
            raise VerifyException(f"{data} has no last two dimensions")
        return [data]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, k = inputs

        def body(*i: te.IterVar) -> te.Expr:
            row, column, diagonal = *i[-2:], te.cast(k[()], te.index)
            kept = column >= row + diagonal if is_true(self.upper) else column <= row + diagonal
            return te.select(kept, x[i], 0)

        return te.compute(x.shape, body, "trilu")


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

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))

    def infer(self) -> Sequence[Attribute]:
        return [TensorType(named_type(self.dtype.data), [len(shape_of(self.data))])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        element = named_type(self.dtype.data)

        def body(i: te.IterVar) -> te.Expr:
            extent: te.Expr = te.const(0, element)
            for d, n in reversed(list(enumerate(x.shape))):
                extent = te.select(i.equal(d), te.const(n, element), extent)
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
    ONNX: ClassVar[tuple[str, ...]] = ("Size",)

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))

    def infer(self) -> Sequence[Attribute]:
        return [TensorType(named_type(self.dtype.data), [])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        size = te.const(prod(x.shape), named_type(self.dtype.data))
        return te.compute((), lambda: size, "ndarray_size")


OPS: list[type[Operation]] = [
    ZerosOp, OnesOp, ZerosLikeOp, OnesLikeOp, FullOp, FullLikeOp, ArangeOp, TriluOp, ShapeOfOp, NdarraySizeOp,
]  # fmt: skip
"""The operators that make tensors."""
