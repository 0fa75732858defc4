"""Symbols: extents that are known when a function is called, its `index` arguments.

    tir.prim_func @k(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %n: index) shapes(%x[%n, 64], %y[%n, 64]) {
      tir.for %i = 0 to (%n + 15) floordiv 16 { ...

A symbol is meant by the same affine expression everywhere in a function: `AffineExpr.symbol(k)` is argument `k`. So
expressions of different loops, blocks and buffers are compared, added and substituted without being renumbered. Index
arguments come after the buffers, and their values are not negative.

An `Extent` is an integer or, where it depends on symbols, an affine expression of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TypeAlias

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IndexType, MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from ..support.hints import isa
from ..support.walking import in_order
from .analyzer import Analyzer, from_affine, sym

Extent: TypeAlias = int | AffineExpr
"""A number of elements or iterations; never an affine expression that is a constant."""

MAX_EXTENT = 1 << 48
"""No extent is larger: memory has no more elements."""


def assume_symbols(analyzer: Analyzer, exprs: Iterable[AffineExpr]) -> None:
    """Let `analyzer` know that the symbols of `exprs` are extents."""
    for number in {symbol for expr in exprs for symbol in symbols_in(expr)}:
        analyzer.assume(sym(number) >= 0)


def is_symbol(value: SSAValue) -> bool:
    """Whether `value` is an index argument of a `tir.prim_func`: buffers come before it, where there are any."""
    if not isinstance(value, BlockArgument) or not isinstance(value.type, IndexType):
        return False
    if isinstance(value.block.args[0].type, MemRefType):
        return True
    around = value.block.parent_op()
    return around is not None and around.name == "tir.prim_func"


def symbol_of(value: SSAValue) -> AffineExpr | None:
    """The expression that means `value`; `None` where it is no symbol."""
    return AffineExpr.symbol(value.index) if isinstance(value, BlockArgument) and is_symbol(value) else None


def arguments_around(op: Operation) -> Sequence[SSAValue]:
    """The arguments of the function around `op`, by the numbers of symbols; none where there is no function."""
    parent: Operation | None = op
    while parent is not None and parent.name != "tir.prim_func":
        parent = parent.parent_op()
    return () if parent is None else parent.regions[0].block.args


ASSUMED = "assumed"
"""Attribute of a `tir.prim_func`: maps from its symbols to what is not negative, which whoever calls it sees to."""


FOLLOWING = "following"
"""Attribute of a `tir.prim_func`: the numbers of symbols that follow from others by more than affine expressions, as
`n * m` does: only whoever calls it knows which sizes go together."""


def assumed_around(op: Operation) -> Iterator[AffineExpr]:
    """What is not negative in the function around `op`, or that it is."""
    parent: Operation | None = op
    while parent is not None and parent.name != "tir.prim_func":
        parent = parent.parent_op()
    assumed = None if parent is None else parent.attributes.get(ASSUMED)
    if isa(assumed, ArrayAttr[AffineMapAttr]):
        yield from (expr for map in assumed for expr in map.data.results)


def assume(func: Operation, exprs: Iterable[AffineExpr]) -> None:
    """Say of a `tir.prim_func` that `exprs` over its symbols are not negative, too: its callers see to it. What is
    said of a function stands in one order."""
    known = list(assumed_around(func))
    added = [expr for expr in dict.fromkeys(exprs) if expr not in known]
    if added:
        ordered = sorted((*known, *added), key=str)
        func.attributes[ASSUMED] = ArrayAttr([AffineMapAttr(affine_map(0, [expr])) for expr in ordered])


def positive_divisors(func: Operation) -> Iterator[AffineExpr]:
    """What is not negative of a `tir.prim_func` as its extents are divided by sizes: each of these less 1, and of a
    product of sizes each factor."""
    for op in (func, *in_order(func.regions[0])):
        for attribute in op.properties.values():
            for map in attribute if type(attribute) is ArrayAttr else (attribute,):
                if type(map) is AffineMapAttr and not map.data.num_dims and map.data.num_symbols:
                    for divisor in divisors_in(map.data.results):
                        yield from (factor - 1 for factor in _factors_of_sizes(divisor))


def _factors_of_sizes(expr: AffineExpr) -> Iterator[AffineExpr]:
    """The sizes that `expr` is the product of, with a positive number; or itself."""
    match expr:
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, lhs, rhs) if all(_is_product_of_sizes(e) for e in (lhs, rhs)):
            yield from _factors_of_sizes(lhs)
            yield from _factors_of_sizes(rhs)
        case AffineConstantExpr():
            pass
        case _:
            yield expr


def _is_product_of_sizes(expr: AffineExpr) -> bool:
    match expr:
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, lhs, rhs):
            return _is_product_of_sizes(lhs) and _is_product_of_sizes(rhs)
        case AffineConstantExpr(value):
            return value > 0
        case _:
            return isinstance(expr, AffineSymExpr)


def symbols_in(expr: AffineExpr) -> Iterator[int]:
    """The numbers of the symbols in `expr`."""
    return (part.position for part in expr.dfs() if isinstance(part, AffineSymExpr))


def depends_on_symbols(*exprs: AffineExpr) -> bool:
    """Whether there is a symbol in one of `exprs`."""
    return any(map(_end_of_symbols, exprs))


def affine_map(num_dims: int, exprs: Sequence[AffineExpr]) -> AffineMap:
    """The map from `num_dims` dimensions, and the symbols that occur, to `exprs`."""
    return AffineMap(num_dims, max(map(_end_of_symbols, exprs), default=0), tuple(exprs))


def _end_of_symbols(expr: AffineExpr) -> int:
    """The number after the greatest of the symbols in `expr`."""
    if type(expr) is AffineBinaryOpExpr:  # as often as this is asked, `isinstance` takes long: the classes are abstract
        return max(_end_of_symbols(expr.lhs), _end_of_symbols(expr.rhs))
    return expr.position + 1 if type(expr) is AffineSymExpr else 0


@cache
def dimension(number: int) -> AffineExpr:
    """`AffineExpr.dimension(number)`, made once."""
    return AffineExpr.dimension(number)


@lru_cache(maxsize=1024)
def constant(value: int) -> AffineExpr:
    """`AffineExpr.constant(value)`, made once."""
    return AffineExpr.constant(value)


def as_affine(extent: Extent) -> AffineExpr:
    """An extent as an expression."""
    return constant(extent) if isinstance(extent, int) else extent


def as_extent(expr: AffineExpr) -> Extent:
    """An expression as an extent."""
    return expr.value if isinstance(expr, AffineConstantExpr) else expr


def with_sizes(expr: AffineExpr, sizes: Mapping[int, int]) -> AffineExpr:
    """`expr` with the symbols that have `sizes`, by their numbers, replaced. What would be divided by 0 is not: nothing
    that asks for it runs then."""
    match expr:
        case AffineSymExpr(position) if position in sizes:
            return AffineConstantExpr(sizes[position])
        case AffineBinaryOpExpr(kind, lhs, rhs):
            left, right = with_sizes(lhs, sizes), with_sizes(rhs, sizes)
            if kind in _DIVISIONS and type(right) is AffineConstantExpr and right.value < 1:
                return left
            return combined(kind, left, right)
        case _:
            return expr


def replaced(expr: AffineExpr, dims: Sequence[AffineExpr] = (), symbols: Sequence[AffineExpr] = ()) -> AffineExpr:
    """`expr` with the dimensions and symbols that there are others for replaced by these, products of symbols too."""
    match expr:
        case AffineDimExpr(position) if position < len(dims):
            return dims[position]
        case AffineSymExpr(position) if position < len(symbols):
            return symbols[position]
        case AffineBinaryOpExpr(kind, lhs, rhs):
            return combined(kind, replaced(lhs, dims, symbols), replaced(rhs, dims, symbols))
        case _:
            return expr


def combined(kind: AffineBinaryOpKind, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """Two expressions as one, of which neither need be a constant in a product, nor in a quotient or remainder what
    divides."""
    if kind is AffineBinaryOpKind.Mul:
        return product(lhs, rhs)
    if kind is AffineBinaryOpKind.Add or type(rhs) is AffineConstantExpr:
        return AffineExpr.binary(kind, lhs, rhs)
    if kind is AffineBinaryOpKind.CeilDiv:
        kind, lhs = AffineBinaryOpKind.FloorDiv, lhs + rhs - 1
    return AffineBinaryOpExpr(kind, lhs, rhs)


def quotient(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """`lhs` divided by `rhs`, rounded down, where that need not be a constant."""
    return combined(AffineBinaryOpKind.FloorDiv, lhs, rhs)


def remainder(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """What is left of `lhs`, divided by `rhs`, where that need not be a constant."""
    return combined(AffineBinaryOpKind.Mod, lhs, rhs)


def divisors_in(exprs: Iterable[AffineExpr]) -> Iterator[AffineExpr]:
    """What quotients and remainders in `exprs` are divided by, where it is no constant."""
    for expr in exprs:
        if type(expr) is AffineBinaryOpExpr:
            yield from divisors_in((expr.lhs, expr.rhs))
            if expr.kind in _DIVISIONS and type(expr.rhs) is not AffineConstantExpr:
                yield expr.rhs


_DIVISIONS = (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod, AffineBinaryOpKind.CeilDiv)


@lru_cache(maxsize=1024)
def greatest(expr: AffineExpr) -> int:
    """A bound of what an expression of symbols is at most: `%n mod 6` is at most 5."""
    analyzer = Analyzer({sym(number): (0, MAX_EXTENT) for number in symbols_in(expr)})
    _, high = analyzer.const_int_bound(from_affine(expr))
    return MAX_EXTENT if high is None else min(high, MAX_EXTENT)


LIKELY_SIZE = 1009
"""What schedule rules take a symbol for: a prime, since what is chosen must suit sizes that nothing divides."""


def likely(extent: Extent, size: int = LIKELY_SIZE) -> int:
    """What schedule rules take an extent for where they choose, each symbol being `size`; never what correctness rests
    on. One that is open is several: its iterators have loops, which those of extent 1 have not."""
    if isinstance(extent, int):
        return extent
    return max(2, with_sizes(extent, dict.fromkeys(symbols_in(extent), size)).eval([], []))


def product(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """`lhs * rhs`, where neither need be a constant: how a stride that is a symbol enters an address."""
    if type(rhs) is AffineConstantExpr and type(lhs) is AffineDimExpr:
        return lhs if rhs.value == 1 else AffineBinaryOpExpr(AffineBinaryOpKind.Mul, lhs, rhs)
    if type(rhs) is AffineConstantExpr and rhs.value == 1:
        return lhs
    if type(lhs) is AffineConstantExpr or type(rhs) is AffineConstantExpr:
        return lhs * rhs
    return AffineBinaryOpExpr(AffineBinaryOpKind.Mul, lhs, rhs)
