"""How threads divide a kernel's loops: by claiming shares, not by number.

Every thread runs the whole graph. Where a kernel has a parallel loop, each claims one share of it after another until
none is left, then waits until those that others claimed are done. Nobody waits for a thread that has claimed nothing:
one that the system has put aside, or that comes late, finds the work done and passes on. So there are no barriers:
where other work holds the processors, a thread that is put aside holds up the others only while it has a share.

The state of a loop is one slot of counters: shares claimed, and shares done. The functions that work on it are LLVM IR
(`RUNTIME`), linked to the kernels: the loops' dialects have no atomic operations that could say it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, ModuleOp, i8, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

index = IndexType()

CLAIM, DONE, WAIT = "weft_claim", "weft_done", "weft_wait"
SLOT_BYTES = 128
"""Claimed and done shares, each on a cache line of its own."""
SHARES_PER_THREAD = 4
"""Shares of a loop for each thread: some for another to take over, few enough to cost nothing."""


SLOT = MemRefType[Attribute](i64, [SLOT_BYTES // 8])


def slots_type(count: int) -> MemRefType[Attribute]:
    """The memory of `count` slots."""
    return MemRefType(i8, [count * SLOT_BYTES])


def declare_functions(module: ModuleOp) -> None:
    """Declare the functions on slots in `module`, where it calls them."""
    known = {f.sym_name.data for f in module.ops if isinstance(f, func.FuncOp)}
    called = {op.callee.root_reference.data for op in module.walk() if isinstance(op, func.CallOp)}
    for name, inputs, outputs in ((CLAIM, [SLOT], [index]), (DONE, [SLOT], []), (WAIT, [SLOT, index], [])):
        if name in called and name not in known:
            first = module.body.block.first_op
            assert first is not None
            module.body.block.insert_op_before(func.FuncOp.external(name, inputs, outputs), first)


def share_out(
    block: Block,
    slots: SSAValue,
    number: int,
    num_threads: SSAValue,
    extent: int | None,
    emit: Callable[[Block, Sequence[SSAValue]], None],
) -> None:
    """Append to `block` a loop in which each thread claims shares and runs `emit`'s operations for them, then waits.

    A parallel loop of `extent` iterations has shares of about equal size; `emit(block, [first, last])` gets the bounds
    of one. Without an `extent` there is one share, which one thread runs: `emit(block, [])`. The counters are slot
    `number` of `slots`.
    """

    def add(into: Block, op: Operation) -> SSAValue:
        into.add_op(op)
        return op.results[0]

    def constant(value: int) -> SSAValue:
        return add(block, arith.ConstantOp(IntegerAttr(value, index)))

    place = constant(number * SLOT_BYTES)
    slot = add(block, memref.ViewOp.build(operands=[slots, place, []], result_types=[SLOT]))
    one = shares = length = constant(1)
    if extent is not None:
        length = constant(extent)
        wanted = add(block, arith.MuliOp(num_threads, constant(SHARES_PER_THREAD)))
        shares = add(block, arith.MinUIOp(wanted, length))
    claim = func.CallOp(CLAIM, [slot], [index])
    more = arith.CmpiOp(claim.results[0], shares, "ult")
    before = Block([claim, more, scf.ConditionOp(more.result, claim.results[0])])
    after = Block(arg_types=[index])
    share = after.args[0]
    share.name_hint = "share"
    bounds: list[SSAValue] = []
    if extent is not None:
        for which in (share, add(after, arith.AddiOp(share, one))):
            bounds.append(add(after, arith.DivUIOp(add(after, arith.MuliOp(which, length)), shares)))
    emit(after, bounds)
    after.add_ops([func.CallOp(DONE, [slot], []), scf.YieldOp()])
    block.add_op(scf.WhileOp([], [index], Region(before), Region(after)))
    block.add_op(func.CallOp(WAIT, [slot, shares], []))


RUNTIME = f"""
define i64 @weft_claim(ptr %slot) {{
  %share = atomicrmw add ptr %slot, i64 1 monotonic
  ret i64 %share
}}
define void @weft_done(ptr %slot) {{
  %done = getelementptr inbounds i8, ptr %slot, i64 {SLOT_BYTES // 2}
  %old = atomicrmw add ptr %done, i64 1 release
  ret void
}}
define void @weft_wait(ptr %slot, i64 %shares) {{
entry:
  %done = getelementptr inbounds i8, ptr %slot, i64 {SLOT_BYTES // 2}
  br label %look
look:
  %tries = phi i64 [ 0, %entry ], [ %next, %again ]
  %now = load atomic i64, ptr %done acquire, align 8
  %ready = icmp uge i64 %now, %shares
  br i1 %ready, label %end, label %pause
pause:
  %next = add i64 %tries, 1
  %long = icmp ugt i64 %tries, 20000
  br i1 %long, label %yield, label %again
yield:
  %ignored = call i32 @sched_yield()
  br label %again
again:
  br label %look
end:
  ret void
}}
declare i32 @sched_yield()
"""
"""The functions on slots. A wait spins, and gives way to other threads when it lasts."""
