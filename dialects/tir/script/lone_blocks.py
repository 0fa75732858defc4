"""Blocks that are written as the one statement that they are, which is read as a block again (`alone`)."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise

from ..blocks import BlockOp
from ..loop_iterators import STATEMENT, speaks_of_loops
from ..loops import ForOp, loop_of


def loops_alone(op: BlockOp) -> list[ForOp] | None:
    """The loops that are a block's iterators, from the outermost on, if it is what is read of its body, should that be
    one statement: it says of its accesses what its body does."""
    if op.block_name != STATEMENT or op.attributes or op.conditions or not speaks_of_loops(op):
        return None
    bound = [number for binding in op.bindings.data.results for number in binding.used_dims()]
    loops = [loop_of(op.loop_vars[number]) for number in bound]
    reads, writes = op.derived_accesses()
    is_read = (
        all(outer.is_ancestor(inner) and outer is not inner for outer, inner in pairwise(loops))
        and op.partial_iters == frozenset(number for number, loop in enumerate(loops) if loop.start)
        and list(zip(op.reads, op.read_maps, strict=True)) == list(reads.items())
        and list(zip(op.writes, op.write_maps, strict=True)) == list(writes.items())
    )
    return loops if is_read else None


def is_one_statement(lines: Sequence[str], loops: Sequence[str]) -> bool:
    """Whether lines of a block's body are one statement that is a block by itself, and names all of the `loops`: no
    value gets a name that others would see, and no loop is counted."""
    match ast.parse("\n".join(lines)).body:
        case [(ast.Assign(targets=[ast.Subscript()]) | ast.Assert() | ast.Expr() | ast.If()) as statement]:
            inside = list(ast.walk(statement))
            names = {each.id for each in inside if isinstance(each, ast.Name)}
            return names.issuperset(loops) and not any(isinstance(each, ast.For | ast.While) for each in inside)
        case _:
            return False
