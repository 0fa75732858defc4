"""Operators on regions of images, and on windows that were pooled."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ...dialects import te
from ...dialects.relay.base import tensor
from ...dialects.relay.bounded import first
from ...dialects.support.dtypes import dtype_name
from . import told_shapes
from .errors import Malformed
from .folding import padded
from .node import Node, Versions
from .told import Told, count_of, told, vector


def roi_align(node: Node) -> SSAValue:
    """`vision.roi_align` takes the number of the image as a region's first."""
    x, regions, images = node.input(0, rank=4), node.input(1, rank=2), node.input(2, rank=1)
    options = {"half_pixel": True, "output_half_pixel": False}
    aligned = node.version >= 16 and node.choice("coordinate_transformation_mode", options, "half_pixel")
    numbers = node.emit("expand_dims", node.cast(images, tensor(regions).element_type), axis=1)
    return node.emit(
        "vision.roi_align",
        x,
        node.emit("concatenate", node.emitter.tuple([numbers, regions]), axis=1),
        pooled_size=[node.integer("output_height", 1), node.integer("output_width", 1)],
        spatial_scale=node.real("spatial_scale", 1.0),
        sample_ratio=node.integer("sampling_ratio", 0) or -1,
        mode=node.choice("mode", {"avg": "avg", "max": "max_corner"}, "avg"),
        aligned=aligned,
    )


def non_max_suppression(node: Node) -> SSAValue:
    """Rows (batch, class, box), as many as there are."""
    import numpy as np

    def number(index: int, otherwise: float, dtype: type[np.generic]) -> SSAValue:
        given = node.optional(index)
        return node.constant(np.asarray(otherwise, dtype)) if given is None else given

    rows, total = node.emit_tuple(
        "vision.all_class_non_max_suppression",
        node.input(0, rank=3),
        node.input(1, rank=3),
        number(2, 0, np.int64),
        number(3, 0, np.float32),
        number(4, -np.inf, np.float32),
        box_format="center" if node.integer("center_point_box", 0) else "corner",
    )
    return first(node.written, total, rows)[0]


def max_roi_pool(node: Node) -> SSAValue:
    return node.emit(
        "vision.roi_pool",
        node.input(0, rank=4),
        node.input(1, rank=2),
        pooled_size=node.integers("pooled_shape"),
        spatial_scale=node.real("spatial_scale", 1.0),
    )


def max_unpool(node: Node) -> SSAValue:
    """Each element back to its place, which is counted over the whole tensor, among zeros."""
    x, places = node.input(0, at_least=3), node.input(1)
    batch, channels, *extents = node.dims(x)
    rank = len(extents)
    kernel, strides = node.integers("kernel_shape"), node.integers("strides", [1] * rank)
    pads = node.integers("pads", [0] * (2 * rank))
    if len(kernel) != rank or len(strides) != rank or len(pads) != 2 * rank:
        raise Malformed(f"kernel_shape, strides and pads do not fit {rank} spatial dimensions")
    whole = [
        (n - 1) * stride + k - before - after
        for n, stride, k, before, after in zip(extents, strides, kernel, pads[:rank], pads[rank:], strict=True)
    ]
    if min([n for n in whole if isinstance(n, int)], default=1) < 1:
        raise Malformed(f"pads leave nothing of {x.type}")
    shape = [batch, channels, *whole]
    zeros = node.emit("dyn.zeros", node.shape_value([te.product(shape)]), dtype=dtype_name(tensor(x).element_type))
    flat = [node.reshape_to(each, [te.product(node.dims(x))]) for each in (places, x)]
    result = node.reshape_to(node.emit("scatter_elements", zeros, *flat, axis=0, reduction="update"), shape)
    if node.optional(2) is None:
        return result
    wanted, needed = vector(node, 2), Told(node, node.shape_value(shape))
    if count_of(wanted) != len(shape):
        raise Malformed(f"an output shape of {count_of(wanted)} extents, but {len(shape)} are needed")
    known = node.emitter.evaluate((wanted >= needed).value)
    if known is not None and not known.all():
        raise Malformed(f"an output shape of {node.static_ints(2)}, but {shape} are needed")
    if (extents := node.symbolic_or_none(2)) is not None:
        widths: list[te.Dim] = [0] * (2 * len(shape))
        widths[1::2] = [n - m for n, m in zip(extents, shape, strict=True)]
        return padded(node, result, widths)
    wanted = wanted.provided((wanted >= needed).all())
    for axis in range(len(shape)):
        size = wanted.at([axis])
        result = told_shapes.padded(node, result, axis, told(node, [0]), size, "constant", node.scalar(0, x))
    return result


def deform_conv(node: Node) -> SSAValue:
    x, weight, offset, bias, mask = (
        node.input(0, rank=4), node.input(1, rank=4), node.input(2, rank=4), node.optional(3), node.optional(4),
    )  # fmt: skip
    (y,) = node.emit_all(
        "nn.deformable_conv2d",
        *(x, offset, weight, *([] if mask is None else [mask])),
        strides=node.integers("strides", [1, 1]),
        padding=node.integers("pads", [0] * 4),
        dilation=node.integers("dilations", [1, 1]),
        groups=node.integer("group", 1),
        deformable_groups=node.integer("offset_group", 1),
        edges="interpolated",
        kernel_size=node.integers("kernel_shape", node.static_shape(weight)[2:]),
    )
    return y if bias is None else node.emit("nn.bias_add", y, bias, axis=1)


CONVERTERS: dict[str, Versions] = {
    "DeformConv": {19: deform_conv},
    "MaxRoiPool": {1: max_roi_pool},
    "MaxUnpool": {9: max_unpool},
    "NonMaxSuppression": {10: non_max_suppression},
    "RoiAlign": {10: roi_align},
}
