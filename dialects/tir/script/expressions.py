"""Expressions: from Python's syntax to operations on scalars.

A Python number has no type of its own: it takes that of what it meets. Operands of two types are brought to one as TVM
does: to the float, to the wider. `index` (a loop variable or iterator) gives way to integers of 32 bits and more.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects import arith, math, scf
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import AnyFloat, Float32Type, IndexType, IntegerAttr, IntegerType, Signedness, i1, i32
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...support.diagnostics import Diagnostic, did_you_mean
from ...support.hints import isa
from ...support.interned import index
from ...te.expr import Const
from ..affine import Range
from ..checks import CheckOp
from ..float_flags import NONE
from ..integers import value_range
from . import words
from .emitter import Emitter, Value
from .layouts import dense_strides
from .scope import Buffer, Constant, Iterator, NotStatic, Scope, Symbol

Number: TypeAlias = "int | float | bool"
Term: TypeAlias = "Value | int | float | bool | str"
"""What an expression is worth: a scalar, or a Python value without a type."""


class Expressions:
    """Reads expressions of one block's body, or of a branch in it."""

    def __init__(
        self,
        scope: Scope,
        emitter: Emitter,
        call: Callable[[Expressions, ast.Call, str | None], Term],
        ranges: dict[SSAValue, Range],
        iters: Sequence[SSAValue],
    ):
        self.scope = scope
        self.call = call
        self.emitter = emitter
        self.ranges = ranges
        self.iters = iters
        self.spelled: set[Operation] = set()
        """The operations whose properties the text has given."""
        self.effects: Mapping[str, frozenset[str]] = {}
        """The names of the buffers that the block says that it `reads` and `writes`, where it says so."""

    def inside(self, block: Block) -> Expressions:
        """Reads what stands in a branch."""
        inner = Expressions(self.scope, Emitter(block, self.emitter), self.call, self.ranges, self.iters)
        inner.spelled = self.spelled
        inner.effects = self.effects
        return inner

    def repeated(self, block: Block) -> Expressions:
        """Reads what stands in a part of a loop, where elements read before may be others now."""
        inner = self.inside(block)
        inner.emitter.forget()
        return inner

    # what a place wants

    def value(self, node: ast.expr, type: Attribute | None = None, unsigned: bool = False) -> Value:
        """An expression as a scalar, of `type` where that is given: other types are converted.

        Raises:
            Diagnostic: it is none.
        """
        return self.as_value(self.term(node), node, type, unsigned)

    def as_value(self, term: Term, node: ast.expr, type: Attribute | None = None, unsigned: bool = False) -> Value:
        if isinstance(term, Value):
            return term if type is None else self.emitter.cast(term, type, unsigned)
        if isinstance(term, str):
            raise self._error(node, f"a string is no scalar: {term!r}")
        wanted = type
        if wanted is None:
            wanted = i1 if isinstance(term, bool) else i32 if isinstance(term, int) else Float32Type()
        if not isinstance(wanted, AnyFloat) and term != int(term):
            raise self._error(node, f"{term} is no {words.type_name(wanted)}", "T.cast says how it is to be rounded")
        try:
            return Value(self.emitter.constant(term, wanted), unsigned)
        except OverflowError as error:
            raise self._error(node, str(error)) from error

    def index(self, node: ast.expr) -> SSAValue:
        """An expression as an index."""
        term = self.term(node)
        value = self.as_value(term, node, None if isinstance(term, Value) else index)
        if isinstance(value.type, AnyFloat):
            raise self._error(node, f"an index is an integer, not {words.type_name(value.type)}")
        return self.emitter.cast(value, index).ssa

    def condition(self, node: ast.expr) -> SSAValue:
        """An expression as a truth value."""
        return self.value(node, i1).ssa

    def indices(self, buffer: Buffer, node: ast.Subscript) -> list[SSAValue]:
        """The indices of an element.

        Raises:
            Diagnostic: there are not as many as dimensions.
        """
        given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        rank = len(buffer.type.get_shape())
        for each in given:
            if isinstance(each, ast.Slice):
                raise self._error(each, "an element is read, not a region", "name each index")
        if len(given) != rank and not (rank == 0 and _is_zero(given)):
            raise self._error(node, f"{len(given)} indices for a buffer of {rank} dimensions")
        return [self.index(each) for each in given] if rank else []

    def _error(self, node: ast.AST, message: str, hint: str | None = None) -> Diagnostic:
        return self.scope.source.error(node, message, hint)

    # expressions

    def term(self, node: ast.expr) -> Term:
        """What an expression is worth.

        Raises:
            Diagnostic: it means nothing here.
        """
        try:
            found = self.scope.static(node)
        except NotStatic:
            found = None
        if found is None:
            self.emitter.location = self.scope.source.location(node)
            return self._term(node)
        if isinstance(found, int | float | str):
            return found
        if isinstance(found, Const):
            return self._literal(found, node)
        item: object = getattr(found, "item", None)
        if callable(item) and isinstance(number := item(), int | float):  # a NumPy scalar
            return number
        raise self._error(node, f"a {type(found).__name__} is no scalar")

    def _literal(self, literal: Const, node: ast.expr) -> Term:
        """A literal that Python has, of its own type."""
        type = literal.type
        if type == index:
            return literal.value
        unsigned = isa(type, IntegerType) and type.signedness.data == Signedness.UNSIGNED
        held = IntegerType(type.width.data) if isa(type, IntegerType) else type
        return self.as_value(literal.value, node, held, unsigned)

    def _term(self, node: ast.expr) -> Term:
        match node:
            case ast.Name():
                return self._name(node)
            case ast.Subscript(value=ast.Name(id=name)) if isinstance(buffer := self.scope.local.get(name), Buffer):
                return Value(self.emitter.load(buffer.ssa, self.indices(buffer, node)), buffer.unsigned)
            case ast.Attribute(value=ast.Name(id=name), attr="elem_offset") if isinstance(
                self.scope.local.get(name), Buffer
            ):
                return 0  # of what is in memory of its own, as all buffers are
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="strides")) if isinstance(
                buffer := self.scope.local.get(name), Buffer
            ):
                return self._stride(buffer, node)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(node, op, self.term(left), self.term(right))
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BoolOp(op=op, values=values):
                kind = arith.AndIOp if isinstance(op, ast.And) else arith.OrIOp
                result = self.condition(values[0])
                for each in values[1:]:
                    result = self.emitter.pure(kind(result, self.condition(each)))
                return Value(result)
            case ast.Compare():
                return self._chain(node)
            case ast.Call():
                return self._call(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._if_then_else(node, test, body, orelse)
            case ast.Subscript(value=ast.Name(id=name)):
                raise self._error(
                    node, f"'{name}' is no buffer here", "what a branch or a block has of its own ends there"
                )
            case _:
                what = type(node).__name__
                raise self._error(node, f"{what} is no expression of TVMScript", "compute with scalars, and with T.*")

    def _stride(self, buffer: Buffer, node: ast.Subscript) -> Term:
        """How many elements neighbours along a dimension lie apart."""
        strides = dense_strides(buffer.extents)
        try:
            number = self.scope.static(node.slice)
        except NotStatic:
            number = None
        if not isinstance(number, int) or not -len(strides) <= number < len(strides):
            raise self._error(node.slice, f"a stride is of one of {len(strides)} dimensions, by its number")
        if (found := strides[number]) is None:
            raise self._error(node, "this stride is known only when the function is called")
        return found

    def _name(self, node: ast.Name) -> Term:
        match self.scope.local.get(node.id):
            case Value() as value:
                return value
            case Iterator(number, 0):
                return Value(self.iters[number])
            case Iterator(number, start):
                return self.binary(node, ast.Add(), Value(self.iters[number]), start)
            case Symbol(_, ssa) if ssa is not None:
                return Value(ssa)
            case Constant(value) if isinstance(value, int | float | str):
                return value
            case None if node.id not in self.scope.python:
                raise self.scope.unknown(node)
            case Buffer(ssa, unsigned, True):
                return Value(self.emitter.load(ssa, []), unsigned)
            case Buffer():
                raise self._error(node, f"'{node.id}' is a buffer", f"read an element: {node.id}[...]")
            case None | Constant():
                raise self._error(node, f"'{node.id}' is no scalar")
            case _:
                raise self._error(
                    node,
                    f"'{node.id}' is the variable of a loop around the block, whose body speaks of its iterators",
                    f"bind an iterator to it: v{node.id} = T.axis.spatial(..., {node.id})",
                )

    def _unary(self, node: ast.UnaryOp) -> Term:
        if isinstance(node.op, ast.Not):
            value = self.condition(node.operand)
            return Value(self.emitter.pure(arith.XOrIOp(value, self.emitter.constant(1, i1))))
        value = self.value(node.operand)
        if isinstance(node.op, ast.UAdd):
            return value
        if isinstance(value.type, AnyFloat):
            if isinstance(node.op, ast.USub):
                return Value(self.emitter.pure(arith.NegfOp(value.ssa)))
            raise self._error(node, "the bits of a float are not inverted")
        if isinstance(node.op, ast.USub):
            zero = self.emitter.constant(0, value.type)
            return Value(self.emitter.pure(arith.SubiOp(zero, value.ssa)), value.unsigned)
        ones = self.emitter.constant(1 if value.type == i1 else -1, value.type)
        return Value(self.emitter.pure(arith.XOrIOp(value.ssa, ones)), value.unsigned)

    def together(self, node: ast.expr, left: Term, right: Term) -> tuple[Value, Value]:
        """Two operands, brought to one type."""
        if not isinstance(left, Value) and not isinstance(right, Value):
            left = self.as_value(left, node)
        if not isinstance(left, Value):
            right = self._met_by(left, self.as_value(right, node))
            return self.as_value(left, node, right.type, right.unsigned), right
        if not isinstance(right, Value):
            left = self._met_by(right, left)
            return left, self.as_value(right, node, left.type, left.unsigned)
        left, right = self._meeting_index(left, right), self._meeting_index(right, left)
        type = _common(left.type, right.type)
        unsigned = (left.unsigned or left.type != type) and (right.unsigned or right.type != type)
        unsigned = unsigned and (left.unsigned or right.unsigned)
        return self.emitter.cast(left, type, unsigned), self.emitter.cast(right, type, unsigned)

    def _meeting_index(self, value: Value, other: Value) -> Value:
        """An integer literal of any width that an index meets is an index: it is known that it fits."""
        op = value.ssa.owner
        if other.type != index or not isinstance(op, arith.ConstantOp) or not isinstance(op.value, IntegerAttr):
            return value
        if value.type in (index, i1) or value.unsigned:
            return value
        return Value(self.emitter.constant(op.value.value.data, index))

    def _met_by(self, number: float | str, value: Value) -> Value:
        """A value that a number without a type meets: an integer that a float meets is a float."""
        if isinstance(number, float) and not isinstance(value.type, AnyFloat):
            return self.emitter.cast(value, Float32Type())
        return value

    def binary(self, node: ast.expr, op: ast.operator, left: Term, right: Term) -> Term:
        """One of Python's operators."""
        if isinstance(op, ast.Pow):
            return self.combine(node, "pow", words.CALLS["pow"], left, right)
        a, b = self.together(node, left, right)
        if isinstance(op, ast.FloorDiv | ast.Mod):
            return self._divide(node, op, a, b)
        if type(op) not in words.BINARY:
            raise self._error(node, f"'{type(op).__name__}' is no operator of TVMScript")
        if isinstance(op, ast.Div) and not isinstance(a.type, AnyFloat):
            raise self._error(node, "'/' divides floats only", "use // , T.truncdiv, or T.cast to a float first")
        return self.combine(node, f"'{words.SYMBOLS[type(op)]}'", words.BINARY[type(op)], a, b)

    def combine(
        self, node: ast.expr, name: str, ops: tuple[words.OpType | None, ...], left: Term, right: Term
    ) -> Value:
        """An operation on two operands of one type."""
        a, b = self.together(node, left, right)
        kind = words.pick(ops, a.type, a.unsigned)
        if kind is None:
            raise self._error(node, f"{name} is not defined on {words.type_name(a.type)}")
        if kind in (arith.MaximumfOp, arith.MinimumfOp):
            return Value(self._extremum(kind, a.ssa, b.ssa))
        flags = words.USUAL_FLAGS.get(kind)
        op = words.build(kind, a.ssa, b.ssa, *(() if flags is None else (flags,)))
        return Value(self.emitter.pure(op), a.unsigned)

    def _extremum(self, kind: words.OpType, a: SSAValue, b: SSAValue) -> SSAValue:
        """NaN goes through. Against a literal, one compare-and-select does it."""
        for x, bound in ((a, b), (b, a)):
            if isinstance(bound.owner, arith.ConstantOp):
                predicate = "ogt" if kind is arith.MaximumfOp else "olt"
                beyond = self.emitter.pure(arith.CmpfOp(bound, x, predicate))
                return self.emitter.pure(arith.SelectOp(beyond, bound, x))
        return self.emitter.pure(words.build(kind, a, b, words.USUAL_FLAGS[kind]))

    def _divide(self, node: ast.expr, op: ast.operator, a: Value, b: Value) -> Value:
        """`//` and `%`, rounded down; without a sign where there can be none."""
        type, pure = a.type, self.emitter.pure
        is_quotient = isinstance(op, ast.FloorDiv)
        if isinstance(type, AnyFloat):
            if not is_quotient:
                raise self._error(node, "'%' is not defined on floats", "use T.fmod, whose result has a's sign")
            return Value(pure(math.FloorOp(pure(arith.DivfOp(a.ssa, b.ssa)))))
        if a.unsigned or (type == index and self.is_natural(a.ssa) and _is_positive(b.ssa)):
            return Value(pure((arith.DivUIOp if is_quotient else arith.RemUIOp)(a.ssa, b.ssa)), a.unsigned)
        quotient = pure(arith.FloorDivSIOp(a.ssa, b.ssa))
        if is_quotient:
            return Value(quotient)
        return Value(pure(arith.SubiOp(a.ssa, pure(arith.MuliOp(quotient, b.ssa)))))

    def is_natural(self, value: SSAValue) -> bool:
        """Whether an index is never negative."""
        return value_range(value, self.ranges)[0] >= 0

    def _chain(self, node: ast.Compare) -> Value:
        """`a < b <= c` is `a < b and b <= c`."""
        result: SSAValue | None = None
        left = self.term(node.left)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.term(right_node)
            test = self.compare(node, op, left, right).ssa
            result = test if result is None else self.emitter.pure(arith.AndIOp(result, test))
            left = right
        assert result is not None
        return Value(result)

    def compare(self, node: ast.expr, op: ast.cmpop, left: Term, right: Term) -> Value:
        """One comparison."""
        if type(op) not in words.COMPARE:
            raise self._error(node, f"'{type(op).__name__}' is no comparison of scalars")
        a, b = self.together(node, left, right)
        floats, signed, unsigned = words.COMPARE[type(op)]
        if isinstance(a.type, AnyFloat):
            return Value(self.emitter.pure(arith.CmpfOp(a.ssa, b.ssa, floats)))
        without_sign = a.unsigned or a.type == i1
        return Value(self.emitter.pure(arith.CmpiOp(a.ssa, b.ssa, unsigned if without_sign else signed)))

    def _if_then_else(self, node: ast.expr, test: ast.expr, then: ast.expr, otherwise: ast.expr) -> Value:
        """A choice of which only one side is computed."""
        condition = self.condition(test)
        blocks = [Block(), Block()]
        sides = [self.inside(block) for block in blocks]
        terms = [side.term(each) for side, each in zip(sides, (then, otherwise), strict=True)]
        types = [term.type for term in terms if isinstance(term, Value)]
        numbers = [term for term in terms if not isinstance(term, Value)]
        type = types[0] if types else self.as_value(terms[0], then).type
        if len(types) == 2:
            type = _common(*types)
        if any(isinstance(number, float) for number in numbers) and not isinstance(type, AnyFloat):
            type = Float32Type()
        unsigned = any(isinstance(term, Value) and term.unsigned for term in terms)
        for side, term, each in zip(sides, terms, (then, otherwise), strict=True):
            side.emitter.insert(scf.YieldOp(side.as_value(term, each, type, unsigned).ssa))
        self.emitter.location = self.scope.source.location(node)
        regions = [Region(block) for block in blocks]
        made = self.emitter.insert(scf.IfOp(condition, [type], regions[0], regions[1]))
        return Value(made.results[0], unsigned)

    # calls

    def _call(self, node: ast.Call) -> Term:
        return self.call(self, node, self.scope.word(node.func))

    def spell(self, node: ast.Call, name: str, arguments: Sequence[ast.expr], words_given: dict[str, object]) -> Value:
        """`T.arith.addf(a, b, fastmath="none")`: an operation by its own name."""
        kind = words.SPELLED.get(name)
        if kind is None:
            hint = did_you_mean(name, words.SPELLED)
            raise self._error(node, f"there is no operation '{name}'", hint)
        arguments = list(arguments)
        predicate: str | None = None
        if kind in (arith.CmpiOp, arith.CmpfOp) and arguments:
            given = self.term(arguments.pop(0))
            predicate = given if isinstance(given, str) else None
        if len(arguments) == 2:
            operands = list(self.together(node, self.term(arguments[0]), self.term(arguments[1])))
        else:
            operands = [self.value(each) for each in arguments]
        flags = words_given.pop("fastmath", None)
        dtype = words_given.pop("dtype", None)
        if words_given:
            raise self._error(node, f"T.{name} takes no {', '.join(words_given)}")
        try:
            op = _build(kind, [v.ssa for v in operands], predicate, dtype)
            if flags is not None:
                op.properties["fastmath"] = _flags(flags)
            elif "fastmath" in op.properties:
                op.properties["fastmath"] = words.USUAL_FLAGS.get(kind, NONE)
            op.verify_()
        except (TypeError, ValueError, VerifyException) as error:
            raise self._error(node, f"this is no {name}: {error}") from error
        result = self.emitter.pure(op, "spelled" if flags is not None else None)
        if flags is not None and isinstance(result.owner, Operation):
            self.spelled.add(result.owner)
        return Value(result)

    def check(self, node: ast.Call, operands: Sequence[ast.expr]) -> Value:
        """`T.check(at, given, extent, "text")`."""
        at, given = self.index(operands[0]), self.index(operands[1])
        extent, text = self.term(operands[2]), self.term(operands[3])
        if isinstance(extent, float | str) or not isinstance(text, str):
            raise self._error(node, "T.check takes two indices, an extent and what is said of an index outside")
        end = extent if isinstance(extent, int) else self.emitter.cast(extent, index).ssa
        return Value(self.emitter.pure(CheckOp(at, given, end, text)))


def _is_zero(given: Sequence[ast.expr]) -> bool:
    """`[()]` or `[0]`, the element of a buffer without dimensions."""
    return not given or (len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value == 0)


def _is_positive(value: SSAValue) -> bool:
    op = value.owner
    return isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr) and op.value.value.data > 0


def _common(a: Attribute, b: Attribute) -> Attribute:
    """The type that operands of two types are brought to."""
    if a == b:
        return a
    if isinstance(a, AnyFloat) and isinstance(b, AnyFloat):
        if a.bitwidth == b.bitwidth:
            return Float32Type()
        return a if a.bitwidth > b.bitwidth else b
    if isinstance(a, AnyFloat) or isinstance(b, AnyFloat):
        return a if isinstance(a, AnyFloat) else b
    if isinstance(a, IndexType) or isinstance(b, IndexType):
        other = b if isinstance(a, IndexType) else a
        return other if words.bits(other) >= 32 else index
    return a if words.bits(a) > words.bits(b) else b


def _flags(flags: object) -> FastMathFlagsAttr:
    if not isinstance(flags, str):
        raise TypeError("fastmath is a string, such as 'contract,reassoc'")
    if flags in ("none", "fast"):
        return FastMathFlagsAttr(flags)
    return FastMathFlagsAttr([FastMathFlag(each.strip()) for each in flags.split(",")])


def _build(kind: words.OpType, operands: Sequence[SSAValue], predicate: str | None, dtype: object) -> Operation:
    """An operation of a class, with the properties that it has where nothing is said."""
    if kind in (arith.CmpiOp, arith.CmpfOp):
        if predicate is None:
            raise ValueError("its first argument is the predicate")
        return words.build(kind, *operands, predicate)
    if isinstance(dtype, str):
        return kind.create(operands=list(operands), result_types=[words.element_type(dtype)])
    return words.build(kind, *operands)
