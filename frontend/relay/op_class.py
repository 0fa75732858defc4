"""Operators as what calls call, and their attributes: TVM's `Op`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, TypeAlias, cast

from xdsl.irdl import OptOperandDef, VarOperandDef

from ...dialects.relay import Relay
from ...dialects.relay.base import RelayOp, fusion_pattern
from ...dialects.support.diagnostics import UsageError
from .registered import RELATIONS, Compute, Definition, Relation
from .support_levels import LEVELS, OTHERS


@cache
def operator_classes() -> dict[str, type[RelayOp]]:
    """The operators by their names without `relay.`."""
    return {op.name.removeprefix("relay."): op for op in Relay.operations if issubclass(op, RelayOp)}


class UnknownOperatorError(UsageError, AttributeError):
    """There is no operator of that name; as in TVM an `AttributeError`."""


PATTERN, STATEFUL, COMPUTE = "TOpPattern", "TOpIsStateful", "FTVMCompute"
"""The attributes of which the class of an operator that is registered is made."""

_definitions: dict[str, Definition] = {}


def define(name: str, description: str) -> None:
    """Have an operator of a program's own, by name."""
    _definitions[name] = Definition(name, description)


def definitions() -> Mapping[str, Definition]:
    """The operators of the program's own."""
    return _definitions


LEVEL = 10
"""That of an attribute for which none is given."""


@dataclass(frozen=True)
class _Registered:
    value: object
    level: int


_attributes: dict[tuple[str, str], _Registered] = {}
"""By the operator's name and the attribute's."""


Listener: TypeAlias = "Callable[[Op, str, object], None]"
"""Called with an operator, the name of an attribute, and its new value, `None` where it is taken away."""

_listeners: list[Listener] = []


def listen(listener: Listener) -> Listener:
    """Have a function called where an attribute is given or taken away."""
    _listeners.append(listener)
    return listener


@dataclass(frozen=True)
class Op:
    """An operator, as what a call calls: `call.op == relay.op.get("nn.relu")`, `call.op.name`."""

    name: str

    lookup: ClassVar[Callable[[str], Op]]
    """Gives the operator of a name; `namespace` says how, which knows those that are made of others too."""

    @staticmethod
    def get(op_name: str) -> Op:
        """The operator of a name: `Op.get("nn.relu")`.

        Raises:
            UnknownOperatorError: there is none; the hint names near ones.
        """
        return Op.lookup(op_name)

    @property
    def num_inputs(self) -> int:
        """How many operands it takes; `-1` for any number."""
        if (defined := _definitions.get(self.name)) is not None:
            return defined.num_inputs
        kind = self.operation
        operands = [definition for _, definition in kind.get_irdl_definition().operands] if kind is not None else []
        return (
            -1
            if kind is None or any(isinstance(each, OptOperandDef | VarOperandDef) for each in operands)
            else len(operands)
        )

    @property
    def description(self) -> str:
        """What it computes."""
        if (defined := _definitions.get(self.name)) is not None:
            return defined.description
        kind = self.operation
        return (kind.__doc__ or "") if kind is not None else ""

    def get_attr(self, attr_name: str) -> object:
        """The value of an attribute, or `None`; `TOpPattern` is the number of its fusion pattern."""
        if (given := self.registered(attr_name)) is not None:
            return given
        kind = operator_classes().get(self.name)
        if attr_name != PATTERN or kind is None or (pattern := fusion_pattern(kind)) is None:
            return None
        return int(pattern)

    def registered(self, attr_name: str) -> object:
        """The value of an attribute that it was given, or `None`."""
        found = _attributes.get((self.name, attr_name))
        return None if found is None else found.value

    def has_attr(self, attr_name: str) -> bool:
        """Whether it has an attribute."""
        return self.get_attr(attr_name) is not None

    def set_attr(self, attr_name: str, value: object, plevel: int = LEVEL) -> None:
        """Give it an attribute; of several, that of the highest level counts.

        Raises:
            UsageError: it has one of this level already, or the level is not positive.
        """
        if attr_name in (PATTERN, STATEFUL) and self.name in _definitions:
            self.definition(f"its {attr_name}")
        if plevel <= 0:
            raise UsageError(f"the level of an attribute is positive, not {plevel}")
        known = _attributes.get((self.name, attr_name))
        if known is not None and known.level == plevel:
            hint = "reset_attr takes it away; a higher level stands above it"
            raise UsageError(f"'{self.name}' has the attribute '{attr_name}' of level {plevel} already", hint=hint)
        if known is not None and known.level > plevel:
            return
        _attributes[self.name, attr_name] = _Registered(value, plevel)
        for heard in _listeners:
            heard(self, attr_name, value)

    def reset_attr(self, attr_name: str) -> None:
        """Take an attribute away, if it has it."""
        if _attributes.pop((self.name, attr_name), None) is not None:
            for heard in _listeners:
                heard(self, attr_name, None)

    @property
    def operation(self) -> type[RelayOp] | None:
        """The operator's class; none for what is made of others.

        Raises:
            UsageError: it was registered, and not all is said that a class needs.
        """
        if (defined := _definitions.get(self.name)) is None:
            return operator_classes().get(self.name)
        return defined.operation(
            self.registered(PATTERN),
            bool(self.registered(STATEFUL)),
            lambda: cast("Compute | None", self.registered(COMPUTE)),
        )

    def definition(self, what: str) -> Definition:
        """What is said of an operator that was registered, of which `what` is to be said as well.

        Raises:
            UsageError: it is one of Weft's, or has been called.
        """
        if (defined := _definitions.get(self.name)) is None:
            hint = "relay.op.register makes one of which it is said"
            raise UsageError(f"'{self.name}' is an operator of Weft's, and its class says {what}", hint=hint)
        defined.change(what)
        return defined

    def set_num_inputs(self, n: int) -> None:
        """Say how many operands an operator that was registered takes; -1 for any number, as unless that is said.

        Raises:
            UsageError: it is one of Weft's, has been called, or the number is below -1.
        """
        if n < -1:
            raise UsageError(f"an operator takes a number of operands, or -1 for any, not {n}")
        self.definition("how many operands it takes").num_inputs = n

    def add_argument(self, name: str, type: str, description: str) -> None:
        """Describe the next operand of an operator that was registered, which is a tensor.

        Raises:
            UsageError: it is one of Weft's, has been called, or has an argument of that name.
        """
        arguments = self.definition("its arguments").arguments
        if not name.isidentifier() or name in ("attrs", "result") or any(name == each for each, _, _ in arguments):
            raise UsageError(f"'{name}' cannot be the name of the next argument of '{self.name}'")
        arguments.append((name, type, description))

    def add_type_rel(self, rel_name: str, type_rel_func: Relation | None = None) -> None:
        """Say what the type of the result of an operator that was registered is: by a function that gives it for a list
        of the operands' types, and the attributes of the call, or `None`; or by TVM's name, "Identity" or "Broadcast".

        Raises:
            UsageError: it is one of Weft's, has been called or has a relation, or there is none of that name.
        """
        relations = self.definition("its type relation").relations
        relation = RELATIONS.get(rel_name) if type_rel_func is None else type_rel_func
        if relation is None:
            hint = f"those that have names are {', '.join(RELATIONS)}; others are given as functions"
            raise UsageError(f"there is no type relation '{rel_name}'", hint=hint)
        if relations:
            raise UsageError(f"'{self.name}' has the type relation '{next(iter(relations))}' already")
        relations[rel_name] = relation

    @property
    def support_level(self) -> int:
        """TVM's number for how soon it was wanted, from 1 to 11, which says nothing here."""
        defined = _definitions.get(self.name)
        return LEVELS.get(self.name, OTHERS) if defined is None else defined.support_level

    def set_support_level(self, level: int) -> None:
        """Give an operator that was registered TVM's number for how soon it is wanted.

        Raises:
            UsageError: it is one of Weft's, or has been called.
        """
        self.definition("its level").support_level = level

    def set_attrs_type_key(self, key: str) -> None:
        """TVM's name for the class of the attributes. Here they are what a call gives, by name.

        Raises:
            UsageError: it is one of Weft's, or has been called.
        """
        self.definition("the class of its attributes")
