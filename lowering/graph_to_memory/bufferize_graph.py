"""Say what memory a graph works in: every tensor becomes a buffer, every kernel is told where to write.

Before -> after:

```mlir
relay.func @main(%x: tensor<8xf32>) -> tensor<2x4xf32> {
  %w = relay.constant #relay.resource<"w"> : tensor<8xf32>
  %0 = relay.call_lowered @k(%x, %w) : ...
  %1 = relay.call_lowered @reshape(%0) {copies} : ...
  relay.return %1 : tensor<2x4xf32>

mem.graph @main(%x: memref<8xf32>) writes(%out: memref<2x4xf32>) {
  %w = mem.constant #relay.resource<"w"> as tensor<8xf32> : memref<8xf32>
  %0 = mem.alloc : memref<8xf32>
  mem.call @k(%x, %w) writes(%0) : ...
  %1 = mem.alloc : memref<2x4xf32>
  mem.copy %0 to %1 by @reshape : ...
  mem.copy %1 to %out : ...
```

Nothing is decided here: every result has memory of its own, and what is returned is copied to the caller's; only a call
that `updates` works there. Tuples are opened. A kernel may be a `func.func`, whose workspaces are allocated here, or
one that is not lowered yet.

With `depth-first` kernels run in the order in which a walk from the results meets them, arguments first, as TVM has it;
else in the order of the text. Extents that are symbols are arguments; what follows from them is a `mem.extent`.
Functions that branch and call (`control`) stay. TVM keeps all this in side tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    IndexType,
    ModuleOp,
    StringAttr,
    TensorType,
    TupleType,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap, AffineSymExpr
from xdsl.rewriter import Rewriter

from ...dialects.mem.core import (
    CPU,
    AliasOp,
    AllocOp,
    BufferType,
    CallOp,
    ConstantOp,
    CopyOp,
    ExtentOp,
    PartOp,
    ReadExtentOp,
    ScanOp,
    SizeOp,
    buffer_type,
    byte_size,
    root_of,
)
from ...dialects.mem.graph import GraphOp
from ...dialects.relay import core as relay
from ...dialects.relay.base import RelayOp, Tensor, flatten_types, is_static, leaf_types, missing_facets
from ...dialects.relay.calls import SYMBOLS
from ...dialects.relay.copying import copied_from
from ...dialects.relay.devices import CALL_DEVICE, PARAMETER_DEVICES, RESULT_DEVICES, SOURCE_DEVICE
from ...dialects.relay.scan import ScanOp as RelayScanOp
from ...dialects.support.advice import give_shapes
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.dtypes import byte_width
from ...dialects.support.hints import isa
from ...dialects.support.interned import shaped_memref
from ...dialects.support.shaped import is_memref
from ...dialects.tir.affine import linear
from ...dialects.tir.buffers import memref_type
from ...dialects.tir.core import PrimFuncOp
from ...dialects.tir.symbols import affine_map, as_affine, as_extent, replaced
from ...transforms.infra import ModulePass
from ...transforms.infra.remarks import missed
from ...transforms.relay.outline_segments import CONTROL, SEGMENT
from ..relay_to_tir.dynamic_calls import SHAPES, lowered_shapes, lowered_symbols
from ..relay_to_tir.graph_symbols import EXTENTS
from ..relay_to_tir.place_calls import (
    argument_devices,
    device_of,
    is_copy_between_devices,
)
from ..relay_to_tir.turns import PASSES, passed_extents
from ..sizes import Size
from ..tir_to_loops.convert_tir_to_loops import workspace_shapes
from .data_extents import DataExtents
from .signature import GRAPH_ATTRIBUTES, UPDATES, check_has_types, names_of, numbered

TURN = "turn"
"""Attribute of a graph that a `mem.scan` runs, once for each turn."""

Kernel = func.FuncOp | PrimFuncOp | relay.FuncOp


@dataclass(frozen=True)
class BufferizeGraphPass(ModulePass):
    """`relay.func` of kernel calls -> `mem.graph`."""

    name = "bufferize-graph"
    required: ClassVar[tuple[str, ...]] = ("outline-primitives",)

    depth_first: bool = False
    """Run kernels in the order in which a walk from the results meets them."""

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        return not any(map(_is_graph, module.ops))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = {
            f.sym_name.data: f
            for f in op.ops
            if isinstance(f, func.FuncOp | PrimFuncOp) or (isinstance(f, relay.FuncOp) and f.is_primitive)
        }
        turns = {scan.callee.root_reference.data for scan in op.walk() if isinstance(scan, RelayScanOp)}
        for function in [f for f in op.ops if isinstance(f, relay.FuncOp) and _is_graph(f)]:
            graph = _Bufferization(function, kernels).run(self.depth_first)
            if SEGMENT in function.attributes:
                graph.attributes[SEGMENT] = UnitAttr()
            if function.sym_name.data in turns:
                graph.attributes[TURN] = UnitAttr()
            op.body.block.insert_op_before(graph, function)
            for source in (function, *(c for c in function.body.block.ops if isinstance(c, relay.CallLoweredOp))):
                for key in source.attributes:
                    if key not in (*GRAPH_ATTRIBUTES, SYMBOLS, SHAPES, PASSES):
                        missed(self.name, source, f"the attribute '{key}' has no effect")
            function.detach()
            function.erase(safe_erase=False)


def _is_graph(op: Operation) -> bool:
    """Whether `op` is a function of kernel calls alone."""
    return isinstance(op, relay.FuncOp) and not op.is_primitive and CONTROL not in op.attributes


def buffer_of(tensor: Tensor, device: Attribute | None = None) -> BufferType:
    """The type of the buffer that holds a tensor on a device."""
    return shaped_memref(tensor.element_type, tensor.get_shape(), device or CPU)


class _Bufferization:
    """The bufferization of one function."""

    def __init__(self, function: relay.FuncOp, kernels: dict[str, Kernel]):
        self.function = function
        self.kernels = kernels
        self.block = Block()
        self.buffers: dict[SSAValue, list[SSAValue]] = {}
        self.targets: dict[SSAValue, SSAValue] = {}
        """What is returned, each with the memory of the caller's that it is to stand in."""
        names = function.attributes.get(SYMBOLS)
        self.symbol_names = [name.data for name in names] if isa(names, ArrayAttr[StringAttr]) else []
        self.symbols: list[SSAValue] = []
        self.shapes: dict[SSAValue, AffineMapAttr] = {}
        """The extents of buffers that depend on symbols."""
        self.extents: dict[AffineExpr, SSAValue] = {}
        self.decided = DataExtents(self.function)
        self.actual: dict[int, SSAValue] = {}
        """What symbols are that data has decided; as arguments, they are what they are at most."""
        self.numbers: dict[int, SSAValue] = {}
        """What kernels are passed that is known."""

    def run(self, depth_first: bool) -> GraphOp:
        check_has_types(self.function)
        arguments, end = self.function.body.block.args, self.function.return_op
        taken = [self._static(each.type, f"argument {each.name_hint or each.index}") for each in arguments]
        results = self.function.function_type.outputs.data
        made = [self._tensors(result, f"result {number}", self.function) for number, result in enumerate(results)]
        inputs, outputs = names_of(self.function)
        given = argument_devices(self.function, PARAMETER_DEVICES, len(arguments))
        for argument, types, device in zip(arguments, taken, given, strict=True):
            self.buffers[argument] = [self._argument(type, device) for type in types]
        self._name(self.block.args, [a.name_hint for a in arguments] if len(arguments) == len(inputs) else [])
        num_inputs = len(self.block.args)
        wanted = argument_devices(self.function, RESULT_DEVICES, len(results))
        targets = [self._argument(type, device) for types, device in zip(made, wanted, strict=True) for type in types]
        self._name(targets, numbered("out", len(targets)))
        if len(targets) == len(end.arguments):
            self.targets = dict(zip(end.arguments, targets, strict=True))
        for name in self.symbol_names:
            self.symbols.append(self.block.insert_arg(IndexType(), len(self.block.args)))
            self.symbols[-1].name_hint = name
        if (shapes := lowered_shapes(self.function)) is not None:
            self.shapes.update(zip(self.block.args, shapes, strict=False))
        read = {op.source for op in self.function.body.block.ops if isinstance(op, relay.ReadExtentOp)}
        last = zip(reversed(end.arguments), reversed(targets), strict=False)  # they come after tuples, if there are any
        self.read = {value: target for value, target in last if value in read}
        for op in _depth_first(end) if depth_first and not read else self.function.body.block.ops:
            if op is not end:
                self._lower(op)
        returned = [buffer for value in end.arguments for buffer in self.buffers[value]]
        for buffer, target in zip(returned, self.block.args[num_inputs : num_inputs + len(targets)], strict=True):
            if buffer is target:
                continue
            if (shape := self.shapes.get(buffer)) is not None:
                target = self._shaped(target, shape)
            self._add(CopyOp([buffer], target), end)
        graph = GraphOp(self.function.sym_name.data, num_inputs, Region(self.block), inputs, outputs)
        if self.symbols:
            graph.symbol_names = ArrayAttr([StringAttr(name) for name in self.symbol_names])
            graph.shapes = ArrayAttr([self._shape(value) for value in (*graph.inputs, *graph.outputs)])
            if (extents := self.function.attributes.get(EXTENTS)) is not None:
                graph.attributes[EXTENTS] = extents
        graph.location = self.function.location
        return graph

    def _argument(self, type: Tensor, device: Attribute | None) -> SSAValue:
        return self.block.insert_arg(buffer_of(type, device), len(self.block.args))

    @staticmethod
    def _name(values: Sequence[SSAValue], names: Sequence[str | None]) -> None:
        for value, name in zip(values, names or numbered("in", len(values)), strict=True):
            value.name_hint = name

    @staticmethod
    def _type(element: Attribute, shape: AffineMapAttr, device: Attribute = CPU) -> BufferType:
        type = memref_type(element, [as_extent(expr) for expr in shape.data.results])
        return type if device == CPU else shaped_memref(element, type.get_shape(), device)

    def _symbol(self, number: int) -> SSAValue:
        """What a symbol is by now."""
        if number not in self.decided.loose:
            return self.symbols[number]
        if number not in self.actual:
            self.actual[number] = self._size(("max", 0, self.decided.defined[number]))
        return self.actual[number]

    def _size(self, size: Size) -> SSAValue:
        """A number that is computed of symbols by now."""
        match size:
            case int():
                if (known := self.numbers.get(size)) is not None:
                    return known
                op = ExtentOp(AffineMapAttr(AffineMap(0, 0, (AffineExpr.constant(size),))), [])
                self.numbers[size] = op.result
            case (_, int(number)):
                return self._symbol(number)
            case (kind, lhs, rhs):
                op = SizeOp(kind, self._size(lhs), self._size(rhs))
        self.block.add_op(op)
        return op.result

    def _shape(self, buffer: SSAValue) -> AffineMapAttr:
        """The extents of a buffer, over the graph's symbols."""
        known = AffineMapAttr(affine_map(0, [as_affine(n) for n in buffer_type(buffer).get_shape()]))
        return self.shapes.get(buffer, known)

    def _extent(self, expr: AffineExpr) -> SSAValue:
        """The value of an extent that depends on symbols."""
        if isinstance(expr, AffineSymExpr):
            return self.symbols[expr.position]
        if (known := self.extents.get(expr)) is None:
            map = AffineMapAttr(AffineMap(0, len(self.symbols), (expr,)))
            op = ExtentOp(map, self.symbols)
            known = self.extents[expr] = op.result
            first = self.block.first_op
            if first is None:
                self.block.add_op(op)
            else:
                self.block.insert_op_before(op, first)
        return known

    def _alloc_shaped(
        self, element: Attribute, shape: AffineMapAttr, source: Operation, name: str | None, device: Attribute | None
    ) -> SSAValue:
        type = self._type(element, shape, device or CPU)
        open_extents = [expr for expr in shape.data.results if not isinstance(expr, AffineConstantExpr)]
        alloc = AllocOp(type, [self._extent(self.decided.most(expr)) for expr in open_extents])
        alloc.result.name_hint = name
        self._add(alloc, source)
        self.shapes[alloc.result] = shape
        return alloc.result

    def _static(self, type: Attribute, what: str, op: Operation | None = None) -> list[Tensor]:
        tensors = self._tensors(type, what, op or self.function)
        if not is_static(type) and not self.symbol_names:
            raise Diagnostic.at(op or self.function, f"{what} has the dynamic type {type}", hint=give_shapes())
        return tensors

    @staticmethod
    def _tensors(type: Attribute, what: str, op: Operation) -> list[Tensor]:
        if odd := [leaf for leaf in leaf_types([type]) if not isinstance(leaf, TensorType)]:
            raise Diagnostic.at(op, f"{what} has the type {odd[0]}, and a graph is of tensors")
        return flatten_types([type])

    def _target(self, result: SSAValue, op: Operation) -> SSAValue:
        """The caller's memory that a result is a change of."""
        if (target := self.targets.get(result)) is None or len(list(result.uses)) > 1:
            raise Diagnostic.at(
                op,
                "updates memory of the caller's, but its results are not returned, each once",
                hint="return them, or leave {updates} out",
            )
        return target

    def _shaped(self, target: SSAValue, shape: AffineMapAttr) -> SSAValue:
        """The caller's memory for a result, with the extents that this has over the graph's symbols."""
        type = self._type(buffer_type(target).element_type, shape, buffer_type(target).memory_space)
        shaped = Rewriter.replace_value_with_new_type(target, type)
        self.shapes[shaped] = shape
        return shaped

    def _add(self, op: Operation, source: Operation) -> None:
        op.location = source.location
        self.block.add_op(op)

    def _alloc(self, type: BufferType, source: Operation, name: str | None = None) -> SSAValue:
        alloc = AllocOp(type)
        alloc.result.name_hint = name
        self._add(alloc, source)
        return alloc.result

    def _lower(self, op: Operation) -> None:
        match op:
            case relay.ConstantOp():
                tensor = flatten_types([op.result.type])[0]
                constant = ConstantOp(op.value, tensor, buffer_of(tensor, device_of(op)))
                constant.attributes |= _kept(op)
                constant.result.name_hint = op.result.name_hint
                self._add(constant, op)
                self.buffers[op.result] = [constant.result]
            case relay.TupleOp():
                self.buffers[op.result] = [buffer for value in op.fields for buffer in self.buffers[value]]
            case relay.TupleGetOp():
                assert isinstance(op.tuple.type, TupleType)
                widths = [len(flatten_types([t])) for t in op.tuple.type.types]
                start = sum(widths[: op.index.value.data])
                self.buffers[op.result] = self.buffers[op.tuple][start : start + widths[op.index.value.data]]
            case relay.CallLoweredOp():
                self._lower_call(op, op.copied_from)
            case relay.ViewOp():
                element = flatten_types([op.result.type])[0].element_type
                source = self.buffers[op.source][0]
                shape = self._view_shape(op)
                view = AliasOp(source, self._type(element, shape, buffer_type(source).memory_space))
                self._add(view, op)
                self.shapes[view.result] = shape
                self.buffers[op.result] = [view.result]
            case relay.ReadExtentOp():
                number = op.symbol.value.data
                if not 0 <= number < len(self.symbols):
                    raise Diagnostic.at(op, f"decides symbol {number} of a graph that has {len(self.symbols)}")
                if op.source not in self.read:
                    raise Diagnostic.at(op, "reads what the function does not return behind its results")
                read = ReadExtentOp(self.read[op.source], self.symbols[number])
                read.result.name_hint = self.symbol_names[number]
                self._add(read, op)
                self.actual[number] = read.result
            case RelayScanOp():
                self._lower_scan(op)
            case relay.CallOp() if isinstance(kernel := self._kernel(op), relay.FuncOp):
                self._lower_call(op, copied_from(kernel))
            case _:
                raise why_not_lowered(op)

    def _view_shape(self, op: relay.ViewOp) -> AffineMapAttr:
        """The extents of a view: as it says, else as its type does."""
        if (shapes := lowered_shapes(op)) is not None:
            if len(shapes) != 1:
                raise Diagnostic.at(op, f"has one result, and '{SHAPES}' for {len(shapes)}")
            return shapes[0]
        if not is_static(op.result.type):
            raise Diagnostic.at(op, f"does not say the extents of its result, {op.result.type}, as '{SHAPES}'")
        extents = flatten_types([op.result.type])[0].get_shape()
        return AffineMapAttr(affine_map(0, [as_affine(n) for n in extents]))

    def _kernel(self, op: relay.CallLoweredOp | relay.CallOp) -> Kernel | None:
        return self.kernels.get(op.callee.root_reference.data)

    def _lower_call(self, op: relay.CallLoweredOp | relay.CallOp, copies: int | None) -> None:
        if (kernel := self._kernel(op)) is None:
            raise Diagnostic.at(op, f"there is no function {op.callee}")
        inputs = [buffer for value in op.arguments for buffer in self.buffers[value]]
        symbols = lowered_symbols(op)
        shapes = iter(lowered_shapes(op) or ())
        device = device_of(op)
        for result in op.results:
            types = self._static(result.type, "the result", op)
            if isinstance(op, relay.CallLoweredOp) and op.updates is not None:
                target = self._target(result, op)
                if lowered_shapes(op) is not None:
                    target = self._shaped(target, next(shapes))
                self.buffers[result] = [target]
            elif (target := self.read.get(result)) is not None:
                self.buffers[result] = [target]
            else:
                self.buffers[result] = [
                    self._alloc_shaped(type.element_type, next(shapes), op, result.name_hint, device)
                    if lowered_shapes(op) is not None
                    else self._alloc(buffer_of(type, device), op, result.name_hint)
                    for type in types
                ]
        outputs = [buffer for result in op.results for buffer in self.buffers[result]]
        if is_copy_between_devices(op):
            for source, target in zip(inputs, outputs, strict=True):
                self._add(CopyOp([source], target), op)
            return
        sizes = op.passed_sizes if isinstance(op, relay.CallLoweredOp) else ()
        passed: list[int | tuple[str, int]] = [*sizes, *(("n", number) for number in symbols)]
        if any(not 0 <= number < len(self.symbols) for number in symbols):
            raise Diagnostic.at(op, f"passes symbols {list(symbols)} of a graph that has {len(self.symbols)}")
        workspaces = self._workspaces(kernel, len(inputs) + len(outputs), passed, op)
        callee = op.callee.root_reference.data
        extents = [self._size(size) for size in passed]
        made = (
            CopyOp(inputs, outputs[0], callee, _offset(inputs, outputs[0], copies), extents)
            if copies is not None and not workspaces
            else CallOp(callee, inputs, outputs, workspaces, extents)
        )
        made.attributes |= {k: v for k, v in _kept(op).items() if k not in (SYMBOLS, SHAPES)}
        if device is not None and isinstance(op, relay.CallLoweredOp) and op.updates is not None:
            made.attributes[UPDATES] = UnitAttr()
        self._add(made, op)

    def _lower_scan(self, op: RelayScanOp) -> None:
        """Turns gather rows in the whole; what is only carried has two places, which they write by turns. What is
        carried stands there behind the last turn where that is known, else it is copied."""
        gathered, count = op.gathered.get_values(), len(op.carried)
        turns = op.known_turns
        passed = [self._passed(expr) for expr in passed_extents(op) or ()]
        shapes = lowered_shapes(op) or [self._known_shape(flatten_types([result.type])[0]) for result in op.res]
        stores: dict[int, SSAValue] = {}
        for number, result, shape in zip(gathered, op.res[count:], shapes[count:], strict=True):
            stores[number] = self._alloc_of(result, shape, op, result.name_hint)
            self.buffers[result] = [stores[number]]
        directions = dict(zip(gathered, op.directions.get_values()[len(op.rows) :], strict=True))
        copied = not turns or not all(is_static(result.type) for result in op.res[:count])
        lasts: list[SSAValue] = []
        for number, (result, shape) in enumerate(zip(op.res[:count], shapes[:count], strict=True)):
            if number not in stores:
                places = AffineExpr.constant(2 if turns is None else min(2, turns))
                two = AffineMapAttr(affine_map(0, [places, *shape.data.results]))
                stores[number] = self._alloc_of(result, two, op, "carried")
            if copied:
                lasts.append(self._alloc_of(result, shape, op, result.name_hint))
                self.buffers[result] = [lasts[number]]
            elif result.first_use is not None:
                assert turns is not None
                rows, *row = buffer_type(stores[number]).get_shape()
                type = buffer_of(TensorType(flatten_types([result.type])[0].element_type, row), device_of(op))
                last = 0 if directions.get(number) else (turns - 1) % rows
                part = PartOp(stores[number], last * (byte_size(type) or 0), type)
                part.result.name_hint = result.name_hint
                self._add(part, op)
                self.buffers[result] = [part.result]
        made = ScanOp(
            op.callee.root_reference.data,
            turns,
            [self.buffers[value][0] for value in op.captured],
            [self._own(self.buffers[value][0], op) for value in op.rows],
            [self._own(self.buffers[value][0], op) for value in op.carried],
            [stores[number] for number in sorted(stores)],
            [*op.directions.get_values()[: len(op.rows)], *(directions.get(number, 0) for number in sorted(stores))],
            lasts,
            passed if turns is None else passed[1:],
        )
        self._add(made, op)

    def _passed(self, expr: AffineExpr) -> SSAValue:
        """A number that the turns of a scan are passed."""
        return self._size(expr.value) if isinstance(expr, AffineConstantExpr) else self._extent(expr)

    def _known_shape(self, type: Tensor) -> AffineMapAttr:
        return AffineMapAttr(affine_map(0, [as_affine(extent) for extent in type.get_shape()]))

    def _alloc_of(self, result: SSAValue, shape: AffineMapAttr, op: Operation, name: str | None) -> SSAValue:
        """Memory of these extents for a result, or for several of it."""
        element, device = self._static(result.type, "the result", op)[0].element_type, device_of(op)
        if all(isinstance(expr, AffineConstantExpr) for expr in shape.data.results):
            return self._alloc(self._type(element, shape, device or CPU), op, name)
        return self._alloc_shaped(element, shape, op, name, device)

    def _own(self, buffer: SSAValue, op: Operation) -> SSAValue:
        """A buffer in the graph's own memory."""
        if isinstance(root_of(buffer).owner, AllocOp):
            return buffer
        type = buffer_type(buffer)
        if (shape := self.shapes.get(buffer)) is None or byte_size(type) is not None:
            copy = self._alloc(type, op, buffer.name_hint)
        else:
            copy = self._alloc_shaped(type.element_type, shape, op, buffer.name_hint, device_of(op))
        self._add(CopyOp([buffer], copy), op)
        return copy

    def _workspaces(
        self, kernel: Kernel, used: int, sizes: Sequence[int | tuple[str, int]], op: Operation
    ) -> list[SSAValue]:
        """Buffers for the workspaces of a kernel, whose symbols are these numbers, or symbols of the graph's."""
        types = _workspaces(kernel, used)
        if not isinstance(kernel, func.FuncOp) or not sizes:
            return [self._alloc(_on(device_of(op), type), op, "workspace") for type in types]
        passed = [AffineExpr.constant(size) if isinstance(size, int) else AffineExpr.symbol(size[1]) for size in sizes]
        renumbered = [AffineExpr.constant(0)] * used + passed  # a kernel's symbols are its arguments, by number
        found: list[SSAValue] = []
        for type, shape in zip(types, workspace_shapes(kernel, types), strict=True):
            exprs = [linear(replaced(expr, [], renumbered)).to_expr() for expr in shape]
            map = AffineMapAttr(affine_map(0, exprs))
            found.append(self._alloc_shaped(type.element_type, map, op, "workspace", device_of(op)))
        return found


def _offset(inputs: Sequence[SSAValue], output: SSAValue, start: int) -> int | None:
    """The byte of the only input where a part of it begins that is copied; `None` where all is."""
    given, taken = [byte_size(buffer_type(value)) for value in inputs], byte_size(buffer_type(output))
    if start == 0 and (len(given) > 1 or given[0] == taken):
        return None
    return start * byte_width(buffer_type(output).element_type)


def _on(device: Attribute | None, type: BufferType) -> BufferType:
    return shaped_memref(type.element_type, type.get_shape(), device or CPU)


def _kept(op: Operation) -> dict[str, Attribute]:
    """The attributes of an operation that still mean something."""
    return {name: value for name, value in op.attributes.items() if name not in (CALL_DEVICE, SOURCE_DEVICE)}


def _workspaces(kernel: Kernel, used: int) -> list[BufferType]:
    """The buffers that a kernel takes behind those that it reads and writes."""
    if not isinstance(kernel, func.FuncOp):
        return []
    return [type for type in kernel.function_type.inputs.data[used:] if is_memref(type)]


def _depth_first(end: Operation) -> Iterator[Operation]:
    """What `end` needs, each operation behind its operands', the first operand's first."""
    done: set[Operation] = set()
    pending: list[tuple[Operation, bool]] = [(end, False)]
    while pending:
        op, ready = pending.pop()
        if op in done:
            continue
        if ready:
            done.add(op)
            yield op
        else:
            pending.append((op, True))
            owners = [operand.owner for operand in op.operands]
            pending += [(owner, False) for owner in reversed(owners) if isinstance(owner, Operation)]


def why_not_lowered(op: Operation) -> Diagnostic:
    """What there is to say of an operation that should have become a kernel call."""
    if isinstance(op, RelayOp) and (lacks := missing_facets(type(op))):
        where = f"{type(op).__module__}.{type(op).__name__}"
        return Diagnostic.at(op, f"cannot become a kernel: {where} lacks {' and '.join(lacks)}")
    return Diagnostic.at(op, "is not a kernel call", hint=_not_lowered(op))


def _not_lowered(op: Operation) -> str:
    """What a person can do about an operation that should have become a kernel call."""
    match op:
        case relay.PrimitiveOp():
            missed = "outline-primitives"
        case relay.CallOp():
            missed = "lower-te"
        case RelayOp() if not missing_facets(type(op)):
            missed = "fuse-ops"
        case _:
            return "fusion makes kernels of operators that compute; this is none, and nothing else lowers it"
    return f"'{missed}' makes kernels of such: it has not run, or has left this one; is it disabled?"
