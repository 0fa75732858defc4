"""Rewrite patterns by the operation type that they are about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType, MethodType, UnionType
from typing import Union, cast, get_args, get_origin

from xdsl.ir import Operation
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)


@dataclass
class PatternStatistics:
    """What one pattern did."""

    name: str
    tried: int = 0
    matched: int = 0
    nanoseconds: int = 0
    """Time spent in it; measured where the driver is asked to."""


@dataclass(eq=False, slots=True)
class PatternEntry:
    """A pattern, as a function."""

    rewrite: Callable[[Operation, PatternRewriter], None]
    statistics: PatternStatistics


class PatternTable(dict[type[Operation], tuple[PatternEntry, ...]]):
    """Operation type -> the patterns about it, in the order given; filled as types are asked for.

    `statistics` holds one record for each pattern name.
    """

    def __init__(self, patterns: Sequence[RewritePattern]):
        super().__init__()
        self._patterns: list[tuple[tuple[type[Operation], ...], PatternEntry]] = []
        self.statistics: dict[str, PatternStatistics] = {}
        for pattern in patterns:
            self._add(pattern)

    def _add(self, pattern: RewritePattern) -> None:
        if isinstance(pattern, GreedyRewritePatternApplier):
            for inner in pattern.rewrite_patterns:
                self._add(inner)
            return
        name = pattern_name(pattern)
        # The table sees to the operation type, so the decorator's own check can be left out.
        inner = None if hasattr(pattern, "op_types") else _closure(pattern).get("func")
        rewrite = MethodType(inner, pattern) if isinstance(inner, FunctionType) else pattern.match_and_rewrite
        entry = PatternEntry(rewrite, self.statistics.setdefault(name, PatternStatistics(name)))
        self._patterns.append((pattern_op_types(pattern), entry))

    def __missing__(self, op_type: type[Operation]) -> tuple[PatternEntry, ...]:
        entries = tuple(entry for types, entry in self._patterns if issubclass(op_type, types))
        self[op_type] = entries
        return entries


def pattern_op_types(pattern: RewritePattern) -> tuple[type[Operation], ...]:
    """The operation types a pattern is about: its `op_types`, else those of `@op_type_rewrite_pattern`, else all."""
    if declared := getattr(pattern, "op_types", None):
        return cast("tuple[type[Operation], ...]", declared)
    expected = _closure(pattern).get("expected_type")
    if get_origin(expected) in (Union, UnionType):
        return get_args(expected)
    return (expected,) if isinstance(expected, type) else (Operation,)


def _closure(pattern: RewritePattern) -> dict[str, object]:
    """What `@op_type_rewrite_pattern` has wrapped into the pattern's method."""
    method = type(pattern).match_and_rewrite
    if not method.__qualname__.startswith(f"{op_type_rewrite_pattern.__name__}."):
        return {}
    return {n: c.cell_contents for n, c in zip(method.__code__.co_freevars, method.__closure__ or (), strict=True)}


def pattern_name(pattern: RewritePattern) -> str:
    """The name under which a pattern is reported: its `pattern_name`, else that of its class."""
    return cast(str, getattr(pattern, "pattern_name", type(pattern).__name__))
