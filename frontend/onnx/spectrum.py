"""Fourier transforms, as products with matrices of cosines and sines: their sizes are known at import.

Complex numbers stand along a last dimension of extent 2: real part, imaginary part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from xdsl.ir import SSAValue

from ...dialects.relay.base import tensor
from ...dialects.support.dtypes import numpy_dtype
from .errors import Malformed, Unsupported
from .node import Node, Versions, rank_of
from .tensors import element_type
from .told import axes_of, switched, vector

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix: TypeAlias = npt.NDArray[np.float64]


def _waves(rows: int, columns: int, length: int) -> tuple[Matrix, Matrix]:
    """`cos` and `sin` of `2 pi i j / length` for `[i, j]`."""
    import numpy as np

    # the product modulo the length: exact, where an angle of many turns would not be
    turns = np.outer(np.arange(rows), np.arange(columns)) % length * (2 * np.pi / length)
    return np.cos(turns), np.sin(turns)


def _times(node: Node, x: SSAValue, matrix: Matrix) -> SSAValue:
    """`x @ matrix` along the last dimension."""
    known = node.constant(matrix.astype(numpy_dtype(tensor(x).element_type)))
    rows = node.reshape(x, [-1, matrix.shape[0]]) if rank_of(x) != 2 else x
    product = node.emit("nn.matmul", rows, known)
    return node.reshape(product, [*node.static_shape(x)[:-1], matrix.shape[1]])


def _parts(node: Node, x: SSAValue) -> tuple[SSAValue, SSAValue | None]:
    """Real and imaginary part of a tensor; it may have the first only.

    Raises:
        Malformed: the last dimension holds something else.
    """
    *shape, kinds = node.static_shape(x)
    if kinds not in (1, 2):
        raise Malformed(f"the last dimension has extent {kinds}, but must have 1 (real numbers) or 2 (complex ones)")
    if kinds == 1:
        return node.reshape(x, shape), None
    real, imaginary = node.emit_tuple("split", x, indices_or_sections=2, axis=len(shape))
    return node.reshape(real, shape), node.reshape(imaginary, shape)


def _together(node: Node, real: SSAValue, imaginary: SSAValue) -> SSAValue:
    fields = node.emitter.tuple([real, imaginary])
    return node.emit("stack", fields, axis=rank_of(real))


def _resized(node: Node, x: SSAValue, length: int) -> SSAValue:
    """The last dimension cut, or filled with zeros, to `length`."""
    shape = node.static_shape(x)
    if shape[-1] > length:
        return node.emit("strided_slice", x, begin=[0], end=[length], axes=[len(shape) - 1])
    if shape[-1] < length:
        widths = [0] * (2 * len(shape) - 1) + [length - shape[-1]]
        return node.emit("nn.pad", x, node.scalar(0, x), pad_width=widths)
    return x


def dft(node: Node) -> SSAValue:
    """Along an axis that may be known when the graph runs only, if the result has one type along all."""
    x = node.input(0, at_least=2)
    rank = rank_of(x)
    if node.version >= 20 and not node.is_known(2):
        number = axes_of(vector(node, 2), rank)
        number = number.provided(number < rank - 1)
        try:
            return switched(number, [lambda axis=axis: along(node, x, axis) for axis in range(rank - 1)])
        except Malformed as error:
            raise Unsupported(f"an axis that data decides, of which one is none for it: {error}") from None
    if node.version >= 20:
        axis = int(node.static_scalar(2)) if node.optional(2) is not None else -2
    else:
        axis = node.integer("axis", 1)
    axis = node.axis(axis, rank)
    if axis == rank - 1:
        raise Malformed("the axis is that of real and imaginary part")
    return along(node, x, axis)


def along(node: Node, x: SSAValue, axis: int) -> SSAValue:
    """The transform along an axis."""
    rank = rank_of(x)
    inverse, onesided = bool(node.integer("inverse", 0)), bool(node.integer("onesided", 0))
    real, imaginary = _parts(node, x)
    order = [*(d for d in range(rank - 1) if d != axis), axis]

    def at_end(part: SSAValue) -> SSAValue:
        return node.emit("transpose", part, axes=order)

    def back(part: SSAValue) -> SSAValue:
        return node.emit("transpose", part, axes=[order.index(d) for d in range(rank - 1)])

    given = node.static_shape(real)[axis]
    if inverse and onesided:
        length = int(node.static_scalar(1)) if node.optional(1) is not None else 2 * (given - 1)
    else:
        length = int(node.static_scalar(1)) if node.optional(1) is not None else given
    if length < 1:
        raise Malformed(f"a transform of {length} numbers")
    if inverse and onesided:
        return _real_inverse(node, at_end(real), None if imaginary is None else at_end(imaginary), length, back)
    real = _resized(node, at_end(real), length)
    imaginary = None if imaginary is None else _resized(node, at_end(imaginary), length)
    cosines, sines = _waves(length, length // 2 + 1 if onesided else length, length)
    if inverse:
        cosines, sines = cosines / length, -sines / length
    first, second = _times(node, real, cosines), _times(node, real, -sines)
    if imaginary is not None:
        first = node.emit("add", first, _times(node, imaginary, sines))
        second = node.emit("add", second, _times(node, imaginary, cosines))
    return _together(node, back(first), back(second))


def _real_inverse(
    node: Node, real: SSAValue, imaginary: SSAValue | None, length: int, back: Callable[[SSAValue], SSAValue]
) -> SSAValue:
    """Real numbers from the first half of their spectrum: each term but the first, and for an even length the last,
    counts for its mirror image too."""
    import numpy as np

    bins = length // 2 + 1
    cosines, sines = _waves(bins, length, length)
    weights = np.full((bins, 1), 2.0)
    weights[0] = 1
    if length % 2 == 0:
        weights[-1] = 1
    result = _times(node, _resized(node, real, bins), cosines * weights / length)
    if imaginary is not None:
        result = node.emit("subtract", result, _times(node, _resized(node, imaginary, bins), sines * weights / length))
    result = back(result)
    return node.reshape(result, [*node.static_shape(result), 1])


def stft(node: Node) -> SSAValue:
    """Each frame taken out, weighted by the window, and transformed."""
    import numpy as np

    signal, window = node.input(0, rank=3), node.optional(2)
    step = int(node.static_scalar(1))
    if node.optional(3) is not None:
        length = int(node.static_scalar(3))
    elif window is not None:
        (length,) = node.static_shape(window)
    else:
        raise Malformed("neither a window nor the length of a frame is given")
    real, imaginary = _parts(node, signal)
    count = node.static_shape(real)[1]
    if step < 1 or not 1 <= length <= count:
        raise Malformed(f"frames of {length}, {step} apart, of a signal of {count}")
    frames = (count - length) // step + 1
    places = (np.arange(frames)[:, None] * step + np.arange(length)).astype(np.int32)

    def framed(part: SSAValue) -> SSAValue:
        taken = node.emit("take", part, node.constant(places), axis=1)
        return taken if window is None else node.emit("multiply", taken, window)

    onesided = bool(node.integer("onesided", 1))
    cosines, sines = _waves(length, length // 2 + 1 if onesided else length, length)
    taken = framed(real)
    first, second = _times(node, taken, cosines), _times(node, taken, -sines)
    if imaginary is not None:
        taken = framed(imaginary)
        first = node.emit("add", first, _times(node, taken, sines))
        second = node.emit("add", second, _times(node, taken, cosines))
    return _together(node, first, second)


def mel_weight_matrix(node: Node) -> SSAValue:
    """How much of each frequency of a spectrum belongs to each band of the mel scale, as triangles."""
    import numpy as np

    bands, length, rate = (int(node.static_scalar(i)) for i in range(3))
    edges = [2595 * np.log10(1 + node.static_scalar(i) / 700) for i in (3, 4)]
    if bands < 1 or length < 1 or rate < 1:
        raise Malformed(f"{bands} bands of a spectrum of length {length} at a rate of {rate}")
    frequencies = 700 * (10 ** ((np.arange(bands + 2) * ((edges[1] - edges[0]) / (bands + 2)) + edges[0]) / 2595) - 1)
    bins = ((length + 1) * frequencies // rate).astype(np.int64)
    if bins.min() < 0 or bins.max() > length // 2 + 1:
        raise Malformed(f"bands up to {node.static_scalar(4)} Hz lie outside of a spectrum at a rate of {rate}")
    weights = np.zeros((length // 2 + 1, bands))
    edges = [int(each) for each in bins]
    for band, (low, middle, high) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        if middle == low:
            weights[middle, band] = 1
        rising, falling = np.arange(low, middle + 1), np.arange(middle, high)
        if middle > low:
            weights[rising, band] = (rising - low) / (middle - low)
        weights[falling, band] = (high - falling) / max(high - middle, 1)
    return node.constant(weights.astype(numpy_dtype(element_type(node.integer("output_datatype", 1)))))


CONVERTERS: dict[str, Versions] = {
    "DFT": {17: dft},
    "MelWeightMatrix": {17: mel_weight_matrix},
    "STFT": {17: stft},
}
