"""How a block's accesses move through memory: the facts that schedule rules decide by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.dialects import memref
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.support.facts import remembered
from ....dialects.tir.affine import Linear, Range, access_map, affine_of, linear, over_dimensions, substitute
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import BlockOp
from ....dialects.tir.dot import WIDTH, dots_in, neighbouring_loads
from ....dialects.tir.symbols import MAX_EXTENT, Extent, as_affine, depends_on_symbols, dimension, product

CLOSE = 4
"""Elements from one lane's to the next up to which vectors of all elements between are read, and these picked."""

SAMPLES = 16
"""Values of an iterator that are looked at to tell how far an access usually moves."""


@dataclass(frozen=True)
class Stride:
    """An access's position in its buffer's flat memory, over the block's iterators as dimensions."""

    buffer: SSAValue
    is_write: bool
    position: Linear | None

    def along(self, dim: AffineExpr) -> int | None:
        """Elements that one step along `dim` moves the access by; `None` where that is not a constant."""
        return None if self.position is None else self.position.step(dim)


@dataclass(frozen=True)
class Flat:
    """An access's position in its buffer's flat memory as the body has it, `None` where that depends on data."""

    buffer: SSAValue
    is_write: bool
    position: AffineExpr | None
    op: Operation


@remembered
def flat_accesses(block: BlockOp) -> list[Flat]:
    """All accesses in the block's body, but not its init. The neighbouring bytes that a dot product takes on one side
    are one access, of a word: positions are in words then."""
    found: list[Flat] = []
    words = _words(block)
    for access in block.accesses():
        if access.op.parent_region() is block.init or words.get(access.op) is False:
            continue
        total: AffineExpr | None = None
        if access.map is not None:
            total = AffineConstantExpr(0)
            step: AffineExpr = AffineConstantExpr(1)
            for size, index in zip(reversed(shape_of(access.buffer)), reversed(access.map.results), strict=True):
                total = total + product(index, step)
                step = product(step, as_affine(size))
        if total is not None and words.get(access.op):
            form = linear(total, iterator_ranges(block))
            parts = {atom: factor // WIDTH for atom, factor in form.terms.items()}
            total = Linear(parts, form.constant // WIDTH).to_expr()
        found.append(Flat(access.buffer, access.is_write, total, access.op))
    return found


def _words(block: BlockOp) -> dict[Operation, bool]:
    """The loads that dot products make together with their neighbours; whether each is the first of its word."""
    found: dict[Operation, bool] = {}
    for dot in dots_in(block.body.block):
        for side in (dot.lhs, dot.rhs):
            loads = neighbouring_loads(side, block.body.block.args)
            if loads is not None and _begins_words(loads[0], block):
                found.update((load, number == 0) for number, load in enumerate(loads))
    return found


def _begins_words(load: memref.LoadOp, block: BlockOp) -> bool:
    """Whether a load is of the first byte of a word, of those that its buffer's memory is divided into."""
    map = access_map(load, block.body.block.args)
    rows = shape_of(load.memref)[-1:]
    if map is None or any(not isinstance(n, int) or n % WIDTH for n in rows):
        return False
    form = linear(map.results[-1], iterator_ranges(block))
    return not form.constant % WIDTH and not any(factor % WIDTH for factor in form.terms.values())


def iterator_ranges(block: BlockOp) -> dict[AffineExpr, Range]:
    """The values that each iterator takes."""
    return {dimension(i): (0, n - 1 if isinstance(n, int) else MAX_EXTENT) for i, n in enumerate(block.sizes)}


@remembered
def strides(block: BlockOp) -> list[Stride]:
    """The flat positions of all accesses in the block's body."""
    ranges = iterator_ranges(block)
    return [
        Stride(flat.buffer, flat.is_write, None if flat.position is None else linear(flat.position, ranges))
        for flat in flat_accesses(block)
    ]


def steps_along(block: BlockOp, iterator: int) -> list[int | None]:
    """How far one step along an iterator moves each access; `None` where that is not the same everywhere. Indices that
    follow from data, or by more than sums and quotients, are none of this if the iterator has no part in them."""
    dim, ranges = AffineExpr.dimension(iterator), iterator_ranges(block)
    known = over_dimensions(block.iters)

    def step(access: Flat) -> int | None:
        if access.position is not None:
            return linear(access.position, ranges).step(dim)
        if not isinstance(access.op, memref.LoadOp):
            return None
        total = 0
        for value, stride in zip(access.op.indices, _row_major(shape_of(access.buffer)), strict=True):
            if (expr := affine_of(value, known)) is None:
                if stands_on(value, block.iters[iterator]):
                    return None
            elif (moved := linear(expr, ranges).step(dim)) is None or (moved and not isinstance(stride, int)):
                return None
            elif isinstance(stride, int):
                total += moved * stride
        return total

    return [step(access) for access in flat_accesses(block)]


def stands_on(value: SSAValue, source: SSAValue) -> bool:
    """Whether `source` has a part in `value`, or might."""
    work, seen = [value], set[SSAValue]()
    while work:
        each = work.pop()
        if each is source:
            return True
        if each not in seen and isinstance(each, OpResult):
            if each.op.regions:
                return True
            seen.add(each)
            work += each.op.operands
    return False


def _row_major(shape: Sequence[Extent]) -> list[int | None]:
    """Elements between neighbours along each dimension of a buffer, `None` where a symbol says."""
    found: list[int | None] = [1]
    for size in reversed(shape[1:]):
        last = found[-1]
        found.append(last * size if isinstance(size, int) and last is not None else None)
    return found[: len(shape)][::-1]


def steps_within(block: BlockOp, iterator: int, size: int) -> list[int | None]:
    """How far each access moves from one to the next of `size` values of an iterator, the first of them a multiple of
    `size`; `None` where that is not the same everywhere. It is where the iterator is divided by `size`, as in blocks of
    channels, though not along the whole iterator."""
    return [None if form is None else form.step(within) for form, _, within in _divided(block, iterator, size)]


def strides_within(block: BlockOp, iterator: int, size: int) -> list[Linear | None]:
    """The same where it may depend on symbols, over which it then is."""
    return [None if form is None else form.stride(within) for form, _, within in _divided(block, iterator, size)]


def steps_between(block: BlockOp, iterator: int, size: int) -> list[int | None]:
    """How far each access moves from one value of an iterator to that which is `size` further on, if it is as far from
    everywhere; else `None`."""
    return [None if form is None else form.step(whole) for form, whole, _ in _divided(block, iterator, size)]


def usual_step(block: BlockOp, access: Flat, iterator: int) -> int | None:
    """How far an access moves most often from one of the first values of an iterator to the next, all others 0; `None`
    where that depends on data or on symbols."""
    position, extent = access.position, block.sizes[iterator]
    if position is None or not isinstance(extent, int) or depends_on_symbols(position):
        return None
    values = [0] * len(block.iters)
    places: list[int] = []
    for values[iterator] in range(min(extent, SAMPLES)):
        places.append(position.eval(values, []))
    steps = Counter(after - before for before, after in pairwise(places))
    return steps.most_common(1)[0][0] if steps else 0


def _divided(block: BlockOp, iterator: int, size: int) -> list[tuple[Linear | None, AffineExpr, AffineExpr]]:
    """The position of each access, with an iterator as a multiple of `size` and what is left: of which the dimensions
    are given, too."""
    known, count = iterator_ranges(block), len(block.iters)
    dims: list[AffineExpr] = [dimension(number) for number in range(count)]
    whole, within = dimension(count), dimension(count + 1)
    _, last = known[dims[iterator]]
    ranges = {**known, whole: (0, last // size), within: (0, size - 1)}
    dims[iterator] = whole * size + within
    found: list[tuple[Linear | None, AffineExpr, AffineExpr]] = []
    for flat in flat_accesses(block):
        form = None
        if flat.position is not None:
            form = linear(substitute(linear(flat.position, known).to_expr(), dims), ranges)
        found.append((form, whole, within))
    return found


def follow_each_other(block: BlockOp, first: int, accesses: Sequence[Stride] | None = None) -> bool:
    """Whether every access walks straight from the last value of iterator `first + 1` to the next of `first`."""
    outer, inner = dimension(first), dimension(first + 1)
    for access in accesses if accesses is not None else strides(block):
        slow, fast = access.along(outer), access.along(inner)
        if slow is None or fast is None or slow != fast * block.likely_extents[first + 1]:
            return False
    return True
