"""Ask for what a reduction is about to stream by, some iterations before it is read.

A register tile reads each vector of its weights once and uses it in every row. What is used once comes from a cache
that is far away, or from memory, and nothing that waits for it can go on. So the loop that walks along the stream asks
for the vector that it will read `distance` bytes later:

```mlir
scf.for %k = %c0 to %c512 step %c1 {            scf.for %k = %c0 to %c512 step %c1 {
  scf.for %row ... {unroll}                       scf.for %column ... {unroll} {
    scf.for %column ... {unroll} {                  memref.prefetch %w[%k * 16 + %column * 8192 + 512], read, ...
      %v = vector.load %w[%k * 16 +               }
                          %column * 8192]   ->    scf.for %row ... {unroll}
      ...                                           ...
```

It does so for vectors that are loaded from an argument larger than the nearest cache (`CACHE_BYTES`), in a rolled loop
that moves them, inside of unrolled loops of which some, of at least `REUSE` iterations together, do not: a tile that
uses a vector less often waits for other things too, and each prefetch takes the place of a load. Once for each vector,
not for each use: LLVM does not find that two are the same. A prefetch reads nothing that anybody sees, and may lie
outside of memory.

Source: the distance and the gain were measured (bench/README.md, "Streams"). TVM's InjectPrefetch lowers a `prefetch`
that a schedule asks for; nobody has to ask here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from ...dialects.extensions.llvm_loop_annotation import LOOP_ANNOTATION
from ...dialects.extensions.memref import PrefetchOp
from ...dialects.support.dtypes import byte_width
from ...dialects.tir.core import memref_of
from ...transforms.infra import ModulePass
from .loop_emission import UNROLL_FULLY

CACHE_BYTES = 32 * 1024
"""Of the nearest cache of any processor on which vectors are worth while: what fits is there after the first row."""

REUSE = 5
"""Uses of a vector from which on its load is worth asking for."""


@dataclass(frozen=True)
class PrefetchStreamsPass(ModulePass):
    """Options: `distance`, in bytes of the stream."""

    name = "prefetch-streams"
    opt_level: ClassVar[int] = 3

    distance: int = 2048

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in [op for op in op.walk() if isinstance(op, scf.ForOp) and _unrolled_trips(op) is None]:
            for stream in _streams(loop):
                stream.prefetch(loop, self.distance)


@dataclass(frozen=True)
class _Stream:
    """A vector that is read in a loop: by which operation, and inside of which unrolled loops that move it."""

    load: vector.LoadOp
    columns: tuple[scf.ForOp, ...]
    index: tuple[Operation, ...]
    """What computes its place within the loop, in order."""

    def prefetch(self, loop: scf.ForOp, distance: int) -> None:
        """Ask at the begin of each iteration of `loop` for what is read `distance` bytes of vectors later."""
        steps = max(1, distance // _vector_bytes(self.load))
        ahead = arith.ConstantOp.from_int_and_width(steps * (_constant(loop.step) or 1), IndexType())
        later = arith.AddiOp(loop.body.block.args[0], ahead)
        later.result.name_hint = "later"
        values: dict[SSAValue, SSAValue] = {loop.body.block.args[0]: later.result}
        first = loop.body.block.first_op
        assert first is not None
        loop.body.block.insert_ops_before([ahead, later], first)
        block, anchor = loop.body.block, first
        for column in self.columns:
            body = Block(arg_types=[column.body.block.args[0].type])
            body.args[0].name_hint = column.body.block.args[0].name_hint
            values[column.body.block.args[0]] = body.args[0]
            end = scf.YieldOp()
            body.add_op(end)
            new = scf.ForOp(column.lb, column.ub, column.step, [], body)
            new.attributes[LOOP_ANNOTATION] = UNROLL_FULLY
            block.insert_op_before(new, anchor)
            block, anchor = body, end
        clones = [op.clone(value_mapper=values) for op in self.index]
        indices = [values.get(index, index) for index in self.load.indices]
        block.insert_ops_before([*clones, PrefetchOp(self.load.base, indices)], anchor)


def _streams(loop: scf.ForOp) -> list[_Stream]:
    """The vectors that `loop` moves, read from memory that is far away, and used often enough."""
    found: list[_Stream] = []
    for load, unrolled in _loads(loop.body.block, ()):
        if not _is_far(load):
            continue
        slice_ = _index_of(load, loop.body.block)
        if slice_ is None:
            continue
        operands = {operand for op in slice_ for operand in op.operands} | set(load.indices)
        columns = tuple(inner for inner in unrolled if inner.body.block.args[0] in operands)
        uses = prod(_unrolled_trips(inner) or 1 for inner in unrolled if inner not in columns)
        if loop.body.block.args[0] in operands and uses >= REUSE:
            found.append(_Stream(load, columns, slice_))
    return found


def _loads(block: Block, unrolled: tuple[scf.ForOp, ...]) -> Iterator[tuple[vector.LoadOp, tuple[scf.ForOp, ...]]]:
    """The loads of vectors in `block` and in the unrolled loops in it, with those around each."""
    for op in block.ops:
        if isinstance(op, vector.LoadOp):
            yield op, unrolled
        elif isinstance(op, scf.ForOp) and _unrolled_trips(op) is not None:
            yield from _loads(op.body.block, (*unrolled, op))


def _vector_bytes(load: vector.LoadOp) -> int:
    return prod(load.result.type.get_shape()) * byte_width(load.result.type.element_type)


def _is_far(load: vector.LoadOp) -> bool:
    """Whether it reads an argument of the function that the nearest cache does not hold."""
    size = prod(memref_of(load.base).get_shape())
    return isinstance(load.base, BlockArgument) and abs(size) * byte_width(load.result.type.element_type) > CACHE_BYTES


def _index_of(load: vector.LoadOp, around: Block) -> tuple[Operation, ...] | None:
    """What computes the place of a load within the block `around`, in order; `None` if that does more than compute."""
    found: dict[Operation, None] = {}

    def visit(value: SSAValue) -> bool:
        op = value.owner
        if not isinstance(op, Operation) or op in found or not around.is_ancestor(op):
            return True
        if not _computes(op) or not all(visit(operand) for operand in op.operands):
            return False
        found[op] = None
        return True

    return tuple(found) if all(visit(index) for index in load.indices) else None


def _computes(op: Operation) -> bool:
    """Whether `op` does no more than compute, for any operands that it can have here."""
    if isinstance(op, arith.DivUIOp | arith.RemUIOp):
        return bool(_constant(op.rhs))
    return is_side_effect_free(op) and not op.regions


def _unrolled_trips(loop: scf.ForOp) -> int | None:
    """The number of iterations of a loop that is to be unrolled; `None` where it is not."""
    lower, upper, step = (_constant(bound) for bound in (loop.lb, loop.ub, loop.step))
    if loop.attributes.get(LOOP_ANNOTATION) != UNROLL_FULLY or lower is None or upper is None or not step:
        return None
    return len(range(lower, upper, step))


def _constant(value: SSAValue) -> int | None:
    """The integer that a value is known to be."""
    op = value.owner
    return op.value.value.data if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr) else None
