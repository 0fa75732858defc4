"""Rows that free operators from operands of which only the type matters: part of `simplify-expr`.

    relay.zeros_like %x : tensor<2x3xf32>  ->  relay.zeros {shape = array<i64: 2, 3>, dtype = "float32"}

The operand may then be dead. Where a shape is said, the type must be static.
"""

from __future__ import annotations

from ...dialects.relay.base import is_static, shape_of, tensor
from ...dialects.relay.ops.collapse import CollapseSumToOp
from ...dialects.relay.ops.creation import FullOp, OnesOp, ZerosOp
from ...dialects.relay.ops.elementwise import CastOp
from ...dialects.relay.ops.tiling import BroadcastToOp
from ...dialects.relay.ops.transform import ReshapeOp
from ...dialects.support.dtypes import dtype_name
from .dataflow.pattern import is_op, wildcard
from .dataflow.rows import Row, Site


def static(site: Site) -> bool:
    """Whether the result's shape can be said."""
    return is_static(site.op.results[0].type)


def shape(site: Site) -> tuple[int, ...]:
    return shape_of(site.op.results[0])


def dtype(site: Site) -> str:
    return dtype_name(tensor(site.op.results[0]).element_type)


x, v, like = wildcard(), wildcard(), wildcard()

CONCRETIZE = (
    Row("zeros_like(x) = zeros(shape)", is_op("zeros_like")(x),
        lambda s: s.emit(ZerosOp(shape=shape(s), dtype=dtype(s))), static),
    Row("ones_like(x) = ones(shape)", is_op("ones_like")(x),
        lambda s: s.emit(OnesOp(shape=shape(s), dtype=dtype(s))), static),
    Row("full_like(x, v) = full(v, shape)", is_op("full_like")(x, v),
        lambda s: s.emit(FullOp(s[v], shape=shape(s), dtype=dtype(s))), static),
    Row("reshape_like(x, like) = reshape(x, shape)", is_op("reshape_like")(x, like),
        lambda s: s.emit(ReshapeOp(s[x], newshape=shape(s), allowzero=0 in shape(s))), static),
    Row("broadcast_to_like(x, like) = broadcast_to(x, shape)", is_op("broadcast_to_like")(x, like),
        lambda s: s.emit(BroadcastToOp(s[x], shape=shape(s))), static),
    Row("collapse_sum_like(x, like) = collapse_sum_to(x, shape)", is_op("collapse_sum_like")(x, like),
        lambda s: s.emit(CollapseSumToOp(s[x], shape=shape(s))), static),
    Row("cast_like(x, like) = cast(x, dtype)", is_op("cast_like")(x, like),
        lambda s: s.emit(CastOp(s[x], dtype=dtype(s)))),
)  # fmt: skip
