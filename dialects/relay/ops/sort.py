"""Operators that order elements: argsort, sort, topk, searchsorted.

The order is that of NumPy's stable sort: equal elements keep theirs, and NaN comes after every number. The descending
order is its mirror: NaN comes first, and equal elements keep theirs still.

By definition, the place of an element is how many elements come before it: quadratic work, but free of order, and in
vectors. Along axes that are long, or may be, elements are merged into runs twice as long each time; where only a few
are asked for, those found so far are kept in order. The direct evaluation sorts.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar

from xdsl.dialects.builtin import AnyFloat, TensorType, TupleType, i32, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.dtypes import numpy_dtype
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


def below(a: te.Expr, b: te.Expr) -> te.Expr:
    """Whether `a` comes before `b` in ascending order."""
    if not isinstance(a.type, AnyFloat):
        return a < b
    nan_a, nan_b = te.unary(te.UnaryKind.ISNAN, a), te.unary(te.UnaryKind.ISNAN, b)
    return (a < b) | (nan_b & ~nan_a)


FEW = 128
"""So many elements are put in order by counting for each how many come before it, and so many of more are kept in order
while the others go by; more than that, in a heap, if they are a part of all."""


def order(x: te.Tensor, axis: int, count: te.Dim, ascending: bool) -> te.Tensor:
    """The indices along `axis` of the first `count` elements in order, as an i32 tensor."""
    extent = x.shape[axis]
    if te.surely_at_most(extent, FEW):
        return _counted(x, axis, count, ascending)
    if te.surely_at_most(count, FEW):
        return _selected(x, axis, count, ascending)
    return (_heaped if te.surely_at_most(count * 4, extent) else _merged)(x, axis, count, ascending)


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


def _selected(x: te.Tensor, axis: int, count: te.Dim, ascending: bool) -> te.Tensor:
    """`order` by insertion of those elements that come before the last one kept."""
    rows = [*x.dims[:axis], *x.dims[axis + 1 :]]
    kept = te.dim_expr(count)

    def fill(do: te.Steps, first: te.Tensor, place: te.Tensor) -> None:
        row = tuple(do.axes)

        def at(number: te.Expr) -> te.Read:
            return first[(*row[:axis], number, *row[axis:])]

        def element(number: te.Expr) -> te.Expr:
            return x[(*row[:axis], te.as_index(number), *row[axis:])]

        here = place[(*row, te.const(0, te.index))]
        with do.loop(te.dim_expr(x.dims[axis])) as i:
            mine = do.let(element(i), "mine")

            def comes_before(other: te.Expr) -> te.Expr:
                return below(mine, other) if ascending else below(other, mine)

            with do.when((i < kept) | comes_before(element(at(kept - 1)))):
                do.store(here, te.cast(te.minimum(i, kept - 1), i64))
                one_before = te.as_index(te.maximum(here - 1, 0))
                with do.while_((here > 0) & comes_before(element(at(one_before)))):
                    do.store(at(te.as_index(here)), at(one_before))
                    do.store(here, here - 1)
                do.store(at(te.as_index(here)), te.cast(i, i32))

    shape = (*x.dims[:axis], count, *x.dims[axis + 1 :])
    return te.procedure([(shape, i32, "order")], fill, [((*rows, 1), i64, "place")], rows)[0]


def _heaped(x: te.Tensor, axis: int, count: te.Dim, ascending: bool) -> te.Tensor:
    """`order` by a heap of the elements kept, the last of which stands at its root, and gives way to those that come
    before it."""
    rows = [*x.dims[:axis], *x.dims[axis + 1 :]]
    kept = te.cast(te.dim_expr(count), i64)

    def fill(do: te.Steps, first: te.Tensor, state: te.Tensor) -> None:
        row = tuple(do.axes)

        def at(place: te.Expr) -> te.Read:
            return first[(*row[:axis], te.as_index(place), *row[axis:])]

        def comes_after(one: te.Expr, other: te.Expr) -> te.Expr:
            """By their numbers, which decide among equal elements."""
            mine, its = (x[(*row[:axis], te.as_index(number), *row[axis:])] for number in (one, other))
            is_less, is_more = (below(mine, its), below(its, mine))
            return (is_more if ascending else is_less) | (~(is_less | is_more) & (one > other))

        places = [te.const(number, te.index) for number in (0, 1)]
        heap = Heap(at, comes_after, (state[(*row, places[0])], state[(*row, places[1])]))
        root = at(te.const(0, i64))
        with do.loop(te.dim_expr(count)) as i:
            do.store(at(i), te.cast(i, i32))
        heap.build(do, kept)
        with do.loop(te.dim_expr(x.dims[axis]) - te.dim_expr(count)) as i:
            number = do.let(te.cast(i + te.dim_expr(count), i32), "number")
            with do.when(comes_after(root, number)):
                heap.sink(do, number, te.const(0, i64), kept)
        with do.loop(te.dim_expr(count)) as i:
            end = do.let(kept - 1 - te.cast(i, i64), "end")
            number = do.let(at(end), "number")
            do.store(at(end), root)
            heap.sink(do, number, te.const(0, i64), end)

    shape = (*x.dims[:axis], count, *x.dims[axis + 1 :])
    return te.procedure([(shape, i32, "order")], fill, [((*rows, 2), i64, "state")], rows)[0]


def _merged(x: te.Tensor, axis: int, count: te.Dim, ascending: bool) -> te.Tensor:
    """`order` by merging neighbouring runs that are in order, each time of twice the length (Knuth, The Art of Computer
    Programming 3, 5.2.4, straight two-way merge)."""
    rows = [*x.dims[:axis], *x.dims[axis + 1 :]]
    extent = te.dim_expr(x.dims[axis])
    total = te.cast(extent, i64)

    def fill(do: te.Steps, first: te.Tensor, runs: te.Tensor, merged: te.Tensor, state: te.Tensor) -> None:
        row = tuple(do.axes)

        def element(place: te.Expr) -> te.Expr:
            return x[(*row[:axis], te.as_index(place), *row[axis:])]

        def at(tensor: te.Tensor, place: te.ExprLike) -> te.Read:
            return tensor[(*row, te.as_index(place))]

        width, left, right, takes = (state[(*row, number)] for number in range(4))
        with do.loop(extent) as i:
            do.store(at(runs, i), te.cast(i, i32))
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
                        one, other = do.let(element(at(runs, a)), "one"), do.let(element(at(runs, b)), "other")
                        do.store(takes, te.cast(below(other, one) if ascending else below(one, other), i64))
                    other_comes = do.let(takes > 0, "other_comes")
                    do.store(at(merged, te.as_index(begin) + k), at(runs, te.select(other_comes, b, a)))
                    do.store(right, b + te.cast(other_comes, i64))
                    do.store(left, a + te.cast(~other_comes, i64))
            with do.loop(extent) as i:
                do.store(at(runs, i), at(merged, i))
            do.store(width, width * 2)
        with do.loop(te.dim_expr(count)) as i:
            do.store(first[(*row[:axis], i, *row[axis:])], at(runs, i))

    shape = (*x.dims[:axis], count, *x.dims[axis + 1 :])
    vector = (*rows, x.dims[axis])
    scratch = [(vector, i32, "runs"), (vector, i32, "merged"), ((*rows, 4), i64, "state")]
    return te.procedure([(shape, i32, "order")], fill, scratch, rows)[0]


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
