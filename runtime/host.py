"""The machine that this process runs on, and whether it can run what was compiled for another."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import os
import sys
from functools import lru_cache

from ..dialects.support.diagnostics import Diagnostic, Place
from ..dialects.support.matrix_unit import allowed
from ..lowering.abi import Platform


class PlatformError(Diagnostic):
    """Code is for another machine than this one."""


@lru_cache(maxsize=1)
def host_platform() -> Platform:
    """This machine, with all the features that it has."""
    import llvmlite.binding as binding

    features = binding.get_host_cpu_features()
    available = tuple(sorted(allowed({str(name) for name, present in features.items() if present})))
    return Platform(str(binding.get_process_triple()), str(binding.get_host_cpu_name()), available)


@lru_cache(maxsize=1)
def described_processor() -> str:
    """What Linux says of the first processor, or nothing: text of which equal means an equal processor."""
    if not sys.platform.startswith("linux"):
        return ""
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as file:
            text = file.read(1 << 14).decode("ascii", "replace")
    except OSError:
        return ""
    first, *_ = text.split("\n\n", 1)
    varying = ("cpu MHz", "bogomips", "processor", "apicid", "initial apicid", "core id", "BogoMIPS")
    return "\n".join(line for line in first.split("\n") if line.split("\t")[0].strip() not in varying)


@lru_cache(maxsize=1)
def features_by_the_system() -> frozenset[str]:
    """The features of this x86-64 processor that Linux tells of, by LLVM's names: some of those that it has, and none
    that it has not. LLVM need not be asked about these, which takes as long as loading a small graph."""
    if os.uname().machine != "x86_64":
        return frozenset()
    lines = described_processor().split("\n")
    flags = next((line.partition(":")[2].split() for line in lines if line.startswith("flags")), ())
    known = allowed({llvm for flag in flags if (llvm := _LINUX_FLAGS.get(flag)) is not None}) | _ALWAYS
    return known | {"crc32"} if "sse4.2" in known else known


_ALWAYS = frozenset({"64bit", "cmov", "cx8", "fxsr", "mmx", "sse", "sse2", "x87"})
"""What every processor of x86-64 has."""

_LINUX_FLAGS = {
    **{name: name for name in (
        "adx", "aes", "avx", "avx2", "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl", "bmi2", "f16c", "fma",
        "gfni", "movbe", "movdiri", "movdir64b", "popcnt", "rdseed", "sse4a", "ssse3", "vaes", "vpclmulqdq", "fma4",
        "xop", "tbm",
    )},
    "pni": "sse3", "sse4_1": "sse4.1", "sse4_2": "sse4.2", "pclmulqdq": "pclmul", "lahf_lm": "sahf", "abm": "lzcnt",
    "cx16": "cx16", "rdrand": "rdrnd", "sha_ni": "sha", "bmi1": "bmi", "3dnowprefetch": "prfchw",
    "avx512ifma": "avx512ifma", "avx512vbmi": "avx512vbmi", "avx512_vbmi2": "avx512vbmi2",
    "avx512_vnni": "avx512vnni", "avx512_bitalg": "avx512bitalg", "avx512_vpopcntdq": "avx512vpopcntdq",
    "avx512_bf16": "avx512bf16", "avx512_fp16": "avx512fp16", "avx_vnni": "avxvnni", "avx_ifma": "avxifma",
    "avx512_vp2intersect": "avx512vp2intersect", "amx_tile": "amx-tile", "amx_int8": "amx-int8",
    "amx_bf16": "amx-bf16",
}  # fmt: skip
"""Linux's names of features -> LLVM's, where kernels may use them. Linux does not tell of what it has switched off."""


def why_not_here(platform: Platform) -> PlatformError | None:
    """Why code for `platform` cannot run on this machine; nothing where it can."""
    if _certainly_here(platform):
        return None
    host = host_platform()
    if platform.architecture != host.architecture or platform.system != host.system:
        return PlatformError(
            f"the code is for {platform.triple}, and this machine is {host.triple}",
            hint="save it, and load it on such a machine",
        )
    missing = platform.missing_features(host.features)
    if missing:
        return PlatformError(
            f"the code is for {platform.cpu} and uses what this processor ({host.cpu}) has not: {', '.join(missing)}",
            hint="compile the model for this machine, or with -mcpu= for one that is older than both",
        )
    return None


def check_runs_here(platform: Platform, path: str | os.PathLike[str]) -> None:
    """
    Raises:
        PlatformError: code for `platform`, which is in a file, cannot run on this machine.
    """
    if (refusal := why_not_here(platform)) is not None:
        raise PlatformError(refusal.message, Place(os.fspath(path)), hint=refusal.hint)


def _certainly_here(platform: Platform) -> bool:
    """Whether the system's own word is enough to say that code for `platform` runs here."""
    if platform.architecture != "x86_64" or platform.system != "linux" or not sys.platform.startswith("linux"):
        return False
    known = features_by_the_system()
    return bool(known) and not platform.missing_features(known)
