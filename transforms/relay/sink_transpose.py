"""Compute what stands between transposes on the data before them, so that they meet what undoes them and go.

    %0 = relay.nn.conv2d %x, %w                             %0 = relay.nn.conv2d %x, %w
    %1 = relay.transpose %0 {axes = 0, 2, 3, 1}             %b1 = relay.transpose (relay.expand_dims %b)
    %2 = relay.add %1, %b : ... -> tensor<1x9x9x8xf32>  ->  %2 = relay.add %0, %b1 : ... -> tensor<1x8x9x9xf32>
    %3 = relay.nn.relu %2 : tensor<1x9x9x8xf32>             %3 = relay.nn.relu %2 : tensor<1x8x9x9xf32>
    %4 = relay.transpose %3 {axes = 0, 3, 1, 2}             %5 = relay.nn.conv2d %3, %v
    %5 = relay.nn.conv2d %4, %v

Models of a framework that counts channels last, exported where convolutions count them second, have such pairs around
all arithmetic. Behind convolutions it is free, between transposes it is kernels of its own.

Whatever can be computed with its axes in another order (`RelayOp.reordered`) may move: arithmetic, concatenation and
splits, padding, slices, reductions, softmax, norms and so on; not what is told a layout by a property, which is in the
one that it wants. For one permutation after the other, a minimum cut says what moves, so that the fewest elements are
transposed, counting each value once; constants count nothing. Where as many would be, all stays as it is. Operands are
transposed where it is worth that. A transpose stays for those who need what it gives. One walk over the block then
does it, that of `convert-layout`.

TVM has no such pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.relay.base import DYNAMIC, RelayOp, shape_of
from ...dialects.relay.core import ConstantOp, FuncOp, TupleGetOp, TupleOp
from ...dialects.relay.layout import LayoutTransformOp
from ...dialects.relay.ops.qnn.arithmetic import QnnConcatenateOp
from ...dialects.relay.ops.slicing import ConcatenateOp
from ...dialects.relay.ops.transform import TransposeOp
from ...dialects.relay.reordering import Form, Order, order_of
from ..infra import FunctionPass, remarks, report_changed
from ..infra.walk import walk
from .convert_layout import LayoutConverter, is_joined, lead_among
from .layout_assignment import TYPICAL_EXTENT
from .minimum_cut import MinimumCut
from .reordered_values import LETTERS, Forms, ReorderedValues, identity

NAME = "sink-transpose"


@dataclass(frozen=True)
class SinkTransposePass(FunctionPass):
    """No options."""

    name = NAME
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        blocks = [block for op in walk(func) for region in op.regions for block in region.blocks]
        report_changed(any([sink_transposes(block) for block in blocks]))


def sink_transposes(block: Block) -> bool:
    """Move the transposes of `block` to where the fewest elements are transposed; return whether any has moved."""
    changed = False
    for axes in _permutations(block):
        if (plan := Plan.of(block, axes)).moved:
            TransposeSinker(plan).run(block)
            changed = True
    return changed


def permutation(op: Operation) -> Order | None:
    """The axes of its data that those of the result are, if an operation transposes and does nothing else."""
    match op:
        case TransposeOp():
            return op.permutation(len(shape_of(op.data)))
        case LayoutTransformOp() if not (op.extents or any(layout.is_blocked for layout in op.layouts())):
            source, target = op.layouts()
            return tuple(source.names.index(name) for name in target.names)
        case _:
            return None


def _permutations(block: Block) -> list[Order]:
    """What the transposes of a block do; first what moves the most elements."""
    moved: dict[Order, int] = {}
    for op in block.ops:
        axes = permutation(op)
        if axes is not None and axes != identity(len(axes)) and len(axes) <= len(LETTERS):
            extents = (TYPICAL_EXTENT if n == DYNAMIC else n for n in shape_of(op.operands[0]))
            moved[axes] = moved.get(axes, 0) + prod(extents)
    return sorted(moved, key=lambda axes: -moved[axes])


@dataclass(frozen=True)
class Move:
    """How an operator can be computed behind the transposes: on which of its operands in which order."""

    order: Order
    taken: Sequence[SSAValue]
    widened: Sequence[SSAValue]
    """Those of a lower rank."""


@dataclass
class Plan:
    """What moves, of all that stands behind the transposes of one permutation in a block."""

    block: Block
    axes: Order
    forms: dict[SSAValue, Forms] = field(default_factory=dict[SSAValue, Forms])
    """How values stand where they are computed on the data before the transposes."""
    transposes: set[Operation] = field(default_factory=set[Operation])
    moves: dict[RelayOp, Move] = field(default_factory=dict[RelayOp, Move])
    """What can be computed so."""
    constants: set[SSAValue] = field(default_factory=set[SSAValue])
    moved: set[Operation] = field(default_factory=set[Operation])
    """What is to be computed so."""

    @staticmethod
    def of(block: Block, axes: Order) -> Plan:
        plan = Plan(block, axes)
        for op in block.ops:
            plan._meet(op)
        if plan.moves:
            plan._choose()
        return plan

    def _meet(self, op: Operation) -> None:
        """See whether an operation can be computed on the data before the transposes, and what it then gives."""
        if isinstance(op, ConstantOp) or (op.operands and not op.regions and self.constants.issuperset(op.operands)):
            self.constants.update(op.results)
            return
        axes = permutation(op)
        if axes is not None:
            if axes == self.axes and op.operands[0] not in self.forms:
                self.forms[op.results[0]] = (tuple(axes.index(d) for d in range(len(axes))),)
                self.transposes.add(op)
        elif isinstance(op, TupleGetOp):
            if op.tuple in self.forms:
                self._say_form(op.result, (self.forms[op.tuple][op.index.value.data],))
        elif isinstance(op, RelayOp) and not (op.LAYOUTS or op.regions) and (move := self._move(op)) is not None:
            rule = op.reordered(move.order)
            assert rule is not None
            self.moves[op] = move
            self._say_form(op.results[0], tuple(rule.orders))

    def _say_form(self, value: SSAValue, forms: Forms) -> None:
        if any(form != identity(len(form)) for form in forms):
            self.forms[value] = forms

    def is_form(self, value: SSAValue) -> bool:
        """Whether a tensor stands in another order, where it is computed on the data before the transposes."""
        return value in self.forms and isinstance(value.type, TensorType)

    def _move(self, op: RelayOp) -> Move | None:
        if len(op.results) != 1 or not self._gives_tensors(op):
            return None
        fields = joined(op)
        lead = lead_among(op, self.is_form) if fields is None else next(filter(self.is_form, fields.fields), None)
        if lead is None:
            return None
        order = order_of(self.forms[lead][0])
        if (rule := op.reordered(order)) is None:
            return None
        along = [op.operands[index] for index in rule.along] if fields is None else fields.fields
        taken = [value for value in along if len(shape_of(value)) == len(order)]
        if any(self.forms[value][0] != order for value in taken if self.is_form(value)):
            return None
        return Move(order, taken, [value for value in along if len(shape_of(value)) < len(order)])

    def _gives_tensors(self, op: RelayOp) -> bool:
        """Whether all that is read of what an operator gives are tensors, here."""
        if isinstance(op.results[0].type, TensorType):
            return True
        users = [use.operation for use in op.results[0].uses]
        return all(isinstance(user, TupleGetOp) and user.parent is self.block for user in users)

    def _choose(self) -> None:
        """Say what moves: a minimum cut. The penalty of one for each operator that does leaves them where nothing is
        won."""
        cut = MinimumCut()
        before = cut.add_node()  # the data before the transposes, and what undoes these
        cut.fix(before, True)
        nodes: dict[Operation, int] = {op: cut.add_node() for op in self.moves}
        for node in nodes.values():
            cut.prefer(node, False, 1)
        for value, forms in self.forms.items():
            if isinstance(value.type, TensorType):
                producer = value.owner.tuple.owner if isinstance(value.owner, TupleGetOp) else value.owner
                made = before if producer in self.transposes else nodes[cast("Operation", producer)]
                cut.link_value(made, self._users(value, nodes, before), self._penalty(value, order_of(forms[0])))
        operands: dict[tuple[SSAValue, Order], list[int | None]] = {}
        for op, move in self.moves.items():
            for value in (*move.taken, *move.widened):
                if value not in self.forms and value not in self.constants:
                    operands.setdefault((value, move.order), []).append(nodes[op])
        for (value, order), users in operands.items():
            if any(permutation(use.operation) == order for use in value.uses):
                users.append(before)
            cut.link_value(None, users, self._penalty(value, order))
        labels = cut.solve()[1:]  # of all but the first node, in order
        self.moved = {op for op, moves in zip(nodes, labels, strict=False) if moves}

    def _penalty(self, value: SSAValue, order: Order) -> int:
        """What it costs to transpose a value: its elements, if any change their order in memory."""
        shape = (1,) * (len(order) - len(shape_of(value))) + tuple(shape_of(value))
        moving = [axis for axis in order if shape[axis] != 1]
        if moving == sorted(moving):
            return 0
        return prod(TYPICAL_EXTENT if n == DYNAMIC else n for n in shape) * (len(self.moves) + 1)

    def _users(self, value: SSAValue, nodes: Mapping[Operation, int], before: int) -> list[int | None]:
        """The labels of those who read a value that may stand in another order."""
        users: list[int | None] = []
        for use in value.uses:
            user: Operation = use.operation
            if isinstance(user, TupleOp) and len(list(user.result.uses)) == 1:
                joins = next(iter(user.result.uses)).operation
                user = joins if joined(joins) is user else user
            if user in self.moves and value in self.moves[cast("RelayOp", user)].taken:
                users.append(nodes[user])
            elif (axes := permutation(user)) is None or user.parent is not self.block:
                users.append(None)
            elif tuple(axes.index(axis) for axis in order_of(self.forms[value][0])) == identity(len(axes)):
                users.append(before)  # any other transpose is one, whichever order it reads
        return users


def joined(op: Operation) -> TupleOp | None:
    """The tuple that is only there for an operation to join its fields."""
    if isinstance(op, ConcatenateOp | QnnConcatenateOp) and isinstance(fields := op.data.owner, TupleOp):
        return fields if is_joined(fields) and len(list(fields.result.uses)) == 1 else None
    return None


class TransposedValues(ReorderedValues):
    """Values whose axes stand in other orders, brought from one to another by transposes."""

    def transform(self, value: SSAValue, letters: str, source: Form, target: Form, at: Operation) -> SSAValue:
        return self.insert(TransposeOp(value, axes=[source.index(axis) for axis in target]), at)


class TransposeSinker(LayoutConverter):
    """The walk over a block that does what is planned."""

    def __init__(self, plan: Plan):
        super().__init__({})
        self.plan = plan
        self.taken = {value for op, move in plan.moves.items() if op in plan.moved for value in move.taken}

    def new_values(self) -> ReorderedValues:
        return TransposedValues()

    def step(self, op: Operation) -> None:
        plan, values = self.plan, self.values
        if op in plan.moved:
            assert isinstance(op, RelayOp)
            order, fields = plan.moves[op].order, joined(op)
            letters = LETTERS[: len(order)]
            if isinstance(op, ConcatenateOp | QnnConcatenateOp) and fields is not None:
                done = self.join(op, fields, order, letters)
            else:
                done = self.compute_in(op, order, letters)
            if not done:
                self.restore(op)
        elif isinstance(op, TupleOp) and self._is_joined_before(op):
            pass  # what joins it looks at the fields
        elif op in plan.transposes:
            self.restore(op)
            if op.results[0] in self.taken:
                remarks.passed(NAME, op, "what it is given is taken, in that order, by what reads it")
                self._read_before(op)
        elif not (self._goes_along(op) and self.follows(op)):
            self.restore(op)
            if (axes := permutation(op)) is not None:
                values.add_form(op.operands[0], axes, op.results[0])

    def _is_joined_before(self, op: TupleOp) -> bool:
        users = [use.operation for use in op.result.uses]
        return any(user in self.plan.moved and joined(user) is op for user in users)

    def _read_before(self, op: Operation) -> None:
        """Take what is given to a transpose for what it gives; it stays for those who need that."""
        values, result = self.values, op.results[0]
        values.add_form(result, identity(len(self.plan.axes)), result)
        values.assign(result, op.operands[0], self.plan.forms[result])
        values.transposed[result] = True

    def _goes_along(self, op: Operation) -> bool:
        """Whether an operation only reads a value that stands in another order now."""
        if isinstance(op, TupleGetOp):
            return self.values.is_reordered(op.tuple)
        source = op.operands[0] if permutation(op) is not None else None
        return (
            source is not None
            and self.values.is_reordered(source)
            and self.values.order(source) != identity(len(shape_of(source)))
        )
