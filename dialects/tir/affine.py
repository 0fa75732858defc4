"""Index arithmetic: from SSA values to affine expressions and back, and what can be said about an expression.

An index in a block's body is a chain of `arith` operations on the iterators. `affine_of` reads such a chain as an
affine expression; `Linear` is its normal form, a sum of multiples of atoms (variables, and floordiv/mod terms).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import gcd
from typing import NamedTuple, cast

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

from ..support.insides import operands_of
from .analyzer import Analyzer, IntExpr, from_affine, to_affine
from .analyzer.build import linear as total
from .analyzer.build import parts
from .integers import Range, value_range
from .symbols import affine_map, dimension, greatest, product, symbol_of


def affine_of(value: SSAValue, dims: Mapping[SSAValue, AffineExpr]) -> AffineExpr | None:
    """`value` as an affine expression of the values in `dims` and of symbols; `None` where it is not one."""
    return _affine_of(value, dims, {})


def _affine_of(
    value: SSAValue, dims: Mapping[SSAValue, AffineExpr], found: dict[SSAValue, AffineExpr | None]
) -> AffineExpr | None:
    """The same; what results of operations are is `found` once."""
    if (known := dims.get(value)) is not None:
        return known
    if type(value) is BlockArgument:
        return symbol_of(value)
    if value not in found:
        assert type(value) is OpResult
        found[value] = _result_of(value.op, dims, found)
    return found[value]


def _result_of(
    op: Operation, dims: Mapping[SSAValue, AffineExpr], found: dict[SSAValue, AffineExpr | None]
) -> AffineExpr | None:
    if type(op) is arith.ConstantOp:
        return AffineConstantExpr(op.value.value.data) if isinstance(op.value, IntegerAttr) else None
    if (combine := _COMBINE.get(type(op))) is None:
        return None
    first, second = operands_of(op)
    lhs = _affine_of(first, dims, found)
    rhs = _affine_of(second, dims, found) if lhs is not None else None
    if lhs is None or rhs is None or (type(op) in _UNSIGNED and not _is_natural(first, op)):
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
    if parent is None or value.owner is divided.parent:
        return parent is not None
    return value_range(value, _iterator_ranges(parent))[0] >= 0


_EXTENTS = "iter_extents"
"""Where a `tir.block` has the extents of its iterators."""


def _iterator_ranges(block: Operation) -> dict[SSAValue, Range]:
    """The values of a block's iterators; none has values where an iterator has none."""
    match block.properties[_EXTENTS]:
        case AffineMapAttr(data=map):
            extents = [e.value if isinstance(e, AffineConstantExpr) else greatest(e) for e in map.results]
        case extents_attribute:
            assert isinstance(extents_attribute, DenseArrayBase)
            extents = [int(extent) for extent in extents_attribute.get_values()]
    arguments = [argument for region in block.regions for argument in region.block.args]
    return {argument: (0, max(extents[argument.index] - 1, 0)) for argument in arguments}


def access_map(op: memref.LoadOp | memref.StoreOp, iters: Sequence[SSAValue]) -> AffineMap | None:
    """The element that an access touches, as a map from a block's iterators; `None` where it depends on data."""
    return access_map_over(op, over_dimensions(iters))


def over_dimensions(iters: Sequence[SSAValue]) -> dict[SSAValue, AffineExpr]:
    """Each iterator as the dimension of its number."""
    return {v: dimension(i) for i, v in enumerate(iters)}


def indices_of(op: memref.LoadOp | memref.StoreOp) -> Sequence[SSAValue]:
    """Its indices: what stands behind the buffer, and behind what is stored."""
    return operands_of(op)[2 if type(op) is memref.StoreOp else 1 :]


def access_map_over(op: memref.LoadOp | memref.StoreOp, dims: Mapping[SSAValue, AffineExpr]) -> AffineMap | None:
    """The same, over all values that a map may speak of, in order."""
    return access_maps([op], dims)[0]


def access_maps(
    ops: Sequence[memref.LoadOp | memref.StoreOp], dims: Mapping[SSAValue, AffineExpr]
) -> list[AffineMap | None]:
    """The same of many accesses, whose indices have parts in common."""
    found: dict[SSAValue, AffineExpr | None] = {}
    maps: list[AffineMap | None] = []
    for op in ops:
        results = [_affine_of(value, dims, found) for value in indices_of(op)]
        maps.append(None if None in results else affine_map(len(dims), cast("list[AffineExpr]", results)))
    return maps


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
        return operands_of(self.op)[1 if self.is_write else 0]

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

    def plus(self, other: Linear, times: int) -> Linear:
        """The sum of this and so many `times` another."""
        terms = dict(self.terms)
        for atom, factor in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor * times
        terms = {atom: factor for atom, factor in terms.items() if factor}
        return Linear(terms, self.constant + other.constant * times)

    def is_linear_in(self, dim: AffineExpr) -> bool:
        """Whether `dim` occurs in no quotient, remainder or product."""
        return not any(atom != dim and uses(atom, dim) for atom in self.terms)

    def step(self, dim: AffineExpr) -> int | None:
        """What one more of `dim` adds; `None` where that is not the same everywhere."""
        return self.coefficient(dim) if self.is_linear_in(dim) else None

    def stride(self, dim: AffineExpr) -> Linear | None:
        """What one more of `dim` adds, where that is the same everywhere but may depend on symbols, as the distance of
        rows whose length is one; `None` where it is not."""
        terms: dict[AffineExpr, int] = {}
        constant = 0
        for atom, factor in self.terms.items():
            if atom == dim:
                constant += factor
            elif uses(atom, dim):
                if (by := _multiplied_by(atom, dim)) is None or dims_in(by):
                    return None
                terms[by] = terms.get(by, 0) + factor
        return Linear(terms, constant)

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


def _multiplied_by(atom: AffineExpr, dim: AffineExpr) -> AffineExpr | None:
    """What a product, one factor of which is `dim`, multiplies it by; `None` where it is no such product."""
    if type(atom) is not AffineBinaryOpExpr or atom.kind is not AffineBinaryOpKind.Mul:
        return None
    for one, other in ((atom.lhs, atom.rhs), (atom.rhs, atom.lhs)):
        if one == dim:
            return other
        if uses(one, dim):
            rest = _multiplied_by(one, dim)
            return None if rest is None else AffineBinaryOpExpr(AffineBinaryOpKind.Mul, rest, other)
    return None


def uses(expr: AffineExpr, dim: AffineExpr) -> bool:
    """Whether `dim` occurs in `expr`."""
    if type(expr) is AffineBinaryOpExpr:
        return uses(expr.lhs, dim) or uses(expr.rhs, dim)
    return type(expr) is AffineDimExpr and expr == dim


def dims_in(expr: AffineExpr) -> set[int]:
    """The numbers of the dimensions that occur in `expr`."""
    if type(expr) is AffineDimExpr:
        return {expr.position}
    return dims_in(expr.lhs) | dims_in(expr.rhs) if type(expr) is AffineBinaryOpExpr else set()


def is_affine(expr: AffineExpr) -> bool:
    """Whether `expr` multiplies by constants only, and divides by positive ones."""
    return _multiplies_by(expr, lambda factor: type(factor) is AffineConstantExpr)


def is_affine_in_dimensions(expr: AffineExpr) -> bool:
    """Whether `expr` multiplies and divides by what depends on symbols at most, as by the length of a part of a loop;
    constants that it divides by are positive."""
    return _multiplies_by(expr, lambda factor: not dims_in(factor))


def _multiplies_by(expr: AffineExpr, is_factor: Callable[[AffineExpr], bool]) -> bool:
    """Whether one side of each product in `expr` is a factor, and divisors are, or positive constants."""
    if type(expr) is not AffineBinaryOpExpr:
        return True
    if not (_multiplies_by(expr.lhs, is_factor) and _multiplies_by(expr.rhs, is_factor)):
        return False
    match expr.kind:
        case AffineBinaryOpKind.Add:
            return True
        case AffineBinaryOpKind.Mul:
            return is_factor(expr.lhs) or is_factor(expr.rhs)
        case _:
            return expr.rhs.value > 0 if isinstance(expr.rhs, AffineConstantExpr) else is_factor(expr.rhs)


MAX_REMEMBERED = 1 << 12
"""An analyzer that has simplified more expressions than this forgets them."""


@lru_cache(maxsize=1 << 8)
def _analyzer(known: tuple[tuple[IntExpr, Range], ...]) -> Analyzer:
    return Analyzer.of(dict(known), keeps_variables=True)


def analyzer_of(ranges: Mapping[AffineExpr, Range] | None) -> Analyzer:
    """What knows the `ranges` of dimensions and symbols: one for equal ranges, so that it remembers its answers."""
    known = _analyzer(() if not ranges else tuple([(from_affine(dim), bounds) for dim, bounds in ranges.items()]))
    if known.remembered > MAX_REMEMBERED:
        known.forget()
    return known


def linear(expr: AffineExpr, ranges: Mapping[AffineExpr, Range] | None = None) -> Linear:
    """The normal form of `expr`. With the `ranges` of its dimensions, `floordiv` and `mod` are resolved where the
    divisor divides the multiples that carry the quotient: `(4 * i + j) floordiv 4` is `i` for `0 <= j < 4`."""
    if type(expr) is AffineDimExpr:
        return Linear({expr: 1}, 0)
    if (plain := _plain_sum(expr, ranges)) is not None:
        return plain
    return _as_linear(_normal(expr, ranges))


def _plain_sum(expr: AffineExpr, ranges: Mapping[AffineExpr, Range] | None = None) -> Linear | None:
    """The normal form of a sum of multiples of dimensions and symbols, and of dimensions divided by numbers, as loops
    that were fused have: most expressions are one. Where a dimension stands twice, dividends may be put together
    again."""
    terms: dict[AffineExpr, int] = {}
    divided: list[AffineExpr] = []
    constant = 0
    pending = [(expr, 1)]
    while pending:
        each, factor = pending.pop()
        if type(each) is AffineConstantExpr:
            constant += factor * each.value
        elif type(each) is not AffineBinaryOpExpr:
            terms[each] = terms.get(each, 0) + factor
        elif each.kind is AffineBinaryOpKind.Add:
            pending.append((each.lhs, factor))
            pending.append((each.rhs, factor))
        elif each.kind is AffineBinaryOpKind.Mul and type(each.rhs) is AffineConstantExpr:
            pending.append((each.lhs, factor * each.rhs.value))
        elif ranges is not None and _stays_divided(each, ranges):
            terms[each] = factor
            divided.append(each.lhs)
        else:
            return None
    if divided and (len(set(divided)) < len(divided) or not terms.keys().isdisjoint(divided)):
        return None
    return Linear(_ordered([(atom, factor) for atom, factor in terms.items() if factor]), constant)


def _stays_divided(expr: AffineBinaryOpExpr, ranges: Mapping[AffineExpr, Range]) -> bool:
    """Whether `expr` is a quotient or remainder of a dimension by a number, and there are several quotients."""
    divisor = expr.rhs
    if type(divisor) is not AffineConstantExpr or divisor.value < 2 or type(expr.lhs) is not AffineDimExpr:
        return False
    if expr.kind is not AffineBinaryOpKind.FloorDiv and expr.kind is not AffineBinaryOpKind.Mod:
        return False
    first, last = ranges.get(expr.lhs, (0, 0))
    return 0 <= first // divisor.value < last // divisor.value


def _ordered(terms: list[tuple[AffineExpr, int]]) -> dict[AffineExpr, int]:
    """Larger coefficients first, as nested loops give them."""
    return dict(terms if len(terms) < 2 else sorted(terms, key=lambda term: (-abs(term[1]), str(term[0]))))


def _normal(expr: AffineExpr, ranges: Mapping[AffineExpr, Range] | None) -> IntExpr:
    form = from_affine(expr)
    return form if type(expr) is not AffineBinaryOpExpr else analyzer_of(ranges).simplify(form)


def _as_linear(form: IntExpr) -> Linear:
    """The multiples of atoms in `form`."""
    if (known := form.memo.get("linear")) is None:
        constant, atoms = parts(form)
        terms = [(_affine(atom), factor) for atom, factor in atoms.items()]
        known = form.memo["linear"] = Linear(_ordered(terms), constant)
    return known


def _affine(form: IntExpr) -> AffineExpr:
    expr = to_affine(form)
    assert expr is not None, form
    return expr


def linear_range(value: Linear, ranges: Mapping[AffineExpr, Range]) -> Range | None:
    """The least and greatest value of a normal form, given its dimensions' ranges; `None` where one is unknown."""
    return _bounded(
        analyzer_of(ranges).range(total(value.constant, {from_affine(a): f for a, f in value.terms.items()}))
    )


def expr_range(expr: AffineExpr, ranges: Mapping[AffineExpr, Range]) -> Range | None:
    """Bounds of an expression's value (not always tight), given its dimensions' ranges."""
    if type(expr) is AffineDimExpr and (bounds := ranges.get(expr)) is not None and bounds[0] <= bounds[1]:
        return bounds
    if (plain := _plain_sum(expr)) is not None and (bounds := _sum_range(plain, ranges)) is not None:
        return bounds
    return _bounded(analyzer_of(ranges).const_int_bound(from_affine(expr)))


def _sum_range(value: Linear, ranges: Mapping[AffineExpr, Range]) -> Range | None:
    """The bounds of a sum of multiples of dimensions; `None` where one has no range, or no value."""
    low = high = value.constant
    for atom, factor in value.terms.items():
        if (bounds := ranges.get(atom)) is None or bounds[0] > bounds[1]:
            return None
        first, last = bounds if factor > 0 else (bounds[1], bounds[0])
        low += factor * first
        high += factor * last
    return low, high


def _bounded(bounds: tuple[int | None, int | None]) -> Range | None:
    low, high = bounds
    return None if low is None or high is None else (low, high)


def evaluate_along(expr: AffineExpr, values: Sequence[int]) -> list[int]:
    """The values of `expr`, which uses no dimension but the first and no symbols, for each of `values` of that."""
    if isinstance(expr, AffineConstantExpr):
        return [expr.value] * len(values)
    if not isinstance(expr, AffineBinaryOpExpr):
        assert isinstance(expr, AffineDimExpr)
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
    return _affine(_normal(expr, ranges)) if type(expr) is AffineBinaryOpExpr else expr


def substitute(expr: AffineExpr, dims: Sequence[AffineExpr]) -> AffineExpr:
    """`expr` with dimension `i` replaced by `dims[i]`."""
    if type(expr) is AffineDimExpr:
        return dims[expr.position] if expr.position < len(dims) else expr
    if type(expr) is not AffineBinaryOpExpr:
        return expr
    kind, lhs, rhs = expr.kind, substitute(expr.lhs, dims), substitute(expr.rhs, dims)
    if kind is AffineBinaryOpKind.Mul:
        return product(lhs, rhs)
    if kind is not AffineBinaryOpKind.Add and type(rhs) is not AffineConstantExpr:
        return AffineBinaryOpExpr(kind, lhs, rhs)  # by a size
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


def by_quotients(expr: AffineExpr | int) -> IntExpr:
    """`expr` as the analyzer has it, where digits of symbols are differences of quotients, `n floordiv 4 - n floordiv 8
    * 2` for `n floordiv 4 mod 2`, and quotients hold no whole multiples, `n * 6 + n floordiv 8` for `(n * 49) floordiv
    8`: loops over what is left of larger tiles are as long, and start where those end."""
    return from_affine(_by_quotients(expr if isinstance(expr, AffineExpr) else AffineExpr.constant(expr)))


def _by_quotients(expr: AffineExpr) -> AffineExpr:
    if not isinstance(expr, AffineBinaryOpExpr):
        return expr
    lhs, rhs = _by_quotients(expr.lhs), _by_quotients(expr.rhs)
    if not isinstance(rhs, AffineConstantExpr) or rhs.value <= 0 or lhs.used_dims():
        return AffineBinaryOpExpr(expr.kind, lhs, rhs)
    match expr.kind:
        case AffineBinaryOpKind.Mod:
            return lhs - _divided(lhs, rhs.value) * rhs.value
        case AffineBinaryOpKind.FloorDiv:
            return _divided(lhs, rhs.value)
        case _:
            return AffineBinaryOpExpr(expr.kind, lhs, rhs)


def _divided(expr: AffineExpr, divisor: int) -> AffineExpr:
    """`expr floordiv divisor`, whole multiples and what divides everything taken out; of a sum with a quotient, one by
    both divisors."""
    form = linear(expr)
    whole = Linear({a: f // divisor for a, f in form.terms.items() if f // divisor}, form.constant // divisor).to_expr()
    rest = Linear({a: f % divisor for a, f in form.terms.items() if f % divisor}, form.constant % divisor)
    quotients = [atom for atom, factor in rest.terms.items() if factor == 1 and _is_quotient(atom)]
    if len(quotients) == 1:
        (quotient,) = quotients
        assert isinstance(quotient, AffineBinaryOpExpr) and isinstance(quotient.rhs, AffineConstantExpr)
        below = quotient.rhs.value
        return whole + _divided((rest.to_expr() - quotient) * below + quotient.lhs, below * divisor)
    if not rest.terms:
        return whole  # the constant is less than the divisor
    if (common := gcd(divisor, *rest.terms.values())) > 1:
        divisor //= common
        rest = Linear({a: f // common for a, f in rest.terms.items()}, rest.constant // common)
    return whole + rest.to_expr() // divisor


def _is_quotient(expr: AffineExpr) -> bool:
    """Whether `expr` is a quotient by a positive number."""
    match expr:
        case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, _, AffineConstantExpr(divisor)):
            return divisor > 0
        case _:
            return False
