"""What of an operation has to be asked each time, and what follows from how it looks.

xDSL judges an operation by the definition of its class (operands, results, regions, properties, attributes), by its
traits, and by what the class itself demands in `verify_`. A definition sees nothing but types and attributes: of
operations that look the same, all are right or none is, so it is asked once about each look. Traits that may depend on
where an operation stands, and what its class demands, are asked each time; but for the plain operations of some
dialects, of which the looks tell everything.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    MemRefType,
    ShapedType,
    SymbolRefAttr,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation
from xdsl.irdl import OpDef
from xdsl.traits import (
    ConstantLike,
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    NoTerminator,
    OpTrait,
    ReturnLike,
    SameOperandsAndResultType,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from .definitions import definition_check
from .symbols import lookup_symbol

Demand: TypeAlias = Callable[[Operation], None]
"""Raises a `VerifyException` or a `Diagnostic` where an operation is wrong."""

ALIKE = frozenset({"arith", "llvm", "math", "memref", "vector"})
"""Dialects whose plain operations (without regions, no terminators) are judged by their class, the types of their
operands and results, and their attributes alone."""
BRANCHES = frozenset({"llvm.br", "llvm.cond_br"})
"""Terminators that are judged so too, with the types that the blocks they lead to take."""
SEEN_TRAITS = frozenset({NoTerminator, ReturnLike, SameOperandsAndResultType})
"""Traits that are a matter of looks."""
MAX_LOOKS = 40_000


class _Known:
    """The looks of operations that were found right, with numbers for attributes.

    Attributes do not change, so each is looked up by itself first: to compare what it is made of takes long."""

    def __init__(self) -> None:
        self.right: set[object] = set()
        self.numbers: dict[Attribute, int] = {}
        self.by_id: dict[int, int] = {}
        self.kept: list[Attribute] = []
        """The attributes of `by_id`, so that no other gets the `id` of one."""


_known = _Known()
_unused = count(1)
"""Numbers that no attribute has had."""


class Looks:
    """What operations look like, for as long as nothing changes them.

    Attributes are numbers here, equal ones the same: many operations share an attribute, and comparing takes long."""

    def __init__(self) -> None:
        global _known
        if len(_known.right) + len(_known.numbers) > MAX_LOOKS:
            _known = _Known()  # whoever is at work has the old one still
        if len(_known.by_id) > MAX_LOOKS:
            _known.by_id, _known.kept = {}, []
        known = _known
        self.right = known.right
        self._numbers = known.numbers
        self._by_id = known.by_id
        self._kept = known.kept

    def of(self, op: Operation) -> tuple[object, ...]:
        """All that a definition can see of an operation."""
        known, new = self._by_id.get, self._number
        properties, attributes = op.properties, op.attributes
        return (
            type(op),
            tuple([known(id(v._type)) or new(v._type) for v in op._operands]),  # pyright: ignore[reportPrivateUsage]
            tuple([known(id(v._type)) or new(v._type) for v in op.results]),  # pyright: ignore[reportPrivateUsage]
            (*properties, *[known(id(value)) or new(value) for value in properties.values()]) if properties else (),
            (*attributes, *[known(id(value)) or new(value) for value in attributes.values()]) if attributes else (),
            tuple([self._arguments(region.blocks) for region in op.regions]) if op.regions else (),
            self._arguments(op.successors) if op.successor_uses else (),
        )

    def _arguments(self, blocks: Iterable[Block]) -> tuple[tuple[int, ...], ...]:
        known, new = self._by_id.get, self._number
        return tuple([tuple([known(id(v.type)) or new(v.type) for v in block.args]) for block in blocks])

    def _number(self, attribute: Attribute) -> int:
        """Give an attribute the number of those that are equal to it."""
        self._kept.append(attribute)
        number = self._by_id[id(attribute)] = self._numbers.setdefault(attribute, next(_unused))
        return number


@dataclass(frozen=True)
class Judge:
    """What is demanded of the operations of one class, in this order."""

    definitions: tuple[Demand, ...]
    """See only looks; those of traits as well."""

    each_time: tuple[Demand, ...]
    own: Demand | None
    """What the class demands, where that is a matter of looks; else it is demanded each time."""

    remembers: bool
    """Whether other operations are likely to look the same, and the looks are no load to keep."""

    verify: object
    traits: object
    """What this was made of: both can be replaced."""

    def __call__(self, op: Operation, looks: Looks) -> None:
        """
        Raises:
            VerifyException, Diagnostic: the operation is wrong.
        """
        seen = looks.of(op) if self.remembers else None
        known = seen is not None and seen in looks.right
        if not known:
            for demand in self.definitions:
                demand(op)
        for demand in self.each_time:
            demand(op)
        if known:
            return
        if self.own is not None:
            self.own(op)
        check_sizes(op)
        if seen is not None:
            looks.right.add(seen)


_judges: dict[type[Operation], Judge] = {}


def judge_of(kind: type[Operation]) -> Judge:
    """Who checks what a class of operations demands, but for what `verifier` checks of all operations."""
    judge = _judges.get(kind)
    if judge is None or judge.verify is not kind.verify_ or judge.traits is not kind.traits.traits:
        judge = _judges[kind] = _judge_of(kind)
    return judge


def _judge_of(kind: type[Operation]) -> Judge:
    traits = kind.traits.traits
    found, demand = _taken_apart(kind.verify_)
    if any(definition.traits.traits is not traits for definition in found):
        # A class made from another one with an own definition: nothing is known of how they go together.
        found, demand = [], kind.verify_
    # What lies outside of an isolated operation does not dominate what is in it.
    asked = [t for t in traits if type(t).verify is not OpTrait.verify and not isinstance(t, IsolatedFromAbove)]
    by_looks = [t.verify for t in asked if type(t) in SEEN_TRAITS] if found else []
    each_time = [t.verify for t in asked if type(t) not in SEEN_TRAITS] if found else []
    plain = bool(found) and not found[0].regions and _is_plain(kind)
    own = None if demand is Operation.verify_ else _quick_own(kind, demand)
    return Judge(
        definitions=(*map(definition_check, found), *by_looks),
        each_time=(*(_quick(kind, each) for each in each_time), *([own] if own is not None and not plain else [])),
        own=own if plain else None,
        remembers=bool(found) and _is_repeated(kind),
        verify=kind.verify_,
        traits=traits,
    )


CALLEES = {"func.call": "func.func", "llvm.call": "llvm.func"}
"""Calls, and what they are calls of."""


def _quick(kind: type[Operation], demand: Demand) -> Demand:
    """What a trait demands; of a call, whether its callee is there, by a table of symbols if all is well."""
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
