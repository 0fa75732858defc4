"""A model of cost that is learned from measurements: which of many schedules are worth measuring.

Gradient-boosted regression trees, in NumPy: each tree is fitted to what the trees before it leave unexplained, and
splits at the threshold that explains most of it. What is learned is the logarithm of a schedule's time to that of the
default schedule of the same kernel, from the features of both, so that what is learned of one kernel helps with others.

Source: Friedman, "Greedy Function Approximation: A Gradient Boosting Machine" (2001). That such a model guides a search
of schedules well is shown in Chen et al., "Learning to Optimize Tensor Programs" (2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]

TREES = 50
DEPTH = 3
RATE = 0.15
"""The part of what a tree says that counts."""
LEAST = 2
"""Samples in a leaf."""
NEWEST = 600
"""Samples that are learned from: those measured last."""


def sample(features: Sequence[float], default: Sequence[float]) -> list[float]:
    """What the model is given of a schedule: its features, and how they differ from those of the default one."""
    return [*features, *(one - other for one, other in zip(features, default, strict=True))]


@dataclass(frozen=True)
class Tree:
    """A regression tree. Node `n` asks whether a feature is at most a threshold, and goes on at `left` or `right`; a
    leaf has no feature (-1)."""

    feature: list[int]
    threshold: list[float]
    left: list[int]
    right: list[int]
    value: list[float]

    def predict(self, x: Array) -> Array:
        """The values of the leaves that the rows of `x` fall into."""
        at = np.zeros(len(x), np.int64)
        feature, threshold = np.array(self.feature), np.array(self.threshold)
        left, right = np.array(self.left), np.array(self.right)
        for _ in range(DEPTH):
            inner = feature[at] >= 0
            goes_left = x[np.arange(len(x)), np.maximum(feature[at], 0)] <= threshold[at]
            at = np.where(inner, np.where(goes_left, left[at], right[at]), at)
        return np.array(self.value)[at]


def fit_tree(x: Array, y: Array, depth: int = DEPTH) -> Tree:
    """The tree that explains `y` by the rows of `x`, grown greedily."""
    tree = Tree([], [], [], [], [])

    def grow(rows: npt.NDArray[np.int64], depth: int) -> int:
        node = len(tree.feature)
        for column in (tree.feature, tree.left, tree.right):
            column.append(-1)
        tree.threshold.append(0.0)
        tree.value.append(float(y[rows].mean()))
        found = best_split(x[rows], y[rows]) if depth else None
        if found is not None:
            feature, threshold = found
            below = x[rows, feature] <= threshold
            tree.feature[node], tree.threshold[node] = feature, threshold
            tree.left[node] = grow(rows[below], depth - 1)
            tree.right[node] = grow(rows[~below], depth - 1)
        return node

    grow(np.arange(len(y)), depth)
    return tree


def best_split(x: Array, y: Array) -> tuple[int, float] | None:
    """The feature and the threshold between two of its values that leave the least squared error; `None` where no split
    leaves less than there is, or leaves too small."""
    count = len(y)
    if count < 2 * LEAST:
        return None
    order = np.argsort(x, axis=0, kind="stable")
    values, sums = np.take_along_axis(x, order, 0), np.cumsum(y[order], axis=0)
    sizes = np.arange(1, count)[:, None]
    gain = sums[:-1] ** 2 / sizes + (sums[-1] - sums[:-1]) ** 2 / (count - sizes)
    usable = (values[1:] > values[:-1]) & (sizes >= LEAST) & (count - sizes >= LEAST)
    gain = np.where(usable, gain, -np.inf)
    row, feature = np.unravel_index(int(np.argmax(gain)), gain.shape)
    if gain[row, feature] <= sums[-1, 0] ** 2 / count + 1e-12:
        return None
    return int(feature), float((values[row, feature] + values[row + 1, feature]) / 2)


class CostModel:
    """What has been learned so far."""

    def __init__(self) -> None:
        self._base = 0.0
        self._trees: list[Tree] = []

    @property
    def is_fitted(self) -> bool:
        """Whether it has anything to say."""
        return bool(self._trees)

    def fit(self, samples: Sequence[Sequence[float]], ratios: Sequence[float]) -> None:
        """Learn anew, from samples (`sample`) and the ratios that were measured."""
        x, y = np.array(samples[-NEWEST:], np.float64), np.log(np.array(ratios[-NEWEST:], np.float64))
        self._trees = []
        if len(y) < 2 * LEAST:
            return
        self._base = float(y.mean())
        rest = y - self._base
        for _ in range(TREES):
            tree = fit_tree(x, rest)
            rest = rest - RATE * tree.predict(x)
            self._trees.append(tree)

    def predict(self, samples: Sequence[Sequence[float]]) -> list[float]:
        """The ratios to expect: the less the better."""
        x = np.array(samples, np.float64)
        total = np.full(len(x), self._base)
        for tree in self._trees:
            total += RATE * tree.predict(x)
        return [float(value) for value in np.exp(total)]
