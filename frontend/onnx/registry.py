"""Which ONNX operators are imported, and how: one table, made of the families' tables."""

from __future__ import annotations

from . import einsum, elementwise, indexing, linear, normalization, quantization, reductions, shapes, windows
from .node import Converter, Versions

FIRST_OPSET = 7
LAST_OPSET = 23
"""The opsets whose operators the converters were written for. An operator that a later opset left as it was will do."""

CONVERTERS: dict[str, Versions] = {
    **elementwise.CONVERTERS,
    **reductions.CONVERTERS,
    **linear.CONVERTERS,
    **einsum.CONVERTERS,
    **windows.CONVERTERS,
    **normalization.CONVERTERS,
    **shapes.CONVERTERS,
    **indexing.CONVERTERS,
    **quantization.CONVERTERS,
}


def converter(operator: str, since_version: int) -> Converter | None:
    """The converter that understands the revision `since_version` of an operator of ONNX's default domain."""
    versions = CONVERTERS.get(operator, {})
    fitting = [version for version in versions if version <= since_version]
    return versions[max(fitting)] if fitting else None


def supported_operators() -> list[str]:
    """The ONNX operators that have a converter, sorted. Others that ONNX defines by these are expanded on import."""
    return sorted(CONVERTERS)
