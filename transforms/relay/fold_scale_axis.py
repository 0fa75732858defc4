"""Let batch norm disappear into the weights of a convolution: passes in a row.

`backward-fold-scale-axis` moves multiplications up into the weights before them, `forward-fold-scale-axis` moves what
is left down into the weights behind. After each, `fold-constant` multiplies. All run where the context's level allows.

Counterpart of TVM's `FoldScaleAxis`, a sequence too, which folds constants at the end alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..infra import ModulePass, run
from .backward_fold_scale_axis import BackwardFoldScaleAxisPass
from .fold_constant import FoldConstantPass
from .forward_fold_scale_axis import ForwardFoldScaleAxisPass


@dataclass(frozen=True)
class FoldScaleAxisPass(ModulePass):
    """Options: with `always`, TVM's rule, that of its parts."""

    name = "fold-scale-axis"
    opt_level: ClassVar[int] = 0
    tvm_name: ClassVar[str | None] = "FoldScaleAxis"

    always: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        upwards, downwards = BackwardFoldScaleAxisPass(self.always), ForwardFoldScaleAxisPass(self.always)
        for part in (upwards, FoldConstantPass(), downwards, FoldConstantPass()):
            run(part, op, ctx)
