"""Blocks that only statements can say: in a branch, in a loop that a loop around it or data ends, or with iterators and
conditions that are not affine in loops.

    for i in range(128):                            for i in range(128):
        for j in range(i):                              with T.block("B"):
            with T.block("B"):          is                  for j in range(i):
                vi = T.axis.S(128, i)                           vi = i
                vj = T.axis.S(128, j)                           vj = j
                T.where(A[vi] > 0.0)                            if A[vi] > 0.0:
                B[vi, vj] = A[vi]                                   B[vi, vj] = A[vi]

Such a block computes what it says. Its iterators are names for values, and what schedules see is the block around it,
whose order stays (TVM's ConvertBlocksToOpaque and LowerInitBlock do the same, later).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeVar

from ...support.diagnostics import Diagnostic
from ..loop_iterators import STATEMENT
from ..loops import ForOp
from .arguments import Arguments
from .loop_indices import Extents, LoopIndices
from .loops import is_within_loops
from .scope import OuterIterator, Scope, Symbol

Node = TypeVar("Node", bound=ast.AST)


def is_block(scope: Scope, node: ast.AST) -> bool:
    """Whether a statement is `with T.block(...):`."""
    match node:
        case ast.With(items=[ast.withitem(context_expr=ast.Call(func=func))]):
            return scope.word(func) == "block"
        case _:
            return False


def name_of(scope: Scope, statement: ast.stmt) -> str:
    """What a block of one statement is called: as the only block in it."""
    names: list[str] = []
    for each in ast.walk(statement):
        match each:
            case ast.With(items=[ast.withitem(context_expr=ast.Call(args=[ast.Constant(value=str(name)), *_]))]) if (
                is_block(scope, each)
            ):
                names.append(name)
            case _:
                continue
    return names[0] if len(names) == 1 and names[0] else STATEMENT


def ends_late(scope: Scope, loop: ast.For) -> bool:
    """Whether a loop ends where an element says, or a loop around it by what is not affine."""
    if not isinstance(loop.iter, ast.Call):
        return False
    ends = [*loop.iter.args, *(k.value for k in loop.iter.keywords if k.arg in ("start", "stop"))]
    late = [each for each in ends if _speaks_of_steps(scope, each) and not _is_known(Extents(scope), each)]
    if scope.word(loop.iter.func) == "grid":
        return not all(is_within_loops(scope, [each]) for each in late)
    return bool(late) and not is_within_loops(scope, ends)


def needs_statements(scope: Scope, node: ast.With) -> bool:
    """Whether an iterator of a block is bound to what is not affine in loops, or its condition is of such values."""
    loops = LoopIndices(scope)
    for statement in node.body:
        match statement:
            case ast.Assign(value=ast.Call(func=func) as given) if (scope.word(func) or "").startswith("axis."):
                values = given.args[1:2] if scope.word(func) not in ("axis.remap", "axis.SSR", "axis.SR") else []
                values += [k.value for k in given.keywords if k.arg == "value"]
                if any(_is_wild(scope, each) and not _is_known(loops, each) for each in values):
                    return True
            case ast.Expr(value=ast.Call(func=func, args=[condition])) if scope.word(func) == "where":
                if _is_wild(scope, condition):
                    try:
                        loops.conditions(condition)
                    except Diagnostic:
                        return True
            case _:
                continue
    return False


def as_statements(scope: Scope, node: ast.With) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """What a block does, without the block; and the statements that say more of it, its attributes.

    Raises:
        Diagnostic: an iterator has no name or no value.
    """
    body: list[ast.stmt] = []
    attributes: list[ast.stmt] = []
    names: list[ast.stmt] = []
    conditions: list[ast.expr] = []
    first: list[ast.expr] = []
    """Comparisons that hold in the first step of a reduction."""
    init: ast.With | None = None
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[target], value=ast.Call(func=func) as given) if (
                word := scope.word(func) or ""
            ).startswith("axis."):
                found = _iterators(scope, target, given, word.removeprefix("axis."))
                targets, values = zip(
                    *[(ast.Name(name, ast.Store()), value) for name, _, _, value in found], strict=True
                )
                # all at once: an iterator may have the name of a loop that a later one is bound to
                names.append(
                    _at(ast.Assign([ast.Tuple([*targets], ast.Store())], ast.Tuple([*values], ast.Load())), statement)
                )
                for name, kind, low, _ in found:
                    if kind in ("R", "reduce"):
                        first.append(_at(ast.Compare(ast.Name(name, ast.Load()), [ast.Eq()], [low]), statement))
            case ast.Expr(value=ast.Call(func=func) as given) if scope.word(func) == "where":
                conditions += Arguments(scope, given, "T.where").nodes("predicate")
            case ast.Expr(value=ast.Call(func=func)) if scope.word(func) in ("reads", "writes"):
                pass  # what the statements touch is seen
            case ast.Expr(value=ast.Call(func=func)) if scope.word(func) == "block_attr":
                attributes.append(statement)
            case ast.With(items=[ast.withitem(context_expr=ast.Call(func=func))]) if scope.word(func) == "init":
                init = statement
            case _:
                body.append(statement)
    if init is not None:
        body = [*([_when(first, init.body, init)] if first else init.body), *body]
    if conditions:
        body = [_when(conditions, body or [ast.Pass()], node)]
    return [*names, *body], attributes


def _iterators(scope: Scope, target: ast.expr, given: ast.Call, word: str) -> list[tuple[str, str, ast.expr, ast.expr]]:
    """The name of each iterator, its kind, its first value, and what it is bound to."""
    error = scope.source.error
    zero: ast.expr = ast.copy_location(ast.Constant(0), given)
    targets = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    names = [each.id for each in targets if isinstance(each, ast.Name)]
    if len(names) != len(targets):
        raise error(target, "an iterator has a name")
    if word == "remap":
        letters_node, values = Arguments(scope, given, "T.axis.remap").nodes("kinds", "bindings")
        letters = Arguments(scope, given, "T.axis.remap").literal(letters_node)
        elements = values.elts if isinstance(values, ast.List | ast.Tuple) else []
        if not isinstance(letters, str) or not len(letters) == len(elements) == len(names):
            raise error(
                given, f"T.axis.remap gives {len(names)} iterators of {len(elements)} loops and as many letters"
            )
        return [(name, kind, zero, value) for name, kind, value in zip(names, letters, elements, strict=True)]
    dom, value = Arguments(scope, given, f"T.axis.{word}").nodes("dom", "value", optional=("partial",))[:2]
    low = dom.elts[0] if isinstance(dom, ast.Tuple | ast.List) and len(dom.elts) == 2 else zero
    return [(names[0], word, low, value)]


def _when(conditions: Sequence[ast.expr], body: Sequence[ast.stmt], place: ast.AST) -> ast.stmt:
    test = conditions[0] if len(conditions) == 1 else ast.BoolOp(ast.And(), list(conditions))
    return _at(ast.If(test, list(body), []), place)


def _at(made: Node, place: ast.AST) -> Node:
    return ast.fix_missing_locations(ast.copy_location(made, place))


def _is_known(loops: LoopIndices, node: ast.expr) -> bool:
    """Whether an expression is one that `loops` reads."""
    try:
        loops.expr(node)
    except Diagnostic:
        return False
    return True


def _speaks_of_steps(scope: Scope, node: ast.expr) -> bool:
    """Whether an expression names a loop around it, or an element."""
    return any(
        isinstance(each, ast.Subscript)
        or (isinstance(each, ast.Name) and isinstance(scope.local.get(each.id), ForOp | OuterIterator))
        for each in ast.walk(node)
    )


def _is_wild(scope: Scope, node: ast.expr) -> bool:
    """Whether there is more in an expression than sums, and products and quotients with numbers: elements, products of
    loops, extremes. What is mistaken in any other way is told of where it is read."""
    named = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    known = ForOp | OuterIterator | Symbol

    def varies(inner: ast.expr) -> bool:
        return any(
            isinstance(each, ast.Name) and isinstance(scope.local.get(each.id), known) for each in ast.walk(inner)
        )

    def is_wild(inner: ast.AST) -> bool:
        match inner:
            case ast.Subscript():
                return True
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return varies(left) and varies(right)
            case ast.BinOp(op=ast.FloorDiv() | ast.Mod(), right=right):
                return varies(right)
            case ast.Call(func=func, args=args) if scope.word(func) is not None:
                return scope.word(func) in ("min", "max") or any(varies(each) for each in args[1:])
            case _:
                return False

    return bool(named) and any(is_wild(each) for each in ast.walk(node))
