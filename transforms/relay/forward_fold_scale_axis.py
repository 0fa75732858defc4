"""Move a multiplication before a convolution or matrix product down into its weights.

    %0 = relay.multiply %x, dense<[[[2]], [[3]]]>     %w1 = relay.multiply %w, dense<[[[[2]], [[3]]]]>
    %1 = relay.nn.relu %0                         ->  %1 = relay.nn.relu %x
    %2 = relay.nn.conv2d %1, %w                       %2 = relay.nn.conv2d %1, %w1

The factors are constants, one for each channel. They go down from the multiplication to all the users of its result:
through sums and differences (the other side is divided by them, or takes part if it carries the same factors), through
pools, and through what keeps the order of values if all factors are positive. They end in the weights of a convolution
or product, or in the constant of another multiplication. Users without a rule, the function's result among them, get a
multiplication of their own; if that is no smaller than the first one, nothing is changed. Earlier multiplications go
first: they end in the constants of later ones, which take them along.

Counterpart of TVM's `ForwardFoldScaleAxis`. `fold-constant` should follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import ClassVar, TypeAlias

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

NAME = "forward-fold-scale-axis"


@dataclass(frozen=True)
class ForwardFoldScaleAxisPass(FunctionPass):
    """Options: with `always`, TVM's rule: weights, and what is added, take factors even where they are computed at run
    time and are many, and nothing else does."""

    name = NAME
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "ForwardFoldScaleAxis"

    always: bool = False

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        positions = {op: i for i, op in enumerate(func.body.block.ops)}
        changed, known = False, KnownValues()
        for op in list(positions):
            if isinstance(op, MultiplyOp) and (matched := match_scale(op, known)) is not None:
                index, scale = matched
                if (edits := plan(op, scale, positions, known, self.always)) is not None and known.hold(edits):
                    move_scale(NAME, op, index, edits, known)
                    changed = True
        report_changed(changed)


@dataclass(frozen=True)
class Descent:
    """What makes up for operands that lack their factors: factors for others, and whether the result lacks them too."""

    edits: list[Edit] = field(default_factory=list[Edit])
    goes_on: bool = False


Rule: TypeAlias = Callable[[Operation, Sequence[int], AxisScale], Descent | None]
"""Called with the operation, the operands that lack the factors, and the factors."""


def plan(
    root: MultiplyOp, scale: AxisScale, positions: dict[Operation, int], known: KnownValues, always: bool
) -> list[Edit] | None:
    """The multiplications that make `root` superfluous, or `None` if they cost as much as it does.

    Users are looked at in the order of the block, so that all the operands of one that lack the factors are known.
    """
    gain, cost = elements(root.result), 0
    edits: list[Edit] = []
    scaled: set[SSAValue] = {root.result}
    users: list[tuple[int, Operation]] = []
    seen: set[Operation] = set()

    def add_users(value: SSAValue) -> None:
        for use in value.uses:
            if (user := use.operation) not in seen:
                seen.add(user)
                heappush(users, (positions.get(user, len(positions) + len(seen)), user))

    add_users(root.result)
    while users:
        _, user = heappop(users)
        lacking = [i for i, operand in enumerate(user.operands) if operand in scaled]
        rule = RULES.get(type(user)) if user in positions else None
        descent = rule(user, lacking, scale) if rule is not None else None
        is_stuck = descent is None
        if descent is None:
            descent = Descent([Edit(user, i, scale.shaped(), scale) for i in lacking])
        edits += descent.edits
        cost += known.cost(descent.edits)
        if is_stuck if always else cost >= gain:
            remarks.missed(NAME, root, f"the factors cannot move beyond '{user.name}'")
            return None
        if descent.goes_on:
            scaled.add(user.results[0])
            add_users(user.results[0])
    return edits


def _convolution(op: Operation, lacking: Sequence[int], scale: AxisScale) -> Descent | None:
    """`conv(x * s, w)` = `conv(x, w * s)`, `s` along the input channels"""
    assert isinstance(op, Convolution)
    import numpy as np

    if list(lacking) != [0]:
        return None  # factors of weights have other axes
    data, kernel, _ = op.layouts()
    if (factors := scale.along(*channels(data))) is None:
        return None
    if data.is_blocked or kernel.is_blocked:
        taken = kernel.extents(shape_of(op.weight))
        depthwise = op.group_count() == taken["O"] == data.extents(shape_of(op.data))["C"] and taken["I"] == 1
        letter = "O" if depthwise and op.group_count() > 1 else "I" if op.group_count() == 1 else None
        placed = None if letter is None else spread_along(factors, kernel, letter, shape_of(op.weight))
        return None if placed is None else Descent([Edit(op, 1, placed, scale)])
    weight, groups = shape_of(op.weight), op.group_count()
    outputs, inputs = (weight[kernel.position(letter)] for letter in "OI")
    shape = [1] * kernel.rank
    if len(factors) > 1:
        shape[kernel.position("I")] = inputs
        if groups > 1:  # a kernel sees the channels of its group alone
            shape[kernel.position("O")] = outputs
            factors = np.repeat(factors.reshape(groups, 1, inputs), outputs // groups, axis=1)
            if kernel.position("O") > kernel.position("I"):
                factors = np.swapaxes(factors.reshape(outputs, inputs), 0, 1)
    return Descent([Edit(op, 1, factors.reshape(shape), scale)])


def _product(op: Operation, lacking: Sequence[int], scale: AxisScale) -> Descent | None:
    """`(x * s) @ w` = `x @ (w * s)`, `s` along what is summed over"""
    assert isinstance(op, Product)
    if list(lacking) != [0]:
        return None  # factors of weights have other axes
    transpose_data, transpose_weight = op.transposed()
    if (factors := scale.along(scale.rank - (2 if transpose_data else 1))) is None:
        return None
    return Descent([Edit(op, 1, factors if transpose_weight else spread(factors, 0, 2), scale)])


def _bias_add(op: Operation, lacking: Sequence[int], scale: AxisScale) -> Descent | None:
    """`x * s + bias` = `(x + bias / s) * s`"""
    assert isinstance(op, BiasAddOp)
    inverse = scale.inverse()
    if inverse is None or list(lacking) != [0]:
        return None
    factors = inverse.along(normalize_axis(op.axis.value.data, scale.rank))
    return None if factors is None else Descent([Edit(op, 1, factors, inverse)], goes_on=True)


def _sum(op: Operation, lacking: Sequence[int], scale: AxisScale) -> Descent | None:
    """`x * s + y` = `(x + y / s) * s`, and the same for a difference"""
    inverse = scale.inverse()
    if inverse is None or not _keeps_shape(op, lacking):
        return None
    return Descent([Edit(op, i, inverse.shaped(), inverse) for i in range(2) if i not in lacking], goes_on=True)


def _multiply(op: Operation, lacking: Sequence[int], scale: AxisScale) -> Descent | None:
    """`(x * s) * y` = `x * (s * y)`, where `y` is smaller than `x`; else = `(x * y) * s`"""
    if len(lacking) > 1 or not _keeps_shape(op, lacking):
        return None
    other = 1 - lacking[0]
    if smaller_operand(op) == other and elements(op.operands[other]) < elements(op.results[0]):
        return Descent([Edit(op, other, scale.shaped(), scale)])
    return Descent(goes_on=True)


def _linear(op: Operation, lacking: Sequence[int], scale: AxisScale) -> Descent | None:
    """`f(x * s)` = `f(x) * s` for a negation, or a division `x / y`"""
    return Descent(goes_on=True) if list(lacking) == [0] and _keeps_shape(op, lacking) else None


def _monotonic(op: Operation, lacking: Sequence[int], scale: AxisScale) -> Descent | None:
    """`relu(x * s)` = `relu(x) * s` for positive `s`"""
    return Descent(goes_on=True) if scale.is_positive else None


def _mean(op: Operation, lacking: Sequence[int], scale: AxisScale) -> Descent | None:
    """`mean(x * s)` = `mean(x) * s`, the mean being over other axes"""
    return Descent(goes_on=True) if scale.is_beside_windows(op) else None


def _maximum(op: Operation, lacking: Sequence[int], scale: AxisScale) -> Descent | None:
    """the same for a maximum, and positive `s`"""
    return _mean(op, lacking, scale) if scale.is_positive else None


def _keeps_shape(op: Operation, lacking: Sequence[int]) -> bool:
    return all(shape_of(op.operands[i]) == shape_of(op.results[0]) for i in lacking)


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
"""How an operation makes up for factors missing from its operands, by what it computes."""
