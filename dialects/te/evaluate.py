"""NumPy evaluation of tensor expressions: what a `compute` is worth on given arrays.

Every expression is evaluated for all points of the iteration domain at once: an index variable is an `arange` along its
own axis of a grid, an operation is a NumPy function, and a read is a strided view of the tensor where its indices are
affine and lie inside it, else a gather. Large domains are walked in blocks, so that temporaries stay small. Reductions
combine the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..support.checks import CheckError
from ..support.conversion import converted
from ..support.dtypes import numpy_dtype
from .bounds import affine
from .dim_equations import sizes_of
from .dims import value_of
from .expr import (
    Binary,
    BinaryKind,
    Bitcast,
    Cast,
    Check,
    Const,
    Expr,
    IterVar,
    Select,
    Unary,
    UnaryKind,
    Var,
    index,
)
from .external import External
from .procedures import Let, Loop, Procedure, Statement, Store, When, While
from .reduction import COMBINER, Combiner, Fold, Reduce, first_value, first_values
from .tensor import Compute, Filled, Read, Tensor, topological_order

if TYPE_CHECKING:
    import numpy.typing as npt

NDArray: TypeAlias = "npt.NDArray[np.generic]"
_Array: TypeAlias = "npt.NDArray[Any]"

BLOCK_POINTS = 1 << 20
"""How many points of an iteration domain are evaluated at once."""


def evaluate(outputs: Sequence[Tensor], feeds: Mapping[Tensor, NDArray]) -> list[NDArray]:
    """The values of `outputs`, where the placeholders among what they are made of have the values `feeds`.

    Each result has its tensor's shape and the dtype `numpy_dtype(element_type)`. Integers wrap; floats follow IEEE
    (division by zero gives an infinity, NaN goes through minimum and maximum); an integer division by zero gives 0.

    Raises:
        KeyError: a placeholder has no value, or it does not follow from the values what a symbol is.
        ValueError: a value has another shape or dtype than its placeholder.
        CheckError: a check fails.
        IndexError: a read that no `Select` guards lies outside its tensor.
    """
    values: dict[Tensor, _Array] = {}
    given: dict[External, list[_Array]] = {}
    sizes = sizes_of([(tensor.dims, array.shape) for tensor, array in feeds.items()])
    with np.errstate(all="ignore"):
        for tensor in topological_order(outputs):
            if tensor in values:
                continue
            if tensor.producer is not None and isinstance(filled := tensor.producer.body, Filled):
                if isinstance(external := filled.procedure, External):
                    if external not in given:
                        given[external] = external.values([values[each] for each in external.inputs], sizes)
                    values[tensor] = given[external][filled.number]
                    continue
                assert isinstance(filled.procedure, Procedure)
                values.update(_filled(filled.procedure, values, sizes))
                continue
            if tensor.producer is not None:
                values[tensor] = _Domain(tensor.producer, values, sizes).run(tensor)
                continue
            if tensor not in feeds:
                raise KeyError(f"te: no value is given for '{tensor.name}'")
            values[tensor] = _checked(tensor, feeds[tensor], sizes)
    return [values[output] for output in outputs]


def _filled(procedure: Procedure, values: Mapping[Tensor, _Array], sizes: Mapping[Var, int]) -> dict[Tensor, _Array]:
    """What a procedure fills, statement by statement: for each point, or for many at once where the same statements
    run for all of them."""
    own = {
        tensor: np.zeros([value_of(dim, sizes) for dim in tensor.dims], numpy_dtype(tensor.element_type))
        for tensor in (*procedure.results, *procedure.scratch)
    }
    for tensor, given in zip(procedure.results, procedure.begin, strict=True):
        if given is not None:
            own[tensor][...] = values[given]
    known = {**values, **own}
    extents = [value_of(axis.dim, sizes) for axis in procedure.axes]
    is_straight = not procedure.scratch and procedure.is_straight()
    points: Iterable[Sequence[_Array]]
    if is_straight and extents:
        starts = range(0, prod(extents), BLOCK_POINTS)
        blocks = (np.arange(start, min(start + BLOCK_POINTS, prod(extents))) for start in starts)
        points = (np.unravel_index(block, extents) for block in blocks)
    else:
        points = (list(map(np.asarray, point)) for point in product(*map(range, extents)))
    for point in points:
        slots: dict[Expr, _Array] = dict(zip(procedure.axes, point, strict=True))
        _run(procedure.statements, _Domain(Compute((), Filled(procedure, 0, index)), known, sizes), slots)
    return {tensor: own[tensor] for tensor in procedure.results}


def _run(statements: Sequence[Statement], domain: _Domain, slots: dict[Expr, _Array]) -> None:
    """Do what statements say, where names have the values `slots`."""

    def value(expr: Expr) -> _Array:
        domain.memo = {(slot, guarded): array for slot, array in slots.items() for guarded in (False, True)}
        return domain.value(expr)

    for statement in statements:
        match statement:
            case Store(place, stored):
                at = tuple(value(i) for i in place.indices)
                array = domain.values[place.tensor]
                for d, (i, n) in enumerate(zip(at, array.shape, strict=True)):
                    if i.min() < 0 or i.max() >= n:
                        raise IndexError(f"te: a store to '{place.tensor.name}' leaves dimension {d} of extent {n}")
                array[at] = value(stored)
            case Let(name, given):
                slots[name] = value(given).copy()
            case Loop(name, extent, body):
                for number in range(int(value(extent))):
                    slots[name] = np.asarray(number)
                    _run(body, domain, slots)
            case While(condition, body):
                while value(condition):
                    _run(body, domain, slots)
            case When(condition, body):
                if value(condition):
                    _run(body, domain, slots)


def combined(combiner: Combiner, so_far: Sequence[Any], step: Sequence[Any]) -> tuple[Any, ...]:
    """What a combiner makes of numbers."""
    domain = _Domain(Compute((), combiner.results[0]), {}, {})
    for slot, number in zip((*combiner.so_far, *combiner.step), (*so_far, *step), strict=True):
        domain.memo[slot, False] = domain.memo[slot, True] = np.asarray(number, numpy_dtype(slot.type))
    with np.errstate(all="ignore"):
        return tuple(domain.value(each).item() for each in combiner.results)


def _checked(tensor: Tensor, array: NDArray, sizes: Mapping[Var, int]) -> _Array:
    dtype = numpy_dtype(tensor.element_type)
    shape = tuple(value_of(dim, sizes) for dim in tensor.dims)
    if array.shape != shape or array.dtype != dtype:
        raise ValueError(
            f"te: '{tensor.name}' is a {dtype.name} tensor of shape {shape}, "
            f"but its value is {array.dtype.name} of shape {array.shape}"
        )
    return array


class _Domain:
    """The iteration domain of one compute: its axes, and for each the range that the current block covers."""

    def __init__(self, compute: Compute, values: Mapping[Tensor, _Array], sizes: Mapping[Var, int]):
        self.compute = compute
        self.sizes = sizes
        self.values = values
        self.axes = (*compute.axes, *compute.reduce_axes)
        self.position = {axis: d for d, axis in enumerate(self.axes)}
        self.extents = [value_of(axis.dim, sizes) for axis in self.axes]
        self.ranges = [(0, extent) for extent in self.extents]
        self.memo: dict[tuple[Expr, bool], _Array] = {}

    def run(self, tensor: Tensor) -> _Array:
        """All elements of `tensor`."""
        dtype = numpy_dtype(tensor.element_type)
        body, rank = self.compute.body, len(self.compute.axes)
        result = np.empty(self.extents[:rank], dtype)
        if isinstance(body, Fold):
            return self._fold(body, tensor)
        if isinstance(body, Reduce):
            result[...] = self._start(first_value(body), tensor)
        for ranges in self._blocks():
            self.ranges, self.memo = ranges, {}
            target = tuple(slice(lo, hi) for lo, hi in ranges[:rank])
            if not isinstance(body, Reduce):
                result[target] = self.value(body)
                continue
            combine = _binary_function(COMBINER[body.kind], dtype.kind)
            terms = np.broadcast_to(self.value(body.operand), self.shape)
            partial = combine.reduce(terms, axis=tuple(range(rank, len(self.axes))), dtype=dtype)  # pyright: ignore[reportFunctionMemberAccess]
            result[target] = combine(result[target], partial)
        return result

    def _start(self, start: Expr, tensor: Tensor) -> _Array:
        """What a reduction starts from, for each element."""
        if isinstance(start, Const):
            return np.array(start.value, numpy_dtype(start.type))
        made = Tensor(tensor.dims, start.type, tensor.name, Compute(self.compute.axes, start))
        assert made.producer is not None
        return type(self)(made.producer, self.values, self.sizes).run(made)

    def _fold(self, body: Fold, tensor: Tensor) -> _Array:
        """All elements of a result of a reduction of one's own, step by step."""
        rank = len(self.compute.axes)
        combiner = body.combiner
        so_far = [
            np.array(np.broadcast_to(self._start(each, tensor), self.extents[:rank]), numpy_dtype(each.type))
            for each in first_values(body)
        ]
        for ranges in self._blocks():
            self.ranges, self.memo = ranges, {}
            target = tuple(slice(lo, hi) for lo, hi in ranges[:rank])
            count = prod(self.shape[rank:])
            steps = [np.broadcast_to(self.value(each), self.shape) for each in body.operands]
            steps = [each.reshape(*self.shape[:rank], count) for each in steps]
            for number in range(count):
                self.memo = {}
                for slot, array in zip(combiner.so_far, so_far, strict=True):
                    self.memo[slot, False] = self.memo[slot, True] = array[target]
                for slot, array in zip(combiner.step, steps, strict=True):
                    self.memo[slot, False] = self.memo[slot, True] = array[..., number]
                values = [np.array(self.value(each)) for each in combiner.results]
                for array, value in zip(so_far, values, strict=True):
                    array[target] = value
        return so_far[body.number]

    def _blocks(self) -> list[list[tuple[int, int]]]:
        """The domain in blocks of about `BLOCK_POINTS` points, cut along the outer axes first."""
        extents = self.extents
        steps = list(extents)
        for d, extent in enumerate(extents):
            inner = prod(steps[d + 1 :])
            steps[d] = max(1, min(extent, BLOCK_POINTS // max(1, inner)))
            if steps[d] * inner <= BLOCK_POINTS:
                break
        cuts = [
            [(lo, min(lo + step, extent)) for lo in range(0, extent, max(1, step))]
            for extent, step in zip(extents, steps, strict=True)
        ]
        return [list(block) for block in product(*cuts)]

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the current block."""
        return tuple(hi - lo for lo, hi in self.ranges)

    def value(self, expr: Expr, guarded: bool = False) -> _Array:
        """`expr` at every point of the block, as an array that broadcasts to the block's shape.

        `guarded` says that a `Select` chooses among the points, so that indices may leave their tensor.
        """
        key = (expr, guarded)
        if (known := self.memo.get(key)) is None:
            known = self.memo[key] = self._evaluate(expr, guarded)
        return known

    def _evaluate(self, expr: Expr, guarded: bool) -> _Array:
        match expr:
            case Const(value, element):
                return np.asarray(value, numpy_dtype(element))
            case IterVar():
                d = self.position[expr]
                steps = np.arange(*self.ranges[d]) + expr.start
                return steps.reshape([-1 if d == e else 1 for e in range(len(self.axes))])
            case Var():
                return np.asarray(value_of(expr, self.sizes))
            case Unary(kind, operand):
                x = self.value(operand, guarded)
                return _unary_function(kind, x.dtype.kind)(x)
            case Binary(kind, lhs, rhs):
                x = self.value(lhs, guarded)
                return _binary_function(kind, x.dtype.kind)(x, self.value(rhs, guarded))
            case Select(condition, then, otherwise):
                return np.where(self.value(condition, guarded), self.value(then, True), self.value(otherwise, True))
            case Cast(operand, element):
                return converted(self.value(operand, guarded), numpy_dtype(element))
            case Bitcast(operand, element):
                return np.asarray(self.value(operand, guarded)).view(numpy_dtype(element))
            case Check(operand, given, dim, text):
                extent = value_of(dim, self.sizes)
                at = self.value(operand)
                if (failed := ((at < 0) | (at >= extent))).any():
                    told = np.broadcast_to(self.value(given), at.shape)
                    raise CheckError(text, int(told[failed][0]), extent)
                return at
            case Read(tensor, indices):
                return self._read(self.values[tensor], tensor, indices, guarded)
            case _:
                raise TypeError(f"te: {type(expr).__name__} cannot stand inside an expression")

    def _read(self, array: _Array, tensor: Tensor, indices: tuple[Expr, ...], guarded: bool) -> _Array:
        if (view := self._strided_view(array, indices)) is not None:
            return view
        at = [self.value(i, guarded) for i in indices]
        if guarded:
            if array.size == 0:
                return np.zeros((1,) * len(self.axes), array.dtype)
            at = [np.clip(i, 0, n - 1) for i, n in zip(at, array.shape, strict=True)]
        else:
            for d, (i, n) in enumerate(zip(at, array.shape, strict=True)):
                if i.size and (i.min() < 0 or i.max() >= n):
                    raise IndexError(f"te: a read of '{tensor.name}' leaves dimension {d} of extent {n}")
        return array[tuple(at)]

    def _strided_view(self, array: _Array, indices: tuple[Expr, ...]) -> _Array | None:
        """The read as a view of `array`, if all indices are affine and inside it over the whole block."""
        strides = [0] * len(self.axes)
        shape = [1] * len(self.axes)
        first: list[int] = []
        for i, extent, stride in zip(indices, array.shape, array.strides, strict=True):
            if (form := affine(i)) is None or any(axis not in self.position for axis in form[0]):
                return None
            terms, start = form
            low = high = start
            for axis, factor in terms.items():
                d = self.position[axis]
                lo, hi = self.ranges[d]
                start += factor * lo
                low += factor * (lo if factor > 0 else hi - 1)
                high += factor * (hi - 1 if factor > 0 else lo)
                strides[d] += factor * stride
                shape[d] = hi - lo
            if low < 0 or high >= extent:
                return None
            first.append(start)
        origin = array[tuple(slice(f, None) for f in first)]
        raw = origin.view(np.uint8) if origin.itemsize == 1 else origin  # NumPy knows of no strided `float8_e5m2`
        return np.lib.stride_tricks.as_strided(raw, shape, strides, writeable=False).view(origin.dtype)


_Function: TypeAlias = "Callable[..., _Array]"


def _identity(x: _Array) -> _Array:
    return x


def _truncated_quotient(a: _Array, b: _Array) -> _Array:
    quotient = a // b
    return quotient + ((a % b != 0) & ((a < 0) != (b < 0)))


def _floored_quotient(a: _Array, b: _Array) -> _Array:
    return np.floor(a / b)


def _integer_power(a: _Array, b: _Array) -> _Array:
    """Wraps for exponents from 0 on; below, the real power rounded towards zero, and 0 for powers of 0."""
    below = np.where(a == -1, 1 - 2 * (b & 1), a == 1).astype(a.dtype)
    return np.where(b < 0, below, np.power(a, np.maximum(b, 0)))


def _never(x: _Array) -> _Array:
    return np.zeros(x.shape, np.bool_)


def _always(x: _Array) -> _Array:
    return np.ones(x.shape, np.bool_)


def _reciprocal_root(x: _Array) -> _Array:
    return np.reciprocal(np.sqrt(x))


def _sigmoid(x: _Array) -> _Array:
    return np.reciprocal(np.exp(-x) + x.dtype.type(1))


def erf(x: _Array) -> _Array:
    """The error function to about one unit in the last place of float64, in the dtype of `x`.

    Source: W. J. Cody, Rational Chebyshev approximations for the error function, Math. Comp. 23 (1969).
    """
    wide = x.astype(np.float64)
    magnitude = np.abs(wide)
    square = np.where(magnitude < 0.5, magnitude, 0.0) ** 2
    small = wide * (np.polyval(_ERF_SMALL[0], square) / np.polyval(_ERF_SMALL[1], square))
    tail = np.clip(magnitude, 0.5, 6.0)
    large = 1.0 - np.exp(-tail * tail) * (np.polyval(_ERF_LARGE[0], tail) / np.polyval(_ERF_LARGE[1], tail))
    result = np.where(magnitude < 0.5, small, np.copysign(large, wide))
    return np.where(np.isnan(wide), wide, result).astype(x.dtype)


# Numerator and denominator, highest power first: of erf(x) / x in x^2, and of exp(x^2) * erfc(x) in x.
_ERF_SMALL = (
    (
        1.85777706184603153e-1,
        3.16112374387056560e0,
        1.13864154151050156e2,
        3.77485237685302021e2,
        3.20937758913846947e3,
    ),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3),
)
_ERF_LARGE = (
    (
        2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1,
        2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
        1.23033935479799725e3,
    ),
    (
        1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
        3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3,
    ),
)  # fmt: skip

_BINARY: dict[BinaryKind, _Function] = {
    BinaryKind.ADD: np.add,
    BinaryKind.SUB: np.subtract,
    BinaryKind.MUL: np.multiply,
    BinaryKind.DIV: np.true_divide,
    BinaryKind.FLOORDIV: _floored_quotient,
    BinaryKind.FLOORMOD: np.mod,
    BinaryKind.TRUNCMOD: np.fmod,
    BinaryKind.MIN: np.minimum,
    BinaryKind.MAX: np.maximum,
    BinaryKind.POW: np.power,
    BinaryKind.ATAN2: np.arctan2,
    BinaryKind.COPYSIGN: np.copysign,
    BinaryKind.AND: np.bitwise_and,
    BinaryKind.OR: np.bitwise_or,
    BinaryKind.XOR: np.bitwise_xor,
    BinaryKind.SHL: np.left_shift,
    BinaryKind.SHR: np.right_shift,
    BinaryKind.EQ: np.equal,
    BinaryKind.NE: np.not_equal,
    BinaryKind.LT: np.less,
    BinaryKind.LE: np.less_equal,
    BinaryKind.GT: np.greater,
    BinaryKind.GE: np.greater_equal,
}

# Where integers, unsigned integers (`u`) and truth values (`b`, arithmetic modulo 2) differ from that.
_BINARY_OF_KIND: dict[tuple[BinaryKind, str], _Function] = {
    (BinaryKind.DIV, "i"): _truncated_quotient,
    (BinaryKind.DIV, "u"): np.floor_divide,
    (BinaryKind.FLOORDIV, "i"): np.floor_divide,
    (BinaryKind.FLOORDIV, "u"): np.floor_divide,
    (BinaryKind.POW, "i"): _integer_power,
    (BinaryKind.ADD, "b"): np.logical_xor,
    (BinaryKind.SUB, "b"): np.logical_xor,
    (BinaryKind.MUL, "b"): np.logical_and,
    (BinaryKind.DIV, "b"): np.logical_and,
    (BinaryKind.FLOORDIV, "b"): np.logical_and,
    (BinaryKind.POW, "b"): np.greater_equal,
    (BinaryKind.SHL, "b"): np.greater,
    (BinaryKind.SHR, "b"): np.greater,
}

_UNARY: dict[UnaryKind, _Function] = {
    UnaryKind.NEG: np.negative,
    UnaryKind.NOT: np.invert,
    UnaryKind.ABS: np.abs,
    UnaryKind.SIGN: np.sign,
    UnaryKind.EXP: np.exp,
    UnaryKind.EXP2: np.exp2,
    UnaryKind.LOG: np.log,
    UnaryKind.LOG1P: np.log1p,
    UnaryKind.LOG2: np.log2,
    UnaryKind.LOG10: np.log10,
    UnaryKind.SQRT: np.sqrt,
    UnaryKind.RSQRT: _reciprocal_root,
    UnaryKind.ERF: erf,
    UnaryKind.TANH: np.tanh,
    UnaryKind.SIGMOID: _sigmoid,
    UnaryKind.SIN: np.sin,
    UnaryKind.COS: np.cos,
    UnaryKind.TAN: np.tan,
    UnaryKind.SINH: np.sinh,
    UnaryKind.COSH: np.cosh,
    UnaryKind.ASIN: np.arcsin,
    UnaryKind.ACOS: np.arccos,
    UnaryKind.ATAN: np.arctan,
    UnaryKind.ASINH: np.arcsinh,
    UnaryKind.ACOSH: np.arccosh,
    UnaryKind.ATANH: np.arctanh,
    UnaryKind.FLOOR: np.floor,
    UnaryKind.CEIL: np.ceil,
    UnaryKind.ROUND: np.rint,
    UnaryKind.TRUNC: np.trunc,
    UnaryKind.ISNAN: np.isnan,
    UnaryKind.ISINF: np.isinf,
    UnaryKind.ISFINITE: np.isfinite,
}

# Integers: already round, and always finite.
_UNARY_OF_INTEGERS: dict[UnaryKind, _Function] = {
    UnaryKind.FLOOR: _identity,
    UnaryKind.CEIL: _identity,
    UnaryKind.ROUND: _identity,
    UnaryKind.TRUNC: _identity,
    UnaryKind.ISNAN: _never,
    UnaryKind.ISINF: _never,
    UnaryKind.ISFINITE: _always,
}

_UNARY_OF_BOOL: dict[UnaryKind, _Function] = {
    UnaryKind.NEG: _identity,
    UnaryKind.ABS: _identity,
    UnaryKind.SIGN: _identity,
}


def evaluate_binary(kind: BinaryKind, lhs: NDArray, rhs: NDArray) -> NDArray:
    """What `kind` makes of the elements of two arrays that are broadcast: as `evaluate` of that expression, which need
    not be built. Both are of one dtype."""
    with np.errstate(all="ignore"):
        result = np.asarray(_binary_function(kind, lhs.dtype.kind)(lhs, rhs))
    return result.astype(np.bool_ if kind.is_comparison else lhs.dtype, copy=False)


def _binary_function(kind: BinaryKind, dtype_kind: str) -> _Function:
    return _BINARY_OF_KIND.get((kind, dtype_kind), _BINARY[kind])


def _unary_function(kind: UnaryKind, dtype_kind: str) -> _Function:
    if dtype_kind == "b" and kind in _UNARY_OF_BOOL:
        return _UNARY_OF_BOOL[kind]
    if dtype_kind in "biu" and kind in _UNARY_OF_INTEGERS:
        return _UNARY_OF_INTEGERS[kind]
    return _UNARY[kind]
