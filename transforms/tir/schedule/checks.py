"""What several primitives check before they change anything."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from xdsl.dialects import arith, memref
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ....dialects.support.walking import in_order
from ....dialects.tir.affine import Access, linear, simplify
from ....dialects.tir.alignment import BUFFER_DIM_ALIGN, Alignment, alignments
from ....dialects.tir.axis_separators import axis_separators_of
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import (
    AddressOfOp,
    AllocBufferOp,
    BlockOp,
    CallOp,
    CheckOp,
    ForKind,
    ForOp,
    IterKind,
    accessing_blocks,
    blocks_under,
    enclosing_loops,
)
from ....dialects.tir.legality.bounds import buffer_name
from ....dialects.tir.legality.dependence import check_independence, told_by
from ....dialects.tir.legality.scopes import is_torn, nests_using
from ....dialects.tir.legality.steps import check_steps
from ....dialects.tir.symbols import Extent, as_affine
from ..analysis.producers import (
    allocation_of,
    blocks_between,
    function_of,
    is_before,
    nest_of,
    stores_of,
    writers,
)
from ..analysis.strides import iterator_ranges
from .errors import ScheduleError


def check_live(*ops: Operation) -> None:
    """All of `ops` still stand in one function."""
    if len({function_of(op) for op in ops}) > 1:
        raise ScheduleError.at(ops[0], "is not in the function of the others")


def check_free(loop: ForOp) -> None:
    """`loop` may become another loop: no thread is bound to it, and no annotation would be lost."""
    if loop.thread is not None:
        raise ScheduleError.at(loop, f"is bound to the thread {loop.thread.data}", hint="bind threads last")
    if loop.annotations is not None:
        raise ScheduleError.at(loop, "has annotations, which would be lost", hint="annotate last")


def makes_checks(block: BlockOp) -> bool:
    """Whether `block` checks indices, so that it has to run once for each of its elements."""
    return any(isinstance(op, CheckOp) for op in in_order(block.body))


def check_not_passed(buffer: SSAValue, blocks: Sequence[BlockOp] | None = None) -> None:
    """No call (in `blocks`, where they are given) is handed `buffer`, which it takes as it is, and where it is."""
    for use in buffer.uses:
        op = use.operation
        if isinstance(op, CallOp | AddressOfOp) and (blocks is None or any(each.is_ancestor(op) for each in blocks)):
            raise ScheduleError.at(op, f"{buffer_name(buffer)} is handed to a call, which takes it as it is")


def check_sole_writer(block: BlockOp, buffer: SSAValue) -> None:
    """No other block writes `buffer`."""
    if others := [f"@{other.block_name}" for other in writers(buffer) if other is not block]:
        name = f"%{buffer.name_hint}" if buffer.name_hint else "its buffer"
        raise ScheduleError.at(
            block,
            f"block @{block.block_name} is not a complete block, as it is not alone in writing {name}: "
            f"{', '.join(others)} writes it too",
            hint="apply this before decompose_reduction" if block.is_reduction else None,
        )


def check_one_element(block: BlockOp, at_constants: bool = False) -> memref.StoreOp:
    """`block` has one store, outside of branches, at a different place for each value of its spatial iterators: at
    these, in some order, and with `at_constants` at numbers in other dimensions. Gives the store."""
    (store, *others) = check_elements(block, at_constants)
    if others:
        raise ScheduleError.at(block, f"block @{block.block_name} writes {len(others) + 1} buffers, not one")
    return store


def check_elements(block: BlockOp, at_constants: bool = False) -> list[memref.StoreOp]:
    """The same, of a block that writes an element of each of several buffers, all at one place, and does nothing else:
    a call that may have effects would be made another number of times."""
    check_effects(block)
    stores = stores_of(block)
    iters, kinds = block.iters, block.kinds
    spatial = [v for v, kind in zip(iters, kinds, strict=True) if kind == IterKind.SPATIAL]
    apart = len({store.memref for store in stores}) == len(stores)
    alike = apart and all(list(store.indices) == list(stores[0].indices) for store in stores)
    if stores and alike and all(store.parent_op() is block for store in stores) and IterKind.OPAQUE not in kinds:
        indices = [v for v in stores[0].indices if not (at_constants and isinstance(v.owner, arith.ConstantOp))]
        unit = {v for v, extent in zip(iters, block.sizes, strict=True) if extent == 1}
        rest = set(spatial) - set(indices) - unit
        if not rest and len(set(indices)) == len(indices) and all(v in spatial for v in indices):
            return stores
    raise ScheduleError.at(block, f"block @{block.block_name} does not write one element for each iterator value")


def check_effects(block: BlockOp) -> None:
    """`block` calls nothing that may do more than give a value."""
    for op in in_order(block.body):
        if isinstance(op, CallOp) and not op.is_pure:
            raise ScheduleError.at(op, f"block @{block.block_name} calls what may do more than give a value")


def check_inputs_stay(block: BlockOp, until: Operation) -> None:
    """Nothing writes what `block` reads between it and `until`, nor in the loops around `until` that it would be moved
    into, of which later iterations would read it, nor other values there in later iterations of loops that it leaves;
    so that it may run there instead."""
    reads = {access.buffer for access in block.accesses() if not access.is_write} - set(block.writes)
    left = [loop for loop in enclosing_loops(block) if not loop.is_ancestor(until)]
    for other in blocks_under(left[0]) if left else ():
        for buffer in reads.intersection(other.writes) if other is not block else ():
            if changes_again(other, buffer, left):
                raise ScheduleError.at(
                    block,
                    f"block @{other.block_name} writes {buffer_name(buffer)}, which block @{block.block_name} reads, "
                    "anew in later iterations of loops around both",
                )
    entered = [loop for loop in enclosing_loops(until) if not loop.is_ancestor(block)]
    again = [other for other in blocks_under(entered[0]) if other is not block] if entered else []
    for others, when in ((blocks_between(block, until), "in between"), (again, "and its later iterations would read")):
        for other in others:
            if changed := [v for v in other.writes if v in reads]:
                name = f"%{changed[0].name_hint}" if changed[0].name_hint else "a buffer"
                raise ScheduleError.at(
                    block, f"block @{other.block_name} writes {name}, which block @{block.block_name} reads, {when}"
                )


def changes_again(block: BlockOp, buffer: SSAValue, loops: Sequence[ForOp]) -> bool:
    """Whether iterations of `loops` around it may let `block` write other values to an element of `buffer` than those
    before: its element does not tell which they are, or it goes on from what it has."""
    around = {loop.var for loop in loops if loop.size not in (0, 1) and loop.is_ancestor(block)}
    accesses = [access for access in block.accesses() if access.buffer is buffer]
    if not around or (block.init is None and any(not access.is_write for access in accesses)):
        return bool(around)
    moved = {
        number
        for number, binding in enumerate(block.bindings.data.results)
        if block.sizes[number] != 1 and not around.isdisjoint({block.loop_vars[d] for d in binding.used_dims()})
    }
    if any(block.kinds[number] == IterKind.REDUCE for number in moved):
        return True
    return not all(tells(block, access, moved) for access in accesses if access.is_write)


def check_reorderable(loops: Sequence[ForOp]) -> None:
    """The iterations of `loops` may be run in another order.

    Within a block that is what its iterators' kinds say: spatial ones, and a reduction's, may, if no two values of
    spatial ones write one element. Between blocks, none may touch what another writes in another iteration.
    """
    for loop in loops:
        for block in blocks_under(loop):
            moved: set[int] = set()
            for number, (kind, binding) in enumerate(zip(block.kinds, block.bindings.data.results, strict=True)):
                if loop.var not in {block.loop_vars[d] for d in binding.used_dims()}:
                    continue
                moved.add(number)
                if kind == IterKind.OPAQUE:
                    raise ScheduleError.at(
                        loop,
                        f"iterator {block.iter_name(number)} of block @{block.block_name} is opaque: its order stays",
                    )
            if loop.size != 1:
                check_elements_told(block, moved)
        if len(blocks_under(loop)) == 1:
            continue
        for finding in check_independence(loop, across_blocks_only=True, private_too=True):
            raise ScheduleError.at(loop, f"its order stays: {finding.message}")


def check_elements_told(block: BlockOp, iterators: AbstractSet[int]) -> None:
    """The spatial ones of some iterators, by number, tell which elements `block` writes: where several of their values
    write one, it is the last that stays."""
    spatial = {n for n in iterators if block.kinds[n] == IterKind.SPATIAL and block.sizes[n] != 1}
    for access in block.accesses() if spatial else ():
        if access.is_write and not tells(block, access, spatial):
            raise ScheduleError.at(
                access.op,
                f"block @{block.block_name} writes an element for several values of its spatial iterators: their order"
                " stays",
                hint="an iterator whose order is of account is opaque",
            )


def tells(block: BlockOp, access: Access, iterators: AbstractSet[int]) -> bool:
    """Whether the element that is accessed tells the values of some iterators: they are indices, or follow from these
    one to one, or are digits of the number of the element."""
    if access.map is None:
        return False
    if iterators <= {index.position for index in access.map.results if isinstance(index, AffineDimExpr)}:
        return True
    if iterators <= told_by(block, access.map.results):
        return True
    shape = [extent for extent in shape_of(access.buffer) if isinstance(extent, int)]
    if len(shape) < len(access.map.results) or not all(isinstance(size, int) for size in block.sizes):
        return False
    ranges = iterator_ranges(block)
    element: AffineExpr = AffineConstantExpr(0)
    for index, extent in zip(access.map.results, shape, strict=True):
        element = element * extent + index
    number = linear(simplify(element, ranges), ranges)
    reached, told = 0, set[int]()
    for atom, factor in sorted(number.terms.items(), key=lambda term: abs(term[1])):
        if not isinstance(atom, AffineDimExpr) or abs(factor) <= reached:
            return False
        size = block.sizes[atom.position]
        assert isinstance(size, int)
        reached += abs(factor) * (size - 1)
        told.add(atom.position)
    return iterators <= told


def check_needs_no_threads(loop: ForOp) -> None:
    """If threads run the iterations of `loop`, none waits for what a block does in another: run otherwise, an iteration
    ends before the next begins, or knows nothing of it."""
    if loop.for_kind != ForKind.THREAD_BINDING:
        return
    for finding in check_independence(loop, across_blocks_only=True, kind=ForKind.SERIAL):
        raise ScheduleError.at(loop, f"its threads wait for one another: {finding.message}")


def check_first_steps(chain: Sequence[ForOp], new_chain: Sequence[ForOp]) -> None:
    """Reductions under `chain` begin with their first step, where `init` runs, when its loops become `new_chain`."""
    for block in blocks_under(chain[-1]):
        loops = enclosing_loops(block)
        start = loops.index(chain[0])
        order = [*loops[:start], *new_chain, *loops[start + len(chain) :]]
        for finding in check_steps(block, order):
            raise ScheduleError.at(chain[0], f"its order stays: {finding.message}")


def check_allocated(
    buffer: SSAValue, known: str, hint: str | None = None, at: Operation | None = None
) -> AllocBufferOp:
    """`buffer` is no argument of the function, whose `known` its callers know, nor handed to a call; gives where it is
    allocated. A message stands at `at`, or where the buffer is first used."""
    alloc = allocation_of(buffer)
    if alloc is not None:
        check_not_passed(buffer)
        return alloc
    message = f"{buffer_name(buffer)} is an argument of the function: its callers know its {known}"
    for op in (at, *accessing_blocks(buffer)):
        if op is not None:
            raise ScheduleError.at(op, message, hint=hint)
    raise ScheduleError(message, hint=hint)


def check_known(op: Operation, extents: Sequence[Extent], name: str) -> tuple[int, ...]:
    """`extents` are integers; gives them."""
    known = tuple(extent for extent in extents if isinstance(extent, int))
    if len(known) != len(extents):
        raise ScheduleError.at(
            op,
            f"{name} has an extent that is known only when the function is called",
            hint="give the function known extents (specialize), or do without this",
        )
    return known


def check_plain_memory(buffer: SSAValue) -> None:
    """Nothing was said of how the dimensions of `buffer` lie in memory, which would be of other dimensions then."""
    for block in accessing_blocks(buffer):
        if _alignments(block, buffer):
            raise ScheduleError.at(block, f"says how rows of its buffer lie apart ({BUFFER_DIM_ALIGN})", hint=_LAST)
    check_one_memory(buffer)


def check_one_memory(buffer: SSAValue) -> None:
    """The dimensions of `buffer` are of one dimension in memory."""
    if axis_separators_of(buffer):
        op = buffer.owner if isinstance(buffer.owner, Operation) else buffer.owner.parent_op()
        assert op is not None
        message = f"{buffer_name(buffer)} has memory of several dimensions (axis_separators)"
        raise ScheduleError.at(op, message, hint=_LAST)


def alignments_of(buffer: SSAValue) -> dict[int, Alignment]:
    """By axis, what blocks say of how neighbours along it lie apart in `buffer`."""
    return {each.axis: each for block in accessing_blocks(buffer) for each in _alignments(block, buffer)}


def _alignments(block: BlockOp, buffer: SSAValue) -> list[Alignment]:
    found = alignments(block.attributes.get(BUFFER_DIM_ALIGN), block.writes)
    return [each for each in found if block.writes[each.buffer] is buffer]


_LAST = "say last how dimensions lie in memory"


def check_known_trips(loop: ForOp) -> int:
    """The number of iterations of `loop` is no symbol; gives it."""
    (known,) = check_known(loop, [loop.size], f"%{loop.var.name_hint or 'i'}")
    return known


def check_private(loop: ForOp) -> None:
    """No buffer of a thread's own is used both in `loop`, whose iterations threads will share, and outside of it."""
    inside = blocks_under(loop)
    for buffer in {access.buffer for block in inside for access in block.accesses()}:
        alloc = allocation_of(buffer)
        if alloc is None or not alloc.is_private or loop.is_ancestor(alloc) or all_accessing(buffer, inside):
            continue
        if len(nests_using(alloc)) > 1:
            continue  # it is on its way into one nest, and the function does not verify before it is there
        name = f"%{buffer.name_hint}" if buffer.name_hint else "a buffer"
        raise ScheduleError.at(loop, f"{name}, each thread's own, is used in this loop and outside of it")


def check_allocations_first(block: BlockOp, place: Operation) -> list[AllocBufferOp]:
    """The buffers that `block` uses can be allocated before `place`; gives those that are allocated later now."""
    late: list[AllocBufferOp] = []
    for buffer in dict.fromkeys(access.buffer for access in block.accesses()):
        alloc = buffer.owner
        if isinstance(alloc, AllocBufferOp) and not is_before(alloc, place):
            if alloc.parent is not place.parent:
                raise ScheduleError.at(alloc, "is allocated in a loop that the block would leave")
            late.append(alloc)
    return late


def allocate_first(late: Sequence[AllocBufferOp], place: Operation) -> None:
    """Let buffers be allocated before `place`."""
    assert place.parent is not None
    for alloc in late:
        alloc.detach()
        place.parent.insert_op_before(alloc, place)


def check_not_torn(block: BlockOp, buffer: SSAValue, loops: Sequence[ForOp]) -> None:
    """With `block` in `loops`, `buffer` is not each thread's own while several threads use it."""
    alloc = buffer.owner
    if not isinstance(alloc, AllocBufferOp) or not alloc.is_private:
        return
    nests = {loops[0] if other is block else nest_of(other) for other in accessing_blocks(buffer)}
    if len(nests) == 1 and is_torn(alloc, block, loops):
        raise ScheduleError.at(
            block,
            f'block @{block.block_name} would use a buffer of scope "local" outside of a parallel loop around its '
            "other uses",
            hint="choose the kinds of loops last",
        )


def check_kinds(loops: Sequence[ForOp], kind: ForKind) -> None:
    """All of `loops` are of `kind`."""
    for loop in loops:
        if loop.for_kind != kind:
            raise ScheduleError.at(
                loop, f"is {loop.for_kind.value}, not {kind.value}", hint="choose the kinds of loops last"
            )


def bounds_iterators_only(block: BlockOp) -> bool:
    """Whether the predicate of `block` says no more than that its iterators stay within their extents."""
    bounds = [
        linear(expr)
        for binding, extent in zip(block.bindings.data.results, block.sizes, strict=True)
        for expr in (binding, as_affine(extent) - 1 + binding * -1)
    ]
    return all(linear(condition) in bounds for condition in block.conditions)


LAST = -1
"""As the index of a statement: before the last that may follow (`compute_at`), after all (`reverse_compute_at`)."""

FIRST = -2
"""As early as it may stand."""


def statements_of(loop: ForOp, without: BlockOp) -> list[Operation]:
    """What a loop does, in order, but for what holds nothing but the block `without`."""
    ops = loop.body.block.ops
    return [op for op in ops if not isinstance(op, AllocBufferOp) and blocks_under(op) != [without]]


def is_around(loop: ForOp, op: Operation) -> bool:
    """Whether `op` stands in `loop`."""
    return loop in enclosing_loops(op)


def all_accessing(buffer: SSAValue, blocks: Sequence[BlockOp]) -> bool:
    """Whether `blocks` are all that touch `buffer`."""
    return set(accessing_blocks(buffer)) <= set(blocks)
