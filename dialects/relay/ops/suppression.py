"""Boxes found in images: those that score enough, and those that no better one covers.

Whether a box is kept depends on those kept before it, one after the other: this is no tensor expression, but statements
(`te.procedure`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from xdsl.dialects.builtin import AnyFloat, TensorType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ...te.assume import at_most
from ..base import DYNAMIC, Fusion, FusionPattern, RelayOp, Tensor, flag, integer, is_true, shape_of, string, tensor
from ..heaps import Heap
from ..precision import Accuracy
from ..resample import one_of
from ..shapes import check_extents
from ..types import tuple_type

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..base import NDArray

    Floats = npt.NDArray[np.floating]


def boxes_of(data: SSAValue, least: int) -> Tensor:
    """The type of rows of floats `[batch, boxes, fields]`.

    Raises:
        VerifyException: it is another one.
    """
    type = tensor(data)
    shape = type.get_shape()
    if len(shape) != 3 or not isinstance(type.element_type, AnyFloat) or (shape[2] != DYNAMIC and shape[2] < least):
        raise VerifyException(f"expected boxes [batch, boxes, at least {least} fields] of floats, got {type}")
    return type


def number_of(value: SSAValue, what: str) -> None:
    """
    Raises:
        VerifyException: it is not a single number.
    """
    if shape_of(value) not in ((), (1,)):
        raise VerifyException(f"{what} must be one number, got {value.type}")


def _may_be_of(value: SSAValue, shape: Sequence[int]) -> bool:
    """Whether a tensor is of a shape, as far as both are known."""
    found = shape_of(value)
    return len(found) == len(shape) and all(n == m or DYNAMIC in (n, m) for n, m in zip(found, shape, strict=True))


@irdl_op_definition
class GetValidCountsOp(RelayOp):
    """The rows of boxes that score above a threshold, in their order: how many, then the rows, and where each stood.
    The rest is -1.

    A row has its score at `score_index`, and its class, which must not be negative, at `id_index` unless that is -1.

    ```mlir
    %t = relay.constant dense<0.0> : tensor<f32>
    %y = relay.vision.get_valid_counts %x, %t {id_index = -1 : i64, score_index = 0 : i64}
       : (tensor<2x5x6xf32>, tensor<f32>) -> tuple<tensor<2xi32>, tensor<2x5x6xf32>, tensor<2x5xi32>>
    ```
    """

    name = "relay.vision.get_valid_counts"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    data = operand_def(TensorType)
    score_threshold = operand_def(TensorType)
    result = result_def()

    id_index = integer(0)
    score_index = integer(1)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data = boxes_of(self.data, 1)
        number_of(self.score_threshold, "the threshold")
        fields = data.get_shape()[2]
        for name, at, least in (("id_index", self.id_index, -1), ("score_index", self.score_index, 0)):
            if at.value.data < least or (fields != DYNAMIC and at.value.data >= fields):
                raise VerifyException(f"'{name}' is {at.value.data}, and no field of {data}")
        return [tuple_type(TensorType(i32, data.get_shape()[:1]), data, TensorType(i32, data.get_shape()[:2]))]

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        x, threshold = inputs
        batch, count, _ = x.shape
        which, score = self.id_index.value.data, self.score_index.value.data

        def good(b: te.Expr, i: te.Expr) -> te.Expr:
            limit = te.cast(threshold[(0,) * threshold.rank], x.element_type)
            above = x[b, i, score] > limit
            return above if which < 0 else above & (x[b, i, which] >= 0)

        counts, places = places_of(good, batch, count)

        def row(b: te.IterVar, p: te.IterVar, f: te.IterVar) -> te.Expr:
            at = te.cast(te.maximum(places[b, p], 0), te.index)
            return te.select(places[b, p] >= 0, x[b, te.minimum(at, count - 1), f], -1)

        return [counts, te.compute(x.shape, row, "valid_rows"), places]


def places_of(good: Callable[[te.Expr, te.Expr], te.Expr], batch: te.Dim, count: te.Dim) -> tuple[te.Tensor, te.Tensor]:
    """How many of `count` rows are good in each of a batch, and which, in order, -1 behind them."""
    k, j, s = (te.reduce_axis(count, name) for name in "kjs")
    counts = te.compute((batch,), lambda b: te.sum(te.cast(good(b, k), i32), k), "valid_count")
    before = te.compute((batch, count), lambda b, i: te.sum(te.cast(good(b, j) & (j < i), i32), j), "valid_before")

    def place(b: te.IterVar, p: te.IterVar) -> te.Expr:
        here = good(b, s) & before[b, s].equal(te.cast(p, i32))
        return te.max(te.select(here, te.cast(s, i32), -1), s)

    return counts, te.compute((batch, count), place, "valid_indices")


def overlap(box: Floats, others: Floats) -> Floats:
    """The area that a box shares with each of others, over that of both; corners are in any order."""
    import numpy as np

    low, high = np.minimum(box[:2], box[2:]), np.maximum(box[:2], box[2:])
    lows, highs = np.minimum(others[:, :2], others[:, 2:]), np.maximum(others[:, :2], others[:, 2:])
    sides = (np.minimum(high, highs) - np.maximum(low, lows)).clip(0)
    shared = sides[:, 0] * sides[:, 1]
    both = (high - low).prod() + (highs - lows).prod(1) - shared
    return np.where(both > 0, shared / np.where(both > 0, both, 1), 0)


def corners(boxes: Floats, form: str) -> Floats:
    """Boxes by two corners, from that, or from their middle and their size."""
    import numpy as np

    if form == "corner":
        return boxes
    half = boxes[:, 2:4] / 2
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], 1)


@irdl_op_definition
class NonMaxSuppressionOp(RelayOp):
    """Boxes in the order of their scores, without those of which a better one of the same class covers `iou_threshold`
    or more.

    A row has its score at `score_index`, four coordinates from `coord_start` on, and its class at `id_index`,
    unless that is -1; with `force_suppress` all are of one class. The first `valid_count` rows count, the `top_k`
    best of them, and `max_output_size` are kept at most; neither of the two is a bound below 1, or below 0. Rows
    that do not score above 0 drop none and are not dropped, nor do rows of a class below 0 drop any; a threshold of
    0 or less leaves all rows, as they stand.

    The result is the rows by their scores, -1 in the place of those that are dropped, or behind the others with
    `invalid_to_bottom`; with `return_indices` it is the places of the kept ones, by `indices`, and how many they are.
    Without, `indices` may be anything.

    ```mlir
    %n = relay.constant dense<4> : tensor<2xi32>
    %i = relay.constant dense<[[0, 1, 2, 3, -1], [0, 1, 2, 3, -1]]> : tensor<2x5xi32>
    %m = relay.constant dense<3> : tensor<i32>
    %t = relay.constant dense<0.5> : tensor<f32>
    %y = relay.vision.non_max_suppression %x, %n, %i, %m, %t {return_indices = false, invalid_to_bottom = true}
       : (tensor<2x5x6xf32>, tensor<2xi32>, tensor<2x5xi32>, tensor<i32>, tensor<f32>) -> tensor<2x5x6xf32>
    ```
    """

    name = "relay.vision.non_max_suppression"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    data = operand_def(TensorType)
    valid_count = operand_def(TensorType)
    indices = operand_def(TensorType)
    max_output_size = operand_def(TensorType)
    iou_threshold = operand_def(TensorType)
    result = result_def()

    force_suppress = flag(False)
    top_k = integer(-1)
    coord_start = integer(2)
    score_index = integer(1)
    id_index = integer(0)
    return_indices = flag(True)
    invalid_to_bottom = flag(False)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        data = boxes_of(self.data, self.coord_start.value.data + 4)
        number_of(self.max_output_size, "the number of boxes")
        number_of(self.iou_threshold, "the threshold")
        batch, count, fields = data.get_shape()
        for name, at, least in (
            ("coord_start", self.coord_start, 0),
            ("score_index", self.score_index, 0),
            ("id_index", self.id_index, None),
        ):
            place = at.value.data
            if (least is not None and place < least) or (fields != DYNAMIC and place >= fields):
                raise VerifyException(f"'{name}' is {place}, and no field of {data}")
        if not _may_be_of(self.valid_count, (batch,)):
            raise VerifyException(f"{self.valid_count.type} are no counts of {data}")
        if is_true(self.return_indices) and not _may_be_of(self.indices, (batch, count)):
            raise VerifyException(f"{self.indices.type} are no places of {data}")
        if not is_true(self.return_indices):
            return [data]
        return [tuple_type(TensorType(i32, [batch, count]), TensorType(i32, [batch, 1]))]

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        data, valid, indices, most, threshold = inputs
        batches, count, fields = data.dims
        start, which = self.coord_start.value.data, self.id_index.value.data
        check_extents("the counts", valid.shape, data.shape[:1])
        if is_true(self.return_indices):
            check_extents("the places", indices.shape, data.shape[:2])
        if not at_most(max(start + 4, which + 1, self.score_index.value.data + 1), fields):
            raise VerifyException(f"a box of {fields} fields has none of some numbers")
        limit, iou = most[(0,) * most.rank], te.cast(threshold[(0,) * threshold.rank], data.element_type)
        top = self.top_k.value.data

        def fill(do: te.Steps, rows: te.Tensor, places: te.Tensor, found: te.Tensor, *scratch: te.Tensor) -> None:
            (b,) = do.axes
            left, winners, state, of_heap = scratch
            rank, won, dropped = (state[b, n] for n in range(3))

            def score(at: te.Expr) -> te.Read:
                return data[b, at, self.score_index.value.data]

            def keep(at: te.Expr, to: te.Expr) -> None:
                row = te.as_index(to) if not is_true(self.invalid_to_bottom) else te.as_index(found[b, 0])
                with do.loop(te.dim_expr(fields)) as f:
                    do.store(rows[b, row, f], data[b, at, f])
                if is_true(self.return_indices):
                    do.store(places[b, te.as_index(found[b, 0])], te.cast(indices[b, at], i32))
                do.store(found[b, 0], found[b, 0] + 1)

            def drop_if_covered(at: te.Expr) -> None:
                """Whether a better box of the class covers one."""
                mine = [data[b, at, start + n] for n in range(4)]
                do.store(dropped, 0)
                with do.loop(te.as_index(won)) as w:
                    other = do.let(te.as_index(winners[b, w]), "other")
                    share = ratio(*shared_area(do, mine, [data[b, other, start + n] for n in range(4)]))
                    covers = share >= iou
                    if which >= 0:
                        covers = covers & (data[b, other, which] >= 0)
                        if not is_true(self.force_suppress):
                            covers = covers & data[b, other, which].equal(data[b, at, which])
                    with do.when(covers):
                        do.store(dropped, 1)

            given = do.let(te.maximum(te.minimum(te.cast(valid[b], te.index), te.dim_expr(count)), 0), "given")
            with do.loop(te.dim_expr(count)) as i:
                do.store(places[b, i], -1)
                do.store(left[b, i], te.cast(i, i32))
                with do.loop(te.dim_expr(fields)) as f:
                    do.store(rows[b, i, f], -1)
            with do.when(~(iou > 0)):
                with do.loop(given) as i:
                    keep(i, i)

            def is_better(one: te.Expr, other: te.Expr) -> te.Expr:
                """Of equal ones the first is; what has no score is the worst."""
                mine, its = score(te.as_index(one)), score(te.as_index(other))
                equal = mine.equal(its) | (is_nan(mine) & is_nan(its))
                return (mine > its) | (is_nan(its) & ~is_nan(mine)) | (equal & (one < other))

            heap = Heap(lambda place: left[b, te.as_index(place)], is_better, (of_heap[b, 0], of_heap[b, 1]))
            root = te.const(0, i64)
            with do.when(iou > 0):
                heap.build(do, te.cast(given, i64))
            do.store(rank, 0)
            do.store(won, 0)
            ranks = given if top <= 0 else te.minimum(given, top)
            going = (te.cast(rank, te.index) < ranks) & te.cast(won, i64).not_equal(te.cast(limit, i64))
            with do.while_(going & (iou > 0)):
                chosen = do.let(te.as_index(heap.at(root)), "chosen")
                others = do.let(te.cast(given, i64) - te.cast(rank, i64) - 1, "others")
                with do.when(others > 0):
                    heap.sink(do, do.let(heap.at(others), "last"), root, others)
                do.store(dropped, 0)
                with do.when(score(chosen) > 0):
                    drop_if_covered(chosen)
                with do.when(dropped.equal(0)):
                    with do.when(score(chosen) > 0):
                        do.store(winners[b, te.as_index(won)], te.cast(chosen, i32))
                        do.store(won, won + 1)
                    keep(chosen, rank)
                do.store(rank, rank + 1)

        vector = (batches, count)
        made = te.procedure(
            [(data.dims, data.element_type, "rows"), (vector, i32, "places"), ((batches, 1), i32, "found")],
            fill,
            [
                (vector, i32, "left"),
                (vector, i32, "winners"),
                ((batches, 3), i32, "state"),
                ((batches, 2), i64, "heap"),
            ],
            over=(batches,),
        )
        return made[1:] if is_true(self.return_indices) else made[:1]

    def numpy(self, *inputs: NDArray) -> NDArray | Sequence[NDArray]:
        import numpy as np

        data, counts, indices = inputs[:3]
        most, threshold = int(inputs[3].item()), float(inputs[4].item())
        rows, places = np.full_like(data, -1), np.full(data.shape[:2], -1, np.int32)
        found = np.zeros((data.shape[0], 1), np.int32)
        for b, count in enumerate(counts.tolist()):
            kept = self._kept(cast("Floats", data[b, : max(count, 0)]), most, threshold)
            for number, (rank, at) in enumerate(kept):
                rows[b, number if is_true(self.invalid_to_bottom) else rank] = data[b, at]
                if is_true(self.return_indices):
                    places[b, number] = indices[b, at]
            found[b] = len(kept)
        return [places, found] if is_true(self.return_indices) else rows

    def _kept(self, rows: Floats, most: int, threshold: float) -> list[tuple[int, int]]:
        """The rows that are kept, best first: the place of each by its score, and where it stands."""
        import numpy as np

        if threshold <= 0:
            return [(at, at) for at in range(len(rows))]
        scores, start, which = (
            rows[:, self.score_index.value.data],
            self.coord_start.value.data,
            self.id_index.value.data,
        )
        order = np.argsort(-scores, kind="stable")
        if self.top_k.value.data > 0:
            order = order[: self.top_k.value.data]
        boxes = rows[:, start : start + 4]
        kept: list[tuple[int, int]] = []
        winners: list[int] = []
        for rank, at in enumerate(order.tolist()):
            if len(winners) == most:
                break
            if scores[at] > 0:
                rivals = [other for other in winners if self._competes(rows[at], rows[other], which)]
                if (overlap(boxes[at], boxes[rivals]) >= threshold).any():
                    continue
                winners.append(at)
            kept.append((rank, at))
        return kept

    def _competes(self, row: Floats, other: Floats, which: int) -> bool:
        """Whether a better row `other` may drop a row."""
        return which < 0 or bool(other[which] >= 0 and (is_true(self.force_suppress) or other[which] == row[which]))


def span(x: te.Expr, y: te.Expr) -> tuple[te.Expr, te.Expr]:
    """The lesser and the greater of two coordinates."""
    return te.minimum(x, y), te.maximum(x, y)


def shared_area(do: te.Steps, one: Sequence[te.Expr], other: Sequence[te.Expr]) -> tuple[te.Expr, te.Expr]:
    """The area that two boxes share, and that of both; coordinates are two corners in any order."""
    sides: list[te.Expr] = []
    areas: list[te.Expr] = []
    for box in (one, other):
        (low_x, high_x), (low_y, high_y) = span(box[0], box[2]), span(box[1], box[3])
        areas.append((high_x - low_x) * (high_y - low_y))
    for axis in (0, 1):
        (low, high), (its_low, its_high) = span(one[axis], one[axis + 2]), span(other[axis], other[axis + 2])
        sides.append(te.maximum(te.minimum(high, its_high) - te.maximum(low, its_low), 0))
    shared = do.let(sides[0] * sides[1], "shared")
    return shared, do.let(areas[0] + areas[1] - shared, "both")


def is_nan(x: te.Expr) -> te.Expr:
    """Whether a number is none."""
    return te.unary(te.UnaryKind.ISNAN, x)


def ratio(shared: te.Expr, both: te.Expr) -> te.Expr:
    """The share of two boxes that is in both of them; 0 where there is no area."""
    return te.select(both > 0, shared / te.select(both > 0, both, 1), 0)


@irdl_op_definition
class AllClassNonMaxSuppressionOp(RelayOp):
    """For each batch and class the boxes in the order of their scores, without those that score below a threshold, or of
    which a better one covers more than `iou_threshold`; ONNX's NonMaxSuppression.

    The result is rows (batch, class, box) and how many there are; the other rows are 0. In the format "tensorflow" it is
    (class, box) for each batch, class after class, their scores, and how many each batch has.

    ```mlir
    %m = relay.constant dense<2> : tensor<i64>
    %t = relay.constant dense<0.5> : tensor<f32>
    %y = relay.vision.all_class_non_max_suppression %boxes, %scores, %m, %t, %t
       : (tensor<1x4x4xf32>, tensor<1x2x4xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tuple<tensor<8x3xi64>, tensor<1xi64>>
    ```
    """  # noqa: E501

    name = "relay.vision.all_class_non_max_suppression"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    boxes = operand_def(TensorType)
    scores = operand_def(TensorType)
    max_output_boxes_per_class = operand_def(TensorType)
    iou_threshold = operand_def(TensorType)
    score_threshold = operand_def(TensorType)
    result = result_def()

    output_format = string("onnx")
    box_format = string("corner")

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        boxes, scores = boxes_of(self.boxes, 4), tensor(self.scores)
        one_of(self.output_format.data, ("onnx", "tensorflow"), "output_format")
        one_of(self.box_format.data, ("corner", "center"), "box_format")
        for value in self.operands[2:]:
            number_of(value, "a threshold or a number of boxes")
        batch, count, fields = boxes.get_shape()
        if fields not in (4, DYNAMIC):
            raise VerifyException(f"expected boxes of 4 numbers, got {boxes}")
        if len(scores.get_shape()) != 3 or not isinstance(scores.element_type, AnyFloat):
            raise VerifyException(f"expected scores [batch, classes, boxes] of floats, got {scores}")
        if any(
            DYNAMIC not in pair and pair[0] != pair[1]
            for pair in zip((batch, count), scores.get_shape()[::2], strict=True)
        ):
            raise VerifyException(f"{scores} are no scores of {boxes}")
        classes = scores.get_shape()[1]
        per_batch = DYNAMIC if DYNAMIC in (count, classes) else classes * count
        if self.output_format.data == "tensorflow":
            rows = TensorType(i64, [batch, per_batch, 2])
            return [tuple_type(rows, TensorType(scores.element_type, [batch, per_batch]), TensorType(i64, [batch]))]
        total = DYNAMIC if DYNAMIC in (batch, per_batch) else batch * per_batch
        return [tuple_type(TensorType(i64, [total, 3]), TensorType(i64, [1]))]

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        boxes, scores, most, iou, least = inputs
        check_extents("the boxes", boxes.shape, [*scores.shape[::2], 4])
        kept, counts = self._kept(boxes, scores, *(each[(0,) * each.rank] for each in (most, iou, least)))
        batches, classes, _ = map(te.dim_expr, scores.dims)
        if self.output_format.data == "onnx":

            def list_all(do: te.Steps, rows: te.Tensor, total: te.Tensor) -> None:
                with do.loop(batches) as b, do.loop(classes) as c:
                    with do.loop(te.as_index(counts[b * classes + c])) as k:
                        at = te.as_index(total[0])
                        for field, value in enumerate((te.cast(b, i64), te.cast(c, i64), kept[b * classes + c, k])):
                            do.store(rows[at, field], te.cast(value, i64))
                        do.store(total[0], total[0] + 1)

            rows = te.product(scores.dims)
            return te.procedure([((rows, 3), i64, "rows"), ((1,), i64, "total")], list_all)

        def list_each(do: te.Steps, rows: te.Tensor, chosen: te.Tensor, totals: te.Tensor) -> None:
            with do.loop(batches) as b:
                with do.loop(classes) as c, do.loop(te.as_index(counts[b * classes + c])) as k:
                    at, box = te.as_index(totals[b]), do.let(kept[b * classes + c, k], "box")
                    do.store(rows[b, at, 0], te.cast(c, i64))
                    do.store(rows[b, at, 1], te.cast(box, i64))
                    do.store(chosen[b, at], scores[b, c, te.as_index(box)])
                    do.store(totals[b], totals[b] + 1)

        per_batch = (scores.dims[0], te.product(scores.dims[1:]))
        return te.procedure(
            [
                ((*per_batch, 2), i64, "rows"),
                (per_batch, scores.element_type, "chosen"),
                (per_batch[:1], i64, "totals"),
            ],
            list_each,
        )

    def _kept(
        self, boxes: te.Tensor, scores: te.Tensor, most: te.Expr, iou: te.Expr, least: te.Expr
    ) -> list[te.Tensor]:
        """For each batch and class, one after the other, the boxes that are kept, and how many they are."""
        _, classes, count = scores.dims
        element = boxes.element_type

        def corners_of(do: te.Steps, b: te.Expr, at: te.Expr) -> list[te.Expr]:
            fields = [do.let(boxes[b, at, f], "side") for f in range(4)]
            if self.box_format.data == "corner":
                return list(fields)
            half = [fields[2] * 0.5, fields[3] * 0.5]
            return [fields[0] - half[0], fields[1] - half[1], fields[0] + half[0], fields[1] + half[1]]

        def fill(do: te.Steps, kept: te.Tensor, counts: te.Tensor, left: te.Tensor, state: te.Tensor) -> None:
            (row,) = do.axes
            b, c = do.let(row // te.dim_expr(classes), "b"), do.let(row % te.dim_expr(classes), "c")
            remaining, dropped, *of_heap = (state[row, n] for n in range(4))

            def is_better(one: te.Expr, other: te.Expr) -> te.Expr:
                """Of equal boxes the first one is."""
                mine, its = (scores[b, c, te.as_index(box)] for box in (one, other))
                return (mine > its) | (mine.equal(its) & (one < other))

            heap = Heap(lambda place: left[row, te.as_index(place)], is_better, (of_heap[0], of_heap[1]))
            root = te.const(0, i64)
            do.store(remaining, 0)
            with do.loop(te.dim_expr(count)) as i:
                with do.when(scores[b, c, i] > te.cast(least, scores.element_type)):
                    do.store(heap.at(remaining), te.cast(i, i32))
                    do.store(remaining, remaining + 1)
            heap.build(do, remaining)
            with do.while_((remaining > 0) & (te.cast(counts[row], i64) < te.cast(most, i64))):
                chosen = do.let(heap.at(root), "chosen")
                do.store(remaining, remaining - 1)
                with do.when(remaining > 0):
                    heap.sink(do, do.let(heap.at(remaining), "last"), root, remaining)
                mine = corners_of(do, b, te.as_index(chosen))
                do.store(dropped, 0)
                with do.loop(te.as_index(counts[row])) as k, do.when(dropped.equal(0)):
                    share = ratio(*shared_area(do, corners_of(do, b, te.as_index(kept[row, k])), mine))
                    do.store(dropped, te.cast(share > te.cast(iou, element), i64))
                with do.when(dropped.equal(0)):
                    do.store(kept[row, te.as_index(counts[row])], chosen)
                    do.store(counts[row], counts[row] + 1)

        rows = te.product(scores.dims[:2])
        return te.procedure(
            [((rows, count), i32, "kept"), ((rows,), i32, "counts")],
            fill,
            [((rows, count), i32, "left"), ((rows, 4), i64, "state")],
            over=(rows,),
        )

    def numpy(self, *inputs: NDArray) -> Sequence[NDArray]:
        import numpy as np

        boxes, scores = inputs[:2]
        most, iou, least = (value.item() for value in inputs[2:])
        batches, classes, count = scores.shape
        rows: list[list[tuple[int, int]]] = []
        for b in range(batches):
            places = corners(cast("Floats", boxes[b]), self.box_format.data)
            found: list[tuple[int, int]] = []
            for c in range(classes):
                kept: list[int] = []
                for at in np.argsort(-scores[b, c], kind="stable").tolist():
                    if len(kept) < most and scores[b, c, at] > least:
                        if not (overlap(places[at], places[kept]) > iou).any():
                            kept.append(at)
                found += [(c, at) for at in kept]
            rows.append(found)
        if self.output_format.data == "onnx":
            flat = [(b, *row) for b, found in enumerate(rows) for row in found]
            indices = np.zeros((batches * classes * count, 3), np.int64)
            if flat:
                indices[: len(flat)] = flat
            return [indices, np.array([len(flat)], np.int64)]
        indices = np.zeros((batches, classes * count, 2), np.int64)
        chosen = np.zeros((batches, classes * count), scores.dtype)
        for b, found in enumerate(rows):
            if found:
                indices[b, : len(found)] = found
                chosen[b, : len(found)] = [scores[b][row] for row in found]
        return [indices, chosen, np.array([len(found) for found in rows], np.int64)]


OPS: list[type[Operation]] = [GetValidCountsOp, NonMaxSuppressionOp, AllClassNonMaxSuppressionOp]
"""The operators on boxes that were found."""
