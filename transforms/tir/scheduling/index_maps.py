"""Maps of indices as users give them: affine maps, or Python functions of affine expressions."""

from __future__ import annotations

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
    if isinstance(map, OwnMap):
        try:
            return map.to_affine_map()
        except ArgumentError as error:
            raise ScheduleError(str(error)) from error
    if isinstance(map, AffineMap):
        return map
    try:
        function = cast("Callable[..., object]", map)
        given = function(*(AffineExpr.dimension(number) for number in range(rank)))
    except (TypeError, NotImplementedError) as error:
        raise ScheduleError(f"the index map does not take {rank} indices, or is not affine: {error}") from error
    results: list[AffineExpr] = []
    for item in cast("Sequence[object]", given if isinstance(given, list | tuple) else [given]):
        if isinstance(item, int):
            item = AffineExpr.constant(item)
        if not isinstance(item, AffineExpr):
            raise ScheduleError(f"the index map gives {item!r}, which is no affine expression")
        results.append(item)
    return AffineMap(rank, 0, tuple(results))
