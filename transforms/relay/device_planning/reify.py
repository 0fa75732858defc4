"""Phase 3: the plan becomes part of the module.

* A note between two devices becomes a `relay.device_copy`, any other goes away; so does a copy from a device to itself.
* All copies of a value from one device to another become one, before the first that needs it: in the same block, or in
  the one around the branches of an `if`. A copy is not moved out of a function value, which may never be called.
* Functions get `param_virtual_devices` and `result_virtual_devices`.
* The buffers of kernels get the memory scopes in which they are called.
* A value whose device does not follow from these, its operation and the copies gets a note that constrains both sides.

So the device of every value follows from phase 1 alone, and planning anew changes nothing.

Counterpart of TVM's `DeviceCapturer`, which makes a copy for each use, and a note for each change of device.
"""

from __future__ import annotations

from collections import Counter
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FunctionType, MemRefType, ModuleOp, NoneAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.relay.control import FnOp
from ....dialects.relay.core import FuncOp, PrimitiveOp, is_primitive
from ....dialects.relay.devices import PARAMETER_DEVICES, RESULT_DEVICES, VirtualDevice, VirtualDeviceAttr
from ....dialects.relay.ops.annotation import DeviceCopyOp, OnDeviceOp
from ....dialects.support.retyping import retype
from ....dialects.tir.functions import PrimFuncOp
from ...infra import remarks
from ...infra.walk import erase, walk
from .constraints import Constraints, planned_functions
from .domains import Domain

_Key = tuple[SSAValue, VirtualDevice, VirtualDevice]


def write_plan(module: ModuleOp, domains: Constraints, pass_name: str) -> None:
    """Make the plan part of the module; remark on each copy."""
    functions = planned_functions(module)
    plan: dict[SSAValue, VirtualDevice] = {}
    copies: list[DeviceCopyOp] = []
    for func in functions:
        copies += _write_copies(func, domains, plan)
        for op in walk(func):
            if isinstance(op, FuncOp):
                _write_places(op, domains, domains.function(op))
            elif isinstance(op, FnOp):
                _write_places(op, domains, domains.of(op.result))
    for kernel in module.ops:
        if isinstance(kernel, PrimFuncOp):
            _write_scopes(kernel, domains)
    if len(set(plan.values())) > 1:
        _write_notes(module, domains, plan)
    if remarks.listening():
        for copy in copies:
            users = Counter(use.operation.name for use in copy.result.uses)
            names = ", ".join(name if count == 1 else f"{count} {name}" for name, count in sorted(users.items()))
            where = f"from <{copy.src_virtual_device.data}> to <{copy.dst_virtual_device.data}>"
            remarks.passed(pass_name, copy, f"a {copy.data.type} is copied {where} for {names or 'nothing'}")


def _write_copies(func: FuncOp, domains: Constraints, plan: dict[SSAValue, VirtualDevice]) -> list[DeviceCopyOp]:
    """Put copies, or nothing, in the place of notes and copies; enter where each value is in `plan`."""
    made: dict[_Key, list[DeviceCopyOp]] = {}
    copies: list[DeviceCopyOp] = []
    new: set[DeviceCopyOp] = set()
    for argument in func.body.block.args:
        plan[argument] = domains.device_of(domains.of(argument))
    for op in list(walk(func)):
        if _in_kernel(op):
            continue
        if not isinstance(op, OnDeviceOp | DeviceCopyOp):
            for value in (*op.results, *_region_arguments(op)):
                plan[value] = domains.device_of(domains.of(value))
            continue
        value = op.operands[0]
        if op.results[0].first_use is None:
            erase(op)
            continue
        source, destination = plan[value], domains.device_of(domains.of(op.results[0]))
        if source == destination:
            op.results[0].replace_all_uses_with(value)
            erase(op)
            continue
        copy = _shared_copy(made.setdefault((value, source, destination), []), op)
        if copy is None:
            copy = DeviceCopyOp(
                value,
                src_virtual_device=VirtualDeviceAttr(source),
                dst_virtual_device=VirtualDeviceAttr(destination),
            )
            copy.location = op.location
            copy.attributes |= op.attributes
            copy.result.name_hint = op.results[0].name_hint
            Rewriter.insert_op(copy, InsertPoint.before(op))
            made[(value, source, destination)].append(copy)
            plan[copy.result] = destination
            copies.append(copy)
            if isinstance(op, OnDeviceOp):
                new.add(copy)
        op.results[0].replace_all_uses_with(copy.result)
        erase(op)
    for copy in reversed(copies):
        if copy.result.first_use is None:  # a note that nothing needs was all that needed it
            del plan[copy.result]
            new.discard(copy)
            erase(copy)
    return [copy for copy in copies if copy in new]


def _in_kernel(op: Operation) -> bool:
    """Whether `op` stands in a kernel, which is on one device as a whole."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        if isinstance(parent, PrimitiveOp) or is_primitive(parent):
            return True
        parent = parent.parent_op()
    return False


def _region_arguments(op: Operation) -> list[SSAValue]:
    if isinstance(op, FuncOp | PrimitiveOp) or is_primitive(op):
        return []
    return [argument for region in op.regions for block in region.blocks for argument in block.args]


def _shared_copy(made: list[DeviceCopyOp], op: Operation) -> DeviceCopyOp | None:
    """One of the copies made that can serve at `op` as well, moved before the operation that holds both, if any."""
    around = _enclosing(op)
    for copy in made:
        for block, holder in _enclosing(copy).items():
            if block in around:
                if holder is not copy:
                    copy.detach()
                    Rewriter.insert_op(copy, InsertPoint.before(holder))
                return copy
            if isinstance(block.parent_op(), FnOp):
                break
    return None


def _enclosing(op: Operation) -> dict[Block, Operation]:
    """The blocks around `op`, innermost first, each with the operation in it that is or holds `op`."""
    blocks: dict[Block, Operation] = {}
    holder: Operation | None = op
    while holder is not None and holder.parent is not None:
        blocks[holder.parent] = holder
        holder = holder.parent_op()
    return blocks


def _write_places(op: FuncOp | FnOp, domains: Constraints, domain: Domain) -> None:
    assert domain.results is not None
    for name, parts in ((PARAMETER_DEVICES, domain.arguments), (RESULT_DEVICES, domain.results)):
        devices: list[Attribute] = [VirtualDeviceAttr(domains.device_of(part)) for part in parts]
        op.attributes[name] = ArrayAttr(devices)


def _write_scopes(kernel: PrimFuncOp, domains: Constraints) -> None:
    """Put the buffers that have no memory scope into those that the calls have them in."""
    arguments = kernel.region.block.args
    for argument, part in zip(arguments, domains.functions[kernel.sym_name.data].arguments, strict=True):
        scope = domains.device_of(part).memory_scope
        type = cast("MemRefType[Attribute]", argument.type)
        if scope is not None and isinstance(type.memory_space, NoneAttr):
            placed = MemRefType(type.element_type, type.shape, type.layout, StringAttr(scope))
            retype(argument, placed)
    kernel.function_type = FunctionType.from_lists([argument.type for argument in arguments], [])


def _write_notes(module: ModuleOp, domains: Constraints, plan: dict[SSAValue, VirtualDevice]) -> None:
    """Note where those values are whose device does not follow from what stands in the module."""
    follows = Constraints(module, domains.devices)
    for value, device in list(plan.items()):
        op = value.owner
        if not isinstance(op, Operation) or follows.device_of(follows.of(value)) == device:
            continue
        note = OnDeviceOp(value, virtual_device=VirtualDeviceAttr(device), constrain_body=True, constrain_result=True)
        note.location = op.location
        uses = list(value.uses)
        Rewriter.insert_op(note, InsertPoint.after(op))
        for use in uses:
            if use.operation is not note:
                use.operation.operands[use.index] = note.result
        follows.unify(follows.of(value), follows.on(value.type, device, note, "it was planned so"))
