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

A segment ends as well where a kernel is told by data how large its result is, and no bound is known of that
(`dyn.tile` so often as an element says): to the next segment that is an input, whose elements are symbols. So a
function that does not branch has segments, if there is such a kernel in it.

A shape that another segment has computed, `[n * 2, -1]`, is no input where it can be computed once more: of constants,
of shapes of tensors that are there, and of other numbers. So what is told it knows what its elements are.

Tuples that kernels take are put together within the segment. Does nothing to a module in which no function branches,
or is cut so, or in which every shape is known. TVM has no counterpart: its virtual machine runs kernel after kernel.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, TupleType, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects.relay.base import RelayOp, flatten_types, is_dynamic
from ...dialects.relay.core import CallLoweredOp, CallOp, ConstantOp, FuncOp, ReturnOp, TupleGetOp, TupleOp
from ...dialects.relay.data import ConstructOp
from ...dialects.relay.devices import PARAMETER_DEVICES, RESULT_DEVICES, VirtualDevice, VirtualDeviceAttr
from ...dialects.relay.ops.creation import NdarraySizeOp, ShapeOfOp
from ...dialects.relay.scan import ScanOp
from ...dialects.relay.telling import is_telling, told_inputs
from ...dialects.support.unique_names import UniqueNames, unique_symbols
from ..infra import ModulePass, report_changed
from ..infra.walk import erase, walk
from .device_planning.devices import speaks_of_devices
from .device_planning.planned import planned_devices
from .following_calls import FollowingCalls, is_cut, says_extents
from .outline_segments import CONTROL, SEGMENT, deciding, scanned_functions

_HERE = VirtualDevice("cpu", 0)


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
        names = unique_symbols(op)
        plan = planned_devices(op) if programs and any(map(speaks_of_devices, programs)) else {}
        for function in programs:
            function.attributes[CONTROL] = UnitAttr()
            _Outlining(function, names, op, plan).run()
        report_changed(bool(programs))


def _open_programs(module: ModuleOp) -> list[FuncOp]:
    """The functions of a module that branches and has open extents, as far as they are not outlined."""
    turns = scanned_functions(module)
    functions = [f for f in module.ops if isinstance(f, FuncOp) and not f.is_primitive]
    functions = [f for f in functions if f.sym_name.data not in turns]
    left = [f for f in functions if CONTROL not in f.attributes and SEGMENT not in f.attributes]
    if not any(map(has_open_extents, left)):
        return []
    if any(deciding(f) is not None for f in left):
        return left
    kernels = _kernels(module)
    return left if any(is_cut(f, kernels) for f in left) else []


def _kernels(module: ModuleOp) -> dict[str, FuncOp]:
    return {f.sym_name.data: f for f in module.ops if isinstance(f, FuncOp) and f.is_primitive}


def has_open_extents(function: FuncOp) -> bool:
    """Whether a value of a function, or what a function value in it is made of, has an open extent."""
    arguments = (a.type for a in function.body.block.args)
    results = (result.type for op in walk(function) for result in op.results)
    return any(map(_is_open, (*arguments, *results)))


def _is_open(type: Attribute) -> bool:
    return not isinstance(type, FunctionType) and is_dynamic(type)


class _Outlining:
    """The segments of one function."""

    def __init__(self, function: FuncOp, names: UniqueNames, module: ModuleOp, plan: dict[SSAValue, VirtualDevice]):
        self.function = function
        self.plan = plan
        """Where values are, in a program on several devices."""
        self.names = names
        self.module = module
        self.kernels = _kernels(module)
        self.cuts = any(map(says_extents, self.kernels.values()))
        """Whether a kernel may be told what it cannot be told within a segment."""
        self.following = FollowingCalls(self.kernels)
        self.group: list[CallOp | ScanOp] = []
        self.tuples: list[Operation] = []
        """Tuples, and fields of such, that are made of results of the group."""
        self.waiting: set[Operation] = set()
        """The members of both."""
        self.recipes: dict[SSAValue, SSAValue] = {}
        """Of numbers that a segment gives, what computes them: calls that stand nowhere, and are cloned."""
        self.again: dict[SSAValue, SSAValue] = {}
        """What of that this segment computes itself."""
        self.outlined: list[tuple[CallLoweredOp, FuncOp]] = []

    def run(self) -> None:
        constants = [op for op in walk(self.function) if isinstance(op, ConstantOp | TupleOp | TupleGetOp)]
        for block in [b for op in walk(self.function) for region in op.regions for b in region.blocks]:
            for op in list(block.ops):
                self._visit(op)
        forget = dict.fromkeys(op for value in self.recipes.values() for op in _detached(value))
        for op in forget:
            op.drop_all_references()
        for call, segment in reversed(self.outlined):
            if call.results and not any(result.first_use for result in call.results):
                erase(call)  # all that it gives is computed again where it is needed
                segment.detach()
                segment.erase()
        for constant in reversed(constants):
            if constant.parent is not None and constant.results[0].first_use is None:
                erase(constant)

    def _visit(self, op: Operation) -> None:
        if isinstance(op, ScanOp) or (isinstance(op, CallOp) and op.callee.root_reference.data in self.kernels):
            self._know_shapes(op)
            if self.cuts and not self.following.add(op):
                again = self._computed_again(op) if isinstance(op, CallOp) else []
                self._flush(op)
                for each in (*again, op):
                    if isinstance(each, CallOp | ScanOp):
                        self.following.add(each)
                        self.group.append(each)
                    else:
                        self.tuples.append(each)
                    self.waiting.add(each)
                return
            self.group.append(op)
            self.waiting.add(op)
        elif isinstance(op, TupleOp | TupleGetOp):
            if any(operand.owner in self.waiting for operand in op.operands):
                self.tuples.append(op)
                self.waiting.add(op)
        elif not isinstance(op, ConstantOp | ConstructOp) or any(o.owner in self.waiting for o in op.operands):
            self._flush(op)

    def _computed_again(self, call: CallOp) -> list[Operation]:
        """What makes a shape of numbers that this segment computes, as `[n, 0]`, once more, before the call that is
        told it: the next segment knows more of the shape if it computes it itself."""
        chain: dict[Operation, None] = {}

        def gather(value: SSAValue) -> None:
            owner = value.owner
            if not isinstance(owner, Operation) or owner not in self.waiting or owner in chain:
                return
            if isinstance(owner, TupleOp | TupleGetOp) or (
                self._computes_numbers(owner)
                and all(_is_small(each) or each.owner not in self.waiting for each in owner.operands)
            ):
                for operand in owner.operands:
                    gather(operand)
                chain[owner] = None

        for value in call.arguments:
            if is_telling(value.type):
                gather(value)
        copies: dict[SSAValue, SSAValue] = {}
        made: list[Operation] = []
        trial = FollowingCalls(self.kernels)
        for op in chain:
            made.append(copy := op.clone(copies))
            copies.update(zip(op.results, copy.results, strict=True))
        given = [copies.get(value, value) for value in call.operands]
        old = list(call.operands)
        call.operands = given
        if made and all(trial.add(each) for each in (*made, call) if isinstance(each, CallOp)):
            assert call.parent is not None
            call.parent.insert_ops_before(made, call)
            return made
        call.operands = old
        for op in reversed(made):
            op.erase()
        return []

    def _computes_numbers(self, op: Operation) -> bool:
        """Whether an operation is a call that makes a few numbers of others, or of shapes, and not of data."""
        if not isinstance(op, CallOp) or not all(_is_small(result) for result in op.results):
            return False
        body = self.kernels[op.callee.root_reference.data].body.block
        if any(isinstance(each, RelayOp) and each.SAYS_EXTENT for each in body.ops):
            return False
        return all(
            _is_small(value) or _is_only_measured(argument)
            for value, argument in zip(op.arguments, body.args, strict=True)
        )

    def _recipe(
        self, value: SSAValue, needed: Collection[SSAValue], made: dict[SSAValue, SSAValue | None]
    ) -> SSAValue | None:
        """What computes a value of this segment anew, of what is there behind it: the segment will give `needed`."""
        owner = value.owner
        if not isinstance(owner, Operation) or owner not in self.waiting:
            return self.recipes.get(value, value)
        if value not in made:
            made[value] = value if value in needed else None
            if isinstance(owner, TupleOp | TupleGetOp) or self._computes_numbers(owner):
                given = {operand: self._recipe(operand, needed, made) for operand in owner.operands}
                known = {operand: recipe for operand, recipe in given.items() if recipe is not None}
                if len(known) == len(given):
                    made.update(zip(owner.results, owner.clone(known).results, strict=True))
        return made[value]

    def _know_shapes(self, op: CallOp | ScanOp) -> None:
        """Let a call of numbers that other segments have computed take them as this one computes them."""
        if not isinstance(op, CallOp):
            return
        told = set(told_inputs(self.kernels[op.callee.root_reference.data]))
        number = 0
        for place, value in enumerate(op.arguments):
            if number in told or self._computes_numbers(op):
                op.operands[place] = self._known(value, op)
            number += len(flatten_types([value.type]))

    def _known(self, value: SSAValue, before: Operation) -> SSAValue:
        """A value, computed before an operation if it has a recipe, or is put together of such as have."""
        if value in self.again:
            return self.again[value]
        source = self.recipes.get(value, value)
        recipe = source.owner
        is_there = not isinstance(recipe, Operation) or recipe.parent is not None
        if (
            not isinstance(recipe, Operation)
            or recipe in self.waiting
            or (is_there and not isinstance(recipe, TupleOp))
        ):
            return value
        given = {operand: self._known(operand, before) for operand in recipe.operands}
        if is_there and all(old is new for old, new in given.items()):
            return value
        copy = recipe.clone(given)
        assert before.parent is not None
        before.parent.insert_op_before(copy, before)
        if isinstance(copy, CallOp):
            if self.cuts and not self.following.add(copy):
                erase(copy)
                return value
            self.group.append(copy)
        else:
            self.tuples.append(copy)
        self.waiting.add(copy)
        self.again[value] = found = copy.results[next(n for n, each in enumerate(recipe.results) if each is source)]
        found.name_hint = value.name_hint
        return found

    def _flush(self, before: Operation) -> None:
        """Put the segment that was gathered, and what is made of its results, before an operation."""
        if self.group:
            for op in self.tuples:
                op.detach()
                assert before.parent is not None
                before.parent.insert_op_before(op, before)
            self._outline(before)
        self.group, self.tuples, self.waiting, self.again = [], [], set(), {}
        self.following = FollowingCalls(self.kernels)

    def _device(self, value: SSAValue) -> VirtualDevice:
        """Where a value is; what puts tensors together or takes them apart is where those are."""
        while value not in self.plan and isinstance(owner := value.owner, TupleOp | TupleGetOp) and owner.operands:
            value = owner.operands[0]
        return self.plan.get(value, _HERE)

    def _outline(self, before: Operation) -> None:
        own = set[Operation](self.group)
        """What only puts results together for the group itself is its own as well."""
        for op in reversed(self.tuples):
            if all(use.operation in own for use in op.results[0].uses):
                own.add(op)
        needed = [r for op in self.group for r in op.results if any(use.operation not in own for use in r.uses)]
        body, values = Block(), dict[SSAValue, SSAValue]()
        inputs: list[SSAValue] = []
        taken_apart: list[TupleGetOp] = []

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
                case TupleGetOp() if (told := _told_field(value)) is not None:
                    found = inside(told)  # whatever the other fields are
                case TupleGetOp() if value.owner.tuple.owner in self.waiting:
                    whole = inside(value.owner.tuple)
                    body.add_op(made := TupleGetOp(whole, value.owner.index.value.data))
                    found = made.results[0]
                case _:
                    found = taken(value)
            values[value] = found
            return found

        def taken(value: SSAValue) -> SSAValue:
            """A value that is given to the segment: a tuple as its tensors."""
            if not isinstance(value.type, TupleType):
                inputs.append(value)
                found = body.insert_arg(value.type, len(inputs) - 1)
                found.name_hint = value.name_hint
                return found
            parts = [TupleGetOp(value, number) for number in range(len(value.type.types))]
            taken_apart.extend(parts)
            body.add_op(made := TupleOp(*[taken(part.result) for part in parts]))
            return made.result

        for op in self.group:
            given = {operand: inside(operand) for operand in op.operands}
            copied = op.clone(given)
            values.update(zip(op.results, copied.results, strict=True))
            body.add_op(copied)
        given_back: list[SSAValue] = []
        given_from: list[VirtualDevice] = []
        for value in needed:
            parts = _taken_apart(values[value], body)
            given_back += parts
            given_from += [self._device(value)] * len(parts)
        body.add_op(ReturnOp(*given_back))
        name = self.names.new(f"{self.function.sym_name.data}_segment")
        types = FunctionType.from_lists([value.type for value in inputs], [value.type for value in given_back])
        segment = FuncOp(name, types, Region(body), private=True, attributes={SEGMENT: UnitAttr()})
        taken_at = [self._device(value) for value in inputs]
        if any(self._device(value).type not in (None, "cpu") for value in values):
            for key, devices in ((PARAMETER_DEVICES, taken_at), (RESULT_DEVICES, given_from)):
                segment.attributes[key] = ArrayAttr([VirtualDeviceAttr(device) for device in devices])
        segment.location = self.group[0].location
        self.module.body.block.add_op(segment)
        call = CallLoweredOp(name, inputs, types.outputs.data)
        call.location = segment.location
        self.outlined.append((call, segment))
        first = next((op for op in self.tuples if op.parent is not None), before)
        block = before.parent
        assert block is not None
        for op in taken_apart:
            op.location = segment.location
        block.insert_ops_before([*taken_apart, call], first)
        flat = iter(call.results)
        made = dict[SSAValue, SSAValue | None]()
        recipes = {old: self._recipe(old, needed, made) for old in needed if is_telling(old.type)}
        for old in needed:
            whole = _put_together(old.type, flat, block, first)
            self.plan[whole] = self._device(old)
            old.replace_all_uses_with(whole)
            if (recipe := recipes.get(old)) is not None and recipe is not old:
                self.recipes[whole] = recipe
        for op in reversed([*self.group, *self.tuples]):
            if op in own:
                erase(op, safe_erase=False)


def _told_field(value: SSAValue) -> SSAValue | None:
    """What stands in a field of a tuple that is put together in sight, also within another one."""
    if not isinstance(get := value.owner, TupleGetOp):
        return None
    made = get.tuple
    while (told := _told_field(made)) is not None:
        made = told
    return made.owner.fields[get.index.value.data] if isinstance(made.owner, TupleOp) else None


def _detached(value: SSAValue) -> Iterator[Operation]:
    """The operations that stand nowhere of those that make a value."""
    owner = value.owner
    if isinstance(owner, Operation) and owner.parent is None:
        yield owner
        for operand in owner.operands:
            yield from _detached(operand)


def _is_only_measured(argument: SSAValue) -> bool:
    """Whether a function takes nothing of an argument but its shape."""
    return all(isinstance(use.operation, ShapeOfOp | NdarraySizeOp) for use in argument.uses)


def _is_small(value: SSAValue) -> bool:
    """Whether a value may be a part of a shape, or several such."""
    return all(map(is_telling, flatten_types([value.type])))


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
