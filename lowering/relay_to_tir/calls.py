"""Calls of functions on tensors and tuples, which become calls of kernels on tensors."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.relay.base import flatten_types
from ...dialects.relay.core import CallLoweredOp, CallOp, TupleGetOp, TupleOp


def lower_call(
    call: CallOp,
    copies: int | None,
    callee: str | None = None,
    attributes: dict[str, Attribute] | None = None,
    constants: Sequence[SSAValue] = (),
    dropped: Collection[int] = (),
    sizes: Sequence[int] = (),
) -> None:
    """Replace a call by one on tensors: tuples are taken apart before it and put together after it.
    `copies`: where what the kernel copies begins, if it does nothing else. `constants`: what it takes besides;
    `dropped`: the tensors, by number, that it does not take; `sizes`: what it is passed as its symbols."""
    assert call.parent is not None
    block = call.parent

    def insert(op: Operation) -> Operation:
        op.location = call.location
        block.insert_op_before(op, call)
        return op

    def opened(value: SSAValue) -> list[SSAValue]:
        if not isinstance(value.type, TupleType):
            return [value]
        fields = [insert(TupleGetOp(value, i)).results[0] for i in range(len(value.type.types))]
        return [v for field in fields for v in opened(field)]

    given = [v for argument in call.arguments for v in opened(argument)]
    arguments = [*(v for number, v in enumerate(given) if number not in dropped), *constants]
    types = flatten_types([r.type for r in call.results])
    name = callee or call.callee.root_reference.data
    lowered = insert(CallLoweredOp(name, arguments, types, copies=copies, sizes=sizes))
    lowered.attributes |= call.attributes
    lowered.attributes |= attributes or {}
    flat = iter(lowered.results)

    def closed(type: Attribute) -> SSAValue:
        if not isinstance(type, TupleType):
            return next(flat)
        return insert(TupleOp(*(closed(t) for t in type.types))).results[0]

    for old in call.results:
        new = closed(old.type)
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    call.detach()
    call.erase()
