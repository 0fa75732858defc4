"""Maps of indices as users give them: affine maps, or Python functions of indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ....dialects.support.arguments import ArgumentError
from ....dialects.support.hints import listed
from ....dialects.tir.analyzer.convert import dim, to_affine
from ....dialects.tir.analyzer.index_map import IndexMap as OwnMap
from ....dialects.tir.analyzer.index_map import call_with_indices, is_affine
from ....dialects.tir.analyzer.nodes import IntExpr, as_expr
from ....dialects.tir.core import memref_of
from ..schedule.errors import ScheduleError

_E: TypeAlias = IntExpr
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
"""A map of indices: affine, TVM's `IndexMap`, or a Python function of so many indices that gives some."""


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
        given = call_with_indices(map, [dim(number) for number in range(rank)])
    except ArgumentError as error:
        raise ScheduleError(f"the index map is not affine: {error.message}", hint=error.hint) from error
    except TypeError as error:
        raise ScheduleError(f"the index map does not take {rank} indices: {error}") from error
    results: list[AffineExpr] = []
    separators: list[int] = []
    for item in listed(given):
        if item is OwnMap.AXIS_SEPARATOR:
            separators.append(len(results))
            continue
        if not isinstance(item, IntExpr | int):
            raise ScheduleError(f"the index map gives {item!r}, which is no affine expression")
        affine = to_affine(as_expr(item))
        if affine is None or not is_affine(affine):
            raise ScheduleError(f"the index {item} is not affine")
        results.append(affine)
    if len(set(separators)) != len(separators) or any(not 0 < each < len(results) for each in separators):
        raise ScheduleError("a separator of the index map does not stand between two indices")
    return AffineMap(rank, 0, tuple(results)), separators
