"""What of an operation has to be asked each time, and what follows from how it looks.

xDSL judges an operation by the definition of its class (operands, results, regions, properties, attributes), by its
traits, and by what the class itself demands in `verify_`. A definition sees nothing but types and attributes: of
operations that look the same, all are right or none is, so it is asked once about each look. Traits that may depend on
where an operation stands, and what its class demands, are asked each time; but for the plain operations of some
dialects, of which the looks tell everything.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from types import CodeType
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    MemRefType,
    ShapedType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import AnyAttr, OpDef
from xdsl.traits import (
    ConstantLike,
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    NoTerminator,
    OpTrait,
    ReturnLike,
    SameOperandsAndResultType,
    SingleBlockImplicitTerminator,
    SymbolOpInterface,
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException

from .definitions import definition_check
from .insides import successors_of
from .looks import (
    Look,
    Looking,
    Looks,
    Number,
    Sight,
    bare_look,
    forget_looks,
    look_around,
    look_within,
    look_without_value,
    nothing_more,
    plain_look,
    sight_of,
)
from .symbols import check_name, lookup_symbol

Demand: TypeAlias = Callable[[Operation], None]
"""Raises a `VerifyException` or a `Diagnostic` where an operation is wrong."""

ALIKE = frozenset({"arith", "llvm", "math", "memref", "vector"})
"""Dialects whose plain operations (without regions, no terminators) are judged by their class, the types of their
operands and results, and their attributes alone."""
BRANCHES = frozenset({"llvm.br", "llvm.cond_br"})
"""Terminators that are judged so too, with the types that the blocks they lead to take."""
ELSEWHERE = (IsolatedFromAbove, SymbolTable)
"""Traits that `verifier` checks."""
SEEN_TRAITS = frozenset({NoTerminator, ReturnLike, SameOperandsAndResultType})
"""Traits that are a matter of looks."""
PLACE_TRAITS = frozenset({IsTerminator, HasParent})
"""Traits that are a matter of `look_around`."""
WITHIN_TRAITS = frozenset({SingleBlockImplicitTerminator})
"""Traits that are a matter of `look_within`."""


@dataclass(frozen=True)
class Judge:
    """What is demanded of the operations of one class, in this order."""

    definitions: tuple[Demand, ...]
    """See only looks; those of traits as well."""

    each_time: tuple[Demand, ...]
    own: Demand | None
    """What the class demands, where that is a matter of what `looking` tells; else it is demanded each time."""

    looking: Looking | None
    """What tells operations apart of which some may be wrong; `None` where each is asked."""

    is_constant: bool
    """Whether it is of `CONSTANTS`."""

    verify: object
    traits: object
    """What this was made of: both can be replaced."""

    @cached_property
    def telling(self) -> Looking | None:
        """`looking`, where there is nothing to ask of an operation that looks like one that is right; of values that
        recur, more."""
        if self.each_time:
            return None
        return plain_look if self.is_constant else self.looking

    def __call__(self, op: Operation, look: Look | None, looks: Looks) -> None:
        """Ask for all that is demanded of an operation; `look` is how it looks, where that tells all.

        Raises:
            VerifyException, Diagnostic: the operation is wrong.
        """
        alike = None if self.looking is None else self.looking(op, looks.number)
        if alike is None or alike not in looks.alike:
            for demand in self.definitions:
                demand(op)
            for demand in self.each_time:
                demand(op)
            if self.own is not None:
                self.own(op)
            check_sizes(op)
            if alike is not None:
                looks.alike.add(alike)
        else:
            for demand in self.each_time:
                demand(op)
        if look is not None:
            if self.is_constant:
                looks.keep(op.properties.values())
            looks.right.add(look)  # `looking` has kept what it has for attributes


_judges: dict[type[Operation], Judge] = {}


def judge_of(kind: type[Operation]) -> Judge:
    """Who checks what a class of operations demands, but for what `verifier` checks of all operations."""
    judge = _judges.get(kind)
    if judge is None or judge.verify is not kind.verify_ or judge.traits is not kind.traits.traits:
        if judge is not None:
            forget_looks()  # what was right may be wrong now
        judge = _judges[kind] = _judge_of(kind)
    return judge


def _judge_of(kind: type[Operation]) -> Judge:
    traits = kind.traits.traits
    found, demand = _taken_apart(kind.verify_)
    if any(definition.traits.traits is not traits for definition in found):
        # A class made from another one with an own definition: nothing is known of how they go together.
        found, demand = [], kind.verify_
    asked = [t for t in traits if not isinstance(t, ELSEWHERE) and not _says_nothing(type(t).verify)]
    ends = any(isinstance(t, IsTerminator) for t in asked)
    within = any(each.regions for each in found)
    seen = {*SEEN_TRAITS, *(PLACE_TRAITS if ends else ()), *(WITHIN_TRAITS if within else ())}
    by_looks = [t.verify for t in asked if type(t) in seen] if found else []
    each_time = [t.verify for t in asked if type(t) not in seen] if found else []
    sight = _sight_of(kind, found, demand) if found else None
    own = None if demand is Operation.verify_ else _quick_own(kind, demand)
    looking = None
    if found and _is_of_any_value(kind, found) and sight is not None:
        looking = look_without_value
    elif found and _is_repeated(kind) and (sight is not None or not within):
        looking = _looking(within, ends, sight)
    return Judge(
        definitions=(*map(definition_check, found), *by_looks, *_handed(kind)),
        each_time=(
            *(_quick(kind, each) for each in each_time),
            *([own] if own is not None and sight is None else []),
            *([partial(check_name, *REFERENCES[kind.name])] if kind.name in REFERENCES else []),
        ),
        own=own if sight is not None else None,
        looking=looking,
        is_constant=looking is look_without_value and kind.name in CONSTANTS,
        verify=kind.verify_,
        traits=traits,
    )


def _looking(within: bool, around: bool, sight: Sight | None) -> Looking:
    """What is looked at of an operation that has regions (`within`), ends its block (`around`), and of which the class
    itself sees more."""
    beside: list[Looking] = []
    if within:
        beside.append(look_within)
    if around:
        beside.append(look_around)
    if sight is not None and sight is not nothing_more:
        beside.append(partial(_seen, sight))
    if not beside:
        return plain_look

    def looking(op: Operation, number: Number) -> Look | None:
        if (op.regions and not within) or (successors_of(op) and not around):
            return None
        look = bare_look(op, number)
        for each in beside:
            if (more := each(op, number)) is None:
                return None
            look += (..., *more)
        return look

    return looking


def _seen(sight: Sight, op: Operation, number: Number) -> Look | None:
    try:
        seen = sight(op)
    except Exception:  # of an operation at fault, or of one that leans on it: it is asked
        return None
    return None if seen is None else (*map(number, seen),)


def _ends(op: Operation) -> Sequence[Attribute] | None:
    """The types of what the regions of an operation end with."""
    last = [block.last_op for region in op.regions for block in region.blocks]
    return None if None in last else [operand.type for each in last if each is not None for operand in each.operands]


def _results_around(op: Operation) -> Sequence[Attribute] | None:
    """The types of the results of the function around an operation."""
    function = op.parent_op()
    type = None if function is None else function.properties.get("function_type")
    return type.outputs.data if isinstance(type, FunctionType) else None


def _function_around(op: Operation) -> Sequence[Attribute] | None:
    """The type of the function around an operation."""
    function = op.parent_op()
    type = None if function is None else function.properties.get("function_type")
    return None if type is None else (type,)


def _handed(kind: type[Operation]) -> Sequence[Demand]:
    """What is demanded of control flow (`handing`, which nobody need load who has none)."""
    if kind.dialect_name() not in ("cf", "llvm", "scf"):
        return ()
    from .handing import HANDED

    return (HANDED[kind.name],) if kind.name in HANDED else ()


SIGHTS: dict[str, Sight] = {
    "func.return": _results_around,
    "llvm.return": _function_around,
    "scf.execute_region": _ends,
    "scf.for": _ends,
    "scf.if": _ends,
    "scf.while": _ends,
}
"""Of classes of xDSL's, with what `handing` sees of them."""


def _sight_of(kind: type[Operation], found: Sequence[OpDef], demand: Demand) -> Sight | None:
    """What a class looks at in what it demands itself beside the looks; `None` where nobody says."""
    if kind.__module__.startswith("xdsl.") and kind.name in SIGHTS:
        return SIGHTS[kind.name]
    if demand is Operation.verify_ or (not found[0].regions and _is_plain(kind)):
        return nothing_more
    return None if kind.__module__.startswith("xdsl.") else sight_of(demand)


def _says_nothing(verify: Callable[..., None]) -> bool:
    """Whether a function does nothing: traits that only tell of a class have such a `verify`."""
    code = getattr(verify, "__code__", None)
    return isinstance(code, CodeType) and any(
        code.co_code == empty.co_code and code.co_consts[-1] is None and len(code.co_consts) == len(empty.co_consts)
        for empty in (_empty.__code__, OpTrait.verify.__code__)
    )


def _empty(trait: OpTrait, op: Operation) -> None:
    return


CALLEES = {"func.call": "func.func", "llvm.call": "llvm.func"}
"""Calls, and what they are calls of."""

REFERENCES = {
    "memref.get_global": ("name", ("memref.global",)),
    "llvm.mlir.addressof": ("global_name", ("llvm.mlir.global", "llvm.func")),
}
"""Operations that name others, of which xDSL does not look for them: by which property, and of which kinds."""


def _quick(kind: type[Operation], demand: Demand) -> Demand:
    """What a trait demands; of a call, whether its callee is there, by a table of symbols if all is well."""
    if getattr(demand, "__func__", None) is SymbolOpInterface.verify:
        return partial(_has_name, demand)
    if (wanted := CALLEES.get(kind.name)) is None:
        return demand

    def check(op: Operation) -> None:
        callee = op.properties.get("callee")
        found = lookup_symbol(op, callee) if isinstance(callee, SymbolRefAttr) else None
        if found is None or found.name != wanted:
            return demand(op)
        type = found.properties.get("function_type")
        if isinstance(type, FunctionType):
            operands, results = tuple([each.type for each in op.operands]), tuple([each.type for each in op.results])
            if type.inputs.data != operands or type.outputs.data != results:
                return demand(op)
        return None

    return check


def _has_name(demand: Demand, op: Operation) -> None:
    if "sym_name" in op.attributes or type(op.properties.get("sym_name")) is not StringAttr:
        demand(op)


VECTOR_ACCESSES = frozenset({"vector.load", "vector.store"})


def _quick_own(kind: type[Operation], demand: Demand) -> Demand:
    """What a class itself demands. An access to a vector that is seen to be right is not asked: xDSL makes its
    constraints anew for each."""
    if kind.name not in VECTOR_ACCESSES:
        return demand

    def check(op: Operation) -> None:
        given = [operand.type for operand in op.operands]
        vector, (base, *indices) = (op.results[0].type, given) if op.results else (given[0], given[1:])
        if not (
            isinstance(base, MemRefType)
            and isinstance(vector, VectorType)
            and cast("MemRefType[Attribute]", base).element_type == cast("VectorType[Attribute]", vector).element_type
            and base.get_num_dims() == len(indices)
        ):
            demand(op)

    return check


def _taken_apart(verify: Demand) -> tuple[list[OpDef], Demand]:
    """What `irdl_op_definition` has put together: the definitions, and what the class itself demands."""
    found: list[OpDef] = []
    while inspect.isfunction(verify):
        parts = inspect.getclosurevars(verify).nonlocals
        definition = parts.get("op_def")
        if not isinstance(definition, OpDef):
            break
        found.append(definition)
        verify = cast(Demand, parts.get("custom_verify", Operation.verify_))
    return found, verify


def _is_plain(kind: type[Operation]) -> bool:
    ends = kind.has_trait(IsTerminator) and kind.name not in BRANCHES
    return kind.dialect_name() in ALIKE and not ends and not kind.has_trait(HasParent)


def _is_repeated(kind: type[Operation]) -> bool:
    """Functions and globals have names of their own; constants of tensors may be large."""
    large = kind.has_trait(ConstantLike) and kind.dialect_name() not in ALIKE
    return not large and not kind.has_trait(SymbolOpInterface)


CONSTANTS = frozenset({"arith.constant", "llvm.mlir.constant"})
"""Constants of which nothing is demanded that depends on more of their value than its kind and type."""


def _is_of_any_value(kind: type[Operation], found: Sequence[OpDef]) -> bool:
    """Whether operations hold a value of which nothing is demanded, or nothing but a type."""
    if kind.name in CONSTANTS:
        return kind.__module__.startswith("xdsl.")
    values = [each.properties["value"].constr for each in found if "value" in each.properties]
    return kind.has_trait(ConstantLike) and bool(values) and all(isinstance(each, AnyAttr) for each in values)


MAX_ELEMENTS = 1 << 46
"""The largest tensor or buffer: a process cannot address more."""


def check_sizes(op: Operation) -> None:
    """Tensors and buffers must be of a size that memory could hold.

    Raises:
        VerifyException: one is not.
    """
    for result in op.results:
        _check_size(result.type)
    for region in op.regions:
        for block in region.blocks:
            for argument in block.args:
                _check_size(argument.type)


def _check_size(given: Attribute) -> None:
    if type(given) is TensorType or type(given) is MemRefType:  # `isinstance` takes long where it says no
        shape = cast("ShapedType", given).get_shape()
        if prod(n for n in shape if n != DYNAMIC_INDEX) > MAX_ELEMENTS:
            raise VerifyException(f"{given} fits into no memory")
