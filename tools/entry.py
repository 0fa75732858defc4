"""What every tool does around its work: exit codes, and a message where Python would show a traceback.

0 all went well, 1 diagnostics, 2 usage, 70 an error of Weft's own.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from errno import ENOSPC
from importlib import import_module

from ..dialects.support import knobs
from ..dialects.support.advice import on_a_command_line
from ..dialects.support.diagnostics import Diagnostic, InternalError, Place, as_diagnostic, print_to

REPORT_HINT = "this is a mistake in Weft; WEFT_DEBUG=1 shows the traceback to report"


class ClosedOutput(io.TextIOBase):
    """Standard output that was closed before the tool began: what is written to it is not lost without a word."""

    def write(self, s: str, /) -> int:
        raise Diagnostic("cannot be written: it is closed", Place("<stdout>"))

    @property
    def buffer(self) -> ClosedOutput:
        """What takes bytes, of which there is none either."""
        return self


def guarded(work: Callable[[], int]) -> int:
    """Do `work`; what it raises is shown on standard error, and its exit code returned."""
    if sys.stderr is None:  # it is closed
        sys.stderr = open(os.devnull, "w")
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    for stream in (sys.stdout, sys.stderr):
        _print_what_is_no_text(stream)
    try:
        try:
            with on_a_command_line(), _collecting_rarely():
                code = work()
            sys.stdout.flush()
            return code
        except KeyboardInterrupt:
            return 130
        except BrokenPipeError:  # whoever read our output has left: `weft-opt ... | head`
            _give_up_output()
            return 141
        except Exception as error:
            if _is_interrupt(error):
                return 130
            if isinstance(error, OSError) and error.errno == ENOSPC and error.filename is None:
                _give_up_output()
                error = Diagnostic("cannot be written: no space left on device", Place("<stdout>"))
            return report(error)
    except Diagnostic as error:  # a knob that cannot be read, found while reporting
        print_to(sys.stderr)(error)
        return error.exit_code


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether an exception tells of an interrupt: before Python 3.12, what comes from an attribute of a class that is
    being made is told of by another."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def _print_what_is_no_text(stream: object) -> None:
    """Have names of files that are no UTF-8 printed with backslashes."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


@contextmanager
def _collecting_rarely() -> Generator[None]:
    """Look for garbage seldom: importing dialects makes much that lives on, and looking at it takes a third of the
    time in which a small module is read."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _give_up_output() -> None:
    """What standard output did not take must not be tried again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def register_weft() -> None:
    """Make all of Weft's dialects and passes known to the registry, those of `lowering` too, installed or not."""
    import_module("..universe", __package__)


def report(error: Exception) -> int:
    """Show an exception on standard error; the exit code that goes with it."""
    diagnostic = as_diagnostic(error) or internal_error(error)
    trace_if_debugging(error)
    print_to(sys.stderr, color=use_color())(diagnostic)
    return diagnostic.exit_code


def trace_if_debugging(error: Exception) -> None:
    """Show the Python traceback of an exception where `WEFT_DEBUG` asks for it."""
    if knobs.DEBUG.get():
        import traceback

        traceback.print_exception(error)


def internal_error(error: Exception) -> InternalError:
    """What is said about an exception that nobody foresaw."""
    from ..dialects.support.plugins import blamed

    if (blame := blamed(error)) is not None:
        return blame
    text = str(error).strip().split("\n")[0]
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return InternalError(f"internal error: {what}", hint=REPORT_HINT)


def use_color() -> bool:
    """Whether reports are coloured: on a terminal, unless `NO_COLOR` is set."""
    return sys.stderr.isatty() and not knobs.NO_COLOR.get()
