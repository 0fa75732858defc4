"""Operators that look at one element at a time: exponentials, roots, trigonometry, all on floats."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Operation
from xdsl.irdl import irdl_op_definition

from ... import te
from .elementwise import FloatFunction


@irdl_op_definition
class ExpOp(FloatFunction):
    """The exponential.

    `y = np.exp(x)`

    ```mlir
    %y = relay.exp %x : tensor<2x4xf32>
    ```
    """

    name = "relay.exp"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.EXP
    ONNX: ClassVar[tuple[str, ...]] = ("Exp",)


@irdl_op_definition
class LogOp(FloatFunction):
    """The natural logarithm; NaN below zero.

    `y = np.log(x)`

    ```mlir
    %y = relay.log %x : tensor<2x4xf32>
    ```
    """

    name = "relay.log"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.LOG
    ONNX: ClassVar[tuple[str, ...]] = ("Log",)


@irdl_op_definition
class Log2Op(FloatFunction):
    """The logarithm to base 2.

    `y = np.log2(x)`

    ```mlir
    %y = relay.log2 %x : tensor<2x4xf32>
    ```
    """

    name = "relay.log2"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.LOG2


@irdl_op_definition
class Log10Op(FloatFunction):
    """The logarithm to base 10.

    `y = np.log10(x)`

    ```mlir
    %y = relay.log10 %x : tensor<2x4xf32>
    ```
    """

    name = "relay.log10"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.LOG10


@irdl_op_definition
class SqrtOp(FloatFunction):
    """The square root; NaN below zero.

    `y = np.sqrt(x)`

    ```mlir
    %y = relay.sqrt %x : tensor<2x4xf32>
    ```
    """

    name = "relay.sqrt"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.SQRT
    ONNX: ClassVar[tuple[str, ...]] = ("Sqrt",)


@irdl_op_definition
class RsqrtOp(FloatFunction):
    """One over the square root.

    `y = 1 / np.sqrt(x)`

    ```mlir
    %y = relay.rsqrt %x : tensor<2x4xf32>
    ```
    """

    name = "relay.rsqrt"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.RSQRT


@irdl_op_definition
class ErfOp(FloatFunction):
    """The error function, the integral of the bell curve.

    `y = np.vectorize(math.erf)(x)`

    ```mlir
    %y = relay.erf %x : tensor<2x4xf32>
    ```
    """

    name = "relay.erf"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ERF
    ONNX: ClassVar[tuple[str, ...]] = ("Erf",)


@irdl_op_definition
class SigmoidOp(FloatFunction):
    """The logistic function.

    `y = 1 / (1 + np.exp(-x))`

    ```mlir
    %y = relay.sigmoid %x : tensor<2x4xf32>
    ```
    """

    name = "relay.sigmoid"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.SIGMOID
    ONNX: ClassVar[tuple[str, ...]] = ("Sigmoid",)


@irdl_op_definition
class TanhOp(FloatFunction):
    """The hyperbolic tangent.

    `y = np.tanh(x)`

    ```mlir
    %y = relay.tanh %x : tensor<2x4xf32>
    ```
    """

    name = "relay.tanh"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.TANH
    ONNX: ClassVar[tuple[str, ...]] = ("Tanh",)


@irdl_op_definition
class SinOp(FloatFunction):
    """The sine of an angle in radians.

    `y = np.sin(x)`

    ```mlir
    %y = relay.sin %x : tensor<2x4xf32>
    ```
    """

    name = "relay.sin"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.SIN
    ONNX: ClassVar[tuple[str, ...]] = ("Sin",)


@irdl_op_definition
class CosOp(FloatFunction):
    """The cosine of an angle in radians.

    `y = np.cos(x)`

    ```mlir
    %y = relay.cos %x : tensor<2x4xf32>
    ```
    """

    name = "relay.cos"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.COS
    ONNX: ClassVar[tuple[str, ...]] = ("Cos",)


@irdl_op_definition
class TanOp(FloatFunction):
    """The tangent of an angle in radians.

    `y = np.tan(x)`

    ```mlir
    %y = relay.tan %x : tensor<2x4xf32>
    ```
    """

    name = "relay.tan"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.TAN
    ONNX: ClassVar[tuple[str, ...]] = ("Tan",)


@irdl_op_definition
class AsinOp(FloatFunction):
    """The inverse of the sine, in radians; NaN outside [-1, 1].

    `y = np.arcsin(x)`

    ```mlir
    %y = relay.asin %x : tensor<2x4xf32>
    ```
    """

    name = "relay.asin"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ASIN
    ONNX: ClassVar[tuple[str, ...]] = ("Asin",)


@irdl_op_definition
class AcosOp(FloatFunction):
    """The inverse of the cosine, in radians; NaN outside [-1, 1].

    `y = np.arccos(x)`

    ```mlir
    %y = relay.acos %x : tensor<2x4xf32>
    ```
    """

    name = "relay.acos"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ACOS
    ONNX: ClassVar[tuple[str, ...]] = ("Acos",)


@irdl_op_definition
class AtanOp(FloatFunction):
    """The inverse of the tangent, in radians.

    `y = np.arctan(x)`

    ```mlir
    %y = relay.atan %x : tensor<2x4xf32>
    ```
    """

    name = "relay.atan"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ATAN
    ONNX: ClassVar[tuple[str, ...]] = ("Atan",)


@irdl_op_definition
class SinhOp(FloatFunction):
    """The hyperbolic sine.

    `y = np.sinh(x)`

    ```mlir
    %y = relay.sinh %x : tensor<2x4xf32>
    ```
    """

    name = "relay.sinh"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.SINH
    ONNX: ClassVar[tuple[str, ...]] = ("Sinh",)


@irdl_op_definition
class CoshOp(FloatFunction):
    """The hyperbolic cosine.

    `y = np.cosh(x)`

    ```mlir
    %y = relay.cosh %x : tensor<2x4xf32>
    ```
    """

    name = "relay.cosh"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.COSH
    ONNX: ClassVar[tuple[str, ...]] = ("Cosh",)


@irdl_op_definition
class AsinhOp(FloatFunction):
    """The inverse of the hyperbolic sine.

    `y = np.arcsinh(x)`

    ```mlir
    %y = relay.asinh %x : tensor<2x4xf32>
    ```
    """

    name = "relay.asinh"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ASINH
    ONNX: ClassVar[tuple[str, ...]] = ("Asinh",)


@irdl_op_definition
class AcoshOp(FloatFunction):
    """The inverse of the hyperbolic cosine; NaN below one.

    `y = np.arccosh(x)`

    ```mlir
    %y = relay.acosh %x : tensor<2x4xf32>
    ```
    """

    name = "relay.acosh"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ACOSH
    ONNX: ClassVar[tuple[str, ...]] = ("Acosh",)


@irdl_op_definition
class AtanhOp(FloatFunction):
    """The inverse of the hyperbolic tangent; NaN outside [-1, 1].

    `y = np.arctanh(x)`

    ```mlir
    %y = relay.atanh %x : tensor<2x4xf32>
    ```
    """

    name = "relay.atanh"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ATANH
    ONNX: ClassVar[tuple[str, ...]] = ("Atanh",)


@irdl_op_definition
class FastExpOp(FloatFunction):
    """The exponential, where a pass accepts an approximation. Its definition is the exact one.

    `y = np.exp(x)`

    ```mlir
    %y = relay.fast_exp %x : tensor<2x4xf32>
    ```
    """

    name = "relay.fast_exp"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.EXP


@irdl_op_definition
class FastTanhOp(FloatFunction):
    """The hyperbolic tangent, where a pass accepts an approximation. Its definition is the exact one.

    `y = np.tanh(x)`

    ```mlir
    %y = relay.fast_tanh %x : tensor<2x4xf32>
    ```
    """

    name = "relay.fast_tanh"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.TANH


@irdl_op_definition
class FastErfOp(FloatFunction):
    """The error function, where a pass accepts an approximation. Its definition is the exact one.

    `y = np.vectorize(math.erf)(x)`

    ```mlir
    %y = relay.fast_erf %x : tensor<2x4xf32>
    ```
    """

    name = "relay.fast_erf"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ERF


OPS: list[type[Operation]] = [
    ExpOp, LogOp, Log2Op, Log10Op, SqrtOp, RsqrtOp, ErfOp, SigmoidOp, TanhOp, SinOp, CosOp, TanOp, AsinOp, AcosOp,
    AtanOp, SinhOp, CoshOp, AsinhOp, AcoshOp, AtanhOp, FastExpOp, FastTanhOp, FastErfOp,
]  # fmt: skip
"""The transcendental functions."""
