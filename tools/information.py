"""What `weft-opt` can tell about itself: dialects, passes, operations, versions."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from functools import partial
from importlib.metadata import PackageNotFoundError, version

from ..dialects import get_all_dialects
from ..dialects.support.plugins import installed_universes, loaded
from ..transforms.infra.registry import all_dialects, all_passes, get_pass_type, outside_passes, own_passes
from .explanation import explain, pass_summary
from .options import Options


def print_information(options: Options) -> int:
    """Print what the options ask for on standard output.

    Raises:
        UsageError: nothing has the name to be explained.
    """
    if options.version:
        print(versions())
    if options.show_dialects:
        print(dialect_list())
    if options.list_passes:
        print(pass_list())
    if options.explain is not None:
        print(explain(options.explain))
    return 0


def versions() -> str:
    """Weft and the packages that its output depends on."""

    def of(package: str) -> str:
        try:
            return f"{package} {version(package)}"
        except PackageNotFoundError:
            return f"{package} (not installed)"

    return "\n".join(of(package) for package in ("weft", "xdsl", "llvmlite", "numpy"))


def dialect_list() -> str:
    """The names of all dialects, Weft's own first."""
    own = sorted(get_all_dialects())
    others = {*all_dialects()} - {*own}
    foreign = others & {name for universe in installed_universes(ours=False) for name in universe.all_dialects}
    lines = [f"Available dialects: {', '.join(own)}", ""]
    if foreign:
        lines += ["of plug-ins:", _columns(sorted(foreign)), ""]
    return "\n".join([*lines, "of xDSL:", _columns(sorted(others - foreign))])


def pass_list() -> str:
    """All passes; Weft's own with a summary."""
    own = own_passes()
    width = max(map(len, own), default=0)
    lines = [f"  {name:<{width}}  {pass_summary(factory())}" for name, factory in own.items()]
    others = sorted({*all_passes()} - {*own})
    brought = {name: loaded(f"pass '{name}'", partial(get_pass_type, name)) for name in outside_passes()}
    if foreign := {name: cls for name, cls in brought.items() if cls is not None and name not in own}:
        width = max(map(len, foreign))
        lines += ["", "of plug-ins:", *(f"  {name:<{width}}  {pass_summary(cls)}" for name, cls in foreign.items())]
    return "\n".join(["Available passes:", *lines, "", "of xDSL:", _columns(n for n in others if n not in brought)])


def _columns(names: Iterable[str]) -> str:
    return textwrap.fill(", ".join(names), 100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
