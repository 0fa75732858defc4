"""Statements as TVMScript: the text of a function, which `from_source` reads.

Variables and buffers are told apart by what they are, and get names that no other has. Of a buffer that lies where
another one's memory is (`data`, `strides`, `elem_offset`), the text says so.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import i64

from ...support.diagnostics import UsageError
from ...te.expr import Cast, Const, Dim, Expr, IterVar, Slot, as_expr
from ...te.expr import Var as Extent
from ...te.kinds import index
from ...te.tensor import Read, Tensor
from ...te.text import render, type_word, word
from ..script.texts import free_name
from .buffers import AccessPtr, Allocate, Buffer, BufferLoad, BufferStore
from .expressions import Broadcast, Call, Handle, Ramp
from .statements import KINDS, AssertStmt, AttrStmt, Evaluate, For, IfThenElse, LetStmt, SeqStmt, Stmt, While


class Writer:
    """Writes the statements of one function. `tensors` says which buffer each tensor of `te` is, `aliases` which
    variables mean others."""

    def __init__(self, tensors: Mapping[Tensor, Buffer] | None = None, aliases: Mapping[Expr, Expr] | None = None):
        self.tensors = dict(tensors or {})
        self.aliases = dict(aliases or {})
        self.names: dict[object, str] = {}
        self.declared: set[Buffer] = set()
        self.sizes: list[Extent] = []
        """Extents that nothing in the function gives a value: parameters."""

    def name(self, of: object, wanted: str) -> str:
        """The name of a variable or buffer."""
        if of not in self.names:
            text = "".join(c if c.isalnum() or c == "_" else "_" for c in wanted) or "v"
            text = f"_{text}" if text[0].isdigit() else text
            self.names[of] = free_name(text, set(self.names.values()))
        return self.names[of]

    # expressions

    def expr(self, value: Expr | Dim | float) -> ast.expr:
        """An expression; numbers are indices."""
        return render(as_expr(value, index), self._leaf)

    def place(self, value: Expr | Dim) -> ast.expr:
        """An index or an extent: a number is written as it is."""
        if isinstance(value, Const):
            value = int(value.value)
        return ast.Constant(value) if isinstance(value, int) else self.expr(value)

    def _leaf(self, expr: Expr) -> ast.expr:
        expr = self.aliases.get(expr, expr)
        match expr:
            case Handle():
                return ast.Attribute(ast.Name(self.name(expr, expr.name), ast.Load()), "data", ast.Load())
            case Extent(name):
                if expr not in self.names:
                    self.sizes.append(expr)
                return ast.Name(self.name(expr, name), ast.Load())
            case Slot(name) | IterVar(name):
                if expr not in self.names:
                    raise UsageError(f"nothing gives the variable '{name}' a value")
                return ast.Name(self.names[expr], ast.Load())
            case Read(tensor, indices):
                if tensor not in self.tensors:
                    raise UsageError(
                        f"the tensor '{tensor.name}' is read, and is no input", hint="add it to the inputs"
                    )
                return self.element(self.tensors[tensor], indices)
            case BufferLoad(buffer, indices):
                return self.element(buffer, indices)
            case Ramp(base, stride, lanes):
                return word("ramp", self.expr(base), self.place(stride), ast.Constant(lanes))
            case Broadcast(value, lanes):
                return word("broadcast", self.expr(value), ast.Constant(lanes))
            case Call(name=name, args=args):
                given = [self._argument(each) for each in args]
                first = [] if expr.word == "call_packed" else [ast.Constant(expr.result or "")]
                return word(expr.word, *first, ast.Constant(name), *given)
            case _:
                raise UsageError(f"a {type(expr).__name__} has no place in a statement")

    def element(self, buffer: Buffer, indices: Sequence[Expr]) -> ast.Subscript:
        """An element of a buffer."""
        places = [self.place(each) for each in indices] or [ast.Tuple([], ast.Load())]
        inside = places[0] if len(places) == 1 else ast.Tuple(places, ast.Load())
        return ast.Subscript(ast.Name(self.known(buffer), ast.Load()), inside, ast.Load())

    def known(self, buffer: Buffer) -> str:
        """The name of a buffer that has been declared."""
        if buffer not in self.declared:
            raise UsageError(f"nothing says where the memory of the buffer '{buffer.name}' is")
        return self.name(buffer, buffer.name)

    def _argument(self, value: object) -> ast.expr:
        """What a call is given."""
        match value:
            case AccessPtr(buffer, mask, offset, extent):
                place = ast.Attribute(ast.Name(self.known(buffer), ast.Load()), "access_ptr", ast.Load())
                more = [] if extent is None else [ast.keyword("extent", self.place(extent))]
                if not (isinstance(offset, Const) and offset.value == 0) or more:
                    more.insert(0, ast.keyword("offset", self.place(offset)))
                return ast.Call(place, [ast.Constant(mask)], more)
            case Buffer():
                return ast.Name(self.known(value), ast.Load())
            case Handle():
                buffer = next((b for b in self.declared if b.data is value), None)
                if buffer is None:
                    raise UsageError(f"nothing says which memory '{value.name}' is")
                return ast.Attribute(ast.Name(self.known(buffer), ast.Load()), "data", ast.Load())
            case Expr() | int() | float():
                if not isinstance(value, Expr):
                    return ast.Constant(value)
                syntax = self.expr(value)
                return word("Cast", ast.Constant("int32"), syntax) if value.type == index else syntax
            case str():
                return ast.Constant(value)
            case _:
                raise UsageError(
                    f"a call is given a {type(value).__name__}, which is neither an expression nor a buffer"
                )

    # statements

    def body(self, statement: Stmt) -> list[ast.stmt]:
        """A statement as those of a suite."""
        return self.statement(statement) or [ast.Pass()]

    def statement(self, statement: Stmt) -> list[ast.stmt]:
        """The statements of TVMScript that one is."""
        match statement:
            case SeqStmt(seq):
                return [each for inner in seq for each in self.statement(inner)]
            case BufferStore(buffer, value, indices):
                return [ast.Assign([self.element(buffer, indices)], self.expr(value))]
            case For():
                return [self._for(statement)]
            case While(condition, body):
                return [ast.While(self.expr(condition), self.body(body), [])]
            case IfThenElse(condition, then, otherwise):
                rest = [] if otherwise is None else self.body(otherwise)
                return [ast.If(self.expr(condition), self.body(then), rest)]
            case Evaluate(value):
                return [ast.Expr(word("evaluate", self.expr(value)))]
            case LetStmt(var, value, body):
                given = self.expr(value)
                name = ast.Name(self.name(var, var.name), ast.Load())
                return [ast.With([ast.withitem(word("let", name, given))], self.body(body))]
            case AssertStmt(condition, message, body):
                return [ast.Assert(self.expr(condition), ast.Constant(message)), *self.statement(body)]
            case Allocate(buffer, body):
                return [self.allocation(buffer), *self.statement(body)]
            case AttrStmt():
                return self._attribute(statement)
            case _:
                raise UsageError(f"a {type(statement).__name__} is no statement")

    def _for(self, loop: For) -> ast.stmt:
        if loop.kind not in KINDS:
            raise UsageError(f"there are no loops of kind {loop.kind!r}", hint=f"one of {', '.join(KINDS)}")
        low, count = _as_index(loop.min), _as_index(loop.extent)
        is_zero = isinstance(low, Const) and low.value == 0
        start, end = self.place(low), self.place(count if is_zero else low + count)
        keywords = [] if loop.thread_binding is None else [ast.keyword("thread", ast.Constant(loop.thread_binding))]
        if loop.annotations:
            pairs = [(ast.Constant(key), _literal(value)) for key, value in loop.annotations.items()]
            made = ast.Dict([key for key, _ in pairs], [value for _, value in pairs])
            keywords.append(ast.keyword("annotations", made))
        over = ast.Call(ast.Attribute(ast.Name("T", ast.Load()), KINDS[loop.kind], ast.Load()), [start, end], keywords)
        target = ast.Name(self.name(loop.loop_var, loop.loop_var.name), ast.Store())
        return ast.For(target, over, self.body(loop.body), [])

    def _attribute(self, attribute: AttrStmt) -> list[ast.stmt]:
        node, value = attribute.node, attribute.value
        if attribute.attr_key == "thread_extent" and isinstance(node, Slot):
            call = word("launch_thread", ast.Constant(node.name), self.place(cast("Dim", value)))
            thread = ast.Name(self.name(node, node.name.replace(".", "_")), ast.Store())
            return [ast.With([ast.withitem(call, thread)], self.body(attribute.body))]
        if not isinstance(node, Slot) or node not in self.names:
            raise UsageError(f"the attribute '{attribute.attr_key}' is of no loop around", hint="of a loop's variable")
        given = ast.Name(self.names[node], ast.Load())
        call = word("attr", given, ast.Constant(attribute.attr_key), _literal(value))
        return [ast.Expr(call), *self.statement(attribute.body)]

    def allocation(self, buffer: Buffer) -> ast.stmt:
        """`A = T.alloc_buffer((16,), "float32", scope="local")`."""
        self.declared.add(buffer)
        keywords = [ast.keyword("scope", ast.Constant(buffer.scope()))]
        call = cast("ast.Call", word("alloc_buffer", self.shape(buffer), ast.Constant(buffer.dtype)))
        call.keywords = keywords
        return ast.Assign([ast.Name(self.name(buffer, buffer.name), ast.Store())], call)

    def shape(self, buffer: Buffer) -> ast.expr:
        """The extents of a buffer."""
        return ast.Tuple([self.place(dim) for dim in buffer.shape], ast.Load())

    def parameter(self, buffer: Buffer) -> ast.arg:
        """A buffer that the function is given."""
        self.declared.add(buffer)
        call = cast("ast.Call", word("Buffer", self.shape(buffer), ast.Constant(buffer.dtype)))
        if buffer.strides is not None:
            strides = ast.List([self.place(each) for each in buffer.strides], ast.Load())
            call.keywords.append(ast.keyword("strides", strides))
        if buffer.elem_offset not in (None, 0):
            call.keywords.append(ast.keyword("elem_offset", self.place(buffer.elem_offset)))
        return ast.arg(self.name(buffer, buffer.name), call)

    def scalar(self, variable: Slot | Extent) -> ast.arg:
        """A number that the function is given."""
        type = i64 if isinstance(variable, Extent) else variable.type
        annotation = ast.Attribute(ast.Name("T", ast.Load()), type_word(type), ast.Load())
        return ast.arg(self.name(variable, variable.name), annotation)


def _as_index(value: Expr) -> Expr:
    """An extent as an index: what it is of other integer types is one."""
    if isinstance(value, Const):
        return as_expr(int(value.value), index)
    return value.operand if isinstance(value, Cast) and value.operand.type == index else value


def _literal(value: object) -> ast.expr:
    """A value of an annotation."""
    value = value.value if isinstance(value, Const) else value
    if not isinstance(value, str | int | float | bool | list | tuple | None):
        raise UsageError(f"an annotation is a text, a number or a list, and not {value!r}")
    return ast.parse(repr(cast("object", value)), mode="eval").body


def function_text(name: str, parameters: Sequence[ast.arg], body: Sequence[ast.stmt], sizes: Sequence[ast.arg]) -> str:
    """The text of a function."""
    arguments = ast.arguments([], [*parameters, *sizes], None, [], [], None, [])
    decorator = ast.Attribute(ast.Name("T", ast.Load()), "prim_func", ast.Load())
    made = ast.FunctionDef(name, arguments, list(body) or [ast.Pass()], [decorator], None, None)
    return "from weft.script import tir as T\n\n\n" + ast.unparse(ast.fix_missing_locations(made)) + "\n"
