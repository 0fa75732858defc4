"""Convolutions and pools: operators that move a window over the spatial dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, shape_of, tensor
from ...dialects.support.advice import give_shapes
from ...dialects.te.dims import ceil_divided, is_number
from .errors import Malformed, Unsupported
from .folding import padded, places_of_maxima
from .node import Converter, Node, Versions, rank_of
from .told import Told, count_of, positions, up_to, vector
from .window import Window

_LAYOUTS = {1: ("NCW", "OIW"), 2: ("NCHW", "OIHW"), 3: ("NCDHW", "OIDHW")}


def spatial_rank(node: Node, x: SSAValue) -> int:
    """How many spatial dimensions an `NC...` tensor has.

    Raises:
        Unsupported: Relay has windows of one to three dimensions.
    """
    rank = rank_of(x) - 2
    if rank not in _LAYOUTS:
        raise Unsupported(f"a window over {rank} dimensions")
    return rank


def window(node: Node, x: SSAValue, size: Sequence[int]) -> Window:
    """Read the attributes that Conv, ConvTranspose and the pools share; `auto_pad` stays to the caller."""
    rank = spatial_rank(node, x)
    found = Window(
        size=list(size),
        strides=node.integers("strides", [1] * rank),
        dilation=node.integers("dilations", [1] * rank),
        padding=node.integers("pads", [0] * (2 * rank)),
    )
    for name, given, wanted in (
        ("kernel_shape", found.size, rank),
        ("strides", found.strides, rank),
        ("dilations", found.dilation, rank),
        ("pads", found.padding, 2 * rank),
    ):
        if len(given) != wanted:
            raise Malformed(f"attribute '{name}' has {len(given)} entries, but {wanted} belong to this input")
        if name != "pads" and min(n for n in (*given, 1) if n != DYNAMIC) < 1:
            raise Malformed(f"attribute '{name}' is {given}, but its entries must be at least 1")
    return found


def split_padding(total: Sequence[te.Dim], upper: bool) -> list[te.Dim]:
    """Padding shared by both sides; where it is odd, the end (`upper`) or the beginning gets one more."""
    begins = [n // 2 if upper else n - n // 2 for n in total]
    return [*begins, *(n - b for n, b in zip(total, begins, strict=True))]


def auto_padded(node: Node, x: SSAValue, found: Window) -> Window:
    """`found` with the padding that `auto_pad` asks for: SAME gives `ceil(input / stride)` results."""
    mode = node.string("auto_pad", "NOTSET")
    if mode == "NOTSET" or mode == "":
        return found
    if mode == "VALID":
        return found.without_padding()
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        raise Malformed(f"auto_pad '{mode}' is none of NOTSET, VALID, SAME_UPPER, SAME_LOWER")
    if DYNAMIC in found.size:
        raise Unsupported(f"auto_pad {mode} for a kernel of an open size", give_shapes())
    total = [
        te.extreme(te.BinaryKind.MAX, (ceil_divided(n, stride) - 1) * stride + extent - n, 0)
        for n, stride, extent in zip(node.dims(x)[2:], found.strides, found.extents, strict=True)
    ]
    return Window(found.size, found.strides, found.dilation, split_padding(total, upper=mode == "SAME_UPPER"))


def with_padding(node: Node, x: SSAValue, found: Window, value: SSAValue | None) -> tuple[SSAValue, Window]:
    """Images and a window over them. Padding that operators cannot be told, as it follows from open extents, or by
    another value than theirs, is there already; without a `value`, it is zero."""
    if value is None and all(isinstance(n, int) for n in found.padding):
        return x, found
    widths: list[te.Dim] = [0] * 4
    for before, after in zip(found.padding[: found.rank], found.padding[found.rank :], strict=True):
        widths += (before, after)
    if all(isinstance(n, int) and n == 0 for n in widths):
        return x, found
    return padded(node, x, widths, value), found.without_padding()


def add_bias(node: Node, y: SSAValue, bias: SSAValue | None) -> SSAValue:
    return y if bias is None else node.emit("nn.bias_add", y, bias, axis=1)


def kernel_size(node: Node, weight: SSAValue) -> list[int]:
    """The weight's spatial dimensions, which `kernel_shape` repeats if it is there; `DYNAMIC` where they are open."""
    actual = list(shape_of(weight)[2:])
    given = node.integers("kernel_shape", actual)
    if len(given) != len(actual) or any(n not in (DYNAMIC, m) for n, m in zip(actual, given, strict=True)):
        raise Malformed(f"kernel_shape {given} differs from the weight's {actual}")
    return given


def said_of_weights(weight: SSAValue, size: Sequence[int], channels: int) -> dict[str, int | list[int]]:
    """The properties that repeat what shape weights have, as far as that is known."""
    said: dict[str, int | list[int]] = {} if DYNAMIC in size else {"kernel_size": list(size)}
    return said if channels == DYNAMIC else {**said, "channels": channels}


def conv(node: Node) -> SSAValue:
    return add_bias(node, convolution(node, node.input(0), node.input(1)), node.optional(2))


def convolution(
    node: Node, x: SSAValue, weight: SSAValue, out_dtype: str = "", padded_with: SSAValue | None = None
) -> SSAValue:
    """The convolution of `x` that the node's attributes describe, without a bias, padded with zeros or a number."""
    rank = spatial_rank(node, x)
    if rank_of(weight) != rank + 2:
        raise Malformed(f"the weight has rank {rank_of(weight)}, but the input has rank {rank + 2}")
    found = auto_padded(node, x, window(node, x, kernel_size(node, weight)))
    x, found = with_padding(node, x, found, padded_with)
    data_layout, kernel_layout = _LAYOUTS[rank]
    return node.emit(
        f"nn.conv{rank}d",
        x,
        weight,
        strides=found.strides,
        padding=found.known_padding,
        dilation=found.dilation,
        groups=node.integer("group", 1),
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        **said_of_weights(weight, found.size, shape_of(weight)[0]),
        **({"out_dtype": out_dtype} if out_dtype else {}),
    )


def conv_transpose(node: Node) -> SSAValue:
    """The gradient of a convolution with respect to its data; weights are laid out `IO...`."""
    x, weight = node.input(0), node.input(1)
    rank = spatial_rank(node, x)
    found = window(node, x, kernel_size(node, weight))
    output_padding: Sequence[te.Dim] = node.integers("output_padding", [0] * rank)
    mode = node.string("auto_pad", "NOTSET")
    padding: Sequence[te.Dim] = found.padding
    if "output_shape" in node.attributes or mode in ("SAME_UPPER", "SAME_LOWER"):
        if DYNAMIC in found.size:
            raise Unsupported("an output shape for a kernel of an open size", give_shapes())
        sizes = node.dims(x)[2:]
        wanted: Sequence[te.Dim] = [n * s for n, s in zip(sizes, found.strides, strict=True)]
        wanted = node.integers("output_shape", [])[-rank:] or wanted
        total = [
            s * (n - 1) + extra + extent - w
            for s, n, extra, extent, w in zip(found.strides, sizes, output_padding, found.extents, wanted, strict=True)
        ]
        output_padding = [extra + at_least_0(-t) for extra, t in zip(output_padding, total, strict=True)]
        padding = split_padding([at_least_0(t) for t in total], upper=mode == "SAME_UPPER")
    elif mode == "VALID":
        padding = [0] * (2 * rank)
    groups = node.integer("group", 1)
    data_layout, kernel_layout = _LAYOUTS[rank]
    channels = shape_of(weight)[1]
    amounts = [*padding, *output_padding]
    known = [n for n in amounts if isinstance(n, int)] if all(map(is_number, amounts)) else [0] * (3 * rank)
    y = node.emit(
        f"nn.conv{rank}d_transpose",
        x,
        weight,
        strides=found.strides,
        padding=known[: 2 * rank],
        output_padding=known[2 * rank :],
        dilation=found.dilation,
        groups=groups,
        data_layout=data_layout,
        kernel_layout=kernel_layout.replace("OI", "IO"),
        **said_of_weights(weight, found.size, DYNAMIC if channels == DYNAMIC else channels * groups),
    )
    if list(amounts) != known:  # what follows from open extents is added behind, and taken away, when it is there
        widths: list[te.Dim] = [0] * 4
        for extra in output_padding:
            widths += (0, extra)
        y = padded(node, y, widths)
        dims = node.dims(y)
        first: list[te.Dim] = [0, 0, *padding[:rank]]
        last = [*dims[:2], *(n - after for n, after in zip(dims[2:], padding[rank:], strict=True))]
        bounds = (first, last, [1] * (rank + 2))
        y = node.emit("dyn.strided_slice", y, *(node.shape_value(each) for each in bounds))
    return add_bias(node, y, node.optional(2))


def at_least_0(n: te.Dim) -> te.Dim:
    return te.extreme(te.BinaryKind.MAX, n, 0)


def pooled(node: Node, operator: str, x: SSAValue, found: Window, **properties: bool) -> SSAValue:
    """A pool of the window's rank."""
    return node.emit(
        f"nn.{operator}{found.rank}d",
        x,
        pool_size=found.size,
        strides=found.strides,
        dilation=found.dilation,
        padding=found.known_padding,
        layout=_LAYOUTS[found.rank][0],
        ceil_mode=bool(node.integer("ceil_mode", 0)),
        **properties,
    )


def max_pool(node: Node) -> list[SSAValue]:
    """The greatest element of each window and, if asked for, where it stands."""
    x = node.input(0)
    found = auto_padded(node, x, window(node, x, node.integers("kernel_shape")))
    is_told = all(isinstance(n, int) for n in found.padding)
    lowest = None if is_told else node.scalar(te.reduce_identity("max", tensor(x).element_type).value, x)
    result = pooled(node, "max_pool", *with_padding(node, x, found, lowest))
    return [result, places_of_maxima(node, x, found, result)] if node.output_used(1) else [result]


def average_pool(node: Node) -> SSAValue:
    """The mean of each window: of what is padded by amounts that are open, its share of elements is one more mean."""
    x = node.input(0)
    found = auto_padded(node, x, window(node, x, node.integers("kernel_shape")))
    counts_all = bool(node.integer("count_include_pad", 0))
    y = pooled(node, "avg_pool", *with_padding(node, x, found, None), count_include_pad=counts_all)
    if counts_all or all(isinstance(n, int) for n in found.padding):
        return y
    ones = node.emit("ones_like", x)
    share = pooled(node, "avg_pool", *with_padding(node, ones, found, None), count_include_pad=False)
    return node.emit("divide", y, share)


def power_of(node: Node) -> float:
    """The `p` of an Lp norm."""
    p = node.integer("p", 2)
    if p < 1:
        raise Malformed(f"attribute 'p' is {p}, but must be at least 1")
    return float(p)


def padded_to_whole_windows(found: Window, sizes: Sequence[te.Dim]) -> Window:
    """`found` with the padding behind that makes its windows reach just as far as they do in ceil mode."""
    padding = list(found.padding)
    for i, (n, stride, extent) in enumerate(zip(sizes, found.strides, found.extents, strict=True)):
        before, after = padding[i], padding[i + found.rank]
        room = n + before + after - extent
        if isinstance(room, int) and room < 0:
            raise Malformed(f"a window over {extent} elements is larger than the padded dimension of {room + extent}")
        # a window must not begin beyond the elements and what is padded before them
        count = te.extreme(te.BinaryKind.MIN, ceil_divided(room, stride), ceil_divided(n + before, stride) - 1)
        padding[i + found.rank] = at_least_0(count * stride + extent - n - before)
    return Window(found.size, found.strides, found.dilation, padding)


def lp_pool(node: Node) -> SSAValue:
    """`(sum |x|^p)^(1/p)` of each window: an average pool of the powers, times the window's size.

    In ceil mode the last windows reach beyond the padding, which averages do not count: as padding they do.
    """
    given = node.input(0)
    x = node.widened(given)
    p = power_of(node)
    found = auto_padded(node, x, window(node, x, node.integers("kernel_shape")))
    if node.integer("ceil_mode", 0):
        found = padded_to_whole_windows(found, node.dims(x)[2:])
    powers, found = with_padding(node, _raised(node, x, p), found, None)
    average = node.emit(
        f"nn.avg_pool{found.rank}d",
        powers,
        pool_size=found.size,
        strides=found.strides,
        dilation=found.dilation,
        padding=found.known_padding,
        layout=_LAYOUTS[found.rank][0],
        ceil_mode=False,
        count_include_pad=True,
    )
    total = node.emit("multiply", average, node.scalar(float(prod(found.size)), x))
    return node.cast(_root(node, total, p), tensor(given).element_type)


def _raised(node: Node, x: SSAValue, p: float) -> SSAValue:
    """`|x|^p`."""
    return node.emit("multiply", x, x) if p == 2 else node.emit("power", node.emit("abs", x), node.scalar(p, x))


def _root(node: Node, total: SSAValue, p: float) -> SSAValue:
    """`total^(1/p)`, of what is not negative."""
    return node.emit("sqrt", total) if p == 2 else node.emit("power", total, node.scalar(1.0 / p, total))


def global_pool(pool: str, reduction: str) -> Converter:
    """A pool over all spatial dimensions: of images Relay's operator, of others a reduction."""

    def convert(node: Node) -> SSAValue:
        x = node.input(0)
        if rank_of(x) == 4:
            return node.emit(pool, x, layout="NCHW")
        return node.emit(reduction, x, axis=list(range(2, rank_of(x))), keepdims=True)

    return convert


def global_lp_pool(node: Node) -> SSAValue:
    x, p = node.input(0, at_least=3), power_of(node)
    total = node.emit("sum", _raised(node, x, p), axis=list(range(2, rank_of(x))), keepdims=True)
    return _root(node, total, p)


def grid_sample(node: Node) -> SSAValue:
    """Images sampled where a grid says; the grid has (x, y) or (x, y, z) last, in relay second."""
    x, grid = node.input(0), node.input(1)
    rank = rank_of(x)
    if rank not in (4, 5) or rank_of(grid) != rank:
        raise Unsupported(f"an input of rank {rank} and a grid of rank {rank_of(grid)}, where images have 4 or 5")
    methods = {mode: mode for mode in ("bilinear", "nearest", "bicubic")} | {"linear": "bilinear", "cubic": "bicubic"}
    modes = {mode: mode for mode in ("zeros", "border", "reflection")}
    return node.emit(
        "image.grid_sample",
        x,
        node.emit("transpose", grid, axes=[0, rank - 1, *range(1, rank - 1)]),
        layout=_LAYOUTS[rank - 2][0],
        method=node.choice("mode", methods, "bilinear"),
        padding_mode=node.choice("padding_mode", modes, "zeros"),
        align_corners=bool(node.integer("align_corners", 0)),
    )


def affine_grid(node: Node) -> SSAValue:
    """The places `(x, y)`, or `(x, y, z)`, that a transform takes coordinates from -1 to 1 to: where to sample images.

    Their extents may be known when the graph runs only. Of one row with aligned corners the coordinate is 1, as ONNX
    Runtime has it.
    """
    import numpy as np

    theta, size = node.input(0, rank=3), vector(node, 1)
    rank, element = count_of(size) - 2, tensor(theta).element_type
    if rank not in (2, 3) or shape_of(theta)[1:] != (rank, rank + 1):
        raise Malformed(f"{theta.type} transforms no images of {rank + 2} dimensions")
    images = node.dims(theta)[0]
    if (extents := node.symbolic_or_none(1)) is not None:
        if isinstance(images, int) and isinstance(extents[0], int) and images != extents[0]:
            raise Malformed(f"{images} transforms of {extents[0]} images")
        theta = node.reshape_to(theta, [extents[0], rank, rank + 1])
        counted = [(positions(node, extent), Told(node, node.extent(extent))) for extent in extents[2:]]
    else:
        size = size.provided(size.at([0]).equal(Told(node, node.extent(images))))
        counts = [size.at([axis + 2]) for axis in range(rank)]
        counted = [(up_to(node, count).value, count.number()) for count in counts]

    def column(number: int) -> SSAValue:
        taken = node.emit("take", theta, node.constant(np.array(number)), axis=2)
        return node.emit("expand_dims", taken, axis=1, num_newaxis=rank)

    grid = column(rank)
    for axis, (places, count) in enumerate(counted):
        place = Told(node, places)
        if node.integer("align_corners", 0):
            above, whole = (place - (count - 1)) * 2, (count - 1).at_least(1)
            start = 1.0
        else:
            above, whole = place * 2 + 1, count
            start = -1.0
        share = node.emit("divide", node.cast(above.value, element), node.cast(whole.value, element))
        coordinates = node.emit("add", share, node.scalar(start, share))
        along = node.emit("expand_dims", coordinates, axis=1, num_newaxis=rank - axis)
        grid = node.emit("add", grid, node.emit("multiply", column(rank - 1 - axis), along))
    return grid


CONVERTERS: dict[str, Versions] = {
    "AffineGrid": {20: affine_grid},
    "AveragePool": {1: average_pool},
    "Conv": {1: conv},
    "ConvTranspose": {1: conv_transpose},
    "GlobalAveragePool": {1: global_pool("nn.global_avg_pool2d", "mean")},
    "GlobalLpPool": {2: global_lp_pool},
    "GlobalMaxPool": {1: global_pool("nn.global_max_pool2d", "max")},
    "GridSample": {16: grid_sample},
    "LpPool": {2: lp_pool},
    "MaxPool": {1: max_pool},
}
