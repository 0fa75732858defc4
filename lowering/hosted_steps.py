"""What a graph on several devices does, step by step: kernels where they run, copies between.

The graph is a planned `mem.graph`. For each device there is an arena: first the counters of the kernels that run there,
then the records of their checks, then the pools, then inputs and outputs that the graph wants there: they are the
caller's, on the host, and are copied before the first step or after the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp, NoneAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from ..dialects.mem.core import (
    AllocOp,
    BufferType,
    CallOp,
    ConstantOp,
    CopyOp,
    PoolOp,
    buffer_type,
    byte_size,
    root_of,
    start_in_root,
)
from ..dialects.mem.graph import GraphOp
from ..dialects.mem.in_place import check_overlaps
from ..dialects.relay.attributes import attribute_to_array
from ..dialects.relay.base import flatten_types
from ..dialects.relay.devices import VirtualDeviceAttr
from ..dialects.rt.checks import RecordType
from ..dialects.rt.core import SLOT_BYTES, SlotsType
from ..dialects.support.alignment import aligned
from ..dialects.support.checks import RECORD_BYTES
from ..dialects.support.diagnostics import Diagnostic
from ..transforms.relay.outline_segments import is_control
from .abi import Argument, DeviceMemory, Site, Step, TensorSpec
from .check_sites import called, read_sites
from .graph_to_memory.signature import UPDATES, memory_signature, read_signature
from .read_steps import layers_of, parameters_of
from .relay_to_tir.place_calls import runs

if TYPE_CHECKING:
    from .abi import NDArray, Parameter

HOST = NoneAttr()


@dataclass
class HostedProgram:
    """A graph that the host runs: what the artefact says of it."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    parameters: dict[str, tuple[Parameter, ...]]
    steps: tuple[Step, ...] = ()
    devices: tuple[DeviceMemory, ...] = ()
    constants: tuple[NDArray, ...] = ()
    checks: tuple[tuple[Site, ...], ...] = ()


def read_hosted(module: ModuleOp) -> HostedProgram | None:
    """The program of the hosted graph of a module of phase `loops`; nothing where it has none.

    Raises:
        Diagnostic: a kernel is missing, a buffer has no place, or the data of a constant was not loaded.
    """
    graphs = [op for op in module.ops if isinstance(op, GraphOp) and op.is_hosted]
    if not graphs:
        return None
    for op in module.ops:
        if is_control(op):
            raise Diagnostic.at(
                op, "branches, and parts of it are on several devices", hint="have all of it on the CPU, or no branches"
            )
    graph = next((g for g in graphs if g.sym_name.data == "main"), graphs[0])
    check_devices(graph)
    if graph.symbols:
        hint = "give the shapes of its inputs"
        raise Diagnostic.at(graph, "has extents that are known when it runs, and is on several devices", hint=hint)
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
    return _Reading(graph, kernels).run()


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

    def take(self, size: int) -> int:
        start, self.size = self.size, aligned(self.size + size)
        return start


@dataclass
class _Reading:
    """The reading of one graph."""

    graph: GraphOp
    kernels: dict[str, func.FuncOp]
    numbers: dict[Attribute, int] = field(default_factory=dict[Attribute, int])
    arenas: list[_Arena] = field(default_factory=list[_Arena])
    places: dict[SSAValue, Argument] = field(default_factory=dict[SSAValue, Argument])
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
        for op in ops:
            match op:
                case PoolOp():
                    number = self._device(buffer_type(op.result).memory_space)
                    self.places[op.result] = Argument("arena", self.arenas[number].take(op.size), op.size, number)
                case ConstantOp():
                    self.places[op.result] = self._constant(op)
                case _:
                    pass
        before = self._outside(self.graph.inputs, "input")
        after = self._outside(self.graph.outputs, "output")
        if any(UPDATES in op.attributes for op in accesses):  # what is not written stays as it is
            before += after
        cursors = [0 for _ in self.arenas]
        records = [arena.counters for arena in self.arenas]
        steps = [self._step(op, cursors, records) for op in accesses]
        inputs, outputs = read_signature(memory_signature(self.graph))
        parameters = {name: taken for name, f in self.kernels.items() if (taken := parameters_of(f)) is not None}
        return HostedProgram(
            inputs,
            outputs,
            parameters,
            (*(_copy(host, there) for host, there in before), *steps, *(_copy(there, host) for host, there in after)),
            tuple(
                DeviceMemory(arena.name, arena.size, aligned(arena.counters + arena.records)) for arena in self.arenas
            ),
            tuple(self.arrays),
            tuple(self.checks),
        )

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

    def _outside(self, values: Sequence[SSAValue], kind: str) -> list[tuple[Argument, Argument]]:
        """Give inputs or outputs their places; those that are elsewhere than the caller's are copied."""
        copied: list[tuple[Argument, Argument]] = []
        for number, value in enumerate(values):
            type = buffer_type(value)
            size, device = byte_size(type) or 0, self._device(type.memory_space)
            self.places[value] = host = Argument(kind, number, size)
            if device:
                there = self.places[value] = Argument("arena", self.arenas[device].take(size), size, device)
                copied.append((host, there))
        return copied

    def _step(self, op: CallOp | CopyOp, cursors: list[int], records: list[int]) -> Step:
        device = self._device(buffer_type(op.writes[0]).memory_space)
        buffers = [self._place(value) for value in (*op.reads, *op.writes)]
        kernel = self._kernel(op)
        if kernel is None:
            return Step("", layers_of(op.location), tuple(buffers), device)
        check_overlaps(op, kernel)
        taken = kernel.function_type.inputs.data
        if len([type for type in taken if isa(type, BufferType)]) != len(buffers):
            raise Diagnostic.at(op, f"passes {len(buffers)} buffers to {op.callee}, which takes others")
        given = iter(buffers)
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
                    arguments.append(Argument("threads"))
                case MemRefType():
                    arguments.append(next(given))
                case _:
                    raise Diagnostic.at(op, f"{op.callee} takes {type}, and nothing here is that")
        return Step(kernel.sym_name.data, layers_of(op.location), tuple(arguments), device)

    def _place(self, value: SSAValue) -> Argument:
        """Where a buffer lies."""
        root, start, size = root_of(value), start_in_root(value), byte_size(buffer_type(value)) or 0
        if isinstance(alloc := root.owner, AllocOp):
            if alloc.pool is None or alloc.offset is None:
                raise Diagnostic.at(alloc, "has no place", hint="run plan-memory before")
            pool = self.places[alloc.pool]
            return Argument("arena", pool.at + alloc.offset.value.data + start, size, pool.device)
        place = self.places[root]
        if place.kind == "arena":
            return Argument("arena", place.at + start, size, place.device)
        if start:
            raise Diagnostic.at(self.graph, "a part of what is the caller's is used, which has no place of its own")
        return Argument(place.kind, place.at, size, place.device)


def _copy(source: Argument, target: Argument) -> Step:
    return Step("", (), (source, target), target.device)
