"""Support vector machines."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from xdsl.ir import SSAValue

from ....dialects.relay.base import shape_of
from ..errors import Malformed, Unsupported
from ..linear import product
from ..node import Converter, Node
from .attributes import Numbers, needed, numbers
from .linear import features_of
from .scores import best_labels, both_scores, class_labels, transform_of, transformed

ENOUGH = 0.005 / 2
"""How far the equations of two probabilities may be from holding."""

SWEEPS = 2
"""After so many they are not farther, whatever the probabilities."""


def kernel(node: Node, x: SSAValue, vectors: Numbers) -> SSAValue:
    """How alike rows of `x` are to each of `vectors`, `[n, vectors]`."""
    import numpy as np

    given = numbers(node, "kernel_params")
    if given is None or not given.size:
        given = np.zeros(3, np.float32)
    if given.size != 3:
        raise Malformed(f"{given.size} kernel_params, and not 3")
    gamma, offset, degree = (float(value) for value in given)
    kind = node.choice("kernel_type", {name: name for name in ("LINEAR", "POLY", "RBF", "SIGMOID")}, "LINEAR")

    def of(value: float) -> SSAValue:
        return node.scalar(value, x)

    if kind == "RBF":
        apart = node.emit("subtract", node.emit("expand_dims", x, axis=1), node.constant(vectors))
        squares = node.emit("sum", node.emit("multiply", apart, apart), axis=[2], keepdims=False)
        return node.emit("exp", node.emit("multiply", of(-gamma), squares))
    products = product(node, x, node.constant(np.ascontiguousarray(vectors.T)))
    if kind == "LINEAR":
        return products
    line = node.emit("add", node.emit("multiply", of(gamma), products), of(offset))
    return node.emit("tanh", line) if kind == "SIGMOID" else node.emit("power", line, of(degree))


def svm_regressor(node: Node) -> SSAValue:
    """The sum of the coefficients of all support vectors, each times how alike a row is to it, and an offset.

    Of one class, 1 where that is above zero, else -1.
    """
    import numpy as np

    x, coefficients, offset = features_of(node), needed(node, "coefficients").astype(np.float32), needed(node, "rho", 1)
    count = node.integer("n_supports", 0)
    if count:
        vectors = needed(node, "support_vectors").astype(np.float32)
        if coefficients.size != count or vectors.size % count:
            raise Malformed(f"{coefficients.size} coefficients and {vectors.size} numbers for {count} vectors")
        alike, weights = kernel(node, x, vectors.reshape(count, -1)), coefficients
    else:
        alike, weights = x, coefficients
    y = product(node, alike, node.constant(weights[:, None]))
    y = node.emit("add", y, node.constant(offset.astype(np.float32)))
    if node.integer("one_class", 0):
        above = node.emit("greater", y, node.scalar(0.0, y))
        return node.emit("where", above, node.scalar(1.0, y), node.scalar(-1.0, y))
    return transformed(node, y)


@dataclass(frozen=True)
class _Pairs:
    """A machine for each two of the classes: which of the two a row is like, by the support vectors of both."""

    counts: Numbers
    """Of support vectors for each class, one class after the other."""

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(self.counts.size), 2))

    def weights(self, coefficients: Numbers) -> Numbers:
        """What each support vector counts in each pair, `[pairs, vectors]`. Coefficients have a row for each other
        class, of which a vector's own is left out.

        Raises:
            Malformed: there are others.
        """
        import numpy as np

        total, classes = int(self.counts.sum()), self.counts.size
        if coefficients.size != (classes - 1) * total:
            raise Malformed(f"{coefficients.size} coefficients for {total} support vectors of {classes} classes")
        rows = coefficients.reshape(classes - 1, total)
        ends = np.cumsum(self.counts)
        found = np.zeros((len(self.pairs), total), np.float32)
        for number, (one, other) in enumerate(self.pairs):
            for mine, row in ((one, other - 1), (other, one)):
                there = slice(ends[mine] - self.counts[mine], ends[mine])
                found[number, there] = rows[row, there]
        return found

    def votes(self) -> tuple[Numbers, Numbers]:
        """How each pair votes for each class, `[pairs, classes]`: where its score is above zero, and where not."""
        import numpy as np

        classes = np.eye(self.counts.size, dtype=np.float32)
        return classes[[one for one, _ in self.pairs]], classes[[other for _, other in self.pairs]]


def _coupled(node: Node, first: SSAValue, second: SSAValue) -> SSAValue:
    """Probabilities of two classes, `[n, 2]`, of those that their machine gives, `[n, 1]` each.

    They would be just these, but ONNX Runtime solves the equations for any number of classes, and stops where they
    nearly hold, as LIBSVM does: "Probability estimates for multi-class classification by pairwise coupling" (Wu, Lin,
    Weng, 2004).
    """

    def times(a: SSAValue, b: SSAValue) -> SSAValue:
        return node.emit("multiply", a, b)

    def sum_of(a: SSAValue, b: SSAValue) -> SSAValue:
        return node.emit("add", a, b)

    def apart(a: SSAValue, b: SSAValue) -> SSAValue:
        return node.emit("subtract", a, b)

    one, enough = node.scalar(1.0, first), node.scalar(ENOUGH, first)
    square = [times(second, second), times(first, first)]
    across = node.emit("negative", times(first, second))
    half = node.scalar(0.5, first)
    shares = [sum_of(apart(first, first), half)] * 2
    for _ in range(SWEEPS):
        old = list(shares)
        slopes = [sum_of(times(square[at], shares[at]), times(across, shares[1 - at])) for at in range(2)]
        mean = sum_of(times(shares[0], slopes[0]), times(shares[1], slopes[1]))
        away = node.emit("maximum", *(node.emit("abs", apart(slope, mean)) for slope in slopes))
        for at in range(2):
            step = node.emit("divide", apart(mean, slopes[at]), square[at])
            whole = sum_of(one, step)
            shares[at] = sum_of(shares[at], step)
            gain = times(step, sum_of(times(step, square[at]), sum_of(slopes[at], slopes[at])))
            mean = node.emit("divide", sum_of(mean, gain), times(whole, whole))
            moved = [square[at], across] if at == 0 else [across, square[at]]
            slopes = [
                node.emit("divide", sum_of(slope, times(step, by)), whole)
                for slope, by in zip(slopes, moved, strict=True)
            ]
            shares = [node.emit("divide", share, whole) for share in shares]
        goes_on = node.emit("greater_equal", away, enough)
        shares = [node.emit("where", goes_on, new, was) for new, was in zip(shares, old, strict=True)]
    return both_scores(node, shares[1], shares[0])


def svm_classifier(node: Node) -> list[SSAValue]:
    """The label that most pairs of classes vote for, the first of several, and the scores of the pairs.

    Of two classes the scores are against and for the second; with `prob_a` and `prob_b` they are probabilities.

    Raises:
        Malformed: the attributes do not fit one another.
        Unsupported: probabilities of more classes than two, which ONNX Runtime finds in turns; no support vectors.
    """
    import numpy as np

    labels, x = class_labels(node, "classlabels_ints"), features_of(node)
    counts = numbers(node, "vectors_per_class")
    if counts is None or not counts.size:
        raise Unsupported("weights for each class without support vectors")
    pairs, rho = _Pairs(counts), needed(node, "rho").astype(np.float32)
    if counts.size != shape_of(labels)[0] or rho.size != len(pairs.pairs):
        raise Malformed(f"{shape_of(labels)[0]} labels and {rho.size} offsets for {counts.size} classes")
    coefficients = needed(node, "coefficients").astype(np.float32)
    vectors = needed(node, "support_vectors").astype(np.float32)
    weights = pairs.weights(coefficients)
    if not counts.sum() or vectors.size % counts.sum() or not (coefficients < 0).any():
        raise Unsupported(
            f"{vectors.size} numbers for {counts.sum()} support vectors, or none that counts against a class"
        )
    alike = kernel(node, x, vectors.reshape(int(counts.sum()), -1))
    scores = product(node, alike, node.constant(np.ascontiguousarray(weights.T)))
    scores = node.emit("add", scores, node.constant(rho))
    above = node.emit("greater", scores, node.scalar(0.0, scores))
    favour, against = (node.constant(votes) for votes in pairs.votes())
    ballots = node.emit("expand_dims", above, axis=2)
    votes = node.emit("sum", node.emit("where", ballots, favour, against), axis=[1], keepdims=False)
    label = best_labels(node, votes, labels)
    if (slope := numbers(node, "prob_a")) is not None and slope.size:
        if counts.size != 2:
            raise Unsupported("probabilities of more than two classes")
        line = node.emit("multiply", scores, node.constant(slope.astype(np.float32)))
        line = node.emit("add", line, node.constant(needed(node, "prob_b", 1).astype(np.float32)))
        second = node.emit("clip", node.emit("sigmoid", line), a_min=1e-7, a_max=1 - 1e-7)
        both = _coupled(node, node.emit("subtract", node.scalar(1.0, second), second), second)
        return [label, transformed(node, both)]
    if counts.size != 2:
        return [label, transformed(node, scores)]
    negative = node.emit("negative", scores)
    match transform_of(node):
        case "NONE":
            return [label, both_scores(node, scores, negative)]
        case "LOGISTIC":
            return [label, both_scores(node, node.emit("sigmoid", scores), node.emit("sigmoid", negative))]
        case "PROBIT":
            raise Unsupported("attribute 'post_transform' is PROBIT, of one score for two classes")
        case _:
            return [label, both_scores(node, scores, node.emit("add", node.scalar(1.0, scores), negative))]


OPERATORS: dict[str, Converter] = {"SVMClassifier": svm_classifier, "SVMRegressor": svm_regressor}
