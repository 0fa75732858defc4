"""Kernels with several results: what `fuse-ops{strategy=weft}` makes of groups that need the same rows.

TVM's kernels have one result, so that a value with several users is written, and each of them reads it again. Here the
groups of two kinds of pairs become one, with the results of both:

* a group, and one that reads its value, which others read, too: the sum that a layer norm and the next residual
  sum read is written while its row is normalised; the cell of an LSTM gives its state and its output;
* siblings, two groups that read the same value: the mean of rows and the sum of their squares, two functions of one
  tensor.

As for chains (`rows.py`) each operator says by `shared_rows` what of a value it needs, and one loop over the rows
computes all of it. Nothing is computed twice. What it saves is reading the shared value once more, and a kernel: where
no bytes are saved, or too few for numbers of rows (`MIN_READ_AGAIN`), groups stay apart. So they do where rows are too
few, or what is kept of one is too long (results that the kernel reads again count), where functions such as `exp`
would lose more by it than is saved (`Groups.paid`), and where the merged kernel would
have no place: a value that it reads comes after a user of its results in the block. Operations are not moved about
for it, so that no effect is, and no circle of kernels can come of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from ....dialects.relay.base import DYNAMIC, Fusion, RelayOp, shape_of, tensor
from ....dialects.relay.core import ConstantOp
from ....dialects.relay.ops.slicing import StridedSliceOp
from ....dialects.support.dtypes import byte_width
from ....dialects.support.vector_unit import VectorUnit
from .costs import CALL, moved
from .dataflow import Dataflow
from .groups import Groups
from .partition import Partition, Refusal
from .rows import row_depths, row_refusal

MIN_READ_AGAIN, NEAR = 2048, 1 << 20
"""Bytes of a row, and of all rows, from which on it pays not to read them again for a second number of each. Groups
that give a number for each row take several rows at a time, which kernels with several results do not, and what is
small comes from the second cache (3136 rows of 96 f32 were 1.4 times slower together, 197 of 768 1.1 times; 512 of 1024
took 0.6 of the time)."""

MAX_SIBLINGS = 8
"""Of the readers of a value, how many after a group are looked at."""


def merge_several(block: Block, flow: Dataflow, partition: Partition, max_depth: int, unit: VectorUnit) -> None:
    """Merge groups of `partition` in place, wherever it pays; notes in it why not."""
    _Merging(block, flow, partition, max_depth, unit).run()


@dataclass(frozen=True)
class _Kernel:
    """A group: its nodes in order, those whose values others need, and where it would stand among the operations."""

    members: list[int]
    results: list[int]
    place: float


class _Merging(Groups):
    def __init__(self, block: Block, flow: Dataflow, partition: Partition, max_depth: int, unit: VectorUnit):
        super().__init__(flow, partition, max_depth, unit)
        self.block = block
        self.light = [root for root in sorted(self.members) if self.is_light(root)]

    def run(self) -> None:
        """Groups in order, each with what comes after it, as long as it grows."""
        if len(self.light) < 2:
            return
        self.order = {op: number for number, op in enumerate(self.block.ops)}
        self.kernels = {root: self._alone(root) for root in self.light}
        self.light_roots = set(self.light)
        for root in self.light:
            current = root
            while current in self.kernels and (merged := self._grown(current)) is not None:
                current = merged

    def _alone(self, root: int) -> _Kernel:
        return _Kernel(self.members[root], [root], self.order[self.flow.ops[root]])

    def is_light(self, root: int) -> bool:
        """Whether a group computes something, row by row as far as it reduces anything, and no products."""
        return self.is_kernel(root) and not self.is_view_alone(root) and all(map(self._keeps_order, self.ops_of(root)))

    def _keeps_order(self, op: Operation) -> bool:
        """Whether an operator goes through what it reads in the order of its result: what transposes data does it in
        tiles of its own."""
        if self.flow.graph.patterns[self.flow.node[op]] == Fusion.INJECTIVE:
            return self.is_view(op) or isinstance(op, StridedSliceOp)
        return self.is_row_by_row(op)

    def _grown(self, root: int) -> int | None:
        """Merge a group with the first that it can be merged with; gives the root of both."""
        for other in self._neighbours(root):
            first, second = sorted((root, other))
            refusal = self._refusal(first, second)
            if refusal is None:
                return self._merge(first, second)
            self.partition.apart.setdefault(first, (refusal, second))
        return None

    def _neighbours(self, root: int) -> Iterator[int]:
        """Groups that read what a group gives, if others do, too; then those that read what it reads."""
        kernel = self.kernels[root]
        found: dict[int, None] = {}
        for node in kernel.results:
            users = {self.partition.root[user] for user in self.flow.graph.users[node]} - {root}
            if len(users) > 1 or len(kernel.results) > 1 or self.flow.graph.external[node]:
                found |= dict.fromkeys(sorted(users & self.light_roots))
        for value in self._inputs(kernel.members):
            readers = [self.flow.node.get(use.operation) for use in value.uses]
            later = {self.partition.root[node] for node in readers if node is not None}
            after = sorted(other for other in later & self.light_roots if other > root)
            found |= dict.fromkeys(after[:MAX_SIBLINGS])
        yield from found

    def _inputs(self, members: Iterable[int]) -> list[SSAValue]:
        """The tensors that nodes read and none of them makes, without constants, which lie anywhere."""
        inside = set(members)
        values = dict.fromkeys(value for node in inside for value in self.flow.ops[node].operands)
        return [
            value
            for value in values
            if isinstance(value.type, TensorType)
            and not isinstance(value.owner, ConstantOp)
            and not (isinstance(value.owner, Operation) and self.flow.node.get(value.owner) in inside)
        ]

    def _refusal(self, first: int, second: int) -> Refusal | None:
        """Why two groups cannot be one kernel, or need not be."""
        both = self._both(first, second)
        if len(both) > self.max_depth:
            return Refusal.TOO_LARGE
        results = self._results(first, second)
        depths = row_depths(self, both)
        if isinstance(depths, tuple):
            return depths[0]
        shapes = [shape_of(self.flow.ops[node].results[0]) for node in results]
        depth = min((*depths, *map(len, shapes)))
        while depth and len({shape[:depth] for shape in shapes}) > 1:
            depth -= 1
        if not depth:
            return Refusal.ROWS
        shared = self._shared(first, second, depth)
        saved = sum(map(_bytes, shared))
        numbers = self._reduces(both) and all(prod(shape[depth:]) == 1 for shape in shapes)
        if not saved or (numbers and saved < max(MIN_READ_AGAIN * _extent(shapes[0][:depth]), NEAR)):
            return Refusal.NOTHING_SAVED
        if (refusal := row_refusal(self, both, results, depth)) is not None:
            return refusal
        made = {self.flow.ops[node].results[0] for node in self.kernels[first].results}.intersection(shared)
        unwritten = made - {self.flow.ops[node].results[0] for node in results}
        gained = CALL + sum(moved(self.unit.machine, value) for value in (*shared, *unwritten))
        members = (self.kernels[first].members, self.kernels[second].members)
        if self.paid(*members, depth, is_chain=bool(made)) > gained:
            return Refusal.BEGINNINGS
        return None if self._place(both, results) is not None else Refusal.ORDER

    def _reduces(self, members: Iterable[int]) -> bool:
        return any(self.flow.graph.patterns[node] == Fusion.COMM_REDUCE for node in members)

    def _both(self, first: int, second: int) -> list[int]:
        return sorted((*self.kernels[first].members, *self.kernels[second].members))

    def _results(self, first: int, second: int) -> list[int]:
        """The nodes of two groups whose values others need."""
        graph, inside = self.flow.graph, {first, second}
        return [
            node
            for node in sorted((*self.kernels[first].results, *self.kernels[second].results))
            if graph.external[node] or any(self.partition.root[user] not in inside for user in graph.users[node])
        ]

    def _shared(self, first: int, second: int, depth: int) -> list[SSAValue]:
        """What need not be read again: what one group makes of the other's, or both read, by rows."""
        one, other = self.kernels[first], self.kernels[second]
        made = [self.flow.ops[node].results[0] for node in one.results]
        inputs = self._inputs(other.members)
        shared = [value for value in self._inputs(one.members) if value in inputs]
        shared = [value for value in shared if self._by_rows(value, {*one.members, *other.members}, depth)]
        return [*shared, *(value for value in made if value in inputs)]

    def _by_rows(self, value: SSAValue, members: set[int], depth: int) -> bool:
        """Whether all members that read a value need its rows one at a time."""
        uses = [use for use in value.uses if self.flow.node.get(use.operation) in members]
        return all(isinstance(op := use.operation, RelayOp) and op.shared_rows(use.index) >= depth for use in uses)

    def _place(self, members: list[int], results: list[int]) -> float | None:
        """Where a kernel can stand: after what it reads, before all users of its results; as late as it may."""
        inside = set(members)
        latest = float(max(self.order[self.flow.ops[node]] for node in members))
        for node in results:
            for use in self.flow.ops[node].results[0].uses:
                if self.flow.node.get(use.operation) not in inside:
                    latest = min(latest, self._position(use.operation))
        values = [value for node in members for value in self.flow.ops[node].operands]
        made = [value.owner for value in values if isinstance(value.owner, Operation)]
        earliest = max(
            (self._position(op) for op in made if op.parent is self.block and self.flow.node.get(op) not in inside),
            default=-1.0,
        )
        return (earliest + latest) / 2 if earliest < latest else None

    def _position(self, op: Operation) -> float:
        """Where an operation of the block, or what is nested in one, will stand: with its kernel."""
        while op.parent is not self.block:
            parent = op.parent_op()
            assert parent is not None
            op = parent
        node = self.flow.node.get(op)
        if node is None:
            return self.order[op]
        root = self.partition.root[node]
        return self.kernels[root].place if root in self.kernels else self.order[self.flow.ops[root]]

    def _merge(self, first: int, second: int) -> int:
        both, results = self._both(first, second), self._results(first, second)
        place = self._place(both, results)
        assert place is not None
        for old in (first, second):
            del self.kernels[old], self.members[old]
            self.light_roots.discard(old)
            self.partition.results.pop(old, None)
            self.partition.places.pop(old, None)
            self.partition.refusals.pop(old, None)
            self.partition.apart.pop(old, None)
        root = max(both)
        self.kernels[root] = _Kernel(both, results, place)
        self.members[root] = both
        self.light_roots.add(root)
        self.partition.results[root] = results
        self.partition.places[root] = place
        for node in both:
            self.partition.root[node] = root
        return root


def _bytes(value: SSAValue) -> int:
    """What a tensor takes; an open extent counts as one, since it may be."""
    return _extent(shape_of(value)) * byte_width(tensor(value).element_type)


def _extent(shape: Sequence[int]) -> int:
    return prod(1 if extent == DYNAMIC else extent for extent in shape)
