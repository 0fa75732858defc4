"""Whether something is of a type that has parameters.

`isa` works a hint out once. xDSL's looks through it at each question, and makes the constraint of
`MemRefType[Attribute]` anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar, Union, cast, get_args, get_origin

from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import GenericData, VerificationContext, irdl_to_attr_constraint
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa as _isa

if TYPE_CHECKING:
    from typing_extensions import TypeForm, TypeIs

T = TypeVar("T")


def isa(arg: object, hint: TypeForm[T]) -> TypeGuard[T]:
    """Whether `arg` is of the type that `hint` describes: `xdsl.utils.hints.isa`."""
    return _test(hint)(arg)


@lru_cache(maxsize=1024)
def _test(hint: Any) -> Callable[[object], bool]:
    """What tells whether something is of the type that `hint` describes."""
    origin = get_origin(hint)
    if _is_class(hint):
        return lambda arg: isinstance(arg, hint)
    if origin in (Union, UnionType):
        parts = get_args(hint)
        if all(map(_is_class, parts)):
            return lambda arg: isinstance(arg, parts)
        tests = [_test(part) for part in parts]
        return lambda arg: any(test(arg) for test in tests)
    if isinstance(origin, type) and issubclass(origin, GenericData | ParametrizedAttribute):
        kind, constraint = cast("type[Attribute]", origin), irdl_to_attr_constraint(hint)

        def fits(arg: object) -> bool:
            if not isinstance(arg, kind):
                return False
            try:
                constraint.verify(arg, VerificationContext())
            except VerifyException:
                return False
            return True

        return fits
    return lambda arg: _isa(arg, hint)


def _is_class(hint: object) -> bool:
    return isinstance(hint, type) and get_origin(hint) is None and hint is not Any


# What comes from outside may hold anything, which `isinstance` leaves unknown.


def is_list(value: object) -> TypeIs[list[object]]:
    """Whether it is a list."""
    return isinstance(value, list)


def is_tuple(value: object) -> TypeIs[tuple[object, ...]]:
    """Whether it is a tuple."""
    return isinstance(value, tuple)


def is_sequence(value: object) -> TypeIs[list[object] | tuple[object, ...]]:
    """Whether it is a list or a tuple."""
    return isinstance(value, list | tuple)


def is_dict(value: object) -> TypeIs[dict[object, object]]:
    """Whether it is a dictionary."""
    return isinstance(value, dict)


def is_mapping(value: object) -> TypeIs[Mapping[object, object]]:
    """Whether it is a mapping."""
    return isinstance(value, Mapping)


def listed(value: object) -> Sequence[object]:
    """What a list or a tuple holds; a list of anything else."""
    return value if is_sequence(value) else [value]
