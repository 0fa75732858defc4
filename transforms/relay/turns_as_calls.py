"""A scan as a function that calls itself, for where graphs have no loops, or where turns branch.

    relay.func private @turn_call(%w, %x, %turn, %turns, %h, %all) {
      %goes_on = %turn < %turns
      relay.if %goes_on {
        ...                                    // the body of @turn, on row %turn of %x
        relay.call @turn_call(%w, %x, %turn + 1, %turns, handed on, relay.set_row %all, %turn, row)
      } else { relay.yield %h, %all }

Rows that turns take or gather have known extents.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects.relay.base import is_static, tensor
from ...dialects.relay.control import IfOp, SetRowOp
from ...dialects.relay.core import CallOp, ConstantOp, FuncOp, ReturnOp, TupleOp, YieldOp
from ...dialects.relay.ops.broadcast import AddOp, LessOp, NotEqualOp, SubtractOp
from ...dialects.relay.ops.creation import ShapeOfOp, ZerosOp
from ...dialects.relay.ops.dyn_creation import DynFullOp
from ...dialects.relay.ops.elementwise import CastOp
from ...dialects.relay.ops.gather import TakeOp
from ...dialects.relay.ops.slicing import ConcatenateOp
from ...dialects.relay.ops.transform import ReshapeOp
from ...dialects.relay.scan import ScanOp, row_type
from ...dialects.support.advice import give_shapes
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.dtypes import dtype_name, numpy_dtype
from ...dialects.support.retyping import retype
from ..infra.walk import clone, erase
from .emitter import Emitter


def call_turns(scan: ScanOp, callee: FuncOp, name: str) -> FuncOp:
    """Put a call in the place of a scan; the function of this name that is called.

    Raises:
        Diagnostic: rows have open extents.
    """
    gathered = scan.res[len(scan.carried) :]
    for value in (*scan.rows, *gathered):
        if not is_static(row_type(value)):
            why = "has rows of open extents, where its turns are to be calls"
            raise Diagnostic.at(scan, why, hint=give_shapes())
    before = Emitter()
    zero = before(ConstantOp.from_numpy(np.array(0, np.int64), "first"))
    turns = _count(before, scan, zero)
    buffers = [_empty(before, turns, result) for result in gathered]
    given = [*scan.captured, *scan.rows, zero, turns, *scan.carried, *buffers]
    function = _function(scan, callee, name, [value.type for value in given])
    call = CallOp(name, given, [result.type for result in scan.res])
    before.insert(call)
    before.insert_before(scan)
    for old, new in zip(scan.res, call.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    erase(scan)
    return function


def _count(emit: Emitter, scan: ScanOp, zero: SSAValue) -> SSAValue:
    """The number of turns; the run fails where two tensors have other numbers of rows."""
    if scan.known_turns is not None:
        return emit(ConstantOp.from_numpy(np.array(scan.known_turns, np.int64), "turns"))
    turns, *others = (
        emit(TakeOp(emit(ShapeOfOp(value, dtype="int64")), zero, axis=0)) for value in dict.fromkeys(scan.rows)
    )
    for other in others:
        turns = _if_equal(emit, turns, other)
    return turns


def _if_equal(emit: Emitter, turns: SSAValue, other: SSAValue) -> SSAValue:
    """The number of turns; the run fails where a tensor has another number of rows, a place that is not there."""
    differ = emit(CastOp(emit(NotEqualOp(turns, other)), dtype="int64"))
    return emit(TakeOp(emit(ReshapeOp(turns, newshape=[1])), differ, axis=0, mode="error"))


def _empty(emit: Emitter, turns: SSAValue, result: SSAValue) -> SSAValue:
    """What rows are put into, a row for each turn."""
    type = tensor(result)
    if is_static(type):
        return emit(ZerosOp(shape=type.get_shape(), dtype=dtype_name(type.element_type)))
    count = emit(ReshapeOp(turns, newshape=[1]))
    row = emit(ConstantOp.from_numpy(np.array(type.get_shape()[1:], np.int64), "row"))
    fill = emit(ConstantOp.from_numpy(np.zeros((), numpy_dtype(type.element_type)), "nothing"))
    made = emit(
        DynFullOp(fill, emit(ConcatenateOp(emit(TupleOp(count, row)), axis=0)), dtype=dtype_name(type.element_type))
    )
    retype(made, type)
    return made


def _function(scan: ScanOp, callee: FuncOp, name: str, types: Sequence[Attribute]) -> FuncOp:
    block = Block(arg_types=types)
    arguments, results = list(block.args), [result.type for result in scan.res]
    seen, count, carries = len(scan.captured), len(scan.rows), len(scan.carried)
    turn, turns = arguments[seen + count : seen + count + 2]
    held, buffers = arguments[seen + count + 2 :][:carries], arguments[seen + count + 2 + carries :]
    directions = scan.directions.get_values()
    inner = Emitter()
    one = inner(ConstantOp.from_numpy(np.array(1, np.int64), "one"))
    following = inner(AddOp(turn, one))
    last = inner(SubtractOp(turns, following))
    rows = [
        inner(TakeOp(value, last if back else turn, axis=0))
        for value, back in zip(arguments[seen : seen + count], directions[:count], strict=True)
    ]
    values = dict[SSAValue, SSAValue](zip(callee.body.block.args, [*arguments[:seen], *rows, *held], strict=True))
    for op in callee.body.block.ops:
        if op is not callee.return_op:
            inner.ops.append(copy := clone(op, values))
            values.update(zip(op.results, copy.results, strict=True))
    given = [values[value] for value in callee.return_op.arguments]
    kept = given[:carries]
    for buffer, number, back in zip(buffers, scan.gathered.get_values(), directions[count:], strict=True):
        kept.append(inner.insert(SetRowOp(buffer, last if back else turn, given[number])))
    again = CallOp(name, [*arguments[: seen + count], following, turns, *kept], results)
    then, rest = Block([*inner.ops, again, YieldOp(*again.results)]), Block([YieldOp(*held, *buffers)])
    goes_on = LessOp(turn, turns)
    choice = IfOp(goes_on.results[0], results, Region(then), Region(rest))
    block.add_ops([goes_on, choice, ReturnOp(*choice.results)])
    function = FuncOp(name, FunctionType.from_lists(types, results), Region(block), private=True)
    for op in (function, *function.walk()):
        op.location = scan.location
    return function
