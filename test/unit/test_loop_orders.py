"""The orders of loops that the rules leave open: each computes the same, and is the one that was chosen."""

from __future__ import annotations

from typing import Any

import pytest
from te_samples import blocked_conv, dense
from tir_run import Stage, assert_interprets, inputs_of, prim_func

from weft.dialects.te.evaluate import evaluate
from weft.dialects.tir.core import PrimFuncOp
from weft.transforms.tir.rules.choosing import ANALYTIC, Decision, choosing
from weft.transforms.tir.rules.registers import VectorRegisters
from weft.transforms.tir.schedule_rules import schedule_by_rules

REGISTERS = VectorRegisters(16, 16)
STAGES = {"conv": blocked_conv(1, 2, 2, 6, 6, 2, 4), "dense": dense(6, 32, 8, 4)}
RULES = ("tile-order", "sum-order", "sum-steps", "fuse-pixels")


class Insistent:
    """Takes an option of one rule, and what has most merit of the others."""

    def __init__(self, rule: str, index: int):
        self.rule, self.index = rule, index
        self.count = 0

    def choose(self, decision: Decision[Any]) -> int:
        if decision.rule != self.rule:
            return ANALYTIC.choose(decision)
        self.count = len(decision.options)
        return min(self.index, self.count - 1)


def scheduled(stage: Stage, chooser: Insistent) -> PrimFuncOp:
    func = prim_func(stage)
    with choosing(chooser):
        schedule_by_rules(func, REGISTERS)
    return func


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", STAGES)
def test_every_order_computes_the_same(name: str, rule: str) -> None:
    stage = STAGES[name]
    arrays = inputs_of(stage)
    wanted = evaluate(stage[1], dict(zip(stage[0], arrays, strict=True)))
    first = Insistent(rule, 0)
    texts = {str(scheduled(stage, first))}
    others = range(1, first.count)
    indices = sorted({*others[:: max(1, first.count // 6)], *others[-1:]})
    for index in indices:
        func = scheduled(stage, Insistent(rule, index))
        func.verify()
        texts.add(str(func))
        if index == first.count - 1:
            assert_interprets(func, arrays, wanted, 1e-4)
    assert len(texts) == 1 + len(indices), "two options are the same"


def test_there_are_orders_to_choose_from() -> None:
    counts: dict[tuple[str, str], int] = {}
    for name, stage in STAGES.items():
        for rule in RULES:
            chooser = Insistent(rule, 0)
            scheduled(stage, chooser)
            counts[name, rule] = chooser.count
    assert counts["conv", "sum-order"] == 24 and counts["conv", "tile-order"] >= 2
    assert counts["dense", "tile-order"] >= 3 and counts["dense", "sum-steps"] == 3, counts
