"""Matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from xdsl.ir import SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, broadcast_shapes, shape_of, tensor
from ...dialects.support.advice import give_shapes
from ...dialects.support.dtypes import numpy_dtype
from .elementwise import is_integer
from .errors import Malformed, Unsupported
from .node import Node, Versions, rank_of

MAX_DETERMINANT = 10
"""The rows of a matrix whose determinant is imported: of as many there are 2^10 minors."""


def swap_last(node: Node, x: SSAValue) -> SSAValue:
    """`x` with its last two dimensions exchanged."""
    rank = rank_of(x)
    return node.emit("transpose", x, axes=[*range(rank - 2), rank - 1, rank - 2])


def dense(node: Node, x: SSAValue, w: SSAValue, out_dtype: str = "") -> SSAValue:
    """`x @ w` of two matrices; `nn.dense` takes the second one transposed."""
    return node.emit("nn.dense", x, swap_last(node, w), units=_known(shape_of(w)[1]), out_dtype=out_dtype or None)


def _known(units: int) -> int | None:
    return None if units == DYNAMIC else units


def gemm(node: Node) -> SSAValue:
    """`alpha * a @ b + beta * c`."""
    a, b, c = node.input(0, rank=2), node.input(1, rank=2), node.optional(2)
    alpha, beta = node.real("alpha", 1.0), node.real("beta", 1.0)
    if node.integer("transA", 0):
        a = swap_last(node, a)
    if not node.integer("transB", 0):
        b = swap_last(node, b)
    units = shape_of(b)[0]
    y = node.emit("nn.dense", a, b, units=_known(units))
    if alpha != 1.0:
        y = node.emit("multiply", y, node.scalar(alpha, y))
    if c is None or beta == 0.0:
        return y
    if beta != 1.0:
        c = node.emit("multiply", c, node.scalar(beta, c))
    if shape_of(c) == (units,) and not is_integer(c):
        return node.emit("nn.bias_add", y, c, axis=1)
    return node.emit("add", y, c)


def batched(node: Node, a: SSAValue, b: SSAValue, out_dtype: str = "") -> SSAValue:
    """`a @ b` where both have batch dimensions, which broadcast: one `nn.batch_matmul`."""
    if DYNAMIC in (*shape_of(a), *shape_of(b)) and node.emitter.extents is not None:
        return batched_symbols(node, a, b, out_dtype)
    batch = broadcast_shapes(shape_of(a)[:-2], shape_of(b)[:-2])
    rows, columns = shape_of(a)[-2], shape_of(b)[-1]
    if len(batch) == 1:  # nn.batch_matmul broadcasts one batch dimension itself
        return _batch_matmul(node, lift(node, a, 3), lift(node, b, 3), out_dtype)
    flat: list[SSAValue] = []
    for operand in (a, b):
        matrix = shape_of(operand)[-2:]
        if shape_of(operand)[:-2] != batch and all(n == 1 for n in shape_of(operand)[:-2]):
            flat.append(node.reshape(operand, [1, *matrix]))
            continue
        if shape_of(operand)[:-2] != batch:
            node.static_shape(operand)
            operand = node.emit("broadcast_to", operand, shape=[*batch, *matrix])
        flat.append(node.reshape(operand, [_product(batch), *matrix]))
    return node.reshape(_batch_matmul(node, flat[0], flat[1], out_dtype), [*batch, rows, columns])


def batched_symbols(node: Node, a: SSAValue, b: SSAValue, out_dtype: str) -> SSAValue:
    """`batched`, where extents are symbols."""
    rank = max(rank_of(a), rank_of(b))
    a, b = lift(node, a, rank), lift(node, b, rank)
    if rank == 3:
        return _batch_matmul(node, a, b, out_dtype)
    ours, theirs = node.dims(a), node.dims(b)
    batch = [n if m == 1 else m for m, n in zip(ours[:-2], theirs[:-2], strict=True)]
    flat: list[SSAValue] = []
    for operand, dims in ((a, ours), (b, theirs)):
        if all(n == 1 for n in dims[:-2]):
            flat.append(node.reshape_to(operand, [1, *dims[-2:]]))
            continue
        if any(n == 1 != m for m, n in zip(batch, dims[:-2], strict=True)):
            operand = node.emit("dyn.broadcast_to", operand, node.shape_value([*batch, *dims[-2:]]))
        flat.append(node.reshape_to(operand, [te.product(batch), *dims[-2:]]))
    return node.reshape_to(_batch_matmul(node, flat[0], flat[1], out_dtype), [*batch, ours[-2], theirs[-1]])


def _batch_matmul(node: Node, a: SSAValue, b: SSAValue, out_dtype: str) -> SSAValue:
    return node.emit("nn.batch_matmul", a, b, transpose_a=False, transpose_b=False, out_dtype=out_dtype or None)


def lift(node: Node, x: SSAValue, rank: int) -> SSAValue:
    """`x` with dimensions of size one put before it, up to `rank`."""
    missing = rank - rank_of(x)
    return node.emit("expand_dims", x, axis=0, num_newaxis=missing) if missing else x


def matmul(node: Node) -> SSAValue:
    return product(node, node.input(0, at_least=1), node.input(1, at_least=1))


def product(node: Node, a: SSAValue, b: SSAValue, out_dtype: str = "") -> SSAValue:
    """NumPy's matmul: matrices are the last two dimensions, the others broadcast, a vector stands for a matrix. With an
    `out_dtype`, the products are formed in that type."""
    vectors = [-2 if rank_of(a) == 1 else None, -1 if rank_of(b) == 1 else None]
    a = node.emit("expand_dims", a, axis=0, num_newaxis=1) if vectors[0] else a
    b = node.emit("expand_dims", b, axis=1, num_newaxis=1) if vectors[1] else b
    if rank_of(b) == 2:
        *leading, inner = shape_of(a)
        flat = len(leading) == 1 or any([*leading, n].count(DYNAMIC) > 1 for n in (inner, shape_of(b)[1]))
        y = dense(node, a if flat else node.reshape(a, [_product(leading), inner]), b, out_dtype)
        if not flat:
            y = node.reshape(y, [*leading, shape_of(b)[1]])
    else:
        y = batched(node, a, b, out_dtype)
    dropped = [axis for axis in vectors if axis is not None]
    return node.emit("squeeze", y, axis=[rank_of(y) + axis for axis in dropped]) if dropped else y


def flatten(node: Node) -> SSAValue:
    """A matrix: the dimensions before `axis`, and those from it on."""
    x = node.input(0)
    rank = rank_of(x)
    axis = node.integer("axis", 1)
    axis = axis if axis == rank else node.axis(axis, rank)
    shape = shape_of(x)
    if node.emitter.extents is not None and (DYNAMIC in shape[1:] or (axis != 1 and DYNAMIC in shape)):
        dims = node.dims(x)
        return node.reshape_to(x, [te.product(dims[:axis]), te.product(dims[axis:])])
    if axis == 1:
        return node.emit("nn.batch_flatten", x)
    rows, columns = _product(shape[:axis]), _product(shape[axis:])
    return node.reshape(x, [rows, columns])


def _product(shape: Sequence[int]) -> int:
    """How many elements; `DYNAMIC` where an extent is."""
    result = 1
    for n in shape:
        if n == DYNAMIC:
            return DYNAMIC
        result *= n
    return result


def determinant(node: Node) -> SSAValue:
    """The determinants of matrices, by the minors of the first rows: those of `k` rows from those of one row less, for
    all choices of `k` columns at once.

    Raises:
        Unsupported: the matrices are large, and so have too many minors.
    """
    import numpy as np

    x = node.input(0, at_least=2)
    rows, columns = shape_of(x)[-2:]
    batch = node.dims(x)[:-2]
    if DYNAMIC in (rows, columns):
        raise Unsupported(f"matrices of an open size, {x.type}", give_shapes())
    if rows != columns or not rows:
        raise Malformed(f"matrices of {rows} x {columns}, which must be square")
    if rows > MAX_DETERMINANT:
        raise Unsupported(f"matrices of {rows} rows; {MAX_DETERMINANT} are imported at most")
    matrices = node.reshape_to(x, [te.product(batch), rows, columns])
    minors = node.constant(np.ones((1, 1), numpy_dtype(tensor(x).element_type)))
    smaller: list[tuple[int, ...]] = [()]
    for row in range(rows):
        chosen = list(combinations(range(columns), row + 1))
        place = {each: number for number, each in enumerate(smaller)}
        rest = [[place[(*each[:i], *each[i + 1 :])] for i in range(row + 1)] for each in chosen]
        signs = [(-1) ** (row + i) for i in range(row + 1)]
        line = node.emit("strided_slice", matrices, begin=[row], end=[row + 1], strides=[1], axes=[1])
        line = node.emit("squeeze", line, axis=[1])
        factors = node.emit("take", line, node.constant(np.array(chosen, np.int64)), axis=1)
        parts = node.emit("take", minors, node.constant(np.array(rest, np.int64)), axis=1)
        signed = node.emit("multiply", factors, node.constant(np.array(signs, numpy_dtype(tensor(x).element_type))))
        minors = node.emit("sum", node.emit("multiply", signed, parts), axis=[2])
        smaller = chosen
    return node.reshape_to(minors, batch)


CONVERTERS: dict[str, Versions] = {
    "Det": {11: determinant},
    "Flatten": {1: flatten},
    "Gemm": {7: gemm},
    "MatMul": {1: matmul},
}
