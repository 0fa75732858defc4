"""Boxes that are kept: those that ONNX Runtime keeps, and small cases by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.dialects.relay.interpreter import evaluate_function

NDArray = npt.NDArray[Any]

ROWS = np.array(
    [
        # class, score, corners
        [0, 0.9, 0, 0, 2, 2],
        [0, 0.8, 0.1, 0, 2, 2],
        [1, 0.7, 0, 0, 2, 2],
        [0, 0.6, 5, 5, 6, 6],
        [-1, 0.5, 8, 8, 9, 9],
    ],
    np.float32,
)


def run(expr: Any, inputs: list[Any], arrays: list[NDArray]) -> list[NDArray]:
    return evaluate_function(relay.Function(inputs, expr), arrays)


def var(name: str, array: NDArray) -> Any:
    return relay.var(name, shape=array.shape, dtype=array.dtype.name)


@pytest.mark.parametrize("form", ["corner", "center"])
@pytest.mark.parametrize("most, iou, least", [(3, 0.3, 0.0), (100, 0.5, 0.4), (0, 0.5, 0.0), (2, 0.0, 0.9)])
def test_the_boxes_that_are_kept_of_all_classes_are_those_of_onnx_runtime(
    form: str, most: int, iou: float, least: float
):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from onnx_runtime import model, ort

    rng = np.random.default_rng(0)
    boxes = rng.uniform(0, 4, (2, 20, 4)).astype(np.float32)
    scores = rng.integers(0, 10, (2, 3, 20)).astype(np.float32) / 10
    limits = [np.array(most), np.array(iou, np.float32), np.array(least, np.float32)]
    proto = model("NonMaxSuppression", [boxes, scores], limits, opset=11, center_point_box=int(form == "center"))
    session = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    (wanted,) = session.run(None, {"x0": boxes, "x1": scores})

    b, s = var("b", boxes), var("s", scores)
    made = relay.vision.all_class_non_max_suppression(b, s, *(relay.const(each) for each in limits), box_format=form)
    rows, count = run(made, [b, s], [boxes, scores])
    np.testing.assert_array_equal(rows[: count.item()], wanted)
    assert not rows[count.item() :].any()


def test_the_rows_that_score_enough_stand_first():
    x = var("x", ROWS[None])
    made = relay.vision.get_valid_counts(x, relay.const(np.float32(0.65)))
    wanted = np.full((1, 5, 6), -1, np.float32)
    wanted[0, :3] = ROWS[:3]
    exe = weft.compile(relay.Function([x], made))
    for found in (run(made, [x], [ROWS[None]]), exe(ROWS[None])):
        counts, rows, places = found
        np.testing.assert_array_equal(counts, [3])
        np.testing.assert_array_equal(rows, wanted)
        np.testing.assert_array_equal(places, [[0, 1, 2, -1, -1]])


@pytest.mark.parametrize(
    "options, kept",
    [
        ({}, {0: 0, 2: 2, 3: 3, 4: 4}),
        ({"force_suppress": True}, {0: 0, 3: 3, 4: 4}),
        ({"id_index": -1}, {0: 0, 3: 3, 4: 4}),
        ({"top_k": 3}, {0: 0, 2: 2}),
        ({"top_k": 0}, {0: 0, 2: 2, 3: 3, 4: 4}),
        ({"max_output_size": 1}, {0: 0}),
        ({"max_output_size": 0}, {}),
        ({"iou_threshold": 0.99}, {0: 0, 1: 1, 2: 2, 3: 3, 4: 4}),
        ({"iou_threshold": 0.0}, {3: 0, 1: 1, 0: 2, 4: 3, 2: 4}),
    ],
)
def test_rows_that_better_ones_cover_are_dropped(options: dict[str, Any], kept: dict[int, int]):
    """`kept` says of each row that is kept which of the result it is."""
    order = np.array([3, 1, 0, 4, 2])  # the rows in another order than that of their scores
    data, places = ROWS[order][None], np.array([[10, 11, 12, 13, 14]], np.int32)
    x, n, i = var("x", data), relay.const(np.array([5], np.int32)), relay.const(places)
    options = {
        "max_output_size": relay.const(np.int32(options.pop("max_output_size", -1))),
        "iou_threshold": relay.const(np.float32(options.pop("iou_threshold", 0.5))),
        **options,
    }
    ranks = list(kept.values())
    at = [int(np.flatnonzero(order == row)[0]) for row in kept]
    indices, count = run(relay.vision.non_max_suppression(x, n, i, **options), [x], [data])
    assert count.tolist() == [[len(kept)]]
    assert indices[0].tolist() == [*(10 + place for place in at), *[-1] * (5 - len(kept))]
    for bottom in (False, True):
        made = relay.vision.non_max_suppression(x, n, i, **options, return_indices=False, invalid_to_bottom=bottom)
        wanted = np.full_like(data, -1)
        for number, place in enumerate(at):
            wanted[0, number if bottom else ranks[number]] = data[0, place]
        np.testing.assert_array_equal(run(made, [x], [data])[0], wanted)


def test_half_covered_is_covered_and_rows_without_a_score_stay():
    """Overlaps are those of the elements' type; a row that does not score is no rival, and takes no place of one."""
    data = np.array([[[0, 0.9, 0, 0, 2, 1], [0, 0.8, 0, 0, 1, 1], [0, -0.5, 0, 0, 2, 1]]], np.float32)
    x, n, i = var("x", data), relay.const(np.array([3], np.int32)), relay.const(np.array([[0, 1, 2]], np.int32))
    half = relay.const(np.float32(0.5))
    made = relay.vision.non_max_suppression(x, n, i, relay.const(np.int32(2)), half, return_indices=False)
    wanted = np.stack([data[0, 0], np.full(6, -1, np.float32), data[0, 2]])
    np.testing.assert_array_equal(run(made, [x], [data])[0][0], wanted)


def test_boxes_of_all_classes_are_in_the_order_of_their_classes_and_then_of_their_scores():
    image = [[0, 0, 0.3, 0.3], [0.5, 0.5, 0.4, 0.4], [0, 0, 0.5, 0.5], [0.5, 0.5, 0.9, 0.9]]
    boxes = np.array([image, image], np.float32)
    scores = np.array(
        [[[0.1, 0.2, 0.6, 0.9], [0.95, 0.2, 0.1, 0.3]], [[0.1, 0.5, 0.2, 0.3], [0.6, 0.2, 0.7, 0.3]]], np.float32
    )
    limits = (relay.const(np.int64(2)), relay.const(np.float32(0.8)), relay.const(np.float32(0.4)))
    b, s = var("b", boxes), var("s", scores)
    made = relay.vision.all_class_non_max_suppression(b, s, *limits, output_format="tensorflow")
    compiled = weft.compile(relay.Function([b, s], made), threads=1)
    wanted = np.array([[0.9, 0.6, 0.95, 0, 0, 0, 0, 0], [0.5, 0.7, 0.6, 0, 0, 0, 0, 0]], np.float32)
    for indices, kept, counts in (run(made, [b, s], [boxes, scores]), compiled(boxes, scores)):
        assert indices[:, :3].tolist() == [[[0, 3], [0, 2], [1, 0]], [[0, 1], [1, 2], [1, 0]]]
        assert counts.tolist() == [3, 3]
        np.testing.assert_array_equal(kept, wanted)


def test_of_boxes_with_equal_scores_the_first_ones_are_kept() -> None:
    """Five boxes twice, of which either drops the other, among so many that they form a heap of some depth."""
    corners = np.arange(5, dtype=np.float32)[:, None] * 10 + np.array([0, 0, 5, 5], np.float32)
    boxes = np.concatenate([corners, corners])[None]
    scores = np.ones((1, 1, 10), np.float32)
    b, s = var("b", boxes), var("s", scores)
    numbers = (relay.const(np.int64(10)), relay.const(np.float32(0.5)), relay.const(np.float32(0)))
    chosen = relay.vision.all_class_non_max_suppression(b, s, *numbers)
    rows = np.concatenate([np.zeros((1, 10, 1), np.float32), scores[0][..., None], boxes], axis=2)
    r = var("r", rows)
    counts, indices = np.array([10], np.int32), np.arange(10, dtype=np.int32)[None]
    kept = relay.vision.non_max_suppression(r, relay.const(counts), relay.const(indices), iou_threshold=0.5)
    made = relay.Function([b, s, r], relay.Tuple([chosen[0], chosen[1], kept[0], kept[1]]))
    selected, count, places, found = weft.compile(made, "llvm -opt-level=1", threads=1)(boxes, scores, rows)
    assert count == [5] and found == [[5]]
    np.testing.assert_array_equal(np.asarray(selected)[:5, 2], range(5))
    np.testing.assert_array_equal(np.asarray(places)[0, :5], range(5))
