"""Types, under TVM's names: `weft.relay.ty`, and in `weft.relay` itself."""

from __future__ import annotations

from xdsl.ir import Attribute

from ...dialects.relay.base import Tensor
from ...dialects.relay.types import RefType
from ...dialects.support.arguments import checked
from .data import IncompleteType, TypeRelation
from .expr import AnyExtent as Any
from .type_names import FuncType, TensorType, TupleType

__all__ = [
    "Any", "FuncType", "IncompleteType", "RefType", "TensorType", "TupleType", "TypeRelation", "is_dynamic",
    "scalar_type",
]  # fmt: skip


@checked
def scalar_type(dtype: str) -> Tensor:
    """The type of a tensor without dimensions.

    Raises:
        UsageError: there is no such dtype.
    """
    return TensorType((), dtype)


@checked
def is_dynamic(type: Attribute) -> bool:
    """Whether a tensor's type, or one in a tuple's, has an extent that is not known."""
    from ...dialects.relay.base import flatten_types, is_static

    return not all(map(is_static, flatten_types([type])))
