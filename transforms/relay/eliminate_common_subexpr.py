"""Compute equal things once.

    %0 = relay.exp %x : tensor<4xf32>          %0 = relay.exp %x : tensor<4xf32>
    %1 = relay.exp %x : tensor<4xf32>      ->  %2 = relay.add %0, %0 : ...
    %2 = relay.add %0, %1 : ...

Two operations are equal when operator, operands, attributes and result types are: one hash look-up for each operation.
Constants are compared as well, by the digest in their key; TVM leaves them out for their cost. Stateful operators,
calls, operators with regions, and operators without operands (a generator of random numbers) are left alone; so is what
`skip` names. A note of a device speaks of one use, and a constant that stands twice may be wanted on two devices: in
functions that speak of devices, both stay as they are. Operands are not reordered: `a + b` and `b + a` stay two.

Counterpart of TVM's `EliminateCommonSubexpr`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

from xdsl.context import Context
from xdsl.ir import Operation

from ...dialects.relay.attributes import glance
from ...dialects.relay.control import ApplyOp
from ...dialects.relay.core import CallLoweredOp, CallOp, ConstantOp, FuncOp
from ...dialects.relay.ops.annotation import OnDeviceOp
from ...dialects.support.arguments import checked
from ..infra import FunctionPass, report_changed
from ..infra.walk import walk
from .device_planning.devices import speaks_of_devices
from .purity import is_pure


@dataclass(frozen=True)
class EliminateCommonSubexprPass(FunctionPass):
    """Options: `skip` names operators that are never merged. In Python, a function may say it of each (`of`)."""

    name = "eliminate-common-subexpr"
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "EliminateCommonSubexpr"

    skip: tuple[str, ...] = ()
    skips: Callable[[Operation], bool] | None = field(default=None, init=False)

    @classmethod
    @checked
    def of(cls, skips: Callable[[Operation], bool]) -> Self:
        """The pass that leaves operations alone of which a function says so."""
        made = cls()
        object.__setattr__(made, "skips", skips)
        return made

    def with_options(self, options: Mapping[str, object]) -> Self:
        changed = super().with_options(options)
        object.__setattr__(changed, "skips", self.skips)
        return changed

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        skip = frozenset(self.skip)
        devices = speaks_of_devices(func)
        changed = False
        for block in [block for op in walk(func) for region in op.regions for block in region.blocks]:
            seen: dict[Hashable, Operation] = {}
            for op in list(block.ops):
                if op.name in skip or not _may_merge(op) or (devices and isinstance(op, ConstantOp | OnDeviceOp)):
                    continue
                if self.skips is not None and self.skips(op):
                    continue
                first = seen.setdefault(_key(op), op)
                if first is not op:
                    for old, new in zip(op.results, first.results, strict=True):
                        old.replace_all_uses_with(new)
                    op.detach()
                    op.erase()
                    changed = True
        report_changed(changed)


def _may_merge(op: Operation) -> bool:
    if isinstance(op, ConstantOp):
        return True
    if isinstance(op, CallOp | CallLoweredOp | ApplyOp) or op.regions or not op.results or not op.operands:
        return False
    return is_pure(op)


def _key(op: Operation) -> Hashable:
    return (
        type(op),
        glance(op.value) if isinstance(op, ConstantOp) else tuple(op.operands),
        frozenset(op.properties.items()),
        frozenset(op.attributes.items()),
        tuple(op.result_types),
    )
