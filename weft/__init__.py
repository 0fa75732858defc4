"""Weft: a tensor compiler whose every stage is an xDSL dialect.

    exe = weft.compile("model.onnx")
    y = exe(x)

Names are imported from their modules when they are first asked for: `import weft` loads neither NumPy nor LLVM.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .transforms.infra.lazy import lazy_names

if TYPE_CHECKING:
    __version__: str

    from . import frontend, instrument, transform
    from .compiler import compile
    from .dialects import te
    from .dialects.support.diagnostics import Diagnostic
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
    from .loading import load
    from .lowering.machine.target import Target
    from .runtime.executable import Executable
    from .transform import PassContext

__all__ = [
    "compile", "Diagnostic", "DumpIR", "Executable", "frontend", "instrument", "load", "pass_instrument",
    "PassContext", "PassInstrument", "PassStatistics", "PassTimingInstrument", "PrintIRAfter", "PrintIRBefore",
    "Target", "te", "transform", "VerifyEach",
]  # fmt: skip

_MODULES = {"frontend": ".frontend", "instrument": ".instrument", "te": ".dialects.te", "transform": ".transform"}

_NAMES = {
    ".compiler": ("compile",),
    ".dialects.support.diagnostics": ("Diagnostic",),
    ".instrument": (
        "DumpIR", "pass_instrument", "PassInstrument", "PassStatistics", "PassTimingInstrument", "PrintIRAfter",
        "PrintIRBefore", "VerifyEach",
    ),
    ".loading": ("load",),
    ".lowering.machine.target": ("Target",),
    ".runtime.executable": ("Executable",),
    ".transform": ("PassContext",),
}  # fmt: skip

_find = lazy_names(__name__, {name: module for module, names in _NAMES.items() for name in names})


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("weft")
    if name in _MODULES:
        return import_module(_MODULES[name], __name__)
    return _find(name)
