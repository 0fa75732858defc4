"""Turn a graph over buffers that have places into a sequence of calls on one arena.

Before -> after:

```mlir
mem.graph @main(%x: memref<8xf32>) writes(%out: memref<2x4xf32>) {
  %pool = mem.pool : memref<64xi8>
  %w = mem.constant #relay.resource<"w"> as tensor<8xf32> : memref<8xf32>
  %0 = mem.alloc at %pool[0] : memref<8xf32> in memref<64xi8>
  mem.call @k(%x, %w) writes(%0) : ...
  %1 = mem.alias %out : memref<2x4xf32> to memref<8xf32>
  mem.call @l(%0) writes(%1) : ...

memref.global "private" constant @constant_0 : memref<8xf32>
func.func @main(%x: memref<8xf32>, %out: memref<8xf32>, %arena: memref<320xi8>, %num_threads: index) {
  %w = memref.get_global @constant_0
  %0 = memref.view %arena[%c256][]
  func.call @k(%x, %w, %0, %slots, %num_threads)
  func.call @l(%0, %out, %slots_1, %num_threads)
```

Memrefs become flat. All threads run the whole function and share each kernel's loops (`rt.share`). The counters for
that stand at the arena's start (`weft.counter_bytes`), and are zero when an inference begins; behind them, and zero as
well, a record for each call of a kernel that makes checks (`weft.checks` says what those are); then come the pools. A
copy that no kernel makes is made by one thread. The function carries what a caller must know (`weft.inputs`,
`weft.outputs`: names and tensor types), so that this text alone can be run.

Functions that branch and call (`control`) stay; each of their constants gets a function that says where it is.

Does not: parts of what is not in a pool; graphs that are on other devices as well, which stay as they are: the host
runs them step by step (`lowering/hosted_steps.py`). Counterpart of the code generator of TVM's AOT executor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i8,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ...dialects.mem.core import (
    DYNAMIC,
    AllocOp,
    BufferType,
    CallOp,
    ConstantOp,
    CopyOp,
    ExtentOp,
    PartOp,
    PoolOp,
    ReadExtentOp,
    ScanOp,
    SizeOp,
    buffer_type,
    root_of,
    start_in_root,
)
from ...dialects.mem.graph import GraphOp
from ...dialects.mem.in_place import check_extents, check_overlaps
from ...dialects.relay.core import ConstantOp as RelayConstantOp
from ...dialects.rt.checks import RecordOp, RecordType
from ...dialects.rt.core import SLOT_BYTES, SlotsOp, SlotsType
from ...dialects.support.alignment import aligned
from ...dialects.support.checks import RECORD_BYTES
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.interned import flat_memref, index
from ...dialects.support.shaped import is_memref
from ...dialects.tir.affine import linear
from ...dialects.tir.buffers import memref_of
from ...dialects.tir.symbols import affine_map
from ...transforms.infra import ModulePass
from ...transforms.infra.walk import walk
from ...transforms.relay.outline_segments import SEGMENT, is_control
from ..abi import COUNTER_BYTES, GRAPH_SYMBOLS, POOLS, SEGMENT_MARK, SYMBOL_EXTENTS
from ..check_sites import CHECKS, RECORDS, called
from ..graph_to_memory.bufferize_graph import TURN
from ..graph_to_memory.signature import memory_signature, numbered
from ..hosted_steps import check_devices
from ..relay_to_tir.graph_symbols import EXTENTS
from ..relay_to_tir.te_expressions import signless
from ..threads.share_out import share_out
from ..tir_to_loops.index_values import IndexBuilder
from .constants import Constants, address_function
from .frames import frames_of
from .scans import Scans
from .steps import Callees, Layout, kernel_calls, kernel_of, layouts_of, slot_count, steps_of, takes_record, with_turns


@dataclass(frozen=True)
class MaterializeMemoryPass(ModulePass):
    """`mem.graph` -> `func.func` over one arena."""

    name = "materialize-memory"
    required: ClassVar[tuple[str, ...]] = ("convert-tir-to-loops", "plan-memory")

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        left = [op for op in module.ops if not (is_control(op) or (isinstance(op, GraphOp) and op.is_hosted))]
        return not any(op.dialect_name() in ("mem", "relay", "tir") for op in left)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for graph in [g for g in op.ops if isinstance(g, GraphOp)]:
            check_devices(graph)
        kernels = Callees({f.sym_name.data: f for f in op.ops if isinstance(f, func.FuncOp)})
        constants = Constants(op)
        own = [g for g in op.ops if isinstance(g, GraphOp) and not g.is_hosted]
        kernels.turns = {g.sym_name.data: g for g in own if TURN in g.attributes}
        graphs = [g for g in own if TURN not in g.attributes]
        layouts = layouts_of(graphs, kernels)
        for graph, layout in zip(graphs, layouts, strict=True):
            lowered = Materialization(graph, kernels, constants, layout).run()
            op.body.block.insert_op_before(lowered, graph)
        for graph in own:
            graph.detach()
            graph.erase(safe_erase=False)
        for constant in [c for f in op.ops if is_control(f) for c in walk(f) if isinstance(c, RelayConstantOp)]:
            op.body.block.add_ops(address_function(constant, constants))


def flat_type(type: BufferType) -> BufferType:
    """The flat memref that a kernel takes for a buffer."""
    shape = type.get_shape()
    return flat_memref(signless(type.element_type), DYNAMIC if DYNAMIC in shape else prod(shape))


class Materialization:
    """The lowering of one graph."""

    def __init__(self, graph: GraphOp, kernels: Callees, constants: Constants, layout: Layout):
        self.graph = graph
        self.current = graph
        """The graph that is emitted: this one, or one that it scans."""
        self.kernels = kernels
        self.constants = constants
        self.layout = layout
        self.slots_used = 0
        self.slots_in: SSAValue | None = None
        """The memory in which slots stand; the arena where nothing is said."""
        self.places: dict[SSAValue, int] = {}
        self.starts: dict[SSAValue, tuple[SSAValue, SSAValue]] = {}
        """Of a pool whose size depends on symbols, where it begins, and what it is a multiple of."""
        self.views: dict[tuple[SSAValue, int, Attribute], SSAValue] = {}
        self.frames = frames_of(graph, kernels)
        self.scans = Scans(self)

    def run(self) -> func.FuncOp:
        self.next_record = records_at = self.layout.records
        checks = [called(op, kernel) for op, kernel in kernel_calls(self.graph, self.kernels) if takes_record(kernel)]
        counters = self.layout.end
        size = self._lay_out_pools(counters)
        arguments = [*self.graph.inputs, *self.graph.outputs]
        types: list[Attribute] = [flat_type(buffer_type(argument)) for argument in arguments]
        symbols = self.graph.symbols
        lowered = func.FuncOp(
            self.graph.sym_name.data,
            FunctionType.from_lists([*types, *(index for _ in symbols), MemRefType(i8, [size]), index], []),
        )
        lowered.location = self.graph.location
        lowered.attributes |= memory_signature(self.graph)
        lowered.attributes[COUNTER_BYTES] = IntegerAttr(counters, i64)
        if SEGMENT in self.graph.attributes:
            lowered.attributes[SEGMENT_MARK] = UnitAttr()
        if checks:
            lowered.attributes |= {CHECKS: ArrayAttr(checks), RECORDS: IntegerAttr(records_at, i64)}
        self.block = lowered.body.block
        self.arena: SSAValue = self.block.args[-2]
        self.num_threads: SSAValue = self.block.args[-1]
        names = [*numbered("in", len(self.graph.inputs)), *numbered("out", len(self.graph.outputs))]
        names += [symbol.name_hint or "n" for symbol in symbols]
        for argument, name in zip(self.block.args, [*names, "arena", "num_threads"], strict=True):
            argument.name_hint = name
        self.values: dict[SSAValue, SSAValue] = dict(zip(symbols, self.block.args[len(types) :], strict=False))
        pools = self._begin_dynamic(size)
        if symbols:
            names_given = self.graph.symbol_names
            given = [StringAttr(f"n{number}") for number in range(len(symbols))]
            lowered.attributes[GRAPH_SYMBOLS] = ArrayAttr(given) if names_given is None else names_given
            lowered.attributes[POOLS] = ArrayAttr(pools)
            if (extents := self.graph.attributes.get(EXTENTS)) is not None:
                lowered.attributes[SYMBOL_EXTENTS] = extents
        for argument, given in zip(arguments, self.block.args, strict=False):
            self.views[argument, 0, given.type] = given
        self.emit_graph(self.graph)
        self.block.add_op(func.ReturnOp())
        return lowered

    def emit_graph(self, graph: GraphOp) -> None:
        around, self.current = self.current, graph
        steps = [step for step in steps_of(graph) if not isinstance(step, ScanOp)]
        first: dict[Operation, list[CallOp | CopyOp]] = {step[0]: step for step in steps}
        for op in graph.body.block.ops:
            if isinstance(op, ReadExtentOp | SizeOp):
                self.values[op.result] = self._number(op)
            elif isinstance(op, ExtentOp) and not op.symbols:  # a number that kernels are passed, or a part of a size
                (known,) = op.map.data.results
                self.values[op.result] = IndexBuilder(self.block).index_value(linear(known))
            elif isinstance(op, ScanOp):
                self.scans.emit(op)
            elif (step := first.get(op)) is not None:
                self._emit(step)
        self.current = around

    def _lay_out_pools(self, start: int) -> int:
        """Note where each pool stands in the arena, from `start` on; where the last one ends."""
        for graph in with_turns(self.graph, self.kernels):
            for op in graph.body.block.ops:
                if isinstance(op, PoolOp) and not op.extents:
                    self.places[op.result] = start
                    start = aligned(start + op.size)
        return start

    def _begin_dynamic(self, size: int) -> list[AffineMapAttr]:
        """Compute the extents that follow from symbols, and where the pools begin whose sizes do: one behind the other
        from `size` on. Those sizes, as the factors that they are products of."""
        at = IndexBuilder(self.block)
        at.define_symbols(list(enumerate(self.values.values())))
        start: SSAValue | None = None
        sizes: list[AffineMapAttr] = []

        def begins(bytes: int, factors: Sequence[AffineExpr]) -> tuple[SSAValue, SSAValue]:
            """Where memory begins that is so large, and what its size is a multiple of."""
            nonlocal start
            begin, unit = at.constant(size) if start is None else start, at.constant(1)
            for number, factor in enumerate(factors):
                value = at.extent(factor)
                unit = at.emit(arith.MuliOp(unit, value)) if number else value
            start = at.emit(arith.AddiOp(begin, at.emit(arith.MuliOp(unit, at.constant(bytes)))))
            sizes.append(AffineMapAttr(affine_map(0, [AffineExpr.constant(bytes), *factors])))
            return begin, unit

        for path, frame in self.frames.items():
            values = {value: at.extent(expr) for value, expr in frame.extents.items()}
            starts: dict[SSAValue, tuple[SSAValue, SSAValue]] = {}
            for op in frame.pools:
                starts[op.result] = begins(op.size, [frame.extents[each] for each in op.extents])
            self.scans.enter(path, values, starts)
            if frame.slots is not None:
                bytes, factors = frame.slots
                self.scans.slots[path] = begins(bytes, factors)[0]
        self.scans.leave()
        return sizes

    def _number(self, op: ReadExtentOp | SizeOp) -> SSAValue:
        """An extent that data has decided, or what follows from such."""
        at = IndexBuilder(self.block)
        if isinstance(op, SizeOp):
            lhs, rhs = self.values[op.lhs], self.values[op.rhs]
            if op.kind.data != "%":
                return at.emit(_KINDS[op.kind.data](lhs, rhs))
            whole = at.emit(arith.MuliOp(at.emit(arith.FloorDivSIOp(lhs, rhs)), rhs))
            return at.emit(arith.SubiOp(lhs, whole))  # which is not below 0, where `lhs` is
        read = at.emit(memref.LoadOp.get(self.memory(op.source), [at.constant(0)]))
        number = at.emit(arith.IndexCastOp(read, index))
        return at.emit(arith.MaxSIOp(at.emit(arith.MinSIOp(number, self.values[op.most])), at.constant(0)))

    def _emit(self, step: list[CallOp | CopyOp]) -> None:
        kernel, count = kernel_of(step[0], self.kernels), slot_count(step, self.kernels)
        buffers = [[self.memory(value) for value in (*op.reads, *op.writes)] for op in step]
        record = None if kernel is None or not takes_record(kernel) else self._record()
        slots = SlotsOp(self.slots_in or self.arena, self.slots_used * SLOT_BYTES, count)
        slots.result.name_hint = "slots"
        self.slots_used += count
        self.block.add_op(slots)
        if kernel is None:
            copies = [self._copy(op, *memory) for op, memory in zip(step, buffers, strict=True)]
            share_out(self.block, slots.result, 0, self.num_threads, None, lambda body, _: body.add_ops(copies))
        else:
            call = self._call(step[0], kernel, buffers[0], record, slots.result)
            call.location = step[0].location
            self.block.add_op(call)

    def _copy(self, op: CopyOp | CallOp, source: SSAValue, target: SSAValue) -> memref.CopyOp:
        """A copy that no kernel makes; where extents depend on symbols, of as many elements as they say."""
        type = source.type
        if is_memref(type) and DYNAMIC in type.get_shape():
            count = self._count(op.writes[0])
            sized = [memref.ReinterpretCastOp.from_dynamic(side, [0], [count], [1], type) for side in (source, target)]
            self.block.add_ops(sized)
            source, target = (each.result for each in sized)
        copy = memref.CopyOp(source, target)
        copy.location = op.location
        return copy

    def _count(self, buffer: SSAValue) -> SSAValue:
        """How many elements a buffer has whose extents depend on symbols."""
        at = IndexBuilder(self.block)
        at.define_symbols([(number, self.values[symbol]) for number, symbol in enumerate(self.current.symbols)])
        if isinstance(buffer.owner, AllocOp):
            extents = [self.values[extent] for extent in buffer.owner.extents]
        else:
            assert self.current.shapes is not None, "an argument of open extents says what they are"
            shape = self.current.shapes.data[
                list[SSAValue]([*self.current.inputs, *self.current.outputs]).index(buffer)
            ].data
            extents = [at.extent(expr) for expr in shape.results if not isinstance(expr, AffineConstantExpr)]
        total = at.constant(_elements(buffer_type(buffer)))
        for extent in extents:
            total = at.emit(arith.MuliOp(total, extent))
        return total

    def _call(
        self,
        op: CallOp | CopyOp,
        kernel: func.FuncOp,
        buffers: Sequence[SSAValue],
        record: SSAValue | None,
        slots: SSAValue,
    ) -> func.CallOp:
        taken = kernel.function_type.inputs.data
        wanted = [type for type in taken if is_memref(type)]
        buffers = [*map(self.opened, buffers, wanted), *buffers[len(wanted) :]]
        given = [buffer.type for buffer in buffers]
        check_overlaps(op, kernel)
        check_extents(op, kernel)
        if given != wanted:
            raise Diagnostic.at(op, f"passes ({_listed(given)}) to {op.callee}, which takes ({_listed(wanted)})")
        remaining = iter(buffers)
        extents = iter(op.extents)
        arguments: list[SSAValue] = []
        for type in taken:
            match type:
                case MemRefType():
                    arguments.append(next(remaining))
                case RecordType() if record is not None:
                    arguments.append(record)
                case SlotsType():
                    arguments.append(slots)
                case IndexType() if (extent := next(extents, None)) is not None:
                    arguments.append(self.values[extent])
                case IndexType():
                    arguments.append(self.num_threads)
                case _:
                    raise Diagnostic.at(op, f"{op.callee} takes {type}, and nothing here is that")
        return func.CallOp(SymbolRefAttr(kernel.sym_name.data), arguments, [])

    def opened(self, buffer: SSAValue, wanted: MemRefType[Attribute]) -> SSAValue:
        """A buffer as one takes it that was made for any extent, where the graph knows the extent by now."""
        given = memref_of(buffer)
        if given == wanted or given.element_type != wanted.element_type or wanted.has_static_shape():
            return buffer
        if (known := self.views.get((buffer, 0, wanted))) is None:
            cast = memref.CastOp.get(buffer, wanted)
            self.block.add_op(cast)
            known = self.views[buffer, 0, wanted] = cast.dest
            known.name_hint = buffer.name_hint
        return known

    def _record(self) -> SSAValue:
        """The next record for what checks find; they stand behind the slots."""
        record = RecordOp(self.arena, self.next_record)
        record.result.name_hint = "record"
        self.next_record += RECORD_BYTES
        self.block.add_op(record)
        return record.result

    def memory(self, value: SSAValue) -> SSAValue:
        """The memref that a buffer is."""
        root, start, type = root_of(value), start_in_root(value), flat_type(buffer_type(value))
        if (known := self.views.get((root, start, type))) is not None:
            return known
        match root.owner:
            case AllocOp(pool=pool, offset=offset) if pool is not None and pool in self.starts and offset is not None:
                begin, unit = self.starts[pool]
                at = IndexBuilder(self.block)
                shift = begin
                if behind := offset.value.data:
                    shift = at.emit(arith.AddiOp(begin, at.emit(arith.MuliOp(unit, at.constant(behind)))))
                count = at.emit(arith.MuliOp(unit, at.constant(_elements(buffer_type(root)))))
                view = memref.ViewOp.build(operands=[self.arena, shift, [count]], result_types=[type])
                self.block.add_op(view)
                made = view.result
            case AllocOp(pool=pool, offset=offset) if pool is not None and pool in self.places and offset is not None:
                shift = arith.ConstantOp(IntegerAttr(self.places[pool] + offset.value.data + start, index))
                view = memref.ViewOp.build(operands=[self.arena, shift, []], result_types=[type])
                self.block.add_ops([shift, view])
                made = view.result
            case ConstantOp() if not start and flat_type(buffer_type(root)) == type:
                held = self.constants.reference(root.owner)
                get = memref.GetGlobalOp(held.sym_name.data, held.type)
                self.block.add_op(get)
                made = get.memref
            case AllocOp():
                raise Diagnostic.at(root.owner, "has no place", hint="run plan-memory before")
            case _ if (
                value is not root and not start and flat_type(buffer_type(root)).element_type == type.element_type
            ):
                # the whole is seen as one of as many elements, which one of the two does not say
                self.block.add_op(cast := memref.CastOp.get(self.memory(root), type))
                made = cast.dest
            case _:
                part = next(p for p in _owners(value) if isinstance(p, PartOp))
                raise Diagnostic.at(part, "is a part of what is not in a pool, which has no memref")
        made.name_hint = value.name_hint
        self.views[root, start, type] = made
        return made


def _elements(type: BufferType) -> int:
    """The elements of a buffer for each value of the extents that are open."""
    return prod(extent for extent in type.get_shape() if extent != DYNAMIC)


_KINDS: dict[str, Callable[[SSAValue, SSAValue], Operation]] = {
    "+": arith.AddiOp, "*": arith.MuliOp, "//": arith.FloorDivSIOp, "min": arith.MinSIOp, "max": arith.MaxSIOp,
}  # fmt: skip
"""What computes sizes of extents."""


def _owners(value: SSAValue) -> list[Operation]:
    """What makes `value` out of its root, from the last to the first."""
    owners: list[Operation] = []
    while isinstance(owner := value.owner, Operation) and owner.operands:
        owners.append(owner)
        value = owner.operands[0]
    return owners


def _listed(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types))
