"""Types, under TVM's names: `weft.relay.ty`, and in `weft.relay` itself."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.builtin import TupleType as _TupleType
from xdsl.ir import Attribute

from ...dialects.relay.base import Tensor
from ...dialects.relay.types import RefType, tuple_type
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from .data import IncompleteType
from .expr import AnyExtent as Any
from .expr import tensor_type as TensorType

__all__ = ["Any", "FuncType", "IncompleteType", "RefType", "TensorType", "TupleType", "is_dynamic", "scalar_type"]


@checked
def scalar_type(dtype: str) -> Tensor:
    """The type of a tensor without dimensions.

    Raises:
        UsageError: there is no such dtype.
    """
    return TensorType((), dtype)


@checked
def TupleType(fields: Sequence[Attribute]) -> _TupleType:
    """The type of a tuple."""
    return tuple_type(*fields)


@checked
def FuncType(
    arg_types: Sequence[Attribute],
    ret_type: Attribute,
    type_params: Sequence[Attribute] | None = None,
    type_constraints: Sequence[Attribute] | None = None,
) -> FunctionType:
    """The type of a function. `type_params` are the type variables in it; they stand there anyway.

    Raises:
        UsageError: there are `type_constraints`: an operator's class says what its types have to do with one another.
    """
    if type_constraints:
        raise UsageError("the type of a function has no constraints")
    return FunctionType.from_lists(list(arg_types), [ret_type])


@checked
def is_dynamic(type: Attribute) -> bool:
    """Whether a tensor's type, or one in a tuple's, has an extent that is not known."""
    from ...dialects.relay.base import flatten_types, is_static

    return not all(map(is_static, flatten_types([type])))
