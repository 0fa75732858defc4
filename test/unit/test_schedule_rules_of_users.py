"""Schedule rules that users and packages bring: `weft.schedules`."""
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft
from weft import schedules
from weft.dialects.support import diagnostics, plugins
from weft.dialects.support.arguments import ArgumentError
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.mlir import parse_mlir
from weft.lowering.machine.target import Target
from weft.lowering.relay_to_tir import schedules as registry
from weft.lowering.relay_to_tir.attach_schedules import AttachSchedulesPass
from weft.transforms.infra import remarks, run
from weft.tuning.tasks import extract_tasks

KERNEL = """
relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.call_lowered @exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
  relay.return %y : tensor<8xf32>
}
tir.prim_func @exp(%a: memref<8xf32>, %out: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @exp(%vi: spatial 8) = [%i] reads(%a[%vi] : memref<8xf32>) writes(%out[%vi] : memref<8xf32>) {
      %0 = memref.load %a[%vi] : memref<8xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %out[%vi] : memref<8xf32>
    }
  }
}
"""


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_REGISTRY", registry._Registry())  # pyright: ignore[reportPrivateUsage]
    yield


def halves(schedule: Any, target: Any = None) -> bool:
    outer, inner = schedule.split(schedule.get_loops(schedule.get_block("exp"))[0], [2, None])
    schedule.parallel(outer)
    schedule.vectorize(inner)
    return True


def attached(target: str | None = None) -> tuple[str, str]:
    """The module with what rules put beside the kernel, and the remarks."""
    module = parse_mlir(KERNEL, "kernel.mlir")
    with remarks.collect() as said:
        run(AttachSchedulesPass(target=target), module)
    return str(module), "\n".join(map(str, said))


def test_the_rule_of_the_highest_priority_that_takes_a_kernel_schedules_it() -> None:
    def others(schedule: Any, target: Any) -> None:
        schedule.parallel(
            schedule.get_loops(schedule.get_block("exp"))[0]
        )  # is forgotten, as the rule does not take it

    schedules.register(name="low")(lambda schedule, target: True)
    schedules.register(name="high", priority=20)(halves)
    schedules.register(name="other", priority=30)(others)
    schedules.register(name="cuda", priority=40, target="cuda")(halves)
    schedules.register(name="arm", priority=39, target=("llvm", "c"), features=["sve"])(halves)
    assert [rule.name for rule in schedules.rules()] == ["cuda", "arm", "other", "high", "low"]
    text, said = attached()
    assert text.count("schedule.sequence") == 1 and "schedule.sequence @exp_high on @exp {" in text
    assert "tir.for %i = 0 to 8" in text
    assert "'cuda' is not asked: it is for cuda, and this is llvm" in said
    assert "'arm' is not asked: the processor has no sve" in said
    assert "'other' is not for it" in said and "'high' schedules it" in said and "low" not in said


def test_what_a_rule_does_is_what_runs_wherever_the_module_comes_from() -> None:
    schedules.register()(halves)
    exe = weft.compile(parse_mlir(KERNEL, "kernel.mlir"), threads=2)
    assert "tir.for parallel %i = 0 to 2" in exe.ir["schedule"] and "vectorized" in exe.ir["schedule"]
    x = np.linspace(-1, 1, 8, dtype=np.float32)
    assert np.allclose(np.asarray(exe(x), np.float32), np.exp(x), rtol=1e-6)
    again = parse_mlir(exe.ir["schedule"], "schedule.mlir")
    run(AttachSchedulesPass(), again)
    assert "schedule.sequence" not in str(again), "loops that have a kind are scheduled already"
    schedules.remove("halves")
    assert "%i = 0 to 2" not in weft.compile(parse_mlir(KERNEL, "kernel.mlir")).ir["schedule"]


def test_a_kernel_with_a_schedule_is_neither_shown_to_rules_nor_tuned() -> None:
    schedules.register()(halves)
    found = extract_tasks(parse_mlir(KERNEL, "kernel.mlir"), Target.parse("llvm"), "tir", 1)
    assert not found.tasks and found.left_out == {"exp": "it has a schedule of its own"}
    module = parse_mlir(KERNEL, "kernel.mlir")
    run(AttachSchedulesPass(), module)
    schedules.register(name="second", priority=99)(halves)
    run(AttachSchedulesPass(), module)
    assert str(module).count("schedule.sequence") == 1


def test_mistakes_are_told_with_their_place() -> None:
    with pytest.raises(UsageError, match="cannot be called 'a rule'"):
        schedules.register(name="a rule")(halves)
    for wrong in ({"priority": 1.5}, {"target": 3}, {"features": 1}):
        with pytest.raises(ArgumentError):
            schedules.register(**wrong)(halves)  # pyright: ignore[reportArgumentType]
    schedules.register()(halves)
    with pytest.raises(UsageError, match="there is a schedule rule 'halves' already"):
        schedules.register()(halves)
    schedules.register(name="eager", priority=99)(lambda schedule, target: "yes")
    with pytest.raises(Diagnostic, match=r"kernel\.mlir:6.*\n*.*the schedule rule 'eager' gives str"):
        attached()
    schedules.remove("eager")
    schedules.register(name="lost", priority=99)(lambda schedule, target: schedule.get_block("nowhere"))
    with pytest.raises(Diagnostic, match=r"the schedule rule 'lost' does not apply: .*nowhere"):
        attached()


def test_packages_bring_rules_and_what_is_no_rule_is_warned_about(monkeypatch: pytest.MonkeyPatch) -> None:
    brought = [("good: rows", [schedules.ScheduleRule(halves, "brought")]), ("bad: rows", [halves])]
    monkeypatch.setattr(registry, "installed_schedules", lambda: brought)
    monkeypatch.setattr(plugins, "_broken", dict[str, str]())
    warnings: list[str] = []
    with diagnostics.handled_by(lambda diagnostic: warnings.append(diagnostic.message)):
        assert [rule.name for rule in schedules.rules()] == ["brought"]
    assert len(warnings) == 1 and "function is no weft.schedules.ScheduleRule" in warnings[0]
