"""Types by TVM's names, which make and tell them.

relay.TensorType((2, 3), "int8")
isinstance(x.checked_type, relay.TensorType)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects import builtin
from xdsl.ir import Attribute

from ...dialects.relay.base import Tensor
from ...dialects.relay.types import tuple_type
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from .extents import Shape, tensor_type


class _Kind(type):
    """A class whose instances are the types of a kind."""

    KIND: type[Attribute]

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.KIND)


class TensorType(metaclass=_Kind):
    """The type of a tensor. An extent may be a variable, `te.var("n")`; the shape may be that of another type.

    Raises:
        UsageError: there is no such dtype, or an extent is negative.
    """

    KIND: ClassVar[type[Attribute]] = builtin.TensorType

    @checked
    def __new__(cls, shape: Shape = (), dtype: str = "float32") -> Tensor:
        return tensor_type(shape, dtype)


class TupleType(metaclass=_Kind):
    """The type of a tuple."""

    KIND: ClassVar[type[Attribute]] = builtin.TupleType

    @checked
    def __new__(cls, fields: Sequence[Attribute]) -> builtin.TupleType:
        return tuple_type(*fields)


class FuncType(metaclass=_Kind):
    """The type of a function. `type_params` are the type variables in it; they stand there anyway.

    Raises:
        UsageError: there are `type_constraints`: an operator's class says what its types have to do with one another.
    """

    KIND: ClassVar[type[Attribute]] = builtin.FunctionType

    @checked
    def __new__(
        cls,
        arg_types: Sequence[Attribute],
        ret_type: Attribute,
        type_params: Sequence[Attribute] | None = None,
        type_constraints: Sequence[Attribute] | None = None,
    ) -> builtin.FunctionType:
        if type_constraints:
            raise UsageError("the type of a function has no constraints")
        return builtin.FunctionType.from_lists(list(arg_types), [ret_type])
