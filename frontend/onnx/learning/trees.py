"""Ensembles of trees: a row goes down all trees at once, one level after the other.

The nodes of all trees stand in one table, in which a leaf leads to itself. A level is a comparison of the feature that
each row's node in each tree names with the node's threshold, and a look at the table of where to go from there:

    places = roots                                                   # [n, trees]
    for each level:
        places = where(x[rows, feature[places]] <= threshold[places], if_true[places], if_false[places])
    scores = weights[places].sum(over trees)

Source: Hummingbird's tree traversal (Nakandala et al., OSDI 2020). A level is one kernel, the same for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ....dialects.relay.base import DYNAMIC, shape_of
from ..errors import Malformed, Unsupported
from ..node import Converter, Node
from .attributes import Numbers, names, needed, numbers
from .linear import features_of
from .scores import best_labels, both_scores, class_labels, label_of_two, transform_of, transformed

if TYPE_CHECKING:
    import numpy as np

MEMBER = "BRANCH_MEMBER"
"""The mode of a node whose comparison holds where the feature is one of several numbers."""

COMPARISONS = {
    "BRANCH_LEQ": "less_equal",
    "BRANCH_LT": "less",
    "BRANCH_GTE": "greater_equal",
    "BRANCH_GT": "greater",
    "BRANCH_EQ": "equal",
    "BRANCH_NEQ": "not_equal",
    MEMBER: "equal",
}
"""The operators of nodes that have branches."""

MAX_DEPTH = 256
"""Levels that are written one after the other at most."""


@dataclass(frozen=True)
class Forest:
    """The nodes of all trees, by their places in one table."""

    roots: Numbers
    features: Numbers
    thresholds: Numbers
    modes: Sequence[str]
    branches: tuple[Numbers, Numbers]
    """Where to go from each node: where its comparison holds, and where not. A leaf leads to itself."""
    missing: Numbers
    """Whether what is no number holds."""
    places: dict[tuple[int, int], int]
    """Of nodes by tree and number."""
    depth: int
    members: Numbers | None = None
    """What the features of nodes may be one of, `[nodes, members]`, filled up with NaN, which equals nothing."""

    @property
    def kinds(self) -> list[str]:
        """The comparisons that there are."""
        return sorted({mode for mode in self.modes if mode != "LEAF"})


def forest_of(node: Node) -> Forest:
    """The trees of a node's attributes.

    Raises:
        Malformed: they are no trees.
    """
    import numpy as np

    trees, ids = needed(node, "nodes_treeids"), needed(node, "nodes_nodeids")
    count = trees.size
    given = needed(node, "nodes_featureids", count)
    thresholds = needed(node, "nodes_values", count).astype(np.float32)
    modes = names(node, "nodes_modes")
    if ids.size != count or len(modes) != count:
        raise Malformed(f"{count} nodes with {ids.size} numbers and {len(modes)} modes")
    if unknown := sorted(set(modes) - ({*COMPARISONS, "LEAF"} - {MEMBER})):
        raise Malformed(f"a node of mode '{unknown[0]}'")
    features = np.where([mode == "LEAF" for mode in modes], 0, given)  # what a leaf says is not looked at
    if features.size and features.min() < 0:
        raise Malformed(f"a branch on feature {features.min()}")
    places = {(int(tree), int(id)): at for at, (tree, id) in enumerate(zip(trees, ids, strict=True))}
    if len(places) != count:
        raise Malformed("two nodes of a tree have one number")
    branches: list[Numbers] = []
    for name in ("nodes_truenodeids", "nodes_falsenodeids"):
        there = np.arange(count)
        for at, (tree, id) in enumerate(zip(trees, needed(node, name, count), strict=True)):
            if modes[at] != "LEAF":
                if (found := places.get((int(tree), int(id)))) is None:
                    raise Malformed(f"'{name}' names node {id} of tree {tree}, which there is not")
                there[at] = found
        branches.append(there)
    led_to = {int(to) for there in branches for at, to in enumerate(there) if to != at}
    roots = np.array([at for at in range(count) if at not in led_to], np.int64)
    if sorted(set(trees.tolist())) != sorted(trees[roots].tolist()):
        raise Malformed("a tree has not one root")
    missing = numbers(node, "nodes_missing_value_tracks_true")
    tracks = np.zeros(count, bool) if missing is None or not missing.size else missing != 0
    if tracks.size != count:
        raise Malformed(f"{tracks.size} numbers in 'nodes_missing_value_tracks_true' for {count} nodes")
    return Forest(
        roots, features, thresholds, modes, (branches[0], branches[1]), tracks, places, depth_of(roots, branches)
    )


def depth_of(roots: Numbers, branches: Sequence[Numbers]) -> int:
    """How many branches there are on the longest way down.

    Raises:
        Malformed: a way goes round in a circle.
        Unsupported: it is too long.
    """
    import numpy as np

    depth, here = 0, roots
    while (moving := here[(branches[0][here] != here) | (branches[1][here] != here)]).size:
        depth += 1
        if depth > branches[0].size:
            raise Malformed("nodes lead round in a circle")
        here = np.unique(np.concatenate([each[moving] for each in branches]))
    if depth > MAX_DEPTH:
        raise Unsupported(f"trees of {depth} levels, of which {MAX_DEPTH} are written out at most")
    return depth


def leaves_of(node: Node, forest: Forest, x: SSAValue) -> SSAValue:
    """At which leaf each row of `x` ends in each tree, `[n, trees]`.

    Raises:
        Malformed: a node asks for a feature that there is not.
    """
    import numpy as np

    last = int(forest.features.max())
    if (count := shape_of(x)[1]) == DYNAMIC:  # how many there are is checked when it runs
        x = node.emit("take", x, node.constant(np.arange(last + 1)), axis=1, mode="error")
    elif last >= count:
        raise Malformed(f"a branch on feature {last}, where there are {count}")
    if forest.depth == 0:
        nothing = node.emit("zeros_like", node.emit("take", x, node.constant(forest.roots * 0), axis=1))
        return node.emit("add", node.cast(nothing, i64), node.constant(forest.roots))
    places: SSAValue | None = None
    for _ in range(forest.depth):
        places = _level(node, forest, x, places)
    assert places is not None
    return places


def _level(node: Node, forest: Forest, x: SSAValue, places: SSAValue | None) -> SSAValue:
    """Where rows are one level below `places`, or below the roots."""

    def table(values: Numbers) -> SSAValue:
        if places is None:
            return node.constant(values[forest.roots])
        return node.emit("take", node.constant(values), places, axis=0)

    if places is None:
        found = node.emit("take", x, table(forest.features), axis=1)
    else:
        found = node.emit("gather", x, table(forest.features), axis=1)
    threshold = table(forest.thresholds)
    holds: SSAValue | None = None
    for kind in forest.kinds:
        if kind == MEMBER:
            assert forest.members is not None
            alike = node.emit("equal", node.emit("expand_dims", found, axis=2), table(forest.members))
            compared = node.emit("any", alike, axis=[2], keepdims=False)
        else:
            compared = node.emit(COMPARISONS[kind], found, threshold)
        if len(forest.kinds) > 1:
            is_mine = table(_bools([mode == kind for mode in forest.modes]))
            compared = node.emit("logical_and", compared, is_mine)
        holds = compared if holds is None else node.emit("logical_or", holds, compared)
    assert holds is not None
    if forest.missing.any():
        lacks = node.emit("logical_and", node.emit("isnan", found), table(forest.missing))
        holds = node.emit("logical_or", holds, lacks)
    below = node.emit("where", holds, *map(table, forest.branches))
    return node.emit("annotation.stop_fusion", below)


def _bools(values: list[bool]) -> Numbers:
    import numpy as np

    return np.array(values)


@dataclass(frozen=True)
class Aggregation:
    """How weights are put together: those of one leaf for one target, and those of all trees."""

    operator: str
    of_leaf: np.ufunc
    nothing: float = 0.0
    """What a leaf has for a target for which it has no weight: such a tree takes no part."""


def aggregations() -> dict[str, Aggregation]:
    import numpy as np

    return {
        "SUM": Aggregation("sum", np.add),
        "AVERAGE": Aggregation("mean", np.add),
        "MIN": Aggregation("min", np.minimum, np.inf),
        "MAX": Aggregation("max", np.maximum, -np.inf),
    }


def _leaf_weights(node: Node, forest: Forest, which: str, targets: int, how: Aggregation) -> Numbers:
    """What each node says of each target, `[nodes, targets]`.

    Raises:
        Malformed: a weight is for a node or a target that there is not.
    """
    import numpy as np

    trees = needed(node, f"{which}_treeids")
    ids, of, weights = (needed(node, f"{which}_{name}", trees.size) for name in ("nodeids", "ids", "weights"))
    table = np.full((len(forest.modes), targets), how.nothing, np.float32)
    for tree, id, target, weight in zip(trees, ids, of, weights, strict=True):
        if (at := forest.places.get((int(tree), int(id)))) is None or not 0 <= target < targets:
            raise Malformed(f"a weight for target {target} at node {id} of tree {tree}")
        table[at, target] = how.of_leaf(table[at, target], weight)
    return table


def aggregated(node: Node, forest: Forest, x: SSAValue, weights: Numbers, how: Aggregation) -> SSAValue:
    """The weights of the leaves where the rows of `x` end, `[n, targets]`, together over all trees; zero for targets
    of which no tree says anything."""
    import numpy as np

    found = node.emit("take", node.constant(weights), leaves_of(node, forest, x), axis=0)
    y = node.emit(how.operator, found, axis=[1], keepdims=False)
    if np.isfinite(weights[[mode == "LEAF" for mode in forest.modes]]).all():
        return y
    return node.emit("where", node.emit("isinf", y), node.scalar(0.0, y), y)


def tree_ensemble_regressor(node: Node) -> SSAValue:
    """What the leaves say at which a row ends, put together over all trees."""
    import numpy as np

    forest, targets = forest_of(node), node.integer("n_targets", 1)
    how = node.choice("aggregate_function", aggregations(), "SUM")
    y = aggregated(node, forest, features_of(node), _leaf_weights(node, forest, "target", targets, how), how)
    if (base := numbers(node, "base_values")) is not None and base.size:
        if base.size not in (1, targets):
            raise Malformed(f"{base.size} base values for {targets} targets")
        y = node.emit("add", y, node.constant(base.astype(np.float32)))
    return transformed(node, y)


def tree_ensemble_classifier(node: Node) -> list[SSAValue]:
    """The label of the class with the greatest sum of weights, and what is made of the sums. Where all weights are for
    the first of two classes, they are for or against the second one."""
    import numpy as np

    labels, forest = class_labels(node, "classlabels_int64s"), forest_of(node)
    classes = shape_of(labels)[0]
    ids, base = needed(node, "class_ids"), numbers(node, "base_values")
    offsets = np.zeros(0, np.float32) if base is None else base.astype(np.float32)
    how = aggregations()["SUM"]
    weights = _leaf_weights(node, forest, "class", classes, how)
    if classes != 2 or set(ids.tolist()) != {0}:
        if offsets.size not in (0, classes):
            raise Unsupported(f"{offsets.size} base values for {classes} classes")
        if classes == 2 and len(set(ids.tolist())) == 1:
            raise Unsupported("weights for the second of two classes alone")
        scores = aggregated(node, forest, features_of(node), weights, how)
        scores = node.emit("add", scores, node.constant(offsets)) if offsets.size else scores
        return [best_labels(node, scores, labels), transformed(node, scores)]
    if offsets.size > 1:
        raise Unsupported("a base value for each of two classes, where all weights are for the first")
    score = aggregated(node, forest, features_of(node), weights[:, :1], how)
    score = node.emit("add", score, node.constant(offsets)) if offsets.size else score
    is_share = bool((needed(node, "class_weights") >= 0).all())
    label = label_of_two(node, score, labels, 0.5 if is_share else 0.0)
    return [label, _of_one(node, score, is_share)]


def _of_one(node: Node, score: SSAValue, is_share: bool) -> SSAValue:
    """The scores of two classes, made of that of the second one.

    Where it `is_share`, the first has the rest of one, else what speaks against the second.
    """
    negative = node.emit("negative", score)
    match transform_of(node):
        case "PROBIT":
            raise Unsupported("attribute 'post_transform' is PROBIT, of one score for two classes")
        case "LOGISTIC":
            return both_scores(node, node.emit("sigmoid", score), node.emit("sigmoid", negative))
        case _:
            rest = node.emit("add", node.scalar(1.0, score), negative) if is_share else negative
            return both_scores(node, score, rest)


OPERATORS: dict[str, Converter] = {
    "TreeEnsembleClassifier": tree_ensemble_classifier,
    "TreeEnsembleRegressor": tree_ensemble_regressor,
}
