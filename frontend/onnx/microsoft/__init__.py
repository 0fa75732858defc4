"""Operators of ONNX Runtime's own domain, `com.microsoft`: what its quantizer and its optimisers write into models.

Source of what they mean: ONNX Runtime 1.31, docs/ContribOperators.md and its kernels for processors, which the tests
run beside.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import Unsupported
from ..node import Converter, Node, Outputs, Versions
from . import alike, attention, experts, few_bits, fused, grouped, quantized, recurrent

DOMAIN = "com.microsoft"


def _strict(convert: Converter, attributes: Mapping[str, float | None]) -> Converter:
    """`convert`, which reads these attributes. Any other is refused, and one that has a value here where it is not
    that."""

    def converted(node: Node) -> Outputs:
        for name in node.attributes:
            if name not in attributes:
                raise Unsupported(f"attribute '{name}'")
            if attributes[name] is not None and node.value(name) != attributes[name]:
                raise Unsupported(f"attribute '{name}' is {node.value(name)}")
        return convert(node)

    return converted


def _versions(table: Mapping[str, tuple[Converter, str]]) -> dict[str, Versions]:
    """The converters of a table by name and version: `axis` is an attribute, `shared=0` one that has to be 0."""
    found: dict[str, Versions] = {}
    for operator, (convert, attributes) in table.items():
        pairs = (name.partition("=") for name in attributes.split())
        known = {name: float(value) if value else None for name, _, value in pairs}
        found[f"{DOMAIN}.{operator}"] = {1: _strict(convert, known)}
    return found


IN_ONNX_DOMAIN = frozenset({"LayerNormalization", "SimplifiedLayerNormalization"})
"""The operators that ONNX Runtime's optimisers write as if they were of ONNX's own domain, in whatever opset."""

CONVERTERS: dict[str, Versions] = {
    "SimplifiedLayerNormalization": {
        1: _strict(fused.simplified_layer_norm, {"axis": None, "epsilon": None, "stash_type": 1})
    },
    **_versions(quantized.OPERATORS),
    **_versions(few_bits.OPERATORS),
    **_versions(fused.OPERATORS),
    **_versions(alike.OPERATORS),
    **_versions(attention.OPERATORS),
    **_versions(experts.OPERATORS),
    **_versions(grouped.OPERATORS),
    **_versions(recurrent.OPERATORS),
}
