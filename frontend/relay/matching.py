"""`relay.Match` in Python: clauses of patterns, and what of a value none of them is for.

    relay.Match(l, [relay.Clause(relay.PatternConstructor(cons, [relay.PatternVar(x), relay.PatternWildcard()]), x),
                    relay.Clause(relay.PatternWildcard(), otherwise)])

Patterns within patterns become matches within cases: in each case stand the clauses that are possible there, in their
order, up to the first that is for whatever is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from xdsl.dialects.builtin import TupleType, UnitAttr
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects.relay.core import TupleGetOp, TupleOp, YieldOp
from ...dialects.relay.data import DEFAULT, AdtOp, MatchOp
from ...dialects.relay.types import AdtType, IncompleteType, either, instance, merged, tuple_type
from ...dialects.support.arguments import checked, checked_methods
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.retyping import retype
from .data import Constructor, TypeData
from .expr import Expr, Operand, Var, as_value, completed, copied


class Pattern:
    """A form of values."""


@dataclass(frozen=True)
class PatternWildcard(Pattern):
    """Any value."""


@dataclass(frozen=True)
class PatternVar(Pattern):
    """Any value, which the clause sees as `var`."""

    var: Var


@checked_methods
@dataclass(frozen=True)
class PatternConstructor(Pattern):
    """What a constructor made of fields that have the forms of patterns; of any fields, without patterns.

    Raises:
        UsageError: there are patterns for another number of fields.
    """

    constructor: Constructor
    patterns: Sequence[Pattern] = ()

    def __post_init__(self) -> None:
        wanted, given = len(self.constructor.inputs), len(self.patterns)
        if not given:
            object.__setattr__(self, "patterns", [PatternWildcard()] * wanted)
        elif given != wanted:
            raise UsageError(f"{self.constructor!r} has {wanted} fields, not {given}")


@dataclass(frozen=True)
class PatternTuple(Pattern):
    """A tuple of values that have the forms of patterns."""

    patterns: Sequence[Pattern] = ()


@dataclass(frozen=True)
class Clause:
    """What a match gives of values that a pattern is for."""

    lhs: Pattern
    rhs: Operand


@checked
def match(data: Operand, clauses: Sequence[Clause], complete: bool = True) -> Expr:
    """What the first clause gives whose pattern `data` has.

    Args:
        data: the value.
        clauses: in the order in which they are looked at.
        complete: whether a module is refused where a value may have no clause; else it fails when it meets one.

    Raises:
        UsageError: a pattern is for tuples of another length than the values have, or there is no clause.
    """
    value = as_value(data)
    if not clauses:
        raise UsageError("a match has a clause at least")
    block = Block()
    _decide([_Row([(value, each.lhs)], {}, as_value(each.rhs)) for each in clauses], block, complete)
    end = block.last_op
    assert isinstance(end, YieldOp)
    (result,) = end.operands
    for op in reversed(list(block.ops)):
        op.detach()
    end.drop_all_references()
    completed([result])
    return Expr(result)


@dataclass(frozen=True)
class _Row:
    """A clause: the forms that values must have yet, and what its variables are."""

    patterns: Sequence[tuple[SSAValue, Pattern]]
    bound: Mapping[SSAValue, SSAValue]
    body: SSAValue

    def simplified(self, block: Block, apart: dict[SSAValue, Sequence[SSAValue]]) -> _Row:
        """Without forms that any value has; tuples that are not `apart` are taken apart in `block`."""
        left: list[tuple[SSAValue, Pattern]] = []
        bound = dict(self.bound)
        pending = list(reversed(self.patterns))
        while pending:
            value, pattern = pending.pop()
            match pattern:
                case PatternVar(var):
                    retype(value, merged(value.type, var.value.type))
                    bound[var.value] = value
                case PatternTuple(patterns):
                    fields = _fields(value, len(patterns), block, apart)
                    pending += reversed(list(zip(fields, patterns, strict=True)))
                case PatternConstructor():
                    left.append((value, pattern))
                case _:
                    pass
        return replace(self, patterns=left, bound=bound)

    def constructor_of(self, value: SSAValue) -> Constructor | None:
        """The constructor that has to have made a value; `None` if any may."""
        found = [each for v, each in self.patterns if v is value]
        return found[0].constructor if found and isinstance(found[0], PatternConstructor) else None

    def within(self, value: SSAValue, fields: Sequence[SSAValue]) -> _Row:
        """What is left where `value` is known to be made of `fields`."""
        left: list[tuple[SSAValue, Pattern]] = []
        for v, pattern in self.patterns:
            if v is value and isinstance(pattern, PatternConstructor):
                left += zip(fields, pattern.patterns, strict=True)
            else:
                left.append((v, pattern))
        return replace(self, patterns=left)


def _fields(value: SSAValue, count: int, block: Block, apart: dict[SSAValue, Sequence[SSAValue]]) -> Sequence[SSAValue]:
    """The fields of a tuple, taken out of it in `block`, once for all clauses: what one says of a field, the next ones
    know."""
    if value in apart and len(apart[value]) == count:
        return apart[value]
    if isinstance(owner := value.owner, TupleOp) and len(owner.fields) == count:
        return list(owner.fields)
    retype(value, merged(value.type, tuple_type(*[IncompleteType()] * count)))
    if not isinstance(type := value.type, TupleType) or len(type.types) != count:
        raise UsageError(f"a pattern of a tuple of {count} is not for values of type {type}")
    made = [TupleGetOp(value, index) for index in range(count)]
    block.add_ops(made)
    apart[value] = [each.result for each in made]
    return apart[value]


def _common(one: Attribute, other: Attribute) -> Attribute:
    """The type of what two clauses give.

    Raises:
        UsageError: there is none.
    """
    if (found := either(one, other)) is None:
        raise UsageError(f"the clauses of a Match are of the types {one} and {other}")
    return found


def _decide(
    rows: Sequence[_Row], block: Block, complete: bool, known: Mapping[SSAValue, Sequence[SSAValue]] | None = None
) -> None:
    """Write into `block` which of `rows` is taken, and what it gives; the fields of some tuples are known in it."""
    apart = dict(known or {})
    rows = [row.simplified(block, apart) for row in rows]
    first = rows[0]
    if not first.patterns:
        copied([first.body], dict(first.bound), YieldOp, block)
        return
    value = first.patterns[0][0]
    looked_at = first.constructor_of(value)
    assert looked_at is not None
    definition = looked_at.belong_to.definition()
    if isinstance(value.type, AdtType) and value.type.symbol != definition.header.name_hint:
        raise UsageError(f"a pattern of {looked_at!r} is not for values of type {value.type}")
    (type,) = instance([definition.type], [value.type])
    retype(value, merged(value.type, type))
    named = [each for each in definition.constructors if any(row.constructor_of(value) == each for row in rows)]
    cases: dict[str, Region] = {}
    for constructor in named:
        nothing = [IncompleteType()] * len(constructor.inputs)
        *fields, _ = instance([*constructor.inputs, definition.type], [*nothing, value.type])
        inner = Block(arg_types=fields)
        possible = [row for row in rows if row.constructor_of(value) in (None, constructor)]
        _decide([row.within(value, inner.args) for row in possible], inner, complete, apart)
        cases[constructor.name_hint] = Region(inner)
    others = [row for row in rows if row.constructor_of(value) is None]
    if others and len(named) < len(definition.constructors):
        inner = Block()
        _decide(others, inner, complete, apart)
        cases[DEFAULT] = Region(inner)
    given = [end.operands[0].type for region in cases.values() if (end := region.block.last_op) is not None]
    made = MatchOp(value, [reduce(_common, given)], cases)
    if not complete:
        made.partial = UnitAttr()
    block.add_ops([made, YieldOp(made.res[0])])


def unmatched_patterns(op: MatchOp, definitions: Mapping[str, AdtOp]) -> list[Pattern]:
    """The forms of values that a match, with those within its cases that look at parts of the same value, has no case
    for."""
    made = {name: TypeData.of(definition) for name, definition in definitions.items()}
    return list(_unmatched(op, op.data, {}, made))


def _unmatched(
    op: MatchOp,
    root: SSAValue,
    known: Mapping[SSAValue, tuple[Constructor, Sequence[SSAValue]]],
    definitions: Mapping[str, TypeData],
) -> Iterator[Pattern]:
    type = op.data.type
    if not isinstance(type, AdtType) or type.symbol not in definitions:
        return
    regions = dict(zip(op.names, op.regions, strict=True))
    for constructor in definitions[type.symbol].constructors:
        region = regions.get(constructor.name_hint, regions.get(DEFAULT))
        if region is None:
            yield _form(root, {**known, op.data: (constructor, ())})
            continue
        fields = region.block.args if constructor.name_hint in regions else ()
        inside = {**known, op.data: (constructor, fields)}
        end = region.block.last_op
        for value in end.operands if end is not None else ():
            inner = value.owner
            if isinstance(inner, MatchOp) and inner.data not in inside and _is_part(inner.data, root, inside):
                yield from _unmatched(inner, root, inside, definitions)


def _is_part(value: SSAValue, root: SSAValue, known: Mapping[SSAValue, tuple[Constructor, Sequence[SSAValue]]]) -> bool:
    """Whether a value is a field of one whose constructor is known, or of a tuple that is."""
    if isinstance(owner := value.owner, TupleGetOp):
        return _is_part(owner.tuple, root, known)
    return value is root or any(value is field for _, fields in known.values() for field in fields)


def _form(value: SSAValue, known: Mapping[SSAValue, tuple[Constructor, Sequence[SSAValue]]]) -> Pattern:
    if value not in known:
        return PatternWildcard()
    constructor, fields = known[value]
    return PatternConstructor(constructor, [_form(each, known) for each in fields])
