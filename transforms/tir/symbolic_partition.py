"""Cut loops whose extents are symbols where predicates become true.

Before -> after, for a split of `%n` rows by 6:

```mlir
tir.for %o = 0 to (%n + 5) floordiv 6 {
  tir.for unrolled %i = 0 to 6 {
    tir.block @b(%v: spatial %n) = [%o * 6 + %i] where [%n - %o * 6 - %i - 1] ...

tir.for %o = 0 to %n floordiv 6 {
  tir.for unrolled %i = 0 to 6 {
    tir.block @b(%v: spatial %n) = [%o * 6 + %i] ...
tir.for unrolled %i = 0 to %n - %n floordiv 6 * 6 {
  tir.block @b(%v: spatial %n) = [%n floordiv 6 * 6 + %i] ...
```

The main part is that of a known extent; the rest, of at most one iteration, runs the same block over fewer rows. Where
the analyzer does not show that the rest is so short, or that a loop ends no later than it did, the loop stays as it is.

Where rows are `unrolled`, as those of a register tile, the rest is taken in tiles of known heights, each half of
the one before: of 5 rows 3 and, twice, 1. So what a tile sums up stays in registers, whatever the extent is.

```mlir
tir.for %p = 0 to %n mod 6 floordiv 3 {
  tir.for unrolled %i = 0 to 3 {
    tir.block @b(%v: spatial %n) = [%n floordiv 6 * 6 + %p * 3 + %i] ...
tir.for %p = 0 to %n mod 3 {
  tir.for unrolled %i = 0 to 1 { ...
```

Where the rows of a tile share more than stays in the nearest cache, as the weights of a product, each tile costs a walk
through all of that: there are tiles of every height then, and a rest is one of them, or two with the last whole tile
(`rest_tilings`). A rest of rows for a matrix unit (`tiles`) is one or two tiles as well.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.support.dtypes import byte_width
from ...dialects.support.vector_unit import vector_unit_of
from ...dialects.support.walking import all_within
from ...dialects.tir.affine import Linear, Range, linear, substitute
from ...dialects.tir.analyzer import Analyzer, from_affine, to_affine
from ...dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForKind,
    ForOp,
    accessing_blocks,
    blocks_under,
    dimension_ranges,
    enclosing_loops,
    loop_of,
    memref_of,
)
from ...dialects.tir.legality.carried import is_fresh
from ...dialects.tir.symbols import as_affine, as_extent, assume_symbols, assumed_around, dimension, symbols_in
from .analysis.producers import function_of
from .rest_tilings import RestTilings
from .rules.choose_tile import MAX_FAR_ROWS
from .schedule.loops import drop_proved_conditions
from .schedule.rebind import ValueExpr, assign, rebind


def linear_in(block: BlockOp, condition: AffineExpr, var: SSAValue) -> tuple[int, Linear] | None:
    """`condition` as `coefficient * var + rest`; `None` where `var` occurs in a quotient or remainder."""
    loop_vars = list(block.loop_vars)
    if var not in loop_vars:
        return None
    dim = AffineExpr.dimension(loop_vars.index(var))
    form = linear(condition, dimension_ranges(loop_vars))
    return (form.coefficient(dim), form.without(dim)) if form.is_linear_in(dim) else None


def partition_symbolic(loop: ForOp) -> None:
    """Cut `loop`, whose extent depends on symbols, where the predicates beneath become true."""
    shorten_symbolic(loop)
    blocks = blocks_under(loop)
    for block in blocks:
        drop_proved_conditions(block)
    cuts = {cut for block in blocks for cut in _cuts(block, loop)}
    if len(cuts) != 1 or not all(_cuts(block, loop) for block in blocks) or loop.start != 0 or loop.parent is None:
        return
    (cut,) = cuts
    end = as_affine(loop.size)
    analyzer = _analyzer(cut, end, around=loop)
    first, last = from_affine(cut), from_affine(end)
    if not (analyzer.can_prove(first >= 0) and analyzer.can_prove(first <= last)):
        return
    if not analyzer.can_prove(last - first <= 1):
        return
    rest = clone_with_buffers(loop)
    loop.parent.insert_op_after(rest, loop)
    loop.size = as_extent(cut)
    for block in blocks_under(loop):
        _drop_true_below(block, loop)
    # The rest has one iteration or none. It runs as one: where there is none, its blocks' predicates never hold.
    for block in blocks_under(rest):
        rebind(block, {rest.var: ValueExpr(cut, ())})
    inner_loops = [op for op in rest.body.walk() if isinstance(op, ForOp)]
    rest.size = 1
    if _take_in_tiles(loop, rest, inner_loops):
        return
    for inner in inner_loops:
        shorten_symbolic(inner)
    if inner_loops and all(inner.for_kind == ForKind.VECTORIZED for inner in inner_loops):
        rest.size = as_extent(_simple(end - cut))  # a vector that has no lanes left would be computed


def _take_in_tiles(whole: ForOp, rest: ForOp, inner_loops: Sequence[ForOp]) -> bool:
    """Put tiles of known heights in the place of `rest`, whose rows, some of `inner_loops`, are unrolled and end where
    a symbol says, and of the last of the `whole` tiles before it where the rest is small; says whether it could."""
    ends = {number: end for number, loop in enumerate(inner_loops) if (end := _end(loop)) is not None}
    rows = [inner_loops[number] for number in ends]
    in_matrix_unit = any(loop.is_for_tiles for loop in inner_loops)
    if not in_matrix_unit and not any(loop.for_kind == ForKind.UNROLLED for loop in rows):
        return False
    shapes = {(end, inner_loops[number].size) for number, end in ends.items()}
    if len(shapes) != 1 or any(
        len([loop for loop in enclosing_loops(block) if loop in rows]) != 1 for block in blocks_under(rest)
    ):
        return False
    (((left, step), height),) = shapes
    if not isinstance(height, int) or not _within(left, height * step):
        return False
    parent, last, done = rest.parent, rest, AffineExpr.constant(0)
    assert parent is not None

    def part(height: int, count: AffineExpr, lanes: AffineExpr | None = None) -> None:
        nonlocal last
        copy = clone_with_buffers(rest)
        parent.insert_op_after(copy, last)
        last = copy
        loops = [op for op in copy.body.walk() if isinstance(op, ForOp)]
        for number in ends:
            if lanes is not None:
                for loop in {_lanes_of(block) for block in blocks_under(loops[number])}:
                    loop.size = as_extent(lanes)
            _take_rows(copy, loops[number], done + dimension(0) * height + dimension(1))
            loops[number].size = height
        copy.size = as_extent(count)

    far, full = step == 1 and _shares_far(rest, rows), height
    while not in_matrix_unit and height > (MAX_FAR_ROWS if far else 1):
        height //= 2
        count = _simple(left // (height * step))
        part(height, count)
        done, left = _simple(done + count * height), _simple(left % (height * step))
    if far or in_matrix_unit:
        if in_matrix_unit:
            tilings = RestTilings.in_steps(left, height)
        else:
            tilings = RestTilings.of(left, as_affine(whole.size) if height == full else None, height)
        whole.size, begin = as_extent(as_affine(whole.size) - tilings.of_whole()), done
        for taken in tilings.heights:
            done = begin + tilings.start(taken)
            part(taken, tilings.count(taken))
    elif step > 1:
        part(1, _simple((left + (step - 1)) // step), left)
    erase_with_buffers(rest)
    return True


def _shares_far(rest: ForOp, rows: Sequence[ForOp]) -> bool:
    """Whether the rows of a tile have more in common than the nearest cache holds beside them."""
    return any(_shared_bytes(block, rest, rows) > vector_unit_of(rest).machine.l1 for block in blocks_under(rest))


def _shared_bytes(block: BlockOp, rest: ForOp, rows: Sequence[ForOp]) -> int:
    """The bytes of the largest part of a buffer that a block reads in a tile, whichever of its rows it is at."""
    loops = [loop_of(var) for var in block.loop_vars]
    inside = {number for number, loop in enumerate(loops) if loop is not rest and rest.is_ancestor(loop)}
    most = 0
    for access in block.accesses():
        if access.is_write or access.map is None:
            continue
        moving = {d for index in access.map.results for d in substitute(index, block.bindings.data.results).used_dims()}
        sizes = [loops[number].size for number in moving & inside]
        if not any(loops[number] in rows for number in moving) and all(isinstance(size, int) for size in sizes):
            elements = prod(size for size in sizes if isinstance(size, int))
            most = max(most, elements * byte_width(memref_of(access.buffer).element_type))
    return most


def _end(loop: ForOp) -> tuple[AffineExpr, int] | None:
    """Where all blocks beneath `loop`, a part of a tile, stop, if a symbol says it, in elements of which each iteration
    takes so many: one, or all lanes of a vector."""
    if loop.for_kind not in (ForKind.UNROLLED, ForKind.SERIAL) or loop.is_symbolic or loop.start != 0:
        return None
    ends = {_sole_end(block, loop) for block in blocks_under(loop)}
    return ends.pop() if len(ends) == 1 else None


def _sole_end(block: BlockOp, loop: ForOp) -> tuple[AffineExpr, int] | None:
    """Where `block` stops along `loop`, if one predicate says it, and no other speaks of the loop."""
    if loop.var not in block.loop_vars:
        return None
    position = list(block.loop_vars).index(loop.var)
    mine = [condition for condition in block.conditions if position in condition.used_dims()]
    split = linear_in(block, mine[0], loop.var) if len(mine) == 1 else None
    if split is None or split[0] >= 0:
        return None
    step, form = -split[0], split[1]
    if step > 1:
        lanes = _lanes_of(block)
        within = linear_in(block, mine[0], lanes.var)
        if within is None or within[0] != -1 or lanes.size != step or lanes.for_kind != ForKind.VECTORIZED:
            return None
        form = form.without(dimension(list(block.loop_vars).index(lanes.var)))
    end = form.to_expr() + 1
    return None if end.used_dims() or not any(True for _ in symbols_in(end)) else (_simple(end), step)


def _lanes_of(block: BlockOp) -> ForOp:
    """The innermost loop of a block."""
    return enclosing_loops(block)[-1]


def _within(left: AffineExpr, height: int) -> bool:
    """Whether `left` rows are fewer than a tile has, for all sizes."""
    analyzer = _analyzer(left)
    value = from_affine(left)
    return analyzer.can_prove(value >= 0) and analyzer.can_prove(value < height)


def _take_rows(part: ForOp, rows: ForOp, row: AffineExpr) -> None:
    """Let the blocks beneath `rows` be at `row`, over the variables of `part` and `rows`: all of these are there."""
    for block in blocks_under(rows):
        position = list(block.loop_vars).index(rows.var)
        kept = [condition for condition in block.conditions if position not in condition.used_dims()]
        assign(block, block.bindings.data.results, kept, list(block.loop_vars))
        rebind(block, {rows.var: ValueExpr(row, (part.var, rows.var))})
        drop_proved_conditions(block)


def _cuts(block: BlockOp, loop: ForOp) -> list[AffineExpr]:
    """Below which values of the variable of `loop` each predicate of `block` holds, whatever the other variables."""
    found: list[AffineExpr] = []
    for condition in block.conditions:
        if (cut := _true_below(block, condition, loop)) is not None:
            found.append(cut)
    return found


def _true_below(block: BlockOp, condition: AffineExpr, loop: ForOp) -> AffineExpr | None:
    split = linear_in(block, condition, loop.var)
    if split is None or split[0] >= 0:
        return None
    least = _least(split[1], dimension_ranges(block.loop_vars), block)
    return None if least is None else _simple(least // -split[0] + 1)


def _least(form: Linear, ranges: Mapping[AffineExpr, Range], block: BlockOp) -> AffineExpr | None:
    """The least value of `form`, over symbols: its other terms are at their ends, which must be known."""
    terms: dict[AffineExpr, int] = {}
    constant = form.constant
    for atom, factor in form.terms.items():
        if not atom.used_dims():
            terms[atom] = factor
            continue
        if any(loop_of(block.loop_vars[d]).is_symbolic for d in atom.used_dims()) or atom not in ranges:
            return None
        constant += min(factor * ranges[atom][0], factor * ranges[atom][1])
    return Linear(terms, constant).to_expr()


def _drop_true_below(block: BlockOp, loop: ForOp) -> None:
    """Drop the predicates that hold in all of `loop`, which ends where they cease to."""
    kept = [c for c in block.conditions if _true_below(block, c, loop) != as_affine(loop.size)]
    if len(kept) != len(block.conditions):
        assign(block, block.bindings.data.results, kept, list(block.loop_vars))
        drop_proved_conditions(block)


def shorten_symbolic(loop: ForOp) -> bool:
    """End `loop` where all blocks beneath stop, if that is one number which depends on symbols; says whether it is."""
    if loop.parent is None:
        return False
    ends: set[AffineExpr] = set()
    for block in blocks_under(loop):
        mine = [
            _simple(split[1].to_expr() // -split[0] + 1)
            for split in (linear_in(block, condition, loop.var) for condition in block.conditions)
            if split is not None and split[0] < 0 and not split[1].to_expr().used_dims()
        ]
        if len(mine) != 1:
            return False
        ends.add(mine[0])
    if len(ends) != 1:
        return False
    (end,) = ends
    if not any(True for _ in symbols_in(end)) or loop.start != 0:
        return False
    analyzer = _analyzer(end, as_affine(loop.size), around=loop)
    if not analyzer.can_prove(from_affine(end) <= from_affine(as_affine(loop.size))):
        return False
    loop.size = as_extent(end)
    for block in blocks_under(loop):
        kept = [c for c in block.conditions if not _ends(block, c, loop.var, end)]
        assign(block, block.bindings.data.results, kept, list(block.loop_vars))
        drop_proved_conditions(block)
    return True


def _ends(block: BlockOp, condition: AffineExpr, var: SSAValue, end: AffineExpr) -> bool:
    split = linear_in(block, condition, var)
    if split is None or split[0] >= 0 or split[1].to_expr().used_dims():
        return False
    return _simple(split[1].to_expr() // -split[0] + 1) == end


def _simple(expr: AffineExpr) -> AffineExpr:
    """`expr`, over symbols, as the analyzer writes it."""
    simple = to_affine(_analyzer(expr).simplify(from_affine(expr)))
    return linear(expr).to_expr() if simple is None else linear(simple).to_expr()


def _analyzer(*exprs: AffineExpr, around: ForOp | None = None) -> Analyzer:
    """What is known of the symbols in `exprs`, and what the function around a loop takes for granted."""
    analyzer = Analyzer()
    assumed = () if around is None else tuple(assumed_around(around))
    assume_symbols(analyzer, (*exprs, *assumed))
    for expr in assumed:
        analyzer.assume(from_affine(expr) >= 0)
    return analyzer


def clone_with_buffers(loop: ForOp, shared: Collection[SSAValue] = ()) -> ForOp:
    """A copy of `loop` with copies of the private buffers that nothing outside uses, but for the `shared` ones."""
    mapping: dict[SSAValue, SSAValue] = {}
    for alloc in all_within(function_of(loop), AllocBufferOp):
        if not alloc.is_private or alloc.parent is None or alloc.buffer in shared:
            continue
        users = accessing_blocks(alloc.buffer)
        if users and all(loop in enclosing_loops(block) for block in users):
            copy = alloc.clone()
            copy.buffer.name_hint = alloc.buffer.name_hint
            alloc.parent.insert_op_after(copy, alloc)
            mapping[alloc.buffer] = copy.buffer
    return loop.clone(mapping)


def handed_on(loop: ForOp) -> set[SSAValue]:
    """The private buffers in which an iteration of `loop`, which stands in another, may find what one before has left:
    its parts have them in common. (What is in no other loop is a nest of its own, and such buffers reach no further.)
    """
    if not enclosing_loops(loop):
        return set()
    used = dict.fromkeys(buffer for block in blocks_under(loop) for buffer in (*block.reads, *block.writes))
    return {b for b in used if isinstance(b.owner, AllocBufferOp) and b.owner.is_private and not is_fresh(loop, b)}


def erase_with_buffers(loop: ForOp) -> None:
    """Take a loop away, and the buffers of its own that nothing uses any more."""
    buffers = {v for block in blocks_under(loop) for v in (*block.reads, *block.writes)}
    loop.detach()
    loop.erase(safe_erase=False)
    for buffer in buffers:
        if isinstance(buffer.owner, AllocBufferOp) and not buffer.uses and buffer.owner.parent is not None:
            buffer.owner.detach()
            buffer.owner.erase()
