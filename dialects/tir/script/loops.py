"""From TVMScript to loops: what stands behind `for ... in`."""

from __future__ import annotations

import ast

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir.affine import AffineExpr

from ..affine import simplify
from ..loop_iterators import kind_of
from ..loops import ForKind, ForOp
from ..symbols import Extent, as_affine, as_extent
from .arguments import Arguments, attributes_of
from .loop_indices import Extents
from .scope import Local, OuterIterator, Scope

LOOPS = {
    "serial": ForKind.SERIAL, "parallel": ForKind.PARALLEL, "vectorized": ForKind.VECTORIZED,
    "unroll": ForKind.UNROLLED, "thread_binding": ForKind.THREAD_BINDING,
}  # fmt: skip
"""`T.<word>(min, extent)`."""


def loops_of(scope: Scope, statement: ast.For) -> list[tuple[str, ForOp, Local]]:
    """The variables of a statement, its loops, one for each, with nothing in them, and what the variables mean. A loop
    that begins at a size begins at 0, and its variable means that much more.

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
    loops = [one_loop(scope, name, ForKind.SERIAL, 0, extent) for name, extent in zip(names, call.args, strict=True)]
    return [(_name(target), loop, loop) for target, loop in zip(names, loops, strict=True)]


def _name(target: ast.expr) -> str:
    """What the text calls a loop's variable."""
    assert isinstance(target, ast.Name), "`one_loop` takes names"
    return target.id


def _single(scope: Scope, target: ast.expr, call: ast.Call, word: str) -> tuple[str, ForOp, Local]:
    """A loop that is no grid."""
    more = ("thread", "annotations") if word == "thread_binding" else ("annotations",)
    arguments = Arguments(scope, call, word if word == "range" else f"T.{word}")
    if len(call.args) == 1 or "stop" in arguments.by_name or not call.args or _names_thread(call, word):
        arguments.nodes("stop", optional=more)
        low: Extent = 0
    else:
        arguments.nodes("start", "stop", optional=more)
        low = Extents(scope).extent(arguments.given["start"])
    loop = one_loop(scope, target, LOOPS.get(word, ForKind.SERIAL), low, arguments.given["stop"])
    if word == "thread_binding":
        thread = arguments.static("thread", None)
        if not isinstance(thread, str):
            raise scope.source.error(call, 'T.thread_binding names a thread: thread="threadIdx.x"')
        loop.properties["thread"] = StringAttr(thread)
    if (node := arguments.given.get("annotations")) is not None and (
        not isinstance(node, ast.Constant) or node.value is not None
    ):
        loop.properties["annotations"] = DictionaryAttr(attributes_of(scope, node))
    if isinstance(low, int):
        return _name(target), loop, loop
    value = simplify(AffineExpr.dimension(0) + as_affine(low))
    end = as_extent(simplify(as_affine(loop.size) + as_affine(low)))
    return _name(target), loop, OuterIterator(kind_of(loop), end, value, (loop.var,), is_partial=True)


def _names_thread(call: ast.Call, word: str) -> bool:
    """Whether a call is `T.thread_binding(128, "threadIdx.x")`."""
    match call.args:
        case [_, ast.Constant(value=str())]:
            return word == "thread_binding"
        case _:
            return False


def one_loop(scope: Scope, target: ast.expr, kind: ForKind, low: Extent, stop: ast.expr) -> ForOp:
    """A loop from `low` to below `stop`; from 0, as often, where `low` is a size.

    Raises:
        Diagnostic: its variable is no name, or its end is not known when it begins.
    """
    if not isinstance(target, ast.Name):
        raise scope.source.error(target, "a loop has one variable")
    size = as_extent(simplify(as_affine(Extents(scope).extent(stop)) + as_affine(low) * -1))
    start = low if isinstance(low, int) else 0
    return ForOp(max(0, size) if isinstance(size, int) else size, min=start, kind=kind, name_hint=target.id)
