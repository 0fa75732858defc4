"""What the iterators of a block take of their values in the inner loops of its nest: whole tiles, or not."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ....dialects.tir.affine import Linear, linear
from ....dialects.tir.core import BlockOp, ForOp, dimension_ranges
from ..schedule.errors import ScheduleError


@dataclass(frozen=True)
class Tile:
    """What an iterator takes of its values in a loop nest, as expressions over the block's `loop_vars`: `tile` of them,
    `outer * tile + inner`."""

    tile: int
    outer: AffineExpr
    inner: AffineExpr


def divide(block: BlockOp, inside: list[ForOp]) -> list[Tile]:
    """What each iterator of `block` takes of its values in the loops `inside`, the innermost around it.

    Raises:
        ScheduleError: that is no tile, or tiles do not fill the iterator's extent; or instances in it may not run.
    """
    values = list(block.loop_vars)
    moving: set[SSAValue] = {loop.var for loop in inside}
    ranges = dimension_ranges(values)
    for condition in block.conditions:
        if any(values[d] in moving for d in condition.used_dims()):
            raise ScheduleError.at(
                block,
                f"block @{block.block_name} runs in a part of the loop only",
                hint="split by factors that divide, or pad first (pad_einsum)",
            )
    forms = [linear(binding, ranges) for binding in block.bindings.data.results]
    for loop in inside:
        bound = [
            n for n, form in enumerate(forms) if any(values[d] is loop.var for a in form.terms for d in a.used_dims())
        ]
        if len(bound) > 1 and loop.size != 1:
            raise _no_tile(block, bound[1], f"iterator {block.iter_name(bound[0])} is bound to a loop in it too")
    return [_tile(block, number, form, values, moving) for number, form in enumerate(forms)]


def _tile(block: BlockOp, number: int, form: Linear, values: list[SSAValue], moving: set[SSAValue]) -> Tile:
    inner: list[tuple[int, ForOp]] = []
    outside: dict[AffineExpr, int] = {}
    for atom, factor in form.terms.items():
        used = {values[d] for d in atom.used_dims()} & moving
        if not used:
            outside[atom] = factor
        elif isinstance(atom, AffineDimExpr):
            (value,) = used
            loop = value.owner.parent_op()
            assert isinstance(loop, ForOp)
            if loop.size != 1 or loop.start != 0:
                inner.append((factor, loop))
        else:
            raise _no_tile(block, number, "it divides a loop in it")
    tile = 1
    for factor, loop in sorted(inner, key=lambda each: each[0]):
        if factor != tile or loop.is_symbolic or loop.start != 0:
            raise _no_tile(block, number, "the loops in it do not count up to the tile's extent")
        tile *= loop.trip_count
    if tile == 0:
        raise _no_tile(block, number, "a loop in it has no iterations")
    extent = block.sizes[number]
    constant = form.constant
    whole = not constant % tile and not any(factor % tile for factor in outside.values())
    if tile > 1 and (not whole or not isinstance(extent, int) or extent % tile):
        raise _no_tile(block, number, f"tiles of {tile} do not fill its extent, {extent}")
    start = Linear({atom: factor // tile for atom, factor in outside.items()}, constant // tile)
    within: AffineExpr = AffineConstantExpr(0)
    for factor, loop in inner:
        within = within + AffineExpr.dimension(values.index(loop.var)) * factor
    return Tile(tile, start.to_expr(), within)


def _no_tile(block: BlockOp, number: int, why: str) -> ScheduleError:
    return ScheduleError.at(
        block,
        f"iterator {block.iter_name(number)} of block @{block.block_name} takes no whole tile of its values in the "
        f"loop: {why}",
        hint="split the loops by factors that divide, and reorder the inner ones inwards",
    )
