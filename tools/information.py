"""What `weft-opt` can tell about itself: dialects, passes, operations, versions."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

from ..dialects import get_all_dialects
from ..transforms.infra.registry import all_dialects, all_passes, own_passes
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
    others = sorted(set(all_dialects()) - set(own))
    return f"Available dialects: {', '.join(own)}\n\nof xDSL and plug-ins:\n{_columns(others)}"


def pass_list() -> str:
    """All passes; Weft's own with a summary."""
    own = own_passes()
    width = max(map(len, own), default=0)
    lines = [f"  {name:<{width}}  {pass_summary(factory())}" for name, factory in own.items()]
    others = sorted(set(all_passes()) - set(own))
    return "\n".join(["Available passes:", *lines, "", "of xDSL and plug-ins:", _columns(others)])


def _columns(names: Iterable[str]) -> str:
    return textwrap.fill(", ".join(names), 100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
