"""Index arithmetic: from SSA values to affine expressions and back, and what can be said about an expression.

An index in a block's body is a chain of `arith` operations on the iterators. `affine_of` reads such a chain as an
affine expression; `Linear` is its normal form, a sum of multiples of atoms (variables, and floordiv/mod terms).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import AffineMapAttr, DenseArrayBase, IntegerAttr
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)
from xdsl.printer import Printer

from .symbols import affine_map, dimension, greatest, product, symbol_of

Range = tuple[int, int]
"""Least and greatest value, both included."""


def affine_of(value: SSAValue, dims: Mapping[SSAValue, AffineExpr]) -> AffineExpr | None:
    """`value` as an affine expression of the values in `dims` and of symbols; `None` where it is not one."""
    if (known := dims.get(value)) is not None:
        return known
    if type(value) is BlockArgument:
        return symbol_of(value)
    assert type(value) is OpResult
    op = value.op
    if type(op) is arith.ConstantOp:
        return AffineConstantExpr(op.value.value.data) if isinstance(op.value, IntegerAttr) else None
    if (combine := _COMBINE.get(type(op))) is None:
        return None
    operands = op.operands
    lhs = affine_of(operands[0], dims)
    rhs = affine_of(operands[1], dims) if lhs is not None else None
    if lhs is None or rhs is None or (type(op) in _UNSIGNED and not _is_natural(operands[0], op)):
        return None
    return combine(lhs, rhs)


def _multiplied(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr | None:
    if type(lhs) is AffineConstantExpr:
        lhs, rhs = rhs, lhs
    return lhs * rhs if type(rhs) is AffineConstantExpr else None


def _quotient(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr | None:
    return lhs // rhs if type(rhs) is AffineConstantExpr and rhs.value > 0 else None


def _remainder(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr | None:
    return lhs % rhs if type(rhs) is AffineConstantExpr and rhs.value > 0 else None


def _difference(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """`lhs - rhs`; the remainder that `x - x floordiv c * c` is."""
    match rhs:
        case AffineBinaryOpExpr(
            AffineBinaryOpKind.Mul,
            AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, dividend, AffineConstantExpr(value) as divisor),
            AffineConstantExpr(factor),
        ) if value == factor and dividend == lhs:
            return lhs % divisor
        case _:
            return lhs - rhs


_COMBINE: dict[type[Operation], Callable[[AffineExpr, AffineExpr], AffineExpr | None]] = {
    arith.AddiOp: lambda lhs, rhs: lhs + rhs,
    arith.SubiOp: _difference,
    arith.MuliOp: _multiplied,
    arith.FloorDivSIOp: _quotient,
    arith.DivUIOp: _quotient,
    arith.RemUIOp: _remainder,
}
"""What each operation makes of its operands; tables by type, as asking for one after another takes long here."""

_UNSIGNED = (arith.DivUIOp, arith.RemUIOp)


def _is_natural(value: SSAValue, divided: Operation) -> bool:
    """Whether `value`, which is `divided` without a sign, cannot be negative, so that a division with one is the same:
    by the extents of the iterators, or where it is divided under a branch (`scf.if`), by that."""
    parent = divided.parent_op()
    if parent is not None and _EXTENTS not in parent.properties:
        return True
    bounds = _value_range(value)
    return bounds is not None and bounds[0] >= 0


_EXTENTS = "iter_extents"
"""Where a `tir.block` has the extents of its iterators."""


def _value_range(value: SSAValue) -> Range | None:
    """Least and greatest value of a chain of `arith` operations on a block's iterators; none has values where an
    iterator has none."""
    if isinstance(value, BlockArgument):
        parent = value.owner.parent_op()
        extents = None if parent is None else parent.properties.get(_EXTENTS)
        if isinstance(extents, AffineMapAttr):
            extent = extents.data.results[value.index]
            return 0, max((extent.value if isinstance(extent, AffineConstantExpr) else greatest(extent)) - 1, 0)
        if not isinstance(extents, DenseArrayBase):
            return None
        return 0, max(int(extents.get_values()[value.index]) - 1, 0)
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data, op.value.value.data
    if not isinstance(
        op, arith.AddiOp | arith.SubiOp | arith.MuliOp | arith.FloorDivSIOp | arith.DivUIOp | arith.RemUIOp
    ):
        return None
    left, right = _value_range(op.lhs), _value_range(op.rhs)
    if left is None or right is None:
        return None
    match op:
        case arith.AddiOp():
            return left[0] + right[0], left[1] + right[1]
        case arith.SubiOp():
            return left[0] - right[1], left[1] - right[0]
        case arith.MuliOp():
            products = [a * b for a in left for b in right]
            return min(products), max(products)
        case _ if right[0] <= 0 or (left[0] < 0 and not isinstance(op, arith.FloorDivSIOp)):
            return None
        case arith.RemUIOp():
            return 0, min(left[1], right[1] - 1)
        case _:
            quotients = [a // b for a in left for b in right]
            return min(quotients), max(quotients)


def access_map(op: memref.LoadOp | memref.StoreOp, iters: Sequence[BlockArgument]) -> AffineMap | None:
    """The element that an access touches, as a map from a block's iterators; `None` where it depends on data."""
    return access_map_over(op, over_dimensions(iters))


def over_dimensions(iters: Sequence[BlockArgument]) -> dict[SSAValue, AffineExpr]:
    """Each iterator as the dimension of its number."""
    return {v: dimension(i) for i, v in enumerate(iters)}


def access_map_over(op: memref.LoadOp | memref.StoreOp, dims: Mapping[SSAValue, AffineExpr]) -> AffineMap | None:
    """The same, over all values that a map may speak of, in order."""
    results: list[AffineExpr] = []
    for value in op.indices:
        if (expr := affine_of(value, dims)) is None:
            return None
        results.append(expr)
    return affine_map(len(dims), results)


@dataclass(frozen=True)
class Access:
    """An element access in a block: the operation and its map from the block's iterators, if it has one."""

    op: memref.LoadOp | memref.StoreOp
    map: AffineMap | None

    @property
    def is_sure(self) -> bool:
        """Whether it is made each time that `op` runs."""
        return True

    @property
    def buffer(self) -> SSAValue:
        """What is accessed."""
        return self.op.operands[1 if self.is_write else 0]

    @cached_property
    def is_write(self) -> bool:
        """Whether it is a write."""
        return type(self.op) is memref.StoreOp


class Linear(NamedTuple):
    """A sum of multiples: `constant + sum(coefficient * atom)`. Atoms are dimensions and floordiv/mod terms."""

    terms: Mapping[AffineExpr, int]
    constant: int

    def coefficient(self, atom: AffineExpr) -> int:
        return self.terms.get(atom, 0)

    def without(self, dim: AffineExpr) -> Linear:
        """What is left where `dim` is 0, if `is_linear_in(dim)`."""
        return Linear({a: f for a, f in self.terms.items() if a != dim}, self.constant)

    def is_linear_in(self, dim: AffineExpr) -> bool:
        """Whether `dim` occurs in no quotient, remainder or product."""
        return not any(atom != dim and uses(atom, dim) for atom in self.terms)

    def step(self, dim: AffineExpr) -> int | None:
        """What one more of `dim` adds; `None` where that is not the same everywhere."""
        return self.coefficient(dim) if self.is_linear_in(dim) else None

    def to_expr(self) -> AffineExpr:
        """The expression with its terms in a fixed order: larger coefficients first, as nested loops give them."""
        result: AffineExpr | None = None
        for atom, factor in sorted(self.terms.items(), key=lambda t: (-abs(t[1]), str(t[0]))):
            term = atom if factor == 1 else AffineBinaryOpExpr(AffineBinaryOpKind.Mul, atom, AffineConstantExpr(factor))
            result = term if result is None else AffineBinaryOpExpr(AffineBinaryOpKind.Add, result, term)
        if result is None:
            return AffineConstantExpr(self.constant)
        if self.constant:
            result = AffineBinaryOpExpr(AffineBinaryOpKind.Add, result, AffineConstantExpr(self.constant))
        return result


def uses(expr: AffineExpr, dim: AffineExpr) -> bool:
    """Whether `dim` occurs in `expr`."""
    if type(expr) is AffineBinaryOpExpr:
        return uses(expr.lhs, dim) or uses(expr.rhs, dim)
    return type(expr) is AffineDimExpr and expr == dim


def is_affine(expr: AffineExpr) -> bool:
    """Whether `expr` multiplies by constants only, and divides by positive ones."""
    if not isinstance(expr, AffineBinaryOpExpr):
        return True
    if not (is_affine(expr.lhs) and is_affine(expr.rhs)):
        return False
    match expr.kind:
        case AffineBinaryOpKind.Add:
            return True
        case AffineBinaryOpKind.Mul:
            return isinstance(expr.lhs, AffineConstantExpr) or isinstance(expr.rhs, AffineConstantExpr)
        case _:
            return isinstance(expr.rhs, AffineConstantExpr) and expr.rhs.value > 0


def linear(expr: AffineExpr, ranges: Mapping[AffineExpr, Range] | None = None) -> Linear:
    """The normal form of `expr`. With the `ranges` of its dimensions, `floordiv` and `mod` are resolved where the
    divisor divides the multiples that carry the quotient: `(4 * i + j) floordiv 4` is `i` for `0 <= j < 4`."""
    if type(expr) is not AffineBinaryOpExpr:
        return Linear({}, expr.value) if type(expr) is AffineConstantExpr else Linear({expr: 1}, 0)
    terms: dict[AffineExpr, int] = {}
    if (constant := _add(expr, 1, terms)) is not None:
        return Linear(terms, constant)
    kind = expr.kind
    left = linear(expr.lhs, ranges)
    right = linear(expr.rhs, ranges)
    if kind is AffineBinaryOpKind.Add:
        terms = dict(left.terms)
        for atom, factor in right.terms.items():
            terms[atom] = terms.get(atom, 0) + factor
        return Linear(_rejoin({a: f for a, f in terms.items() if f}), left.constant + right.constant)
    if kind is AffineBinaryOpKind.Mul:
        if left.terms and right.terms:
            return _multiply(left, right)
        part, factor = (left, right.constant) if not right.terms else (right, left.constant)
        return Linear({a: f * factor for a, f in part.terms.items() if f * factor}, part.constant * factor)
    if right.terms or right.constant <= 0:
        return Linear({expr: 1}, 0)
    return _divide(kind, left, right.constant, ranges)


def _add(expr: AffineExpr, factor: int, terms: dict[AffineExpr, int]) -> int | None:
    """Add the multiples in `factor * expr` to `terms`, and give the constant; `None` where there is more than sums and
    multiples by constants."""
    if type(expr) is AffineConstantExpr:
        return expr.value * factor
    if type(expr) is not AffineBinaryOpExpr:
        if total := terms.get(expr, 0) + factor:
            terms[expr] = total
        else:
            terms.pop(expr, None)
        return 0
    if expr.kind is AffineBinaryOpKind.Add:
        left = _add(expr.lhs, factor, terms)
        right = None if left is None else _add(expr.rhs, factor, terms)
        return None if left is None or right is None else left + right
    if expr.kind is AffineBinaryOpKind.Mul and type(expr.rhs) is AffineConstantExpr:
        return _add(expr.lhs, factor * expr.rhs.value, terms)
    return None


def _multiply(left: Linear, right: Linear) -> Linear:
    """The product of two sums, multiplied out: its atoms are products of atoms, in a fixed order."""
    terms: dict[AffineExpr, int] = {a: f * right.constant for a, f in left.terms.items() if right.constant}
    for b, g in right.terms.items():
        if left.constant:
            terms[b] = terms.get(b, 0) + left.constant * g
        for a, f in left.terms.items():
            factors = sorted([*_factors(a), *_factors(b)], key=str)
            atom = factors[0]
            for factor in factors[1:]:
                atom = product(atom, factor)
            terms[atom] = terms.get(atom, 0) + f * g
    return Linear({a: f for a, f in terms.items() if f}, left.constant * right.constant)


def _factors(atom: AffineExpr) -> tuple[AffineExpr, ...]:
    if isinstance(atom, AffineBinaryOpExpr) and atom.kind == AffineBinaryOpKind.Mul:
        return *_factors(atom.lhs), *_factors(atom.rhs)
    return (atom,)


def _rejoin(terms: dict[AffineExpr, int]) -> dict[AffineExpr, int]:
    """`k * c * (x floordiv c) + k * (x mod c)` is `k * x`, for a single term `x`."""
    for atom, factor in [*terms.items()]:
        if type(atom) is AffineBinaryOpExpr and atom.kind is AffineBinaryOpKind.Mod and atom in terms:
            quotient = AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, atom.lhs, atom.rhs)
            assert isinstance(atom.rhs, AffineConstantExpr)
            if terms.get(quotient) == factor * atom.rhs.value and isinstance(
                atom.lhs, AffineDimExpr | AffineBinaryOpExpr
            ):
                whole = linear(atom.lhs)
                if whole.constant:
                    continue
                del terms[atom], terms[quotient]
                for inner, multiple in whole.terms.items():
                    terms[inner] = terms.get(inner, 0) + multiple * factor
                    if not terms[inner]:
                        del terms[inner]
    return terms


def _divide(kind: AffineBinaryOpKind, left: Linear, divisor: int, ranges: Mapping[AffineExpr, Range] | None) -> Linear:
    """`left floordiv divisor`, `left mod divisor` or `left ceildiv divisor` in normal form."""
    if kind == AffineBinaryOpKind.CeilDiv:
        return _divide(AffineBinaryOpKind.FloorDiv, Linear(left.terms, left.constant + divisor - 1), divisor, ranges)
    whole = {a: f for a, f in left.terms.items() if f % divisor == 0}
    rest = Linear({a: f for a, f in left.terms.items() if f % divisor}, left.constant % divisor)
    quotient = Linear({a: f // divisor for a, f in whole.items()}, left.constant // divisor)
    if not rest.terms or (ranges is not None and _within(rest, divisor, ranges)):
        return quotient if kind == AffineBinaryOpKind.FloorDiv else rest
    if ranges is not None and (scaled := _divide_scaled(kind, rest, divisor, ranges)) is not None:
        if kind == AffineBinaryOpKind.Mod:
            return scaled
        terms = dict(quotient.terms)
        for atom, factor in scaled.terms.items():
            terms[atom] = terms.get(atom, 0) + factor
        return Linear(terms, quotient.constant + scaled.constant)
    remainder = rest.to_expr()
    atom = AffineBinaryOpExpr(kind, remainder, AffineConstantExpr(divisor))
    if kind == AffineBinaryOpKind.Mod:
        return Linear({atom: 1}, 0)
    return Linear({**quotient.terms, atom: quotient.terms.get(atom, 0) + 1}, quotient.constant)


def _divide_scaled(
    kind: AffineBinaryOpKind, value: Linear, divisor: int, ranges: Mapping[AffineExpr, Range]
) -> Linear | None:
    """`(g * a + b) floordiv (g * c)` is `a floordiv c`, and its `mod` is `g * (a mod c) + b`, for `0 <= b < g`: how a
    tile of `g` within a row of `g * c` is addressed."""
    for g in sorted({abs(f) for f in value.terms.values() if abs(f) > 1 and divisor % abs(f) == 0}, reverse=True):
        multiples = {a: f // g for a, f in value.terms.items() if f % g == 0}
        small = Linear({a: f for a, f in value.terms.items() if f % g}, value.constant % g)
        if not multiples or not _within(small, g, ranges):
            continue
        scaled = _divide(kind, Linear(multiples, value.constant // g), divisor // g, ranges)
        if kind == AffineBinaryOpKind.FloorDiv:
            return scaled
        terms = {a: f * g for a, f in scaled.terms.items()}
        for atom, factor in small.terms.items():
            terms[atom] = terms.get(atom, 0) + factor
        return Linear(terms, scaled.constant * g + small.constant)
    return None


def _within(value: Linear, divisor: int, ranges: Mapping[AffineExpr, Range]) -> bool:
    bounds = linear_range(value, ranges)
    return bounds is not None and bounds[0] >= 0 and bounds[1] < divisor


def linear_range(value: Linear, ranges: Mapping[AffineExpr, Range]) -> Range | None:
    """The least and greatest value of a normal form, given its dimensions' ranges; `None` where one is unknown."""
    low = high = value.constant
    for atom, factor in value.terms.items():
        bounds = ranges.get(atom)
        if bounds is None and type(atom) is AffineBinaryOpExpr:
            bounds = expr_range(atom, ranges)
        if bounds is None:
            return None
        a, b = factor * bounds[0], factor * bounds[1]
        low, high = low + min(a, b), high + max(a, b)
    return low, high


def expr_range(expr: AffineExpr, ranges: Mapping[AffineExpr, Range]) -> Range | None:
    """Bounds of an expression's value (not always tight), given its dimensions' ranges."""
    if type(expr) is not AffineBinaryOpExpr:
        return (expr.value, expr.value) if type(expr) is AffineConstantExpr else ranges.get(expr)
    if expr.kind is AffineBinaryOpKind.FloorDiv or expr.kind is AffineBinaryOpKind.Mod:
        divisor = expr.rhs
        inner = expr_range(expr.lhs, ranges)
        if isinstance(divisor, AffineConstantExpr) and divisor.value > 0 and inner is not None:
            if expr.kind is AffineBinaryOpKind.FloorDiv:
                return inner[0] // divisor.value, inner[1] // divisor.value
            if inner[0] >= 0 and inner[1] < divisor.value:
                return inner
            return 0, divisor.value - 1
        return None
    form = linear(expr, ranges)
    if list(form.terms) == [expr]:
        return None
    return linear_range(form, ranges)


def evaluate_along(expr: AffineExpr, values: Sequence[int]) -> list[int]:
    """The values of `expr`, which uses no dimension but the first, for each of `values` of that."""
    if isinstance(expr, AffineConstantExpr):
        return [expr.value] * len(values)
    if not isinstance(expr, AffineBinaryOpExpr):
        return list(values)
    left, right = evaluate_along(expr.lhs, values), evaluate_along(expr.rhs, values)
    match expr.kind:
        case AffineBinaryOpKind.Add:
            return [a + b for a, b in zip(left, right, strict=True)]
        case AffineBinaryOpKind.Mul:
            return [a * b for a, b in zip(left, right, strict=True)]
        case AffineBinaryOpKind.FloorDiv:
            return [a // b for a, b in zip(left, right, strict=True)]
        case AffineBinaryOpKind.CeilDiv:
            return [-(-a // b) for a, b in zip(left, right, strict=True)]
        case AffineBinaryOpKind.Mod:
            return [a % b for a, b in zip(left, right, strict=True)]


def simplify(expr: AffineExpr, ranges: Mapping[AffineExpr, Range] | None = None) -> AffineExpr:
    """`expr` in normal form."""
    return linear(expr, ranges).to_expr()


def substitute(expr: AffineExpr, dims: Sequence[AffineExpr]) -> AffineExpr:
    """`expr` with dimension `i` replaced by `dims[i]`."""
    if type(expr) is AffineDimExpr:
        return dims[expr.position] if expr.position < len(dims) else expr
    if type(expr) is not AffineBinaryOpExpr:
        return expr
    kind, lhs, rhs = expr.kind, substitute(expr.lhs, dims), substitute(expr.rhs, dims)
    if kind is AffineBinaryOpKind.Mul:
        return product(lhs, rhs)
    if (type(rhs) is AffineConstantExpr) is (kind is AffineBinaryOpKind.Add) or type(lhs) is AffineConstantExpr:
        return AffineExpr.binary(kind, lhs, rhs)
    return AffineBinaryOpExpr(kind, lhs, rhs)  # there is nothing to simplify


_OPERATORS = {
    AffineBinaryOpKind.Add: "+",
    AffineBinaryOpKind.Mul: "*",
    AffineBinaryOpKind.Mod: "mod",
    AffineBinaryOpKind.FloorDiv: "floordiv",
    AffineBinaryOpKind.CeilDiv: "ceildiv",
}
_PRECEDENCE = {kind: 0 if kind == AffineBinaryOpKind.Add else 1 for kind in AffineBinaryOpKind}


def print_expr(
    printer: Printer, expr: AffineExpr, values: Sequence[SSAValue], arguments: Sequence[SSAValue] = ()
) -> None:
    """Print `expr` with dimension `i` as the name of `values[i]`, and symbol `k` as that of `arguments[k]`."""
    match expr:
        case AffineConstantExpr(value):
            printer.print_string(str(value))
        case AffineDimExpr(position):
            printer.print_ssa_value(values[position])
        case AffineSymExpr(position) if position < len(arguments):
            printer.print_ssa_value(arguments[position])
        case AffineSymExpr(position):
            printer.print_string(f"%<argument {position}>")
        case AffineBinaryOpExpr(kind, lhs, rhs):
            symbol = _OPERATORS[kind]
            for side, is_left in ((lhs, True), (rhs, False)):
                nested = isinstance(side, AffineBinaryOpExpr) and not (
                    _PRECEDENCE[side.kind] > _PRECEDENCE[kind] or (is_left and side.kind == kind)
                )
                printer.print_string("(" if nested else "")
                print_expr(printer, side, values, arguments)
                printer.print_string(")" if nested else "")
                if is_left:
                    printer.print_string(f" {symbol} ")
        case _:
            raise ValueError(f"not over dimensions: {expr}")
