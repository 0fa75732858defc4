"""Give every further consumer of a widening cast a cast of its own.

    %c = relay.cast %x : (tensor<4xi8>) -> tensor<4xi32>      %c = relay.cast %x : (tensor<4xi8>) -> tensor<4xi32>
    %a = relay.nn.relu %c : tensor<4xi32>                 ->  %a = relay.nn.relu %c : tensor<4xi32>
    %b = relay.abs %c : tensor<4xi32>                         %d = relay.cast %x : (tensor<4xi8>) -> tensor<4xi32>
                                                              %b = relay.abs %d : tensor<4xi32>

With one wide value shared by two fusion groups, the wide value goes through memory. With a cast in each group, the
narrow one does, and widening it again costs nothing there.

Only consumers that a cast can be fused into get one: elementwise and broadcasting operators. The first consumer keeps
the cast there is. Narrowing casts are left: what they give is the smaller value to share.

Counterpart of TVM's `CanonicalizeCast`, which gives an operator two casts if it uses a cast for two of its operands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Operation, SSAValue

from ...dialects.relay.base import Fusion, fusion_pattern, tensor
from ...dialects.relay.core import FuncOp
from ...dialects.relay.ops.elementwise import CastLikeOp, CastOp
from ..infra import FunctionPass, remarks, report_changed
from ..infra.visitors import OpVisitor, visits


@dataclass(frozen=True)
class CanonicalizeCastPass(FunctionPass):
    """No options."""

    name = "canonicalize-cast"
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "CanonicalizeCast"

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        visitor = _SplitSharedCasts()
        visitor.visit(func)
        report_changed(visitor.changed)


class _SplitSharedCasts(OpVisitor):
    """Visits consumers in the order of the function, so that the first one keeps the cast."""

    def __init__(self) -> None:
        self.changed = False
        self._taken: set[SSAValue] = set()

    @visits(Operation)
    def consumer(self, op: Operation) -> None:
        kind = fusion_pattern(type(op))
        for value in dict.fromkeys(op.operands):
            cast = value.owner
            if not isinstance(cast, CastOp | CastLikeOp) or not _widens(cast):
                continue
            if kind is None or kind > Fusion.BROADCAST:
                if value.has_more_than_one_use():
                    remarks.missed("canonicalize-cast", op, "shares a widening cast, and cannot be fused with one")
            elif value not in self._taken:
                self._taken.add(value)
            else:
                self._give_own_cast(op, cast)

    def _give_own_cast(self, op: Operation, cast: CastOp | CastLikeOp) -> None:
        assert op.parent is not None
        own = cast.clone()
        op.parent.insert_op_before(own, op)
        cast.result.replace_uses_with_if(own.result, lambda use: use.operation is op)
        remarks.passed("canonicalize-cast", op, "has a widening cast of its own now")
        self.changed = True


def _widens(cast: CastOp | CastLikeOp) -> bool:
    before, after = tensor(cast.data).element_type, tensor(cast.result).element_type
    return (
        isinstance(before, FixedBitwidthType)
        and isinstance(after, FixedBitwidthType)
        and before.bitwidth < after.bitwidth
    )
