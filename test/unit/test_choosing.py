"""Rules propose and choosers decide: whatever is chosen computes the same, and can be chosen again."""

from __future__ import annotations

import pytest
from te_samples import batch_matmul, dense, softmax
from tir_run import Stage, assert_interprets, inputs_of, prim_func

from weft.dialects.te.evaluate import evaluate
from weft.dialects.tir.core import PrimFuncOp
from weft.transforms.tir.rules.choosing import Decided, Drawn, Replayed, choosing
from weft.transforms.tir.rules.registers import VectorRegisters
from weft.transforms.tir.schedule.errors import ScheduleError
from weft.transforms.tir.schedule_rules import schedule_by_rules

STAGES = {"dense": dense(6, 5, 16), "softmax": softmax(4, 12), "batch_matmul": batch_matmul(2, 6, 16, 5)}
REGISTERS = VectorRegisters(16, 32)


def scheduled(stage: Stage, chooser: Drawn | Replayed | None = None) -> tuple[PrimFuncOp, list[Decided]]:
    """A stage, scheduled by what `chooser` picks, and what that was."""
    func = prim_func(stage)
    if chooser is None:
        schedule_by_rules(func, REGISTERS)
        return func, []
    with choosing(chooser) as decided:
        schedule_by_rules(func, REGISTERS)
    return func, decided


@pytest.mark.parametrize("name", STAGES)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_drawn_computes_the_same_and_is_drawn_again(name: str, seed: int) -> None:
    stage = STAGES[name]
    func, decided = scheduled(stage, Drawn(seed))
    func.verify()
    arrays = inputs_of(stage)
    assert_interprets(func, arrays, evaluate(stage[1], dict(zip(stage[0], arrays, strict=True))), 1e-4)
    again, replayed = scheduled(stage, Replayed(each.index for each in decided))
    assert (str(again), replayed) == (str(func), decided)


@pytest.mark.parametrize("name", STAGES)
def test_without_a_chooser_analysis_decides(name: str) -> None:
    plain, _ = scheduled(STAGES[name])
    func, decided = scheduled(STAGES[name], Replayed([]))
    assert str(func) == str(plain)
    assert decided, "nothing was open"


def test_draws_differ() -> None:
    assert len({str(scheduled(STAGES["batch_matmul"], Drawn(seed))[0]) for seed in range(6)}) > 2


def test_decisions_say_what_was_open() -> None:
    _, decided = scheduled(STAGES["dense"], Replayed([]))
    (tile,) = [each for each in decided if each.rule == "register-tile"]
    assert tile.block == "dense" and 0 <= tile.index < tile.count


def test_an_option_that_there_is_not_is_refused() -> None:
    with pytest.raises(ScheduleError, match="options for this block, none of number 1000"):
        scheduled(STAGES["dense"], Replayed([1000]))


def test_choosers_hold_for_their_block_only() -> None:
    with choosing(Drawn(0)):
        pass
    assert str(scheduled(STAGES["dense"])[0]) == str(scheduled(STAGES["dense"], Replayed([]))[0])
