"""Relay's operators as functions: `relay.nn.conv2d(data, weight, strides=(2, 2))` makes one operation.

A function is made of the operator's class and its call form when it is first asked for. So an operator that an
installed package declares in the `relay` namespace has one too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntAttr, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import OptionalDef, OptOperandDef, PropertyDef, VarOperandDef
from xdsl.utils.exceptions import VerifyException

from ...dialects.relay.base import DYNAMIC, RelayOp, Value, as_attribute, tensor
from ...dialects.relay.core import TupleOp
from ...dialects.relay.ops.elementwise import CastOp
from ...dialects.relay.types import is_complete
from ...dialects.support.blame import notes_of
from ...dialects.support.diagnostics import UsageError, did_you_mean
from ...dialects.support.dtypes import dtype_name
from ...dialects.support.hints import is_sequence
from .expr import Expr, Operand, as_value
from .op_class import Op, definitions, operator_classes
from .signatures import CallForm, call_forms

Operator: TypeAlias = Callable[..., Expr]


@cache
def operator(name: str) -> Operator:
    """The function that makes the operator `name`, as in `nn.conv2d`.

    Raises:
        KeyError: there is no such operator.
    """
    op_type = operator_classes()[name]
    form = call_form(name)

    def make(*args: object, **kwargs: object) -> Expr:
        try:
            bound = form.signature.bind(*args, **kwargs)
        except TypeError as error:
            wrong = [key for key in kwargs if key not in form.signature.parameters]
            hint = did_you_mean(wrong[0], form.signature.parameters) if wrong else None
            raise UsageError(f"relay.{name}{form.signature}: {error}", hint=hint) from None
        bound.apply_defaults()
        return _make(op_type, form, bound.arguments)

    make.__name__ = make.__qualname__ = name.rpartition(".")[2]
    make.__doc__ = op_type.__doc__
    make.__signature__ = form.signature
    return make


def call_form(name: str) -> CallForm:
    """How the operator `name`, which has a class, is called: as is written down, or as its class says.

    Raises:
        KeyError: there is no such operator.
    """
    return call_forms().get(name) or form_of(operator_classes()[name])


def form_of(op_type: type[RelayOp]) -> CallForm:
    """The form that follows from the class: operands in order, then properties in order, with the class's defaults."""
    definition = op_type.get_irdl_definition()
    empty = inspect.Parameter.empty
    defaults: dict[str, object] = {
        name: None if isinstance(operand, OptOperandDef) else empty for name, operand in definition.operands
    }
    for name, property in definition.properties.items():
        optional = isinstance(property, OptionalDef)
        has_default = property.default_value is not None
        defaults[name] = None if optional or has_default else empty
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind, default=default) for name, default in defaults.items()]
    parameters.sort(key=lambda p: p.default is not empty)
    return CallForm(inspect.Signature(parameters), {name: name for name in defaults})


def _make(op_type: type[RelayOp], form: CallForm, arguments: dict[str, object]) -> Expr:
    definition = op_type.get_irdl_definition()
    given = {form.fields[parameter]: value for parameter, value in arguments.items()}
    operands: list[SSAValue | Sequence[SSAValue]] = []
    like: Attribute | None = None
    for name, operand in definition.operands:
        if isinstance(operand, OptOperandDef):
            value = given.get(name)
            operands.append([] if value is None else [as_value(cast(Operand, value), like)])
        elif isinstance(operand, VarOperandDef):
            operands.append([as_value(each, like) for each in cast("Sequence[Operand]", given[name])])
        else:
            value = _operand(op_type, name, given[name], like)
            if name in op_type.CONVERTED:
                value = _of_element_type(value, cast(SSAValue, operands[0]))
            like = value.type if like is None else like
            operands.append(value)
    properties = {
        name: converted
        for name, property in definition.properties.items()
        if (converted := _property(op_type, name, property, given.get(name))) is not None
    }
    return _made(op_type, operands, properties)


def applied(name: str, operands: Sequence[Operand], attributes: Mapping[str, object]) -> Expr:
    """The operator `name`, which has a class, of operands in its own order, and of attributes by TVM's names. So has
    Relay's text them; some of Python's functions take an attribute before an operand. What is not given is as its class
    says.

    Raises:
        UsageError: it has other operands, or no such attribute.
    """
    op_type, form = operator_classes()[name], call_form(name)
    declared = op_type.get_irdl_definition()
    parameters = {field: parameter for parameter, field in form.fields.items()}
    arguments: dict[str, object] = {
        key: None if each.default is inspect.Parameter.empty else each.default
        for key, each in form.signature.parameters.items()
    }
    given = list(operands)
    for field, operand in declared.operands:
        if isinstance(operand, VarOperandDef):
            arguments[parameters[field]], given = given, []
        elif given:
            arguments[parameters[field]] = given.pop(0)
        elif not isinstance(operand, OptOperandDef):
            raise UsageError(f"{name} is given {len(operands)} operands, and has no '{field}'")
    if given:
        raise UsageError(f"{name} takes {len(operands) - len(given)} operands, and {len(operands)} are given")
    properties = {field: each for field, each in parameters.items() if field in declared.properties}
    for key, value in attributes.items():
        if key not in properties:
            raise UsageError(f"{name} has no attribute '{key}'", hint=did_you_mean(key, properties))
        arguments[properties[key]] = value
    return _make(op_type, form, arguments)


@cache
def registered_operator(name: str) -> Operator:
    """What calls an operator that was registered: with its operands, and attributes by their names."""
    definition = definitions()[name]

    def make(*args: Operand, **attrs: object) -> Expr:
        count = definition.num_inputs
        if count >= 0 and len(args) != count:
            raise UsageError(f"relay.{name} takes {count} operands, and {len(args)} are given")
        kind = Op(name).operation
        assert kind is not None
        operands = [as_value(each) for each in args]
        return _made(kind, operands if count >= 0 else [operands], {"attrs": _dictionary(name, attrs)})

    make.__name__ = make.__qualname__ = name.rpartition(".")[2]
    make.__doc__ = definition.description
    return make


def _dictionary(name: str, attrs: Mapping[str, object]) -> DictionaryAttr | None:
    if not attrs:
        return None
    made: dict[str, Attribute] = {}
    for key, value in attrs.items():
        try:
            made[key] = as_attribute(cast(Value, value))
        except (VerifyException, TypeError, ValueError, AttributeError):
            raise UsageError(f"relay.{name}: '{key}' is a number, text, or numbers, and not {value!r}") from None
    return DictionaryAttr(made)


def _made(
    op_type: type[RelayOp], operands: Sequence[SSAValue | Sequence[SSAValue]], properties: Mapping[str, Value]
) -> Expr:
    """The operation, whose operands may be of types that are not known yet."""
    try:
        op = op_type(*operands, **properties)
        if all(is_complete(operand.type) for operand in op.operands):
            op.verify_()
    except VerifyException as error:
        raise UsageError(f"{op_type.name}: {error}", notes=notes_of(error)) from None
    if not all(is_complete(operand.type) for operand in op.operands):
        from ...transforms.relay.completion import complete

        complete(op)
    return Expr(op.results[0])


def _operand(op_type: type[RelayOp], name: str, given: object, like: Attribute | None) -> SSAValue:
    """A value; a list of expressions is a tuple, where an operand is one."""
    fields = cast("Sequence[Operand]", given) if isinstance(given, list | tuple) else ()
    if any(isinstance(each, Expr | SSAValue) for each in fields):
        return TupleOp(*map(as_value, fields)).result
    return as_value(cast(Operand, given), like)


def _of_element_type(value: SSAValue, like: SSAValue) -> SSAValue:
    """The value in the element type of `like`, where both are tensors."""
    if not (isinstance(value.type, TensorType) and isinstance(like.type, TensorType)):
        return value
    wanted = tensor(like).element_type
    return value if tensor(value).element_type == wanted else CastOp(value, dtype=dtype_name(wanted)).result


def _property(op_type: type[RelayOp], name: str, definition: PropertyDef, given: object) -> Value:
    """The attribute that a Python value means for a property: the first of its readings that the property takes, as in
    TVM, where a number does for a list of one, `1` for a truth value and pairs for the list of all they hold; the shape
    of a type is its extents.

    Raises:
        UsageError: it takes none of them.
    """
    if given is None or (given == "" and isinstance(given, str)):
        return None
    readings: list[Value] = [cast(Value, given)]
    if isinstance(given, ArrayAttr) and all(isinstance(each, IntAttr) for each in cast("ArrayAttr[Attribute]", given)):
        if IntAttr(DYNAMIC) in given:
            raise UsageError(f"{op_type.name}: '{name}' needs extents that are known")
        return _property(op_type, name, definition, [each.data for each in cast("ArrayAttr[IntAttr]", given)])
    if isinstance(given, list | tuple):
        flat = _flatten(cast("Sequence[object]", given))
        readings = [cast("Sequence[int]", flat)]
        if all(isinstance(value, int | float) for value in flat):
            readings.append([float(cast(float, value)) for value in flat])
    elif isinstance(given, bool | int | float):
        readings = [given, [given]] if isinstance(given, float) else [given, float(given), [given], [float(given)]]
        if given in (0, 1):
            readings.insert(1, bool(given))
    for reading in readings:
        try:
            attribute = as_attribute(reading)
        except (VerifyException, TypeError, ValueError, AttributeError):  # 2**70, or a list of what is no number
            continue
        if definition.constr.verifies(attribute):
            return attribute
    if op_type.__init__ is not RelayOp.__init__:
        return cast(Value, given)  # the operator reads it in its own way
    raise UsageError(f"{op_type.name}: '{name}' cannot be {given!r}")


def _flatten(values: Sequence[object]) -> list[object]:
    flat: list[object] = []
    for value in values:
        if is_sequence(value):
            flat.extend(_flatten(value))
        else:
            flat.append(value)
    return flat
