"""Rules for rt: a shared loop becomes claims on its slot, by atomic operations.

    rt.share %slots[n] for %first to %last of %extent threads %threads { body }

->    shares = min(4 * (threads without its sign), extent)          // up to whole rows
    ^claim(next):                                                 // claims from this end, as this thread knows
      cond_br next < fair, ^take, ^consider(0)                    // fair: shares of those who claim from this end
    ^consider(looks):
      claimed = load atomic slot.claimed monotonic
      first, last = claimed mod 2^32, claimed >> 32               // how many were claimed from either end
      cond_br first + last < shares, ^wants, ^look
    ^wants:                                                       // those who claim from the other end
      theirs = threads < 0 ? first : last
      cond_br theirs == 0 or looks == PATIENCE, ^take, ^consider(looks + 1)
    ^take:
      old = atomicrmw add slot.claimed, threads < 0 ? 2^32 : 1 monotonic
      first, last = old mod 2^32, old >> 32                       // how many were claimed from either end
      cond_br first + last < shares, ^run, ^look
    ^run:
      share = threads < 0 ? shares - 1 - last : first             // each number is given out once
      body(share * extent / shares, (share + 1) * extent / shares)
      old = atomicrmw add slot.done, 1 acq_rel
      cond_br old == shares - 1, ^after, ^more                    // the last share, and nobody sleeps
    ^more:
      cond_br old < 0, ^wake, ^claim(threads < 0 ? last + 1 : first + 1)  // bit 31: somebody sleeps on the count
    ^look:
      done = load atomic slot.done acquire
      cond_br (done & ~bit 31) < shares, ^wait, ^after            // ^wait calls the pool, which spins, then sleeps

Some threads claim from the first share on and the others from the last one back (`LAST_FIRST`), always the same during
an inference. So while they keep pace, what a thread reads is what it has written in the loop before, and of weights it
reads the same half each time; one that has time left over takes over what is left of the others'. Where the others are
at work it waits a little before it does: what they have written is in the caches of their processors, and if those
share none, it takes several times as long to read that.

The claim needs no ordering: what a share reads was written before the loop, and this thread has waited for that. What
the shares write is seen behind the loop: each `done` is a release, all of them are read-modify-writes and so continue
one release sequence, and the count is read with acquire until all are in it. Waiting sets bit 31 by a
read-modify-write too: whoever comes after it sees the bit and wakes; who came before is in the count that it gives.

Whoever does the last share goes on without another claim, whose cache line the threads that wait have written to: it
begins the next loop before them, and one that is not divided is then done where what it reads was written.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr, i1, i32, i64
from xdsl.ir import Block, SSAValue

from ...dialects.extensions.llvm_atomics import AtomicBinOp, AtomicRMWOp, Ordering
from ...dialects.rt.core import SLOT_BYTES, ShareOp, SlotsOp
from ..abi import LAST_FIRST, WAIT, WAKE
from .function import OVERFLOW, FunctionLowering, Rules

RULES = Rules()

SHARES_PER_THREAD = 4
"""Shares of a loop for each thread: some for another to take over, few enough to cost nothing."""

PATIENCE = 2048
"""Looks at what is claimed, half a nanosecond each, before a thread takes over a share of others at work."""

FROM_LAST = 1 << 32
"""One share more that is claimed from the last one back, in the count of claimed shares; from the first on it is 1."""

DONE_BYTES = SLOT_BYTES // 2
"""Where in a slot the count of done shares stands: an `i32`, on another cache line than the count of claims."""

COUNT_MASK = (1 << 31) - 1
"""The bits of that count; the one above says that somebody sleeps until it changes."""

_NUW = OVERFLOW[2]
_EQ, _ULT, _UGE, _SLT = ({"predicate": IntegerAttr(number, i64)} for number in (0, 6, 9, 2))


@RULES.rule(SlotsOp)
def slots_rule(lowering: FunctionLowering, op: SlotsOp) -> None:
    lowering.set(op.result, lowering.byte_offset(lowering.get(op.memory), op.offset.value.data))


@RULES.rule(ShareOp)
def share_rule(lowering: FunctionLowering, op: ShareOp) -> None:
    slot = lowering.byte_offset(lowering.get(op.slots), op.number.value.data * SLOT_BYTES)
    done = lowering.byte_offset(slot, DONE_BYTES)
    one = lowering.integer(1)
    shares, few, step = one, lowering.integer(1, i32), one
    division: _Division | None = None
    if op.extent is not None and op.threads is not None:
        division = _divided(lowering, op, lowering.get(op.extent), lowering.get(op.threads))
        shares, step = division.shares, division.step
        few = lowering.add(llvm.TruncOp, (shares,), i32)
    take, run, more, wake, look, wait, after = (lowering.new_block() for _ in range(7))
    claim = take
    if division is not None:
        claim = _begin_claims(lowering, slot, division, take, look)
    else:
        lowering.branch(claim)
    lowering.start(take)
    count = share = claimed = _change(lowering, AtomicBinOp.add, slot, step, Ordering.monotonic)
    claimed.name_hint = "claimed"
    following: tuple[SSAValue, ...] = ()
    if division is not None:
        low, high = _both_ends(lowering, claimed)
        count = lowering.add(llvm.AddOp, (low, high), i64, _NUW)
        before = lowering.add(llvm.SubOp, (lowering.add(llvm.SubOp, (shares, one), i64), high), i64)
        share = lowering.add(llvm.SelectOp, (division.from_last, before, low), i64)
        own = lowering.add(llvm.SelectOp, (division.from_last, high, low), i64)
        following = (lowering.add(llvm.AddOp, (own, one), i64, _NUW),)
    lowering.branch_if(lowering.add(llvm.ICmpOp, (count, shares), i1, _ULT), (run, ()), (look, ()))
    lowering.start(run)
    if op.extent is not None:
        share = _place(lowering, share, shares, op.rows.value.data)
        share.name_hint = "share"
        extent = lowering.get(op.extent)
        end = lowering.add(llvm.AddOp, (share, one), i64, _NUW)
        for argument, number in zip(op.body.block.args, (share, end), strict=True):
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
    lowering.branch_if(asleep, (wake, ()), (claim, following))
    lowering.start(wake)
    lowering.call_runtime_procedure(WAKE, [done])
    lowering.branch(claim, following)
    lowering.start(look)
    count = lowering.add_op_with_result(llvm.LoadOp(done, i32, alignment=4, ordering=Ordering.acquire))
    count = lowering.add(llvm.AndOp, (count, lowering.integer(COUNT_MASK, i32)), i32)
    lowering.branch_if(lowering.add(llvm.ICmpOp, (count, few), i1, _ULT), (wait, ()), (after, ()))
    lowering.start(wait)
    lowering.call_runtime_procedure(WAIT, [done, few])
    lowering.branch(after)
    lowering.start(after)


class _Division(NamedTuple):
    """How the iterations of a loop are divided."""

    shares: SSAValue
    fair: SSAValue
    """Shares of those who claim from the end that this thread claims from."""
    from_last: SSAValue
    step: SSAValue


def _divided(lowering: FunctionLowering, op: ShareOp, extent: SSAValue, threads: SSAValue) -> _Division:
    number = lowering.add(llvm.AndOp, (threads, lowering.integer(~LAST_FIRST)), i64)
    shares = _number_of_shares(lowering, extent, number, op.rows.value.data)
    from_last = lowering.add(llvm.ICmpOp, (threads, lowering.integer(0)), i1, _SLT)
    one = lowering.integer(1)
    step = lowering.add(llvm.SelectOp, (from_last, lowering.integer(FROM_LAST), one), i64)
    odd = lowering.add(llvm.SelectOp, (from_last, lowering.integer(0), one), i64)
    side = lowering.add(llvm.LShrOp, (lowering.add(llvm.AddOp, (number, odd), i64, _NUW), one), i64)
    fair = lowering.add(llvm.UDivOp, (lowering.add(llvm.MulOp, (shares, side), i64, _NUW), number), i64)
    return _Division(shares, fair, from_last, step)


def _begin_claims(lowering: FunctionLowering, slot: SSAValue, division: _Division, take: Block, look: Block) -> Block:
    """Go on where a thread is to claim a share, or not: the block that does so, for the number of its next claim."""
    claim, consider = lowering.new_block([i64]), lowering.new_block([i64])
    wants, zero, one = lowering.new_block(), lowering.integer(0), lowering.integer(1)
    lowering.branch(claim, (zero,))
    lowering.start(claim)
    is_own = lowering.add(llvm.ICmpOp, (claim.args[0], division.fair), i1, _ULT)
    lowering.branch_if(is_own, (take, ()), (consider, (zero,)))
    lowering.start(consider)
    looks = consider.args[0]
    claimed = lowering.add_op_with_result(llvm.LoadOp(slot, i64, alignment=8, ordering=Ordering.monotonic))
    low, high = _both_ends(lowering, claimed)
    count = lowering.add(llvm.AddOp, (low, high), i64, _NUW)
    theirs = lowering.add(llvm.SelectOp, (division.from_last, low, high), i64)
    all_claimed = lowering.add(llvm.ICmpOp, (count, division.shares), i1, _UGE)
    lowering.branch_if(all_claimed, (look, ()), (wants, ()))
    lowering.start(wants)
    nobody = lowering.add(llvm.ICmpOp, (theirs, zero), i1, _EQ)
    late = lowering.add(llvm.ICmpOp, (looks, lowering.integer(PATIENCE)), i1, _EQ)
    again = lowering.add(llvm.AddOp, (looks, one), i64, _NUW)
    lowering.branch_if(lowering.add(llvm.OrOp, (nobody, late), i1), (take, ()), (consider, (again,)))
    return claim


def _both_ends(lowering: FunctionLowering, claimed: SSAValue) -> tuple[SSAValue, SSAValue]:
    """How many shares were claimed from the first one on, and from the last one back."""
    low = lowering.add(llvm.AndOp, (claimed, lowering.integer(FROM_LAST - 1)), i64)
    return low, lowering.add(llvm.LShrOp, (claimed, lowering.integer(FROM_LAST.bit_length() - 1)), i64)


def _number_of_shares(lowering: FunctionLowering, extent: SSAValue, number: SSAValue, rows: int) -> SSAValue:
    """As many in each of the `rows`: a few for each thread, or one for each iteration if those are fewer."""
    wanted = lowering.add(llvm.MulOp, (number, lowering.integer(SHARES_PER_THREAD)), i64, _NUW)
    if rows > 1:
        up = lowering.add(llvm.AddOp, (wanted, lowering.integer(rows - 1)), i64, _NUW)
        columns = lowering.add(llvm.UDivOp, (up, lowering.integer(rows)), i64)
        wanted = lowering.add(llvm.MulOp, (columns, lowering.integer(rows)), i64, _NUW)
    fewer = lowering.add(llvm.ICmpOp, (wanted, extent), i1, _ULT)
    return lowering.add(llvm.SelectOp, (fewer, wanted, extent), i64)


def _place(lowering: FunctionLowering, number: SSAValue, shares: SSAValue, rows: int) -> SSAValue:
    """Where the share that is claimed as the `number`th stands, of `rows` of equally many."""
    if rows == 1:
        return number
    height = lowering.integer(rows)
    columns = lowering.add(llvm.UDivOp, (shares, height), i64)
    row, column = (lowering.add(kind, (number, height), i64) for kind in (llvm.URemOp, llvm.UDivOp))
    return lowering.add(llvm.AddOp, (lowering.add(llvm.MulOp, (row, columns), i64, _NUW), column), i64, _NUW)


def _change(
    lowering: FunctionLowering, kind: AtomicBinOp, pointer: SSAValue, value: SSAValue, ordering: Ordering
) -> SSAValue:
    return lowering.add_op_with_result(AtomicRMWOp(kind, pointer, value, ordering))
