"""Which operand a type relation fails because of, and what it should have been.

No relation says this itself. When one fails, it is asked again, with one tensor among the operands of another type each
time: with another extent, other elements, another rank. Where the relation holds with one of these, that tensor is what
does not fit, and its type there is what was expected. The least change is taken. Of two operands that do not fit one
another, each could be changed as well as the other, and the later is named, as the data comes before the weight.

Asked only when the exception's `blame` is, and so not by a pass that only tries something.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseArrayBase,
    Float16Type,
    IntegerAttr,
    IntegerType,
    Signedness,
    TensorType,
    TupleType,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.irdl import IRDLOperation, OptOperandDef, VarOperandDef

from ..support.blame import Blame, OperandError
from .shapes import DYNAMIC, Tensor
from .types import tuple_type

ELEMENTS: tuple[Attribute, ...] = (
    f32,
    Float16Type(),
    BFloat16Type(),
    f64,
    i32,
    i64,
    i8,
    IntegerType(8, Signedness.UNSIGNED),
    i16,
    i1,
    *(IntegerType(width, Signedness.UNSIGNED) for width in (16, 32, 64)),
)
"""The element types that are tried, beside those of the other operands."""

MAX_RANK = 6
"""Higher ranks are not tried."""

UNHEARD_OF = 10007
"""An extent that nothing asks for: where it does, the extent does not matter."""

MAX_TENSORS = 16
"""Of operators on more, these are looked at."""

Path: TypeAlias = tuple[int, ...]
"""Of a tensor among the operands: the operand's number, then those of fields of tuples."""

Paths: TypeAlias = tuple[Path, ...]
"""Of tensors that are changed together."""


class RelationError(OperandError):
    """What the type relation of an operator says of operands that do not fit it."""

    def __init__(self, op: IRDLOperation, infer: Callable[[IRDLOperation], object], message: str):
        super().__init__(message, None)
        self._relation = _Relation(type(op), infer, tuple(op.operands), dict(op.properties), message)

    @cached_property
    def _found(self) -> Blame | None:
        return self._relation.blame()

    @property
    def blame(self) -> Blame | None:
        return self._found

    @property
    def value(self) -> SSAValue | None:
        return None if self._found is None else self._relation.operands[self._found.operand]


@dataclass(frozen=True)
class _Finding:
    """A change of tensors with which the relation holds."""

    paths: tuple[Path, ...]
    expected: str
    is_definite: bool = True

    def order(self) -> tuple[bool, list[int]]:
        """Sorts findings, the best one first."""
        return not self.is_definite, [-n if self.is_definite else n for n in self.paths[0]]


@dataclass(frozen=True)
class _Relation:
    """The type relation of an operator that may not be there any more, and what it said."""

    kind: type[IRDLOperation]
    infer: Callable[[IRDLOperation], object]
    operands: tuple[SSAValue, ...]
    properties: Mapping[str, Attribute]
    message: str

    def blame(self) -> Blame | None:
        """The operand with the least change that makes the relation hold; `None` if no change of a single one does, or
        of several that have one type."""
        tensors = dict(list(self._tensors())[:MAX_TENSORS])
        alike: dict[Tensor, list[Path]] = {}
        for path, type in tensors.items():
            alike.setdefault(type, []).append(path)
        for sets in ([(path,) for path in tensors], [tuple(paths) for paths in alike.values() if len(paths) > 1]):
            for changes in (_extents, _elements, _shapes, _ranks, _all):
                found = [each for paths in sets for each in changes(self, paths, tensors[paths[0]], tensors)]
                if found:
                    return self._blamed(min(found, key=_Finding.order), tensors)
        return None

    def _blamed(self, finding: _Finding, tensors: Mapping[Path, Tensor]) -> Blame | None:
        path, number = finding.paths[0], finding.paths[0][0]
        if not finding.is_definite and any(self.message.startswith(f"'{name}'") for name in self.properties):
            return None  # what is said is wrong with a property, whatever the operand
        field = list(self._paths(number)).index(path) if len(path) > 1 else None
        return Blame(number, self._name(number), finding.expected, str(tensors[path]), field)

    def holds(self, paths: Sequence[Path], type: Attribute) -> bool:
        """Whether the relation holds with the tensors at `paths` of another type."""
        types: dict[int, Attribute] = {}
        for number, *fields in paths:
            types[number] = _changed(types.get(number, self.operands[number].type), fields, type)
        changed = dict(zip(types, Block(arg_types=types.values()).args, strict=True))
        operands = [changed.get(number, operand) for number, operand in enumerate(self.operands)]
        unknown = [TensorType(i1, [])] * len(self.kind.get_irdl_definition().results)
        probe = self.kind.create(operands=operands, result_types=unknown, properties=self.properties)
        try:
            self.infer(probe)
        except Exception:  # of whatever kind: a relation may take for granted what is not so here
            return False
        finally:
            probe.drop_all_references()
        return True

    def _tensors(self) -> Iterator[tuple[Path, Tensor]]:
        for number in range(len(self.operands)):
            for path in self._paths(number):
                if isinstance(type := _at(self.operands[number].type, path[1:]), TensorType):
                    yield path, cast(Tensor, type)

    def _paths(self, number: int) -> Iterator[Path]:
        pending: list[tuple[Path, Attribute]] = [((number,), self.operands[number].type)]
        while pending:
            path, type = pending.pop(0)
            if isinstance(type, TupleType):
                pending[:0] = [((*path, n), each) for n, each in enumerate(type.types.data)]
            else:
                yield path

    def _name(self, number: int) -> str:
        """The name that the operator's class has for an operand."""
        definitions = self.kind.get_irdl_definition().operands
        sizes = self.properties.get("operandSegmentSizes")
        if isinstance(sizes, DenseArrayBase):
            lengths = [int(n) for n in sizes.get_values()]
        else:
            given = len(self.operands) - sum(not isinstance(each, VarOperandDef) for _, each in definitions)
            lengths = [given if isinstance(each, VarOperandDef) else 1 for _, each in definitions]
            if given < 0:  # of an optional operand that is not there
                lengths = [0 if isinstance(each, OptOperandDef) else 1 for _, each in definitions]
        for (name, definition), length in zip(definitions, lengths, strict=True):
            if number < length:
                several = isinstance(definition, VarOperandDef) and not isinstance(definition, OptOperandDef)
                return f"{name}[{number}]" if several else name
            number -= length
        return str(number)

    @cached_property
    def extents(self) -> list[int]:
        """The extents that are tried: those of operands, and numbers in properties and in what is said."""
        found = {1, *(int(n) for n in re.findall(r"\b\d{1,9}\b", self.message))}
        for _, type in self._tensors():
            found.update(n for n in type.get_shape() if n != DYNAMIC)
        for each in self.properties.values():
            if isinstance(each, IntegerAttr):
                found.add(each.value.data)
            elif isinstance(each, DenseArrayBase):
                found.update(int(n) for n in each.get_values())
        return sorted(n for n in found if n >= 0)[:24]


def _at(type: Attribute, fields: Sequence[int]) -> Attribute:
    for n in fields:
        assert isinstance(type, TupleType)
        type = type.types.data[n]
    return type


def _changed(type: Attribute, fields: Sequence[int], other: Attribute) -> Attribute:
    """`type` with another one where a field of it is."""
    if not fields:
        return other
    assert isinstance(type, TupleType)
    types: list[Attribute] = list(type.types.data)
    types[fields[0]] = _changed(types[fields[0]], fields[1:], other)
    return tuple_type(*types)


def _extents(relation: _Relation, paths: Paths, type: Tensor, tensors: Mapping[Path, Tensor]) -> Iterator[_Finding]:
    """Another extent in one dimension."""
    shape = type.get_shape()
    for d, own in enumerate(shape):

        def changed(n: int, d: int = d) -> Tensor:
            return TensorType(type.element_type, [*shape[:d], n, *shape[d + 1 :]])

        def fits(n: int, changed: Callable[[int], Tensor] = changed) -> bool:
            return relation.holds(paths, changed(n))

        if own == DYNAMIC:
            continue
        found = [n for n in relation.extents if n != own and fits(n)]
        told = [n for n in found if n > 1] or found  # 1 does wherever operands broadcast
        if len(told) == 1 and not any(map(fits, {own - 1, own + 1, 2 * told[0], UNHEARD_OF} - {-1, own, *found})):
            yield _Finding(paths, str(changed(told[0])))
        elif found or fits(DYNAMIC):
            yield _Finding(paths, f"another extent in dimension {d}", is_definite=False)


def _elements(relation: _Relation, paths: Paths, type: Tensor, tensors: Mapping[Path, Tensor]) -> Iterator[_Finding]:
    """Other elements."""
    shape = type.get_shape()
    others = [each.element_type for path, each in tensors.items() if path not in paths]
    for other in dict.fromkeys(others):
        if other != type.element_type and relation.holds(paths, changed := TensorType(other, shape)):
            yield _Finding(paths, str(changed))
            return
    fitting = [one for one in ELEMENTS if one != type.element_type and relation.holds(paths, TensorType(one, shape))]
    if len(fitting) == 1:
        yield _Finding(paths, str(TensorType(fitting[0], shape)))
    elif fitting:
        yield _Finding(paths, f"elements of {_any(fitting)}", is_definite=False)


def _shapes(relation: _Relation, paths: Paths, type: Tensor, tensors: Mapping[Path, Tensor]) -> Iterator[_Finding]:
    """The type of another operand of this rank, or other extents in all dimensions."""
    rank = type.get_num_dims()
    for path, other in tensors.items():
        is_another = path not in paths and other != type and other.get_num_dims() == rank
        if is_another and relation.holds(paths, other):
            yield _Finding(paths, str(other))
            return
    if rank and relation.holds(paths, TensorType(type.element_type, [DYNAMIC] * rank)):
        yield _Finding(paths, "other extents", is_definite=False)


def _ranks(relation: _Relation, paths: Paths, type: Tensor, tensors: Mapping[Path, Tensor]) -> Iterator[_Finding]:
    """Another rank."""
    extents = (DYNAMIC, *relation.extents)
    fitting = [
        rank
        for rank in range(MAX_RANK + 1)
        if rank != type.get_num_dims()
        and any(relation.holds(paths, TensorType(type.element_type, [n] * rank)) for n in extents)
    ]
    if len(fitting) > 2 and fitting == [*range(fitting[0], MAX_RANK + 1)]:
        yield _Finding(paths, f"a tensor of rank {fitting[0]} or more", is_definite=False)
    elif fitting:
        yield _Finding(paths, f"a tensor of rank {_any(fitting)}", is_definite=len(fitting) == 1)


def _all(relation: _Relation, paths: Paths, type: Tensor, tensors: Mapping[Path, Tensor]) -> Iterator[_Finding]:
    """Other elements and another rank, or other extents."""
    for element in dict.fromkeys((*(each.element_type for each in tensors.values()), *ELEMENTS)):
        for rank in range(MAX_RANK + 1):
            if relation.holds(paths, changed := TensorType(element, [DYNAMIC] * rank)):
                yield _Finding(paths, str(changed), is_definite=False)
                return


def _any(choices: Sequence[object]) -> str:
    *first, last = map(str, choices)
    return f"{', '.join(first)} or {last}" if first else last
