"""Expressions as TVMScript: `str(x[i, j] * 2.0 + bias)`, and the syntax that a function's text would have there.

    render(expr, leaf)      # ast.BinOp(...); `leaf` says what variables, and what else has no form of its own, are

Numbers beside other operands are written as they are; where nothing gives them a type, it is written too.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from math import isfinite

from xdsl.dialects.builtin import AnyFloat, IndexType, VectorType, i1
from xdsl.ir import Attribute

from ..support.diagnostics import UsageError
from ..support.dtypes import dtype_name
from ..support.hints import isa
from . import literals
from .called import operator_of as operator_of  # says what calls are of
from .calls import Call
from .expr import Binary, Bitcast, Cast, Check, Const, Dim, Expr, IterVar, Select, Slot, Unary, Var
from .kinds import BinaryKind as B
from .kinds import UnaryKind as U
from .let import Let
from .reduction import Fold, Reduce
from .spelled import Argument, Choice, Spelled
from .tensor import Filled, Read
from .vectors import Broadcast, Ramp

Leaf = Callable[[Expr], ast.expr]
"""The syntax of what `render` knows no form of: variables, elements of tensors, what others define."""

_OPERATORS: Mapping[B, ast.operator] = {
    B.ADD: ast.Add(), B.SUB: ast.Sub(), B.MUL: ast.Mult(), B.FLOORDIV: ast.FloorDiv(), B.FLOORMOD: ast.Mod(),
    B.AND: ast.BitAnd(), B.OR: ast.BitOr(), B.XOR: ast.BitXor(), B.SHL: ast.LShift(), B.SHR: ast.RShift(),
}  # fmt: skip
_COMPARISONS: Mapping[B, ast.cmpop] = {
    B.EQ: ast.Eq(), B.NE: ast.NotEq(), B.LT: ast.Lt(), B.LE: ast.LtE(), B.GT: ast.Gt(), B.GE: ast.GtE(),
}  # fmt: skip
_CONDITIONS: Mapping[B, type[ast.boolop]] = {B.AND: ast.And, B.OR: ast.Or}
_CALLS: Mapping[B, str] = {B.MIN: "min", B.MAX: "max", B.POW: "pow", B.ATAN2: "atan2", B.COPYSIGN: "copysign"}


WORDS = "T"
"""What the namespace of TVMScript's words is called."""


def word(name: str, *arguments: ast.expr) -> ast.expr:
    """`T.name(arguments)`; a name may have dots."""
    function: ast.expr = ast.Name(WORDS, ast.Load())
    for part in name.split("."):
        function = ast.Attribute(function, part, ast.Load())
    return ast.Call(function, list(arguments), [])


def type_word(type: Attribute) -> str:
    """TVMScript's name of a type."""
    if isa(type, VectorType[Attribute]):
        return f"{type_word(type.element_type)}x{type.get_shape()[0]}"
    return "index" if isinstance(type, IndexType) else dtype_name(type)


def number(value: float, type: Attribute) -> ast.expr:
    """A literal of a type that nothing else gives it."""
    if isinstance(value, float) and not isfinite(value):
        return word(type_word(type), ast.Constant(str(value)))
    if type == i1:
        return ast.Constant(bool(value))
    return word(type_word(type), ast.Constant(literals.shortest(value, type)))


def render(expr: Expr, leaf: Leaf, literal: Callable[[Const], ast.expr] | None = None) -> ast.expr:
    """An expression as syntax of TVMScript; `literal` says how all numbers are written, if it is given.

    Raises:
        UsageError: it has no form there.
    """

    def beside(one: Expr, other: Expr) -> ast.expr:
        """An operand whose type the other one gives."""
        if isinstance(one, Const) and literal is not None:
            return literal(one)
        if isinstance(one, Const) and not isinstance(other, Const) and one.type != i1 and isfinite(one.value):
            return _bare(one)
        return again(one)

    def again(part: Expr) -> ast.expr:
        return render(part, leaf, literal)

    match expr:
        case Const(value, type):
            return number(value, type) if literal is None else literal(expr)
        case Binary(kind, lhs, rhs):
            return _binary(kind, beside(lhs, rhs), beside(rhs, lhs), lhs.type)
        case Unary(kind, operand):
            return _unary(kind, again(operand), operand.type)
        case Select(condition, then, otherwise):
            name = "Select" if isinstance(expr, Choice) else "if_then_else"
            return word(name, *(again(each) for each in (condition, then, otherwise)))
        case Cast(operand, type):
            return word("Cast", ast.Constant(type_word(type)), again(operand))
        case Bitcast(operand, type):
            return word("reinterpret", ast.Constant(type_word(type)), again(operand))
        case Check(operand, given, extent, text):
            end = ast.Constant(extent) if isinstance(extent, int) else again(extent)
            return word("check", again(operand), again(given), end, ast.Constant(text))
        case Spelled(op, args, keywords):
            made = word(op, *(_argument(each, again) for each in args))
            assert isinstance(made, ast.Call)
            made.keywords = [ast.keyword(name, ast.Constant(value)) for name, value in keywords]
            return made
        case _:
            return leaf(expr)


def call_syntax(call: Call, given: Sequence[ast.expr]) -> ast.expr:
    """A call of a function outside, or of a builtin, which is given these."""
    if not call.name:
        return word(call.word, *given)
    if call.word != "call_packed":
        return word(call.word, ast.Constant(call.result or ""), ast.Constant(call.name), *given)
    made = word(call.word, ast.Constant(call.name), *given)
    if call.result is not None:
        assert isinstance(made, ast.Call)
        made.keywords = [ast.keyword("dtype", ast.Constant(call.result))]
    return made


def _argument(value: Argument, written: Leaf) -> ast.expr:
    match value:
        case Expr():
            return written(value)
        case tuple():
            return ast.List([written(each) for each in value], ast.Load())
        case _:
            return ast.Constant(value)


def _bare(literal: Const) -> ast.expr:
    value = literals.shortest(literal.value, literal.type)
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def _binary(kind: B, lhs: ast.expr, rhs: ast.expr, type: Attribute) -> ast.expr:
    is_float = isinstance(type, AnyFloat)
    if kind in _COMPARISONS:
        return ast.Compare(lhs, [_COMPARISONS[kind]], [rhs])
    if type == i1 and kind in _CONDITIONS:
        op = _CONDITIONS[kind]
        before = lhs.values if isinstance(lhs, ast.BoolOp) and isinstance(lhs.op, op) else [lhs]
        return ast.BoolOp(op(), [*before, rhs])
    if kind == B.DIV:
        return ast.BinOp(lhs, ast.Div(), rhs) if is_float else word("truncdiv", lhs, rhs)
    if kind == B.TRUNCMOD:
        return word("fmod" if is_float else "truncmod", lhs, rhs)
    if kind == B.FLOORMOD and is_float:
        return ast.BinOp(lhs, ast.Sub(), ast.BinOp(ast.BinOp(lhs, ast.FloorDiv(), rhs), ast.Mult(), rhs))
    return word(_CALLS[kind], lhs, rhs) if kind in _CALLS else ast.BinOp(lhs, _OPERATORS[kind], rhs)


def _unary(kind: U, operand: ast.expr, type: Attribute) -> ast.expr:
    match kind:
        case U.NEG:
            return ast.UnaryOp(ast.USub(), operand)
        case U.NOT:
            return ast.UnaryOp(ast.Not() if type == i1 else ast.Invert(), operand)
        case U.SIGN:
            raise UsageError("te: TVMScript has no function that gives the sign of a number")
        case _:
            return word(kind.value, operand)


def text_of(value: Expr | Dim) -> str:
    """An expression as one would write it, for people: variables and tensors by their own names."""
    if not isinstance(value, Expr):
        return str(value)
    return ast.unparse(ast.fix_missing_locations(render(value, _named)))


def _named(expr: Expr) -> ast.expr:
    match expr:
        case Var(name) | IterVar(name) | Slot(name):
            return ast.Name(name, ast.Load())
        case Read(tensor, indices):
            places = [_place(each) for each in indices] or [ast.Tuple([], ast.Load())]
            inside = places[0] if len(places) == 1 else ast.Tuple(places, ast.Load())
            return ast.Subscript(ast.Name(tensor.name, ast.Load()), inside, ast.Load())
        case Reduce(kind, operand, axes, start):
            return _reduction(kind, [operand], axes, [] if start is None else [start])
        case Fold(_, operands, axes, _, start):
            return _reduction("reduce", operands, axes, start or ())
        case Filled():
            return ast.Name("...", ast.Load())
        case Let(variable, value, body):
            return word("let", *(render(each, _named) for each in (variable, value, body)))
        case Ramp(base, stride, lanes):
            return word("ramp", _place(base), _place(stride), ast.Constant(lanes))
        case Broadcast(value, lanes):
            return word("broadcast", render(value, _named), ast.Constant(lanes))
        case _ if (element := getattr(expr, "buffer", None)) is not None:
            places = [_place(each) for each in getattr(expr, "indices", ())]
            inside = places[0] if len(places) == 1 else ast.Tuple(places, ast.Load())
            return ast.Subscript(ast.Name(str(element.name), ast.Load()), inside, ast.Load())
        case _ if (name := getattr(expr, "word", None)) is not None:
            given = [getattr(expr, "name", ""), *getattr(expr, "args", ())]
            return word(str(name), *(render(a, _named) if isinstance(a, Expr) else ast.Constant(a) for a in given))
        case _:
            raise UsageError(f"te: a {type(expr).__name__} has no text")


def _place(expr: Expr) -> ast.expr:
    return _bare(expr) if isinstance(expr, Const) else render(expr, _named)


def _reduction(name: str, operands: Sequence[Expr], axes: Sequence[IterVar], start: Sequence[Expr]) -> ast.expr:
    over = ast.List([ast.Name(axis.name, ast.Load()) for axis in axes], ast.Load())
    given = [render(each, _named) for each in operands]
    keywords = [ast.keyword("axis", over)]
    if start:
        first = [render(each, _named) for each in start]
        keywords.append(ast.keyword("init", first[0] if len(first) == 1 else ast.Tuple(first, ast.Load())))
    return ast.Call(ast.Name(name, ast.Load()), given, keywords)


Expr.shown = staticmethod(text_of)
