"""Statements as TVMScript: the text of a function, which `from_source` reads.

Variables and buffers are told apart by what they are, and get names that no other has. Of a buffer that lies where
another one's memory is (`data`, `strides`, `elem_offset`), the text says so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import i64

from ...support.diagnostics import UsageError
from ...support.python_values import attribute_of
from ...te.expr import Cast, Const, Dim, Expr, IterVar, Slot, as_expr
from ...te.expr import Var as Extent
from ...te.kinds import index
from ...te.spelled import Spelled
from ...te.tensor import Read, Tensor
from ...te.text import call_syntax, render, type_word, word
from ..axis_separators import AXIS_SEPARATORS
from ..script.attributes import literal_of
from ..script.body_printer import element_text
from ..script.texts import free_python_name
from ..thread_axes import VIRTUAL
from .blocks import AllocateConst, BlockRealize, is_true
from .buffers import AccessPtr, Allocate, Buffer, BufferLoad, BufferRegion, BufferStore
from .declared import REALIZE_SCOPE, BufferRealize, DeclBuffer, MatchBufferRegion
from .expressions import Broadcast, Call, Handle, Ramp
from .statements import (
    KINDS,
    THREAD_EXTENT,
    VIRTUAL_THREAD,
    AssertStmt,
    AttrStmt,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    Stmt,
    While,
)
from .stmt_functor import parts_of, substitute, walk


class Writer:
    """Writes the statements of one function. `tensors` says which buffer each tensor of `te` is, `aliases` which
    variables mean others."""

    def __init__(
        self,
        tensors: Mapping[Tensor, Buffer] | None = None,
        aliases: Mapping[Expr, Expr] | None = None,
        is_part: bool = False,
    ):
        self.tensors = dict(tensors or {})
        self.aliases = dict(aliases or {})
        self.names: dict[object, str] = {}
        self.declared: set[Buffer] = set()
        self.is_part = is_part
        """Whether variables and buffers may come from outside."""
        self.in_block = False
        """Whether the statements stand in a block that holds no loops and blocks."""
        self.free: dict[Extent | Slot | Buffer, None] = {}
        """Extents, numbers and buffers that nothing in the function gives a value or memory: parameters."""

    def name(self, of: object, wanted: str) -> str:
        """The name of a variable or buffer."""
        if of not in self.names:
            text = "".join(c if c.isalnum() or c == "_" else "_" for c in wanted) or "v"
            text = f"_{text}" if text[0].isdigit() else text
            self.names[of] = free_python_name(text, set(self.names.values()))
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
                    self.free[expr] = None
                return ast.Name(self.name(expr, name), ast.Load())
            case Slot(name):
                if expr not in self.names and not self.is_part:
                    self.free[expr] = None
                return ast.Name(self.name(expr, name), ast.Load())
            case IterVar(name):
                if expr not in self.names and self.is_part:
                    self.name(expr, name)
                if expr not in self.names:
                    raise UsageError(f"nothing gives the variable '{name}' a value")
                return ast.Name(self.names[expr], ast.Load())
            case Read(tensor, indices):
                if tensor not in self.tensors and not self.is_part:
                    raise UsageError(
                        f"the tensor '{tensor.name}' is read, and is no input", hint="add it to the inputs"
                    )
                if tensor not in self.tensors:
                    self.tensors[tensor] = Buffer(tensor.name, tensor.dims, tensor.element_type)
                return self.element(self.tensors[tensor], indices)
            case BufferLoad(buffer, indices):
                return self.element(buffer, indices)
            case Ramp(base, stride, lanes):
                return word("ramp", self.expr(base), self.place(stride), ast.Constant(lanes))
            case Broadcast(value, lanes):
                return word("broadcast", self.expr(value), ast.Constant(lanes))
            case Call():
                return call_syntax(expr, [self._argument(each) for each in expr.args])
            case _:
                raise UsageError(f"a {type(expr).__name__} has no place in a statement")

    def element(self, buffer: Buffer, indices: Sequence[Expr]) -> ast.Subscript:
        """An element of a buffer."""
        places = [self.place(each) for each in indices] or [ast.Tuple([], ast.Load())]
        inside = places[0] if len(places) == 1 else ast.Tuple(places, ast.Load())
        return ast.Subscript(ast.Name(self.known(buffer), ast.Load()), inside, ast.Load())

    def known(self, buffer: Buffer) -> str:
        """The name of a buffer that has been declared."""
        if buffer not in self.declared and not self.is_part:
            self.declared.add(buffer)
            self.free[buffer] = None
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
                is_number = value.type == index and not isinstance(value, Spelled)
                return word("Cast", ast.Constant("int32"), syntax) if is_number else syntax
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
            case Evaluate(Const(value)):
                return [ast.Expr(word("evaluate", ast.Constant(value)))]  # nothing is done
            case Evaluate(value):
                return [ast.Expr(word("evaluate", self.expr(value)))]
            case LetStmt():
                return self._let(statement)
            case AssertStmt(condition, message, body):
                return [ast.Assert(self.expr(condition), ast.Constant(message)), *self.statement(body)]
            case Allocate(buffer, body):
                made = self.allocation(buffer, statement.annotations)
                return [made, *self._views(buffer, body), *self.statement(body)]
            case AllocateConst(buffer, data, body):
                return [self._constant(buffer, data, statement.annotations), *self.statement(body)]
            case BufferRealize(buffer, _, _, body):
                return [*([] if buffer in self.declared else [self.allocation(buffer)]), *self.statement(body)]
            case DeclBuffer(buffer, body):
                return [*self._view(buffer), *self.statement(body)]
            case BlockRealize():
                return self._realize(statement)
            case AttrStmt(Buffer() as buffer, key, scope, BufferRealize(realized, _, _, body)) if (
                key == REALIZE_SCOPE and buffer is realized
            ):
                memory = [] if buffer in self.declared else [self.allocation(buffer, scope=str(scope))]
                return [*memory, *self.statement(body)]
            case AttrStmt():
                return self._attribute(statement)
            case _:
                raise UsageError(f"a {type(statement).__name__} is no statement")

    def _views(self, memory: Buffer, body: Stmt) -> list[ast.stmt]:
        """`B = T.decl_buffer((4, 4), "float32", data=A.data)` for each other buffer whose elements, in a statement, are
        in memory that has been allocated."""
        used = [each.buffer for each in walk(body) if isinstance(each, BufferLoad | BufferStore | AccessPtr)]
        views = [each for each in dict.fromkeys(used) if each.data is memory.data and each not in self.declared]
        return [line for view in views for line in self._view(view)]

    def _view(self, view: Buffer) -> list[ast.stmt]:
        """The same of one buffer; nothing, where it is known, or where nothing in the function has its memory, as a
        parameter."""
        if view in self.declared or (memory := next((b for b in self.declared if b.data is view.data), None)) is None:
            return []
        self.declared.add(view)
        data = ast.Attribute(ast.Name(self.name(memory, memory.name), ast.Load()), "data", ast.Load())
        call = cast("ast.Call", word("decl_buffer", self.shape(view), ast.Constant(type_word(view.type))))
        call.keywords = [ast.keyword("data", data), *self._layout(view)]
        return [ast.Assign([ast.Name(self.name(view, view.name), ast.Store())], call)]

    def region(self, region: BufferRegion) -> ast.expr:
        """A part of a buffer: `A[0:16, i]`."""
        places: list[ast.expr] = []
        for each in region.region:
            low = self.place(each.min)
            is_one = isinstance(each.extent, int | Const) and int(each.extent) == 1
            places.append(low if is_one else ast.Slice(low, self.place(each.min + as_expr(each.extent, each.min.type))))
        inside = places[0] if len(places) == 1 else ast.Tuple(places, ast.Load())
        return ast.Subscript(ast.Name(self.known(region.buffer), ast.Load()), inside, ast.Load())

    def part(self, part: MatchBufferRegion) -> ast.stmt:
        """`P = T.match_buffer(A[0:16, i], (16, 1), "float32")`."""
        source = self.region(part.source)
        self.declared.add(part.buffer)
        call = word("match_buffer", source, self.shape(part.buffer), ast.Constant(type_word(part.buffer.type)))
        return ast.Assign([ast.Name(self.name(part.buffer, part.buffer.name), ast.Store())], call)

    def _let(self, let: LetStmt) -> list[ast.stmt]:
        """A name for a value; among the statements of a block they may follow it. Around loops it is the value, if
        that is arithmetic alone: they have no names of their own."""
        if not self.in_block and _holds_loops(let.body) and _is_arithmetic(let.value):
            return self.statement(substitute(let.body, {let.var: let.value}))
        given = self.expr(let.value)
        text = self.name(let.var, let.var.name)
        if self.in_block:
            type = ast.Attribute(ast.Name("T", ast.Load()), type_word(let.var.type), ast.Load())
            return [ast.AnnAssign(ast.Name(text, ast.Store()), type, given, 1), *self.statement(let.body)]
        called = word("let", ast.Name(text, ast.Load()), given)
        return [ast.With([ast.withitem(called)], self.body(let.body))]

    def _realize(self, realize: BlockRealize) -> list[ast.stmt]:
        """A block. What it touches is left out: it is worked out anew of what it does."""
        block = realize.block
        allocated = [self.allocation(each) for each in block.alloc_buffers]
        holds_blocks = any(isinstance(each, For | BlockRealize | Allocate) for each in _statements_in(block.body))
        if not block.iter_vars and is_true(realize.predicate) and block.name_hint == "root" and not self.in_block:
            if holds_blocks or allocated:
                return [*allocated, *self.statement(block.body)]
        if self.in_block or (allocated and not holds_blocks):
            what = "stands in a block of statements" if self.in_block else "has buffers, and no loops or blocks"
            raise UsageError(f"the block '{block.name_hint}' {what}", hint="tir.Allocate among the loops around it")
        lines: list[ast.stmt] = []
        for iterator, value in zip(block.iter_vars, realize.iter_values, strict=True):
            axis = word(f"axis.{iterator.kind.value}", self.place(iterator.extent), self.place(value))
            assert isinstance(axis, ast.Call)
            axis.keywords = [ast.keyword("partial", ast.Constant(True))] if iterator.partial else []
            lines.append(ast.Assign([ast.Name(self.name(iterator.var, iterator.var.name), ast.Store())], axis))
        if not is_true(realize.predicate):
            lines.append(ast.Expr(word("where", self.expr(realize.predicate))))
        if block.annotations:
            lines.append(ast.Expr(word("block_attr", annotations_syntax(block.annotations))))
        lines += [*allocated, *map(self.part, block.match_buffers)]
        self.in_block = not holds_blocks
        if block.init is not None:
            lines.append(ast.With([ast.withitem(word("init"))], self.body(block.init)))
        lines += self.statement(block.body)
        self.in_block = False
        called = word("block", ast.Constant(block.name_hint))
        return [ast.With([ast.withitem(called)], lines or [ast.Pass()])]

    def _constant(self, buffer: Buffer, data: npt.NDArray[np.generic], said: Mapping[str, object]) -> ast.stmt:
        """`K = T.allocate_const([1, 2, 1], "int32", (3,))`."""
        self.declared.add(buffer)
        values = ", ".join(element_text(each) for each in data.reshape(-1))
        given = ast.parse(f"[{values}]", mode="eval").body
        call = word("allocate_const", given, ast.Constant(type_word(buffer.type)), self.shape(buffer))
        assert isinstance(call, ast.Call)
        call.keywords = annotation_keywords(said)
        return ast.Assign([ast.Name(self.name(buffer, buffer.name), ast.Store())], call)

    def _for(self, loop: For) -> ast.stmt:
        if loop.kind not in KINDS:
            raise UsageError(f"there are no loops of kind {loop.kind!r}", hint=f"one of {', '.join(KINDS)}")
        low, count = _as_index(loop.min), _as_index(loop.extent)
        is_zero = isinstance(low, Const) and low.value == 0
        start, end = self.place(low), self.place(count if is_zero else low + count)
        keywords = [] if loop.thread_binding is None else [ast.keyword("thread", ast.Constant(loop.thread_binding))]
        if loop.annotations:
            keywords.append(ast.keyword("annotations", annotations_syntax(loop.annotations)))
        over = ast.Call(ast.Attribute(ast.Name("T", ast.Load()), KINDS[loop.kind], ast.Load()), [start, end], keywords)
        target = ast.Name(self.name(loop.loop_var, loop.loop_var.name), ast.Store())
        return ast.For(target, over, self.body(loop.body), [])

    def _attribute(self, attribute: AttrStmt) -> list[ast.stmt]:
        node, value = attribute.node, attribute.value
        if attribute.attr_key in (THREAD_EXTENT, VIRTUAL_THREAD) and isinstance(node, Slot):
            is_named = attribute.attr_key == THREAD_EXTENT or node.name.startswith(VIRTUAL)
            called = node.name if is_named else VIRTUAL[0]
            call = word("launch_thread", ast.Constant(called), self.place(cast("Dim", value)))
            thread = ast.Name(self.name(node, node.name.replace(".", "_")), ast.Store())
            return [ast.With([ast.withitem(call, thread)], self.body(attribute.body))]
        if self.is_part and isinstance(node, Slot):
            self.name(node, node.name)
        if isinstance(node, Const | int) and (loop := _annotated(attribute)) is not None:
            return [self._for(loop)]
        if not isinstance(node, Slot) or node not in self.names:
            raise UsageError(f"the attribute '{attribute.attr_key}' is of no loop around", hint="of a loop's variable")
        given = ast.Name(self.names[node], ast.Load())
        call = word("attr", given, ast.Constant(attribute.attr_key), _literal(value))
        return [ast.Expr(call), *self.statement(attribute.body)]

    def allocation(self, buffer: Buffer, said: Mapping[str, object] | None = None, scope: str = "") -> ast.stmt:
        """`A = T.alloc_buffer((16,), "float32", scope="local")`; the buffer's own scope, if no other is given, and
        `T.allocate`, where something is said of it."""
        self.declared.add(buffer)
        keywords = [ast.keyword("scope", ast.Constant(scope or buffer.scope())), *annotation_keywords(said or {})]
        called = "allocate" if said else "alloc_buffer"
        call = cast("ast.Call", word(called, self.shape(buffer), ast.Constant(type_word(buffer.type))))
        call.keywords = [*keywords, *_separators(buffer)]
        return ast.Assign([ast.Name(self.name(buffer, buffer.name), ast.Store())], call)

    def shape(self, buffer: Buffer) -> ast.expr:
        """The extents of a buffer."""
        return ast.Tuple([self.place(dim) for dim in buffer.shape], ast.Load())

    def parameter(self, buffer: Buffer) -> ast.arg:
        """A buffer that the function is given."""
        self.declared.add(buffer)
        call = cast("ast.Call", word("Buffer", self.shape(buffer), ast.Constant(type_word(buffer.type))))
        call.keywords += [*self._layout(buffer), *_separators(buffer)]
        if buffer.scope() != "global":
            call.keywords.append(ast.keyword("scope", ast.Constant(buffer.scope())))
        return ast.arg(self.name(buffer, buffer.name), call)

    def _layout(self, buffer: Buffer) -> list[ast.keyword]:
        """How a buffer lies in its memory, if it does not just fill it."""
        keywords: list[ast.keyword] = []
        if buffer.strides is not None:
            strides = ast.List([self.place(each) for each in buffer.strides], ast.Load())
            keywords.append(ast.keyword("strides", strides))
        if buffer.elem_offset not in (None, 0):
            keywords.append(ast.keyword("elem_offset", self.place(buffer.elem_offset)))
        return keywords

    def scalar(self, variable: Slot | Extent) -> ast.arg:
        """A number that the function is given."""
        type = i64 if isinstance(variable, Extent) else variable.type
        annotation = ast.Attribute(ast.Name("T", ast.Load()), type_word(type), ast.Load())
        return ast.arg(self.name(variable, variable.name), annotation)


def _separators(buffer: Buffer) -> list[ast.keyword]:
    """What is said of the dimensions of its memory, if it has several."""
    separators = list(buffer.axis_separators)
    return [ast.keyword(AXIS_SEPARATORS, _literal(separators))] if separators else []


def _as_index(value: Expr) -> Expr:
    """An extent as an index: what it is of other integer types is one."""
    if isinstance(value, Const):
        return as_expr(int(value.value), index)
    return value.operand if isinstance(value, Cast) and value.operand.type == index else value


def annotations_syntax(values: Mapping[str, object]) -> ast.expr:
    """Annotations."""
    return ast.Dict([ast.Constant(key) for key in values], [_literal(value) for value in values.values()])


def annotation_keywords(values: Mapping[str, object]) -> list[ast.keyword]:
    """Annotations as an argument of a call, if there are any."""
    return [ast.keyword("annotations", annotations_syntax(values))] if values else []


def _annotated(attribute: AttrStmt) -> For | None:
    """The loop that what is said of no variable stands around, with that for an annotation; `None` if there is none."""
    body = attribute.body
    loop = _annotated(body) if isinstance(body, AttrStmt) and isinstance(body.node, Const | int) else body
    if not isinstance(loop, For):
        return None
    said = {attribute.attr_key: attribute.value, **(loop.annotations or {})}
    return For(loop.loop_var, loop.min, loop.extent, loop.kind, loop.body, loop.thread_binding, said)


def _literal(value: object) -> ast.expr:
    """A value of an annotation."""
    value = value.value if isinstance(value, Const) else value
    try:
        text = literal_of(attribute_of(value))
    except TypeError:
        raise UsageError(f"an annotation is a text, a number or a list, and not {value!r}") from None
    return ast.parse(text, mode="eval").body


def _statements_in(statement: Stmt) -> Iterator[Stmt]:
    """A statement and those in it, but for what stands in blocks."""
    yield statement
    if not isinstance(statement, BlockRealize):
        for part in parts_of(statement):
            if isinstance(part, Stmt):
                yield from _statements_in(part)


def _holds_loops(statement: Stmt) -> bool:
    return any(isinstance(each, For | BlockRealize | Allocate) for each in _statements_in(statement))


def _is_arithmetic(value: Expr) -> bool:
    """Whether a value is the same wherever it is computed: nothing is read, and nothing called."""
    return not any(isinstance(each, BufferLoad | Call | Spelled) for each in walk(value))


def function_text(name: str, parameters: Sequence[ast.arg], body: Sequence[ast.stmt], sizes: Sequence[ast.arg]) -> str:
    """The text of a function."""
    arguments = ast.arguments([], [*parameters, *sizes], None, [], [], None, [])
    decorator = ast.Attribute(ast.Name("T", ast.Load()), "prim_func", ast.Load())
    made = ast.FunctionDef(name, arguments, list(body) or [ast.Pass()], [decorator], None, None)
    return "from weft.script import tir as T\n\n\n" + ast.unparse(ast.fix_missing_locations(made)) + "\n"
