"""Rules for rt: a shared loop becomes claims on its slot, by atomic operations.

    rt.share %slots[n] for %first to %last of %extent threads %threads { body }

->    shares = min(4 * threads, extent)
    ^claim:
      share = atomicrmw add slot.claimed, 1 monotonic             // each number is given out once
      cond_br share < shares, ^run, ^look
    ^run:
      body(share * extent / shares, (share + 1) * extent / shares)
      old = atomicrmw add slot.done, 1 acq_rel
      cond_br old == shares - 1, ^after, ^more                    // the last share, and nobody sleeps
    ^more:
      cond_br old < 0, ^wake, ^claim                              // bit 31: somebody sleeps on the count
    ^look:
      done = load atomic slot.done acquire
      cond_br (done & ~bit 31) < shares, ^wait, ^after            // ^wait calls the pool, which spins, then sleeps

The claim needs no ordering: what a share reads was written before the loop, and this thread has waited for that. What
the shares write is seen behind the loop: each `done` is a release, all of them are read-modify-writes and so continue
one release sequence, and the count is read with acquire until all are in it. Waiting sets bit 31 by a
read-modify-write too: whoever comes after it sees the bit and wakes; who came before is in the count that it gives.

Whoever does the last share goes on without another claim, whose cache line the threads that wait have written to: it
begins the next loop before them, and one that is not divided is then done where what it reads was written.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr, i1, i32, i64
from xdsl.ir import SSAValue

from ...dialects.extensions.llvm_atomics import AtomicBinOp, AtomicRMWOp, Ordering
from ...dialects.rt.core import SLOT_BYTES, ShareOp, SlotsOp
from ..abi import WAIT, WAKE
from .function import OVERFLOW, FunctionLowering, Rules

RULES = Rules()

SHARES_PER_THREAD = 4
"""Shares of a loop for each thread: some for another to take over, few enough to cost nothing."""

DONE_BYTES = SLOT_BYTES // 2
"""Where in a slot the count of done shares stands: an `i32`, on another cache line than the count of claims."""

COUNT_MASK = (1 << 31) - 1
"""The bits of that count; the one above says that somebody sleeps until it changes."""

_NUW = OVERFLOW[2]
_EQ, _ULT, _SLT = ({"predicate": IntegerAttr(number, i64)} for number in (0, 6, 2))


@RULES.rule(SlotsOp)
def slots_rule(lowering: FunctionLowering, op: SlotsOp) -> None:
    lowering.set(op.result, lowering.byte_offset(lowering.get(op.memory), op.offset.value.data))


@RULES.rule(ShareOp)
def share_rule(lowering: FunctionLowering, op: ShareOp) -> None:
    slot = lowering.byte_offset(lowering.get(op.slots), op.number.value.data * SLOT_BYTES)
    done = lowering.byte_offset(slot, DONE_BYTES)
    one = lowering.integer(1)
    shares, few = one, lowering.integer(1, i32)
    if op.extent is not None and op.threads is not None:
        shares = _number_of_shares(lowering, lowering.get(op.extent), lowering.get(op.threads))
        few = lowering.add(llvm.TruncOp, (shares,), i32)
    claim, run, more, wake, look, wait, after = (lowering.new_block() for _ in range(7))
    lowering.branch(claim)
    lowering.start(claim)
    share = _change(lowering, AtomicBinOp.add, slot, one, Ordering.monotonic)
    share.name_hint = "share"
    lowering.branch_if(lowering.add(llvm.ICmpOp, (share, shares), i1, _ULT), (run, ()), (look, ()))
    lowering.start(run)
    if op.extent is not None:
        extent = lowering.get(op.extent)
        following = lowering.add(llvm.AddOp, (share, one), i64, _NUW)
        for argument, number in zip(op.body.block.args, (share, following), strict=True):
            scaled = lowering.add(llvm.MulOp, (number, extent), i64, _NUW)
            lowering.set(argument, lowering.add(llvm.UDivOp, (scaled, shares), i64))
    for inner in op.body.block.ops:
        lowering.lower_op(inner)
    lowering.resume(op)
    old = _change(lowering, AtomicBinOp.add, done, lowering.integer(1, i32), Ordering.acq_rel)
    before_last = lowering.add(llvm.SubOp, (few, lowering.integer(1, i32)), i32)
    is_last = lowering.add(llvm.ICmpOp, (old, before_last), i1, _EQ)
    lowering.branch_if(is_last, (after, ()), (more, ()))
    lowering.start(more)
    asleep = lowering.add(llvm.ICmpOp, (old, lowering.integer(0, i32)), i1, _SLT)
    lowering.branch_if(asleep, (wake, ()), (claim, ()))
    lowering.start(wake)
    lowering.call_runtime_procedure(WAKE, [done])
    lowering.branch(claim)
    lowering.start(look)
    count = lowering.add_op_with_result(llvm.LoadOp(done, i32, alignment=4, ordering=Ordering.acquire))
    count = lowering.add(llvm.AndOp, (count, lowering.integer(COUNT_MASK, i32)), i32)
    lowering.branch_if(lowering.add(llvm.ICmpOp, (count, few), i1, _ULT), (wait, ()), (after, ()))
    lowering.start(wait)
    lowering.call_runtime_procedure(WAIT, [done, few])
    lowering.branch(after)
    lowering.start(after)


def _number_of_shares(lowering: FunctionLowering, extent: SSAValue, threads: SSAValue) -> SSAValue:
    wanted = lowering.add(llvm.MulOp, (threads, lowering.integer(SHARES_PER_THREAD)), i64, _NUW)
    fewer = lowering.add(llvm.ICmpOp, (wanted, extent), i1, _ULT)
    return lowering.add(llvm.SelectOp, (fewer, wanted, extent), i64)


def _change(
    lowering: FunctionLowering, kind: AtomicBinOp, pointer: SSAValue, value: SSAValue, ordering: Ordering
) -> SSAValue:
    return lowering.add_op_with_result(AtomicRMWOp(kind, pointer, value, ordering))
