"""Random schedules of random functions: what is accepted computes the same, what is refused changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import numpy as np
import numpy.typing as npt
from mutate import run_cases
from random_forms import random_formed_function
from random_functions import random_function
from random_symbolic_functions import random_symbolic_function
from schedule_fuzzer import HARMLESS, Fuzzer
from tir_run import HOST, seeds
from tvmscript_texts import only
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType

from weft.dialects.relay.core import CallLoweredOp, FuncOp, ReturnOp
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.core import PrimFuncOp, memref_of
from weft.dialects.tir.interpreter import Interpreter
from weft.kernel import Kernel, build_kernel
from weft.lowering.compiler import compile_graph
from weft.meta_schedule import TuneContext
from weft.runtime.executable import Executable
from weft.tir import Schedule
from weft.transforms.infra import PassContext
from weft.transforms.infra.config import BOUNDS_CHECKS
from weft.transforms.infra.execution import run as run_pass
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.tir.apply_schedule import ApplySchedulePass
from weft.transforms.tir.inject_virtual_thread import InjectVirtualThreadPass
from weft.transforms.tir.lower_cross_thread_reduction import LowerCrossThreadReductionPass
from weft.transforms.tir.thread_sync import ThreadSyncPass
from weft.tuning.space import schedule_of

COMPILED_EVERY = 8
"""Schedules between two that are run as machine code as well."""
NOT_ON_PROCESSORS = ("axis_separators", "thread_binding")
"""Memory of several dimensions, and threads of devices."""
DEPENDENT = 7
"""Of 16 cases with symbols, the one with loops whose lengths depend on others."""
SIZES = ((0, 3), (1, 1), (5, 4), (7, 2), (2, 0))

Arrays = list[npt.NDArray[np.generic]]


def run(case: int, wide: bool = False) -> None:
    """One case; a `wide` one has reads at indices that are read, threads of devices, and its trace as text."""
    random = Random(case)
    made = random_function(random, wide)
    arrays = made.arrays(case)
    expected = Interpreter(made.parse())(arrays, None)
    schedule = Schedule(made.parse(), seed=case, debug_mask="all" if case % 4 == 0 else "none")
    fuzzer = Fuzzer(schedule, case, wide)
    if not _scheduled(fuzzer, random, [arrays], [expected]):
        return
    if case % 4 == 0:
        _check_trace(schedule, made.parse)
    if wide and case % 4 == 1:
        _check_text(schedule, made.parse())
    if case % COMPILED_EVERY == 0:
        scheduled = random.random() < 0.7
        func, start = (only(schedule), "schedule") if scheduled else (made.parse(), "tir")
        if not any(each in str(func) for each in NOT_ON_PROCESSORS):
            what = f"{fuzzer.applied}\n{schedule.mod}" if scheduled else f"by rules\n{made.text}"
            _check_machine_code(build_kernel(func, start=start, codegen_level=1), arrays, expected, what)


def run_symbolic(case: int) -> None:
    """One case of a function that takes any sizes."""
    random = Random(case)
    made = random_symbolic_function(random, case % 16 == DEPENDENT)
    sizes = [dict(zip("nm", each, strict=True)) for each in SIZES]
    given = [made.arrays(case, each) for each in sizes]
    interpreter = Interpreter(made.parse())
    expected = [interpreter(arrays, None) for arrays in given]
    schedule = Schedule(made.parse(), seed=case, debug_mask="all" if case % 4 == 0 else "none")
    fuzzer = Fuzzer(schedule, case)
    if not _scheduled(fuzzer, random, given, expected):
        return
    if case % 4 == 0:
        _check_trace(schedule, made.parse)
    if case % 4 == 1:
        _check_text(schedule, made.parse())
    if case % COMPILED_EVERY == 0 and not any(each in str(schedule.mod) for each in NOT_ON_PROCESSORS):
        try:
            kernel = build_kernel(only(schedule), start="schedule", codegen_level=1)
        except Diagnostic as error:
            assert any(reason in error.message for reason in NOT_AS_LOOPS), f"{fuzzer.applied}: {error}"
            return
        for arrays, want in zip(given, expected, strict=True):
            _check_machine_code(kernel, arrays, want, f"{fuzzer.applied}\n{schedule.mod}")


NOT_AS_LOOPS = ("a thread's own buffer takes a room that is known only when",)
"""What machine code cannot be made of: memory on a thread's stack of any size."""


def _scheduled(fuzzer: Fuzzer, random: Random, given: Sequence[Arrays], expected: Sequence[Arrays]) -> bool:
    """Apply primitives at random; whether the function stands for itself in the end. What is accepted gives what is
    `expected` of each of the arrays that are `given`."""

    known = list(zip(given, expected, strict=True))

    def check(some: Sequence[tuple[Arrays, Arrays]] = known) -> None:
        func = only(fuzzer.schedule)
        interpreter = Interpreter(func)
        for seed in seeds(func):
            for arrays, wants in some:
                try:
                    found = interpreter(arrays, seed)
                except Diagnostic as error:
                    raise AssertionError(f"{fuzzer.applied}: {error}") from error
                for want, got in zip(wants, found, strict=True):
                    np.testing.assert_array_equal(got, want, f"{fuzzer.applied}\n{fuzzer.schedule.mod}")

    for _ in range(random.randint(4, 16)):
        if fuzzer.step() and (not fuzzer.applied or fuzzer.applied[-1] not in HARMLESS) and fuzzer.is_valid():
            check([known[len(fuzzer.applied) % len(known)]])
    if not fuzzer.is_valid():
        return False
    check()
    return True


def _check_trace(schedule: Schedule, parse: Callable[[], PrimFuncOp]) -> None:
    """The trace does it again."""
    again = Schedule(parse())
    schedule.trace.apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod), f"the trace of {schedule.trace}"


def _check_text(schedule: Schedule, func: PrimFuncOp) -> None:
    """So does its text, which a module holds that is read and scheduled."""
    text = str(ModuleOp([func, schedule.trace.op.clone()]))
    try:
        module = parse_module(text, new_ir_context(), "schedule.mlir")
        module.verify()
        assert str(module) == str(parse_module(str(module), new_ir_context(), "again.mlir")), text
        ApplySchedulePass().apply(new_ir_context(), module)
    except Diagnostic as error:
        raise AssertionError(f"{error}\n{text}") from error
    assert str(module.body.block.first_op) == str(only(schedule)), text


def _check_machine_code(kernel: Kernel, arrays: Arrays, expected: Arrays, what: str) -> None:
    for kernel.threads in (1, 3):
        given = kernel(*arrays)
        for want, got in zip(expected, given, strict=True):
            np.testing.assert_array_equal(got, want, f"machine code, {kernel.threads} threads, {what}")


def run_design(case: int) -> None:
    """One case of TVM's rules, mutators and postprocessors: what they make of a function, from its record."""
    random = Random(case)
    made = random_function(random, case % 3 == 0)
    arrays = made.arrays(case)
    expected = Interpreter(made.parse())(arrays, None)
    on_threads = case % 4 == 3
    target = "cuda" if on_threads else "llvm -num-cores=4"
    space = TuneContext(made.parse(), target, rand_state=case).space()
    drawn = space.drawn(random)
    mutated = None if drawn is None or on_threads else space.mutated(drawn, random)
    for each in (candidate for candidate in (drawn, mutated) if candidate is not None):
        schedule = schedule_of(each.schedule, made.parse())
        if on_threads:
            for lowering in (InjectVirtualThreadPass(), LowerCrossThreadReductionPass(), ThreadSyncPass()):
                run_pass(lowering, schedule.mod)
        found = Interpreter(only(schedule))(arrays, case if case % 2 else None)
        for want, got in zip(expected, found, strict=True):
            np.testing.assert_array_equal(got, want, f"{each.schedule}\n{schedule.mod}")
        if case % 4 == 0:
            kernel = build_kernel(only(schedule), start="schedule", codegen_level=1)
            _check_machine_code(kernel, arrays, expected, each.schedule)


def run_formed(case: int) -> None:
    """One case of a function in other forms, of several element types: at least six primitives, as machine code that
    checks its accesses; every third has symbols."""
    random = Random(case)
    made = random_formed_function(random, case % 3 == 0)
    sizes: list[dict[str, int]] = [dict(zip("nm", each, strict=True)) for each in FORMED_SIZES if made.is_open] or [{}]
    given = [made.arrays(case, each) for each in sizes]
    interpreter = Interpreter(made.parse())
    expected = [interpreter(arrays, None) for arrays in given]
    schedule = Schedule(made.parse(), seed=case, debug_mask="all" if case % 4 == 0 else "none")
    fuzzer = Fuzzer(schedule, case, case % 5 == 4, sampling=True)
    if not _scheduled(fuzzer, random, given, expected):
        return
    if case % 4 == 0:
        _check_trace(schedule, made.parse)
    if case % 4 == 1:
        _check_text(schedule, made.parse())
    func, start = (made.parse(), "tir") if case % 4 == 2 else (only(schedule), "schedule")
    if any(each in str(func) for each in NOT_ON_PROCESSORS):
        return
    what = f"{fuzzer.applied}\n{func}"
    try:
        run = _of_any_size(func, start) if made.is_open else _checked(func, len(made.outputs), start)
    except Diagnostic as error:
        assert any(reason in error.message for reason in NOT_AS_LOOPS), f"{error}\n{what}"
        return
    for threads in (1, 3):
        for arrays, wants in zip(given, expected, strict=True):
            for want, got in zip(wants, run(arrays, threads), strict=True):
                np.testing.assert_array_equal(got.view(want.dtype), want, f"{threads} threads, {what}")


FORMED_SIZES = ((5, 4), (0, 3), (1, 1), (7, 2), (2, 9))


def _of_any_size(func: PrimFuncOp, start: str) -> Callable[[Arrays, int], Arrays]:
    kernel = build_kernel(func, start=start, codegen_level=1)

    def run(arrays: Arrays, threads: int) -> Arrays:
        kernel.threads = threads
        return list(kernel(*arrays))

    return run


def _checked(func: PrimFuncOp, outputs: int, start: str) -> Callable[[Arrays, int], Arrays]:
    """Machine code that checks its accesses: a graph that calls a function tells of what is wrong."""
    types = [memref_of(arg) for arg in func.region.block.args]
    tensors = [TensorType(each.element_type, each.get_shape()) for each in types]
    main = FuncOp("main", FunctionType.from_lists(tensors[:-outputs], tensors[-outputs:]))
    call = CallLoweredOp(func.sym_name.data, list(main.body.block.args), tensors[-outputs:])
    main.body.block.add_ops([call, ReturnOp(*call.results)])
    with PassContext(3, config={BOUNDS_CHECKS: True}):
        graph = compile_graph(ModuleOp([func.clone(), main]), HOST, start=start, codegen_level=1, jobs=1)

    def run(arrays: Arrays, threads: int) -> Arrays:
        signless = [each.view(f"i{each.itemsize}") if each.dtype.kind == "u" else each for each in arrays]
        given = Executable(graph, threads)(*signless)
        return [np.asarray(each) for each in (given if isinstance(given, tuple) else (given,))]

    return run


def run_wide(case: int) -> None:
    """One case of the functions and primitives that came later: every other one has symbols."""
    run_symbolic(case) if case % 2 else run(case // 2, wide=True)


def test_random_schedules_compute_the_same(schedule_cases: range) -> None:
    wrong = run_cases(schedule_cases, run)
    assert not wrong, f"{len(wrong)} of {len(schedule_cases)}:\n" + "\n".join(wrong[:20])


def test_random_schedules_of_gathers_sizes_and_threads_compute_the_same(wide_schedule_cases: range) -> None:
    wrong = run_cases(wide_schedule_cases, run_wide)
    assert not wrong, f"{len(wrong)} of {len(wide_schedule_cases)}:\n" + "\n".join(wrong[:20])


def test_random_schedules_of_other_forms_compute_the_same(formed_schedule_cases: range) -> None:
    wrong = run_cases(formed_schedule_cases, run_formed)
    assert not wrong, f"{len(wrong)} of {len(formed_schedule_cases)}:\n" + "\n".join(wrong[:20])


def test_random_designs_compute_the_same(design_cases: range) -> None:
    wrong = run_cases(design_cases, run_design)
    assert not wrong, f"{len(wrong)} of {len(design_cases)}:\n" + "\n".join(wrong[:20])


MENDED = (200112, 202880, 203349, 204951, 205018, 206292, 206663, 206976, 207444, 209939)
"""Cases that once showed a mistake: a vectorized loop that a split repeats, a thread's own buffer whose steps a reorder
parts, a partial iterator that is narrowed, a copy of each step's own, an init before what reduces twice, a repeated
init, a loop without iterations, places that memory says, a parallel loop of one iteration that is run again, and a
reduction along one."""


MENDED_WIDE = (3, 165, 1281, 1345, 1357, 1429)
"""The same of the wider ones: padding of symbolic extents, a reduction of no steps whose loop has elements too, a
reader that takes a diagonal, and reductions of no steps with others in their loops."""


def test_schedules_that_were_wrong_are_right() -> None:
    wrong = run_cases(MENDED, run) + run_cases(MENDED_WIDE, run_wide)
    assert not wrong, "\n".join(wrong)
