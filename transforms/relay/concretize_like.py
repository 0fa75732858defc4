"""Patterns that free operators from operands of which only the type matters: part of `simplify-expr`.

    relay.zeros_like %x : tensor<2x3xf32>  ->  relay.zeros {shape = array<i64: 2, 3>, dtype = "float32"}

The operand may then be dead. Its type must be static.
"""

from __future__ import annotations

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relay.base import is_static, shape_of, tensor
from ...dialects.relay.ops.creation import FullLikeOp, FullOp, OnesLikeOp, OnesOp, ZerosLikeOp, ZerosOp
from ...dialects.relay.ops.elementwise import CastLikeOp, CastOp
from ...dialects.relay.ops.reduce import CollapseSumLikeOp, CollapseSumToOp
from ...dialects.relay.ops.tiling import BroadcastToLikeOp, BroadcastToOp
from ...dialects.relay.ops.transform import ReshapeLikeOp, ReshapeOp
from ...dialects.support.dtypes import dtype_name


class ConcretizeFillLike(RewritePattern):
    """`zeros_like(x)` -> `zeros(shape)`, and the same for ones"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ZerosLikeOp | OnesLikeOp, rewriter: PatternRewriter, /) -> None:
        if is_static(op.result.type):
            fill = ZerosOp if isinstance(op, ZerosLikeOp) else OnesOp
            element = tensor(op.result).element_type
            rewriter.replace(op, fill(shape=shape_of(op.result), dtype=dtype_name(element)))


class ConcretizeFullLike(RewritePattern):
    """`full_like(x, v)` -> `full(v, shape)`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FullLikeOp, rewriter: PatternRewriter, /) -> None:
        if is_static(op.result.type):
            element = tensor(op.result).element_type
            rewriter.replace(op, FullOp(op.fill_value, shape=shape_of(op.result), dtype=dtype_name(element)))


class ConcretizeShapeLike(RewritePattern):
    """`reshape_like(x, y)` -> `reshape(x, shape)`, and the same for `broadcast_to` and `collapse_sum_to`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: ReshapeLikeOp | BroadcastToLikeOp | CollapseSumLikeOp, rewriter: PatternRewriter, /
    ) -> None:
        if not is_static(op.results[0].type):
            return
        shape = shape_of(op.results[0])
        match op:
            case ReshapeLikeOp():
                rewriter.replace(op, ReshapeOp(op.data, newshape=shape, allowzero=True))
            case BroadcastToLikeOp():
                rewriter.replace(op, BroadcastToOp(op.data, shape=shape))
            case CollapseSumLikeOp():
                rewriter.replace(op, CollapseSumToOp(op.data, shape=shape))


class ConcretizeCastLike(RewritePattern):
    """`cast_like(x, y)` -> `cast(x, dtype)`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastLikeOp, rewriter: PatternRewriter, /) -> None:
        rewriter.replace(op, CastOp(op.data, dtype=dtype_name(tensor(op.result).element_type)))


CONCRETIZE = (ConcretizeFillLike(), ConcretizeFullLike(), ConcretizeShapeLike(), ConcretizeCastLike())
