"""Weft: a tensor compiler whose every stage is an xDSL dialect.

Names are imported from their modules when they are first asked for: `import weft` loads neither NumPy nor LLVM.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .transforms.infra.lazy import lazy_names

if TYPE_CHECKING:
    from . import instrument, transform
    from .instrument import (
        DumpIR,
        PassInstrument,
        PassStatistics,
        PassTimingInstrument,
        PrintIRAfter,
        PrintIRBefore,
        VerifyEach,
        pass_instrument,
    )
    from .transform import PassContext

__all__ = [
    "DumpIR", "instrument", "pass_instrument", "PassContext", "PassInstrument", "PassStatistics",
    "PassTimingInstrument", "PrintIRAfter", "PrintIRBefore", "transform", "VerifyEach",
]  # fmt: skip

_SUBMODULES = ("instrument", "transform")

_NAMES = {
    ".instrument": (
        "DumpIR", "pass_instrument", "PassInstrument", "PassStatistics", "PassTimingInstrument", "PrintIRAfter",
        "PrintIRBefore", "VerifyEach",
    ),
    ".transform": ("PassContext",),
}  # fmt: skip

_find = lazy_names(__name__, {name: module for module, names in _NAMES.items() for name in names})


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        return import_module(f".{name}", __name__)
    return _find(name)
