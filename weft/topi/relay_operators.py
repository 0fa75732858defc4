"""Relay's operators on tensors of `te`: what they compute, as formulas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.ir import SSAValue

from ..dialects import te
from ..dialects.relay.base import Fusion, RelayOp, fusion_pattern
from ..dialects.relay.core import FuncOp
from ..dialects.support.diagnostics import UsageError
from ..dialects.support.hints import is_sequence
from ..dialects.te.tags import BROADCAST, COMM_REDUCE, ELEMWISE, INJECTIVE, current_tag, tagged
from ..frontend import relay
from ..frontend.relay.namespace import find
from ..frontend.relay.values import Var
from ..lowering.relay_to_tir.lower_te import compute_body

TAGS = {
    Fusion.ELEMWISE: ELEMWISE,
    Fusion.BROADCAST: BROADCAST,
    Fusion.INJECTIVE: INJECTIVE,
    Fusion.COMM_REDUCE: COMM_REDUCE,
}
"""What tensors are tagged with, by the fusion pattern of what computes them."""


def computed(operator: str, *args: object, **kwargs: object) -> te.Tensor:
    """What an operator computes, called as `relay.OPERATOR(*args, **kwargs)` with tensors of `te`.

    Raises:
        UsageError: it computes several tensors.
        Diagnostic: the type relation refuses the tensors, or the operator has no formula for them.
    """
    results = computed_all(operator, *args, **kwargs)
    if len(results) != 1:
        raise UsageError(f"topi: '{operator}' computes {len(results)} tensors there, and not one")
    return results[0]


def computed_all(operator: str, *args: object, **kwargs: object) -> list[te.Tensor]:
    """The same of an operator that computes several; tuples are opened.

    Raises:
        Diagnostic: as `computed` says.
    """
    taken: dict[te.Tensor, Var] = {}
    call = find(operator)(
        *(_in_relay(each, taken) for each in args), **{name: _in_relay(each, taken) for name, each in kwargs.items()}
    )
    function = cast(FuncOp, cast(object, relay.Function(list(taken.values()), call)))
    arguments = function.body.block.args
    symbolic = any(each.is_symbolic for each in taken)
    places: dict[SSAValue, list[te.Tensor]] = {a: [t] for a, t in zip(arguments, taken, strict=True)}
    results = compute_body(function, places, symbolic=symbolic)
    last = function.return_op.arguments[0].owner
    pattern = fusion_pattern(type(last)) if isinstance(last, RelayOp) else None
    tag = current_tag() or ("" if pattern is None else TAGS.get(pattern, ""))
    return [each if each in taken else tagged(each, tag, None) for each in results]


def _in_relay(value: object, taken: dict[te.Tensor, Var]) -> object:
    """What Relay's function is given for an argument: a variable for each tensor, which `taken` is told."""
    match value:
        case te.Tensor():
            if value not in taken:
                shape = [dim if isinstance(dim, int) else relay.Any() for dim in value.dims]
                taken[value] = relay.var(value.name, shape=shape, dtype=value.dtype)
            return taken[value]
        case _ if is_sequence(value):
            items = [_in_relay(each, taken) for each in value]
            return tuple(items) if isinstance(value, tuple) else items
        case Mapping():
            raise UsageError("topi: operators take tensors, numbers and sequences of these, and no mapping")
        case te.Const():
            return value.value
        case _:
            return value
