"""Fourier transforms, as products with matrices of cosines and sines.

Complex numbers stand along a last dimension of extent 2: real part, imaginary part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from xdsl.ir import Attribute, SSAValue

from ...dialects import te
from ...dialects.relay.base import shape_of, tensor
from ...dialects.support.advice import give_shapes
from ...dialects.support.dtypes import numpy_dtype
from .errors import Malformed, Unsupported
from .folding import padded
from .node import Node, Versions, rank_of
from .tensors import element_type
from .told import Told, axes_of, extents_at, positions, switched, up_to, vector

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


def _matrices(
    node: Node, element: Attribute, columns: te.Dim, length: te.Dim, inverse: bool = False
) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Of the transform of `length` numbers the cosines, the sines, and the sines with the other sign."""
    import numpy as np

    if isinstance(columns, int) and isinstance(length, int):
        cosines, sines = _waves(length, columns, length)
        if inverse:
            cosines, sines = cosines / length, -sines / length
        dtype = numpy_dtype(element)
        return tuple(node.constant(each.astype(dtype)) for each in (cosines, sines, -sines))  # pyright: ignore[reportReturnType]
    count = node.extent(length)
    rows = node.emit("expand_dims", positions(node, length), axis=1)
    turns = node.emit("floor_mod", node.emit("multiply", rows, positions(node, columns)), count)
    share = node.emit("divide", node.cast(turns, element), node.cast(count, element))
    angles = node.emit("multiply", share, node.scalar(2 * np.pi, share))
    cosines, sines = node.emit("cos", angles), node.emit("sin", angles)
    if inverse:
        cosines, sines = (node.emit("divide", each, node.cast(count, element)) for each in (cosines, sines))
        return cosines, node.emit("negative", sines), sines
    return cosines, sines, node.emit("negative", sines)


def _times(node: Node, x: SSAValue, matrix: SSAValue) -> SSAValue:
    """`x @ matrix` along the last dimension."""
    *outer, length = node.dims(x)
    rows = node.reshape_to(x, [te.product(outer), length]) if rank_of(x) != 2 else x
    product = node.emit("nn.matmul", rows, matrix)
    return node.reshape_to(product, [*outer, node.dims(matrix)[1]]) if rank_of(x) != 2 else product


def _parts(node: Node, x: SSAValue) -> tuple[SSAValue, SSAValue | None]:
    """Real and imaginary part of a tensor; it may have the first only.

    Raises:
        Malformed: the last dimension holds something else.
    """
    last = rank_of(x) - 1
    if (kinds := shape_of(x)[last]) not in (1, 2):
        raise Malformed(f"the last dimension has extent {kinds}, but must have 1 (real numbers) or 2 (complex ones)")
    parts = [x] if kinds == 1 else node.emit_tuple("split", x, indices_or_sections=2, axis=last)
    real, *imaginary = [node.emit("squeeze", part, axis=[last]) for part in parts]
    return real, imaginary[0] if imaginary else None


def _transformed(
    node: Node, real: SSAValue, imaginary: SSAValue | None, matrices: tuple[SSAValue, SSAValue, SSAValue]
) -> tuple[SSAValue, SSAValue]:
    """Real and imaginary part of the transform along the last dimension."""
    cosines, sines, turned = matrices
    first, second = _times(node, real, cosines), _times(node, real, turned)
    if imaginary is not None:
        first = node.emit("add", first, _times(node, imaginary, sines))
        second = node.emit("add", second, _times(node, imaginary, cosines))
    return first, second


def _together(node: Node, real: SSAValue, imaginary: SSAValue) -> SSAValue:
    fields = node.emitter.tuple([real, imaginary])
    return node.emit("stack", fields, axis=rank_of(real))


def _resized(node: Node, x: SSAValue, length: te.Dim) -> SSAValue:
    """The last dimension cut, or filled with zeros, to `length`."""
    *outer, given = node.dims(x)
    if te.same(given, length):
        return x
    rank = rank_of(x)
    if isinstance(given, int) and isinstance(length, int) and given > length:
        return node.emit("strided_slice", x, begin=[0], end=[length], axes=[rank - 1])
    missing = te.extreme(te.BinaryKind.MAX, length - given, 0)
    x = padded(node, x, [*[0] * (2 * rank - 1), missing])
    if te.same(node.dims(x)[-1], length):
        return x
    bounds = [0] * rank, [*outer, length], [1] * rank
    return node.emit("dyn.strided_slice", x, *(node.shape_value(each) for each in bounds))


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

    given = node.dims(real)[axis]
    told = None if node.optional(1) is None else extents_at(node, 1)[0]
    if inverse and onesided:
        length = 2 * (given - 1) if told is None else told
        if not isinstance(length, int):
            raise Unsupported(f"an inverse, one-sided transform along an open axis of {x.type}", give_shapes())
    else:
        length = given if told is None else told
    if isinstance(length, int) and length < 1:
        raise Malformed(f"a transform of {length} numbers")
    if inverse and onesided:
        assert isinstance(length, int)
        return _real_inverse(node, at_end(real), None if imaginary is None else at_end(imaginary), length, back)
    real = _resized(node, at_end(real), length)
    imaginary = None if imaginary is None else _resized(node, at_end(imaginary), length)
    columns = length // 2 + 1 if onesided else length
    matrices = _matrices(node, tensor(x).element_type, columns, length, inverse)
    return _together(node, *map(back, _transformed(node, real, imaginary, matrices)))


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

    def known(matrix: Matrix) -> SSAValue:
        return node.constant((matrix * weights / length).astype(numpy_dtype(tensor(real).element_type)))

    result = _times(node, _resized(node, real, bins), known(cosines))
    if imaginary is not None:
        result = node.emit("subtract", result, _times(node, _resized(node, imaginary, bins), known(sines)))
    result = back(result)
    return node.emit("expand_dims", result, axis=rank_of(result))


def stft(node: Node) -> SSAValue:
    """Each frame taken out, weighted by the window, and transformed. How far frames are apart may be an input. Signals
    of real numbers may lack the last dimension, as ONNX Runtime takes them."""
    signal, window = node.input(0, at_least=2), node.optional(2)
    if (rank := rank_of(signal)) not in (2, 3):
        raise Malformed(f"input 0 has rank {rank}, but must have rank 2 or 3")
    if node.optional(3) is not None:
        length, *more = extents_at(node, 3)
        if more:
            raise Malformed(f"input 3 has {1 + len(more)} elements, but must have one")
    elif window is not None and rank_of(window) == 1:
        (length,) = node.dims(window)
    elif window is not None:
        raise Malformed(f"input 2 has rank {rank_of(window)}, but must have rank 1")
    else:
        raise Malformed("neither a window nor the length of a frame is given")
    real, imaginary = (signal, None) if rank == 2 else _parts(node, signal)
    count, found = node.dims(real)[1], node.symbolic_or_none(1)
    if isinstance(length, int) and (length < 1 or (isinstance(count, int) and length > count)):
        raise Malformed(f"frames of {length} of a signal of {count}")
    if found is None:
        given, wanted = Told(node, node.extent(count)), Told(node, node.extent(length))
        step = vector(node, 1)
        step = step.provided((step >= 1).both(given >= wanted))
        frames, step = up_to(node, (given - wanted) // step + 1), step.number()
    else:
        (between,) = found
        if isinstance(between, int) and between < 1:
            raise Malformed(f"frames that are {between} apart")
        frames = Told(node, positions(node, (count - length) // between + 1))
        step = Told(node, node.extent(between))
    places = (frames * step).column() + Told(node, positions(node, length))

    def framed(part: SSAValue) -> SSAValue:
        taken = node.emit("take", part, places.value, axis=1)
        return taken if window is None else node.emit("multiply", taken, window)

    columns = length // 2 + 1 if node.integer("onesided", 1) else length
    matrices = _matrices(node, tensor(real).element_type, columns, length)
    parts = framed(real), None if imaginary is None else framed(imaginary)
    return _together(node, *_transformed(node, *parts, matrices))


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
