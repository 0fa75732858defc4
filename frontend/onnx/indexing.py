"""Operators that read or write where indices say, and those that resample images."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ...dialects.relay.base import DYNAMIC, shape_of, tensor
from ...dialects.support.advice import give_shapes
from ...dialects.support.dtypes import dtype_name
from .errors import Malformed, Unsupported
from .node import Node, T, Versions, rank_of


def from_front(node: Node, indices: SSAValue, size: int) -> SSAValue:
    """`indices` into a dimension of `size` with negative ones counted from the front.

    Raises:
        Unsupported: the dimension is dynamic.
    """
    import numpy as np

    known = node.emitter.evaluate(indices)
    if known is not None:
        return indices if (known >= 0).all() else node.constant(np.where(known < 0, known + size, known))  # pyright: ignore[reportOperatorIssue, reportUnknownArgumentType, reportUnknownMemberType]
    if size < 0:
        raise Unsupported("indices into a dynamic dimension", give_shapes())
    negative = node.emit("less", indices, node.scalar(0, indices))
    return node.emit("where", negative, node.emit("add", indices, node.scalar(size, indices)), indices)


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
    """`numpy.take`. Wrapping makes negative indices count from the end; only what may lie outside is checked."""
    x, indices = node.input(0), node.input(1)
    axis = node.axis(node.integer("axis", 0), rank_of(x))
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
    components = node.static_shape(indices)[-1]
    mode = "clip" if are_inside(node, indices, shape_of(x)[batch : batch + components]) else "error"
    tuples = leading_tuples(node, indices)
    return node.emit("gather_nd", x, tuples, batch_dims=batch, index_rank=components, mode=mode)


_REDUCTIONS = {"none": "update", "add": "add", "mul": "mul", "min": "min", "max": "max"}


def scatter_elements(node: Node) -> SSAValue:
    x, indices, updates = (node.input(i) for i in range(3))
    axis = node.axis(node.integer("axis", 0), rank_of(x))
    reduction = node.choice("reduction", _REDUCTIONS, "none")
    policy = "drop" if are_inside(node, indices, shape_of(x)[axis : axis + 1]) else "error"
    return node.emit("scatter_elements", x, indices, updates, axis=axis, reduction=reduction, out_of_range=policy)


def scatter_nd(node: Node) -> SSAValue:
    x, indices, updates = node.input(0), node.input(1, at_least=1), node.input(2)
    mode = node.choice("reduction", _REDUCTIONS, "none")
    components = shape_of(indices)[-1]
    known = components != DYNAMIC and are_inside(node, indices, shape_of(x)[:components])
    policy = "drop" if known else "error"
    return node.emit("scatter_nd", x, leading_tuples(node, indices), updates, mode=mode, out_of_range=policy)


def one_hot(node: Node) -> SSAValue:
    indices, values = node.input(0), node.input(2, rank=1)
    depth = int(node.static_scalar(1))
    if shape_of(values) != (2,):
        raise Malformed(f"input 2 holds the values off and on, but has shape {list(shape_of(values))}")
    axis = node.axis(node.integer("axis", -1), rank_of(indices) + 1)
    known = node.emitter.evaluate(values)
    if known is not None:
        off, on = node.constant(known[0:1].reshape(())), node.constant(known[1:2].reshape(()))
    else:
        off, on = (node.reshape(part, []) for part in node.emit_tuple("split", values, indices_or_sections=2, axis=0))
    positions = from_front(node, node.cast(indices, i64), depth)
    dtype = dtype_name(tensor(values).element_type)
    return node.emit("one_hot", positions, on, off, depth=depth, axis=axis, dtype=dtype)


def reverse_sequence(node: Node) -> SSAValue:
    """Sequences of different lengths, each reversed up to its length, which is checked where it may be wrong."""
    x, lengths = node.input(0, at_least=2), node.input(1, rank=1)
    time, batch = (node.axis(node.integer(f"{what}_axis", i), rank_of(x)) for i, what in enumerate(("time", "batch")))
    known, extent = node.emitter.evaluate(lengths), shape_of(x)[time]
    fits = known is not None and extent != DYNAMIC and bool(((known >= 0) & (known <= extent)).all())  # pyright: ignore[reportOperatorIssue, reportUnknownMemberType, reportUnknownArgumentType]
    policy = "clip" if fits else "error"
    return node.emit("reverse_sequence", x, lengths, seq_axis=time, batch_axis=batch, out_of_range=policy)


# Resampling

_METHODS = {"nearest": "nearest_neighbor", "linear": "linear", "cubic": "cubic"}
_COORDINATES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
_ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def scaled(node: Node, x: SSAValue, scales: list[float]) -> list[int]:
    """The shape of `x` with every dimension scaled and rounded down."""
    shape = node.static_shape(x)
    if len(scales) != len(shape):
        raise Malformed(f"{len(scales)} scales for a tensor of rank {len(shape)}")
    return [int(n * s) for n, s in zip(shape, scales, strict=True)]


def resize2d(node: Node, x: SSAValue, shape: list[int], coordinates: str, rounding: str) -> SSAValue:
    """Resample the images of `x` to `shape`.

    Raises:
        Unsupported: batch or channels are to be scaled, or the tensor holds no images.
    """
    if len(shape) != 4 or tuple(shape[:2]) != shape_of(x)[:2]:
        raise Unsupported(f"resampling {list(shape_of(x))} to {shape}", "the last two of four dimensions may change")
    method = node.string("mode", "nearest")
    if method not in _METHODS:
        raise Unsupported(f"mode '{method}'")
    return node.emit(
        "image.resize2d",
        x,
        size=shape[2:],
        layout="NCHW",
        method=_METHODS[method],
        coordinate_transformation_mode=coordinates,
        rounding_method=rounding if method == "nearest" else "",
        cubic_alpha=node.real("cubic_coeff_a", -0.75),
        cubic_exclude=bool(node.integer("exclude_outside", 0)),
    )


def upsample(node: Node) -> SSAValue:
    """Deprecated by Resize; its coordinates are asymmetric and rounded down."""
    x = node.input(0)
    if node.version < 9:
        scales = [float(v) for v in node.attributes["scales"].floats] if "scales" in node.attributes else []
    else:
        scales = [float(v) for v in node.static(1).reshape(-1)]
    return resize2d(node, x, scaled(node, x, scales), "asymmetric", "floor")


def resize_by_scales(node: Node) -> SSAValue:
    """The first revision, which has Upsample's coordinates."""
    x = node.input(0)
    scales = [float(v) for v in node.static(1).reshape(-1)]
    return resize2d(node, x, scaled(node, x, scales), "asymmetric", "floor")


def matching(given: list[T], axes: list[int]) -> list[T]:
    """`given`, one for each axis."""
    if len(given) != len(axes):
        raise Malformed(f"{len(given)} sizes or scales for {len(axes)} dimensions")
    return given


def resize(node: Node) -> SSAValue:
    """Sizes, or scales, which must reach whole sizes since Relay derives the scale from them."""
    x = node.input(0)
    if node.integer("antialias", 0):
        raise Unsupported("antialias")
    if node.string("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise Unsupported("keep_aspect_ratio_policy other than stretch")
    coordinates = node.string("coordinate_transformation_mode", "half_pixel")
    if coordinates not in _COORDINATES:
        raise Unsupported(f"coordinate_transformation_mode '{coordinates}'")
    rounding = node.choice("nearest_mode", {name: name for name in _ROUNDINGS}, "round_prefer_floor")
    shape = list(node.static_shape(x))
    axes = [node.axis(a, rank_of(x)) for a in node.integers("axes", range(rank_of(x)))]
    if node.optional(2) is not None and shape_of(node.input(2)) != (0,):
        scales = [1.0] * rank_of(x)
        given = node.static(2).reshape(-1)
        for axis, scale in zip(axes, matching(given.tolist(), axes), strict=True):
            scales[axis] = float(scale)
        size = scaled(node, x, scales)
        if any(abs(n * s - whole) > 1e-3 for n, s, whole in zip(shape, scales, size, strict=True)):
            raise Unsupported(f"scales {scales}, which take {shape} to no whole size")
    else:
        size = list(shape)
        for axis, wanted in zip(axes, matching(node.static_ints(3), axes), strict=True):
            size[axis] = wanted
    return resize2d(node, x, size, coordinates, rounding)


CONVERTERS: dict[str, Versions] = {
    "Gather": {1: gather},
    "GatherElements": {11: gather_elements},
    "GatherND": {11: gather_nd},
    "OneHot": {9: one_hot},
    "Resize": {10: resize_by_scales, 11: resize},
    "ReverseSequence": {10: reverse_sequence},
    "Scatter": {9: scatter_elements},
    "ScatterElements": {11: scatter_elements},
    "ScatterND": {11: scatter_nd},
    "Upsample": {7: upsample},
}
