"""Operators whose places are known at import, and sequences: against ONNX Runtime, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper
from onnx_runtime import check, evaluate, model, normal

import weft
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.onnx import from_onnx

NONE = np.array([], np.float32)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("coordinates", ["half_pixel", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric"])
def test_scales_that_reach_no_whole_size_are_resampled_by(mode: str, coordinates: str):
    x = normal(1, 2, 5, 7)
    scales = np.array([1, 1, 0.6, 1.3], np.float32)
    check(model("Resize", [x], [NONE, scales], opset=19, mode=mode, coordinate_transformation_mode=coordinates), x)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
@pytest.mark.parametrize("axes", [[2, 3], [3, 2]])
def test_an_aspect_ratio_is_kept(policy: str, axes: list[int]):
    x, sizes = normal(1, 2, 4, 6), np.array([7, 8])
    check(model("Resize", [x], [NONE, NONE, sizes], opset=19, axes=axes, keep_aspect_ratio_policy=policy), x)


@pytest.mark.parametrize("shape", [(6,), (4, 5), (3, 4, 5), (2, 3, 4, 5, 3)])
def test_any_axis_is_resampled(shape: tuple[int, ...]):
    x = normal(*shape)
    sizes = np.array([n + 2 for n in shape[:1]] + list(shape[1:]))
    check(model("Resize", [x], [NONE, NONE, sizes], opset=19, mode="nearest"), x)


@pytest.mark.parametrize("scale", [0.0, -1.0])
def test_a_scale_that_is_not_positive_is_refused(scale: float):
    proto = model("Resize", [normal(1, 1, 2, 4)], [NONE, np.array([1, 1, scale, 1], np.float32)], opset=19)
    with pytest.raises(Diagnostic, match="positive"):
        from_onnx(proto)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_a_scale_may_leave_nothing(mode: str):
    x, scales = normal(1, 1, 2, 4), np.array([1, 1, 2, 0.2], np.float32)
    check(model("Resize", [x], [NONE, scales], opset=19, mode=mode), x)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("options", [{}, {"pads": [1, 0, 1, 1]}, {"ceil_mode": 1}, {"dilations": [2, 1]}])
def test_the_first_of_equal_maxima_is_told(order: int, options: dict[str, Any]):
    x = np.random.default_rng(0).integers(0, 3, (2, 2, 7, 6)).astype(np.float32)
    check(model("MaxPool", [x], outputs=2, kernel_shape=[3, 2], strides=[2, 1], storage_order=order, **options), x)


@pytest.mark.parametrize("strides, dilations, pads", [([1, 1], [1, 1], [0] * 4), ([2, 1], [1, 2], [0, 1, 1, 0])])
def test_columns_are_added_into_an_image(strides: list[int], dilations: list[int], pads: list[int]):
    image, block = np.array([5, 6]), np.array([2, 3])
    counts = (image + np.array(pads).reshape(2, 2).sum(0) - np.array(dilations) * (block - 1) - 1) // strides + 1
    x = normal(2, 3 * 6, int(counts.prod()))
    check(model("Col2Im", [x], [image, block], strides=strides, dilations=dilations, pads=pads), x)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 4, 4), (2, 2, 7, 7)])
def test_determinants_are_made_of_minors(shape: tuple[int, ...]):
    x = normal(*shape)
    found = evaluate(model("Det", [x], opset=22), [x])[0]
    assert found.shape == shape[:-2]
    np.testing.assert_allclose(found, np.linalg.det(x.astype(np.float64)), rtol=1e-4)


def test_a_determinant_of_many_rows_is_refused():
    with pytest.raises(Diagnostic) as error:
        from_onnx(model("Det", [normal(11, 11)], opset=22))
    assert "matrices of 11 rows" in error.value.notes[0].message


@pytest.mark.parametrize("axis", [{}, {"axis": 1}, {"axis": -1}])
@pytest.mark.parametrize("condition", [[], [True], [False, True, True], [False]])
def test_slices_are_taken_where_a_condition_that_is_known_is_true(axis: dict[str, Any], condition: list[bool]):
    x = normal(2, 3, 4)
    check(model("Compress", [x], [np.array(condition, np.bool_)], opset=11, **axis), x)


def test_a_condition_that_is_true_beyond_the_end_is_refused():
    with pytest.raises(Diagnostic, match="true at 3, beyond the 2 slices"):
        from_onnx(model("Compress", [normal(2, 3)], [np.array([True, False, False, True])], opset=11, axis=0))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)])
def test_the_places_of_what_is_not_zero_are_known(shape: tuple[int, ...]):
    x = np.asarray(normal(*shape) > 0)
    check(model("NonZero", [], [x], opset=13))


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [0, 1])
def test_volumes_are_sampled(padding: str, corners: int):
    x, grid = normal(2, 3, 3, 4, 5), normal(2, 2, 3, 4, 3, seed=1)
    check(model("GridSample", [x, grid], opset=20, padding_mode=padding, align_corners=corners), x, grid)


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("least, most, skips", [(1, 2, 0), (2, 3, 3), (1, 3, 1)])
def test_ngrams_are_counted(mode: str, least: int, most: int, skips: int):
    x = np.random.default_rng(0).integers(0, 4, (3, 12)).astype(np.int32)
    weights: dict[str, Any] = {} if mode == "TF" else {"weights": [0.5, 1.0, 2.0, 3.0, 4.0, 5.0]}
    proto = model(
        "TfIdfVectorizer", [x], mode=mode, min_gram_length=least, max_gram_length=most, max_skip_count=skips,
        ngram_counts=[0, 3, 7], ngram_indexes=[1, 0, 2, 4, 3, 5], pool_int64s=[1, 2, 3, 1, 2, 2, 3, 0, 1, 2], **weights,
    )  # fmt: skip
    check(proto, x)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_regions_are_pooled_from_the_pixels_next_to_their_corners(scale: float):
    x = normal(2, 3, 8, 9)
    regions = np.array([[0, 0, 0, 4, 5], [1, 1, 1, 6, 7], [0, 3, 3, 3, 3], [1, -2, 0, 12, 8]], np.float32)
    check(model("MaxRoiPool", [x, regions], pooled_shape=[2, 3], spatial_scale=scale), x, regions)


@pytest.mark.parametrize("options", [{}, {"broadcast": 1}, {"broadcast": 1, "axis": 1}])
def test_operands_of_opset_6_broadcast_where_an_attribute_says_so(options: dict[str, Any]):
    x, y = normal(2, 3, 4), normal(3, seed=1) if "axis" in options else normal(4, seed=1)
    wanted = x + (y[:, None] if "axis" in options else y)
    if options:
        np.testing.assert_array_equal(evaluate(model("Add", [x, y], opset=6, **options), [x, y])[0], wanted)
    else:
        with pytest.raises(Diagnostic, match="no attribute 'broadcast'"):
            from_onnx(model("Add", [x, y], opset=6))


def sequence_model(nodes: list[Any], output: str = "y") -> Any:
    """A graph whose input `s` is a sequence, and `p` a number; `two` is 2."""
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None),
            helper.make_tensor_value_info("p", TensorProto.INT64, []),
        ],
        [helper.make_value_info(output, tensor)],
        [numpy_helper.from_array(np.array(-2), "two")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def test_a_sequence_is_an_input_whose_tensors_are_told():
    proto = sequence_model(
        [helper.make_node("SequenceErase", ["s", "two"], ["t"]), helper.make_node("SequenceAt", ["t", "p"], ["y"])]
    )
    a, b, c = (normal(2, 3, seed=seed) for seed in range(3))
    exe = weft.compile(from_onnx(proto, {"s": [(2, 3)] * 3}))
    np.testing.assert_array_equal(exe(a, b, c, np.array(1)), c)
    np.testing.assert_array_equal(exe(a, b, c, np.array(-2)), a)
    assert [info.name for info in exe.inputs] == ["s.0", "s.1", "s.2", "p"]
    with pytest.raises(Diagnostic, match="'s': a value of sequence type, of which nothing is given"):
        from_onnx(proto)
    with pytest.raises(Diagnostic, match=r"is no list of shapes|is no shape"):
        from_onnx(proto, {"s": [2, 3]})
    with pytest.raises(UsageError, match="is no shape for the tensor 'p'"):
        from_onnx(proto, {"s": [(2, 3)], "p": [(1,)]})


def test_a_place_that_is_not_known_needs_tensors_of_one_type():
    proto = sequence_model([helper.make_node("SequenceAt", ["s", "p"], ["y"])])
    with pytest.raises(Diagnostic) as error:
        from_onnx(proto, {"s": [(2, 3), (3, 2)]})
    assert "tensors of different types" in error.value.notes[0].message


def test_a_place_outside_of_a_sequence_is_an_error():
    proto = sequence_model([helper.make_node("SequenceAt", ["s", "two"], ["y"])])
    with pytest.raises(Diagnostic, match="there is no place -2 in a sequence of 1 places"):
        from_onnx(proto, {"s": [(2, 3)]})
