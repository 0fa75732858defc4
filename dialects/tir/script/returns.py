"""Functions that give a number: `T.evaluate(T.ret(x))`.

    def f(x: T.float32) -> T.float32:                   def f(x: T.float32, ret: T.Buffer[(), "float32"]):
        if x > 0.0:                                         if x > 0.0:
            T.evaluate(T.ret(x))            is                  ret[()] = x
        T.evaluate(T.ret(x * -1.0))                         else:
                                                                ret[()] = x * -1.0

What a function gives is a buffer of one element that it fills, the last of its parameters that are buffers, which its
attribute `weft.result` names: callers of what `weft.build` gives leave it out, and get the number. A way through the
function ends with it; what follows a branch that ends is done where that is not taken.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...support.unique_names import free_name
from .arguments import Arguments
from .scope import Scope
from .words import ALIASES, DTYPES

NAME = "ret"
"""What the buffer of the result is called."""


def is_ret(scope: Scope, statement: ast.AST) -> ast.Call | None:
    """The call of `T.ret` that a statement is, if it is one."""
    match statement:
        case ast.Expr(value=ast.Call(func=func, args=[ast.Call() as inner])) if scope.word(func) == "evaluate":
            return inner if scope.word(inner.func) == "ret" else None
        case ast.Expr(value=ast.Call(func=func) as call) if scope.word(func) == "ret":
            return call
        case _:
            return None


def with_result(scope: Scope, node: ast.FunctionDef) -> tuple[ast.FunctionDef, bool]:
    """A function with a buffer for what it gives in place of that; and whether it gives something.

    Raises:
        Diagnostic: a way through it gives nothing, a loop gives something, or of which type it is is not said.
    """
    calls = [call for each in ast.walk(node) if (call := is_ret(scope, each)) is not None]
    if not calls:
        return node, False
    dtype = _dtype(scope, node, calls)
    taken = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} | {each.arg for each in node.args.args}
    returns = _Returns(scope, free_name(NAME, taken))
    body, ends = returns.of(node.body)
    if not ends:
        hint = "T.evaluate(T.ret(...)) at the end of each"
        raise scope.source.error(node, "a function that gives a number gives one whatever way it takes", hint)
    words = next(each.func for each in calls)
    assert isinstance(words, ast.Attribute)
    buffer = ast.Subscript(
        ast.Attribute(words.value, "Buffer", ast.Load()),
        ast.Tuple([ast.Tuple([], ast.Load()), ast.Constant(dtype)], ast.Load()),
        ast.Load(),
    )
    given = [*node.args.args, ast.arg(returns.name, buffer)]
    arguments = ast.arguments([], given, None, [], [], None, [])
    made = ast.FunctionDef(node.name, arguments, body, node.decorator_list, None)
    return ast.fix_missing_locations(ast.copy_location(made, node)), True


def _dtype(scope: Scope, node: ast.FunctionDef, calls: Sequence[ast.Call]) -> str:
    """The dtype of what a function gives: as its calls of `T.ret` say, or as it says itself."""
    said: set[str] = set()
    for call in calls:
        arguments = Arguments(scope, call, "T.ret")
        arguments.nodes("val", optional=("dtype",))
        if isinstance(dtype := arguments.static("dtype", None), str):
            said.add(dtype)
    word = None if node.returns is None else scope.word(node.returns)
    if word is not None:
        said.add(word)
    known = {ALIASES.get(each, each) for each in said} - {"handle"}
    if len(known) != 1 or not known <= set(DTYPES):
        what = "several types" if len(known) > 1 else "no type"
        raise scope.source.error(calls[0], f"what the function gives is of {what}", 'T.ret(x, dtype="float32")')
    return known.pop()


class _Returns:
    def __init__(self, scope: Scope, name: str):
        self.scope = scope
        self.name = name

    def of(self, statements: Sequence[ast.stmt]) -> tuple[list[ast.stmt], bool]:
        """Statements that store what is given, and whether each way through them ends with that."""
        made: list[ast.stmt] = []
        for number, statement in enumerate(statements):
            if (call := is_ret(self.scope, statement)) is not None:
                made.append(self._store(call, statement))
                return made, True
            if not any(is_ret(self.scope, each) is not None for each in ast.walk(statement)):
                made.append(statement)
                continue
            match statement:
                case ast.If(test=test, body=body, orelse=otherwise):
                    following = statements[number + 1 :]
                    then, then_ends = self.of(body)
                    rest, rest_ends = self.of(otherwise)
                    if not then_ends and not rest_ends:
                        raise self._error(statement, "one side of a branch that gives the result ends with it always")
                    if not then_ends:
                        then, then_ends = self.of([*body, *following])
                    elif not rest_ends:
                        rest, rest_ends = self.of([*otherwise, *following])
                    branch = ast.If(test, then, rest)
                    made.append(ast.fix_missing_locations(ast.copy_location(branch, statement)))
                    return made, then_ends and rest_ends
                case ast.With(items=items, body=body):
                    inner, ends = self.of(body)
                    if not ends:
                        raise self._error(statement, "what gives the result stands at the end of where it stands")
                    made.append(ast.copy_location(ast.With(items, inner), statement))
                    return made, True
                case _:
                    raise self._error(statement, "a loop gives no result", "store it, and give it behind the loop")
        return made, False

    def _store(self, call: ast.Call, statement: ast.stmt) -> ast.stmt:
        place = ast.Subscript(ast.Name(self.name, ast.Load()), ast.Tuple([], ast.Load()), ast.Store())
        store = ast.Assign([place], call.args[0] if call.args else call.keywords[0].value)
        return ast.fix_missing_locations(ast.copy_location(store, statement))

    def _error(self, node: ast.AST, message: str, hint: str | None = None) -> Exception:
        return self.scope.source.error(node, message, hint)
