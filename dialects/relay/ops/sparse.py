"""Operators on matrices and tensors that are mostly zeros.

A matrix is three tensors (CSR, or BSR where its elements are blocks): `data`, the elements row by row; `indices`, the
column of each; `indptr`, where each row begins in these, and where the last ends. No column stands twice in a row.
A tensor is the indices of its elements, one row for each, their values, and its shape.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import AnyFloat, IntegerType, TensorType, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ... import te
from ...support.operations import irdl_op_definition
from ..accuracy import Accuracy
from ..base import DYNAMIC, LONG, Fusion, FusionPattern, RelayOp, flag, int_list, ints, is_true, shape_of, tensor
from ..nn_common import tuple_type
from .image import clamped_index

if TYPE_CHECKING:
    from ..base import NDArray


def index_vector(value: SSAValue, what: str) -> int:
    """The extent of a vector of integers.

    Raises:
        VerifyException: it is something else.
    """
    type = tensor(value)
    if not isa(type.element_type, IntegerType) or type.element_type == i1 or len(type.get_shape()) != 1:
        raise VerifyException(f"{what} must be a vector of integers, got {type}")
    return type.get_shape()[0]


class _SparseMatrixOp(RelayOp, ABC):
    """What has a sparse matrix among its operands."""

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
        if len(shape) not in (1, 3) or not isinstance(data.element_type, AnyFloat):
            raise VerifyException(f"the elements must be floats [n], or blocks of them [n, r, c], got {data}")
        count = index_vector(self.sparse_indices, "the indices")
        if DYNAMIC not in (count, shape[0]) and count != shape[0]:
            raise VerifyException(f"there are {shape[0]} elements and {count} indices")
        rows = index_vector(self.sparse_indptr, "the beginnings of rows")
        if rows == 0:
            raise VerifyException("there are no beginnings of rows: of no rows there is one")
        block = (shape[1], shape[2]) if len(shape) == 3 else (1, 1)
        return data.element_type, DYNAMIC if rows == DYNAMIC else rows - 1, block


def constant_of(value: te.Expr) -> Callable[[], te.Expr]:
    """What computes a tensor without dimensions."""
    return lambda: value


def element_of(
    data: te.Tensor, indices: te.Tensor, indptr: te.Tensor, row: te.Expr, step: te.Expr, place: Sequence[te.Expr]
) -> tuple[te.Expr, te.Expr, te.Expr]:
    """Whether row `row` has a `step`th element or block; its column; and it, or what stands at `place` in the block."""
    at = te.cast(indptr[row], te.index) + step
    there = at < te.cast(indptr[row + 1], te.index)
    at = clamped_index(at, indices.shape[0])
    return there, te.cast(indices[at], te.index), data[(at, *place) if data.rank == 3 else (at,)]


@irdl_op_definition
class SparseDenseOp(_SparseMatrixOp):
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
        height, width = data.shape[1:] if data.rank == 3 else (1, 1)
        columns = dense.shape[1] // width
        steps, within = te.reduce_axis(min(columns, data.shape[0]), "step"), te.reduce_axis(width, "within")

        def product(m: te.Expr, n: te.Expr) -> te.Expr:
            there, column, value = element_of(data, indices, indptr, n // height, steps, (n % height, within))
            read = dense[m, clamped_index(column * width + within, dense.shape[1])]
            zero = te.const(0.0, data.element_type)
            return te.sum(te.select(there, read * value, zero), (steps, within))

        extents = ((indptr.shape[0] - 1) * height, dense.shape[0])
        if is_true(self.sparse_lhs):
            return te.compute(extents, lambda m, n: product(n, m), "sparse_dense")
        return te.compute(extents[::-1], product, "sparse_dense")


@irdl_op_definition
class SparseAddOp(_SparseMatrixOp):
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
        steps = te.reduce_axis(min(dense.shape[1], data.shape[0]), "step")

        def element(i: te.IterVar, j: te.IterVar) -> te.Expr:
            there, column, value = element_of(data, indices, indptr, i, steps, ())
            zero = te.const(0.0, data.element_type)
            return te.sum(te.select(there & column.equal(j), value, zero), steps)

        sparse = te.compute(dense.shape, element, "sparse_elements")
        return te.compute(dense.shape, lambda i, j: dense[i, j] + sparse[i, j], "sparse_add")


@irdl_op_definition
class SparseTransposeOp(_SparseMatrixOp):
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


@irdl_op_definition
class SparseToDenseOp(RelayOp):
    """A tensor of `output_shape` that has values at indices, and a default value elsewhere.

    Indices are a number, a vector of them, or a row for each value. Of values at one place the last stands.

    ```mlir
    %d = relay.constant dense<0.0> : tensor<f32>
    %i = relay.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
    %y = relay.sparse_to_dense %i, %v, %d {output_shape = array<i64: 3, 4>}
       : (tensor<2x2xi32>, tensor<2xf32>, tensor<f32>) -> tensor<3x4xf32>
    ```
    """

    name = "relay.sparse_to_dense"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    sparse_indices = operand_def(TensorType)
    sparse_values = operand_def(TensorType)
    default_value = operand_def(TensorType)
    result = result_def(TensorType)
    output_shape = int_list()

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        indices, values, default = (tensor(v) for v in (self.sparse_indices, self.sparse_values, self.default_value))
        shape = list(ints(self.output_shape))
        at, rank, given = indices.get_shape(), len(shape), values.get_shape()
        count = at[0] if len(at) else 1
        if not isa(indices.element_type, IntegerType) or len(at) > 2:
            raise VerifyException(f"indices are integers, a number, a vector or rows of them, got {indices}")
        if (at[1] if len(at) == 2 else 1) not in (rank, DYNAMIC):
            raise VerifyException(f"indices of {at[1] if len(at) == 2 else 1} numbers do not name places in {shape}")
        if len(given) > 1 or (len(given) == 1 and not len(at)):
            raise VerifyException(f"values are one number, or one for each index, got {values}")
        if len(given) == 1 and DYNAMIC not in (count, given[0]) and count != given[0]:
            raise VerifyException(f"there are {count} indices and {given[0]} values")
        if default.element_type != values.element_type or default.get_shape():
            raise VerifyException(f"the default value must be one {values.element_type}, got {default}")
        return [TensorType(values.element_type, shape)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        indices, values, default = inputs
        shape = list(ints(self.output_shape))
        k = te.reduce_axis(indices.shape[0] if indices.rank else 1, "k")

        def index(axis: int) -> te.Expr:
            return indices[((), (k,), (k, axis))[indices.rank]]

        def last(*i: te.IterVar) -> te.Expr:
            here = te.all_of([te.cast(index(axis), te.index).equal(at) for axis, at in enumerate(i)])
            return te.max(te.select(here, te.cast(k + 1, i32), 0), k)

        found = te.compute(shape, last, "sparse_last")

        def body(*i: te.IterVar) -> te.Expr:
            at = clamped_index(te.cast(found[i], te.index) - 1, values.shape[0]) if values.rank else None
            return te.select(found[i] > 0, values[() if at is None else (at,)], default[()])

        return te.compute(shape, body, "sparse_to_dense")


@irdl_op_definition
class SparseReshapeOp(RelayOp):
    """The indices that a sparse tensor's elements have in another shape, and that shape, its -1 replaced.

    `flat = indices @ strides(prev_shape)`, and `flat` split by the extents of the new shape

    ```mlir
    %p = relay.constant dense<[2, 3]> : tensor<2xi32>
    %n = relay.constant dense<[3, -1]> : tensor<2xi32>
    %y = relay.sparse_reshape %i, %p, %n
       : (tensor<4x2xi32>, tensor<2xi32>, tensor<2xi32>) -> tuple<tensor<4x2xi32>, tensor<2xi32>>
    ```
    """

    name = "relay.sparse_reshape"

    sparse_indices = operand_def(TensorType)
    prev_shape = operand_def(TensorType)
    new_shape = operand_def(TensorType)
    result = result_def()

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        indices, before, after = (tensor(v) for v in (self.sparse_indices, self.prev_shape, self.new_shape))
        for value, what in ((self.prev_shape, "the shape before"), (self.new_shape, "the new shape")):
            index_vector(value, what)
        shape = indices.get_shape()
        if len(shape) != 2 or not isa(indices.element_type, IntegerType):
            raise VerifyException(f"expected indices [n, rank], got {indices}")
        if DYNAMIC not in (shape[1], before.get_shape()[0]) and shape[1] != before.get_shape()[0]:
            raise VerifyException(
                f"indices of {shape[1]} numbers do not name places in {before.get_shape()[0]} extents"
            )
        return [tuple_type(TensorType(indices.element_type, [shape[0], after.get_shape()[0]]), after)]

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        indices, before, after = inputs
        element, kind = indices.element_type, after.element_type
        old, new = before.shape[0], after.shape[0]

        def product(extents: te.Tensor, first: int) -> te.Expr:
            found = te.const(1, extents.element_type)
            for axis in range(first, extents.shape[0]):
                found = found * extents[axis]
            return found

        def known() -> te.Expr:
            """The product of the new extents but the one that is -1."""
            found = te.const(1, kind)
            for axis in range(new):
                found = found * te.select(after[axis] < 0, te.const(1, kind), after[axis])
            return te.maximum(found, te.const(1, kind))

        shape = te.compute(
            (new,),
            lambda a: te.select(after[a] < 0, te.cast(product(before, 0), kind) // known(), after[a]),
            "new_shape",
        )

        def place(e: te.IterVar) -> te.Expr:
            found = te.const(0, element)
            for axis in range(old):
                found = found + indices[e, axis] * te.cast(product(before, axis + 1), element)
            return found

        flat = te.compute((indices.shape[0],), place, "flat_index")
        factors = [te.cast(product(shape, axis + 1), element) for axis in range(new)]
        strides = [te.compute((), constant_of(factor), "stride") for factor in factors]

        def body(e: te.IterVar, a: te.IterVar) -> te.Expr:
            found = te.const(0, element)
            for axis, stride in enumerate(strides):
                rest = flat[e] if axis == 0 else flat[e] % te.maximum(strides[axis - 1][()], te.const(1, element))
                found = te.select(a.equal(axis), rest // te.maximum(stride[()], te.const(1, element)), found)
            return found

        return [te.compute((indices.shape[0], new), body, "sparse_reshape"), shape]


@irdl_op_definition
class SparseFillEmptyRowsOp(RelayOp):
    """A sparse tensor with an element of the default value in each row, first of its indices, that has none.

    Gives indices in the order of rows, which rows were empty, and the values.

    ```mlir
    %s = relay.constant dense<[3, 4]> : tensor<2xi64>
    %d = relay.constant dense<0.5> : tensor<f32>
    %y = relay.sparse_fill_empty_rows %i, %v, %s, %d
       : (tensor<2x2xi64>, tensor<2xf32>, tensor<2xi64>, tensor<f32>) -> tuple<tensor<?x2xi64>, tensor<?xi1>, tensor<?xf32>>
    ```
    """  # noqa: E501

    name = "relay.sparse_fill_empty_rows"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    sparse_indices = operand_def(TensorType)
    sparse_values = operand_def(TensorType)
    dense_shape = operand_def(TensorType)
    default_value = operand_def(TensorType)
    result = result_def()

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        indices, values, default = (tensor(v) for v in (self.sparse_indices, self.sparse_values, self.default_value))
        index_vector(self.dense_shape, "the shape")
        if len(indices.get_shape()) != 2 or not isa(indices.element_type, IntegerType):
            raise VerifyException(f"expected indices [n, rank], got {indices}")
        if len(values.get_shape()) != 1 or default != TensorType(values.element_type, []):
            raise VerifyException(f"expected values [n], and one more of their type, got {values} and {default}")
        rows = TensorType(indices.element_type, [DYNAMIC, indices.get_shape()[1]])
        return [tuple_type(rows, TensorType(i1, [DYNAMIC]), TensorType(values.element_type, [DYNAMIC]))]

    def numpy(self, *inputs: NDArray) -> Sequence[NDArray]:
        import numpy as np

        indices, values, shape, default = inputs
        count = int(shape[0])
        empty = np.ones(count, np.bool_)
        inside = [int(row) for row in indices[:, 0] if 0 <= int(row) < count]
        empty[inside] = False
        added = np.zeros((int(empty.sum()), indices.shape[1]), indices.dtype)
        added[:, 0] = np.flatnonzero(empty)
        rows = np.concatenate([indices, added])
        order = np.argsort(rows[:, 0], kind="stable")
        filled = np.concatenate([values, np.full(len(added), default, values.dtype)])
        return [rows[order], empty, filled[order]]


OPS: list[type[Operation]] = [
    SparseDenseOp,
    SparseAddOp,
    SparseTransposeOp,
    SparseToDenseOp,
    SparseReshapeOp,
    SparseFillEmptyRowsOp,
]
"""The operators on sparse matrices and tensors."""
