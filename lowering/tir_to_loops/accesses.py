"""Loads and stores of elements, or of vectors of them, in flat buffers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import cast

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ...dialects.support.hints import isa
from ...dialects.support.interned import long_array, vector_of
from ...dialects.tir.affine import Linear, Range, access_map, affine_of, linear
from ...dialects.tir.symbols import as_affine
from ...transforms.tir.analysis.strides import CLOSE
from ..loops_to_llvm.function import uniform
from .flat_buffers import FlatBuffer
from .index_values import IndexBuilder
from .lanes import Lanes


class AccessEmitter:
    """Reads and writes the flat memory of `buffers`."""

    def __init__(self, at: IndexBuilder, buffers: dict[SSAValue, FlatBuffer]):
        self.at = at
        self.buffers = buffers
        self._positions: dict[Operation, tuple[FlatBuffer, Linear | None]] = {}

    def position(
        self, op: memref.LoadOp | memref.StoreOp, iters: Mapping[SSAValue, AffineExpr]
    ) -> tuple[FlatBuffer, Linear | None]:
        """The buffer that an access touches, and where, if that follows from the iterators: what these are bound to is
        the same whenever an access is asked about."""
        if (known := self._positions.get(op)) is None:
            buffer, map = self.buffers[op.memref], access_map(op, list(iters))
            form = None if map is None else buffer.position(map, list(iters.values()), self.at.ranges)
            known = self._positions[op] = (buffer, form)
        return known

    def step_beside(
        self, op: memref.LoadOp, iters: Mapping[SSAValue, AffineExpr], dim: AffineExpr, unknown: Collection[SSAValue]
    ) -> int | None:
        """How far one step along `dim` moves a read, some of whose indices follow from data or by more than sums and
        quotients; `None` where that is not the same everywhere, or one of these is among the `unknown`."""
        total = 0
        for value, stride in zip(op.indices, self.buffers[op.memref].strides, strict=True):
            expr = affine_of(value, iters)
            if expr is None and value in unknown:
                return None
            step = 0 if expr is None else linear(expr, self.at.ranges).step(dim)
            if step is None or (step and not isinstance(stride, int)):
                return None
            total += step * stride if isinstance(stride, int) else 0
        return total

    def data_dependent(self, buffer: FlatBuffer, indices: Sequence[SSAValue]) -> SSAValue:
        """The flat position of an element whose indices are known when it runs."""
        total = self.at.index_value(linear(buffer.start, self.at.ranges))
        for term, stride, offset in zip(indices, buffer.strides, buffer.offsets, strict=True):
            assert offset == AffineConstantExpr(0), "a data-dependent access is to a whole buffer"
            if stride != 1:
                step = self.at.index_value(linear(as_affine(stride)))
                term = self.at.emit(arith.MuliOp(term, step))
            total = self.at.emit(arith.AddiOp(total, term))
        return total

    def load(self, buffer: FlatBuffer, form: Linear, lanes: Lanes | None) -> SSAValue:
        """The element at `form`; a vector of them where they differ from lane to lane."""
        if lanes is None or lanes.dim not in form.terms:
            return self._element(buffer, self.at.index_value(form))
        start, step = self.first_of(form, lanes), form.terms[lanes.dim]
        return self.load_lanes(buffer, start, step, lanes, whole=_is_whole(buffer, form, lanes))

    def first_of(self, form: Linear, lanes: Lanes) -> SSAValue:
        """An index expression in the first of the lanes."""
        others, step = form.without(lanes.dim), form.terms.get(lanes.dim, 0)
        if lanes.first is None or not step:
            return self.at.index_value(others)
        first = lanes.first if step == 1 else self.at.emit(arith.MuliOp(lanes.first, self.at.constant(step)))
        is_first = not others.terms and not others.constant
        return first if is_first else self.at.emit(arith.AddiOp(self.at.index_value(others), first))

    def load_lanes(
        self, buffer: FlatBuffer, start: SSAValue, step: int, lanes: Lanes, *, whole: bool = False
    ) -> SSAValue:
        """A vector of the elements from `start` on, each `step` after the one before. `whole` says that there are
        elements for all lanes, whatever they mean."""
        type = vector_of(buffer.element_type, lanes.width)
        if 1 < step <= CLOSE and not lanes.is_open and (lanes.extent - 1) * step + 1 >= lanes.width:
            return self._picked(buffer, start, step, type, lanes)
        if step != 1:
            return self._gather(buffer, start, step, type, lanes)
        if not lanes.is_masked or (whole and not lanes.is_exact):
            return self.at.emit(vector.LoadOp.create(operands=(buffer.memory, start), result_types=(type,)))
        passthrough = self.at.emit(arith.ConstantOp(_zeros(type)))
        return self.at.emit(vector.MaskedLoadOp(buffer.memory, [start], self._mask(lanes), passthrough, type))

    def _element(self, buffer: FlatBuffer, position: SSAValue) -> SSAValue:
        op = memref.LoadOp.create(operands=(buffer.memory, position), result_types=(buffer.element_type,))
        return self.at.emit(op)

    def _picked(
        self, buffer: FlatBuffer, start: SSAValue, step: int, type: VectorType[Attribute], lanes: Lanes
    ) -> SSAValue:
        """A vector of elements `step` apart, picked from vectors of all elements between the first and the last, none
        of which reaches beyond."""
        width, span = lanes.width, (lanes.extent - 1) * step + 1
        starts = [*range(0, span - width, width), span - width]
        places = [min(lane, lanes.extent - 1) * step for lane in range(width)]
        held = [max(n for n, first in enumerate(starts) if first <= place) for place in places]
        picked: SSAValue | None = None
        for number, first in enumerate(starts):
            place = self.at.emit(arith.AddiOp(start, self.at.constant(first))) if first else start
            part = self.at.emit(vector.LoadOp.create(operands=(buffer.memory, place), result_types=(type,)))
            if picked is None:
                picked, kept = part, places
                if len(starts) > 1:
                    continue
            else:
                kept = places if number == 1 else range(width)
            mask = [
                width + place - first if of == number else keeping if of < number else 0
                for of, place, keeping in zip(held, places, kept, strict=True)
            ]
            shuffle = vector.ShuffleOp.create(
                operands=(picked, part), result_types=(type,), properties={"mask": long_array(*mask)}
            )
            picked = self.at.emit(shuffle)
        assert picked is not None
        return picked

    def _gather(
        self, buffer: FlatBuffer, start: SSAValue, step: int, type: VectorType[Attribute], lanes: Lanes
    ) -> SSAValue:
        """A vector of elements `step` apart, put together one by one."""
        gathered = self.at.emit(arith.ConstantOp(_zeros(type)))
        for lane in range(lanes.extent):
            position = self.at.emit(arith.AddiOp(start, self.at.constant(lane * step))) if lane else start
            element = self._element(buffer, position)
            gathered = self.at.emit(
                vector.InsertOp.build(
                    operands=[element, gathered, []],
                    result_types=[type],
                    properties={"static_position": DenseArrayBase.from_list(i64, [lane])},
                )
            )
        return gathered

    def store(self, value: SSAValue, buffer: FlatBuffer, form: Linear, lanes: Lanes | None) -> None:
        """Write an element at `form`, or one for each lane."""
        if lanes is None:
            self.at.insert(memref.StoreOp.create(operands=(value, buffer.memory, self.at.index_value(form))))
            return
        start = self.first_of(form, lanes)
        wide = self.broadcast(value, lanes.width)
        if lanes.is_masked and not _ends_row(buffer, form, lanes, self.at.ranges):
            self.at.insert(vector.MaskedStoreOp(buffer.memory, [start], self._mask(lanes), wide))
        else:
            self.at.insert(vector.StoreOp.create(operands=(wide, buffer.memory, start)))

    def broadcast(self, value: SSAValue, width: int) -> SSAValue:
        """A vector with `value` in all lanes, or `value`, if it is a vector already."""
        if isinstance(value.type, VectorType):
            return value
        type = vector_of(value.type, width)
        return self.at.emit(vector.BroadcastOp.create(operands=(value,), result_types=(type,)))

    def _mask(self, lanes: Lanes) -> SSAValue:
        if lanes.mask is not None:
            return lanes.mask
        bits = [int(lane < lanes.extent) for lane in range(lanes.width)]
        return self.at.emit(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(VectorType(i1, [lanes.width]), bits)))


def _is_whole(buffer: FlatBuffer, form: Linear, lanes: Lanes) -> bool:
    """Whether a buffer has elements for all lanes of the vector at `form`, with those that mean nothing."""
    return buffer.rows is not None and buffer.rows.hold(form.without(lanes.dim), lanes.width)


def _ends_row(buffer: FlatBuffer, form: Linear, lanes: Lanes, ranges: Mapping[AffineExpr, Range]) -> bool:
    """Whether nothing that means anything stands in the row behind the lanes at `form`, and there is room for all. What
    is stored without a mask is at hand for loads that soon follow it."""
    rows, start = buffer.rows, form.without(lanes.dim)
    if rows is None or not rows.hold(start, lanes.width):
        return False
    if not lanes.is_open or rows.is_one_vector:
        return rows.end_with(start, lanes.extent)
    if lanes.trips is None or isinstance(rows.length, int):
        return False
    end = start.to_expr() + lanes.trips
    return linear(end - buffer.start - as_affine(rows.length), ranges) == Linear({}, 0)


def _zeros(type: VectorType[Attribute]) -> IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr:
    element = type.element_type
    zero = IntegerAttr(0, element) if isa(element, IntegerType) else FloatAttr(0.0, cast(AnyFloat, element))
    return uniform(zero, type)
