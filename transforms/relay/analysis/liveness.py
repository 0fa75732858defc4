"""Which values are still needed when: liveness.

    live = Liveness(func.body.block)
    live.after(op)         # the values that operations behind `op` read
    live.peak_bytes()      # the most that is alive at one time

A value is alive from the operation that makes it, an argument from the beginning, to the last one of its block that
reads it, itself or in a branch. What a `relay.func` returns is alive to the end.
"""

from __future__ import annotations

from math import prod

from xdsl.ir import Block, Operation, SSAValue

from ....dialects.relay.base import DYNAMIC, tensors_in
from ....dialects.relay.core import ConstantOp
from ....dialects.relay.interpreter import free_values
from ....dialects.support.dtypes import byte_width


class Liveness:
    """The lives of the values that a block defines."""

    def __init__(self, block: Block):
        self.block = block
        self._ops = list(block.ops)
        self._place = {op: place for place, op in enumerate(self._ops)}
        own = {*block.args, *(result for op in self._ops for result in op.results)}
        self.last: dict[SSAValue, int] = {}
        """Where each value is read last; a value that is not read is not there."""
        for place, op in enumerate(self._ops):
            for value in (*op.operands, *(free_values(op) if op.regions else ())):
                if value in own:
                    self.last[value] = place

    def first(self, value: SSAValue) -> int:
        """Where a value of the block is made: -1 for an argument."""
        return self._place[value.owner] if isinstance(value.owner, Operation) else -1

    def after(self, op: Operation) -> set[SSAValue]:
        """The values that are made up to `op`, and read behind it."""
        place = self._place[op]
        return {value for value, last in self.last.items() if self.first(value) <= place < last}

    def before(self, op: Operation) -> set[SSAValue]:
        """The values that are made before `op`, and read by it or behind it."""
        place = self._place[op]
        return {value for value, last in self.last.items() if self.first(value) < place <= last}

    def last_user(self, value: SSAValue) -> Operation | None:
        """The operation behind which a value is not needed any more; `None` if nothing reads it."""
        return self._ops[self.last[value]] if value in self.last else None

    def peak_bytes(self) -> int:
        """The most bytes of tensors alive while an operation runs: what it reads and gives, and what others need
        later. Constants and extents that are not known do not count."""
        change = [0] * (len(self._ops) + 2)
        for value in (*self.block.args, *(result for op in self._ops for result in op.results)):
            size = 0 if isinstance(value.owner, ConstantOp) else _bytes(value)
            change[self.first(value) + 1] += size
            change[self.last.get(value, self.first(value)) + 2] -= size
        peak = alive = 0
        for delta in change:
            alive += delta
            peak = max(peak, alive)
        return peak


def _bytes(value: SSAValue) -> int:
    static = [type for type in tensors_in(value.type) if DYNAMIC not in type.get_shape()]
    return sum(prod(type.get_shape()) * byte_width(type.element_type) for type in static)
