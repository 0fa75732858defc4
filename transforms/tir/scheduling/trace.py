"""What was done to a function, as a `schedule.sequence`, and how it is done again.

trace = schedule.trace                 # the operation is trace.op; it prints, parses and verifies
print(trace)                           # a Python function, as TVM prints it
trace.apply_to_schedule(Schedule(other))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Protocol, TypeAlias, cast
from urllib.parse import quote

from xdsl.ir import Operation, SSAValue

from ....dialects.schedule.core import Instruction as InstructionOp
from ....dialects.schedule.core import SequenceOp
from ....dialects.schedule.queries import EnterPostprocOp
from ....dialects.support.arguments import checked_methods
from ....dialects.support.diagnostics import Note, UsageError
from ....dialects.support.hints import is_list
from ....dialects.support.whole_number import WholeNumber
from ..schedule.errors import ScheduleError
from .handles import HANDLES, Handle, handle_of
from .instruction import Instruction, InstructionKind
from .values import Json, from_json, json_of

DecisionProvider: TypeAlias = Callable[[Instruction, list[object], list[object], object], object]
"""Gives a sampling instruction another decision: the instruction, its inputs as handles of the schedule that it is
applied to, its attributes and its recorded decision -> the new one, or `None` for one that is drawn anew."""


class Applies(Protocol):
    """What a trace is applied to: a `Schedule`."""

    def apply(self, op: InstructionOp) -> Sequence[SSAValue]: ...


@checked_methods
class Trace:
    """A recorded schedule. Counterpart of TVM's `Trace`.

    Args:
        insts: the instructions, in order, or the operation that holds them. Those of another trace are copied.
        decisions: what sampling instructions have chosen, as in TVM: those that are not among them choose anew when the
            trace is applied. Without it all keep what they have.
    """

    def __init__(
        self, insts: SequenceOp | Sequence[Instruction], decisions: Mapping[Instruction, object] | None = None
    ):
        self._copied: dict[SSAValue, SSAValue] = {}
        if isinstance(insts, SequenceOp):
            self.op = insts
            return
        self.op = SequenceOp("trace")
        for inst in insts:
            self.append(inst)
        if decisions is not None:
            for inst, own in zip(insts, self.op.instructions, strict=True):
                own.properties.pop("decision", None)
                if (decision := decisions.get(inst)) is not None:
                    Instruction.of(own).decide(decision)

    def __repr__(self) -> str:
        return f"Trace({len(self.insts)} instructions)"

    @property
    def insts(self) -> list[Instruction]:
        """The instructions, in order."""
        return [Instruction.of(op) for op in self.op.instructions]

    @property
    def decisions(self) -> dict[Instruction, object]:
        """What the sampling instructions have chosen."""
        made = {inst: inst.decision for inst in self.insts if inst.decision is not None}
        return {inst: WholeNumber(each) if isinstance(each, int) else each for inst, each in made.items()}

    def _insts(self, remove_postproc: bool) -> list[Instruction]:
        insts = self.insts
        if not remove_postproc:
            return insts
        return list(takewhile(lambda inst: not isinstance(inst.op, EnterPostprocOp), insts))

    def get_decision(self, inst: Instruction) -> object:
        """What a sampling instruction has chosen; `None` for others."""
        return inst.decision

    def append(self, inst: Instruction, decision: object = None) -> None:
        """Add an instruction to the end; one of another trace is copied.

        Raises:
            UsageError: it uses a handle that nothing here gives.
        """
        op = inst.op
        if op.parent is not None:
            op = op.clone(self._copied)
        else:
            op.operands = [self._copied.get(value, value) for value in op.operands]
        known = {value for each in self.op.instructions for value in each.outputs}
        if any(value not in known for value in op.operands):
            raise UsageError(f"{inst} uses a handle that no instruction before it gives")
        if decision is not None:
            Instruction.of(op).decide(decision)
        self.op.body.block.add_op(op)

    def pop(self) -> Instruction | None:
        """Take the last instruction away, and give it; `None` where there is none."""
        if not (left := self.op.instructions):
            return None
        left[-1].detach()
        return Instruction.of(left[-1])

    def __str__(self) -> str:
        """The Python function that does it to a schedule, as TVM prints it; what is parsed is the text of `op`."""
        lines = ["# from tvm import tir", "def apply_trace(sch: tir.Schedule) -> None:"]
        return "\n".join([*lines, *(f"  {call}" for call in self.as_python() or ["pass"])])

    def show(self) -> None:
        """Print it."""
        print(self)

    def as_python(self, remove_postproc: bool = False) -> list[str]:
        """The calls of `Schedule`'s methods, one text each: of a schedule `sch`, with the handles as variables.

        Args:
            remove_postproc: those before `enter_postproc` only.
        """
        names = self._names()
        return [inst.as_python(names.__getitem__) for inst in self._insts(remove_postproc)]

    def as_json(self, remove_postproc: bool = False) -> list[Json]:
        """Lists and plain values: for each instruction its kind, inputs, attributes and outputs; then for each decision
        the number of its instruction, and the decision.

        Args:
            remove_postproc: those before `enter_postproc` only.
        """
        names = self._names()
        kept = self._insts(remove_postproc)

        def named(value: object) -> Json:
            if is_list(value):
                return [named(each) for each in value]
            return names[value.value] if isinstance(value, Handle) else json_of(value)

        insts: list[Json] = [
            [
                inst.kind.name,
                [named(each) for each in inst.inputs],
                [json_of(each, quoted=False) for each in inst.attrs],
                [named(each) for each in inst.outputs],
            ]
            for inst in kept
        ]
        decisions: list[Json] = [
            [number, json_of(inst.decision)] for number, inst in enumerate(kept) if inst.decision is not None
        ]
        return [insts, decisions]

    @staticmethod
    def from_json(json_obj: object) -> Trace:
        """The trace of `as_json`.

        Raises:
            UsageError: it is none.
        """
        try:
            return _from_json(cast(list[list[list[Json]]], json_obj))
        except (TypeError, ValueError, KeyError, IndexError) as error:
            raise UsageError(f"this is no trace as JSON: {error}") from error

    @staticmethod
    def apply_json_to_schedule(json_obj: object, sch: Applies) -> None:
        """Do to a schedule what `as_json` has given.

        Raises:
            UsageError: it is no trace.
            ScheduleError: an instruction does not apply.
        """
        Trace.from_json(json_obj).apply_to_schedule(sch)

    def _names(self) -> dict[SSAValue, str]:
        """The names of the handles: a letter for the kind, and the number of the handle."""
        values = [value for op in self.op.instructions for value in op.outputs]
        return {value: f"{handle_of(value).KIND[0]}{number}" for number, value in enumerate(values)}

    def apply_to_schedule(
        self, sch: Applies, remove_postproc: bool = False, decision_provider: DecisionProvider | None = None
    ) -> None:
        """Do all of it again, with the decisions that are recorded.

        Args:
            remove_postproc: stop before `enter_postproc`.
            decision_provider: changes decisions.

        Raises:
            ScheduleError: an instruction does not apply, at its place in the trace.
        """
        mapped: dict[SSAValue, SSAValue] = {}
        for inst in self._insts(remove_postproc):
            op = inst.op
            copy = op.clone(mapped)
            if decision_provider is not None and inst.decision is not None:
                decision = decision_provider(inst, Instruction.of(copy).inputs, inst.attrs, inst.decision)
                Instruction.of(copy).decide(decision)
            try:
                results = sch.apply(copy)
            except ScheduleError as error:
                notes = [Note("this is what it is about", error.place)] if error.place is not None else []
                raise ScheduleError.at(op, error.message, notes=[*error.notes, *notes], hint=error.hint) from error
            for old, new in zip(op.outputs, results, strict=True):
                mapped[old] = new

    def with_decision(self, inst: Instruction, decision: object, remove_postproc: bool = False) -> Trace:
        """A copy in which `inst` has another decision."""
        return self.changed(inst, lambda twin: twin.decide(decision), remove_postproc)

    def changed(
        self, inst: Instruction, change: Callable[[Instruction], object], remove_postproc: bool = False
    ) -> Trace:
        """A copy in which something is done to the twin of `inst`."""
        mapped: dict[SSAValue, SSAValue] = {}
        copy = SequenceOp(self.op.sym_name.data, self.op.function_name)
        for op in (each.op for each in self._insts(remove_postproc)):
            clone = op.clone(mapped)
            if op is inst.op:
                change(Instruction.of(clone))
            copy.body.block.add_op(clone)
        return Trace(copy)

    def simplified(self, remove_postproc: bool = False) -> Trace:
        """A copy without the questions and choices whose answers nothing uses."""
        copy = self.op.clone()
        if remove_postproc:
            _cut(copy)
        for op in reversed(copy.instructions):
            if Instruction.of(op).kind.is_pure and not any(value.uses for value in op.outputs):
                op.detach()
                op.erase()
        return Trace(copy)


def _from_json(given: list[list[list[Json]]]) -> Trace:
    insts, decisions = given
    known: dict[str, object] = {}
    trace = Trace([])
    chosen = {cast(int, number): from_json(decision, known) for number, decision in decisions}
    kinds = {kind.KIND[0]: kind for kind in HANDLES.values()}
    for number, (name, inputs, attrs, outputs) in enumerate(insts):
        given_names = cast("list[str]", outputs)
        handles = [kinds[each[0]]() for each in given_names]
        inst = Instruction(
            InstructionKind.get(cast(str, name)),
            cast("list[object]", from_json(inputs, known)),
            cast("list[object]", from_json(attrs, None)),
            handles,
        )
        known.update(zip(given_names, handles, strict=True))
        trace.append(inst, chosen.get(number))
    return trace


def _cut(sequence: SequenceOp) -> None:
    """Take away `enter_postproc` and what follows it."""
    ops: list[Operation] = list(sequence.body.block.ops)
    start = next((number for number, op in enumerate(ops) if isinstance(op, EnterPostprocOp)), len(ops))
    for op in reversed(ops[start:]):
        op.detach()
        op.erase()


def write_record(trace: Trace, folder: str) -> None:
    """Write a trace to the file in `folder` that is named like its function.

    Raises:
        UsageError: it cannot be written.
    """
    name = trace.op.function_name or trace.op.sym_name.data
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / f"{quote(name, safe='')}.mlir").write_text(str(trace.op) + "\n")
    except OSError as error:
        raise UsageError(f"cannot write the schedule of @{name} to {folder}: {error}") from error
