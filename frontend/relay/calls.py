"""Calls and references: TVM's `Call`, `RefCreate`, `RefRead`, `RefWrite`.

y = relay.Call(relay.Function([x], x + x), [a])      # a function that is written here
y = relay.Call(relay.GlobalVar("f"), [a])            # one of the module
y = relay.Call(relay.op.get("nn.relu"), [a])         # an operator
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import FunctionType, LocationAttr
from xdsl.ir import Attribute, Block, Operation, Region

from ...dialects.relay.control import ApplyOp, FnOp, RefCreateOp, RefReadOp, RefWriteOp
from ...dialects.relay.core import FuncOp, TupleOp, YieldOp
from ...dialects.relay.types import IncompleteType, RefType, is_complete
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from .base import Span, location_of
from .expr import Expr, GlobalVar, Operand, apply, as_value
from .namespace import find
from .op_class import Op


@checked
def Call(
    op: Expr | FuncOp | GlobalVar | Op | Callable[..., Expr],
    args: Sequence[Operand],
    attrs: Mapping[str, object] | None = None,
    type_args: Sequence[Attribute] | None = None,
    span: Span | LocationAttr | None = None,
) -> Expr:
    """A function, or an operator with attributes, applied to arguments. `type_args`, the types that a generic function
    is called with, follow from the arguments; `span` is where it was written.

    Raises:
        UsageError: it is no function, takes other arguments, or attributes are given to what is no operator.
    """
    if isinstance(op, Expr | FuncOp | GlobalVar):
        if attrs:
            raise UsageError("attributes are those of operators; a function has none of a call")
        made = op(*args) if isinstance(op, GlobalVar) else apply(op, args)
    else:
        made = (find(op.name) if isinstance(op, Op) else op)(*args, **(attrs or {}))
    if span is not None and isinstance(owner := made.value.owner, Operation):
        owner.location = location_of(span)
    return made


@checked
def RefCreate(value: Operand) -> Expr:
    """A reference, which holds a value. What is done to it happens in the order of `Let`."""
    return Expr(RefCreateOp(as_value(value)).result)


@checked
def RefRead(ref: Expr) -> Expr:
    """What a reference holds.

    Raises:
        UsageError: it is no reference.
    """
    _check_reference(ref)
    return Expr(RefReadOp(ref.value).result)


@checked
def RefWrite(ref: Expr, value: Operand) -> Expr:
    """Put a value into a reference; the expression is a tuple of nothing.

    Raises:
        UsageError: it is no reference, or one to values of another type.
    """
    _check_reference(ref)
    given = as_value(value)
    type = ref.value.type
    if is_complete(type) and is_complete(given.type) and type != RefType(given.type):
        raise UsageError(f"a value of type {given.type} does not go into a {type}")
    nothing = TupleOp()
    body = Region(Block([RefWriteOp(ref.value, given), nothing, YieldOp(nothing.result)]))
    write = FnOp(FunctionType.from_lists([], [nothing.result.type]), body)
    return Expr(ApplyOp(write.result, []).res[0])


def _check_reference(ref: Expr) -> None:
    if not isinstance(ref.value.type, RefType | IncompleteType):
        raise UsageError(f"{ref!r} is no reference")
