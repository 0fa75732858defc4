"""Computations of every kind that schedule rules treat on their own, as tensor expressions of any size."""

from __future__ import annotations

from tir_run import Stage
from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute

from weft.dialects import te


def conv(
    batch: int, channels: int, out: int, height: int, width: int, kernel: int, stride: int = 1, pad: int = 0,
    groups: int = 1, dilation: int = 1, relu: bool = True,
) -> Stage:  # fmt: skip
    """A convolution in NCHW, its input padded by a stage of its own where `pad` is not 0."""
    x = te.placeholder((batch, channels, height, width), f32, "x")
    w = te.placeholder((out, channels // groups, kernel, kernel), f32, "w")
    data = x
    if pad:
        data = te.compute(
            (batch, channels, height + 2 * pad, width + 2 * pad),
            lambda n, c, h, v: te.select(
                te.all_of([h >= pad, h < height + pad, v >= pad, v < width + pad]),
                x[n, c, h - pad, v - pad],
                te.const(0, f32),
            ),
            "pad",
        )
    reach = dilation * (kernel - 1) + 1
    rows, columns = (height + 2 * pad - reach) // stride + 1, (width + 2 * pad - reach) // stride + 1
    rc, ry, rx = te.reduce_axis(channels // groups, "c"), te.reduce_axis(kernel, "y"), te.reduce_axis(kernel, "z")

    def body(n: te.IterVar, o: te.IterVar, h: te.IterVar, v: te.IterVar) -> te.Expr:
        channel = rc if groups == 1 else (o // (out // groups)) * (channels // groups) + rc
        at = (n, channel, h * stride + ry * dilation, v * stride + rx * dilation)
        return te.sum(data[at] * w[o, rc, ry, rx], (rc, ry, rx))

    result = te.compute((batch, out, rows, columns), body, "conv")
    return [x, w], [_relu(result) if relu else result]


def blocked_conv(
    batch: int | te.Var, channels: int, out: int, height: int, width: int, kernel: int, block: int, stride: int = 1
) -> Stage:
    """A convolution in NCHW[block]c, weights in OIHW[block]i[block]o, with a bias and relu."""
    x = te.placeholder((batch, channels, height, width, block), f32, "x")
    w = te.placeholder((out, channels, kernel, kernel, block, block), f32, "w")
    b = te.placeholder((out, block), f32, "b")
    rows, columns = (height - kernel) // stride + 1, (width - kernel) // stride + 1
    rc, ry, rx = te.reduce_axis(channels, "c"), te.reduce_axis(kernel, "y"), te.reduce_axis(kernel, "z")
    ri = te.reduce_axis(block, "r")
    result = te.compute(
        (batch, out, rows, columns, block),
        lambda n, o, h, v, i: te.sum(
            x[n, rc, h * stride + ry, v * stride + rx, ri] * w[o, rc, ry, rx, ri, i], (rc, ry, rx, ri)
        ),
        "conv",
    )
    shifted = te.compute(result.shape, lambda n, o, h, v, i: result[n, o, h, v, i] + b[o, i], "bias")
    return [x, w, b], [_relu(shifted)]


def depthwise(channels: int, height: int, width: int, kernel: int, block: int, stride: int = 1, pad: int = 0) -> Stage:
    """A depthwise convolution in NCHW[block]c."""
    x = te.placeholder((1, channels, height, width, block), f32, "x")
    w = te.placeholder((channels, kernel, kernel, block), f32, "w")
    ry, rx = te.reduce_axis(kernel, "y"), te.reduce_axis(kernel, "z")
    padded = te.compute(
        (1, channels, height + 2 * pad, width + 2 * pad, block),
        lambda n, o, h, v, i: te.select(
            te.all_of([h >= pad, h < height + pad, v >= pad, v < width + pad]),
            x[n, o, h - pad, v - pad, i],
            te.const(0, f32),
        ),
        "pad",
    )
    rows, columns = (height + 2 * pad - kernel) // stride + 1, (width + 2 * pad - kernel) // stride + 1
    result = te.compute(
        (1, channels, rows, columns, block),
        lambda n, o, h, v, i: te.sum(padded[n, o, h * stride + ry, v * stride + rx, i] * w[o, ry, rx, i], (ry, rx)),
        "depthwise",
    )
    return [x, w], [_relu(result)]


def pool(channels: int, height: int, width: int, kernel: int, block: int, stride: int, average: bool = False) -> Stage:
    """A maximum or a mean over windows, in NCHW[block]c."""
    x = te.placeholder((1, channels, height, width, block), f32, "x")
    ry, rx = te.reduce_axis(kernel, "y"), te.reduce_axis(kernel, "z")
    shape = (1, channels, (height - kernel) // stride + 1, (width - kernel) // stride + 1, block)
    combine = te.sum if average else te.max
    result = te.compute(
        shape, lambda n, o, h, v, i: combine(x[n, o, h * stride + ry, v * stride + rx, i], (ry, rx)), "pool"
    )
    if average:
        total = result
        result = te.compute(shape, lambda n, o, h, v, i: total[n, o, h, v, i] / float(kernel * kernel), "mean")
    return [x], [result]


def dense(rows: int, columns: int, inner: int, packed: int = 0) -> Stage:
    """`relu(x @ w + b)`, the weights in strips of `packed` columns where that is not 0."""
    x, b = te.placeholder((rows, inner), f32, "x"), te.placeholder((columns,), f32, "b")
    shape = (-(-columns // packed), inner, packed) if packed else (columns, inner)
    w = te.placeholder(shape, f32, "w")
    k = te.reduce_axis(inner, "k")
    product = te.compute(
        (rows, columns),
        lambda i, j: te.sum(x[i, k] * (w[j // packed, k, j % packed] if packed else w[j, k]), k),
        "dense",
    )
    return [x, w, b], [te.compute((rows, columns), lambda i, j: te.maximum(product[i, j] + b[j], 0.0), "relu")]


def batch_matmul(batch: int, rows: int, columns: int, inner: int, transposed: bool = False) -> Stage:
    """`x @ w` for each matrix of a batch, with nothing after it."""
    x = te.placeholder((batch, rows, inner), f32, "x")
    w = te.placeholder((batch, columns, inner) if transposed else (batch, inner, columns), f32, "w")
    k = te.reduce_axis(inner, "k")
    return [x, w], [
        te.compute(
            (batch, rows, columns),
            lambda b, i, j: te.sum(x[b, i, k] * (w[b, j, k] if transposed else w[b, k, j]), k),
            "matmul",
        )
    ]


def softmax(*shape: int) -> Stage:
    """Softmax along the last dimension: two reductions and two stages between them."""
    x = te.placeholder(shape, f32, "x")
    k, m = te.reduce_axis(shape[-1], "k"), te.reduce_axis(shape[-1], "m")
    highest = te.compute(shape[:-1], lambda *i: te.max(x[(*i, k)], k), "highest")
    power = te.compute(shape, lambda *i: te.exp(x[i] - highest[i[:-1]]), "power")
    total = te.compute(shape[:-1], lambda *i: te.sum(power[(*i, m)], m), "total")
    return [x], [te.compute(shape, lambda *i: power[i] / total[i[:-1]], "softmax")]


def layer_norm(rows: int, columns: int) -> Stage:
    """Mean and variance of each row, and a scale."""
    x, scale = te.placeholder((rows, columns), f32, "x"), te.placeholder((columns,), f32, "scale")
    k, m = te.reduce_axis(columns, "k"), te.reduce_axis(columns, "m")
    total = te.compute((rows,), lambda i: te.sum(x[i, k], k), "total")
    mean = te.compute((rows,), lambda i: total[i] / float(columns), "mean")
    squares = te.compute((rows,), lambda i: te.sum((x[i, m] - mean[i]) * (x[i, m] - mean[i]), m), "squares")
    return [x, scale], [
        te.compute(
            (rows, columns),
            lambda i, j: (x[i, j] - mean[i]) * te.rsqrt(squares[i] / float(columns) + 1e-5) * scale[j],
            "norm",
        )
    ]


def instance_norm(channels: int, height: int, width: int) -> Stage:
    """The distance of each pixel from the mean of its channel, of which the squares' sum is one."""
    x = te.placeholder((channels, height, width), f32, "x")
    h, w, v, u = (te.reduce_axis(n, name) for n, name in ((height, "h"), (width, "w"), (height, "v"), (width, "u")))
    total = te.compute((channels,), lambda i: te.sum(x[i, h, w], (h, w)), "total")
    mean = te.compute((channels,), lambda i: total[i] / float(height * width), "mean")
    squares = te.compute(
        (channels,), lambda i: te.sum((x[i, v, u] - mean[i]) * (x[i, v, u] - mean[i]), (v, u)), "squares"
    )
    return [x], [te.compute(x.shape, lambda i, j, k: (x[i, j, k] - mean[i]) * te.rsqrt(squares[i] + 1e-5), "norm")]


def reduction(shape: tuple[int, ...], axes: tuple[int, ...], kind: te.ReduceKind, type: Attribute = f32) -> Stage:
    """A reduction over any of the axes of a tensor."""
    x = te.placeholder(shape, type, "x")
    reduced = {axis: te.reduce_axis(shape[axis], f"r{axis}") for axis in axes}

    def body(*kept: te.IterVar) -> te.Expr:
        rest = iter(kept)
        place = [reduced[axis] if axis in reduced else next(rest) for axis in range(len(shape))]
        return te.reduce(kind, x[tuple(place)], list(reduced.values()))

    return [x], [te.compute([n for axis, n in enumerate(shape) if axis not in reduced], body, kind)]


def transpose(rows: int, columns: int) -> Stage:
    x = te.placeholder((rows, columns), f32, "x")
    return [x], [te.compute((columns, rows), lambda i, j: x[j, i], "transpose")]


def concatenate(rows: int, first: int, second: int) -> Stage:
    """Two tensors side by side: each element is read under a guard."""
    x, y = te.placeholder((rows, first), f32, "x"), te.placeholder((rows, second), f32, "y")
    return [x, y], [
        te.compute((rows, first + second), lambda i, j: te.select(j < first, x[i, j], y[i, j - first]), "concatenate")
    ]


def gather(rows: int, columns: int, taken: int) -> Stage:
    """Rows of a table by number, numbers beyond its end taken as the last: the places read depend on data."""
    table, numbers = te.placeholder((rows, columns), f32, "table"), te.placeholder((taken,), te.index, "numbers")
    return [table, numbers], [
        te.compute((taken, columns), lambda i, j: table[te.minimum(numbers[i], rows - 1), j], "gather")
    ]


def _relu(x: te.Tensor) -> te.Tensor:
    return te.compute(x.shape, lambda *i: te.maximum(x[i], 0.0), "relu")
