"""Which arithmetic is expensive: more than the load that keeping its result would cost."""

from __future__ import annotations

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


BRANCHING = frozenset(("arith.remf", "math.cos", "math.exp", "math.sin", "math.tan"))
"""What `expand-math` computes in few steps where all lanes of a vector are ordinary numbers. LLVM makes no vectors of
such branches."""


def branches(op: Operation) -> bool:
    """Whether `op` is computed in fewer steps in a vector than one by one, or in vectors of LLVM's."""
    return op.name in BRANCHING and not isinstance(op.results[0].type, Float64Type)
