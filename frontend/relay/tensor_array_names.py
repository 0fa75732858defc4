"""What TVM calls the functions, types and constructors of arrays of tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from .data import Constructor
from .expr import AnyExtent
from .module import IRModule

Extents: TypeAlias = "Sequence[int | AnyExtent]"


def _text(shape: Extents) -> str:
    return "_".join("any" if isinstance(extent, AnyExtent) else str(extent) for extent in shape)


def name_of(
    canonical: str, dtype: str, shape: Extents, batch_dim: int | None = None, extra: Mapping[str, Extents] | None = None
) -> str:
    """What TVM calls a function, a type or a constructor of arrays of a shape."""
    text = "".join([_text(shape), *(f"_{key}_{_text(of)}" for key, of in (extra or {}).items())]) or "scalar"
    if canonical == "tensor_t":
        return f"static_tensor_{dtype}_{text}_t"
    batch = "_batch1" if batch_dim == 1 and canonical not in ("tensor_constructor", "tensor_nil") else ""
    return f"{canonical}_{dtype}{batch}_{text}"


def ranked_name_of(canonical: str, dtype: str) -> str:
    """What TVM calls a function, a type or a constructor of arrays of tensors of any shapes."""
    return f"tensor_{dtype}_t" if canonical == "tensor_t" else f"{canonical}_{dtype}"


def constructor_of(module: IRModule, type: str, name: str) -> Constructor:
    """A constructor of a data type.

    Raises:
        KeyError: there is none of that name.
    """
    for each in module.get_type(type)[1:]:
        if isinstance(each, Constructor) and each.name_hint == name:
            return each
    raise KeyError(f"the data type '{type}' has no constructor '{name}'")
