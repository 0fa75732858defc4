"""Pass instruments, under TVM's names: `tvm.ir.instrument`."""

from typing import TYPE_CHECKING

from .dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from .transforms.infra.checking import PassRecord as PassRecord
    from .transforms.infra.checking import PassStatistics as PassStatistics
    from .transforms.infra.checking import VerifyEach as VerifyEach
    from .transforms.infra.instruments import PassInstrument as PassInstrument
    from .transforms.infra.instruments import pass_instrument as pass_instrument
    from .transforms.infra.printing import DumpIR as DumpIR
    from .transforms.infra.printing import PrintIRAfter as PrintIRAfter
    from .transforms.infra.printing import PrintIRAfterFailure as PrintIRAfterFailure
    from .transforms.infra.printing import PrintIRBefore as PrintIRBefore
    from .transforms.infra.reproducer import CrashReproducer as CrashReproducer
    from .transforms.infra.reproducer import Reproducer as Reproducer
    from .transforms.infra.timing import PassTimingInstrument as PassTimingInstrument

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
