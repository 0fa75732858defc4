"""The ensembles of trees of `ai.onnx.ml` as of opset 5, whose branches and leaves are tables of their own.

They go down the trees as `trees.py` says, where the leaves stand behind the branches in its table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from ....dialects.relay.base import tensor
from ....dialects.support.dtypes import numpy_dtype
from ....dialects.support.hints import isa
from ..errors import Malformed
from ..node import Converter, Node
from .attributes import Numbers, needed, numbers
from .scores import transformed
from .trees import COMPARISONS, MEMBER, Forest, aggregated, aggregations, depth_of

if TYPE_CHECKING:
    import numpy as np

AGGREGATIONS = ("AVERAGE", "SUM", "MIN", "MAX")
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
"""What the numbers of `aggregate_function` and `post_transform` stand for."""


def branching_forest(node: Node, dtype: np.dtype[np.generic]) -> Forest:
    """The trees of a node's attributes: the branches, and the leaves behind them.

    Raises:
        Malformed: they are no trees.
    """
    import numpy as np

    splits = needed(node, "nodes_splits").astype(dtype)
    count, leaves = splits.size, needed(node, "leaf_weights").size
    kinds = needed(node, "nodes_modes", count)
    if kinds.size and not 0 <= kinds.min() <= kinds.max() < len(COMPARISONS):
        raise Malformed(f"modes of nodes from {kinds.min()} to {kinds.max()}")
    names = tuple(COMPARISONS)
    modes = [names[int(kind)] for kind in kinds.tolist()]
    branches = _branches(node, "true", count, leaves), _branches(node, "false", count, leaves)
    roots = needed(node, "tree_roots")
    if not roots.size or not 0 <= roots.min() <= roots.max() < count:
        raise Malformed(f"roots {roots.tolist()} of trees of {count} branches")
    missing = numbers(node, "nodes_missing_value_tracks_true")
    tracks = np.zeros(count, bool) if missing is None or not missing.size else missing != 0
    features = needed(node, "nodes_featureids", count)
    if tracks.size != count or features.min() < 0:
        raise Malformed(f"{tracks.size} ways for what is no number, and features from {features.min()}")
    behind = np.zeros(leaves, np.int64)
    return Forest(
        roots,
        np.concatenate([features, behind]),
        np.concatenate([splits, behind.astype(dtype)]),
        [*modes, *["LEAF"] * leaves],
        branches,
        np.concatenate([tracks, behind != 0]),
        {},
        depth_of(roots, branches),
        _members(node, modes, leaves, dtype),
    )


def _branches(node: Node, which: str, count: int, leaves: int) -> Numbers:
    """Where to go from each branch and, behind them, from each leaf, which leads to itself.

    Raises:
        Malformed: there is no such branch, or leaf.
    """
    import numpy as np

    to, is_leaf = needed(node, f"nodes_{which}nodeids", count), needed(node, f"nodes_{which}leafs", count) != 0
    beyond = np.where(is_leaf, leaves, count)
    if (wrong := np.flatnonzero((to < 0) | (to >= beyond))).size:
        at = int(wrong[0])
        raise Malformed(f"'nodes_{which}nodeids' names {to[at]}, where there are {beyond[at]}")
    return np.concatenate([to + np.where(is_leaf, count, 0), np.arange(count, count + leaves)])


def _members(node: Node, modes: list[str], leaves: int, dtype: np.dtype[np.generic]) -> Numbers | None:
    """What the features of branches may be one of; nothing where no branch asks so.

    Raises:
        Malformed: there are not as many sets of numbers as branches that ask so.
    """
    import numpy as np

    asking = [at for at, mode in enumerate(modes) if mode == MEMBER]
    given = numbers(node, "membership_values")
    values = np.zeros(0, dtype) if given is None else given.astype(dtype)
    sets = np.split(values, np.flatnonzero(np.isnan(values)) + 1)  # each ends in a NaN, and nothing is behind the last
    if len(sets) != len(asking) + 1 or sets[-1].size:
        raise Malformed(f"{len(sets) - 1} sets of numbers for {len(asking)} branches of mode {MEMBER}")
    if not asking:
        return None
    table = np.full((len(modes) + leaves, max(each.size for each in sets)), np.nan, dtype)
    for at, members in zip(asking, sets, strict=False):
        table[at, : members.size] = members
    return table


def tree_ensemble(node: Node) -> SSAValue:
    """What the leaves say at which a row ends, each of one target, put together over all trees."""
    import numpy as np

    x = node.input(0, 2)
    if not isa(element := tensor(x).element_type, AnyFloat):
        raise Malformed(f"features of type {element}")
    dtype = np.dtype(numpy_dtype(element))
    forest, targets = branching_forest(node, dtype), node.integer("n_targets", 1)
    weights = needed(node, "leaf_weights").astype(dtype)
    ids = needed(node, "leaf_targetids", weights.size)
    if ids.size and not 0 <= ids.min() <= ids.max() < targets:
        raise Malformed(f"leaves for targets from {ids.min()} to {ids.max()}, where there are {targets}")
    how = aggregations()[_chosen(node, "aggregate_function", AGGREGATIONS, "SUM")]
    table = np.full((len(forest.modes), targets), how.nothing, dtype)
    table[len(forest.modes) - weights.size + np.arange(weights.size), ids] = weights
    y = aggregated(node, forest, x, table, how)
    return transformed(node, y, _chosen(node, "post_transform", TRANSFORMS, "NONE"))


def _chosen(node: Node, name: str, options: tuple[str, ...], default: str) -> str:
    """What the number of an attribute stands for.

    Raises:
        Malformed: it stands for nothing.
    """
    number = node.integer(name, options.index(default))
    if not 0 <= number < len(options):
        raise Malformed(f"attribute '{name}' is {number}, and not from 0 to {len(options) - 1}")
    return options[number]


OPERATORS: dict[str, Converter] = {"TreeEnsemble": tree_ensemble}
