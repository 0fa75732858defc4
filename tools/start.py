"""Where the commands begin. Ctrl-C ends them in silence from here on, while Python imports what they need, too.

This module imports nothing of Weft's: what it does not know yet cannot be interrupted.

When a tool has ended, all that it holds is freed with the process. Python would look for garbage among it first, which
takes a fifth of the time of reading a small module, and seconds after a large one was compiled.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType

INTERRUPTED = 130


def _leave(number: int, frame: FrameType | None) -> None:
    """End at once, as a process may at any time: it leaves nothing behind."""
    os._exit(INTERRUPTED)


def _leave_if_interrupted(
    otherwise: Callable[[sys.UnraisableHookArgs], object], problem: sys.UnraisableHookArgs
) -> None:
    """An interrupt that came where Python can raise nothing would be shown, and forgotten."""
    if problem.exc_type is KeyboardInterrupt:
        os._exit(INTERRUPTED)
    otherwise(problem)


def _start(module: str) -> int:
    """Import a tool and run it; its exit status."""
    raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a shell's background jobs ignore it
    if raises:
        signal.signal(signal.SIGINT, _leave)
    from importlib import import_module

    main = import_module(module, __package__).main
    try:
        if not raises:
            return main()
        sys.unraisablehook = partial(_leave_if_interrupted, sys.unraisablehook)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return main()
    except KeyboardInterrupt:  # before the tool has begun, or behind its end
        return INTERRUPTED
    finally:
        if raises:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        gc.freeze()


def weft() -> int:
    """`weft TOOL ...`."""
    return _start(".command")


def weft_opt() -> int:
    """`weft-opt`."""
    return _start(".weft_opt")


def weft_import() -> int:
    """`weft-import`."""
    return _start(".weft_import")


def weft_run() -> int:
    """`weft-run`."""
    return _start(".weft_run")


def weft_tune() -> int:
    """`weft-tune`."""
    return _start(".weft_tune")


def weft_cache() -> int:
    """`weft-cache`."""
    return _start(".weft_cache")


def weft_bench() -> int:
    """`weft-bench`."""
    return _start(".weft_bench")
