"""Operators whose result has as many elements as the data says: argwhere, unique.

They have no `compute`: a tensor expression has a shape. They are evaluated directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import TensorType, i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import DYNAMIC, Fusion, FusionPattern, RelayOp, flag, is_true, shape_of, tensor
from ..precision import Accuracy, Precision
from ..types import tuple_type
from .sort import below

if TYPE_CHECKING:
    from ..base import NDArray


@irdl_op_definition
class ArgwhereOp(RelayOp):
    """The indices of the elements that are true (or not zero), one row for each.

    `y = np.argwhere(x)`

    ```mlir
    %y = relay.argwhere %x : (tensor<2x4xf32>) -> tensor<?x2xi32>
    ```
    """

    name = "relay.argwhere"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    PRECISION: ClassVar[Precision | None] = Precision.FOLLOW

    condition = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        return [TensorType(i32, [DYNAMIC, len(shape_of(self.condition))])]

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        return np.argwhere(inputs[0]).astype(np.int32)


@irdl_op_definition
class UniqueOp(RelayOp):
    """The different elements of a vector; where each first stands; which of them each element is; how many there are.

    With `return_counts`, also how often each occurs. The elements are in ascending order if `sorted`, else in that of
    their first occurrence.

    ```mlir
    %y = relay.unique %x {sorted = true} : (tensor<4xf32>) -> tuple<tensor<?xf32>, tensor<?xi32>, tensor<4xi32>, tensor<1xi32>>
    ```
    """  # noqa: E501

    name = "relay.unique"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    data = operand_def(TensorType)
    result = result_def()

    sorted = flag(True)
    return_counts = flag(False)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        if len(data.get_shape()) != 1:
            raise VerifyException(f"expected a vector, got {data}")
        some = TensorType(i32, [DYNAMIC])
        counts = [some] if is_true(self.return_counts) else []
        which, number = TensorType(i32, data.get_shape()), TensorType(i32, [1])
        return [tuple_type(TensorType(data.element_type, [DYNAMIC]), some, which, number, *counts)]

    def numpy(self, *inputs: NDArray) -> Sequence[NDArray]:
        import numpy as np

        values, first, which, counts = np.unique(inputs[0], return_index=True, return_inverse=True, return_counts=True)
        if not is_true(self.sorted):
            order = np.argsort(first)
            values, first, counts = values[order], first[order], counts[order]
            which = np.argsort(order)[which]
        results = [values, first.astype(np.int32), which.astype(np.int32), np.array([values.size], np.int32)]
        return [*results, counts.astype(np.int32)] if is_true(self.return_counts) else results


@irdl_op_definition
class DataExtentOp(RelayOp):
    """A number that data decides, as an extent: not below 0, and not above `most`, which follows from shapes.

    What is told this number, a slice, has so many elements when it runs; its memory is that for `most`.

    `y = np.clip(n, 0, m)`

    ```mlir
    %n = relay.constant dense<[5]> : tensor<1xi64>
    %m = relay.constant dense<[4]> : tensor<1xi64>
    %y = relay.data_extent %n, %m : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    ```
    """

    name = "relay.data_extent"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    SAYS_EXTENT: ClassVar[bool] = True
    STANDS_ALONE: ClassVar[bool] = True

    count = operand_def(TensorType)
    most = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def told_extents(self) -> Sequence[SSAValue]:
        return [self.most]

    def infer(self) -> Sequence[Attribute]:
        for value in self.operands:
            if tensor(value) != TensorType(i64, [1]):
                raise VerifyException(f"an extent is a tensor<1xi64>, not {value.type}")
        return [TensorType(i64, [1])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        count, most = inputs
        return te.compute((1,), lambda i: te.maximum(te.minimum(count[i], most[i]), 0), "extent")

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        count, most = inputs
        return np.clip(count, 0, most)


@irdl_op_definition
class CompactOp(RelayOp):
    """The places of the elements of a vector that are true (or not zero), in order, then zeros; and how many there are.

    ```mlir
    %y = relay.compact %x : (tensor<6xf32>) -> tuple<tensor<6xi64>, tensor<1xi64>>
    ```
    """

    name = "relay.compact"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    condition = operand_def(TensorType)
    result = result_def()

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        shape = shape_of(self.condition)
        if len(shape) != 1:
            raise VerifyException(f"expected a vector, got {self.condition.type}")
        return [tuple_type(TensorType(i64, shape), TensorType(i64, [1]))]

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        (x,) = inputs
        (extent,) = x.dims

        def fill(do: te.Steps, places: te.Tensor, count: te.Tensor) -> None:
            with do.loop(te.dim_expr(extent)) as i:
                with do.when(te.cast(x[i], i1)):
                    do.store(places[te.as_index(count[0])], te.cast(i, i64))
                    do.store(count[0], count[0] + 1)

        return te.procedure([(x.dims, i64, "places"), ((1,), i64, "count")], fill)

    def numpy(self, *inputs: NDArray) -> Sequence[NDArray]:
        import numpy as np

        found = np.flatnonzero(inputs[0])
        return [np.pad(found, (0, inputs[0].size - found.size)), np.array([found.size], np.int64)]


@irdl_op_definition
class UniqueRowsOp(RelayOp):
    """Of the different rows of a matrix, in ascending order if `sorted`, else in that of their first occurrence: where
    each first stands, and how often; which of them each row is; and how many they are. What is left over is 0.

    Rows are compared element by element; NaN is one number, after all others.

    ```mlir
    %y = relay.unique_rows %x {sorted = true} : (tensor<5x1xf32>) -> tuple<tensor<5xi64>, tensor<5xi64>, tensor<5xi64>, tensor<1xi64>>
    ```
    """  # noqa: E501

    name = "relay.unique_rows"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    data = operand_def(TensorType)
    result = result_def()

    sorted = flag(True)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        shape = shape_of(self.data)
        if len(shape) != 2:
            raise VerifyException(f"expected a matrix, got {self.data.type}")
        each = TensorType(i64, shape[:1])
        return [tuple_type(each, each, each, TensorType(i64, [1]))]

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        (x,) = inputs
        rows, columns = map(te.dim_expr, x.dims)
        vector = (x.dims[:1], i64)
        number = ((1,), i64)

        def fill(
            do: te.Steps,
            first: te.Tensor,
            counts: te.Tensor,
            which: te.Tensor,
            total: te.Tensor,
            *scratch: te.Tensor,
        ) -> None:
            order, merged, state = scratch
            sort_rows(do, x, order, merged, state)
            # Runs of equal rows, whose first one is the first occurrence: the order is stable.
            at = te.as_index(state[0])
            do.store(state[0], -1)
            with do.loop(rows) as i:
                do.store(state[1], 1)
                with do.when(i > 0):
                    compare_rows(do, x, order[te.maximum(i - 1, 0)], order[i], columns, state)
                with do.when(state[1] > 0):
                    do.store(state[0], state[0] + 1)
                    do.store(first[at], order[i])
                do.store(counts[at], counts[at] + 1)
                do.store(which[te.as_index(order[i])], state[0])
            do.store(total[0], state[0] + 1)
            if not is_true(self.sorted):
                number_by_occurrence(do, rows, first, counts, which, (order, merged, state))

        return te.procedure(
            [(*vector, "first"), (*vector, "counts"), (*vector, "which"), (*number, "total")],
            fill,
            [(*vector, "order"), (*vector, "merged"), ((6,), i64, "state")],
        )

    def numpy(self, *inputs: NDArray) -> Sequence[NDArray]:
        import numpy as np

        (x,) = inputs
        order = np.lexsort(x.T[::-1]) if x.shape[1] else np.arange(len(x))
        runs = np.ones(len(x), np.bool_)
        rows = x[order]
        same = (rows[1:] == rows[:-1]) | ((rows[1:] != rows[1:]) & (rows[:-1] != rows[:-1]))
        runs[1:] = ~same.all(1)
        which = np.zeros(len(x), np.int64)
        which[order] = np.cumsum(runs) - 1
        first, counts = order[runs], np.bincount(which[: len(x)], minlength=runs.sum())
        if not is_true(self.sorted):
            by = np.argsort(first)
            first, counts, which = first[by], counts[by], np.argsort(by)[which]
        pad = (0, len(x) - len(first))
        return [np.pad(first, pad), np.pad(counts, pad), which, np.array([len(first)], np.int64)]


def number_by_occurrence(
    do: te.Steps,
    rows: te.Expr,
    first: te.Tensor,
    counts: te.Tensor,
    which: te.Tensor,
    scratch: tuple[te.Tensor, te.Tensor, te.Tensor],
) -> None:
    """Put the different rows in the order in which they first occur. `which` numbers them in another."""
    renamed, sizes, state = scratch
    with do.loop(rows) as i:
        do.store(renamed[i], -1)
        do.store(sizes[i], counts[i])
        do.store(counts[i], 0)
        do.store(first[i], 0)
    do.store(state[0], 0)
    with do.loop(rows) as i:
        group, new = te.as_index(which[i]), te.as_index(state[0])
        with do.when(renamed[group] < 0):
            do.store(renamed[group], state[0])
            do.store(first[new], te.cast(i, i64))
            do.store(counts[new], sizes[group])
            do.store(state[0], state[0] + 1)
        do.store(which[i], renamed[group])


def compare_rows(do: te.Steps, x: te.Tensor, one: te.Expr, other: te.Expr, columns: te.Expr, state: te.Tensor) -> None:
    """Put into `state[1]` whether row `one` of `x` comes before row `other` (1), after it (-1), or is equal (0)."""
    a, b = do.let(te.as_index(one), "a"), do.let(te.as_index(other), "b")
    do.store(state[1], 0)
    do.store(state[2], 0)
    column = te.as_index(state[2])
    with do.while_((state[1].equal(0)) & (state[2] < te.cast(columns, i64))):
        u, v = do.let(x[a, column], "u"), do.let(x[b, column], "v")
        do.store(state[1], te.cast(below(u, v), i64) - te.cast(below(v, u), i64))
        do.store(state[2], state[2] + 1)


def sort_rows(do: te.Steps, x: te.Tensor, order: te.Tensor, merged: te.Tensor, state: te.Tensor) -> None:
    """Put the places of the rows of `x` in ascending order into `order`: equal ones keep theirs. By merging runs twice
    as long each time."""
    rows, columns = map(te.dim_expr, x.dims)
    total = te.cast(rows, i64)
    with do.loop(rows) as i:
        do.store(order[i], te.cast(i, i64))
    width, left, right = state[3], state[4], state[5]
    do.store(width, 1)
    with do.while_(width < total):
        with do.loop((rows + te.as_index(width) * 2 - 1) // (te.as_index(width) * 2)) as run:
            begin = do.let(te.cast(run, i64) * width * 2, "begin")
            middle = do.let(te.minimum(begin + width, total), "middle")
            end = do.let(te.minimum(begin + width * 2, total), "end")
            do.store(left, begin)
            do.store(right, middle)
            with do.loop(te.as_index(end - begin)) as k:
                a, b = do.let(left, "left"), do.let(right, "right")
                do.store(state[1], te.cast(a >= middle, i64))
                with do.when((a < middle) & (b < end)):
                    compare_rows(do, x, order[te.as_index(b)], order[te.as_index(a)], columns, state)
                takes_right = do.let(state[1] > 0, "takes_right")
                do.store(merged[te.as_index(begin) + k], order[te.as_index(te.select(takes_right, b, a))])
                do.store(right, b + te.cast(takes_right, i64))
                do.store(left, a + te.cast(~takes_right, i64))
        with do.loop(rows) as i:
            do.store(order[i], merged[i])
        do.store(width, width * 2)


OPS: list[type[Operation]] = [ArgwhereOp, UniqueOp, DataExtentOp, CompactOp, UniqueRowsOp]
"""The operators with results of unknown extent."""
