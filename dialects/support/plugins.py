"""Packages that add to Weft by entry points, and what is said where one is broken.

| entry point      | what it names                                                              |
| ---              | ---                                                                        |
| `xdsl.universe`  | a `Universe`: dialects and passes                                          |
| `weft.importers` | a mapping of ONNX operators to converters, see `weft.frontend.onnx.registry` |
| `weft.backends`  | a `weft.Backend`: a compiler for parts of graphs                            |
| `weft.functions` | a Python function that compiled code calls by the entry's name             |
| `weft.strategies` | a list of `weft.strategies.Implementation`, and functions that lower       |
| `weft.schedules` | a list of `weft.schedules.ScheduleRule`                                     |
| `weft.targets` | a list of `weft.targets.TargetKind`, and of mappings from tags to targets     |

What cannot be loaded, be it a whole plug-in or one dialect or pass of it, is warned about, once, and done without: it
must not stop a tool that may not even need it. An exception that comes out of foreign code later on is blamed on the
package that the code is from, and not on Weft.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cache
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, TypeVar

from .diagnostics import Diagnostic, InternalError, Place, Severity, emit
from .entry_points import OURS, Entry, entry_points

if TYPE_CHECKING:
    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass
    from xdsl.universe import Universe

UNIVERSES = "xdsl.universe"
IMPORTERS = "weft.importers"
BACKENDS = "weft.backends"
FUNCTIONS = "weft.functions"
STRATEGIES = "weft.strategies"
SCHEDULES = "weft.schedules"
TARGETS = "weft.targets"
GROUPS = (UNIVERSES, IMPORTERS, BACKENDS, FUNCTIONS, STRATEGIES, SCHEDULES, TARGETS)
T = TypeVar("T")

_authors: set[str] = set()
_changes: set[str] = set()
_is_loading: ContextVar[bool] = ContextVar("_is_loading", default=False)
"""Whether an entry point, or what it names, is being loaded."""
_broken: dict[str, str] = {}


@cache
def installed_universes(*, ours: bool = True) -> tuple[Universe, ...]:
    """The universes of all installed packages that can be loaded; without `ours`, not those of Weft and xDSL."""
    from xdsl.universe import Universe

    found: list[Universe] = []
    for entry, value in _loaded(UNIVERSES, ours):
        if isinstance(value, Universe):
            foreign = _top(entry.module) not in OURS
            found.append(_checked(_title(entry), value) if foreign else value)
        else:
            warn(_title(entry), f"it is {type(value).__name__}, and no xdsl.universe.Universe")
    return tuple(found)


def _checked(title: str, universe: Universe) -> Universe:
    """`universe`, whose dialects and passes say when they are asked for what is wrong with them."""
    from xdsl.universe import Universe

    def checked(check: Callable[[str, str, object], T], name: str, factory: Callable[[], object]) -> Callable[[], T]:
        return lambda: check(title, name, factory())

    dialects = {name: checked(_checked_dialect, name, factory) for name, factory in universe.all_dialects.items()}
    passes = {name: checked(_checked_pass, name, factory) for name, factory in universe.all_passes.items()}
    return Universe(all_dialects=dialects, all_passes=passes)


def _checked_pass(title: str, name: str, pass_type: object) -> type[ModulePass]:
    """
    Raises:
        InternalError: it is no class of passes, or one that lacks a method.
    """
    from xdsl.passes import ModulePass

    hint = f"this is a mistake in {title}"
    if not (isinstance(pass_type, type) and issubclass(pass_type, ModulePass)):
        given = pass_type.__name__ if isinstance(pass_type, type) else type(pass_type).__name__
        what = f"its function gives {given}, and no subclass of xdsl.passes.ModulePass"
        raise InternalError(f"pass '{name}': {what}", hint=hint)
    if lacking := sorted(pass_type.__abstractmethods__):
        where = f"{pass_type.__module__}.{pass_type.__name__}"
        raise InternalError(f"pass '{name}': {where} lacks `{'`, `'.join(lacking)}`", hint=hint)
    return pass_type


def _checked_dialect(title: str, name: str, dialect: object) -> Dialect:
    """
    Raises:
        InternalError: it is no dialect, or two of its operations, or of its attributes, have one name.
    """
    from xdsl.ir import Dialect

    hint = f"this is a mistake in {title}"
    if not isinstance(dialect, Dialect):
        what = f"its function gives {type(dialect).__name__}, and no xdsl.ir.Dialect"
        raise InternalError(f"dialect '{name}': {what}", hint=hint)
    for kind, classes in (("operations", dialect.operations), ("attributes", dialect.attributes)):
        names = [each.name for each in classes]
        if twice := [each for each in dict.fromkeys(names) if names.count(each) > 1]:
            raise InternalError(f"dialect '{name}': several of its {kind} are called '{twice[0]}'", hint=hint)
    return dialect


def warn_of_taken(what: str, name: str) -> None:
    """Say, once, that what a plug-in brings is not used, as Weft or xDSL has something of the name."""
    if (title := f"{what} '{name}'") not in _broken:
        _broken[title] = "the name is taken"
        hint = f"rename the plug-in's {what}"
        message = "a plug-in brings one of this name, which is not used: the name is taken"
        emit(Diagnostic(message, Place(title), hint=hint, severity=Severity.WARNING))


def importers() -> Iterator[tuple[str, object]]:
    """What the entry points for importers name, each with its title."""
    return ((_title(entry), value) for entry, value in _loaded(IMPORTERS))


def backends() -> Iterator[tuple[str, object]]:
    """What the entry points for backends name, each with its title."""
    return ((_title(entry), value) for entry, value in _loaded(BACKENDS))


def strategies() -> Iterator[tuple[str, object]]:
    """What the entry points for strategies name, each with its title."""
    return ((_title(entry), value) for entry, value in _loaded(STRATEGIES))


def schedules() -> Iterator[tuple[str, object]]:
    """What the entry points for schedule rules name, each with its title."""
    return ((_title(entry), value) for entry, value in _loaded(SCHEDULES))


def targets() -> Iterator[tuple[str, object]]:
    """What the entry points for targets name, each with its title."""
    return ((_title(entry), value) for entry, value in _loaded(TARGETS))


def function(name: str) -> object:
    """The Python function that an entry point makes known by this name; `None` where none does."""
    for entry in entry_points(group=FUNCTIONS):
        if entry.name == name:
            return loaded(_title(entry), entry.load)
    return None


def loaded(what: str, factory: Callable[[], T]) -> T | None:
    """What the factory of a plug-in gives; `None`, with a warning the first time, where it raises."""
    if what in _broken:
        return None
    before = _is_loading.set(True)
    try:
        return factory()
    except (Exception, SystemExit) as error:  # it is foreign code: it may raise anything, and exit
        warn(what, error.message if isinstance(error, Diagnostic) else f"{type(error).__name__}: {error}")
        return None
    finally:
        _is_loading.reset(before)


def broken() -> str | None:
    """What could not be loaded so far, in a line; `None` if all could."""
    return "; ".join(f"the plug-in {title} cannot be loaded: {reason}" for title, reason in _broken.items()) or None


def note_author(module: str) -> None:
    """Classes of `module` work in Weft, without a plug-in's entry point: mistakes in them are its own."""
    if _top(module) not in OURS:
        _authors.add(module)


def foreign_entries() -> list[Entry]:
    """The entry points of all groups that are neither Weft's nor xDSL's."""
    every = (entry for group in GROUPS for entry in entry_points(group=group))
    return [entry for entry in every if _top(entry.module) not in OURS]


def note_change(module: str) -> None:
    """What is compiled depends on something that `module` has made known to this process while it ran, or, where it is
    empty, on something that was taken away. What every process makes known is no change: what a module of Weft, or one
    that an entry point names, does as it is imported, and what happens as an entry point is loaded."""
    if not _is_loading.get() and not _is_imported_by_all(module):
        _changes.add(module)


def changed_by_hand() -> bool:
    """Whether compilations of this process depend on what neither Weft nor an installed package makes known in every
    process."""
    return bool(_changes)


def _is_imported_by_all(module: str) -> bool:
    """Whether a module is being imported right now that all processes import when they have need of it."""
    spec = getattr(sys.modules.get(module), "__spec__", None)
    if not getattr(spec, "_initializing", False):
        return False
    if _top(module) in OURS:
        return True
    return any(f"{entry.module}.".startswith(f"{module}.") for entry in foreign_entries())


def _loaded(group: str, ours: bool = True) -> Iterator[tuple[Entry, object]]:
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        if not ours and _top(entry.module) in OURS:
            continue
        value = loaded(_title(entry), entry.load)
        if _title(entry) not in _broken:
            yield entry, value


def warn(title: str, reason: str) -> None:
    """Say, once, that a plug-in cannot be used."""
    if title in _broken:
        return
    _broken[title] = (reason.splitlines() or [""])[0]
    message = f"the plug-in cannot be loaded: {_broken[title]}"
    hint = "repair or uninstall it; all else works without it"
    emit(Diagnostic(message, Place(title), hint=hint, severity=Severity.WARNING))


def _title(entry: Entry) -> str:
    package = f"{entry.dist.name}: " if entry.dist is not None else ""
    return f"{package}{entry.name} = {entry.value}"


def blamed(error: BaseException) -> InternalError | None:
    """What to say about an exception that foreign code raised, or caused: that of a plug-in, or of a module whose
    passes were registered. `None` where none had part in it."""
    names: dict[str, tuple[str, str]] = {}
    for entry in (each for group in GROUPS for each in entry_points(group=group)):
        if (top := _top(entry.module)) not in OURS:
            package = entry.dist.name if entry.dist is not None else _title(entry)
            names.setdefault(top, (f"the plug-in '{entry.name}'", package))
    names = {name: (f"the module '{name}'", f"'{name}'") for name in _authors} | names
    trace: TracebackType | None = error.__traceback__
    culprit: tuple[tuple[str, str], FrameType, int] | None = None
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        if (found := names.get(_top(module)) or names.get(module)) is not None:
            culprit = found, trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next
    if culprit is None:
        return None
    (who, title), frame, line = culprit
    text = str(error).strip().split("\n")[0]
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    place = Place(frame.f_code.co_filename, line, 1)
    if isinstance(error, SyntaxError) and error.filename is not None:
        place = Place(error.filename, error.lineno or 1, error.offset or 1)
    return InternalError(
        f"{who} failed: {what}",
        place,
        hint=f"this is a mistake in {title}; WEFT_DEBUG=1 shows the traceback",
    )


def _top(module: str) -> str:
    return module.partition(".")[0]
