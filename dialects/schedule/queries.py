"""Instructions that ask for blocks and loops, and those that decide."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..support.python_values import attribute_of
from .core import I64, Instruction, instruction


class Query(Instruction):
    """An instruction that changes no function."""

    CHANGES: ClassVar[bool] = False


@instruction(gives="block", shown=("block", "function"))
class GetBlockOp(Query):
    """The block of a name. `number` tells blocks of one name apart, in program order.

    ```mlir
    %b = schedule.get_block @dense
    %c = schedule.get_block @dense in @other {number = 1}
    ```
    """

    block = prop_def(StringAttr)
    function = opt_prop_def(StringAttr)
    number = opt_prop_def(I64)

    def print_arguments(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.block.data)
        if self.function is not None:
            printer.print_string(" in ")
            printer.print_symbol_name(self.function.data)

    @classmethod
    def parse_arguments(cls, parser: Parser) -> tuple[list[SSAValue], dict[str, Attribute]]:
        properties: dict[str, Attribute] = {"block": parser.parse_symbol_name()}
        if parser.parse_optional_keyword("in"):
            properties["function"] = parser.parse_symbol_name()
        return [], properties


@instruction("block", gives="loop*")
class GetLoopsOp(Query):
    """The loops around a block, outermost first.

    ```mlir
    %i, %j, %k = schedule.get_loops %b -> 3
    ```
    """


@instruction("block|loop", gives="block*")
class GetChildBlocksOp(Query):
    """The blocks in a loop, in program order.

    ```mlir
    %a, %b = schedule.get_child_blocks %i -> 2
    ```
    """


@instruction("block", gives="block*")
class GetProducersOp(Query):
    """The blocks that write what a block reads.

    ```mlir
    %p = schedule.get_producers %b -> 1
    ```
    """


@instruction("block", gives="block*")
class GetConsumersOp(Query):
    """The blocks that read what a block writes.

    ```mlir
    %c = schedule.get_consumers %b -> 1
    ```
    """


ANY_FACTOR = -1
"""For `max_innermost`: the last factor may be any."""


@instruction("loop", gives="value*")
class SamplePerfectTileOp(Query):
    """Factors whose product is the loop's extent, the last one at most `max_innermost`, or any with -1.

    ```mlir
    %a, %c = schedule.sample_perfect_tile %i {max_innermost = 16, decision = [4, 8]} -> 2
    ```
    """

    max_innermost = prop_def(I64)
    decision = opt_prop_def(ArrayAttr)

    def verify_parameters(self) -> None:
        if not self.outputs:
            raise VerifyException("gives at least one factor")
        if (most := self.max_innermost.value.data) < 1 and most != ANY_FACTOR:
            raise VerifyException(f"max_innermost is at least 1, or {ANY_FACTOR} for any factor, not {most}")
        if self.decision is not None and len(self.decision) != len(self.outputs):
            raise VerifyException(f"the decision has {len(self.decision)} factors, for {len(self.outputs)} results")
        if self.decision is not None and not all(isinstance(factor, IntegerAttr) for factor in self.decision):
            raise VerifyException("the decision is a list of integers")


@instruction(gives="value")
class SampleCategoricalOp(Query):
    """One of `candidates`, each as likely as `probs` says; the decision is its number.

    ```mlir
    %n = schedule.sample_categorical {candidates = [16, 64], probs = [0.5, 0.5], decision = 1}
    ```
    """

    candidates = prop_def(ArrayAttr)
    probs = prop_def(ArrayAttr)
    decision = opt_prop_def(I64)

    def verify_parameters(self) -> None:
        if not self.candidates or len(self.candidates) != len(self.probs):
            raise VerifyException("each of the candidates, of which there is one at least, has a probability")
        if not all(isinstance(candidate, IntegerAttr) for candidate in self.candidates):
            raise VerifyException("candidates are integers")
        if self.decision is not None and not 0 <= self.decision.value.data < len(self.candidates):
            raise VerifyException(f"there is no candidate {self.decision.value.data}")


@instruction("block", gives="loop")
class SampleComputeLocationOp(Query):
    """A loop that a block may be computed in: number `decision` of those around its reader, or -1 for where it stands,
    or -2 for inlining it.

    ```mlir
    %l = schedule.sample_compute_location %b {decision = -2}
    ```
    """

    decision = opt_prop_def(I64)


@instruction()
class EnterPostprocOp(Query):
    """What follows is not the schedule's choice but repairs what it leaves; a replay may stop here.

    ```mlir
    schedule.enter_postproc
    ```
    """


def decided(op: Instruction, decision: object) -> None:
    """Record what a sampling instruction has chosen."""
    op.properties["decision"] = attribute_of(decision)


OPS: list[type[Instruction]] = [
    GetBlockOp,
    GetLoopsOp,
    GetChildBlocksOp,
    GetProducersOp,
    GetConsumersOp,
    SamplePerfectTileOp,
    SampleCategoricalOp,
    SampleComputeLocationOp,
    EnterPostprocOp,
]
