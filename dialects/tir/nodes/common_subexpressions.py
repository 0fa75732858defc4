"""What is computed several times in an expression (`arith.detect_common_subexpr`).

    x, y = te.var("x"), te.var("y")
    detect_common_subexpr((x + y) * (x + y) + x, 2)         # x + y: twice

Of expressions that lie in one another only the largest is told: `x + y` is not, where `(x + y) * 2` stands twice and
`x + y` nowhere else.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from heapq import heappop, heappush

from ...support.arguments import ArgumentError, checked
from ...support.hints import is_tuple
from ...te.expr import Expr, IterVar, Slot, Var
from ...te.integer_forms import direct_parts, does_more
from ...te.tensor import Read
from .buffers import BufferLoad


@checked
def detect_common_subexpr(e: object, threshold: int) -> dict[Expr, int]:
    """The parts of an expression that are written alike at `threshold` places or more, each by the first place, with
    the number of places. Places within a larger part that is told do not count. What reads a tensor or a buffer, does
    more than give a value, or is a variable or a number is no such part.

    Source: Apache TVM's `DetectCommonSubExpr`.

    Raises:
        ArgumentError: `e` is no expression, or the threshold is no positive number.
    """
    if not isinstance(e, Expr):
        raise ArgumentError(f"'e' of detect_common_subexpr is an expression, and not {e!r}")
    if threshold < 1:
        raise ArgumentError(f"'threshold' of detect_common_subexpr is a positive number, and not {threshold}")
    numbers = _Numbers()
    first: dict[int, Expr] = {}
    places: dict[int, int] = {}
    pending: list[tuple[int, int, int]] = []

    def met(expr: Expr, times: int) -> None:
        key = numbers.of(expr)
        if key not in first:
            first[key] = expr
            heappush(pending, (-numbers.sizes[key], len(first), key))
        places[key] = places.get(key, 0) + times

    met(e, 1)
    found: dict[Expr, int] = {}
    while pending:  # the larger first: each is met at all of its places before it is looked at
        _, _, key = heappop(pending)
        expr, times = first[key], places[key]
        if times >= threshold and _is_computation(expr):
            found[expr] = times
            continue
        for part in direct_parts(expr):
            met(part, times)
    return found


def _is_computation(expr: Expr) -> bool:
    """Whether an expression computes a value from nothing but variables and numbers."""
    stack, seen = [expr], set[Expr]()
    while stack:
        if (each := stack.pop()) in seen:
            continue
        if isinstance(each, Read | BufferLoad):
            return False
        seen.add(each)
        stack += direct_parts(each)
    return bool(direct_parts(expr)) and not does_more(expr)


class _Numbers:
    """A number for each expression, the same for those that are written alike, and how large each is: how many parts it
    has where each is written out."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self._known: dict[Expr, int] = {}
        self._numbers: dict[Hashable, int] = {}

    def of(self, expr: Expr) -> int:
        stack = [expr]
        while stack:
            each = stack[-1]
            missing = [part for part in direct_parts(each) if part not in self._known]
            if missing:
                stack += missing
                continue
            stack.pop()
            if each not in self._known:
                self._known[each] = self._number(each)
        return self._known[expr]

    def _number(self, expr: Expr) -> int:
        parts = [self._known[part] for part in direct_parts(expr)]
        number = self._numbers.setdefault(self._key(expr), len(self.sizes))
        if number == len(self.sizes):
            self.sizes.append(1 + sum(self.sizes[part] for part in parts))
        return number

    def _key(self, value: object) -> Hashable:
        """What is equal where two expressions are written alike, of parts that have numbers."""
        if isinstance(value, Slot | IterVar | Var) or not is_dataclass(value):
            return value if isinstance(value, Hashable) else id(value)
        return type(value), *(self._in(getattr(value, each.name)) for each in fields(value))

    def _in(self, value: object) -> Hashable:
        match value:
            case Expr():
                return "part", self._known[value]
            case _ if is_tuple(value):
                return tuple(map(self._in, value))
            case float():
                return value.hex()  # the zeros are two
            case Hashable():
                return value
            case _:
                return id(value)
