"""What the functions of one file of C have in common, and what is known of each before it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import func, memref, vector
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from ...dialects.rt.calls import CallOp
from ...dialects.rt.checks import RecordOp
from ...dialects.rt.constants import ConstantOp
from ...dialects.rt.core import SlotsOp, SlotsType
from ...dialects.support.diagnostics import Diagnostic
from ..loops_to_llvm.symbols import CONSTANT_INDEX
from . import scalars
from .types import Names, VectorTypes

ATOM, PRODUCT, SUM, OTHER = 3, 2, 1, 0
"""How tightly an expression holds together."""


class NoCounterpartError(Diagnostic):
    """C has not what an operation of the `loops` phase does."""


@dataclass(frozen=True)
class Text:
    """An expression, and how tightly it holds together."""

    text: str
    level: int = ATOM

    def within(self, level: int) -> str:
        """The expression as part of one of `level`."""
        return self.text if self.level >= level else f"({self.text})"


class Unit:
    """What the functions of one file have in common."""

    def __init__(
        self, module_ops: Sequence[Operation], graphs: Sequence[func.FuncOp], entries: Sequence[func.FuncOp] = ()
    ):
        """`graphs` are what is run, of the functions of the file; `entries` those that others call as well, by a
        function that is called as they are in the module."""
        self.vectors = VectorTypes()
        self.names = Names()
        self.entries = {entry: self.names.new(entry.sym_name.data) for entry in entries}
        self.functions: dict[str, str] = {}
        self._definitions: dict[str, func.FuncOp] = {}
        self._written: dict[str, set[int]] = {}
        self._live: dict[str, set[SSAValue]] = {}
        self.declared: dict[str, str] = {}
        """Functions that are defined elsewhere, by name."""
        self.extern: set[str] = set()
        self.globals: dict[str, memref.GlobalOp] = {}
        for inner in (inner for op in module_ops for inner in op.walk()):
            if isinstance(inner, CallOp) and inner.callee.data not in self.extern:
                self.extern.add(self.names.new(inner.callee.data))
        for op in module_ops:
            if isinstance(op, func.FuncOp):
                wanted = f"{op.sym_name.data}_graph" if op in graphs else op.sym_name.data
                self.functions[op.sym_name.data] = self.names.new(wanted)
                if op.body.blocks:
                    self._definitions[op.sym_name.data] = op
            elif isinstance(op, memref.GlobalOp):
                self.globals[op.sym_name.data] = op

    def declare(self, name: str, text: str) -> None:
        """Declare a function that is defined elsewhere.

        Raises:
            Diagnostic: it is called in two ways.
        """
        if self.declared.setdefault(name, text) != text:
            raise Diagnostic(f"the C function '{name}' is called with arguments of several types: {text}")

    def constant_number(self, op: memref.GetGlobalOp) -> int:
        """The place in the table of constants of what an operation names.

        Raises:
            Diagnostic: it is no constant that a caller places.
        """
        held = self.globals.get(op.name_.root_reference.data)
        number = None if held is None else held.attributes.get(CONSTANT_INDEX)
        if not isinstance(number, IntegerAttr):
            raise Diagnostic(f"{op.name_} is no constant that a caller places")
        return number.value.data

    def written(self, name: str) -> set[int]:
        """The places of the arguments that a function may write, itself or by one that it calls."""
        if name not in self._written:
            self._written[name] = set()
            if (function := self._definitions.get(name)) is not None:
                found = self._written_values(function)
                self._written[name] = {a.index for a in function.body.block.args if a in found}
        return self._written[name]

    def live(self, name: str) -> set[SSAValue]:
        """The values in a function that what it does depends on."""
        if name not in self._live:
            live: set[SSAValue] = set()
            for op in reversed(list(self._definitions[name].body.walk())):
                if isinstance(op, func.CallOp):
                    live |= {op.operands[place] for place in self.taken(op.callee.root_reference.data)}
                    continue
                is_needed = any(result in live for result in op.results)
                if is_needed or not is_pure(op):
                    taken = [op.source, op.byte_shift] if isinstance(op, memref.ViewOp) else op.operands
                    live |= {value for value in taken if not isinstance(value.type, SlotsType)}
            self._live[name] = live
        return self._live[name]

    def taken(self, name: str) -> list[int]:
        """The places of the arguments that a function has in C: those that it makes use of. Counters of shared work are
        OpenMP's.

        Raises:
            Diagnostic: it is not defined here.
        """
        if (function := self._definitions.get(name)) is None:
            raise Diagnostic(f"there is no function @{name} here to call")
        live = self.live(name)
        return [a.index for a in function.body.block.args if a in live and not isinstance(a.type, SlotsType)]

    def reached(self, *names: str) -> list[func.FuncOp]:
        """Functions and those that they call, callees first."""
        order: dict[str, None] = {}

        def visit(each: str) -> None:
            if each not in order and each in self._definitions:
                for op in self._definitions[each].body.walk():
                    if isinstance(op, func.CallOp):
                        visit(op.callee.root_reference.data)
                order[each] = None

        for name in names:
            visit(name)
        return [self._definitions[each] for each in order]

    def _written_values(self, function: func.FuncOp) -> set[SSAValue]:
        found: set[SSAValue] = set()
        for op in function.body.walk():
            match op:
                case memref.StoreOp():
                    found.add(op.memref)
                case vector.StoreOp() | vector.MaskedStoreOp():
                    found.add(op.base)
                case memref.CopyOp():
                    found.add(op.destination)
                case memref.ViewOp() | memref.SubviewOp() | memref.CastOp() | memref.ReinterpretCastOp():
                    found.add(op.operands[0])
                case RecordOp() | CallOp():
                    found |= set(op.operands)
                case func.CallOp():
                    places = self.written(op.callee.root_reference.data)
                    found |= {op.operands[place] for place in places}
                case _:
                    pass
        return found


_PURE = (
    memref.LoadOp, memref.AllocaOp, memref.GetGlobalOp, memref.ViewOp, memref.SubviewOp, memref.CastOp,
    memref.ReinterpretCastOp, ConstantOp, vector.LoadOp, vector.MaskedLoadOp,
    vector.BroadcastOp, vector.CreateMaskOp, vector.InsertOp, vector.ShuffleOp, vector.ReductionOp, SlotsOp, RecordOp,
)  # fmt: skip


def is_pure(op: Operation) -> bool:
    """Whether there is no need of an operation where nobody needs what it gives."""
    return scalars.is_pure(op.name) or isinstance(op, _PURE)
