"""A graph around one `tir.prim_func`, which does nothing but call it: what the compiler makes a program of."""

from __future__ import annotations

import json
from collections.abc import Mapping

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    i8,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ..dialects.relay.core import CallLoweredOp, FuncOp, ReturnOp
from ..dialects.relay.devices import CALL_DEVICE, PARAMETER_DEVICES, RESULT_DEVICES, VirtualDevice, VirtualDeviceAttr
from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.hints import isa
from ..dialects.tir.argument_order import ARGUMENTS, sort_arguments
from ..dialects.tir.buffers import shape_of
from ..dialects.tir.core import BlockOp, ForOp, IterKind, PrimFuncOp, blocks_under, memref_of
from ..dialects.tir.functions import RESULT, TARGET
from ..dialects.tir.specialize import symbols_of
from ..dialects.tir.symbols import affine_map, as_affine, replaced
from .machine.target import Target
from .relay_to_tir.graph_symbols import EXTENTS
from .sizes import to_json


def written_arguments(function: PrimFuncOp) -> list[int]:
    """The places of the arguments that a function writes."""
    written: set[SSAValue] = {buffer for block in blocks_under(function) for buffer in block.writes}
    return [place for place, argument in enumerate(function.region.block.args) if argument in written]


def described_arguments(function: PrimFuncOp) -> list[tuple[str, int, bool]]:
    """The arguments in the order in which callers give them: the name of each, its number among the graph's inputs or
    outputs, and whether it is an output."""
    outputs = written_arguments(function)
    inputs = [place for place in range(len(function.region.block.args)) if place not in outputs]
    names = caller_order(function)
    return [(name, (outputs if place in outputs else inputs).index(place), place in outputs) for name, place in names]


def result_place(function: PrimFuncOp) -> int | None:
    """The place, in the order in which callers give arguments, of that which holds what a function gives; `None` where
    it gives nothing."""
    given = function.attributes.get(RESULT)
    if not isinstance(given, IntegerAttr):
        return None
    return [place for _, place in caller_order(function)].index(given.value.data)


def caller_order(function: PrimFuncOp) -> list[tuple[str, int]]:
    """The names and places of the arguments, in the order in which callers give them."""
    given = function.attributes.get(ARGUMENTS)
    if isa(given, ArrayAttr[DictionaryAttr]):
        found: list[tuple[str, int]] = []
        for entry in given:
            name, place = entry.data["name"], entry.data["place"]
            assert isinstance(name, StringAttr) and isinstance(place, IntegerAttr)
            found.append((name.data, place.value.data))
        return found
    arguments = function.region.block.args
    return [(argument.name_hint or f"arg{place}", place) for place, argument in enumerate(arguments)]


def argument_types(function: PrimFuncOp) -> list[Attribute]:
    """The tensor that each argument is; of a symbol its type."""
    types: list[Attribute] = []
    for argument in function.region.block.args:
        if isinstance(argument.type, MemRefType):
            type = memref_of(argument)
            types.append(TensorType(type.element_type, type.get_shape()))
        else:
            types.append(argument.type)
    given = function.attributes.get(ARGUMENTS)
    if isa(given, ArrayAttr[DictionaryAttr]):
        for entry in given:
            place = entry.data["place"]
            assert isinstance(place, IntegerAttr)
            types[place.value.data] = entry.data["type"]
    return types


def _extents(buffer: SSAValue, numbers: Mapping[int, int]) -> AffineMapAttr:
    """The extents of a buffer as a map from the symbols of a function, which have these numbers for their places."""
    exprs = [as_affine(extent) for extent in shape_of(buffer)]
    places = [AffineExpr.symbol(numbers.get(place, 0)) for place in range(max(numbers, default=-1) + 1)]
    return AffineMapAttr(affine_map(0, [replaced(expr, [], places) for expr in exprs]))


def _with_nothing_written(function: PrimFuncOp) -> PrimFuncOp:
    """The function with one more buffer, without elements, and a loop that would write it and never runs.

    Raises:
        Diagnostic: its extents are open: buffers stand before these.
    """
    if symbols_of(function):
        message = f"@{function.sym_name.data} writes none of its arguments, and its extents are open"
        raise Diagnostic.at(function, message, hint="give it a buffer to write")
    made = function.clone()
    made.location = function.location
    body = made.region.block
    buffer = body.insert_arg(MemRefType(i8, [0]), len(body.args))
    buffer.name_hint = "nothing"
    made.properties["function_type"] = FunctionType.from_lists([each.type for each in body.args], [])
    loop, written = ForOp(0, name_hint="i"), Block(arg_types=[IndexType()])
    zero = arith.ConstantOp.from_int_and_width(0, 8)
    written.add_ops([zero, memref.StoreOp.get(zero, buffer, [written.args[0]])])
    place = AffineMap.identity(1)
    block = BlockOp("nothing", [(IterKind.SPATIAL, 0)], place, [loop.var], Region(written))
    loop.body.block.add_op(block)
    body.add_op(loop)
    return made


def graph_of(function: PrimFuncOp, target: Target | None = None) -> ModuleOp:
    """A module with a copy of `function`, whose arguments stand inputs first, and a graph that calls it; on the GPU, if
    `target` is one. Symbols of the function are inputs of the graph, behind the others: tensors of one `i64`. A
    function that writes none of its arguments, as one that only calls others, gives a tensor without elements.

    Raises:
        Diagnostic: it takes what is neither a buffer nor a symbol.
    """
    symbols = symbols_of(function)
    for argument in function.region.block.args:
        if not isinstance(argument.type, MemRefType) and argument not in symbols:
            what = f"an argument is of type {argument.type}, and graphs pass arrays"
            raise Diagnostic.at(function, what)
    if not written_arguments(function):
        return graph_of(_with_nothing_written(function), target)
    kernel = function.clone()
    kernel.attributes.pop(ARGUMENTS, None)
    kernel.attributes.pop(RESULT, None)
    name = function.sym_name.data
    kernel.properties["sym_name"] = StringAttr(f"{name}_kernel")
    outputs = written_arguments(function)
    types = argument_types(function)
    open_places = [symbol.index for symbol in symbols]
    inputs = [place for place in range(len(types)) if place not in (*outputs, *open_places)]
    sort_arguments(kernel, [*inputs, *outputs, *open_places])
    taken, given = [types[place] for place in inputs], [types[place] for place in outputs]
    graph = FuncOp(name, FunctionType.from_lists([*taken, *[TensorType(i64, [])] * len(symbols)], given))
    arguments = graph.body.block.args
    for argument, place in zip(arguments, [*inputs, *open_places], strict=True):
        argument.name_hint = function.region.block.args[place].name_hint
    call = CallLoweredOp(kernel.sym_name.data, list(arguments[: len(inputs)]), given, updates=True)
    if symbols:
        numbers = {symbol.index: number for number, symbol in enumerate(symbols)}
        told = [_extents(function.region.block.args[place], numbers) for place in (*inputs, *outputs)]
        scalars = [AffineMapAttr(AffineMap(0, 0, ()))] * len(symbols)
        held = [(len(inputs) + number, 0, to_json(("n", number))) for number in range(len(symbols))]
        graph.attributes |= {
            "symbols": ArrayAttr([StringAttr(symbol.name_hint or f"n{n}") for n, symbol in enumerate(symbols)]),
            "shapes": ArrayAttr([*told[: len(inputs)], *scalars]),
            EXTENTS: StringAttr(json.dumps({"held": held})),
        }
        call.attributes |= {
            "symbols": DenseArrayBase.from_list(i64, list(range(len(symbols)))),
            "shapes": ArrayAttr(told[len(inputs) :]),
        }
    for result, place in zip(call.results, outputs, strict=True):
        result.name_hint = function.region.block.args[place].name_hint
    graph.body.block.add_ops([call, ReturnOp(*call.results)])
    if target is not None and target.is_gpu:
        there = VirtualDeviceAttr(VirtualDevice("cuda", 0))
        kernel.attributes[TARGET] = StringAttr("cuda")
        call.attributes[CALL_DEVICE] = there
        graph.attributes[PARAMETER_DEVICES] = ArrayAttr([there] * len(taken))
        graph.attributes[RESULT_DEVICES] = ArrayAttr([there] * len(given))
    return ModuleOp([kernel, graph])
