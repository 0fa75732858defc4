"""The search: which schedules of which kernel are measured next.

For each kernel, a population evolves: those measured as fast so far are varied (a decision is drawn anew) and crossed;
of the many that come of it, the cost model picks those that promise most, and some are taken at random, so that it
learns where it is wrong. Among kernels, that one is next of which the most time can be expected to be saved: the time
that it takes now, times what its last round has gained, or what a kernel may be expected to gain that was tried so
little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from random import Random

from ..transforms.tir.scheduling.tuning_records import Status, TuningRecord
from .cost_model import CostModel, sample
from .space import Candidate, DesignSpace
from .tasks import Task

PARENTS = 6
"""The fastest so many are varied."""
OFFSPRING = 2
"""So many candidates are made for each that is measured."""
AT_RANDOM = 0.25
"""The part of those measured that the cost model has no say in."""
CROSSED = 0.25
"""The part of the candidates that have two parents."""
FRESH = 0.15
"""The part that have none."""
PATIENCE = 4
"""So many tries for each candidate: if all that came of them is known, there are no more."""


@dataclass
class Search:
    """What is known of one kernel."""

    task: Task
    space: DesignSpace
    default: Candidate
    """What the rules do by themselves, which all are measured against."""
    records: list[TuningRecord] = field(default_factory=list[TuningRecord])
    is_exhausted: bool = False
    """Nothing was found any more that had not been measured."""
    gained: float = 0.0
    """What part of the kernel's time the last round has saved."""
    known: set[str] = field(default_factory=set[str])
    """Schedules that were measured, or are being measured, and the default one."""

    def __post_init__(self) -> None:
        self.known |= {self.default.schedule, *(record.schedule for record in self.records)}

    @property
    def best(self) -> TuningRecord | None:
        """The fastest so far, whether or not it is faster than the default."""
        measured = [record for record in self.records if record.status is Status.MEASURED]
        return min(measured, key=lambda record: record.ratio, default=None)

    @property
    def ratio(self) -> float:
        """The time of the fastest schedule to that of the default one, which may be it."""
        return min(1.0, self.best.ratio) if self.best is not None else 1.0

    def expected_gain(self) -> float:
        """Microseconds of an inference that the next round may save."""
        return self.task.us * self.ratio * max(self.gained, 0.5 / (2 + len(self.records)))

    def add(self, record: TuningRecord) -> None:
        """Take in what was measured."""
        self.records.append(record)
        self.known.add(record.schedule)

    def samples(self) -> list[tuple[list[float], float]]:
        """What the cost model learns of this kernel."""
        count = len(self.default.features)
        found = [(sample(self.default.features, self.default.features), 1.0)]
        for record in self.records:
            if record.status is Status.MEASURED and len(record.features) == count:
                found.append((sample(record.features, self.default.features), record.ratio))
        return found

    def next_batch(self, model: CostModel, size: int, random: Random) -> list[Candidate]:
        """Up to `size` candidates to measure; fewer, or none, where there are no more."""
        pool = self._offspring(size * (OFFSPRING if model.is_fitted else 1), random)
        if model.is_fitted and len(pool) > size:
            guided = size - round(size * AT_RANDOM)
            expected = model.predict([sample(each.features, self.default.features) for each in pool])
            order = sorted(range(len(pool)), key=lambda n: expected[n])
            chosen = order[:guided] + random.sample(order[guided:], size - guided)
            pool = [pool[n] for n in chosen]
        self.is_exhausted = not pool
        self.known |= {each.schedule for each in pool}
        return pool

    def _offspring(self, count: int, random: Random) -> list[Candidate]:
        """Candidates that have not been measured, no two the same."""
        parents = self._parents()
        found: dict[str, Candidate] = {}
        for _ in range(count * PATIENCE):
            if len(found) == count:
                break
            made = self._varied(parents, random)
            if made is not None and made.schedule not in self.known:
                found[made.schedule] = made
        return list(found.values())

    def _varied(self, parents: Sequence[Candidate], random: Random) -> Candidate | None:
        way = random.random()
        if way < FRESH or not parents:
            return self.space.drawn(random)
        if way < FRESH + CROSSED and len(parents) > 1:
            one, other = random.sample(parents, 2)
            return self.space.crossed(one, other, random)
        return self.space.mutated(random.choice(parents), random)

    def _parents(self) -> list[Candidate]:
        """Those that the space begins with, and the fastest of it."""
        measured = [record for record in self.records if record.status is Status.MEASURED]
        best = sorted(measured, key=lambda record: record.ratio)
        found = (candidate for record in best if (candidate := self.space.candidate(record)) is not None)
        return [*self.space.first, *islice(found, PARENTS - 1)]


def next_search(searches: Sequence[Search]) -> Search | None:
    """The kernel to work on next; `None` where all schedules of all kernels have been measured."""
    open_ = [search for search in searches if not search.is_exhausted]
    return max(open_, key=Search.expected_gain, default=None)


def learn(model: CostModel, searches: Iterable[Search]) -> None:
    """Have the cost model learn from all that was measured."""
    samples = [each for search in searches for each in search.samples()]
    if len(samples) >= 2 * PARENTS:
        model.fit([x for x, _ in samples], [y for _, y in samples])
