"""The nodes of a graph in TVM's JSON, on memory that is allocated for them once, on one device or several."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter_ns
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..dialects.support.checks import CHECK_FIELD, EXTENT_FIELD, INDEX_FIELD, RECORD_BYTES, CheckError
from ..dialects.support.diagnostics import Diagnostic, did_you_mean
from ..dialects.support.element_types import MLIR_NAMES
from ..lowering.abi import (
    ALIGNMENT,
    BUFFER,
    NUMBERS,
    OPEN_BUFFER,
    TEAM,
    THREADS,
    CompiledGraph,
    Parameter,
    steps_within,
)
from ..lowering.graph_json import BEGINS, COPY, JOINS, LAYERS, NOP, GraphJson, Node, entries_of
from .devices import HOST, Device, copy
from .graph_tensors import Storage, Tensor
from .jit import LoadedObjects
from .kernels import Kernels
from .memory import address, aligned_bytes
from .profiling import COPY as STEP_COPY
from .profiling import Profile, StepTimes
from .tensors import InputError

if TYPE_CHECKING:
    from .module import Function


class Nodes:
    """The nodes of a graph that run, with their arguments in place."""

    def __init__(
        self,
        library: CompiledGraph,
        code: LoadedObjects,
        graph: GraphJson,
        entries: list[Tensor],
        threads: ctypes.c_uint64,
        functions: Mapping[str, Function] = MappingProxyType({}),
    ):
        """`functions` are called by nodes besides the kernels of the library, by their names."""
        self._graph, self._library, self._entries, self._threads = graph, library, entries, threads
        known = dict(zip(library.kernels, library.parameters, strict=True))
        self._functions = {
            n: functions[each.kernel] for n, each in _running(graph) if each.kernel and each.kernel in functions
        }
        """Node -> the function that it calls."""
        self._bound: dict[int, Callable[[], None]] = {}
        kernels = {n: "" if n in self._functions else _kernel(node, n, known) for n, node in _running(graph)}
        used = {name: known[name] for name in kernels.values() if name}
        self._graphics = {each.function: each for each in library.device_code}
        self._kernels = Kernels(code, {name: used[name] for name in used if name not in self._graphics})
        self._counts = {
            name: [place for place, parameter in enumerate(taken) if parameter.kind in (THREADS, TEAM)]
            for name, taken in used.items()
        }
        self._parameters = used
        self.calls: dict[int, tuple[str, ctypes.Array[ctypes.c_uint64], int]] = {}
        self._far: dict[int, Device] = {}
        """Node -> its device, of those that run elsewhere than on the host, or copy from there or to there."""
        self._scratch: dict[Device, Storage] = {}
        self._records: dict[int, int] = {}
        """Node -> where its kernel tells of a check that has failed."""
        self._uses: dict[int, list[tuple[ctypes.Array[ctypes.c_uint64], int]]] = {}
        """Entry -> the tables that it stands in, and where."""
        spans = list(entries_of(graph))
        for number, node in _running(graph):
            taken = [graph.entry(ref) for ref in node.inputs]
            given = [*taken, *range(*spans[number])]
            tensors = [entries[each] for each in given]
            kernel = kernels[number]
            if device := self._device(number, node, kernel, tensors):
                self._far[number] = device
            if number in self._functions:
                self._bind(number, node, tensors)
                table, counters, places = (ctypes.c_uint64 * 0)(), 0, list[int]()
                self.calls[number] = (node.kernel or "", table, counters)
                continue
            if kernel:
                scratch = self._scratch_on(tensors[-1].device if tensors else HOST)
                table, counters, places = self._table(number, node, used[kernel], tensors, scratch)
            else:
                _check_builtin(number, node, tensors[: len(taken)], tensors[len(taken) :])
                values = [tensor.address for tensor in tensors]
                table, counters, places = (ctypes.c_uint64 * len(values))(*values), 0, list(range(len(values)))
            self.calls[number] = (kernel, table, counters)
            for entry, place in zip(given, places, strict=True):
                self._uses.setdefault(entry, []).append((table, place))

    def _device(self, number: int, node: Node, kernel: str, tensors: Sequence[Tensor]) -> Device | None:
        """Where a node runs, or copies to; nothing where all is on the host."""
        used = {tensor.device for tensor in tensors}
        if kernel and len(used) > 1:
            names = ", ".join(sorted(device.name for device in used))
            raise Diagnostic(f"node {number} ('{node.name}') has tensors on several devices: {names}")
        if kernel in self._graphics and not all(device.name.startswith("cuda") for device in used):
            raise Diagnostic(f"node {number} ('{node.name}') calls {kernel}, which a GPU runs, on the processor")
        return None if used <= {HOST} else tensors[-1].device

    def _bind(self, number: int, node: Node, tensors: Sequence[Tensor]) -> None:
        """Have a node call its function on tensors."""
        arrays = [tensor.array for tensor in tensors]
        if any(array is None for array in arrays):
            what = f"node {number} ('{node.name}') calls the function {node.kernel}"
            raise Diagnostic(f"{what}, which the processor runs, on what is elsewhere")
        try:
            self._bound[number] = self._functions[number].bind(*arrays)
        except InputError as error:
            raise Diagnostic(f"node {number} ('{node.name}'): {error.message}", hint=error.hint) from None

    def _scratch_on(self, device: Device) -> Storage:
        """Memory on a device for what kernels take besides tensors."""
        if device not in self._scratch:
            room = [sum(_room(parameter) for parameter in taken) for taken in self._parameters.values()]
            self._scratch[device] = Storage(device, max(room, default=0))
        return self._scratch[device]

    def seen_through(self, entry: int) -> set[int]:
        """The entries that are in one place: `entry`, and what `__nop`s see of it otherwise, or see as it."""
        found, pending = {entry}, [entry]
        pairs = [
            (self._graph.entry(node.inputs[0]), self._graph.row_ptr[number])
            for number, node in _running(self._graph)
            if node.kernel == NOP
        ]
        while pending:
            one = pending.pop()
            for pair in pairs:
                if one in pair:
                    pending += [other for other in pair if other not in found]
                    found.update(pair)
        return found

    def move(self, entry: int, held: Tensor) -> None:
        """Have an entry, and what is in one place with it, where another tensor lies, which is as large."""
        for each in self.seen_through(entry):
            self._entries[each] = self._entries[each].at(held)
            for table, place in self._uses.get(each, ()):
                table[place] = held.address
        spans = list(entries_of(self._graph)) if self._functions else []
        for number in self._functions:
            node = self._graph.nodes[number]
            given = [*map(self._graph.entry, node.inputs), *range(*spans[number])]
            self._bind(number, node, [self._entries[each] for each in given])

    def _table(
        self, number: int, node: Node, parameters: Sequence[Parameter], tensors: Sequence[Tensor], scratch: Storage
    ) -> tuple[ctypes.Array[ctypes.c_uint64], int, list[int]]:
        """What a node's kernel is given; how many bytes of the scratch are to be zero before, which stand first; and
        where the tensors are in it."""
        buffers = [parameter for parameter in parameters if parameter.kind == BUFFER]
        if len(tensors) > len(buffers):
            raise Diagnostic(
                f"node {number} ('{node.name}') has {len(tensors)} inputs and outputs, and {node.kernel} {len(buffers)}"
            )
        for place, (tensor, taken) in enumerate(zip(tensors, buffers, strict=False)):
            if tensor.nbytes != taken.bytes:
                raise Diagnostic(
                    f"tensor {place} of node {number} ('{node.name}') has {tensor.nbytes} bytes, and {node.kernel} "
                    f"takes {taken.bytes}"
                )
            if taken.element not in ("", MLIR_NAMES[tensor.dtype.name].removeprefix("u")):
                what = f"tensor {place} of node {number} ('{node.name}')"
                raise Diagnostic(f"{what} is of {tensor.dtype.name}, and {node.kernel} takes {taken.element}")
            if taken.shape not in (None, tensor.shape):
                what = f"tensor {place} of node {number} ('{node.name}')"
                raise Diagnostic(f"{what} is {list(tensor.shape)}, and {node.kernel} takes {list(taken.shape or ())}")
        counters = sum(_room(parameter) for parameter in parameters if parameter.kind in ("slots", "record"))
        zero, free = scratch.address, scratch.address + counters
        given = iter(tensors)
        values: list[int] = []
        places: list[int] = []
        for parameter in parameters:
            match parameter.kind:
                case "threads" | "team":
                    values.append(0)
                case "slots" | "record":
                    if parameter.kind == "record":
                        self._records[number] = zero
                    values.append(zero)
                    zero += _room(parameter)
                case _ if (tensor := next(given, None)) is not None:
                    places.append(len(values))
                    values.append(tensor.address)
                case _:
                    values.append(free)
                    free += _room(parameter)
        return (ctypes.c_uint64 * len(values))(*values), counters, places

    def run(self, after: Callable[[int], None] | None = None) -> None:
        """Run all nodes, in order."""
        for number in self.calls:
            self.execute(number)
            if after is not None:
                after(number)
        for device in self._scratch:
            device.synchronize()

    def execute(self, number: int) -> None:
        """Run one node."""
        kernel, table, counters = self.calls[number]
        node = self._graph.nodes[number]
        if number in self._bound:
            self._bound[number]()
        elif number in self._far:
            self._execute_far(number, self._far[number])
        elif kernel:
            ctypes.memset(self._scratch[HOST].address, 0, counters)
            threads = self._threads.value
            for place in self._counts[kernel]:
                table[place] = threads
            self._kernels.call(kernel, ctypes.addressof(table), threads)
            if (record := self._records.get(number)) is not None:
                self._check(kernel, record, HOST)
        elif node.kernel != NOP:
            *sources, target = table
            if BEGINS in node.attributes:
                size = self._entries[self._graph.row_ptr[number]].nbytes
                ctypes.memmove(target, sources[0] + int(node.attributes[BEGINS]), size)
                return
            for ref, source in zip(node.inputs, sources, strict=True):
                size = self._entries[self._graph.entry(ref)].nbytes
                ctypes.memmove(target, source, size)
                target += size

    def _execute_far(self, number: int, device: Device) -> None:
        """Run one node that runs elsewhere than on the host, or copies from there or to there."""
        kernel, table, counters = self.calls[number]
        node = self._graph.nodes[number]
        if kernel:
            if counters:
                device.clear(self._scratch[device].address, counters)
            threads = self._threads.value
            for place in self._counts[kernel]:
                table[place] = threads
            given = [
                (value, None if parameter.kind in NUMBERS else parameter.bytes)
                for value, parameter in zip(table, self._parameters[kernel], strict=True)
            ]
            if (code := self._graphics.get(kernel)) is not None:
                device.launch_code(code, given)
            else:
                run = partial(self._kernels.call, kernel, ctypes.addressof(table), threads)
                device.launch(run, [(place, size) for place, size in given if size is not None])
            if (record := self._records.get(number)) is not None:
                self._check(kernel, record, device)
        elif node.kernel != NOP:
            target = self._entries[self._graph.row_ptr[number]]
            begin, at = int(node.attributes.get(BEGINS, 0)), target.address
            for ref in node.inputs:
                source = self._entries[self._graph.entry(ref)]
                size = target.nbytes if BEGINS in node.attributes else source.nbytes
                copy(source.device, source.address + begin, device, at, size)
                at += size

    def _check(self, kernel: str, record: int, device: Device) -> None:
        """Tell of a check that has failed. What the library's own graph says of the kernel's checks is said here, but
        for the place, which may be another layer's."""
        if device is HOST and not ctypes.c_int64.from_address(record + CHECK_FIELD).value:
            return
        told = aligned_bytes(RECORD_BYTES)
        device.read(record, address(told), RECORD_BYTES)
        check, index, extent = (int(told[at : at + 8].view("i8")[0]) for at in (CHECK_FIELD, INDEX_FIELD, EXTENT_FIELD))
        if not check:
            return
        count = 0
        for step in steps_within(self._library.steps):
            for argument in step.arguments:
                if argument.kind != "record":
                    continue
                if step.kernel == kernel:
                    at = argument.at - self._library.records_at
                    number = count if self._library.devices else at // argument.bytes
                    raise CheckError(self._library.checks[number][check - 1].text, index, extent)
                count += 1
        raise CheckError(f"'{kernel}': index {{index}} lies outside of {{extent}} elements", index, extent)

    def execute_to_end(self, number: int) -> None:
        """Run one node, and wait for its device."""
        self.execute(number)
        if number in self._far:
            self._far[number].synchronize()

    def profile(self, repeat: int) -> Profile:
        """Time every node in each of `repeat` runs, after one that does not count."""
        begins: dict[int, list[float]] = {number: [] for number in self.calls}
        lasts: dict[int, list[float]] = {number: [] for number in self.calls}
        self.run()
        for _ in range(repeat):
            start = perf_counter_ns()
            for number in self.calls:
                begin = perf_counter_ns()
                self.execute_to_end(number)
                begins[number].append((begin - start) / 1e3)
                lasts[number].append((perf_counter_ns() - begin) / 1e3)
        return Profile(
            tuple(
                StepTimes(
                    kernel or STEP_COPY,
                    (node.attributes.get(LAYERS, node.name),),
                    self._far.get(number, HOST).name,
                    self._traffic(number, kernel),
                    tuple(begins[number]),
                    tuple(lasts[number]),
                )
                for number, (kernel, _, _) in self.calls.items()
                if (node := self._graph.nodes[number]).kernel != NOP
            )
        )

    def _traffic(self, number: int, kernel: str) -> int:
        """The bytes of a node's tensors; of what the executor copies itself, those that are copied."""
        node = self._graph.nodes[number]
        first = self._graph.row_ptr[number]
        written = sum(self._entries[first + output].nbytes for output in range(node.num_outputs))
        if not kernel:
            return written
        return written + sum(self._entries[self._graph.entry(ref)].nbytes for ref in node.inputs)


def _running(graph: GraphJson) -> Iterator[tuple[int, Node]]:
    return ((number, node) for number, node in enumerate(graph.nodes) if node.kernel is not None)


def _kernel(node: Node, number: int, known: Mapping[str, Sequence[Parameter]]) -> str:
    """The name that the library has for a node's kernel; nothing for what the executor does itself."""
    wanted = node.kernel or ""
    if wanted in (NOP, COPY):
        return ""
    for name in (wanted, re.sub(r"^tvmgen_[A-Za-z0-9]+_", "", wanted)):
        if not (taken := known.get(name)):
            continue
        if any(parameter.kind in ("extent", OPEN_BUFFER) for parameter in taken):
            raise Diagnostic(
                f"node {number} ('{node.name}') calls {wanted}, which takes extents: a graph in JSON has none",
                hint="compile the model for one size: weft.compile(..., shapes={...})",
            )
        return name
    if JOINS in node.attributes or BEGINS in node.attributes:
        return ""
    hint = did_you_mean(wanted, known) or f"there are {', '.join(known) or 'none'}"
    raise Diagnostic(f"node {number} ('{node.name}') calls {wanted}, which is not in the library", hint=hint)


def _check_builtin(number: int, node: Node, read: Sequence[Tensor], written: Sequence[Tensor]) -> None:
    if BEGINS in node.attributes:
        begin = node.attributes[BEGINS]
        room = read[0].nbytes - written[0].nbytes if len(read) == len(written) == 1 else -1
        if not (begin.isascii() and begin.isdigit()) or int(begin) > room or node.kernel == NOP:
            what = f"copies a part of one tensor to one, and there is none from byte {begin} on"
            raise Diagnostic(f"node {number} ('{node.name}') {what}")
        return
    joins = JOINS in node.attributes and node.kernel not in (NOP, COPY)
    if (len(read) != 1 and not joins) or len(written) != 1 or sum(each.nbytes for each in read) != written[0].nbytes:
        what = "tensors" if joins else "one tensor"
        raise Diagnostic(f"node {number} ('{node.name}') is {node.kernel}, and not of {what} to one as large")
    if node.kernel == NOP and read[0].address != written[0].address:
        raise Diagnostic(f"node {number} ('{node.name}') is {NOP}, and its output is not where its input is")


def _room(parameter: Parameter) -> int:
    """The bytes for a parameter, so that what comes behind is aligned."""
    return parameter.bytes + -parameter.bytes % ALIGNMENT
