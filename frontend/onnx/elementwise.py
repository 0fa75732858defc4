"""Elementwise operators: arithmetic, comparison, logic, activations."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import AnyFloat, IntegerType, f16, f32, i1, i8, i32
from xdsl.ir import Attribute, SSAValue

from ...dialects.relay.base import shape_of, tensor
from ...dialects.support.dtypes import dtype_name, is_small_float, is_storage, numpy_dtype
from .errors import Malformed, Unsupported
from .node import Converter, Node, Versions, rank_of
from .tensors import element_type


def variadic(operator: str) -> Converter:
    """An ONNX operator of one or more operands that is a chain of one Relay operator."""

    def convert(node: Node) -> SSAValue:
        first, *rest = node.present()
        for operand in rest:
            first = node.emit(operator, first, operand)
        return first

    return convert


def identity(node: Node) -> SSAValue:
    return node.value_at(0)


def is_integer(value: SSAValue) -> bool:
    """Whether a tensor's elements are integers (truth values are not)."""
    element = tensor(value).element_type
    return isinstance(element, IntegerType) and element != i1


def total(node: Node) -> SSAValue:
    """The sum of all operands, rounded once: what is summed of floats of 16 bits may be beyond them before the end."""
    first, *rest = node.present()
    wide = node.widened(first) if len(rest) > 1 else first
    for operand in rest:
        wide = node.emit("add", wide, node.cast(operand, tensor(wide).element_type))
    return node.cast(wide, tensor(first).element_type)


def mean(node: Node) -> SSAValue:
    """The mean of all operands; of floats of 16 bits in 32, in which their sum is finite."""
    first, *rest = node.present()
    wide = node.widened(first)
    for operand in rest:
        wide = node.emit("add", wide, node.widened(operand))
    wide = node.emit("divide", wide, node.scalar(float(len(node.inputs)), wide))
    return node.cast(wide, tensor(first).element_type)


def power(node: Node) -> SSAValue:
    """The exponent's type may differ from the base's, which the result has."""
    base, exponent = node.input(0), node.input(1)
    if is_integer(base) and not is_integer(exponent):
        widened = node.emit("power", node.cast(base, tensor(exponent).element_type), exponent)
        return node.cast(widened, tensor(base).element_type)
    return node.emit("power", base, node.cast(exponent, tensor(base).element_type))


def modulo(node: Node) -> SSAValue:
    """`fmod=1` takes the sign of the dividend, as C does; otherwise the sign of the divisor, as Python does."""
    operator = "mod" if node.integer("fmod", 0) else "floor_mod"
    return node.emit(operator, node.input(0), node.input(1))


def bit_shift(node: Node) -> SSAValue:
    operator = node.choice("direction", {"LEFT": "left_shift", "RIGHT": "right_shift"})
    return node.emit(operator, node.input(0), node.input(1))


def reciprocal(node: Node) -> SSAValue:
    x = node.input(0)
    return node.emit("divide", node.scalar(1.0, x), x)


def is_inf(node: Node) -> SSAValue:
    x = node.input(0)
    if is_integer(x):
        raise Malformed(f"input 0 is {tensor(x)}, but must have floating-point elements")
    positive, negative = node.integer("detect_positive", 1), node.integer("detect_negative", 1)
    if positive and negative:
        return node.emit("isinf", x)
    if positive or negative:
        return node.emit("equal", x, node.scalar(math.inf if positive else -math.inf, x))
    return node.emit("less", x, x)  # neither: nowhere true


def cast(node: Node) -> SSAValue:
    return saturated(node, node.input(0), element_type(node.integer("to")))


def bit_cast(node: Node) -> SSAValue:
    """The bits as another type; truth values are kept as bytes of 0 and 1.

    Raises:
        Unsupported: bytes as truth values, which may be neither.
    """
    x, target = node.input(0), element_type(node.integer("to"))
    if target == i1 != tensor(x).element_type:
        raise Unsupported("bytes read as truth values")
    return node.emit("reinterpret", node.cast(x, i8) if tensor(x).element_type == i1 else x, dtype=dtype_name(target))


def cast_like(node: Node) -> SSAValue:
    return saturated(node, node.input(0), tensor(node.input(1)).element_type)


def saturated(node: Node, x: SSAValue, target: Attribute) -> SSAValue:
    """`x` as `target`; to floats of at most 8 bits what is beyond the greatest number becomes that one, infinities too,
    where the node's `saturate` says so. Integers of less than 8 bits keep the lowest bits of the whole number."""
    if is_storage(target) and not is_small_float(target) and isinstance(tensor(x).element_type, AnyFloat):
        x = node.cast(x, i32)
    if not is_small_float(target) or tensor(x).element_type == target or not node.integer("saturate", 1):
        return node.cast(x, target)
    import ml_dtypes

    greatest = float(ml_dtypes.finfo(numpy_dtype(target)).max)  # pyright: ignore
    return node.cast(node.emit("clip", node.cast(x, f32), a_min=-greatest, a_max=greatest), target)


def clip_by_attributes(node: Node) -> SSAValue:
    limit = 3.4028234663852886e38
    return node.emit("clip", node.input(0), a_min=node.real("min", -limit), a_max=node.real("max", limit))


def clip_by_inputs(node: Node) -> SSAValue:
    """Bounds known at import become properties of `clip`; others, and a missing one, become minimum and maximum."""
    x, low, high = node.input(0), node.optional(1), node.optional(2)
    if low is not None and high is not None and not is_integer(x):
        a_min, a_max = node.emitter.evaluate(low), node.emitter.evaluate(high)
        if a_min is not None and a_max is not None:
            a_min, a_max = float(node.static_scalar(1)), float(node.static_scalar(2))
            if a_min <= a_max:
                return node.emit("clip", x, a_min=a_min, a_max=a_max)
    if low is not None:
        x = node.emit("maximum", x, low)
    return x if high is None else node.emit("minimum", x, high)


# Activations


def elu_like(node: Node, x: SSAValue, alpha: float) -> SSAValue:
    """`alpha * (exp(x) - 1)` where `x` is negative, `x` elsewhere: so zeros keep their signs."""
    return below_zero(node, x, scaled_fall(node, x, alpha))


def scaled_fall(node: Node, x: SSAValue, alpha: float) -> SSAValue:
    """`alpha * (exp(x) - 1)`."""
    fall = node.emit("subtract", node.emit("exp", x), node.scalar(1.0, x))
    return fall if alpha == 1.0 else node.emit("multiply", node.scalar(alpha, x), fall)


def below_zero(node: Node, x: SSAValue, bent: SSAValue) -> SSAValue:
    """`bent` where `x` is negative, `x` elsewhere, NaN among them."""
    return node.emit("where", node.emit("less", x, node.scalar(0.0, x)), bent, x)


def elu(node: Node) -> SSAValue:
    return elu_like(node, node.input(0), node.real("alpha", 1.0))


def selu(node: Node) -> SSAValue:
    """`gamma` scales an Elu."""
    x = node.input(0)
    bent = elu_like(node, x, node.real("alpha", 1.6732632423543772))
    return node.emit("multiply", node.scalar(node.real("gamma", 1.0507009873554805), x), bent)


def celu(node: Node) -> SSAValue:
    """`alpha * elu(x / alpha)`, where a quotient that is too large for its type leaves `x` what it is."""
    x, alpha = node.input(0), node.real("alpha", 1.0)
    return below_zero(node, x, scaled_fall(node, node.emit("divide", x, node.scalar(alpha, x)), alpha))


def prelu(node: Node) -> SSAValue:
    """A slope for each channel is `nn.prelu`; any other slope that broadcasts is a choice between two products."""
    x, slope = node.input(0), node.input(1)
    shape, rank = shape_of(slope), rank_of(x)
    channels = shape_of(x)[1] if rank > 1 else None
    if rank > 1 and (1,) * (rank - len(shape)) + shape == (1, channels) + (1,) * (rank - 2):
        return node.emit("nn.prelu", x, node.reshape(slope, [shape_of(x)[1]]), axis=1)
    return below_zero(node, x, node.emit("multiply", x, slope))


def thresholded_relu(node: Node) -> SSAValue:
    x = node.input(0)
    above = node.emit("greater", x, node.scalar(node.real("alpha", 1.0), x))
    return node.emit("where", above, x, node.scalar(0.0, x))


def shrink(node: Node) -> SSAValue:
    """`x + bias` below `-lambd`, `x - bias` above `lambd`, 0 between."""
    x = node.input(0)
    lambd, bias = node.real("lambd", 0.5), node.scalar(node.real("bias", 0.0), x)
    below = node.emit("less", x, node.scalar(-lambd, x))
    above = node.emit("greater", x, node.scalar(lambd, x))
    upper = node.emit("where", above, node.emit("subtract", x, bias), node.scalar(0.0, x))
    return node.emit("where", below, node.emit("add", x, bias), upper)


def hard_sigmoid_like(node: Node, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    """`min(max(alpha * x + beta, 0), 1)`."""
    line = node.emit("add", node.emit("multiply", x, node.scalar(alpha, x)), node.scalar(beta, x))
    return node.emit("clip", line, a_min=0.0, a_max=1.0)


def hard_sigmoid(node: Node) -> SSAValue:
    return hard_sigmoid_like(node, node.input(0), node.real("alpha", 0.2), node.real("beta", 0.5))


def hard_swish(node: Node) -> SSAValue:
    x = node.input(0)
    return node.emit("multiply", x, hard_sigmoid_like(node, x, 1.0 / 6.0, 0.5))


def swish(node: Node) -> SSAValue:
    x, alpha = node.input(0), node.real("alpha", 1.0)
    scaled = x if alpha == 1.0 else node.emit("multiply", node.scalar(alpha, x), x)
    return node.emit("multiply", x, node.emit("sigmoid", scaled))


def softplus_of(node: Node, x: SSAValue) -> SSAValue:
    """`log(1 + exp(x))`, as `max(x, 0) + log(1 + e)` with `e = exp(-|x|)`, which does not overflow.

    What rounding `1 + e` loses, which is all of a small `e`, is added to the logarithm by its slope there.
    """
    one = node.scalar(1.0, x)
    decayed = node.emit("exp", node.emit("negative", node.emit("abs", x)))
    total = node.emit("add", one, decayed)
    lost = node.emit("subtract", decayed, node.emit("subtract", total, one))
    tail = node.emit("add", node.emit("log", total), node.emit("divide", lost, total))
    return node.emit("add", node.emit("nn.relu", x), tail)


def softplus(node: Node) -> SSAValue:
    return softplus_of(node, node.input(0))


def mish(node: Node) -> SSAValue:
    """`x * tanh(log(1 + e))` with `e = exp(x)`, as `x * n / (n + 2)` with `n = e * (e + 2)`.

    From 20 on, or 5 for f16, where the fraction rounds to one, that of the limit is taken: others overflow.
    """
    x = node.input(0)
    two, limit = node.scalar(2.0, x), 5.0 if tensor(x).element_type == f16 else 20.0
    e = node.emit("exp", node.emit("minimum", x, node.scalar(limit, x)))
    n = node.emit("multiply", e, node.emit("add", e, two))
    return node.emit("multiply", x, node.emit("divide", n, node.emit("add", n, two)))


def softsign(node: Node) -> SSAValue:
    return softsign_of(node, node.input(0))


def softsign_of(node: Node, x: SSAValue) -> SSAValue:
    """`x / (1 + |x|)`."""
    return node.emit("divide", x, node.emit("add", node.scalar(1.0, x), node.emit("abs", x)))


def gelu(node: Node) -> SSAValue:
    """`x/2 * (1 + erf(x / sqrt(2)))`, or its approximation by tanh (Hendrycks and Gimpel, 2016)."""
    by_tanh = node.choice("approximate", {"none": False, "tanh": True}, "none")
    return gelu_of(node, node.input(0), by_tanh)


def gelu_of(node: Node, given: SSAValue, by_tanh: bool) -> SSAValue:
    """`gelu` of a tensor; of floats of 16 bits in 32, since the curve is 1 but for what these do not hold."""
    x = node.widened(given)
    if by_tanh:
        cube = node.emit("multiply", node.emit("multiply", x, x), x)
        inner = node.emit("add", x, node.emit("multiply", node.scalar(0.044715, x), cube))
        curve = node.emit("tanh", node.emit("multiply", node.scalar(math.sqrt(2.0 / math.pi), x), inner))
    else:
        curve = node.emit("erf", node.emit("multiply", x, node.scalar(math.sqrt(0.5), x)))
    half = node.emit("multiply", node.scalar(0.5, x), x)
    result = node.emit("multiply", half, node.emit("add", node.scalar(1.0, x), curve))
    return node.cast(result, tensor(given).element_type)


CONVERTERS: dict[str, Versions] = {
    "BitCast": {26: bit_cast},
    "BitShift": {11: bit_shift},
    "Cast": {6: cast},
    "CastLike": {15: cast_like},
    "Celu": {12: celu},
    "Clip": {6: clip_by_attributes, 11: clip_by_inputs},
    "Elu": {6: elu},
    "Gelu": {20: gelu},
    "HardSigmoid": {6: hard_sigmoid},
    "HardSwish": {14: hard_swish},
    "Identity": {1: identity},
    "IsInf": {10: is_inf},
    "Max": {6: variadic("maximum")},
    "Mean": {6: mean},
    "Min": {6: variadic("minimum")},
    "Mish": {18: mish},
    "Mod": {10: modulo},
    "PRelu": {7: prelu},
    "Pow": {7: power},
    "Reciprocal": {6: reciprocal},
    "Selu": {6: selu},
    "Shrink": {9: shrink},
    "Softplus": {1: softplus},
    "Softsign": {1: softsign},
    "Sum": {6: total},
    "Swish": {24: swish},
    "ThresholdedRelu": {10: thresholded_relu},
}
