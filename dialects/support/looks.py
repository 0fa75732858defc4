"""What operations look like, and which looks were found right.

The looks of an operation are what its definition can see: its class, the types of operands and results, properties and
attributes, the arguments of its regions and successors. To compare attributes takes long, and many operations share
one: so a look has a number for each. First that is the attribute's `id`, which takes no time to find, and of which
two operations with the same attributes have the same; else equal attributes are one number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any, TypeAlias, TypeVar

from xdsl.ir import Attribute, Block, Operation

from .insides import operands_of, successors_of, type_of

Number: TypeAlias = Callable[[Attribute], int]
"""The number of an attribute: `id`, for as long as it is there, or `Looks.number`."""
Look: TypeAlias = tuple[object, ...]
Looking: TypeAlias = Callable[[Operation, Number], "Look | None"]
"""The look of an operation; `None` where it has to be asked."""

Sight: TypeAlias = Callable[[Any], "Sequence[Attribute] | None"]
"""What `verify_` looks at beside the look of an operation; `None` where that cannot be said of it. It is asked before
the operation is known to be as its definition says."""
Verify = TypeVar("Verify", bound=Callable[..., None])

MAX_LOOKS = 40_000

_SIGHTS: dict[object, Sight] = {}


def nothing_more(op: Operation) -> Sequence[Attribute]:
    """Of a `verify_` that looks at nothing but the look."""
    return ()


def by_looks(beside: Sight = nothing_more) -> Callable[[Verify], Verify]:
    """Say of a `verify_` that it judges by the look of an operation, and by what is `beside` that, so that it is asked
    once for all that look the same."""

    def said(verify: Verify) -> Verify:
        _SIGHTS[verify] = beside
        return verify

    return said


def sight_of(verify: Callable[..., None]) -> Sight | None:
    """What was said of a `verify_`; `None` where nothing was: it is asked each time."""
    return _SIGHTS.get(verify)


def plain_look(op: Operation, number: Number) -> Look | None:
    """The look of an operation without regions and successors; `None` of another."""
    if op.regions or successors_of(op):
        return None
    return bare_look(op, number)


def bare_look(op: Operation, number: Number) -> Look:
    """The look of an operation but for its regions and successors."""
    look: list[object] = [number(type_of(operand)) for operand in operands_of(op)]
    look.append(type(op))
    for result in op.results:
        look.append(number(type_of(result)))
    if properties := op.properties:
        look += properties
        look += map(number, properties.values())
    if attributes := op.attributes:
        look.append(None)
        look += attributes
        look += map(number, attributes.values())
    return tuple(look)


def look_without_value(op: Operation, number: Number) -> Look | None:
    """The look of a constant: of its value only the kind and the type, if it has one."""
    if op.regions or successors_of(op):
        return None
    look: list[object] = [number(operand.type) for operand in op.operands]
    look.append(type(op))
    look += [number(result.type) for result in op.results]
    for name, value in op.properties.items():
        if name != "value":
            look += (name, number(value))
        elif isinstance(kind := getattr(value, "type", None), Attribute):
            look += (type(value), number(kind))
        else:
            look += (type(value), name)
    look.append(None)
    for name, value in op.attributes.items():
        look += (name, number(value))
    return tuple(look)


def look_of_operands(op: Operation, number: Number) -> Look:
    """The look of an operation of which the results are not known yet."""
    look: list[object] = [number(type_of(operand)) for operand in operands_of(op)]
    look.append(type(op))
    for named in (op.properties, op.attributes):
        look += named
        look += map(number, named.values())
        look.append(None)
    return tuple(look)


def look_of_arguments(blocks: Sequence[Block], number: Number) -> Look:
    """What blocks take."""
    return tuple([tuple([number(argument.type) for argument in block.args]) for block in blocks])


def look_within(op: Operation, number: Number) -> Look | None:
    """What stands around what is in the regions of an operation: what they take, and which operation is their last;
    `None` where one has several blocks."""
    found: list[object] = []
    for region in op.regions:
        if (block := region.first_block) is not region.last_block:
            return None
        if block is not None:
            last = block.last_op
            found += (None if last is None else type(last), *[number(argument.type) for argument in block.args])
        found.append(None)
    return tuple(found)


def look_around(op: Operation, number: Number) -> Look | None:
    """Where a terminator stands, and what is taken where it leads to; `None` where it cannot stand or lead there."""
    block = op.parent
    if block is None or op.next_op is not None or (region := block.parent) is None:
        return None
    successors = successors_of(op)
    if any([successor.parent is not region for successor in successors]):
        return None
    return type(region.parent), *look_of_arguments(successors, number)


class _Known:
    """Looks that were found right."""

    def __init__(self) -> None:
        self.right: set[Look | None] = set()
        """With the `id` of each attribute."""
        self.alike: set[Look] = set()
        """With a number for equal ones."""
        self.numbers: dict[Attribute, int] = {}
        self.by_id: dict[int, int] = {}
        self.kept: list[Attribute] = []
        """The attributes of `by_id`, so that no other gets the `id` of one."""


_known = _Known()
_unused = count(1)
"""Numbers that no attribute has had."""


def forget_looks() -> None:
    """Ask for all again, whoever has asked before."""
    _known.right.clear()
    _known.alike.clear()


class Looks:
    """What operations look like, for as long as nothing changes them."""

    def __init__(self) -> None:
        global _known
        if len(_known.alike) + len(_known.numbers) > MAX_LOOKS:
            _known = _Known()  # whoever is at work has the old one still
        if len(_known.by_id) + len(_known.right) > 2 * MAX_LOOKS:
            _known.by_id, _known.kept, _known.right = {}, [], set()
        known = _known
        self.right = known.right
        """The looks that were found right, with the `id` of each attribute."""
        self.alike = known.alike
        """The same, with a number for equal attributes."""
        self._numbers = known.numbers
        self._by_id = known.by_id
        self._kept = known.kept

    def number(self, attribute: Attribute) -> int:
        """Equal attributes have the same."""
        if (known := self._by_id.get(id(attribute))) is not None:
            return known
        self._kept.append(attribute)
        number = self._by_id[id(attribute)] = self._numbers.setdefault(attribute, next(_unused))
        return number

    def keep(self, attributes: Iterable[Attribute]) -> None:
        """Let no other attribute get the `id` of one of these."""
        self._kept.extend(attributes)
