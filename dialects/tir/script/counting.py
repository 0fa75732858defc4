"""Loops that count within a block, where data says how often: `for j in range(count[0]):` in a `while` or a branch.

Loops of a function are `tir.for`. One that stands where only statements do is an `scf.while` that carries its number.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Region, SSAValue

from ...support.name_hints import name_hint
from .emitter import Emitter
from .scope import Scope

COUNTING = ("serial", "vectorized", "unroll")
"""Kinds of such loops in the text: where the order is free, it is kept."""
_INDEX = IndexType()


@dataclass(frozen=True)
class Counted:
    """A loop's variable, its first value, and where its values end."""

    name: ast.Name
    low: ast.expr
    end: ast.expr


def counted(scope: Scope, statement: ast.For) -> tuple[Counted, list[ast.stmt]]:
    """The outermost loop of a statement, and what stands in it.

    Raises:
        Diagnostic: there are no such loops in a block.
    """
    call, error = statement.iter, scope.source.error
    word = scope.word(call.func) if isinstance(call, ast.Call) else None
    if statement.orelse:
        raise error(statement, "a loop has no else")
    if not isinstance(call, ast.Call) or not may_be_counted(scope, statement):
        hint = "over range, T.grid, T.serial, T.vectorized or T.unroll"
        raise error(call, f"a loop in a block's body does not run over '{ast.unparse(call)}'", hint)
    targets = statement.target.elts if isinstance(statement.target, ast.Tuple) else [statement.target]
    names = [each for each in targets if isinstance(each, ast.Name)]
    wanted = len(call.args) if word == "grid" else 1
    if len(names) != len(targets) or len(names) != wanted or not names or (word != "grid" and len(call.args) > 2):
        raise error(statement, f"'{ast.unparse(call)}' is no loop of {len(targets)} variables")
    if word != "grid":
        low = call.args[0] if len(call.args) == 2 else ast.Constant(0)
        return Counted(names[0], low, call.args[-1]), statement.body
    body: list[ast.stmt] = statement.body
    if len(names) > 1:
        rest = ast.Call(call.func, call.args[1:], [])
        body = [ast.For(ast.Tuple([*names[1:]], ast.Store()), rest, statement.body, [])]
        ast.fix_missing_locations(ast.copy_location(body[0], statement))
    return Counted(names[0], ast.Constant(0), call.args[0]), body


def may_be_counted(scope: Scope, statement: ast.For) -> bool:
    """Whether a loop is of a kind that a block may count itself, with nothing said of it."""
    match statement.iter:
        case ast.Call(func=ast.Name(id="range"), keywords=[]):
            return True
        case ast.Call(func=func, keywords=[]):
            return scope.word(func) in (*COUNTING, "grid")
        case _:
            return False


def is_counted(scope: Scope, statement: ast.stmt) -> bool:
    """Whether a block counts a loop itself, as one that is printed `for i in range(T.index(6))` or
    `range(T.cast(n, "index"))`: what it runs to is a value, and no extent of loops around blocks."""
    match statement:
        case ast.For(iter=ast.Call(args=[*_, ast.Call(func=end, args=[*_, ast.Constant(value="index")])])):
            return scope.word(end) == "cast"
        case ast.For(iter=ast.Call(args=[*_, ast.Call(func=end)])):
            return scope.word(end) == "index"
        case _:
            return False


def counting(low: SSAValue, end: SSAValue, name: str) -> tuple[scf.WhileOp, SSAValue]:
    """A loop from `low` to below `end` whose body is empty, and its number there; `count_on` ends the body."""
    before, after = Block(arg_types=[_INDEX]), Block(arg_types=[_INDEX])
    (count,), (index,) = before.args, after.args
    index.name_hint = name_hint(name)
    test = arith.CmpiOp(count, end, "slt")
    before.add_ops([test, scf.ConditionOp(test.result, count)])
    return scf.WhileOp([low], [_INDEX], Region(before), Region(after)), index


def count_on(loop: scf.WhileOp, emitter: Emitter) -> None:
    """End the body of a loop: the next number."""
    (index,) = loop.after_region.block.args
    step = arith.AddiOp(index, emitter.constant(1, _INDEX))
    emitter.insert(step)
    emitter.insert(scf.YieldOp(step))


def counted_by(loop: scf.WhileOp) -> tuple[SSAValue, SSAValue] | None:
    """Where the numbers of a loop that counts begin and end; `None` for any other loop."""
    before, after = loop.before_region.block, loop.after_region.block
    test, end, last = before.first_op, before.last_op, after.last_op
    if len(loop.operands) != 1 or len(list(before.ops)) != 2 or any(result.uses for result in loop.results):
        return None
    if not isinstance(test, arith.CmpiOp) or not isinstance(end, scf.ConditionOp) or not isinstance(last, scf.YieldOp):
        return None
    (count,), (index,) = before.args, after.args
    step = last.operands[0].owner if len(last.operands) == 1 else None
    if test.lhs is not count or test.predicate.value.data != 2 or [*end.operands] != [test.result, count]:
        return None
    if not isinstance(step, arith.AddiOp) or step.lhs is not index or not _is(step.rhs, 1):
        return None
    return None if step.result.uses.get_length() != 1 else (loop.operands[0], test.rhs)


def is_zero(value: SSAValue) -> bool:
    """Whether a value is the number 0."""
    return _is(value, 0)


def _is(value: SSAValue, number: int) -> bool:
    op = value.owner
    return isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr) and op.value.value.data == number
