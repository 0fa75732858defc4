"""Operators on tensors that are mostly zeros: the indices of their elements, a row for each, and their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import IntegerType, TensorType, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.hints import isa
from ...support.operations import irdl_op_definition
from ..base import DYNAMIC, Fusion, FusionPattern, RelayOp, int_list, ints, tensor
from ..precision import Accuracy
from ..shapes import check_extents
from ..types import tuple_type
from .image import clamped_index

if TYPE_CHECKING:
    from ..base import NDArray
    from ..gradient import Gradient, Terms


def index_vector(value: SSAValue, what: str) -> int:
    """The extent of a vector of integers.

    Raises:
        VerifyException: it is something else.
    """
    type = tensor(value)
    if not isa(type.element_type, IntegerType) or type.element_type == i1 or len(type.get_shape()) != 1:
        raise VerifyException(f"{what} must be a vector of integers, got {type}")
    return type.get_shape()[0]


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

    def gradient(self, g: Gradient) -> Terms:
        return g.moved((1, 2))


def _is_same(before: te.Tensor, after: te.Tensor) -> te.Tensor:
    """Whether two shapes are one: indices stay as they are then, those beyond the shape too, as in TVM."""
    old, new, kind = before.shape[0], after.shape[0], after.element_type
    axis = te.reduce_axis(new)

    def differs() -> te.Expr:
        there = te.cast(before[te.minimum(axis, te.as_expr(old - 1, te.index))], kind)
        return te.sum(te.select(there.equal(after[axis]), te.const(0, i32), te.const(1, i32)), axis)

    counted = te.compute((), differs, "differences")
    ranks = te.as_expr(old, te.index).equal(te.as_expr(new, te.index))
    return te.compute((), lambda: te.all_of([counted[()].equal(0), ranks]), "same_shape")


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
        one, old, new = te.const(1, kind), before.shape[0], after.shape[0]  # ranks, which may be open
        check_extents("the places", indices.shape[1:], [old])

        def product(of: Callable[[te.Expr], te.Expr], count: int, name: str) -> te.Tensor:
            axis = te.reduce_axis(count)
            return te.compute((), lambda: te.prod(of(axis), axis), name)

        elements = product(lambda a: te.cast(before[a], kind), old, "elements")
        known = product(lambda a: te.select(after[a] < 0, one, after[a]), new, "known")
        shape = te.compute(
            (new,),
            lambda a: te.select(after[a] < 0, elements[()] // te.maximum(known[()], one), after[a]),
            "new_shape",
        )

        def strides(extents: te.Tensor, count: int) -> te.Tensor:
            """How far neighbours along each axis lie apart."""
            axis, first = te.reduce_axis(count), te.const(1, extents.element_type)
            return te.compute(
                (count,),
                lambda a: te.prod(te.cast(te.select(axis > a, extents[axis], first), element), axis),
                "strides",
            )

        apart = strides(before, old)
        axis = te.reduce_axis(old)
        flat = te.compute((indices.shape[0],), lambda e: te.sum(indices[e, axis] * apart[axis], axis), "flat_index")
        blocks = strides(shape, new)
        least = te.const(1, element)
        ranks = {each.dims[0] for each in (before, after)}
        may_be_same = 0 not in ranks and (len(ranks) == 1 or not all(isinstance(each, int) for each in ranks))
        same = _is_same(before, shape) if may_be_same else None

        def body(e: te.IterVar, a: te.IterVar) -> te.Expr:
            around = te.maximum(blocks[te.maximum(a - 1, 0)], least)
            rest = te.select(a.equal(0), flat[e], flat[e] % around)
            found = rest // te.maximum(blocks[a], least)
            if same is None:
                return found
            return te.select(same[()], indices[e, te.minimum(a, te.as_expr(old - 1, te.index))], found)

        return [te.compute((indices.shape[0], new), body, "sparse_reshape"), shape]


@irdl_op_definition
class SparseFillEmptyRowsOp(RelayOp):
    """A sparse tensor with an element of the default value in each row, first of its indices, that has none.

    Gives indices in the order of rows, the values, and which rows were empty.

    ```mlir
    %s = relay.constant dense<[3, 4]> : tensor<2xi64>
    %d = relay.constant dense<0.5> : tensor<f32>
    %y = relay.sparse_fill_empty_rows %i, %v, %s, %d
       : (tensor<2x2xi64>, tensor<2xf32>, tensor<2xi64>, tensor<f32>) -> tuple<tensor<?x2xi64>, tensor<?xf32>, tensor<?xi1>>
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
        if indices.get_shape()[1] == 0:
            raise VerifyException("indices without a column say no row")
        single = list(default.get_shape()) in ([], [1], [DYNAMIC]) and default.element_type == values.element_type
        if len(values.get_shape()) != 1 or not single:
            raise VerifyException(f"expected values [n], and one more of their type, got {values} and {default}")
        rows = TensorType(indices.element_type, [DYNAMIC, indices.get_shape()[1]])
        return [tuple_type(rows, TensorType(values.element_type, [DYNAMIC]), TensorType(i1, [DYNAMIC]))]

    def numpy(self, *inputs: NDArray) -> Sequence[NDArray]:
        import numpy as np

        indices, values, shape, default = inputs
        if indices.shape[1] == 0:
            raise VerifyException("indices without a column say no row")
        count = int(shape[0])
        empty = np.ones(count, np.bool_)
        inside = [int(row) for row in indices[:, 0] if 0 <= int(row) < count]
        empty[inside] = False
        added = np.zeros((int(empty.sum()), indices.shape[1]), indices.dtype)
        added[:, 0] = np.flatnonzero(empty)
        rows = np.concatenate([indices, added])
        order = np.argsort(rows[:, 0], kind="stable")
        filled = np.concatenate([values, np.full(len(added), default.reshape(-1)[0], values.dtype)])
        return [rows[order], filled[order], empty]


OPS: list[type[Operation]] = [SparseToDenseOp, SparseReshapeOp, SparseFillEmptyRowsOp]
"""The operators on sparse tensors."""
