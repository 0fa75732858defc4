"""The matcher behind data-flow patterns: a search with backtracking, on explicit stacks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import Operation, OpResult, SSAValue

Goal: TypeAlias = "tuple[Pattern, SSAValue]"
"""A value that must match a pattern."""


class Pattern(ABC):
    """What the search needs to know of a pattern. One is equal to itself only."""

    root_ops: frozenset[str] | None = None
    """The names of the operations whose results can match; `None` if any value can."""

    @abstractmethod
    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        """The ways in which `value` can match, each as what else must match then: `[[]]` at once, `[]` not at all."""


class Match(Mapping[Pattern, SSAValue]):
    """What each pattern has matched. A pattern in an alternative that was not taken is not among the keys.

    `path` holds the operations that matched paths of dominator patterns.
    """

    def __init__(self) -> None:
        self._bound: dict[Pattern, SSAValue] = {}
        self.path: list[Operation] = []

    def __getitem__(self, pattern: Pattern) -> SSAValue:
        return self._bound[pattern]

    def __iter__(self) -> Iterator[Pattern]:
        return iter(self._bound)

    def __len__(self) -> int:
        return len(self._bound)

    def __bool__(self) -> bool:
        return True  # what matches an operator as what is called has matched no value

    def bind(self, pattern: Pattern, value: SSAValue) -> None:
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

    pattern: Pattern
    value: SSAValue
    rest: _Todo | None


def find_match(pattern: Pattern, value: SSAValue, known: Match | None = None) -> Match | None:
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
