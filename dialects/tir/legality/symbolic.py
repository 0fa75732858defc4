"""Iterators and accesses where extents are symbols: proved by the analyzer for all sizes, refuted at one, or neither.

A proof assumes what is known where a block runs: symbols are not negative, loop variables lie within their loops, the
predicate holds. A refutation is a size: the function with known extents (`specialize`) is checked as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from math import inf

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr
from xdsl.printer import Printer

from ...support.diagnostics import Diagnostic
from ..affine import Access, Range, affine_of, by_quotients, dims_in, linear, print_expr, substitute
from ..analyzer import Analyzer, Const, IntExpr, all_of, const, dim, from_affine, minimum
from ..analyzer.answers import Range as Interval
from ..analyzer.iter_map import detect_iter_map
from ..blocks import BlockOp
from ..buffers import shape_of
from ..checks import CheckOp
from ..exact_ranges import exact_range, whole_range
from ..integers import value_range
from ..loops import enclosing_loops, loop_of, loop_range
from ..specialize import specialize, symbols_of
from ..symbols import (
    ASSUMED,
    FOLLOWING,
    Extent,
    arguments_around,
    as_affine,
    assume_symbols,
    assumed_around,
    divisors_in,
    greatest,
)
from .bounds import buffer_name, never_runs
from .branches import branches_of
from .data import depends_on_data
from .finding import Finding
from .known import Facts
from .sample_sizes import sizes_that_hold

SAMPLES = (1, 6, 59)
"""Sizes that a function with symbols is checked at, or near, where it is for others: no tile divides all, and their
digits differ."""


def refutations(
    func: Operation, findings: Callable[[Operation], Iterable[Finding]], *, proved: bool
) -> Iterator[Finding]:
    """What is certainly wrong with `func` for some sizes; nothing where it is not known which sizes go together.

    Where all that sizes have a say in is `proved`, what is left is that its own buffers are written before they are
    read, which needs known extents: of a size below most tiles, and of one that has whole tiles and a part of one.
    """
    if FOLLOWING in func.attributes:
        return
    symbols, assumed = symbols_of(func), list(assumed_around(func))
    for turn in range(1 if proved else 0, len(SAMPLES)):
        wanted = {symbol.index: SAMPLES[(turn + number) % len(SAMPLES)] for number, symbol in enumerate(symbols)}
        if (sizes := sizes_that_hold(wanted, assumed)) is None:
            continue
        known = specialize(func, sizes)
        for finding in findings(known):
            if finding.certain:
                where = ", ".join(f"%{s.name_hint or s.index} = {sizes[s.index]}" for s in symbols)
                yield replace(finding, message=f"{finding.message} (for {where})")


def _facts(block: BlockOp) -> Facts:
    """What is known where `block` runs: loop variables are dimensions."""
    loops = [loop_of(var) for var in block.loop_vars]
    conditions = (*assumed_around(block), *block.conditions)
    facts = Facts(tuple([(loop.start, loop.size) for loop in loops]), conditions)
    if any(divisors_in((*block.bindings.data.results, *block.conditions))):  # which are not 0 where the loops run
        facts = facts._replace(positive=tuple(loop.size for loop in enclosing_loops(block)))
    return facts.about((*block.bindings.data.results, *block.sizes))


def check_symbolic_divisors(block: BlockOp) -> Iterator[Finding]:
    """What an iterator's value or a predicate is divided by may be 0 where the block's loops run."""
    if never_runs(block) or (divisor := unshown_divisor(block, [loop.size for loop in enclosing_loops(block)])) is None:
        return
    text = StringIO()
    print_expr(Printer(text), divisor, (), arguments_around(block))
    yield Finding(
        block,
        f"block @{block.block_name} is addressed by a quotient by {text.getvalue()}, which is not shown to be positive "
        "where it runs",
        hint="a loop around it over as many iterations, or a multiple, shows that",
    )


def unshown_divisor(block: BlockOp, running: Sequence[Extent]) -> AffineExpr | None:
    """What an iterator's value or a predicate of `block` is divided by, and is not shown to be positive where loops of
    sizes `running` run; `None` where there is nothing."""
    divisors = list(divisors_in((*block.bindings.data.results, *block.conditions)))
    if not divisors:
        return None
    analyzer = Facts((), tuple(assumed_around(block)), positive=tuple(running)).about(divisors).shared()
    return next((each for each in divisors if not analyzer.can_prove(from_affine(each) >= 1)), None)


def check_divisors(op: Operation, extents: Sequence[AffineExpr]) -> None:
    """Extents of `op` are divided by what a function's callers see to be positive.

    Raises:
        Diagnostic: one may be divided by 0.
    """
    divisors = list(divisors_in(extents))
    analyzer = Facts((), tuple(assumed_around(op))).about(divisors).shared() if divisors else None
    for divisor in divisors:
        if analyzer is not None and not analyzer.can_prove(from_affine(divisor) >= 1):
            text = StringIO()
            print_expr(Printer(text), divisor, (), arguments_around(op))
            raise Diagnostic.at(
                op,
                f"an extent is divided by {text.getvalue()}, which is not said to be positive",
                hint=f"the function's attribute {ASSUMED}, affine maps, says what of its sizes is not negative",
            )


def _is_within(analyzer: Analyzer, index: AffineExpr, extent: Extent) -> bool:
    value = by_quotients(index)
    size = by_quotients(extent)
    return analyzer.can_prove(value >= 0) and analyzer.can_prove(value < size)


def unproved_symbolic_iterators(block: BlockOp) -> list[int]:
    """The iterators, by number, that are not shown to take only values from 0 to below their extents."""
    if never_runs(block):
        return []
    ranges = [loop_range(var) for var in block.loop_vars]
    pairs = list(zip(block.bindings.data.results, block.sizes, strict=True))
    open_pairs = [number for number, pair in enumerate(pairs) if not _is_seen_within(*pair, ranges)]
    if not open_pairs:
        return []
    analyzer = _facts(block).shared()
    return [number for number in open_pairs if not _is_within(analyzer, *pairs[number])]


def _is_seen_within(index: AffineExpr, extent: Extent, ranges: Sequence[Range]) -> bool:
    """Whether it is seen without the analyzer that an index lies in a dimension; `ranges` may be too wide."""
    if not isinstance(extent, int) or (values := exact_range(index, ranges)) is None:
        return False
    return values[0] >= 0 and values[1] < extent


def check_symbolic_bindings(block: BlockOp) -> Iterator[Finding]:
    """An iterator that is not shown to take only values from 0 to below its extent."""
    for number in unproved_symbolic_iterators(block):
        name = f"iterator {block.iter_name(number)} of block @{block.block_name}"
        yield Finding(block, f"{name} is not shown to stay within its extent", certain=False)


def is_within_domain(block: BlockOp, index: AffineExpr, extent: Extent) -> bool:
    """Whether `index` over the iterators of `block` is shown to lie in a dimension, whatever values those take."""
    return _is_within(_domain(block, [extent]), index, extent)


def _domain(block: BlockOp, others: Iterable[Extent]) -> Analyzer:
    """What is known of the iterators of `block`, which are the analyzer's dimensions, and of the symbols in their
    extents and in `others`."""
    return Facts(tuple([(0, extent) for extent in block.sizes])).about(others).shared()


@dataclass(frozen=True)
class Unproved:
    """An access of which it is not shown that its index in a dimension is inside of the buffer's extent there."""

    access: Access
    dimension: int
    extent: Extent
    is_affine: bool
    """Whether the index is an affine expression of iterators and symbols."""


def unproved_symbolic_accesses(block: BlockOp) -> Iterator[Unproved]:
    """The accesses of `block`, dimension by dimension, that are not shown to be to elements that their buffers have."""
    if never_runs(block) or 0 in block.sizes:
        return
    accesses = block.accesses()
    shapes = [shape_of(access.buffer) for access in accesses]
    extents = [n for shape in shapes for n in shape]
    sizes = block.sizes
    dims: Mapping[SSAValue, AffineExpr] = (
        branches_of(block).dims if any(access.map is None for access in accesses) else {}
    )
    ranges = [(0, greatest(as_affine(size)) - 1) for size in sizes]
    domain: Analyzer | None = None
    greatest_iters: dict[SSAValue, Range] | None = None
    bound: Analyzer | None = None
    for access, shape in zip(accesses, shapes, strict=True):
        for number, extent in enumerate(shape):
            index = affine_of(access.op.indices[number], dims) if access.map is None else access.map.results[number]
            if index is None:
                if greatest_iters is None:
                    greatest_iters = _iterator_ranges(block)
                if not _is_value_within(access.op.indices[number], extent, greatest_iters):
                    yield Unproved(access, number, extent, is_affine=False)
                continue
            if type(index) is AffineDimExpr and sizes[index.position] == extent:
                continue  # the common case
            if _is_seen_within(index, extent, ranges):
                continue
            if domain is None:
                domain = _domain(block, extents)
            if _is_within(domain, index, extent):
                continue
            if bound is None:
                bound = _facts(block).about(extents).shared()
            if not _is_within_there(bound, block, access, index, extent):
                yield Unproved(access, number, extent, is_affine=True)


def _is_within_there(known: Analyzer, block: BlockOp, access: Access, index: AffineExpr, extent: Extent) -> bool:
    """Whether `index` over the iterators of `block` is shown to lie in a dimension by what is `known` where the block
    runs, and by the conditions of the branches around an access."""
    bindings = block.bindings.data.results
    index = substitute(index, bindings)
    if access.op.parent_op() is block:
        return _is_within(known, index, extent)
    conditions = [substitute(each, bindings) for each in branches_of(block).around(access.op).conditions]
    with known.assuming(*(from_affine(each) >= 0 for each in conditions)):
        assume_symbols(known, conditions)
        return _is_within(known, index, extent)


def _iterator_ranges(block: BlockOp) -> dict[SSAValue, Range]:
    ends = [extent if isinstance(extent, int) else greatest(extent) for extent in block.sizes]
    arguments = [argument for region in block.regions for argument in region.block.args]
    return {argument: (0, max(ends[argument.index] - 1, 0)) for argument in arguments}


def _is_value_within(value: SSAValue, extent: Extent, iters: Mapping[SSAValue, Range]) -> bool:
    """Whether an index that depends on data lies inside: what is done with it says so, or it is checked to."""
    owner = value.owner
    if isinstance(owner, CheckOp) and owner.bound is not None:
        return affine_of(owner.bound, {}) == extent
    low, high = value_range(value, iters)
    return low >= 0 and isinstance(extent, int) and high < extent


def check_symbolic_accesses(block: BlockOp) -> Iterator[Finding]:
    """An access that is not shown to be to an element that its buffer has."""
    by_data: dict[Access, bool] = {}
    for found in unproved_symbolic_accesses(block):
        access = found.access
        if not found.is_affine:
            index = access.op.indices[found.dimension]
            by_data[access] = by_data.get(access, True) and depends_on_data(index)
            continue
        message = f"{_access_of(block, access)} is not shown to stay within the extent of dimension {found.dimension}"
        yield Finding(access.op, message, certain=False)
    for access, decided in by_data.items():
        yield Finding(access.op, f"{_access_of(block, access)} depends on data", certain=False, by_data=decided)


def _access_of(block: BlockOp, access: Access) -> str:
    verb = "writes" if access.is_write else "reads"
    return f"where block @{block.block_name} {verb} {buffer_name(access.buffer)}"


def check_symbolic_coverage(blocks: Sequence[BlockOp]) -> Iterator[Finding]:
    """Blocks of one name and domain that are not shown to take every value of their iterators, together."""
    groups: dict[object, list[BlockOp]] = {}
    for block in blocks:
        groups.setdefault((block.block_name, block.iter_kinds, block.iter_extents), []).append(block)
    for group in groups.values():
        partial = frozenset[int]().union(*(block.partial_iters for block in group))
        for number, extent in enumerate(group[0].sizes):
            if number not in partial and not _is_covered(group, number, extent):
                name = f"iterator {group[0].iter_name(number)} of block @{group[0].block_name}"
                yield Finding(group[0], f"{name} is not shown to take every value of its extent", certain=False)


def _is_covered(group: Sequence[BlockOp], number: int, extent: Extent) -> bool:
    """Whether the values of iterator `number`, each block's without gaps, are shown to reach from 0 to `extent`."""
    if any(_takes_all(block, block.bindings.data.results[number], extent) for block in group):
        return True
    spans: list[tuple[IntExpr, IntExpr]] = []
    analyzer = Analyzer()
    # where the extent of another iterator is 0 there is nothing to take
    analyzer.assume(*(from_affine(as_affine(size)) > 0 for size in group[0].sizes if not isinstance(size, int)))
    assume_symbols(analyzer, [as_affine(extent)])
    for block in group:
        if never_runs(block) or (span := _span(block, block.bindings.data.results[number], analyzer)) is None:
            continue
        spans.append(span)
        sizes = [as_affine(loop_of(v).size) for v in block.loop_vars]
        assume_symbols(analyzer, [*block.bindings.data.results, *block.conditions, *sizes])
    reached: IntExpr = from_affine(AffineExpr.constant(0))
    while spans:
        following = next((span for span in spans if analyzer.can_prove(span[0] <= reached)), None)
        if following is None:
            break
        spans.remove(following)
        reached = following[1]
    return analyzer.can_prove(reached >= by_quotients(extent))


def _takes_all(block: BlockOp, binding: AffineExpr, extent: Extent) -> bool:
    """Whether loops of known extents are seen to lead `binding` to all values from 0 to below `extent`."""
    variables = block.loop_vars
    if any(divisors_in([binding])):
        return _is_digit(block, binding, extent)
    if not isinstance(extent, int) or block.conditions or never_runs(block):
        return False
    if any(loop_of(variables[d]).is_symbolic for d in dims_in(binding)):
        return False
    found = whole_range(binding, [loop_range(var) for var in variables])
    return found is not None and found[0][0] <= 0 and found[0][1] >= extent - 1


def _is_digit(block: BlockOp, binding: AffineExpr, extent: Extent) -> bool:
    """Whether `binding` is a digit of `extent` values of the loops around `block`, where its predicate holds; they all
    run wherever the block has anything to do."""
    around = [as_affine(loop.size) for loop in enclosing_loops(block)]
    analyzer = Facts((), positive=block.sizes).about((binding, *around, *block.conditions)).analyzer()
    if not all(analyzer.can_prove(from_affine(size) >= 1) for size in around):
        return False
    domains: dict[IntExpr, int | IntExpr | range | Interval] = {}
    for number, var in enumerate(block.loop_vars):
        loop = loop_of(var)
        domains[dim(number)] = Interval(const(loop.start), from_affine(as_affine(loop.size)))
    where = all_of(*(from_affine(condition) >= 0 for condition in block.conditions))
    found = detect_iter_map([from_affine(binding)], domains, where, analyzer=analyzer)
    if not found:
        return False
    (index,) = found.indices
    holds = (index.scale.equal(1), index.base.equal(0), index.extent >= from_affine(as_affine(extent)))
    return index.digit is not None and all(analyzer.can_prove(each) for each in holds)


def _span(block: BlockOp, binding: AffineExpr, analyzer: Analyzer) -> tuple[IntExpr, IntExpr] | None:
    """The first value of `binding` and the one after its last, if it takes all between; `None` where that is not seen.

    It does where its terms are digits: no two of one loop, and each moves by no more than what those below it reach
    together.
    """
    offset = by_quotients(linear(binding).to_expr())
    moving: set[int] = set()
    digits: list[tuple[int, float, IntExpr]] = []  # the factor, how many values if that is a number, how many
    for atom, factor in linear(binding).terms.items():
        if not atom.used_dims():
            continue
        if not moving.isdisjoint(atom.used_dims()) or (values := _values(block, atom)) is None:
            return None
        moving |= atom.used_dims()
        first, number = values
        known = analyzer.simplify(number)
        digits.append((factor, known.value if isinstance(known, Const) else inf, number))
        offset = offset - from_affine(atom) * factor + first * factor
    count: IntExpr = const(1)
    width = 1.0
    for factor, known, number in sorted(digits, key=lambda digit: digit[:2]):
        if not 0 < factor <= width or width == inf:
            return None
        count = count + (number - 1) * factor
        width += (known - 1) * factor
    end = offset + count
    for condition in block.conditions:
        if not condition.used_dims() & moving:
            continue
        limit = linear(condition + binding)
        if any(atom.used_dims() for atom in limit.terms):
            return None
        end = minimum(end, from_affine(limit.to_expr()) + 1)
    return offset, end


def _values(block: BlockOp, atom: AffineExpr) -> tuple[int, IntExpr] | None:
    """The first value of a digit of loops of `block`, and how many it takes, of which none is left out."""
    match atom:
        case AffineDimExpr(position=position):
            loop = loop_of(block.loop_vars[position])
            return loop.start, by_quotients(loop.size)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=AffineConstantExpr(value)) if value > 0:
            if (values := _values(block, lhs)) is None or values[0] != 0:
                return None
            if kind is AffineBinaryOpKind.FloorDiv:
                return 0, (values[1] + (value - 1)) // value
            return (0, minimum(values[1], const(value))) if kind is AffineBinaryOpKind.Mod else None
        case _:
            return None
