"""Put operators of which data decides no extent, but how much of one there is, in the place of those where it does.

    %y = relay.argwhere %x : (tensor<9xf32>)      %t = relay.compact %x       // as many places as there may be
        -> tensor<?x1xi32>                   ->   %c = relay.tuple_get %t[1]  // and how many there are
                                                  %n = relay.data_extent %c, %nine
                                                  %p = relay.dyn.strided_slice %places, %zero, %n, %one ...

What every kernel writes is bounded before the graph is called; `relay.data_extent` says how much of it there is
(`dialects/relay/bounded.py`). So are slices whose steps are data, or whose bounds may be negative numbers, and
`dyn.topk` of a `k` that data decides (`dialects/relay/told_amounts.py`). Other operators that are told by data stay, as
`dyn.reshape` to a shape that data decides, in which a -1 is written as what the other numbers leave
(`dialects/relay/remaining.py`).
TVM allocates memory in its virtual machine, when a shape function has run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context

from ...dialects.relay.base import RelayOp
from ...dialects.relay.bounded import bounded
from ...dialects.relay.core import FuncOp
from ..infra import FunctionPass, report_changed
from .emitter import Emitter


@dataclass(frozen=True)
class BoundExtentsPass(FunctionPass):
    """No options."""

    name = "bound-extents"
    opt_level: ClassVar[int] = 0
    required: ClassVar[tuple[str, ...]] = ("infer-type",)

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        changed = False
        for op in [each for each in func.walk() if isinstance(each, RelayOp)]:
            emit = Emitter()
            values = bounded(op, emit)
            if values is None or (block := op.parent) is None:
                continue
            changed = True
            for made in emit.ops:
                made.location = op.location
                block.insert_op_before(made, op)
            for old, new in zip(op.results, values, strict=True):
                new.name_hint = old.name_hint
                old.replace_all_uses_with(new)
            op.detach()
            op.erase()
        report_changed(changed)
