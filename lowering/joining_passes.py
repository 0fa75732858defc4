"""Passes from elsewhere join the phases of a compilation where they say (`Pass.joins_phase`, `Pass.joins_after`).

What is to run after another one that joins is put in behind it, in whatever order the two are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeAlias, cast

from xdsl.passes import ModulePass

from ..dialects.support.diagnostics import UsageError, did_you_mean
from ..dialects.support.plugins import loaded, warn
from ..transforms.infra.registry import canonical_name, get_pass_type, is_registered, outside_passes

Phases: TypeAlias = dict[str, list[ModulePass]]
"""The passes of each phase."""


def add_joining(lists: Sequence[Phases], required: Sequence[str]) -> None:
    """Add the passes from elsewhere that say where they belong, and those required that do not, to each of `lists`.

    A plug-in that asks for a place that there is not is warned about, and done without.

    Raises:
        UsageError: there is no such place, for a pass that is required or was registered; or passes want to run after
            one another.
    """
    outside = outside_passes()
    if not outside:
        return
    asked = {canonical_name(name) for name in required}
    waiting: dict[str, type[ModulePass]] = {}
    for name in outside:
        pass_type = get_pass_type(name) if name in asked else loaded(f"pass '{name}'", partial(get_pass_type, name))
        if pass_type is not None:
            waiting[name] = pass_type
    while waiting:
        ready = (name for name, pass_type in waiting.items() if canonical_name(_after(pass_type) or "") not in waiting)
        found = next(ready, None)
        name = found or next(iter(waiting))
        try:
            if found is None:
                raise _circle(name, waiting)
            _join(lists, waiting[name], name in asked)
        except UsageError as error:
            if name in asked or is_registered(name):
                raise
            warn(f"pass '{name}'", "; ".join(filter(None, (error.message, error.hint))))
        del waiting[name]


def _after(pass_type: type[ModulePass]) -> str | None:
    return cast("str | None", getattr(pass_type, "joins_after", None))


def _circle(name: str, waiting: Mapping[str, type[ModulePass]]) -> UsageError:
    """What is wrong where each pass that waits is to run after another one of them."""
    way: list[str] = []
    while name not in way:
        way.append(name)
        name = canonical_name(_after(waiting[name]) or "") or ""
    circle = [*way[way.index(name) :], name]
    return UsageError(f"passes want to run after one another in a circle: {' -> '.join(circle)}")


def _join(lists: Sequence[Phases], pass_type: type[ModulePass], asked: bool) -> None:
    name, after = pass_type.name, _after(pass_type)
    phase = cast("str | None", getattr(pass_type, "joins_phase", None))
    if after is not None:
        places = [_join_after(phases, pass_type, after) for phases in lists]
        if asked and not any(places):
            raise UsageError(
                f"the pass '{name}' is required, and wants to run after '{after}', which does not run here"
            )
    elif phase is not None or asked:
        names = [each for each in lists[0] if each not in ("import", "object")]
        if (phase := phase or "graph") not in names:
            hint = did_you_mean(phase, names) or f"phases are {', '.join(names)}"
            raise UsageError(f"the pass '{name}' wants to join a phase '{phase}', which there is not", hint=hint)
        for phases in lists:
            phases[phase].append(pass_type())


def _join_after(phases: Phases, pass_type: type[ModulePass], after: str) -> bool:
    """Put a pass behind the last place of another; false where that has none."""
    name = canonical_name(after)
    if name is None:
        hint = did_you_mean(after, {pass_.name: None for passes in phases.values() for pass_ in passes})
        hint = hint or "`weft-opt --list-passes` lists the passes"
        raise UsageError(f"the pass '{pass_type.name}' wants to run after '{after}', which there is not", hint=hint)
    for passes in reversed(phases.values()):
        places = [place for place, pass_ in enumerate(passes) if pass_.name == name]
        if places:
            passes.insert(places[-1] + 1, pass_type())
            return True
    return False
