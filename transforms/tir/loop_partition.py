"""Cut loops in two where a predicate is always true in the first part.

A split by a factor that does not divide leaves a predicate on every instance. All but the last iteration satisfy it;
the loop becomes one without the predicate, and one for the rest, whose inner loops are shortened instead.

Before -> after:

```mlir
tir.for %o = 0 to 4 {
  tir.for vectorized %i = 0 to 16 {
    tir.block @b(%v: spatial 50) = [%o * 16 + %i] where [49 - %o * 16 - %i] ...

tir.for %o = 0 to 3 {
  tir.for vectorized %i = 0 to 16 {
    tir.block @b(%v: spatial 50) = [%o * 16 + %i] ...
tir.for vectorized %i = 0 to 2 {
  tir.block @b(%v: spatial 50) = [%i + 48] ...
```

A block whose predicate never holds is erased; where it was one of several that take the values of its iterators
together, as those of an unrolled loop do, the others become `partial`. Does not: cut at lower bounds, or along a loop
variable that a predicate uses in a quotient or remainder, nor loops that are bound to threads, or around reductions
that threads share; those predicates stay, and become branches.

A parallel loop over symbols whose iterations were shown to be independent before, and of which that cannot be seen of
the parts of the loops beneath, asserts it (`independent`): what they do is the same.

A loop that is annotated with `pragma_loop_partition_hint` is cut where branches in statements beneath are decided too,
at both ends; its parts count from 0:

```mlir
tir.for %i = 0 to 8 annotations {pragma_loop_partition_hint = 1} {
  tir.block @b(%v: opaque 8) = [%i] ... { if %v < 3: ...

tir.for %i = 0 to 3 {
tir.for %i = 0 to 5 {
```

There `simplify` finds the branches decided; blocks speak of loops there (`convert-blocks-to-opaque`). A loop that
schedule rules have annotated with `parts` is cut so too, whatever iterators its blocks have, which keep them; the sides
of branches that are decided take their place. Counterpart of TVM's LoopPartition, whose configuration it takes:
`PassContext(config={"tir.LoopPartition": {...}})`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.tir.affine import expr_range, linear_range
from ...dialects.tir.core import (
    BlockOp,
    ForKind,
    ForOp,
    OuterBlockOp,
    PrimFuncOp,
    blocks_under,
    dimension_ranges,
    loop_of,
)
from ...dialects.tir.legality.bounds import allow_what_is_left_out
from ...dialects.tir.legality.reductions import shared_reductions
from ...dialects.tir.symbols import symbols_in
from ..infra import PrimFuncPass
from .analysis.independence import assert_independent, is_shown_independent
from .analysis.producers import function_of
from .branch_partition import cut_at_branches, cut_into_parts, is_hinted
from .schedule.inline import erase_with_loops
from .schedule.loops import bind_constant, drop_proved_conditions
from .schedule.rebind import ValueExpr, rebind
from .symbolic_partition import clone_with_buffers, handed_on, linear_in, partition_symbolic, shorten_symbolic


@dataclass(frozen=True)
class LoopPartitionPass(PrimFuncPass):
    """Cut loops where predicates become true, and shorten the loops of what is left."""

    name = "loop-partition"
    tvm_name = "LoopPartition"

    partition_const_loop: bool = True
    """Whether loops of known extents are cut that do not ask for it."""
    no_unroll_loop_with_extent_one: bool = False
    """Whether a part of one iteration of a loop that asks for it stays a loop."""
    unroll_loop_with_partition_hint_no_interval: bool = False
    """Whether a part of a loop that asks for it is unrolled in which branches stay open."""

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        shown = bool(func.symbols) and all(map(is_shown_independent, _parallel_loops(func)))
        guarded = {block.block_name for block in blocks_under(func) if block.conditions}
        self._partition_all(func.region.block)
        if shown:
            _keep_independent(func)
        erased: set[str] = set()
        for block in blocks_under(func):
            ranges = dimension_ranges(block.loop_vars)
            if any((found := expr_range(c, ranges)) is not None and found[1] < 0 for c in block.conditions):
                erased.add(block.block_name)
                erase_with_loops(block)
        if not func.symbols:
            allow_what_is_left_out([block for block in blocks_under(func) if block.block_name in erased])
        for block in blocks_under(func):
            if block.block_name in guarded:
                block.partial_iters = block.partial_iters | _ended_by_symbols(block)

    def _partition_all(self, block: Block) -> None:
        """Partition the loops in `block` and beneath, outer ones first."""
        previous: Operation | None = None
        while (op := block.first_op if previous is None else previous.next_op) is not None:
            if isinstance(op, ForOp):
                self._partition(op)
                if op.parent is None:
                    continue  # dissolved: what stood in it stands here now
                self._partition_all(op.body.block)
            elif isinstance(op, OuterBlockOp):
                self._partition_all(op.body.block)
            previous = op

    def _partition(self, loop: ForOp) -> None:
        if is_hinted(loop) and not loop.is_symbolic and loop.for_kind != ForKind.THREAD_BINDING:
            cut_at_branches(
                loop,
                unroll_rest=self.unroll_loop_with_partition_hint_no_interval,
                keep_single=self.no_unroll_loop_with_extent_one,
            )
        elif loop.is_in_parts and not loop.is_symbolic:
            cut_into_parts(loop)
        elif self.partition_const_loop or loop.is_symbolic:
            partition(loop)


def _parallel_loops(func: PrimFuncOp) -> list[ForOp]:
    return [op for op in func.walk() if isinstance(op, ForOp) and op.for_kind == ForKind.PARALLEL]


def _keep_independent(func: PrimFuncOp) -> None:
    """Let the parts of loops whose iterations were shown to be independent assert that, where it cannot be seen of the
    cut loops beneath: together they do what those did."""
    for loop in _parallel_loops(func):
        if not is_shown_independent(loop):
            assert_independent(loop)


def _ended_by_symbols(block: BlockOp) -> frozenset[int]:
    """The iterators of a known extent, by number, that end where a symbol says, as a predicate has said before."""
    loops = [loop_of(variable) for variable in block.loop_vars]
    return frozenset(
        number
        for number, (extent, binding) in enumerate(zip(block.sizes, block.bindings.data.results, strict=True))
        if isinstance(extent, int)
        and (any(True for _ in symbols_in(binding)) or any(loops[d].is_symbolic for d in binding.used_dims()))
    )


def partition(loop: ForOp) -> None:
    """Cut `loop` where the predicates beneath become true: it becomes the part where they are, the rest follows it.

    A part of one iteration is no loop any more: its body takes its place.
    """
    blocks = blocks_under(loop)
    if not any(block.conditions for block in blocks):
        return
    for block in blocks:
        drop_proved_conditions(block)
    if loop.for_kind == ForKind.THREAD_BINDING:
        return  # one launch: threads for which a predicate does not hold do nothing
    if any(shared_reductions(op) for op in loop.walk() if isinstance(op, ForOp)):
        return  # whose parts threads put together once
    if loop.is_symbolic:
        partition_symbolic(loop)
        return
    end = loop.start + loop.trip_count
    cut = min(
        (_true_below(block, condition, loop.var, end) for block in blocks for condition in block.conditions),
        default=end,
    )
    if not loop.start < cut < end:
        _shorten(loop)
        return
    rest = clone_with_buffers(loop, handed_on(loop))
    assert loop.parent is not None
    loop.parent.insert_op_after(rest, loop)
    loop.trip_count = cut - loop.start
    rest.properties["min"] = IntegerAttr(cut, IndexType())
    rest.trip_count = end - cut
    for part in (loop, rest):
        for block in blocks_under(part):
            rebind(block, {})
            drop_proved_conditions(block)
        inner_loops = [op for op in part.body.walk() if isinstance(op, ForOp)]
        if part.trip_count == 1:
            _dissolve(part)
        for inner in inner_loops:
            _shorten(inner)


def _dissolve(loop: ForOp) -> None:
    """Replace a loop of one iteration by its body.

    At the top of a function, where each nest is a unit of its own, a body of several nests stays together in a loop
    that does nothing else: they share private buffers.
    """
    if isinstance(loop.parent_op(), ForOp) or loop.body.block.first_op is loop.body.block.last_op:
        bind_constant(loop)
        return
    for block in blocks_under(loop):
        rebind(block, {loop.var: ValueExpr.constant(loop.start)})
    loop.properties["min"] = IntegerAttr(0, IndexType())
    loop.for_kind = ForKind.SERIAL


def _true_below(block: BlockOp, condition: AffineExpr, var: SSAValue, end: int) -> int:
    """The value of `var` below which `condition >= 0` whatever the other variables are; `end` if it does not say."""
    split = linear_in(block, condition, var)
    if split is None or split[0] >= 0:
        return end
    bounds = linear_range(split[1], dimension_ranges(list(block.loop_vars)))
    return end if bounds is None else min(end, bounds[0] // -split[0] + 1)


def _shorten(loop: ForOp) -> None:
    """End `loop` where all blocks beneath stop, if they stop at the same value for conditions on `loop` alone."""
    if loop.parent is None or loop.for_kind == ForKind.THREAD_BINDING:
        return
    if function_of(loop).symbols and shorten_symbolic(loop):
        return
    if loop.is_symbolic:
        return
    ends: set[int] = set()
    for block in blocks_under(loop):
        end = loop.start + loop.trip_count
        for condition in block.conditions:
            split = linear_in(block, condition, loop.var)
            if split is not None and split[0] < 0 and not split[1].terms:
                end = min(end, split[1].constant // -split[0] + 1)
        ends.add(end)
    if len(ends) != 1:
        return
    (end,) = ends
    if loop.start < end < loop.start + loop.trip_count:
        loop.trip_count = end - loop.start
        for block in blocks_under(loop):
            drop_proved_conditions(block)
        if loop.trip_count == 1:
            _dissolve(loop)
