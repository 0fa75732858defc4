"""Operations of the llvm dialect, appended to one block after the other."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    SymbolRefAttr,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects.extensions.llvm import ICmpOp

PTR = llvm.LLVMPointerType()
EQUAL, NOT_EQUAL, LESS, GREATER = 0, 1, 6, 8
"""Predicates of `llvm.icmp`; the last two are of unsigned integers."""
SIGNED_LESS, SIGNED_GREATER = 2, 4
MOST = (1 << 63) - 1
"""The greatest number that a word holds."""


class Assembly:
    """Where the next operation of a function goes, and what is said more often than once."""

    def __init__(self, body: Region):
        self.body = body
        self.block = body.blocks[0]
        self.location: LocationAttr | None = None

    def add(self, op: Operation) -> Operation:
        if self.location is not None:
            op.location = self.location
        self.block.add_op(op)
        return op

    def integer(self, value: int, type: IntegerType = i64) -> SSAValue:
        return self.add(llvm.ConstantOp(IntegerAttr(value, type), type)).results[0]

    def null(self) -> SSAValue:
        return self.add(llvm.ZeroOp.build(result_types=[PTR])).results[0]

    def stack(self, bytes: int, name: str, alignment: int = 8) -> SSAValue:
        """Memory on the stack."""
        memory = self.add(llvm.AllocaOp(self.integer(bytes), i8, alignment=alignment)).results[0]
        memory.name_hint = name
        return memory

    def at(self, base: SSAValue, offset: int) -> SSAValue:
        """The address `offset` bytes on."""
        return base if offset == 0 else self.add(llvm.GEPOp(base, [offset], i8)).results[0]

    def load(self, base: SSAValue, offset: int = 0, type: Attribute = PTR) -> SSAValue:
        return self.add(llvm.LoadOp(self.at(base, offset), type)).results[0]

    def store(self, value: SSAValue, base: SSAValue, offset: int = 0) -> None:
        self.add(llvm.StoreOp(value, self.at(base, offset)))

    def call(self, name: str, arguments: Sequence[SSAValue], result: Attribute | None = None) -> SSAValue | None:
        op = self.add(llvm.CallOp(SymbolRefAttr(name), *arguments, return_type=result))
        return op.results[0] if op.results else None

    def pointer(self, name: str, arguments: Sequence[SSAValue]) -> SSAValue:
        """What a function that gives an address gives."""
        result = self.call(name, arguments, PTR)
        assert result is not None
        return result

    def compare(self, predicate: int, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.add(
            ICmpOp.create(
                operands=[left, right], result_types=[i1], properties={"predicate": IntegerAttr(predicate, i64)}
            )
        ).results[0]

    def compare_unequal(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """Whether two integers differ."""
        return self.compare(NOT_EQUAL, left, right)

    def select(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        """One of two values."""
        return self.add(llvm.SelectOp(condition, yes, no)).results[0]

    # Numbers that end at the least and the greatest of a word instead of wrapping

    def plus(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """The sum of two sizes; where it is too great for a word, the greatest number that one holds."""
        total, zero = self.add(llvm.AddOp(left, right)).results[0], self.integer(0)
        negative = self.compare(SIGNED_LESS, right, zero)
        # the sum is on the wrong side of `left` just where it has wrapped
        wrapped = self.compare(NOT_EQUAL, self.compare(SIGNED_LESS, total, left), negative)
        return self.select(wrapped, self.select(negative, self.integer(-MOST), self.integer(MOST)), total)

    def times(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """The product of two sizes; where it is too great for a word, the greatest number that one holds."""
        zero, one, most = self.integer(0), self.integer(1), self.integer(MOST)
        a, b = self._magnitude(left), self._magnitude(right)
        divisor = self.select(self.compare(SIGNED_GREATER, b, one), b, one)
        wrapped = self.compare(SIGNED_GREATER, a, self.add(llvm.SDivOp(most, divisor)).results[0])
        below = self.compare(SIGNED_LESS, left, zero), self.compare(SIGNED_LESS, right, zero)
        extreme = self.select(self.compare(NOT_EQUAL, *below), self.integer(-MOST), most)
        return self.select(wrapped, extreme, self.add(llvm.MulOp(left, right)).results[0])

    def _magnitude(self, value: SSAValue) -> SSAValue:
        """A number without its sign; the least number of all is taken for the next."""
        least = self.integer(-MOST)
        value = self.select(self.compare(SIGNED_GREATER, value, least), value, least)
        opposite = self.add(llvm.SubOp(self.integer(0), value)).results[0]
        return self.select(self.compare(SIGNED_GREATER, value, opposite), value, opposite)

    # Blocks

    def new_block(self, *types: Attribute) -> Block:
        """A block that stands nowhere yet."""
        return Block(arg_types=types)

    def start(self, block: Block) -> None:
        """Go on in a block, which stands behind the others."""
        self.body.add_block(block)
        self.block = block

    def branch(self, to: Block, *values: SSAValue) -> None:
        self.add(llvm.BrOp.create(operands=values, successors=(to,)))

    def branch_if(
        self,
        condition: SSAValue,
        then: Block,
        otherwise: Block,
        then_values: Sequence[SSAValue] = (),
        other_values: Sequence[SSAValue] = (),
    ) -> None:
        sizes = DenseArrayBase.from_list(i32, [1, len(then_values), len(other_values)])
        self.add(
            llvm.CondBrOp.create(
                operands=(condition, *then_values, *other_values),
                properties={"operandSegmentSizes": sizes},
                successors=(then, otherwise),
            )
        )

    def go_on_unless(self, condition: SSAValue, to: Block, *values: SSAValue) -> None:
        """Leave for `to` where a condition holds; go on in a new block where it does not."""
        after = self.new_block()
        self.branch_if(condition, to, after, values)
        self.start(after)

    def select_among(self, number: SSAValue, targets: Sequence[Block]) -> None:
        """Go to the target of a number, by halves."""
        if len(targets) == 1:
            return self.branch(targets[0])
        self._select(number, targets, 0)

    def _select(self, number: SSAValue, targets: Sequence[Block], first: int) -> None:
        if len(targets) == 1:
            return self.branch(targets[0])
        middle = len(targets) // 2
        low, high = (self.new_block() for _ in range(2))
        self.branch_if(self.compare(LESS, number, self.integer(first + middle)), low, high)
        self.start(low)
        self._select(number, targets[:middle], first)
        self.start(high)
        self._select(number, targets[middle:], first + middle)
