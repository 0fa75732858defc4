"""Values of a function as text, and operations on vectors.

Vectors are of GCC's and Clang's vector extension. What its operators mean as the operation does is written by them, all
else as a loop over the lanes. A truth value in a vector is a byte, 0 or -1.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, func, vector
from xdsl.dialects.builtin import AnyFloat
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.support.diagnostics import Diagnostic
from ..total_arith import misfit
from . import scalars
from .types import Names, element, lanes, scalar, unsigned
from .unit import ATOM, SUM, Text, Unit

LANE = "lane"
"""The number of a lane in a loop over lanes; values, whose names are those that people gave, are called otherwise."""


class VectorText:
    """The text of a function as far as it is written, and what its values are called in it."""

    def __init__(self, unit: Unit, function: func.FuncOp):
        self.unit = unit
        self.function = function
        self.names = Names([LANE, *unit.functions.values(), *unit.extern])
        self.live = unit.live(function.sym_name.data)
        self.values: dict[SSAValue, Text] = {}
        self.lines: list[str] = []
        self.depth = 0

    def line(self, text: str) -> None:
        """Add a line at the present depth."""
        self.lines.append("  " * self.depth + text)

    def name(self, value: SSAValue) -> str:
        """A new variable for a value."""
        name = self.names.new(value.name_hint or "v")
        self.values[value] = Text(name)
        return name

    def atom(self, value: SSAValue) -> str:
        """A value as an operand of whatever."""
        return self.values[value].within(ATOM)

    def whole(self, value: SSAValue) -> str:
        """A value where nothing else is around it."""
        return self.values[value].text

    def define(self, value: SSAValue, text: str) -> None:
        """Let a variable be what an expression gives."""
        if value in self.live:
            type = self.unit.vectors.of(value.type)
            self.line(f"{type} {self.name(value)} = {text};")

    # statements

    def declare(self, value: SSAValue) -> str:
        """A variable that is given its value later."""
        type = self.unit.vectors.of(value.type)
        name = self.name(value)
        self.line(f"{type} {name};")
        return name

    # what is computed

    def compute_lanes(self, op: Operation, result: SSAValue) -> None:
        """The extension's own operators where they mean the same, else a loop over the lanes."""
        operands = [self.atom(value) for value in op.operands]
        text = self._vector_expression(op, result.type, operands)
        if text is not None:
            self.define(result, text)
            return
        name = self.declare(result)
        single = [self._lane(value, text) for value, text in zip(op.operands, operands, strict=True)]
        value = scalars.narrowed(scalars.expression(op, single), element(result.type))
        self._lane_loop(result.type, f"{name}[{LANE}] = {kept(value, element(result.type))};")

    def _lane(self, value: SSAValue, text: str) -> str:
        if not lanes(value.type):
            return scalars.widened(text, value.type)
        lane = f"{text}[{LANE}]"
        return f"({lane} != 0)" if scalar(element(value.type)) == "bool" else scalars.widened(lane, element(value.type))

    def _lane_loop(self, type: Attribute, text: str) -> None:
        self.line(f"for (int {LANE} = 0; {LANE} < {lanes(type)}; ++{LANE}) {text}")

    def _vector_expression(self, op: Operation, type: Attribute, operands: Sequence[str]) -> str | None:
        """An expression of whole vectors, where there is one."""
        of, count = element(type), lanes(type)
        plain = scalar(of) in ("float", "double")
        if plain and op.name in _VECTOR_SIGNS:
            return f"{operands[0]} {_VECTOR_SIGNS[op.name]} {operands[1]}"
        match op.name:
            case "arith.negf" if plain:
                return f"-{operands[0]}"
            case "arith.maximumf" | "arith.minimumf" if plain:
                sign = ">" if op.name == "arith.maximumf" else "<"
                a, b = operands
                return self._blend(of, count, f"({a} {sign} {b}) | ({a} != {a})", a, b)
            case "arith.select" if lanes(op.operands[0].type) and scalar(of) != "bool":
                mask = self.unit.vectors.mask(of, count)
                return self._blend(of, count, f"__builtin_convertvector({operands[0]}, {mask})", *operands[1:])
            case "arith.cmpf" if scalar(element(op.operands[0].type)) in ("float", "double"):
                test = _VECTOR_TESTS.get(scalars.predicate_of(op))
                if test is None:
                    return None
                bytes_ = self.unit.vectors.name("bool", count)
                return f"__builtin_convertvector({operands[0]} {test} {operands[1]}, {bytes_})"
            case "arith.addi" | "arith.subi" | "arith.muli" if scalar(of) != "bool":
                u = self.unit.vectors.name(unsigned(of), count)
                sign = {"arith.addi": "+", "arith.subi": "-", "arith.muli": "*"}[op.name]
                return f"({self.unit.vectors.of(type)})(({u}){operands[0]} {sign} ({u}){operands[1]})"
            case "arith.andi" | "arith.ori" | "arith.xori":
                sign = {"arith.andi": "&", "arith.ori": "|", "arith.xori": "^"}[op.name]
                return f"{operands[0]} {sign} {operands[1]}"
            case "arith.fptosi" if misfit(op):
                return None
            case "arith.sitofp" | "arith.extsi" | "arith.trunci" | "arith.extf" | "arith.truncf" | "arith.fptosi":
                source = element(op.operands[0].type)
                if {scalar(source), scalar(of)} & {"bool", "uint16_t", "_Float16"}:
                    return None
                return f"__builtin_convertvector({operands[0]}, {self.unit.vectors.of(type)})"
            case _:
                return None

    def _blend(self, of: Attribute, count: int, mask: str, one: str, other: str) -> str:
        """The lanes of `one` where `mask` has all bits, and of `other` where it has none."""
        bits = self.unit.vectors.mask(of, count)
        kept = self.unit.vectors.name(scalar(of), count)
        test = self.names.new("mask")
        self.line(f"{bits} {test} = {mask};")
        return f"({kept})(({test} & ({bits}){one}) | (~{test} & ({bits}){other}))"

    def _vector_at(self, type: Attribute, memory: SSAValue, start: SSAValue, *, constant: bool) -> str:
        name = f"{self.unit.vectors.of(type)}_at"
        address = f"{self.atom(memory)} + {self.values[start].within(SUM)}" if self.whole(start) != "0" else None
        place = f"({address})" if address else self.atom(memory)
        return f"*({'const ' if constant else ''}{name} *){place}"

    def vector_load(self, op: vector.LoadOp) -> None:
        type = op.result.type
        if scalar(element(type)) == "bool":
            self._masked_load(op.result, op.base, op.indices[0], None, None)
        else:
            self.define(op.result, self._vector_at(type, op.base, op.indices[0], constant=True))

    def vector_store(self, op: vector.StoreOp) -> None:
        type = op.vector.type
        if scalar(element(type)) == "bool":
            self._masked_store(op.vector, op.base, op.indices[0], None)
        else:
            self.line(f"{self._vector_at(type, op.base, op.indices[0], constant=False)} = {self.whole(op.vector)};")

    def masked_load(self, op: vector.MaskedLoadOp) -> None:
        self._masked_load(op.result, op.base, op.indices[0], op.mask, op.pass_thru)

    def masked_store(self, op: vector.MaskedStoreOp) -> None:
        self._masked_store(op.value_to_store, op.base, op.indices[0], op.mask)

    def _masked_load(
        self, result: SSAValue, base: SSAValue, start: SSAValue, mask: SSAValue | None, other: SSAValue | None
    ) -> None:
        if result not in self.live:
            return
        if other is None:
            name = self.declare(result)
        else:
            text = self.whole(other)
            name = self.names.new(result.name_hint or "v")
            self.line(f"{self.unit.vectors.of(result.type)} {name} = {text};")
            self.values[result] = Text(name)
        read = f"{self.atom(base)}[{self.values[start].within(SUM)} + {LANE}]"
        guard = "" if mask is None else f"if ({self.atom(mask)}[{LANE}]) "
        self._lane_loop(result.type, f"{guard}{name}[{LANE}] = {kept(read, element(result.type))};")

    def _masked_store(self, value: SSAValue, base: SSAValue, start: SSAValue, mask: SSAValue | None) -> None:
        guard = "" if mask is None else f"if ({self.atom(mask)}[{LANE}]) "
        lane = f"{self.atom(value)}[{LANE}]"
        kept = f"{lane} != 0" if scalar(element(value.type)) == "bool" else lane
        self._lane_loop(value.type, f"{guard}{self.atom(base)}[{self.values[start].within(SUM)} + {LANE}] = {kept};")

    def broadcast(self, op: vector.BroadcastOp) -> None:
        (source,), (result,) = op.operands, op.results
        if result not in self.live:
            return
        of, count = element(result.type), lanes(result.type)
        if scalar(of) in ("float", "double"):
            self.define(result, f"({self.unit.vectors.of(result.type)}){{0}} + {self.atom(source)}")
            return
        value = kept(self.atom(source), of)
        self.define(result, f"{{{', '.join([value] * count)}}}")

    def create_mask(self, op: vector.CreateMaskOp) -> None:
        """Lane numbers below the given count; a truth value has all bits, or none."""
        if op.mask_vector in self.live:
            count = self.atom(op.mask_dim_sizes[0])
            tests = [f"-({count} > {lane})" for lane in range(lanes(op.mask_vector.type))]
            self.define(op.mask_vector, f"{{{', '.join(tests)}}}")

    def shuffle(self, op: vector.ShuffleOp) -> None:
        """Lanes of two vectors, one by one."""
        if op.result not in self.live:
            return
        first = lanes(op.v1.type)
        places = [int(place) for place in op.mask.get_values()]
        one, other = self.atom(op.v1), self.atom(op.v2)
        values = [f"{one}[{place}]" if place < first else f"{other}[{place - first}]" for place in places]
        self.define(op.result, f"{{{', '.join(values)}}}")

    def reduction(self, op: vector.ReductionOp) -> None:
        """The lanes one after the other, after the accumulator."""
        if op.dest not in self.live:
            return
        type = op.dest.type
        kinds = _OF_FLOATS if isinstance(type, AnyFloat) else _OF_INTEGERS
        combine = kinds.get(op.kind.data)
        if combine is None or op.acc is None:
            raise Diagnostic(f"a reduction '{op.kind.data}' has no counterpart in C")
        source, start = self.atom(op.vector), self.whole(op.acc)
        name = self.declare(op.dest)
        self.line(f"{name} = {start};")
        one = combine.create(operands=[op.acc, op.acc], result_types=[type])
        step = scalars.expression(one, [scalars.widened(name, type), self._lane(op.vector, source)])
        one.erase()
        self._lane_loop(op.vector.type, f"{name} = {scalars.narrowed(step, type)};")

    def insert(self, op: vector.InsertOp) -> None:
        self._put(op, op.source, op.dest, op.static_position.get_values(), op.dynamic_position)

    def _put(
        self, op: Operation, source: SSAValue, into: SSAValue, static: Sequence[int], dynamic: Sequence[SSAValue]
    ) -> None:
        if len(static) != 1 or dynamic:
            raise Diagnostic("an element is put where is known only at run time, or into several dimensions")
        (result,) = op.results
        if result not in self.live:
            return
        text = self.whole(into)
        self.define(result, text)
        self.line(f"{self.whole(result)}[{static[0]}] = {kept(self.whole(source), source.type)};")

    # control


_OF_FLOATS: dict[CombiningKindFlag, type[Operation]] = {
    CombiningKindFlag.ADD: arith.AddfOp,
    CombiningKindFlag.MUL: arith.MulfOp,
    CombiningKindFlag.MAXIMUMF: arith.MaximumfOp,
    CombiningKindFlag.MINIMUMF: arith.MinimumfOp,
    CombiningKindFlag.MAXNUMF: arith.MaxnumfOp,
    CombiningKindFlag.MINNUMF: arith.MinnumfOp,
}
_OF_INTEGERS: dict[CombiningKindFlag, type[Operation]] = {
    CombiningKindFlag.ADD: arith.AddiOp,
    CombiningKindFlag.MUL: arith.MuliOp,
    CombiningKindFlag.MAXSI: arith.MaxSIOp,
    CombiningKindFlag.MINSI: arith.MinSIOp,
    CombiningKindFlag.MAXUI: arith.MaxUIOp,
    CombiningKindFlag.MINUI: arith.MinUIOp,
    CombiningKindFlag.OR: arith.OrIOp,
}

_VECTOR_SIGNS = {"arith.addf": "+", "arith.subf": "-", "arith.mulf": "*", "arith.divf": "/"}
_VECTOR_TESTS = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}


def kept(text: str, type: Attribute) -> str:
    """A scalar as a lane of a vector: a truth value is 0 or -1."""
    return f"-({text})" if scalar(type) == "bool" else text
