"""Lower `tir.prim_func`s to functions of `scf` loops over flat buffers.

What happens, function by function:

* **blocks** disappear: an iterator becomes the index expression it is bound to; what is left of a reduction's `init`
  and of predicates becomes `scf.if`;
* **buffers** become one-dimensional; those of scope `local` shrink to what one iteration of the loops around their
  uses touches, and live on the thread's stack; those of scope `global` become arguments, for whoever calls to
  place;
* **checks** get numbers, and a record to tell of the first that fails; `weft.checks` says what each is;
* **loops** become `scf.for`: `unrolled` ones carry an annotation for LLVM, `vectorized` ones become `vector`
  operations, and an outermost `parallel` one is divided into shares that threads claim (`rt.share`). What stands
  outside parallel loops is one share; each nest of a function is finished before the next begins.

Before -> after:

```mlir
tir.prim_func @relu(%x: memref<4x16xf32>, %y: memref<4x16xf32>) {
  tir.for parallel %i = 0 to 4 {
    tir.for vectorized %j = 0 to 16 {
      tir.block @relu(...) = [%i, %j] ...

func.func private @relu.nest_0(%x: memref<64xf32>, %y: memref<64xf32>, %first: index, %last: index) {
  scf.for %i = %first to %last step %c1 {
    %0 = vector.load %x[%i * 16] : memref<64xf32>, vector<16xf32>
    ...
func.func @relu(%x: memref<64xf32>, %y: memref<64xf32>, %slots: !rt.slots<1>, %num_threads: index) {
  rt.share %slots[0] for %first to %last of %c4 threads %num_threads {
    func.call @relu.nest_0(%x, %y, %first, %last) ...
  } : !rt.slots<1>
```

Does not: choose any of this; a schedule did. Counterpart of TVM's LowerInitBlock, ConvertBlocksToOpaque,
CompactBufferAllocation, FlattenBuffer and VectorizeLoop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, IndexType, MemRefType, ModuleOp, NoneAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.rt.checks import RecordType
from ...dialects.rt.core import SlotsType
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.tir.core import AllocBufferOp, BlockOp, CheckOp, ForKind, ForOp, PrimFuncOp, memref_of
from ...dialects.tir.legality.scopes import check_reach
from ...transforms.infra import ModulePass
from ...transforms.infra.remarks import missed
from ..check_sites import CHECKS, checks_of, described
from ..relay_to_tir.lower_te import LowerTEPass
from ..threads.share_out import share_out
from .block_bodies import Checks
from .flat_buffers import FlatBuffer, flatten_type, plan_buffers
from .index_values import IndexBuilder
from .loop_emission import LoopEmitter

index = IndexType()


@dataclass(frozen=True)
class ConvertTirToLoopsPass(ModulePass):
    """`tir.prim_func` -> `func.func` on flat memrefs, with two more arguments: `%slots` and `%num_threads`."""

    name = "convert-tir-to-loops"
    required: ClassVar[tuple[str, ...]] = ("lower-te",)

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        return not any(isinstance(op, PrimFuncOp) for op in module.ops) and LowerTEPass.holds_in(module)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for prim_func in [f for f in op.ops if isinstance(f, PrimFuncOp)]:
            for new in lower_prim_func(prim_func):
                op.body.block.insert_op_before(new, prim_func)
            prim_func.detach()
            prim_func.erase(safe_erase=False)


def lower_prim_func(prim_func: PrimFuncOp) -> list[func.FuncOp]:
    """The functions on flat buffers that do what `prim_func` does: one private function for each nest, which runs a
    share of it, and last the kernel itself, which every thread calls and which divides the nests among them.

    The kernel's arguments are those of `prim_func` flattened, the `global` buffers that it allocates, a record if it
    makes checks, a slot of work sharing for each nest, and the number of threads. (A nest has a function of its own
    because within it no other thread touches what it touches, so that its buffers are known not to alias; around it
    they do.)
    """
    check_buffers(prim_func)
    checks = checks_of(prim_func)
    body = prim_func.body.block
    allocs = [op for op in prim_func.walk() if isinstance(op, AllocBufferOp)]
    shared = [alloc for alloc in allocs if not alloc.is_private]
    sources: list[SSAValue] = [*body.args, *(alloc.buffer for alloc in shared)]
    types: list[Attribute] = [flatten_type(memref_of(value)) for value in sources]
    names = [value.name_hint for value in sources]
    nests = [op for op in body.ops if not isinstance(op, AllocBufferOp)]
    for op in body.walk():
        if isinstance(op, ForOp) and op.annotations is not None:
            missed("convert-tir-to-loops", op, "the loop's annotations have no effect")
        if op.attributes and isinstance(op, ForOp | BlockOp | AllocBufferOp | CheckOp):
            missed("convert-tir-to-loops", op, f"attributes have no effect: {', '.join(op.attributes)}")
    records: list[Attribute] = [RecordType()] if checks else []
    kernel = func.FuncOp(
        prim_func.sym_name.data, FunctionType.from_lists([*types, *records, SlotsType(max(1, len(nests))), index], [])
    )
    kernel.location = prim_func.location
    kernel.attributes |= prim_func.attributes
    if checks:
        kernel.attributes[CHECKS] = described(prim_func, checks)
    block = kernel.body.block
    _name(block.args, [*names, *(["record"] if checks else []), "slots", "num_threads"])
    arguments, (slots, num_threads) = block.args[:-2], block.args[-2:]
    functions: list[func.FuncOp] = []
    for number, nest in enumerate(nests):
        function = _lower_nest(f"{prim_func.sym_name.data}.nest_{number}", nest, sources, types, checks)
        functions.append(function)
        parallel = nest.trip_count if isinstance(nest, ForOp) and nest.for_kind == ForKind.PARALLEL else None
        share_out(block, slots, number, num_threads, parallel, partial(_call, function, arguments))
    block.add_op(func.ReturnOp())
    return [*functions, kernel]


def check_buffers(prim_func: PrimFuncOp) -> None:
    """What loops over flat buffers can say: arguments are buffers; buffers are dense, of known extents, in the one
    memory there is; and those of a thread's own serve one nest.

    Raises:
        Diagnostic: a buffer is otherwise.
    """
    allocs = [op for op in prim_func.walk() if isinstance(op, AllocBufferOp)]
    for value in (*prim_func.body.block.args, *(alloc.buffer for alloc in allocs)):
        owner = value.owner if isinstance(value.owner, AllocBufferOp) else prim_func
        name = f"%{value.name_hint}" if value.name_hint else "an argument"
        if not isinstance(value.type, MemRefType):
            raise Diagnostic.at(owner, f"{name} is of type {value.type}, and only buffers are passed to a kernel")
        type = memref_of(value)
        if any(extent < 0 for extent in type.get_shape()):
            raise Diagnostic.at(owner, f"{name} has an extent that is not known: {type}", hint="give all extents")
        if not isinstance(type.layout, NoneAttr) or not isinstance(type.memory_space, NoneAttr):
            raise Diagnostic.at(owner, f"{name} has a layout or a memory space, which would be lost: {type}")
    for finding in (finding for alloc in allocs for finding in check_reach(alloc)):
        raise finding.diagnostic()


def _lower_nest(
    name: str, nest: Operation, sources: Sequence[SSAValue], types: Sequence[Attribute], checks: Sequence[CheckOp]
) -> func.FuncOp:
    """The private function that runs iterations `%first` to `%last` of a parallel nest, or all of another. If the
    kernel makes checks, it takes the record."""
    parallel = isinstance(nest, ForOp) and nest.for_kind == ForKind.PARALLEL
    bounds = [index, index] if parallel else []
    records: list[Attribute] = [RecordType()] if checks else []
    function = func.FuncOp(name, FunctionType.from_lists([*types, *records, *bounds], []), visibility="private")
    block = function.body.block
    names = [*(value.name_hint for value in sources), *(["record"] if checks else [])]
    _name(block.args, [*names, *(("first", "last") if parallel else ())])
    buffers = {
        source: FlatBuffer.whole(argument, memref_of(source))
        for source, argument in zip(sources, block.args, strict=False)
    }
    at = IndexBuilder(block)
    record = Checks(block.args[len(types)], {check: n for n, check in enumerate(checks)}) if checks else None
    emitter = LoopEmitter(at, buffers, record)
    buffers.update(plan_buffers(_private_buffers(nest), at))
    if isinstance(nest, ForOp) and parallel:
        emitter.loop(nest, block.args[-2], block.args[-1])
    else:
        emitter.statement(nest)
    at.insert(func.ReturnOp())
    return function


def _private_buffers(nest: Operation) -> list[AllocBufferOp]:
    """The thread-private buffers that the blocks of `nest` touch, each once."""
    found: dict[AllocBufferOp, None] = {}
    for block in nest.walk():
        if isinstance(block, BlockOp):
            for buffer in (*block.reads, *block.writes):
                if isinstance(buffer.owner, AllocBufferOp) and buffer.owner.is_private:
                    found[buffer.owner] = None
    return list(found)


def _call(function: func.FuncOp, arguments: Sequence[SSAValue], block: Block, bounds: Sequence[SSAValue]) -> None:
    block.add_op(func.CallOp(function.sym_name.data, [*arguments, *bounds], []))


def _name(values: Sequence[SSAValue], names: Sequence[str | None]) -> None:
    for value, name in zip(values, names, strict=True):
        value.name_hint = name
