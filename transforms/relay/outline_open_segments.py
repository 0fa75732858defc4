"""`outline-segments` for programs whose extents are symbols, before their kernels are lowered.

What an extent is follows within a segment from what it takes, as in a graph without control flow. So segments have to
be there before `lower-te` makes kernels for extents, which a program as a whole does not have: a loop may be in a turn
with more rows than in the last.

    %0 = relay.call @exp(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %y = relay.if %c ...
 ->
    %0 = relay.call_lowered @main_segment(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %y = relay.if %c ...
    relay.func private @main_segment(%x: tensor<?x8xf32>) attributes {segment} { %0 = relay.call @exp(%x) ... }

Tuples that kernels take are put together within the segment. Does nothing to a module in which no function branches,
or in which every shape is known. TVM has no counterpart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, TupleType, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects.relay.base import is_dynamic
from ...dialects.relay.core import CallLoweredOp, CallOp, ConstantOp, FuncOp, ReturnOp, TupleGetOp, TupleOp
from ...dialects.relay.data import ConstructOp
from ..infra import ModulePass, report_changed
from ..infra.walk import erase, walk
from .outline_segments import CONTROL, SEGMENT, deciding
from .symbol_names import SymbolNames


@dataclass(frozen=True)
class OutlineOpenSegmentsPass(ModulePass):
    """Kernel calls of functions with control flow and open extents -> calls of private functions of kernel calls."""

    name = "outline-open-segments"
    required: ClassVar[tuple[str, ...]] = ("outline-primitives", "lambda-lift")

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        return not _open_programs(module)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        programs = _open_programs(op)
        names = SymbolNames(op)
        for function in programs:
            function.attributes[CONTROL] = UnitAttr()
            _Outlining(function, names, op).run()
        report_changed(bool(programs))


def _open_programs(module: ModuleOp) -> list[FuncOp]:
    """The functions of a module that branches and has open extents, as far as they are not outlined."""
    functions = [f for f in module.ops if isinstance(f, FuncOp) and not f.is_primitive]
    left = [f for f in functions if CONTROL not in f.attributes and SEGMENT not in f.attributes]
    if not any(deciding(f) is not None for f in left) or not any(map(has_open_extents, left)):
        return []
    return left


def has_open_extents(function: FuncOp) -> bool:
    """Whether a value of a function, or what a function value in it is made of, has an open extent."""
    arguments = (a.type for a in function.body.block.args)
    results = (result.type for op in walk(function) for result in op.results)
    return any(map(_is_open, (*arguments, *results)))


def _is_open(type: Attribute) -> bool:
    return not isinstance(type, FunctionType) and is_dynamic(type)


class _Outlining:
    """The segments of one function."""

    def __init__(self, function: FuncOp, names: SymbolNames, module: ModuleOp):
        self.function = function
        self.names = names
        self.module = module
        self.kernels = {f.sym_name.data for f in module.ops if isinstance(f, FuncOp) and f.is_primitive}
        self.group: list[CallOp] = []
        self.tuples: list[Operation] = []
        """Tuples, and fields of such, that are made of results of the group."""
        self.waiting: set[Operation] = set()
        """The members of both."""

    def run(self) -> None:
        constants = [op for op in walk(self.function) if isinstance(op, ConstantOp | TupleOp | TupleGetOp)]
        for block in [b for op in walk(self.function) for region in op.regions for b in region.blocks]:
            for op in list(block.ops):
                self._visit(op)
        for constant in reversed(constants):
            if constant.parent is not None and constant.results[0].first_use is None:
                erase(constant)

    def _visit(self, op: Operation) -> None:
        if isinstance(op, CallOp) and op.callee.root_reference.data in self.kernels:
            self.group.append(op)
            self.waiting.add(op)
        elif isinstance(op, TupleOp | TupleGetOp):
            if any(operand.owner in self.waiting for operand in op.operands):
                self.tuples.append(op)
                self.waiting.add(op)
        elif not isinstance(op, ConstantOp | ConstructOp) or any(o.owner in self.waiting for o in op.operands):
            self._flush(op)

    def _flush(self, before: Operation) -> None:
        """Put the segment that was gathered, and what is made of its results, before an operation."""
        if self.group:
            for op in self.tuples:
                op.detach()
                assert before.parent is not None
                before.parent.insert_op_before(op, before)
            self._outline(before)
        self.group, self.tuples, self.waiting = [], [], set()

    def _outline(self, before: Operation) -> None:
        members = set[Operation](self.group)
        own = set(members)
        """What only puts results together for the group itself is its own as well."""
        for op in reversed(self.tuples):
            if all(use.operation in own for use in op.results[0].uses):
                own.add(op)
        needed = [r for op in self.group for r in op.results if any(use.operation not in own for use in r.uses)]
        body, values = Block(), dict[SSAValue, SSAValue]()
        inputs: list[SSAValue] = []

        def inside(value: SSAValue) -> SSAValue:
            if value in values:
                return values[value]
            match value.owner:
                case ConstantOp():
                    body.add_op(made := value.owner.clone())
                    found: SSAValue = made.results[0]
                case TupleOp():
                    fields = [inside(field) for field in value.owner.fields]
                    body.add_op(made := TupleOp(*fields))
                    found = made.results[0]
                case TupleGetOp() if value.owner.tuple.owner in members or isinstance(value.owner.tuple.owner, TupleOp):
                    whole = inside(value.owner.tuple)
                    body.add_op(made := TupleGetOp(whole, value.owner.index.value.data))
                    found = made.results[0]
                case _:
                    inputs.append(value)
                    found = body.insert_arg(value.type, len(inputs) - 1)
                    found.name_hint = value.name_hint
            values[value] = found
            return found

        for op in self.group:
            given = {operand: inside(operand) for operand in op.operands}
            copied = op.clone(given)
            values.update(zip(op.results, copied.results, strict=True))
            body.add_op(copied)
        given_back: list[SSAValue] = []
        for value in needed:
            given_back += _taken_apart(values[value], body)
        body.add_op(ReturnOp(*given_back))
        name = self.names.unique(f"{self.function.sym_name.data}_segment")
        types = FunctionType.from_lists([value.type for value in inputs], [value.type for value in given_back])
        segment = FuncOp(name, types, Region(body), private=True, attributes={SEGMENT: UnitAttr()})
        segment.location = self.group[0].location
        self.module.body.block.add_op(segment)
        call = CallLoweredOp(name, inputs, types.outputs.data)
        call.location = segment.location
        first = next((op for op in self.tuples if op.parent is not None), before)
        block = before.parent
        assert block is not None
        block.insert_op_before(call, first)
        flat = iter(call.results)
        for old in needed:
            old.replace_all_uses_with(_put_together(old.type, flat, block, first))
        for op in reversed([*self.group, *self.tuples]):
            if op in own:
                erase(op, safe_erase=False)


def _taken_apart(value: SSAValue, body: Block) -> list[SSAValue]:
    """The tensors of a value."""
    if not isinstance(value.type, TupleType):
        return [value]
    found: list[SSAValue] = []
    for number in range(len(value.type.types)):
        body.add_op(get := TupleGetOp(value, number))
        found += _taken_apart(get.result, body)
    return found


def _put_together(type: Attribute, tensors: Iterator[SSAValue], block: Block, before: Operation) -> SSAValue:
    """A value of a type, made of the tensors that come next, before an operation."""
    if not isinstance(type, TupleType):
        return next(tensors)
    made = TupleOp(*[_put_together(field, tensors, block, before) for field in type.types])
    block.insert_op_before(made, before)
    return made.result
