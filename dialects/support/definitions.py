"""Whether an operation is as its definition says: xDSL's `OpDef.verify` for the common case.

xDSL finds out for each operation anew how its operands, results and regions are told apart, and reads each by name. For
most definitions that is known beforehand: there is one of each, or of one there may be several, or an attribute says
how many. What does not fit is left to xDSL, which says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from struct import unpack
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i32
from xdsl.ir import Attribute, Operation, OpTraits
from xdsl.irdl import (
    AttributeDef,
    AttrSizedSegments,
    OpDef,
    OptionalDef,
    OptSingleBlockRegionDef,
    PropertyDef,
    RangeConstraint,
    SingleBlockRegionDef,
    VariadicDef,
    VarSingleBlockRegionDef,
    VerificationContext,
)
from xdsl.irdl.operations import VarIRConstruct, get_attr_size_option, get_construct_defs
from xdsl.utils.exceptions import VerifyException

from .insides import operands_of, successors_of, type_of
from .plain_constraints import anything, sees, sees_of_each

_SINGLE_BLOCK = SingleBlockRegionDef | VarSingleBlockRegionDef | OptSingleBlockRegionDef


@lru_cache(maxsize=4096)
def segments(data: bytes) -> tuple[int, ...]:
    """The numbers that an array of `i32` holds: how many operands there are of each kind."""
    return unpack(f"<{len(data) // 4}i", data)


@dataclass(frozen=True)
class _Division:
    """How the operands of an operation, or its results, regions or successors, go with what defines them."""

    least: tuple[int, ...]
    """How many there are of each, where there are as few as there may be."""
    most: tuple[int | None, ...]
    variadic: int | None
    """The one of which there may be several."""
    option: AttrSizedSegments | None
    """Says how many there are of each."""

    @cached_property
    def total(self) -> int:
        """How many there are at least."""
        return sum(self.least)

    def ends(self) -> list[tuple[int, int | None]]:
        """How few and how many there may be of each."""
        return list(zip(self.least, self.most, strict=True))

    def sizes(self, op: Operation, count: int) -> Sequence[int] | None:
        """How many of `count` there are of each; `None` if that does not fit."""
        if self.option is None and self.variadic is None:
            return self.least if count == self.total else None
        if self.option is not None:
            given = self.option.container(op).get(self.option.attribute_name)
            if not isinstance(given, DenseArrayBase) or cast("DenseArrayBase[IntegerType]", given).elt_type != i32:
                return None
            sizes = segments(given.data.data)
            if len(sizes) != len(self.least) or sum(sizes) != count:
                return None
            for size, least, most in zip(sizes, self.least, self.most, strict=True):
                if size < least or (most is not None and size > most):
                    return None
            return sizes
        assert self.variadic is not None
        rest = count - self.total
        most = self.most[self.variadic]
        if rest < 0 or (most is not None and rest > most):
            return None
        return (*self.least[: self.variadic], rest, *self.least[self.variadic + 1 :])


def _division(definition: OpDef, construct: VarIRConstruct) -> _Division | None:
    """How the parts of one kind are told apart, if that is the common case."""
    defs = [each for _, each in get_construct_defs(definition, construct)]
    kind = get_attr_size_option(construct)
    option = next((option for option in definition.options if isinstance(option, kind)), None)
    variadic = [number for number, each in enumerate(defs) if isinstance(each, VariadicDef)]
    if option is None and len(variadic) > 1:
        return None
    return _Division(
        tuple(0 if isinstance(each, VariadicDef) else 1 for each in defs),
        tuple(None if isinstance(d, VariadicDef) and not isinstance(d, OptionalDef) else 1 for d in defs),
        variadic[0] if variadic and option is None else None,
        option,
    )


class _Types:
    """The types of operands, results or arguments of one kind."""

    def __init__(self, constraint: RangeConstraint, least: int, most: int | None):
        self.verify = constraint.verify
        self._sees = sees_of_each(constraint, least, most)
        self.are_any = self._sees is anything

    def are_seen(self, types: Sequence[Attribute]) -> bool:
        """Whether types are right, as far as can be seen without a context."""
        return self._sees is not None and all(map(self._sees, types))


class _Named:
    """A property or an attribute."""

    def __init__(self, definition: PropertyDef | AttributeDef):
        self.verify = definition.constr.verify
        self._sees = sees(definition.constr)

    def is_seen(self, value: Attribute) -> bool:
        """Whether a value is right, as far as can be seen without a context."""
        return self._sees is not None and self._sees(value)


class _Context:
    """The context of one operation, made for those who ask."""

    def __init__(self) -> None:
        self._made: VerificationContext | None = None

    def __call__(self) -> VerificationContext:
        if self._made is None:
            self._made = VerificationContext()
        return self._made


class _Quick:
    """What a definition demands, taken apart."""

    def __init__(
        self,
        definition: OpDef,
        operands: _Division,
        results: _Division,
        regions: _Division,
        successors: _Division,
    ):
        self._operands, self._results, self._regions, self._successors = operands, results, regions, successors
        self._taken = [
            _Types(each.constr, *ends) for (_, each), ends in zip(definition.operands, operands.ends(), strict=True)
        ]
        self._given = [
            _Types(each.constr, *ends) for (_, each), ends in zip(definition.results, results.ends(), strict=True)
        ]
        self._inner = [
            (isinstance(each, _SINGLE_BLOCK), _Types(each.entry_args, 0, None)) for _, each in definition.regions
        ]
        self._properties, self._attributes = _named(definition.properties), _named(definition.attributes)
        self._needed = [_needed(definition.properties), _needed(definition.attributes)]

    def fits(self, op: Operation) -> bool:
        """Whether `op` is seen to be as the definition says."""
        types = tuple([type_of(each) for each in operands_of(op)])
        given = tuple([type_of(each) for each in op.results])
        operands, results = self._operands.sizes(op, len(types)), self._results.sizes(op, len(given))
        regions = self._regions.sizes(op, len(op.regions))
        if operands is None or results is None or regions is None:
            return False
        if self._successors.sizes(op, len(successors_of(op))) is None:
            return False
        properties, attributes = op.properties, op.attributes
        if not (properties.keys() >= self._needed[0] and attributes.keys() >= self._needed[1]):
            return False
        context = _Context()
        try:
            begin = 0
            for operand, size in zip(self._taken, operands, strict=True):
                taken = types[begin : (begin := begin + size)]
                if not (operand.are_any or operand.are_seen(taken)):
                    operand.verify(taken, context())
            begin = 0
            for result, size in zip(self._given, results, strict=True):
                made = given[begin : (begin := begin + size)]
                if not (result.are_any or result.are_seen(made)):
                    result.verify(made, context())
            begin = 0
            for (single, arguments), size in zip(self._inner, regions, strict=True):
                for each in op.regions[begin : (begin := begin + size)]:
                    entry = each.first_block
                    if single and (entry is None or entry is not each.last_block):
                        return False
                    if entry is not None and not arguments.are_any:
                        arguments.verify(entry.arg_types, context())
            for name, value in properties.items():
                if (wanted := self._properties.get(name)) is None:
                    return False
                if not wanted.is_seen(value):
                    wanted.verify(value, context())
            if self._attributes:
                for name, value in attributes.items():
                    if (wanted := self._attributes.get(name)) is not None and not wanted.is_seen(value):
                        wanted.verify(value, context())
        except VerifyException:
            return False
        return True


def _named(definitions: Mapping[str, PropertyDef] | Mapping[str, AttributeDef]) -> dict[str, _Named]:
    return {name: _Named(each) for name, each in definitions.items()}


def _needed(definitions: Mapping[str, PropertyDef] | Mapping[str, AttributeDef]) -> frozenset[str]:
    """The names of what cannot be left out."""
    return frozenset(name for name, each in definitions.items() if not isinstance(each, OptionalDef))


def check_properties(definition: OpDef, properties: Mapping[str, Attribute]) -> None:
    """
    Raises:
        VerifyException: one is not of the kind that the definition says; xDSL does not say which.
    """
    for name, wanted in definition.properties.items():
        if (attribute := properties.get(name)) is None:
            continue
        try:
            wanted.constr.verify(attribute, VerificationContext())
        except VerifyException as error:
            raise VerifyException(f"property '{name}': {error}") from None


def definition_check(definition: OpDef) -> Callable[[Operation], None]:
    """What raises a `VerifyException` where an operation is not as `definition` says, its traits aside."""
    whole = replace(definition, traits=OpTraits(lambda: ())).verify
    operands, results = _division(definition, VarIRConstruct.OPERAND), _division(definition, VarIRConstruct.RESULT)
    regions, successors = _division(definition, VarIRConstruct.REGION), _division(definition, VarIRConstruct.SUCCESSOR)
    if operands is None or results is None or regions is None or successors is None:
        return whole
    quick = _Quick(definition, operands, results, regions, successors)

    def check(op: Operation) -> None:
        if not quick.fits(op):
            check_properties(definition, op.properties)
            whole(op)

    return check
