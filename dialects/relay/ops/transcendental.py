"""Operators that look at one element at a time: exponentials, roots, trigonometry, all on floats."""

from __future__ import annotations

import math
from typing import ClassVar

from xdsl.ir import Operation

from ... import te
from ...support.operations import irdl_op_definition
from ..precision import Accuracy, Precision
from ..slopes import slope
from .elementwise import FloatFunction


@irdl_op_definition
class ExpOp(FloatFunction, formula="np.exp(x)"):
    """The exponential."""

    name = "relay.exp"
    PRECISION: ClassVar[Precision | None] = Precision.NEVER
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.EXP
    ONNX: ClassVar[tuple[str, ...]] = ("Exp",)
    gradient = slope(lambda x, y: y)


@irdl_op_definition
class LogOp(FloatFunction, formula="np.log(x)"):
    """The natural logarithm; NaN below zero."""

    name = "relay.log"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.LOG
    ONNX: ClassVar[tuple[str, ...]] = ("Log",)
    gradient = slope(lambda x, y: 1 / x)


@irdl_op_definition
class Log2Op(FloatFunction, formula="np.log2(x)"):
    """The logarithm to base 2."""

    name = "relay.log2"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.LOG2
    gradient = slope(lambda x, y: 1 / math.log(2) / x)


@irdl_op_definition
class Log10Op(FloatFunction, formula="np.log10(x)"):
    """The logarithm to base 10."""

    name = "relay.log10"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.LOG10
    gradient = slope(lambda x, y: 1 / math.log(10) / x)


@irdl_op_definition
class SqrtOp(FloatFunction, formula="np.sqrt(x)"):
    """The square root; NaN below zero."""

    name = "relay.sqrt"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.SQRT
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.ROUNDED
    ONNX: ClassVar[tuple[str, ...]] = ("Sqrt",)
    gradient = slope(lambda x, y: 0.5 / y)


@irdl_op_definition
class RsqrtOp(FloatFunction, formula="1 / np.sqrt(x)"):
    """One over the square root."""

    name = "relay.rsqrt"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.RSQRT
    gradient = slope(lambda x, y: -0.5 * (y / x))


@irdl_op_definition
class ErfOp(FloatFunction, formula="np.vectorize(math.erf)(x)"):
    """The error function, the integral of the bell curve."""

    name = "relay.erf"
    PRECISION: ClassVar[Precision | None] = Precision.NEVER
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ERF
    ONNX: ClassVar[tuple[str, ...]] = ("Erf",)
    gradient = slope(lambda x, y: 2 / math.sqrt(math.pi) * (-x * x).op(ExpOp))


@irdl_op_definition
class SigmoidOp(FloatFunction, formula="1 / (1 + np.exp(-x))"):
    """The logistic function."""

    name = "relay.sigmoid"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.VANISHING
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.SIGMOID
    ONNX: ClassVar[tuple[str, ...]] = ("Sigmoid",)
    gradient = slope(lambda x, y: y * (1 - y))


@irdl_op_definition
class TanhOp(FloatFunction, formula="np.tanh(x)"):
    """The hyperbolic tangent."""

    name = "relay.tanh"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.TANH
    ONNX: ClassVar[tuple[str, ...]] = ("Tanh",)
    gradient = slope(lambda x, y: 1 - y * y)


@irdl_op_definition
class SinOp(FloatFunction, formula="np.sin(x)"):
    """The sine of an angle in radians."""

    name = "relay.sin"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.SIN
    ONNX: ClassVar[tuple[str, ...]] = ("Sin",)
    gradient = slope(lambda x, y: x.op(CosOp))


@irdl_op_definition
class CosOp(FloatFunction, formula="np.cos(x)"):
    """The cosine of an angle in radians."""

    name = "relay.cos"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.COS
    ONNX: ClassVar[tuple[str, ...]] = ("Cos",)
    gradient = slope(lambda x, y: -x.op(SinOp))


@irdl_op_definition
class TanOp(FloatFunction, formula="np.tan(x)"):
    """The tangent of an angle in radians."""

    name = "relay.tan"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.TAN
    ONNX: ClassVar[tuple[str, ...]] = ("Tan",)
    gradient = slope(lambda x, y: 1 + y * y)


@irdl_op_definition
class AsinOp(FloatFunction, formula="np.arcsin(x)"):
    """The inverse of the sine, in radians; NaN outside [-1, 1]."""

    name = "relay.asin"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ASIN
    ONNX: ClassVar[tuple[str, ...]] = ("Asin",)
    gradient = slope(lambda x, y: (1 - x * x).op(RsqrtOp))


@irdl_op_definition
class AcosOp(FloatFunction, formula="np.arccos(x)"):
    """The inverse of the cosine, in radians; NaN outside [-1, 1]."""

    name = "relay.acos"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ACOS
    ONNX: ClassVar[tuple[str, ...]] = ("Acos",)
    gradient = slope(lambda x, y: -(1 - x * x).op(RsqrtOp))


@irdl_op_definition
class AtanOp(FloatFunction, formula="np.arctan(x)"):
    """The inverse of the tangent, in radians."""

    name = "relay.atan"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ATAN
    ONNX: ClassVar[tuple[str, ...]] = ("Atan",)
    gradient = slope(lambda x, y: 1 / (1 + x * x))


@irdl_op_definition
class SinhOp(FloatFunction, formula="np.sinh(x)"):
    """The hyperbolic sine."""

    name = "relay.sinh"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.SINH
    ONNX: ClassVar[tuple[str, ...]] = ("Sinh",)
    gradient = slope(lambda x, y: x.op(CoshOp))


@irdl_op_definition
class CoshOp(FloatFunction, formula="np.cosh(x)"):
    """The hyperbolic cosine."""

    name = "relay.cosh"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.COSH
    ONNX: ClassVar[tuple[str, ...]] = ("Cosh",)
    gradient = slope(lambda x, y: x.op(SinhOp))


@irdl_op_definition
class AsinhOp(FloatFunction, formula="np.arcsinh(x)"):
    """The inverse of the hyperbolic sine."""

    name = "relay.asinh"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ASINH
    ONNX: ClassVar[tuple[str, ...]] = ("Asinh",)
    gradient = slope(lambda x, y: (1 + x * x).op(RsqrtOp))


@irdl_op_definition
class AcoshOp(FloatFunction, formula="np.arccosh(x)"):
    """The inverse of the hyperbolic cosine; NaN below one."""

    name = "relay.acosh"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ACOSH
    ONNX: ClassVar[tuple[str, ...]] = ("Acosh",)
    gradient = slope(lambda x, y: (x * x - 1).op(RsqrtOp))


@irdl_op_definition
class AtanhOp(FloatFunction, formula="np.arctanh(x)"):
    """The inverse of the hyperbolic tangent; NaN outside [-1, 1]."""

    name = "relay.atanh"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ATANH
    ONNX: ClassVar[tuple[str, ...]] = ("Atanh",)
    gradient = slope(lambda x, y: 1 / (1 - x * x))


@irdl_op_definition
class FastExpOp(FloatFunction, formula="np.exp(x)"):
    """The exponential, where a pass accepts an approximation. Its definition is the exact one."""

    name = "relay.fast_exp"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.EXP
    gradient = slope(lambda x, y: y)


@irdl_op_definition
class FastTanhOp(FloatFunction, formula="np.tanh(x)"):
    """The hyperbolic tangent, where a pass accepts an approximation. Its definition is the exact one."""

    name = "relay.fast_tanh"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.TANH
    gradient = slope(lambda x, y: 1 - y * y)


@irdl_op_definition
class FastErfOp(FloatFunction, formula="np.vectorize(math.erf)(x)"):
    """The error function, where a pass accepts an approximation. Its definition is the exact one."""

    name = "relay.fast_erf"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ERF
    gradient = slope(lambda x, y: 2 / math.sqrt(math.pi) * (-x * x).op(ExpOp))


OPS: list[type[Operation]] = [
    ExpOp, LogOp, Log2Op, Log10Op, SqrtOp, RsqrtOp, ErfOp, SigmoidOp, TanhOp, SinOp, CosOp, TanOp, AsinOp, AcosOp,
    AtanOp, SinhOp, CoshOp, AsinhOp, AcoshOp, AtanhOp, FastExpOp, FastTanhOp, FastErfOp,
]  # fmt: skip
"""The transcendental functions."""
