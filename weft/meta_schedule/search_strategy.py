"""Which candidates of a task are measured next (`tvm.meta_schedule.search_strategy`).

A strategy is asked for candidates round by round, and told what became of them. `tune_tir` and `weft.tune` search by
themselves (`weft.tuning`); these are for who measures in one's own way, as `TaskScheduler` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from ..dialects.support.arguments import checked, checked_methods
from ..dialects.support.diagnostics import Diagnostic, UsageError, did_you_mean
from ..transforms.tir.scheduling.schedule import Schedule
from ..transforms.tir.scheduling.trace import Trace
from .arg_info import ArgInfo
from .cost_model import CostModel
from .records import MeasureCandidate as MeasureCandidate
from .records import TraceDatabase, Workload
from .rule import Context, OfContext, only_function
from .runner import RunnerResult


class SearchStrategy(OfContext):
    """Gives the candidates of a task. Counterpart of TVM's `SearchStrategy`, of which one's own are subclasses."""

    def pre_tuning(
        self,
        max_trials: int,
        num_trials_per_iter: int,
        design_spaces: Sequence[Schedule],
        database: TraceDatabase | None = None,
        cost_model: CostModel | None = None,
    ) -> None:
        """Begin: at most `max_trials` candidates of these designs, so many in a round."""
        raise NotImplementedError(f"{type(self).__name__} has no method pre_tuning")

    def post_tuning(self) -> None:
        """End."""
        raise NotImplementedError(f"{type(self).__name__} has no method post_tuning")

    def generate_measure_candidates(self) -> Sequence[MeasureCandidate] | None:
        """The candidates of the next round, or `None`: there are no more."""
        raise NotImplementedError(f"{type(self).__name__} has no method generate_measure_candidates")

    def notify_runner_results(
        self, measure_candidates: Sequence[MeasureCandidate], results: Sequence[RunnerResult]
    ) -> None:
        """Take in what became of the candidates of a round."""
        raise NotImplementedError(f"{type(self).__name__} has no method notify_runner_results")

    @staticmethod
    @checked
    def create(kind: str = "evolutionary", **parameters: object) -> SearchStrategy:
        """The strategy of a name: `"evolutionary"`, `"replay-trace"` or `"replay-func"`.

        Raises:
            UsageError: there is none.
        """
        kinds: dict[str, type[SearchStrategy]] = {
            "evolutionary": EvolutionarySearch, "replay-trace": ReplayTrace, "replay-func": ReplayFunc,
        }  # fmt: skip
        if kind not in kinds:
            hint = did_you_mean(kind, kinds) or ", ".join(kinds)
            raise UsageError(f"there is no search strategy '{kind}'", hint=hint)
        return kinds[kind](**parameters)


PySearchStrategy = SearchStrategy
"""TVM's name of what one's own are derived from."""


@dataclass
class _Rounds:
    """How far a search is."""

    most: int
    at_once: int
    designs: list[Trace]
    args_info: list[ArgInfo]
    database: TraceDatabase | None
    cost_model: CostModel | None
    measured: int = 0
    empty: int = 0
    """How many rounds had no candidates."""

    @property
    def next_size(self) -> int:
        """How many candidates the next round has."""
        return min(self.at_once, self.most - self.measured)


class _Strategy(SearchStrategy):
    """What Weft's strategies have in common: rounds, and schedules of traces."""

    _context: Context | None = None
    _rounds: _Rounds | None = None
    _random: Random

    def initialize_with_tune_context(self, context: Context) -> None:
        """Take what is scheduled, and how, from the context."""
        self._context = context
        self._random = Random(None if context.rand_state == -1 else context.rand_state)

    @property
    def context(self) -> Context:
        """The context that it works for.

        Raises:
            UsageError: it has been told of none.
        """
        if self._context is None:
            raise UsageError("the search strategy has been told of no context", hint="TuneContext(search_strategy=...)")
        return self._context

    @property
    def rounds(self) -> _Rounds:
        """How far it is.

        Raises:
            UsageError: it has not begun.
        """
        if self._rounds is None:
            raise UsageError(f"{type(self).__name__} has not begun, or has ended", hint="pre_tuning begins")
        return self._rounds

    def pre_tuning(
        self,
        max_trials: int,
        num_trials_per_iter: int,
        design_spaces: Sequence[Schedule],
        database: TraceDatabase | None = None,
        cost_model: CostModel | None = None,
    ) -> None:
        if self._rounds is not None:
            raise UsageError(f"{type(self).__name__} has begun already", hint="post_tuning ends it")
        if max_trials < 1 or num_trials_per_iter < 1 or not design_spaces:
            raise UsageError("a search has designs, and candidates in each round")
        args_info = list[ArgInfo](ArgInfo.from_prim_func(only_function(self.context.mod)))
        designs = [each.trace.simplified(remove_postproc=True) for each in design_spaces]
        self._rounds = _Rounds(max_trials, num_trials_per_iter, designs, args_info, database, cost_model)

    def post_tuning(self) -> None:
        self.rounds  # noqa: B018  # which tells whether it has begun
        self._rounds = None

    def notify_runner_results(
        self, measure_candidates: Sequence[MeasureCandidate], results: Sequence[RunnerResult]
    ) -> None:
        self.rounds.measured += len(results)

    def generate_measure_candidates(self) -> list[MeasureCandidate] | None:
        rounds = self.rounds
        if rounds.next_size <= 0 or (found := self._schedules(rounds.next_size)) is None:
            return None
        return [MeasureCandidate(each, rounds.args_info) for each in found]

    def _schedules(self, count: int) -> list[Schedule] | None:
        """The schedules of a round; `None` where there are no more."""
        raise NotImplementedError

    def _drawn(self) -> Schedule | None:
        """Any of the designs, with any decisions."""
        return self._applied(Trace(self._random.choice(self.rounds.designs).insts, {}))

    def _applied(self, trace: Trace) -> Schedule | None:
        """What a trace makes, once it is repaired; `None` where it does not apply or is rejected."""
        made = Schedule(self.context.mod, seed=self._random.randrange(1 << 31))
        try:
            trace.apply_to_schedule(made, remove_postproc=True)
            return made if self.context.postprocess(made) else None
        except Diagnostic:
            return None


@checked_methods
class ReplayTrace(_Strategy):
    """Designs with decisions that are drawn anew. Counterpart of TVM's strategy of this name.

    Args:
        max_fail_count: so many draws are made for each candidate, of which one has to apply.
    """

    def __init__(self, max_fail_count: int = 100):
        self.max_fail_count = max_fail_count

    def _schedules(self, count: int) -> list[Schedule] | None:
        found: list[Schedule] = []
        for _ in range(count):
            drawn = (self._one() for _ in range(self.max_fail_count))
            if (made := next((each for each in drawn if each is not None), None)) is not None:
                found.append(made)
        return found

    def _one(self) -> Schedule | None:
        return self._drawn()


@checked_methods
class ReplayFunc(ReplayTrace):
    """Designs that the generator is asked for anew, one for each candidate. Counterpart of TVM's strategy of this
    name."""

    def _one(self) -> Schedule | None:
        designs = self.context.generate_design_space()
        try:
            made = self._random.choice(designs)
            return made if self.context.postprocess(made) else None
        except Diagnostic:
            return None


@checked_methods
class EvolutionarySearch(_Strategy):
    """Designs whose decisions are changed generation by generation, those that the cost model thinks well of most
    often. Counterpart of TVM's strategy of this name, with its parameters.

    Args:
        population_size: how many there are in a generation.
        init_measured_ratio: the part of the first generation that is the fastest of the database.
        init_min_unmeasured: at least so many of it are drawn; with fewer the search ends.
        max_fail_count: so many tries to draw the first generation may give nothing.
        genetic_num_iters: how many generations follow in a round.
        genetic_mutate_prob: how often one is changed.
        genetic_max_fail_count: how often that may fail.
        eps_greedy: the part of a round that the cost model has no say in.
    """

    PATIENCE: ClassVar[int] = 5
    """The search ends with so many rounds in which all candidates had been measured."""

    def __init__(
        self,
        *,
        population_size: int = 512,
        init_measured_ratio: float = 0.2,
        init_min_unmeasured: int = 50,
        max_fail_count: int = 5,
        genetic_num_iters: int = 4,
        genetic_mutate_prob: float = 0.85,
        genetic_max_fail_count: int = 10,
        eps_greedy: float = 0.05,
    ):
        for name, part in (
            ("init_measured_ratio", init_measured_ratio),
            ("genetic_mutate_prob", genetic_mutate_prob),
            ("eps_greedy", eps_greedy),
        ):
            if not 0 <= part <= 1:
                raise UsageError(f"{name} is a part, from 0 to 1, and not {part}")
        if population_size < 1:
            raise UsageError(f"a generation has one schedule at least, not {population_size}")
        self.population_size, self.init_measured_ratio = population_size, init_measured_ratio
        self.init_min_unmeasured, self.max_fail_count = init_min_unmeasured, max_fail_count
        self.genetic_num_iters, self.genetic_mutate_prob = genetic_num_iters, genetic_mutate_prob
        self.genetic_max_fail_count, self.eps_greedy = genetic_max_fail_count, eps_greedy

    def pre_tuning(
        self,
        max_trials: int,
        num_trials_per_iter: int,
        design_spaces: Sequence[Schedule],
        database: TraceDatabase | None = None,
        cost_model: CostModel | None = None,
    ) -> None:
        """Begin.

        Raises:
            UsageError: it is given no database or no cost model.
        """
        if database is None or cost_model is None:
            raise UsageError("an EvolutionarySearch needs a database and a cost model", hint="database=, cost_model=")
        super().pre_tuning(max_trials, num_trials_per_iter, design_spaces, database, cost_model)
        self._measured = set[Workload]()

    def _schedules(self, count: int) -> list[Schedule] | None:
        measured = self._fastest(int(self.population_size * self.init_measured_ratio))
        drawn = self._first_generation(self.population_size - len(measured))
        if len(drawn) < self.init_min_unmeasured:
            return None
        picked = self._picked(drawn, self._evolved([*measured, *drawn], count), count)
        if not picked:
            self.rounds.empty += 1
            if self.rounds.empty >= self.PATIENCE:
                return None
        return picked

    def _fastest(self, count: int) -> list[Schedule]:
        """The fastest of the database."""
        database = self.rounds.database
        assert database is not None
        workload = database.commit_workload(self.context.mod)
        found = [self._applied(record.trace) for record in database.get_top_k(workload, count)]
        return [each for each in found if each is not None]

    def _first_generation(self, count: int) -> list[Schedule]:
        """What is drawn, `count` at a time, until there is enough."""
        found: list[Schedule] = []
        failed = 0
        while len(found) < self.init_min_unmeasured and failed < self.max_fail_count:
            drawn = [each for _ in range(count) if (each := self._drawn()) is not None]
            failed += not drawn
            found += drawn
        return found

    def _evolved(self, population: list[Schedule], count: int) -> list[Schedule]:
        """The best so many of all generations that have not been measured, the best first."""
        best: dict[Workload, tuple[float, Schedule]] = {}
        for generation in range(self.genetic_num_iters + 1):
            scores = self._scores(population)
            for score, schedule in zip(scores, population, strict=True):
                workload = Workload(schedule.mod)
                if workload not in self._measured and workload not in best:
                    best[workload] = score, schedule
            if generation < self.genetic_num_iters:
                population = [self._next(population, scores) for _ in range(self.population_size)]
        ranked = sorted(best.values(), key=lambda each: -each[0])
        return [schedule for _, schedule in ranked[:count]]

    def _scores(self, population: Sequence[Schedule]) -> list[float]:
        model = self.rounds.cost_model
        assert model is not None
        candidates = [MeasureCandidate(each, self.rounds.args_info) for each in population]
        return [max(0.0, float(each)) for each in model.predict(self.context, candidates)]

    def _next(self, population: Sequence[Schedule], scores: Sequence[float]) -> Schedule:
        """One of the next generation: one of this one, changed as often as it is said."""
        mutators = list(self.context.mutator_probs.items())
        weights = scores if sum(scores) > 0 else None
        chosen = self._random.choices(population, weights)[0]
        for _ in range(self.genetic_max_fail_count + 1):
            if not mutators or self._random.random() >= self.genetic_mutate_prob:
                return chosen
            mutator = self._random.choices([each for each, _ in mutators], [often for _, often in mutators])[0]
            try:
                changed = mutator.apply(chosen.trace, self._random)
            except Diagnostic:
                changed = None
            if changed is not None and (made := self._applied(changed)) is not None:
                return made
            chosen = self._random.choices(population, weights)[0]
        return chosen

    def _picked(self, drawn: Sequence[Schedule], best: Sequence[Schedule], count: int) -> list[Schedule]:
        """The best, and some of what was drawn, none of which was measured."""
        others = self._random.sample(drawn, len(drawn))
        first = count - int(count * self.eps_greedy)
        waiting = [*best[:first], *others[: max(0, count - min(first, len(best)))], *best[first:]]
        found: list[Schedule] = []
        for each in waiting[:count]:
            if (workload := Workload(each.mod)) not in self._measured:
                self._measured.add(workload)
                found.append(each)
        return found
