"""Integer expressions that a person writes as the analyzer's, whatever stands in them.

    integer_form(x * 2 + A[i + 1 - 1])      # 2 * x + v, where the variable v stands for A[i]

The arithmetic of `index` and of signed integers of 32 bits or more is taken not to leave its type, as TVM takes it;
what is computed in a narrower or unsigned type is the remainder that its register holds. What is no integer arithmetic
(an element of a tensor, a call, a float that is rounded) is a variable, one for each form: two reads of one element are
the same, two calls of a function that may do more than give a value are not. Nothing is divided by zero, and nothing
shifted by a negative amount: of expressions that do that, nothing is said, and a
quotient by the literal 0 is a variable.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import count
from math import copysign
from typing import cast

from xdsl.dialects.builtin import IndexType, IntegerType, Signedness, i1
from xdsl.ir import Attribute

from ..support.arguments import ArgumentError
from ..support.hints import is_tuple, isa
from ..tir.analyzer import IntExpr, maximum, minimum
from ..tir.analyzer import const as integer
from ..tir.analyzer import var as variable
from ..tir.analyzer.build import all_of, any_of, negate, select, truncdiv, truncmod, truth, wrap
from ..tir.analyzer.functions import floordiv, floormod
from ..tir.analyzer.nodes import Const as Integer
from ..tir.analyzer.nodes import Flag
from ..tir.analyzer.nodes import Var as Variable
from .dims import form_of
from .expr import Binary, Cast, Check, Const, Equality, Expr, IterVar, Select, Slot, Unary, Var, binary, index
from .kinds import BinaryKind as B
from .kinds import UnaryKind as U
from .let import Let

Inner = Callable[[Expr], Expr]
"""What is done to the operands of what is no integer arithmetic."""
_numbers = count(1)


def is_integer(type: Attribute) -> bool:
    """Whether a value is an integer, an index or a condition."""
    return isinstance(type, IntegerType | IndexType)


def bits_of(type: Attribute) -> tuple[int, bool]:
    """The bits of an integer's type, and whether it has a sign."""
    if not isa(type, IntegerType):
        return 64, True
    return type.width.data, type.signedness.data != Signedness.UNSIGNED and type != i1


def fits(type: Attribute, expr: IntExpr) -> IntExpr:
    """What a register of a type holds of `expr`."""
    if type == i1:
        return truth(expr)
    bits, signed = bits_of(type)
    return expr if signed and bits >= 32 else wrap(expr, bits, signed)


@dataclass(frozen=True)
class Opaque:
    """What tells a variable for an expression that is no integer arithmetic: its form."""

    form: Hashable
    node: Expr = field(compare=False)


@dataclass(frozen=True, eq=False)
class Named(Slot):
    """The expression that a variable of the analyzer's own is (`arith.var`)."""

    form: IntExpr


def integer_form(expr: Expr, inner: Inner | None = None) -> IntExpr:
    """An integer expression, or a condition, as the analyzer's.

    Raises:
        ArgumentError: its values are no integers.
    """
    if not is_integer(expr.type):
        raise ArgumentError(f"te: no integer expression: {expr}, a {expr.dtype}")
    return _Forms(inner).of(expr)


class _Forms:
    def __init__(self, inner: Inner | None):
        self.inner = inner
        self.known: dict[Expr, IntExpr] = {}

    def of(self, expr: Expr) -> IntExpr:
        """The form of an integer expression or a condition."""
        if (found := self.known.get(expr)) is None:
            found = self.known[expr] = self._of(expr)
        return found

    def _of(self, expr: Expr) -> IntExpr:
        match expr:
            case Const(value):
                return integer(int(value))
            case Var():
                return form_of(expr)
            case Named():
                return expr.form
            case IterVar() | Slot():
                return variable_for(expr)
            case Check(operand):
                return self.of(operand)
            case Cast(operand, type) if is_integer(operand.type):
                return self._cast(operand, type)
            case Select(condition, then, otherwise):
                return select(*map(self.of, (condition, then, otherwise)))
            case Let() if is_integer(expr.value.type):
                return self.of(replaced(expr.body, {expr.var: expr.value}))
            case Unary(kind, operand) if kind in (U.NEG, U.ABS, U.NOT) and is_integer(operand.type):
                return self._unary(kind, operand)
            case Binary(kind, lhs, rhs) if is_integer(lhs.type):
                made = self._binary(kind, self.of(lhs), self.of(rhs), lhs.type)
                if made is not None:
                    return made if kind.is_comparison or lhs.type == i1 else fits(lhs.type, made)
            case _:
                pass
        return self._opaque(expr)

    def _cast(self, operand: Expr, type: Attribute) -> IntExpr:
        (bits, signed), (given, had_sign) = bits_of(type), bits_of(operand.type)
        form = self.of(operand)
        if operand.type == index and bits >= 32 and signed:
            return form
        if type != i1 and (given < bits if signed or not had_sign else False):
            return form
        return form if (bits, signed) == (given, had_sign) else _narrowed(type, form)

    def _unary(self, kind: U, operand: Expr) -> IntExpr:
        form = self.of(operand)
        if operand.type == i1:
            return negate(truth(form)) if kind == U.NOT else form
        made = -form if kind == U.NEG else -form - 1 if kind == U.NOT else maximum(form, -form)
        return fits(operand.type, made)

    def _binary(self, kind: B, a: IntExpr, b: IntExpr, type: Attribute) -> IntExpr | None:
        if type == i1:
            made = _CONDITIONS.get(kind)
            return None if made is None else made(truth(a), truth(b))
        if kind in (B.SHL, B.SHR):
            bits, signed = bits_of(type)
            if not (signed and bits >= 32) and not (isinstance(b, Integer) and 0 <= b.value < bits):
                return None
            return a << b if kind == B.SHL else a >> b
        made = _INTEGERS.get(kind)
        if made is None or (kind in _DIVISIONS and isinstance(b, Integer) and not b.value):
            return None
        return made(a, b)

    def _opaque(self, expr: Expr) -> IntExpr:
        if self.inner is not None:
            expr = map_operands(expr, self.inner)
        key, within = Opaque(self._parts(expr), expr), self._variables_in(expr)
        if expr.type == i1:
            return variable(key, str(expr), Flag, within=within)
        return variable(key, _name(expr), Variable, _bounds_of(expr.type), next(_numbers), within)

    def _variables_in(self, expr: Expr) -> frozenset[Variable]:
        """The variables that an expression which is no integer arithmetic depends on."""
        found, stack, seen = frozenset[Variable](), direct_parts(expr), set[int]()
        while stack:
            if id(each := stack.pop()) in seen:
                continue
            seen.add(id(each))
            stack += direct_parts(each)
            if is_integer(each.type) and isinstance(each, IterVar | Slot | Var):
                found |= self.of(each).variables
        return found

    def _parts(self, expr: Expr) -> Hashable:
        """What tells an expression from others: its class, and what is in it."""
        if not is_dataclass(expr) or _does_more(expr):
            return id(expr)
        return type(expr), *(self._key(getattr(expr, each.name)) for each in fields(expr))

    def _key(self, value: object) -> Hashable:
        """What is equal where two values of an expression surely are."""
        match value:
            case Expr() if is_integer(value.type) and isinstance(
                value, Binary | Unary | Select | Const | Var | IterVar
            ):
                return self.of(value), value.type
            case Slot() | IterVar() | Var():
                return value
            case Expr():
                return self._parts(value)
            case _ if is_tuple(value):
                return tuple(map(self._key, value))
            case float():
                return value, copysign(1.0, value)  # the zeros are two
            case int() | str() | Attribute() | None:
                return value
            case _:
                return id(value)


def _does_more(expr: Expr) -> bool:
    """Whether an expression is a call that may do more than give a value."""
    return "pure" not in getattr(expr, "word", "pure")


def does_more(expr: Expr) -> bool:
    """Whether a call anywhere in an expression may do more than give a value."""
    stack, seen = [expr], set[Expr]()
    while stack:
        if (each := stack.pop()) not in seen:
            if _does_more(each):
                return True
            seen.add(each)
            stack += direct_parts(each)
    return False


def _narrowed(type: Attribute, form: IntExpr) -> IntExpr:
    if type == i1:
        return truth(form)
    bits, signed = bits_of(type)
    return wrap(form, bits, signed)


def variable_for(expr: Slot | IterVar) -> IntExpr:
    """The analyzer's variable for a variable of a dtype: the same each time, with the values of its type."""
    key = Opaque(expr, expr)
    if expr.type == i1:
        return variable(key, expr.name, Flag)
    return variable(key, expr.name, Variable, (None, None) if isinstance(expr, IterVar) else _bounds_of(expr.type))


def _bounds_of(type: Attribute) -> tuple[int | None, int | None]:
    bits, signed = bits_of(type)
    if not is_integer(type) or (bits >= 64 and signed):
        return None, None
    if signed:
        return -(1 << bits - 1), (1 << bits - 1) - 1
    return 0, (1 << bits) - 1 if bits < 64 else None


def _name(expr: Expr) -> str:
    return str(getattr(expr, "name", type(expr).__name__.lower()))


def direct_parts(expr: Expr) -> list[Expr]:
    """The expressions directly in one, in order; none of a variable."""
    if not is_dataclass(expr) or isinstance(expr, IterVar | Slot | Var):
        return []
    found: list[Expr] = []
    for each in fields(expr):
        value: object = getattr(expr, each.name)
        values = value if is_tuple(value) else (value,)
        found += [one for one in values if isinstance(one, Expr)]
    return found


def map_operands(expr: Expr, function: Inner) -> Expr:
    """An expression with `function` applied to each of its direct operands; itself, where nothing changes. What it
    defines, a name or axes, is no operand."""
    if not is_dataclass(expr) or isinstance(expr, IterVar | Slot | Var):
        return expr
    changed: dict[str, object] = {}
    for each in fields(expr):
        if each.name in ("var", "axes"):
            continue
        value = getattr(expr, each.name)
        new = _mapped(value, function)
        if new is not value:
            changed[each.name] = new
    if not changed:
        return expr
    if isinstance(expr, Binary) and not isinstance(expr, Equality):
        return binary(expr.kind, *(cast("Expr", changed.get(name, getattr(expr, name))) for name in ("lhs", "rhs")))
    return cast("Callable[..., Expr]", type(expr))(
        **{each.name: changed.get(each.name, getattr(expr, each.name)) for each in fields(expr)}
    )


def replaced(expr: Expr, values: Mapping[Expr, Expr]) -> Expr:
    """An expression with others in place of some in it."""
    if (found := values.get(expr)) is not None:
        return found
    if isinstance(expr, Let):
        return _replaced_within(expr, values)
    return map_operands(expr, lambda part: replaced(part, values))


def _replaced_within(let: Let, values: Mapping[Expr, Expr]) -> Expr:
    """The name of a `let` is its own in the body: what it hides stays, and what others bring in is not named by it."""
    within = {each: value for each, value in values.items() if each is not let.var}
    name = Slot(getattr(let.var, "name", "value"), let.var.type)
    body = replaced(replaced(let.body, {let.var: name}), within)
    return Let(name, replaced(let.value, values), body)


def _mapped(value: object, function: Inner) -> object:
    if isinstance(value, Expr):
        return function(value)
    if is_tuple(value):
        new = tuple(_mapped(each, function) for each in value)
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new
    return value


_CONDITIONS: dict[B, Callable[[IntExpr, IntExpr], IntExpr]] = {
    B.AND: all_of,
    B.OR: any_of,
    B.MUL: all_of,
    B.MIN: all_of,
    B.MAX: any_of,
    B.EQ: lambda a, b: a.equal(b),
    B.NE: lambda a, b: a.differs(b),
    B.XOR: lambda a, b: a.differs(b),
}
_INTEGERS: dict[B, Callable[[IntExpr, IntExpr], IntExpr]] = {
    B.ADD: lambda a, b: a + b,
    B.SUB: lambda a, b: a - b,
    B.MUL: lambda a, b: a * b,
    B.DIV: truncdiv,
    B.TRUNCMOD: truncmod,
    B.FLOORDIV: floordiv,
    B.FLOORMOD: floormod,
    B.MIN: minimum,
    B.MAX: maximum,
    B.AND: lambda a, b: a & b,
    B.EQ: lambda a, b: a.equal(b),
    B.NE: lambda a, b: a.differs(b),
    B.LT: lambda a, b: a < b,
    B.LE: lambda a, b: a <= b,
    B.GT: lambda a, b: a > b,
    B.GE: lambda a, b: a >= b,
}

_DIVISIONS = frozenset({B.DIV, B.TRUNCMOD, B.FLOORDIV, B.FLOORMOD})

Expr.as_integer = staticmethod(integer_form)
Expr.does_more = staticmethod(does_more)
