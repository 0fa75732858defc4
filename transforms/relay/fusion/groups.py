"""The groups of a partition, and what is asked about them by what merges them (`rows.py`, `several.py`, `again.py`)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation

from ....dialects.relay.base import Fusion, RelayOp, ReshapeLike, shape_of, tensor
from ....dialects.relay.core import ConstantOp
from ....dialects.relay.ops.nn.dense import BatchMatmulOp
from ....dialects.support.dtypes import byte_width
from ....dialects.support.vector_unit import VectorUnit
from .costs import FUNCTION, MARGIN, STEP, beginning, elements, is_expensive
from .dataflow import Dataflow, is_operator
from .partition import Partition


class Groups:
    """The groups of a partition, and what is asked about them."""

    def __init__(self, flow: Dataflow, partition: Partition, max_depth: int, unit: VectorUnit):
        self.flow = flow
        self.partition = partition
        self.max_depth = max_depth
        self.unit = unit
        self._expensive: dict[int, bool] = {}
        self.members: dict[int, list[int]] = {}
        for node, root in enumerate(partition.root):
            self.members.setdefault(root, []).append(node)

    def ops_of(self, root: int) -> list[Operation]:
        """The members of a group, in order."""
        return [self.flow.ops[node] for node in self.members[root]]

    def users_of(self, root: int) -> set[int]:
        """The groups that use a group's result."""
        return {self.partition.root[user] for user in self.flow.graph.users[root]}

    def is_kernel(self, root: int) -> bool:
        """Whether all members of a group are operators with one tensor as their result, or constants."""
        ops = [op for op in self.ops_of(root) if not isinstance(op, ConstantOp)]
        return bool(ops) and all(is_operator(op) and isinstance(op.results[0].type, TensorType) for op in ops)

    def is_view(self, op: Operation) -> bool:
        """Whether an operator does nothing but see its operand under another shape."""
        return type(op).has_trait(ReshapeLike)

    def is_view_alone(self, root: int) -> bool:
        """Whether a group is nothing but reshapes."""
        return all(self.is_view(op) for op in self.ops_of(root))

    def reduces(self, node: int) -> bool:
        """Whether an operator sums up, or otherwise reduces, what it reads."""
        return self.flow.graph.patterns[node] in (Fusion.COMM_REDUCE, Fusion.OUT_ELEMWISE_FUSABLE)

    def is_expensive(self, node: int) -> bool:
        """Whether an operator computes costly functions of elements, such as `exp`."""
        if node not in self._expensive:
            self._expensive[node] = is_expensive(self.flow.ops[node])
        return self._expensive[node]

    def paid(self, first: Sequence[int], second: Sequence[int], depth: int, is_chain: bool = True) -> float:
        """Cycles more that costly functions take in one kernel, by rows that stand at `depth` leading indices, than in
        two, of which the second reads what the first makes if that `is_chain`. Estimates are no better than `MARGIN`,
        which what is gained has to make up for as well. Products take many rows at a time, and wait for none."""
        by_rows = [any(map(self.reduces, part)) for part in (first, second)]
        if not any(by_rows) or any(isinstance(self.flow.ops[node], BatchMatmulOp) for node in (*first, *second)):
            return 0.0
        cycles = longest = 0.0
        for part, reduces in zip((first, second), by_rows, strict=True):
            if not reduces and is_chain and (numbers := self._numbers(part, depth)):
                cycles += numbers
                continue
            for node in filter(self.is_expensive, part):
                value = self.flow.ops[node].results[0]
                lanes = max(1, self.unit.bytes // byte_width(tensor(value).element_type))
                start = beginning(value, depth, lanes)
                longest = max(longest, start)
                if not reduces:
                    cycles += start + MARGIN * FUNCTION * elements(shape_of(value)) / lanes
        return cycles + (longest if is_chain and all(by_rows) else 0.0)

    def _numbers(self, part: Sequence[int], depth: int) -> float:
        """Cycles more that operators take for one number of a row at a time than for vectors of them, where all that
        they compute is one number of each row."""
        ops = [self.flow.ops[node] for node in part if not isinstance(self.flow.ops[node], ConstantOp)]
        shapes = [shape_of(op.results[0]) for op in ops]
        if any(elements(shape[depth:]) != 1 for shape in shapes):
            return 0.0
        lanes = max(1, self.unit.bytes // byte_width(tensor(ops[-1].results[0]).element_type))
        each = sum(FUNCTION if is_expensive(op) else STEP for op in ops)
        return elements(shapes[-1]) * each * (1 - 1 / lanes)

    def is_row_by_row(self, op: Operation) -> bool:
        """Whether an operator is no product, and reduces, if it does, rows one at a time."""
        node = self.flow.node[op]
        if self.flow.graph.patterns[node] > Fusion.OUT_ELEMWISE_FUSABLE or isinstance(op, BatchMatmulOp):
            return False
        return not self.reduces(node) or (isinstance(op, RelayOp) and op.shared_rows(0) > 0)
