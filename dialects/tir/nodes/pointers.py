"""How many elements the memory has that a builder's pointer is to: as many as a function's statements come to.

A = ib.pointer("float32", name="A")
with ib.for_range(0, n) as i:
    A[i * 2] = A[i * 2 + 1]         # 2 * n elements
"""

from __future__ import annotations

from collections.abc import Sequence

from ...support.diagnostics import UsageError
from ...te.dims import written
from ...te.expr import Const, Dim, Expr
from ...te.integer_forms import integer_form, is_integer
from ..analyzer.analyzer import Analyzer
from ..analyzer.build import add
from ..analyzer.intset import interval
from ..analyzer.nodes import IntExpr, const
from .buffers import Buffer, BufferLoad, BufferStore, Pointer
from .expressions import Ramp
from .statements import For, LetStmt, Stmt
from .stmt_functor import Node, Substitution, parts_of


def with_extents(body: Stmt) -> tuple[Stmt, dict[Buffer, Buffer]]:
    """The statements with buffers in place of pointers, and which buffer is there for each.

    Raises:
        UsageError: how far a pointer's memory is used is known only from data, or not by one expression of sizes.
    """
    ends: dict[Pointer, list[IntExpr]] = {}
    stack: list[tuple[Node, tuple[For | LetStmt, ...]]] = [(body, ())]
    while stack:
        node, around = stack.pop()
        if isinstance(node, BufferLoad | BufferStore) and isinstance(node.buffer, Pointer):
            ends.setdefault(node.buffer, []).append(_end(node.buffer, node.indices[0], around))
        for part in parts_of(node):
            stack.append((part, (*around, node) if isinstance(node, For | LetStmt) and part is node.body else around))
    made: dict[Buffer, Buffer] = {
        pointer: pointer.of_elements(_greatest(pointer, each)) for pointer, each in ends.items()
    }
    return (Substitution({}, made).of(body) if made else body), made


def _end(pointer: Pointer, place: Expr, around: Sequence[For | LetStmt]) -> IntExpr:
    """One more than the greatest number of an element, over all iterations."""
    if isinstance(place, Ramp):
        if not isinstance(place.stride, Const):
            raise _unknown(pointer)
        place = place.base + max(0, int(place.stride.value)) * (place.lanes - 1)
    last = integer_form(place)
    for each in reversed(around):
        if isinstance(each, LetStmt):
            if not is_integer(each.value.type):
                continue
            variable, first = integer_form(each.var), integer_form(each.value)
            final = first
        else:
            variable, first = integer_form(each.loop_var), integer_form(each.min)
            final = add(add(first, integer_form(each.extent)), const(-1))
        _, high = interval(Analyzer(), last, {variable: (first, final)})
        if high is None:
            raise _unknown(pointer)
        last = high
    return add(last, const(1))


def _greatest(pointer: Pointer, ends: Sequence[IntExpr]) -> Dim:
    analyzer = Analyzer()
    for end in ends:
        if all(analyzer.can_prove(end >= other) for other in ends):
            try:
                return written(analyzer.simplify(end))
            except (TypeError, ValueError, UsageError):
                break
    raise _unknown(pointer)


def _unknown(pointer: Pointer) -> UsageError:
    return UsageError(f"how many elements '{pointer.name}' has is not seen from its uses", hint="ib.pointer(shape=...)")
