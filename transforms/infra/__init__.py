"""The pass infrastructure. Names are imported from their modules when they are first asked for."""

from typing import TYPE_CHECKING

from .lazy import lazy_names

if TYPE_CHECKING:
    from .adapt import get_pass
    from .checking import PassStatistics, VerifyEach
    from .config import ConfigOption, register_config_option
    from .context import PassContext
    from .decorators import function_pass, module_pass, prim_func_pass
    from .driver import NonConvergenceError, RewriteDriver, RewriteListener, observed_by
    from .errors import ConfigError, PipelineError, RequirementError, UnknownPassError
    from .execution import PassRun, active_run, report_changed, run
    from .info import PassInfo, info_of
    from .instruments import PassInstrument, pass_instrument
    from .passes import FunctionPass, ModulePass, Pass, PatternPass, PrimFuncPass
    from .pattern_table import PatternStatistics
    from .pipeline import parse_pipeline
    from .printing import DumpIR, PrintIRAfter, PrintIRAfterFailure, PrintIRBefore
    from .registry import all_passes, canonical_name, get_pass_type, register_pass
    from .reproducer import CrashReproducer, Reproducer
    from .sequential import Sequential
    from .timing import PassTimingInstrument

_NAMES = {
    "checking": ("PassStatistics", "VerifyEach"),
    "config": ("ConfigOption", "register_config_option"),
    "context": ("PassContext",),
    "decorators": ("function_pass", "module_pass", "prim_func_pass"),
    "driver": ("NonConvergenceError", "observed_by", "RewriteDriver", "RewriteListener"),
    "errors": ("ConfigError", "PipelineError", "RequirementError", "UnknownPassError"),
    "execution": ("PassRun", "active_run", "report_changed", "run"),
    "info": ("PassInfo", "info_of"),
    "instruments": ("PassInstrument", "pass_instrument"),
    "passes": ("FunctionPass", "ModulePass", "Pass", "PatternPass", "PrimFuncPass"),
    "pattern_table": ("PatternStatistics",),
    "pipeline": ("parse_pipeline",),
    "printing": ("DumpIR", "PrintIRAfter", "PrintIRAfterFailure", "PrintIRBefore"),
    "adapt": ("get_pass",),
    "registry": ("all_passes", "canonical_name", "get_pass_type", "register_pass"),
    "reproducer": ("CrashReproducer", "Reproducer"),
    "sequential": ("Sequential",),
    "timing": ("PassTimingInstrument",),
}

__all__ = [
    "active_run", "all_passes", "canonical_name", "ConfigError", "ConfigOption", "CrashReproducer", "DumpIR",
    "function_pass", "FunctionPass", "get_pass", "get_pass_type", "info_of", "module_pass", "ModulePass",
    "NonConvergenceError", "observed_by", "parse_pipeline", "Pass", "pass_instrument", "PassContext", "PassInfo",
    "PassInstrument",
    "PassRun", "PassStatistics", "PassTimingInstrument", "PatternPass", "PatternStatistics", "PipelineError",
    "prim_func_pass", "PrimFuncPass", "PrintIRAfter", "PrintIRAfterFailure", "PrintIRBefore", "register_config_option",
    "register_pass", "report_changed", "Reproducer", "RequirementError", "RewriteDriver", "RewriteListener", "run",
    "Sequential", "UnknownPassError", "VerifyEach",
]  # fmt: skip

__getattr__ = lazy_names(__name__, {name: f".{module}" for module, names in _NAMES.items() for name in names})
