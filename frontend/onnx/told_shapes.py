"""Operators that move data as far as other data says: Pad, Slice, Split, Squeeze, Unsqueeze, Range told by inputs.

Along an axis, data decides how many elements there are, and which: they are counted, `0, 1, ...`, and where each is
read from follows from its number.
"""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects.builtin import AnyFloat, f64, i64
from xdsl.ir import SSAValue

from ...dialects.relay.base import tensor
from ...dialects.relay.bounded import first
from ...dialects.relay.slices import ENDLESS
from ...dialects.support.dtypes import numpy_dtype
from .errors import Malformed
from .node import Node, rank_of
from .told import Along, Told, axes_of, count_of, named, of_either_sign, positions, told, up_to, vector

Axes: TypeAlias = "list[int] | Told"
"""Axes, known or told."""


def extent(node: Node, x: SSAValue, axis: int) -> Told:
    """An extent of a tensor, as a vector of one."""
    return Told(node, node.shape_value([node.dims(x)[axis]]))


def of_axis(values: Told, axes: Axes, axis: int, otherwise: int) -> Told | None:
    """What is told for an axis, as a vector of one; for one that `axes` may not name, a number. `None`, if it is known
    that nothing is."""
    if not isinstance(axes, Told):
        return values.at([axes.index(axis)]) if axis in axes else None
    mine = axes.equal(axis)
    return mine.any().where(mine.where(values, 0).along("sum"), [otherwise])


def axes_at(node: Node, index: int, count: int, rank: int) -> Axes:
    """The axes that an input names, or, where it is absent, the first.

    Raises:
        Malformed: they are not as many as is told of each.
    """
    if node.optional(index) is None:
        return list(range(count))
    if node.emitter.evaluate(node.input(index)) is not None:
        found = [node.axis(a, rank) for a in node.static_ints(index)]
    else:
        found = axes_of(vector(node, index), rank)
    if (len(found) if isinstance(found, list) else count_of(found)) != count:
        raise Malformed(f"input {index} names not as many axes as there are numbers told, {count}")
    return found


def slice_told(node: Node) -> SSAValue:
    """A slice whose bounds, axes or steps data decides."""
    x, starts, ends = node.input(0), vector(node, 1), vector(node, 2)
    count, rank = count_of(starts), rank_of(x)
    axes = axes_at(node, 3, count, rank)
    steps = told(node, [1] * count) if node.optional(4) is None else vector(node, 4)
    if count_of(ends) != count or count_of(steps) != count:
        raise Malformed(f"{starts.value.type}, {ends.value.type} and {steps.value.type} do not bound {count} axes")
    for axis in range(rank):
        start, end = of_axis(starts, axes, axis, 0), of_axis(ends, axes, axis, ENDLESS)
        step = of_axis(steps, axes, axis, 1)
        if start is not None and end is not None and step is not None:
            known = None if isinstance(axes, Told) else node.emitter.evaluate(step.value)
            x = sliced(node, x, axis, start, end, step if known is None else int(known.item()))
    return x


def sliced(node: Node, x: SSAValue, axis: int, start: Told, end: Told, step: Told | int) -> SSAValue:
    """`x[start:end:step]` along an axis: of the places that it may take, as many as there are elements, the first ones.

    Raises:
        Malformed: the step is 0.
    """
    length = extent(node, x, axis)
    if isinstance(step, int):
        if step == 0:
            raise Malformed(f"the step along axis {axis} is 0")
        step = max(-ENDLESS, min(step, ENDLESS))
        low, high = (0, length) if step > 0 else (-1, length - 1)
        stride: Told | int = abs(step)
    else:
        step = step.at_least(-ENDLESS).at_most(ENDLESS)
        step = step.provided(step * step >= 1)
        low, high = (step >= 1).where([0], [-1]), (step >= 1).where(length, length - 1)
        stride = (step >= 1).where(step, told(node, 0) - step)
    begin, end = (
        (bound < 0).where(bound + length, bound).at_most(high).at_least(least)
        for bound, least in ((start, 0), (end, low))
    )
    covered = end - begin
    if isinstance(step, Told):
        covered = (step >= 1).where(covered, begin - end)
    elif step < 0:
        covered = begin - end
    count = (covered + stride - 1) // stride
    places = Told(node, positions(node, node.dims(x)[axis])) * step + begin
    (taken,) = first(node.written, count.value, places.value)
    return node.emit("take", x, taken, axis=axis, mode="clip")


def pad_told(node: Node, mode: str, value: SSAValue) -> SSAValue:
    """Padding by amounts, or along axes, that data decides; a negative amount crops."""
    x, amounts = node.input(0), of_either_sign(vector(node, 1))
    rank = rank_of(x)
    if count_of(amounts) % 2:
        raise Malformed(f"{count_of(amounts)} amounts, which are two for each dimension")
    count = count_of(amounts) // 2
    if node.optional(3) is None and count != rank:
        raise Malformed(f"{2 * count} amounts for {rank} dimensions")
    axes = axes_at(node, 3, count, rank)
    ahead, behind = (spread(amounts.at(range(i * count, (i + 1) * count)), axes, rank) for i in (0, 1))
    # all sizes at once, and before a program is cut where an extent is told: the amounts are no extents
    sizes = Told(node, node.shape_value(node.dims(x))) + ahead + behind
    sizes = of_either_sign(sizes.provided((sizes >= 0).all()))
    for axis in range(rank) if isinstance(axes, Told) else sorted(axes):
        x = padded(node, x, axis, ahead.at([axis]), sizes.at([axis]), mode, value)
    return x


def spread(values: Told, axes: Axes, rank: int) -> Told:
    """What is told for some axes, for each of `rank`; 0 for others."""
    if axes == list(range(rank)):
        return values
    given = axes if isinstance(axes, Told) else told(values.node, axes)
    return given.column().equal(range(rank)).where(values.column(), 0).along("sum")


def padded(node: Node, x: SSAValue, axis: int, ahead: Told, size: Told, mode: str, value: SSAValue) -> SSAValue:
    """A tensor that goes on around an axis: `size` elements, of which the first is so far `ahead` of its beginning."""
    length, dim = extent(node, x, axis), node.dims(x)[axis]
    places = up_to(node, size) - ahead
    has_some = isinstance(dim, int) and dim > 0
    last = (length - 1).at_least(0)
    match mode:
        case "constant":
            inside = (places >= 0).both(places < length)
            if not has_some:
                shape = node.shape_value([1 if d == axis else n for d, n in enumerate(node.dims(x))])
                fill = node.emit("dyn.broadcast_to", node.reshape(value, []), shape)
                x = node.emit("concatenate", node.emitter.tuple([x, fill]), axis=axis)
                return node.emit("take", x, inside.where(places, length).value, axis=axis)
            y = node.emit("take", x, places.at_least(0).at_most(last).value, axis=axis)
            mask = node.emit("expand_dims", inside.value, axis=1, num_newaxis=rank_of(x) - axis - 1)
            return node.emit("where", mask if rank_of(x) > axis + 1 else inside.value, y, node.reshape(value, []))
        case "edge":
            places = places.at_least(0).at_most(last)
        case "reflect":
            places = places % (last * 2).at_least(1)
            places = (places < length).where(places, last * 2 - places)
        case _:  # around what is left of the axis
            begin, behind = (ahead * -1).at_least(0), size - length - ahead
            left = length - begin - (behind * -1).at_least(0)
            places = (places - begin) % left.at_least(1) + begin
    return node.emit("take", x, places.value, axis=axis, mode="clip" if has_some else "error")


def split_told(node: Node, x: SSAValue, axis: int, parts: int) -> list[SSAValue]:
    """Parts of sizes that data decides; the run fails where they do not add up to the whole.

    Raises:
        Malformed: they are not as many as outputs.
    """
    sizes = vector(node, 1)
    if count_of(sizes) != parts:
        raise Malformed(f"{count_of(sizes)} parts, but {parts} outputs")
    total = sizes.along("sum")
    is_right = total.equal(extent(node, x, axis)).both((sizes >= 0).all())
    sizes = sizes.provided(is_right)
    begin, results = told(node, [0]), list[SSAValue]()
    for number in range(parts):
        size = sizes.at([number])
        results.append(node.emit("take", x, (up_to(node, size) + begin).value, axis=axis, mode="clip"))
        begin += size
    return results


def squeeze_told(node: Node, x: SSAValue) -> SSAValue:
    """Without axes that data names; the run fails where one has another extent than 1."""
    axes, rank = vector(node, 1), rank_of(x)
    along = Along(node, x, named(axes_of(axes, rank), rank))
    if count_of(axes) > rank:
        raise Malformed(f"{count_of(axes)} axes of a tensor of rank {rank}")
    if count_of(axes) == rank:
        return along.provided_all(node.reshape(x, []))
    return along.reduced(x, count_of(axes))


def unsqueeze_told(node: Node, x: SSAValue) -> SSAValue:
    """With further axes of extent 1, in places that data names; the run fails where it names one twice."""
    axes, given = vector(node, 1), rank_of(x)
    rank = given + count_of(axes)
    is_new = named(axes_of(axes, rank), rank)
    kept = (told(node, 1) - is_new).value
    number = Told(node, node.emit("cumsum", kept, axis=0)) - 1
    dims = Told(node, node.shape_value([*node.dims(x)] or [1]))
    shape = is_new.equal(1).where(1, dims.at(number.at_least(0), "error"))
    return node.emit("dyn.reshape", x, shape.value, allowzero=True)


def range_told(node: Node) -> SSAValue:
    """Numbers from a start on, up to before a limit, in steps; all three may be known when the graph runs only."""
    import numpy as np

    element = tensor(node.input(0)).element_type
    wide = f64 if isinstance(element, AnyFloat) else i64
    start, limit, step = (Told(node, node.reshape(node.cast(node.input(i), wide), [1])) for i in range(3))
    zero = Told(node, node.constant(np.zeros(1, numpy_dtype(wide))))
    step = step.provided(step.by("not_equal", zero))
    if wide == i64:
        count = zero - (start - limit) // step
    else:
        ratio = (limit - start).by("divide", step)
        count = Told(node, node.cast(node.emit("ceil", ratio.value), i64))
    number = Told(node, node.cast(up_to(node, of_either_sign(count).at_least(0)).value, wide))
    return node.cast((number * step + start).value, element)
