"""Reductions along neighbours in vectors: each lane adds up a part of the steps, and the lanes are put together last.

A serial loop over the steps of one reduction that is annotated with `lanes` takes so many steps at a time. Up to four
vectors of partial results are kept, so that no step waits for the one before; what the last, partial vector lacks is
masked off, and counts for nothing.

```mlir
tir.for %k = 0 to 77 annotations {lanes = 16} { tir.block @sum(...) { s += x[k] } }

%a0 = x[0:16], %a1 = x[16:32], %a2 = x[32:48], %a3 = x[48:64]
%a0 = %a0 + select(lane < 13, x[64:80], -0.0)
s = vector.reduction <add> (%a0 + %a1) + (%a2 + %a3), s
```

LLVM's vectoriser would take what is left over one by one, which costs as much as some hundred steps of vectors.

Does not: reductions of several results, those whose result depends on the order (floats are added up in any order under
`fastmath<reassoc>` only), or of what does not lie side by side; their loops stay as they are, and a remark says why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import cast

from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    i1,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.extensions import arith as arith_extensions
from ...dialects.support.interned import index, vector_of
from ...dialects.tir.affine import linear, uses
from ...dialects.tir.core import BlockOp, ForOp, IterKind
from ...dialects.tir.symbols import as_affine
from ..loops_to_llvm.function import uniform
from .accesses import AccessEmitter
from .block_bodies import BodyEmitter
from .lanes import Lanes
from .vectorization import why_steps_differ

PARTS = 4
"""Vectors of partial results: as many as a sum takes cycles, or nearly so."""
MOST_STRAIGHT = 8
"""Vectors of steps up to which there is no loop over them."""


@dataclass(frozen=True)
class Combination:
    """An operation that puts partial results together, and what counts for nothing in it, of floats and of integers of
    so many bits."""

    kind: CombiningKindFlag
    of_floats: float = 0.0
    of_integers: Callable[[int], int] = lambda bits: 0
    needs_reassoc: bool = False


COMBINATIONS: dict[type[Operation], Combination] = {
    arith.AddfOp: Combination(CombiningKindFlag.ADD, -0.0, needs_reassoc=True),
    arith.MulfOp: Combination(CombiningKindFlag.MUL, 1.0, needs_reassoc=True),
    arith.MaximumfOp: Combination(CombiningKindFlag.MAXIMUMF, -inf),
    arith.MinimumfOp: Combination(CombiningKindFlag.MINIMUMF, inf),
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

    def neutral(self, width: int) -> arith.ConstantOp:
        """A vector of what counts for nothing."""
        element = self.combine.results[0].type
        type = vector_of(element, width)
        if isinstance(element, IntegerType):
            value = uniform(IntegerAttr(self.combination.of_integers(element.bitwidth), element.bitwidth), type)
        else:
            value = uniform(FloatAttr(self.combination.of_floats, cast(AnyFloat, element)), type)
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
    if COMBINATIONS[type(combine)].needs_reassoc and not _may_reassociate(combine):
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


def _may_reassociate(op: Operation) -> bool:
    flags = op.properties.get("fastmath")
    return isinstance(flags, arith.FastMathFlagsAttr) and FastMathFlag.REASSOC in flags.data


class LaneReductionEmitter:
    """Appends loops over the steps of reductions, a vector of them at a time."""

    def __init__(self, accesses: AccessEmitter, bodies: BodyEmitter):
        self.at = accesses.at
        self.accesses = accesses
        self.bodies = bodies

    def emit(self, loop: ForOp, width: int) -> str | None:
        """Append `loop` with `width` steps at a time; does nothing but say why where that cannot be."""
        found = lane_reduction_of(loop)
        if isinstance(found, str):
            return found
        if loop.start != 0:
            return f"the loop starts at {loop.start}"
        dim = self.at.dim(loop.var)
        bindings = self.at.bindings(found.block)
        if any(k != IterKind.REDUCE and uses(b, dim) for k, b in zip(found.block.kinds, bindings, strict=True)):
            return "the loop moves what it writes"
        lanes = Lanes(dim, width, is_open=True, is_exact=True)
        if (reason := why_steps_differ(found.block, lanes, self.accesses)) is not None:
            return reason
        _Emission(self, found, loop, dim, bindings, width).emit()
        return None


class _Emission:
    """The emission of one loop."""

    def __init__(
        self,
        emitter: LaneReductionEmitter,
        found: LaneReduction,
        loop: ForOp,
        dim: AffineExpr,
        bindings: Sequence[AffineExpr],
        width: int,
    ):
        self.at, self.accesses, self.bodies = emitter.at, emitter.accesses, emitter.bodies
        self.found, self.loop, self.dim, self.width = found, loop, dim, width
        self.type = vector_of(found.combine.results[0].type, width)
        self.bindings = bindings

    def emit(self) -> None:
        with self.at.into(self.at.block):
            parts = self._of_known(self.loop.size) if isinstance(self.loop.size, int) else self._of_open()
        while len(parts) > 1:
            joined = [self._combined(one, other) for one, other in zip(parts[::2], parts[1::2], strict=False)]
            parts = joined + parts[2 * len(joined) :]
        iters: dict[SSAValue, AffineExpr] = dict(zip(self.found.block.body.block.args, self.bindings, strict=True))
        buffer, form = self.accesses.position(self.found.store, iters)
        assert form is not None
        place, type = self.at.index_value(form), buffer.element_type
        so_far = self.at.emit(memref.LoadOp.create(operands=(buffer.memory, place), result_types=(type,)))
        properties: dict[str, Attribute] = {"kind": CombiningKindAttr(self.found.combination.kind)}
        properties["fastmath"] = self.found.combine.properties.get("fastmath", arith_extensions.NO_FLAGS)
        whole = vector.ReductionOp.create(operands=(parts[0], so_far), result_types=(type,), properties=properties)
        self.at.insert(memref.StoreOp.create(operands=(self.at.emit(whole), buffer.memory, place)))

    def _of_known(self, steps: int) -> list[SSAValue]:
        """The partial results of a known number of steps."""
        width = self.width
        whole, rest = divmod(steps, width)
        parts: list[SSAValue] = []
        looped = whole - whole % PARTS if whole + (rest > 0) > MOST_STRAIGHT else 0
        if looped:
            initial = [self.at.emit(self.found.neutral(width)) for _ in range(PARTS)]
            parts = self._loop(self.at.constant(0), self.at.constant(looped * width), initial)
        for number in range(looped, whole + (rest > 0)):
            mask = None if number < whole else self._known_mask(rest)
            self._add(parts, number, self._step(self.at.constant(number * width), mask))
        return parts or [self.at.emit(self.found.neutral(width))]

    def _of_open(self) -> list[SSAValue]:
        """The partial results of as many steps as there are when it is called."""
        width = self.width
        steps = self.at.extent(self.loop.size)
        initial = [self.at.emit(self.found.neutral(width)) for _ in range(PARTS)]
        most = linear(as_affine(self.loop.size) // (PARTS * width) * (PARTS * width), self.at.ranges)
        by_parts = self.at.emit(arith.MaxSIOp(self.at.index_value(most), self.at.constant(0)))
        parts = self._loop(self.at.constant(0), by_parts, initial)
        whole = linear(as_affine(self.loop.size) // width * width, self.at.ranges)
        by_one = self.at.emit(arith.MaxSIOp(self.at.index_value(whole), self.at.constant(0)))
        parts[:1] = self._loop(by_parts, by_one, parts[:1])
        left = self.at.emit(arith.SubiOp(steps, by_one))
        type = VectorType(i1, [width])
        mask = self.at.emit(vector.CreateMaskOp.build(operands=[[left]], result_types=[type]))
        parts[0] = self._combined(parts[0], self._step(by_one, mask))
        return parts

    def _known_mask(self, lanes: int) -> SSAValue:
        type = VectorType(i1, [self.width])
        bits = [int(lane < lanes) for lane in range(self.width)]
        return self.at.emit(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type, bits)))

    def _add(self, parts: list[SSAValue], number: int, step: SSAValue) -> None:
        if len(parts) < PARTS:
            parts.append(step)
        else:
            parts[number % PARTS] = self._combined(parts[number % PARTS], step)

    def _loop(self, begin: SSAValue, end: SSAValue, initial: Sequence[SSAValue]) -> list[SSAValue]:
        """A loop that adds a vector to each of some partial results in an iteration."""
        body = Block(arg_types=[index, *(self.type for _ in initial)])
        body.args[0].name_hint = self.loop.var.name_hint
        with self.at.into(body):
            added: list[SSAValue] = []
            for number, part in enumerate(body.args[1:]):
                first = body.args[0]
                if number:
                    first = self.at.emit(arith.AddiOp(first, self.at.constant(number * self.width)))
                added.append(self._combined(part, self._step(first, None)))
            self.at.insert(scf.YieldOp(*added))
        step = self.at.constant(len(initial) * self.width)
        loop = scf.ForOp(begin, end, step, list(initial), Region(body))
        self.at.insert(loop)
        return list(loop.results)

    def _step(self, first: SSAValue, mask: SSAValue | None) -> SSAValue:
        """The steps from `first` on as a vector; where a mask has no bit, what counts for nothing."""
        lanes = Lanes(self.dim, self.width, is_open=mask is not None, mask=mask, is_exact=True, first=first)
        step = self.bodies.value(self.found.block.body.block, self.bindings, self.found.step, lanes)
        step = self.accesses.broadcast(step, self.width)
        if mask is None:
            return step
        neutral = self.at.emit(self.found.neutral(self.width))
        chosen = arith_extensions.SelectOp.create(operands=(mask, step, neutral), result_types=(self.type,))
        return self.at.emit(chosen)

    def _combined(self, one: SSAValue, other: SSAValue) -> SSAValue:
        combine = self.found.combine
        properties = dict(combine.properties)
        made = type(combine).create(operands=(one, other), result_types=(self.type,), properties=properties)
        return self.at.emit(made)
