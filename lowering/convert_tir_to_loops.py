"""Lower `tir.prim_func`s to functions of `scf` loops over flat buffers.

What happens, function by function:

* **blocks** disappear: an iterator becomes the index expression it is bound to; what is left of a reduction's `init`
  and of predicates becomes `scf.if`;
* **buffers** become one-dimensional; those of scope `local` shrink to what one iteration of the loops around their
  uses touches, and live on the thread's stack; those of scope `global` become arguments, for the planner of memory to
  place (`weft.workspaces` counts them);
* **loops** become `scf.for`: `unrolled` ones carry an annotation for LLVM, `vectorized` ones become `vector`
  operations, and an outermost `parallel` one runs over the share of the calling thread. What stands outside parallel
  loops is run by thread 0; a barrier parts the nests of a function.

Before -> after:

```mlir
tir.prim_func @relu(%x: memref<4x16xf32>, %y: memref<4x16xf32>) {
  tir.for parallel %i = 0 to 4 {
    tir.for vectorized %j = 0 to 16 {
      tir.block @relu(...) = [%i, %j] ...

func.func @relu(%x: memref<64xf32>, %y: memref<64xf32>, %thread: index, %num_threads: index) {
  %first = ... %thread * 4 / %num_threads
  scf.for %i = %first to %last step %c1 {
    %0 = vector.load %x[%i * 16] : memref<64xf32>, vector<16xf32>
```

Does not: choose any of this; a schedule did. Counterpart of TVM's LowerInitBlock, ConvertBlocksToOpaque,
CompactBufferAllocation, FlattenBuffer and VectorizeLoop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, IndexType, IntegerAttr, MemRefType, ModuleOp, i64
from xdsl.ir import Attribute, SSAValue

from ..dialects.tir.core import AllocBufferOp, PrimFuncOp, Scope
from ..transforms.infra import ModulePass
from .flat_buffers import FlatBuffer, flatten_type, plan_buffers
from .loop_emission import LoopEmitter

index = IndexType()
BARRIER = "weft_barrier"


@dataclass(frozen=True)
class ConvertTirToLoopsPass(ModulePass):
    """`tir.prim_func` -> `func.func` on flat memrefs, with two more arguments: `%thread` and `%num_threads`."""

    name = "convert-tir-to-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lowered = False
        for prim_func in [f for f in op.ops if isinstance(f, PrimFuncOp)]:
            new = lower_prim_func(prim_func)
            op.body.block.insert_op_before(new, prim_func)
            prim_func.detach()
            prim_func.erase(safe_erase=False)
            lowered = True
        if lowered:
            declare_barrier(op)


def declare_barrier(module: ModuleOp) -> None:
    """Declare `@weft_barrier(%num_threads)` in `module`, once."""
    if not any(isinstance(f, func.FuncOp) and f.sym_name.data == BARRIER for f in module.ops):
        declaration = func.FuncOp.external(BARRIER, [index], [])
        first = module.body.block.first_op
        if first is None:
            module.body.block.add_op(declaration)
        else:
            module.body.block.insert_op_before(declaration, first)


def lower_prim_func(prim_func: PrimFuncOp) -> func.FuncOp:
    """The function on flat buffers that does what `prim_func` does, for one of several threads.

    Its arguments are those of `prim_func` flattened, the `global` buffers that it allocates, then the calling thread's
    number and the number of threads, both of type index.
    """
    body = prim_func.body.block
    allocs = [op for op in prim_func.walk() if isinstance(op, AllocBufferOp)]
    shared = [alloc for alloc in allocs if alloc.scope.data == Scope.GLOBAL]
    private = [alloc for alloc in allocs if alloc.scope.data != Scope.GLOBAL]
    sources: list[SSAValue] = [*body.args, *(alloc.buffer for alloc in shared)]
    types: list[Attribute] = [flatten_type(_memref(value)) for value in sources]
    lowered = func.FuncOp(prim_func.sym_name.data, FunctionType.from_lists([*types, index, index], []))
    lowered.attributes |= prim_func.attributes
    if shared:
        lowered.attributes["weft.workspaces"] = IntegerAttr(len(shared), i64)
    arguments = lowered.body.block.args
    names = [value.name_hint for value in sources]
    _name(arguments, [*names, "thread", "num_threads"])
    buffers: dict[SSAValue, FlatBuffer] = {
        source: FlatBuffer.whole(argument, _memref(source))
        for source, argument in zip(sources, arguments, strict=False)
    }
    emitter = LoopEmitter(lowered.body.block, buffers, arguments[-2], arguments[-1])
    buffers.update(plan_buffers(private, emitter))
    emitter.function_body(body)
    emitter.insert(func.ReturnOp())
    return lowered


def _memref(value: SSAValue) -> MemRefType[Attribute]:
    assert isinstance(value.type, MemRefType)
    return value.type


def _name(values: Sequence[SSAValue], names: Sequence[str | None]) -> None:
    for value, name in zip(values, names, strict=True):
        value.name_hint = name
