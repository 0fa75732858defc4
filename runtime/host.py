"""The machine that this process runs on, and whether it can run what was compiled for another."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from functools import lru_cache

from ..dialects.support.diagnostics import Diagnostic
from ..lowering.abi import Platform


class PlatformError(Diagnostic):
    """Code is for another machine than this one."""


@lru_cache(maxsize=1)
def host_platform() -> Platform:
    """This machine, with all the features that it has."""
    import llvmlite.binding as binding

    features = binding.get_host_cpu_features()
    available = tuple(sorted(str(name) for name, present in features.items() if present))
    return Platform(str(binding.get_process_triple()), str(binding.get_host_cpu_name()), available)


def why_not_here(platform: Platform) -> PlatformError | None:
    """Why code for `platform` cannot run on this machine; nothing where it can."""
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
