"""Tell what a program computes from how it goes on: kernel calls that follow one another become a function.

    relay.func @main(%x, %c) {                      relay.func @main(%x, %c) attributes {control} {
      %0 = relay.call_lowered @k(%x)                  %1 = relay.call_lowered @main_segment(%x)
      %1 = relay.call_lowered @l(%0)                  %y = relay.if %c {
      %y = relay.if %c {                                %2 = relay.call_lowered @main_segment_1(%1)
        %2 = relay.call_lowered @m(%1)         ->       relay.yield %2
        relay.yield %2                                } else {
      } else {                                          relay.yield %1
        relay.yield %1                                }
      }                                               relay.return %y
      relay.return %y
                                                    relay.func private @main_segment(%x) attributes {segment} {
                                                      %0 = relay.call_lowered @k(%x) ...

A segment is what a graph without control flow is as a whole: a straight sequence of kernels, with its memory planned,
that threads run together. What is left are functions that decide, call and hand on values (`control`); one thread runs
them. Of a segment's tensors only those that others need are values, the rest lies in its planned memory.

Values that are handed on are in the memory of the host: what a segment wants elsewhere (`param_virtual_devices`) is
copied when it begins, and what it gives elsewhere when it ends.

Operations that only take values apart, or put them together, do not end a segment. Does nothing to a module in which no
function branches, calls, or handles other values than tensors. TVM has no counterpart: its virtual machine runs kernel
after kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.relay.control import ApplyOp, ClosureOp, FnOp, IfOp, RefCreateOp, RefReadOp, RefWriteOp, SetRowOp
from ...dialects.relay.core import (
    CallLoweredOp,
    CallOp,
    ConstantOp,
    FuncOp,
    ReturnOp,
    TupleGetOp,
    TupleOp,
)
from ...dialects.relay.data import AdtOp, ConstructOp, MatchOp
from ...dialects.relay.devices import (
    CALL_DEVICE,
    PARAMETER_DEVICES,
    RESULT_DEVICES,
    SOURCE_DEVICE,
    VirtualDevice,
    VirtualDeviceAttr,
)
from ...dialects.relay.scan import ScanOp
from ...dialects.support.unique_names import UniqueNames, unique_symbols
from ..infra import ModulePass, report_changed
from ..infra.walk import erase, walk

CONTROL, SEGMENT = "control", "segment"
"""The attributes of the two kinds of functions."""

DECIDING = (IfOp, MatchOp, ApplyOp, ClosureOp, FnOp, RefCreateOp, RefReadOp, RefWriteOp, ConstructOp, CallOp, SetRowOp)
LIGHT = (TupleOp, TupleGetOp, ConstructOp, ClosureOp, ConstantOp)
"""Operations without effect that compute nothing."""


@dataclass(frozen=True)
class OutlineSegmentsPass(ModulePass):
    """Kernel calls of functions with control flow -> calls of private functions of kernel calls."""

    name = "outline-segments"
    required: ClassVar[tuple[str, ...]] = ("lower-te", "lambda-lift")

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        turns = scanned_functions(module)
        return all(f.sym_name.data in turns for f in _left(module))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        turns = scanned_functions(op)
        functions = [f for f in _left(op) if f.sym_name.data not in turns]
        if not any(_decides(function) for function in functions):
            return report_changed(False)
        names = unique_symbols(op)
        for function in functions:
            function.attributes[CONTROL] = UnitAttr()
            _Outlining(function, names, op).run()
        report_changed(True)


def is_control(op: Operation) -> bool:
    """Whether `op` is a function that branches and calls, or defines types for such: it stays until all else is in the
    llvm dialect."""
    return isinstance(op, AdtOp) or (isinstance(op, FuncOp) and CONTROL in op.attributes)


def _left(module: ModuleOp) -> list[FuncOp]:
    """The functions that may branch and call, and are not outlined."""
    functions = [op for op in module.ops if isinstance(op, FuncOp) and not op.is_primitive]
    return [f for f in functions if CONTROL not in f.attributes and SEGMENT not in f.attributes]


def scanned_functions(module: ModuleOp) -> set[str]:
    """The functions that are turns of scans, which are graphs as segments are."""
    return {op.callee.string_value() for op in walk(module) if isinstance(op, ScanOp)}


def _decides(function: FuncOp) -> bool:
    return deciding(function) is not None


def deciding(function: FuncOp) -> Operation | None:
    """The first operation of a function that branches, or calls what is no kernel, if there is one."""
    kernels = {
        op.sym_name.data
        for op in (function.parent_op() or function).regions[0].block.ops
        if isinstance(op, FuncOp) and op.is_primitive
    }
    found = (
        op
        for op in walk(function)
        if isinstance(op, DECIDING) and not (isinstance(op, CallOp) and op.callee.root_reference.data in kernels)
    )
    return next(found, None)


class _Outlining:
    """The segments of one function."""

    def __init__(self, function: FuncOp, names: UniqueNames, module: ModuleOp):
        self.function = function
        self.names = names
        self.module = module
        self.group: list[CallLoweredOp | ScanOp] = []
        self.delayed: list[Operation] = []
        self.waiting: set[Operation] = set()
        """The members of both."""

    def run(self) -> None:
        constants = [op for op in walk(self.function) if isinstance(op, ConstantOp)]
        for block in [b for op in walk(self.function) for region in op.regions for b in region.blocks]:
            self._block(block)
        for constant in constants:
            if constant.result.first_use is None:
                erase(constant)

    def _block(self, block: Block) -> None:
        for op in list(block.ops):
            if isinstance(op, CallLoweredOp | ScanOp):
                if any(operand.owner in self.waiting and operand.owner in self.delayed for operand in op.operands):
                    self._flush(op)
                self.group.append(op)
                self.waiting.add(op)
            elif not isinstance(op, LIGHT):
                self._flush(op)
            elif any(operand.owner in self.waiting for operand in op.operands):
                self.delayed.append(op)
                self.waiting.add(op)

    def _flush(self, before: Operation) -> None:
        """Put the segment that was gathered, and what waits for its results, before an operation."""
        block = before.parent
        assert block is not None
        if self.group:
            self._outline(block, before)
        for op in self.delayed:
            op.detach()
            block.insert_op_before(op, before)
        self.group, self.delayed, self.waiting = [], [], set()

    def _outline(self, block: Block, before: Operation) -> None:
        members = set[Operation](self.group)
        results = [
            result
            for op in self.group
            for result in op.results
            if any(use.operation not in members for use in result.uses)
        ]
        body, values = Block(), dict[SSAValue, SSAValue]()
        inputs: list[SSAValue] = []
        wanted: list[VirtualDeviceAttr] = []
        for op in self.group:
            for operand in op.operands:
                if operand in values or operand.owner in members:
                    continue
                if isinstance(constant := operand.owner, ConstantOp):
                    body.add_op(copy := constant.clone())
                    values[operand] = copy.result
                else:
                    inputs.append(operand)
                    wanted.append(_device(op, SOURCE_DEVICE if SOURCE_DEVICE in op.attributes else CALL_DEVICE))
                    values[operand] = argument = body.insert_arg(operand.type, len(inputs) - 1)
                    argument.name_hint = operand.name_hint
            copied = op.clone(values)
            values.update(zip(op.results, copied.results, strict=True))
            body.add_op(copied)
        body.add_op(ReturnOp(*(values[result] for result in results)))
        name = self.names.new(f"{self.function.sym_name.data}_segment")
        types = FunctionType.from_lists([value.type for value in inputs], [result.type for result in results])
        segment = FuncOp(name, types, Region(body), private=True, attributes={SEGMENT: UnitAttr()})
        given = [_device(result.owner, CALL_DEVICE) for result in results]
        if any(device.data.type != "cpu" for device in (*wanted, *given)):
            segment.attributes |= {PARAMETER_DEVICES: ArrayAttr(wanted), RESULT_DEVICES: ArrayAttr(given)}
        segment.location = self.group[0].location
        self.module.body.block.add_op(segment)
        call = CallLoweredOp(name, inputs, types.outputs.data)
        call.location = segment.location
        block.insert_op_before(call, before)
        for old, new in zip(results, call.results, strict=True):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        for op in reversed(self.group):
            erase(op)


def _device(op: Operation | Block, name: str) -> VirtualDeviceAttr:
    """Where a kernel call is, as `lower-te` has noted it; the CPU where nothing is."""
    noted = op.attributes.get(name) if isinstance(op, Operation) else None
    return noted if isinstance(noted, VirtualDeviceAttr) else VirtualDeviceAttr(VirtualDevice("cpu", 0))
