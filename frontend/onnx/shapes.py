"""Operators that move data without computing: shapes, slices, padding, joining."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, broadcast_shapes, is_static, shape_of, tensor
from ...dialects.relay.slices import ENDLESS
from ...dialects.support.advice import give_shapes
from ...dialects.support.dtypes import dtype_name, numpy_dtype
from .errors import Malformed, Unsupported
from .node import Node, Versions, rank_of
from .tensors import check_memory, element_type
from .told import Told, of_either_sign, positions, unless
from .told_shapes import pad_told, range_told, slice_told, squeeze_told, unsqueeze_told

MAX_REPEATS = 1024
"""How often padding may repeat a tensor."""


def reshape(node: Node) -> SSAValue:
    x, allowzero = node.input(0), bool(node.integer("allowzero", 0))
    if node.symbolic_or_none(1) is None:
        return reshape_by_data(node)
    if is_static(x.type) or node.emitter.extents is None:
        return node.emit("reshape", x, newshape=node.static_ints(1), allowzero=allowzero)
    wanted, dims = node.symbolic(1), node.dims(x)
    told: SSAValue | None = node.input(1)
    if not allowzero and _may_stand_for_another(wanted, dims):
        return node.emit("dyn.reshape", x, told, allowzero=False)
    if not allowzero and any(isinstance(n, int) and n == 0 for n in wanted):
        wanted = [dims[axis] if n == 0 and axis < len(dims) else n for axis, n in enumerate(wanted)]
        told = None
    return node.reshape_to(x, wanted, told)


def _may_stand_for_another(wanted: Sequence[te.Dim], dims: Sequence[te.Dim]) -> bool:
    """Whether an extent that is computed, and may be 0, would then stand for another one of the data's, so that -1 is
    something else: `[n, -1]` of no columns `[2, n]` is `[2, 0]`."""
    if not any(isinstance(n, int) and n == -1 for n in wanted):
        return False
    return any(not isinstance(n, int) and not te.same(n, own) for n, own in zip(wanted, dims, strict=False))


def reshape_by_data(node: Node) -> SSAValue:
    """A shape that data decides, in which 0 and -1 are made extents when it runs. What it asks for that cannot be is
    refused then."""
    x, told = node.input(0), node.cast(node.input(1, rank=1), i64)
    shape, count, rank = node.shape_value(node.dims(x)), node.static_shape(told)[0], rank_of(x)
    if node.integer("allowzero", 0):
        told = of_either_sign(Told(node, told)).value
    else:
        longer = shape
        if count > rank:
            zeros = numbers_of(node, [0] * (count - rank))
            longer = node.emit("concatenate", node.emitter.tuple([shape, zeros]), axis=0)
        same = node.emit("strided_slice", longer, begin=[0], end=[count], strides=[1], axes=[0], slice_mode="end")
        told = node.emit("where", node.emit("equal", told, numbers_of(node, [0])), same, told)
    is_rest = node.emit("equal", told, numbers_of(node, [-1]))
    others = node.emit("where", is_rest, numbers_of(node, [1]), told)
    have, taken = (node.emit("prod", each, axis=[0], keepdims=True) for each in (shape, others))
    rest = node.emit("floor_divide", have, node.emit("maximum", taken, numbers_of(node, [1])))
    return node.emit("dyn.reshape", x, node.emit("where", is_rest, rest, others), allowzero=True)


def numbers_of(node: Node, numbers: Sequence[int]) -> SSAValue:
    """A vector of constants."""
    import numpy as np

    return node.constant(np.array(numbers, np.int64))


def transpose(node: Node) -> SSAValue:
    x = node.input(0)
    return node.emit("transpose", x, axes=node.integers("perm", range(rank_of(x) - 1, -1, -1)))


def concat(node: Node) -> SSAValue:
    parts = node.present()
    axis = node.axis(node.integer("axis"), rank_of(parts[0]))
    return node.emit("concatenate", node.emitter.tuple(parts), axis=axis)


def slice_by_attributes(node: Node) -> SSAValue:
    starts, ends = node.integers("starts"), node.integers("ends")
    return slice_of(node, starts, ends, node.integers("axes", range(len(starts))), [1] * len(starts))


def slice_by_inputs(node: Node) -> SSAValue:
    found = node.symbolic_or_none(1), node.symbolic_or_none(2)
    if None in found or not (node.is_known(3) and node.is_known(4)):
        return slice_told(node)
    bounds = node.symbolic(1), node.symbolic(2)
    axes = node.static_ints(3) if node.optional(3) is not None else list(range(len(bounds[0])))
    if any(isinstance(n, te.Expr) for each in bounds for n in each):
        return slice_by_symbols(node, *bounds, axes) or slice_told(node)
    starts, ends = node.static_ints(1), node.static_ints(2)
    steps = node.static_ints(4) if node.optional(4) is not None else [1] * len(starts)
    return slice_of(node, starts, ends, axes, steps)


def slice_by_symbols(node: Node, starts: Sequence[te.Dim], ends: Sequence[te.Dim], axes: list[int]) -> SSAValue | None:
    """A slice whose bounds are made of symbols: `relay.dyn.strided_slice`, which takes one for each dimension. `None`
    where it is not known on which side of the beginning they lie."""
    import numpy as np

    x = node.input(0)
    steps = node.static_ints(4) if node.optional(4) is not None else [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise Malformed(f"starts {starts}, ends {ends}, axes {axes} and steps {steps} differ in length")
    rank = rank_of(x)
    first: list[te.Dim] = [0] * rank
    last: list[te.Dim] = [ENDLESS] * rank
    step = [1] * rank
    for axis, start, end, stride in zip(axes, starts, ends, steps, strict=True):
        at = node.axis(axis, rank)
        first[at], last[at], step[at] = start, end, stride
    strides = node.constant(np.asarray(step, np.int64))
    return node.emit_if_computed("dyn.strided_slice", x, node.shape_value(first), node.shape_value(last), strides)


def slice_of(node: Node, starts: list[int], ends: list[int], axes: list[int], steps: list[int]) -> SSAValue:
    """`x[start:end:step]` along each of `axes`, with the bounds clamped to the dimension.

    This is NumPy's slice but for one case: going backwards from before the beginning, ONNX begins at element 0.
    """
    x = node.input(0)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise Malformed(f"starts {starts}, ends {ends}, axes {axes} and steps {steps} differ in length")
    axes = [node.axis(a, rank_of(x)) for a in axes]
    for i, axis in enumerate(axes):
        size = shape_of(x)[axis]
        if steps[i] == 0:
            raise Malformed(f"the step along axis {axis} is 0")
        if size != DYNAMIC:
            starts[i], ends[i], steps[i] = clamped(starts[i], ends[i], steps[i], size)
        elif steps[i] < 0 and starts[i] < -1:
            return slice_told(node)  # from element 0, where the axis is shorter, and not from before it
    return node.emit("strided_slice", x, begin=starts, end=ends, strides=steps, axes=axes, slice_mode="end")


def clamped(start: int, end: int, step: int, size: int) -> tuple[int, int, int]:
    """Bounds and step that `strided_slice` reads as Slice reads `start`, `end` and `step` along `size` elements."""
    start, end, step = slice(start, end, step).indices(size)
    start = max(start, 0) if step < 0 else start
    if not size or not range(start, end, step):
        return 0, 0, 1
    return start, -size - 1 if end < 0 else end, step  # a negative end means: down to and with element 0


def squeeze(node: Node) -> SSAValue:
    x = node.input(0)
    if not node.is_known(1):
        return squeeze_told(node, x)
    axes = node.static_ints_or(1, "axes")
    if axes is None:
        axes = [i for i, n in enumerate(shape_of(x)) if n == 1]
        x = not_of_one(node, x)
    axes = sorted(node.axis(a, rank_of(x)) for a in axes)
    return node.emit("squeeze", x, axis=axes) if axes else x


def not_of_one(node: Node, x: SSAValue) -> SSAValue:
    """`x`; the run fails where an open extent is 1, of which the rank of a result would follow."""
    if DYNAMIC not in shape_of(x):
        return x
    shape = Told(node, node.shape_value(node.dims(x)))
    of_one = shape.at([axis for axis, n in enumerate(shape_of(x)) if n == DYNAMIC]).equal(1).any()
    return unless(node, of_one, x)


def unsqueeze(node: Node) -> SSAValue:
    """One `expand_dims` for each run of neighbouring axes."""
    x = node.input(0)
    if not node.is_known(1):
        return unsqueeze_told(node, x)
    given = node.static_ints_or(1, "axes", [])
    assert given is not None
    axes = sorted(node.axis(a, rank_of(x) + len(given)) for a in given)
    if len(set(axes)) != len(axes):
        raise Malformed(f"axes {given} name a dimension twice")
    while axes:
        run = 1
        while run < len(axes) and axes[run] == axes[0] + run:
            run += 1
        x = node.emit("expand_dims", x, axis=axes[0], num_newaxis=run)
        axes = axes[run:]
    return x


def expand(node: Node) -> SSAValue:
    """Broadcast both ways: the result may be larger than the shape that is asked for."""
    x, wanted = node.input(0), node.symbolic_or_none(1)
    if wanted is None:
        return expand_by_data(node)
    if any(isinstance(n, te.Expr) for n in (*wanted, *node.dims(x))):
        return expand_to(node, x, wanted)
    shape = broadcast_shapes(shape_of(x), node.static_ints(1))
    return x if shape == shape_of(x) else node.emit("broadcast_to", x, shape=list(shape))


def expand_by_data(node: Node) -> SSAValue:
    """Broadcast both ways to a shape that data decides: of two extents the other one where one is 1."""
    x, told = node.input(0), node.cast(node.input(1, rank=1), i64)
    own, count = [*node.dims(x)], node.static_shape(told)[0]
    rank = max(count, len(own))
    if count < rank:
        told = node.emit("concatenate", node.emitter.tuple([numbers_of(node, [1] * (rank - count)), told]), axis=0)
    shape = node.shape_value([1] * (rank - len(own)) + own)
    is_one = node.emit("equal", told, numbers_of(node, [1]))
    return node.emit("dyn.broadcast_to", x, node.emit("where", is_one, shape, told))


def expand_to(node: Node, x: SSAValue, wanted: Sequence[te.Dim]) -> SSAValue:
    """Broadcast both ways, where extents are symbols; what is 1 in one of the two shapes is what it is in the other."""
    dims = node.dims(x)
    rank = max(len(dims), len(wanted))
    own, asked = [1] * (rank - len(dims)) + [*dims], [1] * (rank - len(wanted)) + [*wanted]
    result = [n if m == 1 else m if n == 1 else n for m, n in zip(own, asked, strict=True)]
    if len(own) == len(dims) and all(map(te.same, result, own)):
        return x
    return node.emit("dyn.broadcast_to", x, node.shape_value(result))


def tile(node: Node) -> SSAValue:
    repeats = node.symbolic_or_none(1)
    if repeats is None:
        told = node.cast(node.input(1, rank=1), i64)
        if node.static_shape(told) != (rank := rank_of(node.input(0)),):
            raise Malformed(f"{told.type} of repeats for rank {rank}")
        return node.emit("dyn.tile", node.input(0), told)
    if any(isinstance(n, te.Expr) for n in repeats):
        return tile_by_symbols(node, repeats)
    return node.emit("tile", node.input(0), reps=node.static_ints(1))


def tile_by_symbols(node: Node, repeats: Sequence[te.Dim]) -> SSAValue:
    """The data under a new dimension before each that is repeated, along which it is broadcast."""
    x = node.input(0)
    dims = node.dims(x)
    if len(repeats) != len(dims):
        raise Malformed(f"{len(repeats)} repeats for rank {len(dims)}")
    if all(n == 1 for n, r in zip(dims, repeats, strict=True) if isinstance(r, te.Expr)):
        return node.emit("dyn.tile", x, node.input(1))
    told: list[te.Dim] = []
    place = 0
    for n, r in zip(dims, repeats, strict=True):
        if not te.same(r, 1):
            x = node.emit("expand_dims", x, axis=place)
            told.append(r)
        told.append(n)
        place = len(told)
    whole = node.emit("dyn.broadcast_to", x, node.shape_value(told))
    return node.reshape_to(whole, [te.product(pair) for pair in zip(dims, repeats, strict=True)])


def pad(node: Node) -> SSAValue:
    """Amounts and value are attributes before opset 11, inputs after; a negative amount crops."""
    x = node.input(0)
    rank = rank_of(x)
    mode = node.string("mode", "constant")
    if mode not in ("constant", "edge", "reflect", "wrap"):
        raise Malformed(f"attribute 'mode' is '{mode}', but must be one of constant, edge, reflect, wrap")
    value = node.optional(2) if node.version >= 11 else node.scalar(node.real("value", 0.0), x)
    if value is None:
        value = node.scalar(0.0, x)
    if node.version >= 11 and (node.symbolic_or_none(1) is None or not node.is_known(3)):
        return pad_told(node, mode, value)
    pads = node.integers("pads") if node.version < 11 else node.symbolic(1)
    axes = list(range(rank))
    if node.optional(3) is not None:
        axes = [node.axis(a, rank) for a in node.static_ints(3)]
    if len(pads) != 2 * len(axes):
        raise Malformed(f"{len(pads)} amounts for {len(axes)} dimensions")
    width: list[list[te.Dim]] = [[0, 0] for _ in range(rank)]
    for i, axis in enumerate(axes):
        width[axis] = [pads[i], pads[i + len(axes)]]
    amounts = [[n for n in pair if isinstance(n, int)] for pair in width]
    if any(len(pair) != 2 for pair in amounts):
        return pad_by_symbols(node, x, value, width, mode)
    if mode == "wrap":  # around what is left of an axis
        x = cropped(node, x, amounts)
        for axis in range(rank):
            x = wrapped(node, x, axis, *(max(n, 0) for n in amounts[axis]))
        return x
    if any(n > 0 for pair in amounts for n in pair):
        x = node.emit(
            "nn.pad", x, node.reshape(value, []), pad_width=[max(n, 0) for pair in amounts for n in pair], pad_mode=mode
        )
    return cropped(node, x, amounts)


def cropped(node: Node, x: SSAValue, amounts: Sequence[Sequence[int]]) -> SSAValue:
    """`x` without what negative amounts take away from either end of an axis."""
    axes = [axis for axis, pair in enumerate(amounts) if min(pair) < 0]
    if not axes:
        return x
    begins = [max(-amounts[a][0], 0) for a in axes]
    ends = [min(amounts[a][1], 0) or ENDLESS for a in axes]  # counted from the end
    return node.emit("strided_slice", x, begin=begins, end=ends, strides=[1] * len(axes), axes=axes, slice_mode="end")


def pad_by_symbols(node: Node, x: SSAValue, value: SSAValue, width: Sequence[Sequence[te.Dim]], mode: str) -> SSAValue:
    """Padding by amounts that are made of symbols: `relay.dyn.nn.pad`."""
    if mode == "wrap":
        raise Unsupported("wrapping around by an amount that is computed", give_shapes())
    told = node.shape_value([n for pair in width for n in pair])
    told = node.emit("reshape", told, newshape=[len(width), 2])
    return node.emit("dyn.nn.pad", x, told, node.reshape(value, []), pad_mode=mode)


def wrapped(node: Node, x: SSAValue, axis: int, before: int, after: int) -> SSAValue:
    """`x` repeated along `axis` until `before` and `after` elements are put to it; an open axis has to have as many."""
    import numpy as np

    if not before and not after:
        return x
    size = shape_of(x)[axis]
    if not size:
        raise Malformed(f"dimension {axis} is empty, and so has nothing to be wrapped around")

    def part(begin: int, end: int) -> list[SSAValue]:
        if begin == end:
            return []
        return [node.emit("strided_slice", x, begin=[begin], end=[end], strides=[1], axes=[axis], slice_mode="end")]

    if size == DYNAMIC:
        parts = [*part(-before, ENDLESS if before else 0), x]
        if after:
            parts.append(node.emit("take", x, node.constant(np.arange(after)), axis=axis, mode="error"))
        return node.emit("concatenate", node.emitter.tuple(parts), axis=axis)
    whole = before // size + 1 + after // size
    if whole > MAX_REPEATS:
        raise Unsupported(f"wrapping around a dimension of {size} more than {MAX_REPEATS} times")
    parts = [*part(size - before % size, size), *[x] * whole, *part(0, after % size)]
    return node.emit("concatenate", node.emitter.tuple(parts), axis=axis)


def depth_to_space(node: Node) -> SSAValue:
    return node.emit(
        "nn.depth_to_space",
        node.input(0),
        block_size=node.integer("blocksize"),
        layout="NCHW",
        mode=node.string("mode", "DCR"),
    )


def space_to_depth(node: Node) -> SSAValue:
    return node.emit(
        "nn.space_to_depth",
        node.input(0),
        block_size=node.integer("blocksize"),
        layout="NCHW",
        mode=node.string("mode", "DCR"),
    )


def trilu(node: Node) -> SSAValue:
    """The upper or lower triangle of each matrix, from the diagonal `k` on."""
    import numpy as np

    k = node.constant(np.asarray(0, np.int64)) if node.optional(1) is None else node.reshape(node.input(1), [])
    return node.emit("trilu", node.input(0), k, upper=bool(node.integer("upper", 1)))


def shape(node: Node) -> SSAValue:
    """Dimensions of a static shape are constants."""
    import numpy as np

    x = node.input(0)
    part = slice(node.integer("start", 0), node.integer("end", rank_of(x)))
    dimensions = shape_of(x)[part]
    if DYNAMIC in dimensions:
        whole = node.emit("shape_of", x, dtype="int64")
        begin, end, _ = part.indices(rank_of(x))
        return node.emit("strided_slice", whole, begin=[begin], end=[end], strides=[1], axes=[0], slice_mode="end")
    return node.constant(np.asarray(dimensions, np.int64))


def size(node: Node) -> SSAValue:
    import numpy as np

    x = node.input(0)
    if not is_static(x.type):
        return node.emit("ndarray_size", x, dtype="int64")
    return node.constant(np.asarray(np.prod(node.static_shape(x), dtype=np.int64)))


def constant_of_shape(node: Node) -> SSAValue:
    """One element seen under the whole shape: fills of any size take no memory."""
    import numpy as np

    fill = np.zeros((), np.float32)
    if "value" in node.attributes:
        fill = node.emitter.decode(node.attributes["value"].t)
    if fill.size != 1:
        raise Malformed(f"{fill.size} values to fill a shape")
    found = node.symbolic_or_none(0)
    if found is None or any(isinstance(n, te.Expr) for n in found):
        value = node.constant(fill.reshape(()))
        return node.emit("dyn.full", value, node.input(0), dtype=dtype_name(tensor(value).element_type))
    shape = node.static_ints(0)
    if min(shape, default=0) < 0:
        raise Malformed(f"a value to fill shape {shape}")
    return node.constant(np.broadcast_to(fill.reshape(()), shape))


def range_(node: Node) -> SSAValue:
    import numpy as np

    if not all(map(node.is_known, range(3))):
        element = tensor(node.input(0)).element_type
        dtype = dtype_name(element)
        ends = [node.emit("reshape", node.input(i), newshape=[], allowzero=True) for i in range(3)]
        if isinstance(element, IntegerType) and node.is_known(2):
            return node.emit("arange", *ends, dtype=dtype)
        by_extents = None if node.emitter.extents is None else node.emit_if_computed("arange", *ends, dtype=dtype)
        return by_extents or range_told(node)
    start, limit, delta = (node.static_scalar(i) for i in range(3))
    if delta == 0 or not all(map(isfinite, (start, limit, delta))):
        raise Malformed(f"there are no numbers from {start} to {limit} in steps of {delta}")
    check_memory(max((limit - start) / delta, 0) * 8)
    return node.constant(np.arange(start, limit, delta).astype(numpy_dtype(tensor(node.input(0)).element_type)))


def eye_like(node: Node) -> SSAValue:
    import numpy as np

    x = node.input(0, rank=2)
    dtype = numpy_dtype(tensor(x).element_type)
    if "dtype" in node.attributes:
        dtype = numpy_dtype(element_type(node.integer("dtype")))
    diagonal = node.integer("k", 0)
    if not is_static(x.type) and node.emitter.extents is not None:
        row, column = (positions(node, extent) for extent in node.dims(x))
        ahead = node.emit("add", node.emit("expand_dims", row, axis=1, num_newaxis=1), node.extent(diagonal))
        return node.emit("cast", node.emit("equal", ahead, column), dtype=dtype.name)
    rows, columns = node.static_shape(x)
    check_memory(rows * columns * 8)
    return node.constant(np.eye(rows, columns, diagonal, dtype))


def constant(node: Node) -> SSAValue:
    """`value`, or one of the scalars and lists that newer revisions allow."""
    import numpy as np

    for name, attribute in node.attributes.items():
        match name:
            case "value":
                return node.emitter.constant(node.emitter.decode(attribute.t), node.proto.output[0])
            case "value_float":
                return node.constant(np.asarray(attribute.f, np.float32))
            case "value_floats":
                return node.constant(np.asarray(attribute.floats, np.float32))
            case "value_int":
                return node.constant(np.asarray(attribute.i, np.int64))
            case "value_ints":
                return node.constant(np.asarray(attribute.ints, np.int64))
            case _:
                raise Unsupported(f"a constant given as '{name}'")
    raise Malformed("a constant without a value")


CONVERTERS: dict[str, Versions] = {
    "Concat": {4: concat},
    "Constant": {1: constant},
    "ConstantOfShape": {9: constant_of_shape},
    "DepthToSpace": {1: depth_to_space},
    "Expand": {8: expand},
    "EyeLike": {9: eye_like},
    "Pad": {2: pad},
    "Range": {11: range_},
    "Reshape": {5: reshape},
    "Shape": {1: shape},
    "Size": {1: size},
    "Slice": {1: slice_by_attributes, 10: slice_by_inputs},
    "SpaceToDepth": {1: space_to_depth},
    "Squeeze": {1: squeeze},
    "Tile": {6: tile},
    "Transpose": {1: transpose},
    "Trilu": {14: trilu},
    "Unsqueeze": {1: unsqueeze},
}
