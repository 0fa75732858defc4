"""The nodes of a graph in TVM's JSON, on memory that is allocated for them once."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from time import perf_counter_ns
from typing import TYPE_CHECKING

from ..dialects.support.checks import CHECK_FIELD, EXTENT_FIELD, INDEX_FIELD, CheckError
from ..dialects.support.diagnostics import Diagnostic, did_you_mean
from ..dialects.support.element_types import MLIR_NAMES, item_bytes, numpy_dtype_of
from ..lowering.abi import ALIGNMENT, BUFFER, OPEN_BUFFER, TEAM, THREADS, CompiledGraph, Parameter
from ..lowering.graph_json import BEGINS, COPY, CPU_TYPE, JOINS, LAYERS, NOP, GraphJson, Node, entries_of
from .kernels import Kernels
from .memory import address, aligned_bytes
from .profiling import COPY as STEP_COPY
from .profiling import Profile, StepTimes
from .program import Program
from .stepping import CPU

if TYPE_CHECKING:
    from ..lowering.abi import NDArray


def allocated(graph: GraphJson) -> dict[int, NDArray]:
    """Memory for each storage, as large as the largest of its entries."""
    for number, device in enumerate(graph.device_types or ()):
        if device != CPU_TYPE:
            raise Diagnostic(f"entry {number} of the graph is on a device of type {device}, and there is only the cpu")
    for scope in graph.scopes or ():
        if scope not in ("", "global"):  # TVM's planner says nothing of the usual memory
            raise Diagnostic(f"a storage of the graph is in the scope '{scope}', and the cpu has only 'global'")
    sizes: dict[int, int] = {}
    for storage, shape, dtype in zip(graph.storage_ids, graph.shapes, graph.dtypes, strict=True):
        sizes[storage] = max(sizes.get(storage, 0), prod(shape) * item_bytes(dtype))
    memory: dict[int, NDArray] = {storage: aligned_bytes(size) for storage, size in sizes.items()}
    for array in memory.values():
        array.fill(0)
    return memory


def views(graph: GraphJson, memory: Mapping[int, NDArray]) -> list[NDArray]:
    """Each entry, as an array in its storage."""
    return [
        memory[storage][: prod(shape) * item_bytes(dtype)].view(numpy_dtype_of(dtype)).reshape(shape)
        for storage, shape, dtype in zip(graph.storage_ids, graph.shapes, graph.dtypes, strict=True)
    ]


class Nodes:
    """The nodes of a graph that run, with their arguments in place."""

    def __init__(
        self,
        library: CompiledGraph,
        program: Program,
        graph: GraphJson,
        entries: list[NDArray],
        threads: ctypes.c_uint64,
    ):
        self._graph, self._library, self._entries, self._threads = graph, library, entries, threads
        known = dict(zip(library.kernels, library.parameters, strict=True))
        kernels = {number: _kernel(node, number, known) for number, node in _running(graph)}
        used = {name: known[name] for name in kernels.values() if name}
        self._kernels = Kernels(program.code, used)
        self._counts = {
            name: [place for place, parameter in enumerate(taken) if parameter.kind in (THREADS, TEAM)]
            for name, taken in used.items()
        }
        room = [sum(_room(parameter) for parameter in taken) for taken in used.values()]
        self._scratch = aligned_bytes(max(room, default=0))
        self.calls: dict[int, tuple[str, ctypes.Array[ctypes.c_uint64], int]] = {}
        self._records: dict[int, int] = {}
        """Node -> where its kernel tells of a check that has failed."""
        self._uses: dict[int, list[tuple[ctypes.Array[ctypes.c_uint64], int]]] = {}
        """Entry -> the tables that it stands in, and where."""
        spans = list(entries_of(graph))
        for number, node in _running(graph):
            taken = [graph.entry(ref) for ref in node.inputs]
            given = [*taken, *range(*spans[number])]
            kernel = kernels[number]
            if kernel:
                table, counters, places = self._table(number, node, used[kernel], [entries[each] for each in given])
            else:
                read, written = ([entries[each] for each in part] for part in (taken, given[len(taken) :]))
                _check_builtin(number, node, read, written)
                values = [address(tensor) for tensor in (*read, *written)]
                table, counters, places = (ctypes.c_uint64 * len(values))(*values), 0, list(range(len(values)))
            self.calls[number] = (kernel, table, counters)
            for entry, place in zip(given, places, strict=True):
                self._uses.setdefault(entry, []).append((table, place))

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

    def move(self, entry: int, memory: NDArray) -> None:
        """Have an entry, and what is in one place with it, in other memory, which is as large."""
        for each in self.seen_through(entry):
            old = self._entries[each]
            self._entries[each] = memory.reshape(-1).view(old.dtype).reshape(old.shape)
            for table, place in self._uses.get(each, ()):
                table[place] = address(memory)

    def _table(
        self, number: int, node: Node, parameters: Sequence[Parameter], tensors: Sequence[NDArray]
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
        counters = sum(_room(parameter) for parameter in parameters if parameter.kind in ("slots", "record"))
        zero, free = address(self._scratch), address(self._scratch) + counters
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
                    values.append(address(tensor))
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

    def execute(self, number: int) -> None:
        """Run one node."""
        kernel, table, counters = self.calls[number]
        node = self._graph.nodes[number]
        if kernel:
            ctypes.memset(address(self._scratch), 0, counters)
            threads = self._threads.value
            for place in self._counts[kernel]:
                table[place] = threads
            self._kernels.call(kernel, ctypes.addressof(table), threads)
            if (record := self._records.get(number)) is not None:
                self._check(kernel, record)
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

    def _check(self, kernel: str, record: int) -> None:
        """Tell of a check that has failed. What the library's own graph says of the kernel's checks is said here, but
        for the place, which may be another layer's."""
        fields = [record + field for field in (CHECK_FIELD, INDEX_FIELD, EXTENT_FIELD)]
        check, index, extent = (ctypes.c_int64.from_address(place).value for place in fields)
        if not check:
            return
        for step in self._library.steps:
            for argument in step.arguments if step.kernel == kernel else ():
                if argument.kind == "record":
                    number = (argument.at - self._library.records_at) // argument.bytes
                    raise CheckError(self._library.checks[number][check - 1].text, index, extent)
        raise CheckError(f"'{kernel}': index {{index}} lies outside of {{extent}} elements", index, extent)

    def profile(self, repeat: int) -> Profile:
        """Time every node in each of `repeat` runs, after one that does not count."""
        begins: dict[int, list[float]] = {number: [] for number in self.calls}
        lasts: dict[int, list[float]] = {number: [] for number in self.calls}
        self.run()
        for _ in range(repeat):
            start = perf_counter_ns()
            for number in self.calls:
                begin = perf_counter_ns()
                self.execute(number)
                begins[number].append((begin - start) / 1e3)
                lasts[number].append((perf_counter_ns() - begin) / 1e3)
        return Profile(
            tuple(
                StepTimes(
                    kernel or STEP_COPY,
                    (node.attributes.get(LAYERS, node.name),),
                    CPU,
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


def _check_builtin(number: int, node: Node, read: Sequence[NDArray], written: Sequence[NDArray]) -> None:
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
    if node.kernel == NOP and address(read[0]) != address(written[0]):
        raise Diagnostic(f"node {number} ('{node.name}') is {NOP}, and its output is not where its input is")


def _room(parameter: Parameter) -> int:
    """The bytes for a parameter, so that what comes behind is aligned."""
    return parameter.bytes + -parameter.bytes % ALIGNMENT
