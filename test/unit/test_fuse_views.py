"""Slices that are parts of what is in memory: which stay outside of kernels, and what graphs with them compute."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from evaluate import NDArray
from fused import arrays, assert_close, kernels, module_of
from onnx import ModelProto, TensorProto, helper, numpy_helper

import weft
from weft.dialects.relay.copying import copied_from
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import Diagnostic
from weft.runtime.graph_executor import GraphModule

pytestmark = pytest.mark.sampled(5)

STEPS = """
relay.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<1x8xf32> {
  %p = relay.nn.dense %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %s0 = relay.strided_slice %p {begin = array<i64: 1>, end = array<i64: 2>, axes = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %h0 = relay.tanh %s0 : tensor<1x8xf32>
  %r = relay.nn.dense %h0, %w : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  %s1 = relay.strided_slice %p {begin = array<i64: 3>, end = array<i64: 4>, axes = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %h1 = relay.tanh %s1 : tensor<1x8xf32>
  %y = relay.nn.dense %h1, %r : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x1xf32>
  %z = relay.multiply %r, %y : (tensor<1x8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32>
  relay.return %z : tensor<1x8xf32>
}
"""  # noqa: E501


def sliced(begin: str, end: str, shape: str, *, data: str = "%p", after: str = "relay.tanh") -> str:
    """A product, whose slice is taken; `data` may be `%x`, an input."""
    return f"""
    relay.func @main(%x: tensor<4x2x8xf32>, %w: tensor<4x8x8xf32>) -> tensor<{shape}xf32> {{
      %p = relay.nn.batch_matmul %x, %w : (tensor<4x2x8xf32>, tensor<4x8x8xf32>) -> tensor<4x2x8xf32>
      %s = relay.strided_slice {data} {{begin = array<i64: {begin}>, end = array<i64: {end}>}} : (tensor<4x2x8xf32>) -> tensor<{shape}xf32>
      %y = {after} %s : tensor<{shape}xf32>
      relay.return %y : tensor<{shape}xf32>
    }}
    """  # noqa: E501


def test_kernels_that_differ_in_where_slices_begin_are_one() -> None:
    assert kernels(STEPS).count("strided_slice tanh") == 0
    assert kernels(STEPS, "tvm").count("strided_slice tanh") == 2
    compiled = weft.compile(module_of(STEPS), threads=1)
    assert "strided_slice" not in compiled.ir["llvm"]  # no kernel copies one
    given = arrays(STEPS)
    assert_close(results(STEPS, given), evaluate_function(main_of(STEPS), given))


@pytest.mark.parametrize(
    ("text", "separate"),
    [
        (sliced("1, 0, 0", "3, 2, 8", "2x2x8"), True),
        (sliced("2, 1, 0", "3, 2, 8", "1x1x8"), True),
        (sliced("2, 1, 3", "3, 2, 6", "1x1x3"), True),
        (sliced("-1, 0, 0", "4, 2, 8", "1x2x8"), True),
        (sliced("0, 1, 0", "4, 2, 8", "4x1x8"), False),
        (sliced("1, 0, 2", "2, 2, 4", "1x2x2"), False),
        (sliced("1, 0, 0", "3, 2, 8", "2x2x8", data="%x"), False),
    ],
)
def test_slices_are_memory_where_their_elements_stand_one_after_the_other(text: str, separate: bool) -> None:
    assert ("strided_slice" in kernels(text)) == separate
    given = arrays(text)
    assert_close(results(text, given), evaluate_function(main_of(text), given))


def blocked(after: str = "relay.nn.softmax", result: str = "%y") -> str:
    """What is brought out of blocks of channels, and reshaped."""
    return f"""
    relay.func @main(%x: tensor<1x2x3x5x4xf32>) -> tensor<1x120xf32> {{
      %a = relay.abs %x : tensor<1x2x3x5x4xf32>
      %t = relay.layout_transform %a {{src_layout = "NCHW4c", dst_layout = "NCHW"}} : (tensor<1x2x3x5x4xf32>) -> tensor<1x8x3x5xf32>
      %s = relay.reshape %t {{newshape = array<i64: 8, 15>}} : (tensor<1x8x3x5xf32>) -> tensor<8x15xf32>
      %r = relay.reshape %s {{newshape = array<i64: 1, 120>}} : (tensor<8x15xf32>) -> tensor<1x120xf32>
      %y = {after} %r : tensor<1x120xf32>
      relay.return {result} : tensor<1x120xf32>
    }}
    """  # noqa: E501


def test_reshapes_behind_a_change_of_layout_are_memory() -> None:
    assert kernels(blocked()) == ["abs layout_transform", "reshape reshape", "nn.softmax"]
    assert kernels(blocked(), "tvm") == ["abs layout_transform reshape reshape", "nn.softmax"]
    given = arrays(blocked())
    assert_close(results(blocked(), given), evaluate_function(main_of(blocked()), given))


def test_reshapes_that_are_results_or_in_the_middle_of_a_kernel_stay() -> None:
    assert kernels(blocked(result="%r"))[:1] == ["abs layout_transform reshape reshape"]
    assert kernels(blocked(after="relay.exp")) == ["abs layout_transform reshape reshape exp"]


def results(text: str, given: list[NDArray]) -> list[NDArray]:
    """What machine code gives."""
    found = weft.compile(module_of(text), threads=1)(*given)
    return list(found) if isinstance(found, tuple) else [found]


def main_of(text: str) -> FuncOp:
    main = next(iter(module_of(text).body.block.ops))
    assert isinstance(main, FuncOp)
    return main


def test_what_is_computed_only_to_be_sliced_stays_with_its_slice() -> None:
    text = sliced("1, 0, 0", "3, 2, 8", "2x2x8").replace("relay.nn.batch_matmul", "relay.add")
    text = text.replace("tensor<4x8x8xf32>", "tensor<4x2x8xf32>")
    assert kernels(text) == ["add strided_slice tanh"]


def test_a_slice_of_what_is_returned_is_computed_with_its_user() -> None:
    text = sliced("1, 0, 0", "3, 2, 8", "2x2x8").replace(
        "-> tensor<2x2x8xf32> {", "-> (tensor<2x2x8xf32>, tensor<4x2x8xf32>) {"
    )
    text = text.replace(
        "relay.return %y : tensor<2x2x8xf32>", "relay.return %y, %p : tensor<2x2x8xf32>, tensor<4x2x8xf32>"
    )
    assert kernels(text) == ["nn.batch_matmul", "strided_slice tanh"]
    given = arrays(text)
    assert_close(results(text, given), evaluate_function(main_of(text), given))


def test_a_slice_stands_behind_a_kernel_that_stands_where_its_last_operator_can() -> None:
    """Its data are computed with what reads the maxima, after the place where the slice stood."""
    t, r = "tensor<8x8xf32>", "tensor<1x8xf32>"
    text = f"""relay.func @main(%x: {t}, %y: {t}, %w: {t}) -> ({r}, {t}) {{
      %0 = relay.exp %x : {t}
      %s = relay.strided_slice %0 {{begin = array<i64: 3>, end = array<i64: 4>, axes = array<i64: 0>}} : ({t}) -> {r}
      %1 = relay.nn.dense %y, %w : ({t}, {t}) -> {t}
      %p = relay.max %1 {{axis = array<i64: 0>, keepdims = true}} : ({t}) -> {r}
      %2 = relay.subtract %x, %p : ({t}, {r}) -> {t}
      %3 = relay.nn.dense %2, %w : ({t}, {t}) -> {t}
      %4 = relay.max %3 {{axis = array<i64: 0>, keepdims = true}} : ({t}) -> {r}
      %5 = relay.multiply %s, %4 : ({r}, {r}) -> {r}
      %6 = relay.nn.dense %3, %0 : ({t}, {t}) -> {t}
      relay.return %5, %6 : {r}, {t}
    }}"""
    found = kernels(text)
    assert found.index("exp subtract -> 2") < found.index("strided_slice") < found.index("multiply")
    given = arrays(text)
    assert_close(results(text, given), evaluate_function(main_of(text), given))


def test_slices_stay_in_kernels_where_extents_are_open() -> None:
    text = sliced("1, 0, 0", "3, 2, 8", "2x2x8")
    text = text.replace("%w: tensor<4x8x8xf32>)", "%w: tensor<4x8x8xf32>, %v: tensor<?x8xf32>)")
    text = text.replace("-> tensor<2x2x8xf32> {", "-> (tensor<2x2x8xf32>, tensor<?x8xf32>) {")
    text = text.replace(
        "      relay.return %y : tensor<2x2x8xf32>",
        """      %o = relay.exp %v : tensor<?x8xf32>
      relay.return %y, %o : tensor<2x2x8xf32>, tensor<?x8xf32>""",
    )
    assert kernels(text) == ["nn.batch_matmul", "strided_slice tanh", "exp"]
    given = arrays(text)
    assert_close(results(text, given), evaluate_function(main_of(text), given))


def test_what_a_slice_copies_begins_at_the_sum_of_what_it_is_sliced_by() -> None:
    text = """
    relay.func @f(%x: tensor<4x6xf32>) -> tensor<3xf32> attributes {primitive} {
      %0 = relay.strided_slice %x {begin = array<i64: 2, 0>, end = array<i64: 4, 6>} : (tensor<4x6xf32>) -> tensor<2x6xf32>
      %1 = relay.reshape %0 {newshape = array<i64: 3, 4>} : (tensor<2x6xf32>) -> tensor<3x4xf32>
      %2 = relay.strided_slice %1 {begin = array<i64: 1, 1>, end = array<i64: 2, 4>} : (tensor<3x4xf32>) -> tensor<1x3xf32>
      %3 = relay.squeeze %2 : (tensor<1x3xf32>) -> tensor<3xf32>
      relay.return %3 : tensor<3xf32>
    }
    """  # noqa: E501
    assert copied_from(main_of(text)) == 2 * 6 + 1 * 4 + 1
    assert (
        copied_from(main_of(text.replace("array<i64: 2, 4>", "array<i64: 3, 2>").replace("1x3xf32", "2x1xf32"))) is None
    )


def gated(steps: int, width: int) -> ModelProto:
    """A GRU."""
    rng = np.random.default_rng(0)
    weights = {"w": (1, 3 * width, width), "r": (1, 3 * width, width), "b": (1, 6 * width)}
    node = helper.make_node("GRU", ["x", *weights], ["", "y"], hidden_size=width)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps, 1, width])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, width])]
    held = [numpy_helper.from_array(rng.standard_normal(s).astype("f") / 4, name) for name, s in weights.items()]
    return helper.make_model(helper.make_graph([node], "g", inputs, outputs, held))


@pytest.mark.parametrize("executor", ["aot", "graph"])
def test_steps_of_a_recurrent_network_share_their_kernels(executor: str) -> None:
    model = gated(12, 16)
    x = np.random.default_rng(1).standard_normal((12, 1, 16)).astype("f")
    wanted: Any = weft.compile(model, threads=1, opt_level=0)(x)
    found: Any
    if executor == "aot":
        compiled = weft.compile(model, threads=1)
        kernels = set(re.findall(r"llvm\.func @(fused_\w+)", compiled.ir["llvm"]))
        assert len(kernels) < 10  # of twelve steps, each with a product and its gates
        found = compiled(x)
    else:
        module = weft.compile(model, threads=1, executor="graph")
        assert isinstance(module, GraphModule)
        module.run(x=x)
        found = module.get_output(0)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("begin", ["100", "-16", "4.5", "x"])
def test_a_part_that_a_graph_in_json_does_not_have_is_refused(begin: str) -> None:
    module = weft.compile(module_of(STEPS), threads=1, executor="graph")
    assert isinstance(module, GraphModule)
    given = arrays(STEPS)
    found = GraphModule(module.graph_json, module.library, module.params)(*given)
    assert_close([found] if isinstance(found, np.ndarray) else list(found), evaluate_function(main_of(STEPS), given))
    edited = re.sub('"begins": "96"', f'"begins": "{begin}"', module.graph_json)
    assert edited != module.graph_json
    with pytest.raises(Diagnostic, match=f"copies a part of one tensor to one, and there is none from byte {begin} on"):
        GraphModule(edited, module.library, module.params)
