"""`weft-bench`: time models, beside the systems that a user would take instead, in one process and one run."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from weft.dialects.support.diagnostics import Place, UsageError
from weft.dialects.support.processors import available_processors
from weft.tools.arguments import ArgumentParser, parse_shapes, seed
from weft.tools.entry import guarded, register_weft

if TYPE_CHECKING:
    from weft.tools.bench_report import Result
    from weft.tools.run_program import Program, Settings

RUNS = 5
"""Runs of a graph in a round, when its kernels are timed."""


def argument_parser() -> ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="weft-bench",
        description="Time models with random inputs. Systems take turns, round by round; medians, minima and ratios of "
        "medians are printed.",
        epilog="example: weft-bench model.onnx --threads 1,2 --against onnxruntime,openvino",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help=".onnx models, .mlir modules or saved .weft files")
    parser.add_argument("--function", metavar="NAME", help="the function of a module; without it, main or the only one")
    parser.add_argument("--threads", default="", metavar="1,2", help="numbers of threads; as many as processors")
    parser.add_argument("--against", default="", metavar="NAMES", help="compare with onnxruntime, openvino")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="turns of each system; 7 without this")
    parser.add_argument(
        "--kernels",
        action="store_true",
        help="time each kernel too, within the graph: ms, GFLOP/s, GB/s, share of the machine's limit, layers",
    )
    parser.add_argument("--warm", action="store_true", help="with --kernels: each alone, its data in the caches")
    parser.add_argument("--json", metavar="OUT", help="write all results to a file")
    parser.add_argument("--target", help="what code is made for: 'llvm -mcpu=native -mattr=-avx512f'")
    parser.add_argument(
        "-O", dest="opt_level", type=int, choices=range(5), metavar="N", help="optimisation level, 0 to 4"
    )
    parser.add_argument("--tuning-records", metavar="FILE", help="use the best schedules that weft-tune has found")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the random inputs")
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=1x3x224x224",
        help="the shape of an input that the model leaves open; of an ONNX model also a dimension by its name: batch=1",
    )
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Do what the command line asks for.

    Raises:
        UsageError: the options are wrong, or a peer is not installed.
        Diagnostic: a model cannot be read, compiled or loaded.
    """
    threads = _numbers(arguments.threads) or [available_processors()]
    if arguments.rounds < 1:
        raise UsageError(f"{arguments.rounds} rounds: at least one is needed", Place("--rounds"))
    if arguments.warm and not arguments.kernels:
        raise UsageError("kernels are not timed", Place("--warm"), hint="--kernels --warm")
    peers = [name.strip() for name in arguments.against.split(",") if name.strip()]
    register_weft()
    from weft.lowering.machine.target import Target
    from weft.tools.bench_report import as_json, kernel_table, processor, table
    from weft.tools.output import check_output, write_output
    from weft.tools.peers import check_runs, find_peer
    from weft.tools.run_program import Settings, programs

    for peer in peers:
        find_peer(peer)
        for path in arguments.files:
            check_runs(peer, path)
    target = None if arguments.target is None else Target.parse(arguments.target)
    settings = Settings(target, arguments.opt_level, threads[0], tuning_records=arguments.tuning_records)
    shapes = parse_shapes(arguments.shape)
    for path in arguments.files:
        check_output(path, arguments.json, "--json")
    functions = () if arguments.function is None else (arguments.function,)
    found = [program for path in arguments.files for program in programs(path, functions, shapes)]
    saved = [program.path for program in found if program.saved is not None]
    if arguments.warm and saved:
        hint = "without it they are timed within the program"
        raise UsageError(f"{saved[0]}: a saved executable has no kernels by themselves", Place("--warm"), hint=hint)
    results: list[Result] = []
    for program in found:
        results += _measure(program, threads, peers, settings, arguments)
    print(f"{processor()}\n{table(results)}")
    for result in results:
        if result.kernels:
            print(f"\n{kernel_table(result)}")
    if arguments.json:
        write_output(arguments.json, json.dumps(as_json(results, arguments.rounds), indent=1) + "\n")
    return 0


def _numbers(text: str) -> list[int]:
    try:
        numbers = [int(word) for word in text.split(",") if word.strip()]
    except ValueError:
        numbers = [0]
    if any(n < 1 for n in numbers):
        raise UsageError(f"'{text}' are not numbers of threads", Place("--threads"), hint="as in --threads 1,2")
    return numbers


def _measure(
    program: Program, threads: Sequence[int], peers: Sequence[str], settings: Settings, arguments: argparse.Namespace
) -> list[Result]:
    """A model on each number of threads."""
    from weft.tools.bench_kernels import kernels_within, time_kernels
    from weft.tools.bench_limits import measured_limits
    from weft.tools.bench_report import WEFT, Result
    from weft.tools.bench_timing import interleaved
    from weft.tools.peers import open_peer
    from weft.tools.run_values import complete

    inputs = complete(program.inputs, {}, arguments.seed)
    start = perf_counter()
    exe = program.compiled(settings)
    seconds = perf_counter() - start
    results: list[Result] = []
    if exe.kernel_counts is not None:
        print(f"{Path(program.path).stem}: kernels {exe.kernel_counts}", file=sys.stderr)
    for count in threads:
        exe.threads = count
        systems: dict[str, Callable[[], object]] = {WEFT: partial(exe.run, inputs)}
        for name in peers:
            systems[name] = partial(open_peer(name, program.path, count).run, inputs)
        timings = interleaved(systems, arguments.rounds)
        made = "" if exe.kernel_counts is None else str(exe.kernel_counts)
        model = Path(program.path).stem
        target = str(settings.made_for if program.saved is None else exe.target)
        result = Result(model, count, seconds, timings, made=made, warm=arguments.warm, target=target)
        if arguments.kernels:
            taken = [inputs[spec.name] for spec in exe.inputs]
            kernels = time_kernels(exe) if arguments.warm else kernels_within(exe, taken, RUNS * arguments.rounds)
            result = replace(result, kernels=tuple(kernels), limits=measured_limits(count))
        results.append(result)
        print(f"{results[-1].model}, threads {count}: done", file=sys.stderr)
    return results


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool; the exit status. See `entry` for its meaning."""
    given = sys.argv[1:] if args is None else args
    return guarded(lambda: run(argument_parser().parse_args(given)))


if __name__ == "__main__":
    sys.exit(main())
