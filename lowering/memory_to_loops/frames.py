"""What graphs of open extents need to know of them before they run: those of a graph, and of each scan within it.

A turn is a graph with symbols of its own. All it needs follows from the symbols of the graph around all scans, so that
memory for the turns is laid out with that of the graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.mem.core import ExtentOp, PoolOp, ScanOp
from ...dialects.mem.graph import GraphOp
from ...dialects.rt.core import SLOT_BYTES
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.tir.affine import linear
from ...dialects.tir.symbols import replaced
from .steps import Callees, turn_slots

Path: TypeAlias = tuple[ScanOp, ...]
"""The scan that a turn is of, after those around it, the outermost first; nothing for the graph itself."""


@dataclass
class Frame:
    """What is known before of a graph, or of the turns of a scan."""

    extents: dict[SSAValue, AffineExpr] = field(default_factory=dict[SSAValue, AffineExpr])
    """Symbols and what follows from them, over the symbols of the outermost graph."""
    pools: list[PoolOp] = field(default_factory=list[PoolOp])
    """Those whose sizes depend on symbols."""
    slots: tuple[int, Sequence[AffineExpr]] | None = None
    """Of a scan whose number of turns is open, the memory of its slots: bytes, and factors of these."""


def frames_of(graph: GraphOp, kernels: Callees) -> Mapping[Path, Frame]:
    """The frame of a graph, and of each scan within it.

    Raises:
        Diagnostic: turns are passed what data decides.
    """
    found: dict[Path, Frame] = {}

    def visit(graph: GraphOp, path: Path, symbols: Sequence[AffineExpr], turns: Sequence[int | AffineExpr]) -> None:
        frame = found[path] = Frame(dict(zip(graph.symbols, symbols, strict=True)))
        for op in graph.body.block.ops:
            if isinstance(op, ExtentOp):
                given = [frame.extents[symbol] for symbol in op.symbols]
                (expr,) = op.map.data.results
                frame.extents[op.result] = linear(replaced(expr, [], given)).to_expr()
            elif isinstance(op, PoolOp) and op.extents:
                frame.pools.append(op)
        if path and (last := path[-1]).known_turns is None:
            factor = SLOT_BYTES * turn_slots(last, kernels)
            for count in turns:
                factor *= count if isinstance(count, int) else 1
            frame.slots = factor, [count for count in turns if not isinstance(count, int)]
        for op in graph.body.block.ops:
            if isinstance(op, ScanOp):
                if any(extent not in frame.extents for extent in op.extents):
                    raise Diagnostic.at(op, "passes turns extents that data decides")
                passed = [frame.extents[extent] for extent in op.extents]
                count = passed.pop(0) if op.known_turns is None else op.known_turns
                inner = kernels.turn(op)
                if len(inner.symbols) != len(passed):
                    raise Diagnostic.at(
                        op, f"passes {len(passed)} symbols to {op.callee}, which has {len(inner.symbols)}"
                    )
                visit(inner, (*path, op), passed, [*turns, count])

    visit(graph, (), [AffineExpr.symbol(number) for number in range(len(graph.symbols))], [])
    return found
