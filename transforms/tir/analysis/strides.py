"""How a block's accesses move through memory: the facts that schedule rules decide by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.tir.affine import Linear, Range, linear, substitute
from ....dialects.tir.core import BlockOp, memref_of


@dataclass(frozen=True)
class Stride:
    """An access's position in its buffer's flat memory, over the block's iterators as dimensions."""

    buffer: SSAValue
    is_write: bool
    position: Linear | None

    def along(self, dim: AffineExpr) -> int | None:
        """Elements that one step along `dim` moves the access by; `None` where that is not a constant."""
        return None if self.position is None else self.position.step(dim)


def strides(
    block: BlockOp,
    replace: Mapping[int, AffineExpr] | None = None,
    ranges: Mapping[AffineExpr, Range] | None = None,
) -> list[Stride]:
    """The flat positions of all accesses in the block's body.

    `replace` gives iterators (by number) another expression, as a split would; `ranges` are then those of all
    dimensions that occur.
    """
    dims: list[AffineExpr] = [AffineExpr.dimension(i) for i in range(len(block.iters))]
    known: dict[AffineExpr, Range] = {dim: (0, n - 1) for dim, n in zip(dims, block.extents, strict=True)}
    known.update(ranges or {})
    for number, expr in (replace or {}).items():
        dims[number] = expr
    found: list[Stride] = []
    for access in block.accesses():
        if access.op.parent_region() is block.init:
            continue
        position: Linear | None = None
        if access.map is not None:
            total: AffineExpr = AffineConstantExpr(0)
            step = 1
            for size, index in reversed(
                list(zip(memref_of(access.buffer).get_shape(), access.map.results, strict=True))
            ):
                total = total + substitute(index, dims) * step
                step *= size
            position = linear(total, known)
        found.append(Stride(access.buffer, access.is_write, position))
    return found


def follow_each_other(block: BlockOp, first: int, accesses: Sequence[Stride] | None = None) -> bool:
    """Whether every access walks straight from the last value of iterator `first + 1` to the next of `first`."""
    outer, inner = AffineExpr.dimension(first), AffineExpr.dimension(first + 1)
    for access in accesses if accesses is not None else strides(block):
        slow, fast = access.along(outer), access.along(inner)
        if slow is None or fast is None or slow != fast * block.extents[first + 1]:
            return False
    return True
