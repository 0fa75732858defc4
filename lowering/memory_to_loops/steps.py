"""What a graph over buffers does, step by step, and the counters and records that its steps take in the arena."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.ir import Operation

from ...dialects.mem.core import CallOp, CopyOp, ScanOp
from ...dialects.mem.graph import GraphOp
from ...dialects.rt.checks import RecordType
from ...dialects.rt.core import SLOT_BYTES, SlotsType
from ...dialects.support.checks import RECORD_BYTES
from ...dialects.support.diagnostics import Diagnostic
from ...transforms.relay.outline_segments import SEGMENT


class Callees(dict[str, func.FuncOp]):
    """The kernels of a module by their names; beside them the graphs that are run once for each turn."""

    turns: dict[str, GraphOp]

    def turn(self, op: ScanOp) -> GraphOp:
        """The graph of one turn.

        Raises:
            Diagnostic: there is none.
        """
        if (graph := self.turns.get(op.callee.root_reference.data)) is None:
            raise Diagnostic.at(op, f"there is no graph {op.callee} for one turn")
        return graph


def steps_of(graph: GraphOp) -> list[ScanOp | list[CallOp | CopyOp]]:
    """The accesses of a graph, in order; copies that follow one another and that no kernel makes are one step."""
    steps: list[ScanOp | list[CallOp | CopyOp]] = []
    for op in graph.body.block.ops:
        if isinstance(op, CopyOp) and op.callee is None:
            if len(op.sources) != 1:
                raise Diagnostic.at(op, "joins several buffers, and no kernel does that", hint="say one: `by @kernel`")
            last = steps[-1] if steps else None
            if isinstance(last, list) and isinstance(last[-1], CopyOp) and last[-1].callee is None:
                last.append(op)
                continue
        if isinstance(op, ScanOp):
            steps.append(op)
        elif isinstance(op, CallOp | CopyOp):
            steps.append([op])
    return steps


def takes_record(kernel: func.FuncOp) -> bool:
    """Whether a kernel makes checks."""
    return any(isinstance(type, RecordType) for type in kernel.function_type.inputs)


def _slots_type(op: Operation, kernel: func.FuncOp) -> SlotsType:
    for type in kernel.function_type.inputs:
        if isinstance(type, SlotsType):
            return type
    raise Diagnostic.at(
        op,
        f"@{kernel.sym_name.data} takes no slots to share its work by",
        hint="a kernel's last arguments are of types !rt.slots<N> and index",
    )


def _needs(graph: GraphOp, kernels: Callees) -> tuple[int, int]:
    """The bytes of the slots and of the records that a graph's steps take."""
    slots = max(1, sum(slot_count(step, kernels) for step in steps_of(graph))) * SLOT_BYTES
    return slots, sum(takes_record(kernel) for _, kernel in kernel_calls(graph, kernels)) * RECORD_BYTES


def slot_count(step: ScanOp | list[CallOp | CopyOp], kernels: Callees) -> int:
    """The slots that a step takes: a kernel one for each of its nests, copies made by one thread one for all, turns
    each those of its steps. Where it is open how many turns there are, one, for clearing the slots that are elsewhere;
    where what is carried is copied behind the last turn, one for that."""
    if isinstance(step, ScanOp):
        turns = step.known_turns
        own = 1 if turns is None else turns * turn_slots(step, kernels)
        return own + bool(step.lasts)
    kernel = kernel_of(step[0], kernels)
    return 1 if kernel is None else _slots_type(step[0], kernel).count.data


def turn_slots(scan: ScanOp, kernels: Callees) -> int:
    """The slots that one turn takes."""
    return sum(slot_count(inner, kernels) for inner in steps_of(kernels.turn(scan)))


def with_turns(graph: GraphOp, kernels: Callees) -> Iterator[GraphOp]:
    """A graph, and those that it runs once for each turn."""
    yield graph
    scanned = {kernels.turn(op): None for op in graph.body.block.ops if isinstance(op, ScanOp)}
    for inner in scanned:
        yield from with_turns(inner, kernels)


def kernel_calls(graph: GraphOp, kernels: Callees) -> Iterator[tuple[CallOp | CopyOp, func.FuncOp]]:
    """The calls of kernels of a graph, in order, those of turns once."""
    for step in steps_of(graph):
        if isinstance(step, ScanOp):
            yield from kernel_calls(kernels.turn(step), kernels)
        elif (kernel := kernel_of(step[0], kernels)) is not None:
            yield step[0], kernel


def kernel_of(op: CallOp | CopyOp, kernels: Callees) -> func.FuncOp | None:
    """The kernel that a step calls; none for a copy that no kernel makes.

    Raises:
        Diagnostic: there is no function of that name.
    """
    if op.callee is None:
        return None
    if (kernel := kernels.get(op.callee.root_reference.data)) is None:
        hint = "'lower-te' makes functions of kernels: it has not run, or has left this one; is it disabled?"
        raise Diagnostic.at(op, f"there is no function {op.callee} of loops", hint=hint)
    return kernel


@dataclass(frozen=True)
class Layout:
    """Where in the arena a graph's records stand, and where the counters and all records end."""

    records: int
    end: int


def layouts_of(graphs: Sequence[GraphOp], kernels: Callees) -> list[Layout]:
    """A layout for each graph. Segments of one program are never at work at the same time and share an arena: they
    begin with the same counters, and each has records of its own, behind which there is one for the program itself."""
    needs = [_needs(graph, kernels) for graph in graphs]
    slots = max((slots for slots, _ in needs), default=0)
    layouts: list[Layout] = []
    shared_end = slots + sum(records for _, records in needs) + RECORD_BYTES
    next_record = slots
    for graph, (own_slots, own_records) in zip(graphs, needs, strict=True):
        if SEGMENT in graph.attributes:
            layouts.append(Layout(next_record, shared_end))
            next_record += own_records
        else:
            layouts.append(Layout(own_slots, own_slots + own_records))
    return layouts
