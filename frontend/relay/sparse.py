"""TVM's calls of the operators on sparse matrices, and on tensors that are made of few values and their places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from .expr import Expr, Operand, as_value, const
from .operators import operator
from .told import number_of

OPEN = -1
"""An extent of an expression's `shape` that is not known."""


def _parts(matrix: object, what: str) -> list[Expr]:
    """The three tensors of a sparse matrix.

    Raises:
        UsageError: it has none.
    """
    named = [getattr(matrix, name, None) for name in ("data", "indices", "indptr")]
    fields = cast("Sequence[object]", matrix) if type(matrix) in (tuple, list) else named
    if len(fields) != 3 or any(field is None for field in fields):
        hint = "a tuple of these three, or what has them, as scipy.sparse.csr_matrix"
        raise UsageError(f"relay.{what} takes a sparse matrix by its data, indices and indptr", hint=hint)
    return [field if isinstance(field, Expr) else Expr(as_value(np.asarray(field))) for field in fields]


def sparse_dense(dense_mat: Operand, sparse_mat: object, sparse_lhs: bool = False) -> Expr:
    """The product of a matrix and a sparse one that is transposed; with `sparse_lhs` of these the other way round.

    Either may be the sparse one: with `sparse_lhs` the first is, else the second.
    """
    return operator("nn.sparse_dense")(dense_mat, *_parts(sparse_mat, "nn.sparse_dense"), sparse_lhs=sparse_lhs)


def sparse_add(dense_mat: Operand, sparse_mat: object) -> Expr:
    """The sum of a matrix and a sparse one."""
    return operator("nn.sparse_add")(dense_mat, *_parts(sparse_mat, "nn.sparse_add"))


def sparse_transpose(x: object) -> Expr:
    """A square sparse matrix transposed, as a tuple of its data, indices and beginnings of rows."""
    return operator("nn.sparse_transpose")(*_parts(x, "nn.sparse_transpose"))


@checked
def sparse_to_dense(
    sparse_indices: Operand, output_shape: Sequence[int] | Expr, sparse_values: Operand, default_value: Operand = 0
) -> Expr:
    """A tensor that has values at indices, and `default_value` elsewhere. Its shape may be known only when the program
    runs: then it is a vector of integers, `[rank]`.

    Raises:
        UsageError: shapes do not fit together.
    """
    values = Expr(as_value(sparse_values))
    default = default_value if isinstance(default_value, Expr) else const(np.asarray(default_value), values.dtype)
    shape = number_of(output_shape)
    if not isinstance(shape, Expr):
        return operator("sparse_to_dense")(sparse_indices, values, default, output_shape=shape)
    return _scattered(Expr(as_value(sparse_indices)), shape, values, default)


def _scattered(indices: Expr, shape: Expr, values: Expr, default: Expr) -> Expr:
    """Values at indices, a number, `[n]` or `[n, rank]`, of a tensor of `shape` full of `default`."""
    if len(indices.shape) > 2 or len(values.shape) > 1:
        raise UsageError(
            "relay.sparse_to_dense takes a number, [n] or [n, rank] for the indices, and a number or [n] for the"
            f" values, and got {indices!r} and {values!r}"
        )
    columns = {0: (1, 1), 1: (-1, 1)}.get(len(indices.shape))
    rows = indices if columns is None else operator("reshape")(indices, columns)
    one_by_one = operator("broadcast_to_like")(values, operator("take")(rows, const(0), 1))
    full = operator("dyn.full")(default, shape, values.dtype)
    return operator("scatter_nd")(full, operator("transpose")(rows, (1, 0)), one_by_one, "update")


@checked
def segment_sum(data: Operand, segment_ids: Operand, num_segments: int | None = None) -> Expr:
    """The sums of the slices of `data` along the first dimension that have the same number in `segment_ids`; as many as
    `num_segments` says, or as the largest number does, which then has to be known when the program runs, and none
    may be negative. Slices for which there is no number are left out."""
    data, ids = Expr(as_value(data)), Expr(as_value(segment_ids))
    if not data.shape or not ids.shape:
        raise UsageError(
            f"segments are of the first dimension, and {'data' if not data.shape else 'segment_ids'} has none"
        )
    if data.shape[0] == OPEN or data.shape[0] != ids.shape[0]:
        data = operator("slice_like")(data, ids, axes=(0,))
    rest = data.shape[1:]
    if num_segments is not None and OPEN not in rest:
        start = operator("zeros")((num_segments, *rest), data.dtype)
    else:
        extents = operator("concatenate")([_count(ids, num_segments), _extents(data)], 0)
        start = operator("dyn.zeros")(extents, data.dtype)
    return operator("scatter_nd")(start, operator("expand_dims")(ids, 0), data, "add")


def _count(ids: Expr, known: int | None) -> Expr:
    """How many segments there are, as a vector of one number; below 0, and so no extent, where a number is."""
    if known is not None:
        return const([known], "int64")
    numbers = operator("cast")(ids, "int64")
    least, largest = operator("min")(numbers), operator("maximum")(operator("max")(numbers), const(-1, "int64"))
    count = operator("where")(operator("less")(least, const(0, "int64")), least, largest + const(1, "int64"))
    return operator("expand_dims")(count, 0)


def _extents(data: Expr) -> Expr:
    """All extents but the first, as a vector."""
    if OPEN not in data.shape[1:]:
        return const(data.shape[1:], "int64")
    return operator("strided_slice")(operator("shape_of")(data, "int64"), (1,), (len(data.shape),))


SPARSE = {
    "nn.sparse_dense": sparse_dense,
    "nn.sparse_add": sparse_add,
    "nn.sparse_transpose": sparse_transpose,
    "sparse_to_dense": sparse_to_dense,
    "segment_sum": segment_sum,
}
"""By their names without `relay.`."""
