"""Memory that a text asks for among loops: `T.alloc_buffer`, `T.allocate`, `T.allocate_const`.

What a block of statements has of its own (`C = T.alloc_buffer(...)` within it) stands directly before it: nothing else
knows its name, and it starts without values each time. In a loop whose iterations threads share it has the scope
`"local"`, each thread's own: of another scope it is one for all of them, and the loop is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xdsl.ir import Attribute, Block, SSAValue

from ...support.diagnostics import did_you_mean
from ...support.memory_scopes import memories, why_no_scope
from ...support.name_hints import name_hint
from ..axis_separators import separate_axes
from ..buffers import AllocBufferOp
from .arguments import Arguments, attributes_of
from .buffers import constant_of, described
from .scope import Buffer, NotStatic, Scope
from .views import allocation


def allocate(scope: Scope, name: str, call: ast.Call, body: Block) -> None:
    """`A = T.alloc_buffer((16, 16), "float32", scope="shared")`, or `T.allocate`: its own memory, in `body`.

    Raises:
        Diagnostic: it is described in a way that Weft has no buffers of, or its scope is none.
    """
    said: dict[str, Attribute] = {}
    if scope.word(call.func) == "allocate":  # T.allocate(extents, dtype, scope), without a condition
        said = _annotations(scope, call)
        call = allocation(scope, call)
    found = described(scope, call, "T.alloc_buffer", ())
    scopes = [keyword.value for keyword in call.keywords if keyword.arg == "scope"]
    memory = Arguments(scope, call, "T.alloc_buffer").literal(scopes[0]) if scopes else "global"
    memory = memory or "global"
    if (wrong := why_no_scope(str(memory))) is not None:
        raise scope.source.error(scopes[0], wrong, did_you_mean(str(memory), memories()))
    alloc = AllocBufferOp.of(found.element, found.shape, str(memory))
    alloc.buffer.name_hint = name_hint(name)
    alloc.attributes |= said
    separate_axes(alloc.buffer, found.axis_separators)
    alloc.location = scope.source.location(call)
    body.add_op(alloc)
    scope.local[name] = Buffer(alloc.buffer, found.unsigned)


def allocate_constant(scope: Scope, name: str, call: ast.Call, body: Block) -> None:
    """`K = T.allocate_const([1, 2, 1], "int32", [3])`.

    Raises:
        Diagnostic: its value is not known here, or is none of its type.
    """
    arguments = Arguments(scope, call, "T.allocate_const")
    arguments.nodes("data", "dtype", "extents", optional=("annotations",))
    try:
        data = scope.static(arguments.given["data"])
    except NotStatic:
        raise scope.source.error(arguments.given["data"], "a constant's value is known here") from None
    made = ast.Call(call.func, [arguments.given["extents"], arguments.given["dtype"]], [])
    found = described(scope, ast.copy_location(made, call), "T.allocate_const", ())
    try:
        value = constant_of(data, found.type)
    except (TypeError, ValueError, OverflowError) as error:
        raise scope.source.error(call, f"this is no value of {found.type}: {error}") from error
    alloc = AllocBufferOp(found.type, value=value)
    alloc.attributes |= _annotations(scope, call)
    alloc.buffer.name_hint = name_hint(name)
    alloc.location = scope.source.location(call)
    body.add_op(alloc)
    scope.local[name] = Buffer(alloc.buffer, found.unsigned)


def _annotations(scope: Scope, call: ast.Call) -> dict[str, Attribute]:
    """What a call says of the memory that it asks for."""
    given = next((each.value for each in call.keywords if each.arg == "annotations"), None)
    if given is None and len(call.args) > 4:
        given = call.args[4]
    if given is None or (isinstance(given, ast.Constant) and given.value is None):
        return {}
    return attributes_of(scope, given)


def taken_out(scope: Scope, statements: Sequence[ast.stmt], body: Block) -> tuple[list[ast.stmt], frozenset[SSAValue]]:
    """The statements of a block, without the memory that they ask for, which is put into `body`; and that memory.

    Raises:
        Diagnostic: two buffers have one name, or as `allocate` says.
    """
    finder = _Memory(scope)
    left = [finder.visit(each) for each in statements]
    own: set[SSAValue] = set()
    for name, call in finder.found:
        if isinstance(scope.local.get(name), Buffer):
            raise scope.source.error(call, f"there is a buffer '{name}' already", "a block's own has another name")
        make = allocate_constant if scope.word(call.func) == "allocate_const" else allocate
        make(scope, name, call, body)
        made = scope.local[name]
        assert isinstance(made, Buffer)
        own.add(made.ssa)
    return left, frozenset(own)


class _Memory(ast.NodeTransformer):
    """Takes the memory that statements ask for out of them."""

    def __init__(self, scope: Scope):
        self.scope = scope
        self.found: list[tuple[str, ast.Call]] = []

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func) as call) if self.scope.word(
                func
            ) in ("alloc_buffer", "allocate_const"):
                self.found.append((name, call))
                return ast.copy_location(ast.Pass(), node)
            case _:
                return node
