"""`weft-tune`: find faster schedules for a model's kernels by measuring, and show what was found."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from weft.dialects.support.diagnostics import Diagnostic, Place, UsageError
from weft.tools.arguments import ArgumentParser, parse_shapes, seed
from weft.tools.entry import guarded, register_weft

if TYPE_CHECKING:
    from weft.tuning.tune import Progress, TuningResult

SUFFIX = ".tuning.jsonl"
"""What a file of records is called, unless it is given another name."""


def argument_parser() -> ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="weft-tune",
        description="Find schedules for a model's kernels that are faster than those of the rules, by measuring. Each "
        "measurement is kept as soon as it is made: the same command goes on where it was stopped.",
        epilog="example: weft-tune model.onnx --minutes 10 && weft-run model.onnx --tuning-records model.tuning.jsonl",
    )
    parser.add_argument("file", metavar="MODEL", help="an .onnx model or a .mlir module; with --report also records")
    parser.add_argument(
        "--records", metavar="FILE", help=f"where measurements are kept; MODEL{SUFFIX} in this folder without this"
    )
    how = parser.add_argument_group("how long, and where")
    how.add_argument("--trials", type=int, default=512, metavar="N", help="measurements in all; 512 without this")
    how.add_argument("--minutes", type=float, metavar="M", help="stop after so many minutes")
    how.add_argument("--limit", type=float, default=30, metavar="S", help="seconds for one schedule; 30 without this")
    how.add_argument("--rounds", type=int, default=5, metavar="N", help="pairs of timings for one; 5 without this")
    how.add_argument("--workers", type=int, default=1, metavar="N", help="measuring processes; 1 without this")
    how.add_argument("--dask", metavar="ADDRESS", help="measure on the workers of a dask.distributed scheduler")
    how.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of what is drawn")
    what = parser.add_argument_group("what is tuned")
    what.add_argument("--target", default="llvm", help="what code is made for: 'llvm -mcpu=native -mattr=-avx512f'")
    what.add_argument("--threads", type=int, metavar="N", help="threads for an inference; as many as processors")
    what.add_argument(
        "--space",
        choices=("weft-rules", "post-order-apply", "union"),
        default="weft-rules",
        help="whose designs are searched: those of Weft's rules, of TVM's, or both; Weft's without this",
    )
    what.add_argument("--function", metavar="NAME", help="the function of a module; without it, main or the only one")
    what.add_argument(
        "-O", dest="opt_level", type=int, choices=range(5), metavar="N", help="optimisation level, 0 to 4"
    )
    what.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=1x3x224x224",
        help="the shape of an input that the model leaves open; of an ONNX model also a dimension by its name: batch=1",
    )
    show = parser.add_argument_group("what was found")
    show.add_argument(
        "--report",
        metavar="OUT.svg",
        help="do not tune: draw the best so far, and where time went; - only tells",
    )
    show.add_argument("--export", metavar="DIR", help="do not tune: write the best schedules as .mlir files")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Do what the command line asks for.

    Raises:
        UsageError: the options are wrong.
        Diagnostic: the model cannot be read or compiled, the records cannot be read, or nothing can be measured.
    """
    for flag, value in (
        ("--trials", arguments.trials),
        ("--workers", arguments.workers),
        ("--rounds", arguments.rounds),
    ):
        if value < 1:
            raise UsageError(f"{value}: at least one is needed", Place(flag))
    for flag, value in (("--minutes", arguments.minutes), ("--limit", arguments.limit)):
        if value is not None and not value > 0:
            raise UsageError(f"{value:g}: more than nothing is needed", Place(flag))
    if arguments.threads is not None and arguments.threads < 1:
        raise UsageError(f"{arguments.threads} threads: at least one is needed", Place("--threads"))
    register_weft()
    from weft.tools.output import check_output

    model: str = arguments.file
    if arguments.report is not None or arguments.export is not None:
        path = model if model.endswith(".jsonl") else arguments.records or Path(model).stem + SUFFIX
        return _show(path, arguments.report, arguments.export)
    if model.endswith(".jsonl"):
        raise UsageError(
            f"{model}: these are records, and no model", hint="weft-tune RECORDS --report OUT.svg shows them"
        )
    check_output(model, arguments.records, "--records")
    if not os.path.exists(model):
        raise Diagnostic("no such file or directory", Place(model))
    return _tune(model, arguments.records or Path(model).stem + SUFFIX, arguments)


def _show(path: str, drawing: str | None, folder: str | None) -> int:
    """Print, draw and write what a file of records tells."""
    from weft.tools.output import write_output
    from weft.transforms.tir.scheduling.tuning_records import best_records, read_records
    from weft.tuning.report import as_svg, as_table, reports

    records = read_records(path)
    if not records:
        raise Diagnostic("there are no records yet", Place(path))
    kernels = reports(records)
    print(as_table(kernels))
    if drawing not in (None, "-"):
        write_output(drawing, as_svg(kernels, Path(path).name))
    if folder is not None:
        os.makedirs(folder, exist_ok=True)
        for key, record in best_records(records).items():
            write_output(os.path.join(folder, f"{record.name}.{key[:8]}.mlir"), record.schedule + "\n")
    return 0


def _tune(model: str, path: str, arguments: argparse.Namespace) -> int:
    """Tune, and tell of it."""
    from weft.meta_schedule.space_generator import SpaceGenerator
    from weft.tuning.jobs import Effort
    from weft.tuning.tune import tune

    print(f"{model}: timing its kernels; measurements go to {path}", file=sys.stderr)
    line = _Line(sys.stderr)
    try:
        result = tune(
            model,
            path,
            target=arguments.target,
            opt_level=arguments.opt_level,
            threads=arguments.threads,
            shapes=parse_shapes(arguments.shape),
            function=arguments.function,
            space=SpaceGenerator.create(arguments.space),
            trials=arguments.trials,
            seconds=None if arguments.minutes is None else 60 * arguments.minutes,
            workers=arguments.workers,
            pool=None if arguments.dask is None else _dask(arguments.dask),
            effort=Effort(arguments.rounds, limit_s=arguments.limit),
            seed=arguments.seed,
            progress=line.show,
        )
    except KeyboardInterrupt:
        line.end()
        again = shlex.join(["weft-tune", *arguments.given])
        print(f"stopped; all measurements are in {path}. To go on: {again}", file=sys.stderr)
        return 130
    line.end()
    print(summary(result))
    return 0


def _dask(address: str) -> object:
    """The workers of a scheduler.

    Raises:
        UsageError: dask is not installed, or the scheduler does not answer.
    """
    try:
        from distributed import Client  # pyright: ignore[reportMissingImports, reportUnknownVariableType]
    except ImportError:
        raise UsageError("dask is not installed", Place("--dask"), hint="pip install 'weft[tune]'") from None
    try:
        return Client(address, timeout=10)  # pyright: ignore[reportUnknownVariableType]
    except (OSError, ValueError) as error:
        raise UsageError(f"there is no scheduler at {address}: {error}", Place("--dask")) from error


class _Line:
    """The line that tells how far tuning has come: one that is written over on a terminal, else one for each eighth
    measurement."""

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._live = stream.isatty()
        self._width = 0

    def show(self, progress: Progress) -> None:
        """Tell of a measurement."""
        record = progress.record
        what = f"{record.ratio:.2f}" if record.ratios else record.status.value
        text = (
            f"{progress.measured}/{progress.trials} measured, {progress.seconds:.0f} s, "
            f"saves {100 * progress.saved:.1f} % so far; {what} {progress.kernel}"
        )
        if self._live:
            text = text[:110]
            print(f"\r{text.ljust(self._width)}", end="", file=self._stream, flush=True)
            self._width = len(text)
        elif progress.measured % 8 == 0:
            print(text, file=self._stream, flush=True)

    def end(self) -> None:
        """Leave the line."""
        if self._width:
            print(file=self._stream)


def summary(result: TuningResult) -> str:
    """What tuning has found, as text."""
    lines = [f"{len(result.tasks)} kernels, {result.measured} schedules measured now; faster ones for:"]
    for task in result.tasks:
        if (record := result.best.get(task.key)) is not None:
            share = f"{100 * task.share:.1f} %"
            lines.append(
                f"  {record.ratio:.3f} of {record.default_seconds * 1e6:.1f} us, {share:>6} of the model: {task.name}"
            )
    if not result.best:
        lines.append("  none: the rules' are the best that were found")
    lines += [f"  not tuned: {name}: {why}" for name, why in result.left_out.items()]
    before, after = f"{result.before_ms:.3f} ms", f"{result.after_ms:.3f} ms"
    lines.append(f"an inference: {before} by the rules, {after} with the records, {result.ratio:.3f} of it")
    if result.is_exhausted:
        lines.append("there is nothing left to measure")
    return "\n".join(lines)


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool; the exit status. See `entry` for its meaning."""
    given = list(sys.argv[1:] if args is None else args)

    def work() -> int:
        arguments = argument_parser().parse_args(given)
        arguments.given = given
        return run(arguments)

    return guarded(work)


if __name__ == "__main__":
    sys.exit(main())
