"""Activations: `relu` and its kin, `softmax` and its kin, `dropout`."""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import AnyFloat, TensorType, TupleType, f32, f64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import VarConstraint, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.operations import irdl_op_definition
from ...base import (
    Fusion,
    FusionPattern,
    Pointwise,
    RelayOp,
    Stateful,
    common_rows,
    integer,
    normalize_axis,
    real,
    shape_of,
    tensor,
)
from ...nn_common import accumulator, aligned_axis, check_vector, narrow, vector_along, widened
from ...precision import Accuracy, Precision
from ...reordering import Order, Reordered, reordered_axis
from ...slopes import slope
from ...types import tuple_type
from ..elementwise import floats
from ..transcendental import ExpOp

if TYPE_CHECKING:
    from ...base import NDArray
    from ...gradient import Gradient, Terms

_SameType = VarConstraint("T", TensorType.constr())

LEAST_NORMAL: dict[Attribute, float] = {f32: 2.0**-126, f64: 2.0**-1022}
"""The least normal number of the types in which sums are taken."""


class _ElementwiseActivation(RelayOp, ABC):
    """One operand, one result of the same type, element by element."""

    data = operand_def(_SameType)
    result = result_def(_SameType)

    traits = traits_def(Pure(), FusionPattern(Fusion.ELEMWISE), Pointwise())
    assembly_format = "$data attr-dict `:` type($result)"

    def infer(self) -> Sequence[Attribute]:
        return [tensor(self.data)]


@irdl_op_definition
class ReluOp(_ElementwiseActivation):
    """What is negative becomes zero.

    `y = max(x, 0)`

    ```mlir
    %y = relay.nn.relu %x : tensor<2x4xf32>
    ```
    """

    name = "relay.nn.relu"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    ONNX: ClassVar[tuple[str, ...]] = ("Relu",)

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        return te.compute(x.shape, lambda *i: te.maximum(x[i], 0), "relu")

    gradient = slope(lambda x, y: y.ones().where(x > 0))


@irdl_op_definition
class LeakyReluOp(_ElementwiseActivation):
    """What is negative is made smaller by `alpha`.

    `y = x if x > 0 else alpha * x`

    ```mlir
    %y = relay.nn.leaky_relu %x {alpha = 0.1 : f64} : tensor<2x4xf32>
    ```
    """

    name = "relay.nn.leaky_relu"
    ONNX: ClassVar[tuple[str, ...]] = ("LeakyRelu",)

    alpha = real(0.01)

    def infer(self) -> Sequence[Attribute]:
        return [floats(tensor(self.data))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        alpha = self.alpha.value.data
        return te.compute(x.shape, lambda *i: te.select(x[i] > 0, x[i], x[i] * alpha), "leaky_relu")

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad.where(g.input > 0, g.grad * self.alpha.value.data)]


@irdl_op_definition
class PreluOp(RelayOp):
    """What is negative is made smaller by a factor for each index of one axis.

    `y = x if x > 0 else alpha[i_axis] * x`

    ```mlir
    %y = relay.nn.prelu %x, %alpha : (tensor<1x3x2x2xf32>, tensor<3xf32>) -> tensor<1x3x2x2xf32>
    ```
    """

    name = "relay.nn.prelu"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.ROUNDED
    PRECISION: ClassVar[Precision | None] = Precision.FOLLOW

    data = operand_def(TensorType)
    alpha = operand_def(TensorType)
    result = result_def(TensorType)
    axis = integer(1)

    traits = traits_def(Pure(), FusionPattern(Fusion.BROADCAST))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"axis": reordered_axis(self.axis.value.data, order)})

    def implied(self) -> Mapping[int, Attribute]:
        return {1: vector_along(self.data.type, self.axis.value.data)}

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        axis = normalize_axis(self.axis.value.data, len(data.get_shape()))
        return [check_vector(tensor(self.alpha), data, axis, "alpha")]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, alpha = inputs
        axis = aligned_axis(x, self.axis.value.data, alpha)
        return te.compute(x.shape, lambda *i: te.select(x[i] > 0, x[i], x[i] * alpha[i[axis]]), "prelu")

    def gradient(self, g: Gradient) -> Terms:
        x, alpha = g.inputs
        rank = len(x.shape)
        scaled = x * alpha.along(normalize_axis(self.axis.value.data, rank), rank)
        return g.through(x.where(x > 0, scaled))


class _Softmax(RelayOp, ABC):
    """What the softmax operators share: they are computed from the data less its maximum, which cannot overflow."""

    data = operand_def(_SameType)
    result = result_def(_SameType)
    axis = integer(-1)

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))
    assembly_format = "$data attr-dict `:` type($result)"

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"axis": reordered_axis(self.axis.value.data, order)})

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        if not isinstance(data.element_type, AnyFloat):
            raise VerifyException(f"expected floating-point data, got {data}")
        normalize_axis(self.axis.value.data, len(data.get_shape()))
        return [data]

    def shared_rows(self, operand: int) -> int:
        axis = normalize_axis(self.axis.value.data, len(shape_of(self.data)))
        return min(axis, common_rows(self.data, self.result))

    def reduced(
        self, kind: te.ReduceKind, x: te.Tensor, name: str, element: Callable[..., te.Expr] | None = None
    ) -> Callable[..., te.Expr]:
        """The reduction of `element` (of `x` itself by default) along the axis, to be read with the indices of `x`."""
        axis = normalize_axis(self.axis.value.data, x.rank)
        k = te.reduce_axis(x.shape[axis], "k")
        read: Callable[..., te.Expr] = element or (lambda *i: x[i])
        shape = (*x.shape[:axis], *x.shape[axis + 1 :])
        total = te.compute(shape, lambda *i: te.reduce(kind, read(*i[:axis], k, *i[axis:]), k), name)
        return lambda *i: total[(*i[:axis], *i[axis + 1 :])]

    def shifted(self, x: te.Tensor) -> Callable[..., te.Expr]:
        """The data less its maximum along the axis, in the accumulator's type."""
        sum_type = accumulator(x.element_type)
        maximum = self.reduced("max", x, "softmax_max", lambda *i: te.cast(x[i], sum_type))
        return lambda *i: te.cast(x[i], sum_type) - maximum(*i)

    def shifted_array(self, x: NDArray) -> NDArray:
        """`shifted` in NumPy."""
        wide = widened(x, tensor(self.data).element_type)
        return wide - wide.max(axis=self.axis.value.data, keepdims=True, initial=-math.inf)

    def weights(self, x: te.Tensor, shifted: Callable[..., te.Expr]) -> Callable[..., te.Expr]:
        """The exponentials of what is `shifted`, and 0 for those below the least normal number: masks of about -100
        make such in plenty, arithmetic on them takes a processor a hundred times as long, and their sum is at least 1.
        That no data is more than the maximum is said, too: exponentials between bounds are half the work
        (`lowering/math`)."""
        least = math.log(LEAST_NORMAL[accumulator(x.element_type)])

        def weight(*i: te.Expr) -> te.Expr:
            above = shifted(*i)
            power = te.select(above > 0, te.const(0.0, above.type), above)
            return te.select(power < least, te.const(0.0, power.type), te.exp(power))

        return weight


class _ExpSoftmax(_Softmax, ABC):
    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        exp = te.compute(x.shape, self.weights(x, self.shifted(x)), "softmax_exp")
        axis = normalize_axis(self.axis.value.data, x.rank)
        total = self.reduced("sum", exp, "softmax_sum")
        shape = (*x.shape[:axis], *x.shape[axis + 1 :])
        # One division for each sum, which is at least one, and at most the number of elements.
        inverse = te.compute(shape, lambda *i: 1 / total(*i[:axis], 0, *i[axis:]), "softmax_inverse")
        result = te.compute(x.shape, lambda *i: exp[i] * inverse[(*i[:axis], *i[axis + 1 :])], "softmax")
        return narrow(result, x.element_type)

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        exp = np.exp(self.shifted_array(inputs[0]))
        return (exp / exp.sum(axis=self.axis.value.data, keepdims=True)).astype(inputs[0].dtype)

    def gradient(self, g: Gradient) -> Terms:
        axis = normalize_axis(self.axis.value.data, len(g.output.shape))
        return [g.output * (g.grad - (g.grad * g.output).sum([axis], keepdims=True))]


@irdl_op_definition
class SoftmaxOp(_ExpSoftmax):
    """Exponentials divided by their sum along an axis.

    `y = exp(x - max(x, axis)) / sum(exp(x - max(x, axis)), axis)`

    ```mlir
    %y = relay.nn.softmax %x {axis = 1 : i64} : tensor<2x5xf32>
    ```
    """

    name = "relay.nn.softmax"
    PRECISION: ClassVar[Precision | None] = Precision.NEVER


@irdl_op_definition
class FastSoftmaxOp(_ExpSoftmax):
    """`softmax` with leave to use an exponential of lower accuracy.

    `y = exp(x - max(x, axis)) / sum(exp(x - max(x, axis)), axis)`

    ```mlir
    %y = relay.nn.fast_softmax %x : tensor<2x5xf32>
    ```
    """

    name = "relay.nn.fast_softmax"


@irdl_op_definition
class LogSoftmaxOp(_Softmax):
    """The logarithm of the softmax.

    `y = x - max(x, axis) - log(sum(exp(x - max(x, axis)), axis))`

    ```mlir
    %y = relay.nn.log_softmax %x : tensor<2x5xf32>
    ```
    """

    name = "relay.nn.log_softmax"
    PRECISION: ClassVar[Precision | None] = Precision.NEVER

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        shifted = self.shifted(x)
        total = self.reduced("sum", x, "softmax_sum", self.weights(x, shifted))
        axis = normalize_axis(self.axis.value.data, x.rank)
        shape = (*x.shape[:axis], *x.shape[axis + 1 :])
        log = te.compute(shape, lambda *i: te.log(total(*i[:axis], 0, *i[axis:])), "softmax_log")
        result = te.compute(x.shape, lambda *i: shifted(*i) - log[(*i[:axis], *i[axis + 1 :])], "log_softmax")
        return narrow(result, x.element_type)

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        shifted = self.shifted_array(inputs[0])
        total = np.exp(shifted).sum(axis=self.axis.value.data, keepdims=True)
        return (shifted - np.log(total)).astype(inputs[0].dtype)

    def gradient(self, g: Gradient) -> Terms:
        axis = normalize_axis(self.axis.value.data, len(g.output.shape))
        return [g.grad - g.output.op(ExpOp) * g.grad.sum([axis], keepdims=True)]


@irdl_op_definition
class DropoutOp(RelayOp):
    """Zero elements at random while training; in inference the data itself, and a mask of ones.

    `(y, mask) = (x, ones_like(x))`

    ```mlir
    %t = relay.nn.dropout %x {rate = 0.5 : f64} : (tensor<2x4xf32>) -> tuple<tensor<2x4xf32>, tensor<2x4xf32>>
    ```
    """

    name = "relay.nn.dropout"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    PRECISION: ClassVar[Precision | None] = Precision.FOLLOW

    data = operand_def(TensorType)
    result = result_def(TupleType)
    rate = real(0.5)

    traits = traits_def(Stateful(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order, order])

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        return [tuple_type(data, data)]

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        (x,) = inputs
        one = te.const(1, x.element_type)
        return (
            te.compute(x.shape, lambda *i: x[i], "dropout"),
            te.compute(x.shape, lambda *i: one, "mask"),
        )

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad]


OPS: list[type[Operation]] = [
    ReluOp, LeakyReluOp, PreluOp, SoftmaxOp, FastSoftmaxOp, LogSoftmaxOp, DropoutOp,
]  # fmt: skip
"""The activations."""
