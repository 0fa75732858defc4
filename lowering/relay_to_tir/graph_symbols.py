"""The symbols of a graph: extents of its arguments, and what follows from those and is no affine expression of them.

A kernel's extents are sums of symbols times numbers, and quotients of such by numbers. Any other number, `n * m` or the
lesser of `n` and 8, is a symbol of its own: whoever calls the graph evaluates it, as its `extents` say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DenseArrayBase, StringAttr, i64

from ...dialects import te
from ...dialects.relay.extents import Dims, Known
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.te.assume import Assumptions
from ...dialects.te.dim_order import always_at_most, extreme, upper_ends
from ...dialects.te.dims import is_told, simplified, terms_of, to_text
from ...dialects.tir.core import PrimFuncOp
from ...dialects.tir.symbols import ASSUMED, FOLLOWING, affine_map, as_affine
from ..sizes import Size, to_json
from .te_symbols import Symbols

EXTENTS = "extents"
"""Attribute of a graph's function: JSON with the symbols that are computed of others, by number (`defined`), and pairs
of which the first must not be above the second, with what they are needed for (`at_most`); where data decides extents,
their numbers, and what they are at most (`read`): the graph's last results say what they are; elements of inputs, by
the numbers of both, with the size that each is (`held`)."""

_KINDS = {
    te.BinaryKind.ADD: "+", te.BinaryKind.MUL: "*", te.BinaryKind.FLOORDIV: "//", te.BinaryKind.FLOORMOD: "%",
    te.BinaryKind.MIN: "min", te.BinaryKind.MAX: "max",
}  # fmt: skip


class GraphSymbols:
    """The symbols of a graph by number; those of its arguments first, then those that data decides, with what they are
    at most."""

    def __init__(self, given: Sequence[te.Var], decided: Mapping[te.Var, te.Dim] | None = None):
        self.decided = decided or {}
        symbols = (*given, *self.decided)
        self.numbers: dict[te.Var, int] = {symbol: number for number, symbol in enumerate(symbols)}
        self.defined: dict[te.Expr, te.Var] = {}

    def extent(self, dim: te.Dim) -> te.Dim:
        """`dim`, with a symbol for each of its terms that is no affine expression; where one of these may be below 0 as
        well as above, with a symbol for all of it."""
        found = self._of_terms(dim)
        return self._symbol(dim) if found is None and isinstance(dim, te.Expr) else cast("te.Dim", found)

    def _of_terms(self, dim: te.Dim) -> te.Dim | None:
        """`dim` in symbols, none of which is below 0: kernels rely on that. Nothing, if there is none."""
        if self._is_affine(dim):
            return dim
        terms, total = terms_of(dim)
        extent: te.Dim = total
        for term, factor in terms:
            if (one := self._term(term)) is None:
                return None
            extent = extent + one * factor
        return extent

    def _of_either_sign(self, number: te.Expr) -> te.Dim:
        """A number, which may be below 0, as a sum of symbols, none of which is."""
        if (found := self._of_terms(number)) is not None:
            return found
        above, below = (extreme(te.BinaryKind.MAX, number * sign, 0) for sign in (1, -1))
        return self.extent(above) - self.extent(below)

    def _is_affine(self, dim: te.Dim) -> bool:
        if isinstance(dim, te.Expr) and any(map(is_told, te.variables([dim]))):
            return False  # which may be below 0
        return isinstance(dim, int) or dim in self.numbers or Symbols(self.numbers).is_affine(dim)

    def _term(self, dim: te.Dim) -> te.Dim | None:
        """`dim`, or the symbol that it is, or that is it with another sign."""
        if isinstance(dim, int) or self._is_affine(dim):
            return dim
        if always_at_most(0, dim):
            return self._symbol(dim)
        if not always_at_most(dim, 0):
            return None
        symbol = self._symbol(te.dim_expr(simplified(dim * -1)))
        return symbol * -1

    def _symbol(self, dim: te.Expr) -> te.Var:
        if dim not in self.defined:
            symbol = te.var(f"n{len(self.numbers)}")
            self.defined[dim] = symbol
            self.numbers[symbol] = len(self.numbers)
        return self.defined[dim]

    def number(self, dim: te.Expr) -> int:
        """The number of a symbol, or of an extent that is one."""
        symbol = self.extent(dim)
        return self.numbers[symbol if isinstance(symbol, te.Var) else self._symbol(dim)]

    def folded(self, known: Known) -> Known:
        """What is known of a tensor, in extents that kernels have."""
        held = known.contents
        if held is not None:
            held = tuple(self._of_either_sign(number) if isinstance(number, te.Expr) else number for number in held)
        return Known(tuple(map(self.extent, known.dims)), held)

    def whole(self, inputs: Sequence[Known]) -> list[Known]:
        """The same tensors, with a symbol for each extent with a quotient whose symbols occur in that extent alone: a
        kernel is made as for any other extent then, and its loops are divided into tiles and what is left over."""
        found = dict.fromkeys(dim for each in inputs for dim in _expressions(each))
        symbols: dict[te.Dim, te.Var] = {}
        for dim in dict.fromkeys(dim for each in inputs for dim in each.dims):
            if isinstance(dim, te.Expr) and _has_quotient(dim):
                others = te.variables([other for other in found if other != dim])
                if set(te.variables([dim])).isdisjoint(others):
                    symbols[dim] = self._symbol(dim)
        if not symbols:
            return [*inputs]

        def replaced(numbers: Sequence[te.Dim | float | None]) -> tuple[te.Dim | float | None, ...]:
            return tuple(symbols.get(n, n) if isinstance(n, te.Expr) else n for n in numbers)

        return [
            Known(
                cast("tuple[te.Dim, ...]", replaced(each.dims)),
                None if each.contents is None else replaced(each.contents),
            )
            for each in inputs
        ]

    def shapes(self, shapes: Sequence[Dims]) -> ArrayAttr[AffineMapAttr]:
        """Extents of tensors as maps from symbols."""
        numbers = Symbols(self.numbers)
        maps = [[as_affine(numbers.extent(self.extent(dim))) for dim in dims] for dims in shapes]
        return ArrayAttr([AffineMapAttr(affine_map(0, exprs)) for exprs in maps])

    def size(self, dim: te.Dim) -> Size:
        """An extent as the runtime evaluates it."""
        match dim:
            case int():
                return dim
            case te.Const(value):
                return int(value)
            case te.Var() if dim in self.numbers:
                return "n", self.numbers[dim]
            case te.Binary(te.BinaryKind.SUB, lhs, rhs):
                return "+", self.size(lhs), ("*", -1, self.size(rhs))
            case te.Binary(kind, lhs, rhs) if kind in _KINDS:
                return _KINDS[kind], self.size(lhs), self.size(rhs)
            case _:
                raise Diagnostic(f"the extent {to_text(dim)} does not follow from the inputs")

    def described(
        self, at_most: Sequence[tuple[te.Dim, te.Dim]], held: Sequence[tuple[int, int, te.Dim]] = ()
    ) -> StringAttr:
        """What `EXTENTS` says; `held` are elements of inputs that are sizes."""
        defined = [[self.numbers[symbol], to_json(self.size(dim))] for dim, symbol in self.defined.items()]
        read = [[self.numbers[symbol], to_json(self.size(most))] for symbol, most in self.decided.items()]
        asked = [[to_json(self.size(a)), to_json(self.size(b)), f"{to_text(a)} <= {to_text(b)}"] for a, b in at_most]
        said = {"defined": defined, "at_most": asked, **({"read": read} if read else {})}
        if held:
            said["held"] = [[tensor, element, to_json(self.size(dim))] for tensor, element, dim in held]
        return StringAttr(json.dumps(said))


def _expressions(known: Known) -> list[te.Expr]:
    return [n for n in (*known.dims, *(known.contents or ())) if isinstance(n, te.Expr)]


def _has_quotient(dim: te.Dim) -> bool:
    match dim:
        case te.Binary(kind, lhs, rhs):
            return kind == te.BinaryKind.FLOORDIV or _has_quotient(lhs) or _has_quotient(rhs)
        case _:
            return False


def note_assumed(kernel: PrimFuncOp, symbols: Sequence[te.Expr], asked: Assumptions) -> None:
    """Say of a kernel with these symbols what is asked of them, where that is affine: it is checked with them. An
    extent that is the lesser of two is at most either; the greater is at least either, and at most what neither is
    above. Which symbols follow from others otherwise is said too."""
    arguments = dict(zip(symbols, kernel.symbols, strict=True))
    numbers = Symbols({symbol: argument.index for symbol, argument in arguments.items()})
    equal = [pair for a, b in asked.equal for pair in ((a, b), (b, a))]
    known = [*asked.at_most, *equal, *(pair for symbol in symbols for pair in _sides(symbol))]
    assumed: list[AffineMapAttr] = []
    for least, most in known:
        try:
            assumed.append(AffineMapAttr(affine_map(0, [as_affine(numbers.difference(most, least))])))
        except Diagnostic:
            continue
    if assumed:
        kernel.attributes[ASSUMED] = ArrayAttr(assumed)
    following = [arguments[symbol].index for symbol in symbols if not isinstance(symbol, te.Var)]
    if following:
        kernel.attributes[FOLLOWING] = DenseArrayBase.from_list(i64, following)


def _sides(extent: te.Expr) -> list[tuple[te.Dim, te.Dim]]:
    match extent:
        case te.Binary(te.BinaryKind.MIN, lhs, rhs):
            return [(extent, lhs), (extent, rhs)]
        case te.Binary(te.BinaryKind.MAX, lhs, rhs):
            return [(lhs, extent), (rhs, extent), *((extent, most) for most in upper_ends(lhs, rhs))]
        case _:
            return []
