"""Operators as what calls call, and their attributes: TVM's `Op`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, TypeAlias

from xdsl.irdl import OptOperandDef, VarOperandDef

from ...dialects.relay import Relay
from ...dialects.relay.base import RelayOp, fusion_pattern
from ...dialects.support.diagnostics import UsageError


@cache
def operator_classes() -> dict[str, type[RelayOp]]:
    """The operators by their names without `relay.`."""
    return {op.name.removeprefix("relay."): op for op in Relay.operations if issubclass(op, RelayOp)}


class UnknownOperatorError(UsageError, AttributeError):
    """There is no operator of that name; as in TVM an `AttributeError`."""


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
        kind = self.operation
        return (kind.__doc__ or "") if kind is not None else ""

    def get_attr(self, attr_name: str) -> object:
        """The value of an attribute, or `None`; `TOpPattern` is the number of its fusion pattern."""
        if (given := self.registered(attr_name)) is not None:
            return given
        kind = self.operation
        if attr_name != "TOpPattern" or kind is None or (pattern := fusion_pattern(kind)) is None:
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
        """The operator's class; none for what is made of others."""
        return operator_classes().get(self.name)
