"""Function values for any types, called: such a function is written for the types that it is called with.

    T = relay.TypeVar("T")
    x = relay.var("x", T)
    twice = relay.Function([x], relay.Tuple([x, x]), type_params=[T])
    twice(relay.const(1)), twice(relay.const(1.0))

Global functions are written for their types by the pass `specialize-functions`, in the module where all their uses are.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, SSAValue

from ...dialects.relay.control import FnOp
from ...dialects.relay.types import bind_params, is_complete, substituted, type_params
from ...transforms.relay.specialize_functions import convert_types


def specialized(callee: SSAValue, given: Sequence[SSAValue]) -> tuple[SSAValue, list[SSAValue]]:
    """A function value and its arguments, where they are functions for any types, as ones for the types of the others;
    as they are where not all is known."""
    type, values = callee.type, list(given)
    if not isinstance(type, FunctionType) or len(type.inputs) != len(values) or not type_params(type):
        return callee, values
    bound: dict[str, Attribute] = {}
    for wanted, value in zip(type.inputs, values, strict=True):
        if not _is_generic(value) and not (is_complete(value.type) and bind_params([wanted], [value.type], bound)):
            return callee, values
    for place, (wanted, value) in enumerate(zip(type.inputs, values, strict=True)):
        if _is_generic(value):
            values[place] = _instance(value, substituted(wanted, bound))
            if not bind_params([wanted], [values[place].type], bound):
                return callee, list(given)
    return (_instance(callee, substituted(type, bound)) if _is_generic(callee) else callee), values


def _is_generic(value: SSAValue) -> bool:
    return isinstance(value.owner, FnOp) and bool(type_params(value.type))


def _instance(value: SSAValue, type: Attribute) -> SSAValue:
    """A function for any types, for those that make it one of `type`; itself where there are none."""
    bound: dict[str, Attribute] = {}
    if not bind_params([value.type], [type], bound):
        return value
    assert isinstance(value.owner, FnOp)
    copy = value.owner.clone()
    convert_types(copy, lambda each: substituted(each, bound))
    return copy.result
