"""Operators that look at one element at a time: signs, rounding, tests, conversions. Base of the other such files."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import AnyFloat, Float8E8M0FNUType, IntegerType, TensorType, i1
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Operation
from xdsl.irdl import VarConstraint, operand_def, result_def, traits_def
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.dtypes import scalar_type
from ...support.operations import irdl_op_definition
from ...te.kinds import EXACT_FUNCTIONS
from ..base import (
    Fusion,
    FusionPattern,
    Moves,
    Pointwise,
    RelayOp,
    Tensor,
    describe,
    fusion_pattern,
    is_static,
    real,
    string,
    tensor,
)
from ..inference import by_types
from ..precision import Accuracy
from ..slopes import slope

if TYPE_CHECKING:
    from ..gradient import Gradient, Terms

_SAME_TYPE = VarConstraint("T", TensorType.constr())


class SameTypeOp(RelayOp, ABC):
    """One operand, one result of the same type."""

    data = operand_def(_SAME_TYPE)
    result = result_def(_SAME_TYPE)

    traits = traits_def(Pure())
    assembly_format = "$data attr-dict `:` type($result)"

    @by_types
    def infer(self) -> Sequence[Attribute]:
        return [tensor(self.data)]


class ElementwiseOp(SameTypeOp, ABC):
    """An element of the result for each element of the operand, of the same type."""

    traits = traits_def(FusionPattern(Fusion.ELEMWISE), Pointwise())


class DropIdentity(RewritePattern):
    """An operator that has its first operand's elements in their order is that operand, where the types agree.

    Types with dynamic extents say so only of elementwise operators: others may change extents that both types hide.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter):
        type = op.operands[0].type
        if type == op.results[0].type and (is_static(type) or fusion_pattern(op.__class__) == Fusion.ELEMWISE):
            rewriter.replace(op, [], [op.operands[0]])


class DropsIdentity(HasCanonicalizationPatternsInterface, ABC):
    """An operator that is dropped where its result is its operand, which an equal type says."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return (DropIdentity(),)


class UnaryFunction(ElementwiseOp, ABC):
    """A function that tensor expressions have: `KIND`. `formula` is what NumPy makes of `x`."""

    KIND: ClassVar[te.UnaryKind]

    def __init_subclass__(cls, formula: str | None = None) -> None:
        super().__init_subclass__()
        if formula is not None:
            describe(cls, f"y = {formula}", f"%y = {cls.name} %x : tensor<2x4xf32>")

    @classmethod
    def accuracy(cls) -> Accuracy | None:
        return cls.ACCURACY or (Accuracy.EXACT if cls.KIND in EXACT_FUNCTIONS else Accuracy.FUNCTION)

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        return te.compute(x.shape, lambda *i: te.unary(self.KIND, x[i]), self.KIND.value)


class FloatFunction(UnaryFunction, ABC):
    """A function of floats."""

    def infer(self) -> Sequence[Attribute]:
        return [floats(tensor(self.data))]


class _IntegerFunction(UnaryFunction, ABC):
    """A function of integers."""

    def infer(self) -> Sequence[Attribute]:
        return [integers(tensor(self.data))]


class _BooleanFunction(UnaryFunction, ABC):
    """A function of truth values."""

    def infer(self) -> Sequence[Attribute]:
        return [truth_values(tensor(self.data))]


def floats(type: Tensor) -> Tensor:
    """`type` itself, whose elements must be floats.

    Raises:
        VerifyException: they are not.
    """
    if not isinstance(type.element_type, AnyFloat):
        raise VerifyException(f"expected a tensor of floats, got {type}")
    return type


def integers(type: Tensor) -> Tensor:
    """`type` itself, whose elements must be integers.

    Raises:
        VerifyException: they are not.
    """
    if not isinstance(type.element_type, IntegerType):
        raise VerifyException(f"expected a tensor of integers, got {type}")
    return type


def truth_values(type: Tensor) -> Tensor:
    """`type` itself, whose elements must be `i1`.

    Raises:
        VerifyException: they are not.
    """
    if type.element_type != i1:
        raise VerifyException(f"expected a tensor of truth values, got {type}")
    return type


@irdl_op_definition
class AbsOp(UnaryFunction, formula="np.abs(x)"):
    """The magnitude."""

    name = "relay.abs"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ABS
    ONNX: ClassVar[tuple[str, ...]] = ("Abs",)
    gradient = slope(lambda x, y: x.op(SignOp))


@irdl_op_definition
class NegativeOp(UnaryFunction, formula="-x"):
    """The same with the other sign."""

    name = "relay.negative"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.NEG
    ONNX: ClassVar[tuple[str, ...]] = ("Neg",)
    gradient = slope(lambda x, y: -1)


@irdl_op_definition
class SignOp(UnaryFunction, formula="np.sign(x)"):
    """Minus one, zero or one, as the element is below, at or above zero; NaN stays."""

    name = "relay.sign"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.SIGN
    ONNX: ClassVar[tuple[str, ...]] = ("Sign",)
    gradient = slope(lambda x, y: None)


@irdl_op_definition
class FloorOp(UnaryFunction, formula="np.floor(x)"):
    """The next integer below; integers stay."""

    name = "relay.floor"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.FLOOR
    ONNX: ClassVar[tuple[str, ...]] = ("Floor",)
    gradient = slope(lambda x, y: None)


@irdl_op_definition
class CeilOp(UnaryFunction, formula="np.ceil(x)"):
    """The next integer above; integers stay."""

    name = "relay.ceil"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.CEIL
    ONNX: ClassVar[tuple[str, ...]] = ("Ceil",)
    gradient = slope(lambda x, y: None)


@irdl_op_definition
class RoundOp(UnaryFunction, formula="np.rint(x)"):
    """The nearest integer, halves to the even one; integers stay."""

    name = "relay.round"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ROUND
    ONNX: ClassVar[tuple[str, ...]] = ("Round",)
    gradient = slope(lambda x, y: None)


@irdl_op_definition
class TruncOp(UnaryFunction, formula="np.trunc(x)"):
    """The next integer towards zero; integers stay."""

    name = "relay.trunc"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.TRUNC
    gradient = slope(lambda x, y: None)


@irdl_op_definition
class LogicalNotOp(_BooleanFunction):
    """Whether the element is false.

    `y = np.logical_not(x)`

    ```mlir
    %y = relay.logical_not %x : tensor<2x4xi1>
    ```
    """

    name = "relay.logical_not"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.NOT
    ONNX: ClassVar[tuple[str, ...]] = ("Not",)


@irdl_op_definition
class BitwiseNotOp(_IntegerFunction):
    """All bits inverted.

    `y = np.invert(x)`

    ```mlir
    %y = relay.bitwise_not %x : tensor<2x4xi32>
    ```
    """

    name = "relay.bitwise_not"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.NOT
    ONNX: ClassVar[tuple[str, ...]] = ("BitwiseNot",)


class _Test(RelayOp, ABC):
    """A truth value for each element."""

    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    KIND: ClassVar[te.UnaryKind]

    data = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.ELEMWISE), Pointwise())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        return [TensorType(i1, tensor(self.data).get_shape())]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        return te.compute(x.shape, lambda *i: te.unary(self.KIND, x[i]), self.KIND.value)


@irdl_op_definition
class IsnanOp(_Test):
    """Whether the element is not a number.

    `y = np.isnan(x)`

    ```mlir
    %y = relay.isnan %x : (tensor<2x4xf32>) -> tensor<2x4xi1>
    ```
    """

    name = "relay.isnan"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ISNAN
    ONNX: ClassVar[tuple[str, ...]] = ("IsNaN",)


@irdl_op_definition
class IsinfOp(_Test):
    """Whether the element is an infinity of either sign.

    `y = np.isinf(x)`

    ```mlir
    %y = relay.isinf %x : (tensor<2x4xf32>) -> tensor<2x4xi1>
    ```
    """

    name = "relay.isinf"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ISINF


@irdl_op_definition
class IsfiniteOp(_Test):
    """Whether the element is neither an infinity nor NaN.

    `y = np.isfinite(x)`

    ```mlir
    %y = relay.isfinite %x : (tensor<2x4xf32>) -> tensor<2x4xi1>
    ```
    """

    name = "relay.isfinite"
    KIND: ClassVar[te.UnaryKind] = te.UnaryKind.ISFINITE


@irdl_op_definition
class CopyOp(ElementwiseOp, DropsIdentity):
    """The operand in memory of its own.

    `y = np.copy(x)`

    ```mlir
    %y = relay.copy %x : tensor<2x4xf32>
    ```
    """

    name = "relay.copy"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT
    traits = traits_def(Moves())

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        return te.compute(x.shape, lambda *i: x[i], "copy")

    gradient = slope(lambda x, y: 1)


@irdl_op_definition
class ClipOp(ElementwiseOp):
    """Every element brought into the range from `a_min` to `a_max`, of which integers lose their fraction, as in TVM.

    `y = np.clip(x, 0.0, 6.0)`

    ```mlir
    %y = relay.clip %x {a_min = 0.0 : f64, a_max = 6.0 : f64} : tensor<2x4xf32>
    ```
    """

    name = "relay.clip"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    a_min = real()
    a_max = real()

    def infer(self) -> Sequence[Attribute]:
        types = super().infer()
        if not isinstance(tensor(self.data).element_type, AnyFloat):
            for name, bound in (("a_min", self.a_min), ("a_max", self.a_max)):
                if bound.value.data != bound.value.data:
                    raise VerifyException(f"'{name}' is not a number, and its elements are integers")
        return types

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        low, high = self.a_min.value.data, self.a_max.value.data
        element = x.element_type
        if not isinstance(element, AnyFloat):
            least, most = (te.reduce_identity(kind, element).value for kind in ("max", "min"))
            low, high = int(min(max(low, least), most)), int(max(min(high, most), least))
        return te.compute(x.shape, lambda *i: te.minimum(te.maximum(x[i], low), high), "clip")

    def gradient(self, g: Gradient) -> Terms:
        low, high = self.a_min.value.data, self.a_max.value.data
        return [g.grad.where(g.input >= low).where(g.input <= high)]


class _Conversion(RelayOp, DropsIdentity, ABC):
    """The elements of one operand in another type."""

    data = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.ELEMWISE), Moves())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def target(self) -> Attribute:
        """The element type of the result.

        Raises:
            VerifyException: there is no such type.
        """
        raise NotImplementedError

    def infer(self) -> Sequence[Attribute]:
        target = self.target()
        if isinstance(target, Float8E8M0FNUType) and tensor(self.data).element_type != target:
            raise VerifyException(f"to {target}, which has neither 0 nor a sign: it can only be converted from")
        return [TensorType(target, tensor(self.data).get_shape())]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        target = self.target()
        return te.compute(inputs[0].shape, lambda *i: te.cast(inputs[0][i], target), "cast")


def named_type(dtype: str) -> Attribute:
    """The element type that a `dtype` property names.

    Raises:
        VerifyException: there is no such type.
    """
    try:
        return scalar_type(dtype)
    except TypeError as error:
        raise VerifyException(f"dtype: {error}") from None


@irdl_op_definition
class CastOp(_Conversion):
    """Every element as another type: floats lose their fraction, and anything but zero becomes `true`.

    `y = x.astype("int32")`

    ```mlir
    %y = relay.cast %x {dtype = "int32"} : (tensor<2x4xf32>) -> tensor<2x4xi32>
    ```
    """

    name = "relay.cast"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.ROUNDED
    traits = traits_def(Pointwise())

    dtype = string()

    def target(self) -> Attribute:
        return named_type(self.dtype.data)

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad.cast(g.input.type.element_type)]


@irdl_op_definition
class CastLikeOp(_Conversion):
    """Every element as the element type of another tensor.

    `y = x.astype(like.dtype)`

    ```mlir
    %y = relay.cast_like %x, %like : (tensor<2x4xi32>, tensor<3xf32>) -> tensor<2x4xf32>
    ```
    """

    name = "relay.cast_like"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.ROUNDED

    data = operand_def(TensorType)
    like = operand_def(TensorType)

    def target(self) -> Attribute:
        return tensor(self.like).element_type

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad.cast(g.input.type.element_type), None]


OPS: list[type[Operation]] = [
    AbsOp, NegativeOp, SignOp, FloorOp, CeilOp, RoundOp, TruncOp, LogicalNotOp, BitwiseNotOp, IsnanOp, IsinfOp,
    IsfiniteOp, CopyOp, ClipOp, CastOp, CastLikeOp,
]  # fmt: skip
"""The operators on single elements that are not transcendental."""
