"""Pass instruments, under TVM's names: `tvm.ir.instrument`."""

from typing import TYPE_CHECKING

from .transforms.infra.lazy import lazy_names

if TYPE_CHECKING:
    from .transforms.infra.checking import PassRecord, PassStatistics, VerifyEach
    from .transforms.infra.instruments import PassInstrument, pass_instrument
    from .transforms.infra.printing import DumpIR, PrintIRAfter, PrintIRAfterFailure, PrintIRBefore
    from .transforms.infra.reproducer import CrashReproducer, Reproducer
    from .transforms.infra.timing import PassTimingInstrument

__all__ = [
    "CrashReproducer", "DumpIR", "pass_instrument", "PassInstrument", "PassRecord", "PassStatistics",
    "PassTimingInstrument", "PrintIRAfter", "PrintIRAfterFailure", "PrintIRBefore", "Reproducer", "VerifyEach",
]  # fmt: skip

_MODULES = {
    "checking": ("PassRecord", "PassStatistics", "VerifyEach"),
    "instruments": ("PassInstrument", "pass_instrument"),
    "printing": ("DumpIR", "PrintIRAfter", "PrintIRAfterFailure", "PrintIRBefore"),
    "reproducer": ("CrashReproducer", "Reproducer"),
    "timing": ("PassTimingInstrument",),
}

__getattr__ = lazy_names(
    "weft", {name: f".transforms.infra.{module}" for module, names in _MODULES.items() for name in names}
)


def __dir__() -> list[str]:
    return list(__all__)
