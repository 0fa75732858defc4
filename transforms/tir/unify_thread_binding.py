"""Let the loops of a launch that are bound to one axis be one loop around all of it.

Before -> after:

```mlir
tir.for thread_binding "blockIdx.x" %i = 0 to 8 {
  tir.for thread_binding "threadIdx.x" %t = 0 to 4 {
    tir.block @a(...) = [%i, %t] ...
  }
  tir.for thread_binding "threadIdx.x" %s = 0 to 4 {
    tir.block @b(...) = [%i, %s] ...
  }
}

tir.for thread_binding "blockIdx.x" %i = 0 to 8 {
  tir.for thread_binding "threadIdx.x" %t = 0 to 4 {
    tir.block @a(...) = [%i, %t] ...
    tir.block @b(...) = [%i, %t] ...
  }
}
```

The axes keep the order in which they are first met. Refused is a launch of which loops along one axis differ in their
extents or begin elsewhere, a block that stands in no loop of one, for only the first thread runs it, and what is no
valid function any more: where threads read what others wrote, they have to wait for those. Does not: unify virtual
threads (`vthread`), which are loops of their own. Counterpart of TVM's UnifyThreadBinding.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.verifier import verify
from ...dialects.tir.core import ForOp, PrimFuncOp, blocks_under, enclosing_loops
from ...dialects.tir.thread_axes import axis_of
from ..infra import PrimFuncPass, report_changed
from .schedule.rebind import ValueExpr, rebind


@dataclass(frozen=True)
class UnifyThreadBindingPass(PrimFuncPass):
    """Let an axis of a launch be one loop."""

    name = "unify-thread-binding"
    tvm_name = "UnifyThreadBinding"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        launches = [op for op in func.walk() if isinstance(op, ForOp) and _is_outermost(op)]
        needed = [_loops_by_axis(launch) for launch in launches]
        if not any(_is_split(launch, axes) for launch, axes in zip(launches, needed, strict=True)):
            report_changed(False)
            return
        tried = func.clone()
        for launch in [op for op in tried.walk() if isinstance(op, ForOp) and _is_outermost(op)]:
            axes = _loops_by_axis(launch)
            if _is_split(launch, axes):
                _unify(launch, axes)
        try:
            verify(ModuleOp([tried]))
        except Diagnostic as error:
            raise Diagnostic.at(func, f"one loop for each axis of a launch is not valid: {error.message}") from error
        tried.detach()
        func.take_region(tried)
        report_changed(True)


def _is_outermost(loop: ForOp) -> bool:
    return axis_of(loop) is not None and all(axis_of(around) is None for around in enclosing_loops(loop))


def _loops_by_axis(launch: ForOp) -> dict[str, list[ForOp]]:
    """The loops of a launch that are bound to its axes, in the order in which they are met.

    Raises:
        Diagnostic: those along one axis are not over the same threads, or a block stands in none of them.
    """
    found: dict[str, list[ForOp]] = {}
    for op in launch.walk():
        if isinstance(op, ForOp) and (axis := axis_of(op)) is not None:
            first = found.setdefault(axis, [op])[0]
            if str(op.size) != str(first.size):
                raise Diagnostic.at(
                    op,
                    f"this loop along {axis} has {op.size} iterations, another one of its launch {first.size}",
                    hint="split the longer one, or fuse it with another",
                )
            if op is not first:
                found[axis].append(op)
            if op.start != 0:
                raise Diagnostic.at(op, f"this loop along {axis} begins at {op.start}, and threads are counted from 0")
    for block in blocks_under(launch) if len(found) > 1 or any(len(loops) > 1 for loops in found.values()) else ():
        around = {axis_of(loop) for loop in enclosing_loops(block)}
        for axis in found:
            if axis not in around:
                message = f"block @{block.block_name} stands in no loop along {axis}: the first thread alone runs it"
                raise Diagnostic.at(block, message, hint=f"put it into a loop along {axis}, with a predicate")
    return found


def _is_split(launch: ForOp, axes: dict[str, list[ForOp]]) -> bool:
    """Whether the loops of a launch are not yet one for each axis, one directly in the other."""
    expected: Operation | None = launch
    for loops in axes.values():
        if len(loops) > 1 or loops[0] is not expected:
            return True
        expected = loops[0].body.block.first_op
        if expected is not loops[0].body.block.last_op:
            expected = None
    return False


def _unify(launch: ForOp, axes: dict[str, list[ForOp]]) -> None:
    """Put all that is in a launch into one loop for each axis."""
    assert launch.parent is not None
    made: list[ForOp] = []
    for loops in axes.values():
        loop = ForOp(loops[0].size, kind=loops[0].for_kind, name_hint=loops[0].var.name_hint)
        loop.properties["thread"] = loops[0].properties["thread"]
        if loops[0].annotations is not None:
            loop.properties["annotations"] = loops[0].annotations
        loop.attributes |= loops[0].attributes
        if made:
            made[-1].body.block.add_op(loop)
        made.append(loop)
    pairs = zip(axes.values(), made, strict=True)
    unified: dict[SSAValue, ValueExpr] = {old.var: ValueExpr.of(new.var) for loops, new in pairs for old in loops}
    launch.parent.insert_op_before(made[0], launch)
    launch.detach()
    made[-1].body.block.add_op(launch)
    for block in blocks_under(launch):
        rebind(block, unified)
    for loop in [loop for loops in axes.values() for loop in loops]:
        assert loop.parent is not None
        for op in list(loop.body.block.ops):
            op.detach()
            loop.parent.insert_op_before(op, loop)
        loop.detach()
        loop.erase()
