"""Ask for what a reduction is about to stream by, some iterations before it is read.

A register tile reads each vector of its weights once and uses it in every row. What is used once comes from a cache
that is far away, or from memory, and nothing that waits for it can go on. So the loop that walks along the stream asks
for the vector that it will read `distance` bytes later:

```mlir
scf.for %k = %c0 to %c512 step %c1 {            scf.for %k = %c0 to %c512 step %c1 {
  scf.for %row ... {unroll}                       scf.for %column ... {unroll} {
    scf.for %column ... {unroll} {                  memref.prefetch %w[%k * 16 + %column * 8192 + 512], read, ...
      %v = vector.load %w[%k * 16 +               }
                          %column * 8192]   ->    scf.for %row ... {unroll}
      ...                                           ...
```

It does so for vectors that are loaded from an argument larger than what stays in the nearest cache beside the rows, in
a rolled loop that moves them, inside of unrolled loops of which some, of at least `REUSE` iterations together, do not:
a tile that uses a vector less often waits for other things too, and each prefetch takes the place of a load. Once for
each vector, not for each use: LLVM does not find that two are the same. A prefetch reads nothing that anybody sees, and
may lie outside of memory.

Where the tile's columns stay the same for several iterations of the loop outside, for one tile of rows after the other,
each of these also asks for its part of what the next columns will stream by, one vector in each step, so that it is in
the second cache by then. The first tile of rows would wait for all of it otherwise. So it is with what lies densely
packed, column after column:

```mlir
scf.for %tile = ... {                                     // column %tile / 16 of tiles, row %tile % 16
  scf.for %k = %c0 to %c512 step %c1 {
    memref.prefetch %w[((%tile + 16) / 16) * 8192 + ((%tile % 16 * 512 + %k) / 16) * 16], read, ...
```

The place is counted in parts of a vector, 2^20 of them, so that no step divides by the number of tiles: what a step
adds is known before, and the whole vectors among them are shifted out. Where the number of tiles is known at the call
only, its inverse is computed before them. What is left of the rows is computed in tiles of fewer then, one after the
other: each of these asks for a part of the next columns, too, one vector in each step. Few rows are read sooner than
the weights come, and without that nothing would come meanwhile. A rest before which no tile has gone reads its own
weights from where they are, and asks for no others: it asks for what it is about to read, which costs as good as
nothing.

The scalars of a tile of rows come line by line: where channels stand in blocks, one line of each row holds a block of
them, and the next block lies a whole image farther, where no processor looks by itself. So each step within a block
asks for a part of the lines of the next block, if together they are more than stays in the second cache:

```mlir
scf.for %block = %c0 to %c64 step %c1 {
  scf.for %k = %c0 to %c16 step %c1 {
    memref.prefetch %x[(%block + 1) * 65536 + %k * 16], read, ...                 // the line of row %k
    scf.for %row ... {unroll} { %x[%block * 65536 + %row * 16 + %k] ... }
```

Source: the distance and the gain were measured (bench/README.md, "Streams"). TVM's InjectPrefetch lowers a `prefetch`
that a schedule asks for; nobody has to ask here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, TypeVar

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from ...dialects.extensions.llvm_loop_annotation import LOOP_ANNOTATION
from ...dialects.extensions.memref import PrefetchOp
from ...dialects.support.dtypes import byte_width
from ...dialects.support.index_ops import index_binary, index_constant
from ...dialects.support.machine_model import MachineModel
from ...dialects.support.vector_unit import VectorUnit, vector_unit_of
from ...dialects.support.walking import all_within
from ...dialects.tir.core import memref_of
from ...transforms.infra import ModulePass
from .loop_emission import UNROLL_FULLY

REUSE = 5
"""Uses of a vector from which on its load is worth asking for."""

NEXT_REUSE = 4
"""Uses of a vector from which on one of the next panel is, too: that is one request in a step, whatever the columns."""

AHEAD = 4
"""What is asked for and not read yet takes that part of the nearest cache at most, beside what is read now."""

NEAR = 1024
"""Bytes within which a processor finds by itself what is read next: blocks of 8 x 7 x 7 floats lie 1568 apart."""

MIN_ROWS = 4
"""Tiles of rows from which on each has to ask for a small part of the next panel only."""

WHOLE = 1 << 20
"""What a part is given of: the place that is asked for need not be exact."""


@dataclass(frozen=True)
class PrefetchStreamsPass(ModulePass):
    """Options: `distance`, in bytes of the stream; `machine`, what the processor takes for its work, which the module's
    `weft.target` says without it."""

    name = "prefetch-streams"
    opt_level: ClassVar[int] = 3

    distance: int = 2048
    machine: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        VectorUnit().with_machine(self.machine)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = vector_unit_of(op).with_machine(self.machine).machine
        for loop in [loop for loop in all_within(op, scf.ForOp) if _unrolled_trips(loop) is None]:
            lines, streams = _lines(loop, machine), _streams(loop, machine)
            asked = sum(stream.bytes_of_step for stream in streams if stream.uses >= REUSE)
            for each in lines:
                each.prefetch(loop)
            for stream in streams:
                panel = stream.panel(loop)
                before = [] if panel is None else _loops_before(panel, stream.load)
                if stream.uses >= REUSE:
                    stream.prefetch(loop, self.distance, machine.l1 // AHEAD // asked)
                if panel is not None and before:
                    stream.prefetch_part(loop, panel, before)
                elif panel is not None and stream.uses >= NEXT_REUSE:
                    stream.prefetch_next(loop, panel)


@dataclass(frozen=True)
class _Stream:
    """A vector that is read in a loop: by which operation, and inside of which unrolled loops that move it."""

    load: vector.LoadOp
    columns: tuple[scf.ForOp, ...]
    index: tuple[Operation, ...]
    """What computes its place within the loop, in order."""
    machine: MachineModel
    uses: int
    """How often each vector is used."""

    @property
    def bytes_of_step(self) -> int:
        """Bytes that are asked for in an iteration."""
        return _vector_bytes(self.load) * prod(map(_known_trips, self.columns))

    def prefetch(self, loop: scf.ForOp, distance: int, most_steps: int) -> None:
        """Ask at the begin of each iteration of `loop` for what is read `distance` bytes of vectors later, but of no
        later iteration than the `most_steps`th from it."""
        write = _Writer(loop)
        step = loop.body.block.args[0]
        steps = max(1, min(distance // _vector_bytes(self.load), most_steps))
        later = write.add(step, write.constant(steps * (_constant(loop.step) or 1)))
        later.name_hint = "later"
        values: dict[SSAValue, SSAValue] = {step: later}
        block, anchor = write.block, write.anchor
        for column in self.columns:
            body = Block(arg_types=[column.body.block.args[0].type])
            body.args[0].name_hint = column.body.block.args[0].name_hint
            values[column.body.block.args[0]] = body.args[0]
            end = scf.YieldOp()
            body.add_op(end)
            new = scf.ForOp(column.lb, column.ub, column.step, [], body)
            new.attributes[LOOP_ANNOTATION] = UNROLL_FULLY
            block.insert_op_before(new, anchor)
            block, anchor = body, end
        self._ask(block, anchor, self.index, values, 3)

    def prefetch_next(self, loop: scf.ForOp, panel: _Panel) -> None:
        """Ask at the begin of each iteration of `loop` for a vector of the panel after this one."""
        write = _Writer(loop)
        tile, rows = panel.tiles.body.block.args[0], write.constant(panel.rows or 1)
        row = write.count(panel.loops) if panel.loops else write.remainder(tile, rows)
        part = -(-WHOLE // panel.rows) if panel.rows else _part_of(panel.loops)
        vectors, zero = panel.vectors, write.constant(0)
        at = write.multiply(row, write.times(vectors, part))
        values: dict[SSAValue, SSAValue] = {column.body.block.args[0]: zero for column in panel.columns}
        for level in panel.levels:
            vectors //= _trips(level) or 1
            values[level.body.block.args[0]] = zero
            at = write.add(at, write.multiply(level.body.block.args[0], write.times(vectors, part)))
        values[tile] = write.add(tile, panel.tiles.step if panel.loops else rows)
        values[loop.body.block.args[0]] = write.wholes(at)
        self._ask(write.block, write.anchor, panel.index, values, 2)

    def prefetch_part(self, loop: scf.ForOp, panel: _Panel, before: Sequence[scf.ForOp]) -> None:
        """Ask at the begin of each iteration of `loop`, in which a rest of the rows is computed, for a vector of the
        panel after this one: of the column of as high a number as there are loops over tiles `before`, or from the
        first on again. Where these have not run, it is one of this panel, which is read anyway."""
        write, number = _Writer(loop), len(before) - 1
        values: dict[SSAValue, SSAValue] = {each.body.block.args[0]: write.constant(0) for each in panel.moving}
        tile, steps = panel.tiles.body.block.args[0], panel.vectors // (prod(map(_known_trips, panel.columns)) or 1)
        values[tile] = write.add(tile, write.select(write.none_ran(before), write.constant(0), panel.tiles.step))
        place: SSAValue = write.constant(number % max(1, panel.vectors // steps) * steps)
        for level in panel.levels:
            steps //= _known_trips(level)
            place = write.add(place, write.multiply(level.body.block.args[0], write.constant(steps)))
        values[loop.body.block.args[0]] = place
        self._ask(write.block, write.anchor, panel.index, values, 2)

    def _ask(
        self,
        block: Block,
        anchor: Operation,
        index: tuple[Operation, ...],
        values: dict[SSAValue, SSAValue],
        locality: int,
    ) -> None:
        """Ask before `anchor` for the vector at the place that `index` computes, of `values` in place of others."""
        clones = [op.clone(value_mapper=values) for op in index]
        indices = [values.get(index, index) for index in self.load.indices]
        block.insert_ops_before([*clones, PrefetchOp(self.load.base, indices, locality=locality)], anchor)

    def panel(self, loop: scf.ForOp) -> _Panel | None:
        """What `loop` and the loops around it stream by while an outer one goes through tiles of rows."""
        levels: list[scf.ForOp] = [loop]
        while isinstance(outer := levels[0].parent_op(), scf.ForOp):
            index, tile = _index_of(self.load, outer.body.block), outer.body.block.args[0]
            if index is None or any(_trips(level) is None for level in levels):
                return None
            users = [op for op in index if tile in op.operands]
            if not users and tile not in self.load.indices:
                return self._panel_around(outer, levels)
            rows = {_constant(op.rhs) if isinstance(op, arith.DivUIOp) and op.lhs is tile else None for op in users}
            if len(rows) == 1 and (count := rows.pop()) is not None:
                return self._worthwhile(_Panel(outer, (), count, self.columns, tuple(levels), index))
            levels.insert(0, outer)
        return None

    def _panel_around(self, innermost: scf.ForOp, levels: Sequence[scf.ForOp]) -> _Panel | None:
        """The panel where loops of their own go through the tiles of rows, and one around them through panels."""
        loops, tiles = [innermost], innermost.parent_op()
        while isinstance(tiles, scf.ForOp):
            index, tile = _index_of(self.load, tiles.body.block), tiles.body.block.args[0]
            if index is None or any((_constant(loop.lb), _constant(loop.step)) != (0, 1) for loop in loops):
                return None
            if tile in self.load.indices or any(tile in op.operands for op in index):
                trips = [_trips(loop) for loop in loops]
                count = None if None in trips else prod(each or 0 for each in trips)
                return self._worthwhile(_Panel(tiles, tuple(loops), count, self.columns, tuple(levels), index))
            loops.insert(0, tiles)
            tiles = tiles.parent_op()
        return None

    def _worthwhile(self, panel: _Panel) -> _Panel | None:
        """`panel`, if it is large, far away, dense, and shared by enough tiles of rows."""
        size = prod(memref_of(self.load.base).get_shape()) * byte_width(self.load.result.type.element_type)
        far = size > self.machine.kept_near  # not there any more from one inference to the next, beside all else
        large = panel.vectors * _vector_bytes(self.load) > _nearest(self.machine)
        shared = panel.rows is None or panel.rows >= MIN_ROWS
        return panel if shared and large and far and self._is_dense(panel) else None

    def _is_dense(self, panel: _Panel) -> bool:
        """Whether each step of the loops reads the vector after the one before, and each column follows the other."""
        if len(self.load.indices) != 1:
            return False
        steps: list[int | None] = []
        for level in (None, *panel.moving):
            given: dict[SSAValue, int] = {} if level is None else {level.body.block.args[0]: 1}
            steps.append(_evaluate(self.load.indices[0], panel.index, given))
        expected = prod(self.load.result.type.get_shape())
        for level, place in zip(reversed(panel.moving), reversed(steps[1:]), strict=True):
            if steps[0] is None or place is None or place - steps[0] != expected:
                return False
            expected *= _trips(level) or 1
        return True


@dataclass(frozen=True)
class _Panel:
    """What is streamed by for one tile of rows after the other. Each goes through `levels`, the loops over what is
    summed, and in each step of the innermost through `columns`, which are unrolled.

    The tiles of rows are `rows` iterations of `tiles`, or of the `loops` within, where they have such of their own;
    then their number may be known at the call only."""

    tiles: scf.ForOp
    loops: tuple[scf.ForOp, ...]
    rows: int | None
    columns: tuple[scf.ForOp, ...]
    levels: tuple[scf.ForOp, ...]
    index: tuple[Operation, ...]
    """What computes the place of a vector within `tiles`, in order."""

    @property
    def moving(self) -> tuple[scf.ForOp, ...]:
        """The loops that go through the panel, each of them through all of the next: column by column."""
        return (*self.columns, *self.levels)

    @property
    def vectors(self) -> int:
        return prod(_trips(loop) or 1 for loop in self.moving)


class _Writer:
    """Computes with indices at the begin of a loop's body."""

    def __init__(self, loop: scf.ForOp):
        first = loop.body.block.first_op
        assert first is not None
        self.block, self.anchor = loop.body.block, first

    def _insert(self, op: Operation) -> SSAValue:
        self.block.insert_op_before(op, self.anchor)
        return op.results[0]

    def constant(self, value: int) -> SSAValue:
        return self._insert(index_constant(value))

    def add(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self._insert(index_binary(arith.AddiOp, lhs, rhs))

    def multiply(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self._insert(index_binary(arith.MuliOp, lhs, rhs))

    def times(self, count: int, part: int | SSAValue) -> SSAValue:
        return self.constant(count * part) if isinstance(part, int) else self.multiply(self.constant(count), part)

    def remainder(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self._insert(index_binary(arith.RemUIOp, lhs, rhs))

    def count(self, loops: Sequence[scf.ForOp]) -> SSAValue:
        """How many iterations of the innermost of nested `loops` went before."""
        outer, *inner = loops
        count = outer.body.block.args[0]
        for loop in inner:
            count = self.add(self.multiply(count, loop.ub), loop.body.block.args[0])
        return count

    def none_ran(self, loops: Sequence[scf.ForOp]) -> SSAValue:
        """Whether loops that count from zero have no iterations."""
        count = loops[0].ub
        for loop in loops[1:]:
            count = self.add(count, loop.ub)
        return self._insert(arith.CmpiOp(count, self.constant(0), "eq"))

    def select(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        return self._insert(arith.SelectOp(condition, yes, no))

    def wholes(self, parts: SSAValue) -> SSAValue:
        """How many times `WHOLE` there is in `parts`."""
        return self._insert(index_binary(arith.ShRUIOp, parts, self.constant(WHOLE.bit_length() - 1)))


def _part_of(loops: Sequence[scf.ForOp]) -> SSAValue:
    """One of as many parts as `loops` have iterations together, in parts of `WHOLE`: a division outside of the
    innermost, none in it. Nothing where there is one iteration, which would ask for all of the next panel at once."""
    *around, inner = loops
    one, whole, none = index_constant(1), index_constant(WHOLE), index_constant(0)
    count: Operation = index_binary(arith.MaxUIOp, inner.ub, one.results[0])
    ops: list[Operation] = [one, whole, none, count]
    for loop in around:
        ops.append(count := index_binary(arith.MuliOp, count.results[0], loop.ub))
    part = index_binary(arith.DivUIOp, whole.results[0], count.results[0])
    alone = arith.CmpiOp(count.results[0], one.results[0], "eq")
    chosen = arith.SelectOp(alone, none, part)
    block = inner.parent
    assert block is not None
    block.insert_ops_before([*ops, part, alone, chosen], inner)
    return chosen.result


@dataclass(frozen=True)
class _Lines:
    """Scalars of which a loop goes through one line of a cache, or less, for each row of a tile: by which operation
    they are read, the unrolled loop over the rows, and the rolled one around, which goes on far away."""

    load: memref.LoadOp
    row: scf.ForOp
    around: scf.ForOp
    every: int
    """Rows whose scalars lie in one line."""
    index: tuple[Operation, ...]
    """What computes a scalar's place within `around`, in order."""

    def prefetch(self, loop: scf.ForOp) -> None:
        """Ask in each iteration of `loop` for its part of the lines that the next iteration around reads."""
        write = _Writer(loop)
        step, around = loop.body.block.args[0], self.around.body.block.args[0]
        lines, trips = -(-(_unrolled_trips(self.row) or 1) // self.every), _trips(loop) or 1
        values: dict[SSAValue, SSAValue] = {
            around: write.add(around, self.around.step),
            step: write.constant(0),
        }
        for first in range(0, lines, trips):
            line = write.add(step, write.constant(first)) if first else step
            row = line if self.every == 1 else write.multiply(line, write.constant(self.every))
            values[self.row.body.block.args[0]] = row
            clones = [op.clone(value_mapper=values) for op in self.index]
            indices = [values.get(index, index) for index in self.load.indices]
            write.block.insert_ops_before([*clones, PrefetchOp(self.load.memref, indices, locality=3)], write.anchor)


def _lines(loop: scf.ForOp, machine: MachineModel) -> list[_Lines]:
    """The lines that `loop` goes through, of what the second cache does not keep, the next of which lie far away."""
    around, trips, found = loop.parent_op(), _trips(loop), list[_Lines]()
    if not isinstance(around, scf.ForOp) or _unrolled_trips(around) is not None or trips is None:
        return found
    for load, unrolled in _loads(memref.LoadOp, loop.body.block, ()):
        index = _index_of(load, around.body.block)
        buffer = load.memref
        if index is None or len(load.indices) != 1 or not isinstance(buffer, BlockArgument):
            continue
        width = byte_width(memref_of(buffer).element_type)
        if abs(prod(memref_of(buffer).get_shape())) * width <= machine.l2 // 4:
            continue
        moving = [each for each in unrolled if _along(each, load, index)]
        if len(moving) != 1 or trips * width > machine.line or _along(loop, load, index) != 1:
            continue
        if abs(_along(around, load, index)) * width >= NEAR:
            every = max(1, machine.line // (abs(_along(moving[0], load, index)) * width))
            found.append(_Lines(load, moving[0], around, every, index))
    return found


def _along(loop: scf.ForOp, load: memref.LoadOp, index: tuple[Operation, ...]) -> int:
    """How many elements the second iteration of `loop` moves a load by; none where that is not known."""
    second: dict[SSAValue, int] = {loop.body.block.args[0]: 1}
    here, there = _evaluate(load.indices[0], index, {}), _evaluate(load.indices[0], index, second)
    return 0 if here is None or there is None else there - here


def _streams(loop: scf.ForOp, machine: MachineModel) -> list[_Stream]:
    """The vectors that `loop` moves, read from memory that is far away."""
    found: list[_Stream] = []
    for load, unrolled in _loads(vector.LoadOp, loop.body.block, ()):
        if not _is_far(load, machine):
            continue
        slice_ = _index_of(load, loop.body.block)
        if slice_ is None:
            continue
        operands = {operand for op in slice_ for operand in op.operands} | set(load.indices)
        columns = tuple(inner for inner in unrolled if inner.body.block.args[0] in operands)
        uses = prod(_unrolled_trips(inner) or 1 for inner in unrolled if inner not in columns)
        if loop.body.block.args[0] in operands:
            found.append(_Stream(load, columns, slice_, machine, uses))
    return found


def _loops_before(panel: _Panel, load: vector.LoadOp) -> list[scf.ForOp]:
    """The loops over tiles of rows before the one of `panel`, over the same vectors, where how often each runs is known
    at the call only: what they left over is computed in it."""
    if panel.rows is not None or not panel.loops:
        return []
    found, before = list[scf.ForOp](), panel.loops[-1].prev_op
    while before is not None:
        if isinstance(before, scf.ForOp) and any(
            isinstance(op, vector.LoadOp) and op.base is load.base for op in before.walk()
        ):
            found.append(before)
        before = before.prev_op
    return found


Load = TypeVar("Load", vector.LoadOp, memref.LoadOp)


def _loads(
    kind: type[Load], block: Block, unrolled: tuple[scf.ForOp, ...]
) -> Iterator[tuple[Load, tuple[scf.ForOp, ...]]]:
    """The loads of a kind in `block` and in the unrolled loops in it, with those around each."""
    for op in block.ops:
        if isinstance(op, kind):
            yield op, unrolled
        elif isinstance(op, scf.ForOp) and _unrolled_trips(op) is not None:
            yield from _loads(kind, op.body.block, (*unrolled, op))


def _vector_bytes(load: vector.LoadOp) -> int:
    return prod(load.result.type.get_shape()) * byte_width(load.result.type.element_type)


def _nearest(machine: MachineModel) -> int:
    """Bytes that stay in the nearest cache beside the rows: what fits is there after the first of them."""
    return machine.l1 // 3 * 2


def _is_far(load: vector.LoadOp, machine: MachineModel) -> bool:
    """Whether it reads an argument of the function, or a buffer of its own, that the nearest cache does not hold."""
    size = prod(memref_of(load.base).get_shape())
    width = byte_width(load.result.type.element_type)
    is_buffer = isinstance(load.base, BlockArgument) or isinstance(load.base.owner, memref.AllocaOp)
    return is_buffer and abs(size) * width > _nearest(machine)


def _index_of(load: vector.LoadOp | memref.LoadOp, around: Block) -> tuple[Operation, ...] | None:
    """What computes the place of a load within the block `around`, in order; `None` if that does more than compute."""
    found: dict[Operation, None] = {}

    def visit(value: SSAValue) -> bool:
        op = value.owner
        if not isinstance(op, Operation) or op in found or not around.is_ancestor(op):
            return True
        if not _computes(op) or not all(visit(operand) for operand in op.operands):
            return False
        found[op] = None
        return True

    return tuple(found) if all(visit(index) for index in load.indices) else None


def _computes(op: Operation) -> bool:
    """Whether `op` does no more than compute, for any operands that it can have here."""
    if isinstance(op, arith.DivUIOp | arith.RemUIOp):
        return bool(_constant(op.rhs))
    return is_side_effect_free(op) and not op.regions


def _unrolled_trips(loop: scf.ForOp) -> int | None:
    """The number of iterations of a loop that is to be unrolled; `None` where it is not."""
    lower, upper, step = (_constant(bound) for bound in (loop.lb, loop.ub, loop.step))
    if loop.attributes.get(LOOP_ANNOTATION) != UNROLL_FULLY or lower is None or upper is None or not step:
        return None
    return len(range(lower, upper, step))


def _constant(value: SSAValue) -> int | None:
    """The integer that a value is known to be."""
    op = value.owner
    return op.value.value.data if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr) else None


def _known_trips(loop: scf.ForOp) -> int:
    return _trips(loop) or 1


def _trips(loop: scf.ForOp) -> int | None:
    """The number of iterations of a loop that counts from zero in steps of one."""
    lower, upper, step = (_constant(bound) for bound in (loop.lb, loop.ub, loop.step))
    return upper if lower == 0 and step == 1 else None


def _evaluate(value: SSAValue, index: tuple[Operation, ...], given: dict[SSAValue, int]) -> int | None:
    """`value`, which `index` computes, where what is not `given` and no constant is zero; `None` if it is too much."""
    known = dict(given)
    for op in index:
        operands = [known.get(operand, _constant(operand) or 0) for operand in op.operands]
        match op:
            case arith.AddiOp():
                known[op.result] = operands[0] + operands[1]
            case arith.SubiOp():
                known[op.result] = operands[0] - operands[1]
            case arith.MuliOp():
                known[op.result] = operands[0] * operands[1]
            case arith.DivUIOp():
                known[op.result] = operands[0] // operands[1]
            case arith.RemUIOp():
                known[op.result] = operands[0] % operands[1]
            case arith.ConstantOp():
                known[op.result] = _constant(op.result) or 0
            case _:
                return None
    return known.get(value, _constant(value) or 0)
