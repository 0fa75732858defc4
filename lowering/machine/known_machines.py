"""What is known of processors: their `MachineModel`, by LLVM's names, and the sizes of this machine's caches.

Rates are those that whole kernels see, and not what a vendor's sheet says: of a Cascade Lake, a Sapphire Rapids and a
Zen 4 they were measured (`bench/README.md`), of the others they follow from their kin. What the rules compare does not
hang on the last tenth of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ...dialects.support.machine_model import MachineModel

K, M = 1 << 10, 1 << 20

_HASWELL = MachineModel(latency=5.0, l2=256 * K, l3=2 * M, memory_rate=5.0)
_SKYLAKE_SERVER = MachineModel(l3=4 * M, l2_rate=36.0, l3_rate=9.0, memory_rate=5.0)
_ICE_LAKE_SERVER = replace(_SKYLAKE_SERVER, l1=48 * K, l1_ways=12, l2=1280 * K)
_SAPPHIRE_RAPIDS = MachineModel(l1=48 * K, l1_ways=12, l2=2 * M)
_ALDER_LAKE = MachineModel(latency=5.0, loads=3.0, l1=48 * K, l1_ways=12, l2=1280 * K, l2_rate=40.0, memory_rate=6.0)
_ZEN_2 = MachineModel(latency=5.0, l2=512 * K, l3=4 * M, l3_rate=20.0, memory_rate=6.0)
_ZEN_3 = replace(_ZEN_2, latency=4.8)
_ZEN_4 = MachineModel(fmas=1.0, loads=1.0, l3=5 * M, l3_rate=25.0, memory_rate=6.0)
_ZEN_5 = replace(_ZEN_4, fmas=2.0, loads=2.0, l1=48 * K, l1_ways=12, l2_rate=48.0)
_CORTEX = MachineModel(fmas=1.0, loads=1.0, l1_ways=4, l2=512 * K, l3=1 * M, l2_rate=16.0, l3_rate=8.0)
_NEOVERSE_N1 = MachineModel(l1=64 * K, l1_ways=4, l3=2 * M, memory_rate=6.0)
_NEOVERSE_V1 = replace(_NEOVERSE_N1, fmas=4.0, loads=3.0, l2_rate=48.0)
_APPLE = MachineModel(fmas=4.0, loads=3.0, l1=128 * K, l2=3 * M, l2_rate=48.0, l3_rate=16.0, memory_rate=16.0)

_MODELS: Mapping[str, MachineModel] = {
    "haswell|broadwell|skylake|x86-64-v3": _HASWELL,
    "skylake-avx512|cascadelake|cooperlake|x86-64-v4": _SKYLAKE_SERVER,
    "icelake.*|tigerlake|rocketlake": _ICE_LAKE_SERVER,
    "sapphirerapids|emeraldrapids|graniterapids.*|diamondrapids": _SAPPHIRE_RAPIDS,
    "alderlake|raptorlake|meteorlake|arrowlake.*|lunarlake|pantherlake": _ALDER_LAKE,
    "znver[12]": _ZEN_2,
    "znver3": _ZEN_3,
    "znver4": _ZEN_4,
    "znver[5-9]": _ZEN_5,
    "cortex-.*|carmel": _CORTEX,
    "neoverse-(n1|n2|n3|512tvb|e1)": _NEOVERSE_N1,
    "neoverse-v.*|grace": _NEOVERSE_V1,
    "apple-.*": _APPLE,
}
"""LLVM's names of processors, as a regular expression -> a core of such."""

_BY_WIDTH = {
    64: _SKYLAKE_SERVER,
    32: _HASWELL,
    16: MachineModel(fmas=1.0, loads=1.0, l2=256 * K, l3=2 * M, l2_rate=16.0),
}
"""Bytes of a vector -> what is taken for a processor of which no more is known."""

_HALVES = {"znver4": 2.0, "znver[5-9]": 1.0}
"""Processors that take wider vectors of 64 bytes in halves, or as many at once as narrower ones -> by how much more of
narrower vectors they do."""

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
"""Where Linux tells of the caches of a core."""


def model_of(cpu: str, vector_bytes: int) -> MachineModel:
    """What is known of a processor whose code has such vectors."""
    for names, model in _MODELS.items():
        if re.fullmatch(names, cpu):
            times = next((n for each, n in _HALVES.items() if re.fullmatch(each, cpu)), 1.0)
            narrow = vector_bytes < 64
            return replace(model, fmas=model.fmas * times, loads=model.loads * times) if narrow else model
    return _BY_WIDTH.get(vector_bytes, _BY_WIDTH[16])


@lru_cache(maxsize=4)
def told_caches(folder: Path = CACHES) -> str:
    """The sizes of the caches of a core that the system tells of, as `MachineModel.told` reads them; nothing where it
    tells of none. The last cache is left out: a virtual machine is told of all of it, which others use too."""
    told: dict[int, str] = {}
    for each in sorted(folder.glob("index*")):
        try:
            kind, *numbers = [(each / name).read_text().strip() for name in _FILES]
            level, size, ways, line = (int(number.removesuffix("K")) for number in numbers)
            sharing = _count((each / "shared_cpu_list").read_text().strip())
        except (OSError, ValueError):
            continue
        if kind == "Instruction" or min(size, ways, line, sharing) <= 0:
            continue
        if level == 1:
            told[1] = f"line={line},l1={size}K,l1-ways={ways}"
        elif level == 2:
            told[2] = f"l2={size // sharing}K"
    return ",".join(told.values())


_FILES = ("type", "level", "size", "ways_of_associativity", "coherency_line_size")


def _count(text: str) -> int:
    """How many numbers `0-3,8` names."""
    ends = [part.split("-") for part in text.split(",") if part]
    return sum(int(each[-1]) - int(each[0]) + 1 for each in ends)
