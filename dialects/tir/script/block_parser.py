"""Blocks: `with T.block("name"):` with its header, its body and `with T.init():`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IndexType, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ...support.diagnostics import Diagnostic
from ...support.name_hints import name_hint
from ..affine import simplify
from ..asserts import AssertOp
from ..assumptions import AssumeOp
from ..blocks import BlockOp, IterKind
from ..legality.bounds import restricted_iterators
from ..loop_iterators import end_of, kind_of
from ..loops import ForOp
from ..symbols import Extent, affine_map, as_affine, as_extent, greatest
from .arguments import Arguments
from .calls import CALLS, call, python_values
from .counting import count_on, counted, counting
from .emitter import Emitter, Value
from .expressions import Expressions, Term
from .inner_blocks import as_statements, is_block
from .lanes import Vector, lane_name, lane_of, lanes_of
from .loop_indices import Extents, IteratorIndices, LoopIndices, PlaceIndices
from .outside import is_access, touch
from .parts import without_parts
from .scope import Buffer, Constant, Iterator, NotStatic, OuterIterator, Scope
from .words import DTYPES, STEPS, element_type, usual_flags

KINDS = {
    "spatial": IterKind.SPATIAL, "S": IterKind.SPATIAL, "reduce": IterKind.REDUCE, "R": IterKind.REDUCE,
    "opaque": IterKind.OPAQUE, "O": IterKind.OPAQUE, "scan": IterKind.OPAQUE,
}  # fmt: skip
"""`T.axis.<word>`, and the letters of `T.axis.remap`. An opaque iterator's values keep their order, as a scan wants."""


class BlockParser:
    """Reads one block."""

    def __init__(self, scope: Scope, node: ast.With, name: str, own: frozenset[SSAValue] = frozenset()):
        self.scope = Scope(scope.source, scope.python, dict(scope.local), scope.layouts, scope.declared, scope.texts)
        self.node = node
        self.name = name
        self.own = own
        """Memory that is the block's own: `T.reads` and `T.writes` do not speak of it."""
        self.loops = LoopIndices(self.scope)
        self.iters: list[tuple[IterKind, Extent]] = []
        self.names: list[str] = []
        self.bindings: list[AffineExpr] = []
        self.starts: list[int] = []
        """What each iterator's 0 is in the text."""
        self.partial: list[int] = []
        self.conditions: list[AffineExpr] = []
        self.attributes: dict[str, Attribute] = {}
        self.said: set[str] = set()
        """The words that may stand once, and do."""
        self.declared: dict[str, list[ast.expr]] = {}
        self.init: ast.With | None = None
        self.begins = False
        """Whether `T.init()` is the beginning of the body, which then reads what it has written."""
        self.readers: list[Expressions] = []

    def parse(self) -> BlockOp:
        """The block.

        Raises:
            Diagnostic: something in it has no meaning.
        """
        statements = [each for each in self.node.body if not self._header(each)]
        whole = [*statements, *([] if self.init is None else [self.init])]
        *statements, last = [*without_parts(self.scope, whole, PlaceIndices(self.scope).expr), ast.Pass()]
        if self.init is not None:
            statements, self.init = statements[:-1], cast("ast.With", statements[-1])
        for name, outer in implied_iterators(self.scope, self.node, [*statements, self.init or last]).items():
            self._imply(name, outer)
        if self.init is not None and all(kind != IterKind.REDUCE for kind, _ in self.iters):
            statements, self.init, self.begins = [*self.init.body, *statements], None, True  # each step is the first
        body = self._body(statements, None)
        init = None if self.init is None else self._body(self.init.body, self.init)
        op = BlockOp(
            self.name,
            self.iters,
            affine_map(len(self.loops.variables), self.bindings),
            self.loops.variables,
            Region(body),
            None if init is None else Region(init),
            None,
            self.attributes,
        )
        op.set_predicate(self.conditions)
        op.partial_iters = frozenset(self.partial)
        op.partial_iters |= restricted_iterators(op)
        op.location = self.scope.source.location(self.node)
        self._declare(op)
        self._settle(op)
        return op

    def _error(self, node: ast.AST, message: str, hint: str | None = None) -> Diagnostic:
        return self.scope.source.error(node, message, hint)

    # the header

    def _header(self, statement: ast.stmt) -> bool:
        """Read a statement that belongs to the header; whether it was one."""
        match statement:
            case ast.Assign(targets=[target], value=ast.Call(func=func) as given):
                word = self.scope.word(func) or ""
                if word == "axis.remap" or word in ("axis.SSR", "axis.SR"):
                    self._remap(target, given)
                elif word.startswith("axis."):
                    if not isinstance(target, ast.Name):
                        raise self._error(target, f"T.{word} gives one iterator")
                    self._axis(target, word.removeprefix("axis."), given)
                else:
                    return False
                return True
            case ast.Expr(value=ast.Call(func=func) as given):
                return self._statement(self.scope.word(func) or "", given)
            case ast.With(items=[ast.withitem(context_expr=ast.Call(func=func))]) if self.scope.word(func) == "init":
                if self.init is not None:
                    raise self._error(statement, "the block has a T.init() already")
                self.init = statement
                return True
            case _:
                return False

    def _statement(self, word: str, given: ast.Call) -> bool:
        if word in ("where", "block_attr"):
            if word in self.said:
                hint = "join the conditions by 'and'" if word == "where" else "give all attributes at once"
                raise self._error(given, f"the block has T.{word} already", hint)
            self.said.add(word)
        match word:
            case "where":
                (condition,) = Arguments(self.scope, given, "T.where").nodes("predicate")
                self.conditions += self.loops.conditions(condition)
            case "reads" | "writes":
                if word in self.declared:
                    raise self._error(given, f"the block has T.{word} already")
                regions: list[ast.expr] = []
                for each in given.args:
                    regions += each.elts if isinstance(each, ast.List | ast.Tuple) else [each]
                self.declared[word] = regions
            case "block_attr":
                self.attributes |= Arguments(self.scope, given, "T.block_attr").dictionary("attrs")
            case _:
                return False
        return True

    def _check_name(self, node: ast.Name) -> None:
        if node.id in self.names:
            raise self._error(node, f"the block has an iterator '{node.id}' already")

    def _add(self, name: str, kind: IterKind, low: int, end: Extent, binding: AffineExpr) -> None:
        """An iterator from `low` to below `end`. Those of blocks begin at 0: one of a reduction, whose first value
        says where it begins, is counted from `low`; of others the values below `low` are not taken."""
        start = low if kind == IterKind.REDUCE else 0
        if low != start:
            self.partial.append(len(self.iters))
        self.scope.local[name] = Iterator(len(self.iters), start)
        self.names.append(name)
        self.starts.append(start)
        self.iters.append((kind, as_extent(simplify(as_affine(end) + AffineConstantExpr(-start)))))
        self.bindings.append(simplify(binding + AffineConstantExpr(-start)))

    def _add_outer(self, name: str, kind: IterKind, outer: OuterIterator) -> None:
        """An iterator that is one of a block around."""
        if outer.is_partial:
            self.partial.append(len(self.iters))
        self._add(name, kind, outer.start, outer.extent, self.loops.of(outer))

    def _imply(self, name: str, around: OuterIterator | ForOp) -> None:
        """An iterator of what stands around the block: one of an outer block, or a loop, whose order then stays, unless
        its iterations are said to run at once."""
        if isinstance(around, OuterIterator):
            self._add_outer(name, around.kind, around)
            return
        self._add(name, kind_of(around), around.start, end_of(around), self.loops.dimension(around))

    def _axis(self, target: ast.Name, word: str, given: ast.Call) -> None:
        """`vi = T.axis.spatial(128, i * 4 + j)`."""
        if word not in KINDS:
            hint = "an iterator is spatial, reduce or opaque"
            raise self._error(given.func, f"there is no T.axis.{word}", hint)
        arguments = Arguments(self.scope, given, f"T.axis.{word}")
        dom, value = arguments.nodes("dom", "value", optional=("partial",))[:2]
        if arguments.static("partial", False) is True:
            self.partial.append(len(self.iters))
        ends = dom.elts if isinstance(dom, ast.Tuple | ast.List) else [dom]
        if len(ends) not in (1, 2):
            raise self._error(dom, "the domain of an iterator is an extent, or (0, extent)")
        extents = Extents(self.scope)
        low, high = (
            (0, extents.extent(ends[0])) if len(ends) == 1 else (extents.extent(ends[0]), extents.extent(ends[1]))
        )
        if not isinstance(low, int):
            raise self._error(ends[0], "the first value of an iterator is a number that is known here")
        self._check_name(target)
        self._add(target.id, KINDS[word], low, high, self.loops.expr(value))

    def _remap(self, target: ast.expr, given: ast.Call) -> None:
        """`vi, vk = T.axis.remap("SR", [i, k])`."""
        letters_node, list_node = Arguments(self.scope, given, "T.axis.remap").nodes("kinds", "bindings")
        letters = Arguments(self.scope, given, "T.axis.remap").literal(letters_node)
        if not isinstance(list_node, ast.List | ast.Tuple):
            raise self._error(list_node, "T.axis.remap takes a list of loop variables")
        targets = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        if not isinstance(letters, str) or not len(letters) == len(list_node.elts) == len(targets):
            message = f"T.axis.remap gives {len(targets)} iterators of {len(list_node.elts)} loops and as many letters"
            raise self._error(given, message)
        loops = [self.scope.local.get(each.id) if isinstance(each, ast.Name) else None for each in list_node.elts]
        for name, letter, loop_node, loop in zip(targets, letters, list_node.elts, loops, strict=True):
            if letter not in KINDS or not isinstance(name, ast.Name):
                raise self._error(letters_node, f"'{letter}' is no kind of iterator", "S, R and O are")
            self._check_name(name)
            if isinstance(loop_node, ast.Constant) and loop_node.value == 0:
                self._add(name.id, KINDS[letter], 0, 1, AffineConstantExpr(0))
                continue
            if isinstance(loop, OuterIterator):
                self._add_outer(name.id, KINDS[letter], loop)
                continue
            if not isinstance(loop, ForOp):
                raise self._error(loop_node, "T.axis.remap takes loop variables", "T.axis.spatial takes expressions")
            self._add(name.id, KINDS[letter], loop.start, end_of(loop), self.loops.dimension(loop))

    # body and init

    def _body(self, statements: Sequence[ast.stmt], init: ast.With | None) -> Block:
        block = Block(arg_types=[IndexType()] * len(self.iters))
        for argument, name in zip(block.args, self.names, strict=True):
            argument.name_hint = name_hint(name)
        ranges: dict[SSAValue, tuple[int, int]] = {
            argument: (0, max(greatest(as_affine(extent)) - 1, 0))
            for argument, (_, extent) in zip(block.args, self.iters, strict=True)
        }
        outer, self.scope.local = self.scope.local, dict(self.scope.local)
        at = Expressions(self.scope, Emitter(block), call, ranges, block.args)
        at.effects = {word: self._declared_names(word) for word in ("reads", "writes") if word in self.declared}
        self._statements(statements, at)
        self.scope.local = outer
        self.readers.append(at)
        return block

    def _statements(self, statements: Sequence[ast.stmt], at: Expressions) -> None:
        for statement in statements:
            at.emitter.location = self.scope.source.location(statement)
            self._one(statement, at)

    def _one(self, statement: ast.stmt, at: Expressions) -> None:
        match statement:
            case ast.Pass():
                pass
            case ast.Expr(value=ast.Constant(value=str())):
                pass
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                self._store(target, value, at)
            case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
                load = ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
                self._store(target, ast.copy_location(ast.BinOp(load, op, value), statement), at)
            case ast.Assign(targets=[ast.Name(id=name)]) if name in self.scope.layouts:
                pass  # a stride or the offset of a part of a buffer
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._let(name, value, None, at)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                self._let_together(statement, targets, values, at)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Call() as given):
                self._let_all(statement, targets, given, at)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=ast.expr() as value):
                self._let(name, value, annotation, at)
            case ast.If():
                self._if(statement, at)
            case ast.While():
                self._while(statement, at)
            case ast.For():
                self._count(statement, at)
            case ast.With() if is_block(self.scope, statement):
                self._inner(statement, at)
            case ast.Assert(test=test, msg=message):
                self._assert(statement, test, message, at)
            case ast.With(items=[ast.withitem(context_expr=ast.Call(func=func, args=[test, message]))]) if (
                self.scope.word(func) == "Assert"
            ):
                self._assert(statement, test, message, at)
                self._statements(statement.body, at)
            case ast.Expr(value=ast.Call() as given) if (promised := self._promised(given)) is not None:
                condition = at.condition(promised)
                at.emitter.location = self.scope.source.location(statement)
                at.emitter.insert(AssumeOp(condition))
            case ast.Expr(value=ast.Call(func=func, args=[ast.Call() | ast.Attribute() as value])) if self.scope.word(
                func
            ) == "evaluate" and is_access(at, value):
                touch(at, value)
            case ast.Expr(value=ast.Call(func=func) as given) if self.scope.word(func) in CALLS:
                at.term(given)
            case ast.Expr(value=ast.Call(func=func, args=[value])) if self.scope.word(func) == "evaluate":
                at.term(value)
            case ast.With(items=[ast.withitem(context_expr=ast.Call(func=func, args=[ast.Name(id=name), value]))]) if (
                self.scope.word(func) == "let"
            ):
                self._let(name, value, None, at)
                self._statements(statement.body, at)
            case _:
                raise self._refused(statement)

    def _promised(self, given: ast.Call) -> ast.expr | None:
        """The condition of `T.assume(c)` and of `T.evaluate(T.assume(c))`."""
        if self.scope.word(given.func) == "evaluate" and len(given.args) == 1 and isinstance(given.args[0], ast.Call):
            given = given.args[0]
        if self.scope.word(given.func) != "assume":
            return None
        (condition,) = Arguments(self.scope, given, "T.assume").nodes("condition")
        return condition

    def _refused(self, statement: ast.stmt) -> Diagnostic:
        text = ast.unparse(statement).splitlines()[0]
        return self._error(
            statement,
            f"a block's body has no '{text}'",
            "it stores elements (C[vi] = ...), names values (x = ...) and branches (if ...)",
        )

    def _let(self, name: str, value: ast.expr, annotation: ast.expr | None, at: Expressions) -> None:
        """A name for a value."""
        if (lanes := lanes_of(self.scope, value)) is not None:
            for lane in range(lanes):
                self._let(lane_name(name, lane), lane_of(self.scope, value, lane), None, at)
            self.scope.local[name] = Constant(Vector(lanes))
            return
        term = at.term(value)
        if annotation is not None:
            word = self.scope.word(annotation)
            if word is None:
                raise self._error(annotation, "a value's type is one of T, such as T.float32")
            if isinstance(term, Value) and word in DTYPES:
                term = at.as_value(term, value, element_type(word), word.startswith("uint"))
            else:
                term = call(at, ast.copy_location(ast.Call(annotation, [value], []), value), word)
        self._name(name, term)

    def _name(self, name: str, term: Term) -> None:
        if isinstance(term, Value):
            if isinstance(term.ssa.owner, Operation) and term.ssa.name_hint is None:
                term.ssa.name_hint = name_hint(name)
            self.scope.local[name] = term
        else:
            self.scope.local[name] = Constant(term)

    def _let_all(self, statement: ast.stmt, targets: Sequence[ast.expr], given: ast.Call, at: Expressions) -> None:
        """Names for the values that one call of a Python function gives: `row, column = place(i, j)`."""
        names = [each.id for each in targets if isinstance(each, ast.Name)]
        if len(names) != len(targets):
            raise self._refused(statement)
        for name, term in zip(names, python_values(at, given, len(names)), strict=True):
            self._name(name, term)

    def _let_together(
        self, statement: ast.stmt, targets: Sequence[ast.expr], values: Sequence[ast.expr], at: Expressions
    ) -> None:
        """Names for values, none of which sees another's name: `i, j = j, i`."""
        if len(targets) != len(values) or not all(isinstance(each, ast.Name) for each in targets):
            raise self._error(statement, "as many names stand before '=' as values behind it")
        before, bound = self.scope.local, dict(self.scope.local)
        for target, value in zip(targets, values, strict=True):
            assert isinstance(target, ast.Name)
            self.scope.local = dict(before)
            self._let(target.id, value, None, at)
            bound |= {name: found for name, found in self.scope.local.items() if before.get(name) is not found}
        self.scope.local = bound

    def _store(self, target: ast.Subscript, value: ast.expr, at: Expressions) -> None:
        buffer = self.scope.local.get(target.value.id) if isinstance(target.value, ast.Name) else None
        if not isinstance(buffer, Buffer):
            raise self._error(target, f"'{ast.unparse(target.value)}' is no buffer")
        lanes = lanes_of(self.scope, target)
        if (lanes or 1) != ((given := lanes_of(self.scope, value)) or 1):
            raise self._error(
                value, f"{given or 1} lanes are stored to {lanes or 1}", "T.broadcast(x, 4) is x in four lanes"
            )
        pairs: list[tuple[ast.expr, ast.expr]] = [(target, value)]
        if (count := lanes or given) is not None:
            pairs = [(lane_of(self.scope, target, n), lane_of(self.scope, value, n)) for n in range(count)]
        found: list[tuple[list[SSAValue], Value]] = []
        for place, each in pairs:
            assert isinstance(place, ast.Subscript)
            indices = at.indices(buffer, place)
            found.append((indices, at.value(each, buffer.type.element_type, buffer.unsigned)))
        at.emitter.location = self.scope.source.location(target)
        for indices, stored in found:
            at.emitter.store(stored.ssa, buffer.ssa, indices)

    def _if(self, statement: ast.If, at: Expressions) -> None:
        try:
            chosen = self.scope.static(statement.test)
        except NotStatic:
            pass
        else:
            self._statements(statement.body if chosen else statement.orelse, at)
            return
        condition = at.condition(statement.test)
        regions: list[Region] = []
        for body in (statement.body, statement.orelse):
            block = Block()
            if body:
                outer, self.scope.local = self.scope.local, dict(self.scope.local)
                inner = at.inside(block)
                self._statements(body, inner)
                inner.emitter.insert(scf.YieldOp())
                self.scope.local = outer
            regions.append(Region(block) if body else Region())
        at.emitter.location = self.scope.source.location(statement)
        at.emitter.insert(scf.IfOp(condition, [], regions[0], regions[1]))

    def _while(self, statement: ast.While, at: Expressions) -> None:
        """A loop whose condition is computed before each of its iterations."""
        if statement.orelse:
            raise self._error(statement, "a loop has no else")
        before, after = Block(), Block()
        outer, self.scope.local = self.scope.local, dict(self.scope.local)
        test = at.repeated(before)
        test.emitter.insert(scf.ConditionOp(test.condition(statement.test)))
        body = at.repeated(after)
        self._statements(statement.body, body)
        body.emitter.insert(scf.YieldOp())
        self.scope.local = outer
        at.emitter.location = self.scope.source.location(statement)
        at.emitter.insert(scf.WhileOp([], [], Region(before), Region(after)))
        at.emitter.forget()

    def _count(self, statement: ast.For, at: Expressions) -> None:
        """A loop within a branch or a `while`, in order, whose end may be what data says when it is reached."""
        loop, inner = counted(self.scope, statement)
        low, end = (at.index(ast.copy_location(each, statement)) for each in (loop.low, loop.end))
        made, index = counting(low, end, loop.name.id)
        outer, self.scope.local = self.scope.local, {**self.scope.local, loop.name.id: Value(index)}
        body = at.repeated(made.after_region.block)
        self._statements(inner, body)
        count_on(made, body.emitter)
        self.scope.local = outer
        at.emitter.location = self.scope.source.location(statement)
        at.emitter.insert(made)
        at.emitter.forget()

    def _inner(self, statement: ast.With, at: Expressions) -> None:
        """A block in a branch, or in a loop within this block."""
        statements, attributes = as_statements(self.scope, statement)
        if attributes:
            raise self._error(attributes[0], "a block that stands among statements has no attributes of its own")
        outer, self.scope.local = self.scope.local, dict(self.scope.local)
        self._statements(statements, at)
        self.scope.local = outer

    def _assert(self, statement: ast.stmt, test: ast.expr, message: ast.expr | None, at: Expressions) -> None:
        text = "the assertion does not hold" if message is None else at.term(message)
        if not isinstance(text, str) or not text:
            raise self._error(message or statement, "an assertion's message is a text that is known here")
        condition = at.condition(test)
        at.emitter.location = self.scope.source.location(statement)
        at.emitter.insert(AssertOp(condition, text))

    # reads and writes

    def _declare(self, op: BlockOp) -> None:
        """Say what the block reads and writes: what the text says of single elements, else what the body does."""
        found = op.derived_accesses()
        scalars = {each.ssa for each in self.scope.local.values() if isinstance(each, Buffer) and each.is_scalar}
        scalars |= {each.buffer for each in self.scope.texts.values()}
        lists: list[dict[SSAValue, Attribute]] = []
        for word, actual in zip(("reads", "writes"), found, strict=True):
            declared: dict[SSAValue, Attribute] = {}
            for node in self.declared.get(word, []):
                buffer, map = self._region(op, node)
                if word == "reads" and op.is_reduction and buffer.ssa in op.writes and buffer.ssa not in actual:
                    continue  # what a reduction updates
                touched = actual.get(buffer.ssa, UnitAttr())
                known = touched if map is None or _is_same(map, touched) else map
                if declared.get(buffer.ssa, known) != known:
                    known = UnitAttr()
                declared[buffer.ssa] = known
            known = {*self.own, *(found[1] if self.begins else ())}
            declared.update((value, map) for value, map in actual.items() if value in known)
            if word == "reads":  # a number or a text that is given is no buffer there
                declared.update((value, map) for value, map in actual.items() if value in scalars)
            lists.append(declared if word in self.declared else dict(actual))
        loop_vars = list(op.loop_vars)
        op.operands = [*loop_vars, *lists[0], *lists[1]]
        op._set_segments(len(loop_vars), len(lists[0]), len(lists[1]))  # pyright: ignore[reportPrivateUsage]
        op.properties["read_maps"] = ArrayAttr(lists[0].values())
        op.properties["write_maps"] = ArrayAttr(lists[1].values())

    def _settle(self, op: BlockOp) -> None:
        """Let the operations that take a reduction's steps be done in any order, unless the text says otherwise."""
        spelled = {each for reader in self.readers for each in reader.spelled}
        for each in op.body.block.ops:
            if isinstance(each, STEPS) and each not in spelled:
                each.properties["fastmath"] = usual_flags(each)

    def _declared_names(self, word: str) -> frozenset[str]:
        """The buffers of a `T.reads` or `T.writes`."""
        bases = (node.value if isinstance(node, ast.Subscript) else node for node in self.declared[word])
        return frozenset(base.id for base in bases if isinstance(base, ast.Name))

    def _region(self, op: BlockOp, node: ast.expr) -> tuple[Buffer, Attribute | None]:
        """`A[vi, vk]`: the buffer, and the map to its element; none for a region of several."""
        base = node.value if isinstance(node, ast.Subscript) else node
        buffer = self.scope.local.get(base.id) if isinstance(base, ast.Name) else None
        if not isinstance(buffer, Buffer):
            raise self._error(node, f"'{ast.unparse(base)}' is no buffer", "name the elements: T.reads(A[vi, vk])")
        if not isinstance(node, ast.Subscript):
            return buffer, None
        given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(each, ast.Slice) for each in given):
            return buffer, None
        if given and isinstance(given[0], ast.Tuple) and not given[0].elts:
            given = []
        indices = IteratorIndices(self.scope)
        try:
            map = tuple(indices.expr(each) for each in given)
        except Diagnostic:
            return buffer, None  # a place that depends on data
        if len(map) != len(buffer.type.get_shape()):
            raise self._error(node, f"{len(map)} indices for a buffer of {len(buffer.type.get_shape())} dimensions")
        return buffer, AffineMapAttr(affine_map(len(self.iters), map))


def _is_same(map: Attribute, other: Attribute) -> bool:
    """Whether two maps lead to the same element."""
    if not isinstance(map, AffineMapAttr) or not isinstance(other, AffineMapAttr):
        return False
    return [simplify(e) for e in map.data.results] == [simplify(e) for e in other.data.results]


def implied_iterators(scope: Scope, node: ast.With, statements: Sequence[ast.stmt]) -> dict[str, OuterIterator | ForOp]:
    """The iterators of outer blocks, and the loops, that the body of a block names besides its own iterators: it has
    them as iterators too, in the order in which they stand around it. Its accesses, which the header of `node` says,
    may name them as well."""
    header = [each for each in node.body if isinstance(each, ast.Expr) and _word(scope, each) in ("reads", "writes")]
    walks = (ast.walk(statement) for statement in (*header, *statements))
    named = {inner.id for walk in walks for inner in walk if isinstance(inner, ast.Name)}
    found = ((name, known) for name, known in scope.local.items() if name in named)
    return {name: known for name, known in found if isinstance(known, OuterIterator | ForOp)}


def _word(scope: Scope, statement: ast.Expr) -> str | None:
    return scope.word(statement.value.func) if isinstance(statement.value, ast.Call) else None
