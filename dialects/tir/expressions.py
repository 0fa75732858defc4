"""Expressions over SSA values in text: `%i * 16 + %n`, `(%n + 15) floordiv 16`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpKind, AffineConstantExpr, AffineExpr
from xdsl.parser import AffineParser, Parser, UnresolvedOperand
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRToken

from .symbols import combined, replaced, symbol_of

_KINDS = {
    "*": AffineBinaryOpKind.Mul,
    "floordiv": AffineBinaryOpKind.FloorDiv,
    "ceildiv": AffineBinaryOpKind.CeilDiv,
    "mod": AffineBinaryOpKind.Mod,
}


class _IndexParser(AffineParser):
    """xDSL's parser of affine expressions, at the place where another parser stands."""

    def __init__(self, parser: Parser):
        super().__init__(parser._parser_state)

    def parse_expr(self) -> tuple[AffineExpr, Sequence[Span]]:
        """An expression over symbols, and the name that each stands for."""
        parse_value, _, names = self._get_parse_optional_ssa_value()
        return self._parse_affine_expr(parse_value), names

    def _create_binop_expr(self, lhs: AffineExpr, rhs: AffineExpr, binop: MLIRToken) -> AffineExpr:
        if (kind := _KINDS.get(binop.text)) is None:
            return super()._create_binop_expr(lhs, rhs, binop)
        if kind is not AffineBinaryOpKind.Mul and isinstance(rhs, AffineConstantExpr) and rhs.value < 1:
            raise ZeroDivisionError
        return combined(kind, lhs, rhs)

    def stands_at(self, token: str) -> bool:
        """Whether this token comes next."""
        return self._current_token.text == token


def has_exprs(parser: Parser) -> bool:
    """Whether expressions in brackets come next."""
    return _IndexParser(parser).stands_at("[")


def parse_expr(
    parser: Parser, what: str, meaning: Callable[[Parser, Span], AffineExpr | None] | None = None
) -> AffineExpr:
    """Parse an expression over the function's symbols, without brackets around it.

    `what` it is stands in errors. `meaning` gives the symbol of a name, where that has no value yet.
    """
    try:
        expr, names = _IndexParser(parser).parse_expr()
    except ZeroDivisionError:
        parser.raise_error("index expressions divide by constants that are positive, and by symbols")
    symbols: list[AffineExpr] = []
    for name in names:
        if (symbol := (meaning or _symbol)(parser, name)) is None:
            message = f"{what} may depend on the function's index arguments, which {name.text} is not one of"
            parser.raise_error(message, name.start, name.end)
        symbols.append(symbol)
    return replaced(expr, [], symbols)


def _symbol(parser: Parser, name: Span) -> AffineExpr | None:
    return symbol_of(resolve(parser, name)) if name.text[1:] in parser.ssa_values else None


def parse_exprs(parser: Parser) -> tuple[tuple[AffineExpr, ...], Sequence[Span]]:
    """Parse `[%i * 4 + %j, %k]`: expressions over symbols, and the name that each symbol stands for."""
    try:
        map, names = _IndexParser(parser).parse_affine_map_of_ssa_ids()
    except ZeroDivisionError:
        parser.raise_error("index expressions divide by constants that are positive, and by symbols")
    return map.results, names


def resolve(parser: Parser, name: Span) -> SSAValue:
    """The index value of a name."""
    return parser.resolve_operand(UnresolvedOperand(name, 0), IndexType())
