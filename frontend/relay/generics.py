"""Function values for any types, called: such a function is written for the types that it is called with.

    T = relay.TypeVar("T")
    x = relay.var("x", T)
    twice = relay.Function([x], relay.Tuple([x, x]), type_params=[T])
    twice(relay.const(1)), twice(relay.const(1.0))

Global functions are written for their types by the pass `specialize-functions`, in the module where all their uses are.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, SSAValue

from ...dialects.relay.control import ClosureOp, FnOp
from ...dialects.relay.types import bind_params, is_complete, substituted, type_params
from ...transforms.relay.completion import complete, own_params
from ...transforms.relay.specialize_functions import convert_types
from .made_of import needs, operations_of
from .recursion import close


def specialized(callee: SSAValue, given: Sequence[SSAValue]) -> tuple[SSAValue, list[SSAValue]]:
    """A function value and its arguments, where they are functions for any types, as ones for the types of the others;
    as they are where not all is known."""
    type = callee.type
    if (
        not isinstance(type, FunctionType)
        or not type_params(type)
        or (found := specialized_arguments(type, given)) is None
    ):
        return callee, list(given)
    bound, values = found
    return (_instance(callee, substituted(type, bound)) if _is_generic(callee) else callee), values


def specialized_arguments(
    type: FunctionType, given: Sequence[SSAValue]
) -> tuple[dict[str, Attribute], list[SSAValue]] | None:
    """What the open types of a function are that is called with some arguments, and these, where they are functions for
    any types, as ones for the types of the others; nothing where not all is known."""
    if len(type.inputs) != len(given):
        return None
    values, bound = list(given), dict[str, Attribute]()
    for wanted, value in zip(type.inputs, values, strict=True):
        if not _is_generic(value) and not (is_complete(value.type) and bind_params([wanted], [value.type], bound)):
            return None
    for place, (wanted, value) in enumerate(zip(type.inputs, values, strict=True)):
        if _is_generic(value):
            values[place] = _instance(value, substituted(wanted, bound), type_params(wanted) - bound.keys())
            if not bind_params([wanted], [values[place].type], bound):
                return None
    return bound, values


def for_any_types(value: SSAValue, variable: SSAValue) -> FnOp | None:
    """The function that a value is, if it is one for any types; it may call itself by the variable's name."""
    function = value.owner
    if not isinstance(function, FnOp):
        return None
    if variable in needs(function):
        close(function, variable)
    if not own_params(function.result):
        return None
    if function.result.name_hint is None:
        function.result.name_hint = variable.name_hint
    return function


def written_at_uses(function: FnOp, variable: SSAValue, body: SSAValue) -> SSAValue:
    """`body`, with a function for any types in the place of a variable: a copy of it at each, which becomes one for the
    types that it is used with there, now or when they are known."""
    if body is variable:
        return function.result
    for use in list(variable.uses):
        copy = function.clone()
        copy.result.name_hint = variable.name_hint
        use.operation.operands[use.index] = copy.result
    for op in operations_of([body]):
        complete(op)
    return body


def _is_generic(value: SSAValue) -> bool:
    return isinstance(value.owner, FnOp | ClosureOp) and bool(type_params(value.type))


def _instance(value: SSAValue, type: Attribute, unknown: AbstractSet[str] = frozenset()) -> SSAValue:
    """A function for any types, for those that make it one of `type`, in which some types are not known yet; itself
    where there are none."""
    own, bound = value.type, dict[str, Attribute]()
    if not isinstance(own, FunctionType) or not isinstance(type, FunctionType):
        return value
    pairs = [*zip(own.inputs, type.inputs, strict=False), *zip(own.outputs, type.outputs, strict=False)]
    said = [(mine, wanted) for mine, wanted in pairs if not type_params(wanted) & unknown]
    if not bind_params([mine for mine, _ in said], [wanted for _, wanted in said], bound):
        return value
    if isinstance(owner := value.owner, ClosureOp):
        made = substituted(own, bound)
        assert isinstance(made, FunctionType)
        return ClosureOp(owner.callee.string_value(), list(owner.captured), made).result
    assert isinstance(owner, FnOp)
    copy = owner.clone()
    convert_types(copy, lambda each: substituted(each, bound))
    return copy.result
