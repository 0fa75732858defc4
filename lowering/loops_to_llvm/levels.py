"""Where operations on integers and addresses go: into the outermost loop in which all that they depend on is known.

    scf.for %i {                                   ^i: %row = llvm.mul %i, 224
      scf.for %j {                                     llvm.br ^j
        %0 = arith.muli %i, 224                    ^j: %0 = llvm.add %row, %j
        %1 = arith.addi %0, %j             ->          ...
        ... %1 ... %i * 224 ...                        llvm.cond_br ^j, ^after

What is computed there once is not computed again where it is known. Loops that are unrolled have no more in them than
what differs from turn to turn then, so that LLVM has little left to do (`lowering.machine.binding`).

Loop-invariant code motion and common subexpression elimination as compilers have them (Aho et al., Compilers, 2nd
edition, 9.5), at once, while operations are made and before there are any to move. Neither loads nor what may trap
where it would not have run are moved: a division only where the divisor is a positive constant.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.extensions import llvm as llvmx
from ...dialects.extensions import llvm_intrinsics as intr

_DIVISIONS: frozenset[type[Operation]] = frozenset({llvm.UDivOp, llvm.URemOp, llvm.SDivOp, llvm.SRemOp})
_MOVED: frozenset[type[Operation]] = _DIVISIONS | {
    llvm.AddOp,
    llvm.SubOp,
    llvm.MulOp,
    llvm.AndOp,
    llvm.OrOp,
    llvm.XOrOp,
    llvm.GEPOp,
    llvm.ICmpOp,
    llvm.SelectOp,
    llvmx.SelectOp,
    llvm.SExtOp,
    llvm.ZExtOp,
    llvm.TruncOp,
    intr.SMaxOp,
    intr.SMinOp,
    intr.UMaxOp,
    intr.UMinOp,
}


@dataclass
class Level:
    """A loop, or the function around all of them, and the block of it that is appended to; where a loop within it is
    being made, that which goes there."""

    depth: int
    block: Block
    known: dict[Hashable, SSAValue] = field(default_factory=dict[Hashable, SSAValue])
    """What has been computed in the block."""

    def append(self, op: Operation) -> None:
        """Put an operation at the end of the block, before the branch that ends it, if it has one."""
        last = self.block.last_op
        if isinstance(last, llvm.BrOp | llvm.CondBrOp):
            self.block.insert_op_before(op, last)
        else:
            self.block.add_op(op)


class Levels:
    """The loops around the place where operations are appended, outermost first."""

    def __init__(self, entry: Block):
        self._levels = [Level(0, entry)]
        self._depths: dict[SSAValue, int] = dict.fromkeys(entry.args, 0)

    def start(self, block: Block) -> None:
        """Go on in `block`, which is of the loop that is being made."""
        level = self._levels[-1]
        level.block, level.known = block, {}
        self.made(block.args)

    def begin_loop(self) -> None:
        """A loop is begun, to which the block that was appended to goes."""
        self._levels.append(Level(len(self._levels), self._levels[-1].block))

    def end_loop(self) -> None:
        """The loop that was begun last is at its end."""
        self._levels.pop()

    def made(self, values: Iterable[SSAValue], depth: int | None = None) -> None:
        """Values were made within as many loops as `depth` says, or in the one that is being made."""
        for value in values:
            self._depths[value] = len(self._levels) - 1 if depth is None else depth

    def is_outside(self, value: SSAValue, other: SSAValue) -> bool:
        """Whether a value is known in a loop around those in which another one is."""
        return self._depth(value) < self._depth(other)

    def place(self, kind: type[Operation], operands: Sequence[SSAValue], type: Attribute) -> Level | None:
        """The outermost loop for an operation, `None` where it stays where it is."""
        if kind not in _MOVED or not isinstance(type, IntegerType | llvm.LLVMPointerType):
            return None
        if kind in _DIVISIONS and not _is_positive(operands[1]):
            return None
        return self._levels[max(map(self._depth, operands), default=0)]

    def _depth(self, value: SSAValue) -> int:
        return self._depths.get(value, len(self._levels) - 1)


def _is_positive(value: SSAValue) -> bool:
    """Whether a value is a positive constant."""
    constant = value.owner
    if not isinstance(constant, llvm.ConstantOp):
        return False
    attribute = constant.value
    return isinstance(attribute, IntegerAttr) and attribute.value.data > 0
