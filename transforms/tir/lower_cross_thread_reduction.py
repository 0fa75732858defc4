"""Let threads that share a reduction each reduce their part, and then put the parts together, through shared memory.

Before -> after, along 8 threads:

```mlir
tir.for %k = 0 to 4 {                                     tir.for thread_binding "threadIdx.x" %t = 0 to 8 {
  tir.for thread_binding "threadIdx.x" %t = 0 to 8 {        %own = tir.alloc_buffer "local" : memref<1xf32>
    tir.block @sum(%vi: ..., %vk: reduce 32)                tir.block @sum_start ... writes(%own[0])
        = [%i, %k * 8 + %t] ... writes(%y[%vi])             tir.for %k = 0 to 4 {
                                                              tir.block @sum ... writes(%own[0])
                                                            }
                                                            tir.block @sum_part ... writes(%parts[%t])
                                                            tir.block @sum_4 ... where [3 - %t] (%parts[%t + 4] is
                                                              added to %parts[%t]); then @sum_2, @sum_1
                                                            tir.block @sum_result ... where [-%t] writes(%y[%vi])
```

`thread-sync` lets threads wait in between. Each step is done in any order and grouping, as `rfactor` has it too: which
operations may be, and from where they start, is the same. Several results that one comparison chooses stay together.

Does not: exchange values between the threads of a warp by instructions of their own. Counterpart of TVM's
LowerCrossThreadReduction and LowerThreadAllreduce.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ...dialects.support.diagnostics import Diagnostic
from ...dialects.tir.affine import substitute
from ...dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForOp,
    IterKind,
    PrimFuncOp,
    Scope,
    enclosing_loops,
    memref_of,
)
from ...dialects.tir.legality.reductions import shared_reductions
from ...dialects.tir.symbols import Extent, affine_map, arguments_around, depends_on_symbols
from ...dialects.tir.thread_axes import axis_of, is_of_block, is_virtual
from ..infra import PrimFuncPass, report_changed
from .analysis.producers import nest_of, stores_of
from .analysis.reducers import Reduction, reduction_of
from .schedule.checks import check_effects
from .schedule.copies import index_ops, new_body
from .schedule.reorder import reorder


@dataclass(frozen=True)
class LowerCrossThreadReductionPass(PrimFuncPass):
    """Put together, through shared memory, what threads reduce each for itself."""

    name = "lower-cross-thread-reduction"
    tvm_name = "LowerCrossThreadReduction"
    tvm_parts = ("LowerThreadAllreduce",)

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        found: dict[BlockOp, None] = {}
        for loop in func.walk():
            if isinstance(loop, ForOp):
                found.update(dict.fromkeys(shared_reductions(loop)))
        lowerings = [_Lowering(block) for block in found]
        for lowering in lowerings:
            lowering.lower()
        report_changed(bool(found))


_Iters = list[tuple[IterKind, Extent]]


class _Lowering:
    """The lowering of one block; what cannot be done is found before anything changes.

    Raises:
        Diagnostic: the order of its steps is of account, it stands beside others in a loop over its steps, or in a
            loop that is concurrent and none of a launch, or a condition says of an element and of a step together where
            it runs.
    """

    def __init__(self, block: BlockOp):
        self.block = block
        self.loops = enclosing_loops(block)
        bound = list(zip(block.kinds, block.bindings.data.results, strict=True))
        vars = block.loop_vars
        reduced = {vars[d] for kind, e in bound if kind == IterKind.REDUCE for d in e.used_dims()}
        kept = {vars[d] for kind, e in bound if kind != IterKind.REDUCE for d in e.used_dims()}
        self.steps = [loop for loop in self.loops if loop.var in reduced and not is_of_block(loop)]
        """The loops over the steps of one thread."""
        self.sharing = [loop for loop in self.loops if loop.var in reduced and is_of_block(loop)]
        """The loops over the threads that share the steps."""
        self.threads = [loop for loop in self.loops if is_of_block(loop)]
        self._check_loops(reduced, kept)
        self.found = self._reduction()
        dims = {number for number, v in enumerate(vars) if v in reduced}
        self.around = [c for c in block.conditions if not dims & set(c.used_dims())]
        """The conditions that say of which elements the block is."""
        self.on_steps = [c for c in block.conditions if c not in self.around]
        """Those that say which steps are taken."""
        if any(not set(c.used_dims()) <= dims for c in self.on_steps):
            raise self._error("has a condition on an element and on a step together")
        if depends_on_symbols(*self.on_steps, *(e for kind, e in bound if kind == IterKind.REDUCE)):
            raise self._error("takes steps that are known only when the function is called")

    def _error(self, why: str, hint: str | None = None) -> Diagnostic:
        name = f"%{self.sharing[0].var.name_hint or 'i'}"
        what = f"block @{self.block.block_name}, whose reduction the threads of {name} share, {why}"
        return Diagnostic.at(self.block, what, hint=hint)

    def _check_loops(self, reduced: set[SSAValue], kept: set[SSAValue]) -> None:
        axes = [loop.thread for loop in self.threads]
        if len(set(axes)) != len(axes):
            raise self._error("stands in two loops of one axis")
        for loop in self.loops:
            if loop.for_kind.is_concurrent and axis_of(loop) is None:
                why = (
                    f"stands in %{loop.var.name_hint or 'i'}, whose iterations would have the parts' memory at one time"
                )
                before = "inject-virtual-thread comes before"
                raise self._error(why, before if is_virtual(loop) else "let the loop be serial")
        if both := reduced & kept:
            raise self._error(f"binds %{next(iter(both)).name_hint or 'i'} to an element too")
        for loop in (*self.steps, *self.threads):
            if loop.start != 0 or loop.is_symbolic:
                why = f"moves along %{loop.var.name_hint or 'i'}, whose steps do not start at 0, or are not known"
                raise self._error(why)
        first = next(n for n, loop in enumerate(self.loops) if loop.var in reduced)
        self.chain = self.loops[first:]
        """The loops in and around which there are steps."""
        self.order = [*(loop for loop in self.chain if loop not in self.steps), *self.steps]
        """The same, those over a thread's steps innermost: others may stand in what need not move, around these."""
        for loop in self.chain if self.order != self.chain else self.steps:
            if len(list(loop.body.block.ops)) != 1:
                hint = "give the others a nest of their own"
                raise self._error(f"is not all that stands in %{loop.var.name_hint or 'i'}", hint)

    def _reduction(self) -> Reduction:
        block = self.block
        check_effects(block)
        stores = stores_of(block)
        apart = len({store.memref for store in stores}) == len(stores)
        if not stores or not apart or any(store.parent_op() is not block for store in stores):
            raise self._error("does not write one element of each result")
        if any(list(store.indices) != list(stores[0].indices) for store in stores):
            raise self._error("writes its results at several places")
        assert block.init is not None
        began = {op.memref for op in block.init.walk() if isinstance(op, memref.StoreOp)}
        if began != {store.memref for store in stores} or any(
            not isinstance(op, memref.StoreOp | arith.ConstantOp) and not _is_of(op, IndexType())
            for op in block.init.walk()
        ):
            raise self._error("does not start from a number")
        written = [each for each in block.accesses() if each.is_write]
        if any(each.map is None or each.map != written[0].map for each in written):
            raise self._error("begins another element than it goes on with, or one that data says")
        return reduction_of(block, stores)

    def lower(self) -> None:
        """Rewrite the nest."""
        if self.order != self.chain:
            reorder(*self.order)
        place: Operation = self.steps[0] if self.steps else self.block
        top = nest_of(self.block)
        assert top.parent is not None
        assert place.parent is not None
        own: list[SSAValue] = []
        parts: list[SSAValue] = []
        for store in self.found.stores:
            element, name = memref_of(store.memref).element_type, store.memref.name_hint or self.block.block_name
            mine = AllocBufferOp.of(element, [1], Scope.LOCAL)
            mine.buffer.name_hint = f"{name}_own"
            shared = AllocBufferOp.of(element, [loop.size for loop in self.threads], "shared")
            shared.buffer.name_hint = f"{name}_parts"
            place.parent.insert_op_before(mine, place)
            top.parent.insert_op_before(shared, top)
            own.append(mine.buffer)
            parts.append(shared.buffer)
        place.parent.insert_op_before(self._start(own), place)
        after: list[Operation] = [self._put(own, parts)]
        for axis in self.sharing:
            width = 1
            while width * 2 < axis.trip_count:
                width *= 2
            while width and axis.trip_count > 1:
                after.append(self._add(parts, axis, width))
                width //= 2
        after.append(self._result(parts, self._begins()))
        place.parent.insert_ops_after(after, place)
        step = self._step(own)
        assert self.block.parent is not None
        self.block.parent.insert_op_before(step, self.block)
        self.block.detach()
        self.block.erase()

    def _begins(self) -> bool:
        """Whether the first of the steps is among those of the block, which goes on from what there is if not."""
        block = self.block
        zeros = [0] * len(block.loop_vars)
        steps = [e for kind, e in zip(block.kinds, block.bindings.data.results, strict=True) if kind == IterKind.REDUCE]
        return not any(expr.eval(zeros, []) for expr in steps) and all(c.eval(zeros, []) >= 0 for c in self.on_steps)

    def _made(
        self,
        suffix: str,
        iters: _Iters,
        bindings: Sequence[AffineExpr],
        vars: Sequence[SSAValue],
        body: Block,
        conditions: Sequence[AffineExpr] = (),
    ) -> BlockOp:
        """A block in the place of a part of the one that is lowered."""
        made = BlockOp(
            f"{self.block.block_name}{suffix}",
            iters,
            affine_map(len(vars), tuple(bindings)),
            vars,
            Region(body),
        )
        made.set_predicate(conditions)
        made.location = self.block.location
        return made

    def _numbers(self) -> tuple[_Iters, list[AffineExpr]]:
        """Iterators that are the numbers of the threads, and what they are bound to."""
        dims: list[AffineExpr] = [AffineDimExpr(number) for number in range(len(self.threads))]
        return [(IterKind.SPATIAL, loop.size) for loop in self.threads], dims

    def _start(self, own: Sequence[SSAValue]) -> BlockOp:
        """What each thread begins with."""
        body = new_body(0)
        zero = _constant(0)
        body.add_op(zero)
        values = _started(self.block)
        for store, buffer in zip(self.found.stores, own, strict=True):
            constant = values[store.memref].clone()
            body.add_ops([constant, memref.StoreOp.get(constant.result, buffer, [zero.result])])
        return self._made("_start", [], [], [], body)

    def _step(self, own: Sequence[SSAValue]) -> BlockOp:
        """A step of one thread: that of the block, to the thread's own."""
        block, vars = self.block, list(self.block.loop_vars)
        spatial = [n for n, kind in enumerate(block.kinds) if kind != IterKind.REDUCE]
        bound = block.bindings.data.results
        loops = enumerate((*self.sharing, *self.steps), len(spatial))
        positions: dict[SSAValue, int] = {loop.var: n for n, loop in loops}
        iters: _Iters = [(block.kinds[n], block.sizes[n]) for n in spatial]
        iters += [(IterKind.SPATIAL, loop.size) for loop in self.sharing]
        iters += [(IterKind.REDUCE, loop.size) for loop in self.steps]
        body = new_body(len(iters))
        mapping: dict[SSAValue, SSAValue] = {}
        for number, old in enumerate(block.iters):
            if number in spatial:
                mapping[old] = body.args[spatial.index(number)]
                body.args[spatial.index(number)].name_hint = old.name_hint
            else:
                dims: list[AffineExpr] = [AffineDimExpr(positions.get(v, 0)) for v in vars]
                ops, mapping[old] = index_ops(substitute(bound[number], dims), body.args, arguments_around(block))
                body.add_ops(ops)
        zero = _constant(0)
        body.add_op(zero)
        for op in block.body.block.ops:
            copy = op.clone(mapping)
            body.add_op(copy)
            lead = 0 if isinstance(op, memref.LoadOp) else 1
            for store, buffer in zip(self.found.stores, own, strict=True):
                if op is store or (op in self.found.loads and op.operands[0] is store.memref):
                    copy.operands = [*list(copy.operands)[:lead], buffer, zero.result]
        bindings: list[AffineExpr] = [bound[n] for n in spatial]
        bindings += [AffineDimExpr(vars.index(loop.var)) for loop in (*self.sharing, *self.steps)]
        made = self._made("", iters, bindings, vars, body, block.conditions)
        made.attributes = dict(block.attributes)
        return made

    def _put(self, own: Sequence[SSAValue], parts: Sequence[SSAValue]) -> BlockOp:
        """What each thread has, where all of them see it."""
        iters, bindings = self._numbers()
        body = new_body(len(iters), "t")
        zero = _constant(0)
        body.add_op(zero)
        for mine, shared in zip(own, parts, strict=True):
            load = memref.LoadOp.get(mine, [zero.result])
            body.add_ops([load, memref.StoreOp.get(load.res, shared, body.args)])
        return self._made("_part", iters, bindings, [loop.var for loop in self.threads], body)

    def _add(self, parts: Sequence[SSAValue], axis: ForOp, width: int) -> BlockOp:
        """What threads from 0 to below `width` have becomes that and what those `width` further on have."""
        iters, bindings = self._numbers()
        number = self.threads.index(axis)
        body = new_body(len(iters), "t")
        distance = _constant(width)
        other = arith.AddiOp(body.args[number], distance.result)
        body.add_ops([distance, other])
        there: list[SSAValue] = list(body.args)
        there[number] = other.result
        mine = [memref.LoadOp.get(shared, body.args) for shared in parts]
        theirs = [memref.LoadOp.get(shared, there) for shared in parts]
        body.add_ops(op for pair in zip(mine, theirs, strict=True) for op in pair)
        ops, results = self.found.combined([op.res for op in mine], [op.res for op in theirs])
        body.add_ops(ops)
        body.add_ops(memref.StoreOp.get(value, shared, body.args) for value, shared in zip(results, parts, strict=True))
        dim = AffineDimExpr(number)
        reached = [AffineConstantExpr(width - 1) + dim * -1]
        if width * 2 > axis.trip_count:
            reached.append(AffineConstantExpr(axis.trip_count - 1 - width) + dim * -1)
        return self._made(f"_{width}", iters, bindings, [loop.var for loop in self.threads], body, reached)

    def _result(self, parts: Sequence[SSAValue], begins: bool) -> BlockOp:
        """The first of the threads that share a reduction writes it, or if it does not begin there, puts it together
        with what there is."""
        block, vars = self.block, list(self.block.loop_vars)
        spatial = [n for n, kind in enumerate(block.kinds) if kind != IterKind.REDUCE]
        vars += [loop.var for loop in self.threads if loop.var not in vars]
        number = {loop.var: len(spatial) + n for n, loop in enumerate(self.threads)}
        iters: _Iters = [(block.kinds[n], block.sizes[n]) for n in spatial]
        iters += [(IterKind.SPATIAL, loop.size) for loop in self.threads]
        body = new_body(len(iters))
        mapping: dict[SSAValue, SSAValue] = {block.iters[n]: body.args[at] for at, n in enumerate(spatial)}
        for n, at in ((n, mapping[block.iters[n]]) for n in spatial):
            at.name_hint = block.iters[n].name_hint
        for value in self.found.stores[0].indices:
            for op in _chain(value, mapping):
                body.add_op(op.clone(mapping))
        at = [mapping[value] for value in self.found.stores[0].indices]
        threads = [body.args[number[loop.var]] for loop in self.threads]
        found = [memref.LoadOp.get(shared, threads) for shared in parts]
        body.add_ops(found)
        results: list[SSAValue] = [op.res for op in found]
        if not begins:
            there = [memref.LoadOp.get(store.memref, at) for store in self.found.stores]
            body.add_ops(there)
            ops, results = self.found.combined([op.res for op in there], results)
            body.add_ops(ops)
        for value, store in zip(results, self.found.stores, strict=True):
            body.add_op(memref.StoreOp.get(value, store.memref, at))
        bindings: list[AffineExpr] = [block.bindings.data.results[n] for n in spatial]
        bindings += [AffineDimExpr(vars.index(loop.var)) for loop in self.threads]
        first = [AffineDimExpr(vars.index(loop.var)) * -1 for loop in self.sharing]
        conditions = [*self.around, *first]
        used = sorted({d for expr in (*bindings, *conditions) for d in expr.used_dims()})
        dims: list[AffineExpr] = [AffineDimExpr(used.index(d) if d in used else 0) for d in range(len(vars))]
        bindings, conditions = ([substitute(expr, dims) for expr in exprs] for exprs in (bindings, conditions))
        return self._made("_result", iters, bindings, [vars[d] for d in used], body, conditions)


def _constant(value: int) -> arith.ConstantOp:
    return arith.ConstantOp(IntegerAttr(value, IndexType()))


def _is_of(op: Operation, type: IndexType) -> bool:
    """Whether an operation computes indices."""
    return op.name.startswith("arith.") and all(result.type == type for result in op.results)


def _started(block: BlockOp) -> Mapping[SSAValue, arith.ConstantOp]:
    """What each result of a reduction starts from."""
    assert block.init is not None
    found: dict[SSAValue, arith.ConstantOp] = {}
    for op in block.init.walk():
        if isinstance(op, memref.StoreOp):
            assert isinstance(op.value.owner, arith.ConstantOp), "as was checked"
            found[op.memref] = op.value.owner
    return found


def _chain(value: SSAValue, known: Mapping[SSAValue, SSAValue]) -> list[Operation]:
    """The operations that compute an index from what is `known`, in order."""
    if value in known or not isinstance(value, OpResult):
        return []
    return [*(op for operand in value.op.operands for op in _chain(operand, known)), value.op]
