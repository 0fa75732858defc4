"""Compute equal expressions in a block's body once.

Before -> after:

```mlir
%0 = memref.load %x[%v] : memref<8xf32>
%1 = math.exp %0 : f32
%2 = memref.load %x[%v] : memref<8xf32>
%3 = math.exp %2 : f32
%4 = arith.mulf %1, %3 : f32

%0 = memref.load %x[%v] : memref<8xf32>
%1 = math.exp %0 : f32
%4 = arith.mulf %1, %1 : f32
```

What is read twice is read once where nothing is written in between. With `identify_equiv_terms`, integers are equal
whose expressions have one normal form, such as `x * (y + z)` and `x * y + x * z`. Does not: look beyond a block, nor at
floats that would be equal if they were exact. It is xDSL's elimination of common subexpressions, body by body.
Counterpart of TVM's CommonSubexprElimTIR.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.transforms.common_subexpression_elimination import cse

from ...dialects.tir.analyzer import IntExpr
from ...dialects.tir.core import PrimFuncOp, blocks_under
from ...dialects.tir.integers import ValueRanges
from ..infra import PrimFuncPass, report_changed
from .remove_no_op import clean_body

_Known: TypeAlias = MutableMapping[tuple[IntExpr, Attribute], SSAValue]


@dataclass(frozen=True)
class CommonSubexprElimTIRPass(PrimFuncPass):
    """Compute equal expressions in a block's body once."""

    name = "common-subexpr-elim-tir"
    tvm_name = "CommonSubexprElimTIR"

    enable_cse_tir: bool = True
    """Whether to do it at all."""
    identify_equiv_terms: bool = False
    """Whether integers are equal whose expressions have one normal form, too."""

    config_keys: ClassVar[dict[str, str]] = {"tir.enable_equiv_terms_in_cse_tir": "identify_equiv_terms"}

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        changed = False
        for block in blocks_under(func) if self.enable_cse_tir else ():
            before = sum(1 for _ in block.walk())
            for region in block.regions:
                cse(region.block)
                if self.identify_equiv_terms:
                    _identify(region.block, ValueRanges({}), {})
                    cse(region.block)
                    clean_body(region)
            if sum(1 for _ in block.walk()) != before:
                block.update_accesses()
                changed = True
        report_changed(changed)


def _identify(block: Block, values: ValueRanges, known: _Known) -> None:
    """Let each integer that is one that is `known`, or an earlier one of the block, be that. The expressions are those
    of computing modulo `2 ** width`, so that two of one type with one expression are equal."""
    for op in block.ops:
        if isinstance(op, _COMPUTED):
            first = known.setdefault((values.form(op.result), op.result.type), op.result)
            if first is not op.result:
                op.result.replace_all_uses_with(first)
        for region in op.regions:
            for inner in region.blocks:
                _identify(inner, values, ChainMap({}, known))


_COMPUTED = (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.FloorDivSIOp, arith.RemUIOp, arith.DivUIOp)
"""What may have a normal form that others have."""
