"""Reductions, softmax, and what else looks along an axis: arg-extrema, top-k, cumulative sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from xdsl.dialects.builtin import f64, i64
from xdsl.ir import SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, Value, shape_of, tensor
from ...dialects.relay.bounded import extent_of
from ...dialects.relay.ops.dynamic import DataExtentOp
from .elementwise import is_integer
from .errors import Malformed
from .node import Converter, Node, Versions, rank_of
from .told import Along, Told, axes_of, count_of, named, positions, switched, vector

Reduce = Callable[[Node, SSAValue, list[int], bool], SSAValue]
"""`(node, operand, axes, keepdims)` -> the reduced tensor."""


def reduce_by(operator: str) -> Reduce:
    """One of Relay's reductions."""
    return lambda node, x, axes, keepdims: node.emit(operator, x, axis=axes, keepdims=keepdims)


def mean(node: Node, x: SSAValue, axes: list[int], keepdims: bool) -> SSAValue:
    """The mean, which of no elements is 0 to ONNX Runtime and to exporters that write the mean of a bag so."""
    options: dict[str, Value] = {} if all(shape_of(x)[a] > 0 for a in axes) else {"none_is_zero": True}
    return node.emit("mean", x, axis=axes, keepdims=keepdims, **options)


def l1(node: Node, x: SSAValue, axes: list[int], keepdims: bool) -> SSAValue:
    return node.emit("sum", node.emit("abs", x), axis=axes, keepdims=keepdims)


def sum_of_squares(node: Node, x: SSAValue, axes: list[int], keepdims: bool) -> SSAValue:
    wide = node.widened(x)
    total = node.emit("sum", node.emit("multiply", wide, wide), axis=axes, keepdims=keepdims)
    return node.cast(total, tensor(x).element_type)


def l2(node: Node, x: SSAValue, axes: list[int], keepdims: bool) -> SSAValue:
    root = node.emit("sqrt", sum_of_squares(node, node.widened(x), axes, keepdims))
    return node.cast(root, tensor(x).element_type)


def log_sum(node: Node, x: SSAValue, axes: list[int], keepdims: bool) -> SSAValue:
    total = node.emit("sum", node.widened(x), axis=axes, keepdims=keepdims)
    return node.cast(node.emit("log", total), tensor(x).element_type)


def log_sum_exp(node: Node, x: SSAValue, axes: list[int], keepdims: bool) -> SSAValue:
    """With the maximum taken out first, so that `exp` does not overflow; an infinite one stays: inf - inf is NaN."""
    peak = node.emit("max", x, axis=axes, keepdims=True)
    if not is_integer(x):
        peak = node.emit("where", node.emit("isinf", peak), node.scalar(0.0, peak), peak)
    shifted = log_sum(node, node.emit("exp", node.emit("subtract", x, peak)), axes, True)
    result = node.emit("add", shifted, peak)
    return result if keepdims else node.emit("squeeze", result, axis=axes)


def in_floats(reduce: Reduce) -> Reduce:
    """A reduction whose roots and logarithms integers have in f64, and are then cut off, as ONNX Runtime has them."""

    def reduced(node: Node, x: SSAValue, axes: list[int], keepdims: bool) -> SSAValue:
        wide = node.cast(x, f64) if is_integer(x) else x
        return node.cast(reduce(node, wide, axes, keepdims), tensor(x).element_type)

    return reduced


def reduction(reduce: Reduce) -> Converter:
    """An ONNX reduction; `axes` is an attribute in older revisions and the second input in newer ones.

    Over no axes (a tensor of rank 0, or `noop_with_empty_axes`) each element is reduced by itself: ReduceL1 of it is
    its magnitude.
    """

    def convert(node: Node) -> SSAValue:
        x = node.input(0)
        if axes_are_told(node):
            return reduce_along(node, x, vector(node, 1), reduce)
        axes = node.integers("axes", []) if has_no_axes(node) else node.static_ints_or(1, "axes", [])
        if not axes and not node.integer("noop_with_empty_axes", 0):
            axes = list(range(rank_of(x)))
        axes = sorted({node.axis(a, rank_of(x)) for a in axes or []})
        if axes:
            return reduce(node, x, axes, bool(node.integer("keepdims", 1)))
        return reduce(node, node.emit("expand_dims", x, axis=rank_of(x), num_newaxis=1), [rank_of(x)], False)

    return convert


def axes_are_told(node: Node) -> bool:
    """Whether data decides the axes that a newer revision takes as an input."""
    if "axes" in node.attributes or has_no_axes(node):
        return False
    return node.emitter.evaluate(node.input(1)) is None


def has_no_axes(node: Node) -> bool:
    """Whether the second input is absent, or empty."""
    return (axes := node.optional(1)) is None or shape_of(axes) == (0,)


def reduce_along(node: Node, x: SSAValue, axes: Told, reduce: Reduce) -> SSAValue:
    """A reduction along axes that data decides."""
    rank = rank_of(x)
    along = Along(node, x, named(axes_of(axes, rank), rank))
    dropped = None if node.integer("keepdims", 1) else count_of(axes)
    if dropped is not None and dropped >= rank:
        return along.provided_all(reduce(node, x, list(range(rank)), False))
    return along.reduced(reduce(node, along.matrix(), [1], False), dropped)


def arg_extremum(operator: str) -> Converter:
    """ArgMax and ArgMin. ONNX counts in int64."""

    def convert(node: Node) -> SSAValue:
        x = node.input(0)
        axis = node.axis(node.integer("axis", 0), rank_of(x))
        if shape_of(x)[axis] == 0:
            raise Malformed(f"dimension {axis} is empty, and so has no extremum")
        found = node.emit(
            operator,
            x,
            axis=[axis],
            keepdims=bool(node.integer("keepdims", 1)),
            select_last_index=bool(node.integer("select_last_index", 0)),
        )
        return node.cast(found, i64)

    return convert


def softmax(operator: str) -> Converter:
    """Softmax along one axis."""

    def convert(node: Node) -> SSAValue:
        x = node.input(0)
        return node.emit(operator, x, axis=node.axis(node.integer("axis", -1), rank_of(x)))

    return convert


def softmax_of_rows(operator: str) -> Converter:
    """Before opset 13, all dimensions from `axis` on are one: the input is seen as a matrix."""

    def convert(node: Node) -> SSAValue:
        x = node.input(0)
        axis = node.axis(node.integer("axis", 1), rank_of(x))
        shape = shape_of(x)
        if prod(shape[axis + 1 :]) == 1:  # a dynamic dimension counts as -1, and never makes this 1 alone
            return node.emit(operator, x, axis=axis)
        dims = node.dims(x)
        rows = node.emit(operator, as_rows(node, x, axis), axis=1)
        return node.reshape_to(rows, dims)

    return convert


def as_rows(node: Node, x: SSAValue, axis: int) -> SSAValue:
    """`x` as a matrix: the dimensions before `axis` are one, and those from it on are."""
    dims = node.dims(x)
    return node.reshape_to(x, [te.product(dims[:axis]), te.product(dims[axis:])])


def hardmax_of(node: Node, x: SSAValue, axis: int) -> SSAValue:
    """One at the first maximum along `axis`, zero elsewhere."""
    found = node.cast(node.emit("argmax", x, axis=[axis], keepdims=True), i64)
    places = positions(node, node.dims(x)[axis])
    if later := rank_of(x) - 1 - axis:
        places = node.emit("expand_dims", places, axis=1, num_newaxis=later)
    return node.cast(node.emit("equal", found, places), tensor(x).element_type)


def hardmax(node: Node) -> SSAValue:
    x = node.input(0)
    return hardmax_of(node, x, node.axis(node.integer("axis", -1), rank_of(x)))


def hardmax_of_rows(node: Node) -> SSAValue:
    x = node.input(0)
    axis = node.axis(node.integer("axis", 1), rank_of(x))
    return node.reshape_to(hardmax_of(node, as_rows(node, x, axis), 1), node.dims(x))


def top_k(node: Node) -> list[SSAValue]:
    """`k` is an attribute before opset 10. Relay's results are sorted, which ONNX allows in either case."""
    x = node.input(0)
    axis = node.axis(node.integer("axis", -1), rank_of(x))
    options: dict[str, Value] = {"ret_type": "both", "is_ascend": not node.integer("largest", 1), "dtype": "int64"}
    if node.version >= 10 and node.emitter.evaluate(node.input(1)) is None:
        return top_of_data(node, x, axis, options)
    k = node.integer("k") if node.version < 10 else int(node.static_scalar(1))
    size = shape_of(x)[axis]
    if k < 0 or DYNAMIC != size < k:
        raise Malformed(f"{k} elements are asked for along a dimension of {size}")
    if k == 0:  # which is all of them to Relay
        none = node.emit("strided_slice", x, begin=[0], end=[0], strides=[1], axes=[axis], slice_mode="end")
        return [none, node.cast(none, i64)]
    return node.emit_tuple("topk", x, k=k, axis=axis, **options)


def top_of_data(node: Node, x: SSAValue, axis: int, options: Mapping[str, Value]) -> list[SSAValue]:
    """As many elements as is known when the graph runs; where data decides, not more than there are."""
    count = node.input(1) if rank_of(node.input(1)) else node.reshape(node.input(1), [1])
    if node.symbolic_or_none(1) is None:
        count = node.written(DataExtentOp(count, extent_of(node.written, x, axis)))
    return node.emit_tuple("dyn.topk", x, count, axis=axis, zero_is_none=True, **options)


def cumulative(operator: str) -> Converter:
    """A sum or a product up to every element, or from it on."""

    def convert(node: Node) -> SSAValue:
        x = node.input(0)
        rank = rank_of(x)
        if node.emitter.evaluate(node.input(1)) is not None:
            return along(node, x, node.axis(int(node.static_scalar(1)), rank))
        arms = [lambda axis=axis: along(node, x, axis) for axis in range(rank)]
        return switched(axes_of(vector(node, 1), rank), [*arms, lambda: x])

    def along(node: Node, x: SSAValue, axis: int) -> SSAValue:
        reverse = node.integer("reverse", 0)
        x = node.emit("reverse", x, axis=axis) if reverse else x
        total = node.emit(operator, x, axis=axis, exclusive=bool(node.integer("exclusive", 0)))
        return node.emit("reverse", total, axis=axis) if reverse else total

    return convert


CONVERTERS: dict[str, Versions] = {
    "ArgMax": {1: arg_extremum("argmax")},
    "ArgMin": {1: arg_extremum("argmin")},
    "CumProd": {1: cumulative("cumprod")},
    "CumSum": {11: cumulative("cumsum")},
    "Hardmax": {1: hardmax_of_rows, 13: hardmax},
    "LogSoftmax": {1: softmax_of_rows("nn.log_softmax"), 13: softmax("nn.log_softmax")},
    "ReduceL1": {1: reduction(l1)},
    "ReduceL2": {1: reduction(in_floats(l2))},
    "ReduceLogSum": {1: reduction(in_floats(log_sum))},
    "ReduceLogSumExp": {1: reduction(in_floats(log_sum_exp))},
    "ReduceMax": {1: reduction(reduce_by("max"))},
    "ReduceMean": {1: reduction(mean)},
    "ReduceMin": {1: reduction(reduce_by("min"))},
    "ReduceProd": {1: reduction(reduce_by("prod"))},
    "ReduceSum": {1: reduction(reduce_by("sum"))},
    "ReduceSumSquare": {1: reduction(sum_of_squares)},
    "Softmax": {1: softmax_of_rows("nn.softmax"), 13: softmax("nn.softmax")},
    "TopK": {1: top_k},
}
