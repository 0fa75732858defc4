"""The code of a whole program that branches and calls: one function, in which all of its functions are blocks.

    llvm.func @weft_run(%inputs, %outputs, %arena, %num_threads) -> i64

A call is a jump that leaves behind where to go on; returning is a jump there. Frames stand in memory that grows, one
behind the other, so that a recursion may be as deep as there is memory; a call that is the last thing a function does
takes the function's own frame, and so is a loop. One thread runs this; the segments that it comes to are run by all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerAttr,
    StringAttr,
    TupleType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects.relay.base import flatten_types
from ...dialects.relay.control import ClosureOp, SetRowOp
from ...dialects.relay.core import CallOp, FuncOp
from ...dialects.relay.graph_arguments import graph_symbols
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.element_types import item_bytes
from ...transforms.infra.walk import walk
from ...transforms.relay.outline_open_segments import has_open_extents
from ..abi import COUNTER_BYTES, DYNAMIC, ENTRY, GRAPH_SYMBOLS, POOLS, TensorSpec
from ..check_sites import CHECKS, RECORDS
from ..graph_to_memory.signature import described, graph_signature, names_of
from ..loops_to_llvm.convert_loops_to_llvm import ARENA_BYTES
from ..relay_to_tir.graph_symbols import GraphSymbols
from .assembly import PTR, Assembly
from .function_code import FunctionCode, static_bytes
from .heap import (
    DATA_AT,
)
from .machine import WORD, Machine
from .open_sizes import OpenGraph, Sizes


class ProgramCode:
    """The code of a program."""

    def __init__(self, main: FuncOp, functions: dict[str, FuncOp], segments: dict[str, llvm.FuncOp]):
        self.main = main
        block = Block(arg_types=[PTR, PTR, PTR, i64])
        for argument, name in zip(block.args, ("inputs", "outputs", "arena", "num_threads"), strict=True):
            argument.name_hint = name
        self.function = llvm.FuncOp(
            ENTRY,
            llvm.LLVMFunctionType([PTR, PTR, PTR, i64], i64),
            linkage=llvm.LinkageAttr("external"),
            body=Region(block),
        )
        self.function.location = main.location
        self.asm = Assembly(self.function.body)
        self.used = _reached(main, functions)
        self.machine = Machine(self.asm, block.args, segments, _is_open(self.used, segments))
        self.codes: dict[str, FunctionCode] = {}
        self.open_results: list[tuple[TensorSpec, SSAValue, int]] = []
        """The results of a program with open extents: what each is to be, its value, and its number."""
        closures = [op for f in self.used.values() for op in walk(f) if isinstance(op, ClosureOp)]
        for number, (name, function) in enumerate(self.used.items()):
            self.codes[name] = FunctionCode(function, number, self.machine, self.codes, closures)

    def write(self) -> llvm.FuncOp:
        """The function that the runtime calls."""
        asm, machine, type = self.asm, self.machine, self.main.function_type
        types = [function.function_type for function in self.used.values()]
        room = WORD * (1 + max(len(each.inputs) for each in types))
        machine.begin(max(len(each.outputs) for each in types), room)
        self.spec = program_signature(self.main) if machine.is_open else graph_signature(self.main)
        self.graph = OpenGraph.of(self.spec)
        self.sizes = Sizes(asm, self.graph, self._dim, self._element)
        places = iter(range(len(flatten_types(type.inputs.data))))
        for number, each in enumerate(type.inputs, start=1):
            asm.store(self._given(each, places), machine.frame(), WORD * number)
        asm.branch(self.codes[self.main.sym_name.data].entry)
        for code in self.codes.values():
            code.write(room)
        asm.location = self.main.location
        asm.start(machine.dispatch)
        asm.select_among(machine.dispatch.args[0], machine.returns)
        asm.start(machine.finished)
        places = iter(range(len(flatten_types(type.outputs.data))))
        for number, each in enumerate(type.outputs):
            self._give(each, asm.load(machine.results, WORD * number), places)
        self._give_open()
        machine.end(asm.integer(0))
        machine.failures()
        self.function.attributes |= self.spec
        self.function.attributes[ARENA_BYTES] = IntegerAttr(machine.arena_bytes, i64)
        self.function.attributes[COUNTER_BYTES] = IntegerAttr(machine.counters, i64)
        self.function.attributes[CHECKS] = machine.sites(self.main)
        self.function.attributes[RECORDS] = IntegerAttr(machine.records_at, i64)
        return self.function

    def _given(self, type: Attribute, places: Iterator[int]) -> SSAValue:
        """An input as a value: the caller's tensors, in tuples."""
        if isinstance(type, TupleType):
            return self.machine.new_value(0, [self._given(field, places) for field in type.types])
        number = next(places)
        dims = self.sizes.dims(self.graph.inputs[number]) if self.machine.is_open else ()
        return self.machine.foreign_tensor(self.asm.load(self.machine.given_inputs, WORD * number), dims)

    def _dim(self, tensor: int, axis: int) -> SSAValue:
        """An extent of an input: the symbols stand behind the inputs' addresses."""
        match (self.graph.inputs[tensor].extents or ())[axis]:
            case (_, int(number)):
                return self.asm.load(self.machine.given_inputs, WORD * (len(self.graph.inputs) + number), i64)
            case size:
                raise Diagnostic.at(self.main, f"the extent {size} of an input is no symbol")

    def _element(self, tensor: int, element: int) -> SSAValue:
        raise Diagnostic.at(self.main, "elements of a program's own inputs are no sizes")

    def _give(self, type: Attribute, pointer: SSAValue, places: Iterator[int]) -> None:
        """Copy a result to the caller's memory."""
        if isinstance(type, TupleType):
            for number, field in enumerate(type.types):
                self._give(field, self.asm.load(pointer, DATA_AT + WORD * number), places)
            return
        place = next(places)
        if self.machine.is_open:
            self.open_results.append((self.graph.outputs[place], pointer, place))
            return
        target = self.asm.load(self.machine.given_outputs, WORD * place)
        size = self.asm.integer(static_bytes(type, self.main))
        self.asm.call("memcpy", [target, self.asm.load(pointer, DATA_AT), size], PTR)

    def _give_open(self) -> None:
        """The same in a program with open extents: a result whose extents are open is handed over in memory of its own,
        by its address, with its extents, which the caller's memory is for. Nothing is handed over before all results
        are right and have memory, for a program that fails gives nothing that a caller would give back."""
        asm, machine = self.asm, self.machine
        found = [self._checked(spec, pointer) for spec, pointer, _ in self.open_results]
        own: dict[int, SSAValue] = {}
        for (spec, _, place), (_, bytes) in zip(self.open_results, found, strict=True):
            if spec.is_found:
                own[place] = machine.memory(asm.plus(bytes, asm.integer(1)), [*own.values()])
        for (_, pointer, place), (dims, bytes) in zip(self.open_results, found, strict=True):
            target = asm.load(machine.given_outputs, WORD * place)
            if place in own:
                asm.store(own[place], target)
                for axis, dim in enumerate(dims):
                    asm.store(dim, target, WORD * (1 + axis))
                target = own[place]
            asm.call("memcpy", [target, asm.load(pointer, DATA_AT), bytes], PTR)

    def _checked(self, spec: TensorSpec, pointer: SSAValue) -> tuple[list[SSAValue], SSAValue]:
        """The extents of a result, and its bytes, where they are what the caller expects."""
        asm, machine = self.asm, self.machine
        dims = [machine.dim(pointer, axis) for axis in range(len(spec.shape))]
        bytes = asm.integer(item_bytes(spec.dtype))
        for axis, (dim, extent) in enumerate(zip(dims, spec.shape, strict=True)):
            bytes = asm.times(bytes, dim)
            if extent != DYNAMIC:
                text = f"the result '{spec.name}' has {{index}} elements in dimension {axis}, and not {{extent}}"
                right = asm.integer(extent)
                machine.refuse(asm.compare_unequal(dim, right), text, dim, right, self.main)
        return dims, bytes


def _is_open(functions: Mapping[str, FuncOp], segments: Mapping[str, llvm.FuncOp]) -> bool:
    """Whether a program has open extents."""
    told = any(isinstance(op, SetRowOp) for function in functions.values() for op in walk(function))
    symbols = any(GRAPH_SYMBOLS in segment.attributes for segment in segments.values())
    return told or symbols or any(map(has_open_extents, functions.values()))


def program_signature(main: FuncOp) -> dict[str, Attribute]:
    """What a caller must know of a program with open extents: those of the inputs are its symbols; those of the outputs
    it finds."""
    symbols, dims = graph_symbols(main)
    numbers = GraphSymbols(symbols)
    inputs, outputs = names_of(main)
    types = main.function_type
    found = described(
        inputs, flatten_types(types.inputs.data), outputs, flatten_types(types.outputs.data), numbers.shapes(dims)
    )
    names = ArrayAttr[Attribute]([StringAttr(symbol.name) for symbol in numbers.numbers])
    return {**found, GRAPH_SYMBOLS: names, POOLS: ArrayAttr[Attribute]([])}


def _reached(main: FuncOp, functions: dict[str, FuncOp]) -> dict[str, FuncOp]:
    """The functions that a program can come to, `main` first."""
    found: dict[str, FuncOp] = {main.sym_name.data: main}
    pending: list[Operation] = [main]
    while pending:
        for op in walk(pending.pop()):
            if isinstance(op, CallOp | ClosureOp) and (name := op.callee.root_reference.data) not in found:
                if name not in functions:
                    raise Diagnostic.at(op, f"there is no function {op.callee} that branches and calls")
                found[name] = functions[name]
                pending.append(functions[name])
    return found
