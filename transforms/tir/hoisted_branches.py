"""Branches and values that loops do not change, around those loops: what `hoist-expression` does with statements.

    for j in range(4):                      if i < 3:
        if i < 3:                               for j in range(4):
            A[i, j] = 0.0                           A[i, j] = 0.0
        else:                               else:
            A[i, j] = 1.0                       for j in range(4):
                                                    A[i, j] = 1.0

From the outermost loop on, what is first found in a loop that the loop does not change goes around it: a condition,
whose both sides are the loop with the condition known, or a named value that a condition may need. What is known of one
side decides conditions that follow from it. A side in which nothing is done is left out. (Where named values are
arithmetic they are written again within the loops around which they stand, so that those stay loops: LLVM computes each
once.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ...dialects.te.arithmetic import Analyzer
from ...dialects.te.expr import Binary, Cast, Const, Expr, IterVar, Select, Slot, Unary, Var
from ...dialects.te.integer_forms import is_integer
from ...dialects.te.kinds import BinaryKind, UnaryKind
from ...dialects.tir.core import PrimFuncOp
from ...dialects.tir.nodes.blocks import BlockRealize
from ...dialects.tir.nodes.equality import structural_equal, structural_hash
from ...dialects.tir.nodes.statements import For, IfThenElse, LetStmt, SeqStmt, Stmt, While
from ...dialects.tir.nodes.stmt_functor import Node, parts_of, walk, with_parts
from ..infra.remarks import missed
from .analysis.validity import fault_of

_ARITHMETIC = (Binary, Cast, Const, IterVar, Select, Slot, Unary, Var)
"""What gives one value wherever it is computed: nothing in it is read or called."""

MOST_BRANCHES, MOST_AROUND = 64, 16
"""How many branches are put around loops in one function, and around one loop."""

_DIVISIONS = (BinaryKind.DIV, BinaryKind.FLOORDIV, BinaryKind.FLOORMOD, BinaryKind.TRUNCMOD)


def take_statements(func: PrimFuncOp, body: Stmt, pass_name: str) -> bool:
    """Let a function hold statements that do the same; whether it does. A valid one stays as it was, with a remark,
    where the verifier does not see that all that is read has been written: a loop in a block's branch is a `while`."""
    made = func.with_body(body)
    if (fault := fault_of(made, func)) is not None:
        missed(pass_name, func, f"its loops around branches could not be shown to be valid: {fault.message}")
        return False
    func.take_region(made)
    return True


@dataclass(frozen=True)
class What:
    """What is taken out of loops."""

    branches: bool
    chosen_values: bool
    parts_of_and: bool
    of_threads: bool
    """Conditions of a thread's number, and those in loops over threads."""
    named_values: bool
    values_of_conditions: bool
    """Named values that conditions need which go out."""


@dataclass
class Hoisting:
    """Takes branches and values out of the loops of one tree of statements."""

    what: What
    known: list[tuple[Expr, bool]] = field(default_factory=list[tuple[Expr, bool]])
    threads: set[Expr] = field(default_factory=set[Expr])
    branches: int = 0
    """How many have been made."""

    def of(self, node: Stmt) -> Stmt:
        """The statement with branches around the loops in it."""
        if isinstance(node, For):
            return self._loop(node)
        return with_parts(node, self._part)

    def _part(self, node: Node) -> Node:
        return self.of(node) if isinstance(node, Stmt) else node

    def _loop(self, loop: For) -> Stmt:
        is_of_threads = loop.kind == "thread_binding"
        if is_of_threads:
            self.threads.add(loop.loop_var)
        if not is_of_threads or self.what.of_threads:
            for found in self._candidates(loop.body, {loop.loop_var}):
                if isinstance(found, LetStmt):
                    return LetStmt(found.var, found.value, self._loop(_without(loop, found)))
                if self.branches == MOST_BRANCHES or len(self.known) == MOST_AROUND:
                    break
                self.branches += 1
                return self._branch(loop, found)
        return with_parts(loop, self._part)

    def _branch(self, loop: For, condition: Expr) -> Stmt:
        """The branch of which each side is the loop with the condition known."""
        sides = [self._side(loop, condition, holds) for holds in (True, False)]
        if sides[0] is None and sides[1] is not None:
            return IfThenElse(_negated(condition), sides[1])
        return IfThenElse(condition, sides[0] or loop, sides[1])

    def _side(self, loop: For, condition: Expr, holds: bool) -> Stmt | None:
        self.known.append((condition, holds))
        body = settled(loop.body, self.known)
        made = None if body is None else self._loop(_over(loop, body))
        self.known.pop()
        return made

    def _candidates(self, node: Node, changing: set[Expr]) -> Iterator[LetStmt | Expr]:
        """What is in a loop and may leave it, each before what stands behind it. `changing`: variables of the loop and
        of what is in it."""
        match node:
            case IfThenElse(condition=condition) if self.what.branches:
                yield from self._conditions(condition, changing)
            case Select(condition=condition) if self.what.chosen_values:
                yield from self._conditions(condition, changing)
            case LetStmt(var=var, value=value) if self._stays_the_same(value, changing) and self._leaves(node):
                yield node
            case LetStmt(var=var):
                changing = changing | {var}
            case For(loop_var=var):
                changing = changing | {var}
            case BlockRealize() | While():
                return  # a block's conditions are predicates; what is asked each time stays
            case _:
                pass
        for part in parts_of(node):
            yield from self._candidates(part, changing)

    def _conditions(self, condition: Expr, changing: set[Expr]) -> Iterator[Expr]:
        if self._stays_the_same(condition, changing) and not isinstance(condition, Const):
            yield condition
        elif self.what.parts_of_and and isinstance(condition, Binary) and condition.kind == BinaryKind.AND:
            yield from self._conditions(condition.lhs, changing)
            yield from self._conditions(condition.rhs, changing)

    def _leaves(self, let: LetStmt) -> bool:
        """Whether a named value may go out: on its own, or for a branch that needs it."""
        if self.what.named_values:
            return True
        return self.what.values_of_conditions and any(
            each is let.var for part in walk(let.body) if isinstance(part, IfThenElse) for each in walk(part.condition)
        )

    def _stays_the_same(self, expr: Expr, changing: set[Expr]) -> bool:
        """Whether a value is the same in all iterations of a loop."""
        for each in walk(expr):
            if not isinstance(each, _ARITHMETIC) or each in changing or _may_trap(each):
                return False
            if not self.what.of_threads and each in self.threads:
                return False
        return True


def _may_trap(expr: Node) -> bool:
    """Whether an integer is divided by what may be zero, which a branch around it or a loop without iterations may
    keep from happening."""
    if not isinstance(expr, Binary) or expr.kind not in _DIVISIONS or not is_integer(expr.type):
        return False
    return not isinstance(expr.rhs, Const) or expr.rhs.value == 0


def _over(loop: For, body: Stmt) -> For:
    return with_parts(loop, lambda part: body if part is loop.body else part)


def _without(loop: For, let: LetStmt) -> For:
    """The loop with what a value's name is for in place of its definition."""

    def new(part: Node) -> Node:
        return let.body if part is let else with_parts(part, new)

    return with_parts(loop, new)


def settled(node: Stmt, known: list[tuple[Expr, bool]]) -> Stmt | None:
    """A statement where some conditions are known to hold or not; `None` where nothing is done then."""
    decide = _Decisions(known)

    def value(part: Node) -> Node:
        if isinstance(part, Select):
            if (holds := decide(part.condition)) is not None:
                return value(part.then if holds else part.otherwise)
            asked = decide.rest(part.condition)
            if asked is not part.condition:
                return value(with_parts(part, lambda each: asked if each is part.condition else each))
        return with_parts(part, value)

    def new(part: Stmt) -> Stmt | None:
        match part:
            case IfThenElse(condition=condition, then_case=then_case, else_case=else_case):
                if (holds := decide(condition)) is not None:
                    side = then_case if holds else else_case
                    return None if side is None else new(side)
                taken, left = new(then_case), None if else_case is None else new(else_case)
                asked = value(decide.rest(condition))
                assert isinstance(asked, Expr)
                if taken is None:
                    return None if left is None else IfThenElse(_negated(asked), left)
                return IfThenElse(asked, taken, left)
            case SeqStmt(seq=seq):
                left = [made for each in seq if (made := new(each)) is not None]
                return SeqStmt(left) if len(left) > 1 else (left[0] if left else None)
            case For(body=body) | LetStmt(body=body):
                inner = new(body)
                return None if inner is None else with_parts(part, lambda each: inner if each is body else value(each))
            case _:
                return with_parts(part, _both(new, value))

    return new(node)


def _both(new: Callable[[Stmt], Stmt | None], value: Callable[[Node], Node]) -> Callable[[Node], Node]:
    """Statements by `new`, where each is needed, and expressions by `value`."""
    return lambda part: (new(part) or part) if isinstance(part, Stmt) else value(part)


def _negated(condition: Expr) -> Expr:
    return Unary(UnaryKind.NOT, condition, condition.type)


class _Decisions:
    """What is known of conditions: those that are known themselves, their parts, and what follows of integers. One
    analyzer is told what is known, and each condition is decided once."""

    def __init__(self, known: Sequence[tuple[Expr, bool]]):
        self.known = tuple(known)
        self._alike = {structural_hash(each): (each, holds) for each, holds in reversed(self.known)}
        self._answers: dict[Expr, bool | None] = {}

    def __call__(self, condition: Expr) -> bool | None:
        if condition not in self._answers:
            self._answers[condition] = self._decided(condition)
        return self._answers[condition]

    def _decided(self, condition: Expr) -> bool | None:
        each, holds = self._alike.get(structural_hash(condition), (None, False))
        if each is not None and structural_equal(each, condition):
            return holds
        if isinstance(condition, Binary) and condition.kind == BinaryKind.AND:
            sides = self(condition.lhs), self(condition.rhs)
            return False if False in sides else (True if sides == (True, True) else None)
        return self._follows(condition)

    def rest(self, condition: Expr) -> Expr:
        """A condition without the parts of an `and` that hold."""
        if isinstance(condition, Binary) and condition.kind == BinaryKind.AND:
            sides = [self.rest(each) for each in (condition.lhs, condition.rhs) if self(each) is not True]
            if len(sides) == 1:
                return sides[0]
            if sides[0] is not condition.lhs or sides[1] is not condition.rhs:
                return Binary(BinaryKind.AND, sides[0], sides[1], condition.type)
        return condition

    @cached_property
    def _analyzer(self) -> Analyzer:
        plain, analyzer = Analyzer(), Analyzer()
        facts = [each if holds else plain.simplify(_negated(each)) for each, holds in self.known]
        analyzer.assume(*filter(_is_of_integers, facts))
        return analyzer

    def _follows(self, condition: Expr) -> bool | None:
        if not _is_of_integers(condition):
            return None
        made = self._analyzer.simplify(condition)
        return bool(made.value) if isinstance(made, Const) else None


def _is_of_integers(condition: Expr) -> bool:
    return all(isinstance(each, _ARITHMETIC) and is_integer(each.type) for each in walk(condition))
