"""Write operators that are a combination of others as such.

    %y = relay.nn.bias_add %x, %b  ->  %0 = relay.expand_dims %b {axis = 1, num_newaxis = 2}
                                       %y = relay.add %x, %0

So fewer operators need a rule in the passes that follow. Counterpart of TVM's `CanonicalizeOps`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relay.base import normalize_axis, shape_of
from ...dialects.relay.core import FuncOp
from ...dialects.relay.ops.broadcast import AddOp
from ...dialects.relay.ops.nn.dense import BiasAddOp
from ..infra import FunctionPass, RewriteDriver, report_changed
from .emitter import Emitter
from .simplify_inference import along_axis


@dataclass(frozen=True)
class CanonicalizeOpsPass(FunctionPass):
    """No options."""

    name = "canonicalize-ops"
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "CanonicalizeOps"

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        report_changed(RewriteDriver([BiasAddToAdd()]).rewrite(func))


class BiasAddToAdd(RewritePattern):
    """`bias_add(x, b)` -> `x + expand_dims(b)`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BiasAddOp, rewriter: PatternRewriter, /) -> None:
        emit = Emitter()
        rank = len(shape_of(op.data))
        emit(AddOp(op.data, along_axis(emit, op.bias, normalize_axis(op.axis.value.data, rank), rank)))
        rewriter.replace(op, emit.ops)
