"""The packed `dense`: its weight stands in the order in which it is read."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerAttr, TensorType, i1, i64
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.dtypes import numpy_dtype
from ....support.operations import irdl_op_definition
from ...base import (
    DYNAMIC,
    Fusion,
    FusionPattern,
    RelayOp,
    broadcast_dims,
    broadcast_shapes,
    string,
    tensor,
)
from ...layout import Layout, parse_layout, transform_array
from ...nn_common import accumulator, narrow, optional_int, result_element, widened
from ...shapes import check_extents

if TYPE_CHECKING:
    from ...base import NDArray


@irdl_op_definition
class DensePackOp(RelayOp):
    """A fully connected layer whose weight stands in blocks of columns, for vector units.

    The weight is `[N / x, K, x]` in layout `NK[x]n`; `units` is the true N, where the last block is not full. In
    `NK[x]n[z]k` it is `[N / x, K / z, x, z]`, so that `z` steps of each column stand side by side. In `BNK[x]n` there
    is one such weight for each element of a batch, the first dimension of the data; a batch of one, of either, stands
    for every element of the other.

    `y[.., m, n] = sum_k data[.., m, k] * weight[n // x, k, n % x]`

    ```mlir
    %y = relay.nn.contrib_dense_pack %x, %w {weight_layout = "NK4n", units = 6 : i64}
       : (tensor<2x3xf32>, tensor<2x3x4xf32>) -> tensor<2x6xf32>
    ```
    """

    name = "relay.nn.contrib_dense_pack"

    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    result = result_def(TensorType)
    units = opt_prop_def(IntegerAttr.constr(i64))
    weight_layout = string("NK8n")
    out_dtype = string("")

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def layout(self) -> Layout:
        """
        Raises:
            VerifyException: the weight's layout is neither `NK[x]n` nor `NK[x]n[z]k`, nor one of these behind a `B`.
        """
        layout = parse_layout(self.weight_layout.data)
        if "".join(layout.names).removeprefix("B") not in ("NKn", "NKnk"):
            raise VerifyException(f"weight_layout {layout.text} is not NK with a block of n, and perhaps one of k")
        return layout

    def is_batched(self) -> bool:
        """Whether there is a weight for each element of a batch."""
        return self.layout().names[0] == "B"

    def infer(self) -> Sequence[Attribute]:
        data, weight = tensor(self.data), tensor(self.weight)
        layout, shape = self.layout(), data.get_shape()
        layout.check(weight.get_shape(), "the weight")
        batch = weight.get_shape()[: layout.position("N")]
        if len(shape) < 2 + len(batch):
            raise VerifyException(f"expected data of rank {2 + len(batch)} or more, got {list(shape)}")
        blocks, k, block, *inner = weight.get_shape()[len(batch) :]
        k = DYNAMIC if DYNAMIC in (k, *inner) else k * prod(inner)
        if DYNAMIC not in (shape[-1], k) and shape[-1] != k:
            raise VerifyException(f"the data {list(shape)} has {shape[-1]} elements to sum over, the weight has {k}")
        units = optional_int(self.units)
        if units is None:
            units = DYNAMIC if blocks == DYNAMIC else blocks * block
        elif blocks not in (DYNAMIC, -(-units // block)):
            raise VerifyException(f"'units' is {units}, but the weight has {blocks} blocks of {block}")
        lead = [*map(broadcast_dims, shape, batch), *shape[len(batch) : -1]]
        return [TensorType(result_element(data.element_type, self.out_dtype.data), [*lead, units])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        data, weight = inputs
        result = tensor(self.result)
        sum_type = accumulator(result.element_type)
        batched = self.layout().position("N")
        blocks, depth, block, *inner = weight.shape[batched:]
        units = optional_int(self.units)
        if units is not None:
            check_extents("the weight in blocks", [blocks], [-(-units // block)])
        if not te.agree(data.shape[-1], prod([depth, *inner])):
            raise VerifyException(f"rows of {data.shape[-1]} elements do not fit weights of {prod([depth, *inner])}")
        k = te.reduce_axis(depth, "k")
        steps = [k, *(te.reduce_axis(each, "kk") for each in inner)]

        def body(*i: te.IterVar) -> te.Expr:
            *row, j = i
            at = k * inner[0] + steps[1] if inner else k
            weights = weight[(*of_batch(weight, row), j // block, k, j % block, *steps[1:])]
            values = data[(*of_batch(data, row), *row[batched:], at)]
            return te.sum(te.cast(values, sum_type) * te.cast(weights, sum_type), steps)

        def of_batch(x: te.Tensor, row: Sequence[te.Expr]) -> list[te.Expr]:
            lead = zip(row[:batched], x.shape[:batched], strict=True)
            return [te.const(0, te.index) if n == 1 else i for i, n in lead]

        lead = (*broadcast_shapes(data.shape[:batched], weight.shape[:batched]), *data.shape[batched:-1])
        product = te.compute((*lead, blocks * block if units is None else units), body, "dense_pack")
        return narrow(product, result.element_type)

    def numpy(self, *inputs: NDArray) -> NDArray | None:
        import numpy as np

        data, weight = inputs
        result = tensor(self.result)
        if result.element_type == i1:
            return None  # NumPy takes the disjunction for a sum
        plain = transform_array(
            widened(weight, result.element_type), self.layout(), parse_layout("BKN" if self.is_batched() else "KN")
        )
        if self.is_batched():
            plain = plain.reshape(len(plain), *(1,) * (data.ndim - 3), *plain.shape[1:])
        product = np.matmul(widened(data, result.element_type), plain[..., : result.get_shape()[-1]])
        return product.astype(numpy_dtype(result.element_type), copy=False)
