"""How many elements the memory has that a builder's pointer is to: as many as a function's statements come to.

A = ib.pointer("float32", name="A")
with ib.for_range(0, n) as i:
    A[i * 2] = A[i * 2 + 1]         # 2 * n elements

Where that is known only from data, or is no one expression of sizes, it is a size of its own, `A_size`, which the array
says that the function is given; what compiles the function asks whether all that is used lies within it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

from ...support.diagnostics import UsageError
from ...te.dims import size_var, written
from ...te.expr import Const, Dim, Expr, ExprLike, IterVar, Slot, Var, as_expr
from ...te.integer_forms import integer_form, is_integer
from ...te.kinds import index
from ..analyzer.analyzer import Analyzer
from ..analyzer.build import add
from ..analyzer.intset import interval
from ..analyzer.nodes import IntExpr, const
from .buffers import Buffer, BufferLoad, BufferStore, Pointer
from .expressions import Ramp
from .statements import THREAD_EXTENT, VIRTUAL_THREAD, AttrStmt, For, LetStmt, Stmt
from .stmt_functor import Node, Substitution, parts_of

Around: TypeAlias = For | LetStmt | AttrStmt
"""What gives a variable its values, in its body."""


def with_extents(body: Stmt) -> tuple[Stmt, dict[Buffer, Buffer]]:
    """The statements with buffers in place of pointers, and which buffer is there for each."""
    ends: dict[Pointer, list[IntExpr | None]] = {}
    stack: list[tuple[Node, tuple[Around, ...]]] = [(body, ())]
    while stack:
        node, around = stack.pop()
        if isinstance(node, BufferLoad | BufferStore) and isinstance(node.buffer, Pointer):
            ends.setdefault(node.buffer, []).append(_end(node.indices[0], around))
        for part in parts_of(node):
            stack.append((part, (*around, node) if isinstance(node, Around) and part is node.body else around))
    made: dict[Buffer, Buffer] = {
        pointer: pointer.of_elements(_greatest(pointer, each)) for pointer, each in ends.items()
    }
    return (Substitution({}, made).of(body) if made else body), made


def _end(place: Expr, around: Sequence[Around]) -> IntExpr | None:
    """One more than the greatest number of an element, over all iterations; `None` where it is not known."""
    if isinstance(place, Ramp):
        if not isinstance(place.stride, Const):
            return None
        place = place.base + max(0, int(place.stride.value)) * (place.lanes - 1)
    last = integer_form(place)
    for each in reversed(around):
        if isinstance(each, LetStmt):
            if not is_integer(each.value.type):
                continue
            variable, first = integer_form(each.var), integer_form(each.value)
            final = first
        elif isinstance(each, AttrStmt):
            if each.attr_key not in (THREAD_EXTENT, VIRTUAL_THREAD) or not isinstance(each.node, Slot | IterVar):
                continue
            variable, first = integer_form(each.node), const(0)
            final = add(integer_form(as_expr(cast("ExprLike", each.value), index)), const(-1))
        else:
            variable, first = integer_form(each.loop_var), integer_form(each.min)
            final = add(add(first, integer_form(each.extent)), const(-1))
        _, high = interval(Analyzer(), last, {variable: (first, final)})
        if high is None:
            return None
        last = high
    return add(last, const(1))


def _greatest(pointer: Pointer, ends: Sequence[IntExpr | None]) -> Dim:
    """The greatest of all ends, or a size of its own."""
    analyzer = Analyzer()
    known = [each for each in ends if each is not None]
    for end in known if len(known) == len(ends) else ():
        if all(analyzer.can_prove(end >= other) for other in known):
            end = analyzer.simplify(end)
            if not all(isinstance(each.key, Var) for each in end.variables):
                break
            try:
                return written(end)
            except (TypeError, ValueError, UsageError):
                break
    return size_var(f"{pointer.name}_size")
