"""Operators as what calls call, and what is registered of them beside: TVM's `register_op_attr`.

    relay.register_op_attr("nn.relu", "target.mine", lambda call: call.args[0].dtype == "float32")

    @relay.register_op_attr("nn.conv2d", "FTVMLegalize")
    def wider(attrs, inputs, types):           # an expression in the place of the call, or None
        return relay.nn.conv2d(relay.nn.pad(inputs[0], ...), inputs[1])

An attribute may have any name, and any value. Functions by which a pass asks are heard: `target.NAME` says whether the
backend `NAME` computes a call (`annotate-target`); the rule that `legalize{legalize-map-attr-name=NAME}` applies is the
attribute `NAME`, `FTVMLegalize` where none is named.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.relay.base import RelayOp
from ...dialects.support.arguments import checked
from ...transforms.relay.backends import Backend, backends, register_backend
from ...transforms.relay.emitter import Emitter
from ...transforms.relay.legalize import register_legalize, unregister_legalize
from .attrs import Attrs
from .expr import Expr, expr_of, operations_of
from .namespace import get
from .op_class import LEVEL, Op, listen

LegalizeRule: TypeAlias = "Callable[[Attrs, list[Expr], list[Attribute]], Expr | None]"
TARGET = "target."


@checked
def register_op_attr(op_name: str, attr_key: str, value: object = None, level: int = LEVEL) -> object:
    """Give an operator an attribute; without a value, a decorator of the function that is the value.

    Raises:
        AttributeError: there is no such operator.
        UsageError: it has such an attribute of this level already.
    """
    op = get(op_name)

    def register(given: object) -> object:
        op.set_attr(attr_key, given, level)
        return given

    return register if value is None else register(value)


@listen
def _tell_passes(op: Op, name: str, value: object) -> None:
    kind = op.operation
    if name.startswith(TARGET):
        backend = name.removeprefix(TARGET)
        if callable(value) and backend not in backends():
            register_backend(_told_by_attributes(backend))
    elif kind is not None and callable(value):
        register_legalize(kind, name)(_rule(cast("LegalizeRule", value)))
    elif kind is not None and value is None:
        unregister_legalize(kind, name)


def _told_by_attributes(backend: str) -> Backend:
    """A backend that takes what attributes of operators say."""

    class Told(Backend):
        name = backend

        def supports(self, op: Operation) -> bool:
            found = Op(op.name.removeprefix("relay.")).get_attr(TARGET + backend)
            return found is not None and bool(cast("Callable[[Expr], object]", found)(expr_of(op.results[0])))

    return Told()


def _rule(function: LegalizeRule) -> Callable[[RelayOp, Emitter], SSAValue | None]:
    """A function of attributes, expressions and types as a rule of the pass."""

    def rule(op: RelayOp, emit: Emitter) -> SSAValue | None:
        types = [value.type for value in (*op.operands, *op.results)]
        given = function(Attrs(op), [expr_of(value) for value in op.operands], types)
        if given is None:
            return None
        values: dict[SSAValue, SSAValue] = {}
        for made in operations_of([given.value]):
            if made.parent is None:
                copy = made.clone(values)
                emit.ops.append(copy)
                values.update(zip(made.results, copy.results, strict=True))
        return values.get(given.value, given.value)

    return rule
