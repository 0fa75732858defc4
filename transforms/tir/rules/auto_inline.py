"""Inline what is cheap to compute again, so that elementwise operators ride in the loops of their neighbours.

Counterpart of TVM's AutoInline.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, i1
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ....dialects.support.facts import while_unchanged
from ....dialects.support.walking import in_order
from ....dialects.tir.affine import Access, linear
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import AllocBufferOp, BlockOp, PrimFuncOp, Scope, blocks_under
from ....dialects.tir.symbols import likely
from ..analysis.deciding import deciding_iterators
from ..analysis.loads_by_element import loads_by_element
from ..analysis.producers import consumers, defining_block, written_buffer
from ..schedule.checks import makes_checks
from ..scheduling.recorded import compute_inline
from .cases import case_iterators
from .choosing import is_chosen
from .op_cost import is_expensive


def inline_all(func: PrimFuncOp) -> None:
    """Inline every block of `func` for which it pays, in program order; and again those that are left, until none pays:
    what several blocks have read one block may read alone by then, and so compute once."""
    left = blocks_under(func)
    inlined = True
    while inlined:
        kept: list[BlockOp] = []
        inlined = False
        for block in left:
            if not should_inline(block):
                kept.append(block)
            elif is_chosen("auto-inline", block):
                compute_inline(block)
                inlined = True
        left = kept


@while_unchanged
def should_inline(block: BlockOp) -> bool:
    """Whether computing `block` anew at each read costs less than keeping its result.

    It does where the formula only moves or selects data; where there is one reader, which computes each element once
    for all that it does with it; and where the formula is cheap. It does not where a reduction would evaluate a guarded
    read (the padding of a convolution) or arithmetic over and over.
    """
    if block.is_reduction or block.conditions or len(block.writes) != 1 or makes_checks(block):
        return False
    if case_iterators(block):
        return False  # one formula of several is cheap only where the loop that chooses is unrolled
    buffer = written_buffer(block)
    alone = defining_block(buffer) is block
    if not alone or not isinstance(buffer.owner, AllocBufferOp) or not _writes_its_iterators(block):
        return False
    if is_placed(buffer):
        return False
    readers = consumers(block)
    if not readers:
        return False
    work = [op for op in in_order(block.body) if _is_work(op)]
    guarded = any(isinstance(op, scf.IfOp) for op in in_order(block.body))
    again = any(_reads_again(reader, block) for reader in readers)
    if again and (guarded or work):
        return False
    reads = sum(len(loads_by_element(reader, buffer)) for reader in readers)
    expensive = any(map(is_expensive, work))
    return reads == 1 or not (expensive or guarded)


def is_placed(buffer: SSAValue) -> bool:
    """Whether a buffer was put into a memory that not every target has, such as `shared`: rules leave it there."""
    return isinstance(buffer.owner, AllocBufferOp) and buffer.owner.scope.data not in tuple(Scope)


def _writes_its_iterators(block: BlockOp) -> bool:
    stores = [access.op for access in block.accesses() if access.is_write]
    if len(stores) != 1 or not isinstance(store := stores[0], memref.StoreOp):
        return False
    iters = set(block.iters)
    unit = {v for v, n in zip(block.iters, block.sizes, strict=True) if n == 1}
    used = list(store.indices)
    return all(v in iters for v in used) and len(set(used)) == len(used) and iters - set(used) <= unit


def _is_work(op: Operation) -> bool:
    """Arithmetic on data, as opposed to moving it about or computing where it lies."""
    if isinstance(op, arith.ConstantOp | arith.SelectOp):
        return False
    return op.name.startswith(("arith.", "math.")) and any(not _is_index(r) for r in op.results)


def _is_index(value: SSAValue) -> bool:
    """Whether `value` says where data lies, or is a condition on that."""
    return isinstance(value.type, IndexType) or value.type == i1


def _reads_again(reader: BlockOp, block: BlockOp) -> bool:
    """Whether `reader` reads some element of what `block` writes more than once, as far as that can be told."""
    buffer = written_buffer(block)
    if prod(reader.likely_extents) <= prod(map(likely, shape_of(buffer))):
        return False
    return not all(_is_once(reader, access) for access in reader.accesses() if access.buffer is buffer)


def _is_once(reader: BlockOp, access: Access) -> bool:
    """Whether an access of `reader` touches another element each time, under a branch that is the same for neighbours:
    one part of a concatenation, say. Each iterator tells one index of the element then, but for a constant, or some of
    them do together, as blocks and channels within: loops are cut where these decide (`spatial`)."""
    if access.map is None or reader.conditions:
        return False
    telling: set[AffineExpr] = set()
    together: set[AffineExpr] = set()
    extents = reader.likely_extents
    for index in access.map.results:
        terms = sorted(linear(index).terms.items(), key=lambda term: abs(term[1]))
        reached = 0
        for dim, factor in terms:
            if not isinstance(dim, AffineDimExpr) or abs(factor) <= reached:
                break  # another value of smaller terms may lead to the same element
            reached += abs(factor) * (extents[dim.position] - 1)
        else:
            telling |= {dim for dim, factor in terms if len(terms) > 1 or abs(factor) == 1}
            together |= {dim for dim, _ in terms if len(terms) > 1}
    numbers = [number for number, extent in enumerate(extents) if extent > 1]
    if any(AffineExpr.dimension(number) not in telling for number in numbers):
        return False
    last = numbers[-1] if numbers else None
    return (
        last is None or reader.iters[last] not in deciding_iterators(reader) or AffineExpr.dimension(last) in together
    )
