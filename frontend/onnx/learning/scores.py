"""What is made of scores: labels, and probabilities."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ....dialects.relay.base import shape_of
from ..errors import Malformed
from ..node import Node
from .attributes import needed, no_strings


def transform_of(node: Node) -> str:
    """What the attribute `post_transform` asks for, by name."""
    known = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")
    return node.choice("post_transform", {name: name for name in known}, "NONE")


def transformed(node: Node, scores: SSAValue, transform: str | None = None) -> SSAValue:
    """Scores `[n, k]` after a transform, or what `post_transform` asks for. Of single scores only PROBIT makes
    anything."""
    made: dict[str, Callable[[], SSAValue]] = {
        "NONE": lambda: scores,
        "LOGISTIC": lambda: node.emit("sigmoid", scores),
        "SOFTMAX": lambda: node.emit("nn.softmax", scores, axis=-1),
        "SOFTMAX_ZERO": lambda: softmax_but_of_zeros(node, scores),
        "PROBIT": lambda: probit(node, scores),
    }
    transform = transform or transform_of(node)
    return scores if shape_of(scores)[-1] == 1 and transform != "PROBIT" else made[transform]()


def softmax_but_of_zeros(node: Node, x: SSAValue) -> SSAValue:
    """Softmax, in which scores that are zero stay so."""
    apart = node.emit("subtract", x, node.emit("max", x, axis=[-1], keepdims=True))
    is_zero = node.emit("less_equal", node.emit("abs", x), node.scalar(1e-7, x))
    powers = node.emit("where", is_zero, node.scalar(0.0, x), node.emit("exp", apart))
    total = node.emit("sum", powers, axis=[-1], keepdims=True)
    return node.emit("divide", powers, node.emit("where", _is_zero(node, total), node.scalar(1.0, x), total))


def _is_zero(node: Node, x: SSAValue) -> SSAValue:
    return node.emit("equal", x, node.scalar(0.0, x))


def probit(node: Node, x: SSAValue) -> SSAValue:
    """The quantile of the normal distribution, as ONNX Runtime computes it (Winitzki's formula, to three digits)."""

    def of(value: float) -> SSAValue:
        return node.scalar(value, x)

    y = node.emit("subtract", node.emit("multiply", of(2.0), x), of(1.0))
    product = node.emit("multiply", node.emit("subtract", of(1.0), y), node.emit("add", of(1.0), y))
    log = node.emit("log", product)
    v = node.emit("add", of(2 / (3.14159 * 0.147)), node.emit("multiply", of(0.5), log))
    inner = node.emit("subtract", node.emit("multiply", v, v), node.emit("multiply", of(1 / 0.147), log))
    size = node.emit("sqrt", node.emit("subtract", node.emit("sqrt", inner), v))
    sign = node.emit("where", node.emit("less", y, of(0.0)), of(-1.41421356), of(1.41421356))
    return node.emit("multiply", sign, size)


def class_labels(node: Node, *attributes: str) -> SSAValue:
    """The labels of classes, `[k]`, of the attribute of these that is there.

    Raises:
        Unsupported: they are strings.
    """
    no_strings(node, "classlabels_strings")
    name = next((each for each in attributes if each in node.attributes), attributes[0])
    return node.constant(needed(node, name))


def best_labels(node: Node, scores: SSAValue, labels: SSAValue) -> SSAValue:
    """The label of the greatest score of each row, the first of several.

    Raises:
        Malformed: there are not as many labels as scores.
    """
    if shape_of(scores)[-1] != shape_of(labels)[0]:
        raise Malformed(f"{shape_of(labels)[0]} labels for {shape_of(scores)[-1]} scores")
    place = node.cast(node.emit("argmax", scores, axis=[-1], keepdims=False), i64)
    return node.emit("take", labels, place, axis=0)


def label_of_two(node: Node, score: SSAValue, labels: SSAValue, limit: float) -> SSAValue:
    """The second of two labels where the score of a row, `[n, 1]`, is above a limit, else the first."""
    if shape_of(labels)[0] != 2:
        raise Malformed(f"{shape_of(labels)[0]} labels for one score, and not two")
    above = node.emit("greater", node.emit("squeeze", score, axis=[1]), node.scalar(limit, score))
    return node.emit("take", labels, node.cast(above, i64), axis=0)


def both_scores(node: Node, score: SSAValue, others: SSAValue) -> SSAValue:
    """Scores of two classes, `[n, 2]`, of those of the first and of the second."""
    return node.emit("concatenate", node.emitter.tuple([others, score]), axis=1)
