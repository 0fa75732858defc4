"""Recorded graphs with `let` and `if`, in Relay.

What a `let` binds is kept apart from what uses it by `annotation.stop_fusion`, which fusion takes away; a value that
only one branch of an `if` needs is computed there. Results are told without the bound variables and the `let`s, which
are no values of their own in SSA.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from oracle_fusion import Fused, Kernel, fused_block
from oracle_records import Graph, Node
from oracle_relay import ID, operation, type_of, unsupported
from xdsl.dialects.builtin import FunctionType, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from weft.dialects.relay.control import IfOp
from weft.dialects.relay.core import FuncOp, ReturnOp, YieldOp
from weft.dialects.relay.ops.annotation import StopFusionOp

Home = tuple[tuple[int, int], ...]
"""The branches that a node stands in, from the outside: `if`s with the places of the branches among their inputs."""


def is_control(graph: Graph) -> bool:
    """Whether `let` and `if` are all that a graph has beside operators."""
    kinds = set(unsupported(graph))
    return bool(kinds) and kinds <= {"let", "if"}


class Program:
    """A recorded graph as a module."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.nodes = {node.id: node for node in graph.nodes}
        self.bound = {node.inputs[0]: node.inputs[1] for node in graph.nodes if node.op == "let"}
        self.homes: dict[int, Home] = {graph.output: ()}
        read = {number for node in graph.nodes for number in node.inputs[1 if node.op == "let" else 0 :]}
        unused = [value for variable, value in self.bound.items() if variable not in read]
        self.results = [graph.output, *unused]
        self._find_homes()
        self.block = Block(arg_types=[type_of(self.nodes[i]) for i in graph.params])
        self.blocks: dict[Home, Block] = {(): self.block}
        self.values: dict[int, SSAValue] = dict(zip(graph.params, self.block.args, strict=True))

    def reads(self, node: Node) -> Iterator[tuple[int, Home]]:
        """What a node reads, with the branch of its own that reads it."""
        if node.id in self.bound:
            yield self.bound[node.id], ()
        elif node.op == "let":
            yield node.inputs[2], ()
        else:
            for place, read in enumerate(node.inputs):
                yield read, ((node.id, place),) if node.op == "if" and place else ()

    def _find_homes(self) -> None:
        homes: dict[int, Home] = dict.fromkeys(self.results, ())
        changed = True
        while changed:  # until every node stands where all that read it see it
            changed = False
            for node in reversed(self.graph.nodes):
                if node.id not in homes:
                    continue
                for read, branch in self.reads(node):
                    wanted = homes[node.id] + branch
                    found = _common(homes[read], wanted) if read in homes else wanted
                    if homes.get(read) != found:
                        homes[read] = found
                        changed = True
        self.homes = homes

    def module(self) -> ModuleOp:
        results = [self.value(i) for i in self.results]
        self.block.add_op(ReturnOp(*results))
        types = FunctionType.from_lists([arg.type for arg in self.block.args], [result.type for result in results])
        return ModuleOp([FuncOp("main", types, Region(self.block))])

    def value(self, number: int) -> SSAValue:
        """The value of a node, whose operations are added to the block where it stands."""
        if number not in self.values:
            self.values[number] = self._made(self.nodes[number])
        return self.values[number]

    def _made(self, node: Node) -> SSAValue:
        if node.op == "let":
            return self.value(node.inputs[2])
        if node.id in self.bound:
            op: Operation = StopFusionOp(self.value(self.bound[node.id]))
        elif node.op == "if":
            op = self._if(node)
        else:
            op = operation(node, [self.value(i) for i in node.inputs])
        if node.id not in self.bound:
            op.attributes[ID] = IntegerAttr(node.id, 64)
        self._block(self.homes[node.id]).add_op(op)
        return op.results[0]

    def _if(self, node: Node) -> IfOp:
        condition = self.value(node.inputs[0])
        regions: list[Region] = []
        for place in (1, 2):
            block = self._block((*self.homes[node.id], (node.id, place)))
            result = self.value(node.inputs[place])
            block.add_op(YieldOp(result))
            regions.append(Region(block))
        return IfOp(condition, [type_of(node)], *regions)

    def _block(self, home: Home) -> Block:
        return self.blocks.setdefault(home, Block())


def _common(one: Home, other: Home) -> Home:
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return one[:shared]


def told(graph: Graph, expected: Fused) -> Fused:
    """A recorded result without what SSA has not."""
    bound = {node.inputs[0]: node.inputs[1] for node in graph.nodes if node.op == "let"}
    bodies = {node.id: node.inputs[2] for node in graph.nodes if node.op == "let"}
    alias = {**bound, **bodies}
    seen = alias | {node.id: node.inputs[0] for node in graph.nodes if node.op == "annotation.stop_fusion"}

    def value(number: int) -> int:
        while number in seen:
            number = seen[number]
        return number

    def kernel(each: Kernel) -> Kernel:
        return replace(each, arguments=tuple(dict.fromkeys(map(value, each.arguments))))

    kernels = tuple(map(kernel, expected.kernels))
    outer = tuple(number for number in expected.outer if number not in alias)
    removed = tuple(number for number in expected.removed if number not in alias)
    return Fused(kernels, outer, removed, expected.copied)


def fused_program(graph: Graph, module: ModuleOp) -> Fused:
    """What became of a program."""
    (func,) = (op for op in module.ops if isinstance(op, FuncOp))
    found = fused_block(graph, func.body.block)
    alias = {n for node in graph.nodes if node.op == "let" for n in (node.id, node.inputs[0])}
    return replace(found, removed=tuple(number for number in found.removed if number not in alias))
