"""The analyzer beside the affine normal form that the schedule uses: the accesses of a model's kernels.

    weft-opt MODEL.mlir --compile-to=schedule -o SCHEDULED.mlir
    python bench/index_expressions.py SCHEDULED.mlir [--rounds 5]

Each access of each block, its map composed with the block's bindings, is simplified under the ranges of the loops
around: by `dialects.tir.affine.simplify`, and by a new `Analyzer`. Both take turns; shown is the best round's time for
one expression, and how many results the analyzer has that need less, as much and more work.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import process_time

from xdsl.ir.affine import AffineExpr

from weft.dialects.support.parser import parse_module
from weft.dialects.tir.affine import Range, simplify, substitute
from weft.dialects.tir.analyzer import Analyzer, from_affine
from weft.dialects.tir.core import BlockOp
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.tir.schedule.rebind import dimension_ranges

Question = tuple[AffineExpr, dict[AffineExpr, Range]]


def questions(text: str) -> list[Question]:
    """The element that each access touches, over the loops' variables, and their ranges."""
    found: list[Question] = []
    for op in parse_module(text, new_ir_context()).walk():
        if isinstance(op, BlockOp):
            ranges = dimension_ranges(op.loop_vars)
            bindings = op.bindings.data.results
            for access in op.accesses():
                if access.map is not None:
                    found += [(substitute(expr, bindings), ranges) for expr in access.map.results]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("module", type=Path, help="a module in the schedule phase")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    asked = questions(options.module.read_text())
    native = [(from_affine(e), {from_affine(d): r for d, r in ranges.items()}) for e, ranges in asked]
    affine_time = analyzer_time = float("inf")
    for _ in range(options.rounds):
        start = process_time()
        for expr, ranges in asked:
            simplify(expr, ranges)
        middle = process_time()
        for expr, ranges in native:
            Analyzer(ranges).simplify(expr)
        affine_time, analyzer_time = min(affine_time, middle - start), min(analyzer_time, process_time() - middle)
    work = [0, 0, 0]
    for (expr, ranges), (same, bounds) in zip(asked, native, strict=True):
        before, after = from_affine(simplify(expr, ranges)).measure[0], Analyzer(bounds).simplify(same).measure[0]
        work[0 if after < before else 1 if after == before else 2] += 1
    scale = 1e6 / len(asked)
    print(f"{len(asked)} expressions: affine {affine_time * scale:.1f} us, analyzer {analyzer_time * scale:.1f} us")
    print(f"the analyzer's form needs less work for {work[0]}, as much for {work[1]}, more for {work[2]}")


if __name__ == "__main__":
    main()
