"""Stores that change nothing: the elements are written again before they are read, or hold the value already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.dialects import arith, memref, scf
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from ....dialects.tir.affine import Access, access_map_over
from ....dialects.tir.analyzer.convert import dim, substitute
from ....dialects.tir.analyzer.nodes import IntExpr, const
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.calls import CallOp, Handed
from ....dialects.tir.core import BlockOp, ForOp, OuterBlockOp, PrimFuncOp, blocks_under, enclosing_loops
from ....dialects.tir.symbols import Extent
from .block_scopes import fills
from .known_conditions import KnownConditions
from .known_values import KnownValues, conditions_of
from .regions import required_region


def overwritten_stores(func: PrimFuncOp) -> list[memref.StoreOp]:
    """The stores of statements to buffers of which a later statement, among the same loops, writes all that they write,
    before it is read: all of the part, or in each iteration of the same loops the same element."""
    found: list[memref.StoreOp] = []
    for body in (func.region.block, *(op.body.block for op in func.walk() if isinstance(op, ForOp | OuterBlockOp))):
        statements = list(body.ops)
        for number, statement in enumerate(statements):
            for buffer in dict.fromkeys(buffer for block in blocks_under(statement) for buffer in block.writes):
                if _is_overwritten(buffer, statement, statements[number + 1 :]):
                    found += _stores_to(buffer, statement)
    return list(dict.fromkeys(found))


def is_overwritten(store: memref.StoreOp) -> bool:
    """Whether a later statement, among the same loops, surely writes what a store does, before it is read."""
    statement: Operation = store
    while (parent := statement.parent_op()) is not None and not isinstance(statement, PrimFuncOp):
        if isinstance(parent, PrimFuncOp | ForOp | OuterBlockOp):
            assert statement.parent is not None
            later = list(statement.parent.ops)
            later = later[later.index(statement) + 1 :]
            if _is_overwritten(store.memref, statement, later, (store,)):
                return True
        statement = parent
    return False


def _is_overwritten(
    buffer: SSAValue, statement: Operation, later: Sequence[Operation], stores: Sequence[memref.StoreOp] | None = None
) -> bool:
    """Whether what a statement writes to a buffer, by `stores` or by all that it has, is written again."""
    if any(touch.buffer is buffer and not touch.is_write for b in blocks_under(statement) for touch in b.touches()):
        return False
    around = enclosing_loops(statement)
    variables = [loop.var for loop in around]
    region = required_region(buffer, blocks_under(statement), variables, True)
    writers = [block for block in blocks_under(statement) if buffer in block.writes]
    if stores is not None:
        writers = [block for block in writers if any(block.is_ancestor(store) for store in stores)]
    for other in later:
        blocks = blocks_under(other)
        if any(touch.buffer is buffer and not touch.is_write for block in blocks for touch in block.touches()):
            return False
        for block in blocks:
            if buffer in block.writes:
                there = required_region(buffer, [block], variables, True)
                if fills(block, buffer, around, there) and _covers(buffer, there, region):
                    return True
                if all(_follows(block, each, buffer, around, stores) for each in writers):
                    return True
    return False


def _follows(
    block: BlockOp,
    first: BlockOp,
    buffer: SSAValue,
    around: Sequence[ForOp],
    only: Sequence[memref.StoreOp] | None = None,
) -> bool:
    """Whether `block`, in loops of its own that are those of `first`, surely writes in each iteration what `first` does
    in the same one, by the stores `only` where these are given: where the branches around a store of the one are taken,
    those around a store of the other are."""
    loops, others = (enclosing_loops(each)[len(around) :] for each in (block, first))
    if block.conditions or block.init is not None or first.init is not None:
        return False
    if [(loop.start, loop.size) for loop in loops] != [(loop.start, loop.size) for loop in others]:
        return False
    if not all(isinstance(loop.size, int) for loop in loops):
        return False
    pairs: dict[SSAValue, SSAValue] = {a.var: b.var for a, b in zip(others, loops, strict=True)}
    if [pairs.get(v, v) for v in first.loop_vars] != list(block.loop_vars) or first.bindings != block.bindings:
        return False
    stores = [_StoreInBranches.of(each, block) for each in _accesses_to(buffer, block)]
    return all(
        any(after is not None and after.is_made_with(before) for after in stores)
        for before in (
            _StoreInBranches.of(each, first) for each in _accesses_to(buffer, first) if only is None or each.op in only
        )
    )


def _accesses_to(buffer: SSAValue, block: BlockOp) -> list[Access | Handed]:
    return [touch for touch in block.touches() if touch.buffer is buffer]


@dataclass(frozen=True)
class _StoreInBranches:
    """A store in a block's body, where it stores, and the conditions of the branches that it stands in."""

    map: AffineMap
    facts: Sequence[IntExpr]
    conditions: KnownConditions
    is_known: bool
    """Whether the conditions are all that decide whether it is made."""

    @staticmethod
    def of(access: Access | Handed, block: BlockOp) -> _StoreInBranches | None:
        if access.map is None or not isinstance(access.op, memref.StoreOp):
            return None
        conditions = conditions_of(block, block.body)
        known, outer = True, access.op.parent_op()
        while isinstance(outer, scf.IfOp):
            known &= conditions.condition(outer.cond) is not None
            outer = outer.parent_op()
        known &= outer is block
        return _StoreInBranches(access.map, conditions.around(access.op), conditions, known)

    def is_made_with(self, other: _StoreInBranches | None) -> bool:
        """Whether this store is made, at the same place, wherever the other is."""
        if other is None or not self.is_known or self.map != other.map:
            return False
        return all(self.conditions.proves(fact, other.facts) for fact in self.facts)


Region = Sequence[tuple[AffineExpr, Extent]]


def _covers(buffer: SSAValue, region: Region, other: Region) -> bool:
    """Whether a part of a buffer has all of another part."""
    for (low, size), part, extent in zip(region, other, shape_of(buffer), strict=True):
        whole = low == AffineConstantExpr(0) and size == extent
        if not whole and (low, size) != part:
            return False
    return True


def _stores_to(buffer: SSAValue, statement: Operation) -> Iterator[memref.StoreOp]:
    return (op for op in statement.walk() if isinstance(op, memref.StoreOp) and op.memref is buffer)


def adds_nothing(store: memref.StoreOp, conditions: KnownConditions, facts: Sequence[IntExpr]) -> bool:
    """Whether a store gives an element what was read of it just before, with nothing added that is not surely 0 where
    `facts` hold."""
    value, place = store.value, access_map_over(store, conditions.dims)
    if place is None:
        return False
    if not isinstance(value.owner, memref.LoadOp):
        if not isinstance(value.owner, arith.AddiOp):
            return False
        sides = (value.owner.lhs, value.owner.rhs)
        loads = [side for side in sides if _is_of(side, store, place, conditions)]
        if not loads:
            return False
        added = conditions.number(sides[0] if loads[0] is sides[1] else sides[1], facts)
        if added is None or not conditions.proves(_pinned(added, conditions, facts).equal(0), facts):
            return False
        value = loads[0]
    return _is_of(value, store, place, conditions) and _is_still_there(value, store)


def _pinned(expr: IntExpr, conditions: KnownConditions, facts: Sequence[IntExpr]) -> IntExpr:
    """An expression with the iterators that have one value alone where `facts` hold as that value."""
    values: dict[IntExpr, IntExpr] = {}
    for dimension, bounds in conditions.ranges.items():
        if isinstance(dimension, AffineDimExpr):
            variable = dim(dimension.position)
            only = next((end for end in bounds if conditions.proves(variable.equal(end), facts)), None)
            if only is not None:
                values[variable] = const(only)
    return substitute(expr, values)


def _is_of(value: SSAValue, store: memref.StoreOp, place: AffineMap, conditions: KnownConditions) -> bool:
    """Whether a value is what the element of a store held."""
    load = value.owner
    if not isinstance(load, memref.LoadOp) or load.memref is not store.memref:
        return False
    return access_map_over(load, conditions.dims) == place and load.parent is store.parent


def _is_still_there(value: SSAValue, store: memref.StoreOp) -> bool:
    """Whether nothing is written between the load of a value and a store."""
    between = value.owner
    while between is not store:
        assert isinstance(between, Operation)
        if any(isinstance(op, memref.StoreOp | CallOp) for op in between.walk()):
            return False
        between = between.next_op
    return True


def stores_of_known_values(func: PrimFuncOp) -> list[memref.StoreOp]:
    """The stores of integers that the elements surely hold already."""
    knowns = KnownValues(func)
    found: list[memref.StoreOp] = []
    for block in knowns.at:
        conditions = conditions_of(block, block.body)
        conditions.element = partial(knowns.element, block, conditions)
        for op in block.body.walk() if block.init is None else ():
            if not isinstance(op, memref.StoreOp):
                continue
            facts = [*knowns.at[block].sizes, *conditions.around(op)]
            given = conditions.number(op.value, facts)
            held = None if given is None else knowns.element(block, conditions, op, facts)
            if given is not None and held is not None and conditions.proves(given.equal(held), facts):
                found.append(op)
    return found
