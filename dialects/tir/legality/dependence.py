"""May the iterations of a loop run in another order, or at the same time?

Two iterations depend on each other where one writes an element that the other touches. Of two accesses to a buffer, it
is first tried to show that they never meet: in each dimension, the part of the index that the loop's variable adds is
compared with how far all else moves it. Where that says nothing, and the spaces are small, all elements are looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import gcd
from typing import TypeGuard

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from ..affine import (
    Linear,
    Range,
    dims_in,
    evaluate_along,
    linear,
    linear_range,
    substitute,
    uses,
)
from ..analyzer import Analyzer, Const, IntExpr, const, dim, from_affine
from ..analyzer.answers import Range as Interval
from ..analyzer.iter_map import detect_iter_map
from ..blocks import BlockOp, blocks_under
from ..buffers import AllocBufferOp, shape_of
from ..calls import Handed
from ..loops import ForKind, ForOp, enclosing_loops, loop_of, loop_range
from ..symbols import MAX_EXTENT, as_affine, assume_symbols, depends_on_symbols, dimension, product
from ..thread_axes import WARP_AXIS, axis_of, is_of_warp, is_shared, is_virtual
from .apart import separated_by_sizes
from .bounds import buffer_name, never_runs, space_of
from .decide import Space, Verdict
from .digits import joined
from .finding import Finding
from .loop_forms import LoopForms, loop_forms
from .touch import Touch, where_both_are_known


def check_independence(
    loop: ForOp,
    *,
    across_blocks_only: bool = False,
    private_too: bool = False,
    shared_too: bool = False,
    reducing: Collection[BlockOp] = (),
    kind: ForKind | None = None,
) -> Iterator[Finding]:
    """The iterations of `loop`, were it of `kind`, depend on each other: what certainly does, and what is not shown not
    to. Without `kind` it is of its own.

    Buffers of scope `local` are left out, unless `private_too`: iterations that run at the same time have their own.
    So are those that the threads of a block share, of loops over blocks and threads, unless `shared_too`: blocks have
    their own, and threads wait for one another (`tir.storage_sync`); where they do not, the interpreter finds it. And
    so are those of a warp, of all but the loop over its threads: other warps and blocks have their own, and virtual
    threads those that are allocated in them.
    `across_blocks_only` leaves out what a block does with itself, as one may who knows its iterators' kinds; so does
    `reducing` of the blocks in it, whose steps are shared by the iterations of `loop`.
    """
    if loop.size in (0, 1):
        return
    touched: dict[SSAValue, list[Touch]] = {}
    for block in blocks_under(loop):
        if not never_runs(block):
            for access in block.touches():
                if access.op.parent_region() is not block.init or not access.is_write:  # what it writes, the body does
                    touched.setdefault(access.buffer, []).append(Touch(block, access))
    parts = _TouchParts(loop)
    of_threads = loop.for_kind == ForKind.THREAD_BINDING == (kind or loop.for_kind)
    threads, virtual = of_threads and axis_of(loop) is not None, of_threads and is_virtual(loop)
    for buffer, touches in touched.items():
        if threads and not shared_too and is_shared(buffer):
            continue
        if threads and is_of_warp(buffer) and axis_of(loop) != WARP_AXIS:
            continue
        if virtual and is_of_warp(buffer) and loop.is_ancestor(buffer.owner):
            continue
        if not private_too and isinstance(buffer.owner, AllocBufferOp) and buffer.owner.is_private:
            continue
        for number, first in enumerate(touches):
            for second in touches[number:]:
                if not (first.access.is_write or second.access.is_write):
                    continue
                if first.block is second.block and (across_blocks_only or first.block in reducing):
                    continue
                if of_threads and _is_repeated(loop, first, second):
                    continue
                verdict = never_meet(loop, first, second, parts)
                if verdict != Verdict.PROVED:
                    yield _finding(loop, buffer, first, second, verdict == Verdict.REFUTED)


def _finding(loop: ForOp, buffer: SSAValue, first: Touch, second: Touch, certain: bool) -> Finding:
    writer, other = (first, second) if first.access.is_write else (second, first)
    name, var = buffer_name(buffer), f"%{loop.var.name_hint or 'i'}"
    if other.access.is_write:
        same = "" if other.block is writer.block else f" and block @{other.block.block_name}"
        what = f"block @{writer.block.block_name}{same} write the same element of {name} in several iterations of {var}"
        what = what if same else what.replace(" write ", " writes ", 1)
    else:
        what = (
            f"block @{writer.block.block_name} writes elements of {name} that block @{other.block.block_name} touches "
            f"in other iterations of {var}"
        )
    if not certain:
        what = f"it is not shown that no two iterations of {var} meet: perhaps {what}"
    hint = "let the loop be serial"
    if isinstance(buffer.owner, AllocBufferOp):
        hint += f', or give {name} the scope "local"'
    return Finding(writer.block, what, hint, certain, buffer)


def never_meet(loop: ForOp, first: Touch, second: Touch, parts: _TouchParts | None = None) -> Verdict:
    """Whether `first` in one iteration of `loop` and `second` in another never touch one element."""
    if first.access.map is None or second.access.map is None:
        known = where_both_are_known(first, second)
        is_proved = known is not None and never_meet(loop, *known) == Verdict.PROVED
        return Verdict.PROVED if is_proved else Verdict.UNKNOWN
    if _is_one_iteration(loop, first, second):
        return Verdict.PROVED
    parts = parts or _TouchParts(loop)
    if parts.are_seen_apart(loop, first, second):
        return Verdict.PROVED
    if _separated(loop, parts.of(first), parts.of(second)):
        return Verdict.PROVED
    if first.access.map == second.access.map:
        if first.block is second.block and _is_one_to_one(loop, first):
            return Verdict.PROVED
        if first.block.sizes == second.block.sizes and _differs_in_iterators(loop, first, second, parts):
            return Verdict.PROVED
    if [each is None for each in parts.of(first)] == [each is None for each in parts.of(second)]:
        if _separated(loop, parts.joined(first), parts.joined(second)):
            return Verdict.PROVED
    if _is_symbolic(first) or _is_symbolic(second):
        if separated_by_sizes(loop, first, second):
            return Verdict.PROVED
        return Verdict.UNKNOWN  # at places that are known only when the function is called
    verdict = _search(loop, first, second)
    if any(touch.access.op.parent_op() is not touch.block for touch in (first, second)):
        return Verdict.PROVED if verdict == Verdict.PROVED else Verdict.UNKNOWN  # under a branch, perhaps not made
    return verdict


def _is_one_iteration(loop: ForOp, first: Touch, second: Touch) -> bool:
    """Whether predicates let the blocks of two accesses run in one iteration of `loop` only, the same."""
    found: set[Range] = set()
    for block in {first.block, second.block}:
        if not block.conditions or loop.var not in block.loop_vars:
            return False
        found.add(space_of(block).tightened().ranges[list(block.loop_vars).index(loop.var)])
    ((low, high), *others) = found
    return not others and low == high


def _is_symbolic(touch: Touch) -> bool:
    """Whether an access or the loops around it depend on symbols."""
    block, map = touch.block, touch.access.map
    assert map is not None
    exprs = (*map.results, *block.bindings.data.results, *block.conditions)
    return depends_on_symbols(*exprs) or any(loop.is_symbolic for loop in enclosing_loops(block))


def _is_repeated(loop: ForOp, first: Touch, second: Touch) -> bool:
    """Whether all threads that run `loop` write the same, each element once or the same each time, before they read it:
    it is of no account whose write it is that they read."""
    writer, other = (first, second) if first.access.is_write else (second, first)
    block, inside = writer.block, blocks_under(loop)
    if loop.var in block.loop_vars or block.is_reduction or writer.access.map is None:
        return False
    if other.block is not block and (other.access.is_write or inside.index(other.block) < inside.index(block)):
        return False
    if other.block is block and not other.access.is_write:
        return False
    if any(not set(block.reads).isdisjoint(each.writes) for each in inside):
        return False
    if (other.access is writer.access or not other.access.is_write) and _is_told_by_place(writer):
        return True
    within = {each.var for each in enclosing_loops(block) if loop.is_ancestor(each) and each is not loop}
    moving = {number for number, value in enumerate(block.loop_vars) if value in within}
    exprs = [_moved_by(expr, moving) for expr in _over_loops(writer)[0]]
    used = {number for expr in exprs for number in dims_in(expr)}
    return moving <= used and leads_apart(block, exprs, used)


def _is_told_by_place(writer: Touch) -> bool:
    """Whether the element that a block writes tells the values of all its iterators, and so what is written."""
    assert writer.access.map is not None
    told = {expr.position for expr in writer.access.map.results if isinstance(expr, AffineDimExpr)}
    return all(number in told for number, size in enumerate(writer.block.sizes) if size != 1)


def _moved_by(expr: AffineExpr, moving: set[int]) -> AffineExpr:
    """An index over loops without what it adds that none of the loops `moving` changes."""
    terms = {atom: factor for atom, factor in linear(expr).terms.items() if not moving.isdisjoint(dims_in(atom))}
    return Linear(terms, 0).to_expr()


def _over_loops(touch: Touch) -> tuple[list[AffineExpr], set[int]]:
    """The index of an access over the loops of its block, and the numbers of those that it depends on."""
    assert touch.access.map is not None
    exprs = [substitute(index, touch.block.bindings.data.results) for index in touch.access.map.results]
    return exprs, {number for expr in exprs for number in dims_in(expr)}


def _is_one_to_one(loop: ForOp, touch: Touch) -> bool:
    """Whether the loops that the index of an access depends on, from `loop` inwards, never lead to an element twice
    while those around `loop` stand still."""
    block = touch.block
    exprs, used = _over_loops(touch)
    if not any(block.loop_vars[number] is loop.var for number in used):
        return False
    within = {each.var for each in enclosing_loops(block) if loop.is_ancestor(each)}
    moving = {number for number, value in enumerate(block.loop_vars) if value in within}
    ranges = {dimension(number): loop_range(block.loop_vars[number]) for number in used}

    def range_of(expr: AffineExpr) -> Range | None:
        return linear_range(linear(expr), ranges)

    exprs = joined(exprs, lambda expr: _moved_by(expr, moving), range_of)
    return leads_apart(block, exprs, {number for expr in exprs for number in dims_in(expr)})


def leads_apart(block: BlockOp, exprs: Sequence[AffineExpr], used: set[int]) -> bool:
    """Whether the loops of a block of numbers `used`, which are all that indices depend on, never lead to an element
    twice."""
    values: list[AffineExpr] = [dimension(number) for number in range(len(block.loop_vars))]
    domains: dict[IntExpr, int | IntExpr | range | Interval] = {}
    for number in used:
        around = loop_of(block.loop_vars[number])
        if around.size == 1:
            values[number] = AffineConstantExpr(around.start)
        else:
            extent = from_affine(as_affine(around.size))
            domains[dim(number)] = Interval(const(around.start), extent)
    moving = [substitute(expr, values) for expr in exprs]
    sizes = [as_affine(loop_of(block.loop_vars[number]).size) for number in used]
    return _is_injective(moving, domains, sizes)


def told_by(block: BlockOp, indices: Sequence[AffineExpr]) -> set[int]:
    """The iterators of a block, by number, that `indices` over them tell the values of, one to one; none where it is
    not seen that they do."""
    used = sorted({number for index in indices for number in dims_in(index)})
    values: list[AffineExpr] = [dimension(number) for number in range(len(block.sizes))]
    domains: dict[IntExpr, int | IntExpr | range | Interval] = {}
    for number in used:
        if (size := block.sizes[number]) == 1:
            values[number] = AffineConstantExpr(0)
        else:
            domains[dim(number)] = Interval(const(0), from_affine(as_affine(size)))
    known = [substitute(index, values) for index in indices]
    moving = [index for index in known if dims_in(index)]
    sizes = [as_affine(block.sizes[number]) for number in used]
    return set(used) if moving and _is_injective(moving, domains, sizes) else set()


def _is_injective(
    indices: Sequence[AffineExpr],
    domains: Mapping[IntExpr, int | IntExpr | range | Interval],
    sizes: Sequence[AffineExpr],
) -> bool:
    """Whether `indices` are never the same for two points of the `domains` of their dimensions, whose `sizes` these
    are: digits of these, none of which a symbol that is 0 multiplies."""
    analyzer = Analyzer()
    if depends_on_symbols(*indices, *sizes):
        assume_symbols(analyzer, [*indices, *sizes])
        analyzer.assume(*(from_affine(size) >= 1 for size in sizes))
    found = detect_iter_map([from_affine(index) for index in indices], domains, bijective=True, analyzer=analyzer)
    scales = [each.scale for each in found.indices if not isinstance(each.scale, Const)]
    return bool(found) and all(analyzer.can_prove(scale >= 1) for scale in scales)


def _differs_in_iterators(loop: ForOp, touch: Touch, other: Touch, parts: _TouchParts) -> bool:
    """Whether the index of an access tells the iterators of its block, and those tell the iterations of `loop`; of two
    accesses with the same index of as many values of the iterators, in one block or in two.

    What they have for values where a predicate leaves some out, the loops need not have.
    """
    block, map = touch.block, touch.access.map
    assert map is not None
    used = sorted(told_by(block, map.results))
    return bool(used) and _separated(loop, parts.of_iterators(block, used), parts.of_iterators(other.block, used))


_Parts = tuple[dict[AffineExpr, int], dict[AffineExpr, int], int, int]
"""An index as what the loops outside add, what the loop's variable adds, and the least and greatest of the rest."""


class _TouchParts:
    """The parts of the index of an access in each dimension, for one loop."""

    def __init__(self, loop: ForOp):
        self._depth = len(enclosing_loops(loop))
        self._known: dict[int, tuple[_Parts | None, ...]] = {}

    def are_seen_apart(self, loop: ForOp, first: Touch, second: Touch) -> bool:
        """Whether it is seen without the analyzer that some dimension tells two iterations apart: the loop's variable
        adds more there for one of them than all else can make up for."""
        assert not isinstance(first.access, Handed) and not isinstance(second.access, Handed)
        forms, other_forms = loop_forms(first.block), loop_forms(second.block)
        indices, others = forms.of_access(first.access), other_forms.of_access(second.access)
        if indices is None or others is None:
            return False
        variable, depth = dimension(self._depth), self._depth
        for index, other in zip(indices, others, strict=True):
            factor = index.terms.get(variable)
            if factor is None or other.terms.get(variable) != factor:
                continue
            one = _rest(index, variable, depth, forms)
            two = one if other is index and forms is other_forms else _rest(other, variable, depth, other_forms)
            if one is None or two is None or one[0] != two[0]:
                continue
            if abs(factor) > max(one[2] - two[1], two[2] - one[1], 0):
                return True
        return False

    def of(self, touch: Touch) -> tuple[_Parts | None, ...]:
        """Of one access, which has a map; `None` for a dimension in which they cannot be told apart."""
        if (known := self._known.get(id(touch))) is None:
            assert touch.access.map is not None
            forms = loop_forms(touch.block)
            known = self._known[id(touch)] = self._of(forms, forms.normal(touch.access.map.results))
        return known

    def joined(self, touch: Touch) -> tuple[_Parts | None, ...]:
        """Of the same access, where neighbouring dimensions in which it cannot be told apart are one: that of
        `x[i floordiv 13, i mod 13]` is `i`."""
        assert touch.access.map is not None
        places: list[Linear] = []
        was_known = True
        forms = loop_forms(touch.block)
        indices = forms.normal(touch.access.map.results)
        for size, index, known in zip(shape_of(touch.access.buffer), indices, self.of(touch), strict=True):
            if known is None and not was_known:
                whole = product(places[-1].to_expr(), as_affine(size)) + index.to_expr()
                places[-1] = linear(whole, forms.ranges)
            elif known is None:
                places.append(index)
            was_known = known is not None
        return self._of(forms, places)

    def of_iterators(self, block: BlockOp, numbers: Sequence[int]) -> tuple[_Parts | None, ...]:
        """Of the values of some iterators of a block."""
        forms, bindings = loop_forms(block), block.bindings.data.results
        return self._of(forms, [forms.over_loops(bindings[number]) for number in numbers])

    def _of(self, forms: LoopForms, indices: Sequence[Linear]) -> tuple[_Parts | None, ...]:
        variable = dimension(self._depth)
        return tuple([_split(form, variable, self._depth, forms.ranges, forms.conditions) for form in indices])


def _rest(
    form: Linear, variable: AffineExpr, depth: int, forms: LoopForms
) -> tuple[dict[AffineExpr, int], int, int] | None:
    """An index without what the variable of the loop at a depth adds: what the loops outside add, and the least and
    greatest of what is left; `None` where that is not known."""
    fixed: dict[AffineExpr, int] = {}
    low = high = form.constant
    for atom, factor in form.terms.items():
        if atom is variable or atom == variable:
            continue
        used = dims_in(atom)
        if depth in used:
            return None
        if max(used) < depth:
            fixed[atom] = factor
        elif min(used) < depth or (bounds := forms.range_of(atom)) is None:
            return None
        else:
            low += min(factor * bounds[0], factor * bounds[1])
            high += max(factor * bounds[0], factor * bounds[1])
    return fixed, low, high


def _separated(loop: ForOp, a: Sequence[_Parts | None], b: Sequence[_Parts | None]) -> bool:
    """Whether some dimension always tells two iterations apart."""
    outer = len(enclosing_loops(loop))
    keys: list[tuple[tuple[AffineExpr, int], ...]] = []
    count = MAX_EXTENT if loop.is_symbolic else loop.trip_count
    for one, other in zip(a, b, strict=True):
        if one is None or other is None:
            continue
        fixed, moved, low, high = one
        other_fixed, other_moved, other_low, other_high = other
        if fixed != other_fixed or moved != other_moved or not moved:
            continue
        slack = max(high - other_low, other_high - low, 0)
        terms = tuple((_over_first(atom, outer), f) for atom, f in moved.items())
        if len(terms) == 1:
            ((atom, factor),) = terms
            if abs(factor) > slack:
                if atom == dimension(0):
                    return True
                keys.append(terms)
        elif _gap(terms := tuple(sorted(terms, key=str)), loop.start, count) > slack:
            keys.append(terms)
    return bool(keys) and _tell_apart(tuple(keys), loop.start, count)


def _over_first(atom: AffineExpr, dim: int) -> AffineExpr:
    """`atom`, which uses dimension `dim` alone, over dimension 0."""
    return substitute(atom, [dimension(0)] * (dim + 1))


def _split(
    form: Linear, variable: AffineExpr, outer: int, ranges: Mapping[AffineExpr, Range], conditions: Sequence[Linear]
) -> _Parts | None:
    """An index in its parts, of which the rest is bounded by the ranges and by `conditions`, which are >= 0."""
    fixed: dict[AffineExpr, int] = {}
    moved: dict[AffineExpr, int] = {}
    rest: dict[AffineExpr, int] = {}
    for atom, factor in form.terms.items():
        used = dims_in(atom)
        if used == {outer} and not depends_on_symbols(atom):
            moved[atom] = factor
        elif uses(atom, variable):
            return None
        elif all(d < outer for d in used):
            fixed[atom] = factor
        elif any(d < outer for d in used):
            return None
        else:
            rest[atom] = factor
    inside = [each for each in conditions if all(min(dims_in(atom), default=-1) > outer for atom in each.terms)]
    bounds = _bounded(Linear(rest, form.constant), inside, ranges)
    return None if bounds is None else (fixed, moved, *bounds)


def _bounded(form: Linear, conditions: Sequence[Linear], ranges: Mapping[AffineExpr, Range]) -> Range | None:
    """The least and greatest value of a form where all `conditions` are >= 0: one that is added makes it no less, one
    that is taken away no more."""
    bounds = linear_range(form, ranges)
    if bounds is None:
        return None
    low, high = bounds
    for condition in conditions:
        common = {abs(form.terms[atom] // factor) for atom, factor in condition.terms.items() if atom in form.terms}
        for times in common - {0}:
            if (above := linear_range(_sum(form, condition, times), ranges)) is not None:
                high = min(high, above[1])
            if (below := linear_range(_sum(form, condition, -times), ranges)) is not None:
                low = max(low, below[0])
    return low, high


def _sum(form: Linear, other: Linear, times: int) -> Linear:
    terms = dict(form.terms)
    for atom, factor in other.terms.items():
        terms[atom] = terms.get(atom, 0) + factor * times
    return Linear({atom: factor for atom, factor in terms.items() if factor}, form.constant + other.constant * times)


MAX_ITERATIONS = 1 << 16
"""A loop of more iterations is not looked at one by one."""

_Terms = tuple[tuple[AffineExpr, int], ...]


@lru_cache(maxsize=1024)
def _values(terms: _Terms, start: int, count: int) -> tuple[int, ...]:
    """The sum of the terms for each value of dimension 0."""
    total = [0] * count
    points = range(start, start + count)
    for atom, factor in terms:
        total = [t + factor * value for t, value in zip(total, evaluate_along(atom, points), strict=True)]
    return tuple(total)


@lru_cache(maxsize=1024)
def _gap(terms: _Terms, start: int, count: int) -> int:
    """The least distance of two different values of the terms, or less; 0 where they have one value."""
    if count > MAX_ITERATIONS:
        return gcd(*(factor for _, factor in terms))
    values = sorted(set(_values(terms, start, count)))
    return min((b - a for a, b in pairwise(values)), default=0)


@lru_cache(maxsize=1024)
def _tell_apart(keys: tuple[_Terms, ...], start: int, count: int) -> bool:
    """Whether the values of all keys together are different for each iteration."""
    if _are_digits(frozenset(terms[0][0] for terms in keys if len(terms) == 1)):
        return True
    if count > MAX_ITERATIONS:
        return False
    columns = [_values(terms, start, count) for terms in keys]
    return len(set(zip(*columns, strict=True))) == count


def _are_digits(atoms: frozenset[AffineExpr]) -> bool:
    """Whether `atoms` are digits of dimension 0 in some system: `i mod 4`, `i floordiv 4 mod 8`, `i floordiv 32`; or
    `i floordiv 32`, `i mod 32 floordiv 4`, `i mod 32 mod 4`."""
    bases: dict[AffineExpr, set[int]] = {}
    for atom in atoms:
        while isinstance(atom, AffineBinaryOpExpr) and atom.kind in (_MOD, _FLOOR) and _is_base(atom.rhs):
            bases.setdefault(atom.lhs, set()).add(atom.rhs.value)
            atom = atom.lhs
    return _is_told(dimension(0), atoms, bases)


def _is_told(value: AffineExpr, atoms: frozenset[AffineExpr], bases: Mapping[AffineExpr, Collection[int]]) -> bool:
    """Whether the values of `atoms` tell that of `value`, which may be divided by `bases`."""
    if value in atoms:
        return True
    for base in bases.get(value, ()):
        if _is_told(value % base, atoms, bases) and _is_told(_divided(value, base), atoms, bases):
            return True
    return False


def _divided(value: AffineExpr, base: int) -> AffineExpr:
    """`value floordiv base`, in one division where `value` is one."""
    if isinstance(value, AffineBinaryOpExpr) and value.kind == _FLOOR and _is_base(value.rhs):
        return value.lhs // (value.rhs.value * base)
    return value // base


def _is_base(expr: AffineExpr) -> TypeGuard[AffineConstantExpr]:
    return isinstance(expr, AffineConstantExpr) and expr.value > 1


_MOD, _FLOOR = AffineBinaryOpKind.Mod, AffineBinaryOpKind.FloorDiv


def _search(loop: ForOp, first: Touch, second: Touch) -> Verdict:
    """Look at all elements that the two accesses touch; where they are many, at those that they touch in the first
    iteration of the loops outside."""
    # A block that has nothing of a loop outside does the same in each of its iterations, and so meets the other in any.
    outside = [each.var for each in enclosing_loops(loop)]
    shared = [v for v in outside if v in first.block.loop_vars and v in second.block.loop_vars]
    for everywhere in (True, False):
        touched = _elements(loop, first, everywhere, shared)
        others = touched if second is first else _elements(loop, second, everywhere, shared)
        if touched is None or others is None:
            continue
        iterations: dict[tuple[int, ...], set[int]] = {}
        for element, iteration in touched:
            iterations.setdefault(element, set()).add(iteration)
        if any(iterations.get(element, {iteration}) != {iteration} for element, iteration in others):
            return Verdict.REFUTED
        return Verdict.PROVED if everywhere else Verdict.UNKNOWN
    return Verdict.UNKNOWN


def _elements(
    loop: ForOp, touch: Touch, everywhere: bool, shared: Sequence[SSAValue]
) -> list[tuple[tuple[int, ...], int]] | None:
    """The elements that an access touches, each behind the values of `shared`, variables of loops outside, and with the
    iteration of `loop`; `None` if they are many."""
    block, map = touch.block, touch.access.map
    assert map is not None
    outside = [each.var for each in enclosing_loops(loop)]
    variables = list(dict.fromkeys((*block.loop_vars, loop.var)))
    ranges = [loop_range(v) for v in variables]
    if not everywhere:
        ranges = [(low, low) if v in outside else (low, high) for v, (low, high) in zip(variables, ranges, strict=True)]
    space = Space(tuple(ranges), block.conditions)
    moving = frozenset(range(len(variables)))
    if space.is_empty:
        return []
    if not space.is_complete(moving):
        return None
    found: list[tuple[tuple[int, ...], int]] = []
    position = variables.index(loop.var)
    places = [variables.index(v) for v in shared]
    for point in space.points(moving):
        iters = [b.eval(point, []) for b in block.bindings.data.results]
        around = (point[place] for place in places)
        found.append(((*around, *(index.eval(iters, []) for index in map.results)), point[position]))
    return found
