"""The command line of `weft-opt`: flags, their help, and the typed options they become. Imports no compiler."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..dialects.support.knobs import KNOBS
from .arguments import ArgumentParser, parse_shape

Group: TypeAlias = argparse._ArgumentGroup  # pyright: ignore[reportPrivateUsage]
"""Flags under one title in the help; argparse has no public name for them."""


@dataclass(frozen=True)
class Options:
    """What the user asked `weft-opt` for."""

    input: str
    output: str
    emit: str
    target: str | None
    split_input_file: bool
    verify_diagnostics: bool
    verify_roundtrip: bool
    verify_each: bool
    allow_unregistered_dialect: bool
    no_implicit_module: bool
    shape: tuple[tuple[str, list[int]], ...]
    print_op_generic: bool
    print_debuginfo: bool

    pipeline: str | None
    opt_level: int | None
    required_pass: tuple[str, ...]
    disable_pass: tuple[str, ...]
    pass_config: tuple[str, ...]
    bounds_checks: bool
    compile_from: str | None
    compile_to: str | None
    dump_phases_to: str | None
    run_reproducer: bool
    dump_pass_pipeline: bool

    print_ir_before: tuple[str, ...] | None
    print_ir_after: tuple[str, ...] | None
    print_ir_before_all: bool
    print_ir_after_all: bool
    print_ir_after_change: bool
    print_ir_after_failure: bool
    print_ir_tree_dir: str | None
    timing: bool
    timing_display: str
    pass_statistics: bool
    crash_reproducer: str | None
    remarks: str | None

    show_dialects: bool
    list_passes: bool
    explain: str | None
    version: bool


_OPTIONAL_VALUE = ("--mlir-print-ir-before", "--mlir-print-ir-after", "--remarks", "--verify-each")
"""Flags whose value can only follow a `=`, so that it is never confused with the input file."""


def parse_arguments(arguments: Sequence[str]) -> Options:
    """Read a command line.

    Raises:
        UsageError: it is not one of `weft-opt`'s.
        SystemExit: help was asked for, and has been printed.
    """
    parser = argument_parser()
    namespace = parser.parse_args([f"{a}=" if a in _OPTIONAL_VALUE else a for a in arguments])
    return Options(**vars(namespace))


class _Parser(ArgumentParser):
    def hint_of(self, flag: str) -> str | None:
        """mlir-opt has a flag for every pass."""
        from ..transforms.infra.registry import canonical_name

        name = canonical_name(flag.lstrip("-"))
        return f"to run the pass {name}: -p {name}" if name is not None else None


def _names(text: str) -> tuple[str, ...]:
    """Pass names, separated by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _truth(text: str) -> bool:
    if text.lower() not in ("", "true", "false", "1", "0"):
        raise argparse.ArgumentTypeError(f"expected true or false, got '{text}'")
    return text.lower() not in ("false", "0")


def _regex(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a regular expression: {error}") from None
    return text


class _Extend(argparse.Action):
    """Adds to a tuple what each use of the flag gives."""

    def __call__(self, parser: object, namespace: argparse.Namespace, values: object, option: object = None) -> None:
        assert isinstance(values, tuple)
        setattr(namespace, self.dest, (*getattr(namespace, self.dest), *values))


def _epilog() -> str:
    width = max(map(len, KNOBS))
    lines = [
        textwrap.fill(knob.doc, 110, initial_indent=f"  {variable:<{width}}  ", subsequent_indent=" " * (width + 4))
        for variable, knob in KNOBS.items()
    ]
    return "\n".join(["environment:", *lines])


def argument_parser() -> ArgumentParser:
    """The command line."""
    parser = _Parser(
        prog="weft-opt",
        description="Read a module, run passes over it, write it. Reports go to standard error.",
        epilog=_epilog(),
        add_help=False,
    )
    _add_input_and_output(parser.add_argument_group("input and output"))
    _add_passes(parser.add_argument_group("passes"))
    _add_phases(parser.add_argument_group("phases: import, graph, fuse, tir, schedule, loops, llvm, object"))
    _add_reports(parser.add_argument_group("reports, on standard error"))
    _add_information(parser.add_argument_group("information"))
    return parser


def _add_input_and_output(group: Group) -> None:
    add = group.add_argument
    add("input", nargs="?", default="-", metavar="FILE", help="the module; '-', the default, is standard input")
    add(
        "-o",
        dest="output",
        default="-",
        metavar="FILE",
        help="where to, instead of standard output; weights of a "
        "MODEL.mlir go to MODEL.weights.npz beside it, and come from there",
    )
    add(
        "--emit",
        default="mlir",
        metavar="FORMAT",
        help="what to write: mlir (default), llvm, asm or obj from the llvm dialect, c from loops, graph-json (TVM's) "
        "from fuse, memory.svg of a planned graph, or dot (Graphviz's) of any module",
    )
    add("--split-input-file", action="store_true", help="the input is several modules, with lines '// -----' between")
    add(
        "--verify-diagnostics",
        action="store_true",
        help="compare what is reported with comments 'expected-error@+1 {{text}}' in the input",
    )
    add("--verify-roundtrip", action="store_true", help="check that the input survives being printed and parsed again")
    add("--allow-unregistered-dialect", action="store_true", help="accept operations of dialects that are not known")
    add(
        "--shape",
        action=_Extend,
        type=lambda text: (parse_shape(text),),
        default=(),
        metavar="NAME=1x3x224x224",
        help="the shape of an input whose dimensions the module leaves open",
    )
    add("--no-implicit-module", action="store_true", help="the input must be one builtin.module")
    add(
        "--mlir-print-op-generic",
        "--print-op-generic",
        dest="print_op_generic",
        action="store_true",
        help="write operations in the generic form",
    )
    add(
        "--mlir-print-debuginfo",
        "--print-debuginfo",
        dest="print_debuginfo",
        action="store_true",
        help="write locations",
    )


def _add_passes(group: Group) -> None:
    add = group.add_argument
    add(
        "-p",
        "--pass-pipeline",
        "--passes",
        dest="pipeline",
        metavar="PIPELINE",
        help="the passes to run: 'a,b{x=1 y=2}', or nested: 'builtin.module(relay.func(a,b))'",
    )
    add(
        "-O",
        dest="opt_level",
        type=int,
        choices=range(5),
        metavar="{0,1,2,3,4}",
        help="run passes up to this level "
        "only (default 3 for phases, any for the passes of -p); alone: run the phase 'graph'",
    )
    add(
        "--required-pass", action=_Extend, type=_names, default=(), metavar="NAMES", help="run these whatever the level"
    )
    add("--disable-pass", action=_Extend, type=_names, default=(), metavar="NAMES", help="do not run these")
    add(
        "--pass-config",
        action=_Extend,
        type=lambda text: (text,),
        default=(),
        metavar="KEY=VALUE",
        help="set an option of all passes of a kind: 'fuse-ops.max-depth=4'",
    )
    add(
        "--verify-each",
        type=_truth,
        default=False,
        metavar="[=BOOL]",
        help="verify after every pass, not only at the end",
    )
    add(
        "--dump-pass-pipeline",
        action="store_true",
        help="print the passes to be run to standard error, those of phases too, as -p takes them",
    )
    add("--run-reproducer", action="store_true", help="FILE is a crash reproducer: run the passes that it names")


def _add_phases(group: Group) -> None:
    add = group.add_argument
    add("--compile-to", metavar="PHASE", help="run all phases up to this one")
    add("--compile-from", metavar="PHASE", help="the input has been through this phase (default: import)")
    add("--dump-phases-to", metavar="DIR", help="write the module after each phase to DIR/PHASE.mlir, and print none")
    add(
        "--bounds-checks",
        action="store_true",
        help="have machine code check every access that was not proved to be inside of its buffer",
    )
    add(
        "--target",
        help="what to compile for (default: 'llvm -mcpu=native'); a pipeline finds its vectors on the module",
    )


def _add_reports(group: Group) -> None:
    add = group.add_argument
    for when in ("before", "after"):
        add(
            f"--mlir-print-ir-{when}",
            dest=f"print_ir_{when}",
            type=_names,
            default=None,
            metavar="[=NAMES]",
            help=f"print the module {when} these passes",
        )
        add(
            f"--mlir-print-ir-{when}-all",
            dest=f"print_ir_{when}_all",
            action="store_true",
            help=f"print the module {when} every pass",
        )
    add(
        "--mlir-print-ir-after-change",
        dest="print_ir_after_change",
        action="store_true",
        help="print after a pass only where it changed the module",
    )
    add(
        "--mlir-print-ir-after-failure",
        dest="print_ir_after_failure",
        action="store_true",
        help="print the module as a failing pass has left it",
    )
    add(
        "--mlir-print-ir-tree-dir",
        dest="print_ir_tree_dir",
        metavar="DIR",
        help="write the module after each pass to a file in DIR",
    )
    add("--mlir-timing", dest="timing", action="store_true", help="how long each pass took")
    add("--mlir-timing-display", dest="timing_display", choices=("list", "tree"), default="list", help="in which form")
    add(
        "--mlir-pass-statistics",
        dest="pass_statistics",
        action="store_true",
        help="operations before and after each pass, and what its patterns rewrote",
    )
    add(
        "--mlir-pass-pipeline-crash-reproducer",
        dest="crash_reproducer",
        metavar="FILE",
        help="when a pass fails, write what is needed to make it fail again",
    )
    add(
        "--remarks",
        type=_regex,
        default=None,
        metavar="[=REGEX]",
        help="what passes did, what they did not do and why; of passes whose name matches REGEX",
    )


def _add_information(group: Group) -> None:
    add = group.add_argument
    add("--show-dialects", action="store_true", help="the dialects that can be read")
    add("--list-passes", action="store_true", help="the passes that can be run")
    add("--explain", metavar="NAME", help="describe an operation, attribute, type, dialect, pass or phase")
    add("-v", "--version", action="store_true", help="the versions of Weft and what it stands on")
    add("-h", "--help", action="help", help="this text")
