"""Running what was built, to measure it (`tvm.meta_schedule.runner`): in processes, which may fail or hang."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import sleep
from typing import NamedTuple, TypeAlias, cast

import numpy.typing as npt

from ..devices import cpu
from ..dialects.relay.devices import VirtualDevice
from ..dialects.support.arguments import checked, checked_methods
from ..dialects.support.diagnostics import UsageError, did_you_mean
from ..loading import load
from ..runtime.executable import Executable
from .arg_info import ArgInfo, Json
from .isolated import Failure, check_named, function_of, work_apart
from .rule import Named

Arguments: TypeAlias = "Sequence[npt.ArrayLike]"
"""What one run is called with."""
AllocArgument: TypeAlias = "Callable[[VirtualDevice, Sequence[Json], int], Sequence[Arguments]]"
"""Makes the arguments of so many runs."""
RunEvaluator: TypeAlias = "Callable[[Executable, VirtualDevice, EvaluatorConfig, Sequence[Arguments]], Sequence[float]]"
"""Measures what was built on arguments, in seconds."""


class EvaluatorConfig(NamedTuple):
    """How often something is run to be measured. Counterpart of TVM's `EvaluatorConfig`.

    Args:
        number: so many runs are timed together.
        repeat: so many such times are taken.
        min_repeat_ms: the least that one of them takes; `number` is raised until it does.
        enable_cpu_cache_flush: not to be had: what is measured finds its data in the caches.
    """

    number: int = 3
    repeat: int = 1
    min_repeat_ms: int = 100
    enable_cpu_cache_flush: bool = False


@dataclass(frozen=True)
class RunnerInput:
    """What is to be run: a file that a builder has written, on a kind of device, with arguments like these."""

    artifact_path: str
    device_type: str
    args_info: Sequence[ArgInfo]


@dataclass(frozen=True)
class RunnerResult:
    """What became of one: the seconds that runs have taken, or why there are none."""

    run_secs: Sequence[float] | None
    error_msg: str | None


class RunnerFuture:
    """A result that there may not be yet. Counterpart of TVM's `RunnerFuture`; one's own are subclasses, or two
    functions.

    Args:
        f_done: tells whether there is a result.
        f_result: waits for it, and gives it.
    """

    def __init__(self, f_done: Callable[[], bool] | None = None, f_result: Callable[[], RunnerResult] | None = None):
        self._done, self._result = f_done, f_result

    def done(self) -> bool:
        """Whether there is a result."""
        if self._done is None:
            raise NotImplementedError(f"{type(self).__name__} has no method done")
        return self._done()

    def result(self) -> RunnerResult:
        """The result, once there is one."""
        if self._result is None:
            raise NotImplementedError(f"{type(self).__name__} has no method result")
        return self._result()


PyRunnerFuture = RunnerFuture
"""TVM's name of what one's own are derived from."""


def known(result: RunnerResult) -> RunnerFuture:
    """A result that there is."""
    return RunnerFuture(lambda: True, lambda: result)


class Runner(Named):
    """Runs what was built. Counterpart of TVM's `Runner`, of which one's own are subclasses."""

    def run(self, runner_inputs: Sequence[RunnerInput]) -> list[RunnerFuture]:
        """Start to run each of them; the results, in order."""
        raise NotImplementedError(f"{type(self).__name__} has no method run")

    @staticmethod
    @checked
    def create(kind: str = "local", **parameters: object) -> Runner:
        """The runner of a name.

        Raises:
            UsageError: there is none.
        """
        if kind != "local":
            raise UsageError(f"there is no runner '{kind}'", hint=did_you_mean(kind, ["local"]) or "local")
        return LocalRunner(**parameters)  # pyright: ignore[reportArgumentType]


PyRunner = Runner
"""TVM's name of what one's own are derived from."""


@checked_methods
class LocalRunner(Runner):
    """Runs on this machine, one after the other, each in a process of its own, which is ended when its time is up.

    Args:
        timeout_sec: the seconds that one may take.
        evaluator_config: how often it is run.
        cooldown_sec: the seconds to wait after each.
        alloc_repeat: on so many arguments it is measured.
        f_alloc_argument: makes the arguments, or the name that it is registered under (`weft.register_func`); unless
            given, they are examples of what the program takes.
        f_run_evaluator: measures, or its name.
        f_cleanup: is called at the end of each process, or its name.
        initializer: called first in each process; it may register what the names stand for.

    Raises:
        NoFunctionError: nothing is registered under a name, and no `initializer` could; a `ValueError`, too.
        UsageError: there is no time, or caches are to be flushed.
    """

    def __init__(
        self,
        timeout_sec: float = 30.0,
        evaluator_config: EvaluatorConfig | None = None,
        cooldown_sec: float = 0.0,
        alloc_repeat: int = 1,
        f_alloc_argument: AllocArgument | str | None = None,
        f_run_evaluator: RunEvaluator | str | None = None,
        f_cleanup: Callable[[], None] | str | None = None,
        initializer: Callable[[], None] | None = None,
    ):
        self.evaluator_config = EvaluatorConfig() if evaluator_config is None else evaluator_config
        if timeout_sec <= 0 or cooldown_sec < 0 or alloc_repeat < 1:
            raise UsageError("a runner has time, and arguments to run on")
        if self.evaluator_config.enable_cpu_cache_flush:
            raise UsageError("caches are not flushed between runs", hint="enable_cpu_cache_flush=False")
        if initializer is None:
            check_named(f_alloc_argument, f_run_evaluator, f_cleanup)
        self.timeout_sec, self.cooldown_sec, self.alloc_repeat = timeout_sec, cooldown_sec, alloc_repeat
        self._alloc, self._evaluate, self._cleanup = f_alloc_argument, f_run_evaluator, f_cleanup
        self._initializer = initializer

    def run(self, runner_inputs: Sequence[RunnerInput]) -> list[RunnerFuture]:
        """Run each of them; the results are there. What fails is told in its result."""
        results: list[RunnerFuture] = []
        for given in runner_inputs:
            found = work_apart(partial(self._work, given), self.timeout_sec)
            if isinstance(found, Failure):
                results.append(known(RunnerResult(None, f"LocalRunner: {found.message}")))
            else:
                results.append(known(RunnerResult(cast("list[float]", found), None)))
            sleep(self.cooldown_sec)
        return results

    def _work(self, given: RunnerInput) -> list[float]:
        """In the process: measure one."""
        if self._initializer is not None:
            self._initializer()
        try:
            program = load(given.artifact_path)
            device = cpu()
            infos = [each.as_json() for each in given.args_info]
            if self._alloc is None:
                arguments: Sequence[Arguments] = [program.example_inputs() for _ in range(self.alloc_repeat)]
            else:
                made = function_of(self._alloc)(device, infos, self.alloc_repeat)
                arguments = cast("Sequence[Arguments]", made)
            measure = function_of(self._evaluate or seconds_of)
            times = measure(program, device, self.evaluator_config, arguments)
            return [float(each) for each in cast("Sequence[float]", times)]
        finally:
            if self._cleanup is not None:
                function_of(self._cleanup)()


def seconds_of(
    program: Executable, device: VirtualDevice, config: EvaluatorConfig, repeated_args: Sequence[Arguments]
) -> list[float]:
    """The seconds that a run of a program takes, on each of the arguments."""
    found: list[float] = []
    for arguments in repeated_args:
        found += program.benchmark(
            *arguments, repeat=config.repeat, number=config.number, min_repeat_ms=config.min_repeat_ms
        ).results
    return found
