"""Design spaces: what a search draws candidates from, varies and crosses.

`RuleSpace` is what Weft's schedule rules leave open. A candidate of it is what was decided, its genes, and the schedule
that follows. It is made by letting the rules schedule a copy of the kernel with a chooser that decides as the genes say
and draws what they do not say, so that each candidate is legal: primitives have checked it. Which rules there are, and
what they are about, is nothing that tuning knows. `TraceSpace` (`trace_space`) is what a generator of
`weft.meta_schedule` gives. `UnionSpace` is several spaces at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol, TypeAlias

from xdsl.dialects.builtin import ModuleOp

from ..dialects.support.diagnostics import Diagnostic
from ..dialects.tir.core import PrimFuncOp
from ..lowering.machine.target import Target
from ..lowering.phases import phase_passes
from ..transforms.infra.execution import run
from ..transforms.infra.registry import new_ir_context
from ..transforms.infra.walk import clone
from ..transforms.tir.attach_tuned_schedules import sequence_of
from ..transforms.tir.rules.choosing import ANALYTIC, Decided, Decision, choosing
from ..transforms.tir.schedule_rules import ScheduleRulesPass
from ..transforms.tir.scheduling.recorded import recording
from ..transforms.tir.scheduling.schedule import Schedule
from ..transforms.tir.scheduling.trace import Trace
from ..transforms.tir.scheduling.tuning_records import Gene, TuningRecord
from .features import features_of

Key: TypeAlias = tuple[str, str, int]
"""Which decision: the rule, the block's name, how many of them came before."""

FAVOURITES = 3
"""What is drawn by merit has so many before it on average."""
ANY = 0.2
"""The part that is drawn without regard to merit."""


@dataclass(frozen=True)
class Candidate:
    """A schedule of a kernel."""

    genes: tuple[Gene, ...]
    """What rules have decided; nothing where decisions stand in the schedule."""
    schedule: str
    """The `schedule.sequence`, as text."""
    features: tuple[float, ...]
    """What the cost model sees: see `features`."""


class DesignSpace(Protocol):
    """Candidates for the schedule of one kernel. What cannot be made is `None`, as often as that may be."""

    @property
    def first(self) -> Sequence[Candidate]:
        """Those that are parents before anything was measured, beside what is drawn."""
        ...

    @property
    def why_closed(self) -> str | None:
        """Why there is nothing to search; `None` where there is."""
        ...

    def drawn(self, random: Random) -> Candidate | None:
        """A candidate about which nothing is known."""
        ...

    def mutated(self, parent: Candidate, random: Random) -> Candidate | None:
        """A candidate that differs from one of this space in little."""
        ...

    def crossed(self, one: Candidate, other: Candidate, random: Random) -> Candidate | None:
        """A candidate with each decision of one of two of this space."""
        ...

    def candidate(self, record: TuningRecord) -> Candidate | None:
        """The candidate that was measured; `None` where it is none of this space."""
        ...


class Bred:
    """Decides as `genes` say. What is `redrawn`, which is all where nothing is named, is drawn; what the genes do not
    know is taken by merit."""

    def __init__(self, genes: Mapping[Key, int], random: Random, redrawn: frozenset[Key] | None = frozenset()):
        self.genes = genes
        self.random = random
        self.redrawn = redrawn
        self._seen: dict[tuple[str, str], int] = {}

    def choose(self, decision: Decision[Any]) -> int:
        """The number of the option to take."""
        place = (decision.rule, decision.block.block_name)
        number = self._seen[place] = self._seen.get(place, -1) + 1
        key = (*place, number)
        known = self.genes.get(key)
        if self.redrawn is None or key in self.redrawn:
            return self._drawn(decision, known)
        return ANALYTIC.choose(decision) if known is None or known >= len(decision.options) else known

    def _drawn(self, decision: Decision[Any], known: int | None) -> int:
        """An option that is not the one of number `known`: mostly one of much merit, now and then any."""
        others = [n for n in range(len(decision.options)) if n != known]
        if self.random.random() < ANY:
            return self.random.choice(others)
        merits = [decision.merit(option) for option in decision.options]
        others.sort(key=lambda n: merits[n], reverse=True)
        return others[int(self.random.expovariate(1 / FAVOURITES)) % len(others)]


class RuleSpace:
    """What the rules leave open of the schedule of one kernel.

    Args:
        kernel: the function, unscheduled.
        target: what code is made for; the rules ask it for its vectors.
    """

    def __init__(self, kernel: PrimFuncOp, target: Target):
        self._kernel = kernel
        self._rules = next(each for each in phase_passes("schedule", target) if isinstance(each, ScheduleRulesPass))
        self.invalid = 0
        """How many choices the rules could not carry out."""
        self._default: Candidate | None = None

    @property
    def first(self) -> Sequence[Candidate]:
        """What the rules do by themselves."""
        default = self.default()
        return [] if default is None else [default]

    @property
    def why_closed(self) -> str | None:
        """The rules cannot schedule the kernel, or leave nothing open."""
        default = self.default()
        if default is None:
            return "the rules cannot schedule it"
        return None if default.genes else "the rules leave nothing open"

    def default(self) -> Candidate | None:
        """What the rules do by themselves; `None` where they cannot schedule the kernel."""
        if self._default is None:
            self._default = self._made(Bred({}, Random(0)))
        return self._default

    def candidate(self, record: TuningRecord) -> Candidate | None:
        """That of a record which says what rules have decided."""
        if not record.decisions:
            return None
        return Candidate(record.decisions, record.schedule, record.features)

    def drawn(self, random: Random) -> Candidate | None:
        """A candidate about which nothing is known."""
        return self._made(Bred({}, random, None))

    def mutated(self, parent: Candidate, random: Random) -> Candidate | None:
        """A candidate that differs in a decision or two, and what follows from them."""
        keys = list(keyed(parent.genes))
        if not keys:
            return None
        redrawn = frozenset(random.sample(keys, min(len(keys), random.choice((1, 1, 1, 2)))))
        return self._made(Bred(keyed(parent.genes), random, redrawn))

    def crossed(self, one: Candidate, other: Candidate, random: Random) -> Candidate | None:
        """A candidate with each decision of one of two."""
        first, second = keyed(one.genes), keyed(other.genes)
        genes = {key: random.choice([g[key] for g in (first, second) if key in g]) for key in {**first, **second}}
        return self._made(Bred(genes, random))

    def _made(self, chooser: Bred) -> Candidate | None:
        function = clone(self._kernel)
        try:
            with choosing(chooser) as decided, recording(function, f"{function.sym_name.data}_tuned") as trace:
                run(self._rules, ModuleOp([function]))
        except Diagnostic:
            self.invalid += 1
            return None
        return Candidate(tuple(map(_gene, decided)), str(trace.op), features_of(function))


class UnionSpace:
    """Several spaces at once. A candidate is of one of them, which varies it."""

    def __init__(self, spaces: Sequence[DesignSpace]):
        self._spaces = [space for space in spaces if space.why_closed is None]
        self._why = "; ".join(dict.fromkeys(space.why_closed or "" for space in spaces)) if not self._spaces else None
        self._of: dict[str, DesignSpace] = {}

    @property
    def first(self) -> Sequence[Candidate]:
        """Those of all of them."""
        return [made for space in self._spaces for each in space.first if (made := self._known(each, space))]

    @property
    def why_closed(self) -> str | None:
        """Why none of them has anything to search."""
        return self._why

    def drawn(self, random: Random) -> Candidate | None:
        """One of any of them."""
        space = random.choice(self._spaces)
        return self._known(space.drawn(random), space)

    def mutated(self, parent: Candidate, random: Random) -> Candidate | None:
        """One of the space of its parent."""
        space = self._of[parent.schedule]
        return self._known(space.mutated(parent, random), space)

    def crossed(self, one: Candidate, other: Candidate, random: Random) -> Candidate | None:
        """One of two of the same space; of those of two spaces none."""
        space = self._of[one.schedule]
        return self._known(space.crossed(one, other, random), space) if self._of[other.schedule] is space else None

    def candidate(self, record: TuningRecord) -> Candidate | None:
        """That of the first of the spaces which has it."""
        for space in self._spaces:
            if (found := self._known(space.candidate(record), space)) is not None:
                return found
        return None

    def _known(self, candidate: Candidate | None, space: DesignSpace) -> Candidate | None:
        if candidate is not None:
            self._of.setdefault(candidate.schedule, space)
        return candidate


def schedule_of(text: str, function: PrimFuncOp) -> Schedule:
    """A schedule of a copy of `function` to which a `schedule.sequence` has been applied, whatever function that names.

    Raises:
        Diagnostic: the text is none, or does not apply.
    """
    sequence = sequence_of(text, new_ir_context(), "schedule.mlir", function.sym_name.data)
    made = Schedule(function)
    Trace(sequence).apply_to_schedule(made)
    return made


def _gene(decided: Decided) -> Gene:
    return decided.rule, decided.block, decided.index, decided.count


def keyed(genes: tuple[Gene, ...]) -> dict[Key, int]:
    """The genes by which decision they are about."""
    found: dict[Key, int] = {}
    seen: dict[tuple[str, str], int] = {}
    for rule, block, index, _ in genes:
        number = seen[rule, block] = seen.get((rule, block), -1) + 1
        found[rule, block, number] = index
    return found
