"""What a reduction puts together, and how: the operations by which it can be taken in lanes (`lane_reductions`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.dialects.utils import FastMathFlag
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Operation, SSAValue

from ...dialects.support.interned import vector_of
from ...dialects.tir.core import BlockOp, ForKind, ForOp
from ..loops_to_llvm.function import uniform


@dataclass(frozen=True)
class Combination:
    """An operation that puts partial results together, and what counts for nothing in it, of floats and of integers of
    so many bits."""

    kind: CombiningKindFlag
    of_floats: float = 0.0
    of_integers: Callable[[int], int] = lambda bits: 0
    needs_reassoc: bool = False
    beyond: str | None = None
    """The comparison by which a step takes the place of the result so far, where a NaN stays one."""
    of_numbers: CombiningKindFlag | None = None
    """The same where no step is a NaN."""


COMBINATIONS: dict[type[Operation], Combination] = {
    arith.AddfOp: Combination(CombiningKindFlag.ADD, -0.0, needs_reassoc=True),
    arith.MulfOp: Combination(CombiningKindFlag.MUL, 1.0, needs_reassoc=True),
    arith.MaximumfOp: Combination(CombiningKindFlag.MAXIMUMF, -inf, beyond="ogt", of_numbers=CombiningKindFlag.MAXNUMF),
    arith.MinimumfOp: Combination(CombiningKindFlag.MINIMUMF, inf, beyond="olt", of_numbers=CombiningKindFlag.MINNUMF),
    arith.AddiOp: Combination(CombiningKindFlag.ADD),
    arith.MuliOp: Combination(CombiningKindFlag.MUL, of_integers=lambda bits: 1),
    arith.MaxSIOp: Combination(CombiningKindFlag.MAXSI, of_integers=lambda bits: -(1 << (bits - 1))),
    arith.MinSIOp: Combination(CombiningKindFlag.MINSI, of_integers=lambda bits: (1 << (bits - 1)) - 1),
    arith.MaxUIOp: Combination(CombiningKindFlag.MAXUI),
    arith.MinUIOp: Combination(CombiningKindFlag.MINUI, of_integers=lambda bits: -1),
}


@dataclass(frozen=True)
class LaneReduction:
    """A block that puts the steps of a loop together: what it stores, what it reads of that so far, the step, and the
    operation that combines both."""

    block: BlockOp
    store: memref.StoreOp
    so_far: memref.LoadOp
    step: SSAValue
    combine: Operation

    @property
    def combination(self) -> Combination:
        return COMBINATIONS[type(self.combine)]

    @property
    def is_apart_from_nans(self) -> bool:
        """Whether extremes of numbers and NaNs are found by themselves: where the sign of a zero does not count."""
        return self.combination.beyond is not None and _has_flag(self.combine, FastMathFlag.NO_SIGNED_ZEROS)

    def neutral(self, width: int) -> arith.ConstantOp:
        """A vector of what counts for nothing."""
        element = self.combine.results[0].type
        type = vector_of(element, width)
        if isinstance(element, IntegerType):
            value = uniform(IntegerAttr(self.combination.of_integers(element.bitwidth), element.bitwidth), type)
            return arith.ConstantOp.create(result_types=(type,), properties={"value": value})
        return self.filled(self.combination.of_floats, width)

    def filled(self, number: float, width: int) -> arith.ConstantOp:
        """A vector of one float."""
        element = cast(AnyFloat, self.combine.results[0].type)
        type = vector_of(element, width)
        value = uniform(FloatAttr(number, element), type)
        return arith.ConstantOp.create(result_types=(type,), properties={"value": value})


def lane_reduction_of(loop: ForOp) -> LaneReduction | str:
    """The reduction whose steps are those of `loop`; or why it cannot be taken in lanes."""
    block = loop.body.block.first_op
    if not isinstance(block, BlockOp) or block.next_op is not None:
        return "the loop holds something else than one block"
    if block.init is not None or block.conditions:
        return "the reduction has an init or a predicate"
    stores = [access.op for access in block.accesses() if access.is_write]
    if len(stores) != 1 or not isinstance(store := stores[0], memref.StoreOp) or store.parent is not block.body.block:
        return "it has several results"
    combine = store.value.owner
    if not isinstance(combine, Operation) or type(combine) not in COMBINATIONS or len(list(store.value.uses)) != 1:
        return "it combines its steps by no known operation"
    if COMBINATIONS[type(combine)].needs_reassoc and not _has_flag(combine, FastMathFlag.REASSOC):
        return "its result depends on the order of its steps"
    element = store.value.type
    if isinstance(element, IntegerType) and element.bitwidth < 8:
        return "its result is a bit"
    mine = [access.op for access in block.accesses() if access.buffer is store.memref and not access.is_write]
    if len(mine) != 1 or not isinstance(so_far := mine[0], memref.LoadOp) or len(list(so_far.res.uses)) != 1:
        return "it reads its result elsewhere, too"
    if list(so_far.indices) != list(store.indices) or so_far.res not in combine.operands:
        return "it combines something else than its result so far"
    first, second = combine.operands
    return LaneReduction(block, store, so_far, second if first is so_far.res else first, combine)


def _has_flag(op: Operation, flag: FastMathFlag) -> bool:
    flags = op.properties.get("fastmath")
    return isinstance(flags, arith.FastMathFlagsAttr) and flag in flags.data


def reduction_nest(loop: ForOp) -> tuple[list[ForOp], ForOp] | None:
    """The loops from `loop` on, each of which holds nothing but the next, down to one that is taken in lanes."""
    around: list[ForOp] = []
    while loop.lanes is None and loop.for_kind == ForKind.SERIAL and not loop.is_rolled:
        inner = loop.body.block.first_op
        if not isinstance(inner, ForOp) or inner.next_op is not None:
            return None
        around.append(loop)
        loop = inner
    return (around, loop) if loop.lanes is not None and loop.for_kind == ForKind.SERIAL else None
