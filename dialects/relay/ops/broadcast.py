"""Operators on two tensors, element by element, where size-one dimensions are repeated: arithmetic, comparisons, logic.

Shapes are aligned at their ends, as in NumPy.
"""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from xdsl.dialects.builtin import AnyFloat, TensorType, i1
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.dtypes import is_storage
from ...support.interned import tensor_of
from ...support.operations import irdl_op_definition
from ..base import (
    Fusion,
    FusionPattern,
    Moves,
    Pointwise,
    RelayOp,
    Tensor,
    broadcast_read,
    broadcast_shapes,
    describe,
    tensor,
)
from ..inference import by_types
from ..precision import Accuracy, Precision
from ..slopes import slopes
from .elementwise import FloorOp, TruncOp, integers, truth_values
from .transcendental import LogOp

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..gradient import Gradient, Term, Terms

    NDArray: TypeAlias = npt.NDArray[np.generic]


class BroadcastOp(RelayOp, ABC):
    """Two operands of one element type, and a result of the broadcast shape."""

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.BROADCAST), Pointwise())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def checked_types(self) -> tuple[Tensor, Tensor]:
        """The operands' types.

        Raises:
            VerifyException: their elements differ.
        """
        lhs, rhs = tensor(self.lhs), tensor(self.rhs)
        if lhs.element_type != rhs.element_type:
            raise VerifyException(f"operands have different element types: {lhs} and {rhs}")
        return lhs, rhs

    @by_types
    def infer(self) -> Sequence[Attribute]:
        lhs, rhs = self.checked_types()
        return [tensor_of(lhs.element_type, tuple(broadcast_shapes(lhs.get_shape(), rhs.get_shape())))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, y = inputs
        shape = broadcast_shapes(x.shape, y.shape)
        name = self.name.removeprefix("relay.")
        return te.compute(shape, lambda *i: self.combine(broadcast_read(x, i), broadcast_read(y, i)), name)

    def combine(self, x: te.Expr, y: te.Expr) -> te.Expr:
        """The operator on one element of each operand."""
        raise NotImplementedError


class BinaryFunction(BroadcastOp, ABC):
    """A function that tensor expressions have: `KIND`. `formula` is what NumPy makes of `x` and `y`."""

    KIND: ClassVar[te.BinaryKind]

    def __init_subclass__(cls, formula: str | None = None) -> None:
        super().__init_subclass__()
        if formula is not None:
            types = "(tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>"
            describe(cls, f"z = {formula}", f"%z = {cls.name} %x, %y : {types}")

    def combine(self, x: te.Expr, y: te.Expr) -> te.Expr:
        return te.binary(self.KIND, x, y)

    def numpy(self, *inputs: NDArray) -> NDArray | None:
        from ...te.evaluate import evaluate_binary

        own = (type(self).combine, type(self).compute) != (BinaryFunction.combine, BroadcastOp.compute)
        if own or is_storage(tensor(self.lhs).element_type):
            return None
        return evaluate_binary(self.KIND, *inputs)


class _Comparison(BinaryFunction, ABC):
    """A truth value for each pair of elements."""

    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    @by_types
    def infer(self) -> Sequence[Attribute]:
        lhs, rhs = self.checked_types()
        return [TensorType(i1, broadcast_shapes(lhs.get_shape(), rhs.get_shape()))]


class _Logical(BinaryFunction, ABC):
    """A function of truth values."""

    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    def checked_types(self) -> tuple[Tensor, Tensor]:
        lhs, rhs = super().checked_types()
        return truth_values(lhs), rhs


class _Bitwise(BinaryFunction, ABC):
    """A function of the bits of integers."""

    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    def checked_types(self) -> tuple[Tensor, Tensor]:
        lhs, rhs = super().checked_types()
        return integers(lhs), rhs


@irdl_op_definition
class AddOp(BinaryFunction, formula="x + y"):
    """The sum."""

    name = "relay.add"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.ADD
    ONNX: ClassVar[tuple[str, ...]] = ("Add",)
    gradient = slopes(lambda x, y, z: (1, 1))


@irdl_op_definition
class SubtractOp(BinaryFunction, formula="x - y"):
    """The difference."""

    name = "relay.subtract"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.SUB
    ONNX: ClassVar[tuple[str, ...]] = ("Sub",)
    gradient = slopes(lambda x, y, z: (1, -1))


@irdl_op_definition
class MultiplyOp(BinaryFunction, formula="x * y"):
    """The product."""

    name = "relay.multiply"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.MUL
    ONNX: ClassVar[tuple[str, ...]] = ("Mul",)
    gradient = slopes(lambda x, y, z: (y, x))


@irdl_op_definition
class DivideOp(BinaryFunction, formula="x / y"):
    """The quotient; of integers, rounded towards zero."""

    name = "relay.divide"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.DIV
    ONNX: ClassVar[tuple[str, ...]] = ("Div",)
    gradient = slopes(lambda x, y, z: (1 / y, -z / y))


@irdl_op_definition
class FloorDivideOp(BinaryFunction):
    """The quotient rounded down.

    `z = x // y`

    ```mlir
    %z = relay.floor_divide %x, %y : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    ```
    """

    name = "relay.floor_divide"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.FLOORDIV
    gradient = slopes(lambda x, y, z: (None, None))


@irdl_op_definition
class TruncDivideOp(BinaryFunction):
    """The quotient rounded towards zero.

    `z = np.trunc(x / y)`

    ```mlir
    %z = relay.trunc_divide %x, %y : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    ```
    """

    name = "relay.trunc_divide"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.DIV
    gradient = slopes(lambda x, y, z: (None, None))

    def combine(self, x: te.Expr, y: te.Expr) -> te.Expr:
        quotient = super().combine(x, y)
        return te.unary(te.UnaryKind.TRUNC, quotient) if isinstance(x.type, AnyFloat) else quotient


@irdl_op_definition
class ModOp(BinaryFunction, formula="np.fmod(x, y)"):
    """What is left of a division rounded towards zero: it has the sign of `x`."""

    name = "relay.mod"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.TRUNCMOD
    gradient = slopes(lambda x, y, z: (1, -(x / y).op(TruncOp)))


@irdl_op_definition
class FloorModOp(BinaryFunction):
    """What is left of a division rounded down: it has the sign of `y`.

    `z = np.mod(x, y)`

    ```mlir
    %z = relay.floor_mod %x, %y : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    ```
    """

    name = "relay.floor_mod"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.FLOORMOD
    gradient = slopes(lambda x, y, z: (1, -(x / y).op(FloorOp)))


@irdl_op_definition
class TruncModOp(BinaryFunction):
    """What is left of a division rounded towards zero: it has the sign of `x`.

    `z = np.fmod(x, y)`

    ```mlir
    %z = relay.trunc_mod %x, %y : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    ```
    """

    name = "relay.trunc_mod"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.TRUNCMOD
    gradient = slopes(lambda x, y, z: (1, -(x / y).op(TruncOp)))


def _base(x: Term, y: Term) -> Term:
    """`x`, and 1 where `x` and `y` are both 0: there `0 * x ** -1`, the slope of `x ** 0`, is 0 as for other `x`."""
    return x.ones().where(y.equals(0), x).where(x.equals(0), x)


@irdl_op_definition
class PowerOp(BinaryFunction, formula="np.power(x, y)"):
    """`x` to the power of `y`."""

    name = "relay.power"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.FUNCTION
    PRECISION: ClassVar[Precision | None] = Precision.NEVER
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.POW
    gradient = slopes(lambda x, y, z: (y * _base(x, y).op(PowerOp, y - 1), (z * x.op(LogOp)).where(x > 0)))


@irdl_op_definition
class MaximumOp(BinaryFunction, formula="np.maximum(x, y)"):
    """The larger one; NaN where one is NaN."""

    name = "relay.maximum"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.MAX
    gradient = slopes(lambda x, y, z: (z.ones().where(x >= y), z.ones().where(x < y)))


@irdl_op_definition
class MinimumOp(BinaryFunction, formula="np.minimum(x, y)"):
    """The smaller one; NaN where one is NaN."""

    name = "relay.minimum"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.MIN
    gradient = slopes(lambda x, y, z: (z.ones().where(x <= y), z.ones().where(x > y)))


@irdl_op_definition
class EqualOp(_Comparison):
    """Whether both are the same number.

    `z = x == y`

    ```mlir
    %z = relay.equal %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xi1>
    ```
    """

    name = "relay.equal"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.EQ
    ONNX: ClassVar[tuple[str, ...]] = ("Equal",)


@irdl_op_definition
class NotEqualOp(_Comparison):
    """Whether the two differ.

    `z = x != y`

    ```mlir
    %z = relay.not_equal %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xi1>
    ```
    """

    name = "relay.not_equal"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.NE


@irdl_op_definition
class LessOp(_Comparison):
    """Whether `x` is below `y`.

    `z = x < y`

    ```mlir
    %z = relay.less %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xi1>
    ```
    """

    name = "relay.less"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.LT
    ONNX: ClassVar[tuple[str, ...]] = ("Less",)


@irdl_op_definition
class LessEqualOp(_Comparison):
    """Whether `x` is at most `y`.

    `z = x <= y`

    ```mlir
    %z = relay.less_equal %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xi1>
    ```
    """

    name = "relay.less_equal"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.LE
    ONNX: ClassVar[tuple[str, ...]] = ("LessOrEqual",)


@irdl_op_definition
class GreaterOp(_Comparison):
    """Whether `x` is above `y`.

    `z = x > y`

    ```mlir
    %z = relay.greater %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xi1>
    ```
    """

    name = "relay.greater"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.GT
    ONNX: ClassVar[tuple[str, ...]] = ("Greater",)


@irdl_op_definition
class GreaterEqualOp(_Comparison):
    """Whether `x` is at least `y`.

    `z = x >= y`

    ```mlir
    %z = relay.greater_equal %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xi1>
    ```
    """

    name = "relay.greater_equal"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.GE
    ONNX: ClassVar[tuple[str, ...]] = ("GreaterOrEqual",)


@irdl_op_definition
class LogicalAndOp(_Logical):
    """Whether both are true.

    `z = np.logical_and(x, y)`

    ```mlir
    %z = relay.logical_and %x, %y : (tensor<2x4xi1>, tensor<4xi1>) -> tensor<2x4xi1>
    ```
    """

    name = "relay.logical_and"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.AND
    ONNX: ClassVar[tuple[str, ...]] = ("And",)


@irdl_op_definition
class LogicalOrOp(_Logical):
    """Whether one is true.

    `z = np.logical_or(x, y)`

    ```mlir
    %z = relay.logical_or %x, %y : (tensor<2x4xi1>, tensor<4xi1>) -> tensor<2x4xi1>
    ```
    """

    name = "relay.logical_or"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.OR
    ONNX: ClassVar[tuple[str, ...]] = ("Or",)


@irdl_op_definition
class LogicalXorOp(_Logical):
    """Whether just one is true.

    `z = np.logical_xor(x, y)`

    ```mlir
    %z = relay.logical_xor %x, %y : (tensor<2x4xi1>, tensor<4xi1>) -> tensor<2x4xi1>
    ```
    """

    name = "relay.logical_xor"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.XOR
    ONNX: ClassVar[tuple[str, ...]] = ("Xor",)


@irdl_op_definition
class BitwiseAndOp(_Bitwise):
    """The bits set in both.

    `z = x & y`

    ```mlir
    %z = relay.bitwise_and %x, %y : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    ```
    """

    name = "relay.bitwise_and"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.AND
    ONNX: ClassVar[tuple[str, ...]] = ("BitwiseAnd",)


@irdl_op_definition
class BitwiseOrOp(_Bitwise):
    """The bits set in one of them.

    `z = x | y`

    ```mlir
    %z = relay.bitwise_or %x, %y : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    ```
    """

    name = "relay.bitwise_or"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.OR
    ONNX: ClassVar[tuple[str, ...]] = ("BitwiseOr",)


@irdl_op_definition
class BitwiseXorOp(_Bitwise):
    """The bits set in just one of them.

    `z = x ^ y`

    ```mlir
    %z = relay.bitwise_xor %x, %y : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    ```
    """

    name = "relay.bitwise_xor"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.XOR
    ONNX: ClassVar[tuple[str, ...]] = ("BitwiseXor",)


@irdl_op_definition
class RightShiftOp(_Bitwise):
    """The bits of `x` moved `y` places down; the sign stays.

    `z = x >> y`

    ```mlir
    %z = relay.right_shift %x, %y : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    ```
    """

    name = "relay.right_shift"
    KIND: ClassVar[te.BinaryKind] = te.BinaryKind.SHR


@irdl_op_definition
class LeftShiftOp(BroadcastOp):
    """The bits of `x` moved `y` places up. A float, which has no such bits, is doubled `y` times.

    `z = x << y`

    ```mlir
    %z = relay.left_shift %x, %y : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    ```
    """

    name = "relay.left_shift"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    def combine(self, x: te.Expr, y: te.Expr) -> te.Expr:
        if isinstance(x.type, AnyFloat):
            return x * te.power(te.const(2, x.type), y)
        return te.binary(te.BinaryKind.SHL, x, y)

    gradient = slopes(lambda x, y, z: (y.like(2).op(PowerOp, y), math.log(2) * z))


@irdl_op_definition
class WhereOp(RelayOp):
    """`x` where the condition holds (is true, or not zero), else `y`; all three are broadcast.

    `z = np.where(c, x, y)`

    ```mlir
    %z = relay.where %c, %x, %y : (tensor<2x1xi1>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    ```
    """

    name = "relay.where"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    PRECISION: ClassVar[Precision | None] = Precision.FOLLOW
    ONNX: ClassVar[tuple[str, ...]] = ("Where",)

    condition = operand_def(TensorType)
    x = operand_def(TensorType)
    y = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.BROADCAST), Pointwise(), Moves())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        condition, x, y = tensor(self.condition), tensor(self.x), tensor(self.y)
        if x.element_type != y.element_type:
            raise VerifyException(f"the two sides have different element types: {x} and {y}")
        return [TensorType(x.element_type, broadcast_shapes(condition.get_shape(), x.get_shape(), y.get_shape()))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        condition, x, y = inputs
        return te.compute(
            broadcast_shapes(condition.shape, x.shape, y.shape),
            lambda *i: te.select(te.cast(broadcast_read(condition, i), i1), broadcast_read(x, i), broadcast_read(y, i)),
            "where",
        )

    def gradient(self, g: Gradient) -> Terms:
        condition = g.input
        return [None, g.grad.where(condition), g.grad.zeros().where(condition, g.grad)]


OPS: list[type[Operation]] = [
    AddOp, SubtractOp, MultiplyOp, DivideOp, FloorDivideOp, TruncDivideOp, ModOp, FloorModOp, TruncModOp, PowerOp,
    MaximumOp, MinimumOp, EqualOp, NotEqualOp, LessOp, LessEqualOp, GreaterOp, GreaterEqualOp, LogicalAndOp,
    LogicalOrOp, LogicalXorOp, BitwiseAndOp, BitwiseOrOp, BitwiseXorOp, RightShiftOp, LeftShiftOp, WhereOp,
]  # fmt: skip
"""The operators that broadcast their operands."""
