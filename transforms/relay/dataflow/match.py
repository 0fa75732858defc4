"""The matcher behind data-flow patterns: a search with backtracking, on explicit stacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from xdsl.ir import Operation, OpResult, SSAValue

if TYPE_CHECKING:
    from .pattern import DFPattern

Goal: TypeAlias = "tuple[DFPattern, SSAValue]"
"""A value that must match a pattern."""


class Match(Mapping["DFPattern", SSAValue]):
    """What each pattern has matched. A pattern in an alternative that was not taken is not among the keys.

    `path` holds the operations that matched paths of dominator patterns.
    """

    def __init__(self) -> None:
        self._bound: dict[DFPattern, SSAValue] = {}
        self.path: list[Operation] = []

    def __getitem__(self, pattern: DFPattern) -> SSAValue:
        return self._bound[pattern]

    def __iter__(self) -> Iterator[DFPattern]:
        return iter(self._bound)

    def __len__(self) -> int:
        return len(self._bound)

    def bind(self, pattern: DFPattern, value: SSAValue) -> None:
        self._bound[pattern] = value

    def cut_back(self, bound: int, path: int) -> None:
        """Forget what was bound last."""
        while len(self._bound) > bound:
            self._bound.popitem()
        del self.path[path:]

    def copy(self) -> Match:
        copy = Match()
        copy._bound.update(self._bound)
        return copy


@dataclass(frozen=True)
class _Todo:
    """What is still to be matched: a list that choices share."""

    pattern: DFPattern
    value: SSAValue
    rest: _Todo | None


def find_match(pattern: DFPattern, value: SSAValue, known: Match | None = None) -> Match | None:
    """How `value` matches `pattern`, given what is `known` to match already; `None` if it does not.

    Depth first with backtracking, on explicit stacks: patterns may be of any depth.
    """
    if (names := pattern.root_ops) is not None and not (isinstance(value, OpResult) and value.op.name in names):
        return None
    match = Match() if known is None else known.copy()
    todo: _Todo | None = _Todo(pattern, value, None)
    choices: list[tuple[Iterator[Sequence[Goal]], _Todo | None, int, int]] = []
    while todo is not None:
        current, rest = todo, todo.rest
        if current.pattern in match:
            ways = iter([()] if match[current.pattern] is current.value else [])
        else:
            match.bind(current.pattern, current.value)
            ways = iter(current.pattern.alternatives(current.value, match))
        choices.append((ways, rest, len(match), len(match.path)))
        while choices:  # go on in the latest choice that has another way
            ways, rest, bound, path = choices[-1]
            match.cut_back(bound, path)
            if (goals := next(ways, None)) is not None:
                todo = rest
                for goal in reversed(goals):
                    todo = _Todo(*goal, todo)
                break
            choices.pop()
        else:
            return None
    return match
