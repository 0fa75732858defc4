"""What elements of buffers are known to hold where a block of a function runs, and what sizes are known to be.

An element holds what was stored to it, or what `tir.assume` says, until a nest of loops writes to its buffer:

    for i: a[i] = i                                 for i: assume(i < 14 or b[i] == 0)
    ...                    a[e] == e                ...               b[e] == 0 where not e < 14

Only integers are looked at. A nest's own writes hide what was known before it, but for what a block reads of an element
before it writes the same one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from ....dialects.support.hints import isa
from ....dialects.support.walking import in_order
from ....dialects.tir.affine import Range, access_map_over, linear, over_dimensions
from ....dialects.tir.analyzer.build import any_of, negate
from ....dialects.tir.analyzer.convert import dim, from_affine, substitute
from ....dialects.tir.analyzer.nodes import IntExpr, const, var
from ....dialects.tir.core import AssumeOp, BlockOp, PrimFuncOp, blocks_under, enclosing_loops
from ....dialects.tir.symbols import as_affine, greatest
from .known_conditions import KnownConditions


@dataclass(frozen=True)
class Fact:
    """What the elements of a buffer hold for whose place, the variables `place(0)`, `place(1)`, ..., all of `where`
    holds."""

    where: tuple[IntExpr, ...]
    value: IntExpr

    def apart_from(self, elements: Collection[tuple[int, ...]]) -> Fact:
        """What is left of it where elements are written."""
        others = (any_of(*(place(n).differs(at) for n, at in enumerate(each))) for each in elements)
        return Fact((*self.where, *others), self.value)


def place(number: int) -> IntExpr:
    """The variable that stands for an element's index in a dimension."""
    return var(("place", number), f"p{number}")


@dataclass
class Knowledge:
    """What is known before a nest of loops."""

    nest: Operation
    facts: Mapping[SSAValue, Sequence[Fact]]
    sizes: Sequence[IntExpr]
    """Conditions on the function's symbols."""
    written: frozenset[SSAValue]
    """The buffers that the nest writes."""


@dataclass
class KnownValues:
    """What is known before each nest of a function."""

    func: PrimFuncOp
    at: dict[BlockOp, Knowledge] = field(default_factory=dict[BlockOp, Knowledge])

    def __post_init__(self) -> None:
        facts: dict[SSAValue, tuple[Fact, ...]] = {}
        sizes: list[IntExpr] = []
        for nest in self.func.region.block.ops:
            blocks = blocks_under(nest)
            written = frozenset(buffer for block in blocks for buffer in block.writes)
            knowledge = Knowledge(nest, dict(facts), tuple(sizes), written)
            for block in blocks:
                self.at[block] = knowledge
            for buffer in written & facts.keys():
                elements = _written_elements(blocks, buffer)
                facts[buffer] = () if elements is None else tuple(f.apart_from(elements) for f in facts[buffer])
            for block in blocks:
                reader = _Reader(block)
                reader.conditions.element = partial(self.element, block, reader.conditions)
                sizes += reader.sizes()
                for buffer, fact in (*reader.assumed(written), *reader.stored(blocks)):
                    facts[buffer] = (*facts.get(buffer, ()), fact)

    def element(
        self,
        block: BlockOp,
        conditions: KnownConditions,
        load: memref.LoadOp | memref.StoreOp,
        facts: Sequence[IntExpr],
    ) -> IntExpr | None:
        """What an element that `block` accesses surely holds then, where `facts` hold, over the dimensions of
        `conditions`."""
        knowledge = self.at.get(block)
        known = () if knowledge is None else knowledge.facts.get(load.memref, ())
        map = access_map_over(load, conditions.dims)
        if knowledge is None or not known or map is None:
            return None
        if load.memref in knowledge.written and not _comes_first(load, map, block, knowledge.nest):
            return None
        values = {place(number): from_affine(expr) for number, expr in enumerate(map.results)}
        for fact in reversed(known):
            if all(conditions.proves(substitute(each, values), facts) for each in fact.where):
                return substitute(fact.value, values)
        return None


MANY = 8
"""Of more elements that are written one by one it is not told apart which others are not."""


def _written_elements(blocks: Sequence[BlockOp], buffer: SSAValue) -> set[tuple[int, ...]] | None:
    """The elements of a buffer that blocks write, where these are the same for all of their instances, and few."""
    found: set[tuple[int, ...]] = set()
    for block in blocks:
        for touch in block.touches():
            if touch.is_write and touch.buffer is buffer:
                forms = None if touch.map is None else [linear(each) for each in touch.map.results]
                if forms is None or any(form.terms for form in forms):
                    return None
                found.add(tuple(form.constant for form in forms))
    return found if len(found) <= MANY else None


def _comes_first(load: memref.LoadOp | memref.StoreOp, map: AffineMap, block: BlockOp, nest: Operation) -> bool:
    """Whether the element that `load` reads has not been written by the nest yet: only its block writes to the buffer,
    after it, each instance the element that it reads."""
    if any(load.memref in other.writes for other in blocks_under(nest) if other is not block):
        return False
    writes = [touch for touch in block.touches() if touch.is_write and touch.buffer is load.memref]
    if any(touch.map != map for touch in writes) or not block.body.is_ancestor(load):
        return False
    used = [expr.position for expr in map.results if isinstance(expr, AffineDimExpr)]
    others = [size for number, size in enumerate(block.sizes) if number not in used]
    if len(set(used)) != len(used) or any(size != 1 for size in others) or not _runs_once_each(block):
        return False
    order = {op: number for number, op in enumerate(in_order(block.body))}
    return all(order.get(touch.op, -1) >= order[load] for touch in writes)


def _runs_once_each(block: BlockOp) -> bool:
    """Whether no instance of a block runs twice: each loop around it is bound to an iterator."""
    bound = {block.loop_vars[n] for binding in block.bindings.data.results for n in binding.used_dims()}
    return all(loop.size == 1 or loop.var in bound for loop in enclosing_loops(block))


class _Reader:
    """Reads what a block makes known of buffers and sizes."""

    def __init__(self, block: BlockOp):
        self.block = block
        self.dims = over_dimensions(block.body.block.args)
        self.conditions = conditions_of(block, block.body)
        self.always = not block.conditions and not block.partial_iters and self._runs()

    def _runs(self) -> bool:
        """Whether every instance of the block runs: the loops around it have iterations."""
        return all(isinstance(loop.size, int) and loop.size > 0 for loop in enclosing_loops(self.block))

    def sizes(self) -> list[IntExpr]:
        """What assumptions say of the function's symbols."""
        found: list[IntExpr] = []
        for op in self.block.body.block.ops:
            if isinstance(op, AssumeOp) and self.always and 0 not in self.block.sizes:
                found += (
                    each for each in self.conditions.facts(op.condition, True) if not _speaks_of(each, self.block)
                )
        return found

    def assumed(self, written: frozenset[SSAValue]) -> list[tuple[SSAValue, Fact]]:
        """What assumptions say of elements of buffers that the nest does not write."""
        found: list[tuple[SSAValue, Fact]] = []
        for op in self.block.body.walk():
            where = self._where(op) if isinstance(op, AssumeOp) else None
            if not isinstance(op, AssumeOp) or where is None:
                continue
            pending = [op.condition]
            while pending:
                value = pending.pop()
                if isinstance(value.owner, arith.AndIOp):
                    pending += (value.owner.lhs, value.owner.rhs)
                elif (equal := self._equality(value, where)) is not None and equal[0] not in written:
                    found.append(equal)
        return found

    def _equality(self, value: SSAValue, where: list[IntExpr]) -> tuple[SSAValue, Fact] | None:
        """`c or a[...] == x`: what the element is where `c` does not hold."""
        excluded: list[SSAValue] = []
        while isinstance(value.owner, arith.OrIOp):
            sides = (value.owner.lhs, value.owner.rhs)
            speaking = [side for side in sides if self.conditions.condition(side) is None]
            if len(speaking) != 1:
                return None
            excluded += (side for side in sides if side is not speaking[0])
            value = speaking[0]
        op = value.owner
        if not isinstance(op, arith.CmpiOp) or op.predicate.value.data != 0:
            return None
        negated = [self.conditions.condition(each) for each in excluded]
        limits = [negate(each) for each in negated if each is not None]
        for load, other in ((op.lhs.owner, op.rhs), (op.rhs.owner, op.lhs)):
            if isinstance(load, memref.LoadOp):
                fact = self._fact(load, other, [*where, *limits])
                return None if fact is None else (load.memref, fact)
        return None

    def stored(self, blocks: Sequence[BlockOp]) -> list[tuple[SSAValue, Fact]]:
        """What the only store of a nest to a buffer leaves in it; or several, one after the other, each to an element
        of its own."""
        found: list[tuple[SSAValue, Fact]] = []
        stores: dict[SSAValue, list[memref.StoreOp]] = {}
        for op in self.block.body.walk():
            if isinstance(op, memref.StoreOp) and self.block.init is None:
                stores.setdefault(op.memref, []).append(op)
        for buffer, ops in stores.items():
            writes = [t for each in blocks for t in each.touches() if t.is_write and t.buffer is buffer]
            if len(writes) != len(ops) or (len(ops) > 1 and not all(map(self._is_to_one_element, ops))):
                continue
            wheres = [self._where(op) for op in ops]
            facts = [
                None if where is None else self._fact(op, op.value, where)
                for op, where in zip(ops, wheres, strict=True)
            ]
            if None not in facts:
                found += [(buffer, fact) for fact in facts if fact is not None]
        return found

    def _is_to_one_element(self, op: memref.StoreOp) -> bool:
        """Whether a store is done in each instance of the block, to the same element."""
        map = access_map_over(op, self.dims)
        return op.parent_op() is self.block and map is not None and not any(linear(each).terms for each in map.results)

    def _where(self, op: Operation) -> list[IntExpr] | None:
        """The conditions under which `op` is done in an instance of the block; `None` where they are not known."""
        if not self.always:
            return None
        found: list[IntExpr] = []
        inner, outer = op, op.parent_op()
        while outer is not self.block:
            condition = self.conditions.condition(outer.cond) if isinstance(outer, scf.IfOp) else None
            if condition is None or not isinstance(outer, scf.IfOp):
                return None
            found.append(condition if inner.parent_region() is outer.true_region else negate(condition))
            inner, outer = outer, outer.parent_op()
        return found

    def _fact(self, access: memref.LoadOp | memref.StoreOp, value: SSAValue, where: Sequence[IntExpr]) -> Fact | None:
        """An access's element is `value` where `where`, over the block's iterators, holds: said of elements' places."""
        map = access_map_over(access, self.dims)
        number = self.conditions.number(value, ())
        if map is None or number is None or not isa(value.type, IntegerType) or value.type.width.data < 32:
            return None
        values: dict[IntExpr, IntExpr] = {}
        limits: list[IntExpr] = []
        for position, expr in enumerate(map.results):
            form = linear(expr)
            if not form.terms:
                limits.append(place(position).equal(const(form.constant)))
                continue
            ((atom, factor), *more) = form.terms.items()
            if more or factor != 1 or not isinstance(atom, AffineDimExpr) or dim(atom.position) in values:
                return None
            iterator = place(position) - form.constant
            values[dim(atom.position)] = iterator
            extent = from_affine(as_affine(self.block.sizes[atom.position]))
            limits += (iterator >= 0, iterator < extent)
        free = [n for n, size in enumerate(self.block.sizes) if dim(n) not in values and size != 1]
        if any(_uses(each, dim(n)) for n in free for each in (number, *where)):
            return None
        values.update({dim(n): const(0) for n in range(len(self.block.sizes)) if dim(n) not in values})
        return Fact((*limits, *(substitute(each, values) for each in where)), substitute(number, values))


def _uses(expr: IntExpr, variable: IntExpr) -> bool:
    return substitute(expr, {variable: const(0)}) is not expr


def _speaks_of(expr: IntExpr, block: BlockOp) -> bool:
    return any(_uses(expr, dim(number)) for number in range(len(block.sizes)))


def conditions_of(block: BlockOp, region: Region) -> KnownConditions:
    """Reads conditions over the iterators of a block, in its body or init."""
    dims = over_dimensions(region.block.args)
    ranges: dict[AffineExpr, Range] = {
        dims[v]: (0, max(greatest(as_affine(extent)) - 1, 0))
        for v, extent in zip(region.block.args, block.sizes, strict=True)
    }
    return KnownConditions(region, dims, ranges)
