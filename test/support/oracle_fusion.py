"""Partitions: as TVM recorded them, as `fuse-ops` makes them in IR, and as the analysis alone makes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from oracle_records import Graph, Json, Node, Record
from oracle_relay import ID
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from weft.dialects.relay.base import Fusion
from weft.dialects.relay.core import FuncOp, PrimitiveOp, ReturnOp, YieldOp
from weft.transforms.relay.fusion.graph import ForwardGraph
from weft.transforms.relay.fusion.partition import DEFAULT_MAX_DEPTH


@dataclass(frozen=True)
class Kernel:
    """One fused function. All numbers are node ids."""

    members: tuple[int, ...]
    root: int
    arguments: tuple[int, ...]
    primitive: bool
    reshape_only: bool


@dataclass(frozen=True)
class Fused:
    """What FuseOps has made of a graph."""

    kernels: tuple[Kernel, ...]
    """In the order of their roots."""
    outer: tuple[int, ...]
    removed: tuple[int, ...]
    copied: tuple[tuple[int, tuple[int, ...]], ...]
    """Constants that are in several places: id, and the kernels' indices, -1 for outside."""


@dataclass(frozen=True)
class Setting:
    """The options behind the name of a recorded result: `L2`, `L3_depth5`, `L2_link`."""

    level: int
    max_depth: int
    link_params: bool

    @staticmethod
    def named(name: str) -> Setting:
        match = re.fullmatch(r"L(\d+)(?:_depth(\d+))?(_link)?", name)
        assert match is not None, f"no fuse-ops setting is called {name}"
        level, depth, link = match.groups()
        return Setting(int(level), DEFAULT_MAX_DEPTH if depth is None else int(depth), link is not None)


def recorded_results(record: Record) -> dict[str, Fused]:
    """The results of a record by the names of their settings; `"=L2"` stands for that of another name."""
    results = cast("Mapping[str, str | Record]", record["results"])
    resolved: dict[str, Fused] = {}
    for name, result in results.items():
        while isinstance(result, str):
            result = results[result.removeprefix("=")]
        resolved[name] = recorded(result)
    return resolved


def recorded(result: Record) -> Fused:
    """A recorded result."""

    def numbers(value: Json) -> tuple[int, ...]:
        return tuple(sorted(cast("Sequence[int]", value or ())))

    kernels = [
        Kernel(
            numbers(members),
            cast(int, info["root"]),
            tuple(cast("Sequence[int]", info["args"])),
            bool(info["primitive"]),
            bool(info["reshape_only"]),
        )
        for members, info in zip(
            cast("Sequence[Sequence[int]]", result["groups"]),
            cast("Sequence[Mapping[str, Json]]", result["info"]),
            strict=True,
        )
    ]
    copied = cast("Sequence[tuple[int, Sequence[int]]]", result.get("multi") or ())
    return Fused(
        tuple(kernels),
        numbers(result["outer"]),
        numbers(result.get("removed")),
        tuple((constant, numbers(places)) for constant, places in copied),
    )


def fused_module(graph: Graph, module: ModuleOp) -> Fused:
    """What became of a built graph (`oracle_relay.build`) in `module`."""
    (func,) = (op for op in module.ops if isinstance(op, FuncOp))
    return fused_block(graph, func.body.block)


def fused_block(graph: Graph, block: Block) -> Fused:
    """The same, for the body of a function, and what is nested in it."""
    kernels: list[Kernel] = []
    outer = list(graph.params)
    for op in _ops(block):
        if isinstance(op, PrimitiveOp):
            members = [_id(inner) for inner in op.body.block.ops if not isinstance(inner, YieldOp)]
            arguments = tuple(_producer(graph, value) for value in op.arguments)
            kernel = Kernel(tuple(sorted(members)), _root(op), arguments, op.computes, op.reshape_only is not None)
            kernels.append(kernel)
        elif not isinstance(op, ReturnOp | YieldOp):
            outer.append(_id(op))
    kernels.sort(key=lambda kernel: kernel.root)
    places: dict[int, list[int]] = {}
    for index, members in enumerate([outer, *(kernel.members for kernel in kernels)]):
        for member in members:
            places.setdefault(member, []).append(index - 1)
    removed = [node.id for node in graph.nodes if node.id not in places]
    copied = [(member, tuple(where)) for member, where in sorted(places.items()) if len(where) > 1]
    return Fused(tuple(kernels), tuple(sorted(outer)), tuple(removed), tuple(copied))


def _ops(block: Block) -> Iterator[Operation]:
    for op in block.ops:
        yield op
        for region in op.regions if not isinstance(op, PrimitiveOp) else ():
            yield from _ops(region.block)


def _id(op: Operation) -> int:
    return cast("IntegerAttr", op.attributes[ID]).value.data


def _root(primitive: PrimitiveOp) -> int:
    owner = primitive.yield_op.arguments[0].owner
    assert isinstance(owner, Operation)
    return _id(owner)


def _producer(graph: Graph, value: SSAValue) -> int:
    if isinstance(value, BlockArgument):
        return graph.params[value.index]
    assert isinstance(value.owner, Operation)
    return _root(value.owner) if isinstance(value.owner, PrimitiveOp) else _id(value.owner)


_PATTERNS = {
    "elemwise": Fusion.ELEMWISE,
    "broadcast": Fusion.BROADCAST,
    "injective": Fusion.INJECTIVE,
    "comm_reduce": Fusion.COMM_REDUCE,
    "out_elemwise_fusable": Fusion.OUT_ELEMWISE_FUSABLE,
    "opaque": Fusion.OPAQUE,
}
_INLINED = {"int32", "int64", "float32", "float64", "bool"}


def forward_graph(graph: Graph) -> ForwardGraph:
    """The fusion graph of a recorded graph, control flow included; its nodes are `graph.nodes`, in that order."""
    nodes = {node.id: node for node in graph.nodes}
    number = {node.id: i for i, node in enumerate(graph.nodes)}
    forward = ForwardGraph()
    for node in graph.nodes:
        forward.add(_pattern(node, nodes))
    forward.external[number[graph.output]] = True
    for user, node in enumerate(graph.nodes):
        for read in (*node.inputs, *node.inner):
            edge = _edge(node, forward.patterns[user], nodes[read])
            if edge is None:
                forward.external[number[read]] = True
            else:
                forward.connect(number[read], user, edge)
    return forward


def _pattern(node: Node, nodes: Mapping[int, Node]) -> Fusion:
    match node.op:
        case "tuple":
            return Fusion.TUPLE
        case "tuple_getitem":
            return Fusion.INJECTIVE if _holds_tensors(nodes[node.inputs[0]]) else Fusion.OPAQUE
        case "const":
            return Fusion.OPAQUE if node.shape or node.dtype not in _INLINED else Fusion.ELEMWISE
        case _:
            return Fusion.OPAQUE if node.pattern is None else _PATTERNS[node.pattern]


def _holds_tensors(node: Node) -> bool:
    return not isinstance(node.dtype, str | None) and all(isinstance(field, str) for field in node.dtype)


def _edge(user: Node, pattern: Fusion, read: Node) -> Fusion | None:
    is_tensor = isinstance(read.dtype, str)
    if user.op == "tuple":
        return Fusion.INJECTIVE if is_tensor else None
    if user.op == "tuple_getitem":
        return None if pattern == Fusion.OPAQUE else pattern
    if user.pattern is None:
        return None
    return Fusion.ELEMWISE if pattern == Fusion.BROADCAST and is_tensor and user.shape == read.shape else pattern
