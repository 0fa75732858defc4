"""One function: its parameters, and the loops, blocks and buffers that stand in it.

What has no meaning is refused where it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DictionaryAttr, IndexType, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from ...support.diagnostics import Diagnostic, did_you_mean
from ...support.name_hints import name_hint
from ..argument_order import ARGUMENTS, told_arguments
from ..argument_scopes import tell_argument_scopes
from ..axis_separators import separate_axes
from ..blocks import BlockOp, blocks_under
from ..functions import RESULT, PrimFuncOp
from ..legality.bounds import allow_what_is_left_out
from ..legality.definedness import allow_unused_elements
from ..legality.known import is_assumed
from ..loop_iterators import STATEMENT
from ..loops import ForKind, ForOp
from ..storage_sync import SCOPES, StorageSyncOp
from ..symbols import Extent, assume, positive_divisors
from .allocations import allocate, allocate_constant, taken_out
from .alone import LAYOUT, are_alone, are_counted, is_value
from .arguments import Arguments, attributes_of
from .block_parser import KINDS, BlockParser
from .buffers import is_size
from .calls import REFUSED
from .captured import written_out
from .inner_blocks import as_statements, ends_late, name_of, needs_statements
from .layouts import layout_names
from .loop_indices import LoopIndices
from .loops import loops_of, one_loop
from .named_numbers import is_condition, with_number
from .outer_blocks import OuterBlockParser, is_outer, iterators_of, restrict
from .parameters import buffer_of, is_pointer, know_names, matched_handles, sizes_of
from .parts import fixed_in, is_part, without_parts
from .plain import plain
from .returns import with_result
from .scope import Buffer, Constant, Handle, NotStatic, Scope, Symbol
from .source import Source
from .views import declaration, is_dense, memory_of, own_memory, shaped, view_of, without_view
from .words import ALIASES, DTYPES


@dataclass(frozen=True)
class Thread:
    """What `T.env_thread` gives: a thread of a launch, by name."""

    name: str


class FunctionParser:
    """Reads one function."""

    def __init__(self, source: Source, python: Mapping[str, object], node: ast.FunctionDef):
        self.source = source
        self.scope = Scope(source, python)
        self.node = node
        self.attributes: dict[str, Attribute] = {}
        self.name = node.name

    def parse(self) -> PrimFuncOp:
        """The function, not yet verified."""
        arguments = self.node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults or arguments.posonlyargs:
            raise self._error(self.node, "a function takes buffers by position, without defaults")
        self.node = plain(self.scope, self.node)
        self.node, gives = with_result(self.scope, self.node)
        arguments = self.node.args
        self.node, captured = written_out(self.scope, self.node)
        self.scope.layouts = layout_names(self.scope, self.node)
        buffers = [each for each in arguments.args if not is_size(self.scope, each.annotation)]
        sizes = [*sizes_of(self.scope, self.node), *captured]
        for position, (name, _) in enumerate(sizes):
            self.scope.local[name] = Symbol(len(buffers) + position)
        know_names(self.scope, self.node)
        body = Block()
        handles: dict[str, Buffer] = {}
        matched = matched_handles(self.scope, self.node)
        shapes: list[tuple[Extent, ...] | None] = []
        unsigned: list[bool] = []
        separators: list[Sequence[int]] = []
        scopes: list[str] = []
        for parameter in buffers:
            found = buffer_of(self.scope, self.node, parameter, matched)
            argument = body.insert_arg(found.type, len(body.args))
            argument.name_hint = name_hint(parameter.arg)
            shapes.append(found.shape)
            unsigned.append(found.unsigned)
            separators.append(found.axis_separators)
            scopes.append(found.scope)
            word = None if parameter.annotation is None else self.scope.word(parameter.annotation)
            is_scalar = word is not None and ALIASES.get(word, word) in DTYPES
            buffer = Buffer(argument, found.unsigned, is_scalar)
            is_handle = parameter.arg in matched and not is_pointer(self.scope, parameter)
            self.scope.local[parameter.arg] = Handle(parameter.arg) if is_handle else buffer
            if is_handle:
                handles[parameter.arg] = buffer
        for position, (name, _) in enumerate(sizes):
            argument = body.insert_arg(IndexType(), len(body.args))
            argument.name_hint = name_hint(name)
            shapes.append(None)
            self.scope.local[name] = Symbol(len(buffers) + position, argument)
        self.handles = handles
        self._statements(self.node.body, body)
        for text in reversed(self.scope.texts.values()):
            body.insert_op_before(text, first) if (first := body.first_op) is not None else body.add_op(text)
        names = self.attributes.pop("global_symbol", None)
        self.attributes.pop("tir.noalias", None)
        name = names.data if isinstance(names, StringAttr) else self.name
        if gives:
            self.attributes[RESULT] = IntegerAttr(len(buffers) - 1, i64)
            if any(unsigned):  # a number has a sign, or has none, as memory has not
                self.attributes.setdefault(ARGUMENTS, told_arguments(list(body.args), unsigned))
        func = PrimFuncOp(name, [a.type for a in body.args], Region(body), self.attributes)
        func.set_shapes(shapes)
        assume(func, [each for each in positive_divisors(func) if not is_assumed(func, each)])
        for argument, numbers in zip(func.region.block.args, separators, strict=False):
            separate_axes(argument, numbers)
        tell_argument_scopes(func, scopes)
        func.location = self.source.location(self.node)
        if not func.symbols:
            allow_unused_elements(blocks_under(func))
        return func

    def _error(self, node: ast.AST, message: str, hint: str | None = None) -> Diagnostic:
        return self.source.error(node, message, hint)

    # statements

    def _statements(self, statements: Sequence[ast.stmt], body: Block) -> None:
        for number, statement in enumerate(statements):
            match statement:
                case ast.Expr(value=ast.Call(func=func) as call) if self.scope.word(func) == "launch_thread":
                    self._launch(call, None, statements[number + 1 :], body)
                    return
                case ast.Assign() | ast.With() if (found := declaration(self.scope, statement)) is not None:
                    self._declare(*found, statements[number + 1 :], body)
                    return
                case ast.Assign() if is_part(self.scope, statement):
                    fixed = fixed_in(self.scope, self.node)
                    rest = without_parts(self.scope, statements[number:], LoopIndices(self.scope).expr, fixed)
                    self._statements(rest, body)
                    return
                case ast.Assign() | ast.AnnAssign() if is_value(self.scope, statement):
                    self._value(statements[number:], body)
                    return
                case _:
                    self._one(statement, body)

    def _declare(
        self, name: str, call: ast.Call, inner: Sequence[ast.stmt] | None, rest: Sequence[ast.stmt], body: Block
    ) -> None:
        """`V = T.decl_buffer(...)`, a buffer in memory that is there or of its own, and the statements that follow."""
        memory, is_whole = memory_of(self.scope, call), False
        if memory is None:
            allocate(self.scope, name, own_memory(self.scope, call), body)
            own = self.scope.local[name]
            assert isinstance(own, Buffer)
            memory, is_whole = (name, own), is_dense(self.scope, call)
        view = None if is_whole else view_of(self.scope, name, call, *memory)
        if view is None:
            self.scope.local[name] = memory[1]
            if separators := shaped(self.scope, call)[0].axis_separators:
                separate_axes(memory[1].ssa, separators)
        elif inner is None:
            rest = without_view(self.scope, view, rest)
        else:
            inner = without_view(self.scope, view, inner)
        self._statements(inner or (), body)
        self._statements(rest, body)

    def _one(self, statement: ast.stmt, body: Block) -> None:
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Return(value=None):
                pass
            case ast.For():
                self._for(statement, body)
            case ast.With() if are_alone(self.scope, [statement]):
                self._alone([statement], body)
            case ast.With(items=[ast.withitem(context_expr=ast.Call(func=func) as call, optional_vars=names)]):
                self._with(statement, self.scope.word(func), call, names, body)
            case ast.Expr(value=ast.Call(func=func) as call) if self.scope.word(func) == "attr":
                self._attribute(call, body)
            case ast.Expr(value=ast.Call(func=func, args=[ast.Call(func=inner) as call])) if (
                self.scope.word(func) == "evaluate" and self.scope.word(inner) == "tvm_storage_sync"
            ):
                self._one(ast.copy_location(ast.Expr(call), statement), body)
            case ast.Expr(value=ast.Call(func=func) as call) if self.scope.word(func) == "tvm_storage_sync":
                self._sync(call, body)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._assign(statement, name, value, body)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._assign(statement, name, value, body)
            case ast.Expr(value=ast.Call(func=func) as call) if self.scope.word(func) == "func_attr":
                self.attributes |= Arguments(self.scope, call, "T.func_attr").dictionary("attrs")
            case ast.If():
                self._if(statement, body)
            case ast.Expr(value=ast.Call(func=func, args=[ast.Constant()])) if self.scope.word(func) == "evaluate":
                pass  # it has no effect
            case _ if are_alone(self.scope, [statement]):
                self._alone([statement], body)
            case _:
                text = ast.unparse(statement).splitlines()[0]
                raise self._error(statement, f"a function has no '{text}'", "it has loops, blocks and buffers")

    def _sync(self, call: ast.Call, body: Block) -> None:
        """`T.tvm_storage_sync("shared")`."""
        arguments = Arguments(self.scope, call, "T.tvm_storage_sync")
        (node,) = arguments.nodes("scope")
        scope = arguments.literal(node)
        if scope not in SCOPES:
            raise self._error(node, f"threads wait for memory of the scopes {', '.join(SCOPES)}, not {scope!r}")
        sync = StorageSyncOp(str(scope))
        sync.location = self.source.location(call)
        body.add_op(sync)

    def _assign(self, statement: ast.stmt, name: str, value: ast.expr, body: Block) -> None:
        word = self.scope.word(value.func) if isinstance(value, ast.Call) else None
        if isinstance(value, ast.Call) and word == "match_buffer":
            first = value.args[0] if value.args else None
            buffer = self.handles.get(first.id) if isinstance(first, ast.Name) else None
            if buffer is None:
                raise self._error(value, "T.match_buffer says what a parameter is", "its first argument is a T.handle")
            buffer.ssa.name_hint = name_hint(name)
            self.scope.local[name] = buffer
        elif isinstance(value, ast.Call) and word in ("alloc_buffer", "allocate"):
            allocate(self.scope, name, value, body)
        elif isinstance(value, ast.Call) and word == "allocate_const":
            allocate_constant(self.scope, name, value, body)
        elif isinstance(value, ast.Call) and word == "env_thread":
            arguments = Arguments(self.scope, value, "T.env_thread")
            (node,) = arguments.nodes("thread")
            self.scope.local[name] = Constant(Thread(self._thread(node)))
        elif name in self.scope.layouts or (word == "var" and isinstance(self.scope.local.get(name), Symbol)):
            pass  # a stride of a buffer, or an argument of the function
        elif word is not None:
            is_axis = word.partition(".")[2] in KINDS or word == "axis.remap"
            others = ["T.match_buffer", "T.alloc_buffer", "T.axis.remap"]
            hint = 'with T.block("name"): ...' if is_axis else did_you_mean(f"T.{word}", others)
            raise self._error(statement, f"T.{word} stands in a block, or nowhere", hint)
        else:
            try:
                self.scope.local[name] = Constant(self.scope.static(value))
            except NotStatic:
                raise self._error(
                    statement, "what is known only when the function runs has its name in a block"
                ) from None

    def _thread(self, node: ast.expr) -> str:
        """The name of a thread, as a text or by what `T.env_thread` gave."""
        try:
            found = self.scope.static(node)
        except NotStatic:
            found = None
        found = found.name if isinstance(found, Thread) else found
        if not isinstance(found, str) or not found:
            raise self._error(node, "a thread is named by a text", 'such as "threadIdx.x"')
        return found

    def _launch(self, call: ast.Call, names: ast.expr | None, inner: Sequence[ast.stmt], body: Block) -> None:
        """`with T.launch_thread("threadIdx.x", 32) as tx:`, a loop whose iterations are threads."""
        arguments = Arguments(self.scope, call, "T.launch_thread")
        thread, extent = arguments.nodes("thread", "extent")
        target = names if names is not None else thread
        if not isinstance(target, ast.Name):
            raise self._error(target, "a thread's number gets a name", 'with T.launch_thread("threadIdx.x", 32) as tx:')
        named = self._thread(thread)
        loop = one_loop(self.scope, target, ForKind.THREAD_BINDING, None, extent)
        loop.op.properties["thread"] = StringAttr(named)
        loop.op.location = self.source.location(call)
        saved = dict(self.scope.local)
        self.scope.local[target.id] = loop.meaning
        body.add_op(loop.op)
        self._statements(inner, loop.op.body.block)
        self._restrict(blocks_under(loop.op), loop.conditions, loop.variables)
        self.scope.local = saved

    def _attribute(self, call: ast.Call, body: Block) -> None:
        """`T.attr(i, "pragma_auto_unroll_max_step", 16)`, an annotation of the loop whose variable `i` is, or
        `T.attr("default", "device_id", 0)`, an attribute of the function."""
        node, key, value = Arguments(self.scope, call, "T.attr").nodes("node", "attr_key", "value")
        loop = self.scope.local.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(node, ast.Call) and (word := self.scope.word(node.func)) in REFUSED:
            raise self._error(node, *REFUSED[word])
        name = Arguments(self.scope, call, "T.attr").literal(key)
        made = attributes_of(self.scope, ast.copy_location(ast.Dict([ast.Constant(str(name))], [value]), value))
        if isinstance(node, ast.Constant) and node.value == "default" and body.parent is None:
            self.attributes |= made
            return
        if not isinstance(loop, ForOp):
            raise self._error(node, "an attribute is of a loop around, by its variable", "T.block_attr is of a block")
        known: Mapping[str, Attribute] = {} if loop.annotations is None else loop.annotations.data
        loop.properties["annotations"] = DictionaryAttr({**known, **made})

    def _with(self, statement: ast.With, word: str | None, call: ast.Call, names: ast.expr | None, body: Block) -> None:
        if word == "launch_thread":
            self._launch(call, names, statement.body, body)
            return
        if word == "allocate" and isinstance(names, ast.Name):
            allocate(self.scope, names.id, call, body)
            self._statements(statement.body, body)
            return
        if word == "attr":
            self._attribute(call, body)
            self._statements(statement.body, body)
            return
        if word == "let" and are_counted(self.scope, [statement]):
            self._alone([statement], body)
            return
        if word == "let" and (inner := self._with_let(call, statement.body)) is not None:
            self._statements(inner, body)
            return
        if word != "block":
            raise self._error(
                statement, f"a function has no 'with {ast.unparse(call)}'", 'it has: with T.block("name")'
            )
        arguments = Arguments(self.scope, call, "T.block")
        arguments.nodes(optional=("name_hint", "no_realize"))
        name = arguments.static("name_hint", "")
        if not isinstance(name, str):
            raise self._error(call, "T.block takes a name")
        if names is not None:
            raise self._error(names, "iterators get their names by T.axis", "vi, vj = T.axis.remap(...)")
        if self._holds_loops(statement) and (name == "root" or (name == "" and self._is_all(statement))):
            self._root(statement, body)
            return
        if needs_statements(self.scope, statement):
            statements, attributes = as_statements(self.scope, statement)
            self._alone([*attributes, *statements], body, name or STATEMENT)
            return
        if is_outer(self.scope, statement):
            self._outer(statement, name, body)
            return
        self._read(statement, name, body)

    def _alone(self, statements: Sequence[ast.stmt], body: Block, name: str = STATEMENT) -> None:
        """What stands among loops without a block is one of its own, which names the loops themselves."""
        made = ast.With([ast.withitem(ast.Constant(None))], list(statements))
        self._read(ast.copy_location(made, statements[0]), name, body)

    def _read(self, statement: ast.With, name: str, body: Block) -> None:
        """A block of statements, and before it the memory that it has of its own."""
        saved = dict(self.scope.local)
        inner, own = taken_out(self.scope, statement.body, body)
        whole = ast.copy_location(ast.With(statement.items, inner), statement)
        body.add_op(BlockParser(self.scope, whole, name, own).parse())
        self.scope.local = saved

    def _with_let(self, call: ast.Call, statements: Sequence[ast.stmt]) -> list[ast.stmt] | None:
        """The statements of a `with T.let(n, value)` around loops, without the name that they have for a number."""
        match call.args:
            case [ast.Name(id=name), value]:
                return with_number(self.scope, name, value, statements)
            case _:
                return None

    def _value(self, statements: Sequence[ast.stmt], body: Block) -> None:
        """A value's name, and the statements that see it. A name for a condition is read as the condition where loops
        follow, of which it may be a bound."""
        match statements[0]:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                name, value = "", None
        is_counted = are_counted(self.scope, statements)
        may_bound_loops = (
            value is not None
            and is_condition(value)
            and any(isinstance(each, ast.For) for statement in statements for each in ast.walk(statement))
        )
        if value is not None and (may_bound_loops or not is_counted):
            if (inner := with_number(self.scope, name, value, statements[1:])) is not None:
                self._statements(inner, body)
                return
        if not is_counted:
            raise self._error(
                statements[0],
                "what is known only when the function runs has its name in a block",
                "no parallel loops, blocks or buffers may follow it otherwise",
            )
        self._alone(statements, body)

    def _if(self, statement: ast.If, body: Block) -> None:
        """A branch: taken when the text is read, within a block of its own, or the condition of the blocks in it."""
        try:
            chosen = self.scope.static(statement.test)
        except NotStatic:
            pass
        else:
            self._statements(statement.body if chosen else statement.orelse, body)
            return
        loops, is_counted = LoopIndices(self.scope), are_counted(self.scope, [statement])
        if are_alone(self.scope, [statement]) or (statement.orelse and is_counted):
            self._alone([statement], body)
            return
        try:
            conditions = loops.conditions(statement.test)
        except Diagnostic as error:
            if is_counted:
                self._alone([statement], body)
                return
            raise self._error(
                statement.test,
                "an if around loops and blocks compares loop variables by <, <=, ==, !=, > and >=, joined by 'and'",
            ) from error
        self._restricted(statement.body, conditions, loops, body)
        if statement.orelse:
            self._restricted(statement.orelse, loops.opposite(statement.test, conditions), loops, body)

    def _restricted(
        self, statements: Sequence[ast.stmt], conditions: Sequence[AffineExpr], loops: LoopIndices, body: Block
    ) -> None:
        """Statements whose blocks have `conditions`."""
        first = len(list(body.ops))
        self._statements(statements, body)
        for op in list(body.ops)[first:]:
            self._restrict(blocks_under(op), conditions, loops.variables)

    def _restrict(
        self, blocks: Sequence[BlockOp], conditions: Sequence[AffineExpr], variables: Sequence[SSAValue]
    ) -> None:
        """Let blocks run only where `conditions`, over loops' `variables`, are at least 0."""
        for block in blocks if conditions else ():
            restrict(block, conditions, variables)
            block.partial_iters |= iterators_of(block, variables)

    def _outer(self, statement: ast.With, name: str, body: Block) -> None:
        """A block of loops and blocks."""
        saved = self.scope
        outer = OuterBlockParser(saved, statement, name or "outer")
        self.scope = outer.scope
        outer.parse_into(body, self._statements)
        self.scope = saved

    def _holds_loops(self, statement: ast.With) -> bool:
        """Whether a block is TVM's root: around everything, without iterators."""
        has_axes = any(
            isinstance(inner, ast.Assign)
            and isinstance(inner.value, ast.Call)
            and (self.scope.word(inner.value.func) or "").startswith("axis.")
            for inner in statement.body
        )
        return not has_axes and any(
            isinstance(inner, ast.For | ast.With)
            or (isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Call) and self._makes_buffer(inner.value))
            for inner in statement.body
        )

    def _is_all(self, statement: ast.With) -> bool:
        """Whether a function holds a statement alone, besides what says what its parameters are."""
        return statement in self.node.body and all(
            each is statement or isinstance(each, ast.Expr) or self._describes(each) for each in self.node.body
        )

    def _describes(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Assign(value=ast.Call(func=func)):
                return self.scope.word(func) in ("match_buffer", "var")
            case _:
                return False

    def _makes_buffer(self, call: ast.Call) -> bool:
        return self.scope.word(call.func) in LAYOUT

    def _root(self, statement: ast.With, body: Block) -> None:
        """The root block says nothing of its own: what it reads and writes is the function's."""
        left: list[ast.stmt] = []
        for inner in statement.body:
            if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call):
                word = self.scope.word(inner.value.func)
                if word in ("reads", "writes"):
                    continue
                if word == "block_attr":
                    self.attributes |= attributes_of(self.scope, inner.value.args[0])
                    continue
            left.append(inner)
        self._statements(left, body)

    # loops

    def _for(self, statement: ast.For, body: Block) -> None:
        if statement.orelse:
            raise self._error(statement, "a loop has no else")
        if ends_late(self.scope, statement):
            self._alone([statement], body, name_of(self.scope, statement))
            return
        saved = dict(self.scope.local)
        loops = loops_of(self.scope, statement)
        for loop in loops:
            loop.op.location = self.source.location(statement)
            self.scope.local[loop.name] = loop.meaning
            body.add_op(loop.op)
            body = loop.op.body.block
        self._statements(statement.body, body)
        for loop in loops:
            self._restrict(blocks_under(loop.op), loop.conditions, loop.variables)
            if loop.op.size == 0:  # what statements in it speak of takes no values, as the text says
                statements = [each for each in blocks_under(loop.op) if each.block_name == STATEMENT]
                allow_what_is_left_out([each for each in statements if not each.is_symbolic])
        self.scope.local = saved
