"""Write the turns of scans one after the other, where a loop of them would not do.

Before -> after, where there are two turns:

    %last, %all = relay.scan @turn(%w) over(%x)      %0 = relay.strided_slice %x ...   // the first row
        from(%h) {turns = 2, ...}                    ...                               // what @turn does with it
                                                ->   %2 = relay.strided_slice %x ...   // the second row
                                                     ...
                                                     %all = relay.reshape (relay.concatenate (%1, %3))

Turns are written out where there are any, and at most `turns`, and where several devices are at work in the module,
whose graphs have no loops; with `all`, everywhere. Before that, what turns take and give gets the types of what is
scanned, as far as these are more exact (`infer-type`). A function that is no longer scanned is erased where it is
private. Turns whose number is open become a function that calls itself where they should be written out, and so do
turns that branch or call, which are no list of kernels (`turns_as_calls`). Does not look into functions that only scans
call. TVM has no counterpart: its importers write all turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr, TensorType
from xdsl.ir import SSAValue

from ...dialects.relay.base import is_static, shape_of, tensor
from ...dialects.relay.core import ConstantOp, FuncOp, TupleOp
from ...dialects.relay.functions import is_for
from ...dialects.relay.ops.slicing import ConcatenateOp, StackOp, StridedSliceOp
from ...dialects.relay.ops.transform import ReshapeOp, SqueezeOp
from ...dialects.relay.scan import ScanOp
from ...dialects.support.advice import give_shapes
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.dtypes import numpy_dtype
from ...dialects.support.unique_names import free_name
from ..infra import ModulePass, report_changed
from ..infra.walk import clone, erase, walk
from .device_planning.devices import speaks_of_devices
from .emitter import Emitter
from .infer_type import fit_turns
from .outline_segments import deciding
from .turns_as_calls import call_turns


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
        changed = fit_turns(op)
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, FuncOp) and not is_for(f)}
        while scans := [each for f in functions.values() for each in walk(f) if isinstance(each, ScanOp)]:
            everywhere = self.all or any(map(speaks_of_devices, functions.values()))
            written = {scan for scan in scans if everywhere or (scan.known_turns or self.turns + 1) <= self.turns}
            branching = {name for name, function in functions.items() if deciding(function) is not None}
            taken = [scan for scan in scans if scan in written or scan.callee.string_value() in branching]
            if not taken:
                break
            changed = True
            for scan in taken:
                callee = functions[scan.callee.string_value()]
                if scan.known_turns is None or scan not in written:
                    name = free_name(f"{callee.sym_name.data}_call", functions)
                    functions[name] = call_turns(scan, callee, name)
                    op.body.block.insert_op_after(functions[name], callee)
                else:
                    unroll(scan, callee)
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
    turns, count = scan.known_turns, len(scan.carried)
    assert turns is not None
    numbers = scan.gathered.get_values()
    carried = list(scan.carried)
    gathered: list[list[SSAValue]] = [[] for _ in numbers]
    block = scan.parent
    assert block is not None
    emit = Emitter()
    for turn in range(turns):
        rows = [_row(emit, value, scan.row_at(number, turn, turns)) for number, value in enumerate(scan.rows)]
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
        if column
        else _no_rows(emit, scan, scan.res[count + place])
        for place, column in enumerate(gathered)
    ]
    for op in emit.ops:
        op.location = scan.location
        block.insert_op_before(op, scan)
    for result, value in zip(scan.res, [*carried, *whole], strict=True):
        result.replace_all_uses_with(value)
    erase(scan)


def _no_rows(emit: Emitter, scan: ScanOp, result: SSAValue) -> SSAValue:
    """What no turn has gathered."""
    if not is_static(result.type):
        raise Diagnostic.at(scan, f"has no turns, and gives rows of an open extent, {result.type}", hint=give_shapes())
    import numpy as np

    type = tensor(result)
    return emit(ConstantOp.from_numpy(np.zeros(type.get_shape(), numpy_dtype(type.element_type)), "no_rows"))


def _row(emit: Emitter, value: SSAValue, place: int) -> SSAValue:
    taken, shape = emit(StridedSliceOp(value, begin=[place], end=[place + 1], axes=[0])), shape_of(value)[1:]
    return emit(ReshapeOp(taken, newshape=shape) if is_static(value.type) else SqueezeOp(taken, axis=[0]))


def _gathered(emit: Emitter, rows: list[SSAValue]) -> SSAValue:
    """Rows as one tensor. They are put together along an axis of theirs, so that each is computed where it stands."""
    type = tensor(rows[0])
    if not is_static(type):
        return emit(StackOp(emit(TupleOp(*rows)), axis=0))
    shape = list(type.get_shape())
    if not shape:
        rows = [emit(ReshapeOp(row, newshape=[1])) for row in rows]
    joined = emit(ConcatenateOp(emit(TupleOp(*rows)), axis=0)) if len(rows) > 1 else rows[0]
    result = TensorType(type.element_type, [len(rows), *shape])
    return joined if joined.type == result else emit(ReshapeOp(joined, newshape=[len(rows), *shape]))
