"""Loops that run no further than what is in them does anything.

A loop in a loop whose iterations are fewer there than elsewhere is one with as many as there are at most, and a
condition of each block in it (`script.loops`). Where all blocks of a loop have a condition that is linear in its
variable, this says in which iterations it holds: `i - j >= 0` is that `j` stays below `i + 1`.

    tir.for %i = 0 to 16 { tir.for %j = 0 to 16 { tir.block @b(...) = [%i, %j] where [%i - %j] ...
    for i in range(16):    for j in range(min(16, i + 1)): ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from .affine import Linear, Range, linear, simplify, substitute
from .blocks import BlockOp, blocks_under
from .loops import ForOp, enclosing_loops, loop_of
from .storage_sync import waits
from .symbols import as_affine, product, quotient


def most_of(expr: AffineExpr, variables: Sequence[SSAValue]) -> AffineExpr | None:
    """What `expr`, over the `variables` of loops, is at most, as an expression of symbols; `None` where that is not
    told. Symbols are not negative."""
    return _extreme(linear(expr), variables, is_most=True)


def _extreme(form: Linear, variables: Sequence[SSAValue], *, is_most: bool) -> AffineExpr | None:
    """The greatest or least value of a sum."""
    total: AffineExpr = AffineConstantExpr(form.constant)
    for atom, factor in form.terms.items():
        value = _extreme_of_atom(atom, variables, is_most=is_most is (factor > 0))
        if value is None:
            return None
        total = total + product(value, AffineConstantExpr(factor))
    return simplify(total)


def _extreme_of_atom(atom: AffineExpr, variables: Sequence[SSAValue], *, is_most: bool) -> AffineExpr | None:
    if not atom.used_dims():
        return atom
    match atom:
        case AffineDimExpr(position):
            loop = loop_of(variables[position])
            return as_affine(loop.size) + (loop.start - 1) if is_most else AffineConstantExpr(loop.start)
        case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, lhs, AffineConstantExpr() as rhs):
            value = _extreme(linear(lhs), variables, is_most=is_most)
            return None if value is None else quotient(value, rhs)
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, _, AffineConstantExpr(value)):
            return AffineConstantExpr(value - 1 if is_most else 0)
        case _:
            return None


@dataclass
class Narrowed:
    """Where a loop's iterations begin and end beside its own bounds, and the conditions that then hold."""

    lows: list[AffineExpr] = field(default_factory=list[AffineExpr])
    ends: list[AffineExpr] = field(default_factory=list[AffineExpr])
    conditions: set[AffineExpr] = field(default_factory=set[AffineExpr])


def narrowed(
    loop: ForOp, dim: Callable[[SSAValue], AffineExpr], ranges: Mapping[AffineExpr, Range] | None = None
) -> Narrowed:
    """The iterations of `loop` in which blocks run, over the dimensions `dim` of the loops around it, whose `ranges`
    may be known; what a block's condition is called there is its normal form (`condition_over`)."""
    found = Narrowed()
    blocks = blocks_under(loop)
    if not blocks or not all(block.conditions for block in blocks) or waits(loop):
        return found  # threads that wait do so in every iteration
    around = [dim(outer.var) for outer in enclosing_loops(loop)]
    own = dim(loop.var)
    common: set[AffineExpr] | None = None
    for block in blocks:
        mine = {condition_over(block, condition, dim, ranges) for condition in block.conditions}
        common = mine if common is None else common & mine
    for condition in sorted(common or (), key=str):
        form = linear(condition, ranges)
        factor = form.coefficient(own)
        rest = form.without(own).to_expr()
        if not factor or not form.is_linear_in(own) or not _is_over(rest, around):
            continue
        found.conditions.add(condition)
        if factor > 0:
            found.lows.append(_divided(simplify(rest * -1 + (factor - 1)), factor))
        else:
            found.ends.append(_divided(rest, -factor) + 1)
    return found


def condition_over(
    block: BlockOp,
    condition: AffineExpr,
    dim: Callable[[SSAValue], AffineExpr],
    ranges: Mapping[AffineExpr, Range] | None = None,
) -> AffineExpr:
    """A condition of a block over dimensions of its loops."""
    for outer in enclosing_loops(block):
        dim(outer.var)
    return linear(substitute(condition, [dim(value) for value in block.loop_vars]), ranges).to_expr()


def _divided(expr: AffineExpr, by: int) -> AffineExpr:
    return expr if by == 1 else quotient(expr, AffineConstantExpr(by))


def _is_over(expr: AffineExpr, dims: Sequence[AffineExpr]) -> bool:
    return all(AffineExpr.dimension(number) in dims for number in expr.used_dims())
