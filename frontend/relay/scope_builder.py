"""Expressions written line by line: TVM's `ScopeBuilder`.

sb = relay.ScopeBuilder()
y = sb.let("y", relay.exp(x))
with sb.if_scope(relay.less(n, relay.const(1))):
    sb.ret(y)
with sb.else_scope():
    sb.ret(y + y)
function = relay.Function([n, x], sb.get())
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...dialects.support.arguments import checked_methods
from ...dialects.support.diagnostics import UsageError
from .expr import Expr, If, Let, Operand, Var, as_value, var


@dataclass
class _Scope:
    """What is written in one branch, or outside of all."""

    bound: list[tuple[Var, Expr]] = field(default_factory=list[tuple[Var, Expr]])
    given: Expr | None = None
    condition: Expr | None = None
    then: Expr | None = None


@checked_methods
class ScopeBuilder:
    """Collects values by name, and makes one expression of them."""

    def __init__(self) -> None:
        self._scopes = [_Scope()]

    def let(self, var_or_name: Var | str, value: Operand) -> Var:
        """A variable that is `value` in all that follows."""
        bound = Expr(as_value(value))
        variable = var_or_name if isinstance(var_or_name, Var) else var(var_or_name, bound.checked_type)
        self._scopes[-1].bound.append((variable, bound))
        return variable

    @contextmanager
    def if_scope(self, cond: Operand) -> Generator[None]:
        """What is written within is one branch; `else_scope` has to follow, and both end in `ret`."""
        outer = self._scopes[-1]
        if outer.condition is not None:
            raise UsageError("an if_scope follows another; an else_scope has to stand between them")
        outer.condition = Expr(as_value(cond))
        self._scopes.append(_Scope())
        yield
        outer.then = self._finish("if_scope")

    @contextmanager
    def else_scope(self) -> Generator[None]:
        """What is written within is the other branch."""
        outer = self._scopes[-1]
        if outer.condition is None or outer.then is None:
            raise UsageError("an else_scope follows an if_scope")
        self._scopes.append(_Scope())
        yield
        otherwise = self._finish("else_scope")
        self._give(If(outer.condition, outer.then, otherwise))
        outer.condition = outer.then = None

    def type_of(self, expr: Expr) -> object:
        """The type of an expression, as it is known by now."""
        return expr.checked_type

    def ret(self, value: Operand) -> None:
        """What the scope gives.

        Raises:
            UsageError: it gives something already.
        """
        self._give(Expr(as_value(value)))

    def get(self) -> Expr:
        """The expression of all that was written.

        Raises:
            UsageError: nothing is given, or a branch is missing.
        """
        if len(self._scopes) != 1 or self._scopes[0].condition is not None:
            raise UsageError("a scope is still open, or an if_scope has no else_scope")
        return self._expression(self._scopes[0], "the builder")

    def _give(self, value: Expr) -> None:
        scope = self._scopes[-1]
        if scope.given is not None:
            raise UsageError("the scope gives something already")
        scope.given = value

    def _finish(self, what: str) -> Expr:
        scope = self._scopes.pop()
        if scope.condition is not None:
            raise UsageError("an if_scope has no else_scope")
        return self._expression(scope, what)

    @staticmethod
    def _expression(scope: _Scope, what: str) -> Expr:
        if scope.given is None:
            raise UsageError(f"{what} gives nothing: it lacks a `ret`")
        result = scope.given
        for variable, value in reversed(scope.bound):
            result = Let(variable, value, result)
        return result
