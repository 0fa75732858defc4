"""Rules for vector: one-dimensional vectors are LLVM's own."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    VectorType,
    bf16,
    i1,
    i32,
    i64,
)
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.extensions import llvm as llvmx
from ...dialects.extensions import llvm_intrinsics as intr
from ...dialects.rt.dots import DotOp, Instruction
from ...dialects.support.interned import int_array, vector_of
from ...dialects.support.vector_types import as_vector, element_type
from .arith import SLT, flags
from .bfloat import add_float, narrowed, widened
from .function import FunctionLowering, Rules
from .memref import address, is_set
from .types import LoweringError, alignment, memory_type, value_type

RULES = Rules()


@RULES.rule(vector.LoadOp)
def load_rule(lowering: FunctionLowering, op: vector.LoadOp) -> None:
    pointer = address(lowering, op.base, op.indices)
    lowering.set(op.result, lowering.load(pointer, op.result.type, alignment(op.result.type)))


@RULES.rule(vector.StoreOp)
def store_rule(lowering: FunctionLowering, op: vector.StoreOp) -> None:
    pointer, type = address(lowering, op.base, op.indices), op.vector.type
    streaming = is_set(op.nontemporal)
    lowering.store(lowering.get(op.vector), pointer, type, alignment(type), streaming)


@RULES.rule(vector.MaskedLoadOp)
def masked_load_rule(lowering: FunctionLowering, op: vector.MaskedLoadOp) -> None:
    pointer, stored = address(lowering, op.base, op.indices), memory_type(op.result.type)
    mask, others = lowering.get(op.mask), lowering.get(op.pass_thru)
    if stored != others.type:
        others = lowering.add(llvm.ZExtOp, (others,), stored)
    align: dict[str, Attribute] = {"alignment": IntegerAttr(alignment(op.result.type), i32)}
    value = lowering.add(llvmx.MaskedLoadOp, (pointer, mask, others), stored, align)
    lowering.set(op.result, lowering.of_memory(value, op.result.type))


@RULES.rule(vector.MaskedStoreOp)
def masked_store_rule(lowering: FunctionLowering, op: vector.MaskedStoreOp) -> None:
    pointer, stored = address(lowering, op.base, op.indices), memory_type(op.value_to_store.type)
    mask, value = lowering.get(op.mask), lowering.get(op.value_to_store)
    if stored != value.type:
        value = lowering.add(llvm.ZExtOp, (value,), stored)
    align: dict[str, Attribute] = {"alignment": IntegerAttr(alignment(stored), i32)}
    lowering.add_op(llvmx.MaskedStoreOp.create(operands=(value, pointer, mask), properties=align))


@RULES.rule(vector.BroadcastOp)
def broadcast_rule(lowering: FunctionLowering, op: vector.BroadcastOp) -> None:
    source, result = lowering.get(op.source), value_type(op.vector.type)
    lowering.set(op.vector, broadcast(lowering, source, result))


def broadcast(lowering: FunctionLowering, source: SSAValue, type: Attribute) -> SSAValue:
    """A scalar, or a vector of one lane, in every lane."""
    result = as_vector(type)
    assert result is not None
    count = result.get_shape()[0]
    given = as_vector(source.type)
    if given is None:
        given = result
        first = (lowering.poison(type), source, lowering.integer(0, i32))
        source = lowering.add(llvm.InsertElementOp, first, type)
    elif given == result:
        return source
    elif given.get_shape() != (1,):
        raise LoweringError(None, f"{given} cannot be broadcast to {result}")
    return shuffle(lowering, source, lowering.poison(given), [0] * count)


def shuffle(lowering: FunctionLowering, lhs: SSAValue, rhs: SSAValue, mask: Sequence[int]) -> SSAValue:
    result = vector_of(element_type(lhs.type), len(mask))
    return lowering.add(llvm.ShuffleVectorOp, (lhs, rhs), result, {"mask": int_array(*mask)})


@RULES.rule(vector.ShuffleOp)
def shuffle_rule(lowering: FunctionLowering, op: vector.ShuffleOp) -> None:
    """Vectors of different lengths are brought to the length of the longer first."""
    sides = [lowering.get(op.v1), lowering.get(op.v2)]
    counts = [vector.get_shape()[0] for side in sides if (vector := as_vector(side.type))]
    mask, longest = [int(lane) for lane in op.mask.get_values()], max(counts)
    for number, (side, count) in enumerate(zip(sides, counts, strict=True)):
        if count < longest:
            poison = lowering.poison(side.type)
            sides[number] = shuffle(lowering, side, poison, [*range(count), *([-1] * (longest - count))])
    mask = [lane if lane < counts[0] else lane - counts[0] + longest for lane in mask]
    lowering.set(op.result, shuffle(lowering, sides[0], sides[1], mask))


@RULES.rule(vector.FMAOp)
def fma_rule(lowering: FunctionLowering, op: vector.FMAOp) -> None:
    lowering.set(op.res, add_float(lowering, llvm.FMAOp, op.operands, {"fastmathFlags": intr.NO_FLAGS}))


def _position(lowering: FunctionLowering, op: vector.ExtractOp | vector.InsertOp) -> SSAValue:
    static = op.static_position.get_values()
    if len(static) != 1:
        raise LoweringError(op, "only elements of one-dimensional vectors can be reached")
    return lowering.get(op.dynamic_position[0]) if static[0] == DYNAMIC_INDEX else lowering.integer(static[0])


@RULES.rule(vector.ExtractOp)
def extract_rule(lowering: FunctionLowering, op: vector.ExtractOp) -> None:
    source, position = lowering.get(op.vector), _position(lowering, op)
    lowering.set(op.result, lowering.add(llvmx.ExtractElementOp, (source, position), value_type(op.result.type)))


@RULES.rule(vector.InsertOp)
def insert_rule(lowering: FunctionLowering, op: vector.InsertOp) -> None:
    operands = (lowering.get(op.dest), lowering.get(op.source), _position(lowering, op))
    lowering.set(op.result, lowering.add(llvm.InsertElementOp, operands, operands[0].type))


@RULES.rule(vector.BitcastOp)
def bitcast_rule(lowering: FunctionLowering, op: vector.BitcastOp) -> None:
    source, result = lowering.get(op.source), value_type(op.result.type)
    lowering.set(op.result, source if source.type == result else lowering.add(llvm.BitcastOp, (source,), result))


@RULES.rule(vector.CreateMaskOp)
def create_mask_rule(lowering: FunctionLowering, op: vector.CreateMaskOp) -> None:
    """Lane numbers below the given count."""
    type = as_vector(value_type(op.mask_vector.type))
    assert type is not None
    count = type.get_shape()[0]
    numbers = VectorType(i64, [count])
    lanes = lowering.constant(DenseIntOrFPElementsAttr.from_list(numbers, list(range(count))), numbers)
    limit = broadcast(lowering, lowering.get(op.mask_dim_sizes[0]), numbers)
    lowering.set(op.mask_vector, lowering.add(llvm.ICmpOp, (lanes, limit), VectorType(i1, [count]), SLT))


_DOTS = {
    Instruction.VNNI: "llvm.x86.avx512.vpdpbusd.{bits}",
    Instruction.SDOT: "llvm.aarch64.neon.sdot.v{lanes}i32.v{bytes}i8",
    Instruction.UDOT: "llvm.aarch64.neon.udot.v{lanes}i32.v{bytes}i8",
    Instruction.PMADDWD: "llvm.x86.{pairs}",
    Instruction.BF16: "llvm.x86.avx512bf16.dpbf16ps.{bits}",
}
"""LLVM's names of a processor's dot products."""

_PAIRS = {4: "sse2.pmadd.wd", 8: "avx2.pmadd.wd", 16: "avx512.pmaddw.d.512"}
"""Lanes -> LLVM's name of `pmaddwd`, which leaves it to others to add."""


@RULES.rule(DotOp)
def dot_rule(lowering: FunctionLowering, op: DotOp) -> None:
    acc, lhs, rhs = lowering.get_all(op.operands)
    type = as_vector(acc.type)
    assert type is not None
    (lanes,) = type.get_shape()
    instruction = Instruction(op.instruction.data)
    name = _DOTS[instruction].format(bits=32 * lanes, lanes=lanes, bytes=4 * lanes, pairs=_PAIRS.get(lanes))
    if instruction == Instruction.BF16:  # whose bits are integers elsewhere
        pairs = VectorType(bf16, [2 * lanes])
        lhs, rhs = (lowering.add(llvm.BitcastOp, (side,), pairs) for side in (lhs, rhs))
    only_sums = instruction == Instruction.PMADDWD
    call = llvm.CallIntrinsicOp(name, [lhs, rhs] if only_sums else [acc, lhs, rhs], [acc.type])
    lowering.add_op(call)
    sums = call.results[0]
    lowering.set(op.result, lowering.add(llvm.AddOp, (acc, sums), acc.type) if only_sums else sums)


_INTEGER: dict[CombiningKindFlag, tuple[type[Operation], type[Operation]]] = {
    CombiningKindFlag.ADD: (intr.VectorReduceAddOp, llvm.AddOp),
    CombiningKindFlag.MUL: (intr.VectorReduceMulOp, llvm.MulOp),
    CombiningKindFlag.AND: (intr.VectorReduceAndOp, llvm.AndOp),
    CombiningKindFlag.OR: (intr.VectorReduceOrOp, llvm.OrOp),
    CombiningKindFlag.XOR: (intr.VectorReduceXorOp, llvm.XOrOp),
    CombiningKindFlag.MAXSI: (intr.VectorReduceSMaxOp, intr.SMaxOp),
    CombiningKindFlag.MINSI: (intr.VectorReduceSMinOp, intr.SMinOp),
    CombiningKindFlag.MAXUI: (intr.VectorReduceUMaxOp, intr.UMaxOp),
    CombiningKindFlag.MINUI: (intr.VectorReduceUMinOp, intr.UMinOp),
}
"""Reduction of the lanes, and the operation that joins the accumulator."""

_FLOAT: dict[CombiningKindFlag, tuple[type[Operation], type[Operation]]] = {
    CombiningKindFlag.MAXNUMF: (intr.VectorReduceFMaxOp, llvm.VectorFMaxOp),
    CombiningKindFlag.MINNUMF: (intr.VectorReduceFMinOp, llvm.VectorFMinOp),
    CombiningKindFlag.MAXIMUMF: (intr.VectorReduceFMaximumOp, intr.MaximumOp),
    CombiningKindFlag.MINIMUMF: (intr.VectorReduceFMinimumOp, intr.MinimumOp),
}

_STARTED: dict[CombiningKindFlag, tuple[type[Operation], float]] = {
    CombiningKindFlag.ADD: (llvm.VectorReduceFAddOp, -0.0),
    CombiningKindFlag.MUL: (llvm.VectorReduceFMulOp, 1.0),
}
"""Reductions of floats that take the accumulator, and what stands for none."""


@RULES.rule(vector.ReductionOp)
def reduction_rule(lowering: FunctionLowering, op: vector.ReductionOp) -> None:
    """In order from the first lane to the last, unless `fastmath<reassoc>` lets LLVM do it in a tree."""
    source, type = widened(lowering, op.vector), op.dest.type
    result = element_type(source.type)
    acc = None if op.acc is None else widened(lowering, op.acc)
    kind, is_float = op.kind.data, isinstance(result, AnyFloat)
    if is_float and kind in _STARTED:
        started, nothing = _STARTED[kind]
        start = lowering.float(nothing, result) if acc is None else acc
        value = lowering.add(started, (start, source), result, flags(op.fastmath))
        lowering.set(op.dest, narrowed(lowering, value, type))
        return
    kinds = (_FLOAT if is_float else _INTEGER).get(kind)
    if kinds is None:
        raise LoweringError(op, f"there is no reduction '{kind}' of {op.vector.type}")
    properties = flags(op.fastmath) if is_float else None
    value = lowering.add(kinds[0], (source,), result, properties)
    joined = value if acc is None else lowering.add(kinds[1], (value, acc), result, properties)
    lowering.set(op.dest, narrowed(lowering, joined, type))
