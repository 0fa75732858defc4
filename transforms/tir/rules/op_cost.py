"""Which arithmetic is expensive: more than the load that keeping its result would cost."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import Float64Type
from xdsl.ir import Operation

CHEAP_MATH = frozenset(
    f"math.{name}"
    for name in (
        "absf", "absi", "ceil", "copysign", "ctlz", "ctpop", "cttz", "floor", "fma", "isfinite", "isinf", "isnan",
        "round", "roundeven", "trunc",
    )
)  # fmt: skip
"""The operations of `math` that are an instruction or three. Any other is expanded into dozens, or is a call."""

DIVISIONS = frozenset(
    f"arith.{name}"
    for name in (
        "ceildivsi", "ceildivui", "divf", "divsi", "divui", "floordivsi", "remf", "remsi", "remui",
    )
)  # fmt: skip


def is_expensive(op: Operation) -> bool:
    """Whether computing `op` again costs more than keeping its result."""
    return op.name in DIVISIONS or (op.name.startswith("math.") and op.name not in CHEAP_MATH)


SIDE_BY_SIDE = {
    **dict.fromkeys(("math.erf", "math.exp", "math.tanh"), 4),
    **dict.fromkeys(
        (
            "math.acos", "math.acosh", "math.asin", "math.asinh", "math.atan", "math.atan2", "math.atanh", "math.cbrt",
            "math.cos", "math.cosh", "math.exp2", "math.expm1", "math.log", "math.log10", "math.log1p", "math.log2",
            "math.powf", "math.sin", "math.sinh", "math.tan",
        ),
        2,
    ),
}  # fmt: skip
"""Registers whose steps are taken in turns. Each step of such a function waits for the one before, longer than the
queues of a processor reach to the next element; with too many at a time, constants and what waits leave the
registers. Measured: bench/README.md, "Functions side by side"."""


def side_by_side(ops: Iterable[Operation]) -> int:
    """How many registers a loop over elements that does all this had best take at a time."""
    found = [SIDE_BY_SIDE[op.name] for op in ops if op.name in SIDE_BY_SIDE and not _is_double(op)]
    return min(found, default=1)


def _is_double(op: Operation) -> bool:
    return isinstance(op.results[0].type, Float64Type)


BRANCHING = frozenset(("arith.remf", "math.cos", "math.exp", "math.sin", "math.tan"))
"""What `expand-math` computes in few steps where all lanes of a vector are ordinary numbers. LLVM makes no vectors of
such branches."""


def branches(op: Operation) -> bool:
    """Whether `op` is computed in fewer steps in a vector than one by one, or in vectors of LLVM's."""
    return op.name in BRANCHING and not _is_double(op)
