"""Attention of several heads, as optimisers of transformers write it, and the turning of places into angles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ....dialects import te
from ....dialects.relay.base import shape_of, tensor
from ..errors import Malformed, Unsupported
from ..linear import product, swap_last
from ..node import Converter, Node, rank_of
from ..told import positions

MASKED = -10000.0
"""What is added to scores that a mask leaves out, where the node does not say."""


def heads(node: Node, x: SSAValue, count: int) -> SSAValue:
    """`[batch, length, count * size]` as `[batch, count, length, size]`."""
    batch, length, width = node.dims(x)
    if not isinstance(width, int) or count < 1 or width % count:
        raise Malformed(f"{shape_of(x)[-1]} numbers do not make {count} heads")
    apart = node.reshape_to(x, [batch, length, count, width // count])
    return node.emit("transpose", apart, axes=[0, 2, 1, 3])


def together(node: Node, x: SSAValue) -> SSAValue:
    """`heads`, the other way."""
    batch, count, length, size = node.dims(x)
    rows = node.emit("transpose", x, axes=[0, 2, 1, 3])
    return node.reshape_to(rows, [batch, length, te.product([count, size])])


def attended(
    node: Node,
    parts: tuple[SSAValue, SSAValue, SSAValue],
    before: te.Dim,
    mask: SSAValue | None,
    bias: SSAValue | None,
) -> SSAValue:
    """`softmax(scale * q @ k.T + masked + bias) @ v` of each head, and the heads put together; `before` are the keys
    of the past, which every query sees. Floats of 16 bits are computed with in 32, as ONNX Runtime has it: what a mask
    adds would leave nothing of the scores."""
    q, k, v = (node.widened(part) for part in parts)
    *_, length, size = node.dims(q)
    if not isinstance(size, int):
        raise Unsupported("heads of an open size")
    scale = node.real("scale", 0.0) or 1.0 / math.sqrt(size)
    scores = node.emit("multiply", product(node, q, swap_last(node, k)), node.scalar(scale, q))
    if mask is not None:
        left_out = node.scalar(node.real("mask_filter_value", MASKED), q)
        terms = node.emit("where", passing(node, mask, node.dims(scores)), node.scalar(0.0, q), left_out)
        scores = node.emit("add", scores, terms)
    if bias is not None:
        scores = node.emit("add", scores, node.widened(bias))
    if node.integer("unidirectional", 0):
        rows = node.emit("expand_dims", positions(node, length), axis=1, num_newaxis=1)
        last = node.emit("add", rows, node.extent(before))
        seen = node.emit("less_equal", positions(node, node.dims(k)[2]), last)
        scores = node.emit("where", seen, scores, node.scalar(-math.inf, q))
    y = product(node, node.emit("nn.softmax", scores, axis=3), v)
    return together(node, node.cast(y, tensor(parts[0]).element_type))


def passing(node: Node, mask: SSAValue, scores: Sequence[te.Dim]) -> SSAValue:
    """Which scores a mask lets pass: one for each key, or each query and key, where it is above 0; or the number of
    keys of each batch, and behind those the first key of each.

    Raises:
        Unsupported: it has another form.
    """
    batch, _, _, total = scores
    match node.dims(mask):
        case (_, 1) if not te.same(total, 1):  # ONNX Runtime takes it for no mask
            raise Unsupported("a mask of one key")
        case (_, keys) if not te.same(keys, total):
            raise Unsupported(f"a mask of shape {list(shape_of(mask))}")
        case (_, _):
            above = node.emit("greater", mask, node.scalar(0, mask))
            return node.emit("expand_dims", above, axis=1, num_newaxis=2)
        case (_, _, _):
            above = node.emit("greater", mask, node.scalar(0, mask))
            return node.emit("expand_dims", above, axis=1, num_newaxis=1)
        case (count,) if te.same(count, batch) or te.same(count, batch * 2):
            keys = node.cast(positions(node, total), tensor(mask).element_type)
            parts = [mask] if te.same(count, batch) else node.emit_tuple("split", mask, indices_or_sections=2, axis=0)
            columns = [node.emit("expand_dims", part, axis=1, num_newaxis=1) for part in parts]
            found = node.emit("less", keys, columns[0])
            if len(columns) == 2:
                found = node.emit("logical_and", found, node.emit("greater_equal", keys, columns[1]))
            return node.emit("expand_dims", found, axis=1, num_newaxis=2)
        case _:
            raise Unsupported(f"a mask of shape {list(shape_of(mask))}")


def columns_of(node: Node, x: SSAValue, widths: Sequence[int]) -> list[SSAValue]:
    """The parts of the last dimension of `x`, of these widths.

    Raises:
        Malformed: they are not all of it.
    """
    if sum(widths) != shape_of(x)[-1]:
        raise Malformed(f"parts of {list(widths)} are not {shape_of(x)[-1]} numbers")
    ends = list(accumulate(widths, initial=0))
    return [part_of(node, x, begin, end) for begin, end in pairwise(ends)]


def part_of(node: Node, x: SSAValue, begin: int, end: int, step: int = 1) -> SSAValue:
    """Some of the last dimension of `x`."""
    axes = [rank_of(x) - 1]
    return node.emit("strided_slice", x, begin=[begin], end=[end], strides=[step], axes=axes, slice_mode="end")


def behind(node: Node, past: SSAValue | None, new: SSAValue) -> SSAValue:
    """Keys or values of the past, and new ones behind them."""
    return new if past is None else node.emit("concatenate", node.emitter.tuple([past, new]), axis=2)


def attention(node: Node) -> list[SSAValue | None]:
    """`input, weights, bias, mask, past, attention_bias`: queries, keys and values are one product of the input; what
    is known of keys and values then is the second output."""
    x, weights = node.input(0, rank=3), node.input(1, rank=2)
    if node.optional(6) is not None:
        raise Unsupported("a past in a buffer that is shared (input 6)")
    projected = product(node, x, weights)
    if (bias := node.optional(2)) is not None:
        projected = node.emit("add", projected, bias)
    return attended_product(node, projected, node.optional(3), node.optional(4), node.optional(5))


def attended_product(
    node: Node, projected: SSAValue, mask: SSAValue | None, past: SSAValue | None, bias: SSAValue | None
) -> list[SSAValue | None]:
    """Attention of queries, keys and values that stand beside one another, and keys and values so far."""
    count, width = node.integer("num_heads"), shape_of(projected)[2]
    widths = node.integers("qkv_hidden_sizes", [width // 3] * 3)
    if len(widths) != 3:
        raise Malformed(f"attribute 'qkv_hidden_sizes' is {widths}")
    q, k, v = (heads(node, part, count) for part in columns_of(node, projected, widths))
    before: te.Dim = 0
    if past is not None:
        old = (node.emit("take", past, node.extent(which), axis=0, mode="clip") for which in (0, 1))
        k, v = (behind(node, earlier, new) for earlier, new in zip(old, (k, v), strict=True))
        before = node.dims(past)[3]
    present = node.emit("stack", node.emitter.tuple([k, v]), axis=0) if node.output_used(1) else None
    return [attended(node, (q, k, v), before, mask, bias), present]


def multi_head_attention(node: Node) -> list[SSAValue | None]:
    """`query, key, value, bias, mask, attention_bias, past_key, past_value`; keys and values so far are outputs.

    Keys that come with values, `[batch, length, heads, 2, size]`, or queries that come with both, stand beside one
    another for each head.
    """
    if len(node.inputs) > 8 and any(each is not None for each in node.inputs[8:]):
        raise Unsupported("a past in a buffer that is shared (inputs from 8 on)")
    if node.output_used(3):
        raise Unsupported("the scores (output 3)")
    count = node.integer("num_heads")
    given = _three_tensors(node)
    if (bias := node.optional(3)) is not None:
        widths = [shape_of(x)[-1] * (count if rank_of(x) == 4 else 1) for x in given]
        if any(width < 0 for width in widths):
            raise Unsupported("heads of an open size")
        parts = columns_of(node, bias, widths)
        # Keys and values that are heads already have been through all that.
        given = [node.emit("add", x, part) if rank_of(x) == 3 else x for x, part in zip(given, parts, strict=True)]
    q, k, v = (x if rank_of(x) == 4 else heads(node, x, count) for x in given)
    if node.integer("unidirectional", 0) and not te.same(node.dims(q)[2], node.dims(k)[2]):
        raise Unsupported("attention that looks back only, of queries that are not as many as their keys")
    past = node.optional(6)
    before = 0 if past is None else node.dims(past)[2]
    k, v = behind(node, past, k), behind(node, node.optional(7), v)
    return [attended(node, (q, k, v), before, node.optional(4), node.optional(5)), k, v]


def _three_tensors(node: Node) -> list[SSAValue]:
    """Queries, keys and values, whichever of them come together."""
    key, value = node.optional(1), node.optional(2)
    if key is not None and value is not None:
        return [node.input(0, rank=3), node.input(1, at_least=3), node.input(2, at_least=3)]
    if value is not None:
        raise Malformed("values (input 2) without keys (input 1)")
    if key is None:
        return _apart(node, node.input(0, rank=5), 3)
    return [node.input(0, rank=3), *_apart(node, node.input(1, rank=5), 2)]


def _apart(node: Node, x: SSAValue, parts: int) -> list[SSAValue]:
    """`[batch, length, heads, parts, size]` as so many tensors `[batch, length, heads * size]`.

    Raises:
        Malformed: there are other numbers of parts or heads.
    """
    batch, length, count, found, size = node.dims(x)
    if found != parts or count != node.integer("num_heads"):
        raise Malformed(f"{found} parts of {count} heads, where there are {parts} of {node.integer('num_heads')}")
    each = node.emit_tuple("split", x, indices_or_sections=parts, axis=3)
    return [node.reshape_to(part, [batch, length, te.product([count, size])]) for part in each]


def rotary_embedding(node: Node) -> SSAValue:
    """`input, places, cosines, sines`: pairs of numbers turned by the angles of their place, for each head.

    Source: Su, Lu, Pan, Wen, Liu, RoFormer, 2021.
    """
    return _turned_heads(node, _angles_of_places)


def _turned_heads(node: Node, angles: Callable[[Node, SSAValue, te.Dim], SSAValue]) -> SSAValue:
    """Heads turned by what `angles` takes, for so many rows, out of the tables of cosines and of sines."""
    x, tables = node.input(0, at_least=3), [node.input(2, rank=2), node.input(3, rank=2)]
    half = node.static_shape(tables[0])[1]
    dims = node.dims(x)
    if is_apart := len(dims) == 4:
        length = dims[2]
    else:
        batch, length, width = dims
        if not isinstance(width, int):
            raise Unsupported("heads of an open size")
        count = node.integer("num_heads", 0) or width // (2 * half)
        if width % count:
            raise Malformed(f"{width} numbers do not make {count} heads")
        x = node.reshape_to(x, [batch, length, count, width // count])
    turned, size = node.integer("rotary_embedding_dim", 0) or 2 * half, shape_of(x)[3]
    if turned != 2 * half or turned > size:
        raise Malformed(f"angles of {half} pairs do not fit {turned} of {size} numbers")
    cos, sin = (node.emit("expand_dims", angles(node, table, length), axis=1 if is_apart else 2) for table in tables)
    y = turned_by(node, x, cos, sin, is_interleaved=node.integer("interleaved", 0) != 0)
    return y if is_apart else node.reshape_to(y, dims)


def _angles_of_places(node: Node, table: SSAValue, length: te.Dim) -> SSAValue:
    """`[batch or 1, length, pairs]`, of each row's place, or of as many from one place on."""
    places = node.input(1)
    if rank_of(places) == 1:
        start = node.cast(places, i64)
        places = node.emit("expand_dims", node.emit("add", positions(node, length), start), axis=0, num_newaxis=1)
    return node.emit("take", table, places, axis=0, mode="clip")


def rotary_embedding_of_three(node: Node) -> SSAValue:
    """`MRotaryEmbedding`: a row has three places, in time, height and width, each of which some pairs are turned by:
    one section behind the other, or by turns.

    Source: Wang et al., Qwen2-VL, 2024.
    """
    import numpy as np

    sections = node.integers("mrope_section")
    half = node.static_shape(node.input(2, rank=2))[1]
    if len(sections) != 3 or min(sections) < 0 or sum(sections) != half:
        raise Malformed(f"attribute 'mrope_section' is {sections}, for {half} pairs")
    which = np.repeat(np.arange(3), sections)
    if node.integer("mrope_layout", 0):
        which = np.zeros(half, np.int64)
        for place in (1, 2):
            which[place : sections[place] * 3 : 3] = place
    one = [node.constant(which == place) for place in (1, 2)]

    def angles(node: Node, table: SSAValue, length: te.Dim) -> SSAValue:
        each = node.emit("take", table, node.input(1, rank=3), axis=0, mode="clip")
        y, *rest = (node.emit("take", each, node.extent(place), axis=0, mode="clip") for place in range(3))
        for chosen, part in zip(one, rest, strict=True):
            y = node.emit("where", chosen, part, y)
        return y

    return _turned_heads(node, angles)


def turned_by(node: Node, x: SSAValue, cos: SSAValue, sin: SSAValue, *, is_interleaved: bool) -> SSAValue:
    """The first numbers of the last dimension of `x`, turned in pairs by angles; as many as there are angles for. The
    numbers of a pair stand side by side, or half of all apart."""
    half, size = shape_of(cos)[-1], shape_of(x)[-1]
    turned = 2 * half
    rotated, *rest = columns_of(node, x, [turned, size - turned] if size > turned else [turned])
    if is_interleaved:
        first, second = (part_of(node, rotated, begin, turned, 2) for begin in (0, 1))
    else:
        first, second = columns_of(node, rotated, [half, half])
    new = [
        node.emit(sign, node.emit("multiply", a, cos), node.emit("multiply", b, sin))
        for sign, a, b in (("subtract", first, second), ("add", second, first))
    ]
    if is_interleaved:
        y = node.reshape_to(node.emit("stack", node.emitter.tuple(new), axis=4), node.dims(rotated))
    else:
        y = node.emit("concatenate", node.emitter.tuple(new), axis=3)
    return node.emit("concatenate", node.emitter.tuple([y, *rest]), axis=3) if rest else y


OPERATORS: dict[str, tuple[Converter, str]] = {
    "Attention": (
        attention,
        "num_heads qkv_hidden_sizes mask_filter_value scale unidirectional do_rotary=0 past_present_share_buffer=0",
    ),
    "MultiHeadAttention": (multi_head_attention, "num_heads mask_filter_value scale unidirectional"),
    "MRotaryEmbedding": (
        rotary_embedding_of_three,
        "interleaved mrope_layout mrope_section num_heads rotary_embedding_dim is_packed_batching=0 scale=1",
    ),
    "RotaryEmbedding": (
        rotary_embedding,
        "interleaved num_heads rotary_embedding_dim is_packed_batching=0 scale=1",
    ),
}
"""Operators by name: their converters, and the attributes that those read."""
