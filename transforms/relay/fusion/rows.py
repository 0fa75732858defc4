"""Kernels that compute a chain of reductions row by row: what `fuse-ops{strategy=weft}` adds to TVM's groups.

Two groups become one where every operator that reads a value within the group needs, for one row of its result, one row
of that value (`RelayOp.shared_rows`), at least along one dimension. Then one loop over the rows computes all of it, and
what was a tensor in memory becomes a row that stays in the nearest cache: a layer norm (mean, variance, normalise,
scale) is one kernel, so is softmax with the scale and mask before it, and a product of matrices with the softmax of its
rows and the next product.

Nothing is computed twice but what costs next to nothing (`FREE`), as the cast of a scale that every row is multiplied
by. What a merge saves is the bytes that are not written and read again. It costs the loops' freedom: it is refused
where there are too few rows to share out, where a row is too large to stay near, or where functions such as `exp` would
be waited for in each of many short rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

from xdsl.ir import Block, Operation

from ....dialects.relay.base import DYNAMIC, Fusion, RelayOp, is_true, shape_of, tensor, tensors_in
from ....dialects.relay.core import ConstantOp
from ....dialects.relay.ops.broadcast import AddOp, MultiplyOp, SubtractOp
from ....dialects.relay.ops.elementwise import CastOp, NegativeOp
from ....dialects.relay.ops.nn.dense import BatchMatmulOp
from ....dialects.relay.ops.tiling import RepeatOp, TileOp
from ....dialects.relay.ops.transform import ReshapeOp, TransposeOp
from ....dialects.support.dtypes import byte_width
from ....dialects.support.vector_unit import VectorUnit
from ....dialects.tir.symbols import LIKELY_SIZE
from .costs import CALL, moved
from .dataflow import Dataflow
from .groups import Groups
from .partition import Partition, Refusal

MAX_ROW_BYTES = 64 * 1024
"""Of all values within a group, a row. Four rows of this still fit the second cache, and a thread's stack."""

MIN_ROWS = 16
"""Fewer rows are not enough for the threads, where there is something to do for them."""

MANY = 1 << 20
"""What an open extent is taken for along the rows: many to share out. As a part of a row it is of the likely size that
schedules are chosen by."""

FOUND = (ReshapeOp, RepeatOp, TileOp)
"""Operators whose values are elements of what they read, wherever they are read."""

FREE = (CastOp, NegativeOp, AddOp, SubtractOp, MultiplyOp, *FOUND)
"""Operators whose values may be computed again for every row that reads them."""

SMALL = 4096
"""Elements of the largest value below which one thread does it all."""


def merge_rows(flow: Dataflow, partition: Partition, max_depth: int, unit: VectorUnit) -> None:
    """Merge groups of `partition` in place, wherever it pays; notes in it why not."""
    _Merging(flow, partition, max_depth, unit).run()


class _Merging(Groups):
    def run(self) -> None:
        """Users before what they use: a value has one group of users once these have become one."""
        for root in sorted(self.members, reverse=True):
            known = root in self.members and not self.flow.graph.external[root]
            if known and self.is_kernel(root) and self.flow.graph.users[root]:
                self.try_merge(root)
        for root in sorted(self.members):
            if root in self.members and self.is_chain_of_products(root):
                self.take_moves(root)

    def try_merge(self, root: int) -> None:
        """Merge a group with that of its users, and with reshapes between the two; but not with those at the end, which
        cost nothing alone."""
        if self.is_view_alone(root):
            return
        between: list[int] = []
        users = self.users_of(root)
        while len(users) == 1 and self.is_view_alone(view := max(users)) and self.users_of(view):
            between.append(view)
            users = self.users_of(view)
        if any(self.flow.graph.external[view] for view in between):
            return
        target = max(users)
        if len(users) > 1:
            self.partition.refusals.setdefault(root, (Refusal.SEVERAL_KERNELS, root))
            return
        if not self.is_kernel(target):
            return
        both = sorted(node for group in (root, *between, target) for node in self.members[group])
        views: list[int] = []
        while self.is_view(self.flow.ops[both[-1]]) and both[-1] != root:
            views.append(both.pop())
        if both[-1] == root or not any(map(self.reduces, both)):
            return
        refusal = (Refusal.TOO_LARGE, target) if len(both) > self.max_depth else self.refusal(root, both)
        if refusal is not None:
            if refusal[0] == Refusal.ROWS:
                self.partition.refusals.setdefault(root, refusal)
            else:
                self.partition.refusals[root] = refusal
            return
        for old in (root, *between, target):
            del self.members[old]
        for group in (both, views) if views else (both,):
            self.members[max(group)] = sorted(group)
            for node in group:
                self.partition.root[node] = max(group)
        self.partition.refusals.pop(root, None)

    def refusal(self, first: int, members: list[int]) -> tuple[Refusal, int] | None:
        """Why `members`, a group and what uses it, need not or cannot be one kernel; and the node at fault."""
        root = members[-1]
        depths = row_depths(self, members)
        if isinstance(depths, tuple):
            return depths
        ops = {self.flow.ops[node]: node for node in members if not isinstance(self.flow.ops[node], ConstantOp)}
        for op, node in ops.items():
            if isinstance(op, TransposeOp) and is_turned(op):
                return Refusal.REORDERED, node
        depth = min(depths)
        products = [op for op in ops if isinstance(op, BatchMatmulOp)]
        for product in products:
            if depth != 2 or is_true(product.transpose_a) or is_true(product.transpose_b):
                return Refusal.TRANSPOSED, ops[product]
            if sum(map(self.reduces, members)) < 2:
                return Refusal.WAY, ops[product]
        if (refusal := row_refusal(self, members, [root], depth)) is not None:
            return refusal, root
        saved = CALL + 2 * moved(self.unit.machine, self.flow.ops[first].results[0])
        second = [node for node in members if self.partition.root[node] != first]
        return (Refusal.BEGINNINGS, root) if self.paid(self.members[first], second, depth) > saved else None

    def is_chain_of_products(self, root: int) -> bool:
        """Whether a group computes products and other reductions, by rows."""
        products = sum(isinstance(op, BatchMatmulOp) for op in self.ops_of(root))
        return products > 0 and sum(map(self.reduces, self.members[root])) > 1

    def take_moves(self, root: int) -> None:
        """Take into a group what moves the factors of its products, or their result, in whole rows: the products read
        and write these where they lie. The result seen under another shape is moved by nothing, and stays outside."""
        for op in self.ops_of(root):
            for value in op.operands if isinstance(op, BatchMatmulOp) else ():
                node = self.flow.node.get(value.owner) if isinstance(value.owner, Operation) else None
                if node is None or self.partition.root[node] != node or self.flow.graph.external[node]:
                    continue
                if self.users_of(node) == {root} and self.moves_rows(node, shape_of(value)[-1]):
                    self.join(node, root)
        result = self.flow.ops[root]
        users = self.users_of(root)
        if len(users) == 1 and not self.flow.graph.external[root] and isinstance(result, BatchMatmulOp):
            if not self.is_view_alone(target := max(users)) and self.moves_rows(target, shape_of(result.result)[-1]):
                self.join(root, target)

    def moves_rows(self, root: int, row: int) -> bool:
        """Whether a group does nothing but move whole rows of so many elements."""
        if not self.is_kernel(root):
            return False
        for op in self.ops_of(root):
            if isinstance(op, TransposeOp):
                rank = len(shape_of(op.data))
                if op.permutation(rank)[-1] != rank - 1:
                    return False
            elif not self.is_view(op):
                return False
            if any(
                not shape or DYNAMIC in (shape[-1], row) or shape[-1] % row
                for shape in map(shape_of, (*op.operands[:1], *op.results))
            ):
                return False
        return True

    def join(self, root: int, target: int) -> None:
        """Make a group part of that of its users, unless that becomes too large."""
        if len(self.members[root]) + len(self.members[target]) > self.max_depth:
            self.partition.refusals[root] = (Refusal.TOO_LARGE, target)
            return
        self.members[target] = sorted((*self.members.pop(root), *self.members[target]))
        for node in self.members[target]:
            self.partition.root[node] = target
        self.partition.refusals.pop(root, None)


def is_turned(op: TransposeOp) -> bool:
    """Whether what lies side by side in a row of the result does not do so in what is transposed: this is done in
    tiles, and by rows it would be read one element at a time."""
    shape, result = shape_of(op.data), shape_of(op.result)
    return op.permutation(len(shape))[-1] != len(shape) - 1 and 1 not in (shape[-1], result[-1])


def row_depths(groups: Groups, members: Sequence[int]) -> list[int] | tuple[Refusal, int]:
    """Along how many leading dimensions each member that reads what another makes needs one row at a time; or why it
    needs more, and the node at fault."""
    flow = groups.flow
    ops = {flow.ops[node]: node for node in members if not isinstance(flow.ops[node], ConstantOp)}
    depths: list[int] = []
    for op, node in ops.items():
        if not isinstance(op, RelayOp) or flow.graph.patterns[node] > Fusion.OUT_ELEMWISE_FUSABLE:
            return Refusal.ROWS, node
        for number, value in enumerate(op.operands):
            reduced = number == 0 and groups.reduces(node)
            if not reduced and is_free(value.owner, ops, FOUND):
                continue
            if shared := op.shared_rows(number):
                depths.append(shared)
            elif reduced or not is_free(value.owner, ops):
                return Refusal.ROWS, node
    return depths


def row_refusal(groups: Groups, members: Sequence[int], results: Sequence[int], depth: int) -> Refusal | None:
    """Why it does not pay to compute `members` row by row, rows being what stands at `depth` leading indices."""
    flow = groups.flow
    ops = {flow.ops[node]: node for node in members if not isinstance(flow.ops[node], ConstantOp)}
    rows = _elements(shape_of(flow.ops[results[-1]].results[0])[:depth])
    moved_about = [value for op in ops for value in (*op.operands[:1], *op.results)]
    sizes = [_elements(each.get_shape()) for value in moved_about for each in tensors_in(value.type)]
    if rows < MIN_ROWS and max(sizes) > SMALL:
        return Refusal.FEW_ROWS
    read_here = {op for op in ops if any(use.operation in ops for use in op.results[0].uses)}
    if sum(_row_bytes(op, depth) for op, node in ops.items() if node not in results or op in read_here) > MAX_ROW_BYTES:
        return Refusal.LONG_ROWS
    return None


def _row_bytes(op: Operation, depth: int) -> int:
    """What a reduction gives its row; elementwise operators are mostly computed where they are needed."""
    return _elements(shape_of(op.results[0])[depth:], LIKELY_SIZE) * byte_width(tensor(op.results[0]).element_type)


def _elements(shape: Sequence[int], open_extent: int = MANY) -> int:
    """The elements of a shape, whose extents that are open are taken for so many."""
    return prod(open_extent if extent == DYNAMIC else extent for extent in shape)


def is_free(value: Operation | Block, inside: Collection[Operation], kinds: tuple[type[Operation], ...] = FREE) -> bool:
    """Whether the value of an operator costs nothing to compute wherever it is read: a few instructions, of `kinds`, on
    what comes from outside of a group. A cast of the scale of a layer norm is, which has no rows."""
    if value not in inside:
        return True
    op = value
    while isinstance(op, kinds):
        made = [operand.owner for operand in op.operands if operand.owner in inside]
        if len(made) != 1:
            return not made
        (op,) = made
    return False
