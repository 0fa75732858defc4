"""What is scheduled, for what target, and how its design space is made: see `weft.meta_schedule`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import cpu_count
from random import randrange
from typing import TYPE_CHECKING

from ..dialects.support.arguments import checked_methods
from ..dialects.support.diagnostics import UsageError
from ..lowering.machine.target import Target
from ..lowering.machine.target_kinds import CORES
from ..transforms.tir.scheduling.schedule import Schedule
from .rule import Mutator, Scheduled
from .space_generator import Designs, PostOrderApply, ScheduleFn, SpaceGenerator

if TYPE_CHECKING:
    from ..tuning.space import DesignSpace
    from .search_strategy import SearchStrategy


@checked_methods
class TuneContext:
    """A module, a target, a space generator, and perhaps a search strategy. Counterpart of TVM's
    `meta_schedule.TuneContext`; `tune_tir` and `weft.tune` search its designs by themselves.

    Args:
        mod: the module or function; without one there is nothing to schedule.
        target: what code is made for; this machine, unless given.
        space_generator: what gives the designs, or a function for `ScheduleFn`; the rules for the target, unless given.
        search_strategy: what gives candidates to a `TaskScheduler`, or the name of one.
        task_name: what reports call it.
        num_threads: the cores that rules reckon with where the target does not say (`-num-cores`); this machine's,
            unless given.
        rand_state: the seed for what is sampled; -1, as without one, for one that is drawn.
    """

    def __init__(
        self,
        mod: Scheduled | None = None,
        target: Target | str | None = None,
        space_generator: SpaceGenerator | Callable[[Schedule], Designs] | None = None,
        search_strategy: SearchStrategy | str | None = None,
        task_name: str = "main",
        num_threads: int | None = None,
        rand_state: int = -1,
    ):
        self._mod = mod
        self.target = Target() if target is None else Target.parse(target)
        self.task_name = task_name
        self.num_threads = num_threads or cpu_count() or 1
        self.rand_state = randrange(1 << 31) if rand_state == -1 else rand_state
        given = PostOrderApply() if space_generator is None else space_generator
        self.space_generator: SpaceGenerator = given if isinstance(given, SpaceGenerator) else ScheduleFn(given)
        self.space_generator.initialize_with_tune_context(self)
        self.search_strategy = self._strategy(search_strategy)

    def _strategy(self, given: SearchStrategy | str | None) -> SearchStrategy | None:
        if isinstance(given, str):
            from .search_strategy import SearchStrategy

            given = SearchStrategy.create(given)
        if given is not None:
            given.initialize_with_tune_context(self)
        return given

    @property
    def mod(self) -> Scheduled:
        """What is scheduled.

        Raises:
            UsageError: nothing.
        """
        if self._mod is None:
            raise UsageError("the context has no module", hint="TuneContext(mod)")
        return self._mod

    @property
    def cores(self) -> int:
        """How many cores rules reckon with."""
        told = self.target.option(CORES)
        return self.num_threads if told is None else int(told)

    @property
    def mutator_probs(self) -> Mapping[Mutator, float]:
        """What varies a design, each with how often it is asked."""
        return self.space_generator.mutator_probs or {}

    def generate_design_space(self) -> list[Schedule]:
        """The designs, before postprocessors."""
        return self.space_generator.generate_design_space(self.mod)

    def space(self) -> DesignSpace:
        """What a search of the designs draws from.

        Raises:
            ScheduleError: a primitive refuses.
        """
        return self.space_generator.space(self)

    def postprocess(self, sch: Schedule) -> bool:
        """Apply the postprocessors of the generator to a design, in order; whether all have taken it."""
        return self.space_generator.postprocess(sch)
