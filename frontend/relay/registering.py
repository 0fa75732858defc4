"""Operators of a program's own, by name: TVM's `relay.op.register`.

    softplus = relay.op.register("my.softplus", "log(1 + exp(x)), element by element.")
    softplus.set_num_inputs(1)
    softplus.add_type_rel("Identity")
    relay.op.register_pattern("my.softplus", relay.op.OpPattern.ELEMWISE)

    @relay.op.register_compute("my.softplus")
    def compute(attrs, inputs, out_type):
        (x,) = inputs
        return [te.compute(x.shape, lambda *i: te.log(1 + te.exp(x[i])))]

    y = relay.Call(softplus, [x])

What an operator needs beyond that, a class says: `docs/extending.md`.
"""

from __future__ import annotations

from collections.abc import Callable

from ...dialects.relay.base import Fusion
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from .namespace import get, operator_names
from .op_class import COMPUTE, LEVEL, PATTERN, STATEFUL, Op, define

OpPattern = Fusion
"""How operators may be fused, under TVM's name."""


@checked
def register(op_name: str, describe: str = "") -> Op:
    """A new operator, of which nothing is known but its name and what it computes, in words. `set_num_inputs`,
    `add_argument` and `add_type_rel` of it say more, before it is called.

    Raises:
        UsageError: there is an operator of that name.
    """
    if op_name in operator_names():
        raise UsageError(f"the operator '{op_name}' is there already")
    if not all(part.isidentifier() for part in op_name.split(".")):
        raise UsageError(f"an operator is called by words with dots between them, not '{op_name}'")
    define(op_name, describe)
    return Op(op_name)


@checked
def register_pattern(op_name: str, pattern: Fusion | int, level: int = LEVEL) -> Op:
    """Say how an operator that was registered may be fused: a kind of `OpPattern`. Unless that is said, it is not.

    Raises:
        UnknownOperatorError: there is no such operator.
        UsageError: it is one of Weft's, has been called, or there is no such kind.
    """
    if pattern not in set(Fusion):
        kinds = ", ".join(f"{kind.name} ({kind.value})" for kind in Fusion)
        raise UsageError(f"there is no pattern {pattern}; patterns are {kinds}")
    return _said(op_name, PATTERN, int(pattern), level)


@checked
def register_stateful(op_name: str, is_stateful: bool, level: int = LEVEL) -> Op:
    """Say whether an operator that was registered does more than give its result, so that each call of it stays.

    Raises:
        UnknownOperatorError: there is no such operator.
        UsageError: it is one of Weft's, or has been called.
    """
    return _said(op_name, STATEFUL, is_stateful, level)


@checked
def register_compute(op_name: str, compute: Callable[..., object] | None = None, level: int = LEVEL) -> object:
    """Give an operator that was registered what computes it; without, a decorator. It is called with the attributes of
    the call, or `None`, tensors of `te`, and the type of the result, and gives a list of one tensor.

    Raises:
        UnknownOperatorError: there is no such operator.
        UsageError: it is one of Weft's, or has such an attribute of this level already.
    """

    def given(function: Callable[..., object]) -> Callable[..., object]:
        _said(op_name, COMPUTE, function, level)
        return function

    return given if compute is None else given(compute)


def _said(op_name: str, attribute: str, value: object, level: int) -> Op:
    op = get(op_name)
    op.definition(f"its {attribute}")
    op.set_attr(attribute, value, level)
    return op
