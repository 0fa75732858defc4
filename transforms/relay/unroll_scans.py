"""Write the turns of scans one after the other, where a loop of them would not do.

Before -> after, where there are two turns:

    %last, %all = relay.scan @turn(%w) over(%x)      %0 = relay.strided_slice %x ...   // the first row
        from(%h) {turns = 2, ...}                    ...                               // what @turn does with it
                                                ->   %2 = relay.strided_slice %x ...   // the second row
                                                     ...
                                                     %all = relay.reshape (relay.concatenate (%1, %3))

Turns are written out where there are at most `turns` of them, and where extents are open or several devices are at work
in the module, whose graphs have no loops; with `all`, everywhere. A function that is no longer scanned is erased where
it is private. Does not look into functions that only scans call. TVM has no counterpart: its importers write all turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr, TensorType
from xdsl.ir import SSAValue

from ...dialects.relay.base import shape_of, tensor
from ...dialects.relay.core import FuncOp, TupleOp
from ...dialects.relay.functions import is_for
from ...dialects.relay.ops.slicing import ConcatenateOp, StridedSliceOp
from ...dialects.relay.ops.transform import ReshapeOp
from ...dialects.relay.scan import ScanOp
from ..infra import ModulePass, report_changed
from ..infra.walk import clone, erase, walk
from .device_planning.devices import speaks_of_devices
from .emitter import Emitter
from .outline_open_segments import has_open_extents


@dataclass(frozen=True)
class UnrollScansPass(ModulePass):
    """`relay.scan` -> its turns."""

    name = "unroll-scans"
    opt_level: ClassVar[int] = 0
    ranges: ClassVar = {"turns": (0, None)}

    turns: int = 0
    """So many turns are always written out."""
    all: bool = False
    """Write out every scan."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, FuncOp) and not is_for(f)}
        changed = False
        while scans := [each for f in functions.values() for each in walk(f) if isinstance(each, ScanOp)]:
            everywhere = self.all or any(has_open_extents(f) or speaks_of_devices(f) for f in functions.values())
            taken = [scan for scan in scans if everywhere or scan.turns.value.data <= self.turns]
            if not taken:
                break
            changed = True
            for scan in taken:
                unroll(scan, functions[scan.callee.string_value()])
            used = {scan.callee.string_value() for scan in scans if scan not in taken}
            for name in {scan.callee.string_value() for scan in taken} - used:
                if functions[name].sym_visibility is not None and not _is_mentioned(op, name):
                    erase(functions.pop(name))
        report_changed(changed)


def _is_mentioned(module: ModuleOp, name: str) -> bool:
    return any(
        isinstance(value, SymbolRefAttr) and value.string_value() == name
        for op in walk(module)
        for value in op.properties.values()
    )


def unroll(scan: ScanOp, callee: FuncOp) -> None:
    """Put the turns of a scan in its place."""
    turns, count = scan.turns.value.data, len(scan.carried)
    numbers = scan.gathered.get_values()
    carried = list(scan.carried)
    gathered: list[list[SSAValue]] = [[] for _ in numbers]
    block = scan.parent
    assert block is not None
    emit = Emitter()
    for turn in range(turns):
        rows = [_row(emit, value, scan.row_at(number, turn)) for number, value in enumerate(scan.rows)]
        values = dict[SSAValue, SSAValue](zip(callee.body.block.args, [*scan.captured, *rows, *carried], strict=True))
        for op in callee.body.block.ops:
            if op is not callee.return_op:
                emit.ops.append(copy := clone(op, values))
                values.update(zip(op.results, copy.results, strict=True))
        given = [values[value] for value in callee.return_op.arguments]
        carried = given[:count]
        for column, number in zip(gathered, numbers, strict=True):
            column.append(given[number])
    whole = [
        _gathered(emit, column[:: -1 if scan.directions.get_values()[len(scan.rows) + place] else 1])
        for place, column in enumerate(gathered)
    ]
    for op in emit.ops:
        op.location = scan.location
        block.insert_op_before(op, scan)
    for result, value in zip(scan.res, [*carried, *whole], strict=True):
        value.name_hint = value.name_hint or result.name_hint
        result.replace_all_uses_with(value)
    erase(scan)


def _row(emit: Emitter, value: SSAValue, place: int) -> SSAValue:
    taken = emit(StridedSliceOp(value, begin=[place], end=[place + 1], axes=[0]))
    return emit(ReshapeOp(taken, newshape=shape_of(value)[1:]))


def _gathered(emit: Emitter, rows: list[SSAValue]) -> SSAValue:
    """Rows as one tensor. They are put together along an axis of theirs, so that each is computed where it stands."""
    type = tensor(rows[0])
    shape = list(type.get_shape())
    if not shape:
        rows = [emit(ReshapeOp(row, newshape=[1])) for row in rows]
    joined = emit(ConcatenateOp(emit(TupleOp(*rows)), axis=0)) if len(rows) > 1 else rows[0]
    result = TensorType(type.element_type, [len(rows), *shape])
    return joined if joined.type == result else emit(ReshapeOp(joined, newshape=[len(rows), *shape]))
