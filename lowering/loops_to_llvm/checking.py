"""Rules for the checks of rt: a comparison, and behind it, where it fails, what tells of that.

    %r = rt.check %at of %given in n else %record[k]

->    cond_br %at ult n, ^inside(%at), ^failed
    ^failed:
      cond_br (cmpxchg record.check, 0, k + 1), ^first, ^other      // whoever is first tells
    ^first:
      record.index = %given;  record.extent = n
    ^other:
      br ^inside(%at slt 0 ? 0 : max(n - 1, 0))
    ^inside(%r):

The exchange needs no ordering: the record is read when all threads have left the inference.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i1, i64
from xdsl.ir import SSAValue

from ...dialects.extensions.llvm_atomics import CmpXchgOp, Ordering
from ...dialects.rt.checks import CheckOp, RecordOp
from ...dialects.support.checks import CHECK_FIELD, EXTENT_FIELD, INDEX_FIELD
from .function import FunctionLowering, Rules

RULES = Rules()

_UNORDERED = {f"{what}_ordering": IntegerAttr(Ordering.monotonic, i64) for what in ("success", "failure")}
_ULT, _SLT = ({"predicate": IntegerAttr(number, i64)} for number in (6, 2))


@RULES.rule(RecordOp)
def record_rule(lowering: FunctionLowering, op: RecordOp) -> None:
    lowering.set(op.result, lowering.byte_offset(lowering.get(op.memory), op.offset.value.data))


@RULES.rule(CheckOp)
def check_rule(lowering: FunctionLowering, op: CheckOp) -> None:
    at, given, record = lowering.get_all((op.at, op.given, op.record))
    extent = _extent(lowering, op)
    failed, first, other = (lowering.new_block() for _ in range(3))
    inside = lowering.new_block([i64])
    holds = lowering.add(llvm.ICmpOp, (at, extent), i1, _ULT)
    lowering.branch_if(holds, (inside, [at]), (failed, ()))
    lowering.start(failed)
    place, zero, number = lowering.byte_offset(record, CHECK_FIELD), lowering.integer(0), op.number.value.data + 1
    operands = (place, zero, lowering.integer(number))
    told = lowering.add(CmpXchgOp, operands, llvm.LLVMStructType.from_type_list([i64, i1]), _UNORDERED)
    won = lowering.add(llvm.ExtractValueOp, (told,), i1, {"position": DenseArrayBase.from_list(i64, [1])})
    lowering.branch_if(won, (first, ()), (other, ()))
    lowering.start(first)
    lowering.store(given, lowering.byte_offset(record, INDEX_FIELD), i64)
    lowering.store(extent, lowering.byte_offset(record, EXTENT_FIELD), i64)
    lowering.branch(other)
    lowering.start(other)
    below = lowering.add(llvm.ICmpOp, (at, zero), i1, _SLT)
    end = lowering.add(llvm.SelectOp, (below, zero, _last(lowering, op, extent)), i64)
    lowering.branch(inside, [end])
    lowering.start(inside)
    lowering.set(op.result, inside.args[0])


def _extent(lowering: FunctionLowering, op: CheckOp) -> SSAValue:
    if op.extent is not None:
        return lowering.integer(op.extent.value.data)
    assert op.bound is not None
    bound, zero = lowering.get(op.bound), lowering.integer(0)
    below = lowering.add(llvm.ICmpOp, (bound, zero), i1, _SLT)
    return lowering.add(llvm.SelectOp, (below, zero, bound), i64)


def _last(lowering: FunctionLowering, op: CheckOp, extent: SSAValue) -> SSAValue:
    """The greatest index that is inside, or 0 where there is none."""
    if op.extent is not None:
        return lowering.integer(max(op.extent.value.data - 1, 0))
    one = lowering.integer(1)
    none = lowering.add(llvm.ICmpOp, (extent, one), i1, _SLT)
    before = lowering.add(llvm.SubOp, (extent, one), i64)
    return lowering.add(llvm.SelectOp, (none, lowering.integer(0), before), i64)
