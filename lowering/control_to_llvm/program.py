"""The code of a whole program that branches and calls: one function, in which all of its functions are blocks.

    llvm.func @weft_run(%inputs, %outputs, %arena, %num_threads) -> i64

A call is a jump that leaves behind where to go on; returning is a jump there. Frames stand in memory that grows, one
behind the other, so that a recursion may be as deep as there is memory; a call that is the last thing a function does
takes the function's own frame, and so is a loop. One thread runs this; the segments that it comes to are run by all.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    IntegerAttr,
    TupleType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects.relay.base import flatten_types
from ...dialects.relay.control import ClosureOp
from ...dialects.relay.core import CallOp, FuncOp
from ...dialects.support.diagnostics import Diagnostic
from ...transforms.infra.walk import walk
from ..abi import COUNTER_BYTES, ENTRY
from ..check_sites import CHECKS, RECORDS
from ..graph_to_memory.signature import graph_signature
from ..loops_to_llvm.convert_loops_to_llvm import ARENA_BYTES
from .assembly import PTR, Assembly
from .function_code import FunctionCode, static_bytes
from .heap import (
    DATA_AT,
)
from .machine import WORD, Machine


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
        self.machine = Machine(self.asm, block.args, segments)
        self.used = _reached(main, functions)
        self.codes: dict[str, FunctionCode] = {}
        closures = [op for f in self.used.values() for op in walk(f) if isinstance(op, ClosureOp)]
        for number, (name, function) in enumerate(self.used.items()):
            self.codes[name] = FunctionCode(function, number, self.machine, self.codes, closures)

    def write(self) -> llvm.FuncOp:
        """The function that the runtime calls."""
        asm, machine, type = self.asm, self.machine, self.main.function_type
        types = [function.function_type for function in self.used.values()]
        room = WORD * (1 + max(len(each.inputs) for each in types))
        machine.begin(max(len(each.outputs) for each in types), room)
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
        machine.end(asm.integer(0))
        machine.failures()
        self.function.attributes |= graph_signature(self.main)
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
        return self.machine.foreign_tensor(self.asm.load(self.machine.given_inputs, WORD * number))

    def _give(self, type: Attribute, pointer: SSAValue, places: Iterator[int]) -> None:
        """Copy a result to the caller's memory."""
        if isinstance(type, TupleType):
            for number, field in enumerate(type.types):
                self._give(field, self.asm.load(pointer, DATA_AT + WORD * number), places)
            return
        place = next(places)
        target = self.asm.load(self.machine.given_outputs, WORD * place)
        size = self.asm.integer(static_bytes(type, self.main))
        self.asm.call("memcpy", [target, self.asm.load(pointer, DATA_AT), size], PTR)


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
