"""`weft-run`: run a model, a module at any phase, or a saved executable; show, save or compare what comes out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from weft.dialects.support.diagnostics import Place, UsageError, did_you_mean
from weft.executors import EXECUTORS
from weft.tools.arguments import ArgumentParser, by_name, parse_shapes, seed, tolerance
from weft.tools.entry import guarded, register_weft

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from weft.tools.run_program import Program, Settings

    NDArray: TypeAlias = npt.NDArray[np.generic]


def argument_parser() -> ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="weft-run",
        description="Run a model and print its outputs. Inputs that are not given are random.",
        epilog="example: weft-run model.onnx --input x=@x.npy --compare onnxruntime --threads 2",
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        help="an .onnx model, a .mlir module at any phase (- for stdin), a saved .weft file",
    )
    what = parser.add_argument_group("what is run")
    what.add_argument(
        "--function",
        action="append",
        default=[],
        metavar="NAME",
        help="the function of a module; may be given several times, * is all; without it, main or the only one",
    )
    what.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=1x3x224x224",
        help="the shape of an input that the model leaves open; of an ONNX model also a dimension by its name: batch=1",
    )
    what.add_argument("--target", help="what code is made for: 'llvm -mcpu=native -mattr=-avx512f'")
    what.add_argument(
        "-O", dest="opt_level", type=int, choices=range(5), metavar="N", help="optimisation level, 0 to 4"
    )
    what.add_argument(
        "--executor",
        default="aot",
        help="aot: one function (default); graph: node by node; interpreter: op by op, of relay or tir",
    )
    what.add_argument(
        "--bounds-checks", action="store_true", help="check every access that was not proved to be inside of its buffer"
    )
    what.add_argument("--threads", type=int, metavar="N", help="threads for an inference; as many as processors")
    what.add_argument("--tuning-records", metavar="FILE", help="use the best schedules that weft-tune has found")
    what.add_argument("--save", metavar="FILE.weft", help="write the compiled program to a file")
    values = parser.add_argument_group("inputs and outputs")
    values.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an input: x=@in.npy, x=2x3xf32=[1, 2, 3, 4, 5, 6], or x=2x3xf32=0.5 for all elements",
    )
    values.add_argument("--inputs", metavar="IN.npz", help="inputs by name")
    values.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the random inputs")
    values.add_argument("--outputs", metavar="OUT.npz", help="write the outputs by name instead of printing them")
    values.add_argument("--quiet", action="store_true", help="do not print the outputs")
    check = parser.add_argument_group("checks: exit status 1 where outputs differ")
    check.add_argument("--expect", metavar="OUT.npz", help="compare with recorded outputs")
    check.add_argument("--compare", metavar="NAMES", help="compare with: aot, interpreter, onnxruntime, openvino")
    check.add_argument("--atol", type=tolerance, metavar="X", help="elements may differ by ATOL + RTOL * |element|;")
    check.add_argument("--rtol", type=tolerance, metavar="X", help="without either, by what the operators say")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Do what the command line asks for.

    Raises:
        UsageError: the options do not fit the program, or one another.
        Diagnostic: a file cannot be read, the program cannot be compiled, or outputs differ.
    """
    _check_executor(arguments.executor)
    register_weft()
    from weft.lowering.machine.target import Target
    from weft.tools.output import check_output
    from weft.tools.run_program import Settings, programs
    from weft.tools.run_values import complete, read_input, read_npz

    if arguments.threads is not None and arguments.threads < 1:
        raise UsageError(
            f"{arguments.threads} threads: at least one is needed",
            Place("--threads"),
            hint="without it there are as many as processors",
        )
    if arguments.expect is None and not arguments.compare:
        for flag, limit in (("--atol", arguments.atol), ("--rtol", arguments.rtol)):
            if limit is not None:
                raise UsageError("nothing is compared", Place(flag), hint="--compare interpreter, or --expect OUT.npz")
    check_output(arguments.file, arguments.save, "--save")
    check_output(arguments.file, arguments.outputs, "--outputs")
    target = None if arguments.target is None else Target.parse(arguments.target)
    records = arguments.tuning_records
    settings = Settings(target, arguments.opt_level, arguments.threads, arguments.bounds_checks, records)
    given = read_npz(arguments.inputs) if arguments.inputs is not None else {}
    direct = by_name(map(read_input, arguments.input), "--input")
    given |= direct
    expected = read_npz(arguments.expect) if arguments.expect is not None else None
    shapes = parse_shapes(arguments.shape)
    found = programs(arguments.file, arguments.function, shapes)
    if open_inputs := {name for program in found for name in program.open_inputs() if name in given}:
        shapes |= {name: list(given[name].shape) for name in open_inputs}
        found = programs(arguments.file, arguments.function, shapes)
    if len(found) > 1 and any(each is not None for each in (expected, arguments.outputs, arguments.save)):
        raise UsageError("--expect, --outputs and --save are for one function", Place("--function"))
    for name in given:
        known = [spec.name for program in found for spec in program.inputs]
        if name not in known:
            hint = did_you_mean(name, known) or f"inputs: {', '.join(dict.fromkeys(known))}"
            raise UsageError(
                f"there is no input '{name}'", Place("--input" if name in direct else "--inputs"), hint=hint
            )
    prepared = [
        (program, complete(program.inputs, {k: v for k, v in given.items() if k in _names(program)}, arguments.seed))
        for program in found
    ]
    for program, inputs in prepared:
        if len(found) > 1:
            print(f"@{program.function}")
        _run_one(program, inputs, expected, settings, arguments)
    return 0


def _names(program: Program) -> set[str]:
    return {spec.name for spec in program.inputs}


def _check_executor(name: str) -> None:
    if name not in EXECUTORS:
        hint = did_you_mean(name, EXECUTORS) or f"they are: {', '.join(EXECUTORS)}"
        raise UsageError(f"there is no executor '{name}'", Place("--executor"), hint=hint)


def _run_one(
    program: Program,
    inputs: Mapping[str, NDArray],
    expected: Mapping[str, NDArray] | None,
    settings: Settings,
    arguments: argparse.Namespace,
) -> None:
    """Run a program and do with its outputs what is asked for."""
    from weft.tools.run_comparison import Allowance, compare
    from weft.tools.run_program import REFERENCES
    from weft.tools.run_values import report_arrays, restored, write_npz

    names = [name.strip() for name in (arguments.compare or "").split(",") if name.strip()]
    if arguments.executor in names:
        raise UsageError(
            f"'{arguments.executor}' is what runs already: a comparison with itself proves nothing",
            Place("--compare"),
            hint=f"compare with another: {', '.join(name for name in REFERENCES if name != arguments.executor)}",
        )
    others = {name: program.executor(name, settings) for name in names}
    executor = program.executor(arguments.executor, settings)
    if arguments.save is not None:
        program.compiled(settings).save(arguments.save)
    outputs = executor.run(inputs)
    if arguments.outputs is not None:
        write_npz(arguments.outputs, outputs)
    elif not arguments.quiet:
        print(report_arrays(program.outputs, outputs))
    limits, tolerances = Allowance(arguments.atol, arguments.rtol), program.tolerances()
    if expected is not None:
        specs = {spec.name: spec for spec in program.outputs}
        wanted = {name: restored(specs[name], x) if name in specs else x for name, x in expected.items()}
        difference = compare(outputs, wanted, arguments.expect, limits, tolerances)
        print(f"equal to {arguments.expect}: greatest difference {difference:.3g}")
    for name, other in others.items():
        difference = compare(outputs, other.run(inputs), name, limits, tolerances)
        print(f"equal to {name}: greatest difference {difference:.3g}")


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool; the exit status. See `entry` for its meaning."""
    given = sys.argv[1:] if args is None else args
    return guarded(lambda: run(argument_parser().parse_args(given)))


if __name__ == "__main__":
    sys.exit(main())
