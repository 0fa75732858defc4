"""Functions of quantised tensors, element by element: of the real numbers that they stand for."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import ClassVar

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import operand_def, result_def

from ....support.operations import irdl_op_definition
from ...base import RelayOp, describe, real, tensor
from ...decomposition import Emit
from ...reordering import Order, Reordered
from ..broadcast import AddOp, MultiplyOp
from ..elementwise import AbsOp, ClipOp
from ..nn.activation import LeakyReluOp
from ..transcendental import ErfOp, ExpOp, LogOp, RsqrtOp, SigmoidOp, SqrtOp, TanhOp
from .fixed_point import QnnOp, check_parameters, check_quantized, dequantized, quantized


class _QnnFunction(QnnOp, ABC):
    """A function of one tensor, with scale and zero point of both it and the result."""

    x = operand_def(TensorType)
    scale = operand_def(TensorType)
    zero_point = operand_def(TensorType)
    output_scale = operand_def(TensorType)
    output_zero_point = operand_def(TensorType)
    result = result_def(TensorType)

    def __init_subclass__(cls, formula: str | None = None, options: str = "") -> None:
        super().__init_subclass__()
        if formula is not None:
            function = re.sub(r"\br\b", "((x - z) * s)", formula)
            describe(
                cls,
                f'y = np.clip(np.round({function} / t) + w, -128, 127).astype("int8")',
                "%s = relay.constant dense<0.5> : tensor<f32>\n%z = relay.constant dense<0> : tensor<i32>\n"
                "%t = relay.constant dense<0.25> : tensor<f32>\n%w = relay.constant dense<-3> : tensor<i32>\n"
                f"%y = {cls.name} %x, %s, %z, %t, %w{options}\n"
                "   : (tensor<2x4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<2x4xi8>",
            )

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order])

    def check(self) -> None:
        check_quantized(self.x, "the data")
        check_parameters(self.scale, self.zero_point, None, "the data")
        check_parameters(self.output_scale, self.output_zero_point, None, "the output")

    @abstractmethod
    def function(self, emit: Emit, x: SSAValue) -> SSAValue:
        """The function of real numbers."""

    def canonical(self, emit: Emit) -> SSAValue:
        y = self.function(emit, dequantized(emit, self.x, self.scale, self.zero_point, -1))
        return quantized(emit, y, self.output_scale, self.output_zero_point, tensor(self.x).element_type, -1)


class _OfOneOperator(_QnnFunction, ABC):
    """A function that an operator on real numbers is: `OF`."""

    OF: ClassVar[type[RelayOp]]

    def function(self, emit: Emit, x: SSAValue) -> SSAValue:
        return emit(self.OF(x))


@irdl_op_definition
class QnnAbsOp(_OfOneOperator, formula="np.abs(r)"):
    """The magnitude."""

    name = "relay.qnn.abs"
    OF: ClassVar[type[RelayOp]] = AbsOp


@irdl_op_definition
class QnnErfOp(_OfOneOperator, formula="np.vectorize(math.erf)(r)"):
    """The error function."""

    name = "relay.qnn.erf"
    OF: ClassVar[type[RelayOp]] = ErfOp


@irdl_op_definition
class QnnExpOp(_OfOneOperator, formula="np.exp(r)"):
    """The exponential function."""

    name = "relay.qnn.exp"
    OF: ClassVar[type[RelayOp]] = ExpOp


@irdl_op_definition
class QnnLogOp(_OfOneOperator, formula="np.log(r)"):
    """The natural logarithm; of zero the least number, of what is below it any."""

    name = "relay.qnn.log"
    OF: ClassVar[type[RelayOp]] = LogOp


@irdl_op_definition
class QnnRsqrtOp(_OfOneOperator, formula="1 / np.sqrt(r)"):
    """One over the square root; of zero the greatest number, of what is below it any."""

    name = "relay.qnn.rsqrt"
    OF: ClassVar[type[RelayOp]] = RsqrtOp


@irdl_op_definition
class QnnSqrtOp(_OfOneOperator, formula="np.sqrt(r)"):
    """The square root; of what is below zero any number."""

    name = "relay.qnn.sqrt"
    OF: ClassVar[type[RelayOp]] = SqrtOp


@irdl_op_definition
class QnnSigmoidOp(_OfOneOperator, formula="1 / (1 + np.exp(-r))"):
    """The logistic function."""

    name = "relay.qnn.sigmoid"
    OF: ClassVar[type[RelayOp]] = SigmoidOp


@irdl_op_definition
class QnnTanhOp(_OfOneOperator, formula="np.tanh(r)"):
    """The hyperbolic tangent."""

    name = "relay.qnn.tanh"
    OF: ClassVar[type[RelayOp]] = TanhOp


@irdl_op_definition
class QnnHardswishOp(_QnnFunction, formula="r * np.clip(r + 3, 0, 6) / 6"):
    """The piecewise form of `x * sigmoid(x)`."""

    name = "relay.qnn.hardswish"

    def function(self, emit: Emit, x: SSAValue) -> SSAValue:
        bounded = emit(ClipOp(emit(AddOp(x, emit.constant(3, f32))), a_min=0.0, a_max=6.0))
        return emit(MultiplyOp(emit(MultiplyOp(x, bounded)), emit.constant(1 / 6, f32)))


@irdl_op_definition
class QnnLeakyReluOp(_QnnFunction, formula="np.where(r > 0, r, 0.1 * r)", options=" {alpha = 0.1 : f64}"):
    """The identity above zero, a part of it below."""

    name = "relay.qnn.leaky_relu"

    alpha = real()

    def function(self, emit: Emit, x: SSAValue) -> SSAValue:
        return emit(LeakyReluOp(x, alpha=self.alpha))


OPS: list[type[Operation]] = [
    QnnAbsOp, QnnErfOp, QnnExpOp, QnnLogOp, QnnRsqrtOp, QnnSqrtOp, QnnSigmoidOp, QnnTanhOp, QnnHardswishOp,
    QnnLeakyReluOp,
]  # fmt: skip
"""The functions of quantised tensors."""
