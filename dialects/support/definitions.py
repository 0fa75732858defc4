"""Whether an operation is as its definition says: xDSL's `OpDef.verify` for the common case.

xDSL finds out for each operation anew how its operands, results and regions are told apart, and reads each by name.
Where there is one of each, as in most definitions, they are just those in order. What does not fit is left to xDSL,
which says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.ir import Operation, OpTraits
from xdsl.irdl import OpDef, OptAttributeDef, OptPropertyDef, SingleBlockRegionDef, VariadicDef, VerificationContext
from xdsl.utils.exceptions import VerifyException


def definition_check(definition: OpDef) -> Callable[[Operation], None]:
    """What raises a `VerifyException` where an operation is not as `definition` says, its traits aside."""
    whole = replace(definition, traits=OpTraits(lambda: ())).verify
    parts = (*definition.operands, *definition.results, *definition.regions, *definition.successors)
    if any(isinstance(part, VariadicDef) for _, part in parts):
        return whole

    def check(op: Operation) -> None:
        if not _fits(op, definition):
            whole(op)

    return check


def _fits(op: Operation, definition: OpDef) -> bool:
    """Whether `op` is seen to be as a definition says that has one of each part."""
    types = [operand.type for operand in op.operands]
    if len(types) != len(definition.operands) or len(op.results) != len(definition.results):
        return False
    if len(op.regions) != len(definition.regions) or len(op.successor_uses) != len(definition.successors):
        return False
    if not definition.properties.keys() >= op.properties.keys():
        return False
    context = VerificationContext()
    try:
        for (_, operand), type in zip(definition.operands, types, strict=True):
            operand.constr.verify((type,), context)
        for (_, result), value in zip(definition.results, op.results, strict=True):
            result.constr.verify((value.type,), context)
        for (_, region), given in zip(definition.regions, op.regions, strict=True):
            entry = given.first_block
            if isinstance(region, SingleBlockRegionDef) and (entry is None or entry is not given.last_block):
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
