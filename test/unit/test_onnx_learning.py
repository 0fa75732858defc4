"""Operators of `ai.onnx.ml` give what ONNX Runtime gives."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import helper

import weft
from weft.dialects.relay.functions import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.onnx import from_onnx

pytestmark = pytest.mark.sampled(5)

ort: Any = import_module("onnxruntime")

NDArray = npt.NDArray[Any]
X = np.array([[-1.0, 2.0], [0.0, 0.0], [3.0, -4.0], [0.1, 0.2]], np.float32)
WITH_NAN = np.concatenate([X, np.array([[np.nan, 1.0]], np.float32)])
TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")


def model(operator: str, inputs: list[NDArray], outputs: int, version: int = 3, **attributes: Any) -> Any:
    names = [f"x{number}" for number in range(len(inputs))]
    results = [f"y{number}" for number in range(outputs)]
    node = helper.make_node(operator, names, results, domain="ai.onnx.ml", **attributes)
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), ["n", *x.shape[1:]])
        for name, x in zip(names, inputs, strict=True)
    ]
    graph = helper.make_graph([node], "g", given, [helper.make_empty_tensor_value_info(name) for name in results])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def theirs(made: Any, inputs: list[NDArray]) -> list[NDArray]:
    session = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {f"x{number}": x for number, x in enumerate(inputs)})


def same(ours: NDArray, expected: NDArray) -> None:
    assert ours.shape == expected.shape and ours.dtype == expected.dtype
    np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-5)


def check(operator: str, *inputs: NDArray, outputs: int = 1, version: int = 3, **attributes: Any) -> None:
    made = model(operator, list(inputs), outputs, version, **attributes)
    (function,) = from_onnx(made).body.ops
    assert isinstance(function, FuncOp)
    for ours, expected in zip(evaluate_function(function, inputs), theirs(made, list(inputs)), strict=True):
        same(ours, expected)


def refused(match: str, operator: str, outputs: int = 1, **attributes: Any) -> None:
    with pytest.raises(Diagnostic) as error:
        from_onnx(model(operator, [X], outputs, **attributes))
    assert match in str(error.value)


@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_rows_are_normalized(norm: str) -> None:
    check("Normalizer", X, norm=norm)
    check("Normalizer", np.arange(6).reshape(2, 3), norm=norm)


def test_features_are_scaled_filled_in_and_put_together() -> None:
    check("Scaler", X, offset=[1.0, 2.0], scale=[3.0, 4.0])
    check("Scaler", np.arange(6).reshape(2, 3), offset=[1.0], scale=[3.0])
    check("Imputer", WITH_NAN, imputed_value_floats=[1.0, 2.0], replaced_value_float=float("nan"))
    check("Imputer", X, imputed_value_floats=[7.0], replaced_value_float=-1.0)
    check("Imputer", np.arange(6).reshape(2, 3), imputed_value_int64s=[1, 2, 3], replaced_value_int64=4)
    check("FeatureVectorizer", X, X, inputdimensions=[2, 2])
    check("ArrayFeatureExtractor", X, np.array([[1], [0], [1]]))
    refused("3 numbers for 2 features", "Scaler", offset=[1.0] * 3, scale=[1.0])


def test_categories_and_labels_are_looked_up() -> None:
    check("OneHotEncoder", np.array([[1, 2], [3, 9]]), cats_int64s=[1, 2, 3])
    check("OneHotEncoder", np.array([1.0, 3.0], np.float32), cats_int64s=[1, 2, 3])
    check("LabelEncoder", np.array([1, 5, 9]), keys_int64s=[5, 1], values_floats=[0.5, 0.25])
    check("LabelEncoder", np.array([1, 5, 9]), keys_int64s=[5, 1], values_int64s=[50, 10], default_int64=3)
    keys: dict[str, Any] = {"keys_floats": [float("nan"), 1.0], "values_int64s": [50, 10]}
    for version in (3, 4):  # what is no number has been found since
        check("LabelEncoder", np.array([1, np.nan, 9], np.float32), version=version, **keys)
    refused("strings are no elements", "LabelEncoder", keys_strings=["a"], values_int64s=[1])


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_linear_models(transform: str) -> None:
    given: dict[str, Any] = {"post_transform": transform, "intercepts": [0.05, 0.1]}
    check("LinearRegressor", X, coefficients=[0.1, 0.2, -0.1, 0.3], targets=2, **given)
    check("LinearRegressor", X, coefficients=[0.1, 0.2], targets=1, post_transform=transform)
    three: dict[str, Any] = {"coefficients": [0.1, 0.2, -0.1, 0.3, 0.5, 0.6], "intercepts": [0.05, 0.1, 0.0]}
    check("LinearClassifier", X, outputs=2, classlabels_ints=[3, 4, 9], post_transform=transform, **three)
    one: dict[str, Any] = {
        "coefficients": [0.1, 0.2],
        "intercepts": [0.05],
        "classlabels_ints": [3, 4],
        "post_transform": transform,
    }
    if transform == "PROBIT":
        refused("of one score for two classes", "LinearClassifier", outputs=2, **one)
    else:
        check("LinearClassifier", X, outputs=2, **one)


VECTORS: dict[str, Any] = {"kernel_params": [0.4, 0.3, 2.0], "support_vectors": [1.0, 2.0, 3.0, 4.0, 0.5, 0.6]}


@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
def test_support_vectors(kernel: str) -> None:
    given: dict[str, Any] = {"kernel_type": kernel, "coefficients": [0.3, -0.2, 0.9], **VECTORS}
    check("SVMRegressor", X, n_supports=3, rho=[0.1], **given)
    check("SVMRegressor", X, n_supports=3, rho=[-0.4], one_class=1, **given)
    short: dict[str, Any] = {**given, "kernel_params": [0.1, 0.2]}
    refused("2 kernel_params", "SVMRegressor", n_supports=3, rho=[0.1], **short)
    refused("'rho' holds 2 numbers", "SVMRegressor", n_supports=3, rho=[0.1, 0.2], **given)
    for transform in TRANSFORMS[:3]:
        two: dict[str, Any] = {
            "classlabels_ints": [7, 8],
            "vectors_per_class": [1, 2],
            "post_transform": transform,
            "rho": [0.2],
        }
        check("SVMClassifier", X, outputs=2, **given, **two)
        check("SVMClassifier", X, outputs=2, prob_a=[-1.2], prob_b=[0.3], **given, **two)


def test_support_vectors_of_three_classes() -> None:
    vectors = np.random.default_rng(0).standard_normal((5, 2)).round(2)
    coefficients = np.random.default_rng(1).standard_normal((2, 5)).round(2)
    given: dict[str, Any] = {
        "kernel_type": "RBF", "kernel_params": [0.5, 0.0, 3.0], "support_vectors": vectors.reshape(-1).tolist(),
        "coefficients": coefficients.reshape(-1).tolist(), "rho": [0.1, -0.2, 0.05],
        "vectors_per_class": [2, 1, 2], "classlabels_ints": [4, 5, 6],
    }  # fmt: skip
    for transform in TRANSFORMS[:3]:
        check("SVMClassifier", X, outputs=2, post_transform=transform, **given)
    refused("more than two", "SVMClassifier", outputs=2, prob_a=[1.0] * 3, prob_b=[0.0] * 3, **given)


def trees(which: str, targets: int, weights: list[float], mode: str = "BRANCH_LEQ") -> dict[str, Any]:
    """A tree of two levels, in which what is no number goes with what is small, and one of a leaf."""
    ids, leaves = list(range(targets)), ([(0, 1), (0, 3), (0, 4), (1, 0)])
    return {
        "nodes_treeids": [0, 0, 0, 0, 0, 1], "nodes_nodeids": [0, 1, 2, 3, 4, 0],
        "nodes_featureids": [0, 0, 1, 0, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", mode, "LEAF", "LEAF", "LEAF"],
        "nodes_values": [0.05, 0.0, -0.5, 0.0, 0.0, 0.0], "nodes_truenodeids": [1, 0, 3, 0, 0, 0],
        "nodes_falsenodeids": [2, 0, 4, 0, 0, 0], "nodes_missing_value_tracks_true": [1, 0, 0, 0, 0, 0],
        f"{which}_treeids": [tree for tree, _ in leaves for _ in ids],
        f"{which}_nodeids": [node for _, node in leaves for _ in ids],
        f"{which}_ids": ids * 4, f"{which}_weights": weights,
    }  # fmt: skip


TWELVE = [0.3, 0.8, 0.1, 0.2, 0.5, 0.1, 0.6, 0.7, 0.01, 0.02, 0.3, 0.1]


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_trees(transform: str) -> None:
    given: dict[str, Any] = {"post_transform": transform}
    bases: list[dict[str, Any]] = [{}, {"base_values": [0.25, 0.1, 0.3]}]
    for base in bases:
        check("TreeEnsembleRegressor", WITH_NAN, n_targets=3, **trees("target", 3, TWELVE), **given, **base)
        several: dict[str, Any] = {"classlabels_int64s": [7, 9, 11], **trees("class", 3, TWELVE)}
        check("TreeEnsembleClassifier", WITH_NAN, outputs=2, **several, **given, **base)
    for weights in ([0.3, 0.8, 0.1, 0.1], [-0.3, 0.8, 0.1, 0.1]):
        for base in ({}, {"base_values": [0.25]}):
            two: dict[str, Any] = {"classlabels_int64s": [7, 9], **trees("class", 1, weights), **given, **base}
            if transform == "PROBIT":
                refused("of one score for two classes", "TreeEnsembleClassifier", outputs=2, **two)
            else:
                check("TreeEnsembleClassifier", WITH_NAN, outputs=2, **two)


def test_trees_compare_and_put_together_in_all_ways() -> None:
    weights = [0.3, 0.8, 0.1, 0.4]
    for mode in ("BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"):
        check("TreeEnsembleRegressor", WITH_NAN, n_targets=1, **trees("target", 1, weights, mode))
    for how in ("AVERAGE", "MIN", "MAX"):
        check("TreeEnsembleRegressor", X, n_targets=1, aggregate_function=how, **trees("target", 1, weights))


@pytest.mark.parametrize("how", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_trees_that_say_nothing_of_a_target_take_no_part(how: str) -> None:
    for weights in ([3.0, 8.0, 1.0, 4.0], [-3.0, -8.0, -1.0, -4.0]):
        given: dict[str, Any] = {**trees("target", 1, weights), "target_ids": [0, 1, 1, 1]}
        check("TreeEnsembleRegressor", X, n_targets=3, aggregate_function=how, **given)


def test_what_leaves_say_of_features_is_not_looked_at() -> None:
    given = trees("target", 1, [0.3, 0.8, 0.1, 0.4])
    leaf = [mode == "LEAF" for mode in given["nodes_modes"]]
    features = [99 if at else n for n, at in zip(given["nodes_featureids"], leaf, strict=True)]
    given["nodes_featureids"] = features
    check("TreeEnsembleRegressor", X, n_targets=1, **given)
    alone: dict[str, Any] = {f"nodes_{name}": [0] for name in ("treeids", "nodeids", "truenodeids", "falsenodeids")}
    alone |= {"nodes_values": [0.0], "nodes_featureids": [7], "nodes_modes": ["LEAF"]}
    target: dict[str, Any] = {f"target_{name}": [0] for name in ("treeids", "nodeids", "ids")}
    check("TreeEnsembleRegressor", X, n_targets=1, target_weights=[3.0], **alone, **target)


def test_a_threshold_of_integers_may_lie_between_them() -> None:
    x = np.array([[-2, -1, 0, 1, 2]])
    for threshold in (-1.5, -0.5, 0.5, 1.0):
        (function,) = from_onnx(model("Binarizer", [x], 1, threshold=threshold)).body.ops
        assert isinstance(function, FuncOp)
        (ours,) = evaluate_function(function, [x])
        np.testing.assert_array_equal(ours, x > threshold)


@pytest.mark.parametrize(
    ("match", "changes"),
    [
        (
            "round in a circle",
            {
                "nodes_truenodeids": [1, 0, 3, 2, 0, 0],
                "nodes_falsenodeids": [2, 0, 4, 2, 0, 0],
                "nodes_modes": ["BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF"],
            },
        ),
        ("has not one root", {"nodes_truenodeids": [1, 0, 4, 0, 0, 0]}),
        ("which there is not", {"nodes_truenodeids": [1, 0, 9, 0, 0, 0]}),
        ("a weight for target 3", {"target_ids": [0, 0, 0, 3]}),
        ("a branch on feature 2, where there are 2", {"nodes_featureids": [0, 0, 2, 0, 0, 0]}),
        ("a node of mode 'BRANCH'", {"nodes_modes": ["BRANCH", *["LEAF"] * 5]}),
    ],
)
def test_what_are_no_trees_is_refused(match: str, changes: dict[str, Any]) -> None:
    given: dict[str, Any] = {"n_targets": 1, **trees("target", 1, [0.1] * 4), **changes}
    refused(match, "TreeEnsembleRegressor", **given)


def test_trees_are_compiled_for_any_number_of_rows() -> None:
    made = model("TreeEnsembleRegressor", [X], 1, n_targets=3, **trees("target", 3, TWELVE))
    compiled = weft.compile(made)
    for rows in (1, 0, 4):
        same(np.asarray(compiled(X[:rows])), theirs(made, [X[:rows]])[0])


def branches(dtype: str = "float32", **changes: Any) -> dict[str, Any]:
    """Two trees of three branches and one, and six leaves for three targets."""
    splits, weights = np.array([0.05, 0.0, -0.5, 0.15], dtype), np.array([5.25, -12.5, 7.0, 0.75, 3.0, -2.0], dtype)
    members = np.array([0.0, 3.0, np.nan], dtype)
    given: dict[str, Any] = {
        "n_targets": 3, "tree_roots": [0, 3], "nodes_featureids": [0, 0, 1, 1], "nodes_modes": [0, 6, 0, 1],
        "nodes_splits": splits, "nodes_truenodeids": [1, 0, 2, 4], "nodes_trueleafs": [0, 1, 1, 1],
        "nodes_falsenodeids": [2, 1, 3, 5], "nodes_falseleafs": [0, 1, 1, 1],
        "nodes_missing_value_tracks_true": [1, 0, 0, 1], "leaf_targetids": [0, 1, 0, 2, 1, 2], "leaf_weights": weights,
        "membership_values": members, **changes,
    }  # fmt: skip
    tensors = {"nodes_modes": np.uint8, "nodes_splits": dtype, "leaf_weights": dtype, "membership_values": dtype}
    for name, kind in tensors.items():
        if given[name] is not None:
            given[name] = onnx.numpy_helper.from_array(np.array(given[name], kind), name)
    return given


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("how", range(4))
def test_branches_and_leaves_may_be_tables_of_their_own(dtype: str, how: int) -> None:
    x = WITH_NAN.astype(dtype)
    for transform in range(4):
        ours, runtimes = (
            model("TreeEnsemble", [x], 1, 5, **branches(dtype, aggregate_function=how, post_transform=number))
            for number in (transform, (0, 2, 1, 3)[transform])  # ONNX Runtime takes LOGISTIC for 1 and SOFTMAX for 2
        )
        (function,) = from_onnx(ours).body.ops
        assert isinstance(function, FuncOp)
        same(evaluate_function(function, [x])[0], theirs(runtimes, [x])[0])


@pytest.mark.parametrize("mode", range(6))
def test_branches_compare_in_all_ways(mode: int) -> None:
    given = branches(nodes_modes=[0, 0, mode, mode], membership_values=None)
    check("TreeEnsemble", WITH_NAN, version=5, **given)


def test_a_tree_may_be_a_leaf() -> None:
    given = branches(nodes_falsenodeids=[2, 1, 2, 5], tree_roots=[2])
    (function,) = from_onnx(model("TreeEnsemble", [X], 1, 5, **given)).body.ops
    assert isinstance(function, FuncOp)
    (ours,) = evaluate_function(function, [X])
    np.testing.assert_array_equal(ours, [[7.0, 0.0, 0.0]] * len(X))


@pytest.mark.parametrize(
    ("match", "changes"),
    [
        ("round in a circle", {"nodes_truenodeids": [1, 0, 0, 4], "nodes_trueleafs": [0, 1, 0, 1]}),
        ("names 6, where there are 6", {"nodes_truenodeids": [1, 6, 2, 4]}),
        ("names 4, where there are 4", {"nodes_falsenodeids": [4, 1, 3, 5]}),
        ("of trees of 4 branches", {"tree_roots": [4]}),
        ("modes of nodes from 0 to 7", {"nodes_modes": [0, 7, 0, 1]}),
        ("1 sets of numbers for 0 branches", {"nodes_modes": [0, 0, 0, 1]}),
        ("0 sets of numbers for 1 branches", {"membership_values": None}),
        ("leaves for targets from 0 to 3", {"leaf_targetids": [0, 1, 0, 3, 1, 2]}),
        ("a branch on feature 2, where there are 2", {"nodes_featureids": [0, 0, 2, 1]}),
        ("'post_transform' is 5, and not from 0 to 4", {"post_transform": 5}),
    ],
)
def test_tables_that_are_no_trees_are_refused(match: str, changes: dict[str, Any]) -> None:
    with pytest.raises(Diagnostic, match=match):
        from_onnx(model("TreeEnsemble", [X], 1, 5, **branches(**changes)))
