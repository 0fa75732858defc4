"""Operators that give the elements of a tensor another shape or order: reshape, transpose, and their kin."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.interned import tensor_of
from ...support.operations import irdl_op_definition
from ..base import (
    DYNAMIC,
    MAX_RANK,
    Fusion,
    FusionPattern,
    Moves,
    RelayOp,
    ReshapeLike,
    flag,
    int_list,
    integer,
    ints,
    is_static,
    is_true,
    normalize_axis,
    opt_int_list,
    opt_integer,
    shape_of,
    shape_text,
    tensor,
)
from ..indexing import reshaped
from ..inference import by_types
from ..nn_common import optional_int
from ..reordering import (
    Form,
    Order,
    Reordered,
    dimensions_of,
    reordered_axes,
    reordered_axis,
    without_axes,
    without_parts,
)
from ..shapes import extent_text
from .elementwise import DropsIdentity

if TYPE_CHECKING:
    from ..base import NDArray
    from ..gradient import Gradient, Terms


class InjectiveOp(RelayOp, ABC):
    """An operator whose result consists of elements of its first operand, at other indices."""

    data = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    @by_types
    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        return [tensor_of(data.element_type, tuple(self.result_shape(data.get_shape())))]

    def result_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the result, for data of `shape`.

        Raises:
            VerifyException: the data does not fit the properties.
        """
        raise NotImplementedError


class _ReshapeOp(InjectiveOp, DropsIdentity, ABC):
    """A result that holds the data's elements in their order."""

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x = inputs[0]
        return reshaped(x, self.result_shape(x.shape), self.name.removeprefix("relay."))

    def numpy(self, *inputs: NDArray) -> NDArray:
        return inputs[0].reshape(tuple(self.result_shape(inputs[0].shape)))

    def gradient(self, g: Gradient) -> Terms:
        x = g.input
        return [g.grad.reshape(x.shape) if is_static(x.type) else g.grad.op(ReshapeLikeOp, x)]


def infer_new_shape(newshape: Sequence[int], shape: Sequence[int], allowzero: bool = False) -> tuple[int, ...]:
    """The shape that Relay's `newshape` names for data of `shape`.

    Beside extents, `newshape` may hold: 0, the data's extent in this place (with `allowzero`, just zero); -1, once,
    what is left over; -2, all remaining extents of the data; -3, the product of two of them; -4, one of them split
    into the two numbers that follow, of which one may be -1. Source: TVM v0.10, `ReshapeRel`.

    Raises:
        VerifyException: the data does not have as many elements as the new shape.
    """
    old = list(shape)
    new: list[int] = []
    given = list(newshape)
    unknown: int | None = None
    copied = 0

    def take() -> int:
        if not old:
            raise VerifyException(f"'newshape' {list(newshape)} asks for more dimensions than {shape_text(shape)} has")
        return old.pop(0)

    while given:
        match given.pop(0):
            case -1:
                if unknown is not None:
                    raise VerifyException(f"'newshape' {list(newshape)} has -1 twice")
                unknown = len(new)
                new.append(DYNAMIC)
                del old[:1]
            case 0 if not allowzero:
                new.append(take())
                copied += new[-1] == DYNAMIC
            case -2:
                new += old
                copied += old.count(DYNAMIC)
                old = []
            case -3:
                a, b = take(), take()
                new.append(DYNAMIC if DYNAMIC in (a, b) else a * b)
            case -4:
                if len(given) < 2:
                    raise VerifyException(f"'newshape' {list(newshape)} has no two numbers after -4")
                new += _split(take(), given.pop(0), given.pop(0))
            case n if n >= 0:
                new.append(n)
                del old[:1]
            case n:
                raise VerifyException(f"'newshape' has {n}, which means nothing")
    return _fill_in(shape, new, unknown, copied)


def _split(extent: int, first: int, second: int) -> tuple[int, int]:
    if extent == DYNAMIC:
        return (DYNAMIC if first == -1 else first), (DYNAMIC if second == -1 else second)
    if first == -1 and second > 0:
        fits, parts = te.at_most(extent % second, 0), (extent // second, second)
    elif second == -1 and first > 0:
        fits, parts = te.at_most(extent % first, 0), (first, extent // first)
    else:
        fits, parts = te.agree(first * second, extent), (first, second)
    if not fits:
        raise VerifyException(f"extent {extent_text(extent)} cannot be split into {first} and {second}")
    return parts


def _fill_in(shape: Sequence[int], new: list[int], unknown: int | None, copied: int) -> tuple[int, ...]:
    """`new` with the extent at `unknown`, where it follows: where all dynamic extents are copies, which cancel out."""
    rest = [n for d, n in enumerate(new) if d != unknown]
    if not list(shape).count(DYNAMIC) == rest.count(DYNAMIC) == copied:
        return tuple(new)
    have, want = prod(n for n in shape if n != DYNAMIC), prod(n for n in rest if n != DYNAMIC)
    if unknown is None and not te.agree(have, want):
        raise VerifyException(
            f"a tensor of shape {shape_text(shape)} ({extent_text(have)} elements) cannot be reshaped to "
            f"{shape_text(new)} ({extent_text(want)} elements)"
        )
    if unknown is not None:
        if te.same(want, 0) or not te.at_most(have % want, 0):
            raise VerifyException(f"a tensor of shape {shape_text(shape)} cannot be reshaped to {shape_text(new)}")
        new[unknown] = have // want
    return tuple(new)


@irdl_op_definition
class ReshapeOp(_ReshapeOp):
    """The same elements in the same order under another shape; `infer_new_shape` says what `newshape` may hold.

    `y = x.reshape(2, 12)`

    ```mlir
    %y = relay.reshape %x {newshape = array<i64: 0, -1>} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
    ```
    """

    name = "relay.reshape"

    newshape = int_list()
    allowzero = flag(False)

    traits = traits_def(FusionPattern(Fusion.INJECTIVE), Moves(), ReshapeLike())

    def result_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return infer_new_shape(ints(self.newshape), shape, is_true(self.allowzero))


@irdl_op_definition
class ReshapeLikeOp(InjectiveOp):
    """Dimensions `lhs_begin` to `lhs_end` of the data replaced by `rhs_begin` to `rhs_end` of another tensor.

    `y = x.reshape(like.shape)`

    ```mlir
    %y = relay.reshape_like %x, %like : (tensor<2x3x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
    ```
    """

    name = "relay.reshape_like"

    data = operand_def(TensorType)
    like = operand_def(TensorType)

    lhs_begin = integer(0)
    lhs_end = opt_integer()
    rhs_begin = integer(0)
    rhs_end = opt_integer()

    traits = traits_def(FusionPattern(Fusion.INJECTIVE), Moves())

    def merged(self, data: Sequence[int], like: Sequence[int]) -> tuple[int, ...]:
        """The shape of the result.

        Raises:
            VerifyException: it has another number of elements than the data.
        """
        lhs = _bounds(self.lhs_begin.value.data, optional_int(self.lhs_end), len(data), "lhs")
        rhs = _bounds(self.rhs_begin.value.data, optional_int(self.rhs_end), len(like), "rhs")
        before, after = data[: lhs[0]], data[lhs[1] :]
        copied = [*before, *after].count(DYNAMIC)
        return _fill_in(data, [*before, *like[rhs[0] : rhs[1]], *after], None, copied)

    def result_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self.merged(shape, shape_of(self.like))

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, like = inputs
        return reshaped(x, self.merged(x.shape, like.shape), "reshape_like")

    def numpy(self, *inputs: NDArray) -> NDArray:
        x, like = inputs
        return x.reshape(self.merged(x.shape, like.shape))

    def gradient(self, g: Gradient) -> Terms:
        x = g.input
        return [g.grad.reshape(x.shape) if is_static(x.type) else g.grad.op(ReshapeLikeOp, x), None]


def _bounds(begin: int, end: int | None, rank: int, side: str) -> tuple[int, int]:
    first = begin + rank if begin < 0 else begin
    last = rank if end is None else end + rank if end < 0 else end
    if not 0 <= first <= last <= rank:
        raise VerifyException(f"'{side}_begin' {begin} and '{side}_end' {end} do not fit a tensor of rank {rank}")
    return first, last


@irdl_op_definition
class SqueezeOp(_ReshapeOp):
    """Without the dimensions of extent one that `axis` lists; without `axis`, all of them. Open extents must not be one
    then, as the result would have another rank: that is seen when the graph is called.

    `y = np.squeeze(x, axis=(0, 2))`

    ```mlir
    %y = relay.squeeze %x {axis = array<i64: 0, -2>} : (tensor<1x3x1x4xf32>) -> tensor<3x4xf32>
    ```
    """

    name = "relay.squeeze"

    axis = opt_int_list()

    traits = traits_def(FusionPattern(Fusion.INJECTIVE), Moves(), ReshapeLike())

    def dropped_axes(self) -> list[int]:
        """The axes that go."""
        shape = shape_of(self.data)
        axes = [d for d, n in enumerate(shape) if n == 1] if self.axis is None else ints(self.axis)
        return sorted({axis % len(shape) for axis in axes})

    def reordered(self, order: Order) -> Reordered:
        axes = self.dropped_axes()
        return Reordered([without_axes(order, axes)], {"axis": sorted(reordered_axes(axes, order))})

    def reblocked(self, form: Form) -> Reordered | None:
        axes = self.dropped_axes()
        dimensions = sorted(d for axis in axes for d in dimensions_of(form, axis))
        return Reordered([without_parts(form, axes)], {"axis": dimensions})

    def result_shape(self, shape: Sequence[int]) -> Sequence[int]:
        if self.axis is None:
            one = next((n for n in shape if isinstance(n, te.Expr) and not te.at_most(2, n)), None)
            if one is not None:
                raise VerifyException(f"an extent of {shape_text(shape)} may be one: 'axis' has to say what goes")
            return [n for n in shape if isinstance(n, te.Expr) or n != 1]
        dropped = {normalize_axis(a, len(shape)) for a in ints(self.axis)}
        for d in sorted(dropped):
            if shape[d] != DYNAMIC and not te.agree(shape[d], 1):
                raise VerifyException(
                    f"dimension {d} of shape {shape_text(shape)} cannot be dropped: its extent is not one"
                )
        return [n for d, n in enumerate(shape) if d not in dropped]


@irdl_op_definition
class ExpandDimsOp(_ReshapeOp):
    """With `num_newaxis` dimensions of extent one put in front of dimension `axis`; -1 is behind the last.

    `y = np.expand_dims(x, (1, 2))`

    ```mlir
    %y = relay.expand_dims %x {axis = 1 : i64, num_newaxis = 2 : i64} : (tensor<3x4xf32>) -> tensor<3x1x1x4xf32>
    ```
    """

    name = "relay.expand_dims"

    axis = integer()
    num_newaxis = integer(1)

    traits = traits_def(FusionPattern(Fusion.BROADCAST), ReshapeLike())

    def result_shape(self, shape: Sequence[int]) -> Sequence[int]:
        axis, count = normalize_axis(self.axis.value.data, len(shape) + 1), self.num_newaxis.value.data
        if count < 0:
            raise VerifyException(f"'num_newaxis' must not be negative, got {count}")
        if len(shape) + count > MAX_RANK:
            raise VerifyException(f"the result would have rank {len(shape) + count}; {MAX_RANK} is the greatest")
        return [*shape[:axis], *[1] * count, *shape[axis:]]


@irdl_op_definition
class TransposeOp(InjectiveOp, HasCanonicalizationPatternsInterface):
    """With the dimensions in the order `axes`; without `axes`, in reverse.

    `y = np.transpose(x, (0, 2, 1))`

    ```mlir
    %y = relay.transpose %x {axes = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
    ```
    """

    name = "relay.transpose"

    axes = opt_int_list()

    traits = traits_def(FusionPattern(Fusion.INJECTIVE), Moves())

    def permutation(self, rank: int) -> tuple[int, ...]:
        """For each dimension of the result, the dimension of the data that it is.

        Raises:
            VerifyException: `axes` is not a permutation.
        """
        if self.axes is None:
            return tuple(reversed(range(rank)))
        axes = tuple(normalize_axis(a, rank) for a in ints(self.axes))
        if sorted(axes) != list(range(rank)):
            raise VerifyException(f"'axes' {list(ints(self.axes))} is not an order of {rank} dimensions")
        return axes

    def result_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return [shape[d] for d in self.permutation(len(shape))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        order = self.permutation(x.rank)
        place = [order.index(d) for d in range(x.rank)]
        return te.compute(self.result_shape(x.shape), lambda *i: x[tuple(i[p] for p in place)], "transpose")

    def numpy(self, *inputs: NDArray) -> NDArray:
        return inputs[0].transpose(self.permutation(inputs[0].ndim))

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return (DropIdentityTranspose(),)

    def gradient(self, g: Gradient) -> Terms:
        order = self.permutation(len(g.input.shape))
        return [g.grad.transpose([order.index(d) for d in range(len(order))])]


class DropIdentityTranspose(RewritePattern):
    """A transpose that leaves every dimension in its place is its operand."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter):
        rank = len(shape_of(op.data))
        if op.permutation(rank) == tuple(range(rank)) and op.data.type == op.result.type:
            rewriter.replace(op, [], [op.data])


@irdl_op_definition
class ReverseOp(InjectiveOp):
    """With the elements along one axis in reverse.

    `y = np.flip(x, 1)`

    ```mlir
    %y = relay.reverse %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.reverse"

    axis = integer()

    traits = traits_def(FusionPattern(Fusion.INJECTIVE), Moves())

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"axis": reordered_axis(self.axis.value.data, order)})

    def result_shape(self, shape: Sequence[int]) -> Sequence[int]:
        normalize_axis(self.axis.value.data, len(shape))
        return shape

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        axis = normalize_axis(self.axis.value.data, x.rank)
        last = te.dim_expr(x.shape[axis] - 1)
        return te.compute(
            x.shape, lambda *i: x[tuple(last - v if d == axis else v for d, v in enumerate(i))], "reverse"
        )

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad.op(ReverseOp, axis=self.axis)]


OPS: list[type[Operation]] = [
    ReshapeOp, ReshapeLikeOp, SqueezeOp, ExpandDimsOp, TransposeOp, ReverseOp,
]  # fmt: skip
"""The operators that reshape and reorder."""
