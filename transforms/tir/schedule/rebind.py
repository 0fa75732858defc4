"""Rewriting what loop variables a block's iterators are bound to.

A loop variable is used by nothing but the `loop_vars` of blocks (a loop's bounds are constants), so every loop
transformation is a change of loops plus a substitution in the bindings and predicates of the blocks beneath.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.tir.affine import dims_in, simplify, substitute
from ....dialects.tir.core import BlockOp, dimension_ranges


@dataclass(frozen=True)
class ValueExpr:
    """An affine expression over SSA values: dimension `i` of `expr` stands for `values[i]`."""

    expr: AffineExpr
    values: tuple[SSAValue, ...]

    @staticmethod
    def of(value: SSAValue) -> ValueExpr:
        return ValueExpr(AffineExpr.dimension(0), (value,))

    @staticmethod
    def constant(value: int) -> ValueExpr:
        return ValueExpr(AffineConstantExpr(value), ())


def rebind(block: BlockOp, replacement: Mapping[SSAValue, ValueExpr]) -> None:
    """Replace loop variables in the bindings and the predicate of `block`, and bring them to normal form."""
    values: list[SSAValue] = []

    def dimension(value: SSAValue) -> AffineExpr:
        if value not in values:
            values.append(value)
        return AffineExpr.dimension(values.index(value))

    dims: list[AffineExpr] = []
    for old in block.loop_vars:
        new = replacement.get(old)
        dims.append(dimension(old) if new is None else substitute(new.expr, [dimension(v) for v in new.values]))
    exprs = [substitute(expr, dims) for expr in (*block.bindings.data.results, *block.conditions)]
    assign(block, exprs[: len(block.iters)], exprs[len(block.iters) :], values)


def assign(
    block: BlockOp, bindings: Sequence[AffineExpr], conditions: Sequence[AffineExpr], values: Sequence[SSAValue]
) -> None:
    """Give `block` new bindings and conditions over `values`: simplified, without the values that are not used."""
    ranges = dimension_ranges(values)
    exprs = [simplify(expr, ranges) for expr in (*bindings, *conditions)]
    used = sorted({d for expr in exprs for d in dims_in(expr)})
    renumber: list[AffineExpr] = [AffineConstantExpr(0)] * len(values)
    for position, old in enumerate(used):
        renumber[old] = AffineExpr.dimension(position)
    exprs = [substitute(expr, renumber) for expr in exprs]
    block.set_bindings(exprs[: len(bindings)], [values[d] for d in used])
    block.set_predicate(exprs[len(bindings) :])
