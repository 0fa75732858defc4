"""What turns of a scan are passed where extents are symbols: how many there are, and what a turn's own symbols are.

A turn is a graph with symbols of its own, extents of what it takes. The graph that scans it says what they are in its
own symbols:

    relay.scan @turn(%w) over(%x) from(%h) {passes = affine_map<()[s0, s1] -> (s0, s1)>, ...}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir.affine import AffineExpr

from ...dialects import te
from ...dialects.relay.extents import Dims, Extents
from ...dialects.relay.scan import ScanOp
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.te.dims import substituted
from .graph_symbols import GraphSymbols

PASSES = "passes"
"""Attribute of a `relay.scan`: the number of turns, then the symbols of a turn, over the graph's own symbols."""


@dataclass(frozen=True)
class Turn:
    """A graph that may be scanned: its symbols, and the extents of its arguments in them."""

    symbols: GraphSymbols
    arguments: Sequence[Dims]


def pass_extents(op: ScanOp, extents: Extents, symbols: GraphSymbols, turn: Turn | None) -> None:
    """Note at a scan how many turns there are, and what the symbols of a turn are, if it has any.

    Raises:
        Diagnostic: they do not follow from what the turn takes.
    """
    rows = [extents.of(value)[0].dims for value in op.rows]
    passed: list[te.Dim] = [rows[0][0] if op.known_turns is None else op.known_turns]
    if turn is not None:
        captured, carried = ([extents.of(value)[0].dims for value in values] for values in (op.captured, op.carried))
        taken = [*captured, *(dims[1:] for dims in rows), *carried]
        known = {
            own: given
            for argument, dims in zip(turn.arguments, taken, strict=True)
            for own, given in zip(argument, dims, strict=True)
            if isinstance(own, te.Var)
        }
        follow = {symbol: dim for dim, symbol in turn.symbols.defined.items()}
        for symbol in turn.symbols.numbers:
            dim = follow.get(symbol, symbol)
            if not known.keys() >= set(te.variables([dim])):
                raise Diagnostic.at(op, f"does not say the extent {symbol.name} of {op.callee}")
            passed.append(extents.resolved(substituted(dim, known)))
    op.attributes[PASSES] = symbols.shapes([tuple(passed)]).data[0]


def passed_extents(op: ScanOp) -> Sequence[AffineExpr] | None:
    """The number of turns, and the symbols of a turn, over the graph's own; `None` where extents are no symbols."""
    passes = op.attributes.get(PASSES)
    return list(passes.data.results) if isinstance(passes, AffineMapAttr) else None
