"""Values that are computed again wherever they are read: what `fuse-ops{strategy=weft}` does with cheap producers.

A value that several kernels read is written by one kernel, and read by each of the others. Where it is made by a little
arithmetic on what is in memory anyway, each reader can make it for itself instead:

    %0 = relay.primitive(%x) { cast }                 %1 = relay.primitive(%x) { cast; sum along rows }
    %1 = relay.primitive(%0) { sum along rows }  ->   %2 = relay.primitive(%x) { cast; sum along columns }
    %2 = relay.primitive(%0) { sum along columns }

What is computed again is all that stands before the value in its own kernel, which a *cheap* value has nothing but
elementwise arithmetic in, and slices and fills: no functions such as `exp`, no divisions, no reductions, nothing that
reads its elements in another order. A reader takes that in where it would have taken in the same operators from the
start: in front of elementwise operators and reductions, and behind a product, not before one.

What decides is the machine's cost in cycles: bytes, by the cache that holds a tensor of that size, and vectors of
arithmetic. A reader saves the bytes of the value, and pays for those that the value is made from, as far as it does not
read them anyway. Where all readers take part the value need not be written, and a kernel that makes nothing else is
gone. What is won has to be more than `MARGIN` of what is paid: a sum of two tensors is read as cheaply as it is made.

Values are tried users first, so that chains of them become one. It runs last: groups are merged by rows, and siblings,
before (`rows.py`, `several.py`), which compute nothing twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from ....dialects.relay.base import Fusion, Pointwise, RelayOp, ReshapeLike, shape_of, tensor
from ....dialects.relay.core import ConstantOp
from ....dialects.relay.ops.creation import FullOp, OnesOp, ZerosOp
from ....dialects.relay.ops.slicing import StridedSliceOp
from ....dialects.relay.ops.tiling import BroadcastToOp
from ....dialects.support.dtypes import byte_width
from ....dialects.support.vector_unit import VectorUnit
from ....dialects.te.cost import is_costly, operations
from .costs import CALL, MARGIN, byte_count, elements, formulas
from .dataflow import Dataflow, is_operator
from .groups import Groups
from .partition import Partition, Refusal

MAX_TENSORS = 12
"""Of what a kernel reads and writes, where a value is computed again: their addresses stay in registers, and each is a
stream that comes before it is asked for."""

_FILLS = (BroadcastToOp, FullOp, OnesOp, ZerosOp)


def compute_again(flow: Dataflow, partition: Partition, max_depth: int, unit: VectorUnit) -> None:
    """Enter into `partition` what groups compute again, and what need not be computed any more; and why not."""
    _Recomputing(flow, partition, max_depth, unit).run()


@dataclass(frozen=True)
class _Reader:
    """A group that could compute a value again, and what that costs it: less than nothing, if it saves something."""

    root: int
    paid: float


class _Recomputing(Groups):
    def __init__(self, flow: Dataflow, partition: Partition, max_depth: int, unit: VectorUnit):
        super().__init__(flow, partition, max_depth, unit)
        self.again = partition.again
        self.results = {root: set(partition.results.get(root, (root,))) for root in self.members}

    def run(self) -> None:
        for node in reversed(range(len(self.flow.ops))):
            if node in self.results[self.partition.root[node]]:
                self.try_value(node)

    def try_value(self, node: int) -> None:
        """Have the readers of a value compute it. One that nothing else reads fusion has left where it is."""
        op, root = self.flow.ops[node], self.partition.root[node]
        readers = self.readers(node)
        is_kept = self.flow.graph.external[node]
        alone = len(readers) == len(self.results[root]) == 1 and not is_kept
        if not readers or alone or not is_operator(op) or not self.is_memory(root):
            return
        cone = self.cone(node)
        if (refusal := self.producer_refusal(cone)) is not None:
            self.refuse(node, *refusal)
            return
        found: list[_Reader] = []
        for reader in sorted(readers):
            refusal = self.reader_refusal(node, cone, reader)
            if refusal is None:
                found.append(_Reader(reader, self.paid_by(node, cone, reader)))
            else:
                self.refuse(node, refusal, reader)
        read = self.moving(byte_count(op.results[0]), byte_count(op.results[0]))
        if len(found) == len(readers) and not is_kept:
            paid = sum(each.paid for each in found)
            saved = read * (1 + len(found)) + self.saved_by_dropping(node, cone)
            if saved > paid * (1 + MARGIN):
                self.take(node, cone, found)
                return
        cheaper = [each for each in found if read > each.paid * (1 + MARGIN)]
        for each in found:
            if each not in cheaper:
                self.refuse(node, Refusal.NOTHING_WON, each.root)
        self.take(node, cone, cheaper)

    def refuse(self, node: int, refusal: Refusal, at: int) -> None:
        self.partition.written.setdefault(node, (refusal, at))

    def take(self, node: int, cone: Sequence[int], readers: Sequence[_Reader]) -> None:
        """Enter that readers compute a value, and drop what nothing needs any more."""
        for reader in readers:
            there = self.again.setdefault(reader.root, [])
            there[:] = sorted({*there, *cone})
        if readers:
            self.partition.remade[node] = len(readers)
            self.drop(self.partition.root[node])

    def drop(self, root: int) -> None:
        """Take out of a group what gives none of its results that something reads."""
        needed = {node for node in self.results[root] if self.flow.graph.external[node] or self.readers(node)}
        if needed == self.results[root]:
            return
        kept = {each for node in needed for each in self.cone(node)}
        self.partition.dropped.update(set(self.members[root]) - kept)
        self.members[root] = sorted(kept)
        self.results[root] = needed
        if needed:
            self.partition.results[root] = sorted(needed)
        else:
            self.again.pop(root, None)

    def readers(self, node: int) -> set[int]:
        """The groups that read a value which they do not compute."""
        found: set[int] = set()
        users = set(self.flow.graph.users[node])
        for root in {self.partition.root[user] for user in users - self.partition.dropped}:
            if node not in self.members[root] and node not in self.again.get(root, ()):
                found.add(root)
        for root, there in self.again.items():
            if node not in self.members[root] and node not in there and not users.isdisjoint(there):
                found.add(root)
        return found

    def cone(self, node: int) -> list[int]:
        """The nodes of a value's group, and of what that computes again, from which the value is made, and itself."""
        inside = self.nodes_of(self.partition.root[node])
        found, pending = {node}, [node]
        while pending:
            for value in self.flow.ops[pending.pop()].operands:
                made = self.node_of(value)
                if made in inside and made not in found:
                    found.add(made)
                    pending.append(made)
        return sorted(found)

    def nodes_of(self, root: int) -> set[int]:
        return {*self.members[root], *self.again.get(root, ())}

    def node_of(self, value: SSAValue) -> int:
        """The node that gives a value; -1 where there is none."""
        return self.flow.node.get(value.owner, -1) if isinstance(value.owner, Operation) else -1

    def is_memory(self, root: int) -> bool:
        """Whether a group is a kernel that writes memory of its own: reshapes and slices that are views do not."""
        return self.is_kernel(root) and not self.is_view_alone(root) and root not in self.partition.before

    def producer_refusal(self, cone: Sequence[int]) -> tuple[Refusal, int] | None:
        """Why a value is not cheap, and the node at fault."""
        for node in cone:
            op = self.flow.ops[node]
            if isinstance(op, ConstantOp):
                continue
            if not isinstance(op.results[0].type, TensorType) or not isinstance(op, RelayOp):
                return Refusal.EXPENSIVE, node
            if self.flow.graph.patterns[node] > Fusion.INJECTIVE:
                return Refusal.EXPENSIVE, node
            if op.has_trait(Pointwise):
                if any(is_costly(body) for body in formulas(op)):
                    return Refusal.EXPENSIVE, node
            elif not (op.has_trait(ReshapeLike) or isinstance(op, _FILLS) or _keeps_rows_whole(op)):
                return Refusal.REORDERED, node
        return None

    def reader_refusal(self, node: int, cone: Sequence[int], root: int) -> Refusal | None:
        """Why a group cannot compute a value for itself."""
        if not self.is_memory(root):
            return Refusal.READER
        inside = self.nodes_of(root)
        if len(inside | set(cone)) > self.max_depth:
            return Refusal.TOO_LARGE
        if len(self.inputs({*inside, *cone})) + len(self.results[root]) > MAX_TENSORS:
            return Refusal.MANY_TENSORS
        users = [user for user in self.flow.graph.users[node] if user in inside]
        if any(self.flow.graph.patterns[user] > Fusion.COMM_REDUCE for user in users):
            return Refusal.READER
        return Refusal.BEFORE_PRODUCT if self.feeds_product(users, inside) else None

    def feeds_product(self, nodes: Iterable[int], inside: Collection[int]) -> bool:
        """Whether products, or other operators that take in nothing that stands before them, use one of `nodes`."""
        seen, pending = set(nodes), list(nodes)
        while pending:
            for user in self.flow.graph.users[pending.pop()]:
                if user in inside and user not in seen:
                    if self.flow.graph.patterns[user] > Fusion.COMM_REDUCE:
                        return True
                    seen.add(user)
                    pending.append(user)
        return False

    def inputs(self, nodes: Collection[int]) -> dict[SSAValue, int]:
        """The tensors that nodes read and none of them makes, with the bytes that they read of each."""
        found: dict[SSAValue, int] = {}
        for node in nodes:
            op = self.flow.ops[node]
            for value in op.operands:
                if self.node_of(value) not in nodes and isinstance(value.type, TensorType):
                    part = op.results[0] if isinstance(op, StridedSliceOp) else value
                    found[value] = max(found.get(value, 0), byte_count(part))
        return found

    def paid_by(self, node: int, cone: Sequence[int], root: int) -> float:
        """Cycles that it takes a group to compute a value: to read what it does not read yet, and arithmetic on all
        elements for each operator that reads them."""
        inside = self.nodes_of(root)
        have = self.inputs(inside)
        cycles = sum(
            self.moving(count - have.get(value, 0), byte_count(value))
            for value, count in self.inputs(set(cone)).items()
            if count > have.get(value, 0)
        )
        new = [each for each in cone if each not in inside]
        result = self.flow.ops[node].results[0]
        for user in self.flow.graph.users[node]:
            if user in inside:
                times = max(elements(shape_of(result)), elements(shape_of(self.flow.ops[user].results[0])))
                cycles += sum(self.computing(each, times) for each in new)
        return cycles

    def saved_by_dropping(self, node: int, cone: Sequence[int]) -> float:
        """Cycles that are not spent where a value is not written: all of its kernel's, if that gives no others."""
        root = self.partition.root[node]
        if len(self.results[root]) > 1:
            return 0.0
        cycles = sum(self.moving(count, byte_count(value)) for value, count in self.inputs(set(cone)).items())
        return (
            CALL
            + cycles
            + sum(self.computing(each, elements(shape_of(self.flow.ops[each].results[0]))) for each in cone)
        )

    def computing(self, node: int, times: int) -> float:
        """Cycles of an operator on so many elements."""
        op = self.flow.ops[node]
        if not isinstance(op, RelayOp) or not op.has_trait(Pointwise):
            return 0.0
        lanes = max(1, self.unit.bytes // byte_width(tensor(op.results[0]).element_type))
        count = sum(max(1, operations(body)) for body in formulas(op))
        return count * -(-times // lanes) / self.unit.machine.fmas

    def moving(self, count: float, held: int) -> float:
        """Cycles in which so many bytes come, of a tensor that has `held`."""
        return count / self.unit.machine.rate(held)


def _keeps_rows_whole(op: Operation) -> bool:
    """Whether an operator is a slice of elements that are neighbours along the last axis."""
    if not isinstance(op, StridedSliceOp):
        return False
    last = len(shape_of(op.data)) - 1
    return op.bounds(last + 1).get(last, (0, 0, 1))[2] == 1
