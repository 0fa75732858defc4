"""Operators that read or write where indices say."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, shape_of, tensor
from ...dialects.relay.bounded import flattened, nonzero, places_of, unique_rows
from ...dialects.support.advice import give_shapes
from ...dialects.support.dtypes import dtype_name
from .errors import Malformed, Unsupported
from .node import Node, Versions, rank_of
from .told import Told, up_to

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def _integers(node: Node, value: SSAValue) -> npt.NDArray[np.integer] | None:
    """What integers are, if that follows from constants."""
    return cast("npt.NDArray[np.integer] | None", node.emitter.evaluate(value))


def from_front(node: Node, indices: SSAValue, size: te.Dim) -> SSAValue:
    """`indices` into a dimension of `size`, which may be made of symbols, with negative ones counted from the front.

    Raises:
        Unsupported: the dimension is dynamic.
    """
    import numpy as np

    known = _integers(node, indices)
    if known is not None and (known >= 0).all():
        return indices
    if isinstance(size, int):
        if known is not None:
            return node.constant(np.where(known < 0, known + size, known))
        if size < 0:
            raise Unsupported("indices into a dynamic dimension", give_shapes())
        extent = node.scalar(size, indices)
    else:
        extent = node.cast(node.extent(size), tensor(indices).element_type)
    negative = node.emit("less", indices, node.scalar(0, indices))
    return node.emit("where", negative, node.emit("add", indices, extent), indices)


def are_inside(node: Node, indices: SSAValue, extents: Sequence[int]) -> bool:
    """Whether `indices` are known, and all lie inside of an axis of one of `extents`, counted from either end; there
    is an extent for all, or one for each component in the last dimension."""
    import numpy as np

    known = node.emitter.evaluate(indices)
    if known is None or DYNAMIC in extents:
        return False
    if len(extents) not in (1, known.shape[-1] if known.ndim else 1):
        return False  # components that no axis is for: the operator says what is wrong
    ends = np.asarray(extents)
    return bool(np.all((known >= -ends) & (known < ends)))


def gather(node: Node) -> SSAValue:
    return take_along(node, node.axis(node.integer("axis", 0), rank_of(node.input(0))))


def take_along(node: Node, axis: int) -> SSAValue:
    """`numpy.take`. Wrapping makes negative indices count from the end; only what may lie outside is checked."""
    x, indices = node.input(0), node.input(1)
    mode = "wrap" if are_inside(node, indices, shape_of(x)[axis : axis + 1]) else "error"
    return node.emit("take", x, indices, axis=axis, mode=mode)


def gather_elements(node: Node) -> SSAValue:
    """`numpy.take_along_axis`; Relay's operator counts negative indices from the end."""
    x, indices = node.input(0), node.input(1)
    axis = node.axis(node.integer("axis", 0), rank_of(x))
    mode = "clip" if are_inside(node, indices, shape_of(x)[axis : axis + 1]) else "error"
    return node.emit("gather", x, indices, axis=axis, mode=mode)


def leading_tuples(node: Node, indices: SSAValue) -> SSAValue:
    """ONNX keeps the components of an index in the last dimension, Relay in the first."""
    rank = rank_of(indices)
    return node.emit("transpose", indices, axes=[rank - 1, *range(rank - 1)])


def gather_nd(node: Node) -> SSAValue:
    x, indices = node.input(0), node.input(1, at_least=1)
    batch = node.integer("batch_dims", 0)
    if (components := shape_of(indices)[-1]) == DYNAMIC:
        node.static_shape(indices)
    mode = "clip" if are_inside(node, indices, shape_of(x)[batch : batch + components]) else "error"
    tuples = leading_tuples(node, indices)
    return node.emit("gather_nd", x, tuples, batch_dims=batch, index_rank=components, mode=mode)


_REDUCTIONS = {"none": "update", "add": "add", "mul": "mul", "min": "min", "max": "max"}


def reduction_of(node: Node, updates: SSAValue) -> str:
    """How `updates` are brought in. Truth values that are added are true where one of them is, as NumPy's are; `relay`
    adds numbers of one bit."""
    reduction = node.choice("reduction", _REDUCTIONS, "none")
    return "max" if reduction == "add" and tensor(updates).element_type == i1 else reduction


def scatter_elements(node: Node) -> SSAValue:
    x, indices, updates = (node.input(i) for i in range(3))
    axis = node.axis(node.integer("axis", 0), rank_of(x))
    policy = "drop" if are_inside(node, indices, shape_of(x)[axis : axis + 1]) else "error"
    reduction = reduction_of(node, updates)
    return node.emit("scatter_elements", x, indices, updates, axis=axis, reduction=reduction, out_of_range=policy)


def scatter_nd(node: Node) -> SSAValue:
    x, indices, updates = node.input(0), node.input(1, at_least=1), node.input(2)
    mode = reduction_of(node, updates)
    components = shape_of(indices)[-1]
    known = components != DYNAMIC and are_inside(node, indices, shape_of(x)[:components])
    policy = "drop" if known else "error"
    return node.emit("scatter_nd", x, leading_tuples(node, indices), updates, mode=mode, out_of_range=policy)


def one_hot(node: Node) -> SSAValue:
    indices, values = node.input(0), node.input(2, rank=1)
    if shape_of(values) != (2,):
        raise Malformed(f"input 2 holds the values off and on, but has shape {list(shape_of(values))}")
    axis = node.axis(node.integer("axis", -1), rank_of(indices) + 1)
    known = node.emitter.evaluate(values)
    if known is not None:
        off, on = node.constant(known[0:1].reshape(())), node.constant(known[1:2].reshape(()))
    else:
        off, on = (node.reshape(part, []) for part in node.emit_tuple("split", values, indices_or_sections=2, axis=0))
    told = node.symbolic_or_none(1)
    if told is None:
        depth = Told(node, node.reshape(node.cast(node.input(1), i64), [1]))
        return marked(node, node.cast(indices, i64), depth, axis, on, off)
    if len(told) != 1:
        raise Malformed(f"input 1 must be a single number, but has {len(told)}")
    depth = told[0]
    positions = from_front(node, node.cast(indices, i64), depth)
    dtype = dtype_name(tensor(values).element_type)
    if isinstance(depth, int):
        return node.emit("one_hot", positions, on, off, depth=depth, axis=axis, dtype=dtype)
    return node.emit("dyn.one_hot", positions, on, off, node.extent(depth), axis=axis, dtype=dtype)


def marked(node: Node, indices: SSAValue, depth: Told, axis: int, on: SSAValue, off: SSAValue) -> SSAValue:
    """Along a new axis of an extent that data decides, `on` where an index says so."""
    given = Told(node, indices)
    places = (given < 0).where(given + depth.number(), given)
    numbers, behind = up_to(node, depth.provided(depth >= 0)).value, rank_of(indices) - axis
    if behind:
        numbers = node.emit("expand_dims", numbers, axis=1, num_newaxis=behind)
    return node.emit("where", node.emit("equal", node.emit("expand_dims", places.value, axis=axis), numbers), on, off)


def reverse_sequence(node: Node) -> SSAValue:
    """Sequences of different lengths, each reversed up to its length, which is checked where it may be wrong."""
    x, lengths = node.input(0, at_least=2), node.input(1, rank=1)
    time, batch = (node.axis(node.integer(f"{what}_axis", i), rank_of(x)) for i, what in enumerate(("time", "batch")))
    known, extent = _integers(node, lengths), shape_of(x)[time]
    fits = known is not None and extent != DYNAMIC and bool(((known >= 0) & (known <= extent)).all())
    policy = "clip" if fits else "error"
    return node.emit("reverse_sequence", x, lengths, seq_axis=time, batch_axis=batch, out_of_range=policy)


def tensor_scatter(node: Node) -> SSAValue:
    """A cache with rows written from an index of each batch on; a circular one goes on at its begin, in another they
    may not go beyond the end."""
    import numpy as np

    cache, update, starts = node.input(0, at_least=2), node.input(1), node.optional(2)
    axis = node.axis(node.integer("axis", -2), rank_of(cache))
    circular = node.choice("mode", {"linear": False, "circular": True}, "linear")
    shape, written = node.static_shape(cache), node.static_shape(update)
    if not axis or len(shape) != len(written) or written[axis] > shape[axis]:
        raise Malformed(f"rows of {list(written)} cannot be written into {list(shape)} along axis {axis}")
    rows = node.constant(np.arange(shape[axis]).reshape(1, -1))
    first = node.constant(np.zeros(shape[0], np.int64)) if starts is None else node.cast(starts, i64)
    if (
        starts is not None and not circular and written[axis]
    ):  # the last row that is written has to be one of the cache's
        span = node.scalar(written[axis] - 1, first)
        every = node.constant(np.arange(shape[axis]))
        first = node.emit("subtract", node.emit("take", every, node.emit("add", first, span), mode="error"), span)
    places = node.emit("subtract", rows, node.reshape(first, [shape[0], 1]))
    if circular:
        places = node.emit("floor_mod", places, node.scalar(shape[axis], places))
    inside = node.emit(
        "logical_and",
        node.emit("greater_equal", places, node.scalar(0, places)),
        node.emit("less", places, node.scalar(written[axis], places)),
    )
    taken = node.emit("take", update, places, axis=axis, batch_dims=1, mode="clip")
    mask = [n if d in (0, axis) else 1 for d, n in enumerate(shape)]
    return node.emit("where", node.reshape(inside, mask), taken, cache)


def compress(node: Node) -> SSAValue:
    """The slices along an axis, or the elements, where a condition is true."""
    import numpy as np

    x, condition = node.input(0, at_least=1), node.input(1, rank=1)
    axis = node.axis(node.integer("axis"), rank_of(x)) if "axis" in node.attributes else 0
    if "axis" not in node.attributes:
        x = flattened(node.written, x)
    extent, known = shape_of(x)[axis], node.emitter.evaluate(condition)
    if known is None:
        longest = shape_of(condition)[0]
        mode = "clip" if DYNAMIC not in (extent, longest) and longest <= extent else "error"
        return node.emit("take", x, places_of(node.written, condition), axis=axis, mode=mode)
    kept = np.flatnonzero(known)
    if extent != DYNAMIC and kept.size and kept[-1] >= extent:
        raise Malformed(f"the condition is true at {kept[-1]}, beyond the {extent} slices that there are")
    mode = "error" if extent == DYNAMIC else "clip"
    return node.emit("take", x, node.constant(kept.astype(np.int64)), axis=axis, mode=mode)


def non_zero(node: Node) -> SSAValue:
    """The places of what is not zero, a row for each dimension; one of a scalar."""
    import numpy as np

    if (known := node.emitter.evaluate(node.input(0))) is None:
        return nonzero(node.written, node.input(0))
    x = np.atleast_1d(known)
    return node.constant(np.array(np.nonzero(x), np.int64).reshape(x.ndim, -1))


def unique(node: Node) -> list[SSAValue]:
    """The different elements, or slices along an axis: these, where each first stands, which of them each is, and how
    often it stands."""
    x, is_sorted = node.input(0), bool(node.integer("sorted", 1))
    if "axis" in node.attributes:
        return unique_slices(node, x, node.axis(node.integer("axis"), rank_of(x)), is_sorted)
    x = flattened(node.written, node.input(0, at_least=1) if rank_of(x) else node.reshape(x, [1]))
    return unique_slices(node, x, 0, is_sorted)


def unique_slices(node: Node, x: SSAValue, axis: int, is_sorted: bool) -> list[SSAValue]:
    """What `Unique` gives of the slices of `x` along `axis`; unless sorted, in the order in which they first stand."""
    rows = node.emit("transpose", x, axes=[axis, *(d for d in range(rank_of(x)) if d != axis)])
    if rank_of(rows) == 1:
        rows = node.emit("expand_dims", rows, axis=1)
    elif rank_of(rows) > 2:
        rows = node.reshape(rows, [shape_of(rows)[0], prod(node.static_shape(rows)[1:])])
    places, counts, which, _ = unique_rows(node.written, rows, is_sorted)
    return [node.emit("take", x, places, axis=axis, mode="clip"), places, which, counts]


CONVERTERS: dict[str, Versions] = {
    "Compress": {9: compress},
    "Gather": {1: gather},
    "GatherElements": {11: gather_elements},
    "GatherND": {11: gather_nd},
    "NonZero": {9: non_zero},
    "OneHot": {9: one_hot},
    "ReverseSequence": {10: reverse_sequence},
    "Scatter": {9: scatter_elements},
    "ScatterElements": {11: scatter_elements},
    "ScatterND": {11: scatter_nd},
    "Unique": {11: unique},
    "TensorScatter": {24: tensor_scatter},
}
