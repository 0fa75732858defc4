"""Calls in a graph whose extents are symbols: what is `?` in its arguments' types is known when it is called.

Each `?` of an argument of the graph is a symbol of its own, unless `dim_names` of the function gives several one name
(`dim_names = [["n", ""], ["n", ""]]`, a list for each tensor). What the extents of other values are follows from what
the operators compute: `%n * 4`, `(%n + 1) floordiv 2`.

Before -> after:

```mlir
relay.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = relay.call @fused_nn_relu(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>

relay.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
    attributes {symbols = ["x_0"], shapes = [affine_map<()[s0] -> (s0, 8)>]} {
  %y = relay.call_lowered @fused_nn_relu(%x) {symbols = array<i64: 0>, shapes = [affine_map<()[s0] -> (s0, 8)>]} : ...
tir.prim_func @fused_nn_relu(%p0: memref<?x8xf32>, %out: memref<?x8xf32>, %x_0: index) shapes(...) { ...
```

A function that is called with extents that are known otherwise from call to call becomes one kernel for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    TupleType,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, RelayOp, ReshapeLike, flatten_types, is_dynamic, tensor
from ...dialects.relay.calls import SYMBOLS
from ...dialects.relay.core import (
    CallLoweredOp,
    CallOp,
    ConstantOp,
    FuncOp,
    ReadExtentOp,
    TupleGetOp,
    TupleOp,
    ViewOp,
)
from ...dialects.relay.devices import RESULT_DEVICES, VirtualDevice, VirtualDeviceAttr, listed_devices
from ...dialects.relay.extents import Extents, Known
from ...dialects.relay.functions import is_for
from ...dialects.relay.graph_arguments import DIM_NAMES, graph_symbols
from ...dialects.relay.scan import ScanOp
from ...dialects.relay.telling import is_telling, told_inputs
from ...dialects.relay.types import tuple_type
from ...dialects.support.advice import give_shapes
from ...dialects.support.diagnostics import Diagnostic, Place
from ...dialects.support.hints import isa
from ...dialects.support.retyping import retype
from ...dialects.support.shaped import is_tensor
from ...dialects.support.unique_names import argument_names, free_name
from ...dialects.te.assume import Assumptions, assuming
from ...dialects.te.dims import told_var
from ...dialects.tir.core import PrimFuncOp
from ...transforms.relay.outline_segments import SEGMENT
from ..graph_to_memory.signature import names_of
from .alike_functions import Lower
from .graph_symbols import EXTENTS, GraphSymbols, note_assumed
from .merged_rows import matrix_dims, of_matrices, rows_within
from .place_calls import device_of
from .te_symbols import opaque_extents
from .turns import PASSES, Turn, pass_extents

SHAPES = "shapes"
"""With `SYMBOLS`, attributes of a graph's function: its symbols, and the extents of its arguments."""

Dims = tuple[te.Dim, ...]


@dataclass(frozen=True)
class Kernel:
    """A kernel for inputs of some extents."""

    name: str
    symbols: tuple[te.Expr, ...]
    """What it is passed after its buffers: symbols, and extents that it cannot tell by them."""
    held: frozenset[int]
    """The inputs that it does not take: it knows what they hold."""


class DynamicCalls:
    """The calls of the graphs of a module whose extents are symbols."""

    def __init__(self, module: ModuleOp, lower: Lower):
        self.module = module
        self.lower = lower
        self.functions = {f.sym_name.data: f for f in module.ops if isinstance(f, FuncOp) and f.is_primitive}
        self.kernels: dict[tuple[str, tuple[Known, ...]], Kernel] = {}
        self.merged: dict[tuple[str, frozenset[int]], FuncOp] = {}
        """Functions of matrices, by those that they are of, and by which inputs have rows."""
        self.called: set[str] = set()
        """The functions that kernels have been made of."""
        self.views: set[str] = set()
        """Those that only see memory otherwise."""
        self.turns: dict[str, ScanOp] = {}
        """The graphs that are turns, with one of those that scan them."""

    def lower_calls(
        self, graphs: Sequence[FuncOp], lower_call: Callable[[CallOp, Kernel, dict[str, Attribute]], None]
    ) -> None:
        """Let `lower_call` replace each call in `graphs` that takes or gives what is not static.

        Raises:
            Diagnostic: an operator cannot be computed with extents that are symbols.
        """
        scans = [op for graph in graphs for op in graph.body.block.ops if isinstance(op, ScanOp)]
        self.turns = {scan.callee.root_reference.data: scan for scan in scans}
        found = {graph.sym_name.data: (graph, *self._extents(graph)) for graph in graphs if _is_open(graph)}
        done = dict[str, Turn]()

        def lower(name: str) -> None:
            """Those that a graph scans before itself: it passes them their symbols."""
            if name in done or name not in found:
                return
            graph, extents, sources = found[name]
            for op in graph.body.block.ops:
                if isinstance(op, ScanOp):
                    lower(op.callee.root_reference.data)
            done[name] = self._lower_calls(graph, extents, sources, lower_call, done)

        for name in found:
            lower(name)
        for scan in scans:
            name = scan.callee.root_reference.data
            if name in found and PASSES not in scan.attributes:
                raise Diagnostic.at(scan, f"takes tensors of known extents, and {scan.callee} such as are open")

    def _lower_calls(
        self,
        graph: FuncOp,
        extents: Extents,
        sources: Mapping[te.Var, SSAValue],
        lower_call: Callable[[CallOp, Kernel, dict[str, Attribute]], None],
        turns: Mapping[str, Turn],
    ) -> Turn:
        """The same for one graph, of which the extents are known; `turns` are the symbols of what it scans."""
        _say_what_follows(graph, extents, graph.sym_name.data in self.turns)
        inputs = [each for argument in graph.body.block.args for each in extents.of(argument)]
        arguments = [each.dims for each in inputs]
        held = _held_sizes(inputs)
        fixed: list[tuple[te.Dim, te.Dim]] = []
        if (
            held
            and not te.variables([dim for dims in arguments for dim in dims])
            and all(isinstance(size, int) for _, _, size in held)
        ):  # nothing is open but what is told, which has to be what it is needed to be: that is asked when it is called
            told = _held_sizes([each for argument in graph.body.block.args for each in extents.known[argument]])
            fixed = [(symbol, size) for (_, _, symbol), (_, _, size) in zip(told, held, strict=True)]
            held = told
        decided = {symbol: extents.resolved(most) for symbol, most in extents.decided.items()}
        given = [*(dim for dims in arguments for dim in dims), *(dim for _, _, dim in held)]
        symbols = GraphSymbols(te.variables(given), decided)
        calls: list[tuple[CallOp, Kernel | None, list[Known]]] = []
        views: list[ViewOp] = []
        for call in [op for op in graph.body.block.ops if isinstance(op, CallOp)]:
            call = self._with_rows_of_one_extent(call, extents, views)
            inputs = symbols.whole([symbols.folded(each) for value in call.arguments for each in extents.of(value)])
            view = (name := call.callee.root_reference.data) in self.functions and _is_view(self.functions[name])
            outputs = [symbols.folded(each) for result in call.results for each in extents.of(result)]
            kernel = None if view else self._kernel(call, inputs)
            for symbol in () if kernel is None else kernel.symbols:
                symbols.number(symbol)
            calls.append((call, kernel, outputs))
        for op in graph.body.block.ops:
            if isinstance(op, ScanOp):
                pass_extents(op, extents, symbols, turns.get(op.callee.root_reference.data))
                op.attributes[SHAPES] = symbols.shapes([extents.of(result)[0].dims for result in op.res])
        if graph.sym_name.data in self.turns and (held or sources):
            raise Diagnostic.at(graph, "is a turn whose extents what it is given decides", hint=give_shapes())
        asked = [(extents.resolved(a), extents.resolved(b)) for a, b in extents.at_most]
        asked += [pair for a, b in fixed for pair in ((a, b), (b, a))]
        graph.attributes[SYMBOLS] = ArrayAttr([StringAttr(symbol.name) for symbol in symbols.numbers])
        graph.attributes[SHAPES] = symbols.shapes(arguments)
        if asked or symbols.defined or sources:
            graph.attributes[EXTENTS] = symbols.described(asked, held)
        for symbol, source in sources.items():
            read = ReadExtentOp(source, symbols.numbers[symbol])
            read.location = source.owner.location if isinstance(source.owner, Operation) else read.location
            graph.body.block.insert_op_after(read, cast("Operation", source.owner))
        if sources:
            _return_too(graph, {symbol.name: source for symbol, source in sources.items()})
        for call, kernel, outputs in calls:
            shapes = symbols.shapes([each.dims for each in outputs])
            if kernel is None:
                self.called.add(call.callee.root_reference.data)
                _see(call, shapes)
                continue
            numbers = [symbols.number(symbol) for symbol in kernel.symbols]
            found: dict[str, Attribute] = {SYMBOLS: DenseArrayBase.from_list(i64, numbers), SHAPES: shapes}
            lower_call(call, kernel, found if kernel.symbols else {})
        for view in views:
            view.attributes[SHAPES] = symbols.shapes([extents.of(view.result)[0].dims])
        _drop_unused(graph)
        graph.attributes.pop(DIM_NAMES, None)
        return Turn(symbols, arguments)

    def _extents(self, graph: FuncOp) -> tuple[Extents, dict[te.Var, SSAValue]]:
        """What is known of all values of a graph, and where the symbols stand that data decides."""
        extents = Extents()
        sources: dict[te.Var, SSAValue] = {}
        _, arguments = graph_symbols(graph)
        remaining = iter(arguments)
        for argument in graph.body.block.args:
            extents.known[argument] = [Known(next(remaining)) for _ in flatten_types([argument.type])]
        names = argument_names(graph.body.block.args)
        for argument in self._telling(graph):
            (known,) = extents.known[argument]
            name = names[argument.index]
            numbers = tuple(told_var(f"{name}_{place}") for place in range(prod(tensor(argument).get_shape())))
            extents.known[argument] = [Known(known.dims, numbers)]
        for op in graph.body.block.ops:
            match op:
                case CallOp():
                    self._enter(op, extents)
                    for symbol in [each for each in extents.decided if each not in sources]:
                        if len(op.results) != 1 or extents.of(op.results[0])[0].contents != (symbol,):
                            raise Diagnostic.at(op, "computes an extent that data decides, and more than that")
                        sources[symbol] = op.results[0]
                case CallLoweredOp():
                    extents.note(op, [Known(tuple(t.get_shape())) for r in op.results for t in flatten_types([r.type])])
                case _ if op is graph.return_op:
                    pass
                case TupleOp() | TupleGetOp() | ConstantOp() | ScanOp():
                    extents.add(op)
                case _:
                    raise Diagnostic.at(op, "cannot be compiled where extents are known only when the graph is called")
        if (scan := self.turns.get(graph.sym_name.data)) is not None:
            carried = graph.body.block.args[len(graph.body.block.args) - len(scan.carried) :]
            for before, after in zip(carried, graph.return_op.arguments, strict=False):
                pairs = zip(extents.of(before)[0].dims, extents.of(after)[0].dims, strict=True)
                extents.take(Assumptions(equal=list(pairs)), graph)
        return extents, sources

    def _telling(self, graph: FuncOp) -> list[BlockArgument]:
        """The arguments of a graph that say what extents something in it has: small tensors of integers."""
        found: dict[SSAValue, None] = {}
        for op in reversed(list(graph.body.block.ops)):
            match op:
                case CallOp() if (function := self.functions.get(op.callee.root_reference.data)) is not None:
                    told = set(told_inputs(function))
                    number = 0
                    asked = any(result in found for result in op.results)
                    for value in op.arguments:
                        if asked or number in told:
                            found[value] = None
                        number += len(flatten_types([value.type]))
                case TupleOp() | TupleGetOp() if op.results[0] in found:
                    found.update(dict.fromkeys(op.operands))
                case _:
                    pass
        return [argument for argument in graph.body.block.args if argument in found and is_telling(argument.type)]

    def _with_rows_of_one_extent(self, call: CallOp, extents: Extents, views: list[ViewOp]) -> CallOp:
        """A call, or what takes its place: one of the same function of matrices, between further `views`."""
        name = call.callee.root_reference.data
        function, block = self.functions.get(name), call.parent
        values = [*call.arguments, *call.results]
        if function is None or is_for(function) or block is None or not all(is_tensor(value.type) for value in values):
            return call
        inputs, outputs = ([extents.of(value)[0].dims for value in each] for each in (call.arguments, call.results))
        if (rows := rows_within(function, inputs, outputs)) is None:
            return call
        if (key := (name, rows)) not in self.merged:
            made = of_matrices(function, rows, self.free_name(f"{name}_rows"))
            self.module.body.block.insert_op_before(made, function)
            self.merged[key] = self.functions[made.sym_name.data] = made
            self.called.add(name)
        made = self.merged[key]

        def see(value: SSAValue, type: Attribute, dims: Dims) -> SSAValue:
            views.append(view := ViewOp(value, type))
            view.location, view.result.name_hint = call.location, value.name_hint
            block.insert_op_before(view, call)
            extents.known[view.result] = [Known(dims)]
            return view.result

        types, given = made.function_type, list(call.arguments)
        for number in sorted(rows):
            given[number] = see(given[number], types.inputs.data[number], matrix_dims(inputs[number]))
        new = CallOp(made.sym_name.data, given, list(types.outputs.data))
        new.location, new.attributes = call.location, dict(call.attributes)
        block.insert_op_before(new, call)
        for old, result, dims in zip(call.results, new.results, outputs, strict=True):
            extents.known[result] = [Known(matrix_dims(dims))]
            result.name_hint = old.name_hint
            old.replace_all_uses_with(see(result, old.type, dims))
        call.detach()
        call.erase()
        return new

    def _enter(self, call: CallOp, extents: Extents) -> None:
        """Find out about the results of a call."""
        name = call.callee.root_reference.data
        if (function := self.functions.get(name)) is None:
            raise Diagnostic.at(call, f"there is no function @{name} of operators")
        extents.enter(call, function)

    def _kernel(self, call: CallOp, inputs: Sequence[Known]) -> Kernel:
        """The kernel for a call."""
        name = call.callee.root_reference.data
        function = self.functions[name]
        told = told_inputs(function)
        inputs = [each if number in told else Known(each.dims) for number, each in enumerate(inputs)]
        if (known := self.kernels.get((name, tuple(inputs)))) is not None:
            return known
        for number in told:
            held = inputs[number].contents
            if held is None or None in held:
                raise Diagnostic.at(
                    call,
                    "gives a tensor of an extent that data decides, of which no bound is known",
                    hint=give_shapes(),
                )
        numbers = [dim for each in inputs for dim in (*each.dims, *(each.contents or ())) if isinstance(dim, te.Expr)]
        symbols = tuple(te.variables(numbers))
        try:
            with assuming() as asked:  # which is noted for the graph already
                prim_func, outputs = self.lower(function, inputs, symbols)
        except Diagnostic as error:
            if error.place is not None:
                raise
            raise type(error)(error.message, Place.of_location(call.location), hint=error.hint) from None
        if name in self.called:
            prim_func.sym_name = StringAttr(self.free_name(name))
        self.called.add(name)
        self.module.body.block.insert_op_before(prim_func, function)
        passed = (*symbols, *(opaque_extents(outputs) if symbols else ()))
        assert len(passed) == len(prim_func.symbols), "what follows has no symbols but those of what it follows from"
        note_assumed(prim_func, passed, asked)
        kernel = Kernel(prim_func.sym_name.data, passed, frozenset(told))
        self.kernels[name, tuple(inputs)] = kernel
        return kernel

    def free_name(self, name: str) -> str:
        """A name like this that no function of the module has."""
        taken = {op.sym_name.data for op in self.module.ops if isinstance(op, FuncOp | PrimFuncOp)}
        return free_name(name, taken | {name})


def _held_sizes(inputs: Sequence[Known]) -> list[tuple[int, int, te.Dim]]:
    """The elements of inputs that are sizes: the number of the input, that of the element, and the size."""
    found: list[tuple[int, int, te.Dim]] = []
    for number, known in enumerate(inputs):
        for place, size in enumerate(known.contents or ()):
            if size is not None and not isinstance(size, float):
                found.append((number, place, size))
    return found


def _return_too(graph: FuncOp, more: Mapping[str, SSAValue]) -> None:
    """Let a graph return more values, by these names; each where it is computed."""
    names = [StringAttr(name) for name in (*names_of(graph)[1], *more)]
    end, type = graph.return_op, graph.function_type
    end.operands = [*end.operands, *more.values()]
    graph.function_type = FunctionType.from_lists(
        list(type.inputs), [*type.outputs, *(value.type for value in more.values())]
    )
    graph.attributes["output_names"] = ArrayAttr(names)
    if RESULT_DEVICES in graph.attributes:
        devices = listed_devices(graph.attributes[RESULT_DEVICES])
        owners = [cast("Operation", value.owner) for value in more.values()]
        computed = [device_of(owner) or VirtualDeviceAttr(VirtualDevice("cpu", 0)) for owner in owners]
        graph.attributes[RESULT_DEVICES] = ArrayAttr([*map(VirtualDeviceAttr, devices), *computed])


def _say_what_follows(graph: FuncOp, extents: Extents, is_turn: bool) -> None:
    """Put the numbers that open extents turned out to be into the types of the graph's values, and into its scans: what
    is added to four columns has four. A function that others call keeps the type that they call, but for a segment and
    a turn: a program gives it what fits, and a graph that scans."""
    if "sym_visibility" in graph.properties and SEGMENT not in graph.attributes and not is_turn:
        return
    for value in [*graph.body.block.args, *(result for op in graph.body.block.ops for result in op.results)]:
        if value in extents.known and is_dynamic(value.type):
            retype(value, _with_extents(value.type, iter(extents.of(value))))
    for op in graph.body.block.ops:
        if isinstance(op, ScanOp) and op.known_turns is None:
            (turns, *_) = extents.of(op.rows[0])[0].dims
            op.turns = IntegerAttr(turns, i64) if isinstance(turns, int) else None
    arguments, results = graph.body.block.args, graph.return_op.arguments
    graph.function_type = FunctionType.from_lists([v.type for v in arguments], [v.type for v in results])


def _is_open(graph: FuncOp) -> bool:
    """Whether some value of a graph has an open extent."""
    values = [*graph.body.block.args, *(result for op in graph.body.block.ops for result in op.results)]
    return any(is_dynamic(value.type) for value in values)


def _with_extents(type: Attribute, known: Iterator[Known]) -> Attribute:
    """`type`, of which this is known."""
    if isa(type, TupleType):
        return tuple_type(*(_with_extents(each, known) for each in type.types))
    assert isa(type, TensorType)
    return TensorType(type.element_type, [d if isinstance(d, int) else DYNAMIC for d in next(known).dims])


def _is_view(function: FuncOp) -> bool:
    """Whether a function only sees the memory of its first argument otherwise."""
    block = function.body.block
    if not block.args:
        return False
    seen: SSAValue = block.args[0]
    for op in block.ops:
        if isinstance(op, RelayOp) and op.has_trait(ReshapeLike) and op.operands[0] is seen:
            seen = op.results[0]
        elif op is not function.return_op:
            return False
    return list(function.return_op.arguments) == [seen] and seen.owner is not block


def _see(call: CallOp, shapes: Attribute) -> None:
    """Put a `relay.view` in the place of a call that sees memory otherwise."""
    assert call.parent is not None
    view = ViewOp(call.arguments[0], call.results[0].type)
    view.location = call.location
    view.attributes[SHAPES] = shapes
    call.parent.insert_op_before(view, call)
    view.result.name_hint = call.results[0].name_hint
    call.results[0].replace_all_uses_with(view.result)
    call.detach()
    call.erase()


def _drop_unused(graph: FuncOp) -> None:
    """Drop calls whose results nobody needs any more: of what was only computed as an extent."""
    for op in reversed(list(graph.body.block.ops)):
        if op is not graph.return_op and op.results and not any(result.first_use for result in op.results):
            op.detach()
            op.erase()


def lowered_symbols(op: Operation) -> Sequence[int]:
    """The symbols of the graph, by number, that a `relay.call_lowered` passes; none where it passes none."""
    numbers = op.attributes.get(SYMBOLS)
    return [int(n) for n in numbers.get_values()] if isinstance(numbers, DenseArrayBase) else []


def lowered_shapes(op: Operation) -> Sequence[AffineMapAttr] | None:
    """The extents of a call's results, or of a graph's arguments, over the graph's symbols; `None` where types say."""
    shapes = op.attributes.get(SHAPES)
    return list(shapes) if isa(shapes, ArrayAttr[AffineMapAttr]) else None
