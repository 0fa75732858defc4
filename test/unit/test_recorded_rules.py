"""What the schedule rules do is a schedule too: recorded, printed and applied to the unscheduled function, it gives
what the rules gave."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from te_samples import batch_matmul, blocked_conv, conv, dense, depthwise, layer_norm, softmax
from tir_run import Stage, prim_func
from xdsl.dialects.builtin import ModuleOp

from weft.dialects.schedule.core import SequenceOp
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.core import PrimFuncOp
from weft.tir import Schedule
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.tir.apply_schedule import ApplySchedulePass
from weft.transforms.tir.rules.registers import VectorRegisters
from weft.transforms.tir.schedule_rules import ScheduleRulesPass, schedule_by_rules
from weft.transforms.tir.scheduling.recorded import recording
from weft.transforms.tir.scheduling.trace import Trace

STAGES: dict[str, Callable[[], Stage]] = {
    "dense": lambda: dense(64, 128, 32),
    "dense_with_rests": lambda: dense(7, 50, 5),
    "one_row": lambda: dense(1, 64, 32),
    "batch_matmul": lambda: batch_matmul(3, 20, 32, 12),
    "transposed_factor": lambda: batch_matmul(1, 20, 128, 12, transposed=True),
    "whole_transposed_factor": lambda: batch_matmul(1, 20, 48, 12, transposed=True),
    "softmax": lambda: softmax(40, 90),
    "layer_norm": lambda: layer_norm(33, 64),
    "conv": lambda: conv(1, 4, 8, 9, 9, 3, pad=1),
    "blocked_conv": lambda: blocked_conv(1, 2, 3, 8, 8, 3, 16),
    "pointwise_conv": lambda: blocked_conv(1, 2, 3, 7, 7, 1, 16),
    "depthwise": lambda: depthwise(2, 9, 9, 3, 16, pad=1),
}


def without_names(func: PrimFuncOp) -> str:
    """The text of a function, values numbered."""
    copy = func.clone()
    for block in [block for op in copy.walk() for region in op.regions for block in region.blocks]:
        for value in (*block.args, *(result for op in block.ops for result in op.results)):
            value.name_hint = None
    return str(copy)


@pytest.mark.parametrize("name", STAGES)
def test_a_recorded_rule_is_a_schedule_that_does_the_same(name: str) -> None:
    unscheduled = prim_func(STAGES[name]())
    by_rules = unscheduled.clone()
    with recording(by_rules, "rules") as trace:
        schedule_by_rules(by_rules, VectorRegisters())
    assert len(trace.insts) > 1
    module = parse_module(str(trace.op), new_ir_context(), "trace.mlir")
    module.verify()
    sequence = module.body.block.first_op
    assert isinstance(sequence, SequenceOp)
    schedule = Schedule(unscheduled)
    Trace(sequence).apply_to_schedule(schedule)
    again = schedule.mod.body.block.first_op
    assert isinstance(again, PrimFuncOp)
    assert without_names(again) == without_names(by_rules)


@pytest.mark.parametrize("name", ["dense", "softmax"])
def test_recording_changes_nothing(name: str) -> None:
    recorded, alone = prim_func(STAGES[name]()), prim_func(STAGES[name]())
    with recording(recorded, "rules"):
        schedule_by_rules(recorded, VectorRegisters())
    schedule_by_rules(alone, VectorRegisters())
    assert str(recorded) == str(alone)


def test_what_the_pass_records_is_what_the_other_pass_applies(tmp_path: Path) -> None:
    module = ModuleOp([prim_func(dense(64, 128, 32), "a"), prim_func(softmax(40, 90), "b/c")])
    context = new_ir_context()
    by_rules, by_record = module.clone(), module.clone()
    ScheduleRulesPass(record_to=str(tmp_path / "records")).apply(context, by_rules)
    assert len(list((tmp_path / "records").iterdir())) == 2
    ApplySchedulePass(record=str(tmp_path / "records")).apply(context, by_record)
    for one, other in zip(by_rules.ops, by_record.ops, strict=True):
        assert isinstance(one, PrimFuncOp) and isinstance(other, PrimFuncOp)
        assert without_names(one) == without_names(other)
