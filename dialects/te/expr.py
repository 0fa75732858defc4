"""Scalar expressions of a tensor computation: what one element of a tensor is worth.

An expression is an immutable tree (a DAG, where a Python value is used twice). Its leaves are index variables,
constants and reads of other tensors. The operators of Python build it, so that a definition reads like its formula:

    te.compute((n, m), lambda i, j: te.exp(x[i, j]) * te.const(2, f32))

Counterpart of TVM's `PrimExpr`. Types are xDSL's scalar types; indices have type `index`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, VectorType, f32, i1
from xdsl.ir import Attribute

from ..support.arguments import ArgumentError
from ..support.dtypes import dtype_name, is_storage, scalar_type
from ..support.hints import isa
from ..support.provided import load
from . import literals
from .kinds import COMPARISONS as COMPARISONS
from .kinds import PREDICATES, BinaryKind, Operator, UnaryKind, common_type, index, truth_type
from .operators import Operators, TakesOver

if TYPE_CHECKING:
    from ..tir.analyzer import IntExpr


class Expr(Operators["Expr", "ExprLike"]):
    """Base of scalar expressions. `type` is the xDSL scalar type of the value."""

    type: Attribute
    shown: ClassVar[Callable[[Expr], str]] = repr
    """How `str` writes one (`te.text`)."""
    scripted: ClassVar[Callable[[object, bool], str]]
    """How `script` writes one, and other nodes: `tir.nodes.node_script`, which is loaded when it is first asked for."""
    operator: ClassVar[Callable[[Expr], Operator | None]] = lambda expr: None
    """The operator of a call; `None` of other expressions (`te.called`)."""
    as_integer: ClassVar[Callable[[Expr], IntExpr]]
    """What one is to the analyzer (`te.integer_forms`)."""
    from_integer: ClassVar[Callable[[object], Expr | None]] = lambda value: None
    """The expression that one of the analyzer's is; `None` for other values (`te.written_forms`)."""
    does_more: ClassVar[Callable[[Expr], bool]] = lambda expr: False
    """Whether a call in one may do more than give a value (`te.integer_forms`)."""

    is_read: ClassVar[bool] = False
    """Whether one is an element of memory, which is another value at another time."""

    matched_lanes: ClassVar[Callable[[str, Expr, Expr], tuple[Expr, Expr]]]
    converted_lanes: ClassVar[Callable[[Expr, Attribute], Expr]]
    """How vectors meet, and what a value is as one (`te.vectors`)."""

    def __str__(self) -> str:
        return Expr.shown(self)

    @property
    def op(self) -> Operator:
        """The operator of what is a call in TVM: `tir.exp(x).op.name` is `"tir.exp"`.

        Raises:
            AttributeError: it is an expression of a class of its own.
        """
        if (found := Expr.operator(self)) is None:
            raise AttributeError(f"a {type(self).__name__} is no call, and has no operator")
        return found

    def script(self, *, verbose_expr: bool = False) -> str:
        """The expression as TVM's printer writes it, numbers with their types; with `verbose_expr` it says first what
        each variable and buffer is.

        Raises:
            UsageError: something in it has no form in TVMScript.
        """
        return Expr.scripted(self, verbose_expr)

    def __bool__(self) -> bool:
        raise NoTruthError(NO_TRUTH)

    def __eq__(self, other: object) -> Equality:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _equality(BinaryKind.EQ, self, other)

    def __ne__(self, other: object) -> Equality:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _equality(BinaryKind.NE, self, other)

    __hash__ = object.__hash__

    @property
    def dtype(self) -> str:
        """NumPy's name of the value's type; an index is an `int64`, a vector a `float32x4`."""
        if isa(vector := self.type, VectorType[Attribute]):
            return f"{dtype_name(vector.element_type)}x{vector.get_shape()[0]}"
        return dtype_name(self.type)

    def combined(self, kind: BinaryKind, other: ExprLike) -> Expr:
        if isinstance(other, TakesOver) and kind in TakesOver.TAKEN:
            return NotImplemented  # Python asks the other one then
        return binary(kind, self, other)

    def combined_from(self, kind: BinaryKind, other: ExprLike) -> Expr:
        return binary(kind, as_expr(other, self.type), self)

    def applied(self, kind: UnaryKind) -> Expr:
        return unary(kind, self)

    def to_int_expr(self) -> IntExpr:
        """The analyzer's form of an integer expression.

        Raises:
            TypeError: its values are no integers.
        """
        return Expr.as_integer(self)

    def same_as(self, other: object) -> bool:
        """Whether both are one object."""
        return self is other

    def equal(self, other: ExprLike) -> Expr:
        """`self == other`."""
        return binary(BinaryKind.EQ, self, other)

    def not_equal(self, other: ExprLike) -> Expr:
        """`self != other`."""
        return binary(BinaryKind.NE, self, other)

    def astype(self, type: Attribute | str) -> Expr:
        """The value converted to `type`, or to NumPy's name of one: float to integer truncates, anything to `i1` is
        `!= 0`.

        Raises:
            TypeError: there is no type of that name.
        """
        if isinstance(type, str):
            element, x, lanes = type.partition("x")
            vector = x and lanes.isdigit()
            type = VectorType(scalar_type(element), [int(lanes)]) if vector else scalar_type(type)
        return cast(self, type)


ExprLike: TypeAlias = Expr | int | float | bool


class NoTruthError(ArgumentError, ValueError):
    """An expression was taken for a truth value."""


NO_TRUTH = (
    "te: an expression has no truth value before it runs: instead of `a if c else b` write te.if_then_else(c, a, b), "
    "instead of `c and d` te.all(c, d), instead of `c or d` te.any(c, d), instead of `not c` write `~c`"
)


class SymbolicExtentError(TypeError):
    """An extent was asked for as an integer, but is known only when the computation runs."""


@dataclass(frozen=True, eq=False)
class Var(Expr):
    """A symbol: an extent that is known when the computation runs, and not negative (`te.var`)."""

    name: str

    type = index


Dim: TypeAlias = int | Expr
"""An extent: an integer, or index arithmetic on symbols (`te.dims`)."""


@dataclass(frozen=True, eq=False)
class IterVar(Expr):
    """An index variable of `dim` values from `start` on; `reduce` variables belong to a `Reduce`."""

    name: str
    dim: Dim
    reduce: bool = False
    start: int = 0

    DataPar: ClassVar[int] = 0
    ThreadIndex: ClassVar[int] = 1
    CommReduce: ClassVar[int] = 2
    Ordered: ClassVar[int] = 3
    DimInfo: ClassVar[int] = 4
    Unrolled: ClassVar[int] = 5
    Vectorized: ClassVar[int] = 6
    Parallelized: ClassVar[int] = 7
    Tensorized: ClassVar[int] = 8

    @property
    def var(self) -> IterVar:
        """The variable, which is the axis itself."""
        return self

    @property
    def iter_type(self) -> int:
        """TVM's number of what it is: `DataPar` or `CommReduce`."""
        return self.CommReduce if self.reduce else self.DataPar

    @property
    def dom(self) -> NodeRange:
        """The values, as a range of expressions: `axis.dom.min`, `axis.dom.extent`."""
        return NodeRange(as_expr(self.start, index), as_expr(self.dim, index))

    @property
    def extent(self) -> int:
        """The number of values, of a variable of which it is known.

        Raises:
            SymbolicExtentError: it depends on symbols.
        """
        if isinstance(self.dim, int):
            return self.dim
        raise SymbolicExtentError(f"te: the extent of '{self.name}' is known only when the computation runs")

    type = index


@dataclass(frozen=True)
class NodeRange:
    """A range of expressions: `extent` integers from `min` on."""

    min: Expr
    extent: Expr


@dataclass(frozen=True, eq=False)
class Const(Expr):
    """A literal: `value` is an `int`, a `float` that a float type holds, or a `bool` for `i1`."""

    value: int | float | bool
    type: Attribute

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __bool__(self) -> bool:
        if isinstance(self.value, float):
            raise NoTruthError(NO_TRUTH)
        return bool(self.value)


@dataclass(frozen=True, eq=False)
class Unary(Expr):
    kind: UnaryKind
    operand: Expr
    type: Attribute

    @property
    def a(self) -> Expr:
        """The operand, as TVM calls that of `Not`."""
        return self.operand


@dataclass(frozen=True, eq=False)
class Binary(Expr):
    kind: BinaryKind
    lhs: Expr
    rhs: Expr
    type: Attribute

    @property
    def a(self) -> Expr:
        """The left operand, as TVM calls it."""
        return self.lhs

    @property
    def b(self) -> Expr:
        """The right operand, as TVM calls it."""
        return self.rhs


def _written(node: object, verbose_expr: bool) -> str:
    """Loads what writes nodes, which takes the place of this, and lets it write."""
    load("tir.scripts")
    return Expr.scripted(node, verbose_expr)


Expr.scripted = staticmethod(_written)


@dataclass(frozen=True, eq=False)
class Equality(Binary):
    """What Python's `==` and `!=` make: a condition, and, where Python asks for its truth (in `in`, in comparisons of
    tuples), whether both sides are one object. What was compared with a `number` is no object to be found: its truth is
    refused, as other conditions' is."""

    number: bool = False

    def asobject(self) -> Binary:
        """The condition, as an expression: itself."""
        return self

    def __bool__(self) -> bool:
        if isinstance(self.lhs, Const) and isinstance(self.rhs, Const):
            return (self.lhs.value == self.rhs.value) == (self.kind == BinaryKind.EQ)
        if self.number:
            raise NoTruthError(NO_TRUTH)
        return (self.lhs is self.rhs) == (self.kind == BinaryKind.EQ)


EqualOp = Equality
"""As TVM calls what `==` and `!=` make."""


@dataclass(frozen=True, eq=False)
class Select(Expr):
    """`then` where `condition` holds, else `otherwise`. Only the chosen side is read (TVM's `if_then_else`), so a
    condition may guard an index that would lie outside its tensor."""

    condition: Expr
    then: Expr
    otherwise: Expr
    type: Attribute

    @property
    def true_value(self) -> Expr:
        """`then`, as TVM calls it."""
        return self.then

    @property
    def false_value(self) -> Expr:
        """`otherwise`, as TVM calls it."""
        return self.otherwise


@dataclass(frozen=True, eq=False)
class Cast(Expr):
    operand: Expr
    type: Attribute

    @property
    def value(self) -> Expr:
        """The operand, as TVM calls it."""
        return self.operand


@dataclass(frozen=True, eq=False)
class Bitcast(Expr):
    """The bits of `operand`, read as a number of another type of as many."""

    operand: Expr
    type: Attribute


@dataclass(frozen=True, eq=False)
class Check(Expr):
    """`operand`, an index from 0 to below `extent`; where it is none, the computation fails, and says `text` of
    `given`, the index that `operand` was made of. It stands where no `Select` could choose not to make it."""

    operand: Expr
    given: Expr
    extent: Dim
    text: str

    type = index


@dataclass(frozen=True, eq=False)
class Slot(Expr):
    """In a combiner: what a reduction has so far in one of its results, or its next step there."""

    name: str
    type: Attribute


def const(value: float, type: Attribute) -> Const:
    """A literal of scalar type `type`; of floats the nearest that there is, halves to even.

    Raises:
        ArgumentError: an integer that is not finite, or that the type cannot hold.
    """
    if (held := literals.held(value, type)) is None:
        raise ArgumentError(f"te: {value} is no {type}")
    return Const(held, type)


def as_expr(value: ExprLike, type: Attribute) -> Expr:
    """An expression as it is, and a number as a literal of `type`; of `f32`, where it is no integer and `type` is of
    integers.

    Raises:
        ArgumentError: it is neither.
    """
    if isinstance(value, Expr):
        return value
    if not isinstance(value, Real):
        if (written := Expr.from_integer(value)) is not None:
            return written
        hint = "give an element, as in A[i, j]" if hasattr(value, "shape") else None
        raise ArgumentError(f"te: {value!r} is neither an expression nor a number", hint=hint)
    if isa(type, VectorType[Attribute]):
        type = type.element_type
    return const(value, f32 if isinstance(value, float) and _is_rounded(value, type) else type)


def _is_rounded(value: float, type: Attribute) -> bool:
    """Whether a type is of integers, and does not hold a float as it is."""
    if isinstance(type, IndexType):
        return True
    return isinstance(type, IntegerType) and type != i1 and not value.is_integer()


def binary(kind: BinaryKind, lhs: Expr, rhs: ExprLike) -> Expr:
    """Build `kind(lhs, rhs)`; index arithmetic on literals and on neutral elements is folded away. Operands of two
    types are converted to that in which both meet (`common_type`).

    Raises:
        TypeError: the operands' types do not meet, or nothing is computed with them.
        ArgumentError: `kind` is of bits, and they are floats; or a literal integer is divided by 0.
    """
    lhs, rhs = _matched(f"operands of '{kind}'", lhs, as_expr(rhs, lhs.type))
    if not (isinstance(lhs, Const) and isinstance(rhs, Const) and isa(lhs.type, IntegerType)):
        _refuse_storage(lhs.type)  # no machine computes with these, but literals of them are integers as others
    if kind in _OF_BITS:
        _refuse_float(kind, lhs.type)
    if isinstance(lhs, Const) or isinstance(rhs, Const) or isinstance(lhs, IterVar):
        folded = _folded(kind, lhs, rhs)
        if folded is not None and not (isinstance(folded, Const) and (Expr.does_more(lhs) or Expr.does_more(rhs))):
            return folded
    return Binary(kind, lhs, rhs, truth_type(lhs.type) if kind.is_comparison else lhs.type)


_DIVISIONS = frozenset({BinaryKind.DIV, BinaryKind.TRUNCMOD, BinaryKind.FLOORDIV, BinaryKind.FLOORMOD})
_OF_BITS = frozenset({BinaryKind.AND, BinaryKind.OR, BinaryKind.XOR, BinaryKind.SHL, BinaryKind.SHR, UnaryKind.NOT})
_ROUNDING = frozenset({UnaryKind.FLOOR, UnaryKind.CEIL, UnaryKind.TRUNC, UnaryKind.ROUND})


def _refuse_float(kind: BinaryKind | UnaryKind, type: Attribute) -> None:
    element = type.element_type if isa(type, VectorType[Attribute]) else type
    if isinstance(element, AnyFloat):
        raise ArgumentError(f"te: '{kind}' is of the bits of integers, and not of {element}", hint="tir.reinterpret")


def _folded(kind: BinaryKind, lhs: Expr, rhs: Expr) -> Expr | None:
    """What `kind` of a literal is without computing; `None` where there is no such thing."""
    type = lhs.type
    if isinstance(lhs, Const) and isinstance(rhs, Const):
        if kind in _DIVISIONS and isa(type, IntegerType | IndexType) and rhs.value == 0:
            raise ArgumentError(f"te: {lhs.value} is divided by 0")
        value = literals.combined(kind, lhs.value, rhs.value, type)
        return None if value is None else Const(value, i1 if kind.is_comparison else type)
    if not isa(type, IntegerType | IndexType):
        return None
    if type == i1:
        known, other = (lhs, rhs) if isinstance(lhs, Const) else (rhs, lhs)
        if not isinstance(known, Const) or kind not in (BinaryKind.AND, BinaryKind.OR):
            return None
        return other if bool(known.value) == (kind == BinaryKind.AND) else known
    if isinstance(rhs, Const):
        if (rhs.value, kind) in _UNCHANGED:
            return lhs
        if rhs.value == 1 and kind in (BinaryKind.FLOORMOD, BinaryKind.TRUNCMOD):
            return Const(0, type)
        if rhs.value == 0 and kind == BinaryKind.MUL:
            return rhs
        if isinstance(lhs, IterVar) and isinstance(lhs.dim, int) and lhs.start == 0 < lhs.dim <= rhs.value:
            return {BinaryKind.FLOORDIV: Const(0, type), BinaryKind.FLOORMOD: lhs}.get(kind)
    if isinstance(lhs, Const):
        if (lhs.value, kind) in ((0, BinaryKind.ADD), (1, BinaryKind.MUL)):
            return rhs
        if lhs.value == 0 and kind in (BinaryKind.MUL, BinaryKind.FLOORDIV, BinaryKind.FLOORMOD):
            return lhs
    return None


_UNCHANGED = {
    (0, BinaryKind.ADD), (0, BinaryKind.SUB), (1, BinaryKind.MUL), (1, BinaryKind.FLOORDIV), (1, BinaryKind.DIV),
}  # fmt: skip
"""The right operands that leave an integer as it is."""


def _matched(what: str, a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Both in the type in which they meet.

    Raises:
        TypeError: there is none.
    """
    if a.type == b.type:
        return a, b
    if isinstance(a.type, VectorType) or isinstance(b.type, VectorType):
        return Expr.matched_lanes(what, a, b)
    for each in (a, b):
        _refuse_storage(each.type)
    if (type := common_type(a.type, b.type)) is None:
        raise TypeError(f"te: {what} have different types: {a.type} and {b.type}")
    return cast(a, type), cast(b, type)


def _equality(kind: BinaryKind, lhs: Expr, rhs: object) -> Equality:
    """The condition, where the two can be compared."""
    if not isinstance(rhs, Expr | int | float):
        return NotImplemented
    try:
        a, b = _matched(f"operands of '{kind}'", lhs, as_expr(rhs, lhs.type))
        _refuse_storage(a.type)
    except TypeError:
        return NotImplemented
    return Equality(kind, a, b, truth_type(a.type), not isinstance(rhs, Expr))


def _refuse_storage(type: Attribute) -> None:
    if is_storage(type):
        raise TypeError(f"te: {type} is a type to keep numbers in; cast them to compute with them")


def unary(kind: UnaryKind, operand: Expr) -> Expr:
    """Build `kind(operand)`.

    Raises:
        TypeError: nothing is computed with the operand's type.
        ArgumentError: `kind` is of bits, and it is a float.
    """
    _refuse_storage(operand.type)
    if kind in _OF_BITS:
        _refuse_float(kind, operand.type)
    type: Attribute = operand.type
    if isa(type, IntegerType | IndexType):
        if kind in _ROUNDING:
            return operand
        if kind in PREDICATES and not Expr.does_more(operand):
            return const(kind == UnaryKind.ISFINITE, i1)
    if isinstance(operand, Const) and (value := literals.applied(kind, operand.value, operand.type)) is not None:
        return const(value, operand.type)
    return Unary(kind, operand, i1 if kind in PREDICATES else operand.type)


def cast(operand: Expr, type: Attribute) -> Expr:
    """`operand` converted to a type."""
    if operand.type == type:
        return operand
    if isa(type, VectorType[Attribute]):
        return Expr.converted_lanes(operand, type)
    if isinstance(operand, Const) and not is_storage(type) and not is_storage(operand.type):
        value = literals.converted(operand.value, operand.type, type)
        if value is not None:
            return const(value, type)
    return Cast(operand, type)


def bitcast(operand: Expr, type: Attribute) -> Expr:
    """The bits of `operand` as a number of `type`.

    Raises:
        TypeError: the type has another number of bits.
    """
    if operand.type == type:
        return operand
    widths = [getattr(each, "bitwidth", None) for each in (operand.type, type)]
    if widths[0] is None or widths[0] != widths[1]:
        raise TypeError(f"te: {operand.type} and {type} have not the same bits")
    return Bitcast(operand, type)


def select(condition: Expr, then: Expr, otherwise: ExprLike) -> Expr:
    """`then` if `condition` (an `i1`) else `otherwise`, reading only the chosen side."""
    then, otherwise = _matched("the sides of a select", then, as_expr(otherwise, then.type))
    return Select(condition, then, otherwise, then.type)


def check(operand: Expr, extent: Dim, text: str, given: Expr | None = None) -> Expr:
    """`operand`, which must be from 0 to below `extent`. If it is not, the run fails with a `CheckError` that says
    `text`, in which `{index}` and `{extent}` stand for `given` (`operand`, unless there is one) and the extent.

    Raises:
        TypeError: one of them is no index.
    """
    given = operand if given is None else given
    for each in (operand, given):
        if each.type != index:
            raise TypeError(f"te: only an index can be checked, not a value of type {each.type}")
    return Check(operand, given, extent, text)


def minimum(lhs: Expr, rhs: ExprLike) -> Expr:
    return binary(BinaryKind.MIN, lhs, rhs)


def maximum(lhs: Expr, rhs: ExprLike) -> Expr:
    return binary(BinaryKind.MAX, lhs, rhs)


def power(lhs: Expr, rhs: ExprLike) -> Expr:
    return binary(BinaryKind.POW, lhs, rhs)


def all_of(conditions: Sequence[Expr]) -> Expr:
    """The conjunction of `i1` expressions; true where there are none."""
    result: Expr | None = None
    for condition in conditions:
        result = condition if result is None else result & condition
    return const(1, i1) if result is None else result
