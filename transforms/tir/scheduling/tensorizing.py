"""Which loops of a block an intrinsic's description is of: `tir.get_tensorize_loop_mapping` and what is built on it.

    loop = tir.tile_with_tensor_intrin(schedule, block, "dot_16x4_vnni")     # split and reordered
    if loop is not None:
        schedule.tensorize(loop, "dot_16x4_vnni")

    info = tir.get_auto_tensorize_mapping_info(schedule, block, description)
    if info is not None:
        schedule.transform_block_layout(block, info.mappings[0])             # a convolution as a product of matrices

Counterparts of TVM's `tir.schedule.analysis` and `tir.schedule.transform`. A mapping is a proposal: whether the block
computes as the intrinsic does is what `tensorize` looks at.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import memref
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from ....dialects.support.arguments import checked
from ....dialects.tir.affine import access_map_over, over_dimensions, simplify
from ....dialects.tir.analyzer import IntExpr, var
from ....dialects.tir.analyzer.index_map import IndexMap
from ....dialects.tir.buffers import memref_of
from ....dialects.tir.core import BlockOp, ForOp, IterKind, OuterBlockOp, PrimFuncOp, enclosing_loops, loop_of
from ....dialects.tir.nodes.statements import Stmt
from ....dialects.tir.nodes.tree import reading_of
from ....dialects.tir.outer_blocks import dissolve
from ..intrinsics.match_trees import Differs, TreeMatcher
from ..intrinsics.tensor_intrin import TensorIntrin, block_of
from .handles import BlockRV, LoopRV
from .schedule import Schedule
from .state import StmtSRef


@dataclass(frozen=True)
class TensorizeInfo:
    """Which loops of a block an intrinsic's description is of. Counterpart of TVM's `TensorizeInfo`."""

    loop_map: Mapping[StmtSRef, Stmt]
    """By loop of the block, the loop of the description: a node of its `body`."""
    desc_loop_indexer: Mapping[Stmt, int]
    """The loops of the description, and which of them each is, from the outermost on."""
    block_iter_paddings: tuple[int, ...] | None = None
    """By how much each iterator of the block has to be longer (`pad_einsum`); `None` where none has to."""


@dataclass(frozen=True)
class AutoTensorizeMappingInfo:
    """How a block becomes one of an intrinsic's form. Counterpart of TVM's `AutoTensorizeMappingInfo`."""

    mappings: tuple[IndexMap, ...]
    """For `transform_block_layout`: the block's iterators to those that the description has not, then to its own."""
    buffers: Mapping[SSAValue, SSAValue]
    """By buffer of the description, that of the block."""
    layouts: Mapping[SSAValue, IndexMap]
    """By buffer of the description, for `transform_layout`: from the indices that `reindex` gives the block's buffer,
    which are iterators of the block, to those of the description, after those that the description has not."""


@checked
def get_tensorize_loop_mapping(
    sch: Schedule, block: BlockRV, desc_func: PrimFuncOp, allow_padding: bool = False
) -> TensorizeInfo | None:
    """The innermost loops of `block` that the loops of `desc_func` can be, by the kinds of what is bound to them.

    Iterators of both are taken in the order that they are in; the order of loops plays no role. Extents have to be
    multiples of the description's, or with `allow_padding` are to become such. `None` where there is none.

    Raises:
        ValueError: `desc_func` describes no intrinsic.
    """
    found = _mapped(sch.state.block(block.value), desc_func, allow_padding)
    if found is None:
        return None
    nodes = reading_of(desc_func).nodes
    loop_map = {sch.get_sref(loop): nodes[wanted] for loop, wanted in found.loops.items()}
    indexer = {nodes[loop]: number for number, loop in enumerate(found.wanted)}
    return TensorizeInfo(loop_map, indexer, found.paddings)


@dataclass(frozen=True)
class _Mapped:
    """By loop of a block that of a description, all loops of this, and how much longer iterators have to be."""

    loops: Mapping[ForOp, ForOp]
    wanted: Sequence[ForOp]
    paddings: tuple[int, ...] | None


def _mapped(op: BlockOp, desc_func: PrimFuncOp, allow_padding: bool) -> _Mapped | None:
    desc, originals, _ = _description(desc_func)
    loops = _alone(op)
    if any(loop.start != 0 for loop in loops):
        return None
    found: dict[ForOp, ForOp] = {}
    padding = [0] * len(op.iters)
    plain, last = True, len(op.iters)
    for number in range(len(desc.iters) - 1, -1, -1):
        wanted = _loop_of(desc, number, list(originals), originals)
        last = next((n for n in range(last - 1, -1, -1) if op.kinds[n] == desc.kinds[number]), -1)
        free = [loop for loop in loops if loop not in found]
        loop = _loop_of(op, last, free, loops) if last >= 0 else None
        if wanted is None or loop is None or loop.is_symbolic or wanted.trip_count < 1:
            return None
        plain = plain and isinstance(op.bindings.data.results[last], AffineDimExpr)
        padding[last] = -loop.trip_count % wanted.trip_count
        found[loop] = originals[wanted]
    if any(padding) and not (allow_padding and plain):
        return None
    return _Mapped(found, list(originals.values()), tuple(padding) if any(padding) else None)


@checked
def has_block(sch: Schedule, block_name: str) -> bool:
    """Whether the functions of a schedule have a block of a name."""
    return any(isinstance(op, BlockOp | OuterBlockOp) and op.block_name == block_name for op in sch.mod.walk())


@checked
def tile_with_tensor_intrin(
    sch: Schedule, block: BlockRV, intrin_name: str, allow_padding: bool = False
) -> LoopRV | None:
    """Let the innermost loops of `block` be those of an intrinsic's description, by `pad_einsum` where that is allowed
    and needed, `split` and `reorder`. Gives the outermost of them, for `tensorize`; `None` where no loops can be.

    Raises:
        ValueError: there is no such intrinsic.
        ScheduleError: a loop cannot be padded, split or reordered.
    """
    intrin = TensorIntrin.get(intrin_name)
    assert intrin is not None
    mapped = _mapped(sch.state.block(block.value), intrin.desc, allow_padding)
    if mapped is None:
        return None
    if mapped.paddings is not None:
        sch.pad_einsum(block, mapped.paddings)
    inner: dict[int, LoopRV] = {}
    for loop in sch.get_loops(block):
        wanted = mapped.loops.get(sch.state.loop(loop.value))
        if wanted is not None:
            inner[mapped.wanted.index(wanted)] = sch.split(loop, [None, wanted.trip_count])[1]
    tile = [inner[number] for number in sorted(inner)]
    places = {sch.get_sref(loop) for loop in tile}
    every = sch.get_loops(block)
    first = min(number for number, loop in enumerate(every) if sch.get_sref(loop) in places)
    sch.reorder(*(loop for loop in every[first:] if sch.get_sref(loop) not in places), *tile)
    return tile[0]


@checked
def get_auto_tensorize_mapping_info(
    sch: Schedule, block: BlockRV, desc_func: PrimFuncOp
) -> AutoTensorizeMappingInfo | None:
    """How the iterators of `block` are those of `desc_func`, where both compute alike but for indices.

    An iterator of the block is, in part, that of the description which has its kind and is in the indices of the same
    buffers: in a convolution, images, rows and columns are the rows of a product of matrices. `None` where none is, or
    several could be; or where something else is computed.

    Raises:
        ValueError: `desc_func` describes no intrinsic.
    """
    op = sch.state.block(block.value)
    desc, _, parameters = _description(desc_func)
    alike = _Alike(op, desc)
    pairs = alike.buffers()
    if pairs is None:
        return None
    mine = [_Use(kind, frozenset(each for each in pairs if alike.uses(0, each, n))) for n, kind in enumerate(op.kinds)]
    wanted = [
        _Use(kind, frozenset(each for each in pairs if alike.uses(1, each, n))) for n, kind in enumerate(desc.kinds)
    ]
    if len(set(wanted)) < len(wanted) or any(isinstance(extent, AffineExpr) for extent in op.sizes):
        return None
    outer: list[IntExpr] = []
    fused: dict[_Use, IntExpr] = {}
    iters = [var(op.iter_name(number).lstrip("%")) for number in range(len(op.iters))]
    for use, iterator, extent in zip(mine, iters, op.sizes, strict=True):
        if use not in wanted:
            outer.append(iterator)
        else:
            assert isinstance(extent, int)
            fused[use] = fused[use] * extent + iterator if use in fused else iterator
    if any(use not in fused for use in wanted):
        return None
    mapping = IndexMap(tuple(iters), (*outer, *(fused[use] for use in wanted)))
    layouts: dict[SSAValue, IndexMap] = {}
    for buffer, pair in pairs.items():
        own = [iterator for number, iterator in enumerate(iters) if alike.uses(0, buffer, number)]
        places = [index.position for index in pair.theirs.results if isinstance(index, AffineDimExpr)]
        kept = [iterator for iterator in own if iterator in outer]
        layouts[parameters[buffer]] = IndexMap(tuple(own), (*kept, *(fused[wanted[place]] for place in places)))
    buffers = {parameters[v]: pair.buffer for v, pair in pairs.items()}
    return AutoTensorizeMappingInfo((mapping,), buffers, layouts)


@dataclass(frozen=True)
class _Use:
    """What tells iterators apart: the kind, and the buffers of the description whose indices speak of it."""

    kind: IterKind
    buffers: frozenset[SSAValue]


@dataclass(frozen=True)
class _Pair:
    """A buffer of the block, and where it and the description's are accessed, over the iterators."""

    buffer: SSAValue
    ours: AffineMap
    theirs: AffineMap


class _Alike(TreeMatcher[_Pair]):
    """Compares a block with a description's, but for indices."""

    def __init__(self, block: BlockOp, desc: BlockOp):
        self.block = block
        self.desc = desc
        self.dims = over_dimensions(block.body.block.args), over_dimensions(desc.body.block.args)
        self.found: dict[SSAValue, _Pair] = {}

    def buffers(self) -> dict[SSAValue, _Pair] | None:
        """By buffer of the description that of the block; `None` where something else is computed."""
        stores = [[op for op in each.body.walk() if isinstance(op, memref.StoreOp)] for each in (self.block, self.desc)]
        ((ours, *mine), (theirs, *more)) = stores if all(stores) else ([None], [None])
        if ours is None or theirs is None or mine or more:
            return None
        if ours.parent_op() is not self.block or theirs.parent_op() is not self.desc:
            return None
        try:
            self.found = self.value(ours.value, theirs.value, self.access(ours, theirs, {}))
        except Differs:
            return None
        return self.found

    def uses(self, side: int, buffer: SSAValue, number: int) -> bool:
        """Whether iterator `number` of the block, or of the description, is in the indices of `buffer`."""
        pair = self.found[buffer]
        return any(number in index.used_dims() for index in (pair.theirs if side else pair.ours).results)

    def access(
        self,
        ours: memref.LoadOp | memref.StoreOp,
        theirs: memref.LoadOp | memref.StoreOp,
        places: dict[SSAValue, _Pair],
    ) -> dict[SSAValue, _Pair]:
        mine, wanted = access_map_over(ours, self.dims[0]), access_map_over(theirs, self.dims[1])
        if mine is None or wanted is None:
            raise Differs("an element's place depends on data")
        if not all(isinstance(index, AffineDimExpr) for index in wanted.results):
            raise Differs("its buffers are accessed at iterators")
        if memref_of(ours.memref).element_type != memref_of(theirs.memref).element_type:
            raise Differs("its buffer has elements of another type")
        pair = _Pair(ours.memref, mine, wanted)
        if places.get(theirs.memref, pair) != pair:
            raise Differs("its buffer would be in two places")
        return {**places, theirs.memref: pair}


def _description(func: PrimFuncOp) -> tuple[BlockOp, dict[ForOp, ForOp], dict[SSAValue, SSAValue]]:
    """The block of a description, alone in its loops; these, outermost first, and its parameters, each with that of
    `func` itself."""
    copy = func.clone()
    loops = [
        (own, old)
        for own, old in zip(copy.walk(), func.walk(), strict=True)
        if isinstance(own, ForOp) and isinstance(old, ForOp)
    ]
    own: Sequence[SSAValue] = copy.region.block.args
    parameters: dict[SSAValue, SSAValue] = dict(zip(own, func.region.block.args, strict=True))
    dissolve(copy)
    return block_of(copy), dict(loops), parameters


def _alone(block: BlockOp) -> list[ForOp]:
    """The loops around a block that hold nothing else, outermost first."""
    found: list[ForOp] = []
    inner = block
    for loop in reversed(enclosing_loops(block)):
        if loop.body.block.first_op is not inner or inner.next_op is not None:
            break
        found.insert(0, loop)
        inner = loop
    return found


def _loop_of(block: BlockOp, number: int, loops: Sequence[ForOp], inner: Collection[ForOp]) -> ForOp | None:
    """The loop of `loops` that iterator `number` runs along, one by one from some number on, which no loop of `inner`
    changes; `None` where none is."""
    binding = block.bindings.data.results[number]
    for dim, value in enumerate(block.loop_vars):
        rest = simplify(binding - AffineExpr.dimension(dim))
        if (loop := loop_of(value)) in loops and not any(
            loop_of(block.loop_vars[d]) in inner for d in rest.used_dims()
        ):
            return loop
    return None
