"""The fusion graph of a block of Relay: which operation is a node, in which order, and with which edges.

The order is TVM's: depth first from the function's results, operands from left to right, each operation after its
operands. It does not depend on the order of the block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType, TupleType, f32, f64, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ....dialects.relay.base import Fusion, NonComputational, RelayOp, fusion_pattern
from ....dialects.relay.control import ApplyOp
from ....dialects.relay.core import CallOp, ConstantOp, TupleGetOp, TupleOp
from ....dialects.relay.telling import is_told_by_data
from ...infra.walk import walk
from ..purity import is_pure
from .graph import ForwardGraph


@dataclass(frozen=True)
class Dataflow:
    """The fusion graph of a block, and the operations that its nodes stand for."""

    graph: ForwardGraph
    ops: list[Operation]
    """The operation of each node."""
    node: dict[Operation | Block, int]
    dead: list[Operation]
    """What no result and no effect needs, users first. Not in the graph."""


def is_operator(op: Operation) -> bool:
    """Whether fusion makes `op` part of a kernel: it computes one value, and says how it may be fused."""
    type_ = type(op)
    if not isinstance(op, RelayOp) or len(op.results) != 1:
        return False
    return fusion_pattern(type_) is not None and not type_.has_trait(NonComputational)


_INLINED_TYPES = frozenset[Attribute]({i1, i32, i64, f32, f64})
"""What a kernel may hold a scalar constant of; TVM leaves the other types out."""


def is_inlined_constant(op: Operation) -> bool:
    """Whether `op` is a scalar that kernels hold themselves."""
    if not isinstance(op, ConstantOp):
        return False
    type = op.result.type
    assert isinstance(type, TensorType)
    return not type.get_shape() and type.element_type in _INLINED_TYPES


def block_dataflow(block: Block) -> Dataflow:
    """The dataflow of the operations that stand in `block` itself; what is nested in them counts as theirs."""
    terminator = block.last_op if block.last_op is not None and block.last_op.has_trait(IsTerminator) else None
    order = _needed_operations(block, terminator)
    node: dict[Operation | Block, int] = {op: i for i, op in enumerate(order)}
    graph = ForwardGraph()
    for op in order:
        graph.add(_node_pattern(op))
    for user, op in enumerate(order):
        for value in _read_values(op):
            if (producer := node.get(value.owner)) is not None:
                _connect(graph, producer, user, op, value.type)
    if terminator is not None:
        for value in _read_values(terminator):
            if (producer := node.get(value.owner)) is not None:
                graph.external[producer] = True
    dead = [op for op in block.ops if op not in node and op is not terminator]
    return Dataflow(graph, order, node, dead[::-1])


def _read_values(op: Operation) -> Iterator[SSAValue]:
    """The operands of `op` and of what is nested in it."""
    return (value for nested in walk(op) for value in nested.operands) if op.regions else iter(op.operands)


def _needed_operations(block: Block, terminator: Operation | None) -> list[Operation]:
    """The operations that the block's terminator, and then its effects, need: in depth-first post-order."""
    seen: set[Operation] = set()
    order: list[Operation] = []

    def visit(root: Operation) -> None:
        seen.add(root)
        stack = [(root, _read_values(root))]
        while stack:
            op, values = stack[-1]
            for value in values:
                owner = value.owner
                if isinstance(owner, Operation) and owner.parent is block and owner not in seen:
                    seen.add(owner)
                    stack.append((owner, _read_values(owner)))
                    break
            else:
                order.append(op)
                stack.pop()

    if terminator is not None:
        visit(terminator)
        order.pop()
    for op in block.ops:
        if op not in seen and not _may_be_dropped(op):
            visit(op)
    return order


def _may_be_dropped(op: Operation) -> bool:
    """Whether `op` is dead where nothing uses it. A call may have an effect: looking into the function costs more than
    it is worth here, and is what dead-code-elimination does."""
    return is_pure(op) and not isinstance(op, CallOp | ApplyOp)


def _node_pattern(op: Operation) -> Fusion:
    if isinstance(op, TupleOp):
        return Fusion.TUPLE
    if isinstance(op, TupleGetOp):
        return Fusion.INJECTIVE if _holds_tensors(op.tuple.type) else Fusion.OPAQUE
    if is_inlined_constant(op):
        return Fusion.ELEMWISE
    if isinstance(op, RelayOp) and (op.STANDS_ALONE or is_told_by_data(op)):
        return Fusion.OPAQUE
    pattern = fusion_pattern(type(op))
    return pattern if pattern is not None and is_operator(op) else Fusion.OPAQUE


def _holds_tensors(type: Attribute) -> bool:
    """Whether all fields of a tuple are tensors: kernels take and give nothing else."""
    assert isinstance(type, TupleType)
    return all(isinstance(field, TensorType) for field in type.types)


def _connect(graph: ForwardGraph, producer: int, user: int, op: Operation, read: Attribute) -> None:
    """Enter that `op`, the node `user`, reads a value of type `read` from `producer`."""
    pattern = graph.patterns[user]
    if isinstance(op, TupleOp):
        if not isinstance(read, TensorType):
            graph.external[producer] = True
            return
        pattern = Fusion.INJECTIVE
    elif pattern == Fusion.BROADCAST and isinstance(read, TensorType):
        result = op.results[0].type
        if isinstance(result, TensorType) and result.get_shape() == read.get_shape():
            pattern = Fusion.ELEMWISE
    graph.connect(producer, user, pattern)
