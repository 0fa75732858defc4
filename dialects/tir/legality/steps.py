"""A reduction begins with its first step, and takes each step once.

The first step is the one at which all of the reduction's iterators are 0: `init` runs there. What came before it would
be lost; what is taken twice would count twice. Loops around that bind nothing may run the whole of it again, `init`
included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ..affine import Range, dims_in, expr_range, linear, substitute
from ..analyzer import Analyzer, from_affine, sym
from ..blocks import BlockOp, IterKind, blocks_under
from ..loops import ForOp, enclosing_loops, loop_range
from ..symbols import as_affine, depends_on_symbols, dimension, symbols_in
from .bounds import never_runs
from .decide import MAX_POINTS
from .finding import Finding


@dataclass(frozen=True)
class _Nest:
    """A reduction over its loops as dimensions, outermost first."""

    ranges: tuple[Range, ...]
    spatial: tuple[AffineExpr, ...]
    steps: tuple[AffineExpr, ...]
    conditions: tuple[AffineExpr, ...]
    has_init: bool
    trips: tuple[AffineExpr, ...] = ()
    """The numbers of iterations that depend on symbols."""

    def moving(self) -> frozenset[int]:
        """The loops that lead from step to step: all but those that only spatial iterators are bound to."""
        bound = frozenset(d for expr in self.steps for d in dims_in(expr))
        mixed = frozenset(
            d for c in self.conditions if bound & frozenset(dims_in(c)) for d in dims_in(c)
        )  # a condition on a step may hold for one element and not for another
        still = frozenset(d for expr in self.spatial for d in dims_in(expr)) - bound - mixed
        return frozenset(range(len(self.ranges))) - still


def check_steps(block: BlockOp, order: Sequence[ForOp] | None = None) -> Iterator[Finding]:
    """What is wrong with the order of a reduction's steps, its loops nested in `order` (else as they are)."""
    if not block.is_reduction:
        return
    loops = list(order) if order is not None else enclosing_loops(block)
    if any(loop.size == 0 for loop in loops):
        return
    if _are_loops(block, loops):
        return
    nest = _nest(block, loops)
    if _is_plain(nest):
        return
    if not nest.has_init and _written_beside(block, loops):
        return  # perhaps begun anew in between
    name = f"block @{block.block_name}"
    mistake = _first_mistake(nest)
    if mistake is None:
        yield Finding(block, f"{name} is not shown to take each step once, the first first", certain=False)
        return
    what, place, steps = mistake
    taken = ", ".join(
        f"{block.iter_name(number)} = {value}"
        for number, value in zip((n for n, k in enumerate(block.kinds) if k == IterKind.REDUCE), steps, strict=False)
    )
    if what == "late" and not _goes_on(block, place):
        yield Finding(
            block,
            f"{name} does not begin its reduction with the first step, where init runs: {taken} comes before it and "
            "would be lost",
            hint="let the loops reach the step at which all of the reduction's iterators are 0 first",
        )
    elif what == "twice":
        yield Finding(
            block,
            f"{name} takes a step of its reduction twice: {taken}",
            hint="bind each loop inside of the reduction to an iterator, each value once",
        )


def _are_loops(block: BlockOp, loops: Sequence[ForOp]) -> bool:
    """Whether each iterator of the reduction is a loop of its own from 0 on, and every other loop is of a spatial one:
    the common case."""
    if block.conditions:
        return False
    variables = block.loop_vars
    steps: set[SSAValue] = set()
    spatial: set[SSAValue] = set()
    for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True):
        if kind != IterKind.REDUCE:
            spatial.update([variables[d] for d in dims_in(binding)])
        elif type(binding) is not AffineDimExpr or (variable := variables[binding.position]) in steps:
            return False
        else:
            steps.add(variable)
    if not steps.isdisjoint(spatial):
        return False
    return all([loop.start == 0 if loop.var in steps else loop.var in spatial or loop.size == 1 for loop in loops])


def _goes_on(block: BlockOp, place: tuple[int, ...]) -> bool:
    """Whether another block has begun a reduction before, for the element at `place`: one of the parts, equal in name
    and domain, that cover the domain together, which stands before `block` and reaches the first step there."""
    for part in _parts(block):
        if part is block:
            return False
        if never_runs(part):
            continue
        nest = _nest(part, enclosing_loops(part))
        wanted = [*zip(nest.spatial, place, strict=True), *((step, 0) for step in nest.steps)]
        ranges = {dimension(d): span for d, span in enumerate(nest.ranges)}
        if all((span := expr_range(e, ranges)) is None or span[0] <= value <= span[1] for e, value in wanted):
            return True
    return False


def _parts(block: BlockOp) -> list[BlockOp]:
    """The blocks of the name and domain of `block` that write what it does, as it does, in the order in which they
    stand."""
    top: Operation = block
    while (parent := top.parent_op()) is not None and top.name != "tir.prim_func":
        top = parent
    written = set(block.writes)
    return [
        other
        for other in blocks_under(top)
        if other.block_name == block.block_name and other.sizes == block.sizes and not written.isdisjoint(other.writes)
    ]


def _nest(block: BlockOp, loops: Sequence[ForOp]) -> _Nest:
    position: dict[SSAValue, int] = {loop.var: number for number, loop in enumerate(loops)}
    dims = [dimension(position[v]) for v in block.loop_vars]
    bindings = [substitute(expr, dims) for expr in block.bindings.data.results]
    return _Nest(
        tuple(loop_range(loop.var) for loop in loops),
        tuple(b for b, kind in zip(bindings, block.kinds, strict=True) if kind != IterKind.REDUCE),
        tuple(b for b, kind in zip(bindings, block.kinds, strict=True) if kind == IterKind.REDUCE),
        tuple(substitute(condition, dims) for condition in block.conditions),
        block.init is not None or _begins_in_body(block),
        tuple(as_affine(loop.size) for loop in loops if loop.is_symbolic),
    )


def _begins_in_body(block: BlockOp) -> bool:
    """Whether the body of a block does what `init` would, as `lower-init-block` has it: at the first step, it stores
    what it writes before it loads it."""
    steps = {
        iterator
        for iterator, kind, size in zip(block.iters, block.kinds, block.sizes, strict=True)
        if kind == IterKind.REDUCE and size != 1
    }
    written = set(block.writes)
    for op in block.body.block.ops:
        match op:
            case memref.StoreOp() if not steps:
                written.discard(op.memref)
            case scf.IfOp() if steps and not op.false_region.blocks and _are_zero(op.cond) == steps:
                written -= {inner.memref for inner in op.true_region.block.ops if isinstance(inner, memref.StoreOp)}
            case memref.LoadOp() if op.memref in written:
                return False
            case _ if op.regions:
                return False
            case _:
                pass
        if not written:
            return True
    return False


def _are_zero(condition: SSAValue) -> set[SSAValue] | None:
    """The values that are 0 where a condition holds, and only there; `None` where it says something else."""
    match condition.owner:
        case arith.AndIOp(lhs=lhs, rhs=rhs):
            first, second = _are_zero(lhs), _are_zero(rhs)
            return None if first is None or second is None else first | second
        case arith.CmpiOp(lhs=lhs, rhs=rhs) as op if op.predicate.value.data == 0:
            constant = rhs.owner
            value = constant.value if isinstance(constant, arith.ConstantOp) else None
            return {lhs} if isinstance(value, IntegerAttr) and value.value.data == 0 else None
        case _:
            return None


def _written_beside(block: BlockOp, loops: Sequence[ForOp]) -> bool:
    """Whether another block in the nest writes what `block` does."""
    written = set(block.writes)
    return bool(loops) and any(
        other is not block and not written.isdisjoint(other.writes) for other in blocks_under(loops[0])
    )


@lru_cache(maxsize=4096)
def _is_plain(nest: _Nest) -> bool:
    """Whether the steps are the digits of numbers: each loop is a digit of one iterator, or one outside that binds
    nothing."""
    used: set[int] = set()
    spatial = {d for expr in nest.spatial for d in dims_in(expr)}
    ranges = {dimension(d): span for d, span in enumerate(nest.ranges)}
    for expr in nest.steps:
        form = linear(expr, ranges)
        reach = 0
        first = form.constant
        for atom, factor in sorted(form.terms.items(), key=lambda term: abs(term[1])):
            dims = dims_in(atom)
            if len(dims) != 1 or atom != dimension(*dims) or dims & (used | spatial):
                return False
            (dim,) = dims
            low, high = nest.ranges[dim]
            if high > low and factor <= reach:
                return False
            reach += factor * (high - low)
            first += factor * low
            used.add(dim)
        if nest.has_init and first != 0:
            return False
    for condition in nest.conditions:
        dims = dims_in(condition)
        if dims & used and (not dims <= used or _may_begin_false(nest, condition)):
            return False
    free = {d for d, (low, high) in enumerate(nest.ranges) if high > low} - used - spatial
    if not free:
        return True
    return nest.has_init and max(free) < min(used, default=len(nest.ranges))


def _may_begin_false(nest: _Nest, condition: AffineExpr) -> bool:
    """Whether a condition may be false in the first of all iterations, where there is one."""
    if not depends_on_symbols(condition):
        return condition.eval([low for low, _ in nest.ranges], []) < 0
    first = substitute(condition, [AffineConstantExpr(low) for low, _ in nest.ranges])
    analyzer = Analyzer()
    for number in {symbol for expr in (first, *nest.trips) for symbol in symbols_in(expr)}:
        analyzer.assume(sym(number) >= 0)
    analyzer.assume(*(from_affine(trips) >= 1 for trips in nest.trips))
    return not analyzer.can_prove(from_affine(first) >= 0)


@lru_cache(maxsize=4096)
def _first_mistake(nest: _Nest) -> tuple[str, tuple[int, ...], tuple[int, ...]] | None:
    """The first step that comes too early (`late` is the first then) or `twice`, and for which element; `""` for none;
    `None` where there are too many to look at, or nobody knows how many."""
    moving = nest.moving()
    first = [low for low, _ in nest.ranges]
    if nest.has_init and not depends_on_symbols(*nest.spatial, *nest.steps, *nest.conditions):
        step = tuple(expr.eval(first, []) for expr in nest.steps)
        if any(step) and all(condition.eval(first, []) >= 0 for condition in nest.conditions):
            return "late", tuple(expr.eval(first, []) for expr in nest.spatial), step
    if (
        nest.trips
        or depends_on_symbols(*nest.spatial, *nest.steps, *nest.conditions)
        or prod(high - low + 1 for d, (low, high) in enumerate(nest.ranges) if d in moving) > MAX_POINTS
    ):
        return None
    spans = [range(low, high + 1) if d in moving else (low,) for d, (low, high) in enumerate(nest.ranges)]
    taken: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for point in product(*spans):
        if any(condition.eval(point, []) < 0 for condition in nest.conditions):
            continue
        place = tuple(expr.eval(point, []) for expr in nest.spatial)
        step = tuple(expr.eval(point, []) for expr in nest.steps)
        if nest.has_init and not any(step):
            taken[place] = {step}
            continue
        before = taken.setdefault(place, set())
        if nest.has_init and not before:
            return "late", place, step
        if step in before:
            return "twice", place, step
        before.add(step)
    return "", (), ()
