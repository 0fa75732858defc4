"""What is known of processors by name, and what the system tells of this machine's caches."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft import Target
from weft.dialects.support.machine_model import MachineModel
from weft.lowering.machine.known_machines import model_of, told_caches
from weft.lowering.machine.target_forms import TargetError
from weft.tools.bench_limits import Limits

X86 = "-mtriple=x86_64-unknown-linux-gnu"


def tell(folder: Path, number: int, **told: str) -> None:
    (folder / f"index{number}").mkdir()
    for name, text in told.items():
        (folder / f"index{number}" / name).write_text(text + "\n")


def caches(folder: Path, shared: str = "0-1") -> Path:
    """As Linux tells of a core whose second cache has two halves."""
    line, of = {"coherency_line_size": "64"}, "ways_of_associativity"
    tell(folder, 0, level="1", type="Data", size="48K", shared_cpu_list="0", **line, **{of: "12"})
    tell(folder, 1, level="1", type="Instruction", size="32K", shared_cpu_list="0", **line, **{of: "8"})
    tell(folder, 2, level="2", type="Unified", size="2048K", shared_cpu_list=shared, **line, **{of: "16"})
    tell(folder, 3, level="3", type="Unified", size="307200K", shared_cpu_list="0-1", **line, **{of: "20"})
    return folder


def test_the_system_tells_of_a_cores_own_caches(tmp_path: Path) -> None:
    told = MachineModel().told(told_caches(caches(tmp_path)))
    assert told == MachineModel(l1=48 << 10, l1_ways=12, l2=1 << 20)  # of the last cache nothing


def test_what_the_system_does_not_tell_is_as_it_is_known(tmp_path: Path) -> None:
    assert told_caches(tmp_path / "none") == ""
    (caches(tmp_path, "no list") / "index0" / "size").unlink()
    assert told_caches(tmp_path) == ""


def test_a_processor_is_known_by_its_name_or_by_its_vectors() -> None:
    assert model_of("znver4", 64).fmas == 1 and model_of("znver4", 32).fmas == 2
    assert model_of("znver5", 64).fmas == model_of("znver5", 32).fmas == 2
    assert model_of("sapphirerapids", 64).l2 == 2 << 20
    assert model_of("something-new", 64) == model_of("x86-64-v4", 64)
    assert model_of("something-new", 32) == model_of("x86-64-v3", 32) != model_of("something-new", 16)


def test_a_target_says_what_its_machine_is_and_may_be_told_otherwise() -> None:
    known = Target(f"llvm -mcpu=znver4 {X86}").machine_model()
    assert known == model_of("znver4", 64)
    told = Target(f"llvm -mcpu=znver4 {X86} -machine=l2=512K,l3-rate=8")
    assert told.machine_model() == known.told("l2=512K,l3-rate=8")
    assert Target.parse(str(told)) == Target.parse(told.export()) == told
    assert told.resolved().machine_model() == told.machine_model()
    assert Target(f"cuda -host='llvm -mcpu=znver4 {X86}'").machine_model() == known


def test_this_machines_caches_stay_known_when_its_name_is() -> None:
    target = Target("llvm -machine=l1=16K")
    assert target.machine_model().l1 == 16 << 10
    assert target.resolved().machine_model() == target.machine_model()
    assert Target("llvm").resolved().machine_model() == Target("llvm").machine_model()


def test_a_machine_that_cannot_be_read_is_refused_with_the_target() -> None:
    with pytest.raises(TargetError, match="a machine has no 'l9'"):
        Target("llvm -machine=l9=1K")
    with pytest.raises(TargetError, match="unknown target option '-machine=l2=1K'"):
        Target("cuda -machine=l2=1K")


def test_what_is_measured_is_told_as_a_target_reads_it() -> None:
    """A core of 3 GHz, two multiply-adds of 16 floats in a cycle, on two threads."""
    limits = Limits(2 * 3.0 * 2 * 2 * 16, (1 << 16, 1 << 20, 1 << 22, 1 << 26), (600.0, 192.0, 60.0, 24.0))
    told = limits.rates(MachineModel(l2=2 << 20, l3=8 << 20), 64)
    assert told == "l2-rate=32,l3-rate=10,memory-rate=4"
    assert Target(f"llvm -mcpu=znver4 {X86} -machine={told}").machine_model().l3_rate == 10
