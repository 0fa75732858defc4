"""Operators that cut tensors into parts and put parts together: slices, split, concatenate, stack."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, TensorType, TupleType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ...te.assume import agree
from ..base import (
    DYNAMIC,
    Fusion,
    FusionPattern,
    Moves,
    RelayOp,
    Tensor,
    flatten_types,
    int_list,
    integer,
    ints,
    is_told,
    normalize_axis,
    opt_int_list,
    shape_of,
    shape_text,
    string,
    tensor,
)
from ..blocking import PLAIN, Blocks
from ..core import TupleGetOp, TupleOp
from ..reordering import (
    Form,
    Order,
    Reordered,
    all_in,
    block_along,
    outer_dimension,
    reordered_axes,
    reordered_axis,
)
from ..slices import Slice, sliced
from ..types import tuple_type
from .transform import InjectiveOp, SqueezeOp

if TYPE_CHECKING:
    from ..base import NDArray
    from ..gradient import Gradient, Term, Terms


@irdl_op_definition
class StridedSliceOp(InjectiveOp):
    """From `begin` to `end` in steps of `strides`, along `axes` (without them, along the first dimensions).

    Bounds are Python's: negative ones count from the end of the axis, and what lies outside is cut off. Missing strides
    are one. In `slice_mode` "size", `end` holds how many elements to take, -1 for all that follow, and strides are one.

    `y = x[1:4, ::-1]`

    ```mlir
    %y = relay.strided_slice %x {begin = array<i64: 1, -1>, end = array<i64: 4, -9>, strides = array<i64: 1, -1>} : (tensor<5x3xf32>) -> tensor<3x3xf32>
    ```
    """  # noqa: E501

    name = "relay.strided_slice"

    begin = int_list()
    end = int_list()
    strides = int_list([])
    slice_mode = string("end")
    axes = opt_int_list()

    traits = traits_def(FusionPattern(Fusion.INJECTIVE), Moves())

    def bounds(self, rank: int) -> dict[int, tuple[int, int, int]]:
        """Begin, end and stride of the axes that are sliced.

        Raises:
            VerifyException: the properties do not have one value for each axis, or a stride is zero.
        """
        begin, end, strides = ints(self.begin), ints(self.end), ints(self.strides)
        axes = range(len(begin)) if self.axes is None else ints(self.axes)
        if self.slice_mode.data not in ("end", "size"):
            raise VerifyException(f'\'slice_mode\' is "end" or "size", not {self.slice_mode}')
        if not len(begin) == len(end) == len(axes):
            raise VerifyException(f"{len(axes)} axes are sliced with {len(begin)} begins and {len(end)} ends")
        if 0 in strides or len(strides) > len(axes):
            raise VerifyException(f"{len(axes)} axes cannot be sliced with strides {list(strides)}")
        strides = (*strides, *(1,) * (len(axes) - len(strides)))
        values = zip(begin, end, strides, strict=True)
        return {normalize_axis(axis, rank): bounds for axis, bounds in zip(axes, values, strict=True)}

    def reordered(self, order: Order) -> Reordered:
        axes = range(len(self.begin)) if self.axes is None else ints(self.axes)
        return Reordered([order], {"axes": reordered_axes(axes, order)})

    def reblocked(self, form: Form) -> Reordered | None:
        bounds = self.bounds(len(shape := shape_of(self.data)))
        for axis in bounds:
            block, cut = block_along(form, axis), self.slice_of(shape[axis], bounds[axis])
            if block == 1:
                continue
            if DYNAMIC in (shape[axis], cut.count) or cut.step != 1 or cut.start % block or cut.count % block:
                return None
            last = cut.count if self.slice_mode.data == "size" else cut.start + cut.count
            bounds[axis] = (cut.start // block, last // block, 1)
        begin, end, strides = ([bound[place] for bound in bounds.values()] for place in range(3))
        axes = [outer_dimension(form, axis) for axis in bounds]
        return Reordered([form], {"begin": begin, "end": end, "strides": strides, "axes": axes})

    def slice_of(self, extent: int, bounds: tuple[int, int, int] | None) -> Slice:
        """The slice of one axis; with `count` `DYNAMIC` where it depends on a dynamic extent."""
        if bounds is None:
            return Slice(0, 1, extent)
        begin, end, stride = bounds
        if self.slice_mode.data == "size":
            if end < 0 and begin == 0:
                return Slice(0, 1, extent)
            if extent == DYNAMIC:
                return Slice(begin, 1, DYNAMIC if end < 0 else end)
            first = begin + extent if begin < 0 else begin
            return Slice.between(first, extent if end < 0 else first + end, 1, extent)
        return Slice(begin, stride, DYNAMIC) if extent == DYNAMIC else Slice.between(begin, end, stride, extent)

    def slices(self, shape: Sequence[int]) -> list[Slice]:
        bounds = self.bounds(len(shape))
        return [self.slice_of(n, bounds.get(d)) for d, n in enumerate(shape)]

    def result_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return [s.count for s in self.slices(shape)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        return sliced(x, self.slices(x.shape), "strided_slice")

    def channel_block(self, blocks: Blocks) -> int:
        """Where all channels are taken."""
        shape = shape_of(self.data)
        if len(shape) != 4 or shape[1] == DYNAMIC or self.slices(shape)[1] != Slice(0, 1, shape[1]):
            return PLAIN
        return blocks.channel_block(shape[1])

    def to_blocks(self, blocks: Blocks, block: int) -> None:
        kept = {axis: bounds for axis, bounds in self.bounds(4).items() if axis != 1}
        begin, end, strides = ([bounds[place] for bounds in kept.values()] for place in range(3))
        properties = {"begin": begin, "end": end, "strides": strides, "axes": list(kept)}
        data = blocks.get(self.data, block, self)
        blocks.replace(self, StridedSliceOp(data, **properties, slice_mode=self.slice_mode), block)

    def numpy(self, *inputs: NDArray) -> NDArray:
        return inputs[0][tuple(s.numpy() for s in self.slices(inputs[0].shape))]

    def gradient(self, g: Gradient) -> Terms:
        g.static()
        cuts = list(zip(self.slices(g.input.shape), g.input.shape, strict=True))
        if not all(cut.step > 0 and cut.count > 0 for cut, _ in cuts):
            return g.moved()
        spread = g.grad.spread([cut.step for cut, _ in cuts])
        after = [n - cut.start - (cut.count - 1) * cut.step - 1 for cut, n in cuts]
        return [spread.pad([cut.start for cut, _ in cuts], after)]


def _reaches(extent: int, wanted: int) -> bool:
    """Whether an axis is as long as another, or will be: it is noted that it must."""
    return not (is_told(extent) and is_told(wanted)) or te.at_most(wanted, extent)


@irdl_op_definition
class SliceLikeOp(InjectiveOp):
    """The beginning of the data, as far as another tensor reaches along `axes` (without them, all that it has).

    `y = x[:2, :3]`

    ```mlir
    %y = relay.slice_like %x, %like : (tensor<5x4xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.slice_like"

    data = operand_def(TensorType)
    like = operand_def(TensorType)

    axes = opt_int_list()

    traits = traits_def(FusionPattern(Fusion.INJECTIVE), Moves())

    def reordered(self, order: Order) -> Reordered | None:
        if len(shape_of(self.like)) != len(order):
            return None
        axes = range(len(order)) if self.axes is None else ints(self.axes)
        return Reordered([order], {"axes": reordered_axes(axes, order)}, along=(0, 1))

    def cut(self, shape: Sequence[int], like: Sequence[int]) -> list[int]:
        """The shape of the result.

        Raises:
            VerifyException: the other tensor is larger.
        """
        rank = len(shape)
        axes = range(min(rank, len(like))) if self.axes is None else [normalize_axis(a, rank) for a in ints(self.axes)]
        result = list(shape)
        for axis in axes:
            if axis >= len(like) or not _reaches(shape[axis], like[axis]):
                raise VerifyException(
                    f"axis {axis} of shape {shape_text(shape)} cannot be cut to that of shape {shape_text(like)}"
                )
            result[axis] = like[axis]
        return result

    def result_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self.cut(shape, shape_of(self.like))

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, like = inputs
        return sliced(x, [Slice(0, 1, n) for n in self.cut(x.shape, like.shape)], "slice_like")

    def gradient(self, g: Gradient) -> Terms:
        return g.moved()


@irdl_op_definition
class SplitOp(RelayOp):
    """The tensor cut along `axis`: into that many equal parts, or before each of the indices given.

    `y = np.split(x, [1, 3], axis=1)`

    ```mlir
    %y = relay.split %x {indices_or_sections = array<i64: 1, 3>, axis = 1 : i64} : (tensor<2x4xf32>) -> tuple<tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x1xf32>>
    ```
    """  # noqa: E501

    name = "relay.split"

    data = operand_def(TensorType)
    result = result_def(TupleType)

    indices_or_sections = prop_def(IntegerAttr.constr(i64) | DenseArrayBase.constr(i64))
    axis = integer(0)

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE), Moves())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def reordered(self, order: Order) -> Reordered:
        orders = all_in(order, len(self.result.type.types))
        return Reordered(orders, {"axis": reordered_axis(self.axis.value.data, order)})

    def reblocked(self, form: Form) -> Reordered | None:
        shape, given = shape_of(self.data), self.indices_or_sections
        axis = normalize_axis(self.axis.value.data, len(shape))
        block = block_along(form, axis)
        if any(part.count % block or part.count == DYNAMIC for part in self.parts(shape[axis])) and block > 1:
            return None
        if isinstance(given, DenseArrayBase):
            cuts = ints(cast("DenseArrayBase[IntegerType]", given))
            given = DenseArrayBase.from_list(i64, [n // block for n in cuts])
        properties = {"axis": outer_dimension(form, axis), "indices_or_sections": given}
        return Reordered(all_in(form, len(self.result.type.types)), properties)

    def parts(self, extent: int) -> list[Slice]:
        """The slices of the axis, one for each part; `count` is `DYNAMIC` where it depends on a dynamic extent.

        Raises:
            VerifyException: the parts would not be equal, or the indices are not in order.
        """
        given = self.indices_or_sections
        if isinstance(given, IntegerAttr):
            count = given.value.data
            if count < 1 or (is_told(extent) and not te.at_most(extent % count, 0)):
                raise VerifyException(f"an axis of extent {extent} cannot be split into {count} equal parts")
            size = DYNAMIC if extent == DYNAMIC else extent // count
            return [Slice(size * i, 1, size) for i in range(count)]
        cuts = [0, *ints(cast("DenseArrayBase[IntegerType]", given))]
        if any(a > b for a, b in pairwise(cuts)) or (is_told(extent) and not te.at_most(cuts[-1], extent)):
            raise VerifyException(f"an axis of extent {extent} cannot be split before indices {cuts[1:]}")
        last = Slice(cuts[-1], 1, DYNAMIC if extent == DYNAMIC else extent - cuts[-1])
        return [*(Slice(a, 1, b - a) for a, b in pairwise(cuts)), last]

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        shape = data.get_shape()
        axis = normalize_axis(self.axis.value.data, len(shape))
        parts = [(*shape[:axis], part.count, *shape[axis + 1 :]) for part in self.parts(shape[axis])]
        return [tuple_type(*(TensorType(data.element_type, part) for part in parts))]

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        (x,) = inputs
        axis = normalize_axis(self.axis.value.data, x.rank)
        whole = [Slice(0, 1, n) for n in x.shape]
        return [sliced(x, [*whole[:axis], part, *whole[axis + 1 :]], "split") for part in self.parts(x.shape[axis])]

    def numpy(self, *inputs: NDArray) -> Sequence[NDArray]:
        (x,) = inputs
        axis = normalize_axis(self.axis.value.data, x.ndim)
        lead = (slice(None),) * axis
        return [x[(*lead, part.numpy())] for part in self.parts(x.shape[axis])]

    def channel_block(self, blocks: Blocks) -> int:
        """Along the channels into whole blocks, where `tuple_get` takes the parts."""
        shape = shape_of(self.data)
        if len(shape) != 4 or normalize_axis(self.axis.value.data, 4) != 1:
            return PLAIN
        block, parts = blocks.whole_block(shape[1]), [shape_of(part)[1] for part in self.result.type.types]
        only_taken_apart = all(isinstance(use.operation, TupleGetOp) for use in self.result.uses)
        if not block or any(n % block for n in parts) or not only_taken_apart:
            blocks.missed(self, f"its parts, of {parts} channels, are not whole blocks of {block or blocks.lanes}")
            return PLAIN
        return block

    def to_blocks(self, blocks: Blocks, block: int) -> None:
        sections = self.indices_or_sections
        if isinstance(sections, DenseArrayBase):
            cuts = ints(cast("DenseArrayBase[IntegerType]", sections))
            sections = DenseArrayBase.from_list(i64, [n // block for n in cuts])
        new = SplitOp(blocks.get(self.data, block, self), indices_or_sections=sections, axis=1)
        parts = blocks.insert(new, self)
        blocks.drop(self)
        for use in list(self.result.uses):
            part = use.operation
            assert isinstance(part, TupleGetOp)
            blocks.replace(part, TupleGetOp(parts, part.index.value.data), block)

    def gradient(self, g: Gradient) -> Terms:
        parts = g.grads
        return [parts[0].from_tuple(ConcatenateOp, parts, axis=self.axis)]


class _JoinOp(RelayOp, ABC):
    """A tuple of tensors put together along `axis`."""

    data = operand_def(TupleType)
    result = result_def(TensorType)

    axis = integer(0)

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE), Moves())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def fields(self) -> list[Tensor]:
        """The types of the tensors.

        Raises:
            VerifyException: there are none, or their element types or ranks differ.
        """
        fields = flatten_types([self.data.type])
        if not fields:
            raise VerifyException("there is no tensor in the tuple")
        first = fields[0]
        for field in fields[1:]:
            if field.element_type != first.element_type or len(field.get_shape()) != len(first.get_shape()):
                raise VerifyException(f"the tuple's tensors do not go together: {first} and {field}")
        return fields

    def check_alike(self, inputs: Sequence[te.Tensor], but: int | None = None) -> None:
        """See that the tensors have the same extents, `but` along one axis: of those that are symbols it is noted that
        they must.

        Raises:
            VerifyException: they have not.
        """
        for x in inputs[1:]:
            for d, (a, b) in enumerate(zip(inputs[0].shape, x.shape, strict=True)):
                if d != but:
                    merge_dims(a, b, f"dimension {d} of the tuple's tensors")


def merge_dims(a: int, b: int, what: str) -> int:
    """One extent of two tensors that agree.

    Raises:
        VerifyException: they do not.
    """
    if DYNAMIC not in (a, b) and a != b and not agree(a, b):
        raise VerifyException(f"{what} has extents {a} and {b}")
    return b if a == DYNAMIC else a


def choose(tensors: Sequence[te.Expr], starts: Sequence[int], i: te.Expr) -> te.Expr:
    """The expression whose range `i` lies in: `tensors[k]` where `starts[k] <= i < starts[k + 1]`."""
    if len(tensors) == 1:
        return tensors[0]
    half = len(tensors) // 2
    return te.select(i < starts[half], choose(tensors[:half], starts, i), choose(tensors[half:], starts[half:], i))


@irdl_op_definition
class ConcatenateOp(_JoinOp):
    """The tensors of a tuple one behind the other along `axis`.

    `y = np.concatenate([a, b], axis=1)`

    ```mlir
    %t = relay.tuple(%a, %b) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tuple<tensor<2x3xf32>, tensor<2x1xf32>>
    %y = relay.concatenate %t {axis = 1 : i64} : (tuple<tensor<2x3xf32>, tensor<2x1xf32>>) -> tensor<2x4xf32>
    ```
    """

    name = "relay.concatenate"

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"axis": reordered_axis(self.axis.value.data, order)})

    def reblocked(self, form: Form) -> Reordered:
        return Reordered([form], {"axis": outer_dimension(form, self.axis.value.data)})

    def infer(self) -> Sequence[Attribute]:
        fields = self.fields()
        shape = list(fields[0].get_shape())
        axis = normalize_axis(self.axis.value.data, len(shape))
        for field in fields[1:]:
            for d, n in enumerate(field.get_shape()):
                if d != axis:
                    shape[d] = merge_dims(shape[d], n, f"dimension {d} of the tuple's tensors")
                else:
                    shape[d] = DYNAMIC if DYNAMIC in (shape[d], n) else shape[d] + n
        return [TensorType(fields[0].element_type, shape)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        axis = normalize_axis(self.axis.value.data, inputs[0].rank)
        self.check_alike(inputs, but=axis)
        parts = [x for x in inputs if x.dims[axis] != 0] or list(inputs[:1])
        starts = [0, *accumulate(x.shape[axis] for x in parts)]
        shape = (*parts[0].shape[:axis], starts[-1], *parts[0].shape[axis + 1 :])

        def body(*i: te.IterVar) -> te.Expr:
            reads = [x[(*i[:axis], i[axis] - start, *i[axis + 1 :])] for x, start in zip(parts, starts, strict=False)]
            return choose(reads, starts, i[axis])

        return te.compute(shape, body, "concatenate")

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        return np.concatenate(inputs, axis=self.axis.value.data)

    def layout_sources(self) -> Sequence[SSAValue]:
        """The fields of the tuple that is concatenated."""
        return fields.operands if isinstance(fields := self.data.owner, TupleOp) else self.operands

    def channel_block(self, blocks: Blocks) -> int:
        """Along the channels, of values in whole blocks."""
        shape = shape_of(self.result)
        if len(shape) != 4 or normalize_axis(self.axis.value.data, 4) != 1 or not isinstance(self.data.owner, TupleOp):
            return PLAIN
        block, channels = blocks.whole_block(shape[1]), [shape_of(value)[1] for value in self.layout_sources()]
        if not block or any(n % block for n in channels):
            what = f"the numbers of channels, {channels}, are not whole blocks of {block or blocks.lanes}"
            blocks.missed(self, what)
            return PLAIN
        return block

    def to_blocks(self, blocks: Blocks, block: int) -> None:
        fields = TupleOp(*(blocks.get(value, block, self) for value in self.layout_sources()))
        blocks.replace(self, ConcatenateOp(blocks.insert(fields, self), axis=self.axis), block)

    def gradient(self, g: Gradient) -> Terms:
        axis = normalize_axis(self.axis.value.data, len(g.output.shape))
        extents = [x.shape[axis] for x in g.inputs]
        if DYNAMIC in extents:
            raise VerifyException(f"it needs to be known how long its operands are along axis {axis}")
        parts: list[Term] = []
        for start, extent in zip(accumulate(extents, initial=0), extents, strict=False):
            properties = {"begin": [start], "end": [start + extent], "axes": [axis]}
            parts.append(g.grad.op(StridedSliceOp, **properties))
        return parts


@irdl_op_definition
class StackOp(_JoinOp):
    """Tensors of one shape one behind the other along a new dimension at `axis`.

    `y = np.stack([a, b], axis=1)`

    ```mlir
    %t = relay.tuple(%a, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tuple<tensor<2x3xf32>, tensor<2x3xf32>>
    %y = relay.stack %t {axis = 1 : i64} : (tuple<tensor<2x3xf32>, tensor<2x3xf32>>) -> tensor<2x2x3xf32>
    ```
    """

    name = "relay.stack"

    def infer(self) -> Sequence[Attribute]:
        fields = self.fields()
        shape = list(fields[0].get_shape())
        for field in fields[1:]:
            shape = [
                merge_dims(m, n, f"dimension {d} of the tuple's tensors")
                for d, (m, n) in enumerate(zip(shape, field.get_shape(), strict=True))
            ]
        axis = normalize_axis(self.axis.value.data, len(shape) + 1)
        return [TensorType(fields[0].element_type, (*shape[:axis], len(fields), *shape[axis:]))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        axis = normalize_axis(self.axis.value.data, inputs[0].rank + 1)
        self.check_alike(inputs)
        shape = (*inputs[0].shape[:axis], len(inputs), *inputs[0].shape[axis:])
        return te.compute(
            shape,
            lambda *i: choose([x[(*i[:axis], *i[axis + 1 :])] for x in inputs], range(len(inputs)), i[axis]),
            "stack",
        )

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        return np.stack(inputs, axis=self.axis.value.data)

    def gradient(self, g: Gradient) -> Terms:
        axis = normalize_axis(self.axis.value.data, len(g.output.shape))
        return [
            g.grad.op(StridedSliceOp, begin=[k], end=[k + 1], axes=[axis]).op(SqueezeOp, axis=[axis])
            for k in range(len(g.inputs))
        ]


OPS: list[type[Operation]] = [
    StridedSliceOp, SliceLikeOp, SplitOp, ConcatenateOp, StackOp,
]  # fmt: skip
"""The operators that cut and join."""
