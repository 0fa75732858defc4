"""Operators that read at indices which are data: take, gather, one_hot.

A negative index counts from the end where an operator says so. What one outside of the axis reads, `mode` says; no
index reads outside of the data, and from data without elements zeros are read. docs/indices.md has the whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
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
    Moves,
    RelayOp,
    Tensor,
    integer,
    normalize_axis,
    opt_integer,
    shape_of,
    string,
    tensor,
)
from ..indexing import (
    OutOfRange,
    as_index,
    as_indices,
    check_indices,
    checked,
    gathered,
    inside,
    out_of_range,
    outside_text,
    reshaped,
)
from ..nn_common import optional_int
from ..precision import Accuracy, Precision
from .elementwise import integers, named_type
from .slicing import merge_dims

if TYPE_CHECKING:
    from ..base import NDArray
    from ..gradient import Gradient, Terms


TAKE_MODES = ("clip", "wrap", "fast", "error")


class _GatherOp(RelayOp):
    """Elements of `data` at `indices`."""

    data = operand_def(TensorType)
    indices = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE), Moves())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def index_type(self) -> Tensor:
        """The type of the indices.

        Raises:
            VerifyException: they are not integers.
        """
        return integers(tensor(self.indices))


@irdl_op_definition
class TakeOp(_GatherOp):
    """The slices of the data along `axis` that the indices name; without `axis`, elements of the data seen as one row.

    An index outside the axis is brought to its nearest end in `mode` "clip", and taken modulo the extent in "wrap" (so
    that -1 is the last). "fast", by which TVM leaves the check out, is "clip". In mode "error", negative ones count
    from the end, and what is outside even so makes the run fail. With `batch_dims`, that many first dimensions of both
    tensors run along together.

    `y = np.take(x, i, axis=1, mode="clip")`

    ```mlir
    %y = relay.take %x, %i {axis = 1 : i64} : (tensor<2x5x3xf32>, tensor<4x2xi32>) -> tensor<2x4x2x3xf32>
    ```
    """

    name = "relay.take"
    PRECISION: ClassVar[Precision | None] = Precision.FOLLOW

    batch_dims = integer(0)
    axis = opt_integer()
    mode = string("clip")

    def place(self, rank: int, index_rank: int) -> tuple[int, int]:
        """The axis and the number of batch dimensions.

        Raises:
            VerifyException: the batch dimensions do not come before the axis, or there is no axis.
        """
        axis = normalize_axis(self.axis.value.data if self.axis is not None else 0, rank)
        batch = self.batch_dims.value.data
        batch = batch + index_rank if batch < 0 else batch
        if not 0 <= batch <= min(axis, index_rank):
            raise VerifyException(f"'batch_dims' {batch} does not fit axis {axis} and indices of rank {index_rank}")
        return axis, batch

    def infer(self) -> Sequence[Attribute]:
        data, indices = tensor(self.data), self.index_type().get_shape()
        out_of_range(self.mode, TAKE_MODES)
        if self.axis is None:
            self.place(1, len(indices))
            return [TensorType(data.element_type, indices)]
        shape = data.get_shape()
        axis, batch = self.place(len(shape), len(indices))
        lead = [
            merge_dims(m, n, f"batch dimension {d}")
            for d, (m, n) in enumerate(zip(shape[:batch], indices[:batch], strict=True))
        ]
        return [TensorType(data.element_type, [*lead, *shape[batch:axis], *indices[batch:], *shape[axis + 1 :]])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, indices = inputs
        x = reshaped(x, [prod(x.shape)]) if self.axis is None else x
        axis, batch = self.place(x.rank, indices.rank)
        rest = axis + indices.rank - batch
        extent = x.shape[axis]

        mode = out_of_range(self.mode, TAKE_MODES)
        known: te.Tensor | None = None
        if mode == OutOfRange.ERROR:
            indices = known = checked(indices, [extent], outside_text(self.name))

        def body(*i: te.IterVar) -> te.Expr:
            at = inside(indices[(*i[:batch], *i[axis:rest])], extent, mode, negative_from_the_end=False)
            return x[(*i[:axis], at, *i[rest:])]

        return gathered(x, (*x.shape[:axis], *indices.shape[batch:], *x.shape[axis + 1 :]), body, "take", known)

    def numpy(self, *inputs: NDArray) -> NDArray | None:
        import numpy as np

        x, indices = inputs
        if self.batch_dims.value.data or not x.size:
            return None
        axis = optional_int(self.axis)
        extent = x.size if axis is None else x.shape[axis]
        mode = out_of_range(self.mode, TAKE_MODES)
        if mode == OutOfRange.ERROR:
            return np.take(x, check_indices(indices, [extent], outside_text(self.name)), axis)
        if mode == OutOfRange.CLIP:
            return np.take(x, np.clip(as_indices(indices), 0, extent - 1), axis)
        if indices.dtype.kind == "u":
            indices = indices.astype(np.uint64) % extent
        return np.take(x, as_indices(indices) % extent, axis)  # NumPy's own "wrap" takes time of the index's size

    def gradient(self, g: Gradient) -> Terms:
        return g.moved()


@irdl_op_definition
class GatherOp(_GatherOp):
    """For every index, the element of the data in the same place but for `axis`, where the index stands.

    A negative index counts from the end. What then is still outside of the axis is brought to its nearest end in `mode`
    "clip", taken modulo the extent in "wrap", and makes the run fail in "error".

    `y = np.take_along_axis(x, i, axis=1)`

    ```mlir
    %y = relay.gather %x, %i {axis = 1 : i64} : (tensor<2x5xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.gather"

    axis = integer()
    mode = string("clip")

    def infer(self) -> Sequence[Attribute]:
        data, indices = tensor(self.data), self.index_type().get_shape()
        out_of_range(self.mode)
        shape = data.get_shape()
        axis = normalize_axis(self.axis.value.data, len(shape))
        if len(indices) != len(shape):
            raise VerifyException(f"data of rank {len(shape)} is gathered with indices of rank {len(indices)}")
        for d, (m, n) in enumerate(zip(shape, indices, strict=True)):
            if d != axis and DYNAMIC not in (m, n) and n > m:
                raise VerifyException(f"the indices reach beyond the data in dimension {d}: {n} > {m}")
        return [TensorType(data.element_type, indices)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, indices = inputs
        axis = normalize_axis(self.axis.value.data, x.rank)
        mode = out_of_range(self.mode)
        for d, (n, m) in enumerate(zip(indices.shape, x.shape, strict=True)):
            if d != axis and not at_most(n, m):
                raise VerifyException(f"the indices reach beyond the data in dimension {d}: {n} > {m}")
        known: te.Tensor | None = None
        if mode == OutOfRange.ERROR:
            indices = known = checked(indices, [x.shape[axis]], outside_text(self.name))
        return gathered(
            x,
            indices.shape,
            lambda *i: x[(*i[:axis], inside(indices[i], x.shape[axis], mode), *i[axis + 1 :])],
            "gather",
            known,
        )

    def gradient(self, g: Gradient) -> Terms:
        return g.moved()


@irdl_op_definition
class GatherNdOp(_GatherOp):
    """The slices of the data at index vectors, which stand along the first dimension of the indices.

    Indices of shape `[m, *places]` name the first `m` dimensions of the data, after `batch_dims` dimensions which run
    along with the first ones of `places`. A negative index counts from the end. What then is still outside of its axis
    is brought to the nearest end in `mode` "clip", taken modulo the extent in "wrap", and makes the run fail in
    "error".

    `y = x[tuple(i)]`

    ```mlir
    %y = relay.gather_nd %x, %i : (tensor<4x5x3xf32>, tensor<2x6xi64>) -> tensor<6x3xf32>
    ```
    """

    name = "relay.gather_nd"

    batch_dims = integer(0)
    index_rank = opt_integer()
    mode = string("clip")

    def indexed(self, indices: Sequence[int]) -> int:
        """How many dimensions the index vectors name.

        Raises:
            VerifyException: it is not known.
        """
        if indices and indices[0] != DYNAMIC:
            return indices[0]
        if self.index_rank is None:
            raise VerifyException("the length of the index vectors is dynamic, and 'index_rank' does not say it")
        return self.index_rank.value.data

    def gathered(self, shape: Sequence[int], indices: Sequence[int]) -> list[int]:
        """The shape of the result.

        Raises:
            VerifyException: the index vectors are too long, or the batch dimensions do not fit.
        """
        batch = self.batch_dims.value.data
        count = self.indexed(indices)
        if batch < 0 or batch + count > len(shape) or batch > len(indices) - 1:
            raise VerifyException(f"{batch} batch dimensions and {count} indices do not fit {len(shape)} dimensions")
        for d, (m, n) in enumerate(zip(shape[:batch], indices[1 : 1 + batch], strict=True)):
            merge_dims(m, n, f"batch dimension {d}")
        return [*indices[1:], *shape[batch + count :]]

    def infer(self) -> Sequence[Attribute]:
        data, indices = tensor(self.data), self.index_type()
        out_of_range(self.mode)
        return [TensorType(data.element_type, self.gathered(data.get_shape(), indices.get_shape()))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, indices = inputs
        batch, places = self.batch_dims.value.data, indices.rank - 1
        count, mode = self.indexed(indices.shape), out_of_range(self.mode)
        known: te.Tensor | None = None
        if mode == OutOfRange.ERROR and count:
            indices = known = checked(indices, x.shape[batch : batch + count], outside_text(self.name))

        def body(*i: te.IterVar) -> te.Expr:
            at = [inside(indices[(k, *i[:places])], x.shape[batch + k], mode) for k in range(count)]
            return x[(*i[:batch], *at, *i[places:])]

        return gathered(x, self.gathered(x.shape, indices.shape), body, "gather_nd", known)

    def gradient(self, g: Gradient) -> Terms:
        return g.moved()


@irdl_op_definition
class OneHotOp(RelayOp):
    """`on_value` where the index along a new dimension `axis` of extent `depth` is the one given, else `off_value`.

    An index that is negative, or not below `depth`, is nowhere: there is `off_value` only.

    `y = np.where(np.arange(4) == i[..., None], on, off)`

    ```mlir
    %y = relay.one_hot %i, %on, %off {depth = 4 : i64, axis = -1 : i64, dtype = "float32"} : (tensor<2x3xi32>, tensor<f32>, tensor<f32>) -> tensor<2x3x4xf32>
    ```
    """  # noqa: E501

    name = "relay.one_hot"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    indices = operand_def(TensorType)
    on_value = operand_def(TensorType)
    off_value = operand_def(TensorType)
    result = result_def(TensorType)

    depth = integer()
    axis = integer(-1)
    dtype = string()

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def with_depth(self, shape: Sequence[int]) -> tuple[int, list[int]]:
        """The new dimension's place, and the shape of the result."""
        axis = normalize_axis(self.axis.value.data, len(shape) + 1)
        return axis, [*shape[:axis], self.depth.value.data, *shape[axis:]]

    def infer(self) -> Sequence[Attribute]:
        indices = integers(tensor(self.indices))
        for value in (self.on_value, self.off_value):
            if shape_of(value):
                raise VerifyException(f"'on_value' and 'off_value' are scalars, not {value.type}")
        return [TensorType(named_type(self.dtype.data), self.with_depth(indices.get_shape())[1])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        indices, on_value, off_value = inputs
        axis, shape = self.with_depth(indices.shape)
        element = named_type(self.dtype.data)
        return te.compute(
            shape,
            lambda *i: te.select(
                as_index(indices[(*i[:axis], *i[axis + 1 :])]).equal(i[axis]),
                te.cast(on_value[()], element),
                te.cast(off_value[()], element),
            ),
            "one_hot",
        )

    def gradient(self, g: Gradient) -> Terms:
        ones, zeros = g.grad.like(1), g.grad.like(0)
        hot = g.input.op(OneHotOp, ones, zeros, **{**self.properties, "dtype": dtype_name(g.grad.type.element_type)})
        at, elsewhere = g.grad * hot, g.grad * (1 - hot)
        return [None, at.cast(g.inputs[1].type.element_type), elsewhere.cast(g.inputs[2].type.element_type)]


OPS: list[type[Operation]] = [
    TakeOp, GatherOp, GatherNdOp, OneHotOp,
]  # fmt: skip
"""The operators that read at indices which are data."""
