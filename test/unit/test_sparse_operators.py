"""Sparse matrices and tensors mean what the dense ones do that they stand for."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.ops.boxes import MultiboxPriorOp, MultiboxTransformLocOp
from weft.dialects.relay.ops.nn.convolution import Conv2dOp
from weft.dialects.relay.ops.nn.sparse import SparseAddOp, SparseDenseOp, SparseTransposeOp
from weft.dialects.relay.ops.nn.sparse_conv2d import SparseConv2dOp
from weft.dialects.relay.ops.sequence import SequenceMaskOp
from weft.dialects.relay.ops.sparse import SparseFillEmptyRowsOp, SparseReshapeOp, SparseToDenseOp
from weft.dialects.relay.ops.vision import RoiAlignOp, RoiPoolOp
from weft.dialects.support.diagnostics import UsageError
from weft.testing.operators import random_floats, run_operator, run_results

NDArray = npt.NDArray[Any]
Matrix = tuple[NDArray, NDArray, NDArray]


def thinned(rows: int, columns: int) -> npt.NDArray[np.float32]:
    """A matrix of which most is zero, a whole row among it."""
    x = random_floats(rows, columns)
    x[np.abs(x) < 0.8] = 0
    x[1] = 0
    return x


def compressed(x: npt.NDArray[np.float32], block: tuple[int, int] | None = None) -> Matrix:
    """Its elements or blocks that are not all zero, row by row, their columns, and where rows begin."""
    height, width = block or (1, 1)
    blocks = x.reshape(x.shape[0] // height, height, x.shape[1] // width, width).swapaxes(1, 2)
    used = [[j for j, each in enumerate(row) if each.any()] for row in blocks]
    data = np.array([row[j] for row, columns in zip(blocks, used, strict=True) for j in columns], np.float32)
    begins = np.cumsum([0, *map(len, used)]).astype(np.int32)
    return data if block else data.reshape(-1), np.array([*chain(*used)], np.int32), begins


def run(kind: str, function: FuncOp, *inputs: NDArray) -> Any:
    evaluate: Any = relay.create_executor(kind, relay.IRModule.from_expr(function)).evaluate()
    return evaluate(*inputs)


def test_a_product_with_a_sparse_matrix() -> None:
    x, w = random_floats(3, 8), thinned(6, 8)
    found = run_operator(SparseDenseOp, [x, *compressed(w)])
    np.testing.assert_allclose(found, x @ w.T, rtol=1e-5, atol=1e-6)
    found = run_operator(SparseDenseOp, [x, *compressed(w)], sparse_lhs=True)
    np.testing.assert_allclose(found, w @ x.T, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("side", [1, 3])
@pytest.mark.parametrize("block", [(2, 1), (3, 2)])
def test_a_convolution_with_a_sparse_weight(layout: str, side: int, block: tuple[int, int]) -> None:
    first = layout == "NCHW"
    x, matrix = random_floats(*((2, 4, 5, 3) if first else (2, 5, 3, 4))), thinned(6, 4 * side * side)
    weight = matrix.reshape((6, 4, side, side) if first else (6, side, side, 4))
    data, indices, indptr = compressed(matrix, block)
    parts = (data.reshape(len(data), -1) if block[1] == 1 else data, indices, indptr)
    order = "OIHW" if first else "OHWI"
    expected = run_operator(Conv2dOp, [x, weight], padding=[side // 2] * 2, data_layout=layout, kernel_layout=order)
    found = run_operator(SparseConv2dOp, [x, *parts], layout=layout, kernel_size=[side, side])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_what_is_no_sparse_convolution_is_refused() -> None:
    x, i, p = relay.var("x", shape=(1, 3, 5, 5)), relay.const([0, 1]), relay.const([0, 1, 2])
    w = relay.const(np.ones((2, 2), np.float32))
    for given, text in (
        ({"layout": "NCWH"}, "'layout' must be NHWC or NCHW"),
        ({"layout": "NCHW", "kernel_size": (2, 2)}, "one odd number, twice"),
        ({"layout": "NCHW", "kernel_size": (1, 3)}, "one odd number, twice"),
    ):
        with pytest.raises(UsageError, match=text):
            relay.nn.sparse_conv2d(x, w, i, p, **given)
    for data, text in (((2,), "columns of them"), ((2, 2, 2), "3 columns are no blocks of 2")):
        with pytest.raises(UsageError, match=text):
            relay.nn.sparse_conv2d(x, relay.const(np.ones(data, np.float32)), i, p, layout="NCHW")
    with pytest.raises(UsageError, match="expected images NCHW"):
        relay.nn.sparse_conv2d(relay.var("y", shape=(3, 5)), w, i, p, layout="NCHW")


@pytest.mark.parametrize("kind", ["aot", "debug"])
@pytest.mark.parametrize("operator", [relay.nn.sparse_dense, relay.nn.sparse_add])
@pytest.mark.parametrize(("begins", "length"), [([0, 4, 4], 4), ([0, 2, 0], -2)])
def test_a_row_with_more_elements_than_columns_or_fewer_than_none_fails(
    kind: str, operator: Any, begins: list[int], length: int
) -> None:
    shapes = {"x": ((2, 2), "float32"), "w": ((4,), "float32"), "i": ((4,), "int32"), "p": ((3,), "int32")}
    x, w, i, p = (relay.var(name, shape=shape, dtype=dtype) for name, (shape, dtype) in shapes.items())
    function = relay.Function([x, w, i, p], operator(x, (w, i, p)))
    arrays = np.ones((2, 2), np.float32), np.ones(4, np.float32), np.array([0, 1, 0, 1], np.int32)
    with pytest.raises(weft.CheckError, match=f"a row of {length} elements, where there are fewer than 3"):
        run(kind, function, *arrays, np.array(begins, np.int32))


def test_a_product_with_a_sparse_matrix_of_blocks() -> None:
    x, w = random_floats(3, 9), thinned(6, 9)
    data, indices, begins = compressed(w, (2, 3))
    assert data.shape[1:] == (2, 3)
    np.testing.assert_allclose(run_operator(SparseDenseOp, [x, data, indices, begins]), x @ w.T, rtol=1e-5, atol=1e-6)


def test_a_sum_with_a_sparse_matrix() -> None:
    x, w = random_floats(5, 4), thinned(5, 4)
    np.testing.assert_allclose(run_operator(SparseAddOp, [x, *compressed(w)]), x + w, rtol=1e-6)


def test_a_transposed_sparse_matrix_is_the_sparse_form_of_the_transposed_one() -> None:
    w = thinned(7, 7)
    for found, wanted in zip(run_results(SparseTransposeOp, compressed(w)), compressed(w.T), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_elements_at_places_of_which_the_last_stands() -> None:
    places, values = np.array([[0, 1], [2, 3], [0, 1]], np.int32), np.array([5, 6, 7], np.float32)
    wanted = np.full((3, 4), 0.5, np.float32)
    wanted[0, 1], wanted[2, 3] = 7, 6
    default = np.array(0.5, np.float32)
    found = run_operator(SparseToDenseOp, [places, values, default], output_shape=[3, 4])
    np.testing.assert_array_equal(found, wanted)
    found = run_operator(
        SparseToDenseOp, [np.array([3, 1], np.int32), values[:1].reshape(()), default], output_shape=[5]
    )
    np.testing.assert_array_equal(found, np.array([0.5, 5, 0.5, 5, 0.5], np.float32))
    found = run_operator(SparseToDenseOp, [np.array(2, np.int32), values[1:2].reshape(()), default], output_shape=[3])
    np.testing.assert_array_equal(found, np.array([0.5, 0.5, 6], np.float32))


@pytest.mark.parametrize("new", [[9, 4], [9, -1], [-1], [2, 3, 6, 1], [1, 36]])
def test_indices_of_another_shape_name_the_same_elements(new: list[int]) -> None:
    old = (2, 3, 6)
    places = np.argwhere(random_floats(*old) > 0.5)
    found, shape = run_results(SparseReshapeOp, [places, np.array(old), np.array(new)])
    whole = np.zeros(old).reshape(new).shape
    assert tuple(shape) == whole
    flat = np.ravel_multi_index(tuple(places.T), old)
    np.testing.assert_array_equal(np.ravel_multi_index(tuple(found.T), whole), flat)


def test_empty_rows_get_an_element_each() -> None:
    places = np.array([[0, 1], [3, 0], [0, 3], [4, 2]], np.int64)
    values = np.array([1, 2, 3, 4], np.float32)
    inputs: list[NDArray] = [places, values, np.array([6, 4], np.int64), np.array([-1], np.float32)]
    i, v, s, d = (relay.var(n, shape=x.shape, dtype=x.dtype.name) for n, x in zip("ivsd", inputs, strict=True))
    function = relay.Function([i, v, s, d], relay.sparse_fill_empty_rows(i, v, s, d))
    rows, filled, empty = run("debug", function, *inputs)
    assert SparseFillEmptyRowsOp.name in str(function)
    np.testing.assert_array_equal(rows, [[0, 1], [0, 3], [1, 0], [2, 0], [3, 0], [4, 2], [5, 0]])
    np.testing.assert_array_equal(empty, [False, True, True, False, False, True])
    np.testing.assert_array_equal(filled, [1, 3, -1, -1, 2, 4, -1])


def test_sums_by_segment() -> None:
    data, ids = random_floats(6, 2), np.array([0, 2, 2, 1, 0, 2], np.int32)
    wanted = np.array([data[ids == n].sum(0) for n in range(3)])
    x, i = relay.var("x", shape=(6, 2)), relay.var("i", shape=(6,), dtype="int32")
    for count in (None, 3):
        function = relay.Function([x, i], relay.segment_sum(x, i, count))
        found = run("debug", function, data, ids)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("count", [4, None])
def test_segments_of_open_extents_and_fewer_numbers_than_slices_are_summed(count: int | None) -> None:
    data, ids = random_floats(3, 4), np.array([0, 2], np.int32)
    wanted = np.zeros((3 if count is None else count, 4), np.float32)
    np.add.at(wanted, ids, data[:2])
    for open_extents in (False, True):
        shapes = ((relay.Any(), relay.Any()), (relay.Any(),)) if open_extents else ((3, 4), (2,))
        x, i = relay.var("x", shape=shapes[0]), relay.var("i", shape=shapes[1], dtype="int32")
        found = run("debug", relay.Function([x, i], relay.segment_sum(x, i, count)), data, ids)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_machine_code_computes_with_a_sparse_matrix_of_scipys_form() -> None:
    class Form:
        w = thinned(8, 8)
        data, indices, indptr = compressed(w)

    array = random_floats(3, 8)
    x = relay.var("x", shape=(3, 8))
    both = relay.Tuple([relay.nn.sparse_dense(x, Form), relay.nn.sparse_transpose(Form)])
    product, turned = run("graph", relay.Function([x], both), array)
    np.testing.assert_allclose(product, array @ Form.w.T, rtol=1e-5, atol=1e-6)
    for found, wanted in zip(turned, compressed(Form.w.T), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_what_is_no_sparse_matrix_is_refused() -> None:
    with pytest.raises(UsageError, match="by its data, indices and indptr"):
        relay.nn.sparse_dense(relay.var("x", shape=(3, 8)), 5)


def test_prior_boxes_stand_around_each_pixel() -> None:
    x = random_floats(1, 3, 2, 4)
    found = run_operator(MultiboxPriorOp, [x], sizes=[0.5, 0.25], ratios=[3.0, 4.0], offsets=[0.5, 0.25])
    assert found.shape == (1, 2 * 4 * 3, 4)
    boxes = found.reshape(2, 4, 3, 4)
    centre = (boxes[..., :2] + boxes[..., 2:]) / 2
    np.testing.assert_allclose(centre[1, 2], [[2.25 / 4, 1.5 / 2]] * 3, rtol=1e-6)
    sides = boxes[..., 2:] - boxes[..., :2]
    np.testing.assert_allclose(sides[1, 3], [[0.25, 0.5], [0.125, 0.25], [0.5, 0.25]], rtol=1e-5)


def test_likely_boxes_are_moved_and_stand_first() -> None:
    prob = np.array([[[0.9, 0.2, 0.4], [0.005, 0.5, 0.1], [0.001, 0.3, 0.5]]], np.float32)
    moved = np.zeros((1, 12), np.float32)
    moved[0, 8:] = [1, 0, 0, np.log(2) / 0.2]
    anchors = np.array([[[0, 0, 0.5, 0.5], [0.2, 0.2, 0.4, 0.6], [0.4, 0.4, 0.6, 0.6]]], np.float32)
    rows, count = run_results(MultiboxTransformLocOp, [prob, moved, anchors])
    assert count == [2]
    wanted = [[0, 0.5, 0.2, 0.2, 0.4, 0.6], [1, 0.5, 0.42, 0.3, 0.62, 0.7], [-1] * 6]
    np.testing.assert_allclose(rows[0], wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("op", [RoiAlignOp, RoiPoolOp])
def test_regions_are_pooled_in_either_layout(op: type[RoiAlignOp | RoiPoolOp]) -> None:
    x = random_floats(2, 3, 6, 7)
    regions = np.array([[0, 0, 0, 5, 4], [1, 1, 1, 3, 5]], np.float32)
    plain = run_operator(op, [x, regions], pooled_size=[2, 3], spatial_scale=1.0)
    last = run_operator(op, [x.transpose(0, 2, 3, 1), regions], pooled_size=[2, 3], spatial_scale=1.0, layout="NHWC")
    np.testing.assert_array_equal(last, plain.transpose(0, 2, 3, 1))


def test_lengths_of_sequences_may_be_fractions() -> None:
    x = random_floats(3, 2)
    found = run_operator(SequenceMaskOp, [x, np.array([1.5, 1], np.float32)])
    np.testing.assert_array_equal(found, np.where([[1, 1], [1, 0], [0, 0]], x, 0))
