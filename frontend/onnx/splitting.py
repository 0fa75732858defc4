"""Split: a tensor in parts along one axis."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, shape_of
from ...dialects.relay.slices import ENDLESS
from ...dialects.support.advice import give_shapes
from .errors import Malformed, Unsupported
from .node import Node, Versions, rank_of
from .told import Told, unless
from .told_shapes import split_told


def split(node: Node) -> Sequence[SSAValue]:
    """By sizes (an attribute before opset 13, then an input), or into equal parts, of which the last may be smaller
    from opset 18 on."""
    x = node.input(0)
    axis = node.axis(node.integer("axis", 0), rank_of(x))
    if not node.is_known(1):
        return split_told(node, x, axis, len(node.proto.output))
    sizes = node.static_ints_or(1, "split")
    parts = len(node.proto.output) if sizes is None else len(sizes)
    if sizes is None:
        parts = max(node.integer("num_outputs", parts), 1)
        length = shape_of(x)[axis]
        if length == DYNAMIC and parts == len(node.proto.output) > 1:
            return split_evenly(node, x, axis, parts)
        if node.version < 18 and length % parts:
            raise Malformed(f"a dimension of {length} does not split into {parts} equal parts")
        chunk = -(-length // parts)
        sizes = [min(chunk, length - i * chunk) for i in range(parts)]
        if min(sizes) < 0:
            raise Malformed(f"a dimension of {length} does not split into {parts} parts")
    elif shape_of(x)[axis] == DYNAMIC:
        if not any(sizes):
            raise Unsupported("parts without elements of an open extent", give_shapes())
        dims = list(node.dims(x))
        x = node.reshape_to(x, [*dims[:axis], sum(sizes), *dims[axis + 1 :]])  # the run fails where it is another
    elif shape_of(x)[axis] != sum(sizes):
        raise Malformed(f"the parts {sizes} do not add up to the dimension {shape_of(x)[axis]}")
    if parts != len(node.proto.output) or parts == 0:
        raise Malformed(f"{parts} parts, but {len(node.proto.output)} outputs")
    if parts == 1:
        return [x]
    if len(set(sizes)) == 1:
        return node.emit_tuple("split", x, indices_or_sections=parts, axis=axis)
    ends = [sum(sizes[: i + 1]) for i in range(parts - 1)]
    return node.emit_tuple("split", x, indices_or_sections=ends, axis=axis)


def split_evenly(node: Node, x: SSAValue, axis: int, parts: int) -> list[SSAValue]:
    """Parts of an open extent, equal but for the last one; the run fails where less than nothing is left for that, and
    before opset 18 where that is not equal."""
    length = node.dims(x)[axis]
    chunk = (length + (parts - 1)) // parts
    results = [part_of(node, x, axis, chunk * i, chunk * (i + 1) if i < parts - 1 else length) for i in range(parts)]
    least = chunk * (parts if node.version < 18 else parts - 1)
    if parts > 2 or node.version < 18:  # of two parts the second is never larger
        whole, needed = (Told(node, node.shape_value([n])) for n in (length, least))
        results[-1] = unless(node, whole < needed, results[-1])
    return results


def part_of(node: Node, x: SSAValue, axis: int, begin: te.Dim, end: te.Dim) -> SSAValue:
    """What lies between two places along one axis, of which neither counts from the end."""
    import numpy as np

    first: list[te.Dim] = [begin if d == axis else 0 for d in range(rank_of(x))]
    last: list[te.Dim] = [end if d == axis else ENDLESS for d in range(rank_of(x))]
    strides = node.constant(np.ones(rank_of(x), np.int64))
    return node.emit("dyn.strided_slice", x, node.shape_value(first), node.shape_value(last), strides)


CONVERTERS: dict[str, Versions] = {"Split": {2: split}}
