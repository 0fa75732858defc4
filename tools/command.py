"""`weft TOOL ...`: the tools as one command, `weft cache --clear` for `weft-cache --clear`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from ..dialects.support.diagnostics import UsageError, did_you_mean
from .entry import guarded

TOOLS = {
    "opt": "passes over a module",
    "import": "an ONNX model as a relay module",
    "run": "run a model, a module or a saved executable",
    "tune": "find faster schedules by measuring",
    "cache": "the compiled kernels and programs on disk",
    "bench": "measure models and kernels",
}
"""The tools by name, and what they do."""


def main(args: Sequence[str] | None = None) -> int:
    """Run a tool; its exit status. See `entry` for the meaning."""
    name, *rest = [*(sys.argv[1:] if args is None else args)] or ["--help"]
    if name in TOOLS:
        return import_module(f".weft_{name}", __package__).main(rest)
    return guarded(lambda: _other(name))


def _other(name: str) -> int:
    """What is said where no tool is named.

    Raises:
        UsageError: there is no such tool.
    """
    if name == "--version":
        from importlib.metadata import version

        print(f"weft {version('weft')}")
        return 0
    if name not in ("-h", "--help"):
        hint = did_you_mean(name, TOOLS) or f"they are: {', '.join(TOOLS)}"
        raise UsageError(f"there is no tool '{name}'", hint=hint)
    print("usage: weft TOOL ...\n")
    for tool, does in TOOLS.items():
        print(f"  {tool:<8}{does}")
    print("\n`weft TOOL --help` says more; each is a command of its own as well, `weft-opt` and so on.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
