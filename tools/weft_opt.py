"""`weft-opt`: read a module, run passes over it, write it. With mlir-opt's habits and flag names."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .entry import guarded, register_weft
from .options import Options, parse_arguments
from .options import argument_parser as argument_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; the exit status. See `entry` for its meaning."""
    given = sys.argv[1:] if arguments is None else arguments
    return guarded(lambda: run(parse_arguments(given)))


def run(options: Options) -> int:
    """Do what the options ask for.

    Raises:
        Diagnostic: the input, or the options, are wrong.
    """
    register_weft()
    if options.show_dialects or options.list_passes or options.explain is not None or options.version:
        from .information import print_information

        return print_information(options)
    from .driver import drive

    return drive(options)


if __name__ == "__main__":
    sys.exit(main())
