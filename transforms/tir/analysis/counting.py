"""How much there is of what in a function: operations on elements, bytes of buffers."""

from __future__ import annotations

from math import prod

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Operation, Region, SSAValue

from ....dialects.support.diagnostics import Diagnostic
from ....dialects.support.dtypes import byte_width
from ....dialects.tir.core import AllocBufferOp, BlockOp, ForOp, PrimFuncOp, memref_of
from ....dialects.tir.dot import WIDTH, DotOp
from ....dialects.tir.outer_blocks import OuterBlockOp
from ....dialects.tir.script.words import chosen_extremum
from .producers import nest_of

_COUNTED = (
    arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp,
    arith.MinnumfOp, arith.CmpfOp, arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.DivSIOp, arith.DivUIOp,
    arith.FloorDivSIOp, arith.CeilDivSIOp, arith.CeilDivUIOp, arith.RemSIOp, arith.RemUIOp, arith.MaxSIOp,
    arith.MaxUIOp, arith.MinSIOp, arith.MinUIOp, arith.CmpiOp,
)  # fmt: skip


def arithmetic_operations(root: PrimFuncOp | ModuleOp) -> int:
    """The additions, multiplications, divisions, minima, maxima and comparisons that values of elements are made by:
    of an `if` those of the longer branch, in a loop as many times as it runs.

    Not counted are index arithmetic, conditions, casts and calls of functions such as `exp`. What is used twice by one
    value that is stored counts once. Counterpart of TVM's `estimate_tir_flops`.

    Raises:
        Diagnostic: the number of iterations of a loop is not known.
    """
    if isinstance(root, ModuleOp):
        return sum(arithmetic_operations(op) for op in root.ops if isinstance(op, PrimFuncOp))
    return _in_region(root.region)


def _in_region(region: Region) -> int:
    return sum(_in_statement(op) for block in region.blocks for op in block.ops)


def _in_statement(op: Operation) -> int:
    match op:
        case ForOp():
            return op.trip_count * _in_region(op.body)
        case scf.IfOp():
            return max(_in_region(op.true_region), _in_region(op.false_region))
        case scf.ForOp() | scf.WhileOp():
            raise Diagnostic.at(op, "the number of iterations of a loop within a block is not known")
        case BlockOp() | OuterBlockOp():
            return sum(_in_region(region) for region in op.regions)
        case memref.StoreOp():
            return _of_value(op.value, set())
        case _:
            return 0


def _of_value(value: SSAValue, seen: set[SSAValue]) -> int:
    """The operations that a value is made by, without those that are `seen`."""
    op = value.owner
    if value in seen or not isinstance(op, Operation) or isinstance(value.type, IndexType):
        return 0
    seen.add(value)
    match op:
        case memref.LoadOp():
            return 0
        case arith.SelectOp():
            counts = chosen_extremum(op) is not None  # the larger or smaller of two, as T.max and T.min are
            return counts + max(_of_value(op.lhs, set(seen)), _of_value(op.rhs, seen))
        case scf.IfOp():
            results: list[SSAValue] = [*op.results]
            number = results.index(value)
            return max(_yielded(region, number, set(seen)) for region in op.regions)
        case DotOp():
            return 2 * WIDTH + sum(_of_value(operand, seen) for operand in op.operands)
        case _:
            counts = isinstance(op, _COUNTED) and not isinstance(op.operands[0].type, IndexType)
            return counts + sum(_of_value(operand, seen) for operand in op.operands)


def _yielded(region: Region, number: int, seen: set[SSAValue]) -> int:
    end = region.block.last_op
    return 0 if end is None else _of_value(end.operands[number], seen)


def anchor_block(root: PrimFuncOp | ModuleOp) -> BlockOp | None:
    """Of the blocks that reduce and have an `init`, that whose nest has the most arithmetic operations: which a
    schedule is mostly about; the first of several. Counterpart of TVM's `find_anchor_block`.

    Raises:
        Diagnostic: the number of iterations of a loop is not known.
    """
    blocks = [op for op in root.walk() if isinstance(op, BlockOp) and op.is_reduction and op.init is not None]
    return max(blocks, key=lambda block: _in_statement(nest_of(block)), default=None)


def allocated_bytes(func: PrimFuncOp) -> dict[str, int]:
    """The bytes of all buffers that a function allocates, by the scope of their memory; constants are not among them.

    Raises:
        Diagnostic: an extent is not known.
    """
    found: dict[str, int] = {}
    for op in func.walk():
        if isinstance(op, AllocBufferOp) and op.value is None:
            found[op.scope.data] = found.get(op.scope.data, 0) + _size(op)
    return found


def constant_bytes(func: PrimFuncOp, alignment: int = 1) -> int:
    """The bytes of the constants that a function holds, each rounded up to a multiple of `alignment`."""
    constants = (op for op in func.walk() if isinstance(op, AllocBufferOp) and op.value is not None)
    return sum(_aligned(_size(op), alignment) for op in constants)


def workspace_bytes(func: PrimFuncOp, alignment: int = 1) -> int:
    """The bytes that a function's own buffers take at most at one time, where each lives as long as the body that it
    stands in and takes a multiple of `alignment`. How buffers share memory afterwards is not taken into account.

    Raises:
        Diagnostic: an extent is not known.
    """
    return _most_at_once(func.region, alignment)


def _most_at_once(region: Region, alignment: int) -> int:
    live = most = 0
    for op in (op for block in region.blocks for op in block.ops):
        if isinstance(op, AllocBufferOp) and op.value is None:
            live += _aligned(_size(op), alignment)
        within = max((_most_at_once(inner, alignment) for inner in op.regions), default=0)
        most = max(most, live + within)
    return most


def _size(alloc: AllocBufferOp) -> int:
    type = memref_of(alloc.buffer)
    if any(extent < 0 for extent in type.get_shape()):
        raise Diagnostic.at(alloc, "the size of a buffer is known only when the function is called")
    return prod(type.get_shape()) * byte_width(type.element_type)


def _aligned(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment
