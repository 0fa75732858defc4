"""Lower the graph's own function: a sequence of kernel calls on buffers that are placed in one arena.

Before -> after:

```mlir
relay.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %w = relay.constant #relay.resource<"w"> : tensor<8xf32>
  %0 = relay.call_lowered @k(%x, %w) : ...
  %1 = relay.call_lowered @l(%0) : ...

memref.global "private" constant @w : memref<8xf32>
func.func @main(%x: memref<8xf32>, %out: memref<8xf32>, %arena: memref<448xi8>, %num_threads: index) {
  %w = memref.get_global @w
  %0 = memref.view %arena[%c384][]
  func.call @k(%x, %w, %0, %slots, %num_threads)
  func.call @l(%0, %out, %slots_1, %num_threads)
```

All threads run the whole function and share each kernel's loops (`rt.share`); the counters for that stand at the
arena's start (`weft.counter_bytes`), and are zero when an inference begins; behind them, and zero as well, a record for
each call of a kernel that makes checks (`weft.checks` says what those are). A result that is returned is written to the
caller's buffer at once; a kernel that only reshapes is not called, its result is its argument's memory; and what a
kernel would only lay one after the other is computed into its place there. The function carries what a caller must know
(`weft.inputs`, `weft.outputs`: names and tensor types), so that this text alone can be run.

Inputs, constants and concatenations that are returned are copied at the end. Does not: shapes that are not known, or
control flow. Counterpart of TVM's GraphPlanMemory and of its AOT executor's code generator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import ClassVar

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
    SymbolRefAttr,
    TensorType,
    TupleType,
    UnitAttr,
    i8,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from ...dialects.relay.base import RelayOp, Tensor, flatten_types, is_static, missing_facets
from ...dialects.relay.core import CallLoweredOp, CallOp, ConstantOp, FuncOp, PrimitiveOp, ReturnOp, TupleGetOp, TupleOp
from ...dialects.rt.checks import RecordOp, RecordType
from ...dialects.rt.core import SLOT_BYTES, SlotsOp, SlotsType
from ...dialects.support.advice import give_shapes
from ...dialects.support.checks import RECORD_BYTES
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.dtypes import byte_width
from ...dialects.tir.core import PrimFuncOp
from ...transforms.infra import ModulePass
from ...transforms.infra.remarks import missed
from ..check_sites import CHECKS, RECORDS, called
from ..relay_to_tir.te_to_tir import signless
from ..threads.share_out import share_out
from .memory_plan import Lifetime, plan_memory

index = IndexType()
INPUTS, OUTPUTS = "weft.inputs", "weft.outputs"
COUNTER_BYTES = "weft.counter_bytes"
CONCAT_ONLY = "concat_only"
"""Attribute of a kernel that does nothing but lay its inputs one after the other in memory."""
GRAPH_ATTRIBUTES = ("primitive", "reshape_only", CONCAT_ONLY, "input_names", "output_names")
"""What functions say of themselves that was read when they came here."""


@dataclass(frozen=True)
class ConvertMainToLoopsPass(ModulePass):
    """`relay.func` of `relay.call_lowered`s -> `func.func` over one planned arena."""

    name = "convert-main-to-loops"
    required: ClassVar[tuple[str, ...]] = ("convert-tir-to-loops",)

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        return not any(isinstance(op, FuncOp | PrimFuncOp) for op in module.ops)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = {f.sym_name.data: f for f in op.ops if isinstance(f, func.FuncOp)}
        constants = Constants(op)
        for function in [f for f in op.ops if isinstance(f, FuncOp)]:
            lowered = MainLowering(function, kernels, constants).run()
            op.body.block.insert_op_before(lowered, function)
            function.detach()
            function.erase(safe_erase=False)


class Constants:
    """The module's constant globals, one for each different value."""

    def __init__(self, module: ModuleOp):
        self.module = module
        self.globals: dict[Attribute, memref.GlobalOp] = {}

    def reference(self, constant: ConstantOp) -> memref.GlobalOp:
        """The global that holds a constant's data; the data itself is passed beside the code, as `weft.value`."""
        value = constant.value
        if (known := self.globals.get(value)) is None:
            number = len(self.globals)
            known = memref.GlobalOp.get(
                StringAttr(f"constant_{number}"), memory_type(_tensor(constant.result)), UnitAttr(), constant=UnitAttr()
            )
            known.attributes["weft.constant_index"] = IntegerAttr(number, i64)
            known.attributes["weft.value"] = value
            known.attributes["weft.type"] = constant.result.type
            self.globals[value] = known
            first = self.module.body.block.first_op
            assert first is not None
            self.module.body.block.insert_op_before(known, first)
        return known


def memory_type(type: Tensor) -> MemRefType[Attribute]:
    """The flat memref that holds a tensor."""
    return MemRefType(signless(type.element_type), [prod(type.get_shape())])


def _tensor(value: SSAValue) -> Tensor:
    return flatten_types([value.type])[0]


@dataclass(eq=False)
class Storage:
    """A tensor's memory: a place in the arena, until `memory` says that it is something else."""

    type: Tensor
    memory: SSAValue | None = None
    first: int = 0
    last: int = 0
    whole: Storage | None = None
    """The concatenation that this is a part of, if it is computed right into its place there."""
    start: int = 0
    """Bytes from the start of `whole`."""

    def place(self) -> tuple[Storage, int]:
        """The storage that is placed for this one, and the bytes from its start."""
        storage, start = self, 0
        while storage.whole is not None:
            start += storage.start
            storage = storage.whole
        return storage, start

    def needed_at(self, step: int) -> None:
        """Keep this in memory at `step`."""
        storage, _ = self.place()
        storage.first, storage.last = min(storage.first, step), max(storage.last, step)


@dataclass
class Call:
    """A kernel call: the buffers it reads and writes, workspaces last."""

    op: CallLoweredOp
    buffers: list[Storage] = field(default_factory=list[Storage])


class MainLowering:
    """The lowering of one function."""

    def __init__(self, function: FuncOp, kernels: dict[str, func.FuncOp], constants: Constants):
        self.function = function
        self.kernels = kernels
        self.constants = constants
        self.storage: dict[SSAValue, list[Storage]] = {}
        self.calls: list[Call] = []
        self.globals: list[tuple[Storage, memref.GlobalOp]] = []
        self.joined: list[Storage] = []
        self.fixed: set[int] = set()

    def run(self) -> func.FuncOp:
        block = self.function.body.block
        inputs: list[Storage] = []
        for argument in block.args:
            if not is_static(argument.type):
                raise Diagnostic.at(
                    self.function,
                    f"argument {argument.name_hint or argument.index} has the dynamic type {argument.type}",
                    hint=give_shapes(),
                )
            self.storage[argument] = [Storage(type) for type in flatten_types([argument.type])]
            inputs += self.storage[argument]
        self.fixed = {id(s) for s in inputs}
        for op in block.ops:
            self._collect(op)
        returned = [s for value in self.function.return_op.arguments for s in self.storage[value]]
        for op in (self.function, *(call.op for call in self.calls)):
            for key in op.attributes:
                if key not in GRAPH_ATTRIBUTES:
                    missed("convert-main-to-loops", op, f"the attribute '{key}' has no effect")
        return self._emit(inputs, returned)

    def _collect(self, op: Operation) -> None:
        """Follow tensors through the function; note each call and when each buffer is needed."""
        match op:
            case ConstantOp():
                storage = Storage(_tensor(op.result))
                self.storage[op.result] = [storage]
                self.fixed.add(id(storage))
                self.globals.append((storage, self.constants.reference(op)))
            case TupleOp():
                self.storage[op.result] = [s for value in op.fields for s in self.storage[value]]
            case TupleGetOp():
                assert isinstance(op.tuple.type, TupleType)
                widths = [len(flatten_types([t])) for t in op.tuple.type.types]
                start = sum(widths[: op.index.value.data])
                self.storage[op.result] = self.storage[op.tuple][start : start + widths[op.index.value.data]]
            case CallLoweredOp():
                self._collect_call(op)
            case ReturnOp():
                pass
            case RelayOp() if lacks := missing_facets(type(op)):
                where = f"{type(op).__module__}.{type(op).__name__}"
                raise Diagnostic.at(op, f"cannot become a kernel: {where} lacks {' and '.join(lacks)}")
            case _:
                raise Diagnostic.at(op, "is not a kernel call", hint=_not_lowered(op))

    def _collect_call(self, op: CallLoweredOp) -> None:
        kernel = self.kernels.get(op.callee.root_reference.data)
        if kernel is None:
            raise Diagnostic.at(op, f"there is no function {op.callee}")
        arguments = [self.storage[value][0] for value in op.arguments]
        if "reshape_only" in kernel.attributes and len(arguments) == len(op.results) == 1:
            self.storage[op.results[0]] = arguments
            return
        step = len(self.calls)
        if CONCAT_ONLY in kernel.attributes and self._join(op, arguments):
            return
        results = [Storage(_tensor(result), first=step, last=step) for result in op.results]
        for value, storage in zip(op.results, results, strict=True):
            self.storage[value] = [storage]
        used = len(arguments) + len(results)
        workspaces = [
            Storage(TensorType(type.element_type, type.get_shape()), first=step, last=step)
            for type in kernel.function_type.inputs.data[used:-2]
            if isa(type, MemRefType)
        ]
        for storage in arguments:
            storage.needed_at(step)
        self.calls.append(Call(op, [*arguments, *results, *workspaces]))

    def _join(self, op: CallLoweredOp, parts: Sequence[Storage]) -> bool:
        """Let the parts of a concatenation be computed into their places in it, instead of copying them there.

        They can be where each is the result of a kernel, and not part of another concatenation already.
        """
        computed = {id(s) for call in self.calls for s in call.buffers} | {id(s) for s in self.joined}
        free = all(id(s) in computed and s.whole is None and id(s) not in self.fixed for s in parts)
        if not free or len({id(s) for s in parts}) != len(parts):
            return False
        whole = Storage(_tensor(op.results[0]), first=len(self.calls), last=len(self.calls) - 1)
        start = 0
        for part in parts:
            part.whole, part.start = whole, start
            start += _bytes(part.type)
            whole.first, whole.last = min(whole.first, part.first), max(whole.last, part.last)
        self.joined.append(whole)
        self.storage[op.results[0]] = [whole]
        return True

    def _emit(self, inputs: Sequence[Storage], returned: Sequence[Storage]) -> func.FuncOp:
        types = [memory_type(s.type) for s in (*inputs, *returned)]
        placed = self._assign_outputs(returned)
        plan = plan_memory([Lifetime(_bytes(s.type), s.first, s.last) for s in placed])
        slots = [self._slots(call) for call in self.calls]
        records_at = (sum(slots) + 1) * SLOT_BYTES  # one more for the copies at the end
        checks = [called(call.op, kernel) for call in self.calls if _takes_record(kernel := self._kernel(call))]
        counters = records_at + len(checks) * RECORD_BYTES
        arena = MemRefType[Attribute](i8, [counters + plan.size])
        lowered = func.FuncOp(self.function.sym_name.data, FunctionType.from_lists([*types, arena, index], []))
        lowered.location = self.function.location
        lowered.attributes |= graph_signature(self.function)
        lowered.attributes[COUNTER_BYTES] = IntegerAttr(counters, i64)
        if checks:
            lowered.attributes |= {CHECKS: ArrayAttr(checks), RECORDS: IntegerAttr(records_at, i64)}
        block = lowered.body.block
        base, num_threads = block.args[-2], block.args[-1]
        names = [*_names("in", len(inputs)), *_names("out", len(returned)), "arena", "num_threads"]
        for argument, name in zip(block.args, names, strict=True):
            argument.name_hint = name
        for storage, argument in zip(inputs, block.args, strict=False):
            storage.memory = argument
        outputs = block.args[len(inputs) : len(inputs) + len(returned)]
        copies: list[tuple[Storage, SSAValue]] = []
        for storage, argument in zip(returned, outputs, strict=True):
            if storage.memory is None and self._is_direct(storage, placed):
                storage.memory = argument
            else:
                copies.append((storage, argument))
        for storage, constant in self.globals:
            get = memref.GetGlobalOp(constant.sym_name.data, constant.type)
            block.add_op(get)
            storage.memory = get.memref
        offsets = {id(storage): offset for storage, offset in zip(placed, plan.offsets, strict=True)}
        for storage in self._in_arena(placed):
            whole, start = storage.place()
            shift = arith.ConstantOp(IntegerAttr(counters + offsets[id(whole)] + start, index))
            type = memory_type(storage.type)
            view = memref.ViewOp.build(operands=[base, shift, []], result_types=[type])
            block.add_ops([shift, view])
            storage.memory = view.result
        first = 0
        for call, count in zip(self.calls, slots, strict=True):
            arguments = [_memory(s) for s in call.buffers]
            if _takes_record(self._kernel(call)):
                arguments.append(_record_at(block, base, records_at))
                records_at += RECORD_BYTES
            place = _slots_at(block, base, first, count)
            arguments += [place, num_threads]
            kernel = func.CallOp(SymbolRefAttr(call.op.callee.root_reference.data), arguments, [])
            kernel.location = call.op.location
            block.add_op(kernel)
            first += count
        if copies:
            _copy(block, copies, _slots_at(block, base, first, 1), num_threads)
        block.add_op(func.ReturnOp())
        return lowered

    def _assign_outputs(self, returned: Sequence[Storage]) -> list[Storage]:
        """The buffers that need a place in the arena: those of calls, but for results that go straight to an output,
        and for parts of a concatenation, which has the place."""
        joined = {id(s) for s in self.joined}
        direct = {id(s) for s in returned if id(s) not in joined and s.whole is None}
        placed: list[Storage] = []
        known = self.fixed | direct
        for call in self.calls:
            for storage in call.buffers:
                whole, _ = storage.place()
                if id(whole) not in known:
                    known.add(id(whole))
                    placed.append(whole)
        for storage in returned:  # what is copied to an output must live to the end
            storage.needed_at(len(self.calls))
        return placed

    def _is_direct(self, storage: Storage, placed: Sequence[Storage]) -> bool:
        """Whether a returned tensor is computed right into the caller's buffer."""
        return id(storage) not in self.fixed and storage.place()[0] not in placed

    def _in_arena(self, placed: Sequence[Storage]) -> list[Storage]:
        """Every buffer with a view of the arena: those placed, and the parts of concatenations among them."""
        found = {id(s): s for s in placed}
        for call in self.calls:
            for storage in call.buffers:
                if id(storage.place()[0]) in found:
                    found[id(storage)] = storage
        return list(found.values())

    def _kernel(self, call: Call) -> func.FuncOp:
        return self.kernels[call.op.callee.root_reference.data]

    def _slots(self, call: Call) -> int:
        """The number of slots that a kernel takes: one for each of its nests."""
        kernel = self._kernel(call)
        type = next(iter(kernel.function_type.inputs.data[-2:]), None)
        if not isinstance(type, SlotsType):
            raise Diagnostic.at(
                call.op,
                f"{call.op.callee} takes no slots to share its work by",
                hint="a kernel's last arguments are of types !rt.slots<N> and index",
            )
        return type.count.data


def _takes_record(kernel: func.FuncOp) -> bool:
    """Whether a kernel makes checks."""
    return any(isinstance(type, RecordType) for type in kernel.function_type.inputs)


def _record_at(block: Block, arena: SSAValue, start: int) -> SSAValue:
    """The record at byte `start` of the arena."""
    record = RecordOp(arena, start)
    record.result.name_hint = "record"
    block.add_op(record)
    return record.result


def _slots_at(block: Block, arena: SSAValue, first: int, count: int) -> SSAValue:
    """`count` slots at the arena's start, from slot `first`."""
    slots = SlotsOp(arena, first * SLOT_BYTES, count)
    slots.result.name_hint = "slots"
    block.add_op(slots)
    return slots.result


def _copy(block: Block, copies: Sequence[tuple[Storage, SSAValue]], slots: SSAValue, num_threads: SSAValue) -> None:
    """Copy, on one thread, what is returned but was not computed for the output: inputs, constants, second returns."""

    def emit(body: Block, bounds: Sequence[SSAValue]) -> None:
        for storage, argument in copies:
            body.add_op(memref.CopyOp(_memory(storage), argument))

    share_out(block, slots, 0, num_threads, None, emit)


def graph_signature(function: FuncOp) -> dict[str, Attribute]:
    """Names and tensor types of inputs and outputs, as the graph has them: attributes for its `func.func`."""
    given = function.attributes
    arguments = function.body.block.args
    values = {INPUTS: function.function_type.inputs.data, OUTPUTS: function.function_type.outputs.data}
    signature: dict[str, Attribute] = {}
    for key, types in values.items():
        names = given.get("input_names" if key == INPUTS else "output_names")
        flat = flatten_types(types)
        if isa(names, ArrayAttr[Attribute]) and len(names) == len(flat):
            labels = [n.data if isinstance(n, StringAttr) else str(n) for n in names]
        elif key == INPUTS and len(arguments) == len(flat):
            labels = [a.name_hint or f"in{i}" for i, a in enumerate(arguments)]
        else:
            labels = _names("out" if key == OUTPUTS else "in", len(flat))
        signature[key] = ArrayAttr(
            [DictionaryAttr({"name": StringAttr(n), "type": t}) for n, t in zip(labels, flat, strict=True)]
        )
    return signature


def _names(prefix: str, count: int) -> list[str]:
    return [prefix] if count == 1 else [f"{prefix}{i}" for i in range(count)]


def _bytes(type: Tensor) -> int:
    return prod(type.get_shape()) * byte_width(type.element_type)


def _memory(storage: Storage) -> SSAValue:
    assert storage.memory is not None
    return storage.memory


def _not_lowered(op: Operation) -> str:
    """What a person can do about an operation that should have become a kernel call."""
    match op:
        case PrimitiveOp():
            missed = "outline-primitives"
        case CallOp():
            missed = "lower-te"
        case RelayOp() if not missing_facets(type(op)):
            missed = "fuse-ops"
        case _:
            return "fusion makes kernels of operators that compute; this is none, and nothing else lowers it"
    return f"'{missed}' makes kernels of such: it has not run, or has left this one; is it disabled?"
