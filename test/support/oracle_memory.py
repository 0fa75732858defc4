"""Plans of memory: as TVM recorded them, and as Weft's passes make them in IR."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from oracle_records import Graph, Json, Record
from oracle_relay import ID, build
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter

from weft.dialects.mem.core import AllocOp, CallOp, ConstantOp, CopyOp, PoolOp, buffer_type, byte_size, root_of
from weft.dialects.mem.graph import GraphOp
from weft.dialects.mem.lifetimes import Timeline, accesses
from weft.dialects.relay.core import PrimitiveOp
from weft.lowering.graph_to_memory.bufferize_graph import BufferizeGraphPass
from weft.transforms.relay.fuse_ops import FuseOpsPass
from weft.transforms.relay.outline_primitives import OutlinePrimitivesPass


@dataclass(frozen=True)
class Plan:
    """The storages of a graph's values, by the ids of the nodes that make them, and the bytes of each storage."""

    storages: Mapping[int, tuple[int, ...]]
    devices: Mapping[int, tuple[str, ...]]
    storage_bytes: tuple[int, ...]


def recorded_plan(plan: Record) -> Plan:
    """A recorded plan, without tuples and their fields, which have the storages of what they are made of."""
    items = [
        item
        for item in cast("Sequence[Mapping[str, Json]]", plan["items"])
        if item["kind"] in ("var", "const", "group")
    ]
    return Plan(
        {cast(int, item["id"]): tuple(cast("Sequence[int]", item["sids"])) for item in items},
        {cast(int, item["id"]): tuple(cast("Sequence[str]", item.get("devices", ()))) for item in items},
        tuple(cast("Sequence[int]", plan["token_bytes"])),
    )


def bufferized(graph: Graph) -> ModuleOp:
    """A recorded graph, fused as TVM fuses it, and over buffers in the order in which TVM runs it."""
    fused = FuseOpsPass(fuse_opt_level=2, strategy="tvm")(build(graph))
    for primitive in fused.walk():
        if isinstance(primitive, PrimitiveOp):
            root = primitive.yield_op.arguments[0].owner
            assert isinstance(root, Operation)
            primitive.attributes[ID] = root.attributes[ID]
    module = BufferizeGraphPass(depth_first=True)(OutlinePrimitivesPass(put_back=False)(fused))
    module.verify()
    return module


def without_annotations(graph: Graph) -> Graph:
    """The graph with what `on_device` is around in its place: it says where values are, and is no value itself."""
    seen: dict[int, int] = {}
    for node in graph.nodes:
        seen[node.id] = seen[node.inputs[0]] if node.op == "on_device" else node.id
    nodes = [
        replace(node, inputs=tuple(seen[i] for i in node.inputs)) for node in graph.nodes if node.op != "on_device"
    ]
    return Graph(graph.params, seen[graph.output], tuple(nodes))


def graph_in(module: ModuleOp) -> GraphOp:
    """The one graph of a module."""
    (graph,) = (op for op in module.ops if isinstance(op, GraphOp))
    return graph


def put_on_devices(module: ModuleOp, graph: Graph, devices: Mapping[int, str]) -> None:
    """Put the buffers of a bufferised graph on the devices of the nodes whose values they hold; most are on `cpu`."""
    memory = graph_in(module)
    for value, number in _made_by(memory, graph):
        if (device := devices[number]) != "cpu":
            type = buffer_type(value)
            there = MemRefType(type.element_type, type.get_shape(), type.layout, StringAttr(device))
            Rewriter.replace_value_with_new_type(value, there)
    copied = {IntegerAttr(node.id, i64) for node in graph.nodes if node.op == "device_copy"}
    mixed = [op for op in memory.body.block.ops if isinstance(op, CallOp) and _is_mixed(op)]
    for op in mixed:
        if op.attributes[ID] in copied:
            _make_copy(op)
    # Three records have kernels that take, and do not use, what is elsewhere. They are planned, and refused by Weft.
    if all(op.attributes[ID] in copied for op in mixed):
        module.verify()


def _is_mixed(call: CallOp) -> bool:
    """Whether a kernel takes buffers of several devices."""
    return len({buffer_type(value).memory_space for value in (*call.inputs, *call.writes)}) > 1


def _make_copy(call: CallOp) -> None:
    """Have a call of a kernel that copies from device to device be what it is: a copy, or one for each field."""
    copies = [CopyOp([source], target) for source, target in zip(call.inputs, call.outputs, strict=True)]
    for copy in copies:
        copy.attributes[ID] = call.attributes[ID]
    Rewriter.replace_op(call, copies, [])


def _made_by(memory: GraphOp, graph: Graph) -> list[tuple[SSAValue, int]]:
    """Every buffer that is a node's value, and that node: the parameters', the constants', the kernels' results."""
    made: list[tuple[SSAValue, int]] = list(zip(memory.inputs, _flat_params(memory, graph), strict=True))
    for op in memory.body.block.ops:
        if isinstance(op, ConstantOp):
            made.append((op.result, _id(op)))
        elif isinstance(op, CallOp | CopyOp) and ID in op.attributes:
            made += [(value, _id(op)) for value in op.writes]
    return made


def _flat_params(memory: GraphOp, graph: Graph) -> list[int]:
    assert len(memory.inputs) == len(graph.params), "a parameter is a tuple"
    return list(graph.params)


def _id(op: Operation) -> int:
    return cast("IntegerAttr", op.attributes[ID]).value.data


def plan_of(module: ModuleOp, graph: Graph, elided: Mapping[int, tuple[int, int]]) -> Plan:
    """The plan that a planned module has: storages are numbered in the order in which they are first met.

    Args:
        elided: the copies that are gone, and what they copied: a node, and the place of the buffer among its results.
    """
    memory = graph_in(module)
    numbers: dict[SSAValue, int] = {}
    sizes: list[int] = []
    storages: dict[int, tuple[int, ...]] = {}
    devices: dict[int, tuple[str, ...]] = {}
    for value, node in _made_by(memory, graph):
        storage = _storage(value)
        if storage not in numbers:
            numbers[storage] = len(sizes)
            size = byte_size(buffer_type(storage))
            assert size is not None
            sizes.append(size)
        storages[node] = (*storages.get(node, ()), numbers[storage])
        devices[node] = (*devices.get(node, ()), _device(buffer_type(value).memory_space))
    for copy, (source, field) in elided.items():
        storages[copy], devices[copy] = (storages[source][field],), (devices[source][field],)
    return Plan(storages, devices, tuple(sizes))


def _storage(value: SSAValue) -> SSAValue:
    """The pool that a buffer lies in, or itself where it is an input or a constant."""
    root = root_of(value)
    if isinstance(root.owner, AllocOp):
        assert root.owner.pool is not None and isinstance(root.owner.pool.owner, PoolOp)
        return root.owner.pool
    return root


def _device(space: Attribute) -> str:
    return space.data if isinstance(space, StringAttr) else "cpu"


def reshapes(module: ModuleOp, graph: Graph) -> dict[int, tuple[int, int]]:
    """The nodes of a bufferised graph that copy one whole buffer to another, in order, and what they copy: a node,
    and the place of the buffer among its results."""
    memory = graph_in(module)
    made: dict[SSAValue, tuple[int, int]] = {}
    fields = Counter[int]()
    for value, node in _made_by(memory, graph):
        made[value] = node, fields[node]
        fields[node] += 1
    return {
        _id(op): made[op.sources[0]]
        for op in accesses(memory.body.block)
        if isinstance(op, CopyOp)
        and op.offset is None
        and len(op.sources) == 1
        and not isinstance(op.target, BlockArgument)
    }


def planned_and_bound(module: ModuleOp) -> tuple[int, int]:
    """The bytes of the pools of a planned module, and the most bytes that it needs at one time on each device."""
    block = graph_in(module).body.block
    timeline = Timeline.of(block)
    pools = sum(op.size for op in block.ops if isinstance(op, PoolOp))
    live: dict[str, list[int]] = {}
    for op in block.ops:
        if isinstance(op, AllocOp):
            life, type = timeline.lifetimes[op.result], buffer_type(op.result)
            steps = live.setdefault(_device(type.memory_space), [0] * len(timeline.steps))
            for step in range(life.first, life.last + 1):
                steps[step] += byte_size(type) or 0
    return pools, sum(map(max, live.values()))
