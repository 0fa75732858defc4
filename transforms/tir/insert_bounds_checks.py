"""Check what was not proved: every access, and every iterator, that may lead outside is checked when it runs.

Before -> after, where the place depends on data:

```mlir
%1 = arith.index_cast %0 : i64 to index
%2 = memref.load %x[%1, %vj] : memref<10x16xf32>

%1 = arith.index_cast %0 : i64 to index
%2 = tir.check %1 of %1 in 10 "'memref.load': index {index} lies outside of dimension 0 of %x, whose extent is {extent}"
%3 = memref.load %x[%2, %vj] : memref<10x16xf32>
```

What is proved is what the verifier proves (`dialects/tir/legality`), and is left alone: an access within the extents of
the iterators, an index that was clipped or checked before. An access to a buffer without elements, of which none can be
inside, is replaced by its check. A remark counts the checks. A loop whose iterations were shown to be independent,
which cannot be seen of places that are checked, asserts it (`independent`).

Runs last of the schedule, where the configuration has `tir.bounds-checks`: a place that is checked is a place that
depends on data, which no rule can tile. With `own` it runs first as well: what is read of a function's own buffers may
be computed where it is read, and is looked for in no memory any more. TVM's counterpart is `InstrumentBoundCheckers`,
which checks every access and stops the process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Operation, Region, SSAValue

from ...dialects.support.hints import isa
from ...dialects.tir.affine import Access
from ...dialects.tir.buffers import shape_of
from ...dialects.tir.check_texts import access_text, iterator_text
from ...dialects.tir.core import AllocBufferOp, BlockOp, CheckOp, PrimFuncOp, blocks_under
from ...dialects.tir.legality.bounds import judge_accesses, unproved_iterators
from ...dialects.tir.legality.symbolic import unproved_symbolic_accesses, unproved_symbolic_iterators
from ...dialects.tir.symbols import Extent, arguments_around, is_symbol
from ..infra import PrimFuncPass, report_changed
from ..infra.remarks import passed
from .analysis.independence import assert_independent, concurrent_loops, is_shown_independent
from .schedule.copies import index_ops


@dataclass(frozen=True)
class InsertBoundsChecksPass(PrimFuncPass):
    """Check accesses and iterators that were not proved to stay inside."""

    name = "insert-bounds-checks"
    required: ClassVar[tuple[str, ...]] = ("lower-te",)
    tvm_name = "InstrumentBoundCheckers"

    own: bool = False
    """Whether to check reads of buffers of the function's own only."""

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        blocks = blocks_under(func)
        if self.own:
            blocks = [block for block in blocks if any(_is_own(buffer) for buffer in block.reads)]
            if not blocks:
                return
        shown = [loop for loop in concurrent_loops(func) if is_shown_independent(loop)]
        count = sum(insert_checks(block, own=self.own) for block in blocks)
        if self.own and not count:
            return
        for loop in shown if count else ():
            if not is_shown_independent(loop):
                assert_independent(loop)
        accesses = sum(len(block.accesses()) for block in blocks)
        passed(self.name, func, f"checks made: {count}, for {accesses} accesses; all else was proved to be inside")
        report_changed(count > 0)


def _is_own(buffer: SSAValue) -> bool:
    return isinstance(buffer.owner, AllocBufferOp)


def insert_checks(block: BlockOp, *, own: bool = False) -> int:
    """Check what was not proved of `block`, with `own` of its reads of buffers of the function's own; the number of
    checks."""
    count = 0 if own else _check_iterators(block)
    for access, dimension, extent in _unproved(block):
        if not own or (_is_own(access.buffer) and not access.is_write):
            _check_access(block, access, dimension, extent)
            count += 1
    for access in () if own else block.accesses():
        if 0 in shape_of(access.buffer):
            _leave_out(access.op)
    if count:
        block.update_accesses()
    return count


def _is_symbolic(block: BlockOp) -> bool:
    """Whether the function of `block` has symbols."""
    return any(map(is_symbol, arguments_around(block)))


def _unproved(block: BlockOp) -> list[tuple[Access, int, Extent]]:
    """The accesses that are not shown to be inside, and the dimension and its extent where they are not."""
    if _is_symbolic(block):
        return [(found.access, found.dimension, found.extent) for found in unproved_symbolic_accesses(block)]
    return [(found.access, found.dimension, found.extent) for found in judge_accesses(block)]


def _check_iterators(block: BlockOp) -> int:
    """Have `body` and `init` use iterators that are inside of their extents."""
    numbers = unproved_symbolic_iterators(block) if _is_symbolic(block) else unproved_iterators(block)
    regions: list[Region] = [block.body, *([block.init] if block.init is not None else [])]
    for region in regions:
        inner = region.block
        for number in numbers:
            iterator = inner.args[number]
            added, extent = _limit(block, block.sizes[number])
            check = CheckOp(iterator, iterator, extent, iterator_text(block, number))
            check.location = block.location
            for use in list(iterator.uses):
                if use.operation is not check:
                    use.operation.operands[use.index] = check.result
            first = inner.first_op
            assert first is not None
            inner.insert_ops_before([*added, check], first)
    return len(numbers) * len(regions)


def _limit(op: Operation, extent: Extent) -> tuple[Sequence[Operation], int | SSAValue]:
    """An extent as a check takes it: a number, or a value and the operations that compute it."""
    return ((), extent) if isinstance(extent, int) else index_ops(extent, (), arguments_around(op))


def _check_access(block: BlockOp, access: Access, dim: int, extent: Extent) -> None:
    op = access.op
    added, limit = _limit(block, extent)
    check = CheckOp(op.indices[dim], op.indices[dim], limit, access_text(op, op.memref, dim))
    check.location = op.location
    assert op.parent is not None
    op.parent.insert_ops_before([*added, check], op)
    first = 1 if isinstance(op, memref.LoadOp) else 2  # behind the buffer, and the value that is stored
    op.operands[first + dim] = check.result


def _leave_out(op: memref.LoadOp | memref.StoreOp) -> None:
    """Take out an access to a buffer without elements; a zero is read."""
    if isinstance(op, memref.LoadOp):
        assert op.parent is not None
        type = op.res.type
        if isinstance(type, AnyFloat):
            zero = arith.ConstantOp(FloatAttr(0.0, type))
        else:
            assert isa(type, IntegerType)
            zero = arith.ConstantOp(IntegerAttr(0, type))
        op.parent.insert_op_before(zero, op)
        op.res.replace_all_uses_with(zero.result)
    op.detach()
    op.erase()
