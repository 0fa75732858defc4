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
    extent = op.extent.value.data
    failed, first, other = (lowering.new_block() for _ in range(3))
    inside = lowering.new_block([i64])
    holds = lowering.add(llvm.ICmpOp, (at, lowering.integer(extent)), i1, _ULT)
    lowering.branch_if(holds, (inside, [at]), (failed, ()))
    lowering.start(failed)
    place, zero, number = lowering.byte_offset(record, CHECK_FIELD), lowering.integer(0), op.number.value.data + 1
    operands = (place, zero, lowering.integer(number))
    told = lowering.add(CmpXchgOp, operands, llvm.LLVMStructType.from_type_list([i64, i1]), _UNORDERED)
    won = lowering.add(llvm.ExtractValueOp, (told,), i1, {"position": DenseArrayBase.from_list(i64, [1])})
    lowering.branch_if(won, (first, ()), (other, ()))
    lowering.start(first)
    lowering.store(given, lowering.byte_offset(record, INDEX_FIELD), i64)
    lowering.store(lowering.integer(extent), lowering.byte_offset(record, EXTENT_FIELD), i64)
    lowering.branch(other)
    lowering.start(other)
    below = lowering.add(llvm.ICmpOp, (at, zero), i1, _SLT)
    end = lowering.add(llvm.SelectOp, (below, zero, lowering.integer(max(extent - 1, 0))), i64)
    lowering.branch(inside, [end])
    lowering.start(inside)
    lowering.set(op.result, inside.args[0])
