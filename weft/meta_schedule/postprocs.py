"""Postprocessors for processors: they carry out what rules have said on blocks, and reject what cannot be."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from ..dialects.tir.affine import linear, substitute
from ..dialects.tir.buffers import shape_of
from ..dialects.tir.core import BlockOp, ForKind, ForOp, IterKind, OuterBlockOp, PrimFuncOp
from ..dialects.tir.script.counting import counted_by
from ..transforms.tir.analysis.block_scopes import scope_of
from ..transforms.tir.intrinsics.tensor_intrin import TensorIntrin
from ..transforms.tir.schedule.annotate import annotations_of
from ..transforms.tir.scheduling.handles import BlockRV
from ..transforms.tir.scheduling.instructions import ROOT
from ..transforms.tir.scheduling.schedule import Schedule
from .conditions import (
    bound_dims,
    handle_of_block,
    has_one_statement,
    loop_kind,
    loops_around,
    number_in,
    op_of,
    text_in,
)
from .rule import Postproc

PARALLEL, VECTORIZE = "meta_schedule.parallel", "meta_schedule.vectorize"
EXPLICIT, IMPLICIT = "meta_schedule.unroll_explicit", "meta_schedule.unroll_implicit"
STEPS = "pragma_auto_unroll_max_step"
AUTO_TENSORIZE = "meta_schedule.auto_tensorize"
"""The annotation of a block that a tensor intrinsic is to compute: its name, or nothing for what begins a reduction."""
AUTO_TENSORIZE_INIT = "meta_schedule.auto_tensorize_init"
"""The annotation of such a block: the intrinsic for what begins its reduction."""
WARP_EXECUTION = "warp_execution"
"""The annotation of a block that the threads along `threadIdx.x` run together."""
MANY = 1 << 31
"""As many loops as there are."""


def functions_of(sch: Schedule) -> list[PrimFuncOp]:
    """The functions that are scheduled."""
    return [op for op in sch.mod.ops if isinstance(op, PrimFuncOp)]


class DisallowDynamicLoop(Postproc):
    """Takes designs whose loops all have an extent that is known. Counterpart of TVM's postprocessor of this name."""

    def apply(self, sch: Schedule) -> bool:
        """Whether there is no other loop."""
        loops = [op for func in functions_of(sch) for op in func.walk()]
        return all(isinstance(op.size, int) for op in loops if isinstance(op, ForOp)) and not any(
            _counts_late(op) for op in loops if isinstance(op, scf.WhileOp)
        )


def _counts_late(loop: scf.WhileOp) -> bool:
    """Whether a loop in a block counts to what is not known."""
    ends = counted_by(loop)
    return ends is not None and not all(isinstance(end.owner, arith.ConstantOp) for end in ends)


class RewriteReductionBlock(Postproc):
    """Lets each reduction begin in a block of its own, before its first reducing loop, unless threads of a GPU share
    its steps. Counterpart of TVM's postprocessor of this name.

    Of a block of blocks it is the first loop around that, where there is one: a tensor intrinsic that computes it goes
    on with a reduction, and begins none. What begins it is computed by the intrinsic that the block tells for that.
    """

    def apply(self, sch: Schedule) -> bool:
        """True; each is taken apart with `decompose_reduction`."""
        found = [op for func in functions_of(sch) for op in func.walk() if isinstance(op, BlockOp)]
        for op in found:
            if op.init is None or _is_shared(op):
                continue
            scopes: list[BlockOp | OuterBlockOp] = [op]
            while isinstance(outer := scope_of(scopes[0]), OuterBlockOp):
                scopes.insert(0, outer)
            for each in scopes:
                kinds = [loop_kind(loop) for loop in loops_around(each)]
                first = next((n for n, kind in enumerate(kinds) if kind is not IterKind.SPATIAL), None)
                if first is not None:
                    around = handle_of_block(sch, each)
                    block = around if each is op else handle_of_block(sch, op)
                    tiles = scopes[scopes.index(each) :]
                    beginning = next((told for tile in tiles if (told := text_in(tile, AUTO_TENSORIZE_INIT))), None)
                    for tile in tiles:
                        if AUTO_TENSORIZE_INIT in tile.attributes:
                            sch.unannotate(handle_of_block(sch, tile), AUTO_TENSORIZE_INIT)
                    init = sch.decompose_reduction(block, sch.get_loops(around)[first])
                    if beginning is not None:
                        sch.annotate(sch.blockize(sch.get_loops(init)[-_rank(beginning)]), AUTO_TENSORIZE, beginning)
                    elif any(AUTO_TENSORIZE in inner.attributes for inner in tiles):
                        sch.annotate(init, AUTO_TENSORIZE, "")
                    break
        return True


def _rank(intrin_name: str) -> int:
    """How many loops the description of an intrinsic has."""
    intrin = TensorIntrin.get(intrin_name)
    assert intrin is not None
    return sum(isinstance(op, ForOp) for op in intrin.desc.walk())


def _is_shared(block: BlockOp) -> bool:
    """Whether threads of a GPU share the steps of a reduction."""
    bound = [loop for loop in loops_around(block) if loop.for_kind is ForKind.THREAD_BINDING]
    return any(block.kinds[n] is IterKind.REDUCE for loop in bound for n in bound_dims(block, loop))


@dataclass
class _Wanted:
    """How many loops of a block become one that threads share, or one vector."""

    parallel: int = 0
    vectorized: int = 0


class RewriteParallelVectorizeUnroll(Postproc):
    """Carries out what `ParallelizeVectorizeUnroll` has said on the root block, in all blocks that stand in none but
    it. Counterpart of TVM's postprocessor of this name.

    The outer spatial loops of a block become one that threads share, up to the first that gives pieces of work enough.
    The inner ones that all its accesses walk along become one vector. Its first loop is told what may be written out.
    """

    def apply(self, sch: Schedule) -> bool:
        """True; the words on the root block are gone."""
        for func in functions_of(sch):
            words = annotations_of(func)
            told = {key: number_in(words, key) for key in (PARALLEL, VECTORIZE, EXPLICIT, IMPLICIT) if key in words}
            if not told:
                continue
            root = sch.get_block(ROOT, func.sym_name.data)
            for key in told:
                sch.unannotate(root, key)
            for block in sch.get_child_blocks(root):
                self._rewrite(sch, block, {key: -1 if value is None else value for key, value in told.items()})
        return True

    def _rewrite(self, sch: Schedule, block: BlockRV, told: dict[str, int]) -> None:
        op, loops = op_of(sch, block), sch.get_loops(block)
        if not loops or not isinstance(op, BlockOp | OuterBlockOp):
            return
        wanted = _wanted(op, told.get(PARALLEL, -1), told.get(VECTORIZE, -1))
        if wanted.parallel:
            loops[: wanted.parallel] = [sch.fuse(*loops[: wanted.parallel])] * wanted.parallel
            sch.parallel(loops[0])
        if wanted.vectorized:
            loops[-wanted.vectorized :] = [sch.fuse(*loops[-wanted.vectorized :])] * wanted.vectorized
            sch.vectorize(loops[-1])
        steps = max(told.get(EXPLICIT, -1), told.get(IMPLICIT, -1))
        outermost = sch.operation(loops[0])
        assert isinstance(outermost, ForOp)
        if steps > 0 and STEPS not in annotations_of(outermost):
            sch.annotate(loops[0], STEPS, steps)
            sch.annotate(loops[0], "pragma_unroll_explicit", int(EXPLICIT in told))


def _wanted(block: BlockOp | OuterBlockOp, most_pieces: int, most_lanes: int) -> _Wanted:
    loops = loops_around(block)
    wanted = _Wanted()
    pieces = lanes = 1
    if most_pieces != -1:
        for loop in loops:
            if not _is_free(loop) or not isinstance(loop.size, int):
                break
            wanted.parallel += 1
            pieces *= loop.size
            if pieces > most_pieces or not has_one_statement(loop):
                break
        if pieces == 1:
            wanted.parallel = 0
    if most_lanes != -1:
        most = _contiguous(block, loops) if isinstance(block, BlockOp) else 0
        for loop in reversed(loops):
            if not _is_free(loop) or not has_one_statement(loop) or not isinstance(loop.size, int):
                break
            if wanted.vectorized >= most or lanes * loop.size > most_lanes:
                break
            lanes *= loop.size
            wanted.vectorized += 1
        if lanes == 1:
            wanted.vectorized = 0
    wanted.parallel = min(wanted.parallel, len(loops) - wanted.vectorized)
    return wanted


def _is_free(loop: ForOp) -> bool:
    """Whether a loop is spatial, and nothing is said of it."""
    free = loop.for_kind is ForKind.SERIAL and not annotations_of(loop)
    return free and loop_kind(loop) is IterKind.SPATIAL


def _contiguous(block: BlockOp, loops: list[ForOp]) -> int:
    """How many of the innermost loops walk along each access of the block without a gap, or stand still."""
    most = MANY
    for buffers, maps in ((block.reads, block.read_maps), (block.writes, block.write_maps)):
        for buffer, region in zip(buffers, maps, strict=True):
            most = min(most, _contiguous_in(block, buffer, region, loops))
    return most


def _contiguous_in(block: BlockOp, buffer: SSAValue, region: object, loops: list[ForOp]) -> int:
    strides = _strides(block, buffer, region, loops)
    if strides is None:
        return 0
    count, expected = 0, None
    for loop, stride in reversed(list(zip(loops, strides, strict=True))):
        if stride:
            if expected is None and stride != 1 and count:
                break
            if expected is not None and stride != expected:
                break
            if not isinstance(loop.size, int):
                break
            expected = stride * loop.size
        count += 1
    return count


def _strides(block: BlockOp, buffer: SSAValue, region: object, loops: list[ForOp]) -> list[int] | None:
    """How far a step of each loop moves an access; `None` where that is not known."""
    shape = shape_of(buffer)
    if not isinstance(region, AffineMapAttr) or not all(isinstance(size, int) for size in shape):
        return None
    sizes = [size for size in shape if isinstance(size, int)]
    bindings = list(block.bindings.data.results)
    indices = [linear(substitute(expr, bindings)) for expr in region.data.results]
    variables: list[SSAValue] = list(block.loop_vars)
    found: list[int] = []
    for loop in loops:
        if loop.var not in variables:
            found.append(0)
            continue
        dim = AffineExpr.dimension(variables.index(loop.var))
        stride, width = 0, 1
        for index, size in reversed(list(zip(indices, sizes, strict=True))):
            if (coefficient := index.coefficient(dim)) != 0:
                stride = coefficient * width
                break
            width *= size
        found.append(stride)
    return found
