"""Linear models."""

from __future__ import annotations

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ....dialects.relay.base import DYNAMIC, shape_of
from ..errors import Malformed, Unsupported
from ..linear import product
from ..node import Converter, Node, rank_of
from .attributes import Numbers, needed, numbers
from .scores import best_labels, both_scores, class_labels, label_of_two, transform_of, transformed


def features_of(node: Node) -> SSAValue:
    """The features `[n, f]` of the node's input, in f32; a vector is one row of them."""
    x = node.cast(node.input(0, at_least=1), f32)
    x = node.emit("expand_dims", x, axis=0) if rank_of(x) == 1 else x
    if rank_of(x) != 2:
        raise Malformed(f"features of rank {rank_of(x)}")
    return x


def weighted(node: Node, x: SSAValue, weights: Numbers, targets: int, offsets: Numbers | None) -> SSAValue:
    """`x @ weights.T + offsets`, where there are weights for so many targets.

    Raises:
        Malformed: weights or offsets do not fit.
    """
    import numpy as np

    features = shape_of(x)[-1]
    if targets < 1 or weights.size % targets or features not in (DYNAMIC, weights.size // targets):
        raise Malformed(f"{weights.size} coefficients for {targets} targets of {features} features")
    y = product(node, x, node.constant(np.ascontiguousarray(weights.reshape(targets, -1).T, np.float32)))
    if offsets is None or not offsets.size:
        return y
    if offsets.size != targets:
        raise Malformed(f"{offsets.size} intercepts for {targets} targets")
    return node.emit("add", y, node.constant(offsets.astype(np.float32)))


def linear_regressor(node: Node) -> SSAValue:
    """Targets that are sums of features, each times a coefficient, and intercepts."""
    targets, weights = node.integer("targets", 1), needed(node, "coefficients")
    return transformed(node, weighted(node, features_of(node), weights, targets, numbers(node, "intercepts")))


def linear_classifier(node: Node) -> list[SSAValue]:
    """The label of the class with the greatest score, and all scores.

    There is one score for two classes where there are coefficients for one: it is that of the second class.
    """
    labels = class_labels(node, "classlabels_ints")
    weights, offsets = needed(node, "coefficients"), needed(node, "intercepts")
    scores = weighted(node, features_of(node), weights, offsets.size, offsets)
    if offsets.size > 1:
        return [best_labels(node, scores, labels), transformed(node, scores)]
    label = label_of_two(node, scores, labels, 0.0)
    match transform_of(node):
        case "LOGISTIC":
            both = both_scores(node, *(node.emit("sigmoid", each) for each in (scores, node.emit("negative", scores))))
        case "PROBIT":
            raise Unsupported("attribute 'post_transform' is PROBIT, of one score for two classes")
        case _:
            both = both_scores(node, scores, node.emit("subtract", node.scalar(1.0, scores), scores))
    return [label, both]


OPERATORS: dict[str, Converter] = {"LinearClassifier": linear_classifier, "LinearRegressor": linear_regressor}
