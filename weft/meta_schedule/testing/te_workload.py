"""Products, convolutions and sums that design spaces are tried on (`tvm.meta_schedule.testing.te_workload`).

Each gives its arguments and results, in the order of a function's parameters: `te.create_prim_func` makes the function.
Images are N, spatial dimensions, channels, unless the name says otherwise; `in_dtype` is of what is read, `out_dtype`
of what is computed and given. Arguments of another type, and strides, dilations, groups and factors that are not
positive, are refused by an `ArgumentError`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ... import te, topi
from ...dialects.relay.winograd import FILTERINGS, TAPS
from ...dialects.support.arguments import ArgumentError, checked
from ...dialects.tir.functions import PrimFuncOp

Tensors: TypeAlias = tuple[te.Tensor, ...]

_LETTERS = ("l", "hw", "dhw")
"""What spatial dimensions are called, of one to three."""


def _padded(image: te.Tensor, amounts: Sequence[int]) -> te.Tensor:
    """`image` with so many zeros before and behind each dimension, the stage `PadInput`."""
    shape = [extent + 2 * amount for extent, amount in zip(image.shape, amounts, strict=True)]

    def value(*at: te.Expr) -> te.Expr:
        inside: list[te.Expr] = []
        for index, amount, extent in zip(at, amounts, image.shape, strict=True):
            inside += [index >= amount, index < extent + amount] if amount else []
        read = image[tuple(index - amount if amount else index for index, amount in zip(at, amounts, strict=True))]
        return te.if_then_else(te.all(*inside), read, te.const(0, image.dtype)) if inside else read

    return te.compute(shape, value, name="PadInput")


def _ends(sizes: Sequence[int], kernel: int, stride: int, padding: int, dilation: int = 1) -> list[int]:
    """The extents of what a kernel makes of an image, which it reads elements of `dilation` apart.

    Raises:
        ArgumentError: the stride or the dilation is no positive number.
    """
    _check_positive(stride=stride, dilation=dilation)
    return [(size + 2 * padding - (kernel - 1) * dilation - 1) // stride + 1 for size in sizes]


def _check_positive(**numbers: int) -> None:
    """
    Raises:
        ArgumentError: one is no positive number.
    """
    for name, number in numbers.items():
        if number < 1:
            raise ArgumentError(f"'{name}' is a positive number, and not {number}")


def _convolution(
    name: str, batch: int, sizes: Sequence[int], CI: int, CO: int, kernel_size: int, stride: int, padding: int,
    dilation: int, groups: int, in_dtype: str, out_dtype: str,
) -> Tensors:  # fmt: skip
    """A convolution over as many dimensions as there are `sizes`, channels last: image, weights, result.

    Raises:
        ArgumentError: a stride, a dilation or a number of groups is not positive, or does not divide the channels.
    """
    _check_positive(groups=groups)
    if CI % groups or CO % groups:
        raise ArgumentError(f"{CI} and {CO} channels do not divide into {groups} groups")
    letters = _LETTERS[len(sizes) - 1]
    inputs = te.placeholder((batch, *sizes, CI), in_dtype, name="inputs")
    kernels = [kernel_size] * len(sizes)
    weight = te.placeholder((*kernels, CI // groups, CO), in_dtype, name="weight")
    ends = _ends(sizes, kernel_size, stride, padding, dilation)
    steps = [te.reduce_axis((0, kernel_size), name=f"r{letter}") for letter in letters]
    rc = te.reduce_axis((0, CI // groups), name="rc")
    padded = _padded(inputs, (0, *(padding for _ in sizes), 0))

    def product(*at: te.Expr) -> te.Expr:
        n, *places, co = at
        read = [place * stride + step * dilation for place, step in zip(places, steps, strict=True)]
        channel = co // (CO // groups) * (CI // groups) + rc
        image, factor = padded[(n, *read, channel)], weight[(*steps, rc, co)]
        return te.sum(image.astype(out_dtype) * factor.astype(out_dtype), axis=[*steps, rc])

    return inputs, weight, te.compute((batch, *ends, CO), product, name=name)


@checked
def conv1d_nlc(
    N: int, L: int, CI: int, CO: int, kernel_size: int, stride: int = 1, padding: int = 0, dilation: int = 1,
    groups: int = 1, in_dtype: str = "float32", out_dtype: str = "float32",
) -> Tensors:  # fmt: skip
    """Image [N, L, CI], weights [kernel_size, CI / groups, CO]."""
    return _convolution(
        "conv1d_nlc", N, (L,), CI, CO, kernel_size, stride, padding, dilation, groups, in_dtype, out_dtype
    )


@checked
def conv2d_nhwc(
    N: int, H: int, W: int, CI: int, CO: int, kernel_size: int, stride: int = 1, padding: int = 0, dilation: int = 1,
    groups: int = 1, in_dtype: str = "float32", out_dtype: str = "float32",
) -> Tensors:  # fmt: skip
    """Image [N, H, W, CI], weights [kernel_size, kernel_size, CI / groups, CO]."""
    return _convolution(
        "conv2d_nhwc", N, (H, W), CI, CO, kernel_size, stride, padding, dilation, groups, in_dtype, out_dtype
    )


@checked
def group_conv2d_nhwc(
    N: int, H: int, W: int, CI: int, CO: int, kernel_size: int, stride: int = 1, padding: int = 0, dilation: int = 1,
    groups: int = 1, in_dtype: str = "float32", out_dtype: str = "float32",
) -> Tensors:  # fmt: skip
    """`conv2d_nhwc`, which has groups as well."""
    return conv2d_nhwc(N, H, W, CI, CO, kernel_size, stride, padding, dilation, groups, in_dtype, out_dtype)


@checked
def conv3d_ndhwc(
    N: int, D: int, H: int, W: int, CI: int, CO: int, kernel_size: int, stride: int = 1, padding: int = 0,
    dilation: int = 1, groups: int = 1, in_dtype: str = "float32", out_dtype: str = "float32",
) -> Tensors:  # fmt: skip
    """Image [N, D, H, W, CI], weights [kernel_size, kernel_size, kernel_size, CI / groups, CO]."""
    return _convolution(
        "conv3d_ndhwc", N, (D, H, W), CI, CO, kernel_size, stride, padding, dilation, groups, in_dtype, out_dtype
    )


@checked
def depthwise_conv2d_nhwc(
    N: int, H: int, W: int, C: int, kernel_size: int, stride: int = 1, padding: int = 0, dilation: int = 1,
    factor: int = 1, in_dtype: str = "float32", out_dtype: str = "float32",
) -> Tensors:  # fmt: skip
    """Image [N, H, W, C], weights [factor, kernel_size, kernel_size, C], result [N, H', W', C * factor]."""
    _check_positive(factor=factor)
    inputs = te.placeholder((N, H, W, C), in_dtype)
    weight = te.placeholder((factor, kernel_size, kernel_size, C), in_dtype)
    ends = _ends((H, W), kernel_size, stride, padding, dilation)
    rh, rw = (te.reduce_axis((0, kernel_size), name=name) for name in ("rh", "rw"))
    padded = _padded(inputs, (0, padding, padding, 0))

    def product(n: te.Expr, h: te.Expr, w: te.Expr, c: te.Expr) -> te.Expr:
        image = padded[n, h * stride + rh * dilation, w * stride + rw * dilation, c // factor]
        return te.sum(
            image.astype(out_dtype) * weight[c % factor, rh, rw, c // factor].astype(out_dtype), axis=[rh, rw]
        )

    return inputs, weight, te.compute((N, *ends, C * factor), product, name="depth_conv2d_nhwc")


@checked
def conv2d_transpose_nhwc(
    N: int, H: int, W: int, CI: int, CO: int, kernel_size: int, stride: int = 1, padding: int = 0,
    in_dtype: str = "float32", out_dtype: str = "float32",
) -> Tensors:  # fmt: skip
    """The transpose of a convolution: image [N, H, W, CI], weights [kernel_size, kernel_size, CI, CO],
    result [N, (H - 1) * stride - 2 * padding + kernel_size, ..., CO]."""
    inputs = te.placeholder((N, H, W, CI), in_dtype, name="inputs")
    weight = te.placeholder((kernel_size, kernel_size, CI, CO), in_dtype, name="weight")
    _check_positive(stride=stride)
    around = kernel_size - 1 - padding  # of the image, had it stride - 1 zeros between neighbours
    margin, first = -(-around // stride), -around % stride
    padded = _padded(inputs, (0, margin, margin, 0))
    ends = [(size - 1) * stride - 2 * padding + kernel_size for size in (H, W)]
    rh, rw = (te.reduce_axis((0, kernel_size), name=name) for name in ("rh", "rw"))
    rc = te.reduce_axis((0, CI), name="rc")

    def product(n: te.Expr, h: te.Expr, w: te.Expr, co: te.Expr) -> te.Expr:
        down, right = h + rh + first, w + rw + first
        there = te.all(down % stride == 0, right % stride == 0)
        image = te.if_then_else(there, padded[n, down // stride, right // stride, rc], te.const(0, in_dtype))
        factor = weight[kernel_size - 1 - rh, kernel_size - 1 - rw, rc, co]
        return te.sum(image.astype(out_dtype) * factor.astype(out_dtype), axis=[rh, rw, rc])

    return inputs, weight, te.compute((N, *ends, CO), product, name="conv2d_transpose_nhwc")


@checked
def conv2d_capsule_nhwijc(
    N: int, H: int, W: int, CI: int, CO: int, kernel_size: int, stride: int = 1, padding: int = 0,
    capsule_size: int = 4, in_dtype: str = "float32", out_dtype: str = "float32",
) -> Tensors:  # fmt: skip
    """A convolution whose pixels are square matrices: image [N, H, W, capsule, capsule, CI],
    weights [kernel_size, kernel_size, capsule, capsule, CI, CO]."""
    inputs = te.placeholder((N, H, W, capsule_size, capsule_size, CI), in_dtype, name="inputs")
    kernel = (kernel_size, kernel_size, capsule_size, capsule_size, CI, CO)
    weight = te.placeholder(kernel, in_dtype, name="weight")
    ends = _ends((H, W), kernel_size, stride, padding)
    rh, rw = (te.reduce_axis((0, kernel_size), name=name) for name in ("rh", "rw"))
    cap_k, rc = te.reduce_axis((0, capsule_size), name="cap_k"), te.reduce_axis((0, CI), name="rc")
    padded = _padded(inputs, (0, padding, padding, 0, 0, 0))

    def product(*at: te.Expr) -> te.Expr:
        n, h, w, cap_i, cap_j, co = at
        image = padded[n, h * stride + rh, w * stride + rw, cap_i, cap_k, rc]
        factor = weight[rh, rw, cap_k, cap_j, rc, co]
        return te.sum(image.astype(out_dtype) * factor.astype(out_dtype), axis=[rh, rw, cap_k, rc])

    shape = (N, *ends, capsule_size, capsule_size, CO)
    return inputs, weight, te.compute(shape, product, name="conv2d_capsule_nhwijc")


def _entry(rows: Sequence[Sequence[float]], row: te.Expr, column: te.Expr) -> te.Expr:
    """What stands in a matrix of numbers at a place that is known only when it runs."""
    value: te.Expr = te.const(0.0, "float32")
    for i, numbers in enumerate(rows):
        for j, number in enumerate(numbers):
            if number:
                value = te.Select(te.all(row == i, column == j), te.const(float(number), "float32"), value)
    return value


@checked
def conv2d_winograd_nhwc(
    N: int, H: int, W: int, CI: int, CO: int, kernel_size: int, stride: int = 1, padding: int = 0, dilation: int = 1,
    tile_size: int = 4,
) -> Tensors:  # fmt: skip
    """A convolution by 3x3 by Winograd's minimal filtering, of weights that are transformed already: `kernel_size` is
    the extent of these, `tile_size + 2`. Image [N, H, W, CI], weights [kernel_size, kernel_size, CO, CI].

    Source of the matrices: `Filtering` of Weft's own convolutions.

    Raises:
        ArgumentError: there is no filtering of the tile and the kernel, or the kernel has a stride or a dilation.
    """
    if tile_size not in FILTERINGS or kernel_size != tile_size + TAPS - 1 or (stride, dilation) != (1, 1):
        sizes = ", ".join(f"{m} of {m + TAPS - 1}" for m in FILTERINGS)
        raise ArgumentError("no filtering has this tile, kernel, stride and dilation", hint=f"tiles: {sizes}")
    filtering = FILTERINGS[tile_size]
    x = te.placeholder((N, H, W, CI), "float32", name="X")
    weight = te.placeholder((kernel_size, kernel_size, CO, CI), "float32", name="W")
    heights, widths = H + 2 * padding - TAPS + 1, W + 2 * padding - TAPS + 1
    down, across = -(-heights // tile_size), -(-widths // tile_size)
    height, width = down * tile_size + TAPS - 1, across * tile_size + TAPS - 1

    def padded(n: te.Expr, h: te.Expr, w: te.Expr, c: te.Expr) -> te.Expr:
        inside = te.all(h >= padding, h < H + padding, w >= padding, w < W + padding)
        return te.if_then_else(inside, x[n, h - padding, w - padding, c], te.const(0.0, "float32"))

    data = te.compute((N, height, width, CI), padded, name="data_pad")
    tiles = N * down * across

    def tile(eps: te.Expr, nu: te.Expr, p: te.Expr, c: te.Expr) -> te.Expr:
        row, column = p // across % down * tile_size + eps, p % across * tile_size + nu
        return data[p // (down * across), row, column, c]

    points = (kernel_size, kernel_size)
    taken = te.compute((*points, tiles, CI), tile, name="input_tile")

    def transformed(of: te.Tensor, rows: Sequence[Sequence[float]], i: te.Expr, j: te.Expr, *at: te.Expr) -> te.Expr:
        a, b = te.reduce_axis((0, kernel_size), name="r_a"), te.reduce_axis((0, kernel_size), name="r_b")
        return te.sum(of[(a, b, *at)] * _entry(rows, i, a) * _entry(rows, j, b), axis=[a, b])

    packed = te.compute((*points, tiles, CI), lambda *at: transformed(taken, filtering.data, *at), name="data_pack")
    ci = te.reduce_axis((0, CI), name="ci")
    products = te.compute(
        (*points, tiles, CO),
        lambda i, j, p, co: te.sum(packed[i, j, p, ci] * weight[i, j, co, ci], axis=ci),
        name="bgemm",
    )
    results = te.compute(
        (tile_size, tile_size, tiles, CO), lambda *at: transformed(products, filtering.result, *at), name="inverse"
    )

    def placed(n: te.Expr, h: te.Expr, w: te.Expr, co: te.Expr) -> te.Expr:
        p = n * (down * across) + h // tile_size * across + w // tile_size
        return results[h % tile_size, w % tile_size, p, co]

    return x, weight, te.compute((N, heights, widths, CO), placed, name="conv2d_winograd")


@checked
def conv2d_nhwc_bn_relu(
    N: int, H: int, W: int, CI: int, CO: int, kernel_size: int, strides: int = 1, padding: int = 0, dilation: int = 1,
    in_dtype: str = "float32", out_dtype: str = "float32",
) -> Tensors:  # fmt: skip
    """A convolution, a bias, a normalisation of known scale and offset, and a maximum with 0."""
    data, kernel, conv = _convolution(
        "Conv2dOutput", N, (H, W), CI, CO, kernel_size, strides, padding, dilation, 1, in_dtype, out_dtype
    )
    bias, scale, offset = (te.placeholder((CO,), out_dtype, name=name) for name in ("bias", "bn_scale", "bn_offset"))
    shape = list(conv.shape)

    def normalised(n: te.Expr, h: te.Expr, w: te.Expr, c: te.Expr) -> te.Expr:
        return (conv[n, h, w, c] + bias[c]) * scale[c] + offset[c]

    linear = te.compute(shape, normalised, name="bn_add")
    return data, kernel, bias, offset, scale, topi.nn.relu(linear)


@checked
def batch_matmul_nkkm(B: int, N: int, M: int, K: int, in_dtype: str = "float32", out_dtype: str = "float32") -> Tensors:
    """[B, N, K] by [B, K, M]."""
    x, y = te.placeholder((B, N, K), in_dtype, name="X"), te.placeholder((B, K, M), in_dtype, name="Y")
    k = te.reduce_axis((0, K), name="k")

    def product(b: te.Expr, i: te.Expr, j: te.Expr) -> te.Expr:
        return te.sum(x[b, i, k].astype(out_dtype) * y[b, k, j].astype(out_dtype), axis=k)

    return x, y, te.compute((B, N, M), product, name="Z")


@checked
def transpose_batch_matmul(
    batch: int, seq_len: int, n_head: int, n_dim: int, in_dtype: str = "float32", out_dtype: str = "float32"
) -> Tensors:
    """What attention compares: queries and values [batch, seq_len, n_head, n_dim], each transposed, and their products
    [batch, n_head, seq_len, seq_len]."""
    query = te.placeholder((batch, seq_len, n_head, n_dim), in_dtype, name="query")
    value = te.placeholder((batch, seq_len, n_head, n_dim), in_dtype, name="value")
    rows = te.compute((batch, n_head, seq_len, n_dim), lambda b, h, i, d: query[b, i, h, d], name="query_T")
    columns = te.compute((batch, n_head, n_dim, seq_len), lambda b, h, d, i: value[b, i, h, d], name="value_T")
    k = te.reduce_axis((0, n_dim), name="k")

    def product(b: te.Expr, h: te.Expr, i: te.Expr, j: te.Expr) -> te.Expr:
        return te.sum(rows[b, h, i, k].astype(out_dtype) * columns[b, h, k, j].astype(out_dtype), axis=k)

    return query, value, te.compute((batch, n_head, seq_len, seq_len), product, name="C")


@checked
def matmul(n: int, m: int, k: int, in_dtype: str = "float32", out_dtype: str = "float32") -> Tensors:
    """[n, k] by [k, m]."""
    return _product(n, te.placeholder((k, m), in_dtype, name="B"), False, out_dtype)


@checked
def dense(n: int, m: int, k: int, in_dtype: str = "float32", out_dtype: str = "float32") -> Tensors:
    """[n, k] by the transpose of [m, k]."""
    return _product(n, te.placeholder((m, k), in_dtype, name="B"), True, out_dtype)


def _product(n: int, b: te.Tensor, is_transposed: bool, out_dtype: str) -> Tensors:
    """A matrix of `n` rows by another one, or by its transpose."""
    k, m = reversed(b.shape) if is_transposed else b.shape
    a, step = te.placeholder((n, k), b.dtype, name="A"), te.reduce_axis((0, k), name="k")

    def element(i: te.Expr, j: te.Expr) -> te.Expr:
        other = b[j, step] if is_transposed else b[step, j]
        return te.sum(a[i, step].astype(out_dtype) * other.astype(out_dtype), axis=step)

    return a, b, te.compute((n, m), element, name="C")


@checked
def matmul_relu(n: int, m: int, k: int, in_dtype: str = "float32", out_dtype: str = "float32") -> Tensors:
    """`matmul`, and the maximum of it and 0."""
    a, b, c = matmul(n, m, k, in_dtype, out_dtype)
    return a, b, topi.nn.relu(c)


@checked
def norm_bmn(B: int, M: int, N: int) -> Tensors:
    """The root of the sum of squares of each matrix of [B, M, N]: [B]."""
    a = te.placeholder((B, M, N), "float32", name="A")
    i, j = te.reduce_axis((0, M), name="i"), te.reduce_axis((0, N), name="j")
    squares = te.compute((B,), lambda b: te.sum(a[b, i, j] * a[b, i, j], axis=[i, j]), name="C")
    return a, te.compute((B,), lambda b: te.sqrt(squares[b]), name="D")


@checked
def softmax_mn(m: int, n: int) -> Tensors:
    """The softmax of each row of [m, n]."""
    a = te.placeholder((m, n), "float32", name="A")
    k, step = te.reduce_axis((0, n), name="k"), te.reduce_axis((0, n), name="k")
    greatest = te.compute(
        (m,), lambda i: te.max(a[i, k], axis=k, init=te.min_value("float32")), name="T_softmax_maxelem"
    )
    powers = te.compute((m, n), lambda i, j: te.exp(a[i, j] - greatest[i]), name="T_softmax_exp")
    sums = te.compute((m,), lambda i: te.sum(powers[i, step], axis=step), name="T_softmax_expsum")
    return a, te.compute((m, n), lambda i, j: powers[i, j] / sums[i], name="T_softmax_norm", attrs={"axis": 1})


Workload: TypeAlias = tuple[Callable[..., Tensors], tuple[tuple[int, ...], ...]]

CONFIGS: dict[str, Workload] = {
    "C1D": (conv1d_nlc, ((1, 256, 64, 128, 3, 2, 1), (1, 128, 128, 256, 1, 2, 0), (1, 64, 256, 256, 5, 1, 2))),
    "C2D": (
        conv2d_nhwc,
        ((1, 224, 224, 3, 64, 7, 2, 3), (1, 56, 56, 64, 128, 1, 2, 0), (1, 28, 28, 128, 128, 3, 1, 1)),
    ),
    "C3D": (conv3d_ndhwc, ((1, 16, 224, 224, 3, 64, 7, 2, 3), (1, 4, 14, 14, 256, 256, 3, 1, 1))),
    "GMM": (batch_matmul_nkkm, ((1, 128, 128, 128), (1, 512, 32, 512), (1, 512, 512, 512), (1, 1024, 1024, 1024))),
    "GRP": (group_conv2d_nhwc, ((1, 56, 56, 64, 128, 3, 2, 1, 1, 4), (1, 28, 28, 128, 128, 3, 1, 1, 1, 4))),
    "DIL": (conv2d_nhwc, ((1, 224, 224, 3, 64, 7, 2, 3, 2), (1, 28, 28, 128, 128, 3, 1, 1, 2))),
    "DEP": (depthwise_conv2d_nhwc, ((1, 112, 112, 32, 3, 1, 1), (1, 56, 56, 128, 3, 1, 1))),
    "T2D": (conv2d_transpose_nhwc, ((1, 4, 4, 512, 256, 4, 2, 1), (1, 8, 8, 256, 128, 4, 2, 1))),
    "CAP": (conv2d_capsule_nhwijc, ((1, 16, 16, 32, 32, 3, 2, 1), (1, 8, 8, 32, 32, 3, 1, 1))),
    "C2D_WIN_NHWC": (conv2d_winograd_nhwc, ((1, 14, 14, 128, 128, 6),)),
    "NRM": (norm_bmn, ((1, 256, 256), (1, 512, 512), (1, 1024, 1024))),
    "SFM": (softmax_mn, ((256, 256), (512, 512), (1024, 1024))),
    "CBR": (conv2d_nhwc_bn_relu, ((1, 224, 224, 3, 64, 7, 2, 3), (1, 56, 56, 64, 128, 1, 2, 0))),
    "TBG": (transpose_batch_matmul, ((1, 128, 12, 64), (1, 128, 16, 64))),
}
"""Each computation by its short name, and the sizes that it is tried at."""


@checked
def create_te_workload(name: str, idx: int) -> PrimFuncOp:
    """The function that computes `name` of `CONFIGS`, at sizes number `idx`.

    Raises:
        ArgumentError: there is no such computation, or it has fewer sizes.
    """
    if name not in CONFIGS:
        raise ArgumentError(f"there is no workload {name!r}", hint=f"there are {', '.join(CONFIGS)}")
    workload, sizes = CONFIGS[name]
    if not 0 <= idx < len(sizes):
        raise ArgumentError(f"{name} has {len(sizes)} sizes, and so no number {idx}")
    return te.create_prim_func(list(workload(*sizes[idx])))
