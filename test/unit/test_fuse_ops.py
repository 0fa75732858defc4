"""`fuse-ops`: its analysis against slow definitions, its remarks, its options, its results on deep and odd graphs."""

from __future__ import annotations

import random
import re

import pytest
from evaluate import assert_same_results
from oracle_records import graph_of, records
from oracle_relay import build, unsupported
from random_networks import random_network
from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, FunctionType, FusedLoc, IntAttr, ModuleOp, StringAttr, TensorType, f32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from weft import PassContext
from weft.dialects.relay.base import Fusion, RelayOp
from weft.dialects.relay.core import FuncOp, PrimitiveOp, ReturnOp, TupleOp
from weft.dialects.relay.ops.elementwise import CopyOp
from weft.dialects.relay.ops.nn.activation import ReluOp, SoftmaxOp
from weft.dialects.relay.ops.nn.dense import DenseOp
from weft.dialects.relay.ops.reduce import SumOp
from weft.dialects.relay.ops.slicing import ConcatenateOp
from weft.dialects.relay.ops.transcendental import ExpOp, TanhOp
from weft.dialects.relay.ops.transform import TransposeOp
from weft.dialects.support.diagnostics import Place
from weft.dialects.support.parser import parse_module
from weft.transforms.infra import remarks
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.relay.fuse_ops import FuseOpsPass
from weft.transforms.relay.fusion.dominators import post_dominators
from weft.transforms.relay.fusion.graph import ForwardGraph
from weft.transforms.relay.fusion.partition import partition
from weft.transforms.relay.outline_primitives import OutlinePrimitivesPass

MATRIX = TensorType(f32, [4, 4])


class Function:
    """A function of one matrix under construction."""

    def __init__(self) -> None:
        self.block = Block(arg_types=[MATRIX])
        self.input: SSAValue = self.block.args[0]
        self.line = 0

    def add(self, op: Operation) -> SSAValue:
        self.line += 1
        op.location = FileLineColLoc(StringAttr("net.mlir"), IntAttr(self.line), IntAttr(1))
        self.block.add_op(op)
        return op.results[0]

    def module(self, *results: SSAValue) -> ModuleOp:
        self.block.add_op(ReturnOp(*results))
        outputs: list[Attribute] = [result.type for result in results]
        return ModuleOp([FuncOp("main", FunctionType.from_lists([MATRIX], outputs), Region(self.block))])


def kernels(module: ModuleOp) -> list[list[str]]:
    """The names of the operators of each kernel."""
    return [
        [inner.name.removeprefix("relay.") for inner in op.body.block.ops if isinstance(inner, RelayOp)]
        for op in module.walk()
        if isinstance(op, PrimitiveOp)
    ]


def random_graph(generator: random.Random, size: int) -> ForwardGraph:
    graph = ForwardGraph()
    for node in range(size):
        graph.add(Fusion.ELEMWISE)
        for value in generator.sample(range(node), min(node, generator.randint(0, 3))):
            graph.connect(value, node, generator.choice([Fusion.ELEMWISE, Fusion.BROADCAST, Fusion.INJECTIVE]))
        graph.external[node] = generator.random() < 0.1
    return graph


def paths_meet_at(graph: ForwardGraph, node: int) -> set[int]:
    """The nodes other than `node` that are on every path from it to the outside, by the definition."""

    def escapes(without: int) -> bool:
        pending, seen = [node], {node}
        while pending:
            at = pending.pop()
            if graph.external[at] or not graph.users[at]:
                return True
            new = {user for user in graph.users[at] if user != without} - seen
            seen |= new
            pending.extend(new)
        return False

    return {other for other in range(node + 1, len(graph)) if not escapes(other)}


@pytest.mark.parametrize("seed", range(20))
def test_the_parent_is_the_nearest_node_that_no_path_avoids(seed: int) -> None:
    graph = random_graph(random.Random(seed), 40)
    dominators = post_dominators(graph)
    for node in range(len(graph)):
        meeting = paths_meet_at(graph, node)
        assert dominators.parent[node] == (min(meeting) if meeting else None)


@pytest.mark.parametrize("seed", range(20))
def test_the_pattern_is_the_greatest_of_all_edges_before_the_parent(seed: int) -> None:
    graph = random_graph(random.Random(seed), 40)
    dominators = post_dominators(graph)
    for node, parent in enumerate(dominators.parent):
        if parent is None:
            continue
        between, pending = {node}, [node]
        while pending:
            new = {user for user in graph.users[pending.pop()] if user != parent} - between
            between |= new
            pending.extend(new)
        assert dominators.pattern[node] == max(graph.edges[member] for member in between)


def test_a_group_is_never_larger_than_max_depth() -> None:
    graph = ForwardGraph()
    for node in range(100):
        graph.add(Fusion.ELEMWISE)
        if node:
            graph.connect(node - 1, node, Fusion.ELEMWISE)
    roots = partition(graph, max_depth=7).root
    assert max(map(roots.count, roots)) == 7


def test_a_chain_of_thousands_needs_no_recursion() -> None:
    function = Function()
    value = function.input
    for _ in range(5000):
        value = function.add(ExpOp(value))
    module = function.module(value)
    FuseOpsPass().apply(Context(), module)
    assert sum(map(len, kernels(module))) == 5000
    assert max(map(len, kernels(module))) == 256


def test_the_level_is_the_contexts_where_none_is_given() -> None:
    function = Function()
    module = function.module(function.add(TanhOp(function.add(ExpOp(function.input)))))
    with PassContext(opt_level=0):
        assert kernels(FuseOpsPass()(module)) == [["exp"], ["tanh"]]
        assert kernels(FuseOpsPass(fuse_opt_level=1)(module)) == [["exp", "tanh"]]
    with PassContext(opt_level=2):
        assert kernels(FuseOpsPass()(module)) == [["exp", "tanh"]]
    with PassContext(opt_level=2, config={"relay.FuseOps.max_depth": 1}):
        assert kernels(FuseOpsPass()(module)) == [["exp"], ["tanh"]]


def test_the_order_of_the_block_does_not_matter() -> None:
    function = Function()
    left, right = function.add(ExpOp(function.input)), function.add(TanhOp(function.input))
    pair = function.add(TupleOp(right, left))
    module = function.module(function.add(ReluOp(function.add(ConcatenateOp(pair, axis=0)))))
    assert kernels(FuseOpsPass()(module)) == [["tanh", "exp", "concatenate", "nn.relu"]]


def test_a_kernel_stands_for_the_places_of_its_operators() -> None:
    function = Function()
    module = FuseOpsPass()(function.module(function.add(TanhOp(function.add(ExpOp(function.input))))))
    (primitive,) = (op for op in module.walk() if isinstance(op, PrimitiveOp))
    assert isinstance(primitive.location, FusedLoc)
    assert 'fused["net.mlir":1:1, "net.mlir":2:1]' in str(primitive.location)


def reasons(module: ModuleOp, max_depth: int = 256, strategy: str = "weft") -> dict[str, str]:
    """What the pass says about each operator."""
    with remarks.collect() as collected:
        FuseOpsPass(max_depth=max_depth, strategy=strategy)(module)
    return {r.op_name.removeprefix("relay."): r.message for r in collected if r.pass_name == "fuse-ops"}


@pytest.mark.parametrize("strategy", ["weft", "tvm"])
def test_each_value_that_goes_from_kernel_to_kernel_says_why(strategy: str) -> None:
    """Those that are results of the function too, and one of several results of a kernel."""
    networks = [random_network(random.Random(seed), 12) for seed in range(12)]
    networks.append(parse_module(SEVERAL_RESULTS, new_ir_context(), "several.mlir"))
    crossings = 0
    for module in networks:
        for line, op in enumerate(module.walk(), 1):
            op.location = FileLineColLoc(StringAttr("net.mlir"), IntAttr(line), IntAttr(1))
        with remarks.collect() as collected:
            fused = FuseOpsPass(strategy=strategy)(module)
        told = {remark.location for remark in collected if remark.pass_name == "fuse-ops"}
        for kernel in [op for op in fused.walk() if isinstance(op, PrimitiveOp)]:
            end = kernel.body.block.last_op
            assert end is not None
            for result, value in zip(kernel.results, end.operands, strict=True):
                if any(isinstance(use.operation, PrimitiveOp) for use in result.uses):
                    crossings += 1
                    assert isinstance(value.owner, Operation)
                    assert value.owner.location in told, f"{value.owner.name} says nothing"
    assert crossings > 20


SEVERAL_RESULTS = """
relay.func @main(%x: tensor<64x512xf32>) -> (tensor<64xf32>, tensor<64x512xf32>, tensor<512x64xf32>) {
  %1 = relay.nn.relu %x : tensor<64x512xf32>
  %2 = relay.sum %1 {axis = array<i64: 1>} : (tensor<64x512xf32>) -> tensor<64xf32>
  %3 = relay.exp %1 : tensor<64x512xf32>
  %4 = relay.transpose %1 {axes = array<i64: 1, 0>} : (tensor<64x512xf32>) -> tensor<512x64xf32>
  relay.return %2, %3, %4 : tensor<64xf32>, tensor<64x512xf32>, tensor<512x64xf32>
}
"""


def test_a_result_of_several_kernels_names_the_users_that_are_apart() -> None:
    assert reasons(parse_module(SEVERAL_RESULTS, new_ir_context(), "several.mlir"))["nn.relu"] == (
        "not fused into 'relay.transpose': several kernels use it"
    )


def test_users_that_do_not_meet_are_a_reason() -> None:
    function = Function()
    value = function.add(ExpOp(function.input))
    module = function.module(function.add(TanhOp(value)), function.add(ReluOp(value)))
    assert reasons(module, strategy="tvm") == {
        "exp": "not fused into its users: its users do not meet again before the function's results"
    }


def test_the_limit_is_a_reason() -> None:
    function = Function()
    module = function.module(function.add(TanhOp(function.add(ExpOp(function.input)))))
    assert reasons(module, max_depth=1) == {
        "exp": "not fused into its users: the group would become larger than max-depth ('relay.tanh')"
    }


def test_a_tuple_outside_is_a_reason() -> None:
    function = Function()
    module = function.module(function.add(TupleOp(function.add(ExpOp(function.input)))))
    assert reasons(module) == {
        "exp": "not fused into its users: its users meet in a tuple, which stays outside of kernels ('relay.tuple')"
    }


def test_a_way_that_changes_shapes_is_a_reason() -> None:
    function = Function()
    module = function.module(function.add(TransposeOp(function.add(SoftmaxOp(function.input)))))
    assert reasons(module) == {
        "nn.softmax": "not fused into its users: a use on the way changes the shape or the order of its elements "
        "('relay.transpose')"
    }


def test_an_operator_on_the_way_is_a_reason() -> None:
    function = Function()
    value = function.add(TransposeOp(function.input))
    heavy = function.add(SoftmaxOp(value))
    pair = function.add(TupleOp(value, heavy))
    module = function.module(function.add(ConcatenateOp(pair, axis=0)))
    assert reasons(module)["transpose"] == (
        "not fused into its users: an operator on the way cannot be fused ('relay.nn.softmax')"
    )


def test_a_sink_that_takes_nothing_in_is_a_reason() -> None:
    function = Function()
    value = function.add(TransposeOp(function.input))
    module = function.module(function.add(DenseOp(value, value)))
    assert reasons(module) == {
        "transpose": "not fused into its users: the operator where its users meet cannot take it in ('relay.nn.dense')"
    }


def test_a_reduction_says_that_nothing_follows_it() -> None:
    function = Function()
    module = function.module(function.add(TanhOp(function.add(SumOp(function.input, axis=[0])))))
    reason = "an operator needs more of a value than the row that it computes"
    assert reasons(module) == {"sum": f"not fused into its users: {reason}"}


def test_what_is_dropped_is_told() -> None:
    function = Function()
    function.add(CopyOp(function.input))
    assert reasons(function.module(function.input)) == {"copy": "nothing needs it: dropped"}


SMALL = [record for record in records("fuse_ops") if len(graph_of(record).nodes) < 12]


@pytest.mark.parametrize("seed", range(min(10, len(SMALL))))
@pytest.mark.parametrize("link_params", [False, True])
def test_fused_and_outlined_functions_compute_the_same(seed: int, link_params: bool) -> None:
    graph = graph_of(SMALL[seed])
    if unsupported(graph):
        pytest.skip("belongs to a later stage")
    module = build(graph)
    fused = FuseOpsPass(link_params=link_params)(module)
    fused.verify()
    outlined = OutlinePrimitivesPass()(fused)
    outlined.verify()
    assert_same_results(module, fused)
    assert_same_results(module, outlined)


def test_the_arguments_of_a_kernel_stand_where_what_they_take_is_made() -> None:
    text = """relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.nn.softmax %x : tensor<4xf32>
  %z = relay.nn.softmax %y : tensor<4xf32>
  relay.return %z : tensor<4xf32>
}"""
    module = OutlinePrimitivesPass()(FuseOpsPass()(parse_module(text, new_ir_context(), "m.mlir")))
    kernels = [op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data != "main"]
    places = [str(Place.of_location(argument.location)) for kernel in kernels for argument in kernel.body.block.args]
    assert places == ["m.mlir:1:18"]  # both share a kernel, which is made of the first


def kernel_names(operators: list[str]) -> list[str]:
    """What the kernel of a chain of operators is called."""
    lines = [f"  %{n + 1} = relay.{name} %{n} : tensor<4xf32>" for n, name in enumerate(operators)]
    text = "\n".join(["relay.func @main(%0: tensor<4xf32>) -> tensor<4xf32> {", *lines])
    text += f"\n  relay.return %{len(operators)} : tensor<4xf32>\n}}"
    module = OutlinePrimitivesPass()(FuseOpsPass()(parse_module(text, new_ir_context(), "m.mlir")))
    return [op.sym_name.data for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data != "main"]


def test_a_kernel_is_called_by_its_operators_and_a_long_name_ends_in_16_digits() -> None:
    assert kernel_names(["tanh", "nn.relu"]) == ["fused_tanh_nn_relu"]
    (long,), (other,) = kernel_names(["nn.relu"] * 40), kernel_names(["nn.relu"] * 39 + ["tanh"])
    readable = ("fused" + "_nn_relu" * 40)[:80]
    assert re.fullmatch(rf"{readable}_[0-9a-f]{{16}}_", long) and re.fullmatch(rf"{readable}_[0-9a-f]{{16}}_", other)
    assert long != other
