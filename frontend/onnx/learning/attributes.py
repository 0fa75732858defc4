"""Attributes of `ai.onnx.ml`, which are lists of numbers or, in newer models, tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import Malformed, Unsupported
from ..node import Node

if TYPE_CHECKING:
    import numpy.typing as npt

Numbers: TypeAlias = "npt.NDArray[Any]"
"""An array of numbers of any type."""


def numbers(node: Node, name: str) -> Numbers | None:
    """An attribute that is a list of integers or of floats, or the tensor `NAME_as_tensor`; nothing where neither is.

    Raises:
        Unsupported: it holds strings.
    """
    import numpy as np
    from onnx import AttributeProto, numpy_helper

    if (given := node.attributes.get(f"{name}_as_tensor", node.attributes.get(name))) is None:
        return None
    match given.type:
        case AttributeProto.INTS:
            return np.array(given.ints, np.int64)
        case AttributeProto.FLOATS:
            return np.array(given.floats, np.float32)
        case AttributeProto.TENSOR:
            array = numpy_helper.to_array(given.t)
            if array.dtype.kind not in "iuf":
                raise Unsupported(f"attribute '{name}' holds other things than numbers")
            return array.reshape(-1)
        case _:
            raise Unsupported(f"attribute '{name}' holds other things than numbers")


def needed(node: Node, name: str, count: int | None = None) -> Numbers:
    """`numbers` that have to be there, and may have to be so many.

    Raises:
        Malformed: they are not.
        Unsupported: they are strings.
    """
    if (found := numbers(node, name)) is None:
        raise Malformed(f"attribute '{name}' is missing")
    if count is not None and found.size != count:
        raise Malformed(f"attribute '{name}' holds {found.size} numbers, and not {count}")
    return found


def names(node: Node, name: str) -> list[str]:
    """An attribute that is a list of names."""
    return (
        [text.decode("utf-8", "replace") for text in node.attributes[name].strings] if name in node.attributes else []
    )


def no_strings(node: Node, *attributes: str) -> None:
    """
    Raises:
        Unsupported: one of the attributes is there, and speaks of strings.
    """
    for name in attributes:
        if name in node.attributes:
            raise Unsupported(f"attribute '{name}': strings are no elements of tensors here")
