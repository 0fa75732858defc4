"""`isa` that works a hint out once. xDSL's makes the constraint of `MemRefType[Attribute]` anew at each question."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar, cast, get_origin

from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import AttrConstraint, GenericData, VerificationContext, irdl_to_attr_constraint
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa as _isa

if TYPE_CHECKING:
    from typing_extensions import TypeForm

T = TypeVar("T")


def isa(arg: object, hint: TypeForm[T]) -> TypeGuard[T]:
    """Whether `arg` is of the type that `hint` describes: `xdsl.utils.hints.isa`."""
    origin, constraint = _worked_out(hint)
    if constraint is None:
        return _isa(arg, hint)
    if not isinstance(arg, origin):
        return False
    assert isinstance(arg, Attribute)
    try:
        constraint.verify(arg, VerificationContext())
    except VerifyException:
        return False
    return True


@lru_cache(maxsize=1024)
def _worked_out(hint: Any) -> tuple[type, AttrConstraint[Any] | None]:
    """The class that `hint` gives parameters to, and what these say, where it is one of attributes."""
    origin = get_origin(hint)
    if isinstance(origin, type) and issubclass(origin, GenericData | ParametrizedAttribute):
        return cast("type", origin), irdl_to_attr_constraint(hint)
    return object, None
