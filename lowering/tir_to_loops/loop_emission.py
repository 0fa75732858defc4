"""Emission of loops: `tir.for` and `tir.block` become `scf`, `vector`, `arith` and `memref` operations.

Every statement is lowered or refused, and a loop that cannot run as its kind says is told of:

* `vectorized`: where a block cannot run as vectors, the loop is serial, and a remark says why;
* `parallel`: the outermost loop of a nest is shared by the threads (`convert_tir_to_loops`); one inside is run by the
  thread that has its iteration, and a remark says so;
* a nest for a matrix unit (`tiles`): where that cannot compute it, its loops run, and a remark says why;
* `thread_binding`: refused, since processors have no such threads.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace

from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import VectorType, i1
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ...dialects.extensions.llvm_loop_annotation import AccessGroupAttr, LoopAnnotationAttr, LoopUnrollAttr
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.interned import index
from ...dialects.support.vector_unit import VectorUnit
from ...dialects.tir.affine import expr_range, linear
from ...dialects.tir.core import AllocBufferOp, BlockOp, ForKind, ForOp, IterKind
from ...dialects.tir.narrowing import condition_over, narrowed
from ...dialects.tir.symbols import as_affine
from ...transforms.infra.remarks import missed
from .accesses import AccessEmitter
from .block_bodies import BodyEmitter, Checks
from .flat_buffers import FlatBuffer
from .index_values import IndexBuilder
from .lane_combinations import reduction_nest
from .lane_reductions import LaneReductionEmitter
from .lanes import Lanes, open_trips
from .squares import SquareEmitter, square_of
from .tile_products import TileEmitter
from .vectorization import why_not_vector

KEEP_ROLLED = LoopAnnotationAttr.of(unroll=LoopUnrollAttr.of(disable=True))
UNROLL_FULLY = LoopAnnotationAttr.of(unroll=LoopUnrollAttr.of(disable=False, full=True))
APART = LoopAnnotationAttr.of(parallelAccesses=AccessGroupAttr.numbered(0))
"""Of loops in which no iteration reads what another writes, though memory may be that of several buffers."""
SHORT = 16
"""Loops of no more iterations have all of them: code of a known number of them may be better."""
MOST_WRITTEN_OUT = 1 << 14
"""Operations that an unrolled nest may become. LLVM writes out whatever it is told to, in a time that grows faster than
the iterations do; what is unrolled for a pragma without a number stays below as many there."""
PASS = "convert-tir-to-loops"


class LoopEmitter:
    """Appends lowered loops and blocks where `at` stands."""

    def __init__(
        self,
        at: IndexBuilder,
        buffers: dict[SSAValue, FlatBuffer],
        checks: Checks | None = None,
        unit: VectorUnit | None = None,
        overlapping: Container[SSAValue] = (),
    ):
        """
        Args:
            overlapping: buffers of which one may be written where another one lies (`in_place`).
        """
        self.at = at
        self.overlapping = overlapping if checks is None else ()  # a record of checks is written by any iteration
        self.accesses = AccessEmitter(at, buffers)
        self.bodies = BodyEmitter(at, self.accesses, checks, unit)
        matrix, dot = ((), None) if unit is None else (unit.matrix, unit.dot)
        self.tiles = TileEmitter(self.accesses, matrix, dot)
        self.reductions = LaneReductionEmitter(self.accesses, self.bodies)
        self.squares = SquareEmitter(at, self.accesses)
        self.held: set[AffineExpr] = set()
        """The conditions of blocks that hold wherever the loops around run."""
        self.written_out: dict[Operation, int] = {}
        """Of how many operations each loop is, iterations of unrolled ones written out."""

    def statement(self, op: Operation) -> None:
        """Lower one loop or block; the place of a buffer was planned before.

        Raises:
            Diagnostic: `op` is something else, or a loop whose kind this target does not have.
        """
        match op:
            case ForOp():
                self._for(op)
            case BlockOp():
                self._block(op, None)
            case AllocBufferOp():
                pass
            case _:
                raise Diagnostic.at(
                    op,
                    "stands among loops, where only tir.for, tir.block and tir.alloc_buffer are lowered",
                    hint="put it into a tir.block",
                )

    def _for(self, loop: ForOp) -> None:
        if loop.for_kind == ForKind.THREAD_BINDING:
            raise Diagnostic.at(
                loop,
                "a loop bound to a thread cannot be lowered for a processor, which has no such threads",
                hint="let the outermost loop of the nest be parallel instead",
            )
        if loop.for_kind == ForKind.VECTORIZED and self._vectorized(loop):
            return
        if self._square(loop):
            return
        if loop.is_for_tiles:
            if (reason := self.tiles.emit(loop)) is None:
                return
            missed(PASS, loop, f"the nest is not computed by a matrix unit: {reason}")
        if loop.size == 1:
            self.at.index_values[self.at.dim(loop.var)] = self.at.constant(loop.start)
            for inner in loop.body.block.ops:
                self.statement(inner)
            return
        if (nest := reduction_nest(loop)) is not None:
            around, innermost = nest
            if (reason := self.reductions.emit(innermost, innermost.lanes or 1, around)) is None:
                return
            if not around:
                missed(PASS, loop, f"the reduction is not taken in lanes: {reason}")
        if loop.for_kind == ForKind.PARALLEL:
            missed(PASS, loop, "only the outermost loop of a nest is shared by threads", "reorder it to the outside")
        end = linear(as_affine(loop.size) + loop.start, self.at.ranges)
        self.loop(loop, self.at.constant(loop.start), self.at.index_value(end))

    def loop(self, loop: ForOp, lower: SSAValue, upper: SSAValue) -> None:
        """Run `loop` from `lower` to below `upper`; not where no block of it does anything, if it is long."""
        block = Block(arg_types=[index])
        block.args[0].name_hint = loop.var.name_hint
        held = self.held
        if loop.for_kind != ForKind.UNROLLED and (loop.is_symbolic or loop.trip_count > SHORT):
            found = narrowed(loop, self.at.dim, self.at.ranges)
            for low in found.lows:
                lower = self.at.emit(arith.MaxSIOp(lower, self.at.index_value(linear(low, self.at.ranges))))
            for end in found.ends:
                upper = self.at.emit(arith.MinSIOp(upper, self.at.index_value(linear(end, self.at.ranges))))
            self.held = held | found.conditions
        with self.at.into(block):
            self.at.index_values[self.at.dim(loop.var)] = block.args[0]
            for inner in loop.body.block.ops:
                self.statement(inner)
            self.at.insert(scf.YieldOp.create())
        self.held = held
        written_out = sum(map(self._written_out, block.ops))
        op = scf.ForOp.create(operands=(lower, upper, self.at.constant(1)), regions=(Region(block),))
        if loop.for_kind == ForKind.UNROLLED and loop.is_symbolic:
            missed(PASS, loop, "the loop is not unrolled: its number of iterations is known only when it is called")
        elif loop.for_kind == ForKind.UNROLLED:
            number = written_out * loop.trip_count
            if number > MOST_WRITTEN_OUT:
                missed(PASS, loop, f"the loop is not unrolled: its iterations would be {number} operations")
            else:
                op.attributes["loop_annotation"] = UNROLL_FULLY
                written_out = number
        elif loop.is_rolled:
            op.attributes["loop_annotation"] = KEEP_ROLLED
        elif self._is_apart(loop):
            op.attributes["loop_annotation"] = APART
        self.written_out[op] = written_out
        self.at.insert(op)

    def _written_out(self, op: Operation) -> int:
        """Of how many operations `op` is, iterations of unrolled loops within it written out."""
        if op in self.written_out:
            return self.written_out[op]
        return 1 + sum(
            self._written_out(inner) for region in op.regions for block in region.blocks for inner in block.ops
        )

    def _is_apart(self, loop: ForOp) -> bool:
        """Whether LLVM has to be told that no iteration of an innermost loop reads what another one writes: buffers may
        overlap, and each instance of the one block reads at most the element of another one that it writes."""
        ops = list(loop.body.block.ops)
        if len(ops) != 1 or not isinstance(block := ops[0], BlockOp) or block.init is not None or block.handed():
            return False
        is_elementwise = all(kind == IterKind.SPATIAL for kind in block.kinds)
        return is_elementwise and all(buffer in self.overlapping for buffer in block.writes)

    def _vectorized(self, loop: ForOp) -> bool:
        """Emit a loop's blocks as vector operations; say so and do nothing where one of them cannot be."""
        most = open_trips(loop)
        if loop.is_symbolic and most is None:
            why = "the loop is not vectorized: its number of iterations is known only when the function is called"
            missed(PASS, loop, why, "split it by the number of lanes, and vectorize the inner loop")
            return False
        if most is None and loop.trip_count <= 1:
            return False
        lanes = Lanes(self.at.dim(loop.var), loop.trip_count if most is None else most, is_open=most is not None)
        blocks = [op for op in loop.body.block.ops if isinstance(op, BlockOp)]
        if len(blocks) != len(list(loop.body.block.ops)):
            missed(PASS, loop, "the loop is not vectorized: it holds more than blocks", "vectorize the innermost loop")
            return False
        if loop.start != 0:
            missed(PASS, loop, f"the loop is not vectorized: it starts at {loop.start}", "let it start at 0")
            return False
        for block in blocks:
            if (reason := why_not_vector(block, lanes, self.accesses)) is not None:
                missed(
                    PASS,
                    block,
                    f"block @{block.block_name} is not vectorized: {reason}",
                    "vectorize a loop along which every access is contiguous or stands still",
                )
                return False
        lanes = self._counted(lanes, loop)
        for block in blocks:
            self._block(block, lanes)
        return True

    def _counted(self, lanes: Lanes, loop: ForOp) -> Lanes:
        """The lanes of a loop, with what says how many there are."""
        if not lanes.is_open:
            return lanes
        type, count = VectorType(i1, [lanes.width]), self.at.extent(loop.size)
        mask = self.at.emit(vector.CreateMaskOp.build(operands=[[count]], result_types=[type]))
        return replace(lanes, mask=mask, count=count, trips=as_affine(loop.size))

    def _square(self, loop: ForOp) -> bool:
        """Emit an unrolled loop of vectors of which some go across what they are read from (`squares`), step by step;
        say whether it is one."""
        if (parts := square_of(loop)) is None:
            return False
        inner, block = parts
        most = open_trips(inner)
        rows = Lanes(self.at.dim(loop.var), loop.trip_count)
        lanes = Lanes(self.at.dim(inner.var), most or inner.trip_count, is_open=most is not None)
        across = self.squares.across(block, rows, lanes)
        if not across or block.conditions or why_not_vector(block, lanes, self.accesses, across) is not None:
            return False

        def emit() -> None:
            counted = self._counted(lanes, inner)
            with self.at.into(self.at.block):
                columns = self.squares.columns(block, across, rows, counted)
            for step in range(rows.extent):
                with self.at.into(self.at.block):
                    self.at.index_values[rows.dim] = self.at.constant(step)
                    self.bodies.ready = {load: column[step] for load, column in columns.items()}
                    self._block(block, counted)
            self.bodies.ready = {}

        if most is None:
            emit()
        else:
            with self.at.into(self.at.block):
                some = self.at.emit(arith.CmpiOp(self.at.extent(inner.size), self.at.constant(0), "sgt"))
            self._guarded(some, emit)
        return True

    def _block(self, block: BlockOp, lanes: Lanes | None) -> None:
        bindings = self.at.bindings(block)
        conditions: list[AffineExpr] = []
        for condition in block.conditions:
            if self.held and condition_over(block, condition, self.at.dim, self.at.ranges) in self.held:
                continue
            bounds = expr_range(condition := self.at.over_loops(block, condition), self.at.ranges)
            if bounds is None or bounds[0] < 0:
                conditions.append(condition)

        def emit() -> None:
            if block.init is not None:
                self._init(block, bindings, lanes)
            self.bodies.emit(block.body.block, bindings, lanes)

        if not conditions:
            emit()
            return
        test: SSAValue | None = None
        for condition in conditions:
            holds = self.at.emit(
                arith.CmpiOp(self.at.index_value(linear(condition, self.at.ranges)), self.at.constant(0), "sge")
            )
            test = holds if test is None else self.at.emit(arith.AndIOp(test, holds))
        assert test is not None
        self._guarded(test, emit)

    def _init(self, block: BlockOp, bindings: Sequence[AffineExpr], lanes: Lanes | None) -> None:
        """Run `init` where every reduction iterator has its first value."""
        assert block.init is not None
        test: SSAValue | None = None
        for kind, binding in zip(block.kinds, bindings, strict=True):
            if isinstance(binding, AffineConstantExpr):
                if kind == IterKind.REDUCE and binding.value != 0:
                    return
            elif kind == IterKind.REDUCE:
                first = self.at.emit(
                    arith.CmpiOp(self.at.index_value(linear(binding, self.at.ranges)), self.at.constant(0), "eq")
                )
                test = first if test is None else self.at.emit(arith.AndIOp(test, first))
        init = block.init.block
        if test is None:
            self.bodies.emit(init, bindings, lanes)
        else:
            self._guarded(test, lambda: self.bodies.emit(init, bindings, lanes))

    def _guarded(self, condition: SSAValue, emit: Callable[[], None]) -> None:
        block = Block()
        with self.at.into(block):
            emit()
            self.at.insert(scf.YieldOp())
        self.at.insert(scf.IfOp(condition, [], Region(block)))
