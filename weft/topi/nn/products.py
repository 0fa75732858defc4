"""Products of matrices (`tvm.topi.nn`)."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import te
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from ..broadcast import add
from ..relay_operators import computed


@checked
def dense(data: te.Tensor, weight: te.Tensor, bias: te.Tensor | None = None, out_dtype: str | None = None) -> te.Tensor:
    """`data` times the transposed `weight`, plus `bias`: `[M, K]` and `[N, K]` give `[M, N]`."""
    product = computed("nn.dense", data, weight, out_dtype=out_dtype or "")
    return product if bias is None else add(product, bias)


@checked
def batch_matmul(
    tensor_a: te.Tensor,
    tensor_b: te.Tensor,
    oshape: Sequence[int] | None = None,
    out_dtype: str | None = None,
    transpose_a: bool = False,
    transpose_b: bool = True,
) -> te.Tensor:
    """A product of matrices for each batch.

    Raises:
        UsageError: its shape is not `oshape`.
    """
    product = computed("nn.batch_matmul", tensor_a, tensor_b, out_dtype or "", transpose_a, transpose_b)
    if oshape is not None and tuple(oshape) != product.shape:
        raise UsageError(f"topi: the product of these matrices has the shape {product.shape}, and not {tuple(oshape)}")
    return product
