"""What was done to a function, as a `schedule.sequence`, and how it is done again.

trace = schedule.trace                 # the operation is trace.op; it prints, parses and verifies
trace.apply_to_schedule(Schedule(other))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias
from urllib.parse import quote

from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.schedule.core import Instruction, SequenceOp, attribute_of
from ....dialects.schedule.queries import EnterPostprocOp
from ....dialects.support.diagnostics import Note, UsageError
from ..schedule.errors import ScheduleError

DecisionProvider: TypeAlias = Callable[[Instruction, Attribute], object]
"""Gives a sampling instruction another decision: the instruction and its recorded decision -> the new one, or `None`
for one that is drawn anew."""

QUERIES = "get_"
"""Instructions whose names begin so change nothing."""


class Applies(Protocol):
    """What a trace is applied to: a `Schedule`."""

    def apply(self, op: Instruction) -> Sequence[SSAValue]: ...


@dataclass(frozen=True)
class Trace:
    """A recorded schedule. Counterpart of TVM's `Trace`."""

    op: SequenceOp

    @property
    def insts(self) -> list[Instruction]:
        """The instructions, in order."""
        return self.op.instructions

    @property
    def decisions(self) -> dict[Instruction, Attribute]:
        """What the sampling instructions have chosen."""
        return {op: op.properties["decision"] for op in self.insts if "decision" in op.properties}

    def __str__(self) -> str:
        return str(self.op)

    def show(self) -> None:
        """Print it."""
        print(self)

    def apply_to_schedule(
        self, schedule: Applies, remove_postproc: bool = False, decision_provider: DecisionProvider | None = None
    ) -> None:
        """Do all of it again, with the decisions that are recorded.

        Args:
            remove_postproc: stop before `enter_postproc`.
            decision_provider: changes decisions.

        Raises:
            ScheduleError: an instruction does not apply, at its place in the trace.
        """
        mapped: dict[SSAValue, SSAValue] = {}
        for op in self.insts:
            if remove_postproc and isinstance(op, EnterPostprocOp):
                return
            copy = op.clone(mapped)
            if decision_provider is not None and (known := op.properties.get("decision")) is not None:
                decision = decision_provider(op, known)
                copy.properties.pop("decision")
                if decision is not None:
                    copy.properties["decision"] = attribute_of(decision)
            try:
                results = schedule.apply(copy)
            except ScheduleError as error:
                notes = [Note("this is what it is about", error.place)] if error.place is not None else []
                raise ScheduleError.at(op, error.message, notes=[*error.notes, *notes], hint=error.hint) from error
            for old, new in zip(op.outputs, results, strict=True):
                mapped[old] = new

    def with_decision(self, inst: Instruction, decision: object, remove_postproc: bool = False) -> Trace:
        """A copy in which `inst` has another decision."""
        mapped: dict[SSAValue, SSAValue] = {}
        copy = SequenceOp(self.op.sym_name.data, self.op.function_name)
        for op in self.insts:
            if remove_postproc and isinstance(op, EnterPostprocOp):
                break
            clone = op.clone(mapped)
            if op is inst:
                clone.properties["decision"] = attribute_of(decision)
            copy.body.block.add_op(clone)
        return Trace(copy)

    def simplified(self, remove_postproc: bool = False) -> Trace:
        """A copy without the questions and choices whose answers nothing uses."""
        copy = self.op.clone()
        if remove_postproc:
            _cut(copy)
        for op in reversed(copy.instructions):
            idle = op.word.startswith((QUERIES, "sample_")) and not any(value.uses for value in op.outputs)
            if idle and not isinstance(op, EnterPostprocOp):
                op.detach()
                op.erase()
        return Trace(copy)


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
        (Path(folder) / f"{quote(name, safe='')}.mlir").write_text(f"{trace}\n")
    except OSError as error:
        raise UsageError(f"cannot write the schedule of @{name} to {folder}: {error}") from error
