"""`cache_index`: compute the indices that a block reads at once before it, and read them from memory.

Before -> after `cache_index(block, "global")`:

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<4x8xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @halves(%a: spatial 4, %b: spatial 8) = [%i, %j]
          reads(%x[%b floordiv 2] : memref<8xf32>) writes(%y[%a, %b] : memref<4x8xf32>) {
        %c2 = arith.constant 2 : index
        %0 = arith.floordivsi %b, %c2 : index
        %1 = memref.load %x[%0] : memref<8xf32>
        memref.store %1, %y[%a, %b] : memref<4x8xf32>
      }
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<4x8xf32>) {
  %index_var_0 = tir.alloc_buffer "global" : memref<8xi32>
  tir.for %i0 = 0 to 8 {
    tir.block @index_0(%v0: spatial 8) = [%i0] reads() writes(%index_var_0[%v0] : memref<8xi32>) {
      %c2 = arith.constant 2 : index
      %0 = arith.floordivsi %v0, %c2 : index
      %1 = arith.index_cast %0 : index to i32
      memref.store %1, %index_var_0[%v0] : memref<8xi32>
    }
  }
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @halves(%a: spatial 4, %b: spatial 8) = [%i, %j]
          reads(%index_var_0[%b] : memref<8xi32>, %x : memref<8xf32>) writes(%y[%a, %b] : memref<4x8xf32>) {
        %2 = memref.load %index_var_0[%b] : memref<8xi32>
        %3 = arith.index_cast %2 : i32 to index
        %4 = memref.load %x[%3] : memref<8xf32>
        memref.store %4, %y[%a, %b] : memref<4x8xf32>
      }
    }
  }
}
```

What is read at such an index is read where data says, for all that is known from then on: do this last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerAttr, IntegerType, i32, i64
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ....dialects.support.hints import isa
from ....dialects.tir.affine import Range
from ....dialects.tir.core import AllocBufferOp, BlockOp, IterKind, blocks_under, enclosing_loops
from ....dialects.tir.integers import value_range
from ....dialects.tir.legality.bounds import buffer_name
from ....dialects.tir.symbols import as_affine, greatest, is_symbol
from ..analysis.producers import nest_of
from .checks import check_live
from .copies import free_block_name, new_block, new_body
from .errors import ScheduleError

_DIVISIONS = (
    arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp, arith.FloorDivSIOp, arith.CeilDivSIOp,
    arith.CeilDivUIOp,
)  # fmt: skip
"""What must not be computed where a block does not run, unless its divisor is known."""


@dataclass
class Expression:
    """One that a block computes from its iterators alone, once or several times."""

    key: object
    """What is equal for equal expressions."""
    size: int
    """How many operations it is made of, each as often as it stands there."""
    iters: frozenset[int]
    values: list[OpResult] = field(default_factory=list[OpResult])
    """Where it is computed."""

    @property
    def type(self) -> Attribute:
        return self.values[0].type


class _Expressions:
    """The expressions over the iterators that the body of a block computes, each once, operands before users."""

    def __init__(self, block: BlockOp):
        self.of: dict[SSAValue, Expression] = {}
        self.by_key: dict[object, Expression] = {}
        self._leaves: dict[SSAValue, tuple[object, frozenset[int]]] = {
            argument: (("iterator", number), frozenset({number})) for number, argument in enumerate(block.iters)
        }
        for op in block.body.walk():
            self._read(op)

    def _read(self, op: Operation) -> None:
        if isinstance(op, arith.ConstantOp):
            self._leaves[op.result] = ("constant", op.value), frozenset()
            return
        if not op.name.startswith(("arith.", "math.")) or len(op.results) != 1 or op.regions:
            return
        if isinstance(op, _DIVISIONS) and not _is_known_divisor(op.rhs):
            return
        parts = [self._part(operand) for operand in op.operands]
        known = [part for part in parts if part is not None]
        if len(known) != len(parts):
            return
        result = op.results[0]
        key = (op.name, result.type, tuple(op.properties.items()), tuple(part for part, _, _ in known))
        iters = frozenset[int]().union(*(each for _, each, _ in known))
        size = 1 + sum(each for _, _, each in known)
        found = self.by_key.setdefault(key, Expression(key, size, iters))
        found.values.append(result)
        self.of[result] = found

    def _part(self, value: SSAValue) -> tuple[object, frozenset[int], int] | None:
        """What makes an operand equal to another, the iterators in it, and its size; `None` where data is in it."""
        if (expression := self.of.get(value)) is not None:
            return expression.key, expression.iters, expression.size
        if is_symbol(value):
            return value, frozenset(), 0
        leaf = self._leaves.get(value)
        return None if leaf is None else (*leaf, 0)

    def indices(self) -> list[Expression]:
        """Those that elements are read at, in order."""
        found: dict[object, Expression] = {}
        for expression in self.by_key.values():
            if any(isinstance(use.operation, memref.LoadOp) for value in expression.values for use in value.uses):
                found[expression.key] = expression
        return [each for each in found.values() if each.iters]

    def repeated(self, least: int) -> list[Expression]:
        """Those that stand at least so often in the body, the largest first; what stands in one of them counts no
        more."""
        times = {each.key: sum(map(self._uses_outside, each.values)) for each in self.by_key.values()}
        found: list[Expression] = []
        for expression in sorted(self.by_key.values(), key=lambda each: -each.size):
            count = times[expression.key]
            if count >= least and expression.iters and _is_kept(expression.type):
                found.append(expression)
                continue
            for operand in expression.values[0].op.operands:
                if (part := self.of.get(operand)) is not None:
                    times[part.key] += count
        return found

    def _uses_outside(self, value: SSAValue) -> int:
        """How often `value` is used by what is no such expression."""
        return sum(not any(result in self.of for result in use.operation.results) for use in value.uses)


def _is_known_divisor(value: SSAValue) -> bool:
    op = value.owner
    return isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr) and op.value.value.data > 0


def _is_kept(type: Attribute) -> bool:
    """Whether memory holds elements of that type."""
    return isinstance(type, IndexType) or isa(type, AnyFloat) or (isa(type, IntegerType) and type.width.data > 1)


def check_cache_index(block: BlockOp, least: int = 0) -> list[Expression]:
    """Whether what `block` computes of its iterators can be computed before; gives what is: the indices that it reads
    at, or with `least`, all that stands at least so often in it.

    Raises:
        ScheduleError: `least` is negative, or there is no such expression; or it says where a buffer is touched that
            iterations write which run at the same time.
    """
    check_live(block)
    if least < 0:
        raise ScheduleError.at(block, f"an expression cannot stand {least} times in a block")
    known = _Expressions(block)
    found = known.repeated(least) if least else known.indices()
    if not found:
        what = f"that it has {least} times" if least else "that it reads at"
        raise ScheduleError.at(block, f"block @{block.block_name} computes nothing of its iterators {what}")
    _check_places_known(block, found)
    return found


def _check_places_known(block: BlockOp, found: Sequence[Expression]) -> None:
    """Where iterations that run at the same time touch what one of them writes stays known, as of memory it is not."""
    shared = {
        buffer
        for loop in enclosing_loops(block)
        if loop.for_kind.is_concurrent and loop.size not in (0, 1)
        for other in blocks_under(loop)
        for buffer in other.writes
    }
    kept: set[SSAValue] = {value for each in found for value in each.values}
    for op in block.body.walk():
        if not kept.isdisjoint(op.operands):
            kept.update(op.results)
    for access in block.accesses():
        if access.buffer in shared and not kept.isdisjoint(access.op.indices):
            raise ScheduleError.at(
                access.op,
                f"block @{block.block_name} would ask memory where it touches {buffer_name(access.buffer)}, which "
                "iterations write that run at the same time",
                hint="choose the kinds of loops last",
            )


def cache_index(block: BlockOp, scope: str, least: int = 0) -> list[BlockOp]:
    """Compute what `block` computes of its iterators alone into buffers, before it. Returns the blocks that do.
    Counterpart of TVM's `cache_index`.

    Raises:
        ScheduleError: as `check_cache_index` says.
    """
    found = check_cache_index(block, least)
    ranges: dict[SSAValue, Range] = {
        v: (0, max(greatest(as_affine(size)) - 1, 0)) for v, size in zip(block.iters, block.sizes, strict=True)
    }
    made: list[BlockOp] = []
    buffers: list[SSAValue] = []
    names = _names(block, len(found))
    for name, expression in zip(names, found, strict=True):
        computing, buffer = _compute_before(block, expression, name, scope, ranges)
        made.append(computing)
        buffers.append(buffer)
    for expression, buffer in zip(found, buffers, strict=True):  # last, since one may be a part of another
        indices = [block.iters[number] for number in sorted(expression.iters)]
        for value in expression.values:
            _read_instead(value, buffer, indices)
    _drop_unused(block)
    block.update_accesses()
    return made


def _names(block: BlockOp, count: int) -> list[str]:
    """Names of blocks, `index_0` and so on, that none has."""
    names: list[str] = []
    number = 0
    while len(names) < count:
        name = f"index_{number}"
        if free_block_name(block, name) == name:
            names.append(name)
        number += 1
    return names


def _compute_before(
    block: BlockOp, expression: Expression, name: str, scope: str, ranges: Mapping[SSAValue, Range]
) -> tuple[BlockOp, SSAValue]:
    """Compute an expression for all values of the iterators in it before the nest of `block`: where, and into what."""
    used = sorted(expression.iters)
    kept = _stored_type(expression.values[0], ranges)
    sizes = [block.sizes[number] for number in used]
    alloc = AllocBufferOp.of(kept, sizes, scope)
    alloc.buffer.name_hint = f"index_var_{name.removeprefix('index_')}"
    body = new_body(len(used))
    copied: dict[SSAValue, SSAValue] = {block.iters[number]: v for number, v in zip(used, body.args, strict=True)}
    for op in _chain(expression.values[0]):
        body.add_op(op.clone(copied))
    value = copied[expression.values[0]]
    if isinstance(expression.type, IndexType):
        cast = arith.IndexCastOp(value, kept)
        body.add_op(cast)
        value = cast.result
    body.add_op(memref.StoreOp.get(value, alloc.buffer, body.args))
    nest, computing = new_block(name, [(IterKind.SPATIAL, size) for size in sizes], body, unit=True)
    top = nest_of(block)
    assert top.parent is not None
    top.parent.insert_ops_before([alloc, nest], top)
    return computing, alloc.buffer


def _stored_type(value: SSAValue, ranges: Mapping[SSAValue, Range]) -> Attribute:
    """The type of elements that hold `value`: an index is kept in 32 bits where it fits them."""
    if not isinstance(value.type, IndexType):
        return value.type
    low, high = value_range(value, ranges)
    return i32 if -(1 << 31) <= low and high < 1 << 31 else i64


def _chain(value: SSAValue) -> Sequence[Operation]:
    """The operations that compute `value`, in order."""
    found: dict[Operation, None] = {}

    def visit(each: SSAValue) -> None:
        if isinstance(each, OpResult) and each.op not in found:
            for operand in each.op.operands:
                visit(operand)
            found[each.op] = None

    visit(value)
    return list(found)


def _read_instead(value: OpResult, buffer: SSAValue, indices: Sequence[SSAValue]) -> None:
    """Let what uses `value` read `buffer`."""
    load = memref.LoadOp.get(buffer, indices)
    new: list[Operation] = [load]
    if isinstance(value.type, IndexType):
        new.append(arith.IndexCastOp(load.res, value.type))
    assert value.op.parent is not None
    value.op.parent.insert_ops_before(new, value.op)
    value.replace_all_uses_with(new[-1].results[0])


def _drop_unused(block: BlockOp) -> None:
    """Erase what the body computes for nothing now."""
    for op in reversed(list(block.body.walk())):
        if op.name.startswith(("arith.", "math.", "memref.load")) and not any(result.uses for result in op.results):
            op.detach()
            op.erase()
