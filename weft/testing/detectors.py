"""Networks that find things in images: what they give has as many rows as there are things.

Small ones, built operator by operator as exporters write them, random weights from a seed: what is looked at is what
comes behind the convolutions. Images have any height and width that 8 divides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper

from weft.testing.networks import NetworkBuilder

STRIDE = 8
"""Pixels of the image for each place of the features."""


class DetectorBuilder(NetworkBuilder):
    """A graph that ends in boxes."""

    def features(self, channels: int, deep: bool) -> str:
        """What convolutions make of the image, or just one where it is not `deep`: a place for `STRIDE` pixels along
        each axis."""
        x, inputs = "image", 3
        for outputs in (8, 12, channels) if deep else (channels,):
            x, inputs = self.conv(x, inputs, outputs, 3, stride=2 if deep else STRIDE), outputs
        return x

    def rows(self, x: str, fields: int) -> str:
        """`[1, anchors * fields, h, w]` as `[1, h * w * anchors, fields]`."""
        return self.op("Reshape", self.op("Transpose", x, perm=[0, 2, 3, 1]), self.constant([1, -1, fields]))

    def extent(self, x: str, axis: int) -> str:
        """An extent of a tensor, as a scalar."""
        return self.op("Gather", self.op("Shape", x), self.constant(axis), axis=0)

    def centres(self, features: str) -> str:
        """The middle of each place of the features in the image, `[1, h * w, 2]`: down, then across."""
        grids: list[str] = []
        shape = self.op("Slice", self.op("Shape", features), self.constant([2]), self.constant([4]))
        for axis in (0, 1):
            places = self.op("Range", self.constant(0), self.extent(features, axis + 2), self.constant(1))
            number = self.op("Cast", places, to=TensorProto.FLOAT)
            middle = self.op("Mul", self.op("Add", number, self.real(0.5)), self.real(STRIDE))
            column = self.op("Unsqueeze", middle, self.constant([1 - axis]))
            grids.append(self.op("Reshape", self.op("Expand", column, shape), self.constant([1, -1, 1])))
        return self.op("Concat", *grids, axis=2)

    def real(self, value: float) -> str:
        """A number."""
        return self.constant(np.asarray(value, np.float32))

    def suppress(self, boxes: str, scores: str, most: int, iou: float, score: float, center: int = 0) -> str:
        """Rows (image, class, box) of what is kept."""
        return self.op(
            "NonMaxSuppression", boxes, scores, self.constant([most]), self.constant(np.array([iou], np.float32)),
            self.constant(np.array([score], np.float32)), center_point_box=center,
        )  # fmt: skip

    def column(self, rows: str, number: int) -> str:
        """A column of a matrix, as a vector."""
        return self.op("Gather", rows, self.constant(number), axis=1)

    def detections(self, boxes: str, scores: str, kept: str, most: int) -> list[str]:
        """The boxes, classes and scores of the best of what is kept, at most so many."""
        all_scores = self.op("GatherND", scores, kept)
        count = self.op("Min", self.op("Shape", all_scores), self.constant([most]))
        best, order = self.several("TopK", [all_scores, count], 2)
        chosen = self.op("Gather", kept, order, axis=0)
        all_boxes = self.op("Squeeze", boxes, self.constant([0]))
        return [self.op("Gather", all_boxes, self.column(chosen, 2), axis=0), self.column(chosen, 1), best]

    def parts(self, x: str, sizes: Sequence[int]) -> list[str]:
        """The parts of `x` along its last axis."""
        return self.several("Split", [x, self.constant([*sizes])], len(sizes), axis=2)

    def several(self, operator: str, inputs: Sequence[str], outputs: int, axis: int | None = None) -> list[str]:
        """An operator with several outputs."""
        names = [f"{operator.lower()}_{len(self._nodes)}_{number}" for number in range(outputs)]
        attributes: dict[str, Any] = {} if axis is None else {"axis": axis}
        self._nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names

    def detector(self, *outputs: tuple[str, int, list[int | str]]) -> ModelProto:
        """The model of an image of any size."""
        image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, "height", "width"])
        model = self.model([image], "", [])
        del model.graph.output[:]
        model.graph.output.extend(helper.make_tensor_value_info(*each) for each in outputs)
        return model


DETECTIONS: tuple[tuple[int, list[int | str]], ...] = (
    (TensorProto.FLOAT, ["n", 4]),
    (TensorProto.INT64, ["n"]),
    (TensorProto.FLOAT, ["n"]),
)
"""The types of boxes, classes and scores."""


def ssd(
    classes: int = 3, anchors: int = 2, most: int = 20, score: float = 0.5, deep: bool = True, seed: int = 0
) -> ModelProto:
    """A single-shot detector (Liu et al., 2016): offsets from prior boxes, and the class of each."""
    g = DetectorBuilder(seed)
    x = g.features(16, deep)
    offsets = g.rows(g.conv(x, 16, anchors * 4, 3, act="none"), 4)
    logits = g.rows(g.conv(x, 16, anchors * (classes + 1), 3, act="none"), classes + 1)
    scores = g.op("Transpose", g.op("Softmax", g.op("Mul", logits, g.real(3.0)), axis=2), perm=[0, 2, 1])
    centres = g.op("Reshape", g.op("Tile", g.centres(x), g.constant([1, 1, anchors])), g.constant([1, -1, 2]))
    shift, size = g.parts(offsets, [2, 2])
    middle = g.op("Add", centres, g.op("Mul", shift, g.real(4.0)))
    half = g.op("Mul", g.op("Exp", g.op("Mul", size, g.real(0.3))), g.real(6.0))
    boxes = g.op("Concat", g.op("Sub", middle, half), g.op("Add", middle, half), axis=2)
    objects = g.op("Slice", scores, g.constant([1]), g.constant([classes + 1]), g.constant([1]))
    kept = g.suppress(boxes, objects, most, 0.45, score)
    found = g.detections(boxes, objects, kept, most)
    return g.detector(*((name, *type) for name, type in zip(found, DETECTIONS, strict=True)))


def yolo(classes: int = 4, most: int = 30, score: float = 0.2, deep: bool = True, seed: int = 0) -> ModelProto:
    """Boxes by their middles and sizes, with a score for there being anything, as YOLO v5's (Redmon et al., 2016)."""
    g = DetectorBuilder(seed)
    x = g.features(16, deep)
    raw = g.op("Sigmoid", g.rows(g.conv(x, 16, classes + 5, 1, act="none"), classes + 5))
    parts = g.parts(raw, [2, 2, 1, classes])
    middle = g.op("Add", g.centres(x), g.op("Mul", g.op("Sub", parts[0], g.real(0.5)), g.real(16.0)))
    boxes = g.op("Concat", middle, g.op("Mul", parts[1], g.real(40.0)), axis=2)
    scores = g.op("Transpose", g.op("Mul", parts[2], parts[3]), perm=[0, 2, 1])
    kept = g.suppress(boxes, scores, most, 0.5, score, center=1)
    found = g.detections(boxes, scores, kept, most)
    return g.detector(*((name, *type) for name, type in zip(found, DETECTIONS, strict=True)))


def faster_rcnn(classes: int = 5, most: int = 12, score: float = 0.5, deep: bool = True, seed: int = 0) -> ModelProto:
    """Proposals, as many as there are, and what stands in each of them (Ren et al., 2015)."""
    g = DetectorBuilder(seed)
    x = g.features(16, deep)
    raw = g.rows(g.conv(x, 16, 5, 1, act="none"), 5)
    shift, size, objectness = g.parts(raw, [2, 2, 1])
    scores = g.op("Sigmoid", g.op("Mul", objectness, g.real(4.0)))
    middle = g.op("Add", g.centres(x), g.op("Mul", shift, g.real(4.0)))
    half = g.op("Mul", g.op("Exp", size), g.real(8.0))
    boxes = g.op("Concat", g.op("Sub", middle, half), g.op("Add", middle, half), axis=2)
    kept = g.suppress(boxes, g.op("Transpose", scores, perm=[0, 2, 1]), most, 0.7, score)
    proposals = g.op("Gather", g.op("Squeeze", boxes, g.constant([0])), g.column(kept, 2), axis=0)
    corners = g.op("Gather", proposals, g.constant([1, 0, 3, 2]), axis=1)
    regions = g.op(
        "RoiAlign", x, corners, g.column(kept, 0), output_height=3, output_width=3, sampling_ratio=2,
        spatial_scale=1.0 / STRIDE,
    )  # fmt: skip
    hidden = g.op("Relu", g.linear(g.op("Reshape", regions, g.constant([-1, 16 * 9])), 16 * 9, 24))
    logits = g.linear(hidden, 24, classes)
    refined = g.op("Add", proposals, g.linear(hidden, 24, 4))
    return g.detector((refined, TensorProto.FLOAT, ["n", 4]), (logits, TensorProto.FLOAT, ["n", classes]))
