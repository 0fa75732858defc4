"""Which arithmetic is expensive: more than the load that keeping its result would cost."""

from __future__ import annotations

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
