"""Targets by what they are for, functions that are others for some targets, and devices with targets."""

from collections.abc import Callable
from typing import Any

import pytest

import weft
from weft import Target, targets
from weft.dialects.relay.devices import DeviceError
from weft.dialects.relay.devices import VirtualDevice as Device
from weft.dialects.support.diagnostics import UsageError
from weft.lowering.machine import generic_func


def test_targets_are_made_by_what_they_are_for() -> None:
    made = {
        "cuda -model=1080ti -arch=sm_61": targets.cuda("1080ti", "sm_61"),
        "cuda -model=unknown -libs=cublas,cudnn": targets.cuda(options="-libs=cublas,cudnn"),
        "rocm -model=unknown": targets.rocm(),
        "opencl -device=mali -model=g72": targets.mali("g72"),
        "opencl -device=intel_graphics -model=unknown -thread_warp_size=8": targets.intel_graphics(
            options=["-thread_warp_size=8"]
        ),
        "llvm -mcpu=skylake": targets.llvm("-mcpu=skylake"),
        "llvm -keys=arm_cpu,cpu -device=arm_cpu -model=rk3399 -mtriple=aarch64-linux-gnu -mattr=+neon": (
            targets.arm_cpu("rk3399")
        ),
        "llvm -device=riscv_cpu -model=sifive-u54 -mtriple=riscv64-unknown-linux-gnu -mcpu=sifive-u54": (
            targets.riscv_cpu()
        ),
        "ext_dev -device=vta -keys=vta,cpu -model=unknown": targets.vta(),
    }
    assert all(Target(text) == target for text, target in made.items())
    names = [each.device_name for each in (targets.bifrost(), targets.adreno(), targets.arm_cpu())]
    assert names == ["bifrost", "adreno", "arm_cpu"]
    assert targets.arm_cpu("rk3399").platform().architecture == "aarch64"


def test_the_version_of_llvm_is_a_number() -> None:
    assert targets.llvm_version_major() >= 14


def test_a_generic_function_is_the_one_for_the_keys_of_the_target() -> None:
    @targets.generic_func
    def chosen(x: int) -> int:
        return x + 1

    @chosen.register(["cuda", "gpu"])
    def _gpu(x: int) -> int:
        return x + 2

    def plus_three(x: int) -> int:
        return x + 3

    def same(x: int) -> int:
        return x

    chosen.register(plus_three, "rocm")
    assert chosen(1) == 2
    for target, wanted in ((targets.cuda(), 3), (targets.rocm(), 4), (Target("metal"), 3), (targets.arm_cpu(), 2)):
        with target:
            assert chosen(1) == wanted == chosen.get_packed_func()(1)
    with pytest.raises(UsageError, match="has a function for 'gpu' already"):
        chosen.register(same, "gpu")
    chosen.register(same, "gpu", allow_override=True)
    with Target("metal"):
        assert chosen(1) == 1


def test_a_generic_function_is_registered_for_keys() -> None:
    generic: Any = targets.generic_func(abs)
    for wrong in ((abs,), ("cuda", "gpu")):
        with pytest.raises(UsageError, match="is given a function and the keys of targets, or keys alone"):
            generic.register(*wrong)


def test_a_generic_function_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generic_func, "_NAMED", {})

    @targets.override_native_generic_func("mine")
    def one() -> int:
        return 1

    assert targets.get_native_generic_func("mine") is one and one() == 1
    decorated: Callable[..., Any] = targets.override_native_generic_func("mine")(lambda: 2)
    assert decorated is one and one() == 2
    with pytest.raises(UsageError, match="there is no generic function 'min'"):
        targets.get_native_generic_func("min")
    with pytest.raises(UsageError, match="has nothing for no target"):
        targets.GenericFunc("empty")()


def test_a_device_has_the_target_of_its_code() -> None:
    gpu = targets.VirtualDevice(weft.cuda(1), Target("cuda -arch=sm_80"), memory_scope="global")
    assert gpu == Device("cuda", 1, "cuda -arch=sm_80", "global")
    assert targets.VirtualDevice(target="llvm") == Device("cpu", None, "llvm")
    assert targets.VirtualDevice(memory_scope="texture") == Device(memory_scope="texture")
    with pytest.raises(DeviceError, match="is for cuda devices, and this one has the type cpu"):
        targets.VirtualDevice(weft.cpu(), "cuda")
