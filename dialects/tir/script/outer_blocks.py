"""Blocks in blocks: `with T.block("C_o"):` around loops and blocks.

The iterators of an outer block are names of expressions over the loops around it: those within are bound to the loops
themselves. What it is said to read and write follows from what is in it.

    with T.block("C_o"):                                        tir.outer_block @C_o {
        vio = T.axis.spatial(8, i)                                tir.for %i_1 = 0 to 16 {
        for i_1 in range(16):                                       tir.block @C(%vi: spatial 128) = [%i * 16 + %i_1]
            with T.block("C"):
                vi = T.axis.spatial(128, vio * 16 + i_1)

`T.init()` of an outer block is what is done first, where its reduction's iterators are 0.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import cast

from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineExpr

from ..affine import simplify, substitute
from ..blocks import BlockOp, IterKind, blocks_under
from ..outer_blocks import OuterBlockOp
from ..symbols import as_affine, as_extent
from .alone import is_value
from .block_parser import BlockParser
from .counting import is_counted
from .parts import fixed_in, without_parts
from .scope import OuterIterator, Scope

Read = Callable[[Sequence[ast.stmt], Block], None]
"""Reads statements that stand among loops into a block."""


def is_outer(scope: Scope, statement: ast.With) -> bool:
    """Whether a block holds loops or blocks; loops that its own iterators or values end are statements."""
    own: set[str] = set()
    for inner in statement.body:
        match inner:
            case ast.Assign(targets=[target], value=ast.Call(func=func)) if (scope.word(func) or "").startswith(
                "axis."
            ):
                own |= _names(target)
            case ast.Assign(targets=[target]) | ast.AnnAssign(target=target) if is_value(scope, inner):
                own |= _names(target)
            case _:
                continue
    if any(isinstance(inner, ast.For) and _names(inner.iter) & own for inner in statement.body):
        return False
    return any(
        (isinstance(inner, ast.For) and not is_counted(scope, inner))
        or (isinstance(inner, ast.With) and scope.word(getattr(inner.items[0].context_expr, "func", inner)) == "block")  # pyright: ignore[reportArgumentType]
        for inner in statement.body
    )


def _names(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


class OuterBlockParser(BlockParser):
    """Reads one block of loops and blocks."""

    def parse_into(self, body: Block, read: Read) -> None:
        """Append the outer block to `body`; `read` reads what is in it.

        Raises:
            Diagnostic: something in it has no meaning.
        """
        statements = [each for each in self.node.body if not self._header(each)]
        variables = tuple(self.loops.variables)
        outer = OuterBlockOp(self.name, attributes=self.attributes)
        outer.location = self.scope.source.location(self.node)
        for name, (kind, extent), expr, start in zip(self.names, self.iters, self.bindings, self.starts, strict=True):
            end = as_extent(simplify(as_affine(extent) + start))
            self.scope.local[name] = OuterIterator(kind, end, simplify(expr + start), variables, start)
        whole = [*statements, *([] if self.init is None else [self.init])]
        statements = without_parts(self.scope, whole, self.loops.expr, fixed_in(self.scope, self.node))
        if self.init is not None:
            self.init = cast("ast.With", statements.pop())
            read(self.init.body, outer.body.block)
            steps = [b for (kind, _), b in zip(self.iters, self.bindings, strict=True) if kind == IterKind.REDUCE]
            for block in blocks_under(outer):
                restrict(block, [*(step * -1 for step in steps), *self.conditions], self.loops.variables)
        first = len(list(outer.body.block.ops))
        read(statements, outer.body.block)
        for op in list(outer.body.block.ops)[first:]:
            for block in blocks_under(op):
                restrict(block, self.conditions, self.loops.variables)
        body.add_op(outer)
        outer.verify(verify_nested_ops=False)


def restrict(block: BlockOp, conditions: Sequence[AffineExpr], variables: Sequence[SSAValue]) -> None:
    """Let a block run only where `conditions`, over the loops' `variables`, are at least 0."""
    conditions = [each for each in conditions if each != AffineExpr.constant(0)]
    if not conditions:
        return
    values = list(block.loop_vars)
    values += [v for v in variables if v not in values]
    dims = [AffineExpr.dimension(values.index(v)) for v in variables]
    more = [simplify(substitute(each, dims)) for each in conditions]
    known, bindings = list(block.conditions), block.bindings.data.results
    block.set_bindings(bindings, values)
    block.set_predicate([*known, *more])


def iterators_of(block: BlockOp, variables: Sequence[SSAValue]) -> frozenset[int]:
    """The numbers of the iterators that are bound to what is computed of loops' `variables`."""
    dims = {number for number, value in enumerate(block.loop_vars) if value in variables}
    return frozenset(n for n, binding in enumerate(block.bindings.data.results) if dims & set(binding.used_dims()))
