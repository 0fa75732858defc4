"""What the cost model sees of a schedule: numbers read off the loops and accesses of a scheduled function.

Counts and sizes are given as `log2(1 + n)`. The heaviest block, that which does the most arithmetic in all, is looked
at closely, as almost all of the time goes there; of the others, sums. `NAMES` is the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, prod

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from ..dialects.support.dtypes import byte_width
from ..dialects.tir.affine import Linear, Range, linear, substitute
from ..dialects.tir.buffers import AllocBufferOp, memref_of, shape_of
from ..dialects.tir.core import BlockOp, ForKind, ForOp, PrimFuncOp, Scope, blocks_under, enclosing_loops
from ..dialects.tir.symbols import likely
from ..transforms.infra.walk import walk
from ..transforms.tir.analysis.strides import flat_accesses

HEAVIEST = (
    "iterations",
    "operations in an iteration",
    "lanes of the vector loop",
    "iterations of the unrolled loops",
    "unrolled loops",
    "iterations of the parallel loop",
    "iterations of the serial loops outside of the tile",
    "iterations of the innermost serial loop",
    "serial loops",
    "reads that stay where they are from lane to lane",
    "reads of neighbours",
    "reads of elements that lie apart",
    "elements read for a tile: of all lanes and unrolled iterations",
    "sums in a tile for each element read",
    "elements that the innermost serial loop reads in all",
    "elements read anew with the next loop outside of it",
    "elements read anew with the loop outside of that",
    "conditions that leave out a part of the iterations",
)
"""Of the heaviest block."""

ALL = (
    "blocks",
    "parallel loops",
    "iterations of all blocks",
    "bytes of buffers that all threads share",
    "bytes of buffers of a thread's own",
    "part of the iterations in parallel loops",
    "part of the iterations in vector loops",
)
"""Of all blocks together."""

NAMES = HEAVIEST + ALL


def features_of(function: PrimFuncOp) -> tuple[float, ...]:
    """The features of a scheduled function, in the order of `NAMES`."""
    seen = [_Seen.of(block) for block in blocks_under(function)]
    if not seen:
        return (0.0,) * len(NAMES)
    heaviest = max(seen, key=lambda each: (each.trips * (1 + each.operations), each.trips))
    total = max(1, sum(each.trips for each in seen))
    buffers = [op for op in walk(function) if isinstance(op, AllocBufferOp)]
    sizes = {
        scope: sum(_bytes(op) for op in buffers if (op.scope.data == scope)) for scope in (Scope.GLOBAL, Scope.LOCAL)
    }
    return (
        *heaviest.features(),
        _log(len(seen)),
        _log(sum(isinstance(op, ForOp) and op.for_kind == ForKind.PARALLEL for op in walk(function))),
        _log(total),
        _log(sizes[Scope.GLOBAL]),
        _log(sizes[Scope.LOCAL]),
        sum(each.trips for each in seen if each.has(ForKind.PARALLEL)) / total,
        sum(each.trips for each in seen if each.has(ForKind.VECTORIZED)) / total,
    )


def _log(count: float) -> float:
    return round(log2(1 + count), 6)


def _bytes(op: AllocBufferOp) -> int:
    return prod(map(likely, shape_of(op.buffer))) * byte_width(memref_of(op.buffer).element_type)


@dataclass(frozen=True)
class _Seen:
    """A block with its loops, outermost first, and how its reads move along each."""

    loops: list[ForOp]
    operations: int
    conditions: int
    reads: list[list[int | None]]
    """For each read, how far it moves with one more of each loop."""

    @staticmethod
    def of(block: BlockOp) -> _Seen:
        loops = enclosing_loops(block)
        positions: dict[SSAValue, int] = {loop.var: n for n, loop in enumerate(loops)}
        numbers = [positions.get(var) for var in block.loop_vars]
        dims = [AffineExpr.constant(0) if number is None else AffineExpr.dimension(number) for number in numbers]
        ranges: dict[AffineExpr, Range] = {
            AffineExpr.dimension(n): (0, max(0, loop.likely_trips - 1)) for n, loop in enumerate(loops)
        }
        iterators = [substitute(binding, dims) for binding in block.bindings.data.results]
        reads: list[list[int | None]] = []
        for access in flat_accesses(block):
            if access.is_write:
                continue
            form: Linear | None = None
            if access.position is not None:
                form = linear(substitute(access.position, iterators), ranges)
            reads.append([None if form is None else form.step(AffineExpr.dimension(n)) for n in range(len(loops))])
        operations = sum(op.name.startswith(("arith.", "math.")) for op in walk(block))
        return _Seen(loops, operations, len(block.conditions), reads)

    @property
    def trips(self) -> int:
        return prod(loop.likely_trips for loop in self.loops)

    def has(self, kind: ForKind) -> bool:
        return any(loop.for_kind == kind for loop in self.loops)

    def _trips(self, kind: ForKind) -> int:
        return prod(loop.likely_trips for loop in self.loops if loop.for_kind == kind)

    def _read(self, inside: list[int]) -> int:
        """Elements read in the loops of these numbers."""
        return sum(
            prod(self.loops[n].likely_trips for n in inside if read[n] != 0) if inside else 1 for read in self.reads
        )

    def features(self) -> list[float]:
        """The features of the block, in the order of `HEAVIEST`."""
        kinds = [loop.for_kind for loop in self.loops]
        tile = [n for n, kind in enumerate(kinds) if kind in (ForKind.UNROLLED, ForKind.VECTORIZED)]
        serial = [n for n, kind in enumerate(kinds) if kind == ForKind.SERIAL]
        inner = serial[-1:]
        lanes = [n for n, kind in enumerate(kinds) if kind == ForKind.VECTORIZED] or list(range(len(kinds)))[-1:]
        steps = [read[lanes[-1]] if lanes else 0 for read in self.reads]
        of_tile = self._read(tile)
        outside = [n for n in range(len(kinds)) if n not in tile and n not in inner][::-1]
        anew = [sum(read[n] != 0 for read in self.reads) * self._read([*tile, *inner]) for n in outside[:2]]
        return [
            _log(self.trips),
            _log(self.operations),
            _log(self._trips(ForKind.VECTORIZED)),
            _log(self._trips(ForKind.UNROLLED)),
            float(kinds.count(ForKind.UNROLLED)),
            _log(self._trips(ForKind.PARALLEL)),
            _log(prod(self.loops[n].likely_trips for n in serial[:-1])),
            _log(prod(self.loops[n].likely_trips for n in inner)),
            float(len(serial)),
            float(steps.count(0)),
            float(steps.count(1)),
            float(sum(step not in (0, 1) for step in steps)),
            _log(of_tile),
            _log(prod(self.loops[n].likely_trips for n in tile) / max(1, of_tile)),
            _log(self._read([*tile, *inner])),
            *(_log(count) for count in [*anew, 0, 0][:2]),
            float(self.conditions),
        ]
