"""Passes of `tir` in any order on random functions, some of them scheduled: what they leave is valid, and computes the
same."""

from __future__ import annotations

from random import Random

import numpy as np
from mutate import run_cases
from random_functions import random_function
from schedule_fuzzer import Fuzzer
from tvmscript_texts import only
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.core import AllocBufferOp, ForOp, PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.kernel import build_kernel
from weft.tir import Schedule
from weft.transforms.infra.registry import get_pass_type, new_ir_context

PASSES = (
    "common-subexpr-elim-tir", "compact-buffer-allocation", "convert-blocks-to-opaque", "convert-for-loops-to-serial",
    "flatten-buffer", "hoist-expression", "hoist-if-then-else", "inject-software-pipeline", "inject-virtual-thread",
    "insert-bounds-checks", "loop-partition", "lower-cross-thread-reduction", "lower-init-block", "lower-opaque-block",
    "plan-and-update-buffer-allocation-location", "reduce-branching-through-overcompute", "remove-no-op",
    "remove-store-undef", "schedule-rules", "simplify", "skip-assert", "storage-flatten", "storage-rewrite",
    "thread-sync", "unify-thread-binding", "unroll-loop", "vectorize-loop",
)  # fmt: skip
OF_DEVICES = ("thread_binding", "storage_sync")
"""What machine code of a processor is not made of."""
COMPILED_EVERY = 8
"""Cases between two that are run as machine code as well."""


def ask(random: Random, module: ModuleOp, name: str) -> None:
    """Annotate a loop of a module for a pass that does nothing without."""
    loops = [op for op in module.walk() if isinstance(op, ForOp) and not op.for_kind.is_concurrent]
    if not loops:
        return
    loop = random.choice(loops)
    noted: dict[str, Attribute] = {"pragma_loop_partition_hint": IntegerAttr(1, i64)}
    if name == "inject-software-pipeline":
        count = sum(not isinstance(op, AllocBufferOp) for op in loop.body.block.ops)
        stages = sorted(random.choice([0, 0, 1, 2]) for _ in range(count))
        orders = [*range(count)]
        if random.random() < 0.5:
            random.shuffle(orders)
        numbers = {"software_pipeline_stage": stages, "software_pipeline_order": orders}
        noted = {key: ArrayAttr(IntegerAttr(each, i64) for each in value) for key, value in numbers.items()}
    loop.properties["annotations"] = DictionaryAttr(noted)


def run(case: int) -> None:
    random = Random(case)
    made = random_function(random)
    arrays = made.arrays(case)
    expected = Interpreter(made.parse())(arrays, None)
    schedule = Schedule(made.parse(), seed=case)
    fuzzer = Fuzzer(schedule, case, threads=case % 3 == 1)
    for _ in range(random.randint(0, 5)):
        fuzzer.step()
    if not fuzzer.is_valid():
        return
    module = ModuleOp([only(schedule).clone()])
    done = [*fuzzer.applied]
    for _ in range(random.randint(1, 5)):
        name = random.choice(PASSES)
        limit = {"auto_max_step": random.choice([4, 16])} if name == "unroll-loop" and random.random() < 0.7 else {}
        if name in ("loop-partition", "inject-software-pipeline") and random.random() < 0.7:
            ask(random, module, name)
        before = module.clone()
        try:
            get_pass_type(name)(**limit).apply(new_ir_context(), module)
        except Diagnostic as error:
            unchanged = module.is_structurally_equivalent(before)
            assert unchanged, f"{name} was refused, after {done}, but has changed\n{before}\n{error}"
            continue
        done.append(name)
        func = module.body.block.first_op
        assert isinstance(func, PrimFuncOp)
        try:
            module.verify()
            given = Interpreter(func)(arrays, 0)
        except Exception as error:
            raise AssertionError(f"{done}: {error}\n{before}\nis now\n{module}") from error
        for want, got in zip(expected, given, strict=True):
            np.testing.assert_array_equal(got, want, f"{done}\n{before}\nis now\n{module}")
    if case % COMPILED_EVERY == 0 and not any(each in str(module) for each in OF_DEVICES):
        func = module.body.block.first_op
        assert isinstance(func, PrimFuncOp)
        try:
            kernel = build_kernel(func, start="schedule", codegen_level=1)
        except Diagnostic as error:
            assert "makes checks" in error.message or "axis_separators" in error.message, (done, str(error))
            return
        for want, got in zip(expected, kernel(*arrays), strict=True):
            np.testing.assert_array_equal(got, want, f"machine code, {done}\n{module}")


def test_passes_in_any_order_keep_what_is_computed(tir_pass_cases: range) -> None:
    wrong = run_cases(tir_pass_cases, run)
    assert not wrong, f"{len(wrong)} of {len(tir_pass_cases)}:\n" + "\n".join(wrong[:20])
