"""What windows are made of: columns back to images, the places of the maxima of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ...dialects import te
from .errors import Malformed, Unsupported
from .node import Node, Versions, rank_of
from .told import Told, extents_at, positions
from .window import Window

MAX_WINDOW = 1024
"""The elements of a window that are added one after the other at most."""


def columns_to_image(node: Node) -> SSAValue:
    """The sum of blocks, each put to its place in an image: for each element of a block, all blocks at once."""
    x = node.input(0)
    image, block = extents_at(node, 1), node.static_ints(2)
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
    known = [n for n in (*counts, length) if isinstance(n, int)]
    is_whole = not isinstance(planes, int) or planes % prod(block) == 0
    if not is_whole or min(known, default=1) < 1 or (len(known) > rank and known[-1] != prod(known[:-1])):
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


def padded(node: Node, x: SSAValue, widths: Sequence[te.Dim], value: SSAValue | None = None) -> SSAValue:
    """`x` with so many zeros, or elements of another value, before and after each dimension, one after the other."""
    value = node.scalar(0, x) if value is None else value
    if all(isinstance(width, int) for width in widths):
        return node.emit("nn.pad", x, value, pad_width=[width for width in widths if isinstance(width, int)])
    pairs = node.reshape(node.shape_value(widths), [len(widths) // 2, 2])
    return node.emit("dyn.nn.pad", x, pairs, value)


def places_of_maxima(node: Node, x: SSAValue, found: Window, result: SSAValue) -> SSAValue:
    """Where in the whole of `x` the (first) greatest element of each window of a pool stands. `result` is the pool.

    Axis by axis, the innermost first: of a window's rows the first that holds the greatest, and of this one the first.
    """
    batch, channels, *extents = node.dims(x)
    rank, wanted = found.rank, node.dims(result)[2:]
    places: SSAValue | None = None
    for axis in reversed(range(rank)):
        taps = taps_of(node, found, axis, extents[axis], wanted[axis])
        windows = node.emit("take", x, taps.value, axis=axis + 2, mode="clip")
        which = node.cast(node.emit("argmax", windows, axis=[axis + 3], keepdims=True), i64)

        def chosen(windows: SSAValue, which: SSAValue = which, axis: int = axis + 3) -> SSAValue:
            return node.emit("squeeze", node.emit("gather", windows, which, axis=axis, mode="clip"), axis=[axis])

        begins = (Told(node, positions(node, wanted[axis])) * found.size[axis]).value
        if behind := rank - axis - 1:
            begins = node.emit("expand_dims", begins, axis=1, num_newaxis=behind)
        flat = node.reshape_to(taps.value, [wanted[axis] * found.size[axis]])
        at = node.emit("add", node.emit("squeeze", which, axis=[axis + 3]), begins)
        # a step along an axis is as far as the axes behind it are long; those before it, where columns are counted
        step = te.product(extents[:axis] if node.integer("storage_order", 0) else extents[axis + 1 :])
        along = (Told(node, node.emit("take", flat, at, mode="clip")) * Told(node, node.extent(step))).value
        x, before = chosen(windows), places
        if before is None:
            places = along
        else:
            places = node.emit("add", chosen(node.emit("take", before, taps.value, axis=axis + 2, mode="clip")), along)
    assert places is not None
    images = Told(node, positions(node, batch)).column() * Told(node, node.extent(channels))
    planes = (images + Told(node, positions(node, channels))) * Told(node, node.extent(te.product(extents)))
    return node.emit("add", places, node.emit("expand_dims", planes.value, axis=2, num_newaxis=rank))


def taps_of(node: Node, found: Window, axis: int, extent: te.Dim, wanted: te.Dim) -> Told:
    """The places along an axis that each window looks at: `[wanted, size]`. What is outside is the first one inside,
    and so never the first greatest. The run fails where a window has no element, and so no greatest one.

    Raises:
        Unsupported: that is so whatever is run.
    """
    dilation, count = found.dilation[axis], Told(node, node.extent(extent))
    begin = Told(node, positions(node, wanted)) * found.strides[axis]
    begin = begin - Told(node, node.extent(found.padding[axis]))
    first = (begin < 0).where(begin % dilation, begin)
    is_right = (first < count).all()
    if (known := node.emitter.evaluate(is_right.value)) is None:
        first = first.provided(is_right)
    elif not known.all():
        raise Unsupported("a window without elements, which has no greatest one")
    taps = begin.column() + [tap * dilation for tap in range(found.size[axis])]
    return (taps >= 0).both(taps < count).where(taps, first.column())


CONVERTERS: dict[str, Versions] = {"Col2Im": {18: columns_to_image}}
