"""Let no multiplication become one operation with an addition where the rounding of the sum is seen.

A float that is rounded to a whole number, or becomes an integer, says a place or a size: of 1 / 50 * 40 * 50, with each
step rounded, 39. A fused multiplication and addition rounds once, and may say another.

Before -> after:

```mlir
%1 = arith.mulf %0, %scale fastmath<contract> : f32
%2 = arith.subf %1, %half fastmath<contract> : f32
%3 = math.floor %2 : f32

%1 = arith.mulf %0, %scale : f32
%2 = arith.subf %1, %half : f32
%3 = math.floor %2 : f32
```

Goes back from what rounds through arithmetic, and through buffers of the function; not into sums, whose terms may be
added in any order. In a kernel that gives a few numbers and sums up nothing, whose results may be rounded by another,
all operations are kept so. Compilers of C contract as they like.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, math, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, MemRefType
from xdsl.ir import Operation, SSAValue

from ...dialects.support.hints import isa
from ...dialects.tir.core import BlockOp, PrimFuncOp
from ...dialects.tir.float_flags import CONTRACT, NONE
from ..infra import PrimFuncPass, report_changed

FEW = 16
"""As many numbers may say sizes."""

_ROUNDING = (
    arith.FPToSIOp, arith.FPToUIOp, math.FloorOp, math.CeilOp, math.RoundOp, math.RoundEvenOp, math.TruncOp,
)  # fmt: skip
_CONTRACTED = (arith.AddfOp, arith.SubfOp, arith.MulfOp)
_THROUGH = (
    *_CONTRACTED, arith.DivfOp, arith.NegfOp, arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp,
    arith.SelectOp, arith.ExtFOp, arith.TruncFOp, math.SqrtOp, math.AbsFOp, math.FloorOp, math.CeilOp,
    math.RoundEvenOp, math.TruncOp,
)  # fmt: skip
"""What is looked through: its result depends on how its operands were rounded."""


@dataclass(frozen=True)
class KeepRoundingsPass(PrimFuncPass):
    """Keep each rounding of what is rounded to whole numbers."""

    name = "keep-roundings"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        stored: dict[SSAValue, list[SSAValue]] = {}
        for op in func.walk():
            if isinstance(op, memref.StoreOp):
                stored.setdefault(op.memref, []).append(op.value)
        pending = [value for op in func.walk() if isinstance(op, _ROUNDING) for value in op.operands]
        if _gives_few_numbers(func, stored):
            pending += [value for values in stored.values() for value in values]
        seen: set[SSAValue] = set()
        changed = False
        while pending:
            value = pending.pop()
            if value in seen or not isinstance(value.type, AnyFloat) or not isinstance(value.owner, Operation):
                continue
            seen.add(value)
            match value.owner:
                case memref.LoadOp() as load:
                    pending += stored.get(load.memref, [])
                case op if isinstance(op, _CONTRACTED) and op.fastmath not in (CONTRACT, NONE):
                    pass  # a sum
                case op if isinstance(op, _THROUGH):
                    pending += op.operands
                    if isinstance(op, _CONTRACTED) and op.fastmath == CONTRACT:
                        op.fastmath = NONE
                        changed = True
                case _:
                    pass
        report_changed(changed)


def _gives_few_numbers(func: PrimFuncOp, stored: dict[SSAValue, list[SSAValue]]) -> bool:
    """Whether all that a function writes is small, and no block of it sums up."""
    written = [each.type for each in func.region.block.args if each in stored]
    return all(map(_is_small, written)) and not any(block.init is not None for block in _blocks(func))


def _is_small(type: object) -> bool:
    return isa(type, MemRefType) and DYNAMIC_INDEX not in type.get_shape() and prod(type.get_shape()) <= FEW


def _blocks(func: PrimFuncOp) -> Iterator[BlockOp]:
    return (op for op in func.walk() if isinstance(op, BlockOp))
