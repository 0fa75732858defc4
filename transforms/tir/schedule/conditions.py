"""What a condition in a block's body says of its iterators."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.tir.affine import affine_of, over_dimensions, simplify

EQ, SLT, SLE, SGT, SGE = 0, 2, 3, 4, 5
"""Predicates of `arith.cmpi`."""


def conditions_of(value: SSAValue, iters: Sequence[BlockArgument]) -> list[AffineExpr] | None:
    """Expressions over the iterators that are all at least 0 where the truth value `value` is true, and only there;
    `None` where it is not made of comparisons of indices that hold together."""
    op = value.owner
    match op:
        case arith.AndIOp():
            left, right = conditions_of(op.lhs, iters), conditions_of(op.rhs, iters)
            return None if left is None or right is None else [*left, *right]
        case arith.CmpiOp() if isinstance(op.lhs.type, IndexType):
            dims = over_dimensions(iters)
            a, b = affine_of(op.lhs, dims), affine_of(op.rhs, dims)
            if a is None or b is None:
                return None
            one = AffineConstantExpr(-1)
            by_predicate: dict[int, list[AffineExpr]] = {
                EQ: [a + b * -1, b + a * -1],
                SLT: [b + a * -1 + one],
                SLE: [b + a * -1],
                SGT: [a + b * -1 + one],
                SGE: [a + b * -1],
            }
            found = by_predicate.get(op.predicate.value.data)
            return None if found is None else [simplify(each) for each in found]
        case _:
            return None
