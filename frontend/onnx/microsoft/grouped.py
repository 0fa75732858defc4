"""Attention in which groups of heads share their keys and values, which are kept from call to call: as decoders that
ONNX Runtime's builder of models writes have it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ....dialects import te
from ....dialects.relay.base import shape_of, tensor
from ....dialects.te.dims import as_dim
from ..errors import Malformed, Unsupported
from ..linear import product, swap_last
from ..node import Converter, Node, rank_of
from ..shapes import positions
from ..told import extents_at
from .attention import columns_of, heads, together, turned_by


@dataclass(frozen=True)
class _Lengths:
    """What is known of the rows of a call.

    Args:
        new: how many rows are new, of each batch.
        total: the extent of the keys that are given back: all rows of the longest batch, or the rows that the given
            keys have room for.
        past: how many rows of each batch are old: `[batch]`.
        last: the last row of each batch: `[batch]`.
        places: the numbers of the new rows: `[batch, new]`.
    """

    new: te.Dim
    total: te.Dim
    past: SSAValue
    last: SSAValue
    places: SSAValue


def group_query_attention(node: Node) -> list[SSAValue | None]:
    """`query, key, value, past_key, past_value, seqlens_k, total_sequence_length, cosines, sines, places, bias, sinks`:
    each query sees the keys of its batch up to its own. Keys and values so far are outputs.

    A batch has `seqlens_k + 1` rows. In a call whose rows are all that there are so far, none of them is old; in
    another, those before the new ones are. Source: the kernel of ONNX Runtime 1.32 for processors.
    """
    _check(node)
    count, shared = node.integer("num_heads"), node.integer("kv_num_heads")
    if shared < 1 or count % shared:
        raise Malformed(f"{count} heads are not groups of {shared}")
    q, k, v = _queries_keys_values(node, count, shared)
    lengths = _lengths(node, node.dims(q)[2])
    cosines, sines = node.optional(7), node.optional(8)
    if node.integer("do_rotary", 0):
        if cosines is None or sines is None:
            raise Malformed("attribute 'do_rotary' without tables of angles (inputs 7 and 8)")
        q, k = _turned(node, (q, k), (cosines, sines), lengths.places)
    k, v = (_kept(node, node.optional(at), new, lengths) for at, new in ((3, k), (4, v)))
    return [_attended(node, (q, k, v), lengths), k, v]


def _check(node: Node) -> None:
    """
    Raises:
        Unsupported: it is something that is not built.
        Malformed: of two inputs that belong together, one is missing.
    """
    for at, what in ((9, "places that are given"), (12, "scales of keys"), (13, "scales of values")):
        if node.optional(at) is not None:
            raise Unsupported(f"{what} (input {at})")
    if any(node.optional(at) is not None for at in range(14, len(node.inputs))):
        raise Unsupported("a further input than 13")
    if node.output_used(3):
        raise Unsupported("the scores (output 3)")
    for one, other in ((1, 2), (3, 4), (7, 8)):
        if (node.optional(one) is None) != (node.optional(other) is None):
            raise Malformed(f"of the inputs {one} and {other}, one is missing")


def _queries_keys_values(node: Node, count: int, shared: int) -> list[SSAValue]:
    """Each as `[batch, heads, length, size]`; where there are no keys, they stand behind the queries."""
    query = node.input(0, rank=3)
    width = shape_of(query)[2]
    if node.optional(1) is not None:
        return [heads(node, query, count), *(heads(node, node.input(at, rank=3), shared) for at in (1, 2))]
    every = count + 2 * shared
    if width < 0 or width % every:
        raise Malformed(f"{width} numbers do not make {every} heads")
    size = width // every
    parts = columns_of(node, query, [count * size, shared * size, shared * size])
    return [heads(node, part, number) for part, number in zip(parts, (count, shared, shared), strict=True)]


def _lengths(node: Node, new: te.Dim) -> _Lengths:
    """
    Raises:
        Malformed: how many rows there are is no single number.
    """
    batch = node.dims(node.input(0))[0]
    found = extents_at(node, 6)
    if len(found) != 1:
        raise Malformed(f"input 6 must be a single number, not {len(found)}")
    (total,) = found
    last = node.cast(node.reshape_to(node.input(5), [batch]), i64)
    before = node.emit("add", last, node.extent(1 - new))
    if te.same(new, total):
        past = node.emit("subtract", last, last)
    else:
        is_first = node.emit("equal", node.extent(new), node.extent(total))
        past = node.emit("where", is_first, node.scalar(0, before), before)
    places = node.emit("add", _column(node, past, 1), positions(node, new))
    room = total
    if (given := node.optional(3)) is not None:
        held = node.dims(given)[2]
        numbers = isinstance(held, int) and isinstance(total, int)
        room = max(held, total) if numbers else as_dim(te.maximum(te.dim_expr(total), te.dim_expr(held)))
    return _Lengths(new, room, past, last, places)


def _column(node: Node, x: SSAValue, behind: int) -> SSAValue:
    """`x` with dimensions of size one behind its own."""
    return node.emit("expand_dims", x, axis=rank_of(x), num_newaxis=behind)


def _turned(
    node: Node, parts: tuple[SSAValue, SSAValue], tables: tuple[SSAValue, SSAValue], places: SSAValue
) -> list[SSAValue]:
    """Queries and keys turned by the angles of their places.

    Raises:
        Malformed: there are more angles than pairs.
    """
    half, size = node.static_shape(tables[0])[-1], shape_of(parts[0])[3]
    if 2 * half > size:
        raise Malformed(f"angles of {half} pairs do not fit {size} numbers")
    cos, sin = (
        node.emit("expand_dims", node.emit("take", table, places, axis=0, mode="clip"), axis=1) for table in tables
    )
    is_interleaved = node.integer("rotary_interleaved", 0) != 0
    return [turned_by(node, x, cos, sin, is_interleaved=is_interleaved) for x in parts]


def _kept(node: Node, old: SSAValue | None, new: SSAValue, lengths: _Lengths) -> SSAValue:
    """The old rows of each batch, behind them its new ones, and behind those zeros."""
    if old is None and te.same(lengths.new, lengths.total):
        return new
    rows, held = new, node.extent(0)
    if old is not None:
        rows, held = node.emit("concatenate", node.emitter.tuple([old, new]), axis=2), node.extent(node.dims(old)[2])
    at, past = positions(node, lengths.total), _column(node, lengths.past, 1)
    moved = node.emit("add", node.emit("subtract", at, past), held)
    source = node.emit("where", node.emit("less", at, past), at, moved)
    taken = node.emit("take", rows, source, axis=2, batch_dims=1, mode="clip")
    is_there = node.emit("less", at, node.emit("add", past, node.extent(lengths.new)))
    is_there = _column(node, node.emit("expand_dims", is_there, axis=1), 1)
    return node.emit("where", is_there, taken, node.scalar(0.0, taken))


def _attended(node: Node, parts: tuple[SSAValue, SSAValue, SSAValue], lengths: _Lengths) -> SSAValue:
    """Scores and their sums in f32, as the kernel has them; a group's queries are rows of one product."""
    q, k, v = (node.widened(part) for part in parts)
    batch, count, new, size = node.dims(q)
    shared = node.dims(k)[1]
    assert isinstance(count, int) and isinstance(shared, int) and isinstance(size, int)
    rows = te.product([count // shared, new])
    scale = node.real("scale", 0.0) or 1.0 / math.sqrt(size)
    scores = product(node, node.reshape_to(q, [batch, shared, rows, size]), swap_last(node, k))
    scores = node.reshape_to(scores, [batch, count, new, lengths.total])
    scores = _biased(node, node.emit("multiply", scores, node.scalar(scale, scores)), lengths)
    is_seen = _seen(node, lengths)
    weights = _weighted(node, node.emit("where", is_seen, scores, node.scalar(-math.inf, scores)))
    if node.integer("local_window_size", -1) > 0:  # rows behind the last one of their batch may see no key
        weights = node.emit("where", is_seen, weights, node.scalar(0.0, weights))
    weights = node.reshape_to(weights, [batch, shared, rows, lengths.total])
    y = node.reshape_to(product(node, weights, v), [batch, count, new, size])
    return together(node, node.cast(y, tensor(parts[0]).element_type))


def _biased(node: Node, scores: SSAValue, lengths: _Lengths) -> SSAValue:
    """Scores brought below a cap, and with a bias."""
    if cap := node.real("softcap", 0.0):
        part = node.emit("tanh", node.emit("divide", scores, node.scalar(cap, scores)))
        scores = node.emit("multiply", part, node.scalar(cap, scores))
    if (bias := node.optional(10)) is None:
        return scores
    bias = node.widened(bias)
    if not te.same(node.dims(bias)[3], lengths.total):  # keys that no query sees have none
        bias = node.emit("take", bias, positions(node, lengths.total), axis=3, mode="clip")
    return node.emit("add", scores, bias)


def _seen(node: Node, lengths: _Lengths) -> SSAValue:
    """Which keys a query sees: `[batch, 1, new, total]`."""
    at = positions(node, lengths.total)
    last = node.emit("minimum", lengths.places, _column(node, lengths.last, 1))
    is_seen = node.emit("less_equal", at, _column(node, last, 1))
    if (window := node.integer("local_window_size", -1)) > 0:
        before = node.emit("subtract", lengths.places, node.scalar(window, last))
        is_seen = node.emit("logical_and", is_seen, node.emit("greater", at, _column(node, before, 1)))
    return node.emit("expand_dims", is_seen, axis=1)


def _weighted(node: Node, scores: SSAValue) -> SSAValue:
    """Softmax; with sinks, or where it is smooth, as if there were one score more, of a key that has no value."""
    sinks = node.optional(11)
    if sinks is None and not node.integer("smooth_softmax", 0):
        return node.emit("nn.softmax", scores, axis=3)
    sink = node.scalar(0.0, scores)
    if sinks is not None:
        sink = node.reshape(node.widened(sinks), [1, shape_of(scores)[1], 1, 1])
    most = node.emit("maximum", node.emit("max", scores, axis=[3], keepdims=True), sink)
    each = node.emit("exp", node.emit("subtract", scores, most))
    rest = node.emit("exp", node.emit("subtract", sink, most))
    return node.emit("divide", each, node.emit("add", node.emit("sum", each, axis=[3], keepdims=True), rest))


OPERATORS: dict[str, tuple[Converter, str]] = {
    "GroupQueryAttention": (
        group_query_attention,
        "num_heads kv_num_heads scale softcap do_rotary rotary_interleaved local_window_size smooth_softmax "
        "qk_output=0 kv_cache_bit_width=0 sliding_window_cache=0 causal=1",
    ),
}
"""Operators by name: their converters, and the attributes that those read."""
