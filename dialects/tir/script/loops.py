"""From TVMScript to loops: what stands behind `for ... in`.

A loop that begins or ends where loops around it say has as many iterations as there are at most, of which those beyond
do nothing: the blocks in it have a condition. Machine code and the interpreter run such loops no further than the
condition holds (`narrowing`).

    for i in range(16):             for i in range(16):
        for j in range(i + 1):  is      for j in range(16):
            ...                             if j < i + 1: ...
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ...support.diagnostics import Diagnostic
from ..affine import simplify
from ..loop_iterators import kind_of
from ..loops import ForKind, ForOp
from ..narrowing import most_of
from ..symbols import Extent, as_affine, as_extent
from .arguments import Arguments, attributes_of
from .loop_indices import Extents, LoopIndices
from .scope import Local, OuterIterator, Scope

LOOPS = {
    "serial": ForKind.SERIAL, "parallel": ForKind.PARALLEL, "vectorized": ForKind.VECTORIZED,
    "unroll": ForKind.UNROLLED, "thread_binding": ForKind.THREAD_BINDING,
}  # fmt: skip
"""`T.<word>(min, extent)`."""


@dataclass(frozen=True)
class Loop:
    """A loop that is read, with nothing in it."""

    name: str
    op: ForOp
    meaning: Local
    """What its variable means in the text."""
    conditions: tuple[AffineExpr, ...] = ()
    """What is at least 0 in its iterations, over `variables`, where loops around say how many they are."""
    variables: tuple[SSAValue, ...] = ()


def loops_of(scope: Scope, statement: ast.For) -> list[Loop]:
    """The loops of a statement, one for each variable.

    Raises:
        Diagnostic: it does not run over what loops run over.
    """
    call = statement.iter
    word = scope.word(call.func) if isinstance(call, ast.Call) else None
    is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
    if not isinstance(call, ast.Call) or not (is_range or word == "grid" or word in LOOPS):
        raise scope.source.error(
            call, f"a loop does not run over '{ast.unparse(call)}'",
            "over range, T.grid, T.serial, T.parallel, T.vectorized, T.unroll or T.thread_binding",
        )  # fmt: skip
    if word != "grid":
        return [_single(scope, statement.target, call, "range" if is_range else str(word))]
    names = statement.target.elts if isinstance(statement.target, ast.Tuple) else [statement.target]
    if len(names) != len(call.args) or call.keywords:
        message = f"T.grid has {len(call.args)} extents for {len(names)} loop variables"
        raise scope.source.error(statement, message)
    return [one_loop(scope, name, ForKind.SERIAL, None, extent) for name, extent in zip(names, call.args, strict=True)]


def _single(scope: Scope, target: ast.expr, call: ast.Call, word: str) -> Loop:
    """A loop that is no grid."""
    more = ("thread", "annotations") if word == "thread_binding" else ("annotations",)
    arguments = Arguments(scope, call, word if word == "range" else f"T.{word}")
    if len(call.args) == 1 or "stop" in arguments.by_name or not call.args or _names_thread(call, word):
        arguments.nodes("stop", optional=more)
    else:
        arguments.nodes("start", "stop", optional=more)
    kind = LOOPS.get(word, ForKind.SERIAL)
    made = one_loop(scope, target, kind, arguments.given.get("start"), arguments.given["stop"])
    if word == "thread_binding":
        thread = arguments.static("thread", None)
        if not isinstance(thread, str):
            raise scope.source.error(call, 'T.thread_binding names a thread: thread="threadIdx.x"')
        made.op.properties["thread"] = StringAttr(thread)
    if (node := arguments.given.get("annotations")) is not None and (
        not isinstance(node, ast.Constant) or node.value is not None
    ):
        made.op.properties["annotations"] = DictionaryAttr(attributes_of(scope, node))
    return made


def _names_thread(call: ast.Call, word: str) -> bool:
    """Whether a call is `T.thread_binding(128, "threadIdx.x")`."""
    match call.args:
        case [_, ast.Constant(value=str())]:
            return word == "thread_binding"
        case _:
            return False


def one_loop(scope: Scope, target: ast.expr, kind: ForKind, start: ast.expr | None, stop: ast.expr) -> Loop:
    """A loop from `start`, or 0, to below `stop`. One that begins at no number begins at 0, and its variable means that
    much more.

    Raises:
        Diagnostic: its variable is no name, or its end is not known when it begins.
    """
    if not isinstance(target, ast.Name):
        raise scope.source.error(target, "a loop has one variable")
    if is_within_loops(scope, [*([] if start is None else [start]), stop]):
        return _within_loops(scope, target, kind, start, stop)
    low: Extent = 0 if start is None else Extents(scope).extent(start)
    size = as_extent(simplify(as_affine(Extents(scope).extent(stop)) + as_affine(low) * -1))
    if isinstance(size, int) and size <= 0:
        return _empty(target, kind)
    op = ForOp(size, min=low if isinstance(low, int) else 0, kind=kind, name_hint=target.id)
    if isinstance(low, int):
        return Loop(target.id, op, op)
    end = as_extent(simplify(as_affine(size) + as_affine(low)))
    value = simplify(AffineExpr.dimension(0) + as_affine(low))
    return Loop(target.id, op, OuterIterator(kind_of(op), end, value, (op.var,), is_partial=True))


def is_within_loops(scope: Scope, bounds: list[ast.expr]) -> bool:
    """Whether loops around say where another one begins or ends, by expressions with a least and a greatest value,
    of which none is negative."""
    loops = LoopIndices(scope)
    try:
        read = [loops.expr(bound) for bound in bounds]
    except Diagnostic:
        return False
    if not loops.variables:
        return False
    *low, stop = read
    least = [most_of(each * -1, loops.variables) for each in low]
    return most_of(stop, loops.variables) is not None and all(
        isinstance(each, AffineConstantExpr) and each.value <= 0 for each in least
    )


def _within_loops(scope: Scope, target: ast.Name, kind: ForKind, start: ast.expr | None, stop: ast.expr) -> Loop:
    """A loop of which loops around say where it begins or ends (`is_within_loops`)."""
    loops = LoopIndices(scope)
    low: AffineExpr = AffineConstantExpr(0) if start is None else loops.expr(start)
    end = loops.expr(stop)
    first = low.value if isinstance(low, AffineConstantExpr) else 0
    size = most_of(end + low * -1, loops.variables)
    last = most_of(end, loops.variables)
    assert size is not None and last is not None, "`is_within_loops` has seen that"
    extent = as_extent(size)
    if isinstance(extent, int) and extent <= 0:
        return _empty(target, kind)
    op = ForOp(extent, min=first, kind=kind, name_hint=target.id)
    variables = (*loops.variables, op.var)
    value = AffineExpr.dimension(len(loops.variables)) + (low if first == 0 else AffineConstantExpr(0))
    condition = simplify(end + value * -1 + AffineConstantExpr(-1))
    if isinstance(low, AffineConstantExpr):
        return Loop(target.id, op, op, (condition,), variables)
    meaning = OuterIterator(kind_of(op), as_extent(last), simplify(value), variables, is_partial=True)
    return Loop(target.id, op, meaning, (condition,), variables)


def _empty(target: ast.Name, kind: ForKind) -> Loop:
    """A loop of no iterations: none from 0, wherever it was to begin."""
    op = ForOp(0, kind=kind, name_hint=target.id)
    return Loop(target.id, op, op)
