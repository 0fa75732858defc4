"""Products with matrices that are mostly zeros.

A matrix is three tensors (CSR, or BSR where its elements are blocks): `data`, the elements row by row; `indices`, the
column of each; `indptr`, where each row begins in these, and where the last ends. A row that has more elements than
there are columns, or fewer than none, fails when it is run (`CheckError`).
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import AnyFloat, TensorType, i32, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.operations import irdl_op_definition
from ...base import DYNAMIC, LONG, Fusion, FusionPattern, RelayOp, flag, is_true, shape_of, tensor
from ...precision import Accuracy
from ...shapes import check_extents
from ...types import tuple_type
from ..image import clamped_index
from ..sparse import index_vector

if TYPE_CHECKING:
    from ...gradient import Gradient, Term, Terms


class SparseMatrixOp(RelayOp, ABC):
    """What has a sparse matrix among its operands."""

    RANKS: ClassVar[tuple[int, ...]] = (1, 3)
    """Of `sparse_data`: elements, blocks of one column, blocks."""

    sparse_data = operand_def(TensorType)
    sparse_indices = operand_def(TensorType)
    sparse_indptr = operand_def(TensorType)

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def matrix(self) -> tuple[Attribute, int, tuple[int, int]]:
        """Its element type, its rows, of blocks where it is of blocks, and the extents of a block.

        Raises:
            VerifyException: the three do not fit.
        """
        data = tensor(self.sparse_data)
        shape = data.get_shape()
        if len(shape) not in self.RANKS or not isinstance(data.element_type, AnyFloat):
            forms = ", or ".join(_FORMS[rank] for rank in self.RANKS)
            raise VerifyException(f"the elements must be floats: {forms}; got {data}")
        count = index_vector(self.sparse_indices, "the indices")
        if DYNAMIC not in (count, shape[0]) and count != shape[0]:
            raise VerifyException(f"there are {shape[0]} elements and {count} indices")
        rows = index_vector(self.sparse_indptr, "the beginnings of rows")
        if rows == 0:
            raise VerifyException("there are no beginnings of rows: of no rows there is one")
        height, width = (*shape[1:], 1, 1)[:2]
        return data.element_type, DYNAMIC if rows == DYNAMIC else rows - 1, (height, width)

    def written_out(self, x: Term, data: Term, indices: Term, indptr: Term, columns: int) -> Term:
        """The matrix with its zeros; `x` is any term of its element type."""
        import numpy as np

        count, height, width = (*data.shape, 1, 1)[:3]
        rows = indptr.shape[0] - 1
        numbers = indptr.constant(np.arange(count)[:, None], i32)
        ends = indptr.slice_along(0, 1, rows + 1).cast(i32)
        row = (ends.reshape([1, rows]) <= numbers).cast(i32).sum([1])
        first = indptr.slice_along(0, 0, 1).cast(i32)
        total = rows * height * columns
        down = indptr.constant(np.arange(height)[:, None], i32) + row.reshape([count, 1, 1]) * height
        across = indptr.constant(np.arange(width), i32) + indices.cast(i32).reshape([count, 1, 1]) * width
        inside = numbers.reshape([count, 1, 1]) >= first
        place = (down * columns + across).where(inside, total)  # beyond the end, where nothing is added
        zeros = x.filled(0, [total])
        flat = [count * height * width]
        found = zeros.op("scatter_elements", place.reshape(flat), data.reshape(flat), axis=0, reduction="add")
        return found.reshape([rows * height, columns])


_FORMS = {1: "single ones [n]", 2: "columns of them [n, r]", 3: "blocks of them [n, r, c]"}


def checked_lengths(indptr: te.Tensor, most: int, name: str) -> te.Tensor:
    """How many elements or blocks each row has, after the check that there are from 0 to `most`."""
    text = f"'{name}': a row of {{index}} elements, where there are fewer than {{extent}}"

    def length(row: te.IterVar) -> te.Expr:
        count = te.cast(indptr[row + 1], te.index) - te.cast(indptr[row], te.index)
        return te.cast(te.check(count, most + 1, text), i64)

    return te.compute((indptr.shape[0] - 1,), length, "lengths")


def element_of(
    data: te.Tensor,
    indices: te.Tensor,
    indptr: te.Tensor,
    lengths: te.Tensor,
    row: te.Expr,
    step: te.Expr,
    place: Sequence[te.Expr],
) -> tuple[te.Expr, te.Expr, te.Expr]:
    """Whether row `row` has a `step`th element or block; its column; and it, or what stands at `place` in the block."""
    there = step < te.cast(lengths[row], te.index)
    at = clamped_index(te.cast(indptr[row], te.index) + step, indices.shape[0])
    return there, te.cast(indices[at], te.index), data[(at, *place[: data.rank - 1])]


@irdl_op_definition
class SparseDenseOp(SparseMatrixOp):
    """The product of a matrix with a sparse one that is transposed: `[m, k]`, `[n, k]` -> `[m, n]`.

    With `sparse_lhs` the sparse one is the first of the two: `[m, k]`, `[n, k]` -> `[m, n]` with `[m, k]` sparse.

    ```mlir
    %i = relay.constant dense<[0, 2, 1]> : tensor<3xi32>
    %p = relay.constant dense<[0, 2, 3]> : tensor<3xi32>
    %y = relay.nn.sparse_dense %x, %w, %i, %p : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<2x2xf32>
    ```
    """  # noqa: E501

    name = "relay.nn.sparse_dense"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED

    dense_data = operand_def(TensorType)
    sparse_data = operand_def(TensorType)
    sparse_indices = operand_def(TensorType)
    sparse_indptr = operand_def(TensorType)
    result = result_def(TensorType)
    sparse_lhs = flag(False)

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))

    def terms(self) -> int:
        inner = shape_of(self.dense_data)[1]
        return LONG if inner == DYNAMIC else inner

    def infer(self) -> Sequence[Attribute]:
        dense, (element, rows, block) = tensor(self.dense_data), self.matrix()
        shape = dense.get_shape()
        if len(shape) != 2 or dense.element_type != element:
            raise VerifyException(f"expected a matrix of {element}, got {dense}")
        if shape[1] != DYNAMIC and block[1] not in (0, DYNAMIC) and shape[1] % block[1]:
            raise VerifyException(f"{shape[1]} columns are no blocks of {block[1]}")
        whole = DYNAMIC if DYNAMIC in (rows, block[0]) else rows * block[0]
        result = [whole, shape[0]] if is_true(self.sparse_lhs) else [shape[0], whole]
        return [TensorType(element, result)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        dense, data, indices, indptr = inputs
        height, width = (*data.shape[1:], 1, 1)[:2]
        most = min(dense.shape[1] // width, data.shape[0])
        lengths = checked_lengths(indptr, most, self.name)
        steps, within = te.reduce_axis(most, "step"), te.reduce_axis(width, "within")

        def product(m: te.Expr, n: te.Expr) -> te.Expr:
            there, column, value = element_of(data, indices, indptr, lengths, n // height, steps, (n % height, within))
            read = dense[m, clamped_index(column * width + within, dense.shape[1])]
            zero = te.const(0.0, data.element_type)
            return te.sum(te.select(there, read * value, zero), (steps, within))

        extents = ((indptr.shape[0] - 1) * height, dense.shape[0])
        if is_true(self.sparse_lhs):
            return te.compute(extents, lambda m, n: product(n, m), "sparse_dense")
        return te.compute(extents[::-1], product, "sparse_dense")

    def gradient(self, g: Gradient) -> Terms:
        g.static()
        dense, data, indices, indptr = g.inputs
        matrix = self.written_out(dense, data, indices, indptr, dense.shape[1])
        return g.through(matrix.op("nn.dense", dense) if is_true(self.sparse_lhs) else dense.op("nn.dense", matrix))


@irdl_op_definition
class SparseAddOp(SparseMatrixOp):
    """The sum of a matrix and a sparse one.

    ```mlir
    %i = relay.constant dense<[0, 2, 1]> : tensor<3xi32>
    %p = relay.constant dense<[0, 2, 3]> : tensor<3xi32>
    %y = relay.nn.sparse_add %x, %w, %i, %p : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<2x3xf32>
    ```
    """  # noqa: E501

    name = "relay.nn.sparse_add"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.ROUNDED

    dense_data = operand_def(TensorType)
    sparse_data = operand_def(TensorType)
    sparse_indices = operand_def(TensorType)
    sparse_indptr = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))

    def infer(self) -> Sequence[Attribute]:
        dense, (element, rows, _) = tensor(self.dense_data), self.matrix()
        if len(shape_of(self.sparse_data)) != 1:
            raise VerifyException(f"the elements must be single numbers, got {self.sparse_data.type}")
        shape = dense.get_shape()
        if len(shape) != 2 or dense.element_type != element or (DYNAMIC not in (rows, shape[0]) and rows != shape[0]):
            raise VerifyException(f"expected a matrix of {element} with {rows} rows, got {dense}")
        return [dense]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        dense, data, indices, indptr = inputs
        if not te.agree(dense.dims[0], indptr.dims[0] - 1):
            raise TypeError("te: it is not known whether the sparse matrix has the dense one's rows")
        most = min(dense.shape[1], data.shape[0])
        lengths, steps = checked_lengths(indptr, most, self.name), te.reduce_axis(most, "step")

        def element(i: te.IterVar, j: te.IterVar) -> te.Expr:
            there, column, value = element_of(data, indices, indptr, lengths, i, steps, ())
            zero = te.const(0.0, data.element_type)
            return te.sum(te.select(there & column.equal(j), value, zero), steps)

        sparse = te.compute(dense.shape, element, "sparse_elements")
        return te.compute(dense.shape, lambda i, j: dense[i, j] + sparse[i, j], "sparse_add")

    def gradient(self, g: Gradient) -> Terms:
        g.static()
        dense, data, indices, indptr = g.inputs
        return g.through(dense + self.written_out(dense, data, indices, indptr, dense.shape[1]))


@irdl_op_definition
class SparseTransposeOp(SparseMatrixOp):
    """A square sparse matrix transposed: its elements, their columns, and where rows begin.

    ```mlir
    %i = relay.constant dense<[0, 2, 1]> : tensor<3xi32>
    %p = relay.constant dense<[0, 2, 2, 3]> : tensor<4xi32>
    %y = relay.nn.sparse_transpose %w, %i, %p
       : (tensor<3xf32>, tensor<3xi32>, tensor<4xi32>) -> tuple<tensor<3xf32>, tensor<3xi32>, tensor<4xi32>>
    ```
    """

    name = "relay.nn.sparse_transpose"

    sparse_data = operand_def(TensorType)
    sparse_indices = operand_def(TensorType)
    sparse_indptr = operand_def(TensorType)
    result = result_def()

    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))

    def infer(self) -> Sequence[Attribute]:
        self.matrix()
        if len(shape_of(self.sparse_data)) != 1:
            raise VerifyException(f"the elements must be single numbers, got {self.sparse_data.type}")
        return [tuple_type(self.sparse_data.type, self.sparse_indices.type, self.sparse_indptr.type)]

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        data, indices, indptr = inputs
        check_extents("the columns", indices.shape, data.shape)
        count, rows = data.shape[0], indptr.shape[0] - 1
        i, j, k, s = (te.reduce_axis(n, name) for n, name in ((rows, "i"), (count, "j"), (count, "k"), (count, "s")))
        kind = indices.element_type
        # the row of an element is how many rows end at it or before it
        row = te.compute(
            (count,), lambda e: te.sum(te.cast(te.cast(indptr[i + 1], te.index) <= e, kind), i), "row_of_element"
        )
        before = te.compute(
            (count,),
            lambda e: te.sum(te.cast((indices[j] < indices[e]) | (indices[j].equal(indices[e]) & (j < e)), i32), j),
            "elements_before",
        )
        source = te.compute(
            (count,),
            lambda p: te.sum(te.select(before[s].equal(te.cast(p, i32)), te.cast(s, i32), 0), s),
            "element_at",
        )
        begin = te.compute(
            (rows + 1,),
            lambda c: te.sum(te.cast(te.cast(indices[k], te.index) < c, indptr.element_type), k),
            "transposed_indptr",
        )

        def at(p: te.Expr) -> te.Expr:
            return clamped_index(te.cast(source[p], te.index), count)

        return [
            te.compute((count,), lambda p: data[at(p)], "transposed_data"),
            te.compute((count,), lambda p: row[at(p)], "transposed_indices"),
            begin,
        ]

    def gradient(self, g: Gradient) -> Terms:
        """Elements in the order of their columns; of one column, as they stood."""
        g.static()
        data, indices, indptr = g.inputs
        order = indices.op("argsort", axis=0, is_ascend=True, dtype="int32")
        return g.through(data.op("take", order, axis=0), indices, indptr)


OPS: list[type[Operation]] = [SparseDenseOp, SparseAddOp, SparseTransposeOp]
"""The operators on sparse matrices."""
