"""Whatever a public function is called with, nothing comes from inside it that only its author can read."""

from __future__ import annotations

import contextlib
import inspect
import io
import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from public_names import NAMESPACES, callables

from weft.dialects.support.diagnostics import Diagnostic, InternalError

WRONG: tuple[Any, ...] = (None, 5, "x", object(), [None], {"k": object()})
"""What no function takes all its arguments to be."""

OF_NUMBERS = "bool boolean int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 StringImm"
OF_EXPRESSIONS = "as_integer converted_lanes does_more matched_lanes"
BY_PYTHON = {
    "weft.nd.NDArray": "NumPy's class",
    "weft.runtime.NDArray": "NumPy's class",
    "weft.relay.RefType": "a class of xDSL's",
    "weft.testing.assert_close": "what is compared may be anything of NumPy's",
    **{f"weft.te.Expr.{name}": "how expressions reach modules that know them" for name in OF_EXPRESSIONS.split()},
    **{f"weft.tir.{name}": "Python's classes" for name in OF_NUMBERS.split()},
}
"""What says what NumPy or Python says."""


def arities(function: Callable[..., object]) -> set[int]:
    """How many arguments a function is called with here: none, those it needs, a few more, too many."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {0, 1}
    placed = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    needed = sum(each.default is each.empty for each in placed)
    return {0, needed or 1, min(len(placed), needed + 3), len(placed) + 3}


def is_from_inside(error: BaseException) -> bool:
    """Whether an exception is one that nobody has raised for the caller to read."""
    if isinstance(error, InternalError):
        return True
    if isinstance(error, Diagnostic | OSError):
        return False
    trace = error.__traceback__
    assert trace is not None
    depth = 0
    while trace.tb_next is not None:
        trace, depth = trace.tb_next, depth + 1
    if isinstance(error, TypeError) and ("argument" in str(error) or "abstract" in str(error)):
        return False  # Python's own words for a call
    raised = "raise" in linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    return not (raised and isinstance(error, TypeError | ValueError | AttributeError | NotImplementedError))


@pytest.mark.parametrize("name", NAMESPACES)
def test_nothing_comes_from_inside(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # of what takes a path some is written
    told: dict[str, str] = {}
    for called, function in callables(name):
        if called in BY_PYTHON:
            continue
        for count in arities(function):
            for value in WRONG if count else WRONG[:1]:
                quiet = io.StringIO()
                try:
                    with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
                        function(*[value] * count)
                except Exception as error:
                    if is_from_inside(error):
                        told.setdefault(called, f"{count} times {value!r}: {type(error).__name__}: {error}")
    assert not told


def test_what_comes_from_inside_is_known() -> None:
    def attribute(value: Any) -> object:
        return value.nothing

    def refused(value: Any) -> object:
        raise ValueError(f"no {value}")

    for call, inside in ((attribute, True), (refused, False)):
        with pytest.raises(Exception) as caught:
            call(None)
        assert is_from_inside(caught.value) is inside
