"""The turns of a `relay.scan` on NumPy arrays, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from ..support.diagnostics import Diagnostic
from ..support.dtypes import numpy_dtype
from .base import DYNAMIC, tensor
from .extents import Extents, Known
from .functions import FuncOp
from .scan import ScanOp

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]


def run_turns(
    op: ScanOp,
    callee: FuncOp,
    turn_of: Callable[[Sequence[NDArray]], Sequence[NDArray]],
    operands: Sequence[NDArray],
) -> list[NDArray]:
    """What a scan gives: what is carried after the last turn, then what turns have gathered, `[turns, *row]`.

    Args:
        callee: the function of a turn; `turn_of` evaluates it.
        operands: what is captured, the rows, and what is carried.

    Raises:
        Diagnostic: tensors have different numbers of rows.
    """
    import numpy as np

    seen, count = len(op.captured), len(op.rows)
    captured, rows, carried = operands[:seen], operands[seen : seen + count], operands[seen + count :]
    turns = len(rows[0]) if op.known_turns is None else op.known_turns
    if any(len(row) != turns for row in rows):
        counts = " and ".join(map(str, dict.fromkeys(map(len, rows))))
        raise Diagnostic.at(op, f"takes a row of each of its tensors in each turn, which have {counts} rows")
    columns: list[list[NDArray]] = [[] for _ in op.gathered.get_values()]
    for turn in range(turns):
        taken = [np.asarray(row[op.row_at(number, turn, turns)]) for number, row in enumerate(rows)]
        given = turn_of([*captured, *taken, *carried])
        carried = given[: len(carried)]
        for column, number in zip(columns, op.gathered.get_values(), strict=True):
            column.append(given[number])
    gathered: list[NDArray] = []
    for place, column in enumerate(columns):
        if column:
            whole = np.stack(column)
        else:
            shape = _row_shape(op, callee, place, [*captured, *rows, *carried])
            whole = np.empty((0, *shape), numpy_dtype(tensor(op.res[len(carried) + place]).element_type))
        gathered.append(whole[::-1] if op.directions.get_values()[count + place] else whole)
    return [*carried, *gathered]


def _row_shape(op: ScanOp, callee: FuncOp, place: int, operands: Sequence[NDArray]) -> tuple[int, ...]:
    """The shape of what turns would gather, of which there is none."""
    shape = tensor(op.res[len(op.carried) + place]).get_shape()[1:]
    if DYNAMIC not in shape:
        return tuple(shape)
    first = len(op.captured)
    behind = first + len(op.rows)
    shapes = [array.shape[first <= number < behind :] for number, array in enumerate(operands)]
    known = Extents().through(callee, [Known(tuple(each)) for each in shapes])
    return cast("tuple[int, ...]", known[op.gathered.get_values()[place]].dims)
