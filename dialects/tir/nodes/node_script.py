"""Nodes as TVMScript, by themselves: `node.script()`, as TVM's printer writes them.

    x = tir.Var("x", "float32")
    (x * 2.0).script(verbose_expr=True)     # x = T.var("float32")
                                            # x * T.float32(2)

`nodes.script` writes what becomes a function's text, where what a block touches and the types of numbers are worked out
anew; here they are written as the nodes have them, numbers of any type but `int32` with it. What a node does not define
is called by its name; `verbose_expr` says first what each such name is.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from json import dumps

from xdsl.dialects.builtin import f32, i1, i32

from ...support.diagnostics import UsageError
from ...support.dtypes import dtype_name
from ...te.dims import same
from ...te.expr import Const, Dim, Expr, IterVar, NodeRange, Slot, as_expr
from ...te.expr import Var as Extent
from ...te.kinds import index
from ...te.let import Let
from ...te.text import number, render, type_word, word
from .blocks import Block, BlockRealize, is_true
from .blocks import IterVar as BlockIter
from .buffers import Allocate, Buffer, BufferRegion, Range
from .declared import REALIZE_SCOPE, BufferRealize, DeclBuffer, MatchBufferRegion
from .expressions import Broadcast, Handle, Ramp
from .functions import Any
from .script import Writer, annotation_keywords, annotations_syntax
from .statements import KINDS, AssertStmt, AttrStmt, For, LetStmt, Stmt

_ITER_TYPES = {
    IterVar.DataPar: "DataPar", IterVar.ThreadIndex: "ThreadIndex", IterVar.CommReduce: "CommReduce",
    IterVar.Ordered: "Ordered", IterVar.DimInfo: "DimInfo",
}  # fmt: skip
"""TVM's names of what an iterator is."""


class NodeWriter(Writer):
    """Writes nodes that stand for themselves; `definitions` are those of what they do not define."""

    def __init__(self) -> None:
        super().__init__(is_part=True)
        self.definitions: list[ast.stmt] = []

    def _define(self, name: str, value: ast.expr) -> None:
        self.definitions.append(ast.Assign([ast.Name(name, ast.Store())], value))

    # expressions

    def expr(self, value: Expr | Dim | float) -> ast.expr:
        return render(as_expr(value, index), self._leaf, _literal)

    def _leaf(self, expr: Expr) -> ast.expr:
        if isinstance(expr, Any):
            return word("Any")
        match expr:
            case Handle():
                return self._address(expr)
            case Slot(name) | Extent(name) | IterVar(name) if expr not in self.names:
                self._define(self.name(expr, name), word("var", ast.Constant(_dtype(expr))))
            case Ramp(base, stride, lanes):
                return word("Ramp", self.expr(base), self.place(stride), ast.Constant(lanes))
            case Broadcast(value, lanes):
                return word("Broadcast", self.expr(value), ast.Constant(lanes))
            case Let(variable, value, body):
                return word("let", self.expr(variable), self.expr(value), self.expr(body))
            case _:
                pass
        return super()._leaf(expr)

    def _argument(self, value: object) -> ast.expr:
        return self._address(value) if isinstance(value, Handle) else super()._argument(value)

    def _address(self, handle: Handle) -> ast.expr:
        """Where memory is: of a buffer that has been named, or a variable."""
        if (buffer := next((each for each in self.declared if each.data is handle), None)) is not None:
            return ast.Attribute(ast.Name(self.known(buffer), ast.Load()), "data", ast.Load())
        if handle not in self.names:
            self._define(self.name(handle, handle.name), word("var", ast.Constant("handle")))
        return ast.Name(self.names[handle], ast.Load())

    def known(self, buffer: Buffer) -> str:
        if buffer not in self.declared and buffer not in self.names:
            self._define(self.name(buffer, buffer.name), self._memory(buffer))
            self.declared.add(buffer)
        return super().known(buffer)

    def _memory(self, buffer: Buffer) -> ast.expr:
        made = word("Buffer", self.shape(buffer), *([] if buffer.type == f32 else [ast.Constant(_dtype(buffer))]))
        assert isinstance(made, ast.Call)
        if buffer.strides is not None:
            strides = ast.Tuple([self.place(each) for each in buffer.strides], ast.Load())
            made.keywords.append(ast.keyword("strides", strides))
        if buffer.elem_offset not in (None, 0):
            made.keywords.append(ast.keyword("elem_offset", self.place(buffer.elem_offset)))
        if buffer.scope() != "global":
            made.keywords.append(ast.keyword("scope", ast.Constant(buffer.scope())))
        return made

    def part(self, part: MatchBufferRegion) -> ast.stmt:
        source = self.region(part.source)
        self.declared.add(part.buffer)
        more = [] if part.buffer.type == f32 else [ast.Constant(_dtype(part.buffer))]
        call = word("match_buffer", source, self.shape(part.buffer), *more)
        return ast.Assign([ast.Name(self.name(part.buffer, part.buffer.name), ast.Store())], call)

    def range(self, given: Range | NodeRange) -> ast.expr:
        """`T.Range(0, 16)`: from its first value up to what is behind the last."""
        end = given.min + as_expr(given.extent, given.min.type)
        return word("Range", self.place(given.min), self.place(end))

    def iterator(self, given: BlockIter) -> ast.expr:
        """`T.iter_var(v, T.Range(0, 16), "DataPar", "")`."""
        variable, kind = self.expr(given.var), _ITER_TYPES[given.iter_type]
        return word("iter_var", variable, self.range(given.dom), ast.Constant(kind), ast.Constant(""))

    # statements

    def statement(self, statement: Stmt) -> list[ast.stmt]:
        match statement:
            case Block():
                return self._block(statement, None)
            case AttrStmt(Buffer(), key, scope, BufferRealize() as realize) if key == REALIZE_SCOPE:
                return self._realized(realize, str(scope))
            case BufferRealize():
                return self._realized(statement, "")
            case DeclBuffer(buffer, body):
                return self._declared(buffer, body)
            case Allocate(memory, DeclBuffer(buffer, body)) if not statement.annotations and (
                buffer is memory or _fills(buffer, memory)
            ):
                return self._declared(buffer, body)
            case Allocate(buffer, body):
                return self._allocated(buffer, statement.annotations, body)
            case AssertStmt(condition, message, body):
                said = word("Assert", self.expr(condition), ast.Constant(message))
                return [ast.With([ast.withitem(said)], self.body(body))]
            case AttrStmt(str() as node, key, value, body) if isinstance(value, Expr | str):
                said = word("attr", ast.Constant(node), ast.Constant(key), self._argument(value))
                return [ast.With([ast.withitem(said)], self.body(body))]
            case _:
                return super().statement(statement)

    def _realized(self, realize: BufferRealize, scope: str) -> list[ast.stmt]:
        region = self.region(BufferRegion(realize.buffer, realize.bounds))
        return [ast.With([ast.withitem(word("realize", region, ast.Constant(scope)))], self.body(realize.body))]

    def _allocated(self, buffer: Buffer, said: Mapping[str, object], body: Stmt) -> list[ast.stmt]:
        """`with T.allocate([16], "float32", "global") as A:`."""
        self.declared.add(buffer)
        extents = ast.List([self.place(each) for each in buffer.shape], ast.Load())
        made = word("allocate", extents, ast.Constant(_dtype(buffer)), ast.Constant(buffer.scope()))
        assert isinstance(made, ast.Call)
        made.keywords = annotation_keywords(said)
        name = ast.Name(self.name(buffer, buffer.name), ast.Store())
        return [ast.With([ast.withitem(made, name)], self.body(body))]

    def _declared(self, buffer: Buffer, body: Stmt) -> list[ast.stmt]:
        """`with T.decl_buffer((16,)) as A:`, in memory that another buffer is in, or in its own."""
        made = self._memory(buffer)
        assert isinstance(made, ast.Call)
        made.func = ast.Attribute(ast.Name("T", ast.Load()), "decl_buffer", ast.Load())
        if any(each.data is buffer.data for each in self.declared) or buffer.data in self.names:
            made.keywords.insert(0, ast.keyword("data", self._address(buffer.data)))
        self.declared.add(buffer)
        name = ast.Name(self.name(buffer, buffer.name), ast.Store())
        return [ast.With([ast.withitem(made, name)], self.body(body))]

    def _let(self, let: LetStmt) -> list[ast.stmt]:
        given = self.expr(let.value)
        return [ast.With([ast.withitem(word("let", self.expr(let.var), given))], self.body(let.body))]

    def _realize(self, realize: BlockRealize) -> list[ast.stmt]:
        return self._block(realize.block, realize)

    def _block(self, block: Block, realize: BlockRealize | None) -> list[ast.stmt]:
        """A block, at the values of its iterators if it is realized."""
        lines: list[ast.stmt] = []
        for place, iterator in enumerate(block.iter_vars):
            values = [] if realize is None else [self.place(realize.iter_values[place])]
            axis = word(f"axis.{iterator.kind.value}", self.place(iterator.extent), *values)
            lines.append(ast.Assign([ast.Name(self.name(iterator.var, iterator.var.name), ast.Store())], axis))
        if realize is not None and not is_true(realize.predicate):
            lines.append(ast.Expr(word("where", self.expr(realize.predicate))))
        lines.append(ast.Expr(word("reads", *map(self.region, block.reads))))
        lines.append(ast.Expr(word("writes", *map(self.region, block.writes))))
        if block.annotations:
            lines.append(ast.Expr(word("block_attr", annotations_syntax(block.annotations))))
        lines += [self.allocation(each) for each in block.alloc_buffers]
        lines += map(self.part, block.match_buffers)
        if block.init is not None:
            lines.append(ast.With([ast.withitem(word("init"))], self.body(block.init)))
        lines += self.statement(block.body)
        called = word("block", ast.Constant(block.name_hint))
        if realize is None:
            assert isinstance(called, ast.Call)
            called.keywords.append(ast.keyword("no_realize", ast.Constant(True)))
        return [ast.With([ast.withitem(called)], lines)]

    def _for(self, loop: For) -> ast.stmt:
        nest = [loop]
        while _is_plain(nest[-1]) and isinstance(inner := nest[-1].body, For) and _is_plain(inner):
            nest.append(inner)
        if len(nest) == 1:
            return super()._for(loop) if not _is_plain(loop) else self._over(nest, "range")
        return self._over(nest, "grid")

    def _over(self, nest: Sequence[For], name: str) -> ast.stmt:
        """Loops from 0 on of which nothing else is said."""
        extents = [self.place(each.extent) for each in nest]
        over = word("grid", *extents) if name == "grid" else ast.Call(ast.Name(name, ast.Load()), extents, [])
        names: list[ast.expr] = [ast.Name(self.name(each.loop_var, each.loop_var.name), ast.Store()) for each in nest]
        target = names[0] if len(names) == 1 else ast.Tuple(names, ast.Store())
        return ast.For(target, over, self.body(nest[-1].body), [])


def _is_plain(loop: For) -> bool:
    is_zero = isinstance(loop.min, Const) and loop.min.value == 0
    return is_zero and KINDS[loop.kind] == "serial" and not loop.annotations


def _fills(buffer: Buffer, memory: Buffer) -> bool:
    """Whether a buffer is just the memory that was allocated for it."""
    if buffer.data is not memory.data or buffer.strides is not None or buffer.elem_offset not in (None, 0):
        return False
    return (
        buffer.type == memory.type
        and len(buffer.shape) == len(memory.shape)
        and all(map(same, buffer.shape, memory.shape))
    )


def _dtype(of: Expr | Buffer) -> str:
    return "int32" if of.type == index else type_word(of.type) if isinstance(of, Expr) else dtype_name(of.type)


def _literal(literal: Const) -> ast.expr:
    """A number; of `int32` as it is."""
    if literal.type not in (index, i32):
        made = number(literal.value, literal.type)
        if literal.type != i1 and isinstance(made, ast.Call) and isinstance(literal.value, float):
            shown = made.args[0]
            if isinstance(shown, ast.Constant) and isinstance(shown.value, float) and shown.value.is_integer():
                made.args = [ast.Constant(int(shown.value))]
        return made
    value = int(literal.value)
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def script_of(node: object, verbose_expr: bool = False) -> str:
    """The text of an expression, a statement, a buffer or a part of one; after definitions of what it does not define,
    if they are wanted.

    Raises:
        UsageError: something in it has no form in TVMScript.
    """
    writer = NodeWriter()
    match node:
        case Stmt():
            lines = writer.statement(node)
        case Buffer():
            lines = [ast.Expr(ast.Name(writer.known(node), ast.Load()))]
        case BufferRegion():
            lines = [ast.Expr(writer.region(node))]
        case Expr():
            lines = [ast.Expr(writer.expr(node))]
        case MatchBufferRegion():
            lines = [writer.part(node)]
        case Range() | NodeRange():
            lines = [ast.Expr(writer.range(node))]
        case BlockIter():
            lines = [ast.Expr(writer.iterator(node))]
        case _:
            raise UsageError(f"a {type(node).__name__} is no node of TVMScript")
    every = [*writer.definitions, *lines] if verbose_expr else lines
    return "\n".join(ast.unparse(ast.fix_missing_locations(_Quoted().visit(line))) for line in every)


class _Quoted(ast.NodeTransformer):
    """Texts in double quotes."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Name(dumps(node.value, ensure_ascii=False), ast.Load()) if isinstance(node.value, str) else node


Expr.scripted = staticmethod(script_of)
