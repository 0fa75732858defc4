"""Turn the functions that branch and call into one function of the llvm dialect, which is the entry of the program.

Before -> after:

```mlir
relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {control} {
  %c = relay.call_lowered @main_segment(%x) : (tensor<4xf32>) -> tensor<i1>
  %y = relay.if %c ...

llvm.func @weft_run(%inputs: !llvm.ptr, %outputs: !llvm.ptr, %arena: !llvm.ptr, %num_threads: i64) -> i64 {
  // a value for each input; then, for the segment: a tensor for its result, and
  %status = llvm.call @main_segment_run(...)
  // look at the condition, and branch
```

Values are counted by references (`heap.mlir`), and given back as soon as nothing needs them: that keeps a loop of a
million turns, or a list that is being worked off, in the memory of what is alive. What refers to itself in a circle,
which only references can make, is given back when the call ends, with all else that is left then.

Function values are numbers of functions with what they have captured, and calling one is a choice among the functions
that values of its type are made of. A segment that is on several devices is a call of the host. Does nothing to a
module without such functions. Does not: shapes that are not known. TVM's counterpart is the compiler and the
interpreter of its virtual machine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, StringAttr, SymbolRefAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region

from ...dialects.mem.graph import GraphOp
from ...dialects.relay.core import FuncOp
from ...dialects.relay.interpreter import check_is_program
from ...dialects.support.checks import RECORD_BYTES
from ...transforms.infra import ModulePass, report_changed
from ...transforms.infra.parts import symbol_name
from ...transforms.infra.walk import erase
from ...transforms.relay.outline_segments import is_control
from ..abi import (
    COUNTER_BYTES,
    GRAPH_SYMBOLS,
    POOLS,
    RUN_HOSTED,
    SEGMENT_MARK,
    SYMBOL_EXTENTS,
    thread_of_segment,
)
from ..entry.add_entry_point import declarations, entry_functions, entry_of_segment
from ..graph_to_memory.signature import memory_signature
from ..hosted_steps import hosted_graphs
from ..loops_to_llvm.convert_loops_to_llvm import ARENA_BYTES
from ..relay_to_tir.graph_symbols import EXTENTS
from .assembly import PTR
from .heap import heap_functions
from .machine import HOSTED
from .program import ProgramCode


@dataclass(frozen=True)
class ConvertControlToLLVMPass(ModulePass):
    """`relay.func`s with control flow -> `@weft_run`."""

    name = "convert-control-to-llvm"
    required: ClassVar[tuple[str, ...]] = ("outline-segments", "convert-loops-to-llvm")

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        return not any(map(is_control, module.ops))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        gone = [each for each in op.ops if is_control(each)]
        if (main := public_program(gone)) is not None:
            op.body.block.add_ops(_program(main, gone, op))
        for each in gone:
            erase(each, safe_erase=False)
        report_changed(bool(gone))


def public_program(ops: Iterable[Operation]) -> FuncOp | None:
    """The function that a program begins with, among those that branch and call: `@main`, or the first that is public.

    Raises:
        Diagnostic: it takes or gives what no caller can have.
    """
    public = [f for f in ops if isinstance(f, FuncOp) and f.sym_visibility is None]
    main = next((f for f in public if f.sym_name.data == "main"), public[0] if public else None)
    if main is not None:
        check_is_program(main)
    return main


def program_functions(
    main: FuncOp, control: Iterable[Operation], segments: dict[str, llvm.FuncOp], taken: Collection[str] = ()
) -> list[llvm.FuncOp]:
    """The functions of a program that begins with `main`, its entry last: those of the heap, without what is `taken`.
    Of each of the `segments` it calls `entry_of_segment`."""
    functions = {f.sym_name.data: f for f in control if isinstance(f, FuncOp)}
    return [*heap_functions(taken), ProgramCode(main, functions, segments).write()]


def _program(main: FuncOp, control: Sequence[Operation], module: ModuleOp) -> list[Operation]:
    """The program's functions, and what they call: entries of its segments."""
    segments = {f.sym_name.data: f for f in module.ops if isinstance(f, llvm.FuncOp) and SEGMENT_MARK in f.attributes}
    hosted = described_hosted(hosted_graphs(module))
    made: list[Operation] = []
    if hosted:
        types = [i64, PTR, PTR, PTR, i64]
        made.append(llvm.FuncOp(RUN_HOSTED, llvm.LLVMFunctionType(types, i64), linkage=llvm.LinkageAttr("external")))
    for number, segment in enumerate(hosted.values()):
        made.append(_call_of_host(entry_of_segment(segment.sym_name.data), number))
    for segment in segments.values():
        thread = thread_of_segment(segment.sym_name.data)
        each, run = entry_functions(segment, thread, entry_of_segment(segment.sym_name.data), "internal")
        each.properties["linkage"] = llvm.LinkageAttr("external")  # who runs parts step by step knows them by it
        made += [each, run]
    taken = {name for each in module.ops if (name := symbol_name(each)) is not None}
    return [*declarations(taken), *program_functions(main, control, segments | hosted, taken), *made]


def described_hosted(graphs: Sequence[GraphOp]) -> dict[str, llvm.FuncOp]:
    """What the code of a program asks of the segments that the host runs, by their names."""
    return {graph.sym_name.data: _described(graph, number) for number, graph in enumerate(graphs)}


def _described(graph: GraphOp, number: int) -> llvm.FuncOp:
    """A segment that the host runs: what the code of a program asks of one. It is not part of the module."""
    segment = llvm.FuncOp(graph.sym_name.data, llvm.LLVMFunctionType([]), linkage=llvm.LinkageAttr("external"))
    segment.attributes |= memory_signature(graph)
    if graph.symbols:
        given: list[Attribute] = [StringAttr(f"n{number}") for number in range(len(graph.symbols))]
        segment.attributes[GRAPH_SYMBOLS] = ArrayAttr(given) if graph.symbol_names is None else graph.symbol_names
        segment.attributes[POOLS] = ArrayAttr[Attribute]([])  # its arenas are the host's
    if (extents := graph.attributes.get(EXTENTS)) is not None:
        segment.attributes[SYMBOL_EXTENTS] = extents
    segment.attributes[COUNTER_BYTES] = IntegerAttr(RECORD_BYTES, i64)
    segment.attributes[ARENA_BYTES] = IntegerAttr(RECORD_BYTES, i64)
    segment.attributes[HOSTED] = IntegerAttr(number, i64)
    return segment


def _call_of_host(name: str, number: int) -> llvm.FuncOp:
    """The entry of a segment that the host runs."""
    block = Block(arg_types=[PTR, PTR, PTR, i64])
    which = llvm.ConstantOp(IntegerAttr(number, i64), i64)
    call = llvm.CallOp(SymbolRefAttr(RUN_HOSTED), which.result, *block.args, return_type=i64)
    block.add_ops([which, call, llvm.ReturnOp(call.results[0])])
    types = llvm.LLVMFunctionType([PTR, PTR, PTR, i64], i64)
    return llvm.FuncOp(name, types, linkage=llvm.LinkageAttr("internal"), body=Region(block))
