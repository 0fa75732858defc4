"""Targets by the names of what they are for: TVM's `tvm.target.cuda()`, `arm_cpu("rk3399")`, `mali()`.

Those whose kind no code is made for (`rocm`, OpenCL's) say which devices a graph has, and which implementations are
wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ...dialects.support.arguments import checked
from .target import Target

Options: TypeAlias = "str | Sequence[str] | None"

_ANDROID = ("-mtriple=arm64-linux-android", "-mattr=+neon")
_BOARDS = {
    **dict.fromkeys(("pixel2",), ("-model=snapdragon835", *_ANDROID)),
    **dict.fromkeys(("mate10", "mate10pro", "p20", "p20pro"), ("-model=kirin970", *_ANDROID)),
    "rasp3b": ("-model=bcm2837", "-mtriple=armv7l-linux-gnueabihf", "-mattr=+neon"),
    "rasp4b": ("-model=bcm2711", "-mtriple=armv8l-linux-gnueabihf", "-mattr=+neon", "-mcpu=cortex-a72"),
    "rasp4b64": ("-model=bcm2711", "-mtriple=aarch64-linux-gnu", "-mattr=+neon", "-mcpu=cortex-a72"),
    "rk3399": ("-model=rk3399", "-mtriple=aarch64-linux-gnu", "-mattr=+neon"),
    "pynq": ("-model=pynq", "-mtriple=armv7a-linux-eabi", "-mattr=+neon"),
    "ultra96": ("-model=ultra96", "-mtriple=aarch64-linux-gnu", "-mattr=+neon"),
    "thunderx": ("-model=thunderx", "-mtriple=aarch64-linux-gnu", "-mattr=+neon,+crc,+lse", "-mcpu=thunderxt88"),
}
_ARM = ("-keys=arm_cpu,cpu", "-device=arm_cpu")


def _target(kind: str, told: Sequence[str], options: Options) -> Target:
    """A target of what is told, and of the options that it is not told by yet."""
    more = options.split() if isinstance(options, str) else list(options or ())
    names = {each.partition("=")[0] for each in more}
    return Target(" ".join([kind, *(each for each in told if each.partition("=")[0] not in names), *more]))


@checked
def llvm(options: Options = None) -> Target:
    """A processor."""
    return _target("llvm", (), options)


@checked
def cuda(model: str = "unknown", arch: str | None = None, options: Options = None) -> Target:
    """A GPU of Nvidia, of a model (`1080ti`) and an architecture (`sm_61`)."""
    return _target("cuda", [f"-model={model}", *([] if arch is None else [f"-arch={arch}"])], options)


@checked
def rocm(model: str = "unknown", options: Options = None) -> Target:
    """A GPU of AMD."""
    return _target("rocm", [f"-model={model}"], options)


@checked
def mali(model: str = "unknown", options: Options = None) -> Target:
    """A GPU of Arm, for OpenCL."""
    return _target("opencl", ["-device=mali", f"-model={model}"], options)


@checked
def bifrost(model: str = "unknown", options: Options = None) -> Target:
    """A GPU of Arm of the Bifrost architecture, for OpenCL."""
    return _target("opencl", ["-device=bifrost", f"-model={model}"], options)


@checked
def adreno(model: str = "unknown", options: Options = None) -> Target:
    """A GPU of Qualcomm, for OpenCL."""
    return _target("opencl", ["-device=adreno", f"-model={model}"], options)


@checked
def intel_graphics(model: str = "unknown", options: Options = None) -> Target:
    """A GPU of Intel's processors, for OpenCL."""
    return _target("opencl", ["-device=intel_graphics", f"-model={model}", "-thread_warp_size=16"], options)


@checked
def arm_cpu(model: str = "unknown", options: Options = None) -> Target:
    """A processor of Arm; of boards that TVM knows, such as `rk3399`, with their triple and features."""
    return _target("llvm", [*_ARM, *_BOARDS.get(model, (f"-model={model}",))], options)


@checked
def riscv_cpu(model: str = "sifive-u54", options: Options = None) -> Target:
    """A processor of the RISC-V family; of SiFive's, with their triple."""
    wide = "64" if model in ("sifive-u54", "sifive-u74") else "32"
    known = ("sifive-e31", "sifive-e76", "sifive-u54", "sifive-u74")
    told = (f"-mtriple=riscv{wide}-unknown-linux-gnu", f"-mcpu={model}") if model in known else ()
    return _target("llvm", ["-device=riscv_cpu", f"-model={model}", *told], options)


@checked
def vta(model: str = "unknown", options: Options = None) -> Target:
    """The accelerator VTA."""
    return _target("ext_dev", ["-device=vta", "-keys=vta,cpu", f"-model={model}"], options)
