"""Dot products of bytes: an instruction for all lanes where the target has one, arithmetic where not.

    %s = tir.dot %c + unsigned (%a0, %a1, %a2, %a3) * (%b0, %b1, %b2, %b3)      // 16 lanes, x86 with VNNI

->  %b = vector.load %B[...] : memref<...xi8>, vector<64xi8>                    // neighbours in all lanes
    %a = vector.load %A[...] : memref<...xi8>, vector<4xi8>, broadcast to 64    // the same in all lanes
    %s = rt.dot "vnni" %c, %a, %b : vector<16xi32>, vector<64xi8>

The bytes of a side are read together where they are neighbours in memory, and put together where not. x86 has products
of bytes without and with a sign; of two with a sign, 128 is added to the left ones, and so many times the right ones
taken away again. Without these, it has products of 16 bits, summed in pairs (`pmaddwd`), and bytes are made such: the
even ones and the odd ones, which the sums cannot be too large for, as they can for those of `pmaddubsw`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    VectorType,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.extensions import arith as arith_extensions
from ...dialects.rt.dots import LANES, Instruction
from ...dialects.rt.dots import DotOp as LanesDotOp
from ...dialects.support.hints import isa
from ...dialects.support.vector_types import as_vector
from ...dialects.support.vector_unit import VectorUnit
from ...dialects.tir.affine import Linear
from ...dialects.tir.dot import WIDTH, DotOp
from ..loops_to_llvm.function import uniform
from .accesses import AccessEmitter
from .lanes import Lanes

_ON_VECTORS = {op.name: op for op in arith_extensions.OPERATIONS}


def instruction_for(op: DotOp, unit: VectorUnit, lanes: Lanes | None) -> Instruction | None:
    """The instruction that does `op` for all lanes, up to the signs that `DotEmitter.emit` sees to."""
    if lanes is None or lanes.is_masked:
        return None
    match unit.dot, op.unsigned:
        case "vnni", (True, False) | (False, True) | (False, False):
            found = Instruction.VNNI
        case "dotprod", (False, False):
            found = Instruction.SDOT
        case "dotprod", (True, True):
            found = Instruction.UDOT
        case "pmaddwd", _:
            found = Instruction.PMADDWD
        case _:
            return None
    return found if lanes.width in LANES[found] and WIDTH * lanes.width <= unit.bytes else None


class DotEmitter:
    """Appends dot products, whose operands have values in `value`."""

    def __init__(self, accesses: AccessEmitter, unit: VectorUnit):
        self.at = accesses.at
        self.accesses = accesses
        self.unit = unit

    def emit(
        self,
        op: DotOp,
        iters: Mapping[SSAValue, AffineExpr],
        lanes: Lanes | None,
        value: Callable[[SSAValue], SSAValue],
        loads_stay: Callable[[memref.LoadOp], bool],
    ) -> SSAValue:
        """The dot product. `value` gives the lowered value of an operand; `loads_stay` says whether a load may be done
        here, with its neighbours."""
        acc = value(op.acc)
        found = instruction_for(op, self.unit, lanes)
        if found is None or lanes is None:
            return self._arithmetic(op, acc, value)
        sides: list[SSAValue] = []
        for side in (op.lhs, op.rhs):
            together = self._together(side, iters, lanes, loads_stay)
            sides.append(self._joined([value(v) for v in side], lanes) if together is None else together)
        acc = self.accesses.broadcast(acc, lanes.width)
        if found == Instruction.PMADDWD:
            return self._in_pairs(acc, sides, op.unsigned)
        lhs, rhs = sides[::-1] if op.unsigned == (False, True) else sides
        if found != Instruction.VNNI or op.unsigned != (False, False):
            return self.at.emit(LanesDotOp(found, acc, lhs, rhs))
        flipped = self._constant(VectorType(i8, [WIDTH * lanes.width]), -128)
        total = self.at.emit(LanesDotOp(found, acc, self.at.emit(arith.XOrIOp(lhs, flipped)), rhs))
        zero = self._constant(VectorType(i32, [lanes.width]), 0)
        return self.at.emit(arith.SubiOp(total, self.at.emit(LanesDotOp(found, zero, flipped, rhs))))

    def _in_pairs(self, acc: SSAValue, sides: Sequence[SSAValue], unsigned: Sequence[bool]) -> SSAValue:
        """The even bytes of all lanes multiplied as numbers of 16 bits, and the odd ones."""
        parts: list[tuple[SSAValue, SSAValue]] = []
        for side, has_no_sign in zip(sides, unsigned, strict=True):
            type = as_vector(side.type)
            assert type is not None
            pairs = VectorType(i16, [type.get_shape()[0] // 2])
            words, byte = self.at.emit(vector.BitcastOp(side, pairs)), self._constant(pairs, 8)
            if has_no_sign:
                even = self.at.emit(arith.AndIOp(words, self._constant(pairs, 0xFF)))
                odd = self.at.emit(arith.ShRUIOp(words, byte))
            else:
                even = self.at.emit(arith.ShRSIOp(self.at.emit(arith.ShLIOp(words, byte)), byte))
                odd = self.at.emit(arith.ShRSIOp(words, byte))
            parts.append((even, odd))
        for lhs, rhs in zip(*parts, strict=True):
            acc = self.at.emit(LanesDotOp(Instruction.PMADDWD, acc, lhs, rhs))
        return acc

    def _together(
        self,
        side: Sequence[SSAValue],
        iters: Mapping[SSAValue, AffineExpr],
        lanes: Lanes,
        loads_stay: Callable[[memref.LoadOp], bool],
    ) -> SSAValue | None:
        """The bytes of a side in all lanes, read together; `None` where they are no neighbours."""
        forms: list[Linear] = []
        buffer = memory = None
        for load in (v.owner for v in side):
            if not isinstance(load, memref.LoadOp) or not loads_stay(load):
                return None
            buffer, form = self.accesses.position(load, iters)
            memory = memory or load.memref
            if form is None or load.memref is not memory:
                return None
            forms.append(form)
        assert buffer is not None
        first = forms[0]
        if any(form != Linear(first.terms, first.constant + n) for n, form in enumerate(forms)):
            return None
        step = first.terms.get(lanes.dim, 0)
        if step not in (0, WIDTH) or not first.is_linear_in(lanes.dim):
            return None
        start = self.at.index_value(first.without(lanes.dim))
        count = WIDTH * lanes.width if step else WIDTH
        bytes = self.at.emit(vector.LoadOp(buffer.memory, [start], VectorType(i8, [count])))
        if step:
            return bytes
        words = self.at.emit(vector.BitcastOp(bytes, VectorType(i32, [1])))
        return self._everywhere(self._only(words), lanes)

    def _only(self, words: SSAValue) -> SSAValue:
        return self.at.emit(
            vector.ExtractOp.build(
                operands=[words, []],
                result_types=[i32],
                properties={"static_position": DenseArrayBase.from_list(i64, [0])},
            )
        )

    def _everywhere(self, word: SSAValue, lanes: Lanes) -> SSAValue:
        """Four bytes, or those of each lane, as bytes of all lanes."""
        wide = self.accesses.broadcast(word, lanes.width)
        return self.at.emit(vector.BitcastOp(wide, VectorType(i8, [WIDTH * lanes.width])))

    def _joined(self, bytes: Sequence[SSAValue], lanes: Lanes) -> SSAValue:
        """Four bytes for each lane put together."""
        word: SSAValue | None = None
        for number, byte in enumerate(bytes):
            part = self._extended(self.accesses.broadcast(byte, lanes.width), False)
            if number:
                part = self.at.emit(arith.ShLIOp(part, self._constant(part.type, 8 * number)))
            word = part if word is None else self.at.emit(arith.OrIOp(word, part))
        assert word is not None
        return self._everywhere(word, lanes)

    def _arithmetic(self, op: DotOp, acc: SSAValue, value: Callable[[SSAValue], SSAValue]) -> SSAValue:
        """Four products, one after the other."""
        for lhs, rhs in zip(op.lhs, op.rhs, strict=True):
            sides = [value(lhs), value(rhs)]
            vectors = [type for v in (acc, *sides) if (type := as_vector(v.type)) is not None]
            if vectors:
                (width,) = vectors[0].get_shape()
                acc, *sides = (self.accesses.broadcast(v, width) for v in (acc, *sides))
            signed = [not unsigned for unsigned in op.unsigned]
            a, b = (self._extended(v, signed) for v, signed in zip(sides, signed, strict=True))
            acc = self.at.emit(arith.AddiOp(acc, self.at.emit(arith.MuliOp(a, b))))
        return acc

    def _extended(self, byte: SSAValue, signed: bool) -> SSAValue:
        type = as_vector(byte.type)
        if type is None:
            return self.at.emit((arith.ExtSIOp if signed else arith.ExtUIOp)(byte, i32))
        kind = _ON_VECTORS["arith.extsi" if signed else "arith.extui"]
        op = kind.create(operands=[byte], result_types=[VectorType(i32, type.get_shape())])
        self.at.insert(op)
        return op.results[0]

    def _constant(self, type: Attribute, number: int) -> SSAValue:
        """A number in all lanes."""
        vector_type = as_vector(type)
        assert vector_type is not None
        element = vector_type.element_type
        assert isa(element, IntegerType)
        return self.at.emit(arith.ConstantOp(uniform(IntegerAttr(number, element), vector_type)))
