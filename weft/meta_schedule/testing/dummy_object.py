"""Parts of a search that do next to nothing (`tvm.meta_schedule.testing.dummy_object`)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from ...transforms.tir.scheduling.trace import Trace
from ..builder import Builder, BuilderInput, BuilderResult
from ..mutator import Mutator
from ..runner import Runner, RunnerFuture, RunnerInput, RunnerResult


class DummyBuilder(Builder):
    """Builds nothing, and says that it has."""

    def build(self, build_inputs: Sequence[BuilderInput]) -> list[BuilderResult]:
        return [BuilderResult("test_path", None) for _ in build_inputs]


class DummyRunner(Runner):
    """Runs nothing, and says that it took any time from 5 to 30 s."""

    def __init__(self, seed: int = 0):
        self._random = Random(seed)

    def run(self, runner_inputs: Sequence[RunnerInput]) -> list[RunnerFuture]:
        results = [RunnerResult([self._random.uniform(5, 30)], None) for _ in runner_inputs]
        return [RunnerFuture(lambda: True, lambda result=result: result) for result in results]


class DummyMutator(Mutator):
    """Varies nothing: a design with as many instructions and the decisions that it has."""

    def apply(self, trace: Trace, random: Random | None = None) -> Trace | None:
        return trace
