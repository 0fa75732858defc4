"""`weft-cache`: the compiled kernels and programs on disk: how many there are, and how to be rid of them."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from ..dialects.support import knobs
from .arguments import ArgumentParser
from .entry import guarded


def argument_parser() -> ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="weft-cache",
        description="Show the compiled kernels and programs in $WEFT_CACHE_DIR, by how long ago they were used.",
        epilog="example: weft-cache --clear",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--clear", action="store_true", help="remove them all")
    what.add_argument("--trim", action="store_true", help="remove the oldest, down to $WEFT_CACHE_LIMIT megabytes")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Do what the command line asks for.

    Raises:
        UsageError: the environment's directory or limit is none.
    """
    from ..dialects.support.file_cache import MEGABYTE, FileCache

    cache = FileCache.from_environment()
    if cache is None:
        print(f"no kernels are kept on disk, as ${knobs.CACHE_DIR.variable} says or for want of a home directory")
        return 0
    limit = cache.limit
    if arguments.clear:
        print(f"{cache.clear()} removed")
    if arguments.trim:
        print(f"{cache.trim()} removed")
    entries = list(cache.objects())
    total = sum(entry.bytes for entry in cache.entries())
    programs = list(cache.programs())
    held = f"{_count(len(entries), 'kernel')}, {_count(len(programs), 'program')}"
    print(f"{cache.directory}: {held}, {total / MEGABYTE:.1f} of {limit / MEGABYTE:.0f} MB")
    now = time.time()
    for name, seconds in _AGES:
        kernels, wholes = (sum(now - entry.used < seconds for entry in kept) for kept in (entries, programs))
        print(f"  used within {name}: {_count(kernels, 'kernel')}, {_count(wholes, 'program')}")
    return 0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_AGES = (("an hour", 3600), ("a day", 86400), ("a week", 604800), ("a month", 2592000))


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool; the exit status. See `entry` for its meaning."""
    given = sys.argv[1:] if args is None else args
    return guarded(lambda: run(argument_parser().parse_args(given)))


if __name__ == "__main__":
    sys.exit(main())
