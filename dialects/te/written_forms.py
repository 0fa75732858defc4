"""The analyzer's expressions as a person writes them: the inverse of `integer_forms`.

A sum is written positive terms first, in the order in which the variables stood in what it was made of, then its
constant, then what is subtracted. What is in its simplest form already is left as it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from xdsl.dialects.builtin import IndexType, i1, i32, i64
from xdsl.ir import Attribute

from ..tir.analyzer import nodes as n
from ..tir.analyzer.build import parts
from .expr import Binary, Const, Expr, Unary, Var, as_expr, binary, cast, const, index, select, unary
from .integer_forms import Named, Opaque, bits_of, direct_parts
from .kinds import BinaryKind as B
from .kinds import UnaryKind as U
from .literals import held

_KINDS: Mapping[type[n.IntExpr], B] = {
    n.Product: B.MUL, n.FloorDiv: B.FLOORDIV, n.FloorMod: B.FLOORMOD, n.TruncDiv: B.DIV, n.TruncMod: B.TRUNCMOD,
    n.Min: B.MIN, n.Max: B.MAX, n.BitAnd: B.AND, n.All: B.AND, n.Any_: B.OR,
}  # fmt: skip

_DENIED: Mapping[B, B] = {B.LT: B.LE, B.LE: B.LT, B.GT: B.GE, B.GE: B.GT}
"""Of each order, that in which it does not hold, the sides being exchanged."""

_OPERATORS: Mapping[B, Callable[[Expr, Expr], Expr]] = {
    B.ADD: lambda a, b: a + b, B.SUB: lambda a, b: a - b, B.MUL: lambda a, b: a * b,
    B.FLOORDIV: lambda a, b: a // b, B.FLOORMOD: lambda a, b: a % b,
}  # fmt: skip


def written(form: n.IntExpr, type: Attribute | None = None, given: Sequence[Expr] = ()) -> Expr:
    """`form` as an expression of `type`, or of the type in which its variables meet; `given` is what it was made of.

    Raises:
        ArgumentError: a number in it is none of the type.
    """
    writer = _Writer(given)
    wanted = writer.type_of(form) if type is None else type
    return cast(writer.write(form, _wide(wanted, form)), wanted)


def _wide(type: Attribute, *forms: n.IntExpr) -> Attribute:
    """The type in which arithmetic of `type` is written: in a wider one what a register holds is said by a remainder,
    and what has none does not wrap."""
    bits, signed = bits_of(type)
    computed = any(isinstance(form, n.Sum | n.Op) for form in forms)
    beyond = any(isinstance(form, n.Const) and held(form.value, type) is None for form in forms)
    if type == i1 or (bits >= 32 and signed and not beyond) or not (computed or beyond):
        return type
    return i32 if bits < 32 else i64


def leaf_types(form: n.IntExpr) -> list[Attribute]:
    """The types of the variables in a form, but for conditions and extents."""
    return [leaf.type for each in form.variables if (leaf := _leaf(each)).type not in (i1, index)]


def widest(types: Sequence[Attribute]) -> Attribute:
    """Of types of integers that with the most bits; of two, that with a sign."""
    return max(types, key=bits_of)


def size_of(expr: Expr) -> int:
    """Of how many nodes an expression is, each counted where it stands."""
    total, stack = 0, [expr]
    while stack:
        total += 1
        stack += direct_parts(stack.pop())
    return total


class _Writer:
    def __init__(self, given: Sequence[Expr]):
        self.places: dict[Expr, int] = {}
        self.conditions: dict[n.IntExpr, Expr] = {}
        self.orders: list[B] = []
        stack = list(reversed(given))
        seen = set[Expr]()
        while stack:
            expr = stack.pop()
            if expr in seen:
                continue
            seen.add(expr)
            if expr.type == i1 and isinstance(expr, Binary | Unary):
                self.conditions.setdefault(expr.to_int_expr(), expr)
                if isinstance(expr, Binary) and expr.kind in _DENIED:
                    self.orders.append(expr.kind)
                if isinstance(expr, Unary) and isinstance(inner := expr.operand, Binary) and inner.kind in _DENIED:
                    self.orders.append(_DENIED[inner.kind])
            parts_of = direct_parts(expr)
            if not parts_of:
                self.places.setdefault(expr, len(self.places))
            stack += reversed(parts_of)

    def type_of(self, form: n.IntExpr) -> Attribute:
        """A condition's, or the type in which the variables meet."""
        if n.is_condition(form) and not isinstance(form, n.Const):
            return i1
        return self._meeting(form)

    def _meeting(self, form: n.IntExpr) -> Attribute:
        types = leaf_types(form)
        if types:
            return widest(types)
        return index if form.variables else i32

    def write(self, form: n.IntExpr, type: Attribute) -> Expr:
        """`form` as an expression of `type`."""
        if type == i1:
            return self._condition(form)
        if n.is_condition(form) and not isinstance(form, n.Const):
            return cast(self._condition(form), type)
        match form:
            case n.Const():
                return const(form.value, type)
            case n.Var():
                return cast(_leaf(form), type)
            case n.Sum():
                return self._sum(form, type)
            case n.Select():
                condition, then, otherwise = form.args
                return select(self._condition(condition), self.write(then, type), self.write(otherwise, type))
            case n.PowerOfTwo():
                return binary(B.SHL, const(1, type), self.write(form.args[0], type))
            case n.Op():
                return self._joined(_KINDS[form.__class__], form.args, type)
            case _:
                raise TypeError(f"no integer expression: {form!r}")

    def _joined(self, kind: B, args: tuple[n.IntExpr, ...], type: Attribute) -> Expr:
        if kind not in (B.FLOORDIV, B.FLOORMOD, B.DIV, B.TRUNCMOD):
            args = tuple(sorted(args, key=self._place))
        return reduce(lambda a, b: combine(kind, a, b), (self.write(each, type) for each in args))

    def _place(self, form: n.IntExpr) -> tuple[int, int]:
        last = len(self.places)
        if isinstance(form, n.Const):
            return last + 1, 0
        return min((self.places.get(_leaf(each), last) for each in form.variables), default=last), 0

    def _sum(self, form: n.Sum, type: Attribute) -> Expr:
        made = self._summed(form, type)
        atom, factor = next(iter(form.terms.items()))
        if form.constant or len(form.terms) > 1 or factor != -1 or not isinstance(atom, n.Min | n.Max):
            return made
        kind = B.MAX if isinstance(atom, n.Min) else B.MIN  # -min(a, b) = max(-a, -b)
        turned = self._joined(kind, tuple(-each for each in atom.args), type)
        return turned if size_of(turned) <= size_of(made) else made

    def _summed(self, form: n.Sum, type: Attribute) -> Expr:
        terms = sorted(form.sorted_terms, key=lambda t: self._place(t[0]))
        plus = [self._term(atom, factor, type) for atom, factor in terms if factor > 0]
        minus = [self._term(atom, -factor, type) for atom, factor in terms if factor < 0]
        if form.constant > 0 or not plus:
            plus.append(const(max(form.constant, 0), type))
        if form.constant < 0:
            minus.append(const(-form.constant, type))
        return reduce(lambda a, b: combine(B.SUB, a, b), minus, reduce(lambda a, b: combine(B.ADD, a, b), plus))

    def _term(self, atom: n.IntExpr, factor: int, type: Attribute) -> Expr:
        made = self.write(atom, type)
        return made if factor == 1 else combine(B.MUL, made, const(factor, type))

    def _condition(self, form: n.IntExpr) -> Expr:
        made = self._made_condition(form)
        known = self.conditions.get(form)
        return made if known is None or size_of(made) < size_of(known) else known

    def _made_condition(self, form: n.IntExpr) -> Expr:
        match form:
            case n.Const():
                return const(form.value != 0, i1)
            case n.Var():
                return _leaf(form) if isinstance(form, n.Flag) else binary(B.NE, _leaf(form), 0)
            case n.All() | n.Any_():
                kind = _KINDS[form.__class__]
                parts_of = sorted(form.args, key=self._place)
                return reduce(lambda a, b: binary(kind, a, b), map(self._condition, parts_of))
            case n.Not(args=(n.Zero(args=(inner,)),)):
                return self._compared(B.NE, inner)
            case n.Not():
                return unary(U.NOT, self._condition(form.args[0]))
            case n.Zero():
                return self._compared(B.EQ, form.args[0])
            case n.NonNegative():
                return self._ordered(form.args[0])
            case n.Select():
                return select(*map(self._condition, form.args))
            case _:
                return self._compared(B.NE, form)

    def _sides(self, form: n.IntExpr) -> tuple[n.IntExpr, n.IntExpr, int]:
        """What is added, what is subtracted, and the constant."""
        constant, terms = parts(form)
        plus = sum((atom * factor for atom, factor in terms.items() if factor > 0), n.const(0))
        minus = sum((atom * -factor for atom, factor in terms.items() if factor < 0), n.const(0))
        return plus, minus, constant

    def _compared(self, kind: B, form: n.IntExpr) -> Expr:
        plus, minus, constant = self._sides(form)
        if isinstance(plus, n.Const):
            plus, minus, constant = minus, plus, -constant
        left = plus + max(constant, 0) if not isinstance(minus, n.Const) else plus
        right = minus + max(-constant, 0) if not isinstance(minus, n.Const) else n.const(-constant)
        type = _wide(self._meeting(form), left, right)
        return Binary(kind, self.write(left, type), self.write(right, type), i1)

    def _ordered(self, form: n.IntExpr) -> Expr:
        """`form >= 0` as a comparison, of the kind of the first that it was made of; of none, as `<` or `<=`, whichever
        has the smaller constant."""
        plus, minus, constant = self._sides(form)
        strict = constant < 0 or isinstance(plus, n.Const)
        if isinstance(minus, n.Const):
            strict = False
        kind = self.orders[0] if self.orders else B.LT if strict else B.LE
        constant += kind in (B.LT, B.GT)
        if isinstance(plus, n.Const):
            sides = minus, n.const(constant)
        elif isinstance(minus, n.Const):
            sides = n.const(-constant), plus
        else:
            sides = (minus, plus + constant) if constant > 0 else (minus - constant, plus)
        type = _wide(self._meeting(form), *sides)
        low, high = (self.write(each, type) for each in sides)
        return Binary(kind, *((high, low) if kind in (B.GT, B.GE) else (low, high)), i1)


def combine(kind: B, lhs: Expr, rhs: Expr) -> Expr:
    """Two operands of one type, combined; extents give extents in their normal form."""
    extents = isinstance(lhs.type, IndexType) and (isinstance(lhs, Var | Binary) or isinstance(rhs, Var | Binary))
    if extents and kind in _OPERATORS and (kind not in (B.FLOORDIV, B.FLOORMOD) or isinstance(rhs, Const)):
        made = _OPERATORS[kind](lhs, rhs)
        return as_expr(made, index)  # extents that cancel out leave a number
    return binary(kind, lhs, rhs)


def _leaf(variable: n.Var) -> Expr:
    """The variable, or what else is none of the analyzer's, that a variable of it stands for."""
    key = variable.key
    if isinstance(key, Opaque):
        return key.node
    if isinstance(key, Expr):
        return key
    if (found := variable.memo.get("node")) is None:
        type = i1 if isinstance(variable, n.Flag) else index
        found = variable.memo["node"] = Named(variable.name, type, variable)
    return found


def _from_integer(value: object) -> Expr | None:
    return written(value) if isinstance(value, n.IntExpr) else None


Expr.from_integer = staticmethod(_from_integer)
