"""What primitives put into a function: nests that copy, names that are free, indices as operations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from ....dialects.support.unique_names import free_name
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import BlockOp, ForOp, IterKind, blocks_under
from ....dialects.tir.symbols import Extent
from ..analysis.producers import function_of


def free_block_name(op: Operation, wanted: str) -> str:
    """`wanted`, or that with a number, so that no block of the function of `op` has the name."""
    return free_name(wanted, {block.block_name for block in blocks_under(function_of(op))})


def nest_over(extents: Sequence[Extent], *, unit: bool) -> tuple[list[ForOp], tuple[AffineExpr, ...]]:
    """Loops, one in the other, over the extents (with `unit` also over those that are 1), and what iterators of these
    extents are bound to."""
    loops: list[ForOp] = []
    bindings: list[AffineExpr] = []
    for number, extent in enumerate(extents):
        if extent == 1 and not unit:
            bindings.append(AffineConstantExpr(0))
        else:
            bindings.append(AffineDimExpr(len(loops)))
            loops.append(ForOp(extent, name_hint=f"i{number}"))
    for outer, inner in pairwise(loops):
        outer.body.block.add_op(inner)
    return loops, tuple(bindings)


def empty_loop(loop: ForOp) -> ForOp:
    """A loop of as many iterations as `loop`, run in the same way, by the same threads, with nothing in it."""
    made = ForOp(loop.size, min=loop.start, kind=loop.for_kind, name_hint=loop.var.name_hint)
    if loop.thread is not None:
        made.properties["thread"] = loop.thread
    return made


def new_block(
    name: str,
    iters: Sequence[tuple[IterKind, Extent]],
    body: Block,
    init: Block | None = None,
    unit: bool = False,
) -> tuple[Operation, BlockOp]:
    """A block in loops over its iterators (with `unit` also over those of one value); gives the outermost operation,
    and the block."""
    loops, bindings = nest_over([extent for _, extent in iters], unit=unit)
    block = BlockOp(
        name,
        iters,
        AffineMap(len(loops), 0, bindings),
        [loop.var for loop in loops],
        Region(body),
        None if init is None else Region(init),
    )
    if not loops:
        return block, block
    loops[-1].body.block.add_op(block)
    return loops[0], block


def new_body(count: int, prefix: str = "v") -> Block:
    """An empty body with `count` iterators."""
    body = Block(arg_types=[IndexType()] * count)
    for number, argument in enumerate(body.args):
        argument.name_hint = f"{prefix}{number}"
    return body


def copy_nest(name: str, source: SSAValue, target: SSAValue) -> tuple[Operation, BlockOp]:
    """A block in loops of its own that copies `source` to `target`."""
    shape = shape_of(source)
    body = new_body(len(shape))
    load = memref.LoadOp.get(source, body.args)
    body.add_ops([load, memref.StoreOp.get(load.res, target, body.args)])
    return new_block(name, [(IterKind.SPATIAL, extent) for extent in shape], body, unit=True)


def index_ops(
    expr: AffineExpr, values: Sequence[SSAValue], arguments: Sequence[SSAValue] = ()
) -> tuple[list[Operation], SSAValue]:
    """Operations that compute an expression over non-negative `values`, and symbols, which are `arguments` of the
    function; and their result."""
    match expr:
        case AffineDimExpr(position):
            return [], values[position]
        case AffineSymExpr(position):
            return [], arguments[position]
        case AffineConstantExpr(value):
            constant = arith.ConstantOp(IntegerAttr(value, IndexType()))
            return [constant], constant.result
        case AffineBinaryOpExpr(kind, lhs, rhs):
            left, a = index_ops(lhs, values, arguments)
            right, b = index_ops(rhs, values, arguments)
            match kind:
                case AffineBinaryOpKind.Add:
                    op = arith.AddiOp(a, b)
                case AffineBinaryOpKind.Mul:
                    op = arith.MuliOp(a, b)
                case AffineBinaryOpKind.FloorDiv:
                    op = arith.DivUIOp(a, b)
                case AffineBinaryOpKind.Mod:
                    op = arith.RemUIOp(a, b)
                case _:
                    raise ValueError(f"no operation for {expr}")
            return [*left, *right, op], op.result
        case _:
            raise ValueError(f"no operation for {expr}")


def is_sum(expr: AffineExpr) -> bool:
    """Whether an expression has no quotients and remainders."""
    if not isinstance(expr, AffineBinaryOpExpr):
        return True
    plain = expr.kind in (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul)
    return plain and is_sum(expr.lhs) and is_sum(expr.rhs)


def move_access(
    op: memref.LoadOp | memref.StoreOp, exprs: Sequence[AffineExpr], iters: Sequence[SSAValue]
) -> list[Operation]:
    """Let an access be at the indices `exprs` over `iters`, which are not negative. Gives the operations added."""
    assert op.parent is not None
    indices: list[SSAValue] = []
    added: list[Operation] = []
    for expr in exprs:
        ops, value = index_ops(expr, iters)
        added += ops
        indices.append(value)
    if added:
        op.parent.insert_ops_before(added, op)
    lead = 1 if isinstance(op, memref.LoadOp) else 2
    op.operands = [*list(op.operands)[:lead], *indices]
    return added


def drop_unused(block: BlockOp) -> None:
    """Erase from the body of `block` what has no effect, and results that nothing uses any more."""
    for op in reversed(list(block.body.walk())):
        computes = isinstance(op, memref.LoadOp) or op.name.startswith(("arith.", "math."))
        if isinstance(op, scf.IfOp) and op.results:
            computes = all(_is_idle(inner) for region in op.regions for inner in region.walk())
        if computes and not any(result.uses for result in op.results):
            op.detach()
            op.erase()


def _is_idle(op: Operation) -> bool:
    return isinstance(op, memref.LoadOp | scf.YieldOp) or op.name.startswith(("arith.", "math."))


def drop_unused_indices(block: BlockOp) -> None:
    """Erase from `block` the index arithmetic whose results nothing uses any more."""
    for op in reversed([op for region in block.regions for op in region.block.ops]):
        if op.name.startswith("arith.") and all(isinstance(r.type, IndexType) and not r.uses for r in op.results):
            op.detach()
            op.erase()
