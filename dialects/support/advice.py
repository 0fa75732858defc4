"""Advice that depends on how Weft is being used: on a command line or from Python.

    raise Diagnostic.at(op, "its shape is dynamic", hint=give_shapes())

is a flag to the one and an argument to the other. Tools say that they are one, by `on_a_command_line`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_IN_TOOL = ContextVar("weft_in_tool", default=False)


@contextmanager
def on_a_command_line() -> Generator[None]:
    """Speak of flags in the `with` block."""
    token = _IN_TOOL.set(True)
    try:
        yield
    finally:
        _IN_TOOL.reset(token)


def give_shapes(name: str = "x", shape: str = "1x3x224x224") -> str:
    """How to say what shape the input `name` has, where the model leaves it open."""
    if _IN_TOOL.get():
        return f"give the inputs static shapes: --shape {name}={shape}"
    numbers = ", ".join(shape.split("x")) + "," * ("x" not in shape)
    return f"give the inputs static shapes: weft.compile(..., shapes={{'{name}': ({numbers})}})"


def give_function(names: Sequence[str]) -> str:
    """How to say which of several functions is meant."""
    given = ", ".join(f"@{name}" for name in names)
    how = f"--function {names[0]}" if _IN_TOOL.get() else f"weft.compile(..., function='{names[0]}')"
    return f"there are {given}; say which one is meant: {how}"
