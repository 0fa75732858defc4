"""Matrix products: `dense`, `matmul`, `batch_matmul`, the packed `dense`, and `bias_add`."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import AnyFloat, BFloat16Type, IntegerAttr, TensorType, i1, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.dtypes import numpy_dtype
from ....support.operations import irdl_op_definition
from ....te.assume import agree
from ...base import (
    DYNAMIC,
    Fusion,
    FusionPattern,
    RelayOp,
    broadcast_dims,
    broadcast_shapes,
    common_rows,
    flag,
    integer,
    is_static,
    is_true,
    normalize_axis,
    shape_of,
    string,
    tensor,
)
from ...blocking import PLAIN, Blocks
from ...core import ConstantOp
from ...layout import LayoutTransformOp
from ...nn_common import (
    accumulator,
    aligned_axis,
    check_vector,
    narrow,
    optional_int,
    result_element,
    vector_along,
    widened,
)
from ...precision import Accuracy, Precision
from ...reordering import Order, Reordered, reordered_axis
from ..broadcast import AddOp
from ..transform import ReshapeOp
from .dense_pack import DensePackOp

if TYPE_CHECKING:
    from ...base import NDArray
    from ...gradient import Gradient, Terms


MIN_ROWS_TO_PACK = 16
"""Rows for which a weight that is no constant is put in order for them."""

MIN_TILE_ROWS, TILE_COLUMNS, TILE_STEPS = 16, 16, {"int8": 64, "bf16": 32, "bf16_pairs": 2}
"""Rows that keep a matrix unit busy; its tiles' columns; and the steps that it, or a lane, takes at once."""


class _Product(RelayOp, ABC):
    """What the matrix products share: `sum_k a[.., m, k] * b[.., k, n]`, each matrix possibly given transposed."""

    out_dtype = string("")

    PRECISION: ClassVar[Precision | None] = Precision.ALWAYS

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def transposed(self) -> tuple[bool, bool]:
        """Whether the first operand is given as `[k, m]`, and the second as `[n, k]`."""
        raise NotImplementedError

    def rows_and_columns(self) -> tuple[int, int]:
        """The extents of the product's last two dimensions.

        Raises:
            VerifyException: the extents to sum over differ.
        """
        a, b = (shape_of(operand) for operand in self.operands)
        (rows, k), (k2, columns) = (s[:-3:-1] if t else s[-2:] for s, t in zip((a, b), self.transposed(), strict=True))
        if DYNAMIC not in (k, k2) and k != k2:
            raise VerifyException(f"operands {list(a)} and {list(b)} have {k} and {k2} elements to sum over")
        return rows, columns

    def macs(self) -> int:
        """For each element of the result one for each element that is summed over."""
        summed = shape_of(self.operands[0])[-2 if self.transposed()[0] else -1]
        return self.mac_product(*shape_of(self.results[0]), summed)

    def product_type(self, shape: Sequence[int]) -> list[Attribute]:
        """The result type, of the given shape.

        Raises:
            VerifyException: the operands' element types differ where no `out_dtype` settles the result's.
        """
        a, b = (tensor(operand).element_type for operand in self.operands)
        if a != b and not self.out_dtype.data:
            raise VerifyException(f"the operands have element types {a} and {b}")
        return [TensorType(result_element(a, self.out_dtype.data), shape)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        a, b = inputs
        result = tensor(self.result_value())
        sum_type = accumulator(result.element_type)
        transpose_a, transpose_b = self.transposed()
        summed, given = a.shape[-2 if transpose_a else -1], b.shape[-1 if transpose_b else -2]
        if not agree(summed, given):
            raise VerifyException(f"operands have {summed} and {given} elements to sum over")
        k = te.reduce_axis(summed, "k")

        def element(x: te.Tensor, batch: Sequence[te.Expr], row: te.Expr, column: te.Expr, transpose: bool) -> te.Expr:
            lead = [te.const(0, te.index) if n == 1 else i for n, i in zip(x.shape[:-2], batch, strict=True)]
            return te.cast(x[(*lead, column, row) if transpose else (*lead, row, column)], sum_type)

        def body(*i: te.IterVar) -> te.Expr:
            batch, row, column = i[:-2], i[-2], i[-1]
            lhs = element(a, batch[len(batch) - (a.rank - 2) :], row, k, transpose_a)
            rhs = element(b, batch[len(batch) - (b.rank - 2) :], k, column, transpose_b)
            return te.sum(lhs * rhs, k)

        name = self.name.removeprefix("relay.nn.")
        rows, columns = a.shape[-1 if transpose_a else -2], b.shape[-2 if transpose_b else -1]
        shape = (*broadcast_shapes(a.shape[:-2], b.shape[:-2]), rows, columns)
        return narrow(te.compute(shape, body, name), result.element_type)

    def numpy(self, *inputs: NDArray) -> NDArray | None:
        import numpy as np

        element = tensor(self.result_value()).element_type
        if element == i1:
            return None  # NumPy takes the disjunction for a sum
        a, b = (
            np.swapaxes(x, -1, -2) if transpose else x
            for x, transpose in zip((widened(x, element) for x in inputs), self.transposed(), strict=True)
        )
        return np.matmul(a, b).astype(numpy_dtype(element), copy=False)

    def result_value(self) -> Attribute:
        return self.results[0].type


class _MatrixProduct(_Product, ABC):
    """The product of data `[.., m, k]` and one matrix of weights."""

    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    result = result_def(TensorType)
    units = opt_prop_def(IntegerAttr.constr(i64))

    def infer(self) -> Sequence[Attribute]:
        data, weight = shape_of(self.data), shape_of(self.weight)
        if len(data) < 2 or len(weight) != 2:
            raise VerifyException(f"expected data of rank 2 or more and a weight of rank 2, got {data} and {weight}")
        rows, columns = self.rows_and_columns()
        units = optional_int(self.units)
        if units is not None and columns not in (DYNAMIC, units):
            raise VerifyException(f"'units' is {units}, but the weight {list(weight)} has {columns}")
        return self.product_type([*data[:-2], rows, columns if units is None else units])

    def implied(self) -> Mapping[int, Attribute]:
        """The weight's, where the number of units is told."""
        if self.units is None:
            return {}
        data, (transpose_a, transpose_b) = tensor(self.data), self.transposed()
        shape = [data.get_shape()[-2 if transpose_a else -1], self.units.value.data]
        return {1: TensorType(data.element_type, shape[::-1] if transpose_b else shape)}

    def pack(self, blocks: Blocks) -> bool:
        """`contrib_dense_pack`, columns in blocks of a vector, the last one filled up with zeros."""
        shape, columns, lanes = shape_of(self.data), shape_of(self.result)[-1], blocks.lanes
        summed = shape[len(shape) - 1]
        if blocks.dot is not None or blocks.matrix:
            from .byte_products import are_bytes  # which needs much that text which is only read does not

            dot = "amx" if self.has_whole_tiles(blocks, "int8") else blocks.dot
            if dot is not None and are_bytes(self):
                return self.pack_bytes(blocks, dot)
        transpose_data, transpose_weight = self.transposed()
        obstacle, hint = None, None
        if not isinstance(self.weight.owner, ConstantOp):
            obstacle, hint = "its weight is not a constant", "bind the parameters"
        elif transpose_data or not isinstance(tensor(self.data).element_type, AnyFloat):
            obstacle = "its data is transposed, or not of floats"
        elif DYNAMIC in (summed, columns) or 4 * columns < lanes:
            obstacle = f"{columns} columns do not fill vectors of {lanes}, or their number is dynamic"
        if obstacle is not None:
            blocks.missed(self, obstacle, hint)
            return False
        data = blocks.get(self.data, PLAIN, self)
        as_rows = len(shape) > 2 and DYNAMIC not in shape  # a product of extents that are open is none of a kernel's
        if as_rows:
            data = blocks.insert(ReshapeOp(data, newshape=[-1, summed]), self)
        layout, source, weight = f"NK{lanes}n", "NK" if transpose_weight else "KN", self.weight
        way = next((way for way in ("bf16", "bf16_pairs") if self.has_whole_tiles(blocks, way)), None)
        if way is not None and self.is_of_bfloats():
            from .byte_products import filled_up

            layout = f"{layout}2k"
            data, weight = (
                filled_up(x, axis, TILE_STEPS[way], lambda new: blocks.insert(new, self))
                for x, axis in ((data, len(shape_of(data)) - 1), (weight, source.index("K")))
            )
        packed = blocks.insert(LayoutTransformOp(weight, src_layout=source, dst_layout=layout), self)
        packed.name_hint = self.weight.name_hint
        product = DensePackOp(data, packed, units=columns, weight_layout=layout, out_dtype=self.out_dtype)
        result = blocks.insert(product, self)
        if as_rows:
            result = blocks.insert(ReshapeOp(result, newshape=shape_of(self.result)), self)
        blocks.replace_plain(self, result)
        return True

    def is_of_bfloats(self) -> bool:
        """Whether both sides are bf16, so that the sums are in f32."""
        sides = (tensor(operand).element_type for operand in (self.data, self.weight))
        return all(isinstance(type, BFloat16Type) for type in sides)

    def has_whole_tiles(self, blocks: Blocks, what: str) -> bool:
        """Whether a matrix unit that the target has multiplies `what`, and rows, columns and steps keep it busy."""
        shape, columns = shape_of(self.data), shape_of(self.result)[-1]
        is_open = DYNAMIC in shape[:-1]
        if what not in blocks.matrix or DYNAMIC in (shape[-1], columns) or self.transposed()[0]:
            return False
        suits = not is_open if what == "bf16_pairs" else is_open or prod(shape[:-1]) >= MIN_TILE_ROWS
        if not suits or blocks.lanes != TILE_COLUMNS or columns % TILE_COLUMNS:
            return False
        return 2 * (-shape[-1] % TILE_STEPS[what]) <= shape[-1]

    def pack_bytes(self, blocks: Blocks, dot: str) -> bool:
        """`contrib_dense_pack` of bytes, four of which are summed by one instruction."""
        from .byte_products import pack_bytes

        shape, result = shape_of(self.data), shape_of(self.result)
        transpose_data, transpose_weight = self.transposed()
        is_constant = isinstance(self.weight.owner, ConstantOp)
        obstacle, hint = None, None
        if transpose_data or (len(shape) > 2 and DYNAMIC in (shape[-1], *shape_of(self.weight))):
            obstacle = "its data is transposed, or what it is multiplied with has open extents"
        elif 0 <= 4 * result[-1] < blocks.lanes:
            obstacle = f"{result[-1]} columns do not fill vectors of {blocks.lanes}"
        elif not is_constant and 0 <= prod(shape[:-1]) < MIN_ROWS_TO_PACK:
            obstacle, hint = "its weight is not a constant, and has few rows to multiply", "bind the parameters"
        if obstacle is not None:
            blocks.missed(self, obstacle, hint)
            return False
        data = blocks.get(self.data, PLAIN, self)
        as_rows = len(shape) > 2 and DYNAMIC not in shape
        if as_rows:
            data = blocks.insert(ReshapeOp(data, newshape=[-1, shape[len(shape) - 1]]), self)
        weight = blocks.get(self.weight, PLAIN, self)
        product = pack_bytes(self, data, weight, transpose_weight, blocks, dot)
        if as_rows:
            product = blocks.insert(ReshapeOp(product, newshape=list(result)), self)
        blocks.replace_plain(self, product)
        return True

    def gradient(self, g: Gradient) -> Terms:
        data, weight = g.inputs
        ta, tb = self.transposed()
        rank = len(data.shape)
        swapped = [*range(rank - 2), rank - 1, rank - 2]
        grad = g.grad.cast(data.type.element_type)
        by_data = grad.op(MatmulOp, weight, transpose_b=not tb)
        rows = data.transpose(swapped) if ta else data
        lhs, rhs = (term.rows() for term in ((grad, rows) if tb else (rows, grad)))
        return [by_data.transpose(swapped) if ta else by_data, lhs.op(MatmulOp, rhs, transpose_a=True)]


@irdl_op_definition
class DenseOp(_MatrixProduct):
    """A fully connected layer: data times the transposed weight.

    `y[.., m, n] = sum_k data[.., m, k] * weight[n, k]`

    ```mlir
    %y = relay.nn.dense %x, %w {units = 3 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.nn.dense"

    def transposed(self) -> tuple[bool, bool]:
        return False, True


@irdl_op_definition
class MatmulOp(_MatrixProduct):
    """Data times one matrix; either may be given transposed.

    `y[.., m, n] = sum_k data[.., m, k] * weight[k, n]`

    ```mlir
    %y = relay.nn.matmul %x, %w {transpose_b = true} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.nn.matmul"

    transpose_a = flag(False)
    transpose_b = flag(False)

    def transposed(self) -> tuple[bool, bool]:
        return is_true(self.transpose_a), is_true(self.transpose_b)


@irdl_op_definition
class BatchMatmulOp(_Product):
    """One matrix product for each element of a batch; the second matrix is given transposed by default.

    A batch of one stands for every element of the other batch.

    `y[b, m, n] = sum_k x[b, m, k] * y[b, n, k]`

    ```mlir
    %z = relay.nn.batch_matmul %x, %y : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
    ```
    """

    name = "relay.nn.batch_matmul"

    x = operand_def(TensorType)
    y = operand_def(TensorType)
    result = result_def(TensorType)
    transpose_a = flag(False)
    transpose_b = flag(True)

    def transposed(self) -> tuple[bool, bool]:
        return is_true(self.transpose_a), is_true(self.transpose_b)

    def shared_rows(self, operand: int) -> int:
        of_rows = operand == 0 and not is_true(self.transpose_a)
        return min(2 if of_rows else 1, common_rows(self.operands[operand], self.result))

    def infer(self) -> Sequence[Attribute]:
        x, y = shape_of(self.x), shape_of(self.y)
        if len(x) != 3 or len(y) != 3:
            raise VerifyException(f"expected two tensors of rank 3, got {list(x)} and {list(y)}")
        return self.product_type([broadcast_dims(x[0], y[0]), *self.rows_and_columns()])

    def pack(self, blocks: Blocks) -> bool:
        """`contrib_dense_pack` of a batch of weights, or of one weight for all rows of the batch."""
        from .byte_products import are_bytes, pack_bytes

        (batch, *matrix), columns, shape = shape_of(self.y), shape_of(self.result)[-1], shape_of(self.x)
        transpose_x, transpose_y = self.transposed()
        dot = blocks.dot if are_bytes(self) else None
        is_constant, obstacle, hint = isinstance(self.y.owner, ConstantOp), None, None
        rows = prod(shape[:-1]) if batch == 1 else shape[1]
        if not is_constant and dot is None:
            obstacle, hint = "its second factor is not a constant", "bind the parameters"
        elif transpose_x or (dot is None and not isinstance(tensor(self.x).element_type, AnyFloat)):
            obstacle = "its first factor is transposed, or not of floats"
        elif 0 <= 4 * columns < blocks.lanes:
            obstacle = f"{columns} columns do not fill vectors of {blocks.lanes}"
        elif not is_constant and 0 <= rows < MIN_ROWS_TO_PACK:
            obstacle, hint = "its second factor is not a constant, and has few rows to multiply", "bind the parameters"
        if obstacle is not None:
            blocks.missed(self, obstacle, hint)
            return False
        x, lead, weight = blocks.get(self.x, PLAIN, self), "B", blocks.get(self.y, PLAIN, self)
        as_rows = batch == 1 and DYNAMIC not in (*shape, *matrix)
        if as_rows:
            lead, weight = "", blocks.reshape(weight, matrix, self)
            x = blocks.reshape(x, [-1, shape[-1]], self)
        if dot is not None:
            result = pack_bytes(self, x, weight, transpose_y, blocks, dot)
        else:
            layout, source = f"{lead}NK{blocks.lanes}n", f"{lead}{'NK' if transpose_y else 'KN'}"
            packed = blocks.insert(LayoutTransformOp(weight, src_layout=source, dst_layout=layout), self)
            packed.name_hint = self.y.name_hint
            product = DensePackOp(x, packed, units=columns, weight_layout=layout, out_dtype=self.out_dtype)
            result = blocks.insert(product, self)
        if as_rows:
            result = blocks.reshape(result, shape_of(self.result), self)
        blocks.replace_plain(self, result)
        return True

    def gradient(self, g: Gradient) -> Terms:
        x, y = g.inputs
        ta, tb = self.transposed()
        grad = g.grad.cast(x.type.element_type)
        by_x = y.op(BatchMatmulOp, grad, transpose_a=tb, transpose_b=True) if ta else None
        by_y = grad.op(BatchMatmulOp, x, transpose_a=True, transpose_b=ta) if tb else None
        return [
            by_x or grad.op(BatchMatmulOp, y, transpose_a=False, transpose_b=not tb),
            by_y or x.op(BatchMatmulOp, grad, transpose_a=not ta, transpose_b=False),
        ]


@irdl_op_definition
class BiasAddOp(RelayOp):
    """Add a vector along one axis.

    `y[i0, .., i_axis, ..] = data[i0, .., i_axis, ..] + bias[i_axis]`

    ```mlir
    %y = relay.nn.bias_add %x, %b : (tensor<1x3x2x2xf32>, tensor<3xf32>) -> tensor<1x3x2x2xf32>
    ```
    """

    name = "relay.nn.bias_add"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.ROUNDED
    PRECISION: ClassVar[Precision | None] = Precision.FOLLOW

    data = operand_def(TensorType)
    bias = operand_def(TensorType)
    result = result_def(TensorType)
    axis = integer(1)

    traits = traits_def(Pure(), FusionPattern(Fusion.BROADCAST))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def implied(self) -> Mapping[int, Attribute]:
        return {1: vector_along(self.data.type, self.axis.value.data)}

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        axis = normalize_axis(self.axis.value.data, len(data.get_shape()))
        return [check_vector(tensor(self.bias), data, axis, "bias")]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        data, bias = inputs
        axis = aligned_axis(data, self.axis.value.data, bias)
        return te.compute(data.shape, lambda *i: data[i] + bias[i[axis]], "bias_add")

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"axis": reordered_axis(self.axis.value.data, order)})

    def channel_block(self, blocks: Blocks) -> int:
        shape = shape_of(self.data)
        along_channels = len(shape) == 4 and normalize_axis(self.axis.value.data, 4) == 1
        return blocks.channel_block(shape[1]) if along_channels and is_static(self.bias.type) else PLAIN

    def in_any_block(self) -> bool:
        return True

    def to_blocks(self, blocks: Blocks, block: int) -> None:
        """`add` of the bias as `[1, C/b, 1, 1, b]`"""
        bias = blocks.fit_channels(self.bias, 1, shape_of(self.data)[1], block, self)
        blocks.replace(self, AddOp(blocks.get(self.data, block, self), bias), block)

    def gradient(self, g: Gradient) -> Terms:
        rank = len(g.input.shape)
        axis = normalize_axis(self.axis.value.data, rank)
        return [g.grad, g.grad.sum([d for d in range(rank) if d != axis])]


OPS: list[type[Operation]] = [DenseOp, MatmulOp, BatchMatmulOp, DensePackOp, BiasAddOp]
"""The matrix products."""
