"""What is said of an operator that a program registers by name, and the class that is made of it.

It is a class as one that a package declares (docs/extending.md), made when the operator is called for the first time;
from then on its definition stays, and text that names it is read. Beside what is registered it has nothing: no gradient
and no layouts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias, cast

from xdsl.dialects.builtin import DictionaryAttr, TensorType
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...dialects import te
from ...dialects.relay import Relay
from ...dialects.relay.base import (
    Fusion,
    FusionPattern,
    RelayOp,
    Stateful,
    Tensor,
    broadcast_shapes,
    tensor,
)
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.operations import irdl_op_definition
from .attrs import NamedValues, python_value
from .support_levels import OTHERS

Relation: TypeAlias = "Callable[[list[Attribute], Mapping[str, object] | None], Attribute]"
"""Gives the type of the result for the types of the operands, and the attributes where there are any."""
Compute: TypeAlias = "Callable[[Mapping[str, object] | None, list[te.Tensor], Attribute], Sequence[te.Tensor]]"
"""Gives the result as a tensor expression, in a list, for the attributes, the operands and the type of the result."""


def _identity(types: list[Attribute], attrs: Mapping[str, object] | None) -> Attribute:
    return types[0]


def _broadcast(types: list[Attribute], attrs: Mapping[str, object] | None) -> Attribute:
    tensors = [tensor(type) for type in types]
    if len({type.element_type for type in tensors}) != 1:
        raise VerifyException(f"operands have different element types: {', '.join(map(str, types))}")
    return TensorType(tensors[0].element_type, broadcast_shapes(*(type.get_shape() for type in tensors)))


RELATIONS: dict[str, Relation] = {"Identity": _identity, "Broadcast": _broadcast}
"""Those that have a name of TVM's; operands of one type of elements."""


class _Given(NamedValues):
    """The attributes of a call, by name."""

    def __init__(self, values: Mapping[str, object]):
        self._values = values


class RegisteredOp(RelayOp):
    """An operator that was registered by name: tensors in, a tensor out."""

    DEFINITION: ClassVar[Definition]

    result = result_def(TensorType)
    attrs = opt_prop_def(DictionaryAttr)

    @classmethod
    def has_compute(cls) -> bool:
        return cls.DEFINITION.compute_of() is not None

    def _given(self) -> _Given | None:
        return None if self.attrs is None else _Given({k: python_value(v) for k, v in self.attrs.data.items()})

    def infer(self) -> Sequence[Attribute]:
        found = cast("object", self.DEFINITION.relation([value.type for value in self.operands], self._given()))
        if not isinstance(found, TensorType):
            raise VerifyException(f"the type relation of '{self.DEFINITION.name}' gives no type of a tensor: {found!r}")
        return [cast(Tensor, found)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        if (computed := self.DEFINITION.compute_of()) is None:
            raise UsageError(f"'{self.DEFINITION.name}' has no FTVMCompute, by which it is computed")
        (result,) = computed(self._given(), list(inputs), self.results[0].type)
        return result


@dataclass
class Definition:
    """What is said of an operator that is registered."""

    name: str
    description: str = ""
    num_inputs: int = -1
    support_level: int = OTHERS
    arguments: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    relations: dict[str, Relation] = field(default_factory=dict[str, Relation])
    compute_of: Callable[[], Compute | None] = lambda: None
    made: type[RegisteredOp] | None = None

    def change(self, what: str) -> None:
        """Ask whether something may still be said.

        Raises:
            UsageError: it has been called.
        """
        if self.made is not None:
            raise UsageError(
                f"'{self.name}' has been called: {what} is said before", hint="register another operator instead"
            )

    @property
    def relation(self) -> Relation:
        """The type relation.

        Raises:
            UsageError: there is none.
        """
        for relation in self.relations.values():
            return relation
        raise UsageError(f"'{self.name}' has no type relation", hint="its `add_type_rel` says what its result is")

    def operation(
        self, pattern: object, stateful: bool, compute_of: Callable[[], Compute | None]
    ) -> type[RegisteredOp]:
        """The class, made of all that was said."""
        if self.made is None:
            self._check()
            fusion = FusionPattern(Fusion.OPAQUE if pattern is None else Fusion(cast(int, pattern)))
            traits = traits_def(fusion, Stateful()) if stateful else traits_def(fusion, Pure())
            names = [argument for argument, _, _ in self.arguments]
            operands: dict[str, Any] = (
                {names[0] if names else "data": var_operand_def(TensorType)}
                if self.num_inputs < 0
                else {name: operand_def(TensorType) for name in self._names(names)}
            )
            members = {
                "__doc__": self.description or f"The operator {self.name}.",
                "__module__": __name__,
                "name": f"relay.{self.name}",
                **operands,
                "traits": traits,
            }
            self.made = cast("type[RegisteredOp]", irdl_op_definition(type("RegisteredOp", (RegisteredOp,), members)))
            self.made.DEFINITION, self.compute_of = self, compute_of
            Relay.add(self.made)
        return self.made

    def _names(self, names: list[str]) -> list[str]:
        return names or [f"data_{number}" for number in range(self.num_inputs)]

    def _check(self) -> None:
        _ = self.relation
        if self.num_inputs >= 0 and self.arguments and len(self.arguments) != self.num_inputs:
            raise UsageError(
                f"'{self.name}' has {self.num_inputs} inputs, and {len(self.arguments)} arguments are described"
            )
