"""How a block's accesses move through memory: the facts that schedule rules decide by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.tir.affine import Linear, Range, linear
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import BlockOp
from ....dialects.tir.symbols import MAX_EXTENT, as_affine, product


@dataclass(frozen=True)
class Stride:
    """An access's position in its buffer's flat memory, over the block's iterators as dimensions."""

    buffer: SSAValue
    is_write: bool
    position: Linear | None

    def along(self, dim: AffineExpr) -> int | None:
        """Elements that one step along `dim` moves the access by; `None` where that is not a constant."""
        return None if self.position is None else self.position.step(dim)


@dataclass(frozen=True)
class Flat:
    """An access's position in its buffer's flat memory as the body has it, `None` where that depends on data."""

    buffer: SSAValue
    is_write: bool
    position: AffineExpr | None


def flat_accesses(block: BlockOp) -> list[Flat]:
    """All accesses in the block's body, but not its init."""
    found: list[Flat] = []
    for access in block.accesses():
        if access.op.parent_region() is block.init:
            continue
        total: AffineExpr | None = None
        if access.map is not None:
            total = AffineConstantExpr(0)
            step: AffineExpr = AffineConstantExpr(1)
            for size, index in zip(reversed(shape_of(access.buffer)), reversed(access.map.results), strict=True):
                total = total + product(index, step)
                step = product(step, as_affine(size))
        found.append(Flat(access.buffer, access.is_write, total))
    return found


def iterator_ranges(block: BlockOp) -> dict[AffineExpr, Range]:
    """The values that each iterator takes."""
    return {
        AffineExpr.dimension(i): (0, n - 1 if isinstance(n, int) else MAX_EXTENT) for i, n in enumerate(block.sizes)
    }


def strides(block: BlockOp) -> list[Stride]:
    """The flat positions of all accesses in the block's body."""
    ranges = iterator_ranges(block)
    return [
        Stride(flat.buffer, flat.is_write, None if flat.position is None else linear(flat.position, ranges))
        for flat in flat_accesses(block)
    ]


def follow_each_other(block: BlockOp, first: int, accesses: Sequence[Stride] | None = None) -> bool:
    """Whether every access walks straight from the last value of iterator `first + 1` to the next of `first`."""
    outer, inner = AffineExpr.dimension(first), AffineExpr.dimension(first + 1)
    for access in accesses if accesses is not None else strides(block):
        slow, fast = access.along(outer), access.along(inner)
        if slow is None or fast is None or slow != fast * block.likely_extents[first + 1]:
            return False
    return True
