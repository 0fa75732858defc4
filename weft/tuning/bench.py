"""Measuring a schedule of a kernel: compile it, compare its result, and time it in turns with the default schedule.

A measurement is worth what can be believed of it. The two schedules are timed in pairs, in turns, on memory that stays
where it is, after runs that do not count; the ratio of a pair does not care how fast the machine is just then. Each
time of a pair is the best of several short ones, since what else runs on the machine only ever adds; a pair of which
either time is far from its median all the same is measured again. A schedule that seems faster is measured once more,
and only what is found then counts: of many schedules, the one that was luckiest in the first measurement would look
best. That is done at several places in memory, where caches treat the same code differently. And weights that an
inference reads from memory are copied as often as it takes so that they are read from memory here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle, islice
from statistics import median
from time import perf_counter
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.parser import parse_module
from ..lowering.compiler import compile_graph
from ..lowering.machine.target import Target
from ..runtime.executable import Binding, Executable
from ..transforms.infra import PassContext
from ..transforms.infra.registry import new_ir_context
from ..transforms.tir.scheduling.tuning_records import Status
from .jobs import Job, Measurement

NDArray: TypeAlias = npt.NDArray[np.generic]

DISTURBED = 1.5
"""A time of so many medians is not the kernel's."""
WINDOWS = 6
"""Short times of which the best one counts."""
PROMISING = 0.98
"""A ratio below which a schedule is measured once more."""
HOPELESS = 3.0
"""A ratio above which one time is enough."""
SLOWER = 1.2
"""A ratio above which two pairs are enough."""
TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
"""How far results may be apart, of their size: sums may be added up in another order."""
COARSE = 0.25
"""The same for the element types of a few bits."""


class Reference:
    """A kernel with its default schedule, what it is run on, and its results."""

    def __init__(self, job: Job):
        self.target = Target.parse(job.target)
        with _rules(job):
            self.executable = Executable(
                compile_graph(_module(job.module), self.target, start="tir", jobs=1), job.threads
            )
        self.results: list[tuple[list[NDArray], list[NDArray]]] = []
        for seed in (0, 1):
            arrays = inputs_of(self.executable, seed)
            try:
                binding = self.executable.bind(arrays)
                binding()
            except Diagnostic:
                if seed == 0:
                    raise
                continue  # indices other than 0 are not valid for this kernel
            self.results.append((arrays, [output.copy() for output in binding.outputs]))

        arrays = self.results[0][0]
        self._weights = [[arrays[n].copy() for n in job.weights] for _ in range(job.copies)]

    def bindings(self, executable: Executable, job: Job) -> list[Binding]:
        """`executable` with each copy of the weights; all else that it reads and writes is memory of its own."""
        mine = [array if n in job.weights else array.copy() for n, array in enumerate(self.results[0][0])]
        turns: list[Binding] = []
        for weights in self._weights:
            for n, array in zip(job.weights, weights, strict=True):
                mine[n] = array
            turns.append(executable.bind(mine))
        return turns


def inputs_of(executable: Executable, seed: int) -> list[NDArray]:
    """Arrays for a kernel: of seed 0, floats from 0.1 to 1 and integers that are 0, which any kernel can be given; of
    others, floats from -1 to 1, integers 0 and 1. Those of 8 bits take all values."""
    random = np.random.default_rng(seed)
    arrays: list[NDArray] = []
    for example in executable.example_inputs():
        shape, dtype = example.shape, example.dtype
        if dtype.kind in "iu" and dtype.itemsize == 1:
            info = np.iinfo(dtype.str)
            values = random.integers(info.min, info.max, shape, endpoint=True)
        elif dtype.kind in "biu":
            values = random.integers(0, 2 if seed else 1, shape)
        else:
            values = random.uniform(-1 if seed else 0.1, 1, shape)
        arrays.append(values.astype(dtype))
    return arrays


def measure(job: Job, reference: Reference) -> Measurement:
    """Compile, check and time the schedule of a job.

    Raises:
        Diagnostic: the default schedule cannot be run.
    """
    spent: dict[str, float] = {}
    start = perf_counter()
    try:
        with _rules(job):
            module = _module(job.module, job.schedule)
            executable = Executable(compile_graph(module, reference.target, start="tir", jobs=1), job.threads)
    except Diagnostic as error:
        return Measurement(Status.REFUSED, message=error.message, spent={"compile": perf_counter() - start})
    spent["compile"], start = perf_counter() - start, perf_counter()
    for arrays, expected in reference.results:
        binding = executable.bind(arrays)
        try:
            binding()
        except Diagnostic as error:
            return Measurement(Status.WRONG, message=error.message, spent=spent)
        if (difference := differs(binding.outputs, expected)) is not None:
            return Measurement(Status.WRONG, message=difference, spent=spent)
    spent["check"], start = perf_counter() - start, perf_counter()

    def placed() -> tuple[Timer, Timer]:
        return Timer(reference.bindings(reference.executable, job)), Timer(reference.bindings(executable, job))

    pairs = time_pairs(placed, job.effort.rounds, job.effort.min_ms)
    spent["time"] = perf_counter() - start
    before, after = (median(side) for side in zip(*pairs, strict=True))
    return Measurement(Status.MEASURED, tuple(b / a for a, b in pairs), after, before, spent=spent)


def _rules(job: Job) -> PassContext:
    rules = job.rules
    return PassContext(rules.opt_level, list(rules.required), list(rules.disabled), config=rules.config)


def _module(text: str, schedule: str = "") -> ModuleOp:
    """The module in a text, with a schedule beside its functions."""
    context = new_ir_context()
    module = parse_module(text, context, "kernel.mlir")
    for op in list(parse_module(schedule, context, "schedule.mlir").ops):
        op.detach()
        module.body.block.add_op(op)
    return module


def differs(given: Sequence[NDArray], expected: Sequence[NDArray]) -> str | None:
    """How results differ by more than the order of sums explains; `None` where they do not."""
    for number, (one, other) in enumerate(zip(given, expected, strict=True)):
        if one.dtype.kind in "biu":
            if not np.array_equal(one, other):
                return f"result {number} has other integers"
            continue
        a, b = one.astype(np.float64), other.astype(np.float64)
        if not np.array_equal(np.isfinite(a), np.isfinite(b)):
            return f"result {number} is not finite where it should be, or is where it should not"
        a, b = a[np.isfinite(b)], b[np.isfinite(b)]
        size = max(float(np.sqrt(np.mean(b * b))) if b.size else 0.0, 1e-30)
        worst = float(np.max(np.abs(a - b) / np.maximum(np.abs(b), size))) if b.size else 0.0
        if not worst <= TOLERANCE.get(one.dtype.name, COARSE):
            return f"result {number} is off by {worst:.2g} of its size"
    return None


class Timer:
    """Times calls of a kernel on its memories, which take turns."""

    def __init__(self, bindings: Sequence[Callable[[], object]]):
        self._turns = cycle(bindings)

    def __call__(self, repeats: int) -> float:
        """Seconds of one call, of so many."""
        calls = list(islice(self._turns, repeats))
        start = perf_counter()
        for call in calls:
            call()
        return (perf_counter() - start) / repeats


def time_pairs(placed: Callable[[], tuple[Timer, Timer]], rounds: int, min_ms: float) -> list[tuple[float, float]]:
    """Seconds of both that `placed` gives, in pairs: `rounds` that nothing has disturbed; where the machine is never
    quiet, all. Each call of `placed` gives them other memory."""
    one, other = placed()
    repeats = [_repeats(timer, min_ms / WINDOWS) for timer in (one, other)]
    first = one(repeats[0]), other(repeats[1])
    if first[1] > HOPELESS * first[0]:
        return [first]
    pairs = _undisturbed(one, other, rounds, repeats)
    if median(b / a for a, b in pairs) < PROMISING:
        del one, other
        places = (placed() for _ in range(rounds))
        pairs = [pair for timers in places for pair in _undisturbed(*timers, 2, repeats)]
    return pairs


def _repeats(timer: Timer, ms: float) -> int:
    """How often to run for so many milliseconds; running to find out warms up."""
    timer(1)
    return max(1, int(ms / 1e3 / max(min(timer(1) for _ in range(3)), 1e-7)))


def _undisturbed(one: Timer, other: Timer, rounds: int, repeats: Sequence[int]) -> list[tuple[float, float]]:
    pairs: list[tuple[float, float]] = []
    for _ in range(3 * rounds):
        if len(pairs) >= 2 and min(after / before for before, after in pairs) > SLOWER:
            return pairs
        turns = [(one(repeats[0]), other(repeats[1])) for _ in range(WINDOWS)]
        pairs.append((min(turn[0] for turn in turns), min(turn[1] for turn in turns)))
        if len(good := undisturbed(pairs)) >= rounds:
            return good
    return pairs


def undisturbed(pairs: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The pairs of which both times are near their medians."""
    limits = [DISTURBED * median(side) for side in zip(*pairs, strict=True)]
    return [pair for pair in pairs if all(time <= limit for time, limit in zip(pair, limits, strict=True))]
