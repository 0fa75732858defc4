"""Check the accesses of loops that are not shown to be inside of their buffers, where a compilation starts at `loops`.

Before -> after, for a kernel whose loops were edited by hand:

```mlir
func.func private @f.nest_0(%x: memref<64xf32>, %i: memref<3xi64>, %out: memref<3xf32>) {
  ...
  %2 = memref.load %x[%1] : memref<64xf32>

func.func private @f.nest_0(%x: memref<64xf32>, %i: memref<3xi64>, %out: memref<3xf32>, %record: !rt.record) {
  ...
  %2 = rt.check %1 of %1 in 64 else %record[0]
  %3 = memref.load %x[%2] : memref<64xf32>
```

The kernels that call such a function take the record, and say what its checks are; each call of theirs has a record of
its own, behind the counters of the arena, and what comes after these moves. Where checks are put in before there are
loops, that is `insert-bounds-checks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    i8,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ..dialects.rt.checks import CheckOp, RecordOp, RecordType
from ..dialects.rt.core import SlotsOp, SlotsType
from ..dialects.support.checks import RECORD_BYTES
from ..dialects.support.diagnostics import Diagnostic, Place
from ..dialects.support.hints import isa
from ..dialects.tir.buffers import memref_of
from ..dialects.tir.check_texts import access_text
from ..dialects.tir.legality.decide import Verdict
from ..transforms.infra import ModulePass, report_changed
from ..transforms.infra.remarks import passed
from .abi import COUNTER_BYTES, GRAPH_SYMBOLS, SEGMENT_MARK
from .check_sites import CHECKS, RECORDS, called
from .loop_accesses import Judgement, judge_accesses


@dataclass(frozen=True)
class InsertLoopChecksPass(ModulePass):
    """Check accesses of loops that were not proved to stay inside."""

    name = "insert-loop-checks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Raises:
            Diagnostic: there is no place for records, since the graph's extents are open or it is part of a program; or
                an access is wider than its buffer.
        """
        judged = list(judge_accesses(op))
        doubtful = [found for found in judged if found.answer.verdict != Verdict.PROVED]
        passed(self.name, op, f"checks made: {len(doubtful)}, for {len(judged)} accesses; all else was proved")
        report_changed(bool(doubtful))
        if not doubtful:
            return
        functions = {each.sym_name.data: each for each in op.body.block.ops if isinstance(each, func.FuncOp)}
        for kernel in functions.values():
            if any(isinstance(type, SlotsType) for type in kernel.function_type.inputs):
                nests = [functions[callee] for callee in _callees(kernel) if callee in functions]
                _check_kernel(kernel, nests, doubtful)
        for function in functions.values():
            if COUNTER_BYTES in function.attributes:
                _give_records(function, functions)


def _callees(function: func.FuncOp) -> list[str]:
    """The functions that one calls."""
    calls = [op for op in function.walk() if isinstance(op, func.CallOp)]
    return list(dict.fromkeys(call.callee.string_value() for call in calls))


def _finds(function: func.FuncOp, doubtful: Sequence[Judgement]) -> list[Judgement]:
    """What is in doubt in a function."""
    return [found for found in doubtful if function.is_ancestor(found.op)]


def _record_of(function: func.FuncOp) -> BlockArgument | None:
    return next((each for each in function.body.block.args if isinstance(each.type, RecordType)), None)


def _check_kernel(kernel: func.FuncOp, nests: Sequence[func.FuncOp], doubtful: Sequence[Judgement]) -> None:
    """Check what is in doubt in the nests of a kernel, and in what it does itself, and have it say so."""
    sites = kernel.attributes.get(CHECKS)
    known = [*sites.data] if isa(sites, ArrayAttr[Attribute]) else []
    for function in (kernel, *nests):
        found = _finds(function, doubtful)
        if not found:
            continue
        record = _record_of(function) or _take_record(function)
        for each in found:
            known.append(_site(each))
            _check(each, record, len(known) - 1)
    if sites is None and not known:
        return
    kernel.attributes[CHECKS] = ArrayAttr(known)
    record = _record_of(kernel) or _take_record(kernel)
    named = {nest.sym_name.data: nest for nest in nests}
    for call in [op for op in kernel.walk() if isinstance(op, func.CallOp)]:
        if (nest := named.get(call.callee.string_value())) is not None:
            _hand(call, nest, record)


def _site(found: Judgement) -> DictionaryAttr:
    """What the check of an access says."""
    text = access_text(found.op, found.buffer, found.dimension)
    if found.lanes > 1:
        text = text.replace("index {index} lies", f"one of the {found.lanes} elements from index {{index}} on lies")
        text = text.replace("whose extent is {extent}", f"whose extent is {_extent(found)}")
    entries: dict[str, Attribute] = {"text": StringAttr(text)}
    if (place := Place.of_location(found.op.location)) is not None:
        numbers = {"line": IntegerAttr(place.line, i64), "column": IntegerAttr(place.column, i64)}
        entries |= {"file": StringAttr(place.file), **numbers}
    return DictionaryAttr(entries)


def _extent(found: Judgement) -> int:
    return memref_of(found.buffer).get_shape()[found.dimension]


def _check(found: Judgement, record: SSAValue, number: int) -> None:
    """Have an access use an index that was checked."""
    first = _extent(found) - found.lanes + 1
    if first < 1:
        raise Diagnostic.at(found.op, f"{found.lanes} elements are more than the buffer has, {_extent(found)}")
    check = CheckOp(found.index, found.index, first, record, number)
    assert found.op.parent is not None
    found.op.parent.insert_op_before(check, found.op)
    buffer = next(n for n, operand in enumerate(found.op.operands) if operand is found.buffer)
    found.op.operands[buffer + 1 + found.dimension] = check.result  # indices follow the buffer


def _take_record(function: func.FuncOp) -> BlockArgument:
    """A record as an argument more, before the slots of a kernel."""
    types = list(function.function_type.inputs)
    place = next((n for n, type in enumerate(types) if isinstance(type, SlotsType)), len(types))
    record = function.body.block.insert_arg(RecordType(), place)
    record.name_hint = "record"
    types.insert(place, RecordType())
    function.function_type = FunctionType.from_lists(types, list(function.function_type.outputs))
    if function.arg_attrs is not None:
        said = list(function.arg_attrs)
        said.insert(place, DictionaryAttr({}))
        function.arg_attrs = ArrayAttr(said)
    return record


def _hand(call: func.CallOp, callee: func.FuncOp, record: SSAValue) -> None:
    """Hand a call the record that its callee takes, unless it does already."""
    if len(call.arguments) == len(callee.function_type.inputs):
        return
    arguments = list(call.arguments)
    place = next(n for n, type in enumerate(callee.function_type.inputs) if isinstance(type, RecordType))
    arguments.insert(place, record)
    call.operands = arguments


def _give_records(function: func.FuncOp, functions: dict[str, func.FuncOp]) -> None:
    """Have the calls of a graph's function hand each kernel that checks a record of its own."""
    calls: list[tuple[func.CallOp, func.FuncOp]] = []
    for op in function.walk():
        if isinstance(op, func.CallOp) and (kernel := functions.get(op.callee.string_value())) is not None:
            if _record_of(kernel) is not None:
                calls.append((op, kernel))
    if not calls:
        return
    old = [call for call, kernel in calls if len(call.arguments) == len(kernel.function_type.inputs)]
    more = (len(calls) - len(old)) * RECORD_BYTES
    counters = function.attributes[COUNTER_BYTES]
    assert isinstance(counters, IntegerAttr)
    end = counters.value.data
    begin = function.attributes.get(RECORDS, IntegerAttr(end, i64))
    assert isinstance(begin, IntegerAttr)
    if {GRAPH_SYMBOLS, SEGMENT_MARK} & function.attributes.keys() or begin.value.data + len(old) * RECORD_BYTES != end:
        raise Diagnostic.at(
            function,
            "there is no place for the records of checks: extents are open, or it is a part of a program",
            hint="checks are put in at the phase 'schedule' too: compile what stands there",
        )
    arena = _widen(function.body.block.args[-2], end, more)
    sites = [called(call, functions[call.callee.string_value()]) for call in old]
    for call, kernel in calls:
        if call not in old:
            record = RecordOp(arena, begin.value.data + len(sites) * RECORD_BYTES)
            record.result.name_hint = "record"
            assert call.parent is not None
            call.parent.insert_op_before(record, call)
            _hand(call, kernel, record.result)
            sites.append(called(call, kernel))
    function.attributes |= {CHECKS: ArrayAttr(sites), RECORDS: begin, COUNTER_BYTES: IntegerAttr(end + more, i64)}
    function.function_type = FunctionType.from_lists([each.type for each in function.body.block.args], [])


def _widen(arena: SSAValue, end: int, more: int) -> SSAValue:
    """The arena with room for `more` bytes at `end`: what stands behind moves."""
    type = arena.type
    assert isa(type, MemRefType)
    for use in list(arena.uses):
        op = use.operation
        if isinstance(op, memref.ViewOp):
            moved = _moved(op.byte_shift, more)
            assert op.parent is not None
            op.parent.insert_ops_before(moved, op)
            op.operands[1] = moved[-1].results[0]
        elif not isinstance(op, SlotsOp | RecordOp):
            raise Diagnostic.at(op, "uses the arena, in which there is no room for the records of checks")
    return Rewriter.replace_value_with_new_type(arena, MemRefType(i8, [type.get_shape()[0] + more]))


def _moved(shift: SSAValue, more: int) -> list[Operation]:
    """What computes `shift` and `more`."""
    op = shift.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return [arith.ConstantOp(IntegerAttr(op.value.value.data + more, IndexType()))]
    constant = arith.ConstantOp(IntegerAttr(more, IndexType()))
    return [constant, arith.AddiOp(shift, constant.result)]
