"""Operators that order elements: argsort, sort, topk, searchsorted.

The order is that of NumPy's stable sort: equal elements keep theirs, and NaN comes after every number. The descending
order is its mirror: NaN comes first, and equal elements keep theirs still.

By definition, the place of an element is how many elements come before it: quadratic work, but free of order, and in
vectors. Along axes that are long, or may be, elements are merged into runs twice as long each time; where fewer are
asked for, those found so far are kept in a heap, and a few in order. Integers stand for elements of up to 32 bits: as
large as they come late, with the number of the element below, so that they are compared at once, and no two are equal.
The direct evaluation sorts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar

from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness, TensorType, TupleType, f32, i32, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.dtypes import byte_width, numpy_dtype
from ...support.operations import irdl_op_definition
from ..base import (
    Fusion,
    FusionPattern,
    RelayOp,
    flag,
    integer,
    is_told,
    is_true,
    normalize_axis,
    string,
    tensor,
)
from ..heaps import Heap
from ..precision import Accuracy
from ..reordering import Order, Reordered, all_in, reordered_axis
from ..types import tuple_type
from .elementwise import named_type
from .gather import GatherOp

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..base import NDArray
    from ..gradient import Gradient, Terms

_T = TypeVar("_T")

_U32 = IntegerType(32, Signedness.UNSIGNED)


def below(a: te.Expr, b: te.Expr) -> te.Expr:
    """Whether `a` comes before `b` in ascending order."""
    if not isinstance(a.type, AnyFloat):
        return a < b
    nan_a, nan_b = te.unary(te.UnaryKind.ISNAN, a), te.unary(te.UnaryKind.ISNAN, b)
    return (a < b) | (nan_b & ~nan_a)


FEW = 8
"""So many elements are put in order by counting for each how many come before it."""

KEPT = 16
"""So many of more are kept in order while the others go by; up to half of all stand in a heap."""


def order(x: te.Tensor, axis: int, count: te.Dim, ascending: bool) -> te.Tensor:
    """The indices along `axis` of the first `count` elements in order, as an i32 tensor."""
    extent = x.shape[axis]
    if te.surely_at_most(extent, FEW):
        return _counted(x, axis, count, ascending)
    if te.surely_at_most(count, KEPT):
        return _selected(x, axis, count, ascending)
    return (_heaped if te.surely_at_most(count * 2, extent) else _merged)(x, axis, count, ascending)


def _counted(x: te.Tensor, axis: int, count: te.Dim, ascending: bool) -> te.Tensor:
    """`order` by counting."""
    extent = x.shape[axis]
    other, source = te.reduce_axis(extent, "j"), te.reduce_axis(extent, "s")

    def rank(*i: te.IterVar) -> te.Expr:
        mine, its = x[i], x[(*i[:axis], other, *i[axis + 1 :])]
        first, second = (its, mine) if ascending else (mine, its)
        tie = ~below(first, second) & ~below(second, first) & (other < i[axis])
        return te.sum(te.cast(below(first, second) | tie, i32), other)

    ranks = te.compute(x.shape, rank, "rank")

    def index_at(*i: te.IterVar) -> te.Expr:
        here = ranks[(*i[:axis], source, *i[axis + 1 :])].equal(te.cast(i[axis], i32))
        return te.max(te.select(here, te.cast(source, i32), 0), source)

    return te.compute((*x.shape[:axis], count, *x.shape[axis + 1 :]), index_at, "order")


class _Items(ABC):
    """What stands for the elements of a row while they are put in order: numbers, no two of which are equal.

    Args:
        x: the elements.
        axis: that along which they are put in order.
        row: where the row stands along the other axes.
        ascending: whether smaller ones come first.
    """

    type: ClassVar[Attribute]

    def __init__(self, x: te.Tensor, axis: int, row: Sequence[te.Expr], ascending: bool):
        self.ascending = ascending
        self._element: Callable[[te.Expr], te.Read] = lambda at: x[(*row[:axis], te.as_index(at), *row[axis:])]

    @abstractmethod
    def of(self, number: te.Expr) -> te.Expr:
        """What stands for the element of a number, which is an index or an integer."""

    @abstractmethod
    def number(self, item: te.Expr) -> te.Expr:
        """Which element (i32) it stands for."""

    @abstractmethod
    def is_before(self, one: te.Expr, other: te.Expr) -> te.Expr:
        """Whether one comes before another: the first of equal elements does."""


class _Keys(_Items):
    """Of elements of 32 bits or fewer: an integer that is as large as they come late, above their number."""

    type = i64

    def of(self, number: te.Expr) -> te.Expr:
        key = te.cast(_key(self._element(number)), i64)
        return (key if self.ascending else -1 - key) * (1 << 32) + te.cast(number, i64)

    def number(self, item: te.Expr) -> te.Expr:
        return te.cast(item, i32)

    def is_before(self, one: te.Expr, other: te.Expr) -> te.Expr:
        return one < other


class _Numbers(_Items):
    """Of any elements: their numbers."""

    type = i32

    def of(self, number: te.Expr) -> te.Expr:
        return te.cast(number, i32)

    def number(self, item: te.Expr) -> te.Expr:
        return item

    def is_before(self, one: te.Expr, other: te.Expr) -> te.Expr:
        mine, its = self._element(one), self._element(other)
        first, second = (mine, its) if self.ascending else (its, mine)
        is_less, is_more = below(first, second), below(second, first)
        return is_less | (~(is_less | is_more) & (one < other))


def _key(x: te.Expr) -> te.Expr:
    """An integer of 32 bits, or 64 of those without a sign, as large as `x` comes late in ascending order: of floats
    the bits, of which those of negative ones are turned; both zeros are one, and NaN is the largest."""
    if not isinstance(x.type, AnyFloat):
        return te.cast(x, i64) - (1 << 31) if x.type == _U32 else x
    wide = te.cast(x, f32)
    bits = te.bitcast(te.select(wide.equal(0.0), te.const(0.0, f32), wide), i32)
    largest = te.const((1 << 31) - 1, i32)
    ordered = te.select(bits < 0, bits ^ largest, bits)
    return te.select(te.unary(te.UnaryKind.ISNAN, wide), largest, ordered)


def _items_of(x: te.Tensor) -> type[_Items]:
    return _Keys if byte_width(x.element_type) <= 4 else _Numbers


def _selected(x: te.Tensor, axis: int, count: te.Dim, ascending: bool) -> te.Tensor:
    """`order` by insertion of those elements that come before the last one kept."""
    rows = [*x.dims[:axis], *x.dims[axis + 1 :]]
    kept, kind = te.dim_expr(count), _items_of(x)

    def fill(do: te.Steps, first: te.Tensor, held: te.Tensor, place: te.Tensor) -> None:
        row = tuple(do.axes)
        items = kind(x, axis, row, ascending)

        def at(number: te.Expr) -> te.Read:
            return held[(*row, te.as_index(number))]

        here = place[(*row, te.const(0, te.index))]
        with do.loop(te.dim_expr(x.dims[axis])) as i:
            mine = do.let(items.of(i), "mine")
            last = te.select(i < kept, mine, at(kept - 1))  # what is not written yet stands for no element
            with do.when((i < kept) | items.is_before(mine, last)):
                do.store(here, te.cast(te.minimum(i, kept - 1), i64))
                one_before = te.select(here > 0, at(te.maximum(here - 1, 0)), mine)
                with do.while_((here > 0) & items.is_before(mine, one_before)):
                    do.store(at(here), at(here - 1))
                    do.store(here, here - 1)
                do.store(at(here), mine)
        _tell(do, first, axis, count, lambda i: items.number(at(i)))

    return _procedure(x, axis, count, fill, [((*rows, count), kind.type, "held"), ((*rows, 1), i64, "place")])


def _heaped(x: te.Tensor, axis: int, count: te.Dim, ascending: bool) -> te.Tensor:
    """`order` by a heap of the elements kept, the last of which stands at its root, and gives way to those that come
    before it."""
    rows = [*x.dims[:axis], *x.dims[axis + 1 :]]
    kept, kind = te.cast(te.dim_expr(count), i64), _items_of(x)

    def fill(do: te.Steps, first: te.Tensor, held: te.Tensor, state: te.Tensor) -> None:
        row = tuple(do.axes)
        items = kind(x, axis, row, ascending)

        def at(place: te.Expr) -> te.Read:
            return held[(*row, te.as_index(place))]

        places = [te.const(number, te.index) for number in (0, 1)]
        heap = Heap(at, lambda a, b: items.is_before(b, a), (state[(*row, places[0])], state[(*row, places[1])]))
        root = at(te.const(0, i64))
        with do.loop(te.dim_expr(count)) as i:
            do.store(at(i), items.of(i))
        heap.build(do, kept)
        with do.loop(te.dim_expr(x.dims[axis]) - te.dim_expr(count)) as i:
            mine = do.let(items.of(i + te.dim_expr(count)), "mine")
            with do.when(items.is_before(mine, root)):
                heap.sink(do, mine, te.const(0, i64), kept)
        with do.loop(te.dim_expr(count)) as i:
            end = do.let(kept - 1 - te.cast(i, i64), "end")
            last = do.let(at(end), "last")
            do.store(at(end), root)
            heap.sink(do, last, te.const(0, i64), end)
        _tell(do, first, axis, count, lambda i: items.number(at(i)))

    return _procedure(x, axis, count, fill, [((*rows, count), kind.type, "held"), ((*rows, 2), i64, "state")])


def _merged(x: te.Tensor, axis: int, count: te.Dim, ascending: bool) -> te.Tensor:
    """`order` by merging neighbouring runs that are in order, each time of twice the length (Knuth, The Art of Computer
    Programming 3, 5.2.4, straight two-way merge)."""
    rows = [*x.dims[:axis], *x.dims[axis + 1 :]]
    extent, kind = te.dim_expr(x.dims[axis]), _items_of(x)
    total = te.cast(extent, i64)

    def fill(do: te.Steps, first: te.Tensor, runs: te.Tensor, merged: te.Tensor, state: te.Tensor) -> None:
        row = tuple(do.axes)
        items = kind(x, axis, row, ascending)

        def at(tensor: te.Tensor, place: te.ExprLike) -> te.Read:
            return tensor[(*row, te.as_index(place))]

        width, left, right, takes = (state[(*row, number)] for number in range(4))
        with do.loop(extent) as i:
            do.store(at(runs, i), items.of(i))
        do.store(width, 1)
        with do.while_(width < total):
            length = do.let(te.as_index(width) * 2, "length")
            with do.loop((extent + length - 1) // length) as run:
                begin = do.let(te.cast(run * length, i64), "begin")
                middle = do.let(te.minimum(begin + width, total), "middle")
                end = do.let(te.minimum(begin + te.cast(length, i64), total), "end")
                do.store(left, begin)
                do.store(right, middle)
                with do.loop(te.as_index(end - begin)) as k:
                    a, b = do.let(left, "left"), do.let(right, "right")
                    do.store(takes, te.cast(a >= middle, i64))
                    with do.when((a < middle) & (b < end)):
                        do.store(takes, te.cast(items.is_before(at(runs, b), at(runs, a)), i64))
                    other_comes = do.let(takes > 0, "other_comes")
                    do.store(at(merged, te.as_index(begin) + k), at(runs, te.select(other_comes, b, a)))
                    do.store(right, b + te.cast(other_comes, i64))
                    do.store(left, a + te.cast(~other_comes, i64))
            with do.loop(extent) as i:
                do.store(at(runs, i), at(merged, i))
            do.store(width, width * 2)
        _tell(do, first, axis, count, lambda i: items.number(at(runs, i)))

    vector = (*rows, x.dims[axis])
    scratch = [(vector, kind.type, "runs"), (vector, kind.type, "merged"), ((*rows, 4), i64, "state")]
    return _procedure(x, axis, count, fill, scratch)


def _tell(do: te.Steps, first: te.Tensor, axis: int, count: te.Dim, number: Callable[[te.Expr], te.Expr]) -> None:
    """Say which elements are the first `count`."""
    row = tuple(do.axes)
    with do.loop(te.dim_expr(count)) as i:
        do.store(first[(*row[:axis], i, *row[axis:])], number(i))


def _procedure(
    x: te.Tensor,
    axis: int,
    count: te.Dim,
    fill: Callable[..., None],
    scratch: Sequence[tuple[Sequence[te.Dim], Attribute, str]],
) -> te.Tensor:
    """The tensor of `order`, as `fill` writes it for each row."""
    shape = (*x.dims[:axis], count, *x.dims[axis + 1 :])
    return te.procedure([(shape, i32, "order")], fill, scratch, [*x.dims[:axis], *x.dims[axis + 1 :]])[0]


def order_of(x: NDArray, axis: int, ascending: bool) -> npt.NDArray[np.int64]:
    """The indices along `axis` of all elements in order."""
    import numpy as np

    if ascending:
        return np.argsort(x, axis=axis, kind="stable")
    mirrored = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(mirrored, axis)


class _OrderOp(RelayOp, ABC):
    """An operator on the order of elements along `axis`."""

    data = operand_def(TensorType)
    result = result_def()

    axis = integer(-1)
    is_ascend = flag(True)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def reordered(self, order: Order) -> Reordered:
        fields = self.result.type.types.data if isinstance(self.result.type, TupleType) else (self.result.type,)
        return Reordered(all_in(order, len(fields)), {"axis": reordered_axis(self.axis.value.data, order)})

    def place(self, rank: int) -> int:
        return normalize_axis(self.axis.value.data, rank)


@irdl_op_definition
class ArgsortOp(_OrderOp):
    """The indices along `axis` that put the elements in order.

    `y = np.argsort(x, axis=1, kind="stable")`

    ```mlir
    %y = relay.argsort %x {axis = 1 : i64, dtype = "int64"} : (tensor<2x5xf32>) -> tensor<2x5xi64>
    ```
    """

    name = "relay.argsort"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    dtype = string("int32")

    def infer(self) -> Sequence[Attribute]:
        shape = tensor(self.data).get_shape()
        self.place(len(shape))
        return [TensorType(named_type(self.dtype.data), shape)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        axis = self.place(x.rank)
        indices = order(x, axis, x.shape[axis], is_true(self.is_ascend))
        element = named_type(self.dtype.data)
        return te.compute(indices.shape, lambda *i: te.cast(indices[i], element), "argsort")

    def numpy(self, *inputs: NDArray) -> NDArray:
        (x,) = inputs
        indices = order_of(x, self.place(x.ndim), is_true(self.is_ascend))
        return indices.astype(numpy_dtype(named_type(self.dtype.data)))


def taken(x: te.Tensor, indices: te.Tensor, axis: int) -> te.Tensor:
    """The elements of `x` at `indices` along `axis`."""
    return te.compute(indices.shape, lambda *i: x[(*i[:axis], te.cast(indices[i], te.index), *i[axis + 1 :])], "sorted")


@irdl_op_definition
class SortOp(_OrderOp):
    """The elements along `axis` in order.

    `y = np.sort(x, axis=1)`

    ```mlir
    %y = relay.sort %x {axis = 1 : i64} : (tensor<2x5xf32>) -> tensor<2x5xf32>
    ```
    """

    name = "relay.sort"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        self.place(len(data.get_shape()))
        return [data]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        axis = self.place(x.rank)
        return taken(x, order(x, axis, x.shape[axis], is_true(self.is_ascend)), axis)

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        (x,) = inputs
        axis = self.place(x.ndim)
        return np.take_along_axis(x, order_of(x, axis, is_true(self.is_ascend)), axis)

    def gradient(self, g: Gradient) -> Terms:
        indices = g.input.op(ArgsortOp, axis=self.axis, is_ascend=self.is_ascend)
        return g.through(g.input.op(GatherOp, indices, axis=self.axis))


@irdl_op_definition
class TopkOp(_OrderOp):
    """The first `k` elements along `axis` in order (all of them for a `k` below one), their indices, or both.

    With `zero_is_none`, a `k` of 0 gives none. `ret_type` is "both", "values" or "indices"; `dtype` is the type of the
    indices.

    `y = np.sort(x, axis=1)[:, ::-1][:, :3], np.argsort(-x, axis=1)[:, :3]`

    ```mlir
    %y = relay.topk %x {k = 3 : i64, axis = 1 : i64, ret_type = "both", is_ascend = false, dtype = "int32"} : (tensor<2x5xf32>) -> tuple<tensor<2x3xf32>, tensor<2x3xi32>>
    ```
    """  # noqa: E501

    name = "relay.topk"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    k = integer(1)
    ret_type = string("both")
    is_ascend = flag(False)
    dtype = string("int32")
    zero_is_none = flag(False)

    def count(self, extent: int) -> int:
        """How many elements are taken.

        Raises:
            VerifyException: there are not as many.
        """
        k = self.k.value.data
        if k < 1:
            return 0 if k == 0 and is_true(self.zero_is_none) else extent
        if is_told(extent) and not te.at_most(k, extent):
            raise VerifyException(f"there are no {k} elements along an axis of extent {extent}")
        return k

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        shape = list(data.get_shape())
        axis = self.place(len(shape))
        shape[axis] = self.count(shape[axis])
        values, indices = TensorType(data.element_type, shape), TensorType(named_type(self.dtype.data), shape)
        match self.ret_type.data:
            case "both":
                return [tuple_type(values, indices)]
            case "values":
                return [values]
            case "indices":
                return [indices]
            case _:
                raise VerifyException(f'\'ret_type\' is "both", "values" or "indices", not {self.ret_type}')

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        (x,) = inputs
        axis = self.place(x.rank)
        indices = order(x, axis, self.count(x.shape[axis]), is_true(self.is_ascend))
        element = named_type(self.dtype.data)
        values = taken(x, indices, axis)
        return self.chosen(values, te.compute(indices.shape, lambda *i: te.cast(indices[i], element), "indices"))

    def numpy(self, *inputs: NDArray) -> Sequence[NDArray]:
        import numpy as np

        (x,) = inputs
        axis = self.place(x.ndim)
        indices = order_of(x, axis, is_true(self.is_ascend))
        first = np.take(indices, range(self.count(x.shape[axis])), axis)
        found = first.astype(numpy_dtype(named_type(self.dtype.data)))
        return self.chosen(np.take_along_axis(x, first, axis), found)

    def chosen(self, values: _T, indices: _T) -> list[_T]:
        """The results that `ret_type` asks for."""
        return {"both": [values, indices], "values": [values], "indices": [indices]}[self.ret_type.data]

    def gradient(self, g: Gradient) -> Terms:
        options = {**self.properties, "ret_type": "indices"}
        if self.ret_type.data == "indices":
            return [None]
        indices = g.input.op(TopkOp, **options)
        values = g.input.op(GatherOp, indices, axis=self.axis)
        return g.through(*([values, indices] if self.ret_type.data == "both" else [values]))


@irdl_op_definition
class SearchsortedOp(RelayOp):
    """For every value, how many elements of an ascending sequence are below it; with `right`, at most it.

    The sequences run along the last dimension: one for all values, or one for each row of values.

    `y = np.searchsorted(x, v)`

    ```mlir
    %x = relay.constant dense<[0.2, 0.4, 0.6, 0.8]> : tensor<4xf32>
    %y = relay.searchsorted %x, %v {right = false, dtype = "int32"} : (tensor<4xf32>, tensor<2x3xf32>) -> tensor<2x3xi32>
    ```
    """  # noqa: E501

    name = "relay.searchsorted"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    sorted_sequence = operand_def(TensorType)
    values = operand_def(TensorType)
    result = result_def(TensorType)

    right = flag(False)
    dtype = string("int32")

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        sequence, values = tensor(self.sorted_sequence), tensor(self.values)
        rows = sequence.get_shape()[:-1]
        if sequence.element_type != values.element_type:
            raise VerifyException(f"{values} cannot be searched in {sequence}: the element types differ")
        if not sequence.get_shape() or (rows and rows != values.get_shape()[:-1]):
            raise VerifyException(f"{sequence} has no row for each row of {values}")
        return [TensorType(named_type(self.dtype.data), values.get_shape())]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        sequence, values = inputs
        element = named_type(self.dtype.data)
        k = te.reduce_axis(sequence.shape[-1])

        def body(*i: te.IterVar) -> te.Expr:
            row = i[:-1] if sequence.rank > 1 else ()
            item, value = sequence[(*row, k)], values[i]
            before = ~below(value, item) if is_true(self.right) else below(item, value)
            return te.sum(te.cast(before, element), k)

        return te.compute(values.shape, body, "searchsorted")


OPS: list[type[Operation]] = [ArgsortOp, SortOp, TopkOp, SearchsortedOp]
"""The operators on the order of elements."""
