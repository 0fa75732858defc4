"""Predicates of statements, as the branches of which they were made.

    for i in range(8):                                      for i in range(8):
        for j in range(4):                                      if i < n:
            block where [n - i - 1]: A[i, j] = 0     is             for j in range(4):
            block where [n - i - 1]: B[i, j] = 0                        A[i, j] = 0
                                                                        B[i, j] = 0

A predicate speaks of loops and sizes, which no statement changes: its branch stands around all neighbours that have it,
and around the loops that it does not speak of.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...te.expr import Expr
from .equality import Forms
from .statements import IfThenElse, SeqStmt, Stmt, sequence
from .stmt_functor import walk


class Guards:
    """The branches of one function that are predicates."""

    def __init__(self):
        self._made: dict[int, IfThenElse] = {}

    def around(self, conditions: Sequence[Expr], statement: Stmt) -> Stmt:
        """A statement where all conditions hold."""
        for condition in reversed(conditions):
            statement = IfThenElse(condition, statement)
            self._made[id(statement)] = statement
        return statement

    def _of(self, statement: Stmt) -> IfThenElse | None:
        return self._made.get(id(statement))

    def joined(self, statements: Sequence[Stmt]) -> list[Stmt]:
        """Statements of which neighbours with one predicate share its branch."""
        found: list[Stmt] = []
        for each in statements:
            guard, before = self._of(each), self._of(found[-1]) if found else None
            if guard is None or before is None or not _are_one(guard.condition, before.condition):
                found.append(each)
                continue
            both = self.joined([*_parts(before.then_case), *_parts(guard.then_case)])
            found[-1] = self.around([before.condition], sequence(both))
        return found

    def out_of(self, body: Stmt, variable: Expr) -> tuple[list[Expr], Stmt]:
        """What of the predicates around a loop's body does not speak of its variable, and the body without those."""
        leaving: list[Expr] = []
        staying: list[Expr] = []
        while (guard := self._of(body)) is not None:
            uses = any(each is variable for each in walk(guard.condition))
            (staying if uses else leaving).append(guard.condition)
            body = guard.then_case
        return leaving, self.around(staying, body)


def _parts(statement: Stmt) -> Sequence[Stmt]:
    return statement.seq if isinstance(statement, SeqStmt) else [statement]


def _are_one(a: Expr, b: Expr) -> bool:
    return Forms(False).of(a) == Forms(False).of(b)
