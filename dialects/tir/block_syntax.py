"""How the header of a block is written: its iterators, what they are bound to, and its accesses.

    @sum(%vi: spatial 4, %vk: reduce 64) = [%i, %k0 * 16 + %k1] where [...] reads(%x[%vi, %vk] : ...) writes(...)

A header that is too wide is broken after `=` and before `where`, `reads` and `writes`, and such a part, if it is too
wide still, after commas.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.parser import Parser
from xdsl.printer import Printer

from ..support.columns import to_text
from .affine import print_expr
from .expressions import has_exprs, parse_exprs, resolve
from .symbols import affine_map, replaced, symbol_of


def expr_text(
    printer: Printer, expr: AffineExpr, values: Sequence[SSAValue], arguments: Sequence[SSAValue] = ()
) -> str:
    """`expr` with dimension `i` as the name of `values[i]`, and symbol `k` as that of `arguments[k]`."""
    return to_text(printer, lambda: print_expr(printer, expr, values, arguments))


def access_text(
    printer: Printer, buffer: SSAValue, map: Attribute, iters: Sequence[SSAValue], arguments: Sequence[SSAValue]
) -> str:
    """`%x[%vi, %vk] : memref<...>`; without the brackets where the place depends on data."""
    name = to_text(printer, lambda: printer.print_operand(buffer))
    place = ""
    if isinstance(map, AffineMapAttr):
        place = f"[{', '.join(expr_text(printer, expr, iters, arguments) for expr in map.data.results)}]"
    return f"{name}{place} : {to_text(printer, lambda: printer.print_attribute(buffer.type))}"


def parse_bindings(parser: Parser, known: Sequence[SSAValue]) -> tuple[tuple[AffineExpr, ...], list[SSAValue]]:
    """Parse `[%i * 4 + %j, %k]`: the expressions over the values `known`, extended by those first met here."""
    exprs, names = parse_exprs(parser)
    variables = list(known)
    symbols: list[AffineExpr] = []
    for name in names:
        value = resolve(parser, name)
        if (symbol := symbol_of(value)) is not None:
            symbols.append(symbol)
            continue
        if value not in variables:
            variables.append(value)
        symbols.append(AffineExpr.dimension(variables.index(value)))
    return tuple(replaced(expr, [], symbols) for expr in exprs), variables


def parse_accesses(parser: Parser, iters: Sequence[Parser.Argument]) -> tuple[list[SSAValue], list[Attribute]]:
    """Parse `(%x[%vi, %vk] : memref<...>, ...)`: the buffers, and each one's map from the iterators."""
    buffers: list[SSAValue] = []
    maps: list[Attribute] = []
    names = [argument.name.text for argument in iters]

    def access() -> None:
        buffer = parser.parse_unresolved_operand()
        map: Attribute = UnitAttr()
        if has_exprs(parser):
            exprs, used = parse_exprs(parser)
            symbols: list[AffineExpr] = []
            for name in used:
                if name.text in names:
                    symbols.append(AffineExpr.dimension(names.index(name.text)))
                elif name.text[1:] in parser.ssa_values and (symbol := symbol_of(resolve(parser, name))) is not None:
                    symbols.append(symbol)
                else:
                    known = ", ".join(names) or "none"
                    parser.raise_error(
                        f"an access is addressed by the block's iterators ({known}), not by {name.text}",
                        name.start,
                        name.end,
                    )
            results = tuple(replaced(expr, [], symbols) for expr in exprs)
            map = AffineMapAttr(affine_map(len(names), results))
        parser.parse_punctuation(":")
        buffers.append(parser.resolve_operand(buffer, parser.parse_type()))
        maps.append(map)

    parser.parse_comma_separated_list(parser.Delimiter.PAREN, access)
    return buffers, maps
