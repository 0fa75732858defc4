"""Whether an operation is as its definition says: xDSL's `OpDef.verify` for the common case.

xDSL finds out for each operation anew how its operands, results and regions are told apart, and reads each by name. For
most definitions that is known beforehand: there is one of each, or of one there may be several, or an attribute says
how many. What does not fit is left to xDSL, which says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from struct import unpack
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i32
from xdsl.ir import Attribute, Operation, OpTraits
from xdsl.irdl import (
    AttrSizedSegments,
    OpDef,
    OptAttributeDef,
    OptionalDef,
    OptPropertyDef,
    OptSingleBlockRegionDef,
    SingleBlockRegionDef,
    VariadicDef,
    VarSingleBlockRegionDef,
    VerificationContext,
)
from xdsl.irdl.operations import VarIRConstruct, get_attr_size_option, get_construct_defs
from xdsl.utils.exceptions import VerifyException

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

    def sizes(self, op: Operation, count: int) -> Sequence[int] | None:
        """How many of `count` there are of each; `None` if that does not fit."""
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
        rest = count - sum(self.least)
        if self.variadic is None:
            return self.least if rest == 0 else None
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


@dataclass(frozen=True)
class _Quick:
    """What a definition demands, taken apart."""

    definition: OpDef
    operands: _Division
    results: _Division
    regions: _Division
    successors: _Division

    def fits(self, op: Operation) -> bool:
        """Whether `op` is seen to be as the definition says."""
        definition = self.definition
        types = tuple([operand.type for operand in op.operands])
        given = tuple([result.type for result in op.results])
        operands, results = self.operands.sizes(op, len(types)), self.results.sizes(op, len(given))
        regions = self.regions.sizes(op, len(op.regions))
        if operands is None or results is None or regions is None:
            return False
        if self.successors.sizes(op, len(op.successor_uses)) is None:
            return False
        if not definition.properties.keys() >= op.properties.keys():
            return False
        context = VerificationContext()
        try:
            begin = 0
            for (_, operand), size in zip(definition.operands, operands, strict=True):
                operand.constr.verify(types[begin : (begin := begin + size)], context)
            begin = 0
            for (_, result), size in zip(definition.results, results, strict=True):
                result.constr.verify(given[begin : (begin := begin + size)], context)
            begin = 0
            for (_, region), size in zip(definition.regions, regions, strict=True):
                single = isinstance(region, _SINGLE_BLOCK)
                for each in op.regions[begin : (begin := begin + size)]:
                    entry = each.first_block
                    if single and (entry is None or entry is not each.last_block):
                        return False
                    if entry is not None:
                        region.entry_args.verify(entry.arg_types, context)
            for name, wanted in definition.properties.items():
                if (attribute := op.properties.get(name)) is not None:
                    wanted.constr.verify(attribute, context)
                elif not isinstance(wanted, OptPropertyDef):
                    return False
            for name, wanted in definition.attributes.items():
                if (attribute := op.attributes.get(name)) is not None:
                    wanted.constr.verify(attribute, context)
                elif not isinstance(wanted, OptAttributeDef):
                    return False
        except VerifyException:
            return False
        return True


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
