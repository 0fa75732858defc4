"""What a graph on several devices does, step by step: kernels where they run, copies between.

The graph is a planned `mem.graph`. For each device there is an arena: first the counters of the kernels that run there,
then the records of their checks, then the pools, then inputs and outputs that the graph wants there: they are the
caller's, on the host, and are copied before the first step or after the last. Behind all these comes, in the same
order, what is as large as extents say that are known when the graph is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from xdsl.dialects import func
from xdsl.dialects.builtin import AffineMapAttr, IndexType, MemRefType, ModuleOp, NoneAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ..dialects.mem.core import (
    AllocOp,
    BufferType,
    CallOp,
    ConstantOp,
    CopyOp,
    ExtentOp,
    PoolOp,
    ReadExtentOp,
    SizeOp,
    buffer_type,
    byte_size,
    root_of,
    start_in_root,
    unit_bytes,
)
from ..dialects.mem.graph import GraphOp
from ..dialects.mem.in_place import check_extents, check_overlaps
from ..dialects.relay.attributes import attribute_to_array
from ..dialects.relay.base import flatten_types
from ..dialects.relay.devices import VirtualDeviceAttr
from ..dialects.rt.checks import RecordType
from ..dialects.rt.core import SLOT_BYTES, SlotsType
from ..dialects.support.aligned_arrays import aligned as aligned_array
from ..dialects.support.alignment import aligned
from ..dialects.support.checks import RECORD_BYTES
from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.hints import isa
from ..dialects.tir.symbols import affine_map, replaced
from ..transforms.relay.outline_segments import SEGMENT, is_control
from .abi import Argument, CompiledGraph, DeviceCode, DeviceMemory, HostedSegment, Platform, Site, Step, TensorSpec
from .affine_sizes import sizes_of
from .check_sites import called, read_sites
from .graph_to_memory.signature import UPDATES, memory_signature, read_signature
from .read_steps import layers_of, parameters_of
from .relay_to_tir.graph_symbols import EXTENTS
from .relay_to_tir.place_calls import runs
from .sizes import Size, product, read_extents

if TYPE_CHECKING:
    from .abi import NDArray, Parameter

HOST = NoneAttr()


@dataclass
class HostedProgram:
    """A graph that the host runs, or a part of a program that branches: what the artefact says of it."""

    is_segment: bool
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    parameters: dict[str, tuple[Parameter, ...]]
    steps: tuple[Step, ...] = ()
    devices: tuple[DeviceMemory, ...] = ()
    constants: tuple[NDArray, ...] = ()
    checks: tuple[tuple[Site, ...], ...] = ()
    symbols: tuple[str, ...] = ()
    extents: str = ""


def hosted_graphs(module: ModuleOp) -> list[GraphOp]:
    """What the host runs of a module: its graph, or the parts of a program that branches, in order."""
    graphs = [op for op in module.ops if isinstance(op, GraphOp) and op.is_hosted]
    if any(map(is_control, module.ops)):
        return [graph for graph in graphs if SEGMENT in graph.attributes]
    return [g for g in graphs if g.sym_name.data == "main"] or graphs[:1]


def read_hosted(module: ModuleOp) -> list[HostedProgram]:
    """The programs of the hosted graphs of a module of phase `loops`.

    Raises:
        Diagnostic: a kernel is missing, a buffer has no place, or the data of a constant was not loaded.
    """
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
    graphs = hosted_graphs(module)
    for graph in graphs:
        check_devices(graph)
    return [_Reading(graph, kernels).run() for graph in graphs]


def hosted_graph(
    program: HostedProgram, names: tuple[str, ...], platform: Platform, graphics: tuple[DeviceCode, ...] = ()
) -> CompiledGraph:
    """The artefact of a graph that the host runs, which has no entry, with kernels of these names, but for the code."""
    names = (*names, *(each.function for each in graphics))
    return CompiledGraph(
        (),
        tuple(map(aligned_array, program.constants)),
        program.inputs,
        program.outputs,
        program.devices[0].arena_bytes,
        names,
        platform,
        program.checks,
        parameters=tuple(program.parameters.get(name, ()) for name in names),
        steps=program.steps,
        symbols=program.symbols,
        pools=program.devices[0].pools,
        devices=program.devices,
        device_code=graphics,
        extents=program.extents,
    )


def hosted_segment(program: HostedProgram, constants: list[NDArray]) -> HostedSegment:
    """A part of a program that branches; its constants are put behind those that there are."""
    first = len(constants)
    constants += map(aligned_array, program.constants)

    def moved(argument: Argument) -> Argument:
        return replace(argument, at=argument.at + first) if argument.kind == "constant" else argument

    steps = tuple(replace(step, arguments=tuple(map(moved, step.arguments))) for step in program.steps)
    symbols, extents = program.symbols, program.extents
    return HostedSegment(program.inputs, program.outputs, program.checks, steps, program.devices, symbols, extents)


def check_devices(graph: GraphOp) -> None:
    """See that every buffer of a graph is on a device that programs run on.

    Raises:
        Diagnostic: one is not; placed at what makes it.
    """
    values: list[tuple[Operation, SSAValue]] = [(graph, value) for value in graph.body.block.args]
    values += [(op, result) for op in graph.body.block.ops for result in op.results]
    for op, value in values:
        space = buffer_type(value).memory_space if isinstance(value.type, MemRefType) else HOST
        if space != HOST and not (isinstance(space, VirtualDeviceAttr) and runs(space.data)):
            raise Diagnostic.at(
                op, f"something is in the memory space {space}, which is no device that programs run on"
            )


def erase_hosted(module: ModuleOp) -> None:
    """Take the graphs off a module that are not code."""
    for graph in [op for op in module.ops if isinstance(op, GraphOp) and op.is_hosted]:
        graph.detach()
        graph.erase(safe_erase=False)


@dataclass
class _Arena:
    """The memory of one device, while it is laid out."""

    name: str
    counters: int = 0
    records: int = 0
    size: int = 0
    pools: list[tuple[Size, ...]] = field(default_factory=list[tuple[Size, ...]])

    def take(self, size: int) -> int:
        start, self.size = self.size, aligned(self.size + size)
        return start

    def take_open(self, size: int, extents: Sequence[Size]) -> Size:
        """Room for so many bytes for each value of the extents, behind all that is known; where it begins."""
        start: Size = self.size
        for pool in self.pools:
            start = "+", start, product(pool)
        self.pools.append((aligned(size), *extents))
        return start


@dataclass
class _Reading:
    """The reading of one graph."""

    graph: GraphOp
    kernels: dict[str, func.FuncOp]
    numbers: dict[Attribute, int] = field(default_factory=dict[Attribute, int])
    arenas: list[_Arena] = field(default_factory=list[_Arena])
    places: dict[SSAValue, Argument] = field(default_factory=dict[SSAValue, Argument])
    starts: dict[SSAValue, tuple[Size, Size]] = field(default_factory=dict[SSAValue, tuple[Size, Size]])
    """Of a pool whose size depends on symbols, where it begins, and what it is a multiple of."""
    sizes: dict[SSAValue, Size] = field(default_factory=dict[SSAValue, Size])
    """Symbols, and the extents that follow from them."""
    constants: dict[tuple[Attribute, Attribute], int] = field(default_factory=dict[tuple[Attribute, Attribute], int])
    arrays: list[NDArray] = field(default_factory=list["NDArray"])
    checks: list[tuple[Site, ...]] = field(default_factory=list["tuple[Site, ...]"])

    def run(self) -> HostedProgram:
        self._device(HOST)
        ops = list(self.graph.body.block.ops)
        accesses = [op for op in ops if isinstance(op, CallOp | CopyOp)]
        for op in accesses:
            self._count(op)
        for arena in self.arenas:
            arena.size = aligned(arena.counters + arena.records)
        self.sizes.update((symbol, ("n", number)) for number, symbol in enumerate(self.graph.symbols))
        for op in ops:
            match op:
                case PoolOp() if not op.extents:
                    number = self._device(buffer_type(op.result).memory_space)
                    self.places[op.result] = Argument("arena", self.arenas[number].take(op.size), op.size, number)
                case ConstantOp():
                    self.places[op.result] = self._constant(op)
                case ExtentOp():
                    self.sizes[op.result] = self._extent(op)
                case SizeOp():
                    self.sizes[op.result] = op.kind.data, self.sizes[op.lhs], self.sizes[op.rhs]
                case ReadExtentOp():
                    self.sizes[op.result] = self._decided(op)
                case _:
                    pass
        inputs, outputs = read_signature(memory_signature(self.graph))
        before = self._outside(self.graph.inputs, "input", inputs, open=False)
        after = self._outside(self.graph.outputs, "output", outputs, open=False)
        for op in ops:
            if isinstance(op, PoolOp) and op.extents:
                arena = self.arenas[self._device(buffer_type(op.result).memory_space)]
                extents = [self.sizes[each] for each in op.extents]
                self.starts[op.result] = arena.take_open(op.size, extents), product(extents)
        before += self._outside(self.graph.inputs, "input", inputs, open=True)
        after += self._outside(self.graph.outputs, "output", outputs, open=True)
        if any(UPDATES in op.attributes for op in accesses):  # what is not written stays as it is
            before += after
        cursors = [0 for _ in self.arenas]
        records = [arena.counters for arena in self.arenas]
        steps: list[Step] = []
        for op in ops:
            if isinstance(op, CallOp | CopyOp):
                steps.append(self._step(op, cursors, records))
            elif isinstance(op, ReadExtentOp):  # the host has to know by now
                place = self.places[op.source]
                steps += [_copy(there, host) for host, there in after if there is place]
                after = [pair for pair in after if pair[1] is not place]
        parameters = {name: taken for name, f in self.kernels.items() if (taken := parameters_of(f)) is not None}
        return HostedProgram(
            SEGMENT in self.graph.attributes,
            inputs,
            outputs,
            parameters,
            (*(_copy(host, there) for host, there in before), *steps, *(_copy(there, host) for host, there in after)),
            tuple(
                DeviceMemory(arena.name, arena.size, aligned(arena.counters + arena.records), tuple(arena.pools))
                for arena in self.arenas
            ),
            tuple(self.arrays),
            tuple(self.checks),
            self._symbols(),
            said.data if isinstance(said := self.graph.attributes.get(EXTENTS), StringAttr) else "",
        )

    def _decided(self, op: ReadExtentOp) -> Size:
        """An extent that data decides: symbols of such stand behind those of the graph, in the order of the outputs,
        the last, that say what they are."""
        said = self.graph.attributes.get(EXTENTS)
        read = read_extents(said.data if isinstance(said, StringAttr) else "").read
        first = len(self.graph.outputs) - len(read)
        return "n", len(self.graph.symbols) + self.graph.outputs.index(op.source) - first

    def _symbols(self) -> tuple[str, ...]:
        names = self.graph.symbol_names
        given = [f"n{number}" for number in range(len(self.graph.symbols))]
        return tuple(given if names is None else (name.data for name in names))

    def _extent(self, op: ExtentOp) -> Size:
        """An extent over the graph's symbols, never below 0; or a number."""
        symbols: list[SSAValue] = list(self.graph.symbols)
        numbers = [AffineExpr.symbol(symbols.index(operand)) for operand in op.symbols]
        (expr,) = op.map.data.results
        (size,) = sizes_of(AffineMapAttr(affine_map(0, [replaced(expr, [], numbers)])))
        if not op.symbols:
            return size
        return max(0, size) if isinstance(size, int) else ("max", 0, size)

    def _device(self, space: Attribute) -> int:
        """The number of a device, by the memory space of its buffers."""
        if space not in self.numbers:
            name = f"{space.data.type}:{space.data.id or 0}" if isinstance(space, VirtualDeviceAttr) else "cpu"
            self.numbers[space] = len(self.arenas)
            self.arenas.append(_Arena(name))
        return self.numbers[space]

    def _count(self, op: CallOp | CopyOp) -> None:
        """Count what a kernel needs at the start of its device's arena."""
        arena = self.arenas[self._device(buffer_type(op.writes[0]).memory_space)]
        if (kernel := self._kernel(op)) is not None:
            for type in kernel.function_type.inputs:
                if isinstance(type, SlotsType):
                    arena.counters += type.count.data * SLOT_BYTES
                elif isinstance(type, RecordType):
                    arena.records += RECORD_BYTES

    def _kernel(self, op: CallOp | CopyOp) -> func.FuncOp | None:
        if op.callee is None:
            if len(op.reads) != 1:
                raise Diagnostic.at(op, "joins several buffers, and no kernel does that", hint="say one: `by @kernel`")
            return None
        if (kernel := self.kernels.get(op.callee.root_reference.data)) is None:
            raise Diagnostic.at(op, f"there is no function {op.callee} of loops")
        return kernel

    def _constant(self, op: ConstantOp) -> Argument:
        key = (op.value, op.type)
        if key not in self.constants:
            array = attribute_to_array(op.value, flatten_types([op.type])[0])
            if array is None:
                hint = "keep the .weights.npz file beside the .mlir file"
                raise Diagnostic.at(op, f"the data of {op.value} was not loaded", hint=hint)
            self.constants[key] = len(self.arrays)
            self.arrays.append(array)
        type = buffer_type(op.result)
        return Argument("constant", self.constants[key], byte_size(type) or 0, self._device(type.memory_space))

    def _outside(
        self, values: Sequence[SSAValue], kind: str, specs: Sequence[TensorSpec], *, open: bool
    ) -> list[tuple[Argument, Argument]]:
        """Give inputs or outputs whose extents are open, or are not, their places; those that are elsewhere than the
        caller's are copied."""
        copied: list[tuple[Argument, Argument]] = []
        for number, (value, spec) in enumerate(zip(values, specs, strict=True)):
            type = buffer_type(value)
            if (byte_size(type) is None) is not open:
                continue
            extents = [size for size in spec.extents or () if not isinstance(size, int)] if open else []
            unit, device = unit_bytes(type), self._device(type.memory_space)
            size = product([unit, *(("max", 0, extent) for extent in extents)])
            self.places[value] = host = _argument(kind, number, size, 0)
            if device:
                arena = self.arenas[device]
                start = arena.take_open(unit, extents) if open else arena.take(unit)
                there = self.places[value] = _argument("arena", start, size, device)
                copied.append((host, there))
        return copied

    def _step(self, op: CallOp | CopyOp, cursors: list[int], records: list[int]) -> Step:
        device = self._device(buffer_type(op.writes[0]).memory_space)
        buffers = [self._place(value) for value in (*op.reads, *op.writes)]
        kernel = self._kernel(op)
        if kernel is None:
            return Step("", layers_of(op.location), tuple(buffers), device)
        check_overlaps(op, kernel)
        check_extents(op, kernel)
        taken = kernel.function_type.inputs.data
        if len([type for type in taken if isa(type, BufferType)]) != len(buffers):
            raise Diagnostic.at(op, f"passes {len(buffers)} buffers to {op.callee}, which takes others")
        given, extents = iter(buffers), iter(op.extents)
        arguments: list[Argument] = []
        for type in taken:
            match type:
                case SlotsType():
                    size = type.count.data * SLOT_BYTES
                    arguments.append(Argument("slots", cursors[device], size, device))
                    cursors[device] += size
                case RecordType():
                    arguments.append(Argument("record", records[device], RECORD_BYTES, device))
                    records[device] += RECORD_BYTES
                    self.checks.append(read_sites(called(op, kernel)))
                case IndexType():
                    extent = next(extents, None)  # the last index of a kernel is the number of threads
                    size = None if extent is None else self.sizes[extent]
                    arguments.append(Argument("threads") if size is None else _argument("extent", size, 0, 0))
                case MemRefType():
                    arguments.append(next(given))
                case _:
                    raise Diagnostic.at(op, f"{op.callee} takes {type}, and nothing here is that")
        return Step(kernel.sym_name.data, layers_of(op.location), tuple(arguments), device)

    def _place(self, value: SSAValue) -> Argument:
        """Where a buffer lies."""
        root, start, size = root_of(value), start_in_root(value), self._bytes(value)
        if isinstance(alloc := root.owner, AllocOp):
            if alloc.pool is None or alloc.offset is None:
                raise Diagnostic.at(alloc, "has no place", hint="run plan-memory before")
            offset, device = alloc.offset.value.data, self._device(buffer_type(alloc.pool).memory_space)
            if (known := self.starts.get(alloc.pool)) is not None:
                begin, unit = known
                return _argument("arena", ("+", begin, ("*", unit, offset)), size, device)
            return _argument("arena", self.places[alloc.pool].at + offset + start, size, device)
        place = self.places[root]
        if start and (place.kind != "arena" or place.sizes is not None):
            raise Diagnostic.at(self.graph, "a part of what is the caller's is used, which has no place of its own")
        if place.sizes is not None:
            return _argument(place.kind, place.sizes[0], size, place.device)
        return _argument(place.kind, place.at + start, size, place.device)

    def _bytes(self, value: SSAValue) -> Size:
        """The bytes of a buffer. What is seen otherwise has as many, unless they are known."""
        if (known := byte_size(buffer_type(value))) is not None:
            return known
        root = root_of(value)
        if isinstance(alloc := root.owner, AllocOp):
            return product([unit_bytes(buffer_type(root)), *(self.sizes[extent] for extent in alloc.extents)])
        held = self.places[root].sizes
        assert held is not None, "what is the caller's has the extents that its signature says"
        return held[1]


def _argument(kind: str, at: Size, size: Size, device: int) -> Argument:
    if isinstance(at, int) and isinstance(size, int):
        return Argument(kind, at, size, device)
    return Argument(kind, device=device, sizes=(at, size))


def _copy(source: Argument, target: Argument) -> Step:
    return Step("", (), (source, target), target.device)
