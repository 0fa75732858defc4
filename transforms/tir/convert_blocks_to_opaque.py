"""Let blocks speak of the loops around them, in place of iterators of their own.

Before -> after:

```mlir
tir.block @b(%v: spatial 64) = [%i * 16 + %k] ... {
  %0 = memref.load %x[%v]

tir.block @b(%i_1: opaque 4, %k_1: opaque 16) = [%i, %k] ... {
  %c = arith.constant 16 : index
  %1 = arith.muli %i_1, %c : index
  %v = arith.addi %1, %k_1 : index
  %0 = memref.load %x[%v]
```

Where the iterations of a loop run at once, the iterator that is its variable is `spatial`, as it has to be; all others
are `opaque`: nothing says any more that their order does not matter, and that is what a schedule asks. So this comes
after it. Refused is a block with an `init` (`lower-init-block` writes it into the body), one whose reduction threads
share (`lower-cross-thread-reduction`), and one in a loop that begins below 0. Counterpart of TVM's
ConvertBlocksToOpaque.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from ...dialects.support.diagnostics import Diagnostic
from ...dialects.tir.affine import Range, expr_range
from ...dialects.tir.core import (
    BlockOp,
    IterKind,
    PrimFuncOp,
    blocks_under,
    dimension_ranges,
    enclosing_loops,
    loop_of,
)
from ...dialects.tir.legality.bounds import restricted_iterators
from ...dialects.tir.loop_iterators import end_of, kind_of, speaks_of_loops
from ..infra import PrimFuncPass, report_changed
from .schedule.copies import drop_unused_indices, index_ops


@dataclass(frozen=True)
class ConvertBlocksToOpaquePass(PrimFuncPass):
    """Let blocks speak of the loops around them."""

    name = "convert-blocks-to-opaque"
    tvm_name = "ConvertBlocksToOpaque"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        blocks = [block for block in blocks_under(func) if not speaks_of_loops(block)]
        for block in blocks:
            _check(block)
        for block in blocks:
            with_loop_iterators(block, func.region.block.args)
        report_changed(bool(blocks))


def _check(block: BlockOp) -> None:
    """Raises:
    Diagnostic: the loops around a block do not say all that its iterators do.
    """
    name = f"block @{block.block_name}"
    if block.init is not None:
        raise Diagnostic.at(
            block, f"{name} has an init, which is for the first step of its reduction", hint="lower-init-block first"
        )
    loops = [loop_of(variable) for variable in block.loop_vars]
    for binding, kind in zip(block.bindings.data.results, block.kinds, strict=True):
        shared = [loops[number] for number in binding.used_dims() if loops[number].for_kind.is_concurrent]
        if kind == IterKind.REDUCE and shared:
            raise Diagnostic.at(
                shared[0], f"threads share the reduction of {name}", hint="lower-cross-thread-reduction first"
            )
    if any(loop.start < 0 for loop in loops):
        raise Diagnostic.at(block, f"{name} stands in a loop that begins below 0, and an iterator begins at 0")
    ranges = dimension_ranges(list(block.loop_vars))
    if not all(_divides_naturals(binding, ranges) for binding in block.bindings.data.results):
        raise Diagnostic.at(block, f"an iterator of {name} is a quotient of what may be below 0")


def _divides_naturals(expr: AffineExpr, ranges: dict[AffineExpr, Range]) -> bool:
    if not isinstance(expr, AffineBinaryOpExpr):
        return True
    if expr.kind in (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod):
        bounds = expr_range(expr.lhs, ranges)
        if not _is_natural(expr.lhs, ranges) and (bounds is None or bounds[0] < 0):
            return False
    return _divides_naturals(expr.lhs, ranges) and _divides_naturals(expr.rhs, ranges)


def _is_natural(expr: AffineExpr, ranges: dict[AffineExpr, Range]) -> bool:
    """Whether an expression is made of numbers, sizes and variables that are not below 0, and of nothing that would
    make a number below 0 of such."""
    match expr:
        case AffineConstantExpr():
            return expr.value >= 0
        case AffineDimExpr():
            return expr in ranges and ranges[expr][0] >= 0
        case AffineSymExpr():
            return True  # a size
        case AffineBinaryOpExpr():
            return _is_natural(expr.lhs, ranges) and _is_natural(expr.rhs, ranges)
        case _:
            return False


def with_loop_iterators(block: BlockOp, arguments: Sequence[SSAValue], needed: Collection[int] = ()) -> BlockOp:
    """Put a block in the place of `block` whose iterators are the loops that its own are bound to, and those of the
    numbers `needed`, among `loop_vars`, from the outermost on."""
    variables = list(block.loop_vars)
    used = [*{number for binding in block.bindings.data.results for number in binding.used_dims()} | {*needed}]
    used.sort(key=lambda number: len(enclosing_loops(loop_of(variables[number]))))
    loops = [loop_of(variables[number]) for number in used]
    body = Block(arg_types=[IndexType()] * len(used))
    values: dict[int, SSAValue] = {}
    for number, argument in zip(used, body.args, strict=True):
        argument.name_hint = variables[number].name_hint
        values[number] = argument
    of_dims = [values.get(number, variables[number]) for number in range(len(variables))]
    for iterator, binding in zip(block.iters, block.bindings.data.results, strict=True):
        ops, value = index_ops(binding, of_dims, arguments)
        body.add_ops(ops)
        iterator.replace_all_uses_with(value)
    for op in list(block.body.block.ops):
        op.detach()
        body.add_op(op)
    made = BlockOp(
        block.block_name,
        [(kind_of(loop), end_of(loop)) for loop in loops],
        AffineMap(len(variables), 0, tuple(AffineDimExpr(number) for number in used)),
        variables,
        Region(body),
        predicate=None if block.predicate is None else block.predicate.data,
        attributes=dict(block.attributes),
    )
    made.location = block.location
    assert block.parent is not None
    block.parent.insert_op_before(made, block)
    block.detach()
    block.erase()
    say_what_is_left_out(made)
    drop_unused_indices(made)
    made.update_accesses()
    return made


def say_what_is_left_out(block: BlockOp) -> None:
    """Let those iterators of a block be partial that are variables of loops and do not take every value from 0 on."""
    loops = [loop_of(block.loop_vars[number]) for expr in block.bindings.data.results for number in expr.used_dims()]
    block.partial_iters = frozenset(number for number, loop in enumerate(loops) if loop.start > 0)
    block.partial_iters |= restricted_iterators(block)
