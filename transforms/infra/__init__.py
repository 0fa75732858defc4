"""The pass infrastructure. Names are imported from their modules when they are first asked for."""

from typing import TYPE_CHECKING

from ...dialects.support.lazy import lazy_names

if TYPE_CHECKING:
    from .adapt import get_pass as get_pass
    from .checking import PassStatistics as PassStatistics
    from .checking import VerifyEach as VerifyEach
    from .config import ConfigOption as ConfigOption
    from .config import register_config_option as register_config_option
    from .context import PassContext as PassContext
    from .decorators import function_pass as function_pass
    from .decorators import module_pass as module_pass
    from .decorators import prim_func_pass as prim_func_pass
    from .driver import NonConvergenceError as NonConvergenceError
    from .driver import RewriteDriver as RewriteDriver
    from .driver import RewriteListener as RewriteListener
    from .driver import observed_by as observed_by
    from .errors import ConfigError as ConfigError
    from .errors import PipelineError as PipelineError
    from .errors import RequirementError as RequirementError
    from .errors import UnknownPassError as UnknownPassError
    from .execution import PassRun as PassRun
    from .execution import active_run as active_run
    from .execution import report_changed as report_changed
    from .execution import run as run
    from .info import PassInfo as PassInfo
    from .info import info_of as info_of
    from .instruments import PassInstrument as PassInstrument
    from .instruments import pass_instrument as pass_instrument
    from .passes import FunctionPass as FunctionPass
    from .passes import ModulePass as ModulePass
    from .passes import Pass as Pass
    from .passes import PatternPass as PatternPass
    from .passes import PrimFuncPass as PrimFuncPass
    from .pattern_table import PatternStatistics as PatternStatistics
    from .pipeline import parse_pipeline as parse_pipeline
    from .printing import DumpIR as DumpIR
    from .printing import PrintIRAfter as PrintIRAfter
    from .printing import PrintIRAfterFailure as PrintIRAfterFailure
    from .printing import PrintIRBefore as PrintIRBefore
    from .registry import all_passes as all_passes
    from .registry import canonical_name as canonical_name
    from .registry import get_pass_type as get_pass_type
    from .registry import register_pass as register_pass
    from .reproducer import CrashReproducer as CrashReproducer
    from .reproducer import Reproducer as Reproducer
    from .sequential import Sequential as Sequential
    from .timing import PassTimingInstrument as PassTimingInstrument

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
