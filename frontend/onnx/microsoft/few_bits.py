"""Weights of few bits, which become floats where a model is imported."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerType, Signedness, f32
from xdsl.ir import SSAValue

from ....dialects.relay.base import DYNAMIC, shape_of, tensor
from ....dialects.support.dtypes import numpy_dtype
from ..errors import Malformed, Unsupported
from ..indexing import take_along
from ..linear import product, swap_last
from ..node import Converter, Node, rank_of

if TYPE_CHECKING:
    from ..node import NDArray

FEW_ROWS = 7
"""Rows up to which weights of few bits are read as they are: for each tile of rows they become floats anew."""


def matmul_of_few_bits(node: Node) -> SSAValue:
    """`a @ b.T`, where rows of `b` are blocks of numbers of 2, 4 or 8 bits, each block with a scale and a zero point.
    What is told of groups is the block whose scale and zero point each column has.

    The weights become floats where the model is imported, or, if it takes them, each time it runs. In a product of few
    rows they stay as they are: to read them is most of the work.
    """
    import numpy as np

    if not all(map(node.is_known, (1, 2, 3))):
        return _matmul_of_given(node)
    a, bits, block = node.input(0, at_least=1), node.integer("bits", 4), node.integer("block_size")
    rows, columns = node.integer("N"), node.integer("K")
    if bits not in (2, 4, 8):
        raise Unsupported(f"numbers of {bits} bits")
    if block < 1:
        raise Malformed(f"attribute 'block_size' is {block}")
    blocks = -(-columns // block)
    packed = _sized(node.static(1), rows * blocks * (block * bits // 8), "weights")
    codes = _unpacked(packed, rows, bits)
    scales = _sized(node.static(2), rows * blocks, "scales").astype(np.float32)
    zeros: NDArray = np.full(rows * blocks, 2.0 ** (bits - 1), np.float32)
    if node.optional(3) is not None:
        given = node.static(3)
        if given.dtype == np.uint8:
            given = _unpacked(_sized(given, rows * -(-blocks * bits // 8), "zero points"), rows, bits)[:, :blocks]
        zeros = _sized(given, rows * blocks, "zero points").astype(np.float32)
    bias = node.optional(5)
    has_few_rows = rank_of(a) > 1 and 0 <= prod(shape_of(a)[:-1]) <= FEW_ROWS and DYNAMIC not in shape_of(a)
    if has_few_rows and node.optional(4) is None and columns == blocks * block and block * bits % 8 == 0:
        y = _product_of_bits(node, a, packed.reshape(rows, -1), scales.reshape(rows, -1), zeros.reshape(rows, -1))
        return y if bias is None else node.emit("add", y, bias)
    places = np.array([at // block for at in range(columns)], np.int64)
    if node.optional(4) is not None:
        if bits != 4:
            raise Unsupported(f"groups (input 4) of numbers of {bits} bits, which ONNX Runtime does not read")
        if node.optional(3) is not None and node.static(3).dtype == np.uint8:
            raise Unsupported("groups (input 4) with packed zero points, which ONNX Runtime does not read then")
        places = node.static(4).reshape(-1)[:columns].astype(np.int64)
        if places.size < columns or places.min() < 0 or places.max() >= blocks:
            raise Malformed(f"groups (input 4) that are not {columns} numbers below {blocks}")
    numbers = codes.reshape(rows, -1)[:, :columns].astype(np.float32) - zeros.reshape(rows, blocks)[:, places]
    weights = numbers * scales.reshape(rows, blocks)[:, places]
    dtype = numpy_dtype(tensor(a).element_type)
    y = product(node, a, node.constant(np.ascontiguousarray(weights.T, dtype)))
    return y if bias is None else node.emit("add", y, bias)


def _product_of_bits(node: Node, a: SSAValue, packed: NDArray, scales: NDArray, zeros: NDArray) -> SSAValue:
    """`a` times the transpose of rows of packed numbers, of whose blocks `scales` and `zeros` are."""
    import numpy as np

    units = len(packed)
    *leading, depth = shape_of(a)
    factors = [np.ascontiguousarray(x.T[None]) for x in (packed, scales, zeros)]
    if np.all(zeros == zeros[0, 0]):
        factors[2] = zeros[0, 0].reshape(())
    said = {"units": units, "bits": node.integer("bits", 4), "weight_layout": f"NK{units}n"}
    data = node.reshape(a, [prod(leading), depth])
    return node.reshape(
        node.emit("nn.contrib_dense_few_bits", data, *map(node.constant, factors), **said), [*leading, units]
    )


def _matmul_of_given(node: Node) -> SSAValue:
    """`matmul_of_few_bits`, whose weights are inputs of the model, or computed.

    Raises:
        Unsupported: which block's scale a column has is told, or the numbers are of other bits.
        Malformed: the inputs have not as many elements as the attributes ask for.
    """
    a, bits, block = node.input(0, at_least=1), node.integer("bits", 4), node.integer("block_size")
    rows, columns = node.integer("N"), node.integer("K")
    if node.optional(4) is not None:
        raise Unsupported("groups (input 4) of weights that are known at run time only")
    if bits not in (2, 4, 8) or block < 1:
        raise Unsupported(f"numbers of {bits} bits in blocks of {block}")
    blocks = -(-columns // block)
    codes = _unpacked_told(node, node.reshape(node.input(1), [rows * blocks, block * bits // 8]), bits)
    codes = node.cast(node.reshape(codes, [rows, blocks, block]), f32)
    scales = node.cast(node.reshape(node.input(2), [rows, blocks, 1]), f32)
    zeros = node.scalar(2.0 ** (bits - 1), scales)
    if (given := node.optional(3)) is not None:
        if tensor(given).element_type == IntegerType(8, Signedness.UNSIGNED):
            given = _unpacked_told(node, node.reshape(given, [rows, -1]), bits)
            given = node.emit("strided_slice", given, begin=[0], end=[blocks], axes=[1])
        zeros = node.cast(node.reshape(given, [rows, blocks, 1]), f32)
    weights = node.emit("multiply", node.emit("subtract", codes, zeros), scales)
    weights = node.emit(
        "strided_slice", node.reshape(weights, [rows, blocks * block]), begin=[0], end=[columns], axes=[1]
    )
    y = product(node, a, node.cast(swap_last(node, weights), tensor(a).element_type))
    return y if (bias := node.optional(5)) is None else node.emit("add", y, bias)


def _unpacked_told(node: Node, packed: SSAValue, bits: int) -> SSAValue:
    """Rows of bytes as rows of numbers of `bits` bits, the lowest bits of a byte first."""
    if bits == 8:
        return packed
    mask = node.scalar(2**bits - 1, packed)
    parts = [
        node.emit("bitwise_and", node.emit("right_shift", packed, node.scalar(shift, packed)), mask)
        for shift in range(0, 8, bits)
    ]
    return node.reshape(node.emit("stack", node.emitter.tuple(parts), axis=2), [shape_of(packed)[0], -1])


def rows_of_few_bits(node: Node) -> SSAValue:
    """`Gather` of a table of numbers of 2, 4 or 8 bits, of which each block along an axis has a scale and a zero point;
    in bytes, numbers of 4 bits stand two by two. The table becomes floats where the model is imported.

    Raises:
        Malformed: the scales or zero points do not fit the table.
    """
    import numpy as np

    table, scales = node.static(0), node.static(2)
    bits, block = node.integer("bits", 4), node.integer("block_size", 128)
    is_packed = table.dtype == np.uint8
    if is_packed and bits not in (2, 4, 8):
        raise Unsupported(f"numbers of {bits} bits")
    axis = node.axis(node.integer("quantize_axis", 1), table.ndim)
    zeros: NDArray = np.asarray(2 ** (bits - 1) if is_packed else 0)
    if node.optional(3) is not None:
        zeros = _unpacked_last(node.static(3), bits)[..., : scales.shape[-1]] if is_packed else node.static(3)
    if is_packed:
        table = _unpacked_last(table, bits)
    wanted = tuple(-(-n // max(block, 1)) if a == axis else n for a, n in enumerate(table.shape))
    if block < 1 or scales.shape != wanted or zeros.shape not in (wanted, ()):
        raise Malformed(f"blocks of {block} of {list(table.shape)} with scales {scales.shape} and zeros {zeros.shape}")
    places = np.array([at // block for at in range(table.shape[axis])], np.int64)
    factors, middle = (
        np.broadcast_to(of_blocks, wanted).astype(np.float32).take(places, axis) for of_blocks in (scales, zeros)
    )
    floats = ((table.astype(np.float32) - middle) * factors).astype(scales.dtype)
    gathered = replace(node, inputs=[node.constant(floats), node.input(1)], attributes={})
    return take_along(gathered, node.axis(node.integer("gather_axis", 0), table.ndim))


def floats_of(codes: NDArray, scales: NDArray, zeros: NDArray | None, bits: int, block: int) -> NDArray:
    """Matrices `[..., rows, columns]` of numbers of `bits` bits, packed in bytes. A row has a scale, and a zero point,
    or each of its blocks has: those stand behind one another, the zero points packed as well.

    Raises:
        Malformed: scales or zero points do not fit the numbers.
        Unsupported: they are of other bits.
    """
    import numpy as np

    if bits not in (2, 4, 8):
        raise Unsupported(f"numbers of {bits} bits")
    numbers = _unpacked_last(codes, bits).astype(np.float32)
    *outer, columns = numbers.shape
    blocks = -(-columns // block) if block else 1
    packed = () if block else (outer[-1],)
    middle: NDArray = np.full((*outer, blocks), 2.0 ** (bits - 1), np.float32)
    if zeros is not None:
        found = _unpacked_last(zeros, bits)
        found = found[..., : packed[0]] if packed else found[..., :blocks]
        middle = _sized(found, prod(outer) * blocks, "zero points").reshape(*outer, blocks).astype(np.float32)
    factors = _sized(scales, prod(outer) * blocks, "scales").reshape(*outer, blocks).astype(np.float32)
    places = np.array([at // (block or columns) for at in range(columns)], np.int64)
    return (numbers - middle[..., places]) * factors[..., places]


def _unpacked_last(packed: NDArray, bits: int) -> NDArray:
    """Bytes of numbers of `bits` bits, the lower half first, as numbers along the last dimension."""
    *outer, count = packed.shape
    return _unpacked(packed, prod(outer), bits).reshape(*outer, count * (8 // bits))


def _sized(given: NDArray, count: int, what: str) -> NDArray:
    """
    Raises:
        Malformed: there are not so many.
    """
    if given.size != count:
        raise Malformed(f"{given.size} {what}, where the attributes ask for {count}")
    return given


def _unpacked(packed: NDArray, rows: int, bits: int) -> NDArray:
    """Rows of numbers of `bits` bits, the lowest bits of a byte first.

    Raises:
        Malformed: they are not packed in bytes.
    """
    import numpy as np

    if packed.dtype != np.uint8:
        raise Malformed(f"numbers of {bits} bits packed in {packed.dtype}, and not in uint8")
    found = packed.view(np.uint8).reshape(rows, -1)
    parts = [found >> shift & 2**bits - 1 for shift in range(0, 8, bits)]
    return np.stack(parts, axis=-1).reshape(rows, -1)


OPERATORS: dict[str, tuple[Converter, str]] = {
    "GatherBlockQuantized": (rows_of_few_bits, "bits block_size gather_axis quantize_axis"),
    "MatMulNBits": (matmul_of_few_bits, "K N bits block_size accuracy_level"),
}
"""Operators by name: their converters, and the attributes that those read."""
