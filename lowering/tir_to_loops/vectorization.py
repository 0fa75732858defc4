"""Which blocks can run as vectors, and why the others cannot."""

from __future__ import annotations

from collections.abc import Container, Mapping

from xdsl.dialects import arith, memref, scf
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.support.interned import index
from ...dialects.support.walking import in_order
from ...dialects.tir.affine import affine_of, linear, uses
from ...dialects.tir.core import AssertOp, BlockOp, CallOp, CheckOp, IterKind
from .accesses import AccessEmitter
from .block_bodies import needed_operations
from .lanes import Lanes


def why_not_vector(
    block: BlockOp, lanes: Lanes, accesses: AccessEmitter, ready: Container[Operation] = ()
) -> str | None:
    """Why a block cannot run with `lanes` as vector lanes; `None` where it can. Loads that are `ready` are vectors
    already."""
    bindings = accesses.at.bindings(block)

    def moves(expr: AffineExpr) -> bool:
        return uses(expr, lanes.dim)

    if any(moves(accesses.at.over_loops(block, condition)) for condition in block.conditions):
        return "its predicate differs between lanes"
    if any(k == IterKind.REDUCE and moves(b) for k, b in zip(block.kinds, bindings, strict=True)):
        return "the lanes are steps of its reduction"
    for region in (block.body, *([block.init] if block.init is not None else [])):
        iters: dict[SSAValue, AffineExpr] = dict(zip(region.block.args, bindings, strict=True))
        varying = {v for v, expr in iters.items() if moves(expr)}
        if (reason := _varies(region.block, iters, varying, lanes, accesses, ready=ready)) is not None:
            return reason
    return None


def why_steps_differ(block: BlockOp, lanes: Lanes, accesses: AccessEmitter) -> str | None:
    """Why the steps of a reduction cannot be taken with `lanes` as vector lanes; `None` where they can."""
    bindings = accesses.at.bindings(block)
    iters: dict[SSAValue, AffineExpr] = dict(zip(block.body.block.args, bindings, strict=True))
    varying = {v for v, expr in iters.items() if uses(expr, lanes.dim)}
    return _varies(block.body.block, iters, varying, lanes, accesses, written=0)


def _varies(
    body: Block,
    iters: Mapping[SSAValue, AffineExpr],
    varying: set[SSAValue],
    lanes: Lanes,
    accesses: AccessEmitter,
    written: int = 1,
    ready: Container[Operation] = (),
) -> str | None:
    """Why not all lanes can do the same, where each writes `written` elements beyond the one before."""
    needed = needed_operations(body)
    for op in in_order(body):
        if op not in needed:
            if any(v in varying for v in op.operands):
                varying.update(op.results)
            continue
        if isinstance(op, CallOp | AssertOp | scf.WhileOp):
            return f"it has a {op.name}, which is of scalars"
        if isinstance(op, memref.LoadOp | memref.StoreOp):
            _, form = accesses.position(op, iters)
            if form is not None:
                stride = form.step(lanes.dim)
            elif isinstance(op, memref.LoadOp):
                stride = accesses.step_beside(op, iters, lanes.dim, varying)
            else:
                stride = None
            if isinstance(op, memref.StoreOp):
                if stride != written:
                    return "it does not write neighbouring elements" if written else "each lane writes elsewhere"
            elif op in ready:
                varying.add(op.res)
            elif stride is None:
                return "it reads elements whose distance differs"
            elif lanes.is_open and stride not in (0, 1):
                return "it reads elements that lie apart, of a number that is known only when it is called"
            elif stride:
                varying.add(op.res)
        elif isinstance(op, scf.IfOp):
            if op.cond in varying:
                return "it takes different branches in different lanes"
            varying.update(op.results)
        elif any(v in varying for v in op.operands):
            if isinstance(op, CheckOp):
                return "it checks an index that differs between lanes"
            if any(v.type == index and not isinstance(op, arith.CmpiOp | arith.IndexCastOp) for v in op.results):
                value = op.results[0]
                expr = affine_of(value, iters)
                form = None if expr is None else linear(expr, accesses.at.ranges)
                if form is None or not form.is_linear_in(lanes.dim):
                    return "it computes with an index that is not linear in the lane"
            varying.update(op.results)
    return None
