"""What processors of Arm's have, by names and attributes, as TVM's parsers of targets tell it."""

from __future__ import annotations

import re
from collections.abc import Mapping

_WITH_MVE = ("cortex-m55", "cortex-m85")
_WITH_DSP = ("cortex-m4", "cortex-m7", "cortex-m33", "cortex-m35p", *_WITH_MVE)
_CORTEX_M = ("cortex-m0", "cortex-m3", *_WITH_DSP)


def arm_features(triple: str, cpu: str, attributes: str) -> Mapping[str, bool] | None:
    """The features of a processor; nothing where it is none of Arm's, as far as its triple and its name tell."""
    said = f"{cpu},{attributes}"
    if cpu.startswith(_CORTEX_M):
        has_dsp = cpu.startswith(_WITH_DSP) and "+nodsp" not in said
        has_mve = has_dsp and cpu.startswith(_WITH_MVE) and "+nomve" not in said
        return {"has_dsp": has_dsp, "has_mve": has_mve}
    is_aarch64 = triple.startswith("aarch64")
    if not is_aarch64 and (not triple.startswith("arm") or cpu.startswith("cortex-m")):
        return None
    found = re.search(r"\+v(\d+(?:\.\d+)?)a(?:,|$)", attributes)
    version = float(found[1]) if found else 0.0

    def has(name: str, always_since: float) -> bool:
        """Whether it has what one may have since v8.2, and all have since a version."""
        if version >= always_since:
            return f"+no{name}" not in said
        return version >= 8.2 and f"+{name}" in said

    return {
        "is_aarch64": is_aarch64,
        "has_asimd": is_aarch64 or "+neon" in said or "+simd" in said,
        "has_dotprod": has("dotprod", 8.4),
        "has_matmul_i8": has("i8mm", 8.6),
    }
