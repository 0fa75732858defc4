"""Loops that are cut where branches beneath are decided: what they compute, where they are cut, and what stays open."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tvmscript_texts import function
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

import weft
from weft.dialects.tir.core import ForKind, ForOp, PrimFuncOp
from weft.tir import Interpreter
from weft.transforms.infra.execution import run
from weft.transforms.tir.branch_partition import _Comparison  # pyright: ignore[reportPrivateUsage]
from weft.transforms.tir.loop_partition import LoopPartitionPass
from weft.transforms.tir.simplify import SimplifyPass

CASES = """
@T.prim_func
def f(A: T.Buffer[(20, 3), "int32"], B: T.Buffer[(20, 3), "int32"]):
    for i in T.serial(20, annotations={{"pragma_loop_partition_hint": 1}}):
        for j in range(3):
            if {condition}:
                B[i, j] = A[i, j] + 1
            else:
                B[i, j] = A[i, j] * 2
"""
CONDITIONS = [
    ("i < 7", [7, 13], 0),
    ("i >= 7 and 15 > i", [7, 8, 5], 0),
    ("i == 7", [7, 1, 12], 0),
    ("i != 0", [1, 19], 0),
    ("i * 3 == 12", [4, 1, 15], 0),
    ("i * 3 + j < 20", [6, 1, 13], 1),
    ("i + j >= 4 or i > 11", [2, 2, 8, 8], 1),
    ("20 - i * 2 <= j", [9, 1, 10], 1),
    ("i + j == 5", [3, 3, 14], 1),
    ("i < 100", [20], 0),
]


def partitioned(func: PrimFuncOp, **options: bool) -> PrimFuncOp:
    module = ModuleOp([func.clone()])
    with weft.PassContext(config={"tir.LoopPartition": options} if options else {}):
        run(LoopPartitionPass(), module)
    run(SimplifyPass(), module)
    module.verify()
    (made,) = module.ops
    assert isinstance(made, PrimFuncOp)
    return made


@pytest.mark.parametrize(("condition", "parts"), [(c, p) for c, p, _ in CONDITIONS])
def test_parts_compute_what_the_loop_did(condition: str, parts: list[int]) -> None:
    func = function(CASES.format(condition=condition))
    A = np.arange(60, dtype=np.int32).reshape(20, 3)
    made = partitioned(func)
    np.testing.assert_array_equal(Interpreter(made)([A])[0], Interpreter(func)([A])[0])
    kept = partitioned(func, no_unroll_loop_with_extent_one=True)
    assert [op.trip_count for op in kept.region.block.ops if isinstance(op, ForOp)] == parts


@pytest.mark.parametrize(("condition", "open_parts"), [(c, n) for c, _, n in CONDITIONS])
def test_branches_stay_only_where_they_are_open(condition: str, open_parts: int) -> None:
    made = partitioned(function(CASES.format(condition=condition)), no_unroll_loop_with_extent_one=True)
    branches = [op for op in made.walk() if isinstance(op, scf.IfOp)]
    assert len(branches) == open_parts


def test_parts_with_open_branches_are_unrolled_where_that_is_asked_for() -> None:
    made = partitioned(
        function(CASES.format(condition="i * 3 + j < 20")), unroll_loop_with_partition_hint_no_interval=True
    )
    kinds = [op.for_kind for op in made.region.block.ops if isinstance(op, ForOp)]
    assert kinds == [ForKind.SERIAL, ForKind.UNROLLED, ForKind.SERIAL]


def test_loops_of_known_extents_stay_where_only_open_ones_are_to_be_cut() -> None:
    text = CASES.format(condition="i < 7").replace(', annotations={"pragma_loop_partition_hint": 1}', "")
    assert "hint" not in text
    made = partitioned(function(text), partition_const_loop=False)
    assert len([op for op in made.region.block.ops if isinstance(op, ForOp)]) == 1


@pytest.mark.parametrize("factor", [-3, -2, -1, 1, 2, 3])
@pytest.mark.parametrize("equality", [False, True])
def test_between_cuts_a_comparison_that_can_be_decided_is(factor: int, equality: bool) -> None:
    for low, width in product(range(-9, 10), range(4)):
        asked = _Comparison(factor, low, low + width, equality)

        def answers(value: int, asked: _Comparison = asked) -> set[bool]:
            found = [asked.factor * value + rest for rest in range(asked.low, asked.high + 1)]
            return {each == 0 if equality else each >= 0 for each in found}

        cuts = asked.cuts()
        for value in range(-12, 12):
            assert asked.is_decided(value, value + 1) == (len(answers(value)) == 1)
            if answers(value) != answers(value + 1):
                assert value + 1 in cuts
