"""Rows for functions of `softplus(x) = log(1 + e ** x)` that need no logarithm: part of `simplify-expr`.

    tanh(log(1 + e))  ->  n / (n + 2)  with  n = e * (e + 2)  and  e = exp(x)

Exporters write Mish (Misra, 2019), `x * tanh(softplus(x))`, operator by operator. Softplus itself is written as it is
defined, or so that it does not overflow: `max(x, 0) + log(t)` with `t = 1 + exp(-|x|)`, to which may be added what
rounding `t` has lost.
"""

from __future__ import annotations

from xdsl.dialects.builtin import f16, f32, f64
from xdsl.ir import Attribute, SSAValue

from ...dialects.relay.base import tensor
from ...dialects.relay.ops.broadcast import AddOp, DivideOp, MinimumOp, MultiplyOp
from ...dialects.relay.ops.transcendental import ExpOp
from .dataflow.pattern import is_op, wildcard
from .dataflow.rows import Row, Site
from .filled_values import filled_with

LIMITS: dict[Attribute, float] = {f16: 5.0, f32: 20.0, f64: 20.0}
"""From where on the fraction rounds to one in each type, and nothing overflows yet."""


def is_bounded(site: Site) -> bool:
    """Whether it is known how far the fraction can be computed."""
    return tensor(site[x]).element_type in LIMITS


def tanh_of_softplus(site: Site) -> SSAValue:
    """`n / (n + 2)` with `n = e * (e + 2)` and `e = exp(min(x, limit))`."""
    emit, element = site.emit, tensor(site[x]).element_type
    two, limit = emit.constant(2.0, element), emit.constant(LIMITS[element], element)
    e = emit(ExpOp(emit(MinimumOp(site[x], limit))))
    n = emit(MultiplyOp(e, emit(AddOp(e, two))))
    return emit(DivideOp(n, emit(AddOp(n, two))))


x, one = wildcard(), filled_with(1)
exp, log, tanh = is_op("exp"), is_op("log"), is_op("tanh")
decayed = exp(is_op("negative")(is_op("abs")(x)))
total = one + decayed
lost = (decayed - (total - one)) / total

ACTIVATIONS_OF_SOFTPLUS = (
    Row("tanh(log(1 + exp(x))) = n / (n + 2)", tanh(log(exp(x) + one)), tanh_of_softplus, is_bounded),
    Row("tanh(relu(x) + log(1 + exp(-|x|))) = n / (n + 2)", tanh(is_op("nn.relu")(x) + log(total)),
        tanh_of_softplus, is_bounded),
    Row("tanh(relu(x) + (log(1 + exp(-|x|)) + lost)) = n / (n + 2)",
        tanh(is_op("nn.relu")(x) + (log(total) + lost)), tanh_of_softplus, is_bounded),
)  # fmt: skip
