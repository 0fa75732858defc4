"""Running sums and products."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure

from ... import te
from ...support.dtypes import numpy_dtype
from ...support.operations import irdl_op_definition
from ..base import (
    DYNAMIC,
    LONG,
    Fusion,
    FusionPattern,
    RelayOp,
    flag,
    is_true,
    normalize_axis,
    opt_integer,
    string,
    tensor,
)
from ..indexing import reshaped
from ..nn_common import accumulator, narrow, widened
from ..precision import Accuracy, Precision
from ..reordering import Order, Reordered, reordered_axis
from .elementwise import named_type
from .transform import ExpandDimsOp

if TYPE_CHECKING:
    from ..base import NDArray
    from ..gradient import Gradient, Terms


class _ScanOp(RelayOp, ABC):
    """All elements up to each one combined: `KIND`.

    Along `axis`; without it, of the tensor seen as one row. With `exclusive`, without the element itself. `dtype` is
    the type of the result, if it is another.
    """

    KIND: ClassVar[te.ReduceKind]

    data = operand_def(TensorType)
    result = result_def(TensorType)

    axis = opt_integer()
    dtype = string("")
    exclusive = flag(False)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def reordered(self, order: Order) -> Reordered | None:
        if self.axis is None:
            return None
        return Reordered([order], {"axis": reordered_axis(self.axis.value.data, order)})

    def element(self, data: Attribute) -> Attribute:
        """The result's element type."""
        return named_type(self.dtype.data) if self.dtype.data else data

    def terms(self) -> int:
        shape = tensor(self.data).get_shape()
        along = shape if self.axis is None else [shape[normalize_axis(self.axis.value.data, len(shape))]]
        return prod(LONG if n == DYNAMIC else n for n in along)

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        shape = data.get_shape()
        if self.axis is None:
            shape = [DYNAMIC if DYNAMIC in shape else prod(shape)]
        else:
            normalize_axis(self.axis.value.data, len(shape))
        return [TensorType(self.element(data.element_type), shape)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        element = self.element(x.element_type)
        x = reshaped(x, [prod(x.shape)]) if self.axis is None else x
        axis = normalize_axis(self.axis.value.data if self.axis is not None else 0, x.rank)
        wide = accumulator(element)
        late = is_true(self.exclusive)

        def fill(do: te.Steps, result: te.Tensor) -> None:
            before = tuple(do.axes)

            def value(k: te.ExprLike, behind: Sequence[te.Slot]) -> te.Expr:
                return te.cast(x[(*before, te.as_index(k), *behind)], wide)

            with do.when(te.dim_expr(x.dims[axis]) > 0), do.loops(x.dims[axis + 1 :]) as behind:
                first = te.reduce_identity(self.KIND, wide) if late else value(0, behind)
                do.store(result[(*before, te.const(0, te.index), *behind)], first)
            with do.loop(te.dim_expr(x.dims[axis]) - 1) as k, do.loops(x.dims[axis + 1 :]) as behind:
                so_far = result[(*before, k, *behind)]
                total = te.binary(te.COMBINER[self.KIND], so_far, value(k if late else k + 1, behind))
                do.store(result[(*before, k + 1, *behind)], total)

        name = self.name.removeprefix("relay.")
        return narrow(te.procedure([(x.dims, wide, name)], fill, over=x.dims[:axis])[0], element)

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        (x,) = inputs
        element = self.element(tensor(self.data).element_type)
        x = widened(x.reshape(-1) if self.axis is None else x, element)
        axis = normalize_axis(self.axis.value.data if self.axis is not None else 0, x.ndim)
        add = np.logical_xor if x.dtype == np.bool_ else np.add
        ufunc, identity = (add, 0) if self.KIND == "sum" else (np.multiply, 1)
        result = ufunc.accumulate(x, axis, dtype=x.dtype)
        if is_true(self.exclusive):
            lead = (slice(None),) * axis
            shifted = np.full_like(result, identity)
            shifted[(*lead, slice(1, None))] = result[(*lead, slice(None, -1))]
            result = shifted
        return result.astype(numpy_dtype(element))


@irdl_op_definition
class CumsumOp(_ScanOp):
    """The sum of all elements up to each one.

    `y = np.cumsum(x, axis=1)`

    ```mlir
    %y = relay.cumsum %x {axis = 1 : i64} : (tensor<2x5xf32>) -> tensor<2x5xf32>
    ```
    """

    name = "relay.cumsum"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED
    PRECISION: ClassVar[Precision | None] = Precision.NEVER
    KIND: ClassVar[te.ReduceKind] = "sum"

    def gradient(self, g: Gradient) -> Terms:
        x, grad = g.input, g.grad.cast(g.input.type.element_type)
        axis = normalize_axis(self.axis.value.data if self.axis is not None else 0, len(grad.shape))
        turned = grad.reverse(axis).op(CumsumOp, axis=axis, exclusive=self.exclusive)
        return [turned.reverse(axis).reshape(x.shape)]


@irdl_op_definition
class CumprodOp(_ScanOp):
    """The product of all elements up to each one.

    `y = np.cumprod(x, axis=1)`

    ```mlir
    %y = relay.cumprod %x {axis = 1 : i64} : (tensor<2x5xf32>) -> tensor<2x5xf32>
    ```
    """

    name = "relay.cumprod"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED
    PRECISION: ClassVar[Precision | None] = Precision.NEVER
    KIND: ClassVar[te.ReduceKind] = "prod"

    def gradient(self, g: Gradient) -> Terms:
        g.static()
        x = g.input if self.axis is not None else g.input.reshape([prod(g.input.shape)])
        axis = normalize_axis(self.axis.value.data if self.axis is not None else 0, len(x.shape))
        count, behind = x.shape[axis], len(x.shape) - axis - 1
        taken = [[j < i if is_true(self.exclusive) else j <= i for j in range(count)] for i in range(count)]
        mask = g.constant(taken, i1).reshape([count, count, *(1,) * behind])
        rows = x.op(ExpandDimsOp, axis=axis).where(mask, 1)
        return g.through(rows.prod([axis + 1]).cast(g.output.type.element_type))


OPS: list[type[Operation]] = [CumsumOp, CumprodOp]
"""The running sums and products."""
