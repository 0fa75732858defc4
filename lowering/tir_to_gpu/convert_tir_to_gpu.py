"""Lower `tir.prim_func`s to functions that a GPU is launched with, and one of the host that launches them.

Each nest is a kernel: its loops that are bound to `blockIdx` and `threadIdx` become the numbers of blocks and threads,
all other loops and the blocks what they are on a processor (`convert-tir-to-loops`). The host launches one after the
other.

* Buffers of scope `shared` become globals in address space 3, one for each block of threads, as large as what is alive
  of them at one time.
* Buffers of scope `local` are each thread's own.
* Those of scope `global` that the function allocates are arguments, for whoever calls to place.
* `tir.storage_sync` becomes `gpu.barrier`.
* Symbols are arguments of kernels, and the numbers of blocks are computed from them; those of threads are known.

Before -> after:

```mlir
tir.prim_func @relu(%x: memref<64xf32>, %y: memref<64xf32>) {
  tir.for thread_binding "threadIdx.x" %i = 0 to 64 {
    tir.block @relu(...) = [%i] ...

func.func private @relu_kernel_0(%x: memref<64xf32>, %y: memref<64xf32>)
    attributes {gpu.kernel, gpu.known_block_size = array<i32: 64, 1, 1>} {
  %threadIdx_x = gpu.thread_id x
  %0 = memref.load %x[%threadIdx_x] ...
func.func @relu(%x: memref<64xf32>, %y: memref<64xf32>) {
  gpu.launch_func @relu_kernel_0 blocks in (1, 1, 1) threads in (64, 1, 1) args(%x, %y)
```

Functions that say they are for another target are left alone (`tir.target`). Does not: choose what is
bound to what; insert barriers (`thread-sync`). Counterpart of TVM's SplitHostDevice and LowerDeviceStorageAccessInfo.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import func, gpu, memref
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ...dialects.rt.checks import RecordType
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.interned import flat_memref, index
from ...dialects.support.vector_unit import VectorUnit
from ...dialects.tir.affine import substitute
from ...dialects.tir.buffers import shape_of
from ...dialects.tir.core import AllocBufferOp, ForOp, PrimFuncOp, Scope, blocks_under, memref_of
from ...dialects.tir.legality.reductions import shared_reductions
from ...dialects.tir.outer_blocks import dissolve
from ...dialects.tir.symbols import is_symbol
from ...dialects.tir.thread_axes import SHARED, is_shared
from ...transforms.infra import ModulePass
from ...transforms.tir.analysis.launches import Launch, known_shape, launch_of, own_buffers
from ...transforms.tir.compact_buffer_allocation import room_needed
from ..check_sites import CHECKS, Checked, checks_of, described
from ..loops_to_llvm.gpu import BLOCK_SIZE, GPU_KERNEL
from ..loops_to_llvm.types import SHARED_SPACE
from ..tir_to_loops.block_bodies import Checks
from ..tir_to_loops.convert_tir_to_loops import (
    WORKSPACE_SHAPES,
    check_buffers,
    constants_of,
    is_of_a_nest,
    name_values,
    private_buffers,
    shapes_of_workspaces,
    take_out_inits,
)
from ..tir_to_loops.flat_buffers import FlatBuffer, alignments_of, elements_of, flat_type, room_of, row_major_strides
from ..tir_to_loops.index_values import IndexBuilder
from .thread_loops import ThreadLoopEmitter

SPACE = IntegerAttr(SHARED_SPACE, i64)


@dataclass(frozen=True)
class ConvertTirToGPUPass(ModulePass):
    """`tir.prim_func` -> `func.func`s for a GPU and one of the host."""

    name = "convert-tir-to-gpu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for prim_func in [f for f in op.ops if isinstance(f, PrimFuncOp)]:
            for new in lower_prim_func(prim_func):
                op.body.block.insert_op_before(new, prim_func)
            prim_func.detach()
            prim_func.erase(safe_erase=False)


def lower_prim_func(prim_func: PrimFuncOp) -> list[Operation]:
    """The kernels and the memory that their threads share, and last the host's function.

    Raises:
        Diagnostic: something in it is not for a GPU.
    """
    dissolve(prim_func)
    check_buffers(prim_func, (*Scope, *SHARED), "a GPU")
    take_out_inits(prim_func)
    checks = checks_of(prim_func)
    body = prim_func.region.block
    allocs = [op for op in prim_func.walk() if isinstance(op, AllocBufferOp)]
    placed = [a for a in allocs if not (is_of_a_nest(a) or a.is_constant or is_shared(a.buffer))]
    sources: list[SSAValue] = [*body.args, *(alloc.buffer for alloc in placed)]
    records: list[Attribute] = [RecordType()] if checks else []
    host = func.FuncOp(prim_func.sym_name.data, FunctionType.from_lists([*map(_flat_type, sources), *records], []))
    host.location = prim_func.location
    host.attributes |= prim_func.attributes
    if prim_func.symbols and placed:
        host.attributes[WORKSPACE_SHAPES] = shapes_of_workspaces(shape_of(alloc.buffer) for alloc in placed)
    if checks:
        host.attributes[CHECKS] = described(prim_func, checks)
    name_values(host.body.block.args, [*(v.name_hint for v in sources), *(["record"] if checks else [])])
    made: list[Operation] = []
    at = IndexBuilder(host.body.block)
    at.define_symbols([(symbol.index, host.body.block.args[symbol.index]) for symbol in prim_func.symbols])
    nests = [op for op in body.ops if not isinstance(op, AllocBufferOp)]
    for number, nest in enumerate(nests):
        kernel = _Kernel(kernel_name(prim_func.sym_name.data, number), nest, sources, checks)
        made += kernel.lower()
        used = [host.body.block.args[sources.index(v)] for v in kernel.sources]
        used += host.body.block.args[len(sources) :] if kernel.checks else []
        grid, threads = ([at.extent(n) for n in size] for size in (kernel.launch.grid, kernel.launch.block))
        launch = gpu.LaunchFuncOp(SymbolRefAttr(kernel.name), grid, threads, kernelOperands=used)
        launch.location = nest.location
        host.body.block.add_op(launch)
    host.body.block.add_op(func.ReturnOp())
    return [*made, host]


def kernel_name(function: str, number: int) -> str:
    """What a kernel is called: PTX has letters, digits and `_` in names."""
    return f"{re.sub(r'[^A-Za-z0-9_]', '_', function)}_kernel_{number}"


def _flat_type(source: SSAValue) -> Attribute:
    """What a function takes of a buffer or a symbol."""
    return index if is_symbol(source) else flat_type(source)


class _Kernel:
    """The lowering of one nest."""

    def __init__(self, name: str, nest: Operation, sources: Sequence[SSAValue], checks: Sequence[Checked]):
        self.name, self.nest = name, nest
        self.launch: Launch = launch_of(nest)
        for loop in nest.walk():
            if isinstance(loop, ForOp) and (blocks := shared_reductions(loop)):
                what = f"the threads of %{loop.var.name_hint or 'i'} share the reduction of block @"
                hint = "run lower-cross-thread-reduction before"
                raise Diagnostic.at(blocks[0], f"{what}{blocks[0].block_name}, each for itself", hint=hint)
        touched = {v for block in blocks_under(nest) for v in (*block.reads, *block.writes)}
        self.sources = [v for v in sources if v in touched or is_symbol(v)]
        self.all_checks = checks
        self.checks = any(nest.is_ancestor(check) for check in checks)

    def lower(self) -> list[Operation]:
        records: list[Attribute] = [RecordType()] if self.checks else []
        types = [_flat_type(v) for v in self.sources]
        kernel = func.FuncOp(self.name, FunctionType.from_lists([*types, *records], []), visibility="private")
        kernel.location = self.nest.location
        kernel.attributes[GPU_KERNEL] = UnitAttr()
        kernel.attributes[BLOCK_SIZE] = DenseArrayBase.from_list(i32, list(self.launch.block))
        block = kernel.body.block
        name_values(block.args, [*(v.name_hint for v in self.sources), *(["record"] if self.checks else [])])
        taken = list(zip(self.sources, block.args, strict=False))
        buffers = {
            source: FlatBuffer.whole(argument, shape_of(source), alignments_of(source))
            for source, argument in taken
            if not is_symbol(source)
        }
        at = IndexBuilder(block)
        symbols = [(source, argument) for source, argument in taken if isinstance(source, BlockArgument)]
        at.define_symbols([(source.index, argument) for source, argument in symbols if is_symbol(source)])
        numbers = {check: n for n, check in enumerate(self.all_checks)}
        record = Checks(block.args[-1], numbers) if self.checks else None
        emitter = ThreadLoopEmitter(at, buffers, self.launch, record, VectorUnit())
        globals: list[Operation] = []
        for number, alloc in enumerate(own_buffers(self.nest, SHARED)):
            made, buffers[alloc.buffer] = self._shared(alloc, number, at)
            globals.append(made)
        buffers.update(constants_of(self.nest, at))
        for alloc in private_buffers(self.nest):
            if (room := room_of(alloc)).is_open:
                what = "a thread's own memory has an extent that is known only when the function is called"
                raise Diagnostic.at(alloc, what, hint='give it the scope "global"')
            buffers[alloc.buffer] = room.on_stack(at)
        emitter.statement(self.nest)
        at.insert(func.ReturnOp())
        return [*globals, kernel]

    def _shared(self, alloc: AllocBufferOp, number: int, at: IndexBuilder) -> tuple[Operation, FlatBuffer]:
        still, region = room_needed(alloc)
        extents = [extent for _, extent in region if isinstance(extent, int)]
        if len(extents) != len(region):
            known_shape(alloc)  # refuses it
        apart = alignments_of(alloc.buffer)
        flat = flat_memref(memref_of(alloc.buffer).element_type, elements_of(extents, apart))
        type = MemRefType(flat.element_type, [prod(flat.get_shape())], NoneAttr(), SPACE)
        name = f"{self.name}_shared_{number}"
        made = memref.GlobalOp.get(
            StringAttr(name), type, UnitAttr(), sym_visibility=StringAttr("private"), alignment=None
        )
        made.location = alloc.location
        whole = at.emit(memref.GetGlobalOp(name, type))
        memory = at.emit(memref.MemorySpaceCastOp(whole, flat))
        memory.name_hint = alloc.buffer.name_hint
        assert memref_of(memory) == flat
        dims = [at.dim(loop.var) for loop in still]
        offsets = tuple(substitute(offset, dims) for offset, _ in region)
        return made, FlatBuffer(memory, row_major_strides(extents, apart), offsets)
