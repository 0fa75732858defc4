"""The strategies of `plan-memory` by name: those of Weft, TVM's, and algorithms of users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ....dialects.support.diagnostics import did_you_mean
from ...infra.config import USMP_ALGORITHM, USMP_CUSTOM_ALGORITHM, USMP_ENABLE
from ...infra.context import PassContext
from ...infra.errors import ConfigError
from .best import best
from .greedy import greedy_by_conflicts, greedy_by_size
from .hill_climb import hill_climb
from .problem import MemoryPlan, Problem
from .tvm_greedy import tvm_greedy

STRATEGIES: Mapping[str, Callable[[Problem], MemoryPlan]] = {
    "best": best,
    "tvm-greedy": tvm_greedy,
    "greedy-by-size": greedy_by_size,
    "greedy-by-conflicts": greedy_by_conflicts,
    "hill-climb": hill_climb,
}

USMP_ALGORITHMS = ("greedy-by-size", "greedy-by-conflicts", "hill-climb")
"""The strategies that are algorithms of TVM's Unified Static Memory Planner, as they are called here; first its own
choice."""

CUSTOM = "custom:"
"""What the strategy of a user's algorithm begins with."""


def strategy_named(name: str) -> Callable[[Problem], MemoryPlan]:
    """The strategy of a name.

    Raises:
        ValueError: there is none.
        UsageError: there is no algorithm of that name.
    """
    if name.startswith(CUSTOM):
        from ..usmp import algorithm_of_user, plan_as_told

        algorithm_of_user(name := name.removeprefix(CUSTOM))
        return partial(plan_as_told, name)
    if name not in STRATEGIES:
        hint = did_you_mean(name, STRATEGIES) or f"strategies are {', '.join(STRATEGIES)}"
        raise ValueError(f"there is no strategy '{name}'; {hint}")
    return STRATEGIES[name]


def configured_strategy() -> str:
    """What the options of the current `PassContext` name that TVM's have for it: `tir.usmp.enable`,
    `tir.usmp.algorithm`, `tir.usmp.custom_algorithm`; `best`, where they name nothing.

    Raises:
        ConfigError: TVM has no such algorithm.
    """
    context = PassContext.current()
    if custom := context.get_config(USMP_CUSTOM_ALGORITHM, None):
        return f"{CUSTOM}{custom}"
    if not context.get_config(USMP_ENABLE, False):
        return "best"
    named = str(context.get_config(USMP_ALGORITHM, "")) or USMP_ALGORITHMS[0]
    if (strategy := named.replace("_", "-")) not in USMP_ALGORITHMS:
        known = [each.replace("-", "_") for each in USMP_ALGORITHMS]
        hint = did_you_mean(named, known) or f"the algorithms are: {', '.join(known)}"
        raise ConfigError(f"'{USMP_ALGORITHM}' names the algorithm '{named}', which there is not", hint=hint)
    return strategy
