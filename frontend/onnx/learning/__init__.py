"""Operators of ONNX's domain `ai.onnx.ml`: features, linear models, support vectors, and trees.

So exporters write models of scikit-learn and of gradient boosting. Where ONNX's text leaves open what an operator
means, it is what ONNX Runtime does.

Labels that are strings, maps and sequences of maps are no tensors, and refused: scikit-learn's exporter leaves `ZipMap`
out where it is given `options={"zipmap": False}`.
"""

from __future__ import annotations

from ..node import Versions
from . import branching_trees, features, linear, support_vectors, trees

DOMAIN = "ai.onnx.ml"

CONVERTERS: dict[str, Versions] = {
    f"{DOMAIN}.{name}": {1: convert}
    for table in (each.OPERATORS for each in (branching_trees, features, linear, support_vectors, trees))
    for name, convert in table.items()
}
