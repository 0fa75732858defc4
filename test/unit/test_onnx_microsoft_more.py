"""Further operators of ONNX Runtime's own domain give what ONNX Runtime gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

from microsoft_operators import RNG, S, T, Z, check, codes, floats, model, number, run

from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.onnx import from_onnx


def test_what_a_mask_adds_leaves_scores_of_16_bits() -> None:
    """Rows that a mask leaves out altogether are those that it lets pass: -10000 in 16 bits has steps of 8."""
    given = [floats(2, 5, 8), floats(8, 24), floats(24)]
    mask = np.zeros((2, 5, 5), np.int32)
    mask[1] = 1
    halves = [x.astype(np.float16) for x in given]
    made, feeds = model("Attention", [*halves, mask], num_heads=2)
    [ours] = run(made, feeds)
    theirs = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    np.testing.assert_allclose(ours, theirs, rtol=1e-2, atol=1e-2)


def test_attention_of_keys_and_values_side_by_side() -> None:
    joined = floats(2, 5, 2, 3, 4)
    q, k, v = (joined[:, :, :, at].reshape(2, 5, 8) for at in range(3))
    apart, parts = model("MultiHeadAttention", [q, k, v], num_heads=2)
    for together in ([joined], [q, joined[:, :, :, 1:].copy()]):  # which ONNX Runtime has for GPUs only
        made, feeds = model("MultiHeadAttention", together, num_heads=2)
        np.testing.assert_allclose(run(made, feeds)[0], run(apart, parts)[0], rtol=1e-6)
    past = [floats(2, 2, 3, 4), floats(2, 2, 3, 4)]
    check("MultiHeadAttention", [q, k, v, None, None, None, *past], 3, num_heads=2, unidirectional=1)


@pytest.mark.parametrize(("bits", "zero"), [(4, None), (4, "uint8"), (4, "float32"), (8, "uint8"), (2, None)])
def test_products_of_few_bits_that_are_given(bits: int, zero: str | None) -> None:
    """Weights that a model takes give what the same weights give that it holds."""
    rows, depth, block = 5, 40, 16
    scales = (RNG.random((rows, 3)) + 0.1).astype(np.float32)
    zeros = None
    if zero is not None:
        zeros = codes(rows * -(-3 * bits // 8)) if zero == "uint8" else floats(rows * 3)
    packed = codes(rows, 3, block * bits // 8)
    inputs = [floats(2, 3, depth), packed, scales, *([] if zeros is None else [zeros])]
    said: dict[str, Any] = {"K": depth, "N": rows, "bits": bits, "block_size": block}
    held, some = model("MatMulNBits", inputs, fixed=(1, 2, 3)[: len(inputs) - 1], **said)
    given, feeds = model("MatMulNBits", inputs, **said)
    np.testing.assert_allclose(run(given, feeds)[0], run(held, some)[0], rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(
    ("direction", "columns", "dtype"),
    [("forward", False, "uint8"), ("bidirectional", True, "int8"), ("reverse", True, "int8")],
)
def test_lstm_of_bytes(direction: str, columns: bool, dtype: str) -> None:
    steps, batch, width, hidden, count = 5, 1, 6, 4, 1 + (direction == "bidirectional")
    shape = (count, 4 * hidden) if columns else (count,)
    weights = [codes(count, size, 4 * hidden, dtype=dtype) for size in (width, hidden)]
    scales = [(RNG.random(shape) * 0.01 + 0.002).astype(np.float32) for _ in range(2)]
    zeros = np.full(shape, 0 if dtype == "int8" else 130, dtype)
    bias, states = floats(count, 8 * hidden), [floats(count, batch, hidden) for _ in range(2)]
    inputs = [floats(steps, batch, width), *weights, bias, None, *states, None, scales[0], zeros, scales[1], zeros]
    said: dict[str, Any] = {"fixed": (1, 2, 8, 9, 10, 11), "hidden_size": hidden, "direction": direction}
    check("DynamicQuantizeLSTM", inputs, 3, **said)
    products = [op for op in from_onnx(model("DynamicQuantizeLSTM", inputs, 3, **said)[0]).walk() if "dense" in op.name]
    assert products and {str(op.results[0].type)[-4:] for op in products} == {"i32>"}  # and not of floats


def test_factors_whose_rows_stand_before_their_batches() -> None:
    check("FusedMatMul", [floats(4, 2, 3), floats(2, 3, 5)], transBatchA=1)
    check("FusedMatMul", [floats(3, 2, 4), floats(3, 2, 5)], transA=1, transBatchA=1, transBatchB=1, alpha=0.5)


def test_images_whose_channels_stand_last() -> None:
    x = codes(2, 6, 7, 3)
    check("QLinearAveragePool", [x, S, Z, T, Z], kernel_shape=[3, 2], strides=[2, 1], channels_last=1)
    check("QLinearGlobalAveragePool", [x, S, Z, T, Z], channels_last=1)
    check("NhwcMaxPool", [x], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 0, 1], ceil_mode=1)
    scales = (RNG.random(4) * 0.05 + 0.01).astype(np.float32)
    weights = [codes(4, 3, 2, 3, dtype="int8"), scales, np.zeros(4, np.int8)]
    bias = RNG.integers(-999, 999, 4, np.int32)
    for last, image in ((1, x), (0, np.moveaxis(x, 3, 1).copy())):
        check("QLinearConv", [image, S, Z, *weights, number(0.9), Z, bias], channels_last=last, pads=[1, 0, 1, 1])


def test_attention_and_embeddings_of_bytes() -> None:
    weights, bias = codes(8, 24, dtype="int8"), floats(24)
    scales = (RNG.random(24) * 0.02).astype(np.float32)
    lengths, past = np.array([5, 3], np.int32), floats(2, 2, 2, 3, 4)
    check("QAttention", [codes(2, 5, 8), weights, bias, S, scales, lengths, Z, codes(24, dtype="int8")], 2,
          num_heads=2)  # fmt: skip
    check("QAttention", [codes(2, 5, 8), weights, bias, S, number(0.01), None, Z, None, past], 2,
          num_heads=2, unidirectional=1)  # fmt: skip
    ids, segments = RNG.integers(0, 11, (2, 5), np.int32), RNG.integers(0, 2, (2, 5), np.int32)
    tables = [codes(11, 8), codes(7, 8), codes(2, 8), codes(8), codes(8)]
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    check("QEmbedLayerNormalization", [ids, segments, *tables, mask, S, T, S, S, T, Z, Z, Z, Z, Z], 2)


def test_products_of_integers_of_16_bits() -> None:
    check("MatMulInteger16", [codes(2, 3, 4, dtype="int16"), RNG.integers(-9, 9, (4, 5), np.int16)])


@pytest.mark.parametrize("bits", [2, 8])
def test_weights_of_other_bits(bits: int) -> None:
    packed, scales = codes(6, 3, 16 * bits // 8), (RNG.random((6, 3)) + 0.1).astype(np.float32)
    inputs = [floats(3, 40), packed, scales, codes(6, -(-3 * bits // 8))]
    check_close("MatMulNBits", inputs, (1, 2, 3), K=40, N=6, bits=bits, block_size=16)


@pytest.mark.parametrize(("bits", "zero"), [(2, "uint8"), (4, None), (4, "uint8"), (4, "float32"), (8, "uint8")])
@pytest.mark.parametrize("rows", [1, 3, 20])
def test_weights_stay_of_few_bits_where_few_rows_are_multiplied(rows: int, bits: int, zero: str | None) -> None:
    packed, scales = codes(21, 2, 16 * bits // 8), (RNG.random((21, 2)) + 0.1).astype(np.float32)
    inputs = [floats(1, rows, 32), packed, scales]
    if zero is not None:
        inputs.append(codes(21, -(-2 * bits // 8)) if zero == "uint8" else floats(21, 2))
    said: dict[str, Any] = {"K": 32, "N": 21, "bits": bits, "block_size": 16}
    check_close("MatMulNBits", inputs, (1, 2, 3)[: len(inputs) - 1], **said)
    made, _ = model("MatMulNBits", inputs, fixed=(1, 2, 3)[: len(inputs) - 1], **said)
    assert ("contrib_dense_few_bits" in str(from_onnx(made))) == (rows < 8)


def check_close(operator: str, inputs: list[Any], fixed: tuple[int, ...], **attributes: Any) -> None:
    """`check` of results of hundreds."""
    made, feeds = model(operator, inputs, 1, fixed, **attributes)
    wanted = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    np.testing.assert_allclose(run(made, feeds)[0], wanted, rtol=1e-4, atol=1e-2)


def test_columns_that_share_the_scale_of_another_block() -> None:
    packed, scales = codes(6, 2, 16), (RNG.random((6, 2)) + 0.1).astype(np.float32)
    groups = RNG.permutation(np.arange(64, dtype=np.int32) // 32)
    inputs = [floats(3, 64), packed, scales, None, groups]
    check_close("MatMulNBits", inputs, (1, 2, 4), K=64, N=6, bits=4, block_size=32)
    inputs[3] = codes(6, 1)
    made, _ = model("MatMulNBits", inputs, 1, (1, 2, 3, 4), K=64, N=6, bits=4, block_size=32)
    with pytest.raises(Diagnostic, match="packed zero points"):
        from_onnx(made)


def test_places_in_time_height_and_width() -> None:
    places, tables = RNG.integers(0, 20, (3, 2, 4), np.int64), [floats(20, 8), floats(20, 8)]
    for layout, sections in ((0, [3, 4, 1]), (1, [4, 2, 2])):
        check("MRotaryEmbedding", [floats(2, 3, 4, 16), places, *tables], mrope_section=sections, mrope_layout=layout)
        check("MRotaryEmbedding", [floats(2, 4, 48), places, *tables], mrope_section=sections, num_heads=3)
    made, _ = model("MRotaryEmbedding", [floats(2, 3, 4, 16), places, *tables], mrope_section=[3, 4, 2])
    with pytest.raises(Diagnostic, match="for 8 pairs"):
        from_onnx(made)


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
def test_states_that_are_read_by_queries(rule: str) -> None:
    decay = -np.abs(floats(2, 3, 2)) if "gated" in rule else None
    beta = RNG.random((2, 3, 2)).astype(np.float32) if "delta" in rule else None
    inputs = [floats(2, 3, 16), floats(2, 3, 8) / 2, floats(2, 3, 6), floats(2, 2, 4, 3), decay, beta]
    check("LinearAttention", inputs, 2, q_num_heads=4, kv_num_heads=2, update_rule=rule)


def test_what_stands_around_attention_of_states() -> None:
    check("CausalConvWithState", [floats(2, 4, 5), floats(4, 1, 3), floats(4), floats(2, 4, 2)], 2, activation="silu")
    check("LinearAttentionGate", [floats(2, 3, 4), floats(4), -np.abs(floats(4)), floats(2, 3, 4)], 2)
    check("GatedRMSNorm", [floats(2, 3, 8), floats(4), floats(2, 3, 8)], activation="sigmoid", epsilon=1e-3)
    check("GatedAdd", [floats(2, 3, 4), floats(2, 3, 4), floats(2, 3, 1)])
    check("ScaledSiLU", [floats(3, 4)], alpha=0.7)
    made, _ = model("CausalConvWithState", [floats(2, 5, 4), floats(4, 1, 3)], 2, channels_last=1)
    with pytest.raises(Diagnostic, match="'channels_last' is 1, which opset 27 of ONNX does not have"):
        from_onnx(made)


def test_operators_that_onnx_has_too() -> None:
    check("GatherND", [floats(3, 4, 5), RNG.integers(0, 3, (2, 2), np.int64)])
    check("GridSample", [floats(2, 3, 5, 6), floats(2, 4, 3, 2)], padding_mode="border")
    check("Pad", [floats(3, 4), np.array([0, 1, 2, 1]), number(0.5)], fixed=(1,))
    check("CDist", [floats(3, 4), floats(5, 4)], metric="euclidean")
    check("UnfoldTensor", [floats(2, 7, 3)], dim=1, size=3, step=2)


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "swiglu"])
def test_mixtures_of_experts(activation: str) -> None:
    wide = 12 if activation == "swiglu" else 6
    further: dict[str, Any] = {}
    if activation == "swiglu":
        further = {"swiglu_fusion": 1, "activation_alpha": 1.7, "activation_beta": 1.0, "swiglu_limit": 0.5}
    layers = [floats(4, wide, 8), floats(4, wide), floats(4, 8, 6), floats(4, 8)]
    for normalized in (0, 1):
        kinds: dict[str, Any] = {"activation_type": activation, "normalize_routing_weights": normalized, **further}
        check("MoE", [floats(5, 8), floats(5, 4), *layers], k=2, **kinds)


@pytest.mark.parametrize("block", [0, 16])
def test_mixtures_of_experts_of_four_bits(block: int) -> None:
    def scales(rows: int) -> Any:
        shape = (3, rows, 32 // block) if block else (3, rows)
        return (RNG.random(shape) * 0.05 + 0.01).astype(np.float32)

    def zeros(rows: int) -> Any:
        return codes(3, rows, 1) if block else codes(3, rows // 2)

    inputs = [floats(5, 32), floats(5, 3), codes(3, 32, 16), scales(32), floats(3, 32), codes(3, 32, 16), scales(32),
              None, None, None, None, zeros(32), zeros(32)]  # fmt: skip
    given: dict[str, Any] = {"block_size": block} if block else {}
    fixed = (2, 3, 5, 6, 11, 12)
    check_close("QMoE", inputs, fixed, k=2, activation_type="relu", expert_weight_bits=4, **given)


@pytest.mark.parametrize("axis", [0, 2, -1, -3])
def test_a_dimension_is_put_in_at_a_place_that_counts_it(axis: int) -> None:
    check("ExpandDims", [floats(2, 3), number(axis, "int32")], fixed=(1,))


def test_different_elements_come_as_they_first_stand() -> None:
    check("Unique", [np.array([3, 1, 3, 2, 1], np.float32)], 3)
