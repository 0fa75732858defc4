"""What is done to features before a model: scaled, normalized, filled in, put together, encoded."""

from __future__ import annotations

from collections.abc import Callable
from math import floor

from xdsl.dialects.builtin import AnyFloat, f32, i64
from xdsl.ir import SSAValue

from ....dialects.relay.base import DYNAMIC, shape_of, tensor
from ....dialects.support.dtypes import numpy_dtype
from ....dialects.support.hints import isa
from ..errors import Malformed, Unsupported
from ..node import Converter, Node, rank_of
from .attributes import Numbers, needed, no_strings, numbers

NAN_IS_A_KEY = 4
"""The version from which on what is no number is found among the keys of labels."""


def binarizer(node: Node) -> SSAValue:
    """One above the threshold, else zero."""
    x, threshold = node.input(0), node.real("threshold", 0.0)
    if not isa(tensor(x).element_type, AnyFloat):
        if not -(2.0**31) <= threshold < 2.0**31:
            raise Unsupported(f"attribute 'threshold' is {threshold}, of integers")
        threshold = floor(threshold)  # an integer is above -0.5 where it is above -1
    above = node.emit("greater", x, node.scalar(threshold, x))
    return node.cast(above, tensor(x).element_type)


def array_feature_extractor(node: Node) -> SSAValue:
    """Some elements of the last dimension; of a vector, a row of them."""
    x, which = node.input(0, at_least=1), node.input(1)
    places = node.cast(node.reshape_to(which, [-1]), i64)
    y = node.emit("take", x, places, axis=rank_of(x) - 1, mode="error")
    return node.emit("expand_dims", y, axis=0) if rank_of(x) == 1 else y


def scaler(node: Node) -> SSAValue:
    """`(x - offset) * scale`, in f32; each is one number for all features, or one for each."""
    x = node.cast(node.input(0, at_least=1), f32)
    offset, scale = (_of_features(node, x, needed(node, name)) for name in ("offset", "scale"))
    return node.emit("multiply", node.emit("subtract", x, offset), scale)


def imputer(node: Node) -> SSAValue:
    """Features that have the value which stands for a missing one, or are no numbers where that is none, replaced."""
    import numpy as np

    x = node.input(0, at_least=1)
    if isa(tensor(x).element_type, AnyFloat):
        value, given = node.real("replaced_value_float", 0.0), needed(node, "imputed_value_floats")
    else:
        value, given = node.integer("replaced_value_int64", 0), needed(node, "imputed_value_int64s")
    missing = node.emit("isnan", x) if np.isnan(value) else node.emit("equal", x, node.scalar(value, x))
    return node.emit("where", missing, _of_features(node, x, given), x)


def _of_features(node: Node, x: SSAValue, given: Numbers) -> SSAValue:
    """Numbers for features of `x`, of its type.

    Raises:
        Malformed: they are neither one nor as many as there are features.
    """
    features = shape_of(x)[-1]
    if given.size != 1 and features not in (given.size, DYNAMIC):
        raise Malformed(f"{given.size} numbers for {features} features")
    return node.constant(given.astype(numpy_dtype(tensor(x).element_type)))


def normalizer(node: Node) -> SSAValue:
    """Rows divided by their greatest element, the sum of their magnitudes, or their length; in f32. Rows for which that
    is zero stay as they are."""
    x = node.cast(node.input(0, at_least=1), f32)
    norms: dict[str, Callable[[], SSAValue]] = {
        "MAX": lambda: node.emit("max", x, axis=[-1], keepdims=True),
        "L1": lambda: node.emit("sum", node.emit("abs", x), axis=[-1], keepdims=True),
        "L2": lambda: node.emit("sqrt", node.emit("sum", node.emit("multiply", x, x), axis=[-1], keepdims=True)),
    }
    norm = node.choice("norm", norms, "MAX")()
    is_zero = node.emit("equal", norm, node.scalar(0.0, norm))
    return node.emit("divide", x, node.emit("where", is_zero, node.scalar(1.0, norm), norm))


def feature_vectorizer(node: Node) -> SSAValue:
    """The features of all inputs side by side, in f32.

    Raises:
        Malformed: an input has not as many features as the attribute says.
    """
    given = [node.cast(value, f32) for value in node.present()]
    rows = [node.emit("expand_dims", x, axis=0) if rank_of(x) == 1 else x for x in given]
    counts = node.integers("inputdimensions", [shape_of(x)[-1] for x in rows])
    if any(rank_of(x) != 2 for x in rows) or counts != [shape_of(x)[-1] for x in rows]:
        raise Malformed(f"inputs of shapes {[list(shape_of(x)) for x in rows]}, and not rows of {counts} features")
    return node.emit("concatenate", node.emitter.tuple(rows), axis=1)


def one_hot_encoder(node: Node) -> SSAValue:
    """A new last dimension with a one where the category stands that an element is, if there is one; in f32."""
    no_strings(node, "cats_strings")
    if not node.integer("zeros", 1):
        raise Unsupported("attribute 'zeros' is 0: elements that are no category would be refused when it runs")
    x = node.cast(node.input(0), i64)
    categories = node.constant(needed(node, "cats_int64s"))
    return node.cast(node.emit("equal", node.emit("expand_dims", x, axis=rank_of(x)), categories), f32)


def label_encoder(node: Node) -> SSAValue:
    """The value that belongs to the key which an element is; of keys that are alike the first. Elements that are no key
    have the default value: -1, or -0.0.

    Raises:
        Malformed: there are not as many values as keys.
        Unsupported: keys or values are strings.
    """
    import numpy as np

    no_strings(node, "classes_strings", "keys_strings", "values_strings")
    x = node.input(0)
    keys, values = _keys_or_values(node, "keys"), _keys_or_values(node, "values")
    if keys.size != values.size or not keys.size:
        raise Malformed(f"{keys.size} keys for {values.size} values")
    if values.dtype.kind == "f":
        default: float = node.real("default_float", -0.0)
    else:
        default = node.integer("default_int64", -1)
    if (told := numbers(node, "default_tensor")) is not None:
        default = told.item(0)
    keys, first = np.unique(keys, return_index=True)
    values = values[first]
    table = node.constant(keys.astype(numpy_dtype(tensor(x).element_type)))
    last = node.emit("expand_dims", x, axis=rank_of(x))
    found = node.emit("equal", last, table)
    if node.version >= NAN_IS_A_KEY and keys.dtype.kind == "f" and np.isnan(keys[-1]):
        no_numbers = node.emit("logical_and", node.emit("isnan", last), node.emit("isnan", table))
        found = node.emit("logical_or", found, no_numbers)
    place = node.emit("argmax", node.cast(found, i64), axis=[-1], keepdims=False)
    chosen = node.emit("take", node.constant(values), node.cast(place, i64), axis=0)
    return node.emit("where", node.emit("any", found, axis=[-1], keepdims=False), chosen, node.scalar(default, chosen))


def _keys_or_values(node: Node, which: str) -> Numbers:
    found = [numbers(node, f"{which}_{kind}") for kind in ("int64s", "floats", "tensor")]
    there = [array for array in found if array is not None]
    if len(there) != 1:
        raise Malformed(f"{len(there)} attributes with {which}, and not one")
    return there[0].reshape(-1)


OPERATORS: dict[str, Converter] = {
    "ArrayFeatureExtractor": array_feature_extractor,
    "Binarizer": binarizer,
    "FeatureVectorizer": feature_vectorizer,
    "Imputer": imputer,
    "LabelEncoder": label_encoder,
    "Normalizer": normalizer,
    "OneHotEncoder": one_hot_encoder,
    "Scaler": scaler,
}
