"""Patterns over data flow on expressions, under TVM's names: `weft.relay.dataflow_pattern`.

    class AddSelfToDouble(DFPatternCallback):
        def __init__(self):
            super().__init__()
            self.x = wildcard()
            self.pattern = self.x + self.x

        def callback(self, pre, post, node_map):
            return relay.multiply(node_map[self.x][0], relay.const(2.0))

    changed = rewrite(AddSelfToDouble(), expr)

The patterns are those of `weft.transforms.relay.dataflow.pattern`; here `match`, `rewrite` and `partition` take
expressions and functions, and give new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ...dialects.relay.base import Value
from ...dialects.relay.core import FuncOp
from ...dialects.relay.types import is_complete
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from ...transforms.relay.dataflow import pattern as _patterns
from ...transforms.relay.dataflow import rewrite as _rewriting
from ...transforms.relay.dataflow.control_patterns import FunctionPattern as FunctionPattern
from ...transforms.relay.dataflow.control_patterns import IfPattern as IfPattern
from ...transforms.relay.dataflow.control_patterns import is_if as is_if
from ...transforms.relay.dataflow.match import Match, Pattern
from ...transforms.relay.dataflow.pattern import AltPattern as AltPattern
from ...transforms.relay.dataflow.pattern import AttrPattern as AttrPattern
from ...transforms.relay.dataflow.pattern import CallPattern as CallPattern
from ...transforms.relay.dataflow.pattern import ConstantPattern as ConstantPattern
from ...transforms.relay.dataflow.pattern import DataTypePattern as DataTypePattern
from ...transforms.relay.dataflow.pattern import DFPattern as DFPattern
from ...transforms.relay.dataflow.pattern import DominatorPattern as DominatorPattern
from ...transforms.relay.dataflow.pattern import ShapePattern as ShapePattern
from ...transforms.relay.dataflow.pattern import TupleGetItemPattern as TupleGetItemPattern
from ...transforms.relay.dataflow.pattern import TuplePattern as TuplePattern
from ...transforms.relay.dataflow.pattern import TypePattern as TypePattern
from ...transforms.relay.dataflow.pattern import VarPattern as VarPattern
from ...transforms.relay.dataflow.pattern import WildcardPattern as WildcardPattern
from ...transforms.relay.dataflow.pattern import dominates as dominates
from ...transforms.relay.dataflow.pattern import has_attr as has_attr
from ...transforms.relay.dataflow.pattern import has_dtype as has_dtype
from ...transforms.relay.dataflow.pattern import has_shape as has_shape
from ...transforms.relay.dataflow.pattern import has_type as has_type
from ...transforms.relay.dataflow.pattern import is_constant as is_constant
from ...transforms.relay.dataflow.pattern import is_op as is_op
from ...transforms.relay.dataflow.pattern import is_tuple as is_tuple
from ...transforms.relay.dataflow.pattern import is_tuple_get_item as is_tuple_get_item
from ...transforms.relay.dataflow.pattern import is_var as is_var
from ...transforms.relay.dataflow.pattern import wildcard as wildcard
from .applying import applied
from .expr import Expr, Operand, as_value, expr_of, operations_of


class ExprPattern(_patterns.ExprPattern):
    """One expression, or a constant equal to it."""

    @property
    def expr(self) -> Expr:
        """The expression."""
        return expr_of(self.value)


@checked
def is_expr(expr: Operand) -> ExprPattern:
    """A pattern of one expression, or of a constant equal to it."""
    return ExprPattern(as_value(expr))


@checked
def match(pattern: DFPattern, expr: FuncOp | Operand) -> bool:
    """Whether an expression, or a function as a value, matches."""
    return pattern.matches(as_value(expr))


class NodeMap(Mapping[Pattern, list[Expr]]):
    """What each pattern of a match has matched: a list of one expression, as TVM gives it."""

    def __init__(self, found: Match):
        self._found = found

    def __getitem__(self, pattern: Pattern) -> list[Expr]:
        return [expr_of(self._found[pattern])]

    def __iter__(self) -> Iterator[Pattern]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


class MatchedExpr(Expr):
    """An expression that matched a pattern; indexed by a part of the pattern, it gives the value of that."""

    _found: Match

    @checked
    def __init__(self, found: Match, pattern: DFPattern):
        super().__init__(found[pattern])
        object.__setattr__(self, "_found", found)

    def __getitem__(self, index: int | Pattern) -> Any:
        """Field `index` of a tuple, or the value that a part of the pattern has matched."""
        return self._found[index] if isinstance(index, Pattern) else super().__getitem__(index)


class DFPatternCallback:
    """What to put in the place of matches of `pattern`, which a subclass sets.

    Args:
        require_type: accepted for TVM's sake; types are always known.
        rewrite_once: do not apply it to what it has made.
    """

    pattern: DFPattern

    def __init__(self, require_type: bool = False, rewrite_once: bool = False):
        self.require_type, self.rewrite_once = require_type, rewrite_once

    def callback(self, pre: Expr, post: Expr, node_map: NodeMap) -> Expr:
        """The expression to have in the place of one that matched; `post` to leave it.

        `pre` and `post` are one here: operands are what they are.
        """
        raise NotImplementedError(f"{type(self).__name__} has no `callback`")

    def rewrite(self, expr: FuncOp | Operand) -> FuncOp | Expr:
        """An expression, or a function, with what matches replaced."""
        return rewrite(self, expr)


class _Adapted(_rewriting.DFPatternCallback):
    """A callback on expressions, as one on values."""

    def __init__(self, of: DFPatternCallback):
        super().__init__(getattr(of, "rewrite_once", False))
        self.of, self.pattern = of, of.pattern

    def callback(self, value: SSAValue, match: Match, rewriter: PatternRewriter) -> SSAValue | None:
        post = expr_of(value)
        new = self.of.callback(post, post, NodeMap(match))
        if not isinstance(new, Expr):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"{type(self.of).__name__}.callback gives no expression, but {new!r}")
        if new.value is value:
            return None
        known = is_complete(new.value.type) and is_complete(value.type)
        if known and new.value.type != value.type:
            raise UsageError(
                f"{type(self.of).__name__}.callback gives a {new.value.type} for a value of type {value.type}"
            )
        values: dict[SSAValue, SSAValue] = {}
        for op in operations_of([new.value]):
            if op.parent is None:  # made by the callback: a copy, since an expression may stand at several places
                copy = rewriter.insert(op.clone(values))
                values.update(zip(op.results, copy.results, strict=True))
        return values.get(new.value, new.value)


@checked
def rewrite(callbacks: DFPatternCallback | Sequence[DFPatternCallback], expr: FuncOp | Operand) -> FuncOp | Expr:
    """An expression, or a function, with what matches replaced until nothing does; what is given stays as it is.

    Raises:
        UsageError: a callback gives something of another type.
    """
    listed = [callbacks] if isinstance(callbacks, DFPatternCallback) else list(callbacks)
    return applied(lambda func: _rewriting.rewrite([_Adapted(each) for each in listed], func), expr)


@checked
def partition(
    pattern: DFPattern,
    expr: FuncOp | Operand,
    attrs: Mapping[str, Value] | None = None,
    check: Callable[[Expr], bool] | None = None,
) -> FuncOp | Expr:
    """An expression, or a function, with what matches put into regions of their own, which have the attributes `attrs`;
    `check` says of an expression that matched whether it is wanted."""

    def wanted(found: Match) -> bool:
        return check is None or check(expr_of(found[pattern]))

    return applied(lambda func: _rewriting.partition(pattern, func, attrs, wanted), expr)


class _Forms(_patterns.PythonForms):
    """What `pattern.match` and `pattern.partition` do with functions and expressions."""

    def as_value(self, expr: FuncOp) -> SSAValue:
        return as_value(expr)

    def partition(
        self,
        pattern: DFPattern,
        expr: object,
        attributes: Mapping[str, Value] | None,
        check: Callable[[Expr], bool] | None,
    ) -> FuncOp | Expr:
        given = expr if isinstance(expr, FuncOp | Expr) else Expr(as_value(cast(Operand, expr)))
        return partition(pattern, given, attributes, check)


DFPattern.python = _Forms()


@checked
def is_let(var: DFPattern, value: DFPattern, body: DFPattern) -> DFPattern:
    """There is no such pattern here.

    Raises:
        UsageError: always: a `Let` only names a value, and nothing is one when it is made.
    """
    raise UsageError(
        "no pattern matches a Let: it only names its value, and is the body when it is made",
        hint="match the body, in which the value stands for its name",
    )
