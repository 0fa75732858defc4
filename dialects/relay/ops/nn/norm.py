"""Normalisations: `batch_norm`, `layer_norm`, `instance_norm`, `group_norm`, `l2_normalize`, `lrn`.

Means and variances are formed in two passes over the data (mean first), in f32 where the data is narrower.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import FloatAttr, TensorType, TupleType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import VarConstraint, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.operations import irdl_op_definition
from ...base import (
    DYNAMIC,
    Fusion,
    FusionPattern,
    RelayOp,
    flag,
    int_list,
    integer,
    ints,
    is_true,
    normalize_axis,
    real,
    tensor,
)
from ...inference import by_types
from ...nn_common import accumulator, aligned_axis, check_vector, narrow, vector_along
from ...precision import Accuracy, Precision
from ...reordering import Order, Reordered, reordered_axes, reordered_axis
from ...types import tuple_type
from ..broadcast import MaximumOp, PowerOp
from ..elementwise import floats
from ..transcendental import SqrtOp

if TYPE_CHECKING:
    from ...gradient import Gradient, Term, Terms

_SameType = VarConstraint("T", TensorType.constr())


def mean_over(
    x: te.Tensor, axes: Sequence[int], element: Callable[[te.Expr, tuple[te.ExprLike, ...]], te.Expr], name: str
) -> Callable[..., te.Expr]:
    """The mean over `axes` of `element(x[i], i)`; the result reads it with the indices of `x`.

    Two stages, the sum and its division; elements are widened to the accumulator's type first.
    """
    wide = accumulator(x.element_type)
    kept = [d for d in range(x.rank) if d not in axes]
    shape = [x.shape[d] for d in kept]

    def body(*i: te.IterVar) -> te.Expr:
        outer = iter(i)
        taps = {d: te.reduce_axis(x.shape[d], f"k{n}") for n, d in enumerate(axes)}
        at = tuple(taps[d] if d in taps else next(outer) for d in range(x.rank))
        return te.sum(element(te.cast(x[at], wide), at), tuple(taps.values()))

    extent = te.product(x.dims[d] for d in axes)
    count = te.const(extent, wide) if isinstance(extent, int) else te.cast(extent, wide)
    total = te.compute(shape, body, f"{name}_sum")
    mean = te.compute(shape, lambda *i: total[i] / count, name)
    return lambda *i: mean[tuple(i[d] for d in kept)]


def mean_and_variance(x: te.Tensor, axes: Sequence[int]) -> tuple[Callable[..., te.Expr], Callable[..., te.Expr]]:
    """The mean over `axes`, and the mean of the squared distance from it, read with the indices of `x`."""
    mean = mean_over(x, axes, lambda value, i: value, "mean")

    def squared_distance(value: te.Expr, i: tuple[te.ExprLike, ...]) -> te.Expr:
        distance = value - mean(*i)
        return distance * distance

    return mean, mean_over(x, axes, squared_distance, "variance")


@irdl_op_definition
class BatchNormOp(RelayOp):
    """Normalise with a mean and a variance known for each channel. The statistics are handed through.

    `y = (x - mean[c]) / sqrt(var[c] + epsilon) * gamma[c] + beta[c]`; without `scale` gamma counts as 1, without
    `center` beta as 0.

    ```mlir
    %t = relay.nn.batch_norm %x, %gamma, %beta, %mean, %var
       : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
       -> tuple<tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>>
    ```
    """

    name = "relay.nn.batch_norm"
    PRECISION: ClassVar[Precision | None] = Precision.FOLLOW

    data = operand_def(TensorType)
    gamma = operand_def(TensorType)
    beta = operand_def(TensorType)
    moving_mean = operand_def(TensorType)
    moving_var = operand_def(TensorType)
    result = result_def(TupleType)
    axis = integer(1)
    epsilon = real(1e-5)
    center = flag(True)
    scale = flag(True)

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order, (0,), (0,)], {"axis": reordered_axis(self.axis.value.data, order)})

    def implied(self) -> Mapping[int, Attribute]:
        return dict.fromkeys(range(1, 5), vector_along(self.data.type, self.axis.value.data))

    @by_types
    def infer(self) -> Sequence[Attribute]:
        data = floats(tensor(self.data))
        axis = normalize_axis(self.axis.value.data, len(data.get_shape()))
        vectors = {
            "gamma": self.gamma,
            "beta": self.beta,
            "moving_mean": self.moving_mean,
            "moving_var": self.moving_var,
        }
        for what, vector in vectors.items():
            data = check_vector(tensor(vector), data, axis, what)
        return [tuple_type(data, tensor(self.moving_mean), tensor(self.moving_var))]

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        x, gamma, beta, mean, var = inputs
        axis = aligned_axis(x, self.axis.value.data, gamma, beta, mean, var)
        wide = accumulator(x.element_type)
        epsilon = te.const(self.epsilon.value.data, wide)
        deviation = te.compute(var.shape, lambda *i: te.sqrt(te.cast(var[i], wide) + epsilon), "deviation")

        def normalized(*i: te.IterVar) -> te.Expr:
            c = i[axis]
            value = (te.cast(x[i], wide) - te.cast(mean[c], wide)) / deviation[c]
            if is_true(self.scale):
                value = value * te.cast(gamma[c], wide)
            if is_true(self.center):
                value = value + te.cast(beta[c], wide)
            return value

        return (
            narrow(te.compute(x.shape, normalized, "batch_norm"), x.element_type),
            te.compute(mean.shape, lambda *i: mean[i], "moving_mean"),
            te.compute(var.shape, lambda *i: var[i], "moving_var"),
        )

    def gradient(self, g: Gradient) -> Terms:
        x, gamma, beta, mean, variance = g.inputs
        axis, rank = normalize_axis(self.axis.value.data, len(x.shape)), len(x.shape)
        deviation = (variance + self.epsilon.value.data).op(SqrtOp)
        y = (x - mean.along(axis, rank)) / deviation.along(axis, rank)
        y = y * gamma.along(axis, rank) if is_true(self.scale) else y
        y = y + beta.along(axis, rank) if is_true(self.center) else y
        return g.through(y, mean, variance)


def normalized(x: Term, axes: Sequence[int], epsilon: FloatAttr) -> Term:
    """`(x - mean) / sqrt(variance + epsilon)`, mean and variance over `axes`."""
    distance = x - x.mean(axes)
    return distance / ((distance * distance).mean(axes) + epsilon.value.data).op(SqrtOp)


class _ScaledNorm(RelayOp, ABC):
    """A normalisation by statistics of the data itself, then a scale and an offset along `axis`."""

    data = operand_def(TensorType)
    gamma = operand_def(TensorType)
    beta = operand_def(TensorType)
    result = result_def(TensorType)
    axis = integer(1)
    epsilon = real(1e-5)
    center = flag(True)
    scale = flag(True)

    traits = traits_def(Pure())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    NEEDS_FIRST: ClassVar[bool] = True
    """Whether the first axis, of the images, is none of the others."""

    def reordered(self, order: Order) -> Reordered | None:
        if self.NEEDS_FIRST and order[0] != 0:
            return None
        return Reordered([order], {"axis": reordered_axis(self.axis.value.data, order)})

    def implied(self) -> Mapping[int, Attribute]:
        return dict.fromkeys((1, 2), vector_along(self.data.type, self.axis.value.data))

    def infer(self) -> Sequence[Attribute]:
        data = floats(tensor(self.data))
        axis = normalize_axis(self.axis.value.data, len(data.get_shape()))
        data = check_vector(tensor(self.gamma), data, axis, "gamma")
        return [check_vector(tensor(self.beta), data, axis, "beta")]

    def scaled(
        self,
        inputs: Sequence[te.Tensor],
        mean: Callable[..., te.Expr],
        variance: Callable[..., te.Expr],
        name: str,
    ) -> te.Tensor:
        """`(x - mean) / sqrt(variance + epsilon) * gamma + beta`; the statistics are read with the indices of `x`."""
        x, gamma, beta = inputs
        axis = aligned_axis(x, self.axis.value.data, gamma, beta)
        wide = accumulator(x.element_type)
        epsilon = te.const(self.epsilon.value.data, wide)

        def body(*i: te.IterVar) -> te.Expr:
            value = (te.cast(x[i], wide) - mean(*i)) * te.rsqrt(variance(*i) + epsilon)
            if is_true(self.scale):
                value = value * te.cast(gamma[i[axis]], wide)
            if is_true(self.center):
                value = value + te.cast(beta[i[axis]], wide)
            return value

        return narrow(te.compute(x.shape, body, name), x.element_type)

    def scaled_gradient(self, g: Gradient, value: Term) -> Terms:
        """The gradient where `value` is what is scaled by gamma and moved by beta."""
        x, gamma, beta = g.inputs
        rank = len(x.shape)
        axis = normalize_axis(self.axis.value.data, rank)
        value = value * gamma.along(axis, rank) if is_true(self.scale) else value
        value = value + beta.along(axis, rank) if is_true(self.center) else value
        return g.through(value)


@irdl_op_definition
class LayerNormOp(_ScaledNorm):
    """Normalise along one axis by its own mean and variance.

    `y = (x - mean(x, axis)) / sqrt(var(x, axis) + epsilon) * gamma + beta`

    ```mlir
    %y = relay.nn.layer_norm %x, %gamma, %beta : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
    ```
    """

    name = "relay.nn.layer_norm"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED
    PRECISION: ClassVar[Precision | None] = Precision.NEVER

    axis = integer(-1)
    NEEDS_FIRST: ClassVar[bool] = False

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x = inputs[0]
        axis = normalize_axis(self.axis.value.data, x.rank)
        return self.scaled(inputs, *mean_and_variance(x, [axis]), "layer_norm")

    def gradient(self, g: Gradient) -> Terms:
        x = g.input
        return self.scaled_gradient(
            g, normalized(x, [normalize_axis(self.axis.value.data, len(x.shape))], self.epsilon)
        )


@irdl_op_definition
class InstanceNormOp(_ScaledNorm):
    """Normalise every channel of every image by its own mean and variance.

    `y = (x - mean(x, others)) / sqrt(var(x, others) + epsilon) * gamma + beta`, `others` being all axes but the first
    and `axis`.

    ```mlir
    %y = relay.nn.instance_norm %x, %gamma, %beta
       : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
    ```
    """

    name = "relay.nn.instance_norm"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED
    PRECISION: ClassVar[Precision | None] = Precision.NEVER

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x = inputs[0]
        axis = normalize_axis(self.axis.value.data, x.rank)
        others = [d for d in range(1, x.rank) if d != axis]
        return self.scaled(inputs, *mean_and_variance(x, others), "instance_norm")

    def gradient(self, g: Gradient) -> Terms:
        x = g.input
        axis = normalize_axis(self.axis.value.data, len(x.shape))
        return self.scaled_gradient(g, normalized(x, [d for d in range(1, len(x.shape)) if d != axis], self.epsilon))


@irdl_op_definition
class GroupNormOp(_ScaledNorm):
    """Normalise groups of channels of every image by their own mean and variance.

    `y = (x - mean(x, group)) / sqrt(var(x, group) + epsilon) * gamma + beta`, `group` being all axes but the first,
    with the channels of `axis` divided into `num_groups`.

    ```mlir
    %y = relay.nn.group_norm %x, %gamma, %beta {num_groups = 2 : i64}
       : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
    ```
    """

    name = "relay.nn.group_norm"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED
    PRECISION: ClassVar[Precision | None] = Precision.NEVER

    num_groups = integer()

    def infer(self) -> Sequence[Attribute]:
        types = super().infer()
        data, groups = tensor(self.data), self.num_groups.value.data
        channels = data.get_shape()[normalize_axis(self.axis.value.data, len(data.get_shape()))]
        if groups < 1 or (channels != DYNAMIC and channels % groups):
            raise VerifyException(f"{channels} channels do not divide into {groups} groups")
        return types

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x = inputs[0]
        axis = normalize_axis(self.axis.value.data, x.rank)
        size = max(1, x.shape[axis] // self.num_groups.value.data)
        # [.., C, ..] -> [.., G, C/G, ..]: a group is then all of the dimension after `axis`, and of the others
        grouped = te.compute(
            (*x.shape[:axis], x.shape[axis] // size, size, *x.shape[axis + 1 :]),
            lambda *i: x[(*i[:axis], i[axis] * size + i[axis + 1], *i[axis + 2 :])],
            "group",
        )
        mean, variance = mean_and_variance(grouped, [d for d in range(1, grouped.rank) if d != axis])

        def read_by_channel(statistic: Callable[..., te.Expr]) -> Callable[..., te.Expr]:
            return lambda *i: statistic(*i[:axis], i[axis] // size, i[axis] % size, *i[axis + 1 :])

        return self.scaled(inputs, read_by_channel(mean), read_by_channel(variance), "group_norm")

    def gradient(self, g: Gradient) -> Terms:
        g.static()
        x, groups = g.input, self.num_groups.value.data
        axis = normalize_axis(self.axis.value.data, len(x.shape))
        grouped = x.reshape([*x.shape[:axis], groups, x.shape[axis] // groups, *x.shape[axis + 1 :]])
        others = [d for d in range(1, len(grouped.shape)) if d != axis]
        return self.scaled_gradient(g, normalized(grouped, others, self.epsilon).reshape(x.shape))


@irdl_op_definition
class L2NormalizeOp(RelayOp):
    """Divide by the Euclidean length along `axis`.

    `y = x / sqrt(max(sum(x * x, axis), eps))`

    ```mlir
    %y = relay.nn.l2_normalize %x {eps = 1.0e-06 : f64, axis = array<i64: 1>} : tensor<2x4xf32>
    ```
    """

    name = "relay.nn.l2_normalize"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED
    PRECISION: ClassVar[Precision | None] = Precision.NEVER

    data = operand_def(_SameType)
    result = result_def(_SameType)
    eps = real()
    axis = int_list([])

    traits = traits_def(Pure())
    assembly_format = "$data attr-dict `:` type($result)"

    def axes(self, rank: int) -> list[int]:
        """The axes along which lengths are taken; all, where none are given."""
        return [normalize_axis(axis, rank) for axis in ints(self.axis)] or list(range(rank))

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"axis": reordered_axes(self.axes(len(order)), order)})

    def infer(self) -> Sequence[Attribute]:
        data = floats(tensor(self.data))
        self.axes(len(data.get_shape()))
        return [data]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        axes = self.axes(x.rank)
        kept = [d for d in range(x.rank) if d not in axes]
        wide = accumulator(x.element_type)
        taps = {d: te.reduce_axis(x.shape[d], f"k{d}") for d in axes}

        def squares(*i: te.IterVar) -> te.Expr:
            outer = iter(i)
            value = te.cast(x[tuple(taps[d] if d in taps else next(outer) for d in range(x.rank))], wide)
            return te.sum(value * value, tuple(taps.values()))

        total = te.compute([x.shape[d] for d in kept], squares, "square_sum")
        eps = self.eps.value.data
        length = te.compute(total.shape, lambda *i: te.sqrt(te.maximum(total[i], eps)), "length")
        result = te.compute(x.shape, lambda *i: te.cast(x[i], wide) / length[tuple(i[d] for d in kept)], "l2_normalize")
        return narrow(result, x.element_type)

    def gradient(self, g: Gradient) -> Terms:
        x = g.input
        total = (x * x).sum(self.axes(len(x.shape)), keepdims=True)
        return g.through(x / total.op(MaximumOp, self.eps.value.data).op(SqrtOp))


@irdl_op_definition
class LrnOp(RelayOp):
    """Local response normalisation: divide by the power of what stands around along `axis`.

    `y = x / (bias + alpha / size * sum_{d} x[i_axis + d]^2)^beta` for `-(size // 2) <= d < size - size // 2`

    ```mlir
    %y = relay.nn.lrn %x {size = 3 : i64} : tensor<1x4x2x2xf32>
    ```
    """

    name = "relay.nn.lrn"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED
    PRECISION: ClassVar[Precision | None] = Precision.NEVER

    data = operand_def(_SameType)
    result = result_def(_SameType)
    size = integer(5)
    axis = integer(1)
    bias = real(2.0)
    alpha = real(1e-5)
    beta = real(0.75)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "$data attr-dict `:` type($result)"

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"axis": reordered_axis(self.axis.value.data, order)})

    def infer(self) -> Sequence[Attribute]:
        data = floats(tensor(self.data))
        normalize_axis(self.axis.value.data, len(data.get_shape()))
        if self.size.value.data < 1:
            raise VerifyException(f"'size' must be at least 1, got {self.size.value.data}")
        return [data]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        axis = normalize_axis(self.axis.value.data, x.rank)
        wide = accumulator(x.element_type)
        size = self.size.value.data
        k = te.reduce_axis(size, "k")

        def squares(*i: te.IterVar) -> te.Expr:
            position = i[axis] + k
            inside = (position >= size // 2) & (position < size // 2 + x.shape[axis])
            value = te.cast(x[(*i[:axis], position - size // 2, *i[axis + 1 :])], wide)
            return te.sum(te.select(inside, value * value, 0), k)

        total = te.compute(x.shape, squares, "square_sum")
        bias, factor = self.bias.value.data, self.alpha.value.data / size

        def normalized(*i: te.IterVar) -> te.Expr:
            return te.cast(x[i], wide) / self.raised(total[i] * factor + bias)

        return narrow(te.compute(x.shape, normalized, "lrn"), x.element_type)

    def raised(self, base: te.Expr) -> te.Expr:
        """A positive `base` to the power of `beta`; by roots, which vector units have, for the usual 0.75."""
        match self.beta.value.data:
            case 0.5:
                return te.sqrt(base)
            case 0.75:
                root = te.sqrt(base)
                return root * te.sqrt(root)
            case beta:
                return te.power(base, beta)

    def gradient(self, g: Gradient) -> Terms:
        x, size = g.input, self.size.value.data
        axis = normalize_axis(self.axis.value.data, len(x.shape))
        extent = x.shape[axis]
        if extent == DYNAMIC:
            raise VerifyException("it needs to be known how many channels there are")
        around = [[float(-(size // 2) <= j - i < size - size // 2) for i in range(extent)] for j in range(extent)]
        total = (x * x).contract(axis, around) * (self.alpha.value.data / size) + self.bias.value.data
        return g.through(x / total.op(PowerOp, self.beta.value.data))


OPS: list[type[Operation]] = [
    BatchNormOp, LayerNormOp, InstanceNormOp, GroupNormOp, L2NormalizeOp, LrnOp,
]  # fmt: skip
"""The normalisations."""
