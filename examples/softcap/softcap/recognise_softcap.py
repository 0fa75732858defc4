"""Write `softcap.softcap` where a model spells it out.

%0 = relay.divide %x, dense<2.0>
%1 = relay.tanh %0                      ->    %2 = softcap.softcap %x {cap = 2.0}
%2 = relay.multiply %1, dense<2.0>
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from weft.dialects.relay.core import ConstantOp, FuncOp
from weft.transforms.infra import FunctionPass, report_changed
from weft.transforms.relay.dataflow.match import Match
from weft.transforms.relay.dataflow.pattern import is_constant, is_op, wildcard
from weft.transforms.relay.dataflow.rewrite import DFPatternCallback, rewrite

from .ops import SoftcapOp


class RecogniseSoftcap(DFPatternCallback):
    """`tanh(x / c) * c` -> `softcap(x, c)` for one positive constant `c`; `c * tanh(x / c)` as well"""

    def __init__(self) -> None:
        super().__init__()
        self.x, self.cap, self.same = wildcard(), is_constant(), is_constant()
        self.pattern = is_op("multiply")(is_op("tanh")(is_op("divide")(self.x, self.cap)), self.same)

    def callback(self, value: SSAValue, match: Match, rewriter: PatternRewriter) -> SSAValue | None:
        x, cap, same = match[self.x], scalar(match[self.cap]), scalar(match[self.same])
        if cap is None or cap != same or cap <= 0 or x.type != value.type:
            return None
        return rewriter.insert(SoftcapOp(x, cap=cap)).results[0]


def scalar(value: SSAValue) -> float | None:
    """The one number that a constant holds."""
    array = value.owner.numpy() if isinstance(value.owner, ConstantOp) else None
    return float(array.item()) if array is not None and array.size == 1 else None


@dataclass(frozen=True)
class RecogniseSoftcapPass(FunctionPass):
    """Write `softcap.softcap` where a model spells it out."""

    name = "recognise-softcap"
    joins_phase: ClassVar[str | None] = "graph"

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        report_changed(rewrite(RecogniseSoftcap(), func))
