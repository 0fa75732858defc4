"""Turns of a graph as a loop: where a turn's rows stand, and what it takes from the turn before.

All threads run all turns, and each turn has slots of its own to share its work by. Where the number of turns is known,
they stand with those of the graph; else behind the pools, where the first thread that comes clears them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Protocol

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IntegerAttr, MemRefType, i8, i64
from xdsl.ir import Attribute, Block, SSAValue

from ...dialects.mem.core import DYNAMIC, AllocOp, ScanOp, buffer_type, root_of, start_in_root
from ...dialects.mem.graph import GraphOp
from ...dialects.rt.core import SLOT_BYTES, SlotsOp
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.dtypes import byte_width
from ...dialects.support.interned import flat_memref, index
from ..relay_to_tir.te_expressions import signless
from ..threads.share_out import share_out
from ..tir_to_loops.index_values import IndexBuilder
from .frames import Path
from .steps import Callees, slot_count, turn_slots

_WORDS = SLOT_BYTES // 8
"""The words of a slot."""

Starts = Mapping[SSAValue, tuple[SSAValue, SSAValue]]


class Emission(Protocol):
    """What appends the steps of a graph to a function on one arena."""

    kernels: Callees
    block: Block
    views: dict[tuple[SSAValue, int, Attribute], SSAValue]
    values: dict[SSAValue, SSAValue]
    places: dict[SSAValue, int]
    starts: dict[SSAValue, tuple[SSAValue, SSAValue]]
    slots_in: SSAValue | None
    slots_used: int
    arena: SSAValue
    num_threads: SSAValue

    def emit_graph(self, graph: GraphOp) -> None: ...

    def memory(self, value: SSAValue) -> SSAValue: ...

    def opened(self, buffer: SSAValue, wanted: MemRefType[Attribute]) -> SSAValue: ...


class Scans:
    """The scans of one graph."""

    def __init__(self, whole: Emission):
        self.whole = whole
        self.path: Path = ()
        self.turns: list[tuple[SSAValue, SSAValue]] = []
        """The scans that a turn is within: how many turns there are, and the turn."""
        self.slots: dict[Path, SSAValue] = {}
        """Where the slots of scans begin whose number of turns is open."""
        self.frames: dict[Path, tuple[Mapping[SSAValue, SSAValue], Starts]] = {}

    def leave(self) -> None:
        """Go back to the graph itself."""
        self._take(())

    def enter(self, path: Path, values: Mapping[SSAValue, SSAValue], starts: Starts) -> None:
        """Note the extents and pools of the turns of a scan, or of the graph itself."""
        self.frames[path] = values, starts
        self._take(path)

    def _take(self, path: Path) -> None:
        values, starts = self.frames[path]
        self.whole.values |= values
        self.whole.starts |= starts

    def emit(self, op: ScanOp) -> None:
        """Append the turns of a scan, and the copies of what is carried behind the last."""
        whole, graph = self.whole, self.whole.kernels.turn(op)
        path = (*self.path, op)
        at = IndexBuilder(whole.block)
        turns = whole.values[op.extents[0]] if op.known_turns is None else at.constant(op.known_turns)
        first, count = whole.slots_used, turn_slots(op, whole.kernels)
        memory, slots = whole.slots_in or whole.arena, at.constant(first * SLOT_BYTES)
        if op.known_turns is None:
            memory, slots = whole.arena, self._cleared(path, turns, count)
        inputs = [whole.memory(value) for value in op.inputs]
        self._take(path)
        loop = scf.ForOp(at.constant(0), turns, at.constant(1), [], Block(arg_types=[index]))
        loop.location = op.location
        whole.block.add_op(loop)
        around = whole.block, whole.views, whole.slots_in, self.path
        whole.block, whole.views, self.path = loop.body.block, {}, path
        (turn,) = loop.body.block.args
        turn.name_hint = "turn"
        at = IndexBuilder(whole.block)
        shift = at.emit(arith.AddiOp(at.emit(arith.MuliOp(turn, at.constant(count * SLOT_BYTES))), slots))
        view = memref.ViewOp.build(
            operands=[memory, shift, []], result_types=[MemRefType(i8, [max(1, count) * SLOT_BYTES])]
        )
        whole.block.add_op(view)
        whole.slots_in = view.result
        whole.slots_used = 0
        self.turns.append((turns, turn))
        self._emit_turn(op, graph, inputs, turns, turn)
        self.turns.pop()
        whole.block.add_op(scf.YieldOp())
        whole.block, whole.views, whole.slots_in, self.path = around
        whole.slots_used = first + slot_count(op, whole.kernels) - bool(op.lasts)
        if op.lasts:
            self._copy_lasts(op, graph, turns)

    def _cleared(self, path: Path, turns: SSAValue, count: int) -> SSAValue:
        """Where the slots of the turns begin, once they are cleared."""
        whole = self.whole
        at = IndexBuilder(whole.block)
        begin, slots = self.slots[path], at.emit(arith.MuliOp(turns, at.constant(count)))
        if self.turns:
            number, *rest = (turn for _, turn in self.turns)
            for (extent, _), turn in zip(self.turns[1:], rest, strict=True):
                number = at.emit(arith.AddiOp(at.emit(arith.MuliOp(number, extent)), turn))
            bytes = at.emit(arith.MuliOp(slots, at.constant(SLOT_BYTES)))
            begin = at.emit(arith.AddiOp(begin, at.emit(arith.MuliOp(number, bytes))))

        def clear(body: Block, _: Sequence[SSAValue]) -> None:
            inside = IndexBuilder(body)
            words = inside.emit(arith.MuliOp(slots, inside.constant(_WORDS)))
            memory = memref.ViewOp.build(
                operands=[whole.arena, begin, [words]], result_types=[MemRefType(i64, [DYNAMIC])]
            )
            body.add_op(memory)
            zero = arith.ConstantOp(IntegerAttr(0, i64))
            body.add_op(zero)
            loop = scf.ForOp(inside.constant(0), words, inside.constant(1), [], Block(arg_types=[index]))
            loop.body.block.add_ops([memref.StoreOp.get(zero, memory, [loop.body.block.args[0]]), scf.YieldOp()])
            body.add_op(loop)

        share_out(whole.block, self._own_slot(), 0, whole.num_threads, None, clear)
        return begin

    def _own_slot(self) -> SSAValue:
        """The next slot of the graph."""
        whole = self.whole
        slots = SlotsOp(whole.slots_in or whole.arena, whole.slots_used * SLOT_BYTES, 1)
        slots.result.name_hint = "slots"
        whole.slots_used += 1
        whole.block.add_op(slots)
        return slots.result

    def _emit_turn(
        self, op: ScanOp, graph: GraphOp, inputs: Sequence[SSAValue], turns: SSAValue, turn: SSAValue
    ) -> None:
        whole, count = self.whole, len(op.rows)
        directions = op.directions.get_values()
        arguments = [*graph.inputs, *graph.outputs]
        if len(arguments) != len(inputs) + count + len(op.initial) + len(op.stores):
            raise Diagnostic.at(op, f"passes {op.callee} another number of buffers than it takes")
        given = list(inputs)
        for value, back in zip(op.rows, directions[:count], strict=True):
            row = _Row(self, op, graph, arguments[len(given)])
            given.append(row.at(row.start(value, back, turns, turn)))
        for number, value in enumerate(op.initial):
            row = _Row(self, op, graph, arguments[len(given)])
            given.append(row.at(row.carried(value, number, turns, turn)))
        for value, back in zip(op.stores, directions[count:], strict=True):
            row = _Row(self, op, graph, arguments[len(given)])
            given.append(row.at(row.start(value, back, turns, turn)))
        for argument, memory in zip(arguments, given, strict=True):
            type = _flat(argument)
            seen = whole.opened(memory, type)
            if seen.type != type:
                raise Diagnostic.at(op, f"passes {memory.type} to {op.callee}, which takes {type}")
            whole.views[argument, 0, type] = seen
        whole.emit_graph(graph)

    def _copy_lasts(self, op: ScanOp, graph: GraphOp, turns: SSAValue) -> None:
        """What is carried behind the last turn, or before the first where there is none."""
        pairs: list[tuple[SSAValue, SSAValue]] = []
        for number, (before, last) in enumerate(zip(op.initial, op.lasts, strict=True)):
            row = _Row(self, op, graph, graph.inputs[len(op.inputs) + len(op.rows) + number])
            source = row.at(row.carried(before, number, turns, turns))
            pairs.append((row.sized(source), row.sized(self.whole.memory(last))))

        def copy(body: Block, _: Sequence[SSAValue]) -> None:
            for source, target in pairs:
                made = memref.CopyOp(source, target)
                made.location = op.location
                body.add_op(made)

        share_out(self.whole.block, self._own_slot(), 0, self.whole.num_threads, None, copy)


class _Row:
    """The rows of a scan that one argument of a turn is given."""

    def __init__(self, scans: Scans, op: ScanOp, graph: GraphOp, argument: SSAValue):
        self.whole = scans.whole
        self.op = op
        self.type = _flat(argument)
        self.builder = IndexBuilder(self.whole.block)
        at = self.builder
        self.elements: SSAValue | None = None
        if DYNAMIC in self.type.get_shape():
            assert graph.shapes is not None, "an argument of open extents says what they are"
            at.define_symbols([(number, self.whole.values[symbol]) for number, symbol in enumerate(graph.symbols)])
            arguments = list[SSAValue]([*graph.inputs, *graph.outputs])
            self.elements = at.constant(1)
            for expr in graph.shapes.data[arguments.index(argument)].data.results:
                self.elements = at.emit(arith.MuliOp(self.elements, at.extent(expr)))
        self.width = byte_width(buffer_type(argument).element_type)
        self.name = argument.name_hint

    def start(self, value: SSAValue, back: int, turns: SSAValue, turn: SSAValue) -> SSAValue:
        """The byte of the arena where the row of a turn begins."""
        at, rows = self.builder, buffer_type(value).get_shape()[0]
        place = turn
        if rows != DYNAMIC and rows != self.op.known_turns:
            place = at.emit(arith.RemUIOp(place, at.constant(rows)))
        if back:
            last = at.emit(arith.SubiOp(turns if rows == DYNAMIC else at.constant(rows), at.constant(1)))
            place = at.emit(arith.SubiOp(last, place))
        if self.elements is None:
            size = at.constant(prod(self.type.get_shape()) * self.width)
        else:
            size = at.emit(arith.MuliOp(self.elements, at.constant(self.width)))
        return at.emit(arith.AddiOp(at.emit(arith.MuliOp(place, size)), self._beginning(value)))

    def carried(self, before: SSAValue, number: int, turns: SSAValue, turn: SSAValue) -> SSAValue:
        """The byte where what a turn carries on stands: what the turn before has stored, if there was one."""
        at = self.builder
        back = self.op.directions.get_values()[len(self.op.rows) + number]
        behind = at.emit(arith.SubiOp(turn, at.constant(1)))
        stored = self.start(self.op.stores[number], back, turns, behind)
        is_first = at.emit(arith.CmpiOp(turn, at.constant(0), "eq"))
        return at.emit(arith.SelectOp(is_first, self._beginning(before), stored))

    def _beginning(self, value: SSAValue) -> SSAValue:
        """The byte of the arena where a buffer begins."""
        at, alloc, start = self.builder, root_of(value).owner, start_in_root(value)
        pool = alloc.pool if isinstance(alloc, AllocOp) else None
        if not isinstance(alloc, AllocOp) or pool is None or alloc.offset is None:
            raise Diagnostic.at(self.op, "takes or gives rows of what is not in a pool, which have no memref")
        offset = alloc.offset.value.data
        if (dynamic := self.whole.starts.get(pool)) is None:
            return at.constant(self.whole.places[pool] + offset + start)
        begin, unit = dynamic
        begin = at.emit(arith.AddiOp(begin, at.emit(arith.MuliOp(unit, at.constant(offset)))))
        return at.emit(arith.AddiOp(begin, at.constant(start))) if start else begin

    def at(self, start: SSAValue) -> SSAValue:
        """The row that begins at a byte of the arena."""
        sizes = [] if self.elements is None else [self.elements]
        view = memref.ViewOp.build(operands=[self.whole.arena, start, sizes], result_types=[self.type])
        view.result.name_hint = self.name
        self.whole.block.add_op(view)
        return view.result

    def sized(self, memory: SSAValue) -> SSAValue:
        """Memory, with the elements of a row."""
        if self.elements is None:
            return memory
        cast = memref.ReinterpretCastOp.from_dynamic(memory, [0], [self.elements], [1], self.type)
        self.whole.block.add_op(cast)
        return cast.result


def _flat(argument: SSAValue) -> MemRefType[Attribute]:
    """The flat memref of a turn's argument."""
    type = buffer_type(argument)
    shape = type.get_shape()
    return flat_memref(signless(type.element_type), DYNAMIC if DYNAMIC in shape else prod(shape))
