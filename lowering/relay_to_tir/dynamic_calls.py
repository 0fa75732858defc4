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

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DenseArrayBase, ModuleOp, StringAttr, TupleType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, Tensor, flatten_types, is_dynamic
from ...dialects.relay.core import CallLoweredOp, CallOp, ConstantOp, FuncOp, TupleGetOp, TupleOp
from ...dialects.support.diagnostics import Diagnostic, Place
from ...dialects.tir.core import PrimFuncOp
from ...dialects.tir.symbols import affine_map, as_affine
from .te_to_tir import Symbols

DIM_NAMES, SYMBOLS, SHAPES = "dim_names", "symbols", "shapes"
"""Attributes of a graph's function: given names of what is `?`, its symbols, and the extents of its arguments."""

Dims = tuple[te.Dim, ...]
Lower = Callable[[FuncOp, Sequence[Dims]], tuple[PrimFuncOp, list[te.Tensor]]]
"""Makes a kernel of a function for inputs of some extents; gives it, and its outputs."""


@dataclass(frozen=True)
class Kernel:
    """A kernel for inputs of some extents, and the extents of what it gives."""

    name: str
    symbols: tuple[te.Var, ...]
    outputs: tuple[Dims, ...]


class DynamicCalls:
    """The calls of the graphs of a module whose extents are symbols."""

    def __init__(self, module: ModuleOp, lower: Lower):
        self.module = module
        self.lower = lower
        self.functions = {f.sym_name.data: f for f in module.ops if isinstance(f, FuncOp) and f.is_primitive}
        self.kernels: dict[tuple[str, tuple[Dims, ...]], Kernel] = {}
        self.called: set[str] = set()
        """The functions that kernels have been made of."""

    def lower_calls(self, graph: FuncOp, lower_call: Callable[[CallOp, Kernel, dict[str, Attribute]], None]) -> None:
        """Let `lower_call` replace each call in `graph` that takes or gives what is not static.

        Raises:
            Diagnostic: an operator cannot be computed with extents that are symbols, or an extent is no sum of symbols
                times numbers, and quotients of such.
        """
        if not any(map(is_dynamic, (*graph.function_type.inputs, *graph.function_type.outputs))):
            return
        symbols, arguments = graph_symbols(graph)
        numbers = Symbols({symbol: number for number, symbol in enumerate(symbols)})
        dims: dict[SSAValue, list[Dims]] = {}
        remaining = iter(arguments)
        for argument in graph.body.block.args:
            dims[argument] = [next(remaining) for _ in flatten_types([argument.type])]
        calls: list[tuple[CallOp, Kernel]] = []
        for op in graph.body.block.ops:
            match op:
                case CallOp():
                    inputs = [each for value in op.arguments for each in dims[value]]
                    kernel = self._kernel(op, inputs)
                    calls.append((op, kernel))
                    outputs = iter(kernel.outputs)
                    for result in op.results:
                        dims[result] = [next(outputs) for _ in flatten_types([result.type])]
                case TupleOp():
                    dims[op.result] = [each for field in op.fields for each in dims[field]]
                case TupleGetOp():
                    assert isinstance(op.tuple.type, TupleType)
                    widths = [len(flatten_types([type])) for type in op.tuple.type.types]
                    start = sum(widths[: op.index.value.data])
                    dims[op.result] = dims[op.tuple][start : start + widths[op.index.value.data]]
                case ConstantOp() | CallLoweredOp():
                    for result in op.results:
                        dims[result] = [tuple(type.get_shape()) for type in flatten_types([result.type])]
                case _ if op is graph.return_op:
                    pass
                case _:
                    raise Diagnostic.at(op, "cannot be compiled where extents are known only when the graph is called")
        graph.attributes[SYMBOLS] = ArrayAttr([StringAttr(symbol.name) for symbol in symbols])
        graph.attributes[SHAPES] = shapes_attribute(numbers, arguments)
        graph.attributes.pop(DIM_NAMES, None)
        for call, kernel in calls:
            found: dict[str, Attribute] = {
                SYMBOLS: DenseArrayBase.from_list(i64, [symbols.index(symbol) for symbol in kernel.symbols]),
                SHAPES: shapes_attribute(numbers, kernel.outputs),
            }
            lower_call(call, kernel, found if kernel.symbols else {})

    def _kernel(self, call: CallOp, inputs: Sequence[Dims]) -> Kernel:
        name = call.callee.root_reference.data
        if (function := self.functions.get(name)) is None:
            raise Diagnostic.at(call, f"there is no function @{name} of operators")
        if (known := self.kernels.get((name, tuple(inputs)))) is not None:
            return known
        try:
            prim_func, outputs = self.lower(function, inputs)
        except Diagnostic as error:
            if error.place is not None:
                raise
            raise type(error)(error.message, Place.of_location(call.location), hint=error.hint) from None
        if name in self.called:
            prim_func.sym_name = StringAttr(self._free(name))
        self.called.add(name)
        self.module.body.block.insert_op_before(prim_func, function)
        symbols = tuple(te.variables(dim for tensor in inputs for dim in tensor))
        assert len(symbols) == len(prim_func.symbols), "what follows has no symbols but those of what it follows from"
        kernel = Kernel(prim_func.sym_name.data, symbols, tuple(output.dims for output in outputs))
        self.kernels[name, tuple(inputs)] = kernel
        return kernel

    def _free(self, name: str) -> str:
        taken = {op.sym_name.data for op in self.module.ops if isinstance(op, FuncOp | PrimFuncOp)}
        number = 1
        while f"{name}_{number}" in taken:
            number += 1
        return f"{name}_{number}"


def graph_symbols(graph: FuncOp) -> tuple[list[te.Var], list[Dims]]:
    """The symbols of a graph, and the extents of its arguments, tuples opened.

    Raises:
        Diagnostic: `dim_names` does not fit the arguments.
    """
    types = flatten_types(graph.function_type.inputs.data)
    owners = [a.name_hint or f"in{n}" for n, a in enumerate(graph.body.block.args) for _ in flatten_types([a.type])]
    given = _given_names(graph, types)
    symbols: dict[str, te.Var] = {}
    taken: dict[str, te.Var] = {}
    shapes: list[Dims] = []
    for owner, type, names in zip(owners, types, given, strict=True):
        dims: list[te.Dim] = []
        for axis, (extent, name) in enumerate(zip(type.get_shape(), names, strict=True)):
            if extent != DYNAMIC:
                dims.append(extent)
                continue
            key = name or f"{owner}.{axis}"
            if key not in symbols:
                symbols[key] = taken[plain] = te.var(plain := _plain(name or f"{owner}_d{axis}", taken))
            dims.append(symbols[key])
        shapes.append(tuple(dims))
    return list(symbols.values()), shapes


def _given_names(graph: FuncOp, types: Sequence[Tensor]) -> list[list[str]]:
    names = graph.attributes.get(DIM_NAMES)
    if names is None:
        return [[""] * len(type.get_shape()) for type in types]
    if isa(names, ArrayAttr[ArrayAttr[StringAttr]]):
        given = [[name.data for name in each] for each in names]
        if [len(each) for each in given] == [len(type.get_shape()) for type in types]:
            return given
    raise Diagnostic.at(
        graph,
        f"'{DIM_NAMES}' does not name the dimensions of its {len(types)} inputs",
        hint='write a list for each, with "" for what has no name: [["n", ""], ["n", ""]]',
    )


def _plain(name: str, taken: dict[str, te.Var]) -> str:
    """A name that a value may have, and no symbol has yet."""
    plain = re.sub(r"\W", "_", name)
    plain = plain if re.match(r"[A-Za-z_]", plain) else f"n_{plain}"
    candidate, number = plain, 1
    while candidate in taken:
        candidate, number = f"{plain}_{number}", number + 1
    return candidate


def shapes_attribute(numbers: Symbols, shapes: Sequence[Dims]) -> ArrayAttr[Attribute]:
    """Extents of tensors as maps from symbols."""
    return ArrayAttr([AffineMapAttr(affine_map(0, [as_affine(numbers.extent(n)) for n in dims])) for dims in shapes])


def lowered_symbols(op: Operation) -> Sequence[int]:
    """The symbols of the graph, by number, that a `relay.call_lowered` passes; none where it passes none."""
    numbers = op.attributes.get(SYMBOLS)
    return [int(n) for n in numbers.get_values()] if isinstance(numbers, DenseArrayBase) else []


def lowered_shapes(op: Operation) -> Sequence[AffineMapAttr] | None:
    """The extents of a call's results, or of a graph's arguments, over the graph's symbols; `None` where types say."""
    shapes = op.attributes.get(SHAPES)
    return list(shapes) if isa(shapes, ArrayAttr[AffineMapAttr]) else None
