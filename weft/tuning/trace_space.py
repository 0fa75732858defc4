"""The design space of a generator of `weft.meta_schedule`: traces whose decisions are drawn anew, changed and crossed.

A candidate is the trace of a schedule that postprocessors have taken, what these have done included. It is varied by
applying what stands before that to the kernel, with other decisions, and asking the postprocessors again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Protocol

from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.verifier import verify
from ..meta_schedule.rule import Context, Mutator, Scheduled, only_function
from ..transforms.infra.registry import new_ir_context
from ..transforms.tir.attach_tuned_schedules import sequence_of
from ..transforms.tir.schedule.errors import ScheduleError
from ..transforms.tir.scheduling.schedule import Schedule
from ..transforms.tir.scheduling.trace import Trace
from ..transforms.tir.scheduling.tuning_records import TuningRecord
from .features import features_of
from .space import Candidate


class Generator(Protocol):
    """What a `SpaceGenerator` is asked for."""

    mutator_probs: Mapping[Mutator, float] | None

    def generate_design_space(self, mod: Scheduled) -> list[Schedule]: ...
    def postprocess(self, sch: Schedule) -> bool: ...


class TraceSpace:
    """The designs of a function that a generator gives.

    Args:
        context: the function, and its target.
        generator: gives the designs, and has what repairs and what varies them. It knows the context.

    Raises:
        ScheduleError: the generator has a primitive that refuses.
        UsageError: the module has another number of functions than one.
    """

    def __init__(self, context: Context, generator: Generator):
        self._context, self._generator = context, generator
        self._function = only_function(context.mod)
        self._designs = [
            design.trace.simplified(remove_postproc=True) for design in generator.generate_design_space(context.mod)
        ]
        self._mutators = [(each, often) for each, often in (generator.mutator_probs or {}).items() if often > 0]
        self._traces: dict[str, Trace | None] = {}
        self.invalid = 0
        """How many traces did not apply, or were rejected by postprocessors."""

    @property
    def first(self) -> Sequence[Candidate]:
        """None: a design is as good as what is drawn for it."""
        return ()

    @property
    def why_closed(self) -> str | None:
        """The generator gives no design."""
        return None if self._designs else "the generator gives no design"

    def drawn(self, random: Random) -> Candidate | None:
        """Any of the designs, with any decisions."""
        return self._made(Trace(random.choice(self._designs).insts, {}), random)

    def mutated(self, parent: Candidate, random: Random) -> Candidate | None:
        """What one of the mutators, drawn by how often it is to be asked, makes of a candidate."""
        trace = self._trace(parent.schedule)
        if trace is None or not self._mutators:
            return None
        mutator = random.choices([each for each, _ in self._mutators], [often for _, often in self._mutators])[0]
        try:
            changed = mutator.apply(trace, random)
        except ScheduleError:
            self.invalid += 1
            return None
        return None if changed is None else self._made(changed, random)

    def crossed(self, one: Candidate, other: Candidate, random: Random) -> Candidate | None:
        """One of the same design as both, with each decision of one of them; of two designs none."""
        first, second = self._trace(one.schedule), self._trace(other.schedule)
        if first is None or second is None:
            return None
        made = first.simplified(remove_postproc=True)
        theirs = second.simplified(remove_postproc=True)
        if _steps(made) != _steps(theirs):
            return None
        for inst, another in zip(made.insts, theirs.insts, strict=True):
            if another.decision is not None and random.random() < 0.5:
                inst.decide(another.decision)
        return self._made(made, random)

    def candidate(self, record: TuningRecord) -> Candidate | None:
        """That of a record whose schedule is of one of the designs, whatever was decided."""
        if record.decisions or (trace := self._trace(record.schedule)) is None:
            return None
        steps = _steps(trace.simplified(remove_postproc=True))
        if all(_steps(each) != steps for each in self._designs):
            return None
        return Candidate((), record.schedule, record.features)

    def _trace(self, schedule: str) -> Trace | None:
        """The trace in the text of a schedule; `None` where it cannot be read."""
        if schedule not in self._traces:
            try:
                name = self._function.sym_name.data
                self._traces[schedule] = Trace(sequence_of(schedule, new_ir_context(), "record", name))
            except Diagnostic:
                self._traces[schedule] = None
        return self._traces[schedule]

    def _made(self, trace: Trace, random: Random) -> Candidate | None:
        sch = Schedule(self._context.mod, seed=random.randrange(1 << 31))
        try:
            trace.apply_to_schedule(sch, remove_postproc=True)
            if not self._generator.postprocess(sch):
                self.invalid += 1
                return None
            verify(sch.mod)
        except Diagnostic:
            self.invalid += 1
            return None
        text = str(sch.trace.op)
        self._traces[text] = sch.trace
        return Candidate((), text, features_of(only_function(sch.mod)))


def _steps(trace: Trace) -> list[str]:
    """What designs are told apart by: the kinds of instructions, whatever was decided."""
    return [op.name for op in trace.op.instructions]
