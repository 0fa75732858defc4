"""`weft-cache`: the compiled kernels that are kept on disk: how many there are, and how to be rid of them."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from ..dialects.support import knobs
from .arguments import ArgumentParser
from .entry import guarded


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="weft-cache",
        description="Show the compiled kernels that are kept in $WEFT_CACHE_DIR, by how long ago they were used.",
        epilog="example: WEFT_CACHE_DIR=~/.cache/weft weft-cache --clear",
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
    from ..lowering.machine.kernel_cache import MEGABYTE, KernelCache

    cache = KernelCache.from_environment()
    if cache is None:
        print(f"no kernels are kept on disk: ${knobs.CACHE_DIR.variable} is not set")
        return 0
    limit = cache.limit
    if arguments.clear:
        print(f"{cache.clear()} kernels removed")
    if arguments.trim:
        print(f"{cache.trim()} kernels removed")
    entries = list(cache.objects())
    total = sum(entry.bytes for entry in cache.entries())
    print(f"{cache.directory}: {len(entries)} kernels, {total / MEGABYTE:.1f} of {limit / MEGABYTE:.0f} MB")
    now = time.time()
    for name, seconds in _AGES:
        number = sum(now - entry.used < seconds for entry in entries)
        print(f"  used within {name}: {number}")
    return 0


_AGES = (("an hour", 3600), ("a day", 86400), ("a week", 604800), ("a month", 2592000))


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool; the exit status. See `entry` for its meaning."""
    given = sys.argv[1:] if args is None else args
    return guarded(lambda: run(argument_parser().parse_args(given)))


if __name__ == "__main__":
    sys.exit(main())
