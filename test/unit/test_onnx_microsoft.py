"""Operators of ONNX Runtime's own domain give what ONNX Runtime gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

from microsoft_operators import DOMAIN, RNG, NDArray, S, T, W, Z, check, codes, floats, model, number, run
from onnx import helper, numpy_helper

from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.onnx import from_onnx
from weft.lowering.compiler import compile_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable

pytestmark = pytest.mark.sampled(5)


@pytest.mark.parametrize("operator", ["QLinearAdd", "QLinearMul"])
def test_two_quantised_tensors_meet(operator: str) -> None:
    check(operator, [codes(2, 3, 4), S, Z, codes(3, 1), T, Z, number(0.043), number(100, "uint8")])
    check(operator, [codes(5, dtype="int8"), S, W, codes(5, dtype="int8"), T, W, number(0.097), number(-3, "int8")])


def test_functions_of_quantised_tensors() -> None:
    x = codes(2, 3, 6, 6)
    check("QLinearSigmoid", [x, S, Z, number(1 / 256), number(0, "uint8")])
    check("QLinearLeakyRelu", [x, S, Z, T, number(90, "uint8")], alpha=0.2)
    check("QLinearSoftmax", [codes(3, 9), T, Z, number(1 / 256), number(0, "uint8")], axis=-1, opset=13)
    check("QLinearSoftmax", [codes(3, 2, 4), T, Z, number(1 / 256), number(0, "uint8")], axis=1, opset=12)
    check("QLinearAveragePool", [x, S, Z, T, Z], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
    check("QLinearGlobalAveragePool", [x, S, Z, T, Z])
    check("QLinearConcat", [T, Z, codes(2, 3), S, Z, codes(2, 2), T, number(7, "uint8")], axis=1)
    check("QLinearWhere", [RNG.random((3, 4)) > 0.5, codes(3, 4), S, Z, codes(4), T, Z, T, Z])


def test_products_of_quantised_matrices() -> None:
    a, b = codes(5, 8), codes(8, 6, dtype="int8")
    bias = RNG.integers(-999, 999, 6, np.int32)
    check("QGemm", [a, S, Z, b, T, W, bias, number(0.3), Z], fixed=(1, 2, 3, 4, 5, 6, 7, 8))
    check("QGemm", [a, S, Z, b.T.copy(), T, W, bias], fixed=(1, 2, 3, 4, 5, 6), transB=1, alpha=0.5)
    columns = (RNG.random(6) + 0.1).astype(np.float32), codes(6, dtype="int8")
    check("MatMulIntegerToFloat", [a, b, S, columns[0], Z, columns[1], floats(6)])
    check("DynamicQuantizeMatMul", [floats(4, 8), b, columns[0], columns[1], floats(6)])
    check("DynamicQuantizeMatMul", [np.zeros((4, 8), np.float32), b, T, W])


@pytest.mark.parametrize("zero", [False, True])
def test_weights_of_four_bits(zero: bool) -> None:
    rows, depth, block = 6, 40, 16
    blocks = 3
    packed, scales = codes(rows, blocks, block // 2), (RNG.random(rows * blocks) + 0.1).astype(np.float32)
    zeros = codes(rows * 2) if zero else None
    inputs = [floats(2, 3, depth), packed, scales, *([] if zeros is None else [zeros])]
    check("MatMulNBits", inputs, fixed=(1, 2, 3)[: len(inputs) - 1], K=depth, N=rows, bits=4, block_size=block)


def test_activations_and_norms_in_one() -> None:
    x = floats(2, 5, 8)
    for operator in ("Gelu", "FastGelu", "QuickGelu"):
        check(operator, [x])
    check("BiasGelu", [x, floats(8)])
    check("FastGelu", [x, floats(8)])
    made, feeds = model(
        "BiasAdd", [x, floats(8), floats(2, 5, 8)]
    )  # of which ONNX Runtime has no kernel for processors
    np.testing.assert_allclose(run(made, feeds)[0], sum(feeds.values()), rtol=1e-6)
    norm = [x, floats(2, 5, 8), floats(8)]
    check("SkipLayerNormalization", [*norm, floats(8), floats(8)], epsilon=1e-5)
    check("SkipLayerNormalization", [*norm, floats(8)])
    check("SkipSimplifiedLayerNormalization", norm, epsilon=1e-6)


def test_the_sum_under_a_norm_is_an_output() -> None:
    """A node that leaves out an input reads none of the outputs that others leave out."""
    x, skip, gamma = floats(2, 5, 8), floats(2, 5, 8), floats(8)
    made, feeds = model("SkipLayerNormalization", [x, skip, gamma], 4)
    made.graph.node[0].output[1] = made.graph.node[0].output[2] = ""
    del made.graph.output[1:3]
    made.graph.node.append(helper.make_node("Clip", ["y3", "", "x2"], ["y4"]))
    del made.graph.node[-1].input[2]
    made.graph.node[-1].input.append("most")
    made.graph.initializer.append(numpy_helper.from_array(number(0.5), "most"))
    made.graph.output.append(helper.make_empty_tensor_value_info("y4"))
    _, total, clipped = run(made, feeds)
    np.testing.assert_allclose(total, x + skip, rtol=1e-6)
    np.testing.assert_allclose(clipped, np.minimum(total, 0.5), rtol=1e-6)


@pytest.mark.parametrize("kind, zero", [(21, True), (21, False), (22, True), (22, False)])
def test_rows_of_a_table_of_few_bits(kind: int, zero: bool) -> None:
    """21 is UINT4, 22 INT4."""
    rows, width, block = 6, 40, 16
    low = 0 if kind == 21 else -8
    table, zeros = RNG.integers(low, low + 16, (rows, width)), RNG.integers(low, low + 16, (rows, 3))
    scales = (RNG.random((rows, 3)) + 0.1).astype(np.float32)
    at = np.array([[0, 5], [-1, 2]])
    names = ["table", "at", "scales", *(["zeros"] if zero else [])]
    node = helper.make_node("GatherBlockQuantized", names, ["y"], domain=DOMAIN, block_size=block, quantize_axis=1)
    given = [
        helper.make_tensor("table", kind, table.shape, table.reshape(-1)),
        numpy_helper.from_array(scales, "scales"),
    ]
    given += [helper.make_tensor("zeros", kind, zeros.shape, zeros.reshape(-1))] if zero else []
    value = helper.make_tensor_value_info("at", 7, at.shape)
    graph = helper.make_graph([node], "g", [value], [helper.make_empty_tensor_value_info("y")], given)
    made = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, 1)], ir_version=10
    )
    runtime = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    (expected,) = runtime.run(None, {"at": at})
    np.testing.assert_allclose(run(made, {"at": at})[0], expected, rtol=1e-6, strict=True)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("zero", [True, False])
def test_rows_of_a_table_packed_in_bytes(bits: int, zero: bool) -> None:
    rows, width, block, per = 6, 64, 16, 8 // bits
    given = [codes(rows, width // per), np.array([[0, 5], [-1, 2]]), (RNG.random((rows, 4)) + 0.1).astype(np.float32)]
    given += [codes(rows, 4 // per)] if zero else []
    fixed = (0, 2, 3)[: len(given) - 1]
    check("GatherBlockQuantized", given, fixed=fixed, block_size=block, quantize_axis=1, bits=bits)


def test_embeddings_are_summed_under_a_norm() -> None:
    ids, segments = RNG.integers(0, 11, (2, 5), np.int32), RNG.integers(0, 2, (2, 5), np.int32)
    tables = [floats(11, 8), floats(7, 8), floats(2, 8)]
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    check("EmbedLayerNormalization", [ids, segments, *tables, floats(8), floats(8), mask], 3, epsilon=1e-6)
    check("EmbedLayerNormalization", [ids, None, tables[0], tables[1], None, floats(8), floats(8)], 2)


def test_products_and_convolutions_under_an_activation() -> None:
    check("FusedMatMul", [floats(2, 4, 3), floats(2, 5, 3)], transB=1, alpha=0.25)
    check("FusedMatMul", [floats(4, 3), floats(4, 5)], transA=1)
    check("FusedGemm", [floats(4, 3), floats(3, 5), floats(5)], activation="Relu")
    x, w = floats(1, 3, 6, 6), floats(4, 3, 3, 3)
    check("FusedConv", [x, w, floats(4)], fixed=(1, 2), activation="Relu", pads=[1, 1, 1, 1])
    check("FusedConv", [x, w, floats(4), floats(1, 4, 4, 4)], fixed=(1, 2), activation="Relu")
    check("FusedConv", [x, w], fixed=(1,), activation="Clip", activation_params=[0.0, 0.5])
    check("FusedConv", [x, w], fixed=(1,), activation="LeakyRelu", activation_params=[0.1])


MASKS: dict[str, NDArray | None] = {
    "none": None,
    "keys": np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]], np.int32),
    "scores": (RNG.random((2, 5, 5)) > 0.3).astype(np.int32),
    "lengths": np.array([4, 2], np.int32),
    "ends and starts": np.array([4, 5, 1, 2], np.int32),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("unidirectional", [0, 1])
def test_attention_of_one_product(mask: str, unidirectional: int) -> None:
    check(
        "Attention",
        [floats(2, 5, 8), floats(8, 24), floats(24), MASKS[mask]],
        num_heads=2,
        unidirectional=unidirectional,
    )


def test_attention_looks_back() -> None:
    past = floats(2, 2, 2, 3, 4)
    check("Attention", [floats(2, 5, 8), floats(8, 24), floats(24), None, past], 2, num_heads=2, unidirectional=1)
    sizes = [8, 8, 4]
    check("Attention", [floats(2, 5, 8), floats(8, 20), floats(20)], num_heads=2, qkv_hidden_sizes=sizes)


def test_attention_of_three_tensors() -> None:
    q, k, v = floats(2, 5, 8), floats(2, 7, 8), floats(2, 7, 12)
    check("MultiHeadAttention", [q, k, v, floats(28)], num_heads=2)
    mask = (RNG.random((2, 7)) > 0.4).astype(np.int32)
    check("MultiHeadAttention", [q, k, v, None, mask, floats(1, 2, 5, 7)], num_heads=2, scale=0.3)
    k, v = floats(2, 5, 8), floats(2, 5, 8)
    check("MultiHeadAttention", [q, k, v, None, None, None, floats(2, 2, 3, 4), floats(2, 2, 3, 4)], 3, num_heads=2)
    check("MultiHeadAttention", [q, floats(2, 2, 6, 4), floats(2, 2, 6, 4)], num_heads=2)


@pytest.mark.parametrize("interleaved", [0, 1])
def test_places_are_turned_to_angles(interleaved: int) -> None:
    tables = [floats(9, 2), floats(9, 2)]
    at = np.array([[0, 1, 2], [3, 4, 8]], np.int64)
    check("RotaryEmbedding", [floats(2, 3, 8), at, *tables], interleaved=interleaved)
    check("RotaryEmbedding", [floats(2, 2, 3, 4), np.array([2], np.int64), *tables], interleaved=interleaved)
    partly: dict[str, Any] = {"num_heads": 2, "rotary_embedding_dim": 4}
    check("RotaryEmbedding", [floats(2, 3, 12), at, *tables], interleaved=interleaved, **partly)


DECODERS: dict[str, Any] = {
    "packed, with a window and a bias": {"count": 4, "shared": 1, "packed": True, "past": True, "rotary": True,
                                         "bias": True, "local_window_size": 3},
    "without a past, with sinks and a cap": {"count": 2, "shared": 2, "sinks": True, "softcap": 1.5},
    "smooth and interleaved": {"count": 6, "shared": 2, "past": True, "rotary": True, "bias": True,
                               "smooth_softmax": 1, "rotary_interleaved": 1, "scale": 0.2},
    "told how many keys there are": {"count": 4, "shared": 2, "past": True, "rotary": True, "bias": True, "told": True},
}  # fmt: skip


def decoder(
    count: int,
    shared: int,
    *,
    packed: bool = False,
    past: bool = False,
    rotary: bool = False,
    bias: bool = False,
    sinks: bool = False,
    told: bool = False,
    **attributes: Any,
):
    """A model of one node `GroupQueryAttention`, with the lengths of rows that ONNX Runtime's builder computes: from
    the shape of a mask, and from its sums. `told`: how many keys there are is an input of its own."""
    size = 16
    parts = {"q": count + 2 * shared} if packed else {"q": count, "k": shared, "v": shared}
    given: dict[str, list[str | int]] = {name: ["b", "s", heads * size] for name, heads in parts.items()}
    given |= {name: ["b", shared, "p", size] for name in ("pk", "pv") if past}
    given |= {"bias": [1, 1, "s", "t"]} if bias else {}
    inputs = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name, shape in given.items()]
    inputs.append(helper.make_tensor_value_info("mask", onnx.TensorProto.INT64, ["b", "t"]))
    inputs += [helper.make_tensor_value_info("total", onnx.TensorProto.INT32, [])] if told else []
    angles = np.outer(np.arange(40), np.arange(1, size // 2 + 1)).astype(np.float32) / 8
    weights: dict[str, Any] = {"one": np.int64(1), "axis": np.array([1])}
    weights |= {"cos": np.cos(angles), "sin": np.sin(angles)} if rotary else {}
    weights |= {"sinks": floats(count)} if sinks else {}
    wanted = ["q", "k", "v", "pk", "pv", "last", "total", "cos", "sin", "", "bias", "sinks"]
    there = {*given, "last", "total", *weights}
    nodes = [
        helper.make_node("Shape", ["mask"], ["shape"]),
        helper.make_node("Gather", ["shape", "one"], ["rows"]),
        helper.make_node("Cast", ["rows"], ["unread" if told else "total"], to=onnx.TensorProto.INT32),
        helper.make_node("ReduceSum", ["mask", "axis"], ["sum"], keepdims=0),
        helper.make_node("Sub", ["sum", "one"], ["less"]),
        helper.make_node("Cast", ["less"], ["last"], to=onnx.TensorProto.INT32),
        helper.make_node(
            "GroupQueryAttention", [name if name in there else "" for name in wanted], ["y", "keys", "values"],
            domain=DOMAIN, num_heads=count, kv_num_heads=shared, do_rotary=int(rotary), **attributes,
        ),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes, "g", inputs, [helper.make_empty_tensor_value_info(name) for name in ("y", "keys", "values")],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


CALLS = (
    (2, 5, 0, (5, 3)),  # a prompt, of which one batch is shorter
    (2, 1, 5, (6, 4)),  # a token more
    (1, 3, 6, (9,)),  # some tokens more
    (3, 1, 12, (9, 2, 12)),  # into room that there is
    (2, 7, 0, (7, 2)),  # rows that see no key, where there is a window
)
"""Batches, new rows, rows that are given, and all rows of each batch."""


@pytest.mark.parametrize("name", DECODERS)
def test_groups_of_heads_share_keys_that_are_kept(name: str) -> None:
    made = decoder(**DECODERS[name])
    runtime = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    compiled = Executable(compile_graph(from_onnx(made), Target.parse("llvm")), threads=1)
    for batch, new, held, rows in CALLS:
        sizes = {"b": batch, "s": new, "p": held, "t": max(rows)}
        if not DECODERS[name].get("past") and max(rows) != new:
            continue
        feeds = {
            value.name: floats(*(sizes.get(dim.dim_param, dim.dim_value) for dim in value.type.tensor_type.shape.dim))
            for value in made.graph.input
        }
        feeds |= {"total": np.array(max(rows), np.int32)} if "total" in feeds else {}
        feeds["mask"] = (np.arange(max(rows)) < np.array(rows)[:, None]).astype(np.int64)
        ours = list(compiled(*(feeds[value.name] for value in made.graph.input)))
        theirs = runtime.run(None, feeds)
        assert [x.shape for x in ours] == [x.shape for x in theirs]
        is_padding = np.arange(new) >= np.array(rows)[:, None]  # rows that mean nothing, which may hold anything
        assert np.isfinite(ours[0]).all()
        ours[0][is_padding] = theirs[0][is_padding] = 0
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, other, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("opset", [13, 17])
def test_norms_are_written_into_the_domain_of_onnx(opset: int) -> None:
    x, gamma, beta = floats(2, 3, 8), floats(8), floats(8)
    for operator, inputs in (("SimplifiedLayerNormalization", [x, gamma]), ("LayerNormalization", [x, gamma, beta])):
        made, feeds = model(operator, inputs, axis=-1, epsilon=1e-3)
        made.graph.node[0].domain, made.opset_import[0].version = "", opset
        (expected,) = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"]).run(
            None, feeds
        )
        np.testing.assert_allclose(run(made, feeds)[0], expected, rtol=2e-5, atol=2e-5)


def test_what_is_not_converted_is_refused() -> None:
    made = decoder(4, 2)
    made.graph.node[-1].output.append("scores")
    made.graph.output.append(helper.make_empty_tensor_value_info("scores"))
    with pytest.raises(Diagnostic, match=r"the scores \(output 3\)"):
        from_onnx(made)
    with pytest.raises(Diagnostic, match="4 heads are not groups of 3"):
        from_onnx(decoder(4, 3))
    made, _ = model("RotaryEmbedding", [floats(2, 3, 8), np.zeros(1, np.int64), *[floats(9, 4)] * 2], scale=2.0)
    with pytest.raises(Diagnostic, match=r"attribute 'scale' is 2\.0"):
        from_onnx(made)
    made, _ = model("MultiHeadAttention", [floats(1, 2, 8)] * 3, num_heads=3)
    with pytest.raises(Diagnostic, match="8 numbers do not make 3 heads"):
        from_onnx(made)
    made, _ = model("Gelu", [floats(3)], invented=1)
    with pytest.raises(Diagnostic, match="attribute 'invented'"):
        from_onnx(made)
    made, _ = model("FusedConv", [floats(1, 1, 4, 4), floats(1, 1, 1, 1)], activation="Selu")
    with pytest.raises(Diagnostic, match="the activation 'Selu'"):
        from_onnx(made)


def test_a_scale_of_one_number_needs_no_axis() -> None:
    """ONNX Runtime's quantizer writes biases so: a vector, one scale, and the axis that ONNX has where none is said."""
    x, scale, zero = codes(6, dtype="int32"), number(0.01), number(0, "int32")
    node = helper.make_node("DequantizeLinear", ["x", "s", "z"], ["y"])
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.INT32, [6])],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(scale.reshape(1), "s"), numpy_helper.from_array(zero.reshape(1), "z")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9)
    np.testing.assert_allclose(run(made, {"x": x})[0], x * scale, rtol=1e-6)


def test_heads_that_are_given_get_no_bias() -> None:
    given = [floats(2, 5, 8), floats(2, 2, 6, 4), floats(2, 2, 6, 4)]
    check("MultiHeadAttention", [*given, floats(24)], num_heads=2)


def test_what_onnx_runtime_means_otherwise_is_refused() -> None:
    """Masks of one key, and looking back from fewer queries than there are keys."""
    mask = np.ones((2, 1), np.int32)
    made, _ = model("Attention", [floats(2, 5, 8), floats(8, 24), floats(24), mask], num_heads=2)
    with pytest.raises(Diagnostic, match="a mask of one key"):
        from_onnx(made)
    made, _ = model(
        "MultiHeadAttention", [floats(2, 5, 8), floats(2, 7, 8), floats(2, 7, 8)], num_heads=2, unidirectional=1
    )
    with pytest.raises(Diagnostic, match="queries that are not as many as their keys"):
        from_onnx(made)


def test_words_without_segments_are_of_the_first_one() -> None:
    ids, tables = RNG.integers(0, 11, (2, 5), np.int32), [floats(11, 8), floats(7, 8), floats(2, 8)]
    check("EmbedLayerNormalization", [ids, None, *tables, floats(8), floats(8)], 2)


def test_a_result_has_a_scale_and_a_zero_point_or_neither() -> None:
    a, b = codes(5, 8), codes(8, 6, dtype="int8")
    made, _ = model("QGemm", [a, S, Z, b, T, W, None, number(0.3)], fixed=(1, 2, 3, 4, 5, 7))
    with pytest.raises(Diagnostic, match="one is missing"):
        from_onnx(made)


def test_operators_of_onnx_runtime_need_no_import_of_their_domain() -> None:
    node = helper.make_node("Gelu", ["x"], ["y"], domain=DOMAIN)
    x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [3]) for name in "xy")
    given = helper.make_model(
        helper.make_graph([node], "gelu", [x], [y]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    array = np.array([-1, 0, 2], np.float32)
    (wanted,) = ort.InferenceSession(given.SerializeToString()).run(None, {"x": array})
    (found,) = Executable(compile_graph(from_onnx(given), Target.parse("llvm"))).run({"x": array}).values()
    np.testing.assert_allclose(np.asarray(found, np.float32), wanted, rtol=1e-6)
