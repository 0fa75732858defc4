"""Patterns over data flow, with the names of TVM's `tvm.relay.dataflow_pattern`.

    x, w = wildcard(), wildcard()
    conv = is_op("nn.conv2d")(x, w).has_attr({"groups": 1})
    pattern = is_op("nn.relu")(conv | is_op("add")(conv, is_constant()))
    if (match := pattern.match(value)) is not None:
        data = match[x]

A pattern is matched against a value: what computes it, what computes the operands of that, and so on. A pattern object
that stands at several places of a pattern must match the same value at all of them. Alternatives are tried until the
whole pattern matches. `add` and `multiply` match with their operands in either order.

`rewrite` and `partition`, and callbacks, are in `dataflow_rewrite.py`.

Patterns of branches and of functions as values are in `control_patterns.py`. There is none of `let`: a value has one
name and any number of uses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias, TypeGuard, cast

from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from ....dialects.relay.base import Value, as_attribute, fusion_pattern, tensors_in
from ....dialects.relay.core import ConstantOp, FuncOp, TupleGetOp, TupleOp
from ....dialects.support.diagnostics import UsageError
from ....dialects.support.dtypes import scalar_type
from .match import Goal, Match, Pattern, find_match

COMMUTATIVE = frozenset({"relay.add", "relay.multiply"})
"""Operations whose two operands may be exchanged for a match; TVM's matcher has the same two."""


FUNCTION, APPLY = "relay.fn", "relay.apply"
"""A function value, and a call of one."""


class HasValue(Protocol):
    """What stands for a value, as expressions of Python do."""

    @property
    def value(self) -> SSAValue: ...


class HasName(Protocol):
    """An operator by its name, as what a call of Python calls."""

    @property
    def name(self) -> str: ...


Matchable: TypeAlias = "SSAValue | HasValue | FuncOp | HasName"
"""What a pattern is matched against: a value, an expression of Python, a function as a value, or an operator as what is
called."""


class PythonForms(ABC):
    """What patterns do with functions and expressions of Python; the frontend says it (`DFPattern.python`)."""

    @abstractmethod
    def as_value(self, expr: FuncOp) -> SSAValue:
        """A function as a value."""

    @abstractmethod
    def partition(
        self,
        pattern: DFPattern,
        expr: object,
        attributes: Mapping[str, Value] | None,
        check: Callable[[Any], bool] | None,
    ) -> Any:
        """An expression, or a function, with what matches put into regions."""


class DFPattern(Pattern):
    """Base of patterns. A pattern is equal to itself only: where it stands twice, it means the same value."""

    python: ClassVar[PythonForms | None] = None

    def match(self, value: Matchable) -> Match | None:
        """How a value, an expression of Python, a function, or an operator as what is called matches this pattern, or
        `None`.

        Raises:
            UsageError: it is none of these.
        """
        if isinstance(value, FuncOp):
            assert DFPattern.python is not None, "whoever writes functions in Python has imported weft.relay"
            value = DFPattern.python.as_value(value)
        if isinstance(value, SSAValue):
            return find_match(self, value)
        if hasattr(value, "value"):
            return find_match(self, cast("HasValue", value).value)
        if not hasattr(value, "name"):
            raise UsageError(f"a pattern is matched against an expression, a function or an operator, not {value!r}")
        return Match() if self.is_of_operator(cast("HasName", value).name) else None

    def is_of_operator(self, name: str) -> bool:
        """Whether this matches what calls the operator of a name, and says nothing of its operands."""
        return False

    def matches(self, value: Matchable) -> bool:
        """Whether `value` matches this pattern."""
        return self.match(value) is not None

    def partition(
        self, expr: Any, attrs: Mapping[str, Value] | None = None, check: Callable[[Any], bool] | None = None
    ) -> Any:
        """An expression of Python, or a function, with what matches put into regions of their own: TVM's
        `pattern.partition`; see `weft.relay.dataflow_pattern.partition`."""
        if DFPattern.python is None:
            raise UsageError("partition takes expressions of weft.relay; values are partitioned by rewrite.partition")
        return DFPattern.python.partition(self, expr, attrs, check)

    def __call__(self, *arguments: DFPattern | None) -> CallPattern:
        """An operation whose result matches this pattern, on operands that match `arguments`; one `None` for any
        number of any."""
        known = [argument for argument in arguments if argument is not None]
        if len(known) != len(arguments) != 1:
            raise UsageError("`None` stands alone in a call: it means any number of operands; wildcard() is any one")
        return CallPattern(self, known if known or not arguments else None)

    def __or__(self, other: DFPattern) -> AltPattern:
        return AltPattern(self, other)

    def __add__(self, other: DFPattern) -> CallPattern:
        return is_op("add")(self, other)

    def __sub__(self, other: DFPattern) -> CallPattern:
        return is_op("subtract")(self, other)

    def __mul__(self, other: DFPattern) -> CallPattern:
        return is_op("multiply")(self, other)

    def __truediv__(self, other: DFPattern) -> CallPattern:
        return is_op("divide")(self, other)

    def has_attr(self, attributes: Mapping[str, Value]) -> AttrPattern:
        """This pattern, on an operation with these attributes or properties. `"TOpPattern"` is its fusion pattern."""
        return AttrPattern(self, attributes)

    def has_type(self, type: Attribute) -> TypePattern:
        """This pattern, on a value of this type."""
        return TypePattern(self, type)

    def has_shape(self, shape: Sequence[int]) -> ShapePattern:
        """This pattern, on a tensor of this shape."""
        return ShapePattern(self, tuple(shape))

    def has_dtype(self, dtype: str) -> DataTypePattern:
        """This pattern, on a tensor with elements of this type, as in `"float32"`."""
        return DataTypePattern(self, dtype)

    def optional(self, option: Callable[[DFPattern], DFPattern]) -> AltPattern:
        """This pattern, or what `option` makes of it: `conv.optional(lambda x: is_op("nn.relu")(x))`."""
        return option(self) | self

    def dominates(self, parent: DFPattern, path: DFPattern | None = None) -> DominatorPattern:
        """This pattern, on a value that is computed from one that matches `parent`, through values that all match
        `path`, with no way around: see `DominatorPattern`."""
        return DominatorPattern(parent, wildcard() if path is None else path, self)


_YES: Sequence[Sequence[Goal]] = ((),)
_NO: Sequence[Sequence[Goal]] = ()


def _if(condition: bool) -> Sequence[Sequence[Goal]]:
    return _YES if condition else _NO


def defining_op(value: SSAValue) -> Operation | None:
    """The operation that a value is a result of."""
    return value.op if isinstance(value, OpResult) else None


def is_tensor(type: Attribute) -> TypeGuard[TensorType[Attribute]]:
    """Whether a type is that of tensors."""
    return isinstance(type, TensorType)


class WildcardPattern(DFPattern):
    """Any value."""

    def is_of_operator(self, name: str) -> bool:
        return True

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        return _YES


class ExprPattern(DFPattern):
    """One value, or a constant equal to it."""

    def __init__(self, value: SSAValue):
        self.value = value

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        mine, theirs = defining_op(self.value), defining_op(value)
        return _if(
            value is self.value
            or (isinstance(mine, ConstantOp) and isinstance(theirs, ConstantOp) and mine.value == theirs.value)
        )


class VarPattern(DFPattern):
    """A parameter of a function or block, of this name if one is given."""

    def __init__(self, name: str = ""):
        self.name = name

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        return _if(isinstance(value, BlockArgument) and self.name in ("", value.name_hint))


class ConstantPattern(DFPattern):
    """A constant."""

    root_ops = frozenset({ConstantOp.name})

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        return _if(isinstance(defining_op(value), ConstantOp))


class OpPattern(DFPattern):
    """A result of the operation of this name, whatever its operands; `relay.` may be left out."""

    def __init__(self, name: str):
        self.names = self.root_ops = frozenset({name, f"relay.{name}"})

    def is_of_operator(self, name: str) -> bool:
        return name in self.names

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        return _if((op := defining_op(value)) is not None and op.name in self.names)


class CallPattern(DFPattern):
    """A value that matches a pattern and is computed from operands that match others, or, with `None`, from any.

    A call of a function value is one of what its function matches."""

    def __init__(self, op: DFPattern, arguments: Sequence[DFPattern] | None):
        self.op = op
        self.arguments = None if arguments is None else tuple(arguments)
        self.root_ops = op.root_ops
        for outer, inner in (("divide", "multiply"), ("multiply", "divide")):
            if self._is_of(outer) and any(isinstance(a, CallPattern) and a._is_of(inner) for a in arguments or ()):
                self.root_ops = self.root_ops and self.root_ops | {f"relay.{inner}"}
        if op.root_ops is not None and FUNCTION in op.root_ops:
            self.root_ops = op.root_ops - {FUNCTION} | {APPLY}

    @property
    def args(self) -> tuple[DFPattern, ...] | None:
        """The patterns of the operands: TVM's name of `arguments`."""
        return self.arguments

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        op = defining_op(value)
        if op is not None and op.name == APPLY:
            callee, *given = op.operands
            if self.arguments is None:
                yield ((self.op, callee),)
            elif len(given) == len(self.arguments):
                yield ((self.op, callee), *zip(self.arguments, given, strict=True))
            return
        if op is not None:
            yield from self._associated(op)
        # What stands for the operator says nothing of one value: `relu(relu(x))` is about two of them.
        if op is None or not self.op.matches(value):
            return
        if self.arguments is None:
            yield ()
            return
        if len(op.operands) != len(self.arguments):
            return
        yield tuple(zip(self.arguments, op.operands, strict=True))
        if op.name in COMMUTATIVE:
            yield tuple(zip(self.arguments, reversed(op.operands), strict=True))

    def _associated(self, op: Operation) -> Iterator[Sequence[Goal]]:
        """How an operation matches this pattern where it multiplies and divides in another order: `a * b / c` is
        `a * (b / c)`, as in TVM; not of integers, whose quotients are rounded."""
        for outer, inner in (("divide", "multiply"), ("multiply", "divide")):
            if op.name != f"relay.{inner}" or not self._is_of(outer) or _is_of_integers(op):
                continue
            assert self.arguments is not None
            for place, part in enumerate(self.arguments):
                rest = self.arguments[1 - place]
                if not isinstance(part, CallPattern) or not part._is_of(inner) or (outer == "divide" and place):
                    continue
                assert part.arguments is not None
                first, second = part.arguments
                if outer == "divide":  # (first * second) / rest
                    forms = [(a, CallPattern(self.op, (b, rest))) for a, b in ((first, second), (second, first))]
                    orders = [tuple(op.operands), tuple(reversed(op.operands))]
                else:  # rest * (first / second)
                    forms, orders = [(CallPattern(self.op, (first, rest)), second)], [tuple(op.operands)]
                yield from (tuple(zip(form, order, strict=True)) for form in forms for order in orders)

    def _is_of(self, name: str) -> bool:
        """Whether this is the pattern of one operator on two operands."""
        named = isinstance(self.op, OpPattern) and f"relay.{name}" in self.op.names
        return named and self.arguments is not None and len(self.arguments) == 2


def _is_of_integers(op: Operation) -> bool:
    """Whether an operation is known to give integers."""
    return any(isinstance(each.element_type, IntegerType) for each in tensors_in(op.results[0].type))


class TuplePattern(DFPattern):
    """A tuple, with fields that match `fields` if any are given."""

    root_ops = frozenset({TupleOp.name})

    def __init__(self, fields: Sequence[DFPattern] | None = None):
        self.fields = None if fields is None else tuple(fields)

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        op = defining_op(value)
        if not isinstance(op, TupleOp):
            return _NO
        if self.fields is None:
            return _YES
        return [tuple(zip(self.fields, op.fields, strict=True))] if len(self.fields) == len(op.fields) else _NO


class TupleGetItemPattern(DFPattern):
    """A field of a tuple that matches `tuple`; of this index if one is given."""

    root_ops = frozenset({TupleGetOp.name})

    def __init__(self, tuple: DFPattern, index: int | None = None):
        self.tuple = tuple
        self.index = index

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        op = defining_op(value)
        if not isinstance(op, TupleGetOp) or self.index not in (None, op.index.value.data):
            return _NO
        return [((self.tuple, op.tuple),)]


class AltPattern(DFPattern):
    """What matches one of two patterns; the left one is tried first."""

    def __init__(self, left: DFPattern, right: DFPattern):
        self.left = left
        self.right = right
        if left.root_ops is not None and right.root_ops is not None:
            self.root_ops = left.root_ops | right.root_ops

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        return [((self.left, value),), ((self.right, value),)]

    def is_of_operator(self, name: str) -> bool:
        return self.left.is_of_operator(name) or self.right.is_of_operator(name)


class AttrPattern(DFPattern):
    """What matches a pattern and is computed by an operation with these attributes."""

    def __init__(self, pattern: DFPattern, attributes: Mapping[str, Value]):
        self.pattern = pattern
        self.attributes = dict(attributes)
        self.root_ops = pattern.root_ops

    @property
    def attrs(self) -> Mapping[str, Value]:
        """The attributes that are asked for: TVM's name of `attributes`."""
        return self.attributes

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        op = defining_op(value)
        has = op is not None and all(_has_attribute(op, name, wanted) for name, wanted in self.attributes.items())
        return [((self.pattern, value),)] if has else _NO


def _has_attribute(op: Operation, name: str, wanted: Value) -> bool:
    if name == "TOpPattern":
        return fusion_pattern(type(op)) == wanted
    actual = op.get_attr_or_prop(name)
    return actual is None if wanted is None else actual == as_attribute(wanted)


class TypePattern(DFPattern):
    """What matches a pattern and has this type."""

    def __init__(self, pattern: DFPattern, type: Attribute):
        self.pattern = pattern
        self.type = type
        self.root_ops = pattern.root_ops

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        return [((self.pattern, value),)] if value.type == self.type else _NO


class ShapePattern(DFPattern):
    """What matches a pattern and is a tensor of this shape."""

    def __init__(self, pattern: DFPattern, shape: tuple[int, ...]):
        self.pattern = pattern
        self.shape = shape
        self.root_ops = pattern.root_ops

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        has = is_tensor(type := value.type) and type.get_shape() == self.shape
        return [((self.pattern, value),)] if has else _NO


class DataTypePattern(DFPattern):
    """What matches a pattern and is a tensor with elements of this type."""

    def __init__(self, pattern: DFPattern, dtype: str):
        self.pattern = pattern
        self.dtype = dtype
        self.element_type = scalar_type(dtype)
        self.root_ops = pattern.root_ops

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        has = is_tensor(type := value.type) and type.element_type == self.element_type
        return [((self.pattern, value),)] if has else _NO


class DominatorPattern(DFPattern):
    """A value that matches `child`, with exactly one value above it that matches `parent`, such that

    * going up from the child, every operand is the parent or matches `path`, whose operands are again so;
    * whatever uses the parent, directly or not, is in between and leads to the child.

    So the child is where everything that begins at the parent comes together: a diamond, of any shape.
    """

    def __init__(self, parent: DFPattern, path: DFPattern, child: DFPattern):
        self.parent = parent
        self.path = path
        self.child = child
        self.root_ops = child.root_ops
        self._way = _DominatorWay(self)

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        return [((self.child, value), (self._way, value))]


class _DominatorWay(DFPattern):
    """The second part of a dominator pattern, when the child has been matched."""

    def __init__(self, whole: DominatorPattern):
        self._whole = whole

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        child = defining_op(value)
        if child is None:
            return _NO
        parents: set[SSAValue] = set()
        seen: set[SSAValue] = set()
        inside = {child: None}  # in the order in which they are found
        stack = [child]
        while stack:
            for operand in stack.pop().operands:
                if operand in seen:
                    continue
                seen.add(operand)
                if find_match(self._whole.parent, operand, match) is not None:
                    parents.add(operand)
                elif find_match(self._whole.path, operand, match) is None:
                    return _NO
                elif (op := defining_op(operand)) is not None:
                    inside[op] = None
                    stack.append(op)
        if len(parents) != 1 or not _all_uses_lead_to(child, parent := parents.pop(), inside):
            return _NO
        match.path.extend(op for op in inside if op is not child)
        return [((self._whole.parent, parent),)]


def _all_uses_lead_to(child: Operation, parent: SSAValue, inside: Mapping[Operation, None]) -> bool:
    """Whether whoever goes from `parent` along uses stays among the operations `inside` until `child`."""
    stack: list[SSAValue] = [parent]
    seen: set[Operation] = {child}
    while stack:
        for use in stack.pop().uses:
            if (op := use.operation) in seen:
                continue
            if op not in inside:
                return False
            seen.add(op)
            stack.extend(op.results)
    return True


def wildcard() -> WildcardPattern:
    """Any value."""
    return WildcardPattern()


def is_expr(value: SSAValue) -> ExprPattern:
    """This value, or a constant equal to it."""
    return ExprPattern(value)


def is_var(name: str = "") -> VarPattern:
    """A parameter, of this name if one is given."""
    return VarPattern(name)


def is_constant() -> ConstantPattern:
    """A constant."""
    return ConstantPattern()


def is_op(name: str) -> OpPattern:
    """A result of the operation of this name; `is_op("add")(a, b)` also says what its operands match."""
    return OpPattern(name)


def is_tuple(fields: Sequence[DFPattern] | None = None) -> TuplePattern:
    """A tuple of these fields, or any."""
    return TuplePattern(fields)


def is_tuple_get_item(tuple: DFPattern, index: int | None = None) -> TupleGetItemPattern:
    """A field of a tuple; of this index if one is given."""
    return TupleGetItemPattern(tuple, index)


def has_attr(attributes: Mapping[str, Value], pattern: DFPattern | None = None) -> AttrPattern:
    """A value computed by an operation with these attributes."""
    return AttrPattern(pattern or wildcard(), attributes)


def has_type(type: Attribute, pattern: DFPattern | None = None) -> TypePattern:
    """A value of this type."""
    return TypePattern(pattern or wildcard(), type)


def has_shape(shape: Sequence[int], pattern: DFPattern | None = None) -> ShapePattern:
    """A tensor of this shape."""
    return ShapePattern(pattern or wildcard(), tuple(shape))


def has_dtype(dtype: str, pattern: DFPattern | None = None) -> DataTypePattern:
    """A tensor with elements of this type, as in `"float32"`."""
    return DataTypePattern(pattern or wildcard(), dtype)


def dominates(parent: DFPattern, path: DFPattern, child: DFPattern) -> DominatorPattern:
    """A value that matches `child` and is dominated by one that matches `parent`; see `DominatorPattern`."""
    return DominatorPattern(parent, path, child)
