"""Give leave to approximate: the fast forms of exponential, hyperbolic tangent, error function and softmax.

    %y = relay.exp %x    ->    %y = relay.fast_exp %x

The fast operators are those that may be computed with lower accuracy; so far their machine code is that of the exact
ones, which Weft computes by polynomials too.

Counterpart of TVM's `FastMath`, which runs at level 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context

from ...dialects.relay.base import as_attribute
from ...dialects.relay.core import FuncOp
from ...dialects.relay.ops.nn.activation import FastSoftmaxOp
from ...dialects.relay.ops.transcendental import FastErfOp, FastExpOp, FastTanhOp
from ..infra import FunctionPass, RewriteDriver, report_changed
from .dataflow.pattern import is_op, wildcard
from .dataflow.rows import Row

x = wildcard()

ROWS = (
    Row("exp(x) = fast_exp(x)", is_op("exp")(x), lambda s: s.emit(FastExpOp(s[x]))),
    Row("tanh(x) = fast_tanh(x)", is_op("tanh")(x), lambda s: s.emit(FastTanhOp(s[x]))),
    Row("erf(x) = fast_erf(x)", is_op("erf")(x), lambda s: s.emit(FastErfOp(s[x]))),
    Row("softmax(x) = fast_softmax(x)", is_op("nn.softmax")(x),
        lambda s: s.emit(FastSoftmaxOp(s[x], axis=s.op.properties.get("axis", as_attribute(-1))))),
)  # fmt: skip


@dataclass(frozen=True)
class FastMathPass(FunctionPass):
    """No options."""

    name = "fast-math"
    opt_level: ClassVar[int] = 4
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "FastMath"

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        report_changed(RewriteDriver(ROWS).rewrite(func))
