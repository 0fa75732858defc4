"""Operators whose windows are known at import: columns back to images, the places of the maxima of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, shape_of
from ...dialects.support.advice import give_shapes
from .errors import Malformed, Unsupported
from .node import Node, Versions, rank_of
from .tensors import check_memory
from .told import positions
from .window import Window

MAX_WINDOW = 1024
"""The elements of a window that are added one after the other at most."""


def columns_to_image(node: Node) -> SSAValue:
    """The sum of blocks, each put to its place in an image: for each element of a block, all blocks at once."""
    x = node.input(0)
    image, block = node.symbolic(1), node.static_ints(2)
    rank = len(image)
    if rank_of(x) != 3 or len(block) != rank or not image:
        raise Malformed(f"an image {image} and blocks {block} do not fit an input of rank {rank_of(x)}")
    strides, dilations = (node.integers(name, [1] * rank) for name in ("strides", "dilations"))
    pads = node.integers("pads", [0] * (2 * rank))
    if len(strides) != rank or len(dilations) != rank or len(pads) != 2 * rank or min([*strides, *dilations]) < 1:
        raise Malformed(f"strides, dilations and pads do not fit {rank} dimensions")
    if min([*(n for n in image if isinstance(n, int)), *block]) < 1 or min(pads) < 0:
        raise Malformed(f"an image {image}, blocks {block} or pads {pads} of nothing")
    wide = [n + before + after for n, before, after in zip(image, pads[:rank], pads[rank:], strict=True)]
    counts = [
        (n - dilation * (k - 1) - 1) // stride + 1
        for n, k, stride, dilation in zip(wide, block, strides, dilations, strict=True)
    ]
    batch, planes, length = node.dims(x)
    if not isinstance(planes, int):
        raise Unsupported(f"columns of an open height, {x.type}", give_shapes())
    known = [n for n in (*counts, length) if isinstance(n, int)]
    if planes % prod(block) or min(known, default=1) < 1 or (len(known) > rank and known[-1] != prod(known[:-1])):
        raise Malformed(f"{planes} rows of {length} columns do not hold blocks {block} of an image {image}")
    if prod(block) > MAX_WINDOW:
        raise Malformed(f"blocks of {prod(block)} elements; {MAX_WINDOW} are imported at most")
    channels = planes // prod(block)
    parts = node.reshape_to(x, [batch, channels, prod(block), *counts])
    total: SSAValue | None = None
    for number, place in enumerate(product(*map(range, block))):
        part = node.emit("strided_slice", parts, begin=[number], end=[number + 1], strides=[1], axes=[2])
        part = node.emit("squeeze", part, axis=[2])
        if any(stride > 1 for stride in strides):
            part = node.emit("nn.dilate", part, strides=[1, 1, *strides], dilation_value=0.0)
        widths: list[te.Dim] = [0, 0, 0, 0]
        for n, count, stride, dilation, at in zip(wide, counts, strides, dilations, place, strict=True):
            before = at * dilation
            widths += [before, n - before - ((count - 1) * stride + 1)]
        part = padded(node, part, widths)
        total = part if total is None else node.emit("add", total, part)
    assert total is not None
    ends = [before + n for before, n in zip(pads[:rank], image, strict=True)]
    if not any(pads):
        return total
    known = [end for end in ends if isinstance(end, int)]
    if len(known) < rank:
        begin, step = ([each, each, *others] for each, others in ((0, pads[:rank]), (1, [1] * rank)))
        end = [node.dims(total)[0], channels, *ends]
        return node.emit("dyn.strided_slice", total, *map(node.shape_value, (begin, end, step)))
    axes = list(range(2, 2 + rank))
    return node.emit("strided_slice", total, begin=pads[:rank], end=known, strides=[1] * rank, axes=axes)


def padded(node: Node, x: SSAValue, widths: Sequence[te.Dim]) -> SSAValue:
    """`x` with so many zeros before and after each dimension, one after the other."""
    if all(isinstance(width, int) for width in widths):
        return node.emit(
            "nn.pad", x, node.scalar(0, x), pad_width=[width for width in widths if isinstance(width, int)]
        )
    pairs = node.reshape(node.shape_value(widths), [len(widths) // 2, 2])
    return node.emit("dyn.nn.pad", x, pairs, node.scalar(0, x))


def places_of_maxima(node: Node, x: SSAValue, found: Window, result: SSAValue) -> SSAValue:
    """Where in the whole of `x` the (first) greatest element of each window of a pool stands. `result` is the pool."""
    import numpy as np

    batch, channels, *extents = shape_of(x)
    if DYNAMIC in (channels, *extents):
        raise Unsupported(f"where the greatest elements stand in {x.type}", give_shapes())
    wanted = shape_of(result)[2:]
    rank, size = found.rank, prod(extents)
    check_memory(prod(wanted) * prod(found.size) * 8)
    at = np.zeros((*wanted, *found.size), np.int64)
    inside = np.ones_like(at, dtype=np.bool_)
    step = [prod(extents[axis + 1 :]) for axis in range(rank)]
    named = [prod(extents[:axis]) for axis in range(rank)] if node.integer("storage_order", 0) else step
    told = np.zeros_like(at)
    for axis in range(rank):
        start = np.arange(wanted[axis]) * found.strides[axis] - found.padding[axis]
        index = start[:, None] + np.arange(found.size[axis])[None, :] * found.dilation[axis]
        index = index.reshape([n if d in (axis, rank + axis) else 1 for d, n in enumerate(at.shape)])
        inside &= (index >= 0) & (index < extents[axis])
        clipped = index.clip(0, extents[axis] - 1)
        at, told = at + clipped * step[axis], told + clipped * named[axis]
    windows, taps = prod(wanted), prod(found.size)
    at, told, inside = (each.reshape(windows, taps) for each in (at, told, inside))
    if not inside.any(axis=1).all():
        raise Unsupported("a window without elements, which has no greatest one")
    first = inside.argmax(axis=1)[:, None]  # what is outside is the first element that is inside, and so never wins
    at, told = (np.where(inside, each, np.take_along_axis(each, first, 1)) for each in (at, told))
    flat = node.reshape(x, [batch, channels, size])
    which = node.emit("argmax", node.emit("take", flat, node.constant(at), axis=2), axis=[3])
    starts = node.constant((np.arange(windows) * taps).astype(np.int64))
    chosen = node.emit("add", node.cast(which, i64), starts)
    places = node.emit("take", node.constant(told.reshape(-1)), chosen)
    images = node.emit("expand_dims", positions(node, node.dims(x)[0]), axis=1, num_newaxis=2)
    images = node.emit("multiply", images, node.constant(np.array(channels * size)))
    offsets = node.emit("add", images, node.constant((np.arange(channels) * size)[:, None]))
    return node.reshape(node.emit("add", places, offsets), [batch, channels, *wanted])


CONVERTERS: dict[str, Versions] = {"Col2Im": {18: columns_to_image}}
