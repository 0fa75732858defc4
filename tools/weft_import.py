"""`weft-import`: a model of another framework as a `relay` module in text, its weights in a file beside it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..dialects.support.diagnostics import UsageError
from .arguments import ArgumentParser, parse_shapes
from .entry import guarded
from .output import check_output, write_module

if TYPE_CHECKING:
    pass


def argument_parser() -> ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="weft-import",
        description="Import an ONNX model: print it as a relay module. With -o, its weights are written beside it.",
        epilog="example: weft-import model.onnx -o model.mlir --shape x=1x3x224x224",
    )
    parser.add_argument("model", nargs="?", metavar="MODEL.onnx", help="the model")
    parser.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="MODEL.mlir",
        help="where to write the module; without this, it is printed, and large weights are left out",
    )
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=1x3x224x224",
        help="the shape of an input that the model leaves open; of an ONNX model also a dimension by its name: batch=1",
    )
    parser.add_argument("--mlir-print-op-generic", action="store_true", help="print operations in their generic form")
    parser.add_argument(
        "--mlir-print-debuginfo", action="store_true", help="print locations: which node of the model an operation is"
    )
    parser.add_argument("--list-operators", action="store_true", help="list the ONNX operators that can be imported")
    return parser


def run(arguments: argparse.Namespace) -> int:
    from ..dialects.relay.weights import resources
    from ..frontend.onnx import from_onnx, supported_operators
    from ..transforms.infra.printing import module_text

    if arguments.list_operators:
        from ..frontend.onnx.control import WITH_GRAPHS

        print("\n".join(sorted({*supported_operators(), *WITH_GRAPHS})))
        return 0
    if arguments.model is None:
        raise UsageError("a model is needed", hint="weft-import MODEL.onnx -o MODEL.mlir")
    check_output(arguments.model, arguments.output, "--output")
    module = from_onnx(arguments.model, parse_shapes(arguments.shape))
    module.verify()
    text = module_text(module, generic=arguments.mlir_print_op_generic, debuginfo=arguments.mlir_print_debuginfo)
    write_module(arguments.output, text, resources(module))
    return 0


def main(args: Sequence[str] | None = None) -> int:
    return guarded(lambda: run(argument_parser().parse_args(args)))


if __name__ == "__main__":
    sys.exit(main())
