"""Operators as what calls call, and what is registered of them beside: TVM's `register_op_attr`.

    relay.register_op_attr("nn.relu", "target.mine", lambda call: call.args[0].dtype == "float32")

    @relay.register_op_attr("nn.conv2d", "FTVMLegalize")
    def wider(attrs, inputs, types):           # an expression in the place of the call, or None
        return relay.nn.conv2d(relay.nn.pad(inputs[0], ...), inputs[1])

An attribute may have any name, and any value. Functions by which a pass asks are heard: `target.NAME` says whether the
backend `NAME` computes a call (`annotate-target`); the rule that `legalize{legalize-map-attr-name=NAME}` applies is the
attribute `NAME`, `FTVMLegalize` where none is named; `FTVMFakeQuantizationToInteger` says how to compute an operator
with integers (`quantized_calls.py`); `FTVMAlterOpLayout` and `FTVMConvertOpLayout` say in which layouts an operator is
computed, given its attributes, variables in the place of its operands, and types:

    @relay.op.register_alter_op_layout("nn.conv2d")
    def in_blocks(attrs, inputs, types, result_type):
        return relay.nn.conv2d(*inputs, **{**attrs, "data_layout": "NCHW16c", "kernel_layout": "OIHW16i16o"})

    @relay.op.register_convert_op_layout("nn.conv2d")
    def as_wanted(attrs, inputs, types, desired_layouts):
        return relay.nn.conv2d(*inputs, **{**attrs, "data_layout": desired_layouts[0]})
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self, TypeAlias, cast

from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.relay.base import RelayOp
from ...dialects.relay.precision import Precision
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import Diagnostic
from ...transforms.relay.backends import Backend, backends, register_backend
from ...transforms.relay.emitter import Emitter
from ...transforms.relay.layout_rules import LayoutEmitter
from ...transforms.relay.op_rules import (
    ALTER,
    CONVERT,
    LEGALIZE,
    PRECISION,
    QUANTIZE,
    Rule,
    register_rule,
    unregister_rule,
)
from .attrs import Attrs
from .expr import Expr, expr_of, operations_of
from .namespace import get
from .op_class import COMPUTE, LEVEL, PATTERN, STATEFUL, Op, listen
from .quantized_calls import QuantizedRule, integer_rule

LegalizeRule: TypeAlias = "Callable[[Attrs, list[Expr], list[Attribute]], Expr | None]"
LayoutRule: TypeAlias = "Callable[[Attrs, list[Expr], list[Attribute], Attribute | list[str]], Expr | None]"
"""Given the type of the result (`FTVMAlterOpLayout`), or the layouts that are wanted (`FTVMConvertOpLayout`)."""
PrecisionRule: TypeAlias = "Callable[[Expr, str], Sequence[int | str]]"
"""Given a call and a dtype; see `register_mixed_precision_conversion`."""
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


@dataclass
class TempOpAttr:
    """Gives an operator an attribute within `with`; before and after it has what it had.

        with TempOpAttr("nn.conv2d", "FTVMLegalize", rule):
            module = relay.transform.Legalize()(module)

    Raises:
        AttributeError: there is no such operator.
    """

    op_name: str
    attr_key: str
    attr_value: object
    older: object = field(default=None, init=False)

    def __enter__(self) -> Self:
        op = get(self.op_name)
        self.older = op.registered(self.attr_key)
        op.reset_attr(self.attr_key)
        op.set_attr(self.attr_key, self.attr_value)
        return self

    def __exit__(self, *error: object) -> None:
        op = get(self.op_name)
        op.reset_attr(self.attr_key)
        if self.older is not None:
            op.set_attr(self.attr_key, self.older)


def register_alter_op_layout(op_name: str, alter_layout: LayoutRule | None = None, level: int = LEVEL) -> object:
    """Give an operator the rule by which `alter-op-layout` chooses its layouts; without one, a decorator.

    Raises:
        AttributeError: there is no such operator.
        UsageError: it has such a rule of this level already.
    """
    return register_op_attr(op_name, ALTER, alter_layout, level)


def register_convert_op_layout(op_name: str, convert_layout: LayoutRule | None = None, level: int = LEVEL) -> object:
    """Give an operator the rule by which `convert-layout` computes it in layouts; without one, a decorator.

    Raises:
        AttributeError: there is no such operator.
        UsageError: it has such a rule of this level already.
    """
    return register_op_attr(op_name, CONVERT, convert_layout, level)


def register_legalize_rule(op_name: str, legal_op: LegalizeRule | None = None, level: int = LEVEL) -> object:
    """Give an operator the rule by which `legalize` replaces it (TVM's `register_legalize`); without one, a decorator.

    Raises:
        AttributeError: there is no such operator.
        UsageError: it has such a rule of this level already.
    """
    return register_op_attr(op_name, LEGALIZE, legal_op, level)


def register_fake_quantization_to_integer(
    op_name: str, func: QuantizedRule | None = None, level: int = LEVEL
) -> object:
    """Give an operator the rule by which `fake-quantization-to-integer` computes it; without one, a decorator.

    Raises:
        AttributeError: there is no such operator.
        UsageError: it has such a rule of this level already.
    """
    return register_op_attr(op_name, QUANTIZE, func, level)


def register_mixed_precision_conversion(op_name: str, func: PrecisionRule | None = None, level: int = LEVEL) -> object:
    """Give an operator the rule by which `to-mixed-precision` computes it; without one, a decorator. The rule is given
    a call and the short type, and gives a kind (0 always, 1 as its operands are, 2 never; `transform.mixed_precision`
    names them), the type in which it adds up, and that of its result, which is the short one.

    Raises:
        AttributeError: there is no such operator.
        UsageError: it has such a rule of this level already.
    """
    return register_op_attr(op_name, PRECISION, func, level)


@listen
def _tell_passes(op: Op, name: str, value: object) -> None:
    if name in (PATTERN, STATEFUL, COMPUTE):
        return  # an operator that is registered is made of them
    kind = op.operation
    if name.startswith(TARGET):
        backend = name.removeprefix(TARGET)
        if callable(value) and backend not in backends():
            register_backend(_told_by_attributes(backend))
    elif kind is not None and name == QUANTIZE and callable(value):
        register_rule(kind, name)(cast("Rule", integer_rule(cast("QuantizedRule", value))))
    elif kind is not None and name == PRECISION and callable(value):
        register_rule(kind, name)(_precision_rule(cast("PrecisionRule", value)))
    elif kind is not None and callable(value):
        of_layouts = name in (ALTER, CONVERT)
        rule = _layout_rule(cast("LayoutRule", value), name) if of_layouts else _rule(cast("LegalizeRule", value))
        register_rule(kind, name)(rule)
    elif kind is not None:
        unregister_rule(kind, name)


def _told_by_attributes(backend: str) -> Backend:
    """A backend that takes what attributes of operators say."""

    class Told(Backend):
        name = backend

        def supports(self, op: Operation) -> bool:
            found = Op(op.name.removeprefix("relay.")).get_attr(TARGET + backend)
            return found is not None and bool(cast("Callable[[Expr], object]", found)(expr_of(op.results[0])))

    return Told()


def _precision_rule(function: PrecisionRule) -> Callable[[RelayOp, str], Precision]:
    """A function of calls as a rule of the pass."""
    kinds = list(Precision)

    def rule(op: RelayOp, short: str) -> Precision:
        kind, _, result = function(expr_of(op.results[0]), short)
        if not isinstance(kind, int) or kind not in range(len(kinds)):
            raise Diagnostic.at(op, f"{PRECISION} gives {kind!r}: not 0 (always), 1 (as operands are) or 2 (never)")
        if kinds[kind] is Precision.ALWAYS and result != short:
            hint = "to-mixed-precision gives short results, and casts them where another type is needed"
            raise Diagnostic.at(op, f"{PRECISION} asks for results of {result}, not {short}", hint=hint)
        return kinds[kind]

    return rule


def _rule(function: LegalizeRule) -> Callable[[RelayOp, Emitter], SSAValue | None]:
    """A function of attributes, expressions and types as a rule of the pass."""

    def rule(op: RelayOp, emit: Emitter) -> SSAValue | None:
        types = [value.type for value in (*op.operands, *op.results)]
        given = function(Attrs(op), [expr_of(value) for value in op.operands], types)
        return None if given is None else _collected(given, emit)

    return rule


def _layout_rule(function: LayoutRule, kind: str) -> Callable[[RelayOp, Sequence[str], LayoutEmitter], SSAValue | None]:
    """A function of attributes, expressions and types as a rule for layouts."""

    def rule(op: RelayOp, wanted: Sequence[str], emit: LayoutEmitter) -> SSAValue | None:
        types = [value.type for value in op.operands]
        told = op.results[0].type if kind == ALTER else list(wanted)
        given = function(Attrs(op), [expr_of(value) for value in emit.operands], types, told)
        return None if given is None else _collected(given, emit)

    return rule


def _collected(given: Expr, emit: Emitter) -> SSAValue:
    """The value of an expression whose operations are given to an emitter, as copies."""
    values: dict[SSAValue, SSAValue] = {}
    for made in operations_of([given.value]):
        if made.parent is None:
            copy = made.clone(values)
            emit.ops.append(copy)
            values.update(zip(made.results, copy.results, strict=True))
    return values.get(given.value, given.value)
