"""Move a multiplication behind a convolution or matrix product up into its weights.

    %0 = relay.nn.conv2d %x, %w                     %w1 = relay.multiply %w, dense<[[[[2]]], [[[3]]]]>
    %1 = relay.add %0, %b                       ->  %b1 = relay.multiply %b, dense<[[[2]], [[3]]]>
    %2 = relay.nn.relu %1                           %0 = relay.nn.conv2d %x, %w1
    %3 = relay.multiply %2, dense<[[[2]],[[3]]]>    %1 = relay.add %0, %b1
                                                    %2 = relay.nn.relu %1

The factors are constants, one for each channel. They climb from the multiplication to the producers of its operand:
through sums, differences and biases (both sides take them), through pools, and through what keeps the order of values
(`relu`, `leaky_relu`, maxima) if all factors are positive. They end in the weights of a convolution or product, or in
the constant of another multiplication or division. A value with several users takes no factors, nor does anything
without a rule: there a multiplication is left, and if that is no smaller than the first one, nothing is changed. Later
multiplications go first: they end in the constants of earlier ones, which take them along, so that no operation is
climbed over twice.

Counterpart of TVM's `BackwardFoldScaleAxis`. `fold-constant` should follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from xdsl.context import Context
from xdsl.ir import Operation, SSAValue

from ...dialects.relay.base import normalize_axis, shape_of
from ...dialects.relay.core import FuncOp
from ...dialects.relay.ops.broadcast import MultiplyOp
from ...dialects.relay.ops.nn.dense import BiasAddOp
from ..infra import FunctionPass, remarks, report_changed
from .scale_axis import (
    AxisScale,
    Convolution,
    Edit,
    KnownValues,
    Product,
    channels,
    elements,
    match_scale,
    move_scale,
    rules_by_operator,
    smaller_operand,
    spread,
    spread_along,
)

if TYPE_CHECKING:
    from .scale_axis import NDArray

NAME = "backward-fold-scale-axis"


@dataclass(frozen=True)
class BackwardFoldScaleAxisPass(FunctionPass):
    """Options: with `always`, TVM's rule: weights, and what is added, take factors even where they are computed at run
    time and are many, and nothing else does."""

    name = NAME
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "BackwardFoldScaleAxis"

    always: bool = False

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        changed, known = False, KnownValues()
        for op in reversed(list(func.body.block.ops)):
            if isinstance(op, MultiplyOp) and (matched := match_scale(op, known)) is not None:
                index, scale = matched
                if (edits := plan(op, index, scale, known, self.always)) is not None and known.hold(edits):
                    move_scale(NAME, op, index, edits, known)
                    changed = True
        report_changed(changed)


@dataclass(frozen=True)
class Climb:
    """How the result of an operation comes to be scaled: factors for some operands, and operands to climb on to."""

    edits: list[Edit] = field(default_factory=list[Edit])
    operands: list[int] = field(default_factory=list[int])

    def values(self, producer: Operation) -> list[SSAValue]:
        """The operands of `producer` that are scaled, here or farther up."""
        return [edit.value for edit in self.edits] + [producer.operands[i] for i in self.operands]


Rule: TypeAlias = Callable[[Operation, AxisScale], Climb | None]


def plan(root: MultiplyOp, index: int, scale: AxisScale, known: KnownValues, always: bool) -> list[Edit] | None:
    """The multiplications that make `root` superfluous, or `None` if they cost as much as it does."""
    gain, cost = elements(root.result), 0
    edits: list[Edit] = []
    pending: list[tuple[Operation, int]] = [(root, index)]
    while pending:
        user, operand = pending.pop()
        value = user.operands[operand]
        producer, climb = value.owner, None
        if isinstance(producer, Operation) and value.has_one_use() and (rule := RULES.get(type(producer))):
            climb = rule(producer, scale)
            if climb is not None and not all(map(scale.has_type_of, climb.values(producer))):
                climb = None
        is_stuck = climb is None
        if climb is None:
            climb = Climb([Edit(user, operand, scale.shaped(), scale)])
        edits += climb.edits
        cost += known.cost(climb.edits)
        if is_stuck if always else cost >= gain:
            blocker = f"'{producer.name}'" if isinstance(producer, Operation) else "an argument"
            remarks.missed(NAME, root, f"the factors cannot move beyond {blocker}")
            return None
        if isinstance(producer, Operation):
            pending += [(producer, i) for i in climb.operands]
    return edits


def _convolution(op: Operation, scale: AxisScale) -> Climb | None:
    """`conv(x, w) * s` = `conv(x, w * s)`, `s` along the output channels"""
    assert isinstance(op, Convolution)
    _, kernel, out = op.layouts()
    factors = scale.along(*channels(out))
    placed = None if factors is None else spread_along(factors, kernel, "O", shape_of(op.weight))
    return None if placed is None else Climb([Edit(op, 1, placed, scale)])


def _product(op: Operation, scale: AxisScale) -> Climb | None:
    """`(x @ w) * s` = `x @ (w * s)`, `s` along the columns"""
    assert isinstance(op, Product)
    factors = scale.along(scale.rank - 1)
    return None if factors is None else Climb([Edit(op, 1, _row(factors, op.transposed()[1]), scale)])


def _row(factors: NDArray, is_transposed: bool) -> NDArray:
    return spread(factors, 0, 2) if is_transposed else factors


def _bias_add(op: Operation, scale: AxisScale) -> Climb | None:
    """`(x + bias) * s` = `x * s + bias * s`"""
    assert isinstance(op, BiasAddOp)
    factors = scale.along(normalize_axis(op.axis.value.data, scale.rank))
    return None if factors is None else Climb([Edit(op, 1, factors, scale)], [0])


def _sum(op: Operation, scale: AxisScale) -> Climb | None:
    """`(x + y) * s` = `x * s + y * s`, and the same for a difference"""
    shape = shape_of(op.results[0])
    full = [i for i, operand in enumerate(op.operands) if shape_of(operand) == shape]
    return Climb([Edit(op, i, scale.shaped(), scale) for i in range(2) if i not in full], full)


def _multiply(op: Operation, scale: AxisScale) -> Climb | None:
    """`(x * y) * s` = `x * (y * s)`, `y` being the smaller one"""
    return Climb([Edit(op, smaller_operand(op), scale.shaped(), scale)])


def _linear(op: Operation, scale: AxisScale) -> Climb | None:
    """`f(x) * s` = `f(x * s)` for a negation, or a division `x / y`"""
    return Climb(operands=[0]) if shape_of(op.operands[0]) == shape_of(op.results[0]) else None


def _monotonic(op: Operation, scale: AxisScale) -> Climb | None:
    """`relu(x) * s` = `relu(x * s)` for positive `s`"""
    return Climb(operands=[0]) if scale.is_positive else None


def _mean(op: Operation, scale: AxisScale) -> Climb | None:
    """`mean(x) * s` = `mean(x * s)`, the mean being over other axes"""
    return Climb(operands=[0]) if scale.is_beside_windows(op) else None


def _maximum(op: Operation, scale: AxisScale) -> Climb | None:
    """the same for a maximum, and positive `s`"""
    return _mean(op, scale) if scale.is_positive else None


RULES: dict[type[Operation], Rule] = rules_by_operator(
    convolution=_convolution,
    product=_product,
    bias_add=_bias_add,
    sum=_sum,
    multiply=_multiply,
    linear=_linear,
    monotonic=_monotonic,
    mean=_mean,
    maximum=_maximum,
)
"""How an operation's result comes to be scaled, by what it computes."""
