"""Regions for other compilers: which operators are bounded for whom, which bounds stay, what functions come of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from weft import Backend, Diagnostic, register_backend, relay, remove_backend
from weft.dialects.relay.core import CallOp, ConstantOp, FuncOp, PrimitiveOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.relay.ops.annotation import CompilerBeginOp, CompilerEndOp
from weft.dialects.support.diagnostics import UsageError
from weft.frontend.mlir import parse_mlir
from weft.transforms.relay.backends import PatternEntry
from weft.transforms.relay.dataflow.pattern import is_op, wildcard
from weft.transforms.relay.defuse_ops import DefuseOpsPass
from weft.transforms.relay.infer_type import InferTypePass
from weft.transforms.relay.inline_compiler_functions_bound_to import InlineCompilerFunctionsBoundToPass
from weft.transforms.relay.merge_compiler_regions import MergeCompilerRegionsPass
from weft.transforms.relay.partition_graph import PartitionGraphPass


def floats(*values: float) -> npt.NDArray[np.float32]:
    return np.array(values, np.float32)


class Taking(Backend):
    """Supports the operators of some names."""

    def __init__(self, name: str, *taken: str, patterns: Sequence[PatternEntry] = ()):
        self.name = name  # pyright: ignore[reportAttributeAccessIssue]
        self._taken = {f"relay.{each}" for each in taken}
        self._patterns = patterns
        self.optimized: list[str] = []

    def patterns(self) -> Sequence[PatternEntry]:
        return self._patterns

    def supports(self, op: Operation) -> bool:
        return op.name in self._taken

    def optimize(self, function: FuncOp) -> None:
        self.optimized.append(function.sym_name.data)


Take = Callable[..., Taking]


@pytest.fixture
def take() -> Iterator[Take]:
    """Registers backends for one test."""
    names: list[str] = []

    def register(name: str, *taken: str, patterns: Sequence[PatternEntry] = ()) -> Taking:
        names.append(name)
        backend = Taking(name, *taken, patterns=patterns)
        register_backend(backend)
        return backend

    yield register
    for name in names:
        remove_backend(name)


def graph(text: str, arguments: str = "%x: tensor<4xf32>", result: str = "tensor<4xf32>") -> ModuleOp:
    return parse_mlir(f"relay.func @main({arguments}) -> {result} {{\n{text}\n}}", "graph.mlir")


def relu_abs_add() -> ModuleOp:
    return graph("""
  %a = relay.nn.relu %x : tensor<4xf32>
  %b = relay.abs %a : tensor<4xf32>
  %c = relay.nn.relu %a : tensor<4xf32>
  %d = relay.add %b, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %d : tensor<4xf32>""")


def main_of(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")


def compilers(module: ModuleOp) -> dict[str, list[str]]:
    """The compilers of what enters each operator, by its name and number."""
    found: dict[str, list[str]] = {}
    for op in main_of(module).body.block.ops:
        entering = [o.owner.compiler.data for o in op.operands if isinstance(o.owner, CompilerBeginOp)]
        if entering:
            found[f"{op.name.removeprefix('relay.')} {len(found)}"] = entering
    return found


def bounds_are_in_pairs(module: ModuleOp) -> bool:
    """Whether each value that leaves a region enters another, or the graph's result."""
    ends = [op for op in module.walk() if isinstance(op, CompilerEndOp)]
    return all(
        isinstance(use.operation, CompilerBeginOp) or use.operation.name == "relay.return"
        for end in ends
        for use in end.result.uses
    )


@pytest.mark.parametrize("non_calls", [False, True])
def test_two_runs_annotate_as_one_for_both_does(take: Take, non_calls: bool) -> None:
    take("A", "nn.relu")
    take("B", "add")
    first = relay.transform.AnnotateTarget("A", non_calls)(relu_abs_add())
    twice = relay.transform.AnnotateTarget("B", non_calls)(first)
    at_once = relay.transform.AnnotateTarget(["A", "B"], non_calls)(relu_abs_add())
    assert str(twice) == str(at_once)
    assert compilers(at_once) == {"nn.relu 0": ["A"], "abs 1": ["default"], "nn.relu 2": ["A"], "add 3": ["B", "B"]}
    assert bounds_are_in_pairs(at_once)
    assert str(relay.transform.AnnotateTarget("A", non_calls)(first)) == str(first)


def test_the_first_backend_that_supports_an_operator_takes_it(take: Take) -> None:
    take("A", "nn.relu", "add")
    take("B", "add")
    assert compilers(relay.transform.AnnotateTarget(("B", "A"))(relu_abs_add()))["add 3"] == ["B", "B"]
    assert compilers(relay.transform.AnnotateTarget(("A", "B"))(relu_abs_add()))["add 3"] == ["A", "A"]


def test_branches_end_their_regions_and_are_inputs_of_what_follows(take: Take) -> None:
    take("T", "equal", "tanh", "sigmoid", "erf")
    module = graph(
        """
  %c = relay.equal %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %y = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
    %0 = relay.tanh %x : tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  } else {
    %0 = relay.sigmoid %x : tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  }
  %z = relay.erf %y : tensor<4xf32>
  relay.return %z : tensor<4xf32>""",
        "%x: tensor<4xf32>, %p: tensor<f32>, %q: tensor<f32>",
    )
    annotated = relay.transform.AnnotateTarget("T")(module)
    branch = next(op for op in annotated.walk() if op.name == "relay.if")
    assert isinstance(branch.operands[0].owner, CompilerEndOp)
    for region in branch.regions:
        last = region.block.last_op
        assert last is not None and isinstance(last.operands[0].owner, CompilerEndOp)
    entering = [op for op in annotated.walk() if isinstance(op, CompilerBeginOp) and op.data.owner is branch]
    assert len(entering) == 1  # without an end: the branch is in no region
    merged = MergeCompilerRegionsPass()(annotated)
    parts = PartitionGraphPass()(merged)
    assert sum(isinstance(op, CallOp) for op in parts.walk()) == 4
    inputs = [floats(1, -1, 0, 2), np.array(3, np.float32), np.array(3, np.float32)]
    for taken in (inputs, [*inputs[:2], np.array(0, np.float32)]):
        expected = evaluate_function(main_of(module), taken)
        np.testing.assert_array_equal(evaluate_function(main_of(parts), taken)[0], expected[0])


def test_regions_merge_as_far_as_no_value_comes_back(take: Take) -> None:
    """TVM's worked example: additions are taken, subtractions are not."""
    take("T", "add")
    names = [f"%i{n}" for n in range(10)]
    arguments = ", ".join(f"{name}: tensor<4xf32>" for name in names)
    lines = [
        ("%n0", "add", "%i0", "%i1"), ("%n1", "add", "%i2", "%i3"), ("%n2", "add", "%n0", "%n1"),
        ("%n3", "subtract", "%i4", "%i5"), ("%n4", "subtract", "%i6", "%n3"), ("%n5", "add", "%n2", "%n4"),
        ("%n6", "subtract", "%i7", "%n5"), ("%n7", "add", "%i8", "%n5"), ("%n8", "add", "%n6", "%n7"),
        ("%n9", "add", "%i9", "%n8"),
    ]  # fmt: skip
    type = "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"
    text = "\n".join(f"  {new} = relay.{op} {a}, {b} : {type}" for new, op, a, b in lines)
    module = graph(text + "\n  relay.return %n9 : tensor<4xf32>", arguments)
    parts = relay.transform.partition_for(module, "T")
    functions = [op for op in parts.ops if isinstance(op, FuncOp) and "Compiler" in op.attributes]
    inside = [[op.name for op in f.body.block.ops] for f in functions]
    assert sorted(ops.count("relay.add") for ops in inside) == [2, 5]
    assert [op.name for op in main_of(parts).body.block.ops] == [
        "relay.subtract", "relay.subtract", "relay.call", "relay.subtract", "relay.call", "relay.return",
    ]  # fmt: skip
    first = functions[[ops.count("relay.add") for ops in inside].index(5)]
    assert len(first.function_type.outputs) == 2 and len(first.function_type.inputs) == 6
    arrays = [floats(n, 1, -n, 2 * n) for n in range(10)]
    expected = evaluate_function(main_of(module), arrays)
    np.testing.assert_array_equal(evaluate_function(main_of(parts), arrays)[0], expected[0])


def test_regions_do_not_merge_around_one_that_has_become_larger(take: Take) -> None:
    take("A", "tanh", "add")
    take("B", "abs")
    take("C", "cos", "maximum")
    module = graph(
        """
  %a = relay.tanh %x : tensor<4xf32>
  %d = relay.abs %a : tensor<4xf32>
  %e = relay.cos %x : tensor<4xf32>
  %r = relay.add %a, %e : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = relay.maximum %d, %e : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %d, %r, %q : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>""",
        result="(tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)",
    )
    wanted = evaluate_function(main_of(module), [floats(-1, 0, 1, 2)])
    parts = relay.transform.partition_for(module, "A", "B", "C")
    assert len(list(parts.ops)) == 1 + 4, "%a and %r are one, by which %d needs %e"
    assert np.array_equal(evaluate_function(main_of(parts), [floats(-1, 0, 1, 2)]), wanted)


def test_regions_do_not_merge_around_what_is_in_none(take: Take) -> None:
    take("A", "tanh", "add")
    module = graph("""
  %a = relay.tanh %x : tensor<4xf32>
  %t = relay.tuple(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %b = relay.tuple_get %t[0] : tuple<tensor<4xf32>, tensor<4xf32>> -> tensor<4xf32>
  %c = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %c : tensor<4xf32>""")
    annotated = relay.transform.AnnotateTarget("A", include_non_call_ops=False)(module)
    parts = PartitionGraphPass()(MergeCompilerRegionsPass()(annotated))
    assert len(list(parts.ops)) == 1 + 2
    (result,) = evaluate_function(main_of(parts), [floats(0, 1, 2, 3)])
    np.testing.assert_allclose(result.astype(np.float32), 2 * np.tanh(floats(0, 1, 2, 3)), rtol=1e-6)


def test_what_branches_use_leaves_its_region(take: Take) -> None:
    take("A", "abs", "tanh")
    module = graph(
        """
  %a = relay.abs %x : tensor<4xf32>
  %y = relay.if %c : (tensor<i1>) -> tensor<4xf32> {
    %0 = relay.tanh %a : tensor<4xf32>
    %1 = relay.add %0, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %1 : tensor<4xf32>
  } else {
    relay.yield %a : tensor<4xf32>
  }
  relay.return %y : tensor<4xf32>""",
        "%x: tensor<4xf32>, %c: tensor<i1>",
    )
    parts = relay.transform.partition_for(module, "A")
    for condition in (False, True):
        given = [floats(-1, 0, 1, 2), np.array(condition)]
        (wanted,), (found,) = (evaluate_function(main_of(each), given) for each in (module, parts))
        assert np.array_equal(found, wanted)
    assert len(list(parts.ops)) == 1 + 2


def test_composites_are_called_in_the_order_of_their_operands(take: Take) -> None:
    take("A", "negative", "add", patterns=[("A.tanh", is_op("tanh")(wildcard()))])
    take("B", patterns=[("B.abs", is_op("abs")(wildcard()))])
    module = graph(
        """
  %a = relay.negative %x : tensor<4xf32>
  %b = relay.abs %a : tensor<4xf32>
  %c = relay.abs %x : tensor<4xf32>
  %d = relay.add %a, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %b, %d : tensor<4xf32>, tensor<4xf32>""",
        result="(tensor<4xf32>, tensor<4xf32>)",
    )
    merged = relay.transform.MergeComposite([("B.abs", is_op("abs")(wildcard()))])(module)
    parts = PartitionGraphPass()(MergeCompilerRegionsPass()(relay.transform.AnnotateTarget("A")(merged)))
    b, d = evaluate_function(main_of(parts), [floats(-1, 0, 1, 2)])
    assert b.tolist() == [1, 0, 1, 2] and d.tolist() == [2, 0, 0, 0]


def test_what_stands_between_the_outputs_of_a_region_is_moved_behind_it(take: Take) -> None:
    take("T", "exp", "tanh")
    module = graph("""
  %a = relay.exp %x : tensor<4xf32>
  %b = relay.abs %a : tensor<4xf32>
  %c = relay.tanh %a : tensor<4xf32>
  %d = relay.add %b, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %d : tensor<4xf32>""")
    parts = relay.transform.partition_for(module, "T")
    assert [op.name for op in main_of(parts).body.block.ops] == [
        "relay.call", "relay.abs", "relay.add", "relay.return",
    ]  # fmt: skip
    parts.verify()


def test_a_backend_changes_the_functions_that_are_made_for_it(take: Take) -> None:
    backend = take("T", "add")
    parts = relay.transform.partition_for(relu_abs_add(), "T", mod_name="my-net")
    assert backend.optimized == ["tvmgen_my_net_T_main_0"]
    assert any(isinstance(op, CallOp) and op.callee.string_value() == backend.optimized[0] for op in parts.walk())


def test_constants_that_only_regions_use_leave_the_graph(take: Take) -> None:
    take("T", "add")
    text = """
  %c = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = relay.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>"""
    kept = relay.transform.partition_for(graph(text), "T", bind_constants=False)
    assert sum(isinstance(op, ConstantOp) for op in main_of(kept).walk()) == 1
    bound = relay.transform.partition_for(graph(text), "T")
    assert not any(isinstance(op, ConstantOp) for op in main_of(bound).walk())
    np.testing.assert_array_equal(evaluate_function(main_of(bound), [floats(1, 1, 1, 1)])[0], [2, 3, 4, 5])


def composites(module: ModuleOp) -> list[str]:
    names = (op.attributes["Composite"] for op in module.walk() if isinstance(op, PrimitiveOp))
    return [name.data for name in names if isinstance(name, StringAttr)]


def test_patterns_of_a_table_are_tried_in_order_and_composites_are_whole() -> None:
    relu = is_op("nn.relu")(wildcard())
    both = is_op("abs")(relu)
    table: list[PatternEntry] = [("t.both", both), ("t.relu", relu)]
    assert sorted(composites(relay.transform.MergeComposite(table)(relu_abs_add()))) == ["t.relu", "t.relu"]
    chain = graph("""
  %a = relay.nn.relu %x : tensor<4xf32>
  %b = relay.abs %a : tensor<4xf32>
  relay.return %b : tensor<4xf32>""")
    assert composites(relay.transform.MergeComposite(table)(chain)) == ["t.both"]
    assert composites(relay.transform.MergeComposite(table[::-1])(chain)) == ["t.relu"]


def test_a_check_can_refuse_a_match() -> None:
    x = wildcard()
    relu = is_op("nn.relu")(x)
    from_input = relay.transform.MergeComposite([("t.relu", relu, lambda match: match[x].name_hint == "x")])
    assert composites(from_input(relu_abs_add())) == ["t.relu"]


def test_a_composite_that_nobody_takes_is_compiled_as_a_kernel() -> None:
    import weft

    relu = is_op("nn.relu")(wildcard())
    module = relay.transform.MergeComposite([("t.relu", relu)])(relu_abs_add())
    x = floats(1, -2, 3, -4)
    np.testing.assert_array_equal(weft.compile(module)(x), weft.compile(relu_abs_add())(x))


def test_defusing_leaves_functions_for_other_compilers_alone(take: Take) -> None:
    take("T", "add")
    parts = relay.transform.partition_for(relu_abs_add(), "T")
    assert str(DefuseOpsPass()(parts)) == str(parts)


def test_a_name_that_composites_of_one_function_have_is_known_in_all() -> None:
    x, other = relay.var("x", shape=(4,)), relay.GlobalVar("other")
    module = relay.IRModule(
        {other: relay.Function([x], relay.abs(x)), "main": relay.Function([x], relay.nn.relu(other(x)))}
    )
    module = relay.transform.MergeComposite([("t.relu", is_op("nn.relu")(wildcard()))])(module)
    annotated = relay.transform.AnnotateTarget("t")(module)
    assert [op.compiler.data for op in annotated.walk() if isinstance(op, CompilerEndOp)].count("t") == 1


def test_what_there_is_not_is_told_of(take: Take) -> None:
    take("Test", "add")
    with pytest.raises(UsageError, match="no backend 'Tst'") as error:
        relay.transform.AnnotateTarget("Tst")(relu_abs_add())
    assert "Test" in str(error.value.hint)
    with pytest.raises(UsageError, match="there is a backend 'Test' already"):
        register_backend(Taking("Test"))
    with pytest.raises(UsageError, match="a backend has a name"):
        register_backend(Taking("default"))
    parts = relay.transform.partition_for(relu_abs_add(), "Test")
    with pytest.raises(UsageError, match="there is no function @f"):
        InlineCompilerFunctionsBoundToPass(global_vars=("f",))(parts)
    with pytest.raises(Diagnostic, match="is not marked Compiler"):
        InlineCompilerFunctionsBoundToPass(global_vars=("main",))(parts)
    named = relay.GlobalVar("tvmgen_default_Test_main_0")
    back = relay.transform.InlineCompilerFunctionsBoundTo([named])(parts)
    assert str(back) == str(InferTypePass()(relu_abs_add()))
