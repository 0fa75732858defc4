"""Packages that add dialects and passes by the entry point `xdsl.universe`, and what is said where one is broken.

A plug-in that cannot be loaded is warned about, and done without: its mistake must not stop a tool that may not even
need it. An exception that comes out of a plug-in later on is blamed on it and not on Weft.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from .diagnostics import Diagnostic, InternalError, Place, Severity, emit

if TYPE_CHECKING:
    from xdsl.universe import Universe

GROUP = "xdsl.universe"
OURS = ("weft", "xdsl")
"""Packages of which mistakes are not those of a plug-in."""


@cache
def installed_universes() -> tuple[Universe, ...]:
    """The universes of all installed packages that can be loaded; a warning names each of the others."""
    from xdsl.universe import Universe

    found: list[Universe] = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            universe = point.load()
        except Exception as error:  # it is foreign code: it may raise anything
            _warn(point, f"{type(error).__name__}: {error}")
            continue
        if isinstance(universe, Universe):
            found.append(universe)
        else:
            _warn(point, f"it is {type(universe).__name__}, and no xdsl.universe.Universe")
    return tuple(found)


def _warn(point: EntryPoint, reason: str) -> None:
    message = f"the plug-in cannot be loaded: {reason.splitlines()[0]}"
    hint = "repair or uninstall it; all else works without it"
    emit(Diagnostic(message, Place(_title(point)), hint=hint, severity=Severity.WARNING))


def _title(point: EntryPoint) -> str:
    package = f"{point.dist.name}: " if point.dist is not None else ""
    return f"{package}{point.name} = {point.value}"


def blamed(error: BaseException) -> InternalError | None:
    """What to say about an exception that a plug-in's code raised, or caused; `None` where none had part in it."""
    plugins = {_top(point.module): point for point in entry_points(group=GROUP) if _top(point.module) not in OURS}
    trace: TracebackType | None = error.__traceback__
    culprit: tuple[EntryPoint, FrameType, int] | None = None
    while trace is not None:
        if (point := plugins.get(_top(str(trace.tb_frame.f_globals.get("__name__", ""))))) is not None:
            culprit = point, trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next
    if culprit is None:
        return None
    point, frame, line = culprit
    text = str(error).strip().split("\n")[0]
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return InternalError(
        f"the plug-in '{point.name}' failed: {what}",
        Place(frame.f_code.co_filename, line, 1),
        hint=f"this is a mistake in {_title(point)}; WEFT_DEBUG=1 shows the traceback",
    )


def _top(module: str) -> str:
    return module.partition(".")[0]
