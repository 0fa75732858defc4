"""Walks over expressions by their kinds: TVM's `ExprFunctor`, `ExprVisitor` and `ExprMutator`.

    class Count(relay.ExprVisitor):
        calls = 0

        def visit_call(self, call):
            self.calls += 1
            super().visit_call(call)

Each expression is visited once, however often it is used. A value has no `Let`: a walk goes through the value itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.relay.base import RelayOp
from ...dialects.relay.control import ApplyOp, ClosureOp, FnOp, IfOp, RefCreateOp, RefReadOp
from ...dialects.relay.core import CallOp, ConstantOp, FuncOp, TupleGetOp, TupleOp, YieldOp
from ...dialects.relay.data import ConstructOp, MatchOp
from ...dialects.relay.types import IncompleteType
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.retyping import retype
from ...transforms.relay.completion import complete
from .data import Constructor
from .expr import Expr, Function, GlobalVar, If, Var, as_value, copied, expr_of
from .op_class import Op

_VISITS: Sequence[tuple[tuple[type[Operation], ...], str]] = (
    ((ConstantOp,), "constant"),
    ((TupleOp,), "tuple"),
    ((TupleGetOp,), "tuple_getitem"),
    ((IfOp,), "if"),
    ((FnOp,), "function"),
    ((ClosureOp,), "global_var"),
    ((RefCreateOp,), "ref_create"),
    ((RefReadOp,), "ref_read"),
    ((MatchOp,), "match"),
    ((RelayOp, ApplyOp, CallOp, ConstructOp), "call"),
)


Visited: TypeAlias = "Expr | FuncOp | GlobalVar | Op | Constructor"
"""What is visited: an expression, a function, or what a call calls."""


class UnhandledError(UsageError, NotImplementedError):
    """A walk meets a kind of expression that it says nothing of."""


class ExprFunctor:
    """A function on expressions, told by their kinds: `visit_call`, `visit_var`, `visit_constant`, `visit_tuple`,
    `visit_tuple_getitem`, `visit_if`, `visit_function`, `visit_global_var`, `visit_ref_create`, `visit_ref_read`,
    `visit_match`, and of what calls call `visit_op` and `visit_constructor`. What an expression has been visited to
    give is given again."""

    def __init__(self) -> None:
        self.memo_map: dict[object, Any] = {}

    def visit(self, expr: Visited) -> Any:
        """What the visit of the expression's kind gives.

        Raises:
            UnhandledError: a subclass does not say what to do with such an expression.
        """
        key = expr.value if isinstance(expr, Expr) else expr
        if key not in self.memo_map:
            self.memo_map[key] = self._visit_of(expr)(expr)
        return self.memo_map[key]

    def _visit_of(self, expr: Visited) -> Callable[[Any], Any]:
        match expr:
            case FuncOp():
                kind = "function"
            case GlobalVar():
                kind = "global_var"
            case Op():
                kind = "op"
            case Constructor():
                kind = "constructor"
            case _:
                owner, kind = expr.value.owner, "var"
                if isinstance(owner, Operation):
                    kind = next((kind for types, kind in _VISITS if isinstance(owner, types)), owner.name)
        visit = getattr(self, f"visit_{kind}", None)
        if visit is None:
            raise UnhandledError(
                f"{type(self).__name__} does not say what to do with {expr!r}: it has no `visit_{kind}`"
            )
        return visit


def parts(expr: Visited) -> list[Expr]:
    """The expressions that one is made of: parameters and body of a function, condition and branches of an `If`."""
    owner = expr.value.owner if isinstance(expr, Expr) else expr
    if not isinstance(owner, Operation):
        return []
    inside: list[SSAValue] = []
    for region in owner.regions:
        block = region.block
        last = block.last_op
        inside += [*block.args, *(last.operands if last is not None else ())]
    return [expr_of(value) for value in (*owner.operands, *inside)]


class ExprVisitor(ExprFunctor):
    """Visits everything that an expression is made of, operands first."""

    def _visit_parts(self, expr: Visited) -> None:
        for part in parts(expr):
            self.visit(part)

    visit_call = visit_constant = visit_tuple = visit_tuple_getitem = visit_if = visit_match = _visit_parts
    visit_function = visit_var = visit_global_var = visit_ref_create = visit_ref_read = _visit_parts
    visit_op = visit_constructor = _visit_parts


class ExprMutator(ExprFunctor):
    """Makes another expression: what a visit does not change is used as it is, and what is made of changed expressions
    is made anew, with types that follow from them."""

    def visit_var(self, var: Var) -> Expr:
        """The variable itself."""
        return var

    def visit_function(self, fn: FuncOp | Expr) -> FuncOp | Expr:
        """A function with its body changed."""
        owner = fn if isinstance(fn, FuncOp) else fn.value.owner
        assert isinstance(owner, FnOp | FuncOp)
        block = owner.body.block
        last = block.last_op
        assert last is not None
        params = [Var(argument) for argument in block.args]
        body = expr_of(last.operands[0])
        new_params: list[Expr] = [self.visit(param) for param in params]
        new_body: Expr = self.visit(body)
        if new_params == params and new_body == body:
            return fn
        made = Function([Var(param.value) for param in new_params], new_body, attrs=dict(owner.attributes))
        if isinstance(fn, Expr):
            return Expr(as_value(made))
        made.properties["sym_name"] = fn.sym_name
        return made

    def visit_if(self, expr: Expr) -> Expr:
        """An `If` with its condition and branches changed."""
        old = parts(expr)
        new: list[Expr] = [self.visit(part) for part in old]
        return expr if new == old else If(*new)

    def visit_match(self, expr: Expr) -> Expr:
        """A `Match` with its value and what its cases give changed; the cases stay, and bind the same."""
        owner = expr.value.owner
        assert isinstance(owner, MatchOp)
        old = [as_value(part) for part in parts(expr)]
        changed = {value: as_value(self.visit(expr_of(value))) for value in old}
        if all(new is value for value, new in changed.items()):
            return expr
        cases: dict[str, Region] = {}
        for name, region in zip(owner.names, owner.regions, strict=True):
            block, end = Block(arg_types=region.block.arg_types), region.block.last_op
            assert end is not None
            bound: dict[SSAValue, SSAValue] = dict(zip(region.block.args, block.args, strict=True))
            copied([changed[value] for value in end.operands], bound, YieldOp, block)
            cases[name] = Region(block)
        made = MatchOp(changed[owner.data], [result.type for result in owner.results], cases)
        made.attributes |= owner.attributes
        return Expr(made.res[0])

    def _visit_operands(self, expr: Expr) -> Expr:
        owner = expr.value.owner
        assert isinstance(owner, Operation)
        values: dict[SSAValue, SSAValue] = {}
        for operand in owner.operands:
            values[operand] = as_value(self.visit(expr_of(operand)))
        if all(old is new for old, new in values.items()):
            return expr
        copy = owner.clone(values)
        for result in copy.results:
            retype(result, IncompleteType())
        complete(copy)
        return Expr(copy.results[owner.results.index(expr.value)])

    visit_call = visit_constant = visit_tuple = visit_tuple_getitem = _visit_operands
    visit_ref_create = visit_ref_read = _visit_operands

    def visit_global_var(self, name: Expr | GlobalVar) -> Expr | GlobalVar:
        """The name of a function itself; a value of such is changed where it holds others."""
        return name if isinstance(name, GlobalVar) else self._visit_operands(name)

    def visit_op(self, op: Op) -> Op:
        """An operator itself."""
        return op

    def visit_constructor(self, constructor: Constructor) -> Constructor:
        """A constructor itself."""
        return constructor
