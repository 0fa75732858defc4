"""Every environment variable that Weft reads. Nothing else looks into `os.environ`.

    knobs.DEBUG.get()                  # from $WEFT_DEBUG, else the default
    with knobs.DEBUG.set(True): ...    # in this thread, for the length of the block

A value that cannot be read is a usage error that names the variable.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar, cast

from .diagnostics import UsageError

T = TypeVar("T", bool, int, str)

_TRUTH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


class Setting:
    """What documentation shows of a knob."""

    def __init__(self, variable: str, doc: str):
        self.variable = variable
        self.doc = doc


class Knob(Setting, Generic[T]):
    """One setting: an environment variable, the type of its default, what it means; what it is where the variable is
    set to nothing, if that is not the default."""

    def __init__(self, variable: str, default: T, doc: str, empty: T | None = None):
        super().__init__(variable, doc)
        self.default: T = default
        self._empty: T = default if empty is None else empty
        self._override: ContextVar[T] = ContextVar(variable)
        KNOBS[variable] = self

    def get(self) -> T:
        """The value in force: that of the innermost `set`, else of the environment, else the default.

        Raises:
            UsageError: the environment variable holds something else than a value of this type.
        """
        try:
            return self._override.get()
        except LookupError:
            text = os.environ.get(self.variable)
        if text is None:
            return self.default
        return self._read(text) if text else self._empty

    def _read(self, text: str) -> T:
        kind = type(self.default)
        if kind is bool:
            value = _TRUTH.get(text.lower())
            if value is None:
                raise UsageError(f"${self.variable} is '{text}', which is neither true nor false", hint="use 0 or 1")
            return cast(T, value)
        try:
            return kind(text)
        except ValueError:
            raise UsageError(f"${self.variable} is '{text}', which is no whole number") from None

    @contextmanager
    def set(self, value: T) -> Generator[None]:
        """Have `value` in the `with` block, whatever the environment says."""
        token = self._override.set(value)
        try:
            yield
        finally:
            self._override.reset(token)


KNOBS: dict[str, Setting] = {}
"""Every knob, by its environment variable."""

DEBUG = Knob(
    "WEFT_DEBUG", False, "show the Python traceback of an internal error, and of a diagnostic where it was made"
)
NO_COLOR = Knob("NO_COLOR", "", "when set to anything, reports on a terminal are not coloured (https://no-color.org)")
CACHE_DIR = Knob(
    "WEFT_CACHE_DIR",
    "$XDG_CACHE_HOME/weft",
    "directory in which compiled kernels and programs are kept, found by content; set to nothing, none are",
    empty="",
)
XDG_CACHE_HOME = Knob("XDG_CACHE_HOME", "~/.cache", "where programs of this user keep what they can make again")
CACHE_LIMIT = Knob(
    "WEFT_CACHE_LIMIT", 1024, "megabytes of kernels and programs that are kept on disk; the oldest go first"
)
JOBS = Knob("WEFT_JOBS", 0, "processes that lower and compile kernels; as many as there are processors where unset")
CODEGEN_LEVEL = Knob(
    "WEFT_CODEGEN_LEVEL",
    3,
    "how much LLVM, or the C compiler, does where a target does not say it (-opt-level): 0 to 3",
)
CUDA_LIBRARY = Knob("WEFT_CUDA_LIBRARY", "libcuda.so.1", "the library of the CUDA driver")
CC = Knob("CC", "cc", "the C compiler, of the target c and for linking exported libraries")


@contextmanager
def environment(name: str, value: str, *, unless: Collection[str]) -> Generator[None]:
    """What is loaded meanwhile, a library that reads its own variables, sees this one; unless one of others is there
    already, by which whoever started the process has decided."""
    if not os.environ.keys().isdisjoint(unless):
        yield
        return
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


def environment_of_program(**changed: str) -> dict[str, str]:
    """What a program that is started finds in its environment: what this process does, but for some variables."""
    return os.environ | changed
