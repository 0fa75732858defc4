"""Operators that are told by operands what others are told by properties: `relay.dyn`.

The shape of what they give is data. Where the operands are known, `fold-constant` puts the other operator in the place
of one; else it is evaluated directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ...te.assume import at_most
from ...te.dim_order import extreme
from ...te.dims import quotient, substituted, to_text
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
    shape_of,
    string,
    tensor,
)
from ..indexing import reshaped
from ..precision import Accuracy
from ..slices import ENDLESS, Slice, sliced
from ..slices_of_data import sliced_by_data
from .dyn_common import OfData, count_of, extents, integers, numbers, open_tensor
from .nn.padding import PadOp, padded
from .slicing import StridedSliceOp
from .tiling import BroadcastToOp, TileOp
from .transform import ExpandDimsOp, ReshapeOp, SqueezeOp

if TYPE_CHECKING:
    from ..base import NDArray
    from ..gradient import Gradient, Terms


def _shared(have: te.Dim, rest: te.Dim) -> te.Dim:
    """What `have` elements are for each of `rest`; it is asked to come out even.

    Raises:
        TypeError: whether it does is not known.
    """
    each = quotient(have, rest)
    if not at_most(have, te.product((each, rest))):
        raise TypeError(f"te: it is not known whether {to_text(rest)} divides {to_text(have)} elements")
    return each


def _of_whole_parts(have: te.Dim, rest: te.Dim) -> te.Dim | None:
    """What `have` elements are for each of `rest`, where parts of symbols, as `n // 2`, are factors of that: they are
    asked to be whole parts. `None` where it would not come out even so."""
    whole: dict[te.Var, te.Dim] = {}
    pending = [rest]
    while pending:
        match pending.pop():
            case te.Binary(te.BinaryKind.FLOORDIV, te.Var() as symbol, te.Const() as count) as part:
                whole[symbol] = te.product((part, int(count.value)))
            case te.Binary(_, lhs, rhs):
                pending += [lhs, rhs]
            case _:
                pass
    try:
        each = quotient(substituted(have, whole), rest)
    except TypeError:
        return None
    return each if all(at_most(symbol, parts) for symbol, parts in whole.items()) else None


def _at_most_one(dim: te.Dim) -> te.Dim:
    """1 for an extent that is not 0."""
    return min(dim, 1) if isinstance(dim, int) else extreme(te.BinaryKind.MIN, dim, 1)


@irdl_op_definition
class DynReshapeOp(OfData):
    """The elements in their order under another shape, in which 0 is the extent of the data's (with `allowzero`, just
    zero) and -1 what remains.

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

    allowzero = flag(False)

    traits = traits_def(ReshapeLike())

    def told_by(self, *values: NDArray) -> RelayOp:
        return ReshapeOp(self.data, newshape=numbers(values[0]), allowzero=is_true(self.allowzero))

    STANDS_ALONE: ClassVar[bool] = True

    def dims_of_results(self, given: Sequence[te.Tensor]) -> Sequence[Sequence[te.Dim]]:
        return [self.new_dims(self.contents_of("newshape", given[1]), given[0].dims)]

    def new_dims(self, wanted: Sequence[te.Dim | float], dims: Sequence[te.Dim]) -> list[te.Dim]:
        """The extents of the result, for data of `dims`. One that is computed is asked not to be 0 where the data's in
        the same place is not, for which 0 would stand.

        Raises:
            TypeError: the shape has not as many elements, or it is not known whether it has.
        """
        shape = [n for n in wanted if not isinstance(n, float)]
        if not is_true(self.allowzero):
            shape = [dims[d] if isinstance(n, int) and n == 0 and d < len(dims) else n for d, n in enumerate(shape)]
        told = tuple(shape)
        if shape.count(-1) > 1:
            raise TypeError("te: a shape has -1 twice")
        have, want = te.product(dims), te.product(n for n in shape if n != -1)
        if -1 in shape:
            shape[shape.index(-1)] = self.remaining(shape, dims)
        elif not te.equal_or_asked(have, want):
            raise TypeError(f"te: it is not known whether {to_text(have)} elements are {to_text(want)}")
        for n, own in () if is_true(self.allowzero) else zip(told, dims, strict=False):
            if isinstance(n, te.Expr) and not te.same(n, own) and not at_most(_at_most_one(own), n):
                raise TypeError(f"te: it is not known whether {to_text(n)} is 0, which stands for {to_text(own)}")
        return shape

    def remaining(self, shape: Sequence[te.Dim], dims: Sequence[te.Dim]) -> te.Dim:
        """The extent that -1 stands for: what the others leave of the elements, or what the type says. Where it is not
        known whether the others divide those, symbols are asked to be even, as for halves; else it is a quotient, and
        whether it comes out even is asked.

        Raises:
            TypeError: they do not divide them.
        """
        have, rest = te.product(dims), te.product(n for n in shape if n != -1)
        try:
            return _shared(have, rest)
        except TypeError:
            if (found := _of_whole_parts(have, rest)) is not None:
                return found
            said = shape_of(self.result)[shape.index(-1)]
            if said != DYNAMIC and te.equal_or_asked(have, te.product((rest, said))):
                return said
            return _shared(have, extreme(te.BinaryKind.MAX, rest, 1))

    def compute_symbolic(self, told: Sequence[Sequence[te.Dim | float]], *data: te.Tensor) -> te.Tensor:
        (x,) = data
        return reshaped(x, cast("list[int]", self.new_dims(told[0], x.dims)), "reshape")

    def open_type(self) -> Attribute:
        return open_tensor(tensor(self.data).element_type, count_of(self.newshape, "the shape"))

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad.op("reshape_like", g.input), None]


@irdl_op_definition
class DynSqueezeOp(OfData):
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
class DynExpandDimsOp(OfData):
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
class DynBroadcastToOp(OfData):
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
class DynTileOp(OfData):
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

    def gradient(self, g: Gradient) -> Terms:
        return g.moved()


@irdl_op_definition
class DynStridedSliceOp(OfData):
    """The slice from `begin` to `end` in steps of `strides`, of the first dimensions; with the mode "size", `end` is how
    many elements are taken. Where data decides the bounds, how many elements there are may be said by the type of the
    result: the run fails if it is another number.

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

    def compute(self, *inputs: te.Tensor) -> te.Tensor | Sequence[te.Tensor]:
        told = [self.elements_of(name, each) for name, each in zip(self.TOLD, inputs[1:], strict=True)]
        if DYNAMIC in (shape := shape_of(self.result)) or not any(None in each for each in told):
            return super().compute(*inputs)
        x, begin, end, strides = inputs
        return sliced_by_data(x, begin, end, strides, shape, self.slice_mode.data == "size")

    def open_type(self) -> Attribute:
        counts = {count_of(value, name) for value, name in zip(self.told(), self.TOLD, strict=True)}
        data = tensor(self.data)
        shape = data.get_shape()
        if len(counts) != 1 or (cut := max(counts)) > len(shape):
            raise VerifyException(f"begin, end and strides have not a number for each dimension of {data}")
        return TensorType(data.element_type, [DYNAMIC] * cut + list(shape[cut:]))

    def gradient(self, g: Gradient) -> Terms:
        return g.moved()


@irdl_op_definition
class DynPadOp(OfData):
    """The data with elements put before and behind along each dimension.

    `y = np.pad(x, w, constant_values=float(v))`

    ```mlir
    %w = relay.constant dense<[[0, 1], [2, 0]]> : tensor<2x2xi64>
    %v = relay.constant dense<0.5> : tensor<f32>
    %y = relay.dyn.nn.pad %x, %w, %v : (tensor<2x6xf32>, tensor<2x2xi64>, tensor<f32>) -> tensor<3x8xf32>
    ```
    """

    name = "relay.dyn.nn.pad"
    CONVERTED: ClassVar[tuple[str, ...]] = ("pad_value",)
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
        widths = cast("list[int]", integers(told[0]))
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

    def gradient(self, g: Gradient) -> Terms:
        return g.moved((0, 2))


OPS: list[type[Operation]] = [
    DynReshapeOp, DynSqueezeOp, DynExpandDimsOp, DynBroadcastToOp, DynTileOp, DynStridedSliceOp, DynPadOp,
]  # fmt: skip
"""The operators that are told by data what they give."""
