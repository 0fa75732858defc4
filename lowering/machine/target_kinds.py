"""Kinds of targets and tags, which stand for targets by name: Weft's own, and those of users and packages.

    weft.targets.add_kind(TargetKind("board", preset={"mtriple": "aarch64-linux-gnu", "mcpu": "cortex-a72"}))
    weft.targets.add_tag("mine/board", {"kind": "board", "num-cores": 4})

A kind is made code for by LLVM, unless it has a code generator of its own. The entry point `weft.targets` of an
installed package names a list of kinds, and of mappings from tags to targets as JSON has them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias, cast

from ...dialects.support import memory_scopes
from ...dialects.support.arguments import checked, checked_methods
from ...dialects.support.diagnostics import UsageError, did_you_mean
from ...dialects.support.hints import listed
from ...dialects.support.plugins import note_change, warn
from ...dialects.support.plugins import targets as installed_targets

if TYPE_CHECKING:
    from ..abi import CompiledGraph

    Generator: TypeAlias = Callable[..., CompiledGraph]

PROCESSOR_OPTIONS = {"mcpu": "cpu", "mattr": "attributes", "mtriple": "triple", "machine": "", "host": "host"}
"""What a processor is told by, with the fields of a `Target`, but for what its work takes (`MachineModel`)."""

GPU_OPTIONS = {"arch": "cpu", "mcpu": "cpu", "mattr": "attributes", "registers_per_block": ""}
GPU_LIMITS = {"max_threads_per_block": 1024, "max_shared_memory_per_block": 49152, "thread_warp_size": 32}
"""What a GPU has unless it is said otherwise: threads in a block, bytes that they share, threads that run together."""

COMPOSITE = "composite"
"""The kind of a target of several, which are its host and its devices."""

CORES = "num-cores"
DESCRIPTIONS = ("keys", "device", "model", "libs", CORES)
"""What any target may be told by besides, for those who choose by it: implementations of operators, schedules."""

LISTED = ("libs", "cl-opt", "llvm-options")
"""The options that are lists."""

OPT_LEVEL = "opt-level"
"""How much the code generator does, LLVM or the C compiler: 0 to 3."""

FAST_MATH = tuple(f"fast-math{each}" for each in ("", "-nnan", "-ninf", "-nsz", "-arcp", "-contract", "-reassoc"))
UNHEARD = ("mfloat-abi", "mabi", "cl-opt", "march", *FAST_MATH)
"""What TVM's targets may say of how code is made, and Weft does not do: no code is made for a target that says so."""


@checked_methods
@dataclass(frozen=True)
class TargetKind:
    """A kind of target.

    Args:
        name: what a target's text begins with.
        keys: what targets of this kind have in common with others, `cpu`, say.
        preset: options that it has unless they are given: `{"mcpu": "cortex-a72"}`.
        attributes: options of its own, which a code generator reads by `target.option`.
        generate: makes the artefact of a module at the phase `loops`, for a target at a level; the function or where it
            is, `package.module:name`. LLVM does, unless given.
        scopes: the memories that buffers of TIR may lie in besides, each with the scope that it is to code of this
            kind, `global` or `local`: `{"scratchpad": "local"}`.
        only_described: whether it only names devices, as `metal` does: there is nothing that makes code for it.
    """

    name: str
    keys: tuple[str, ...] = ("cpu",)
    preset: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    attributes: tuple[str, ...] = ()
    generate: Callable[..., object] | str | None = None
    scopes: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    only_described: bool = False

    @property
    def generator(self) -> Generator | None:
        """The function that `generate` says.

        Raises:
            UsageError: it is not there.
        """
        if not isinstance(self.generate, str):
            return cast("Generator | None", self.generate)
        module, _, name = self.generate.partition(":")
        try:
            return cast("Generator", getattr(import_module(module), name))
        except (ImportError, AttributeError, ValueError) as error:
            raise UsageError(
                f"the target kind '{self.name}' has no code generator '{self.generate}': {error}"
            ) from None

    def options(self) -> dict[str, str]:
        """The options, each with the field of a `Target` that it is kept in, if it has one of its own."""
        if self.name == "cuda":
            own = {**GPU_OPTIONS, **{name: "" for name in GPU_LIMITS}, "host": "host"}
        else:
            own = {**PROCESSOR_OPTIONS, **{name: "" for name in (OPT_LEVEL, *UNHEARD)}}
        return {**own, **{name: "" for name in (*self.attributes, *DESCRIPTIONS)}}


_LOWERING = __name__.removesuffix(".machine.target_kinds")
OTHER_NAMES = {"nvptx": "cuda"}


@dataclass
class _Registry:
    kinds: dict[str, TargetKind]
    tags: dict[str, Mapping[str, object]]
    asked: bool = False


def _gpu(arch: str, **limits: int) -> Mapping[str, object]:
    return {"kind": "cuda", "arch": arch, **limits}


def _processor(triple: str, cpu: str, cores: int) -> Mapping[str, object]:
    return {"kind": "llvm", "mtriple": triple, "mcpu": cpu, "num-cores": cores}


def _amazon(cpu: str, cores: int) -> Mapping[str, object]:
    return _processor("x86_64-unknown-linux-gnu", cpu, cores)


C4 = {"large": 1, "xlarge": 2, "2xlarge": 4, "4xlarge": 8, "8xlarge": 18}
C5 = {
    "large": 1,
    "xlarge": 2,
    "2xlarge": 4,
    "4xlarge": 8,
    "9xlarge": 18,
    "12xlarge": 24,
    "18xlarge": 36,
    "24xlarge": 48,
}
"""The cores of Amazon's machines, by size."""


def _device(name: str, *keys: str, attributes: tuple[str, ...] = (), **preset: str) -> TargetKind:
    """A kind of devices that a graph may name, and that no code is made for."""
    return TargetKind(name, keys or (name,), preset, (*preset, *attributes), only_described=True)


_VULKAN = (
    "supports_float16", "supports_float32", "supports_float64", "supports_int8", "supports_int16", "supports_int32",
    "supports_int64", "supports_8bit_buffer", "supports_16bit_buffer", "supports_storage_buffer_storage_class",
    "supports_push_descriptor", "supports_dedicated_allocation", "supports_integer_dot_product",
    "supported_subgroup_operations", "max_block_size_x", "max_block_size_y", "max_block_size_z",
    "max_push_constants_size", "max_uniform_buffer_range", "max_storage_buffer_range",
    "max_per_stage_descriptor_storage_buffer", "max_shared_memory_per_block", "device_type", "device_name",
    "driver_name", "driver_version", "vulkan_api_version", "max_spirv_version",
)  # fmt: skip
_BUILT_IN = (
    TargetKind("llvm"),
    TargetKind("c", generate=f"{_LOWERING}.loops_to_c.compile:compile_c_graph"),
    TargetKind("cuda", ("cuda", "gpu")),
    _device(
        "rocm", "rocm", "gpu",
        max_num_threads="256", max_threads_per_block="256", max_shared_memory_per_block="65536", thread_warp_size="64",
    ),
    _device("opencl", "opencl", "gpu", max_num_threads="256", thread_warp_size="1", texture_spatial_limit="16384"),
    _device(
        "metal", "metal", "gpu",
        max_num_threads="256", max_threads_per_block="256", max_shared_memory_per_block="32768", thread_warp_size="16",
        max_function_args="31",
    ),
    _device(
        "vulkan", "vulkan", "gpu",
        attributes=_VULKAN, max_num_threads="256", max_threads_per_block="256", thread_warp_size="1",
    ),
    _device("webgpu", "webgpu", "gpu", max_num_threads="256"),
    _device("sdaccel", "sdaccel", "hls"),
    _device("aocl", "aocl", "hls"),
    _device("hexagon", attributes=("vtcm-capacity", "llvm-options")),
    _device("ext_dev"),
)  # fmt: skip
OWN_KINDS = tuple(kind.name for kind in _BUILT_IN)

_REGISTRY = _Registry(
    {kind.name: kind for kind in _BUILT_IN},
    {
        "nvidia/geforce-gtx-1080": _gpu("sm_61"),
        "nvidia/geforce-rtx-2080-ti": _gpu("sm_75"),
        "nvidia/geforce-rtx-3070": _gpu("sm_86"),
        "nvidia/geforce-rtx-3080": _gpu("sm_86"),
        "nvidia/geforce-rtx-3090": _gpu("sm_86"),
        "nvidia/geforce-rtx-4090": _gpu("sm_89"),
        "nvidia/tesla-v100": _gpu("sm_70"),
        "nvidia/tesla-t4": _gpu("sm_75"),
        "nvidia/nvidia-v100": _gpu("sm_70"),
        "nvidia/nvidia-t4": _gpu("sm_75"),
        "nvidia/nvidia-a100": _gpu("sm_80"),
        "nvidia/nvidia-h100": _gpu("sm_90"),
        "nvidia/jetson-nano": _gpu("sm_53", registers_per_block=32768),
        "nvidia/jetson-agx-xavier": {**_gpu("sm_72"), "host": _processor("aarch64-linux-gnu", "carmel", 8)},
        "raspberry-pi/4b-aarch64": _processor("aarch64-linux-gnu", "cortex-a72", 4),
        **{f"aws/cpu/c5.{size}": _amazon("skylake-avx512", cores) for size, cores in C5.items()},
        **{f"aws/cpu/c4.{size}": _amazon("core-avx2", cores) for size, cores in C4.items()},
    },
)


@checked
def add_kind(kind: TargetKind) -> TargetKind:
    """Make a kind of targets known.

    Raises:
        UsageError: there is one of that name, or it is no name.
    """
    note_change("a kind of target")
    return _add_kind(kind)


def _add_kind(kind: TargetKind) -> TargetKind:
    if kind.name in kinds() or kind.name in OTHER_NAMES:
        raise UsageError(f"there is a kind of target '{kind.name}' already")
    if not re.fullmatch(r"[A-Za-z0-9_.][A-Za-z0-9_.-]*", kind.name) or kind.name == COMPOSITE:
        raise UsageError(f"a kind of target cannot be called '{kind.name}'", hint="take a word of letters and digits")
    for scope, meaning in kind.scopes.items():
        if meaning not in ("global", "local"):
            what = (
                f'memory of the scope "{scope}" is "global" or "local" to the code of \'{kind.name}\', not "{meaning}"'
            )
            raise UsageError(what)
        if not re.fullmatch(r"[A-Za-z_][\w.]*", scope) or scope in ("global", "local"):
            raise UsageError(f"a memory of '{kind.name}' cannot be called '{scope}'", hint="take a word of its own")
    _REGISTRY.kinds[kind.name] = kind
    memory_scopes.declare(kind.name, kind.scopes)
    return kind


@checked
def remove_kind(name: str) -> None:
    """Forget a kind, if there is one of that name that is not Weft's."""
    note_change("")
    if name not in OWN_KINDS:
        _REGISTRY.kinds.pop(name, None)
        memory_scopes.forget(name)


@checked
def add_tag(name: str, target: Mapping[str, object], override: bool = False) -> None:
    """Let a name stand for a target.

    Raises:
        UsageError: it stands for one already, and `override` does not say that it is replaced; or it has no slash.
    """
    note_change("a tag")
    _add_tag(name, target, override)


def _add_tag(name: str, target: Mapping[str, object], override: bool = False) -> None:
    if "/" not in name:
        raise UsageError(f"a tag cannot be called '{name}'", hint="a tag is told from a kind by a slash: 'lab/board'")
    if name in tags() and not override:
        raise UsageError(f"there is a tag '{name}' already", hint="override=True replaces it")
    _REGISTRY.tags[name] = dict(target)


@checked
def remove_tag(name: str) -> None:
    """Forget a tag, if there is one of that name."""
    note_change("")
    _REGISTRY.tags.pop(name, None)


def tags() -> dict[str, Mapping[str, object]]:
    """Every tag, with the target that it stands for."""
    return dict(sorted(_known().tags.items()))


def kinds() -> dict[str, TargetKind]:
    """Every kind by its name."""
    return dict(_known().kinds)


def kind_named(name: str) -> TargetKind:
    """
    Raises:
        UsageError: there is none.
    """
    known = kinds()
    name = OTHER_NAMES.get(name, name)
    if name not in known:
        hint = did_you_mean(name, (*known, *OTHER_NAMES, *tags()))
        hint = hint or "'llvm -mcpu=native' stands for code for this machine"
        raise UsageError(f"unknown target kind '{name}'; kinds are {', '.join(known)}", hint=hint)
    return known[name]


def _known() -> _Registry:
    """The registry, with what installed packages bring."""
    if _REGISTRY.asked:
        return _REGISTRY
    _REGISTRY.asked = True
    for title, value in installed_targets():
        for each in listed(value):
            try:
                if isinstance(each, TargetKind):
                    _add_kind(each)
                elif isinstance(each, Mapping):
                    for tag, target in cast("Mapping[str, Mapping[str, object]]", each).items():
                        _add_tag(tag, target)
                else:
                    warn(title, f"{type(each).__name__} is no weft.targets.TargetKind, nor a mapping of tags")
            except UsageError as error:
                warn(title, error.message)
    return _REGISTRY
