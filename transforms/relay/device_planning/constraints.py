"""Phase 1: what the operations of a module say of where values are.

| operation | rule |
|---|---|
| an operator, a kernel | operands and results on one device, which one is free at each place |
| a kernel that is a copy | as the copy |
| with `DevicePlaces` | what it says: on the host, on a named device, anywhere |
| `on_device` | the operand, the result, or neither on the device |
| `device_copy` | the operand on the one device, the result on the other |
| `tuple`, `tuple_get` | the fields are where the tuple is |
| `construct` | the fields are where the value is |
| `if` | condition, both regions' results and the results on one device |
| `match` | the value, the fields that its cases are given, their results and the results on one device |
| `ref_create`, `ref_read`, `ref_write` | the value is where the reference is |
| `func`, `fn`, `closure`, `call`, `apply` | arguments and results anywhere, but for all calls in the same places |
| `call_lowered` | in the memory scopes of the kernel's buffers; a call of a function's segment is as any call |

A function value inside a tuple, a value of a data type, a reference or a condition's reach has its arguments and
results where that is. A global function marked `primitive` is a kernel, and has no places of its own unless it was
given some.

Counterpart of TVM's `DeviceAnalyzer`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, cast

from xdsl.dialects.builtin import FunctionType, MemRefType, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....dialects.relay.base import RelayOp, is_true
from ....dialects.relay.control import ApplyOp, ClosureOp, FnOp, IfOp, RefCreateOp, RefReadOp, RefWriteOp, SetRowOp
from ....dialects.relay.core import (
    CallLoweredOp,
    CallOp,
    ConstantOp,
    FuncOp,
    PrimitiveOp,
    ReturnOp,
    TupleGetOp,
    TupleOp,
    YieldOp,
    is_primitive,
)
from ....dialects.relay.data import ConstructOp, MatchOp
from ....dialects.relay.devices import (
    PARAMETER_DEVICES,
    RESULT_DEVICES,
    DevicePlaces,
    Place,
    VirtualDevice,
    VirtualDeviceAttr,
    listed_devices,
)
from ....dialects.relay.functions import unknown_function
from ....dialects.relay.ops.annotation import DeviceCopyOp, OnDeviceOp
from ....dialects.support.diagnostics import Diagnostic, Note
from ....dialects.support.diagnostics import Place as SourcePlace
from ....dialects.tir.functions import PrimFuncOp
from ...infra.passes import OUTSIDE
from ...infra.walk import walk
from .devices import Devices
from .domains import Conflict, Constraint, Domain, Domains


def planned_functions(module: ModuleOp) -> list[FuncOp]:
    """The functions that are looked into: not kernels, and not those that passes leave alone."""
    functions = [op for op in module.ops if isinstance(op, FuncOp) and not op.is_primitive]
    return [func for func in functions if not is_outside(func)]


def is_outside(func: FuncOp) -> bool:
    """Whether a function is one that is not looked into."""
    return any(mark in func.attributes for mark in OUTSIDE)


class Constraints(Domains):
    """The domains of a module, with all that its operations say of them.

    Raises:
        Diagnostic: two operations contradict one another; an operation that nothing is known of; an unknown device.
    """

    def __init__(self, module: ModuleOp, devices: Devices):
        super().__init__(devices)
        self.functions: dict[str, Domain] = {}
        self._callees: dict[str, FuncOp] = {}
        self._rules: dict[type[Operation], Callable[..., None]] = {
            ReturnOp: self._return,
            CallOp: self._call,
            CallLoweredOp: self._call_lowered,
            ConstantOp: self._nothing,
            TupleOp: self._tuple,
            TupleGetOp: self._tuple_get,
            PrimitiveOp: self._primitive,
            YieldOp: self._nothing,
            ConstructOp: self._construct,
            MatchOp: self._match,
            IfOp: self._if,
            FnOp: self._fn,
            ApplyOp: self._apply,
            ClosureOp: self._closure,
            RefCreateOp: self._ref_create,
            RefReadOp: self._ref_read,
            RefWriteOp: self._ref_write,
            SetRowOp: self._set_row,
            OnDeviceOp: self._on_device,
            DeviceCopyOp: self._device_copy,
        }
        for op in module.ops:
            if isinstance(op, FuncOp):
                self._declare(op)
            elif isinstance(op, PrimFuncOp):
                self._declare_kernel(op)
        for func in planned_functions(module):
            self._visit(func)

    def function(self, func: FuncOp) -> Domain:
        """The domain of a global function."""
        return self.find(self.functions[func.sym_name.data])

    def _visit(self, func: FuncOp) -> None:
        domain = self.function(func)
        for argument, part in zip(func.body.block.args, domain.arguments, strict=True):
            self._same(func, self.of(argument), part)
        skipped: set[Operation] = set()
        for op in list(walk(func))[1:]:
            parent = op.parent_op()
            if parent in skipped or isinstance(parent, PrimitiveOp):
                skipped.add(op)
                continue
            self._constrain(op)
            if isinstance(op, FnOp) and is_primitive(op):
                skipped.add(op)

    def _constrain(self, op: Operation) -> None:
        rule = self._rules.get(type(op))
        if rule is not None:
            rule(op)
        elif (places := next(iter(op.get_traits_of_type(DevicePlaces)), None)) is not None:
            self._placed(op, places)
        elif isinstance(op, RelayOp):
            self._shared(op)
        else:
            hint = "give its class the trait `DevicePlaces`"
            raise Diagnostic.at(op, "nothing is known of where its operands and results are", hint=hint)

    # Unification, with the operation that asks for it.

    def _same(self, op: Operation, a: Domain, b: Domain) -> None:
        try:
            self.unify(a, b)
        except Conflict as conflict:
            _reject(op, conflict)

    def _inside(self, op: Operation, container: Domain, part: Domain) -> None:
        try:
            self.collapse(container, part)
        except Conflict as conflict:
            _reject(op, conflict)

    # Functions.

    def _declare(self, func: FuncOp) -> None:
        self._callees[func.sym_name.data] = func
        self.functions[func.sym_name.data] = domain = self.free(func.function_type)
        self._annotated(func, func.function_type, domain)

    def _annotated(self, op: FuncOp | FnOp, type: FunctionType, domain: Domain) -> None:
        """Take the places that a function was given."""
        assert domain.results is not None
        for name, types, parts, what in (
            (PARAMETER_DEVICES, type.inputs.data, domain.arguments, "argument"),
            (RESULT_DEVICES, type.outputs.data, domain.results, "result"),
        ):
            devices = listed_devices(op.attributes.get(name))
            for i, (device, t, part) in enumerate(zip(devices, types, parts, strict=False)):
                self._same(op, part, self.on(t, device, op, f"{what} {i} of the function is here"))

    def _declare_kernel(self, kernel: PrimFuncOp) -> None:
        """A kernel's buffers, the operands' and then the results', are in the memory scopes that their types name."""
        scopes: list[Domain] = []
        for type in kernel.function_type.inputs.data:
            space = cast("MemRefType[Attribute]", type).memory_space if isinstance(type, MemRefType) else None
            scope = VirtualDevice(memory_scope=space.data) if isinstance(space, StringAttr) else VirtualDevice()
            scopes.append(self.on(cast(Attribute, type), scope, kernel, "a buffer of the kernel is in this scope"))
        self.functions[kernel.sym_name.data] = Domain(arguments=scopes, results=())

    def _return(self, op: ReturnOp) -> None:
        func = op.parent_op()
        assert isinstance(func, FuncOp)
        results = self.function(func).results
        assert results is not None
        for value, part in zip(op.arguments, results, strict=True):
            self._same(op, self.of(value), part)

    def _fn(self, op: FnOp) -> None:
        domain = self.of(op.result)
        assert domain.results is not None
        for argument, part in zip(op.body.block.args, domain.arguments, strict=True):
            self._same(op, self.of(argument), part)
        end = op.body.block.last_op
        assert end is not None
        if not is_primitive(op):
            for value, part in zip(end.operands, domain.results, strict=True):
                self._same(op, self.of(value), part)
        self._annotated(op, op.function_type, domain)

    def _call(self, op: CallOp) -> None:
        callee = self._callees.get(op.callee.string_value())
        if callee is None:
            raise unknown_function(op, op.callee)
        if callee.is_primitive and RESULT_DEVICES not in callee.attributes:
            self._kernel(op, callee.body.block)
            return
        self._applied(op, self.function(callee), op.arguments, op.res)

    def _primitive(self, op: PrimitiveOp) -> None:
        self._kernel(op, op.body.block)

    def _kernel(self, op: Operation, block: Block) -> None:
        """The kernel `block` is on one device as a whole, unless it is a copy, which fusion leaves alone."""
        copy = next((inner for inner in block.ops if isinstance(inner, DeviceCopyOp)), None)
        if copy is None:
            self._shared(op)
            return
        for value in op.operands:
            self._here(op, value, copy.src_virtual_device.data, "it is copied from here")
        for value in op.results:
            self._here(op, value, copy.dst_virtual_device.data, "it is copied to here")

    def _apply(self, op: ApplyOp) -> None:
        self._applied(op, self.of(op.callee), op.arguments, op.res)

    def _closure(self, op: ClosureOp) -> None:
        callee = self._callees.get(op.callee.string_value())
        if callee is None:
            raise unknown_function(op, op.callee)
        function, value = self.function(callee), self.of(op.result)
        assert function.results is not None and value.results is not None
        given = [self.of(each) for each in op.captured]
        for part, other in zip(
            (*function.arguments, *function.results), (*given, *value.arguments, *value.results), strict=True
        ):
            self._same(op, part, other)

    def _applied(self, op: Operation, callee: Domain, arguments: Sequence[SSAValue], results: Sequence[SSAValue]):
        assert callee.results is not None
        for value, part in zip((*arguments, *results), (*callee.arguments, *callee.results), strict=True):
            self._same(op, self.of(value), part)

    def _call_lowered(self, op: CallLoweredOp) -> None:
        name = op.callee.string_value()
        if (segment := self._callees.get(name)) is not None:
            self._applied(op, self.function(segment), op.arguments, op.res)
            return
        values = (*op.arguments, *op.res)
        if (kernel := self.functions.get(name)) is None or len(kernel.arguments) != len(values):
            raise Diagnostic.at(op, f"there is no kernel {op.callee} with {len(values)} buffers")
        for value, part in zip(values, kernel.arguments, strict=True):
            self._same(op, self.of(value), part)

    # Data.

    def _nothing(self, op: Operation) -> None:
        """Where a constant is, what uses it says; what a region ends with, the operation that has the region."""

    def _shared(self, op: Operation) -> None:
        place = Domain()
        for value in (*op.operands, *op.results):
            self._inside(op, place, self.of(value))

    def _placed(self, op: Operation, places: DevicePlaces) -> None:
        shared = Domain()
        for values, where in ((op.operands, places.operands), (op.results, places.results)):
            for value, place in zip(values, where, strict=True):
                match place:
                    case Place.SHARED:
                        self._inside(op, shared, self.of(value))
                    case Place.HOST:
                        self._here(op, value, self.devices.host, "the host uses this")
                    case Place.NAMED:
                        device = op.properties.get("virtual_device")
                        assert isinstance(device, VirtualDeviceAttr)
                        self._here(op, value, device.data, "this is where the operation is told to have it")
                    case Place.ANY:
                        pass

    def _here(self, op: Operation, value: SSAValue, device: VirtualDevice, why: str) -> None:
        self._same(op, self.of(value), self.on(value.type, device, op, why))

    def _on_device(self, op: OnDeviceOp) -> None:
        if is_true(op.constrain_body):
            self._here(op, op.body, op.device, "the operand is computed here")
        if is_true(op.constrain_result):
            self._here(op, op.result, op.device, "the result is used here")

    def _device_copy(self, op: DeviceCopyOp) -> None:
        self._here(op, op.data, op.src_virtual_device.data, "it is copied from here")
        self._here(op, op.result, op.dst_virtual_device.data, "it is copied to here")

    def _tuple(self, op: TupleOp) -> None:
        for field in op.fields:
            self._inside(op, self.of(op.result), self.of(field))

    def _tuple_get(self, op: TupleGetOp) -> None:
        self._inside(op, self.of(op.tuple), self.of(op.result))

    def _construct(self, op: ConstructOp) -> None:
        for field in op.fields:
            self._inside(op, self.of(op.result), self.of(field))

    def _match(self, op: MatchOp) -> None:
        self._branches(op, op.res, op.data)
        for region in op.branches:
            for field in region.block.args:
                self._inside(op, self.of(op.data), self.of(field))

    def _if(self, op: IfOp) -> None:
        self._branches(op, op.res, op.condition)

    def _branches(self, op: IfOp | MatchOp, results: Sequence[SSAValue], decides: SSAValue) -> None:
        for region in op.regions:
            end = region.block.last_op
            assert end is not None
            for result, value in zip(results, end.operands, strict=True):
                self._same(op, self.of(result), self.of(value))
        for result in results:
            self._inside(op, self.of(decides), self.of(result))

    def _ref_create(self, op: RefCreateOp) -> None:
        self._inside(op, self.of(op.result), self.of(op.value))

    def _ref_read(self, op: RefReadOp) -> None:
        self._inside(op, self.of(op.ref), self.of(op.result))

    def _ref_write(self, op: RefWriteOp) -> None:
        self._inside(op, self.of(op.ref), self.of(op.value))

    def _set_row(self, op: SetRowOp) -> None:
        for value in (op.place, op.row, op.data):
            self._inside(op, self.of(op.result), self.of(value))


def _reject(op: Operation, conflict: Conflict) -> NoReturn:
    """Say which two constraints contradict one another, and where each stands."""
    first, second = conflict.first, conflict.second
    message = f"something would have to be on <{first.device}> and on <{second.device}> at once"
    hint = "put a relay.on_device or a relay.device_copy between them, where a copy is to be made"
    raise Diagnostic.at(op, message, notes=[_note(first), _note(second)], hint=hint)


def _note(constraint: Constraint) -> Note:
    place = SourcePlace.of_location(constraint.op.location)
    return Note(f"'{constraint.op.name}' asks for <{constraint.device}>: {constraint.why}", place)
