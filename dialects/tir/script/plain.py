"""Forms of a function's text that are others, written out before it is read.

n, m = T.var("int32"), T.var("int32")       # n = T.var("int32"); m = T.var("int32")
x = T.var("float32")                        # left out, if T.let(x, ...) gives x its values
B[i] = T.let(x, A[i], x * x)
C = T.Buffer((16,), "float32")              # def f(..., C: T.Buffer((16,), "float32")): memory that nothing gives
D = T.Buffer((16,), "float32")              # left out, as D is realized
T.realize(D[0:16], "local")                 # D = T.decl_buffer((16,), "float32", scope="local")
T.lookup_param("p0", dtype="handle")        # def f(..., p0: T.handle): the same, of a constant that is kept elsewhere
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...support.unique_names import free_name
from .arguments import Arguments
from .boxes import check_box, shapes_in
from .scope import NotStatic, Scope
from .words import DTYPES, element_type

LETS = ("let", "Let")
"""The words that give a value a name."""


def plain(scope: Scope, node: ast.FunctionDef) -> ast.FunctionDef:
    """The function without these forms; `scope.declared` says of which types the left out variables are.

    Raises:
        Diagnostic: a variable is of a type that there is not, or memory that nothing gives has the name of other.
    """
    named = {each for inner in ast.walk(node) if isinstance(inner, ast.Call) for each in _given(scope, inner)}
    taken = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    plain = _Plain(scope, named, {each.arg for each in node.args.args}, taken)
    made = plain.visit(node)
    assert isinstance(made, ast.FunctionDef)
    made.args.args += plain.memory
    return made


def _given(scope: Scope, call: ast.Call) -> list[str]:
    """The name that a call gives to a value."""
    if scope.word(call.func) not in LETS:
        return []
    places = [*call.args[:1], *(each.value for each in call.keywords if each.arg == "var")]
    return [each.id for each in places if isinstance(each, ast.Name)]


class _Plain(ast.NodeTransformer):
    def __init__(self, scope: Scope, named: set[str], parameters: set[str], taken: set[str]):
        self.scope = scope
        self.named = named
        self.parameters = parameters
        self.taken = taken
        self.constants: dict[str, str] = {}
        """The parameters that constants are, by the constants' names."""
        self.memory: list[ast.arg] = []
        """The buffers whose memory nothing gives."""
        self.realized: dict[str, ast.Call | None] = {}
        """The buffers that `T.realize` gives memory, and what was said of them before."""
        self.shapes: dict[str, ast.expr] = {}
        """The shapes of buffers, by name, as they are written."""

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(
                values
            ) and self._are_variables(values):
                every = [
                    ast.copy_location(ast.Assign([name], value), node)
                    for name, value in zip(names, values, strict=True)
                ]
                return [each for each in every if not self._is_declaration(each)] or ast.copy_location(ast.Pass(), node)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if (
                name in self.realized and self._is_of_nothing(call)
            ):
                self.realized[name] = call
                return ast.copy_location(ast.Pass(), node)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if self._is_of_nothing(call):
                if name in self.parameters:
                    raise self.scope.source.error(node, f"there is a buffer '{name}' already")
                self.parameters.add(name)
                self.memory.append(ast.copy_location(ast.arg(name, call), node))
                return ast.copy_location(ast.Pass(), node)
            case _:
                return ast.copy_location(ast.Pass(), node) if self._is_declaration(node) else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
        self.realized |= {name: None for call in calls if (name := self._realized_by(call)) is not None}
        if self.realized:
            self.shapes = shapes_in(self.scope, node)
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        if isinstance(node.value, ast.Call) and (name := self._realized_by(node.value)) is not None:
            return self._realize(name, node.value)
        self.generic_visit(node)
        return node

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        match node:
            case ast.With(items=[ast.withitem(context_expr=ast.Call() as call)]) if (
                name := self._realized_by(call)
            ) is not None:
                inner = self.generic_visit(node)
                assert isinstance(inner, ast.With)
                return [self._realize(name, call), *inner.body]
            case _:
                return self.generic_visit(node)

    def _realized_by(self, call: ast.Call) -> str | None:
        """The buffer that `T.realize(A[0:16], scope)` gives memory."""
        if self.scope.word(call.func) != "realize" or not call.args:
            return None
        match call.args[0]:
            case ast.Subscript(value=ast.Name(id=name)):
                return name
            case _:
                raise self.scope.source.error(call, "T.realize is of a part of a buffer", "T.realize(A[0:16], scope)")

    def _realize(self, name: str, call: ast.Call) -> ast.stmt:
        """The statement that gives a buffer memory; none, if it has some, as one that the function is given."""
        arguments = Arguments(self.scope, call, "T.realize")
        box, *_ = arguments.nodes("buffer_slice", "storage_scope", optional=("condition",))
        check_box(self.scope, name, box, self.shapes.get(name))
        if arguments.static("condition", True) not in (True, 1):
            raise self.scope.source.error(arguments.given["condition"], "memory is there always")
        described = self.realized.get(name)
        if described is None:
            return ast.copy_location(ast.Pass(), call)
        called = ast.Attribute(ast.Name("T", ast.Load()), "decl_buffer", ast.Load())
        if isinstance(described.func, ast.Attribute):
            called = ast.Attribute(described.func.value, "decl_buffer", ast.Load())
        keywords = list(described.keywords)
        if arguments.static("storage_scope", "") != "":
            keywords = [each for each in keywords if each.arg != "scope"]
            keywords.append(ast.keyword("scope", arguments.given["storage_scope"]))
        made = ast.Assign([ast.Name(name, ast.Store())], ast.Call(called, described.args, keywords))
        return ast.fix_missing_locations(ast.copy_location(made, call))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if self.scope.word(node.func) != "lookup_param":
            self.generic_visit(node)
            return node
        arguments = Arguments(self.scope, node, "T.lookup_param")
        (named, *_) = arguments.nodes("param_name", optional=("dtype",))
        text = arguments.literal(named)
        if not isinstance(text, str) or not text.isidentifier() or arguments.static("dtype", "handle") != "handle":
            raise self.scope.source.error(node, "a constant is looked up by its name", 'T.lookup_param("p0")')
        if text not in self.constants:
            self.constants[text] = free_name(text, self.taken | self.parameters)
            self.parameters.add(self.constants[text])
            self.memory.append(ast.copy_location(ast.arg(self.constants[text], node), node))
        return ast.copy_location(ast.Name(self.constants[text], ast.Load()), node)

    def _is_of_nothing(self, call: ast.Call) -> bool:
        """Whether a call describes memory that is neither there nor made."""
        is_of_memory = len(call.args) > 2 or any(each.arg == "data" for each in call.keywords)
        return self.scope.word(call.func) == "Buffer" and not is_of_memory

    def _are_variables(self, values: Sequence[ast.expr]) -> bool:
        return all(isinstance(each, ast.Call) and self.scope.word(each.func) == "var" for each in values)

    def _is_declaration(self, node: ast.Assign) -> bool:
        """Whether a statement is `x = T.var(dtype)` of a name that is given its values elsewhere."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func) as call) if (
                name in self.named and self.scope.word(func) == "var"
            ):
                self.scope.declared[name] = element_type(self._dtype(call))
                return True
            case _:
                return False

    def _dtype(self, call: ast.Call) -> str:
        given = [*call.args[:1], *(each.value for each in call.keywords if each.arg == "dtype")]
        try:
            found = self.scope.static(given[0]) if given else "int32"
        except NotStatic:
            found = None
        if not isinstance(found, str) or found not in DTYPES:
            raise self.scope.source.error(call, f"there is no dtype {found!r}")
        return found
