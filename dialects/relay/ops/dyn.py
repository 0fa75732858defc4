"""Operators that are told by operands what others are told by properties: `relay.dyn`.

The shape of what they give is data. Where the operands are known, `fold-constant` puts the other operator in the place
of one; else it is evaluated directly.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ...te.assume import agree, at_most
from ...te.dims import as_dim, quotient, to_text
from ..base import (
    DYNAMIC,
    Fusion,
    FusionPattern,
    RelayOp,
    ReshapeLike,
    broadcast_read,
    broadcast_shapes,
    flag,
    integer,
    is_true,
    normalize_axis,
    real,
    shape_of,
    string,
    tensor,
)
from ..core import ConstantOp
from ..indexing import reshaped
from ..nn_common import result_element, tuple_type
from ..precision import Accuracy
from ..told import DynOp
from .creation import FullOp, OnesOp, ZerosOp
from .elementwise import named_type
from .gather import OneHotOp
from .image import Resize2dOp
from .nn.padding import PadOp, padded
from .nn.upsampling import Upsampling3dOp, UpsamplingOp
from .slicing import ENDLESS, Slice, StridedSliceOp, sliced
from .sort import TopkOp, order, taken
from .tiling import BroadcastToOp, TileOp
from .transform import ExpandDimsOp, ReshapeOp, SqueezeOp

if TYPE_CHECKING:
    from ..base import NDArray
    from ..gradient import Gradient, Terms


def numbers(values: NDArray) -> list[int]:
    """The integers of a tensor."""
    return [int(value) for value in values.reshape(-1)]


def integers(told: Sequence[te.Dim | float]) -> list[te.Dim]:
    """What is told, which are no floats.

    Raises:
        TypeError: there is one.
    """
    if any(isinstance(n, float) for n in told):
        raise TypeError("te: an extent is an integer")
    return [n for n in told if not isinstance(n, float)]


def extents(told: Sequence[te.Dim | float]) -> list[int]:
    """What is told as extents, which compute like integers (`te.Tensor.shape`)."""
    return cast("list[int]", [as_dim(n) for n in integers(told)])


def count_of(value: SSAValue, what: str) -> int:
    """How many integers a vector has, which must be known.

    Raises:
        VerifyException: it is no vector of integers, or has an open extent.
    """
    type = tensor(value)
    shape = type.get_shape()
    if not isinstance(type.element_type, IntegerType) or len(shape) != 1 or shape[0] == DYNAMIC:
        raise VerifyException(f"{what} must be a vector of a known number of integers, got {type}")
    return shape[0]


def open_tensor(element: Attribute, rank: int) -> Attribute:
    """A tensor of which nothing but the rank is known."""
    return TensorType(element, [DYNAMIC] * rank)


class _OfData(DynOp, ABC):
    """An operator on data, of injective pattern."""

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))


@irdl_op_definition
class DynReshapeOp(_OfData):
    """The elements in their order under another shape, in which 0 is the extent of the data's and -1 what remains.

    `y = np.reshape(x, s)`

    ```mlir
    %s = relay.constant dense<[4, -1]> : tensor<2xi64>
    %y = relay.dyn.reshape %x, %s : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<4x3xf32>
    ```
    """

    name = "relay.dyn.reshape"
    TOLD: ClassVar[tuple[str, ...]] = ("newshape",)

    data = operand_def(TensorType)
    newshape = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(ReshapeLike())

    def told_by(self, *values: NDArray) -> RelayOp:
        return ReshapeOp(self.data, newshape=numbers(values[0]))

    STANDS_ALONE: ClassVar[bool] = True

    def dims_of_results(self, given: Sequence[te.Tensor]) -> Sequence[Sequence[te.Dim]]:
        return [self.new_dims(self.contents_of("newshape", given[1]), given[0].dims)]

    def new_dims(self, wanted: Sequence[te.Dim | float], dims: Sequence[te.Dim]) -> list[te.Dim]:
        """The extents of the result, for data of `dims`.

        Raises:
            TypeError: the shape has not as many elements, or it is not known whether it has.
        """
        shape = [dims[d] if n == 0 and d < len(dims) else n for d, n in enumerate(wanted) if not isinstance(n, float)]
        if shape.count(-1) > 1:
            raise TypeError("te: a shape has -1 twice")
        have, want = te.product(dims), te.product(n for n in shape if n != -1)
        if -1 in shape:
            shape[shape.index(-1)] = self.remaining(shape, dims)
        elif not agree(have, want) and not (at_most(have, want) and at_most(want, have)):
            raise TypeError(f"te: it is not known whether {to_text(have)} elements are {to_text(want)}")
        return shape

    def remaining(self, shape: Sequence[te.Dim], dims: Sequence[te.Dim]) -> te.Dim:
        """The extent that -1 stands for: what the others leave of the elements. Where it is not known whether they
        divide those, they are asked to be the data's in the same places, as a number of images is that goes by two
        names.

        Raises:
            TypeError: it is not known even so.
        """
        have = te.product(dims)
        try:
            return quotient(have, te.product(n for n in shape if n != -1))
        except TypeError:
            pairs = [(n, m) for n, m in zip(shape, dims, strict=False) if isinstance(n, te.Expr)]
            if not pairs or not all(agree(n, m) for n, m in pairs):
                raise
            kept = [dims[d] if isinstance(n, te.Expr) else n for d, n in enumerate(shape)]
            return quotient(have, te.product(n for n in kept if n != -1))

    def compute_symbolic(self, told: Sequence[Sequence[te.Dim | float]], *data: te.Tensor) -> te.Tensor:
        (x,) = data
        return reshaped(x, cast("list[int]", self.new_dims(told[0], x.dims)), "reshape")

    def open_type(self) -> Attribute:
        return open_tensor(tensor(self.data).element_type, count_of(self.newshape, "the shape"))

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad.op("reshape_like", g.input), None]


@irdl_op_definition
class DynSqueezeOp(_OfData):
    """The data without some dimensions of extent one.

    `y = np.squeeze(x, tuple(a))`

    ```mlir
    %a = relay.constant dense<[0]> : tensor<1xi64>
    %y = relay.dyn.squeeze %x, %a : (tensor<1x6xf32>, tensor<1xi64>) -> tensor<6xf32>
    ```
    """

    name = "relay.dyn.squeeze"
    TOLD: ClassVar[tuple[str, ...]] = ("axis",)

    data = operand_def(TensorType)
    axis = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(ReshapeLike())

    def told_by(self, *values: NDArray) -> RelayOp:
        return SqueezeOp(self.data, axis=numbers(values[0]))

    def open_type(self) -> Attribute:
        rank, dropped = len(shape_of(self.data)), count_of(self.axis, "the axes")
        if dropped > rank:
            raise VerifyException(f"{dropped} dimensions cannot be dropped from {self.data.type}")
        return open_tensor(tensor(self.data).element_type, rank - dropped)

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad.op("reshape_like", g.input), None]


@irdl_op_definition
class DynExpandDimsOp(_OfData):
    """The data with further dimensions of extent one from `axis` on.

    `y = np.expand_dims(x, int(a))`

    ```mlir
    %a = relay.constant dense<1> : tensor<i64>
    %y = relay.dyn.expand_dims %x, %a {num_newaxis = 1 : i64} : (tensor<2x6xf32>, tensor<i64>) -> tensor<2x1x6xf32>
    ```
    """

    name = "relay.dyn.expand_dims"
    TOLD: ClassVar[tuple[str, ...]] = ("axis",)

    data = operand_def(TensorType)
    axis = operand_def(TensorType)
    result = result_def(TensorType)

    num_newaxis = integer(1)

    def told_by(self, *values: NDArray) -> RelayOp:
        (axis,) = numbers(values[0])
        return ExpandDimsOp(self.data, axis=axis, num_newaxis=self.num_newaxis)

    def open_type(self) -> Attribute:
        if shape_of(self.axis) not in ((), (1,)):
            raise VerifyException(f"the axis must be one number, got {self.axis.type}")
        return open_tensor(tensor(self.data).element_type, len(shape_of(self.data)) + self.num_newaxis.value.data)

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad.op("reshape_like", g.input), None]


@irdl_op_definition
class DynBroadcastToOp(_OfData):
    """The data repeated to a shape, as NumPy broadcasts.

    `y = np.broadcast_to(x, s)`

    ```mlir
    %s = relay.constant dense<[3, 2, 6]> : tensor<3xi64>
    %y = relay.dyn.broadcast_to %x, %s : (tensor<2x6xf32>, tensor<3xi64>) -> tensor<3x2x6xf32>
    ```
    """

    name = "relay.dyn.broadcast_to"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    TOLD: ClassVar[tuple[str, ...]] = ("shape",)

    data = operand_def(TensorType)
    shape = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(FusionPattern(Fusion.BROADCAST))

    def told_by(self, *values: NDArray) -> RelayOp:
        return BroadcastToOp(self.data, shape=numbers(values[0]))

    def compute_symbolic(self, told: Sequence[Sequence[te.Dim | float]], *data: te.Tensor) -> te.Tensor:
        (x,) = data
        shape = broadcast_shapes(x.shape, extents(told[0]))
        return te.compute(shape, lambda *i: broadcast_read(x, i), "broadcast_to")

    def open_type(self) -> Attribute:
        return open_tensor(tensor(self.data).element_type, count_of(self.shape, "the shape"))

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad.op("collapse_sum_like", g.input), None]


@irdl_op_definition
class DynTileOp(_OfData):
    """The data repeated along each dimension.

    `y = np.tile(x, r)`

    ```mlir
    %r = relay.constant dense<[2, 1]> : tensor<2xi64>
    %y = relay.dyn.tile %x, %r : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<4x6xf32>
    ```
    """

    name = "relay.dyn.tile"
    TOLD: ClassVar[tuple[str, ...]] = ("reps",)

    data = operand_def(TensorType)
    reps = operand_def(TensorType)
    result = result_def(TensorType)

    def told_by(self, *values: NDArray) -> RelayOp:
        return TileOp(self.data, reps=numbers(values[0]))

    def compute_symbolic(self, told: Sequence[Sequence[te.Dim | float]], *data: te.Tensor) -> te.Tensor:
        (x,) = data
        reps = extents(told[0])
        rank = max(len(reps), x.rank)
        reps, dims = [1] * (rank - len(reps)) + reps, [1] * (rank - x.rank) + list(x.shape)

        def at(i: te.Expr, n: int, repeats: int) -> te.ExprLike:
            return 0 if n == 1 else i if repeats == 1 else i % n

        def body(*i: te.IterVar) -> te.Expr:
            places = [at(*each) for each in zip(i, dims, reps, strict=True)]
            return x[tuple(places[rank - x.rank :])]

        return te.compute([n * r for n, r in zip(dims, reps, strict=True)], body, "tile")

    def open_type(self) -> Attribute:
        rank = max(len(shape_of(self.data)), count_of(self.reps, "the repeats"))
        return open_tensor(tensor(self.data).element_type, rank)


@irdl_op_definition
class DynStridedSliceOp(_OfData):
    """The slice from `begin` to `end` in steps of `strides`, of the first dimensions; with the mode "size", `end` is how
    many elements are taken.

    `y = x[b[0]:e[0]:s[0], b[1]:e[1]:s[1]]`

    ```mlir
    %b = relay.constant dense<[0, 1]> : tensor<2xi64>
    %e = relay.constant dense<[2, 6]> : tensor<2xi64>
    %s = relay.constant dense<[1, 2]> : tensor<2xi64>
    %y = relay.dyn.strided_slice %x, %b, %e, %s : (tensor<2x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x3xf32>
    ```
    """  # noqa: E501

    name = "relay.dyn.strided_slice"
    TOLD: ClassVar[tuple[str, ...]] = ("begin", "end", "strides")

    data = operand_def(TensorType)
    begin = operand_def(TensorType)
    end = operand_def(TensorType)
    strides = operand_def(TensorType)
    result = result_def(TensorType)

    slice_mode = string("end")

    def told_by(self, *values: NDArray) -> RelayOp:
        begin, end, strides = map(numbers, values)
        return StridedSliceOp(self.data, begin=begin, end=end, strides=strides, slice_mode=self.slice_mode)

    def compute_symbolic(self, told: Sequence[Sequence[te.Dim | float]], *data: te.Tensor) -> te.Tensor:
        (x,) = data
        cuts = [Slice(0, 1, n) for n in x.shape]
        for axis, (begin, end, step) in enumerate(zip(*(integers(each) for each in told), strict=True)):
            last = end
            if self.slice_mode.data == "size":
                last = ENDLESS if isinstance(end, int) and end < 0 else begin + end
            if not isinstance(step, int):
                raise TypeError("te: the step of a slice is known only when it runs")
            cuts[axis] = Slice.between(cast("int", begin), cast("int", last), step, x.shape[axis])
        return sliced(x, cuts, "strided_slice")

    def open_type(self) -> Attribute:
        counts = {count_of(value, name) for value, name in zip(self.told(), self.TOLD, strict=True)}
        rank = len(shape_of(self.data))
        if len(counts) != 1 or max(counts) > rank:
            raise VerifyException(f"begin, end and strides have not a number for each dimension of {self.data.type}")
        return open_tensor(tensor(self.data).element_type, rank)


@irdl_op_definition
class DynPadOp(_OfData):
    """The data with elements put before and behind along each dimension.

    `y = np.pad(x, w, constant_values=float(v))`

    ```mlir
    %w = relay.constant dense<[[0, 1], [2, 0]]> : tensor<2x2xi64>
    %v = relay.constant dense<0.5> : tensor<f32>
    %y = relay.dyn.nn.pad %x, %w, %v : (tensor<2x6xf32>, tensor<2x2xi64>, tensor<f32>) -> tensor<3x8xf32>
    ```
    """

    name = "relay.dyn.nn.pad"
    TOLD: ClassVar[tuple[str, ...]] = ("pad_width",)

    data = operand_def(TensorType)
    pad_width = operand_def(TensorType)
    pad_value = operand_def(TensorType)
    result = result_def(TensorType)

    pad_mode = string("constant")

    def told_by(self, *values: NDArray) -> RelayOp:
        return PadOp(self.data, self.pad_value, pad_width=numbers(values[0]), pad_mode=self.pad_mode)

    def compute_symbolic(self, told: Sequence[Sequence[te.Dim | float]], *data: te.Tensor) -> te.Tensor:
        x, value = data
        widths = extents(told[0])
        pairs = list(zip(widths[::2], widths[1::2], strict=True))
        if self.pad_mode.data != "constant" and not all(at_most(0, w) for w in widths):
            raise TypeError("te: whether something is cut off is known only when it runs")
        if not all(at_most(0, n + before + after) for n, (before, after) in zip(x.shape, pairs, strict=True)):
            raise TypeError("te: whether more is cut off than there is is known only when it runs")
        return padded(x, value, pairs, self.pad_mode.data)

    def open_type(self) -> Attribute:
        rank = len(shape_of(self.data))
        if shape_of(self.pad_width) != (rank, 2):
            raise VerifyException(f"the widths of {self.data.type} are [{rank}, 2] numbers, got {self.pad_width.type}")
        return open_tensor(tensor(self.data).element_type, rank)


class _DynUpsampling(_OfData, ABC):
    """Images enlarged by factors."""

    def open_type(self) -> Attribute:
        for value in self.told():
            if shape_of(value) not in ((), (1,)):
                raise VerifyException(f"a scale must be one number, got {value.type}")
        rank = len(self.TOLD) + 2
        if len(shape_of(self.operands[0])) != rank:
            raise VerifyException(f"expected images of rank {rank}, got {self.operands[0].type}")
        return open_tensor(tensor(self.operands[0]).element_type, rank)


@irdl_op_definition
class DynUpsamplingOp(_DynUpsampling):
    """Images enlarged along two axes.

    ```mlir
    %s = relay.constant dense<2.0> : tensor<f32>
    %y = relay.dyn.nn.upsampling %x, %s, %s : (tensor<1x1x2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<1x1x4x6xf32>
    ```
    """

    name = "relay.dyn.nn.upsampling"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED
    TOLD: ClassVar[tuple[str, ...]] = ("scale_h", "scale_w")

    data = operand_def(TensorType)
    scale_h = operand_def(TensorType)
    scale_w = operand_def(TensorType)
    result = result_def(TensorType)

    layout = string("NCHW")
    method = string("nearest_neighbor")
    align_corners = flag(False)

    def told_by(self, *values: NDArray) -> RelayOp:
        h, w = (float(value.item()) for value in values)
        return UpsamplingOp(self.data, scale_h=h, scale_w=w, **self.properties)


@irdl_op_definition
class DynUpsampling3dOp(_DynUpsampling):
    """Images enlarged along three axes.

    ```mlir
    %s = relay.constant dense<2.0> : tensor<f32>
    %y = relay.dyn.nn.upsampling3d %x, %s, %s, %s
       : (tensor<1x1x1x2x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<1x1x2x4x6xf32>
    ```
    """

    name = "relay.dyn.nn.upsampling3d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED
    TOLD: ClassVar[tuple[str, ...]] = ("scale_d", "scale_h", "scale_w")

    data = operand_def(TensorType)
    scale_d = operand_def(TensorType)
    scale_h = operand_def(TensorType)
    scale_w = operand_def(TensorType)
    result = result_def(TensorType)

    layout = string("NCDHW")
    method = string("nearest_neighbor")
    coordinate_transformation_mode = string("half_pixel")

    def told_by(self, *values: NDArray) -> RelayOp:
        d, h, w = (float(value.item()) for value in values)
        return Upsampling3dOp(self.data, scale_d=d, scale_h=h, scale_w=w, **self.properties)


@irdl_op_definition
class DynResize2dOp(_OfData):
    """Images resampled to a size; `roi` is the part that is taken, or empty.

    ```mlir
    %s = relay.constant dense<[4, 6]> : tensor<2xi64>
    %r = relay.constant dense<[0.0, 0.0, 1.0, 1.0]> : tensor<4xf32>
    %y = relay.dyn.image.resize2d %x, %s, %r : (tensor<1x1x2x3xf32>, tensor<2xi64>, tensor<4xf32>) -> tensor<1x1x4x6xf32>
    ```
    """  # noqa: E501

    name = "relay.dyn.image.resize2d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED
    TOLD: ClassVar[tuple[str, ...]] = ("size", "roi")

    data = operand_def(TensorType)
    size = operand_def(TensorType)
    roi = operand_def(TensorType)
    result = result_def(TensorType)

    layout = string("NCHW")
    method = string("linear")
    coordinate_transformation_mode = string("half_pixel")
    rounding_method = string("")
    cubic_alpha = real(-0.5)
    cubic_exclude = flag(False)
    extrapolation_value = real(0.0)
    out_dtype = string("")

    def told_by(self, *values: NDArray) -> RelayOp:
        roi = [float(value) for value in values[1].reshape(-1)]
        return Resize2dOp(self.data, size=numbers(values[0]), **({"roi": roi} if roi else {}), **self.properties)

    def compute_symbolic(self, told: Sequence[Sequence[te.Dim | float]], *data: te.Tensor) -> te.Tensor:
        size, roi = told
        if any(isinstance(v, te.Expr) for v in roi):
            raise TypeError("te: the region is known only when it runs")
        static = Resize2dOp(self.data, size=[1, 1], **self.properties)
        try:
            return static.resampled(data[0], integers(size), [float(v) for v in roi if not isinstance(v, te.Expr)])
        finally:
            static.erase()

    def open_type(self) -> Attribute:
        if len(shape_of(self.data)) != 4 or count_of(self.size, "the size") != 2 or len(shape_of(self.roi)) != 1:
            raise VerifyException(f"expected images, two extents, and a region, got {self.data.type}, {self.size.type}")
        return open_tensor(result_element(tensor(self.data).element_type, self.out_dtype.data), 4)


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

    def open_type(self) -> Attribute:
        if shape_of(self.depth) not in ((), (1,)):
            raise VerifyException(f"the depth must be one number, got {self.depth.type}")
        shape = list(shape_of(self.indices))
        shape.insert(normalize_axis(self.axis.value.data, len(shape) + 1), DYNAMIC)
        return TensorType(named_type(self.dtype.data), shape)


@irdl_op_definition
class DynTopkOp(DynOp):
    """The first `k` elements along `axis` in order, their indices, or both.

    A `k` of 0 that is computed gives none; one that is a constant gives all, as that of `topk` does.

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

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))

    def told_by(self, *values: NDArray) -> RelayOp:
        (k,) = numbers(values[0])
        return TopkOp(self.data, k=k, **self.properties)

    def numpy(self, *inputs: NDArray) -> Sequence[NDArray]:
        found = super().numpy(*inputs)
        if isinstance(self.k.owner, ConstantOp) or inputs[1].item() != 0:
            return found
        part = [slice(None)] * inputs[0].ndim
        part[self.axis.value.data] = slice(0, 0)
        return [array[tuple(part)] for array in found]

    def compute_symbolic(self, told: Sequence[Sequence[te.Dim | float]], *data: te.Tensor) -> list[te.Tensor]:
        (x,), (k,) = data, extents(told[0])
        axis = normalize_axis(self.axis.value.data, x.rank)
        if te.is_number(k) and k < 1:
            k = x.dims[axis]
        if not at_most(k, x.dims[axis]):
            raise TypeError("te: whether there are so many elements is known only when it runs")
        indices = order(x, axis, k, is_true(self.is_ascend))
        element = named_type(self.dtype.data)
        numbered = te.compute(indices.shape, lambda *i: te.cast(indices[i], element), "indices")
        values = taken(x, indices, axis)
        return {"both": [values, numbered], "values": [values], "indices": [numbered]}[self.ret_type.data]

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


OPS: list[type[Operation]] = [
    DynReshapeOp, DynSqueezeOp, DynExpandDimsOp, DynBroadcastToOp, DynTileOp, DynStridedSliceOp, DynPadOp,
    DynUpsamplingOp, DynUpsampling3dOp, DynResize2dOp, DynFullOp, DynOnesOp, DynZerosOp, DynOneHotOp, DynTopkOp,
]  # fmt: skip
"""The operators that are told by data what they give."""
