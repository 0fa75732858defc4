"""Tensor expressions as users write them: TVM's argument forms, on top of the operators' own (`tensor`, `expr`).

    A, B = te.placeholder((n, k), "float32", name="A"), te.placeholder((k, m), "float32", name="B")
    k = te.reduce_axis((0, 64), "k")
    C = te.compute((n, m), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")

What differs from the operators' own: a dtype may be NumPy's name of it; axes are called as the function's parameters
are; where two numbers of different types meet, an index becomes what the other is; and mistakes are diagnostics.
"""

from __future__ import annotations

import inspect
from builtins import any as any_of
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isfinite
from typing import Any, Literal, Protocol, TypeAlias, cast, overload

from xdsl.dialects.builtin import AnyFloat, i1
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineExpr

from ..support.arguments import ArgumentError, checked
from ..support.diagnostics import UsageError
from ..support.dtypes import scalar_type
from ..support.hints import is_sequence, isa
from ..tir.analyzer.nodes import Const as Number
from ..tir.analyzer.nodes import IntExpr
from . import broadcast as broadcast
from . import integer_forms as integer_forms
from . import tensor as own
from . import text as text
from . import vectors as vectors
from . import written_forms as written_forms
from .dims import named_var
from .element_types import DType, element_type, vector_type
from .expr import Binary, BinaryKind, Const, Dim, Expr, ExprLike, IterVar, Slot, UnaryKind, Var, binary, index, unary
from .expr import cast as convert
from .expr import const as literal
from .expr import select as choose
from .kinds import ReduceKind
from .reducers import folds_of, own_reducer, starts
from .reduction import COMBINER, Fold, Reduce, reduce_identity
from .tags import tagged
from .tensor import Compute, Tensor, TensorSlice
from .tensor_intrin import IntrinsicCall

LARGEST_F32 = 3.4028234663852886e38
"""The largest number of `float32`."""

Axes: TypeAlias = IterVar | Sequence[IterVar]


Extents: TypeAlias = "Dim | Number | Sequence[Dim | Number]"
"""A shape: also numbers that the analyzer has found (`arith.Analyzer().simplify(256 + 2)`)."""


@checked
def placeholder(shape: Extents, dtype: DType = "float32", name: str = "placeholder") -> Tensor:
    """An input tensor.

    Raises:
        UsageError: the shape or the dtype is none.
    """
    return own.placeholder(_shape(shape), element_type(dtype), name)


def _shape(shape: Extents) -> tuple[Dim, ...]:
    given = tuple(shape) if isinstance(shape, Sequence) else (shape,)
    dims = tuple(dim.value if isinstance(dim, Number) else dim for dim in given)
    for dim in dims:
        if isinstance(dim, int) and dim < 0:
            raise UsageError(f"te: {dim!r} is no extent", hint="give integers from 0 on")
    return dims


_I: TypeAlias = IterVar
Formula: TypeAlias = (
    Callable[[], object]
    | Callable[[_I], object]
    | Callable[[_I, _I], object]
    | Callable[[_I, _I, _I], object]
    | Callable[[_I, _I, _I, _I], object]
    | Callable[[_I, _I, _I, _I, _I], object]
    | Callable[[_I, _I, _I, _I, _I, _I], object]
)
"""A function of one index for each dimension; a lambda's parameters get their type from here."""


class AnyRankFormula(Protocol):
    """A function of any number of indices."""

    def __call__(self, *indices: IterVar) -> object: ...


@overload
def compute(
    shape: Extents,
    fcompute: AnyRankFormula,
    name: str = "compute",
    tag: str = "",
    attrs: dict[str, object] | None = None,
) -> Tensor: ...


@overload
def compute(
    shape: Extents,
    fcompute: Formula,
    name: str = "compute",
    tag: str = "",
    attrs: dict[str, object] | None = None,
) -> Tensor: ...


@overload
def compute(
    shape: Extents,
    fcompute: Callable[..., tuple[Expr, ...]],
    name: str = "compute",
    tag: str = "",
    attrs: dict[str, object] | None = None,
) -> tuple[Tensor, ...]: ...


@checked
def compute(
    shape: Extents,
    fcompute: Formula | AnyRankFormula | Callable[..., tuple[Expr, ...]],
    name: str = "compute",
    tag: str = "",
    attrs: dict[str, object] | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """The tensor whose element at `(i, j, ...)` is `fcompute(i, j, ...)`; its axes are called as the parameters are.
    Where that is a tuple, a tensor for each of its values: the results of one reduction (`comm_reducer`), or formulas
    that are computed one after the other. Where it is the call of a tensor intrinsic (`decl_tensor_intrin`), the last
    dimensions are that's, and the function has no parameters for them.

    `tag` and `attrs` are kept (`C.op.tag`, `C.op.attrs`), for schedules of one's own; Weft's tell operators by classes.

    Raises:
        UsageError: the function takes another number of indices, or gives no expression.
        IndexError: it surely reads outside of a tensor.
    """
    dims = _shape(shape)
    parameters = list(inspect.signature(fcompute).parameters.values())
    spread = [p for p in parameters if p.kind == inspect.Parameter.VAR_POSITIONAL]
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(plain) < len(dims) and not spread and (called := _intrinsic(fcompute, dims[: len(plain)], plain)):
        axes, call = called
        made = Tensor(dims, call.intrin.op.tensor.element_type, name, call.formula(axes, dims, name))
        assert made.producer is not None
        own.check_reads(made.producer, name)
        return tagged(made, tag, attrs)
    if len(plain) > len(dims) or (len(plain) < len(dims) and not spread):
        raise UsageError(f"te: '{name}' has {len(dims)} dimensions, and its function takes {len(plain)} indices")
    if spread:
        first = spread[0].name
        plain += [f"{first}{number}" for number in range(len(dims) - len(plain))]

    results: list[Fold] = []
    count = 1

    def body(*axes: IterVar, number: int = 0) -> Expr:
        nonlocal count
        value = cast("Callable[..., object]", fcompute)(*axes)
        if is_sequence(value) and value:
            if any_of(isinstance(each, Fold) for each in value):
                results.extend(folds_of(value, name))
                return results[0]
            count, value = len(value), value[number]
        if isinstance(value, bool):
            return literal(value, i1)
        if isinstance(value, int | float):
            return const(value)
        if not isinstance(value, Expr | TensorSlice):
            kind = type(cast("object", value)).__name__
            raise UsageError(f"te: the body of '{name}' is a {kind}, and not an expression")
        if isinstance(value, TensorSlice) or value.type != index:
            return cast("Expr", value)
        return convert(value, element_type("int32"))

    made = own.compute(dims, cast("own.AnyRankBody", body), name, plain, may_scan=True)
    tensors = [made]
    if results and made.producer is not None:
        axes = made.producer.axes
        tensors = [Tensor(dims, each.type, f"{name}.v{n}", Compute(axes, each)) for n, each in enumerate(results)]
    elif count > 1:
        tensors = [replace(made, name=f"{name}.v0")]
        for n in range(1, count):
            formula = cast("own.AnyRankBody", partial(body, number=n))
            tensors.append(own.compute(dims, formula, f"{name}.v{n}", plain, may_scan=True))
        tensors = _side_by_side(tensors)
    for each in tensors:
        if each.producer is not None:
            _check_free(each.producer, name)
    tensors = [tagged(each, tag, attrs) for each in tensors]
    return tuple(tensors) if results or count > 1 else tensors[0]


def _intrinsic(
    function: Callable[..., object], dims: Sequence[Dim], names: Sequence[str]
) -> tuple[tuple[IterVar, ...], IntrinsicCall] | None:
    """The intrinsic that a function of fewer indices than dimensions is the call of, and its indices."""
    axes = tuple(IterVar(name, dim) for name, dim in zip(names, dims, strict=True))
    value = function(*axes)
    return (axes, value) if isinstance(value, IntrinsicCall) else None


def _side_by_side(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Tensors of formulas that one function gave."""
    common = object()
    return [
        replace(each, producer=replace(each.producer, beside=common)) for each in tensors if each.producer is not None
    ]


def _check_free(compute: Compute, name: str) -> None:
    """Refuse a variable that nothing gives a value, and a reduction that is computed with."""
    stack, seen = [compute.body], set[Expr]()
    while stack:
        expr = stack.pop()
        if isinstance(expr, Reduce | Fold) and expr is not compute.body:
            hint = "compute the reduction by itself, as a tensor that the formula reads"
            raise UsageError(f"te: '{name}' reduces within an expression", hint=hint)
        if isinstance(expr, Slot):
            hint = "read it from a placeholder of shape ()"
            raise UsageError(f"te: '{name}' computes with the variable '{expr.name}', which has no value", hint=hint)
        if expr not in seen:
            seen.add(expr)
            stack.extend(own.operands_of(expr))


@overload
def var(name: str = ..., dtype: Literal["int32", "int64", "index"] = ...) -> Var: ...
@overload
def var(name: str, dtype: str) -> Expr: ...


@checked
def var(name: str = "tindex", dtype: str = "int32") -> Expr:
    """An extent that is known when the computation runs; of a dtype that no extent is of, a number.

    Raises:
        UsageError: there is no such dtype.
    """
    if dtype in ("int32", "int64", "index"):
        return named_var(name, dtype)
    return Slot(name, vector_type(dtype))


cast("Any", var).__tvmscript_var__ = True  # so it is a word of functions' texts, which stand on this module


@checked
def reduce_axis(dom: Dim | tuple[int, Dim], name: str = "rv") -> IterVar:
    """A variable to reduce over, `low <= k < high`.

    Raises:
        UsageError: the range is none.
    """
    try:
        return own.reduce_axis(dom, name)
    except (TypeError, ValueError) as error:
        raise UsageError(str(error), hint="te.reduce_axis((0, n), 'k')") from None


@checked
def const(value: ExprLike, dtype: DType | None = None) -> Expr:
    """A literal; without a dtype of that of a number of NumPy's, else an `int32`, `float32` or `bool`, by what `value`
    is, and an `int64` or `float64` where it is beyond all numbers of those.

    Raises:
        ArgumentError: the type has no such number, or none that is as great.
    """
    if isinstance(value, Expr):
        return value if dtype is None else convert(value, element_type(dtype))
    number, own = _plain(value)
    type = element_type(own or _dtype_of(number) if dtype is None else dtype)
    made = literal(number, type)
    if isinstance(made.value, float) and not isfinite(made.value) and (isinstance(number, int) or isfinite(number)):
        raise ArgumentError(f"te: {number} is beyond all numbers of {type}", hint="tir.infinity is what is beyond")
    return made


def _plain(value: float) -> tuple[float, str | None]:
    """A number as Python has it, and its dtype if NumPy has it."""
    item: Callable[[], float] | None = getattr(value, "item", None)
    return (value, None) if item is None else (item(), str(getattr(value, "dtype", "")) or None)


def _dtype_of(value: float) -> str:
    """The dtype of a number that does not say one."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int32" if -(1 << 31) <= value < 1 << 31 else "int64"
    return "float64" if LARGEST_F32 < abs(value) < inf else "float32"


@checked
def if_then_else(cond: ExprLike, t: ExprLike, f: ExprLike) -> Expr:
    """`t` where `cond` holds, else `f`; only the side that is chosen is read.

    Raises:
        UsageError: `cond` is no condition.
    """
    then = t if isinstance(t, Expr) else const(t, f.type if isinstance(f, Expr) else None)
    return choose(_condition(cond), then, f)


Select = if_then_else
"""TVM's choice that computes both sides; here only the side that is chosen is read, as by `if_then_else`."""


def _condition(value: ExprLike) -> Expr:
    if isinstance(value, bool):
        return literal(value, i1)
    if not isinstance(value, Expr) or value.type != i1:
        raise UsageError("te: a condition is a comparison, or several", hint="compare it: x > 0")
    return value


@checked
def all(*args: ExprLike) -> Expr:
    """Whether all conditions hold."""
    return _joined(BinaryKind.AND, args)


@checked
def any(*args: ExprLike) -> Expr:
    """Whether one of the conditions holds."""
    return _joined(BinaryKind.OR, args)


class NoConditionError(UsageError, ValueError):
    """`te.all` or `te.any` of nothing."""


def _joined(kind: BinaryKind, conditions: Sequence[ExprLike]) -> Expr:
    if not conditions:
        raise NoConditionError("te: all and any take at least one condition")
    result = _condition(conditions[0])
    for condition in conditions[1:]:
        result = binary(kind, result, _condition(condition))
    return result


class Reducer(Protocol):
    """What `comm_reducer` gives: `te.sum(expr, axis=k)`, or, of two values, their combination. `init` is what it starts
    from, and `where` the condition under which a value counts."""

    def __call__(
        self, expr: ExprLike, axis: Axes | ExprLike, where: ExprLike | None = None, init: ExprLike | None = None
    ) -> Expr: ...


def reducer(kind: ReduceKind, name: str) -> Reducer:
    """The reducer of a kind."""

    def reduce(
        expr: ExprLike, axis: Axes | ExprLike, where: ExprLike | None = None, init: ExprLike | None = None
    ) -> Expr:
        operand = expr if isinstance(expr, Expr) else vectors.operand(expr, cast("ExprLike", axis))
        axes: Sequence[IterVar]
        match axis:
            case IterVar():
                axes = (axis,)
            case int() | float() | Expr():
                return binary(COMBINER[kind], operand, axis)
            case _:
                axes = axis
        over = tuple(each for each in axes if getattr(each, "reduce", False))
        if len(over) != len(axes):
            hint = "make the axis with te.reduce_axis((0, n))"
            raise UsageError(f"te.{name} reduces over a variable that is no reduce_axis", hint=hint)
        if operand.type == index:
            operand = convert(operand, element_type("int32"))
        start = None if init is None else starts([init], over, [operand.type], name)[0]
        tests = [*([] if where is None else [_condition(where)]), *own.limits_of(over)]
        if tests:
            operand = choose(_joined(BinaryKind.AND, tests), operand, reduce_identity(kind, operand.type))
        if not over:
            return operand if start is None else binary(COMBINER[kind], start, operand)
        return Reduce(kind, operand, over, start)

    reduce.__name__ = reduce.__qualname__ = name
    return checked(reduce)


class TupleReducer(Protocol):
    """What `comm_reducer` gives of a combiner of tuples."""

    def __call__(
        self,
        expr: Sequence[ExprLike],
        axis: Axes,
        where: ExprLike | None = None,
        init: Sequence[ExprLike] | None = None,
    ) -> tuple[Expr, ...]: ...


@overload
def comm_reducer(
    fcombine: Callable[[Expr, Expr], object], fidentity: Callable[[str], object], name: str = "reduce"
) -> Reducer: ...


@overload
def comm_reducer(
    fcombine: Callable[[tuple[Expr, ...], tuple[Expr, ...]], object],
    fidentity: Callable[..., object],
    name: str = "reduce",
) -> TupleReducer: ...


@checked
def comm_reducer(
    fcombine: Callable[..., object], fidentity: Callable[..., object], name: str = "reduce"
) -> Reducer | TupleReducer:
    """A reducer of one's own: `comm_reducer(lambda x, y: x + y, lambda dtype: te.const(0, dtype))`.

    One of several results takes and gives tuples, `fcombine(so_far, step)` and `fidentity(dtype, ...)`, and reduces a
    tuple of expressions.

    Raises:
        UsageError: the combiner does not take two values, does not combine them alike in both orders, or does not
            leave a value as it is that it combines with the identity.
    """
    try:
        kind = _kind_of(fcombine)
    except (TypeError, KeyError, IndexError, AttributeError):  # of tuples, or of no two values
        kind = None
    if kind is None:
        return cast("Reducer | TupleReducer", own_reducer(fcombine, fidentity, name))
    dtype = "bool" if kind in ("and", "or") else "float32"
    wanted, given = reduce_identity(kind, scalar_type(dtype)).value, fidentity(dtype)
    value = given.value if isinstance(given, Const) else given
    if not (value == wanted or (kind in ("max", "min") and value == _finite(kind))):
        raise UsageError(f"te.comm_reducer: the identity of {kind} is {wanted}, not {value}")
    return reducer(kind, name)


def _kind_of(fcombine: Callable[..., object]) -> ReduceKind | None:
    """The kind of reduction that a combiner of two values is; `None` if it is one of its own."""
    first, second = (Slot(name, scalar_type("float32")) for name in ("so_far", "step"))
    combined = fcombine(first, second)
    kinds: dict[BinaryKind, ReduceKind] = {combiner: kind for kind, combiner in COMBINER.items()}
    if isinstance(combined, Binary) and {combined.lhs, combined.rhs} == {first, second}:
        return kinds.get(combined.kind)
    return None


def _finite(kind: str) -> float:
    return -LARGEST_F32 if kind == "max" else LARGEST_F32


@checked
def min_value(dtype: DType) -> Expr:
    """The least value of a type; of a float, the least that is finite."""
    return _extreme(element_type(dtype), "max")


@checked
def max_value(dtype: DType) -> Expr:
    """The greatest value of a type; of a float, the greatest that is finite."""
    return _extreme(element_type(dtype), "min")


def _extreme(type: Attribute, kind: ReduceKind) -> Expr:
    if not isa(type, AnyFloat):
        return reduce_identity(kind, type)
    import numpy as np

    from ..support.dtypes import numpy_dtype

    dtype = numpy_dtype(type)
    if dtype.name == "bfloat16":
        most = 3.3895313892515355e38
    else:
        most = float(np.finfo(dtype.name).max)
    return literal(-most if kind == "max" else most, type)


def function_of(kind: UnaryKind) -> Callable[[Expr], Expr]:
    """The elementwise function of a kind."""

    @checked
    def function(x: Expr) -> Expr:
        return unary(kind, x)

    function.__name__ = kind.value
    return function


def operation_of(kind: BinaryKind) -> Callable[[ExprLike, ExprLike], Expr]:
    """The function of two numbers of a kind; one of them may be a Python number."""

    @checked
    def operation(a: ExprLike, b: ExprLike) -> Expr:
        lhs = a if isinstance(a, Expr) else const(a, b.type if isinstance(b, Expr) else None)
        return binary(kind, lhs, b)

    operation.__name__ = kind.value
    return operation


Index: TypeAlias = ExprLike | IntExpr | AffineExpr
"""A number: an expression, or what the function of an index map is given."""


def index_operation_of(kind: BinaryKind) -> Callable[[Index, Index], Expr]:
    """`floordiv` or `floormod`, also of what an index map is a function of, the analyzer's expressions or affine
    ones: what it gives of them is one of these, for the map alone."""
    plain = cast("Callable[..., object]", operation_of(kind))

    def operation(a: Any, b: Any) -> object:
        of_nodes = not any_of(isinstance(each, IntExpr | AffineExpr) for each in (a, b))
        return plain(a, b) if of_nodes else a // b if kind == BinaryKind.FLOORDIV else a % b

    operation.__name__ = kind.value
    return cast("Callable[[Index, Index], Expr]", operation)


@dataclass(frozen=True, eq=False)
class ThreadAxis(Slot):
    """A device's thread, or its number in an expression."""


@checked
def thread_axis(dom: object = None, tag: str = "", name: str = "") -> ThreadAxis:
    """A device's thread, for `s[C].bind` and `ib.scope_attr`: `te.thread_axis("threadIdx.x")`."""
    given = dom if isinstance(dom, str) else tag
    if not given:
        raise UsageError("te.thread_axis takes the thread's name", hint='te.thread_axis("threadIdx.x")')
    return ThreadAxis(given, element_type("int32"))
