"""`weft.meta_schedule.testing`: designs, held to what they have to be."""

from __future__ import annotations

import pytest

from weft import Target, te, tir
from weft.dialects.tir.core import PrimFuncOp
from weft.meta_schedule import schedule_rule
from weft.meta_schedule.builder import BuilderInput
from weft.meta_schedule.runner import RunnerInput
from weft.meta_schedule.testing.dummy_object import DummyBuilder, DummyMutator, DummyRunner
from weft.meta_schedule.testing.space_generation import (
    check_sketches,
    generate_design_space,
    get_rules,
    print_sketches,
)

TARGET = "llvm -num-cores=4"


def product() -> PrimFuncOp:
    a, b = te.placeholder((8, 4), name="a"), te.placeholder((4, 8), name="b")
    k = te.reduce_axis((0, 4), "k")
    c = te.compute((8, 8), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
    function = te.create_prim_func([a, b, c])
    assert isinstance(function, PrimFuncOp)
    return function


def decisions_of(sketch: tir.Schedule) -> list[tuple[str, object]]:
    sampling = [inst for inst in sketch.trace.insts if inst.kind.name.startswith("Sample")]
    return [(inst.kind.name, inst.decision) for inst in sampling]


def designs() -> list[tir.Schedule]:
    return generate_design_space("llvm", product(), TARGET, schedule_rule.MultiLevelTiling)


def test_designs_are_those_that_their_decisions_make_in_whatever_order() -> None:
    sketches = designs()
    decisions = [decisions_of(each) for each in sketches]
    assert len(sketches) > 1 and all(decisions)
    expected = [each.mod for each in sketches]
    check_sketches(product(), sketches[::-1], expected, decisions)


def test_other_decisions_make_another_module() -> None:
    sketches = designs()
    decisions = [decisions_of(each) for each in sketches]
    name, tiles = decisions[0][0]
    other = (8, 1, 1, 1) if tuple(tiles) != (8, 1, 1, 1) else (1, 8, 1, 1)  # pyright: ignore[reportArgumentType]
    decisions[0][0] = name, other
    with pytest.raises(AssertionError, match="no design is the expected one of number 0"):
        check_sketches(product(), sketches, [each.mod for each in sketches], decisions)


def test_designs_that_are_more_or_decide_of_something_else_are_none_that_are_expected() -> None:
    sketches = designs()
    decisions = [decisions_of(each) for each in sketches]
    with pytest.raises(AssertionError, match="are expected"):
        check_sketches(product(), sketches, [each.mod for each in sketches[1:]], decisions[1:])
    decisions[0].pop()
    with pytest.raises(AssertionError, match="of number 0"):
        check_sketches(product(), sketches, [each.mod for each in sketches], decisions)


def test_rules_are_chosen_by_their_classes_or_given() -> None:
    rules = get_rules("llvm", schedule_rule.AutoInline)
    assert rules and all(isinstance(each, schedule_rule.AutoInline) for each in rules)
    assert len(generate_design_space("llvm", product(), TARGET, None, rules)) == 1
    with pytest.raises(ValueError, match="not both"):
        generate_design_space("llvm", product(), TARGET, schedule_rule.AutoInline, rules)


def test_designs_are_printed_as_expectations_have_them(capsys: pytest.CaptureFixture[str]) -> None:
    sketches = designs()
    print_sketches(sketches)
    name, decision = decisions_of(sketches[0])[0]
    assert f'("{name}", {decision}),' in capsys.readouterr().out


def test_parts_that_do_nothing_say_that_they_have() -> None:
    sketch = designs()[0]
    (built,) = DummyBuilder().build([BuilderInput(sketch.mod, Target.parse(TARGET))])
    assert built.artifact_path and built.error_msg is None
    (future,) = DummyRunner().run([RunnerInput(built.artifact_path, "llvm", [])])
    seconds = future.result().run_secs
    assert seconds and 5 <= seconds[0] <= 30
    trace = sketch.trace
    assert DummyMutator().apply(trace) is trace
