"""Reductions along neighbours in vectors: each lane adds up a part of the steps, and the lanes are put together last.

A serial loop over the steps of one reduction that is annotated with `lanes` takes so many steps at a time. Up to four
vectors of partial results are kept, so that no step waits for the one before; what the last, partial vector lacks
counts for nothing.

```mlir
tir.for %k = 0 to 77 annotations {lanes = 16} { tir.block @sum(...) { s += x[k] } }

%a0 = x[0:16], %a1 = x[16:32], %a2 = x[32:48], %a3 = x[48:64]
%a0 = %a0 + (x[64:77], -0.0, -0.0, -0.0)
s = vector.reduction <add> (%a0 + %a1) + (%a2 + %a3), s
```

LLVM's vectoriser would take what is left over one by one, which costs as much as some hundred steps of vectors. Loops
around it that are steps of the same reduction, as where two axes are reduced of which one lies between, carry the
partial results: the lanes are put together once.

A maximum of floats that is a NaN where any step is one takes three instructions of most processors, each of which waits
for the one before. So the greatest numbers are found by themselves, in one, and beside them whether there are NaNs:

    %m = select(x[0:16] > %m, x[0:16], %m)
    %n = select(x[0:16] uno x[16:32], NaN, %n)

Does not: reductions of several results, those whose result depends on the order (floats are added up in any order under
`fastmath<reassoc>` only), or of what does not lie side by side; their loops stay as they are, and a remark says why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from typing import cast

from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    VectorType,
    i1,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.extensions import arith as arith_extensions
from ...dialects.support.interned import index, long_array, vector_of
from ...dialects.support.vector_types import element_type
from ...dialects.tir.affine import linear, uses
from ...dialects.tir.core import ForOp, IterKind
from ...dialects.tir.symbols import as_affine
from .accesses import AccessEmitter
from .block_bodies import BodyEmitter
from .lane_combinations import LaneReduction, lane_reduction_of
from .lanes import Lanes
from .vectorization import why_steps_differ

PARTS = 4
"""Vectors of partial results: as many as a sum takes cycles, or nearly so."""
MOST_STRAIGHT = 8
"""Vectors of steps up to which there is no loop over them."""


class LaneReductionEmitter:
    """Appends loops over the steps of reductions, a vector of them at a time."""

    def __init__(self, accesses: AccessEmitter, bodies: BodyEmitter):
        self.at = accesses.at
        self.accesses = accesses
        self.bodies = bodies

    def emit(self, loop: ForOp, width: int, around: Sequence[ForOp] = ()) -> str | None:
        """Append `loop`, and the loops `around` it, with `width` steps at a time; does nothing but say why where that
        cannot be."""
        found = lane_reduction_of(loop)
        if isinstance(found, str):
            return found
        if loop.start != 0:
            return f"the loop starts at {loop.start}"
        dim = self.at.dim(loop.var)
        dims = [dim, *(self.at.dim(each.var) for each in around)]
        bindings = self.at.bindings(found.block)
        written = [b for k, b in zip(found.block.kinds, bindings, strict=True) if k != IterKind.REDUCE]
        if any(uses(binding, each) for binding in written for each in dims):
            return "the loop moves what it writes"
        lanes = Lanes(dim, width, is_open=True, is_exact=True)
        if (reason := why_steps_differ(found.block, lanes, self.accesses)) is not None:
            return reason
        _Emission(self, found, loop, dim, bindings, width).emit(around)
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

    def emit(self, around: Sequence[ForOp]) -> None:
        with self.at.into(self.at.block):
            parts = self._within(around, _Results(self)).finished()
        while len(parts) > 1:
            joined = [self.combined(one, other) for one, other in zip(parts[::2], parts[1::2], strict=False)]
            parts = joined + parts[2 * len(joined) :]
        iters: dict[SSAValue, AffineExpr] = dict(zip(self.found.block.body.block.args, self.bindings, strict=True))
        buffer, form = self.accesses.position(self.found.store, iters)
        assert form is not None
        place, type = self.at.index_value(form), buffer.element_type
        so_far = self.at.emit(memref.LoadOp.create(operands=(buffer.memory, place), result_types=(type,)))
        whole = self._joined(parts[0], so_far)
        self.at.insert(memref.StoreOp.create(operands=(whole, buffer.memory, place)))

    def _joined(self, lanes: SSAValue, so_far: SSAValue) -> SSAValue:
        """All lanes of a vector and the result so far."""
        found, flags = self.found, self.found.combine.properties.get("fastmath", arith_extensions.NO_FLAGS)
        numbers = found.combination.of_numbers
        if numbers is None or not found.is_apart_from_nans:
            return self._reduced(found.combination.kind, lanes, flags, so_far)
        nothing = self.at.emit(found.neutral(self.width))
        are_nans = self.at.emit(arith_extensions.CmpfOp(lanes, lanes, "uno"))
        known = self.chosen(are_nans, nothing, lanes)
        no = self.at.emit(arith.ConstantOp(IntegerAttr(0, i1)))
        any_nan = self._reduced(CombiningKindFlag.OR, are_nans, arith_extensions.NO_FLAGS, no)
        only_numbers = arith.FastMathFlagsAttr([FastMathFlag.NO_NANS, FastMathFlag.NO_SIGNED_ZEROS])
        least = self.at.emit(
            arith.ConstantOp(FloatAttr(found.combination.of_floats, cast(AnyFloat, element_type(lanes.type))))
        )
        extreme = self._reduced(numbers, known, only_numbers, least)
        not_a_number = self.at.emit(arith.ConstantOp(FloatAttr(nan, cast(AnyFloat, extreme.type))))
        combine = type(found.combine).create(
            operands=(self.at.emit(arith.SelectOp(any_nan, not_a_number, extreme)), so_far),
            result_types=(extreme.type,),
            properties=dict(found.combine.properties),
        )
        return self.at.emit(combine)

    def _reduced(self, kind: CombiningKindFlag, lanes: SSAValue, flags: Attribute, so_far: SSAValue) -> SSAValue:
        return self.at.emit(
            vector.ReductionOp.create(
                operands=(lanes, so_far),
                result_types=(element_type(lanes.type),),
                properties={"kind": CombiningKindAttr(kind), "fastmath": flags},
            )
        )

    def chosen(self, condition: SSAValue, one: SSAValue, other: SSAValue) -> SSAValue:
        select = arith_extensions.SelectOp.create(operands=(condition, one, other), result_types=(one.type,))
        return self.at.emit(select)

    def _within(self, around: Sequence[ForOp], results: _Results) -> _Results:
        """`results` and all steps of the loops `around`, outermost first, and of the loop itself."""
        steps = self.loop.size
        if not around:
            return self._of_known(steps, results) if isinstance(steps, int) else self._of_open(results)
        outer, *others = around
        begin = self.at.constant(outer.start)
        end = self.at.index_value(linear(as_affine(outer.size) + outer.start, self.at.ranges))
        results.fill(max(1, min(PARTS, -(-steps // self.width))) if isinstance(steps, int) else PARTS)

        def step(first: SSAValue, results: _Results) -> _Results:
            first.name_hint = outer.var.name_hint
            self.at.index_values[self.at.dim(outer.var)] = first
            return self._within(others, results)

        return self._loop(begin, end, 1, results, step)

    def _of_known(self, steps: int, results: _Results) -> _Results:
        """`results` and a known number of steps."""
        width = self.width
        whole, rest = divmod(steps, width)
        looped = whole - whole % PARTS if whole + (rest > 0) > MOST_STRAIGHT else 0
        if looped:
            results.fill(PARTS)
            results = self._loop(self.at.constant(0), self.at.constant(looped * width), PARTS * width, results)
        for number in range(looped, whole + (rest > 0)):
            first = self.at.constant(number * width)
            results.add(number % PARTS, self._step(first, None) if number < whole else self._last(first, rest))
        return results

    def _of_open(self, results: _Results) -> _Results:
        """`results` and as many steps as there are when it is called."""
        width = self.width
        steps = self.at.extent(self.loop.size)
        results.fill(PARTS)
        most = linear(as_affine(self.loop.size) // (PARTS * width) * (PARTS * width), self.at.ranges)
        by_parts = self.at.emit(arith.MaxSIOp(self.at.index_value(most), self.at.constant(0)))
        results = self._loop(self.at.constant(0), by_parts, PARTS * width, results)
        whole = linear(as_affine(self.loop.size) // width * width, self.at.ranges)
        by_one = self.at.emit(arith.MaxSIOp(self.at.index_value(whole), self.at.constant(0)))
        results = self._loop(by_parts, by_one, width, results)
        left = self.at.emit(arith.SubiOp(steps, by_one))
        type = VectorType(i1, [width])
        mask = self.at.emit(vector.CreateMaskOp.build(operands=[[left]], result_types=[type]))
        results.add(0, self._step(by_one, mask))
        return results

    def _last(self, first: SSAValue, count: int) -> SSAValue:
        """The last steps, fewer than there are lanes, as a vector whose other lanes count for nothing. They are read by
        a load as wide as the stores of vectorised loops over the same steps are (`Lanes.width`): a wider one would find
        what was just stored only when it has reached the cache."""
        lanes = Lanes(self.dim, count, is_exact=True, first=first)
        step = self.bodies.value(self.found.block.body.block, self.bindings, self.found.step, lanes)
        step = self.accesses.broadcast(step, lanes.width)
        neutral = self.at.emit(self.found.neutral(lanes.width))
        places = [lane if lane < count else lanes.width for lane in range(self.width)]
        shuffle = vector.ShuffleOp.create(
            operands=(step, neutral), result_types=(self.type,), properties={"mask": long_array(*places)}
        )
        return self.at.emit(shuffle)

    def _loop(
        self,
        begin: SSAValue,
        end: SSAValue,
        by: int,
        results: _Results,
        step: Callable[[SSAValue, _Results], _Results] | None = None,
    ) -> _Results:
        """A loop that adds what `step` does to `results`: by default `by` steps, a vector to each of as many parts."""
        initial = results.finished()
        body = Block(arg_types=[index, *(self.type for _ in initial)])
        body.args[0].name_hint = self.loop.var.name_hint
        with self.at.into(body):
            within, first = _Results(self, body.args[1:]), body.args[0]
            if step is not None:
                within = step(first, within)
            for number in range(by // self.width if step is None else 0):
                offset = self.at.constant(number * self.width)
                place = self.at.emit(arith.AddiOp(first, offset)) if number else first
                within.add(number, self._step(place, None))
            self.at.insert(scf.YieldOp(*within.finished()))
        loop = scf.ForOp(begin, end, self.at.constant(by), initial, Region(body))
        self.at.insert(loop)
        return _Results(self, loop.results)

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

    def combined(self, one: SSAValue, other: SSAValue) -> SSAValue:
        """Two partial results put together."""
        combine = self.found.combine
        properties = dict(combine.properties)
        made = type(combine).create(operands=(one, other), result_types=(self.type,), properties=properties)
        return self.at.emit(made)


class _Results:
    """Partial results: vectors of what steps have been put together so far and, of an extreme that is found apart from
    NaNs, one with a NaN in each lane that has met one."""

    def __init__(self, emission: _Emission, carried: Sequence[SSAValue] = ()):
        self.emission = emission
        self.parts = list(carried)
        self.nans = self.parts.pop() if carried and emission.found.is_apart_from_nans else None
        self.unseen: SSAValue | None = None
        """A step that has not been looked at for NaNs: two are compared at a time."""

    def fill(self, count: int) -> None:
        """Let there be so many parts."""
        while len(self.parts) < count:
            self.parts.append(self._nothing())

    def add(self, number: int, step: SSAValue) -> None:
        """Put a step together with the part of this number, or let it be the next one."""
        if number >= len(self.parts):
            self.parts.append(step)
        else:
            self.parts[number] = self._with_step(self.parts[number], step)
        if not self.emission.found.is_apart_from_nans:
            return
        if self.unseen is None:
            self.unseen = step
        else:
            self._look(self.unseen, step)

    def finished(self) -> list[SSAValue]:
        """All vectors: at least one, and as many however many steps were added."""
        self.fill(1)
        if not self.emission.found.is_apart_from_nans:
            return self.parts
        if self.unseen is not None:
            self._look(self.unseen, self.unseen)
        if self.nans is None:
            self.nans = self._nothing()
        return [*self.parts, self.nans]

    def _nothing(self) -> SSAValue:
        return self.emission.at.emit(self.emission.found.neutral(self.emission.width))

    def _with_step(self, part: SSAValue, step: SSAValue) -> SSAValue:
        emission, beyond = self.emission, self.emission.found.combination.beyond
        if beyond is None or not emission.found.is_apart_from_nans:
            return emission.combined(part, step)
        return emission.chosen(emission.at.emit(arith_extensions.CmpfOp(step, part, beyond)), step, part)

    def _look(self, one: SSAValue, other: SSAValue) -> None:
        """Note whether there are NaNs in two steps."""
        emission = self.emission
        not_a_number = emission.at.emit(emission.found.filled(nan, emission.width))
        are_nans = emission.at.emit(arith_extensions.CmpfOp(one, other, "uno"))
        self.nans = emission.chosen(are_nans, not_a_number, self.nans or self._nothing())
        self.unseen = None
