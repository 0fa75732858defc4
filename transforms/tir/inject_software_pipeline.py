"""Let iterations of a loop overlap: later statements of one run beside earlier ones of the next.

Before -> after:

```mlir
tir.for %i = 0 to 16 annotations {software_pipeline_stage = [0, 1], software_pipeline_order = [0, 1]} {
  %b = tir.alloc_buffer "shared" : memref<16xf32>
  ... copies %x[%i] to %b
  ... computes %y[%i] from %b
}

tir.outer_block @outer {
  %b = tir.alloc_buffer "shared" : memref<2x16xf32>
  ... copies %x[0] to %b[0]
  tir.outer_block @outer {
    tir.for %i = 0 to 15 {
      ... copies %x[%i + 1] to %b[(%i + 1) mod 2]
      ... computes %y[%i] from %b[%i mod 2]
    }
  }
  ... computes %y[15] from %b[1]
}
```

The annotations have a number for each statement of the loop: its stage, by how many iterations it is late, and its
place among those that run at one time. Where the loop holds one outer block, its statements are meant; and so is each
statement of an outer block of several. Pipelined loops within are rewritten first, and become three statements each:
what fills the pipeline, the loop, and what empties it (one of them may have no iterations, and is an empty block). The
three stand in an outer block with the buffers, loops and several blocks of one time in outer blocks of their own. A
buffer that is allocated in the loop, and written in each iteration before it is read, has as many versions as
iterations use it at one time.

Refused are loops whose number of iterations depends on symbols, annotations that do not fit, orders in which something
would be read before it is written, and blocks with iterators of their own that touch a buffer of several versions:
`convert-blocks-to-opaque` comes before. Does not: let stages be asynchronous (`software_pipeline_async_stages`).
Counterpart of TVM's InjectSoftwarePipeline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IndexType, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.hints import isa
from ...dialects.support.verifier import verify
from ...dialects.tir.alignment import BUFFER_DIM_ALIGN
from ...dialects.tir.axis_separators import AXIS_SEPARATORS
from ...dialects.tir.buffers import shape_of
from ...dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForKind,
    ForOp,
    IterKind,
    OuterBlockOp,
    PrimFuncOp,
    blocks_under,
)
from ...dialects.tir.legality.bounds import buffer_name
from ...dialects.tir.loop_iterators import speaks_of_loops
from ...dialects.tir.symbols import replaced
from ..infra import PrimFuncPass, report_changed
from ..infra.remarks import missed
from .analysis.software_pipelines import (
    ASYNC_STAGES,
    DOUBLE_BUFFER,
    KEYS,
    PipelineAnnotationError,
    SoftwarePipeline,
    Statement,
    inner_blocks,
    is_pipelined,
    pipeline_of,
)
from .convert_blocks_to_opaque import with_loop_iterators
from .schedule.rebind import ValueExpr, assign, rebind


@dataclass(frozen=True)
class InjectSoftwarePipelinePass(PrimFuncPass):
    """Let iterations of loops that say so overlap."""

    name = "inject-software-pipeline"
    tvm_name = "InjectSoftwarePipeline"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        if not any(isinstance(op, ForOp) and is_pipelined(op) for op in func.walk()):
            report_changed(False)
            return
        tried = func.clone()
        _Rewriter(tried).statements(tried.region.block)
        try:
            verify(ModuleOp([tried]))
        except Diagnostic as error:
            raise Diagnostic.at(func, f"its pipelined loops are not valid: {error.message}", hint=error.hint) from error
        tried.detach()
        func.take_region(tried)
        report_changed(True)


@dataclass
class _Part:
    """A statement of a block: its operations; of an outer block, also those in it."""

    ops: list[Operation]
    inner: list[_Part] = field(default_factory=list["_Part"])


@dataclass(frozen=True)
class _Time:
    """The iteration in which a statement is: an expression over the variable of a new loop, or a number."""

    iteration: ValueExpr
    conditions: tuple[AffineExpr, ...]
    """What has to be at least 0 over that variable for there to be such an iteration."""


class _Rewriter:
    def __init__(self, func: PrimFuncOp):
        self.arguments: Sequence[SSAValue] = func.region.block.args
        self.own: set[SSAValue] = set()
        """The buffers of which pipelined loops, rewritten by now, wrote in each iteration what it read."""

    def statements(self, block: Block) -> list[_Part]:
        """The statements of `block`, in which pipelined loops are rewritten."""
        found: list[_Part] = []
        for op in list(block.ops):
            match op:
                case ForOp():
                    inner = self.statements(op.body.block)
                    found += self._pipelined(op, inner) if is_pipelined(op) else [_Part([op])]
                case OuterBlockOp():
                    found.append(_Part([op], self.statements(op.body.block)))
                case AllocBufferOp():
                    pass
                case _:
                    found.append(_Part([op]))
        return found

    def _pipelined(self, loop: ForOp, parts: list[_Part]) -> list[_Part]:
        """Replace a pipelined loop, whose statements are `parts`, by an outer block of three statements."""
        if len(parts) == 1 and parts[0].inner:
            parts = _opened(parts[0])
        parts = [each for part in parts for each in (_opened(part) if len(part.inner) > 1 else [part])]
        allocs = [op for op in loop.body.block.ops if isinstance(op, AllocBufferOp)]
        trips = loop.trip_count
        pipeline = pipeline_of(loop, [part.ops for part in parts], allocs, self.own)
        self.own.update(pipeline.own)
        for statement in pipeline.statements:
            _check_blocks(statement, pipeline.versions)
        if loop.annotations is not None and ASYNC_STAGES in loop.annotations.data:
            missed("inject-software-pipeline", loop, "its asynchronous stages wait for what they copy", "")
        for alloc in allocs:
            _hoist(alloc, loop, pipeline.versions.get(alloc.buffer, 1))
        filled, ended = loop.start + pipeline.last_stage, loop.start + trips
        unrolled = ForKind.UNROLLED
        made = [
            self._part(pipeline, loop.start, filled, unrolled),
            self._part(pipeline, filled, ended, loop.for_kind),
            self._part(pipeline, max(filled, ended), ended + pipeline.last_stage, unrolled),
        ]
        assert loop.parent is not None
        whole = _block_of([*allocs, *(_one_of(part.ops) for part in made)], loop)
        loop.detach()
        loop.erase()
        return [_Part([whole], [_Part([op]) for op in list(whole.body.block.ops)[len(allocs) :]])]

    def _part(self, pipeline: SoftwarePipeline, first: int, end: int, kind: ForKind) -> _Part:
        """Put what runs at the times from `first` up to `end` before a pipelined loop."""
        loop = pipeline.loop
        assert loop.parent is not None
        made: ForOp | None = None
        ops: list[Operation] = []
        if end - first > 1:
            made = ForOp(end - first, min=loop.start, kind=kind, name_hint=loop.var.name_hint)
            made.properties |= _other_annotations(loop)
            made.attributes |= loop.attributes
            made.location = loop.location
            loop.parent.insert_op_before(made, loop)
        for statement in sorted(pipeline.statements, key=lambda each: each.order) if end > first else ():
            time = _time(loop, statement, first, end, made)
            if time is None:
                continue
            for op in statement.ops:
                copy = op.clone()
                if made is None:
                    loop.parent.insert_op_before(copy, loop)
                else:
                    made.body.block.add_op(copy)
                ops += self._placed(copy, pipeline, time)
        if made is not None and ops:
            return _Part([made])
        if made is not None:
            made.detach()
            made.erase()
        if not ops:
            ops.append(empty := BlockOp("", [], AffineMap(0, 0, ()), [], Region(Block())))
            loop.parent.insert_op_before(empty, loop)
        return _Part(ops)

    def _placed(self, copy: Operation, pipeline: SoftwarePipeline, time: _Time) -> list[Operation]:
        """Let the blocks in a copied statement speak of the iteration that it is of; gives what it is then."""
        blocks = blocks_under(copy)
        replaced: dict[Operation, Operation] = {}
        for block in blocks:
            opaque = speaks_of_loops(block)
            counts = {n: _choose(block, pipeline, n) for n in sorted(set(pipeline.versions.values()))}
            for count, buffers in counts.items():
                if buffers:
                    _add_version(block, pipeline, count, buffers)
            rebind(block, {pipeline.loop.var: time.iteration})
            _restrict(block, time)
            block.attributes.pop(DOUBLE_BUFFER, None)
            if opaque and not speaks_of_loops(block):
                replaced[block] = with_loop_iterators(block, self.arguments)
            else:
                block.update_accesses()
        return [replaced.get(copy, copy)]


def _one_of(ops: list[Operation]) -> Operation:
    """Operations as one statement: a block by itself, loops and several blocks in an outer block."""
    return ops[0] if len(ops) == 1 and isinstance(ops[0], BlockOp | OuterBlockOp) else _block_of(ops, ops[0])


def _block_of(ops: Sequence[Operation], place: Operation) -> OuterBlockOp:
    """An outer block of operations, before `place`."""
    outer = OuterBlockOp("outer")
    assert place.parent is not None
    place.parent.insert_op_before(outer, place)
    for op in ops:
        op.detach()
        outer.body.block.add_op(op)
    return outer


def _opened(part: _Part) -> list[_Part]:
    """Let what is in an outer block take its place."""
    (outer,) = part.ops
    assert isinstance(outer, OuterBlockOp) and outer.parent is not None
    for op in list(outer.body.block.ops):
        op.detach()
        outer.parent.insert_op_before(op, outer)
    outer.detach()
    outer.erase()
    return part.inner


def _check_blocks(statement: Statement, versions: Mapping[SSAValue, int]) -> None:
    """Raises:
    PipelineAnnotationError: a buffer of several versions is handed to a call, or touched by a block with iterators.
    """
    for block in inner_blocks(statement.ops):
        touched = [each.buffer for each in block.touches() if each.buffer in versions]
        if not touched:
            continue
        name = f"block @{block.block_name}"
        if any(each.buffer in versions for each in block.handed()):
            raise PipelineAnnotationError.at(
                block, f"{name} hands a call {buffer_name(touched[0])}, of which the pipeline needs several versions"
            )
        if not speaks_of_loops(block):
            raise PipelineAnnotationError.at(
                block,
                f"{name} has iterators of its own, and touches {buffer_name(touched[0])}, of which the pipeline needs "
                "several versions",
                hint="lower-init-block and convert-blocks-to-opaque first",
            )


def _hoist(alloc: AllocBufferOp, loop: ForOp, versions: int) -> None:
    """Move an allocation out of a loop, and let it hold several versions."""
    alloc.detach()
    assert loop.parent is not None
    loop.parent.insert_op_before(alloc, loop)
    if versions > 1:
        separators = alloc.axis_separators
        alloc.set_shape([versions, *shape_of(alloc.buffer)])
        if separators:
            kind = IntegerAttr(0, 64).type
            alloc.attributes[AXIS_SEPARATORS] = ArrayAttr(IntegerAttr(each + 1, kind) for each in separators)


def _other_annotations(loop: ForOp) -> dict[str, Attribute]:
    """The annotations of a pipelined loop that say nothing of the pipeline, as a property."""
    assert loop.annotations is not None
    kept = {key: value for key, value in loop.annotations.data.items() if key not in KEYS}
    return {"annotations": DictionaryAttr(kept)} if kept else {}


def _time(loop: ForOp, statement: Statement, first: int, end: int, made: ForOp | None) -> _Time | None:
    """The iteration in which a statement is at the times from `first` up to `end`; nothing where there is none."""
    low, high = first - statement.stage, end - 1 - statement.stage
    if high < loop.start or low >= loop.start + loop.trip_count:
        return None
    if made is None:
        return _Time(ValueExpr.constant(low), ())
    iteration = AffineExpr.dimension(0) + (low - loop.start)
    last = loop.start + loop.trip_count - 1
    conditions: list[AffineExpr] = []
    if low < loop.start:
        conditions.append(iteration - loop.start)
    if high > last:
        conditions.append(iteration * -1 + last)
    return _Time(ValueExpr(iteration, (made.var,)), tuple(conditions))


def _choose(block: BlockOp, pipeline: SoftwarePipeline, count: int) -> list[SSAValue]:
    """The buffers of so many versions that a block touches."""
    return [
        buffer
        for buffer in dict.fromkeys(each.buffer for each in block.accesses())
        if pipeline.versions.get(buffer) == count
    ]


def _add_version(block: BlockOp, pipeline: SoftwarePipeline, count: int, buffers: Sequence[SSAValue]) -> None:
    """Let a block touch that version of buffers that its iteration has, by an iterator that is bound to it."""
    loop = pipeline.loop
    accesses = [each for each in block.accesses() if each.buffer in buffers]
    version = block.body.block.insert_arg(IndexType(), len(block.iters))
    for access in accesses:
        lead = 2 if access.is_write else 1
        access.op.operands = [*access.op.operands[:lead], version, *access.op.operands[lead:]]
    values = list(block.loop_vars)
    if loop.var not in values:
        values.append(loop.var)
    block.properties["iter_kinds"] = ArrayAttr([*block.iter_kinds, StringAttr(IterKind.OPAQUE.value)])
    block.sizes = [*block.sizes, count]
    # an iteration that is not one, and is left out by a predicate, begins below the first: never below 0 with this
    from_zero = AffineExpr.dimension(values.index(loop.var)) + (pipeline.last_stage * count - loop.start)
    block.set_bindings([*block.bindings.data.results, from_zero % count], values)
    block.set_predicate(block.conditions)
    _shift_alignments(block, buffers)


def _shift_alignments(block: BlockOp, buffers: Sequence[SSAValue]) -> None:
    """Let what is said of how far rows of `buffers` lie apart be of the dimensions after their versions."""
    said = block.attributes.get(BUFFER_DIM_ALIGN)
    if said is None:
        return
    assert isa(said, ArrayAttr[ArrayAttr[IntegerAttr]]), "checked by the verifier"
    shifted: list[ArrayAttr[IntegerAttr]] = []
    for entry in said:
        buffer, axis, *rest = entry.data
        if block.writes[buffer.value.data] in buffers:
            axis = IntegerAttr(axis.value.data + 1, axis.type)
        shifted.append(ArrayAttr([buffer, axis, *rest]))
    block.attributes[BUFFER_DIM_ALIGN] = ArrayAttr(shifted)


def _restrict(block: BlockOp, time: _Time) -> None:
    """Run a block only where there is the iteration that it is of."""
    if not time.conditions:
        return
    values = list(block.loop_vars)
    (variable,) = time.iteration.values
    if variable not in values:
        values.append(variable)
    here = AffineExpr.dimension(values.index(variable))
    conditions = [replaced(condition, [here]) for condition in time.conditions]
    assign(block, block.bindings.data.results, [*block.conditions, *conditions], values)
