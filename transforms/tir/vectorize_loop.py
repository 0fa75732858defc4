"""Write the iterations of vectorized loops out as the lanes of vectors.

Before -> after:

```mlir
tir.for vectorized %j = 0 to 4 {
  tir.block @b(%i_1: opaque 8, %j_1: spatial 4) = [%i, %j] ... {
    %0 = memref.load %x[%i_1, %j_1]
    memref.store %0, %y[%i_1, %j_1]

tir.block @b(%i_1: opaque 8) = [%i] ... {
  %c0 = arith.constant 0 : index
  %0 = memref.load %x[%i_1, %c0]
  %c1 = arith.constant 1 : index
  %1 = memref.load %x[%i_1, %c1]
  ...
  memref.store %0, %y[%i_1, %c0]
  memref.store %1, %y[%i_1, %c1]
```

A vector is its lanes, as a statement on `T.ramp` is read too: all of them are computed before one is stored, and what
is one value in all lanes is computed once. So a loop in a vectorized one comes to stand around the lanes, and a branch
that all lanes take stays one. The iterations of a vectorized loop are independent, so that it does not matter which of
two does its next step first.

Does not: write out a loop with a branch that only some lanes take, with a `while` or with effects; one of no or of very
many iterations, or of a number that is not known; nor one whose iterations all use the same elements of a buffer of
their own. These become serial, with a remark. A block has to speak of the loops around it (`convert-blocks-to-opaque`,
`lower-opaque-block`); with `enable-vectorize=false` loops become serial, whatever blocks do. The compiler does not run
it: LLVM makes vectors of rolled loops. Counterpart of TVM's VectorizeLoop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ...dialects.support.diagnostics import Diagnostic
from ...dialects.tir.affine import substitute
from ...dialects.tir.core import BlockOp, CallOp, ForKind, ForOp, IterKind, PrimFuncOp, blocks_under
from ...dialects.tir.legality.bounds import allow_what_is_left_out
from ...dialects.tir.legality.dependence import check_independence
from ...dialects.tir.loop_iterators import make_serial, speaks_of_loops
from ...dialects.tir.script.lanes import MAX_LANES
from ...dialects.tir.symbols import Extent, affine_map
from ..infra import PrimFuncPass, report_changed
from ..infra.remarks import missed, passed
from .convert_blocks_to_opaque import say_what_is_left_out, with_loop_iterators
from .schedule.copies import drop_unused_indices


@dataclass(frozen=True)
class VectorizeLoopPass(PrimFuncPass):
    """Write vectorized loops out as lanes."""

    name = "vectorize-loop"
    tvm_name = "VectorizeLoop"

    enable_vectorize: bool = True
    """Without it, vectorized loops become serial."""

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        loops = [op for op in func.walk() if isinstance(op, ForOp) and op.for_kind == ForKind.VECTORIZED]
        if not self.enable_vectorize:
            for loop in loops:
                make_serial(loop)
            report_changed(bool(loops))
            return
        for loop in loops:
            for block in blocks_under(loop):
                if not speaks_of_loops(block) or block.conditions:
                    raise Diagnostic.at(
                        block,
                        f"block @{block.block_name} has iterators of its own, or a predicate",
                        hint="lower-init-block, convert-blocks-to-opaque and lower-opaque-block first",
                    )
        written = 0
        names: set[str] = set()
        for loop in reversed(loops):  # inner loops first
            why = _obstacle(loop)
            names.update(block.block_name for block in blocks_under(loop))
            if why is None:
                _write_out(loop)
                written += 1
            else:
                missed(self.name, loop, f"becomes serial: {why}", "give what cannot be vectorized a loop of its own")
                _serialize(loop, func)
        if names and not func.symbols:
            allow_what_is_left_out([block for block in blocks_under(func) if block.block_name in names])
        if written:
            passed(self.name, func, f"loops written out as lanes: {written}")
        report_changed(bool(loops))


def _serialize(loop: ForOp, func: PrimFuncOp) -> None:
    loop.for_kind = ForKind.SERIAL
    for block in blocks_under(loop):
        with_loop_iterators(block, func.region.block.args)


def _obstacle(loop: ForOp) -> str | None:
    """Why the iterations of a loop cannot be lanes."""
    if not isinstance(loop.size, int) or loop.size < 1:
        return "how many iterations it has is not known, or it has none"
    if not blocks_under(loop):
        return "there is no block in it"
    stores = [sum(isinstance(op, memref.StoreOp) for op in block.body.walk()) for block in blocks_under(loop)]
    if max(stores, default=0) * loop.size > MAX_LANES:
        return f"one block would store more than {MAX_LANES} elements"
    if not all(isinstance(op, BlockOp | ForOp) for op in _in_loops(loop)):
        return "there is more in it than loops and blocks"
    if next(iter(check_independence(loop, private_too=True)), None) is not None:
        return "its iterations are not shown to use elements of their own"
    for block in blocks_under(loop):
        if (why := _obstacle_in(block.body.block, _Lanes(block, loop).varying)) is not None:
            return why
    return None


def _in_loops(loop: ForOp) -> list[Operation]:
    """What stands in a loop and in the loops in it."""
    found: list[Operation] = []
    for op in loop.body.block.ops:
        found += [op, *(_in_loops(op) if isinstance(op, ForOp) else [])]
    return found


def _obstacle_in(block: Block, varying: set[SSAValue]) -> str | None:
    """Why operations cannot be done for all lanes at once; `varying` are the values that differ from lane to lane."""
    for op in block.ops:
        if _is_value(op) or isinstance(op, memref.StoreOp | scf.YieldOp):
            continue
        if not isinstance(op, scf.IfOp) or op.results:
            return f"of '{op.name}'"
        if op.cond in varying:
            return "not all of its iterations take a branch"
        for region in op.regions:
            if region.blocks and (why := _obstacle_in(region.block, varying)) is not None:
                return why
    return None


def _is_value(op: Operation) -> bool:
    """Whether an operation does no more than give a value."""
    if isinstance(op, CallOp):
        return op.is_pure
    if isinstance(op, scf.IfOp):
        return bool(op.results) and all(
            _is_value(inner) or isinstance(inner, scf.YieldOp) for region in op.regions for inner in region.block.ops
        )
    return isinstance(op, memref.LoadOp) or op.name.startswith(("arith.", "math.")) or op.name == "tir.undef"


class _Lanes:
    """A block, written for all iterations of a loop at once."""

    def __init__(self, block: BlockOp, loop: ForOp):
        self.block = block
        self.loop = loop
        assert isinstance(loop.size, int)
        self.count = loop.size
        self.numbers = [
            number
            for number, expr in enumerate(block.bindings.data.results)
            if isinstance(expr, AffineDimExpr) and block.loop_vars[expr.position] is loop.var
        ]
        """The iterators that are the loop's variable."""
        self.varying: set[SSAValue] = {block.iters[number] for number in self.numbers}
        """What differs from lane to lane."""
        for op in block.body.walk():
            if any(operand in self.varying for inner in op.walk() for operand in inner.operands):
                self.varying.update(op.results)

    def write(self) -> BlockOp:
        """The block that does it."""
        block = self.block
        kept = [number for number in range(len(block.sizes)) if number not in self.numbers]
        body = Block(arg_types=[IndexType()] * len(kept))
        shared: dict[SSAValue, SSAValue] = {}
        for number, argument in zip(kept, body.args, strict=True):
            shared[block.iters[number]] = argument
            argument.name_hint = block.iters[number].name_hint
        lanes: list[dict[SSAValue, SSAValue]] = [{} for _ in range(self.count)]
        for lane, values in enumerate(lanes):
            at = arith.ConstantOp(IntegerAttr(self.loop.start + lane, IndexType()))
            body.add_op(at)
            values.update({block.iters[number]: at.result for number in self.numbers})
        self._write(block.body.block, body, shared, lanes)
        variables = [v for v in block.loop_vars if v is not self.loop.var]
        dims: list[AffineExpr] = [
            AffineDimExpr(variables.index(v) if v in variables else 0) for v in block.loop_vars
        ]  # fmt: skip
        bindings = [substitute(block.bindings.data.results[number], dims) for number in kept]
        iters: list[tuple[IterKind, Extent]] = [(block.kinds[number], block.sizes[number]) for number in kept]
        made = BlockOp(
            block.block_name,
            iters,
            affine_map(len(variables), tuple(bindings)),
            variables,
            Region(body),
            attributes=dict(block.attributes),
        )
        made.location = block.location
        return made

    def _write(
        self,
        block: Block,
        to: Block,
        shared: dict[SSAValue, SSAValue],
        lanes: Sequence[dict[SSAValue, SSAValue]],
    ) -> None:
        for op in block.ops:
            if isinstance(op, scf.IfOp) and not op.results:
                regions: list[Region] = []
                for region in op.regions:
                    regions.append(Region())
                    if region.blocks:
                        regions[-1].add_block(Block())
                        inner = [dict(values) for values in lanes]
                        self._write(region.block, regions[-1].block, dict(shared), inner)
                made = scf.IfOp.create(operands=[shared.get(op.cond, op.cond)], regions=regions)
                made.location = op.location
                to.add_op(made)
            elif isinstance(op, memref.StoreOp):
                varies = any(operand in self.varying for operand in op.operands)
                to.add_ops(op.clone({**shared, **values}) for values in (lanes if varies else lanes[:1]))
            elif self.varying.isdisjoint(op.results) or not op.results:
                to.add_op(copy := op.clone(shared))
                shared.update(zip(op.results, copy.results, strict=True))
            else:
                for values in lanes:
                    to.add_op(copy := op.clone({**shared, **values}))
                    values.update(zip(op.results, copy.results, strict=True))


def _write_out(loop: ForOp) -> None:
    """Put what stands in a loop in its place, for all of its iterations at once."""
    for block in blocks_under(loop):
        made = _Lanes(block, loop).write()
        assert block.parent is not None
        block.parent.insert_op_before(made, block)
        block.detach()
        block.erase()
        say_what_is_left_out(made)
        drop_unused_indices(made)
        made.update_accesses()
    assert loop.parent is not None
    for op in list(loop.body.block.ops):
        op.detach()
        loop.parent.insert_op_before(op, loop)
    loop.detach()
    loop.erase()
