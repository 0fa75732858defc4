"""Random te schedules of random computations: what is accepted computes what NumPy does, what is refused changes
nothing."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import numpy.typing as npt
from mutate import run_cases
from random_computations import random_computation
from random_symbolic_functions import Sizes
from te_fuzzer import Step, TeFuzzer
from tir_run import seeds

import weft
from weft import te
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.kernel import build_kernel

COMPILED_EVERY = 8
"""Cases between two that are run as machine code as well."""
SIZES = (3, 0, 1, 6)
"""What a symbol is."""

Arrays = list[npt.NDArray[np.generic]]
Known = Sequence[tuple[Sizes, Arrays, Arrays]]
"""Sizes of symbols, inputs of those, and what is computed of them."""


def run(case: int) -> None:
    random = Random(case)
    made = random_computation(random)
    inputs, outputs, symbols = made.tensors()
    known: list[tuple[Sizes, Arrays, Arrays]] = []
    for sizes in [{"n": size} for size in SIZES] if symbols else [{}]:
        arrays = made.arrays(case, sizes)
        known.append((sizes, arrays, made.expected(arrays, sizes)))
    arguments = [*inputs, *outputs, *symbols]
    on_threads = case % 8 == 5

    def lowered(fuzzer: TeFuzzer) -> PrimFuncOp:
        (func,) = weft.lower(fuzzer.schedule, arguments).ops
        assert isinstance(func, PrimFuncOp)
        return func

    fuzzer = TeFuzzer(outputs, on_threads)
    func = lowered(fuzzer)
    _check_interpreted(func, known, made.text)
    steps: list[Step] = []
    for _ in range(random.randint(2, 10)):
        step = random.choice(list(fuzzer.primitives)), random.getrandbits(32)
        if fuzzer.apply(step) is None:
            try:
                func = lowered(fuzzer)
            except Diagnostic:
                pass  # it is refused here
            else:
                steps.append(step)
                continue
        fuzzer = TeFuzzer(outputs, on_threads)
        for each in steps:
            again = fuzzer.apply(each)
            assert again is None, f"{fuzzer.said} was accepted before: {again}\n{made.text}"
    what = "\n".join([made.text, *fuzzer.said])
    if case % 4 == 1:
        assert str(lowered(fuzzer)) == str(func), f"lowered once more it is another function\n{what}"
    _check_bounds(fuzzer.schedule, what)
    _check_interpreted(func, known, what)
    if case % COMPILED_EVERY == 0:
        kernel = build_kernel(func, start="schedule", codegen_level=1)
        for sizes, arrays, expected in known:
            for kernel.threads in (1, 3):
                how = f"machine code, {sizes}, {kernel.threads} threads"
                _compare(kernel(*arrays, sizes=sizes), expected, func, f"{how}\n{what}")


def _check_bounds(schedule: te.Schedule, what: str) -> None:
    """The loops of an output run over its extents."""
    try:
        bounds = te.InferBound(schedule)
    except Diagnostic as error:
        raise AssertionError(f"InferBound: {error}\n{what}") from error
    for stage in schedule.stages:
        for axis in stage.op.axis if stage.is_output else ():
            assert not isinstance(axis.dim, int) or bounds[axis].extent == axis.dim, f"{stage}: {bounds[axis]}\n{what}"


def _check_interpreted(func: PrimFuncOp, known: Known, what: str) -> None:
    interpreter = Interpreter(func)
    for seed in seeds(func):
        for sizes, arrays, expected in known:
            try:
                found = interpreter(arrays, seed, sizes or None)
            except Diagnostic as error:
                raise AssertionError(f"{sizes}, seed {seed}: {error}\n{what}\n{func}") from error
            _compare(found, expected, func, f"interpreter, {sizes}, seed {seed}\n{what}")


def _compare(found: Arrays, expected: Arrays, func: PrimFuncOp, what: str) -> None:
    for got, want in zip(found, expected, strict=True):
        assert got.shape == want.shape, what
        got = got.view(want.dtype)  # integers have no sign in `tir`
        if not np.array_equal(got, want, equal_nan=want.dtype.kind == "f"):
            raise AssertionError(f"{what}\n{func}\n{got}\nis not\n{want}")


def test_random_te_schedules_compute_the_same(te_cases: range) -> None:
    wrong = run_cases(te_cases, run)
    assert not wrong, f"{len(wrong)} of {len(te_cases)}:\n" + "\n".join(wrong[:20])
