"""The rewrite driver against xDSL's own: 160 patterns over 100,000 operations.

    python bench/rewrite_driver.py [--ops 100000] [--json OUT]

Both get the same patterns, typed with `@op_type_rewrite_pattern` and spread over 40 operation types, and the same
module of integer arithmetic; neither removes dead code. Three cases: no pattern ever matches; one operation in ten is
rewritten; and, for the driver alone, a set of patterns that does not converge. Each is run once.
"""

from __future__ import annotations

import argparse
import gc
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from weft.transforms.infra.driver import NonConvergenceError, RewriteDriver

PATTERNS = 160
OPERATIONS: list[type[Operation]] = [op for op in arith.Arith.operations if op is not arith.ConstantOp][:40]


def never(index: int, op_type: type[Operation]) -> RewritePattern:
    """A pattern about one type of operation that looks at an attribute and declines."""

    def match_and_rewrite(self: RewritePattern, op: Operation, rewriter: PatternRewriter) -> None:
        if "never" in op.attributes:
            rewriter.erase(op)

    match_and_rewrite.__annotations__["op"] = op_type
    body = {"match_and_rewrite": op_type_rewrite_pattern(match_and_rewrite), "pattern_name": f"never-{index}"}
    return type("Never", (RewritePattern,), body)()


class SubOfSelf(RewritePattern):
    """x - x -> 0."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.SubiOp, rewriter: PatternRewriter) -> None:
        if op.lhs is op.rhs:
            rewriter.replace(op, arith.ConstantOp(IntegerAttr(0, i64)))


class Swap(RewritePattern):
    """a + b -> b + a, for ever."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, arith.AddiOp(op.rhs, op.lhs))


def patterns(matching: bool) -> list[RewritePattern]:
    table = [never(i, OPERATIONS[i % len(OPERATIONS)]) for i in range(PATTERNS - 1)]
    return [*table, SubOfSelf() if matching else never(PATTERNS, arith.SubiOp)]


def arithmetic(count: int) -> ModuleOp:
    """A module of `count` operations, one in ten of which is a subtraction of a value from itself."""
    first = arith.ConstantOp(IntegerAttr(1, i64))
    ops: list[Operation] = [first]
    kinds = [arith.AddiOp, arith.MuliOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp]
    value: SSAValue = first.result
    while len(ops) < count:
        if len(ops) % 10 == 0:
            op = arith.SubiOp.create(operands=[value, value], result_types=[i64])
        else:
            op = kinds[len(ops) % 5].create(operands=[value, first.result], result_types=[i64])
        ops.append(op)
        value = op.results[0]
    return ModuleOp(ops)


def measured(what: Callable[[ModuleOp], object], module: ModuleOp) -> float:
    gc.collect()
    gc.freeze()
    start = perf_counter()
    what(module)
    return perf_counter() - start


def xdsl(table: Sequence[RewritePattern]) -> Callable[[ModuleOp], object]:
    return PatternRewriteWalker(GreedyRewritePatternApplier(list(table), dce_enabled=False)).rewrite_module


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", type=int, default=100_000, help="operations in the module")
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    arguments = parser.parse_args()
    results: dict[str, float] = {}
    for case, matching in (("no match", False), ("one in ten", True)):
        theirs = measured(xdsl(patterns(matching)), arithmetic(arguments.ops))
        ours = measured(RewriteDriver(patterns(matching), dead_code=False).rewrite_module, arithmetic(arguments.ops))
        results |= {f"{case}: xdsl s": theirs, f"{case}: weft s": ours, f"{case}: ratio": theirs / ours}
        print(f"{case:12} xDSL {theirs:7.3f} s   Weft {ours:7.3f} s   {theirs / ours:5.1f} x faster")
    start = perf_counter()
    try:
        RewriteDriver([Swap()]).rewrite_module(arithmetic(1000))
    except NonConvergenceError as error:
        results["not converging: weft s"] = perf_counter() - start
        print(f"{'endless':12} stopped after {results['not converging: weft s']:.3f} s: {error.message}")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
