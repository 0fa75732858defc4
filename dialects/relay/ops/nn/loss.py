"""Losses: how far predictions are from what they should be."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.dtypes import dtype_name
from ....support.operations import irdl_op_definition
from ...base import DYNAMIC, Fusion, FusionPattern, RelayOp, compatible, integer, string, tensor
from ...indexing import as_index
from ...nn_common import accumulator, aligned_axis, check_vector, narrow
from ...precision import Accuracy, Precision
from ...resample import one_of
from ...shapes import check_extents
from ..elementwise import floats, integers
from ..transcendental import LogOp

if TYPE_CHECKING:
    from ...gradient import Gradient, Term, Terms


class _CrossEntropy(RelayOp, ABC):
    """`-sum(score(predictions) * targets)` over all classes, the mean over the rows of both."""

    predictions = operand_def(TensorType)
    targets = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        predictions, targets = floats(tensor(self.predictions)), tensor(self.targets)
        if len(predictions.get_shape()) != 2 or not compatible(predictions, targets):
            raise VerifyException(f"expected two tensors [n, classes] of one type, got {predictions} and {targets}")
        return [TensorType(predictions.element_type, [])]

    def score(self, x: te.Expr) -> te.Expr:
        """What a prediction counts as."""
        return x

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, y = inputs
        check_extents("the targets", y.shape, x.shape)
        wide = accumulator(x.element_type)
        n, c = (te.reduce_axis(extent, name) for extent, name in zip(x.shape, "nc", strict=True))
        total = te.compute(
            [], lambda: te.sum(self.score(te.cast(x[n, c], wide)) * te.cast(y[n, c], wide), (n, c)), "sum"
        )
        return narrow(te.compute([], lambda: te.const(0, wide) - total[()] / x.shape[0], "mean"), x.element_type)

    def gradient(self, g: Gradient) -> Terms:
        x, y = g.inputs
        if x.shape[0] == DYNAMIC:
            raise VerifyException("it needs to be known how many rows there are")
        return g.through((self.score_term(x) * y).sum([0, 1]) / -float(x.shape[0]))

    def score_term(self, x: Term) -> Term:
        """`score`, as relay."""
        return x


@irdl_op_definition
class CrossEntropyOp(_CrossEntropy):
    """The mean cross entropy of predicted chances and the true ones.

    `y = -np.sum(np.log(p) * t) / 2`

    ```mlir
    %y = relay.nn.cross_entropy %p, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
    ```
    """

    name = "relay.nn.cross_entropy"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED
    PRECISION: ClassVar[Precision | None] = Precision.NEVER

    def score(self, x: te.Expr) -> te.Expr:
        return te.log(x)

    def score_term(self, x: Term) -> Term:
        return x.op(LogOp)


@irdl_op_definition
class CrossEntropyWithLogitsOp(_CrossEntropy):
    """The mean cross entropy of the logarithms of predicted chances, as `nn.log_softmax` gives, and the true ones.

    `y = -np.sum(p * t) / 2`

    ```mlir
    %y = relay.nn.cross_entropy_with_logits %p, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
    ```
    """

    name = "relay.nn.cross_entropy_with_logits"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED
    PRECISION: ClassVar[Precision | None] = Precision.NEVER


@irdl_op_definition
class NllLossOp(RelayOp):
    """The negative logarithms of the chances of the true classes, weighted by class.

    Where the target is `ignore_index`, or no class, there is no loss. `reduction` is "none", "sum", or "mean": the sum
    divided by that of the weights.

    `y[n, i..] = -p[n, t[n, i..], i..] * w[t[n, i..]]`

    ```mlir
    %y = relay.nn.nll_loss %p, %t, %w {reduction = "sum"}
       : (tensor<2x3x4xf32>, tensor<2x4xi32>, tensor<3xf32>) -> tensor<f32>
    ```
    """

    name = "relay.nn.nll_loss"
    PRECISION: ClassVar[Precision | None] = Precision.NEVER

    predictions = operand_def(TensorType)
    targets = operand_def(TensorType)
    weights = operand_def(TensorType)
    result = result_def(TensorType)

    reduction = string("mean")
    ignore_index = integer(-100)

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        predictions, targets = tensor(self.predictions), integers(tensor(self.targets))
        one_of(self.reduction.data, ("none", "sum", "mean"), "reduction")
        shape = predictions.get_shape()
        if len(shape) < 2 or not isinstance(predictions.element_type, AnyFloat):
            raise VerifyException(f"expected predictions [n, classes, ..] of floats, got {predictions}")
        places = TensorType(targets.element_type, [shape[0], *shape[2:]])
        if not compatible(places, targets):
            raise VerifyException(f"the targets of {predictions} are {places}, not {targets}")
        check_vector(tensor(self.weights), predictions, 1, "weights")
        each = places.get_shape() if self.reduction.data == "none" else ()
        return [TensorType(predictions.element_type, each)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, targets, weights = inputs
        wide, classes = accumulator(x.element_type), x.shape[aligned_axis(x, 1, weights)]
        zero = te.const(0, wide)
        check_extents("the targets", targets.shape, [x.shape[0], *x.shape[2:]])

        def weight(*i: te.Expr) -> te.Expr:
            target = as_index(targets[i])
            counts = te.all_of([target >= 0, target < classes, ~target.equal(self.ignore_index.value.data)])
            return te.select(counts, te.cast(weights[_within(target, classes)], wide), zero)

        def loss(*i: te.Expr) -> te.Expr:
            chosen = x[(i[0], _within(as_index(targets[i]), classes), *i[1:])]
            return zero - te.cast(chosen, wide) * weight(*i)

        if self.reduction.data == "none":
            return narrow(te.compute(targets.shape, loss, "loss"), x.element_type)
        axes = [te.reduce_axis(n, f"k{d}") for d, n in enumerate(targets.shape)]
        total = te.compute([], lambda: te.sum(loss(*axes), axes), "loss_sum")
        if self.reduction.data == "sum":
            return narrow(total, x.element_type)
        share = te.compute([], lambda: te.sum(weight(*axes), axes), "weight_sum")
        return narrow(te.compute([], lambda: total[()] / share[()], "loss_mean"), x.element_type)

    def gradient(self, g: Gradient) -> Terms:
        x, targets, weights = g.inputs
        classes, rank = x.shape[1], len(x.shape)
        if classes == DYNAMIC:
            raise VerifyException("it needs to be known how many classes there are")
        one, zero = x.like(1), x.like(0)
        dtype = dtype_name(x.type.element_type)
        hot = targets.op("one_hot", one, zero, depth=classes, axis=1, dtype=dtype)
        kept = one.where(targets.op("not_equal", self.ignore_index.value.data))
        shares = hot * weights.along(1, rank) * kept.op("expand_dims", axis=1)
        loss = -(x * shares)
        if self.reduction.data == "none":
            return g.through(loss.sum([1]))
        total = loss.sum(range(rank))
        return g.through(total / shares.sum(range(rank)) if self.reduction.data == "mean" else total)


def _within(index: te.Expr, extent: int) -> te.Expr:
    return te.minimum(te.maximum(index, 0), extent - 1)


OPS: list[type[Operation]] = [CrossEntropyOp, CrossEntropyWithLogitsOp, NllLossOp]
"""The losses."""
