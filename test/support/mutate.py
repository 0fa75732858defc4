"""Mutations of texts and bytes, and running Weft's tools on the result."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import os
import random
import re
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

SECONDS = 10
"""That a case may take, of the processor's time: on a machine that has much else to do it lasts longer."""
MEMORY = 4 << 30

NUMBERS = ("0", "-1", "1", "7", "4096", "2147483648", "9223372036854775807", "-9223372036854775808", "1" * 40, "1e308")
TOKENS = re.compile(r"[A-Za-z_][\w.$-]*|[%@#!^][\w.$-]*|\d+|\"[^\"\n]*\"|\s+|.", re.DOTALL)


def mutated_text(text: str, others: Sequence[str], rng: random.Random) -> str:
    """`text` with one to four tokens gone, doubled, swapped, replaced by numbers or by tokens of another text."""
    tokens = TOKENS.findall(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        if not tokens:
            break
        place = rng.randrange(len(tokens))
        match rng.randrange(9):
            case 0:
                del tokens[place]
            case 1:
                tokens.insert(place, tokens[place])
            case 2:
                other = rng.randrange(len(tokens))
                tokens[place], tokens[other] = tokens[other], tokens[place]
            case 3:
                numbers = [i for i, token in enumerate(tokens) if token.isdigit()] or [place]
                tokens[rng.choice(numbers)] = rng.choice(NUMBERS)
            case 4:
                tokens[place] = rng.choice(TOKENS.findall(rng.choice(others)) or [""])
            case 5:
                end = min(len(tokens), place + rng.randrange(1, 40))
                del tokens[place:end]
            case 6:
                end = min(len(tokens), place + rng.randrange(1, 40))
                tokens[place:place] = tokens[place:end]
            case 7:
                tokens[place] = "".join(rng.sample(tokens[place], len(tokens[place])))
            case _:
                tokens = tokens[:place]
    return "".join(tokens)


def mutated_bytes(data: bytes, rng: random.Random) -> bytes:
    """`data` with some bytes changed, cut out, doubled, or cut off."""
    array = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if not array:
            break
        place = rng.randrange(len(array))
        match rng.randrange(5):
            case 0:
                array[place] ^= 1 << rng.randrange(8)
            case 1:
                array[place] = rng.choice((0, 1, 127, 128, 255))
            case 2:
                del array[place : place + rng.randrange(1, 32)]
            case 3:
                array[place:place] = array[place : place + rng.randrange(1, 32)]
            case _:
                del array[place : (None if rng.random() < 0.2 else place + 1)]
    return bytes(array)


class Outcome(Exception):
    """What a tool did that it must not."""


def run_tool(
    main: Callable[[Sequence[str]], object],
    arguments: Sequence[str],
    wrong: str | None = None,
    *,
    has_child: bool = False,
) -> int:
    """The exit code of a tool; its output goes nowhere. One that waits for a child may do so for some time.

    Raises:
        Outcome: it ended in a traceback, in an internal error, or not in time, or has said what is `wrong`.
    """
    output = io.TextIOWrapper(io.BytesIO(), "utf-8")
    errors = io.TextIOWrapper(io.BytesIO(), "utf-8")

    def too_long(*_: object) -> None:
        raise Outcome(f"still running after {SECONDS} s")

    signal.signal(signal.SIGPROF, too_long)
    signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, 6 * SECONDS if has_child else 0)
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = main(arguments)
    except SystemExit as exit:
        code = exit.code
    except Outcome:
        raise
    except BaseException:
        raise Outcome(traceback.format_exc(limit=-6)) from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    errors.flush()
    said = bytes(errors.buffer.getvalue()).decode("utf-8", "replace")
    if code == 70 and "this is a mistake in 'xdsl." in said:
        return 70  # a pass of xDSL's own, which the message blames
    if code not in (0, 1, 2, None):
        raise Outcome(f"exit code {code}: {said[-800:]}")
    if code in (1, 2) and "error:" not in said:
        raise Outcome(f"exit code {code} without a message: {said[-300:]!r}")
    if "Traceback (most recent call last)" in said or (wrong is not None and wrong in said):
        raise Outcome(said[-1500:])
    return int(code or 0)


def run_cases(cases: Iterable[int], run: Callable[[int], None]) -> list[str]:
    """Run cases in a child process of bounded memory; what went wrong, by case.

    A case that kills the process, or hangs where no signal reaches, is told too, and the rest goes on in another child.
    """
    wrong: list[str] = []
    todo = list(cases)
    while todo:
        with tempfile.TemporaryFile("w+") as log:
            child = os.fork()
            if child == 0:
                _run_in_child(todo, run, log.fileno())
            _, status = os.waitpid(child, 0)
            log.seek(0)
            lines = log.read().split("\0")
        done = [line for line in lines if line]
        wrong += [line.partition("\n")[2] for line in done if "\n" in line]
        if status == 0 and len(done) >= len(todo):
            break
        finished = sum(1 for line in done if line.startswith("done"))
        wrong.append(f"case {todo[finished]}: the process ended with status {status}")
        todo = todo[finished + 1 :]
    return wrong


def _run_in_child(cases: Sequence[int], run: Callable[[int], None], log: int) -> None:
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        sys.setrecursionlimit(1000)
        with open(os.devnull, "w") as null:
            for case in cases:
                faulthandler.dump_traceback_later(10 * SECONDS, exit=True, file=null)
                found = ""
                try:
                    run(case)
                except Outcome as outcome:
                    found = f"\ncase {case}: {outcome}"
                except BaseException:
                    found = f"\ncase {case}: {traceback.format_exc(limit=-6)}"
                os.write(log, f"done{found}\0".encode("utf-8", "replace"))
        code = 0
    finally:
        os._exit(code)


def corpus(root: Path, pattern: str) -> list[str]:
    """The texts of the files below `root`, in a fixed order."""
    return [path.read_text() for path in sorted(root.rglob(pattern))]
