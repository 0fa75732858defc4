"""Boxes that detectors try, and what they become by what a network says of them (SSD)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import AnyFloat, DenseArrayBase, Float64Type, TensorType, f32, f64, i1, i32
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import DYNAMIC, Fusion, FusionPattern, RelayOp, flag, is_true, real, shape_of, tensor
from ..precision import Accuracy
from ..types import tuple_type
from .image import clamped_index
from .suppression import places_of

FLOATS = DenseArrayBase.constr(f64)


def floats_of(value: DenseArrayBase[Float64Type]) -> list[float]:
    """The Python values of a property of floats."""
    return [float(each) for each in value.get_values()]


def reals(*values: float) -> DenseArrayBase[Float64Type]:
    """A property of floats with a default."""
    return prop_def(FLOATS, default_value=DenseArrayBase.from_list(f64, list(values)))


@irdl_op_definition
class MultiboxPriorOp(RelayOp):
    """Boxes of several sizes and ratios around each pixel, as parts of the image: (left, top, right, bottom).

    All sizes as squares of the image's height, whatever the first ratio is; of the other ratios the first size. A step
    of -1 is that of the pixels.

    ```mlir
    %y = relay.vision.multibox_prior %x {sizes = array<f64: 0.5, 0.25>, ratios = array<f64: 1.0, 2.0>}
       : (tensor<1x3x2x4xf32>) -> tensor<1x24x4xf32>
    ```
    """

    name = "relay.vision.multibox_prior"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED

    data = operand_def(TensorType)
    result = result_def(TensorType)
    sizes = reals(1.0)
    ratios = reals(1.0)
    steps = reals(-1.0, -1.0)
    offsets = reals(0.5, 0.5)
    clip = flag(False)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def count(self) -> int:
        """How many boxes a pixel has."""
        return len(self.sizes) + len(self.ratios) - 1

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        shape = data.get_shape()
        if len(shape) != 4 or not isinstance(data.element_type, AnyFloat):
            raise VerifyException(f"expected images [n, c, h, w] of floats, got {data}")
        if not len(self.sizes) or not len(self.ratios) or min(floats_of(self.ratios)) <= 0:
            raise VerifyException("there must be a size and a ratio, and ratios above zero")
        if len(self.steps) != 2 or len(self.offsets) != 2:
            raise VerifyException("'steps' and 'offsets' are two numbers each")
        boxes = DYNAMIC if DYNAMIC in shape[2:] else shape[2] * shape[3] * self.count()
        return [TensorType(data.element_type, [1, boxes, 4])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        _, _, height, width = x.shape
        if 0 in (height, width):
            return te.compute([1, 0, 4], lambda *_: te.const(0.0, x.element_type), "multibox_prior")
        steps = [
            given if given > 0 else 1.0 / extent
            for given, extent in zip(floats_of(self.steps), (height, width), strict=True)
        ]
        sizes, ratios = floats_of(self.sizes), floats_of(self.ratios)
        forms = [(size, 1.0) for size in sizes] + [(sizes[0], ratio**0.5) for ratio in ratios[1:]]
        halves = [(size * height / width * root / 2, size / root / 2) for size, root in forms]
        count = self.count()

        def body(_: te.IterVar, box: te.IterVar, side: te.IterVar) -> te.Expr:
            pixel, form = box // count, box % count
            places = (pixel % width, pixel // width)
            across, down = (
                (te.cast(place, f32) + offset) * step
                for place, offset, step in zip(places, floats_of(self.offsets)[::-1], steps[::-1], strict=True)
            )
            half = te.const(0.0, f32)
            for number, both in enumerate(halves):
                own = te.select((side % 2).equal(0), te.const(both[0], f32), te.const(both[1], f32))
                half = te.select(form.equal(number), own, half)
            found = te.select((side % 2).equal(0), across, down)
            found = te.select(side < 2, found - half, found + half)
            return te.maximum(te.minimum(found, 1.0), 0.0) if is_true(self.clip) else found

        element = tensor(self.result).element_type
        return te.compute((1, height * width * count, 4), lambda *i: te.cast(body(*i), element), "multibox_prior")


@irdl_op_definition
class MultiboxTransformLocOp(RelayOp):
    """What boxes become by classes that are likely in them and by how far they are moved: rows (class, score, box).

    The class is the likeliest beside the first, which is background; without `keep_background` rows of what is less
    likely than `threshold` are left out, and the others stand first. Gives the rows, and how many there are.

    ```mlir
    %y = relay.vision.multibox_transform_loc %p, %l, %a
       : (tensor<1x3x4xf32>, tensor<1x16xf32>, tensor<1x4x4xf32>) -> tuple<tensor<1x4x6xf32>, tensor<1xi32>>
    ```
    """

    name = "relay.vision.multibox_transform_loc"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED

    cls_prob = operand_def(TensorType)
    loc_pred = operand_def(TensorType)
    anchor = operand_def(TensorType)
    result = result_def()
    clip = flag(True)
    threshold = real(0.01)
    variances = reals(0.1, 0.1, 0.2, 0.2)
    keep_background = flag(False)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Sequence[Attribute]:
        classes, moved, anchors = tensor(self.cls_prob), shape_of(self.loc_pred), shape_of(self.anchor)
        shape = classes.get_shape()
        if len(shape) != 3 or not isinstance(classes.element_type, AnyFloat) or shape[1] == 1:
            raise VerifyException(f"expected [batch, classes, boxes] of floats, two classes at least, got {classes}")
        batch, _, boxes = shape
        for found, wanted in ((moved, (batch, 4 * boxes if boxes != DYNAMIC else DYNAMIC)), (anchors, (1, boxes, 4))):
            fits = len(found) == len(wanted) and all(
                DYNAMIC in (n, m) or n == m for n, m in zip(found, wanted, strict=True)
            )
            if not fits:
                raise VerifyException(f"expected {list(wanted)} for {boxes} boxes, got {list(found)}")
        if len(self.variances) != 4:
            raise VerifyException("'variances' are four numbers")
        for operand in (self.loc_pred, self.anchor):
            if tensor(operand).element_type != classes.element_type:
                raise VerifyException(f"expected elements of {classes.element_type}, got {operand.type}")
        return [tuple_type(TensorType(classes.element_type, [batch, boxes, 6]), TensorType(i32, [batch]))]

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        prob, moved, anchor = inputs
        batch, classes, boxes = prob.shape
        element = prob.element_type
        variances, limit = floats_of(self.variances), self.threshold.value.data
        c, d = te.reduce_axis(classes - 1), te.reduce_axis(classes - 1)
        score = te.compute((batch, boxes), lambda b, a: te.max(prob[b, c + 1, a], c), "best_score")
        which = te.compute(
            (batch, boxes),
            lambda b, a: te.min(te.select(prob[b, d + 1, a] >= score[b, a], te.cast(d, i32), classes - 1), d),
            "best_class",
        )

        def good(b: te.Expr, a: te.Expr) -> te.Expr:
            return te.const(1, i1) if is_true(self.keep_background) else score[b, a] >= te.const(limit, element)

        counts, places = places_of(good, batch, boxes)

        def side(b: te.Expr, a: te.Expr, number: te.Expr) -> te.Expr:
            """One side of a moved box: left, top, right or bottom."""
            axis = number % 2
            low, high = anchor[0, a, axis], anchor[0, a, axis + 2]
            size, centre = high - low, (low + high) * 0.5
            moving, growing = (
                te.select(axis.equal(0), te.const(across, element), te.const(down, element))
                for across, down in (variances[:2], variances[2:])
            )
            middle = moved[b, a * 4 + axis] * moving * size + centre
            half = te.exp(moved[b, a * 4 + 2 + axis] * growing) * size * 0.5
            found = te.select(number < 2, middle - half, middle + half)
            return te.maximum(te.minimum(found, 1.0), 0.0) if is_true(self.clip) else found

        def row(b: te.IterVar, p: te.IterVar, f: te.IterVar) -> te.Expr:
            a = clamped_index(te.cast(places[b, p], te.index), boxes)
            box = side(b, a, te.maximum(f - 2, 0))
            found = te.select(f.equal(0), te.cast(which[b, a], element), te.select(f.equal(1), score[b, a], box))
            return te.select(places[b, p] >= 0, found, -1)

        return [te.compute((batch, boxes, 6), row, "multibox_transform_loc"), counts]


OPS: list[type[Operation]] = [MultiboxPriorOp, MultiboxTransformLocOp]
"""The operators on boxes that are tried."""
