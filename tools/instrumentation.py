"""The pass context that the command line asks for, and the reports that follow from it."""

from __future__ import annotations

import json
import sys
from functools import partial
from time import perf_counter

from xdsl.context import Context

from ..dialects.support.diagnostics import Diagnostic, Note, Place, Severity, UsageError, did_you_mean, emit
from ..transforms.infra.checking import PassStatistics, VerifyEach
from ..transforms.infra.config import BOUNDS_CHECKS
from ..transforms.infra.context import PassContext
from ..transforms.infra.instruments import PassInstrument
from ..transforms.infra.printing import DumpIR, PrintIRAfter, PrintIRAfterFailure, PrintIRBefore, module_text
from ..transforms.infra.registry import all_passes, canonical_name
from ..transforms.infra.reproducer import CrashReproducer
from ..transforms.infra.timing import PassTimingInstrument
from .arguments import by_name
from .options import Options
from .plan import Plan


class Instrumentation:
    """Instruments made from options."""

    def __init__(self, options: Options, plan: Plan):
        self._options = options
        self._plan = plan
        self._timing = PassTimingInstrument() if options.timing else None
        self._start = perf_counter()
        self._statistics = PassStatistics() if options.pass_statistics else None
        self._reproducer = CrashReproducer(options.crash_reproducer) if options.crash_reproducer else None

    def pass_context(self, context: Context) -> PassContext:
        """The context in which to run the passes.

        Passes that a pipeline names run whatever their level, unless a level is asked for.

        Raises:
            UsageError: an unknown pass or configuration key, or a value of the wrong type.
        """
        options = self._options
        named = self._plan.pass_names() if options.pipeline is not None and options.opt_level is None else ()
        return PassContext(
            self._plan.default_opt_level if options.opt_level is None else options.opt_level,
            [*_known("--required-pass", options.required_pass), *named],
            _known("--disable-pass", options.disable_pass),
            self._instruments(),
            by_name(map(_setting, options.pass_config), "--pass-config")
            | ({BOUNDS_CHECKS: True} if options.bounds_checks else {}),
            ir_context=context,
        )

    def _instruments(self) -> list[PassInstrument]:
        options = self._options
        text = partial(module_text, generic=options.print_op_generic, debuginfo=options.print_debuginfo)
        instruments: list[PassInstrument] = []
        if options.verify_each:
            instruments.append(VerifyEach())
        if options.print_ir_before_all:
            instruments.append(PrintIRBefore(printing=text))
        elif options.print_ir_before is not None:
            instruments.append(PrintIRBefore(_known("--mlir-print-ir-before", options.print_ir_before), printing=text))
        if options.print_ir_after_all or options.print_ir_after_change:
            instruments.append(PrintIRAfter(only_changed=options.print_ir_after_change, printing=text))
        elif options.print_ir_after is not None:
            instruments.append(PrintIRAfter(_known("--mlir-print-ir-after", options.print_ir_after), printing=text))
        if options.print_ir_after_failure:
            instruments.append(PrintIRAfterFailure(printing=text))
        if options.print_ir_tree_dir is not None:
            instruments.append(DumpIR(options.print_ir_tree_dir, printing=text))
        return [*instruments, *filter(None, (self._reproducer, self._statistics, self._timing))]

    def report(self) -> None:
        """Write what the instruments have gathered to standard error; called inside of the context."""
        if self._statistics is not None:
            sys.stderr.write(self._statistics.render())
        if self._timing is not None and self._timing.profiles:
            tree = self._options.timing_display == "tree"
            sys.stderr.write(self._timing.render() if tree else self._timing.render_table(perf_counter() - self._start))
        if self._reproducer is not None and self._reproducer.written is not None:
            note = Note(f"run `weft-opt --run-reproducer {self._reproducer.written}` to see it again")
            emit(
                Diagnostic(
                    "a reproducer was written",
                    Place(str(self._reproducer.written)),
                    severity=Severity.REMARK,
                    notes=[note],
                )
            )


def _known(flag: str, names: tuple[str, ...]) -> list[str]:
    for name in names:
        if canonical_name(name) is None:
            hint = did_you_mean(name, all_passes()) or "`weft-opt --list-passes` lists them"
            raise UsageError(f"no pass is named '{name}'", Place(flag), hint=hint)
    return list(names)


def _setting(text: str) -> tuple[str, bool | int | float | str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"'{text}' is not of the form KEY=VALUE", Place("--pass-config"))
    try:
        return key, json.loads(value)
    except (ValueError, RecursionError):
        return key, value
