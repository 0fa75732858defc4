"""Operators that are told by expressions what TVM's builders take as numbers.

`relay.reshape(x, relay.const([2, -1]))` is a `reshape`, since a constant is a number; `relay.reshape(x, shape)` with a
`shape` that is only known when it runs is a `dyn.reshape`. One name does for both, as in TVM.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import cast

import numpy as np

from ...dialects.relay.base import as_attribute
from ...dialects.relay.core import ConstantOp
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.hints import is_sequence
from .expr import Expr, const
from .operators import Operator, operator, operator_classes
from .told_shapes import resolved

ABSENT: Mapping[str, Callable[[Mapping[str, object]], object]] = {
    "strides": lambda given: np.ones(_extent(given["begin"]), np.int32),
    "roi": lambda given: np.zeros(0, np.float32),
}
"""What an operand of a `dyn` operator is where the builder's argument is not given."""


RESOLVED: Mapping[str, Mapping[str, Callable[[Mapping[str, Expr], Mapping[str, object]], Expr]]] = {
    "reshape": {
        "newshape": lambda operands, given: resolved(operands["data"], operands["newshape"], bool(given["allowzero"]))
    },
}
"""Operands by operator in which numbers stand for others; each is made of all operands and what is given."""

_REALS = (as_attribute(0.5), as_attribute([0.5]))
"""What a property takes that is not of integers."""


def is_told(name: str) -> bool:
    """Whether the operator has a form that is told by operands."""
    return f"dyn.{name}" in operator_classes()


def told(name: str, make: Operator) -> Operator:
    """`make`, the builder of the operator `name`, which also takes expressions for what are properties of it."""
    static = operator_classes()[name].get_irdl_definition()
    properties, elements = static.properties, {operand for operand, _ in static.operands}
    dynamic = operator_classes()[f"dyn.{name}"].get_irdl_definition()
    integers = {key for key, each in properties.items() if not any(map(each.constr.verifies, _REALS))}
    operands, kept = [operand for operand, _ in dynamic.operands], dynamic.properties
    signature = inspect.signature(make)

    def call(bound: inspect.BoundArguments) -> Expr:
        numbers = {key: number_of(value) for key, value in bound.arguments.items() if key in properties}
        if not any(map(_is_open, numbers.values())):
            return make(**{**bound.arguments, **numbers})
        bound.apply_defaults()
        given = {**bound.arguments, **numbers}
        for key, value in given.items():
            if key not in operands and key not in kept and value != signature.parameters[key].default:
                raise UsageError(f"relay.{name}: '{key}' needs what the others say to be constants")
        dtype = given.get("dtype") or cast(Expr, given["data"]).dtype
        arguments = {key: _operand(key, given, str(dtype) if key in elements else None) for key in operands}
        for key in integers & arguments.keys():
            if arguments[key].dtype.startswith(("float", "bfloat")):  # as TVM takes them
                arguments[key] = arguments[key].astype("int64")
        for key, resolve in RESOLVED.get(name, {}).items():
            arguments[key] = resolve(arguments, given)
        return operator(f"dyn.{name}")(**arguments, **{key: given[key] for key in kept if key in given})

    return rebound(make, call)


def rebound(make: Operator, call: Callable[[inspect.BoundArguments], Expr]) -> Operator:
    """What `call` makes of the arguments of `make`, under its name and with its signature."""
    signature = inspect.signature(make)

    @wraps(make)
    def bind(*args: object, **kwargs: object) -> Expr:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return make(*args, **kwargs)  # it says what is wrong with the call
        return call(bound)

    bind.__signature__ = signature  # pyright: ignore[reportAttributeAccessIssue]
    return bind


def number_of(value: object) -> object:
    """What a constant holds, as Python's numbers; all else as it is."""
    if is_sequence(value):
        return [number_of(each) for each in value]
    if (
        isinstance(value, Expr)
        and isinstance(op := value.value.owner, ConstantOp)
        and (array := op.numpy()) is not None
    ):
        return array.tolist()
    return value


def _is_open(value: object) -> bool:
    """Whether a value is known only when it runs."""
    if is_sequence(value):
        return any(map(_is_open, value))
    return isinstance(value, Expr)


def _operand(key: str, given: Mapping[str, object], dtype: str | None) -> Expr:
    """The operand of a `dyn` operator that an argument is; of `dtype`, where it is a number and that is given."""
    value = given[key]
    if value is None and key in ABSENT:
        value = ABSENT[key](given)
    if _is_open(value) and isinstance(value, list | tuple):
        fields = [each if isinstance(each, Expr) else const(each) for each in cast("Sequence[int]", value)]
        return operator("stack")([operator("reshape")(field.astype("int64"), ()) for field in fields], 0)
    return value if isinstance(value, Expr) else const(cast(int, value), dtype)


def _extent(begin: object) -> int:
    return begin.shape[0] if isinstance(begin, Expr) else len(cast("Sequence[int]", begin))
