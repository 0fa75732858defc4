"""What the two directions of `fold-scale-axis` share: factors along one axis, and the multiplications that replace one.

A multiplication by a constant that varies along one axis alone is taken out, and its factors go to other operands: to
weights and biases, where they are constants and cost nothing once `fold-constant` has run, or, as the last resort, to a
value that is computed at run time. A fold pays if there are fewer multiplications of the latter kind than it removes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation, SSAValue

from ...dialects.relay.base import DYNAMIC, shape_of, tensor
from ...dialects.relay.core import ConstantOp
from ...dialects.relay.layout import Layout
from ...dialects.relay.ops.broadcast import AddOp, DivideOp, MultiplyOp, SubtractOp
from ...dialects.relay.ops.elementwise import NegativeOp
from ...dialects.relay.ops.nn.activation import LeakyReluOp, ReluOp
from ...dialects.relay.ops.nn.adaptive_pool import GlobalAvgPool2dOp, GlobalMaxPool2dOp
from ...dialects.relay.ops.nn.convolution import Conv1dOp, Conv2dOp, Conv3dOp
from ...dialects.relay.ops.nn.dense import BatchMatmulOp, BiasAddOp, DenseOp, MatmulOp
from ...dialects.relay.ops.nn.pool import AvgPool2dOp, MaxPool2dOp
from ...dialects.relay.ops.transform import ExpandDimsOp, ReshapeOp, SqueezeOp
from ..infra import remarks

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.floating]

Rule = TypeVar("Rule")
Convolution: TypeAlias = Conv1dOp | Conv2dOp | Conv3dOp
Product: TypeAlias = DenseOp | MatmulOp | BatchMatmulOp
Mean: TypeAlias = AvgPool2dOp | GlobalAvgPool2dOp
Maximum: TypeAlias = MaxPool2dOp | GlobalMaxPool2dOp

SMALL = 1 << 14
"""Constants of up to so many elements are multiplied at once; larger ones, the weights, by `fold-constant`."""

BLOCKED_RANK = 5
"""So many dimensions a tensor of images has at least whose channels stand in blocks."""


@dataclass(frozen=True)
class AxisScale:
    """Factors along one axis of tensors, or along the two that an axis in blocks is; without `axes` one factor for all
    elements."""

    factors: NDArray
    """One for each index of the axes, in order."""
    axes: tuple[int, ...]
    shape: tuple[int, ...]
    """That of what the graph multiplies. Where factors go it may be another, but along their axes."""
    source: SSAValue
    """What the graph multiplies by: a constant, perhaps in another shape."""
    is_inverse: bool = False
    """Whether these are one over what the graph has."""

    @property
    def rank(self) -> int:
        return len(self.shape)

    def along(self, *axes: int) -> NDArray | None:
        """The factors if they are those of `axes`: one for each index, or one for all; `None` if of others."""
        wide = tuple(axis for axis in axes if self.shape[axis] != 1)
        return self.factors if self.axes in (wide, ()) else None

    def shaped(self) -> NDArray:
        """The factors in a shape that broadcasts over a tensor: `[C, 1, 1]` for axis 1 of rank 4."""
        if len(self.axes) > 1:
            shape = [n for n in shape_of(self.source) if n != 1]
            return self.factors.reshape([shape[self.axes.index(d)] if d in self.axes else 1 for d in range(self.rank)])
        return spread(self.factors, 0, self.rank - self.axes[0]) if self.axes else self.factors.reshape(())

    def has_type_of(self, value: SSAValue) -> bool:
        """Whether `value` can be multiplied by the factors: the operands of a product may be of a shorter type than its
        result."""
        return tensor(self.source).element_type == tensor(value).element_type

    def is_beside_windows(self, op: Operation) -> bool:
        """Whether the factors are the same all over each window of a pool."""
        assert isinstance(op, Mean | Maximum)
        return not {*self.axes} & {*op.positions()}

    @property
    def is_positive(self) -> bool:
        """Whether the factors keep signs and order: `relu(x * s) == relu(x) * s`."""
        return bool((self.factors > 0).all())

    def inverse(self) -> AxisScale | None:
        """One over the factors; `None` if one of them is zero or too small."""
        import numpy as np

        with np.errstate(all="ignore"):
            inverse = (1 / self.factors).astype(self.factors.dtype)
        return replace(self, factors=inverse, is_inverse=not self.is_inverse) if np.isfinite(inverse).all() else None


def spread(factors: NDArray, axis: int, rank: int) -> NDArray:
    """A vector as a tensor of rank `rank` that varies along `axis` alone."""
    return factors.reshape([-1 if d == axis else 1 for d in range(rank)])


def channels(layout: Layout, letter: str = "C") -> tuple[int, ...]:
    """The dimensions of an axis: one, or the outer part and its blocks, in order."""
    return tuple(d for d, axis in enumerate(layout.axes) if axis.name.upper() == letter)


def spread_along(factors: NDArray, layout: Layout, letter: str, shape: Sequence[int]) -> NDArray | None:
    """Factors of one axis of a weight of this layout and shape as what broadcasts over it; `None` where the parts of
    the axis do not stand one after the other, from the outermost on."""
    places = channels(layout, letter)
    strides = [layout.inner_stride(place) for place in places]
    if strides != sorted(strides, reverse=True):
        return None
    return factors.reshape([shape[d] if d in places and factors.size > 1 else 1 for d in range(layout.rank)])


def rules_by_operator(
    *,
    convolution: Rule,
    product: Rule,
    bias_add: Rule,
    sum: Rule,
    multiply: Rule,
    linear: Rule,
    monotonic: Rule,
    mean: Rule,
    maximum: Rule,
) -> dict[type[Operation], Rule]:
    """The rule of each operator that factors may meet, by what it computes."""
    return {
        **dict.fromkeys(Convolution.__args__, convolution),
        **dict.fromkeys(Product.__args__, product),
        BiasAddOp: bias_add,
        **dict.fromkeys((AddOp, SubtractOp), sum),
        MultiplyOp: multiply,
        **dict.fromkeys((DivideOp, NegativeOp), linear),
        **dict.fromkeys((ReluOp, LeakyReluOp), monotonic),
        **dict.fromkeys(Mean.__args__, mean),
        **dict.fromkeys(Maximum.__args__, maximum),
    }


@dataclass(frozen=True)
class Edit:
    """Multiply operand `index` of `user` by `factors`, those of `scale` in another shape, or some of them."""

    user: Operation
    index: int
    factors: NDArray
    scale: AxisScale

    @property
    def value(self) -> SSAValue:
        return self.user.operands[self.index]

    @property
    def is_written(self) -> bool:
        """Whether the factors are written as what the graph has, in another shape: where they are multiplied by what is
        known only at run time, so that one sees where they come from, and a quotient is one."""
        return (
            not isinstance(self.value.owner, ConstantOp)
            and self.factors.size > 1
            and self.factors.tobytes() == self.scale.factors.tobytes()  # in the same order, then
        )


@dataclass
class KnownValues:
    """Which values are constants: those of constant operations, and the products that folds have made of such."""

    products: dict[SSAValue, float] = field(default_factory=dict[SSAValue, float])
    """By their products, an upper bound of these."""
    constants: dict[SSAValue, float] = field(default_factory=dict[SSAValue, float])
    """The greatest magnitudes of those that were looked at."""

    def __contains__(self, value: SSAValue) -> bool:
        return isinstance(value.owner, ConstantOp) or value in self.products

    def bound(self, edit: Edit) -> float:
        """What no product of a constant with factors is beyond."""
        return self._greatest(edit.value) * _greatest(edit.factors)

    def hold(self, edits: Sequence[Edit]) -> bool:
        """Whether the types of operands are those of the factors, as bytes that floats are multiplied by are not, and
        hold the products of constants with all factors: several of one constant may be too much where each is moderate.
        What is infinite already, or not a number, stays so."""
        if any(tensor(edit.value).element_type != tensor(edit.scale.source).element_type for edit in edits):
            return False
        return all(self.bound(edit) <= _limits(edit.factors)[1] for edit in edits if edit.value in self)

    def _greatest(self, value: SSAValue) -> float:
        if (found := self.products.get(value)) is not None:
            return found
        if value not in self.constants:
            array = value.owner.numpy() if isinstance(value.owner, ConstantOp) else None
            self.constants[value] = 0.0 if array is None else _greatest(cast("NDArray", array))
        return self.constants[value]

    def cost(self, edits: Sequence[Edit]) -> int:
        """How many elements are multiplied at run time."""
        return sum(elements(edit.value) for edit in edits if edit.value not in self)


def elements(value: SSAValue) -> int:
    """The number of elements of a tensor; a dynamic dimension, which both sides of a comparison have, counts as one."""
    return prod(1 if n == DYNAMIC else n for n in shape_of(value))


def smaller_operand(op: Operation) -> int:
    """The operand of a product with fewer elements; of two as large, the one that is a constant."""
    sizes = [(elements(operand), not isinstance(operand.owner, ConstantOp)) for operand in op.operands]
    return sizes.index(min(sizes))


def constant_array(value: SSAValue) -> NDArray | None:
    """The array of a small constant, perhaps seen under other shapes."""
    owner = value.owner
    while isinstance(owner, ReshapeOp | ExpandDimsOp | SqueezeOp):
        owner = owner.operands[0].owner
    array = owner.numpy() if isinstance(owner, ConstantOp) else None
    if array is None or (isinstance(value.owner, ConstantOp) and value.owner is owner):
        return array  # pyright: ignore[reportReturnType]
    return array.reshape(shape_of(value)) if array.size <= SMALL else None  # pyright: ignore[reportReturnType]


LEAST_RANK = 2
"""Of what has channels. Numbers and lists of numbers may be sizes yet, which are cut to integers: 1 / 50 * 40 * 50,
with each step rounded, is less than 40."""


def match_scale(op: MultiplyOp, known: KnownValues) -> tuple[int, AxisScale] | None:
    """The operand that `op` scales at run time, and by what: a float constant that varies along one axis at most, or
    along two, of which the second is the last one: that of channels in blocks."""
    import numpy as np

    result = tensor(op.result)
    if not isinstance(result.element_type, AnyFloat) or len(result.get_shape()) < LEAST_RANK:
        return None
    for index, constant in ((0, op.operands[1]), (1, op.operands[0])):
        data = op.operands[index]
        if data in known or data.type != result or not isinstance(constant.owner, Operation):
            continue
        rank, shape = len(result.get_shape()), shape_of(constant)
        wide = tuple(rank - len(shape) + d for d, n in enumerate(shape) if n != 1)
        if len(wide) > 2 or (len(wide) == 2 and (rank < BLOCKED_RANK or wide[1] != rank - 1)):
            continue
        if (array := constant_array(constant)) is not None and _is_moderate(array):
            # A copy of the small vector, for a uniform array is a view without a size of its own.
            return index, AxisScale(np.array(array, copy=True).reshape(-1), wide, result.get_shape(), constant)
    return None


def _is_moderate(factors: NDArray) -> bool:
    """Whether all that is not zero has a square, and one over it, that the type can hold: `(x * w) * s` may be finite
    where `w * s` is not, or is lost among the least numbers."""
    import numpy as np

    size = np.abs(factors.astype(np.float64, copy=False))
    least, greatest = np.sqrt(_limits(factors))
    return bool(((size == 0) | ((size >= least) & (size <= greatest))).all())


def _limits(factors: NDArray) -> tuple[float, float]:
    """The least normal number of a type, and the greatest."""
    import numpy as np

    limits = np.finfo(np.float32 if factors.dtype.name == "bfloat16" else factors.dtype)  # their exponents are alike
    return float(limits.tiny), float(limits.max)


def _greatest(array: NDArray) -> float:
    """The greatest magnitude of finite elements."""
    import numpy as np

    if not array.size:
        return 0.0
    greatest = max(float(array.max()), -float(array.min()))
    if not np.isfinite(greatest):
        greatest = float(np.abs(array, where=np.isfinite(array), out=np.zeros_like(array)).max())
    return greatest


def move_scale(pass_name: str, root: MultiplyOp, index: int, edits: Sequence[Edit], known: KnownValues) -> None:
    """Make `edits`, and take `root`, whose operand `index` they scale instead, out of the graph."""
    squeezed = _squeezed(root, edits) if any(edit.is_written for edit in edits) else None
    for edit in edits:
        block = edit.user.parent
        assert block is not None
        for op in (made := _product(edit, squeezed)):
            op.location = root.location
            block.insert_op_before(op, edit.user)
        scaled = made[-1].results[0]
        if edit.value in known:
            known.products[scaled] = known.bound(edit)
        edit.user.operands[edit.index] = scaled
    remarks.passed(pass_name, root, f"moved into {len(edits)} operands: {', '.join(e.user.name for e in edits)}")
    root.result.replace_all_uses_with(root.operands[index])
    root.detach()
    root.erase()


def _squeezed(root: MultiplyOp, edits: Sequence[Edit]) -> SSAValue:
    """The factors as the graph has them, without dimensions of one, for use in all of `edits`."""
    source = edits[0].scale.source
    users = {edit.user for edit in edits}
    block = root.parent
    assert block is not None
    first = next(op for op in block.ops if op in users)
    chain: list[Operation] = []
    while isinstance(owner := (chain[-1].operands[0] if chain else source).owner, Operation):
        chain.append(owner)
        if isinstance(owner, ConstantOp):
            break
    values: dict[SSAValue, SSAValue] = {}
    copies = [op.clone(values) for op in reversed(chain)]
    shape = shape_of(source)
    if ones := [d for d, n in enumerate(shape) if n == 1]:
        copies.append(SqueezeOp(copies[-1].results[0], axis=ones))
    for op in copies:
        op.location = root.location
        block.insert_op_before(op, first)
    return copies[-1].results[0]


def _product(edit: Edit, squeezed: SSAValue | None) -> list[Operation]:
    """What computes the scaled operand: a constant where that is small, so that the next fold can read it."""
    owner = edit.value.owner
    array = owner.numpy() if isinstance(owner, ConstantOp) and elements(edit.value) <= SMALL else None
    if array is not None:
        return [ConstantOp.from_numpy(cast("NDArray", array) * edit.factors, "scaled")]
    if not edit.is_written or squeezed is None:
        factors = ConstantOp.from_numpy(edit.factors, "scale")
        return [factors, MultiplyOp(edit.value, factors)]
    made, factors = [], squeezed
    wide = [d for d, n in enumerate(edit.factors.shape) if n != 1]
    trailing = edit.factors.ndim - 1 - wide[-1]
    if len(wide) > 1 or len(shape_of(squeezed)) > 1:
        made = [ReshapeOp(squeezed, newshape=list(edit.factors.shape))]
    elif trailing:
        made = [ExpandDimsOp(squeezed, axis=1, num_newaxis=trailing)]
    factors = made[0].results[0] if made else squeezed
    combine = DivideOp if edit.scale.is_inverse else MultiplyOp
    return [*made, combine(edit.value, factors)]
