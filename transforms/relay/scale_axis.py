"""What the two directions of `fold-scale-axis` share: factors along one axis, and the multiplications that replace one.

A multiplication by a constant that varies along one axis alone is taken out, and its factors go to other operands: to
weights and biases, where they are constants and cost nothing once `fold-constant` has run, or, as the last resort, to a
value that is computed at run time. A fold pays if there are fewer multiplications of the latter kind than it removes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation, SSAValue

from ...dialects.relay.base import DYNAMIC, shape_of, tensor
from ...dialects.relay.core import ConstantOp
from ...dialects.relay.ops.broadcast import MultiplyOp
from ..infra import remarks

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.floating]

SMALL = 1 << 14
"""Constants of up to so many elements are multiplied at once; larger ones, the weights, by `fold-constant`."""


@dataclass(frozen=True)
class AxisScale:
    """Factors along one axis of tensors of rank `rank`. Without `axis` there is one factor, for all elements."""

    factors: NDArray
    axis: int | None
    rank: int

    def along(self, axis: int) -> NDArray | None:
        """The factors if they are those of `axis`: one for each index, or one for all; `None` if of another axis."""
        return self.factors if self.axis in (axis, None) else None

    def shaped(self) -> NDArray:
        """The factors in a shape that broadcasts over a tensor: `[C, 1, 1]` for axis 1 of rank 4."""
        trailing = 0 if self.axis is None else self.rank - 1 - self.axis
        return spread(self.factors, 0, 1 + trailing) if self.axis is not None else self.factors.reshape(())

    @property
    def is_positive(self) -> bool:
        """Whether the factors keep signs and order: `relu(x * s) == relu(x) * s`."""
        return bool((self.factors > 0).all())

    def inverse(self) -> AxisScale | None:
        """One over the factors; `None` if one of them is zero or too small."""
        import numpy as np

        with np.errstate(all="ignore"):
            inverse = (1 / self.factors).astype(self.factors.dtype)
        return AxisScale(inverse, self.axis, self.rank) if np.isfinite(inverse).all() else None


def spread(factors: NDArray, axis: int, rank: int) -> NDArray:
    """A vector as a tensor of rank `rank` that varies along `axis` alone."""
    return factors.reshape([-1 if d == axis else 1 for d in range(rank)])


@dataclass(frozen=True)
class Edit:
    """Multiply operand `index` of `user` by `factors`."""

    user: Operation
    index: int
    factors: NDArray

    @property
    def value(self) -> SSAValue:
        return self.user.operands[self.index]


@dataclass
class KnownValues:
    """Which values are constants: those of constant operations, and the products that folds have made of such."""

    products: set[SSAValue] = field(default_factory=set[SSAValue])

    def __contains__(self, value: SSAValue) -> bool:
        return isinstance(value.owner, ConstantOp) or value in self.products

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


def match_scale(op: MultiplyOp, known: KnownValues) -> tuple[int, AxisScale] | None:
    """The operand that `op` scales at run time, and by what: a float constant that varies along one axis at most."""
    import numpy as np

    result = tensor(op.result)
    if not isinstance(result.element_type, AnyFloat):
        return None
    for index, constant in ((0, op.operands[1].owner), (1, op.operands[0].owner)):
        data = op.operands[index]
        if not isinstance(constant, ConstantOp) or data in known or data.type != result:
            continue
        rank, shape = len(result.get_shape()), shape_of(constant.result)
        wide = [rank - len(shape) + d for d, n in enumerate(shape) if n != 1]
        if len(wide) > 1 or (array := constant.numpy()) is None:
            continue
        # A copy of the small vector, for a uniform array is a view without a size of its own.
        return index, AxisScale(np.array(array, copy=True).reshape(-1), wide[0] if wide else None, rank)  # pyright: ignore[reportArgumentType]
    return None


def move_scale(pass_name: str, root: MultiplyOp, index: int, edits: Sequence[Edit], known: KnownValues) -> None:
    """Make `edits`, and take `root`, whose operand `index` they scale instead, out of the graph."""
    for edit in edits:
        block = edit.user.parent
        assert block is not None
        for op in (made := _product(edit)):
            op.location = root.location
            block.insert_op_before(op, edit.user)
        scaled = made[-1].results[0]
        if edit.value in known:
            known.products.add(scaled)
        edit.user.operands[edit.index] = scaled
    remarks.passed(pass_name, root, f"moved into {len(edits)} operands: {', '.join(e.user.name for e in edits)}")
    root.result.replace_all_uses_with(root.operands[index])
    root.detach()
    root.erase()


def _product(edit: Edit) -> list[ConstantOp | MultiplyOp]:
    """What computes the scaled operand: a constant where that is small, so that the next fold can read it."""
    owner = edit.value.owner
    array = owner.numpy() if isinstance(owner, ConstantOp) and elements(edit.value) <= SMALL else None
    if array is not None:
        return [ConstantOp.from_numpy(cast("NDArray", array) * edit.factors, "scaled")]
    factors = ConstantOp.from_numpy(edit.factors, "scale")
    return [factors, MultiplyOp(edit.value, factors)]
