"""Reducers of one's own: what combines is any expression of two values, or of two tuples of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, cast

from xdsl.dialects.builtin import AnyFloat, i1
from xdsl.ir import Attribute

from ..support.diagnostics import UsageError
from ..support.dtypes import dtype_name, scalar_type
from ..support.hints import is_sequence
from .evaluate import combined
from .expr import Const, Expr, ExprLike, IterVar, Slot, all_of, as_expr, const, index, select
from .expr import cast as convert
from .reduction import Combiner, Fold, Reduce
from .tensor import Read, limits_of, operands_of

ANY_ORDER = "the steps of a reduction are taken in any order"


def own_reducer(fcombine: Callable[..., object], fidentity: Callable[..., object], name: str) -> Callable[..., Any]:
    """The reducer that a combiner and its identity make. See `comm_reducer`."""

    def reduce(
        expr: ExprLike | Sequence[ExprLike],
        axis: Any,
        where: ExprLike | None = None,
        init: ExprLike | Sequence[ExprLike] | None = None,
    ) -> Any:
        several = isinstance(expr, tuple | list)
        given = cast("Sequence[ExprLike]", expr if several else [expr])
        operands = [_operand(each) for each in given]
        axes = cast("tuple[IterVar, ...]", (axis,) if isinstance(axis, IterVar) else tuple(axis))
        if not axes or not all(getattr(each, "reduce", False) for each in axes):
            hint = "make the axis with te.reduce_axis((0, n))"
            raise UsageError(f"te.{name} reduces over a variable that is no reduce_axis", hint=hint)
        combiner = _combiner(fcombine, fidentity, [each.type for each in operands], several, name)
        values: Sequence[ExprLike] | None = None
        if init is not None:
            values = cast("Sequence[ExprLike]", init if isinstance(init, tuple | list) else [init])
        folds = folded(combiner, operands, axes, where, values, name)
        return folds if several else folds[0]

    reduce.__name__ = reduce.__qualname__ = name
    return reduce


def folded(
    combiner: Combiner,
    operands: Sequence[Expr],
    axes: tuple[IterVar, ...],
    where: ExprLike | None,
    init: Sequence[ExprLike] | None,
    name: str,
) -> tuple[Fold, ...]:
    """The results of a reduction of `operands` over all values of `axes` for which `where` holds.

    Raises:
        UsageError: `where` is no condition, or `init` does not fit.
    """
    first = None if init is None else starts(init, axes, [each.type for each in operands], name)
    if where is not None and (not isinstance(where, Expr) or where.type != i1):
        raise UsageError(f"te.{name}: `where` is a comparison, or several", hint="compare it: x > 0")
    tests = [*([where] if isinstance(where, Expr) else []), *limits_of(axes)]
    if tests:
        counts = all_of(tests)
        operands = [select(counts, each, start) for each, start in zip(operands, combiner.identity, strict=True)]
    return tuple(Fold(combiner, tuple(operands), axes, number, first) for number in range(len(operands)))


def starts(
    values: Sequence[ExprLike], axes: Sequence[IterVar], types: Sequence[Attribute], name: str
) -> tuple[Expr, ...]:
    """What the results of a reduction start from, in their types.

    Raises:
        UsageError: there is not one for each result, one depends on the axes that are reduced over, or is a fraction
            where the result is an integer.
    """
    if len(values) != len(types):
        raise UsageError(f"te.{name}: `init` gives {len(values)} values for {len(types)} results")
    given = [as_expr(value, type) for value, type in zip(values, types, strict=True)]
    for each, type in zip(given, types, strict=True):
        if isinstance(each.type, AnyFloat) and not isinstance(type, AnyFloat):
            message = f"te.{name}: `init` gives {each.dtype} for a result of {dtype_name(type)}"
            raise UsageError(message, hint="convert it: .astype")
    made = tuple(convert(each, type) for each, type in zip(given, types, strict=True))
    stack = list(made)
    seen = set[Expr]()
    while stack:
        if (expr := stack.pop()) not in seen:
            seen.add(expr)
            if any(expr is axis for axis in axes):
                raise UsageError(f"te.{name}: `init` depends on {expr}, over which is reduced")
            if isinstance(expr, Reduce | Fold):
                raise UsageError(f"te.{name}: `init` is a reduction itself", hint="a te.compute of its own")
            stack += operands_of(expr)
    return made


def folds_of(values: Sequence[object], name: str) -> list[Fold]:
    """The results of one reduction, as the body of a compute gives them.

    Raises:
        UsageError: they are something else.
    """
    folds = [each for each in values if isinstance(each, Fold)]
    whole = bool(folds) and len(folds) == len(values) == len(folds[0].operands)
    if not whole or any(f.combiner is not folds[0].combiner or f.number != n for n, f in enumerate(folds)):
        hint = "compute each by itself; only the results of one reduction come together"
        raise UsageError(f"te: '{name}' computes several tensors at once", hint=hint)
    return folds


def _operand(value: ExprLike) -> Expr:
    if not isinstance(value, Expr):
        return const(value, scalar_type("float32" if isinstance(value, float) else "int32"))
    return convert(value, scalar_type("int32")) if value.type == index else value


def _combiner(
    fcombine: Callable[..., object],
    fidentity: Callable[..., object],
    types: Sequence[Attribute],
    several: bool,
    name: str,
) -> Combiner:
    so_far = tuple(Slot(f"so_far{n}", type) for n, type in enumerate(types))
    step = tuple(Slot(f"step{n}", type) for n, type in enumerate(types))
    given = fcombine(so_far, step) if several else fcombine(so_far[0], step[0])
    start = fidentity(*(dtype_name(type) for type in types))
    results = _as_exprs(given, types, several, f"te.{name}: the combiner")
    identity = _as_exprs(start, types, several, f"te.{name}: the identity")
    constants = tuple(each for each in identity if isinstance(each, Const))
    if len(constants) != len(types):
        raise UsageError(f"te.{name}: the identity is made of literals")
    made = Combiner(so_far, step, results, constants)
    check_combiner(made, f"te.{name}")
    return made


def check_combiner(combiner: Combiner, what: str) -> None:
    """Whether a combiner combines what it is given, whatever the order.

    Raises:
        UsageError: it is made of something else, the order matters, or the identity is none.
    """
    _check_leaves(combiner.results, {*combiner.so_far, *combiner.step}, what)
    _probe(combiner, what)


def _as_exprs(given: object, types: Sequence[Attribute], several: bool, what: str) -> tuple[Expr, ...]:
    values = list(given) if several and is_sequence(given) else [given]
    if len(values) != len(types):
        raise UsageError(f"{what} gives {len(values)} values for {len(types)} results")
    made: list[Expr] = []
    for value, type in zip(values, types, strict=True):
        expr = const(value, type) if isinstance(value, int | float) else value
        if not isinstance(expr, Expr) or expr.type != type:
            found = expr.type if isinstance(expr, Expr) else expr.__class__.__name__
            raise UsageError(f"{what} gives {found} for a result of type {type}")
        made.append(expr)
    return tuple(made)


def _check_leaves(results: Sequence[Expr], slots: set[Slot], what: str) -> None:
    stack = list(results)
    while stack:
        expr = stack.pop()
        operands = operands_of(expr)
        if isinstance(expr, Read | Fold) or (not operands and not isinstance(expr, Const) and expr not in slots):
            raise UsageError(f"{what}: the combiner is made of the two values and of literals alone")
        stack.extend(operands)


def _probe(combiner: Combiner, what: str) -> None:
    """Try a combiner on a few numbers.

    Raises:
        UsageError: the order of some that differ in all results matters, or the identity changes a number.
    """
    samples = [tuple(_sample(slot.type, seed + n) for n, slot in enumerate(combiner.so_far)) for seed in (3, 5, 8)]
    start = tuple(each.value for each in combiner.identity)
    for sample in samples:
        for pair in ((start, sample), (sample, start)):
            if not _alike(got := combined(combiner, *pair), sample):
                raise UsageError(f"{what}: {start} is no identity: with {sample} it is combined to {got}")
    for a, b in combinations(samples, 2):
        one, other = combined(combiner, a, b), combined(combiner, b, a)
        if not _alike(one, other):
            message = f"{what}: {a} and {b} are combined to {one}, and the other way round to {other}"
            raise UsageError(message, hint=ANY_ORDER)
    a, b, c = samples
    first, last = combined(combiner, combined(combiner, a, b), c), combined(combiner, a, combined(combiner, b, c))
    if not _alike(first, last):
        message = f"{what}: {a}, {b} and {c} are combined to {first}, and to {last} where the last two come first"
        raise UsageError(message, hint=ANY_ORDER)


def _sample(type: Attribute, number: int) -> Any:
    return float(number) if isinstance(type, AnyFloat) else bool(number % 2) if type == i1 else number


def _alike(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return all(math.isclose(x, y, rel_tol=1e-2) for x, y in zip(a, b, strict=True))
