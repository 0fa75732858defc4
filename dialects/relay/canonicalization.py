"""Canonicalisation of single operators: those that do nothing are dropped.

    reshape, squeeze, expand_dims, broadcast_to, cast, copy: x -> x     the result has the operand's type
    transpose(x, order)                                   -> x          the order is 0, 1, 2, ...
    tuple_get(tuple(a, b, ...), i)                        -> the field  always

Algebra (`x + 0`, two reshapes in a row, ...) is the pass `simplify-expr`'s.
"""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from .base import Fusion, fusion_pattern, is_static, shape_of
from .core import TupleGetOp, TupleOp
from .ops.transform import TransposeOp


class DropIdentity(RewritePattern):
    """An operator that has its first operand's elements in their order is that operand, where the types agree.

    Types with dynamic extents say so only of elementwise operators: others may change extents that both types hide.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter):
        type = op.operands[0].type
        if type == op.results[0].type and (is_static(type) or fusion_pattern(op.__class__) == Fusion.ELEMWISE):
            rewriter.replace(op, [], [op.operands[0]])


class DropIdentityTranspose(RewritePattern):
    """A transpose that leaves every dimension in its place is its operand."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter):
        rank = len(shape_of(op.data))
        if op.permutation(rank) == tuple(range(rank)) and op.data.type == op.result.type:
            rewriter.replace(op, [], [op.data])


class TakeFieldOfTuple(RewritePattern):
    """A field of a tuple that is made right here is the value it was made of."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TupleGetOp, rewriter: PatternRewriter):
        if isinstance(made := op.tuple.owner, TupleOp):
            rewriter.replace(op, [], [made.fields[op.index.value.data]])
