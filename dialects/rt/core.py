"""Sharing the work of a loop among threads: operations, and the type of the counters that it needs.

Every thread runs the whole graph. Where it comes to an `rt.share`, each claims one share after another until none is
left, then waits until those that others claimed are done. Nobody waits for a thread that has claimed nothing: one that
the system has put aside, or that comes late, finds the work done and passes on. So there are no barriers.

TVM's counterpart is the call of `TVMBackendParallelLaunch` that a `parallel` loop becomes, one fork and join each.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntAttr, IntegerAttr, MemRefType, i8, i64
from xdsl.ir import Attribute, Block, ParametrizedAttribute, Region, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from ..support.interned import index, integer_attribute
from ..support.looks import by_looks
from ..support.shaped import is_memref

SLOT_BYTES = 128
"""Bytes of a slot: the counts of claimed and of done shares, each on a cache line of its own."""


@irdl_attr_definition
class SlotsType(ParametrizedAttribute, TypeAttribute):
    """The counters of `count` shared loops: `!rt.slots<2>`. A function that takes them shares its work with others."""

    name = "rt.slots"
    count: IntAttr

    def __init__(self, count: int | IntAttr):
        super().__init__(IntAttr(count) if isinstance(count, int) else count)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            return [IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_int(self.count.data)

    def verify(self) -> None:
        if self.count.data < 1:
            raise VerifyException(f"there must be at least one slot, not {self.count.data}")


@irdl_op_definition
class SlotsOp(IRDLOperation):
    """The slots whose counters stand in memory, from a byte on. They must be zero before the first thread shares.

    ```mlir
    %slots = rt.slots %arena[128] : memref<4096xi8> to !rt.slots<2>
    ```
    """

    name = "rt.slots"
    memory = operand_def(MemRefType)
    offset = prop_def(IntegerAttr.constr(i64))
    result = result_def(SlotsType)
    assembly_format = "$memory `[` $offset `]` attr-dict `:` type($memory) `to` type($result)"
    traits = traits_def(Pure())

    def __init__(self, memory: SSAValue, offset: int, count: int):
        super().__init__(
            operands=[memory], result_types=[SlotsType(count)], properties={"offset": IntegerAttr(offset, i64)}
        )

    @by_looks()
    def verify_(self, verify_nested_ops: bool = True) -> None:
        memory, start = self.memory.type, self.offset.value.data
        assert is_memref(memory) and isinstance(self.result.type, SlotsType)
        if memory.element_type != i8 or memory.get_num_dims() != 1:
            raise VerifyException(f"slots stand in a memref of bytes, not in {memory}")
        if start < 0 or start % SLOT_BYTES:
            raise VerifyException(f"the offset {start} is not a multiple of a slot's {SLOT_BYTES} bytes")
        extent, end = memory.get_shape()[0], start + self.result.type.count.data * SLOT_BYTES
        if 0 <= extent < end:
            raise VerifyException(f"the slots end at byte {end}, outside of {memory}")


@irdl_op_definition
class ShareOp(IRDLOperation):
    """Runs the region once for every share of `%extent` iterations, each on one of the threads that come here.

    A share is the iterations from `%first` to before `%last`; there are a few for each thread, of about equal size.
    Without bounds there is one share, which one thread runs. When a thread goes on behind this, all shares are done,
    and it sees what they wrote. Within the region nothing of another share may be relied on.

    Args:
        slots, number: the counters of this loop: slot `number` of `slots`, of which no other loop makes use.
        extent: iterations that are divided.
        threads: as many shares are made as are good for this many threads. Negative, without its uppermost bit: this
            thread claims the last ones first (`LAST_FIRST` in `lowering/abi.py`).
        rows: divides `extent`. The first share of each row is claimed before the second of any: threads go from the
            left and from the right through `rows` equal parts of the loop at once, instead of through its whole length.

    ```mlir
    rt.share %slots[0] for %first to %last of %extent threads %num_threads {
      func.call @body(%x, %first, %last) : (memref<64xf32>, index, index) -> ()
    } : !rt.slots<2>
    rt.share %slots[1] {
      func.call @rest(%x) : (memref<64xf32>) -> ()
    } : !rt.slots<2>
    ```
    """

    name = "rt.share"
    slots = operand_def(SlotsType)
    extent = opt_operand_def(index)
    threads = opt_operand_def(index)
    number = prop_def(IntegerAttr.constr(i64))
    rows = prop_def(IntegerAttr.constr(i64), default_value=integer_attribute(1, 64))
    body = region_def("single_block")
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(NoTerminator())

    def __init__(
        self,
        slots: SSAValue,
        number: int,
        body: Region,
        extent: SSAValue | None = None,
        threads: SSAValue | None = None,
        rows: int = 1,
    ):
        super().__init__(
            operands=[slots, [] if extent is None else [extent], [] if threads is None else [threads]],
            properties={"number": integer_attribute(number, 64), "rows": integer_attribute(rows, 64)},
            regions=[body],
        )

    def verify_(self, verify_nested_ops: bool = True) -> None:
        assert isinstance(self.slots.type, SlotsType)
        count, number = self.slots.type.count.data, self.number.value.data
        if not 0 <= number < count:
            raise VerifyException(f"there is no slot {number}: {self.slots.type} has {count}")
        if (self.extent is None) is not (self.threads is None):
            raise VerifyException("an extent and a number of threads are given together or not at all")
        rows = self.rows.value.data
        if rows < 1 or (rows > 1 and not self._divides_extent(rows)):
            raise VerifyException(f"{rows} rows are not equal parts of the iterations")
        wanted = [] if self.extent is None else [index, index]
        given = list(self.body.block.arg_types)
        if given != wanted:
            raise VerifyException(
                f"the region takes {_listed(given)}, not {_listed(wanted)}"
                + (": a loop that is not divided has no bounds" if not wanted else "")
            )
        if any(isinstance(op, ShareOp) for op in self.body.walk()):
            raise VerifyException("a share cannot be shared again: its threads would wait for one another")

    def _divides_extent(self, rows: int) -> bool:
        """Whether the number of iterations is a constant, and a multiple of `rows`."""
        constant = None if self.extent is None else self.extent.owner
        value = constant.value if isinstance(constant, arith.ConstantOp) else None
        return isinstance(value, IntegerAttr) and value.value.data % rows == 0

    @classmethod
    def parse(cls, parser: Parser) -> ShareOp:
        slots = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            number = parser.parse_integer(allow_boolean=False)
        bounds: list[Parser.Argument] = []
        extent = threads = None
        rows = 1
        if parser.parse_optional_keyword("for") is not None:
            first = parser.parse_argument(expect_type=False)
            parser.parse_keyword("to")
            last = parser.parse_argument(expect_type=False)
            bounds = [first.resolve(index), last.resolve(index)]
            parser.parse_keyword("of")
            extent = parser.resolve_operand(parser.parse_unresolved_operand(), index)
            parser.parse_keyword("threads")
            threads = parser.resolve_operand(parser.parse_unresolved_operand(), index)
            if parser.parse_optional_keyword("rows") is not None:
                rows = parser.parse_integer(allow_boolean=False, allow_negative=False)
        region = parser.parse_region(bounds)
        if not region.blocks:
            region.add_block(Block(arg_types=[index] * len(bounds)))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        resolved = parser.resolve_operand(slots, parser.parse_type())
        op = cls(resolved, number, region, extent, threads, rows)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.slots)
        printer.print_string(f"[{self.number.value.data}]")
        if self.extent is not None and self.threads is not None:
            first, last = self.body.block.args
            words: list[tuple[str, SSAValue]] = [
                ("for", first), ("to", last), ("of", self.extent), ("threads", self.threads)
            ]  # fmt: skip
            for word, value in words:
                printer.print_string(f" {word} ")
                printer.print_ssa_value(value)
            if self.rows.value.data != 1:
                printer.print_string(f" rows {self.rows.value.data}")
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.slots.type)


def _listed(types: Sequence[Attribute]) -> str:
    return f"({', '.join(map(str, types))})"
