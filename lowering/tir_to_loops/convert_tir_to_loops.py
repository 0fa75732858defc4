"""Lower `tir.prim_func`s to functions of `scf` loops over flat buffers.

What happens, function by function:

* **outer blocks** give way to what is in them;
* **blocks** disappear: an iterator becomes the index expression it is bound to; what is left of a reduction's `init`
  and of predicates becomes `scf.if`;
* **buffers** become one-dimensional; those of scope `local` shrink to what one iteration of the loops around their
  uses touches, and live on the thread's stack, or, where their room depends on symbols, in a workspace with a slice for
  each share of the nest; those of scope `global` are workspaces: arguments, for whoever calls to place
  (`weft.workspace_shapes` says how large they are where that depends on symbols);
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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.mem.in_place import IN_PLACE
from ...dialects.rt.checks import RecordType
from ...dialects.rt.constants import ConstantOp
from ...dialects.rt.core import SlotsType
from ...dialects.support.dense import array_of, dense_of
from ...dialects.support.diagnostics import Diagnostic, did_you_mean
from ...dialects.support.facts import while_unchanged
from ...dialects.support.hints import isa
from ...dialects.support.interned import index
from ...dialects.support.memory_scopes import memory_of
from ...dialects.support.vector_unit import VectorUnit, vector_unit_of
from ...dialects.support.walking import all_within, within
from ...dialects.tir.alignment import BUFFER_DIM_ALIGN
from ...dialects.tir.argument_scopes import GLOBAL, scopes_of_arguments
from ...dialects.tir.axis_separators import axis_separators_of
from ...dialects.tir.buffers import shape_of
from ...dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForKind,
    ForOp,
    IterKind,
    PrimFuncOp,
    Scope,
    blocks_under,
    enclosing_loops,
    memref_of,
)
from ...dialects.tir.empty_reductions import begin_without_steps
from ...dialects.tir.legality.reductions import carries_reduction
from ...dialects.tir.legality.scopes import check_reach, nests_using
from ...dialects.tir.loops import INDEPENDENT, LANES, ROLLED, TILES
from ...dialects.tir.outer_blocks import dissolve
from ...dialects.tir.symbols import Extent, affine_map, as_affine, is_symbol
from ...transforms.infra import ModulePass
from ...transforms.infra.remarks import missed
from ...transforms.tir.schedule.decompose_reduction import decompose_reduction
from ...transforms.tir.schedule.errors import ScheduleError
from ..check_sites import CHECKS, Checked, checks_of, described
from ..relay_to_tir.lower_te import LowerTEPass
from ..threads.share_out import share_out
from .block_bodies import Checks
from .flat_buffers import FlatBuffer, Room, alignments_of, flat_type, flatten_type, room_of
from .in_place import MAY_ALIAS, pairs_in_place
from .index_values import IndexBuilder
from .loop_emission import LoopEmitter
from .parts_of_nests import MOST_SHARES, most_shares, parts_of
from .rows_of_shares import rows_of_shares
from .tile_products import share_configuration

WORKSPACE_SHAPES = "weft.workspace_shapes"
"""For each workspace of a kernel with symbols, its extents: a map from the kernel's index arguments."""


@dataclass(frozen=True)
class ConvertTirToLoopsPass(ModulePass):
    """`tir.prim_func` -> `func.func` on flat memrefs, with two more arguments, `%slots` and `%num_threads`.

    `vector-bytes` and `dot` (`vnni`, `dotprod`, `pmaddwd`) say which dot products of bytes are instructions of the
    target; without them, the module's `weft.target` does. `matrix` (`int8`, `bf16`, `bf16_pairs`) says what it adds up
    products of by tiles and in pairs. `scopes` (`scratchpad=local`) says which memories of its own the target has, and
    what they are to code.
    """

    name = "convert-tir-to-loops"
    required: ClassVar[tuple[str, ...]] = ("lower-te",)

    vector_bytes: int | None = None
    dot: str | None = None
    matrix: tuple[str, ...] | None = None
    scopes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if wrong := [each for each in self.scopes if each.rpartition("=")[2] not in tuple(Scope) or "=" not in each]:
            raise ValueError(f"'{wrong[0]}' does not say what a scope is to code, such as scratchpad=local")
        VectorUnit().with_dot(self.dot).with_matrix(self.matrix)

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        return not any(isinstance(op, PrimFuncOp) for op in module.ops) and LowerTEPass.holds_in(module)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for prim_func in [f for f in op.ops if isinstance(f, PrimFuncOp)]:
            unit = vector_unit_of(prim_func).with_dot(self.dot).with_matrix(self.matrix)
            unit = replace(unit, bytes=self.vector_bytes or unit.bytes)
            for new in lower_prim_func(prim_func, unit, dict(each.split("=") for each in self.scopes)):
                op.body.block.insert_op_before(new, prim_func)
            prim_func.detach()
            prim_func.erase(safe_erase=False)


def lower_prim_func(
    prim_func: PrimFuncOp, unit: VectorUnit | None = None, scopes: Mapping[str, str] | None = None
) -> list[func.FuncOp]:
    """The functions on flat buffers that do what `prim_func` does: one private function for each nest, which runs a
    share of it, and last the kernel itself, which every thread calls and which divides the nests among them.

    The kernel's arguments are those of `prim_func` flattened, the `global` buffers that it allocates, a record if it
    makes checks, a slot of work sharing for each nest, and the number of threads. (A nest has a function of its own
    because within it no other thread touches what it touches, so that its buffers are known not to alias; around it
    they do.) `scopes` are memories of the target's own, each with what it is to code.
    """
    dissolve(prim_func)
    scopes = scopes or {}
    for alloc in all_within(prim_func, AllocBufferOp) if scopes else ():
        if (meaning := scopes.get(alloc.scope.data, scopes.get(memory_of(alloc.scope.data)))) is not None:
            alloc.scope = StringAttr(meaning)
    check_buffers(prim_func, (*Scope, *scopes))
    take_out_inits(prim_func)
    return _lower(prim_func, unit or VectorUnit())


@while_unchanged
def _lower(prim_func: PrimFuncOp, unit: VectorUnit) -> list[func.FuncOp]:
    """The functions, of one that is ready for it, and stays as it is."""
    checks = checks_of(prim_func)
    body = prim_func.region.block
    allocs = all_within(prim_func, AllocBufferOp)
    shared = [alloc for alloc in allocs if not is_of_a_nest(alloc) and not alloc.is_constant]
    nests = [op for op in body.ops if not isinstance(op, AllocBufferOp)]
    rooms = {nest: [room for alloc in private_buffers(nest) if (room := room_of(alloc)).is_open] for nest in nests}
    shapes = {alloc.buffer: shape_of(alloc.buffer) for alloc in shared}
    for nest in nests:
        shapes |= {room.alloc.buffer: (most_shares(nest), *room.shape) for room in rooms[nest]}
    sources: list[SSAValue] = [*body.args, *shapes]
    symbols = {value.index for value in prim_func.symbols}
    types = [index if number in symbols else flat_type(value) for number, value in enumerate(sources)]
    names = [value.name_hint for value in sources]
    for op in within(prim_func):
        words = op.annotations if isinstance(op, ForOp) else None
        if words is not None and set(words.data) - {INDEPENDENT, LANES, ROLLED, TILES}:
            missed("convert-tir-to-loops", op, "the loop's annotations have no effect")
        idle = [name for name in op.attributes if name != BUFFER_DIM_ALIGN]
        if idle and isinstance(op, ForOp | BlockOp | AllocBufferOp | Checked):
            missed("convert-tir-to-loops", op, f"attributes have no effect: {', '.join(idle)}")
    records: list[Attribute] = [RecordType()] if checks else []
    kernel = func.FuncOp(
        prim_func.sym_name.data, FunctionType.from_lists([*types, *records, SlotsType(max(1, len(nests))), index], [])
    )
    kernel.location = prim_func.location
    kernel.attributes |= prim_func.attributes
    if checks:
        kernel.attributes[CHECKS] = described(prim_func, checks)
    if in_place := pairs_in_place(prim_func):
        kernel.attributes[IN_PLACE] = DenseArrayBase.from_list(i64, [place for pair in in_place for place in pair])
    if symbols and shapes:
        kernel.attributes[WORKSPACE_SHAPES] = shapes_of_workspaces(shapes.values())
    block = kernel.body.block
    name_values(block.args, [*names, *(["record"] if checks else []), "slots", "num_threads"])
    arguments, (slots, num_threads) = block.args[:-2], block.args[-2:]
    functions: list[func.FuncOp] = []
    at = IndexBuilder(block)
    at.define_symbols([(number, block.args[number]) for number in symbols])
    for number, nest in enumerate(nests):
        name = f"{prim_func.sym_name.data}.nest_{number}"
        overlapping = {place for pair in in_place for place in pair}
        over = [body.args[place] for place in overlapping]
        function = _lower_nest(name, nest, rooms[nest], sources, types, checks, unit, over)
        functions.append(function)
        if in_place:
            said = [{MAY_ALIAS: UnitAttr()} if n in overlapping else {} for n in range(len(function.args))]
            function.arg_attrs = ArrayAttr([DictionaryAttr(each) for each in said])
        parallel: int | SSAValue | None = None
        rows = 1
        if isinstance(nest, ForOp) and nest.for_kind == ForKind.PARALLEL:
            rows = rows_of_shares(nest)
            parallel = nest.size if isinstance(nest.size, int) else at.extent(nest.size)
        emit: Callable[[Block, Sequence[SSAValue]], None] = partial(_call, function, arguments)
        in_slices = bool(rooms[nest])
        if isinstance(nest, ForOp) and parallel is not None:
            if (parts := parts_of(nest, parallel, in_slices, at)) is not None:
                emit = partial(_call_for_parts, function, arguments, at.as_value(parallel), parts, in_slices)
                parallel, rows = parts, 1
        share_out(block, slots, number, num_threads, parallel, emit, rows)
    block.add_op(func.ReturnOp())
    return [*functions, kernel]


def shapes_of_workspaces(shapes: Iterable[Sequence[Extent]]) -> ArrayAttr[AffineMapAttr]:
    """What `WORKSPACE_SHAPES` says of workspaces of these shapes."""
    return ArrayAttr([AffineMapAttr(affine_map(0, [as_affine(n) for n in shape])) for shape in shapes])


def workspace_shapes(kernel: func.FuncOp, types: Sequence[Attribute]) -> list[Sequence[AffineExpr]]:
    """The extents of each workspace of a kernel, of those `types`, over the symbols that are its index arguments."""
    shapes = kernel.attributes.get(WORKSPACE_SHAPES)
    if isa(shapes, ArrayAttr[AffineMapAttr]):
        return [shape.data.results for shape in shapes]
    return [[AffineExpr.constant(n) for n in type.get_shape()] for type in types if isa(type, MemRefType)]


def check_buffers(prim_func: PrimFuncOp, scopes: Sequence[str] = tuple(Scope), whose: str = "a processor") -> None:
    """What loops over flat buffers can say: arguments are buffers and symbols; buffers are dense, in memories that the
    target has; and those of a thread's own serve one nest.

    Raises:
        Diagnostic: a buffer is otherwise.
    """
    allocs = all_within(prim_func, AllocBufferOp)
    symbols = prim_func.symbols
    for value in (*(v for v in prim_func.region.block.args if v not in symbols), *(alloc.buffer for alloc in allocs)):
        owner = value.owner if isinstance(value.owner, AllocBufferOp) else prim_func
        name = f"%{value.name_hint}" if value.name_hint else "an argument"
        if not isinstance(value.type, MemRefType):
            raise Diagnostic.at(owner, f"{name} is of type {value.type}, and only buffers are passed to a kernel")
        type = memref_of(value)
        if not isinstance(type.layout, NoneAttr) or not isinstance(type.memory_space, NoneAttr):
            raise Diagnostic.at(owner, f"{name} has a layout or a memory space, which would be lost: {type}")
        if axis_separators_of(value):
            message = f"{name} has memory of several dimensions (axis_separators), and a processor's has one"
            raise Diagnostic.at(owner, message, hint="set no axis separators")
    for scope in scopes_of_arguments(prim_func):
        if scope != GLOBAL:
            message = f'an argument is of the scope "{scope}", and what is passed lies in the global memory'
            raise Diagnostic.at(prim_func, message, hint="a tensor intrinsic takes the place of loops (tensorize)")
    for alloc in allocs:
        if alloc.scope.data not in scopes:
            known = f"{', '.join(scopes[:-1])} and {scopes[-1]}"
            raise Diagnostic.at(
                alloc,
                f'the scope is "{alloc.scope.data}", and {whose} has {known} memory only',
                hint=did_you_mean(alloc.scope.data, scopes) or 'give it the scope "global"',
            )
        if alignments_of(alloc.buffer) and not all(isinstance(extent, int) for extent in shape_of(alloc.buffer)):
            raise Diagnostic.at(alloc, f"rows lie apart ({BUFFER_DIM_ALIGN}) in buffers of known extents only")
    for finding in (finding for alloc in allocs for finding in check_reach(alloc)):
        raise finding.diagnostic()


def take_out_inits(prim_func: PrimFuncOp) -> None:
    """A reduction of no steps has its starting value: where there may be none, `init` comes before their loops; or,
    where loops or conditions are of elements and steps together, what begins without steps does."""
    for block in blocks_under(prim_func):
        counts = [size for size, kind in zip(block.sizes, block.kinds, strict=True) if kind == IterKind.REDUCE]
        if block.init is None or all(isinstance(count, int) for count in counts):
            continue
        steps = [loop for loop in enclosing_loops(block) if carries_reduction(loop, block) is not None]
        if not steps:
            continue
        try:
            decompose_reduction(block, steps[0])
        except ScheduleError:
            if any(loop.for_kind == ForKind.THREAD_BINDING for loop in steps):
                raise
            begin_without_steps(block)


def _lower_nest(
    name: str,
    nest: Operation,
    rooms: Sequence[Room],
    sources: Sequence[SSAValue],
    types: Sequence[Attribute],
    checks: Sequence[Checked],
    unit: VectorUnit,
    overlapping: Sequence[SSAValue],
) -> func.FuncOp:
    """The private function that runs iterations `%first` to `%last` of a parallel nest, or all of another. If the
    kernel makes checks, it takes the record; if threads' own buffers take `rooms` that depend on symbols, the number of
    the slices of the workspaces that these have."""
    parallel = isinstance(nest, ForOp) and nest.for_kind == ForKind.PARALLEL
    bounds = [index, index, *([index] if rooms else [])] if parallel else []
    records: list[Attribute] = [RecordType()] if checks else []
    function = func.FuncOp(name, FunctionType.from_lists([*types, *records, *bounds], []), visibility="private")
    block = function.body.block
    names = [*(value.name_hint for value in sources), *(["record"] if checks else [])]
    name_values(block.args, [*names, *("first", "last", "slice")[: len(bounds)]])
    buffers = {
        source: FlatBuffer.whole(argument, shape_of(source), alignments_of(source))
        for source, argument in zip(sources, block.args, strict=False)
        if not is_symbol(source)
    }
    at = IndexBuilder(block)
    symbols = [(n, argument) for n, argument in enumerate(block.args[: len(sources)]) if is_symbol(sources[n])]
    at.define_symbols(symbols)
    record = Checks(block.args[len(types)], {check: n for n, check in enumerate(checks)}) if checks else None
    emitter = LoopEmitter(at, buffers, record, unit, overlapping)
    buffers.update(constants_of(nest, at))
    slice = at.argument(block.args[-1], MOST_SHARES - 1) if rooms and parallel else AffineExpr.constant(0)
    in_slices = {room.alloc: room for room in rooms}
    for alloc in private_buffers(nest):
        if (room := in_slices.get(alloc)) is not None:
            buffers[alloc.buffer] = room.in_slice(buffers[alloc.buffer].memory, slice, at)
        else:
            buffers[alloc.buffer] = room_of(alloc).on_stack(at)
    if isinstance(nest, ForOp) and parallel:
        first, last = block.args[len(block.args) - len(bounds) :][:2]
        emitter.loop(nest, _from_start(nest, first, at), _from_start(nest, last, at))
    else:
        emitter.statement(nest)
    at.insert(func.ReturnOp())
    share_configuration(block)
    return function


def _from_start(loop: ForOp, iteration: SSAValue, at: IndexBuilder) -> SSAValue:
    """The value of a loop's variable in an iteration, which shares count from 0."""
    return at.emit(arith.AddiOp(iteration, at.constant(loop.start))) if loop.start else iteration


def constants_of(nest: Operation, at: IndexBuilder) -> dict[SSAValue, FlatBuffer]:
    """The memories of the constants that the blocks of `nest` read."""
    found: dict[SSAValue, FlatBuffer] = {}
    for buffer in dict.fromkeys(buffer for block in blocks_under(nest) for buffer in block.reads):
        if not isinstance(buffer.owner, AllocBufferOp) or (value := buffer.owner.value) is None:
            continue
        type = flatten_type(memref_of(buffer))
        constant = ConstantOp(dense_of(array_of(value).reshape(-1), type.element_type), type)
        constant.result.name_hint = buffer.name_hint
        found[buffer] = FlatBuffer.whole(at.emit(constant), shape_of(buffer))
    return found


def is_of_a_nest(alloc: AllocBufferOp) -> bool:
    """Whether a buffer is each thread's own within a nest; one that several nests use is the kernel's, whatever its
    scope: then no thread has another (`check_reach`)."""
    return alloc.is_private and len(nests_using(alloc)) <= 1


def private_buffers(nest: Operation) -> list[AllocBufferOp]:
    """The thread-private buffers that the blocks of `nest` touch, each once."""
    found: dict[AllocBufferOp, None] = {}
    for block in blocks_under(nest):
        for buffer in (*block.reads, *block.writes):
            if isinstance(buffer.owner, AllocBufferOp) and is_of_a_nest(buffer.owner):
                found[buffer.owner] = None
    return list(found)


def _call(function: func.FuncOp, arguments: Sequence[SSAValue], block: Block, bounds: Sequence[SSAValue]) -> None:
    block.add_op(func.CallOp(function.sym_name.data, [*arguments, *bounds], []))


def _call_for_parts(
    function: func.FuncOp,
    arguments: Sequence[SSAValue],
    extent: SSAValue,
    parts: SSAValue,
    in_slices: bool,
    block: Block,
    bounds: Sequence[SSAValue],
) -> None:
    """Call a nest for `bounds` of `parts` of its `extent`; with the first part's slice, where it has some: no other
    call has it."""
    places: list[SSAValue] = []
    for bound in bounds:
        scaled = arith.MuliOp(bound, extent)
        divided = arith.DivUIOp(scaled.result, parts)
        block.add_ops([scaled, divided])
        places.append(divided.result)
    _call(function, arguments, block, [*places, bounds[0]] if in_slices else places)


def name_values(values: Sequence[SSAValue], names: Sequence[str | None]) -> None:
    for value, name in zip(values, names, strict=True):
        value.name_hint = name
