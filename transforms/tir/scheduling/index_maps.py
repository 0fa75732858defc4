"""Maps of indices as users give them: affine maps, or Python functions of affine expressions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ....dialects.support.arguments import ArgumentError
from ....dialects.tir.analyzer.index_map import IndexMap as OwnMap
from ....dialects.tir.core import memref_of
from ..schedule.errors import ScheduleError

_E: TypeAlias = AffineExpr
IndexMap: TypeAlias = (
    AffineMap
    | OwnMap
    | Callable[[_E], object]
    | Callable[[_E, _E], object]
    | Callable[[_E, _E, _E], object]
    | Callable[[_E, _E, _E, _E], object]
    | Callable[[_E, _E, _E, _E, _E], object]
    | Callable[[_E, _E, _E, _E, _E, _E], object]
)
"""A map of indices: affine, TVM's `IndexMap`, or a Python function of so many affine expressions that gives some."""


def rank_of(buffer: SSAValue) -> int:
    return len(memref_of(buffer).get_shape())


def affine_map_of(map: IndexMap, rank: int) -> AffineMap:
    """An index map as an affine map of `rank` dimensions.

    Raises:
        ScheduleError: the function takes another number of indices, or gives something that is not affine.
    """
    found, separators = layout_of(map, rank)
    if separators:
        raise ScheduleError("memory is taken apart by transform_layout only, not by this index map")
    return found


def layout_of(map: IndexMap, rank: int) -> tuple[AffineMap, list[int]]:
    """An index map as an affine map of `rank` dimensions, and the indices before which another dimension of memory
    begins.

    Raises:
        ScheduleError: the function takes another number of indices, or gives something that is not affine, or a
            separator that does not stand between two indices.
    """
    if isinstance(map, OwnMap):
        try:
            return map.to_affine_map(), []
        except ArgumentError as error:
            raise ScheduleError(str(error)) from error
    if isinstance(map, AffineMap):
        return map, []
    try:
        given = _called(cast("Callable[..., object]", map), [AffineExpr.dimension(number) for number in range(rank)])
    except (TypeError, NotImplementedError) as error:
        raise ScheduleError(f"the index map does not take {rank} indices, or is not affine: {error}") from error
    results: list[AffineExpr] = []
    separators: list[int] = []
    for item in cast("Sequence[object]", given if isinstance(given, list | tuple) else [given]):
        if item is OwnMap.AXIS_SEPARATOR:
            separators.append(len(results))
            continue
        if isinstance(item, int):
            item = AffineExpr.constant(item)
        if not isinstance(item, AffineExpr):
            raise ScheduleError(f"the index map gives {item!r}, which is no affine expression")
        results.append(item)
    if len(set(separators)) != len(separators) or any(not 0 < each < len(results) for each in separators):
        raise ScheduleError("a separator of the index map does not stand between two indices")
    return AffineMap(rank, 0, tuple(results)), separators


def _called(function: Callable[..., object], indices: Sequence[AffineExpr]) -> object:
    """What a function of indices gives; parameters by name only, behind any number of others, are the last ones."""
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # of a built-in function
        return function(*indices)
    named = [name for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY]
    first = max(0, len(indices) - len(named))
    return function(*indices[:first], **dict(zip(named, indices[first:], strict=True)))
