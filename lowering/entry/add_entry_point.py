"""Give the graph the entry point that the runtime calls: `weft_run(inputs, outputs, arena, num_threads)`.

`inputs` and `outputs` are arrays of pointers, one for each of the graph's tensors; behind those of the inputs stand the
extents that are known when it is called, if there are any. The whole inference is one region of
the pool of threads (`lowering/threads/pool.mlir`): every thread that takes part runs the graph, and claims shares.

```mlir
llvm.func @weft_run(%inputs: !llvm.ptr, %outputs: !llvm.ptr, %arena: !llvm.ptr, %num_threads: i64) -> i64
  // zero the counters of work sharing and the records of checks at the arena's start, then
  // weft_pool_2_run(@weft_thread, context, num_threads), which returns when no thread uses the context any more, then
  // return the number of the first record that tells of a check, counted from 1; 0 where none does
llvm.func internal @weft_thread(%context: !llvm.ptr, %number: i64)
  // @weft_graph(inputs[0], ..., outputs[0], ..., arena, num_threads): what was @main; every second thread, by the
  // number that the pool gives it, claims the last shares of loops first
```

A program that runs graphs as parts of it is the entry itself (`control_to_llvm`), and calls an entry of each; there is
nothing to do then. Of several functions that carry a graph's signature (`weft.inputs`), `@main` or the first is run.
Does nothing where there is none. TVM has no counterpart: its graph executor calls kernels one by one, and each enters a
parallel region.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, ModuleOp, StringAttr, SymbolRefAttr, i1, i8, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from ...dialects.support.checks import CHECK_FIELD, RECORD_BYTES
from ...dialects.support.hints import isa
from ...transforms.infra import ModulePass
from ..abi import COUNTER_BYTES, ENTRY, GRAPH_SYMBOLS, INPUTS, LAST_FIRST, OUTPUTS, RUN
from ..check_sites import read_checks

THREAD = "weft_thread"
GRAPH = "weft_graph"
PTR = llvm.LLVMPointerType()
VOID = llvm.LLVMVoidType()
POINTER_BYTES = 8
# The context that the threads share: pointers to inputs, outputs and arena, and the number of threads.
CONTEXT_BYTES = 4 * POINTER_BYTES


@dataclass(frozen=True)
class AddEntryPointPass(ModulePass):
    """Add `@weft_run`, which runs the graph's function, an `llvm.func`, on several threads."""

    name = "add-entry-point"
    required: ClassVar[tuple[str, ...]] = ("convert-loops-to-llvm",)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        mains = [f for f in op.ops if isinstance(f, llvm.FuncOp) and INPUTS in f.attributes]
        if not mains or any(f.sym_name.data == ENTRY for f in mains):
            return
        main = next((f for f in mains if f.sym_name.data == "main"), mains[0])
        # Under its own name, `sin` say, it could be taken for the function of the C library that kernels call.
        main.properties["sym_name"] = StringAttr(GRAPH)
        main.properties["linkage"] = llvm.LinkageAttr("internal")
        declared = {f.sym_name.data for f in op.ops if isinstance(f, llvm.FuncOp)}
        needed = [f for f in declarations(declared) if f.sym_name.data != "memcpy"]
        op.body.block.add_ops([*needed, *entry_functions(main, THREAD, ENTRY, "external")])


def declarations(declared: set[str]) -> list[llvm.FuncOp]:
    """What entries call, as far as it is not declared."""
    called = ((RUN, [PTR, PTR, i64], VOID), ("memcpy", [PTR, PTR, i64], PTR))
    return [_declare(name, operands, result) for name, operands, result in called if name not in declared]


def entry_of_segment(name: str) -> str:
    """The function that a program runs the segment of a name by: what `@weft_run` is for a graph."""
    return f"{name}_run"


def entry_functions(graph: llvm.FuncOp, thread: str, name: str, linkage: str) -> list[Operation]:
    """What runs a graph on several threads, `name`, and what each of them runs, `thread`."""
    return [_thread(graph, thread), _run(graph, thread, name, linkage)]


def _declare(name: str, operands: Sequence[Attribute], result: Attribute) -> llvm.FuncOp:
    return llvm.FuncOp(name, llvm.LLVMFunctionType(list(operands), result), linkage=llvm.LinkageAttr("external"))


def _define(
    name: str, operands: Sequence[Attribute], linkage: str, result: Attribute = VOID
) -> tuple[llvm.FuncOp, Builder, list[SSAValue]]:
    block = Block(arg_types=operands)
    function = llvm.FuncOp(
        name, llvm.LLVMFunctionType(list(operands), result), linkage=llvm.LinkageAttr(linkage), body=Region(block)
    )
    return function, Builder(InsertPoint.at_end(block)), list(block.args)


def _integer(builder: Builder, value: int, type: IntegerType = i64) -> SSAValue:
    return builder.insert(llvm.ConstantOp(IntegerAttr(value, type), type)).result


def _field(builder: Builder, base: SSAValue, number: int) -> SSAValue:
    """The address of pointer `number` of the array at `base`."""
    return builder.insert(llvm.GEPOp(base, [number * POINTER_BYTES], i8)).result


def _load(builder: Builder, base: SSAValue, number: int) -> SSAValue:
    return builder.insert(llvm.LoadOp(_field(builder, base, number), PTR)).dereferenced_value


def _call(builder: Builder, name: str, arguments: Sequence[SSAValue], result: Attribute | None = None) -> Operation:
    return builder.insert(llvm.CallOp(SymbolRefAttr(name), *arguments, return_type=result))


def _thread(main: llvm.FuncOp, name: str) -> llvm.FuncOp:
    """What every thread runs: the graph, its arguments read from the context."""
    function, builder, (context, member) = _define(name, [PTR, i64], "internal")
    arguments: list[SSAValue] = []
    extents: list[SSAValue] = []
    for number, key in enumerate((INPUTS, OUTPUTS)):
        entries = main.attributes[key]
        assert isa(entries, ArrayAttr[Attribute])
        table = _load(builder, context, number)
        arguments += [_load(builder, table, position) for position in range(len(entries))]
        if key == INPUTS and isa(symbols := main.attributes.get(GRAPH_SYMBOLS), ArrayAttr[Attribute]):
            places = [_field(builder, table, len(entries) + position) for position in range(len(symbols))]
            extents = [builder.insert(llvm.LoadOp(place, i64)).dereferenced_value for place in places]
    arena = _load(builder, context, 2)
    threads = builder.insert(llvm.LoadOp(_field(builder, context, 3), i64)).dereferenced_value
    last_first = builder.insert(llvm.ShlOp(member, _integer(builder, LAST_FIRST.bit_length() - 1))).res
    num_threads = builder.insert(llvm.OrOp(threads, last_first)).res  # the bit for every second thread, by its number
    _call(builder, main.sym_name.data, [*arguments, *extents, arena, num_threads])
    builder.insert(llvm.ReturnOp())
    return function


def _run(main: llvm.FuncOp, thread: str, name: str, linkage: str) -> llvm.FuncOp:
    """The entry: clear the counters, gather the context, hand it to the threads, look for a check that has failed."""
    function, builder, (inputs, outputs, arena, num_threads) = _define(name, [PTR, PTR, PTR, i64], linkage, i64)
    context = builder.insert(llvm.AllocaOp(_integer(builder, CONTEXT_BYTES), i8, alignment=POINTER_BYTES)).res
    counters = main.attributes[COUNTER_BYTES]
    assert isa(counters, IntegerAttr[IntegerType])
    cleared = [arena, _integer(builder, 0, i8), _integer(builder, counters.value.data), _integer(builder, 0, i1)]
    builder.insert(llvm.CallIntrinsicOp("llvm.memset.p0.i64", cleared, []))
    for number, value in enumerate((inputs, outputs, arena, num_threads)):
        builder.insert(llvm.StoreOp(value, _field(builder, context, number)))
    body = builder.insert(llvm.AddressOfOp(thread, PTR)).result
    _call(builder, RUN, [body, context, num_threads])
    builder.insert(llvm.ReturnOp(_status(main, builder, arena)))
    return function


def _status(main: llvm.FuncOp, builder: Builder, arena: SSAValue) -> SSAValue:
    """The number of the first record that tells of something, counted from 1, or 0."""
    checks, start = read_checks(main.attributes)
    zero = status = _integer(builder, 0)
    for number in reversed(range(len(checks))):
        offset = start + number * RECORD_BYTES + CHECK_FIELD
        address = builder.insert(llvm.GEPOp(arena, [offset], i8)).result
        told = builder.insert(llvm.LoadOp(address, i64)).dereferenced_value
        failed = builder.insert(llvm.ICmpOp(told, zero, IntegerAttr(1, i64))).res
        status = builder.insert(llvm.SelectOp(failed, _integer(builder, number + 1), status)).res
    return status
