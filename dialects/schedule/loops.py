"""Instructions on loops."""

from __future__ import annotations

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, BoolAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .core import HANDLE, Instruction, instruction, parse_handle, print_parameter


@instruction("loop value*", gives="loop*", shown=("factors",))
class SplitOp(Instruction):
    """One loop becomes as many as there are factors, outermost first; a factor `?` is what the others leave, and a
    map is what the function's sizes lead to.

    ```mlir
    %i_0, %i_1 = schedule.split %i, [?, 16] -> 2
    %j_0, %j_1 = schedule.split %j, [%a, %c] -> 2
    ```
    """

    factors = prop_def(ArrayAttr)
    preserve_unit_iters = opt_prop_def(BoolAttr)

    def verify_parameters(self) -> None:
        kinds = [factor for factor in self.factors if not isinstance(factor, IntegerAttr)]
        maps = [factor.data for factor in kinds if isinstance(factor, AffineMapAttr)]
        if any(factor != HANDLE and not isinstance(factor, UnitAttr | AffineMapAttr) for factor in kinds):
            raise VerifyException("factors are integers, handles, maps of the function's sizes, and at most one '?'")
        if any(map.num_symbols or len(map.results) != 1 for map in maps):
            raise VerifyException("a factor that is a map leads from sizes, as dimensions, to one number")
        if sum(isinstance(factor, UnitAttr) for factor in kinds) > 1:
            raise VerifyException("at most one factor is left to be inferred")
        if kinds.count(HANDLE) != len(self.inputs) - 1:
            raise VerifyException(f"{kinds.count(HANDLE)} factors are handles, but there are {len(self.inputs) - 1}")
        if len(self.factors) != len(self.outputs):
            raise VerifyException(f"{len(self.factors)} factors give as many loops, not {len(self.outputs)}")

    def print_arguments(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.inputs[0])
        printer.print_string(", [")
        handles = iter(self.inputs[1:])
        for number, factor in enumerate(self.factors):
            printer.print_string(", " if number else "")
            if factor == HANDLE:
                printer.print_ssa_value(next(handles))
            elif isinstance(factor, UnitAttr):
                printer.print_string("?")
            else:
                print_parameter(printer, factor)
        printer.print_string("]")

    @classmethod
    def parse_arguments(cls, parser: Parser) -> tuple[list[SSAValue], dict[str, Attribute]]:
        loop = parse_handle(parser, cls, 0)
        if loop is None:
            parser.raise_error("expected the loop that is split")
        operands = [loop]
        parser.parse_punctuation(",")

        def factor() -> Attribute:
            if parser.parse_optional_punctuation("?"):
                return UnitAttr()
            if (value := parse_handle(parser, cls, len(operands))) is not None:
                operands.append(value)
                return HANDLE
            return parser.parse_attribute()

        factors = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, factor)
        return operands, {"factors": ArrayAttr(factors)}


@instruction("loop+", gives="loop")
class FuseOp(Instruction):
    """Directly nested loops become one.

    ```mlir
    %i_j = schedule.fuse %i, %j
    ```
    """

    preserve_unit_iters = opt_prop_def(BoolAttr)


@instruction("loop+", gives="loop")
class MergeOp(Instruction):
    """Loops that follow one another become one.

    ```mlir
    %m = schedule.merge %i, %j
    ```
    """


@instruction("loop+")
class ReorderOp(Instruction):
    """Loops of one nest stand in the given order, outermost first.

    ```mlir
    schedule.reorder %k, %i, %j
    ```
    """


@instruction("loop")
class ParallelOp(Instruction):
    """The iterations of a loop are shared among threads.

    ```mlir
    schedule.parallel %i
    ```
    """


@instruction("loop")
class VectorizeOp(Instruction):
    """The iterations of a loop are the lanes of vectors.

    ```mlir
    schedule.vectorize %i
    ```
    """


@instruction("loop")
class UnrollOp(Instruction):
    """The iterations of a loop are written out.

    ```mlir
    schedule.unroll %i
    ```
    """


@instruction("loop", shown=("thread",))
class BindOp(Instruction):
    """The iterations of a loop are run by a device's threads along one of its axes.

    ```mlir
    schedule.bind %i, "threadIdx.x"
    ```
    """

    thread = prop_def(StringAttr)


@instruction("block|loop", gives="loop")
class AddUnitLoopOp(Instruction):
    """A loop of one iteration stands around a block or a loop.

    ```mlir
    %u = schedule.add_unit_loop %b
    ```
    """


OPS: list[type[Instruction]] = [
    SplitOp, FuseOp, MergeOp, ReorderOp, ParallelOp, VectorizeOp, UnrollOp, BindOp, AddUnitLoopOp
]  # fmt: skip
