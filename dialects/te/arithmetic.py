"""TVM's analysis of integers on the expressions that a person writes: `weft.arith` of nodes.

    x, y = te.var("x"), tir.Var("y", "int32")
    arith.Analyzer().simplify(y * 2 + y)        # y * 3, a tir.Mul

There is one analyzer, the compiler's (`dialects.tir.analyzer`). What is asked here of nodes is asked there of their
forms (`integer_forms`), and answered in nodes (`written_forms`); what is asked of the analyzer's own expressions is
answered in those.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial, reduce, wraps
from typing import Any

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from ..support.arguments import ArgumentError, checked
from ..support.hints import is_mapping, is_sequence
from ..tir.analyzer import analyzer as engine
from ..tir.analyzer import equations, functions, iter_forms, narrowing, regions, solve_equations, solve_inequalities
from ..tir.analyzer.answers import NEG_INF, POS_INF, Infinity, Range
from ..tir.analyzer.constraints import IntConstraints, IntConstraintsTransform
from ..tir.analyzer.nodes import Const, ExprLike, IntExpr, is_condition
from ..tir.analyzer.nodes import Var as Variable
from . import text as text  # writes expressions
from .expr import Expr, NodeRange, as_expr, binary, select, unary
from .expr import cast as cast_node
from .integer_forms import Inner, bits_of, direct_parts, does_more, integer_form, is_integer, map_operands, replaced
from .kinds import BinaryKind as B
from .kinds import UnaryKind as U
from .kinds import index
from .lanes import simplified_lanes
from .narrowed import narrowed
from .written_forms import leaf_types, size_of, widest, written


def _form(range: NodeRange) -> Range:
    """A range of nodes as the analyzer has it."""
    return Range.from_min_extent(integer_form(range.min), integer_form(range.extent))


class Analyzer(engine.Analyzer):
    """The analyzer, which takes nodes too: what it simplifies of them it gives as nodes."""

    def bind(self, variable: ExprLike, value: Any) -> None:
        """Say what `variable` is: an expression, a `Range` or `range`, or least and greatest value (both included, any
        expressions)."""
        super().bind(variable, _form(value) if isinstance(value, NodeRange) else value)

    def simplify(self, expr: ExprLike, steps: int = 2) -> Any:
        """The smallest form that the rules find: equal in value wherever the facts hold. Of a node that is no integer,
        the integers in it are simplified."""
        return simplified(expr, self) if isinstance(expr, Expr) else super().simplify(expr)

    def rewrite_simplify(self, expr: ExprLike) -> Any:
        """`simplify`."""
        return self.simplify(expr)

    canonical_simplify = rewrite_simplify


def simplified(expr: Expr, analyzer: engine.Analyzer) -> Expr:
    """A node with the integers in it in the analyzer's simplest form; as it is, where that is no smaller."""

    def inner(part: Expr) -> Expr:
        if is_integer(part.type):
            return _smaller(part, analyzer, inner)
        return simplified_lanes(map_operands(part, inner), analyzer)

    return inner(expr)


def _smaller(expr: Expr, analyzer: engine.Analyzer, inner: Inner) -> Expr:
    if does_more(expr):  # each call is made as often as it was written
        return map_operands(expr, inner)
    form = integer_form(expr, inner)
    simple = analyzer.simplify(form)
    if not isinstance(simple, Const | Variable) and not _are_of_one_type([expr]):
        return expr  # the simpler form may not be what registers of those types compute
    try:
        made = written(simple, expr.type, [expr])
    except ArgumentError:  # no register of the type holds a number that the simpler form has
        return expr
    return expr if simple is form and size_of(expr) <= size_of(made) else made


def _are_of_one_type(exprs: Sequence[Expr]) -> bool:
    """Whether all integers in expressions are of one type that is taken not to wrap, or extents."""
    types, stack = set[Attribute](), [*exprs]
    while stack:
        each = stack.pop()
        if is_integer(each.type) and each.type != i1:
            types.add(each.type)
        stack += direct_parts(each)
    types.discard(index)
    wrapping = {each for each in types if bits_of(each)[0] < 32 or not bits_of(each)[1]}
    return len(types) <= 1 and not wrapping


class _Exchange:
    """Arguments with forms for nodes, and results with nodes for forms, if there were any nodes."""

    def __init__(self):
        self.heard: list[Expr] = []

    def forms(self, value: Any) -> Any:
        """`value` with the form of each node in it."""
        if isinstance(value, Expr):
            self.heard.append(value)
            return integer_form(value)
        if isinstance(value, NodeRange):
            return _form(value)
        if is_sequence(value):
            return [self.forms(each) for each in value]
        if is_mapping(value):
            return {self.forms(a): self.forms(b) for a, b in value.items()}
        return value

    def nodes(self, value: Any) -> Any:
        """`value` with a node for each form in it; sets of integers stay what they are."""
        if isinstance(value, IntExpr):
            return written(value, self._type_of(value), self.heard)
        if is_sequence(value):
            given = [self.nodes(each) for each in value]
            return tuple(given) if isinstance(value, tuple) else given
        if is_mapping(value):
            return {self.nodes(a): self.nodes(b) for a, b in value.items()}
        if isinstance(value, Range):
            return NodeRange(self.nodes(value.min), self.nodes(value.extent))
        if isinstance(value, IntConstraints | IntConstraintsTransform):
            return replace(value, **{each.name: self._part(value, each.name) for each in fields(value)})
        return value

    def _type_of(self, form: IntExpr) -> Attribute | None:
        """The widest type of the nodes that were given and of the variables of a result; `None` for a condition."""
        if is_condition(form) and not isinstance(form, Const):
            return None
        types = [each.type for each in self.heard if is_integer(each.type) and each.type not in (i1, index)]
        return widest([*types, *leaf_types(form)]) if types else None

    def _part(self, value: IntConstraints | IntConstraintsTransform, name: str) -> Any:
        if name == "relations":
            return tuple(written(each, i1, self.heard) for each in getattr(value, name))
        return self.nodes(getattr(value, name))


def neg_inf() -> Infinity:
    """The end of a set that has no least value."""
    return NEG_INF


def pos_inf() -> Infinity:
    """The end of a set that has no greatest value."""
    return POS_INF


def of_nodes(function: Callable[..., object], plain: Callable[..., Expr] | None = None) -> Callable[..., Any]:
    """A function of the analyzer's that takes nodes too, and then gives nodes: by `plain`, if there is one, where the
    analyzer's forms may not be what registers of the nodes' types compute."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        exchange = _Exchange()
        given = [exchange.forms(each) for each in args]
        named = {name: exchange.forms(each) for name, each in kwargs.items()}
        if plain is not None and exchange.heard and not _are_of_one_type(exchange.heard):
            return plain(*_of_type_of(exchange.heard, args), **kwargs)
        result = function(*given, **named)
        return exchange.nodes(result) if exchange.heard else result

    return call


def _of_type_of(heard: Sequence[Expr], values: Sequence[Any]) -> list[Expr]:
    """Values as nodes, numbers being of the type of the integers among those that were given."""
    type = next((each.type for each in heard if each.type != i1), i1)
    return [as_expr(each, type) for each in values]


def _joined(kind: B) -> Callable[..., Expr]:
    def join(*values: Expr) -> Expr:
        return reduce(partial(binary, kind), values)

    return join


def _negated(condition: Expr) -> Expr:
    return unary(U.NOT, cast_node(condition, i1))


Not = of_nodes(functions.Not, _negated)
Select = if_then_else = of_nodes(functions.Select, select)
all, any = of_nodes(functions.all, _joined(B.AND)), of_nodes(functions.any, _joined(B.OR))
bitwise_and, evaluate = of_nodes(functions.bitwise_and, _joined(B.AND)), of_nodes(functions.evaluate)
floordiv = indexdiv = of_nodes(functions.floordiv, _joined(B.FLOORDIV))
floormod = indexmod = of_nodes(functions.floormod, _joined(B.FLOORMOD))
truncdiv, truncmod = of_nodes(functions.truncdiv, _joined(B.DIV)), of_nodes(functions.truncmod, _joined(B.TRUNCMOD))
is_const = of_nodes(functions.is_const)
max, min = of_nodes(functions.max, _joined(B.MAX)), of_nodes(functions.min, _joined(B.MIN))
shift_left = of_nodes(functions.shift_left, _joined(B.SHL))
shift_right = of_nodes(functions.shift_right, _joined(B.SHR))


@checked
def substitute(expr: Any, values: Mapping[Any, Any]) -> Any:
    """`expr` with its variables replaced."""
    if not isinstance(expr, Expr):
        return of_nodes(functions.substitute)(expr, values)
    return replaced(expr, {variable: as_expr(value, variable.type) for variable, value in values.items()})


def let(variable: Any, value: Any, body: Any) -> Any:
    """`body` with `value` for `variable`."""
    if not isinstance(body, Expr):
        return of_nodes(functions.let)(variable, value, body)
    return substitute(body, {variable: value})


deduce_bound, detect_clip_bound = of_nodes(equations.deduce_bound), of_nodes(equations.detect_clip_bound)
detect_linear_equation = of_nodes(equations.detect_linear_equation)
solve_linear_equations = of_nodes(solve_equations.solve_linear_equations)
solve_linear_inequalities = of_nodes(solve_inequalities.solve_linear_inequalities)


@checked
def narrow_predicate_expression(expr: Any, free_parameters: Mapping[Any, Any]) -> Any:
    """A condition without the `free_parameters`, from which `expr` follows for all values that those may have.

    It need not be the weakest: what is not seen to hold for all of them is false. Counterpart of TVM's
    NarrowPredicateExpression.
    """
    if isinstance(expr, Expr) and expr.type == i1 and _are_of_one_type([expr]):
        return narrowed(expr, _Exchange().forms(free_parameters))
    return of_nodes(narrowing.narrow_predicate_expression)(expr, free_parameters)


detect_iter_map, subspace_divide = of_nodes(iter_forms.detect_iter_map), of_nodes(iter_forms.subspace_divide)
inverse_affine_iter_map = of_nodes(iter_forms.inverse_affine_iter_map)
iter_map_simplify = of_nodes(iter_forms.iter_map_simplify)

eval_set = of_nodes(regions.eval_set)
estimate_region_lower_bound = of_nodes(regions.estimate_region_lower_bound)
estimate_region_strict_bound = of_nodes(regions.estimate_region_strict_bound)
estimate_region_upper_bound = of_nodes(regions.estimate_region_upper_bound)
