"""Make one operator of several that read the same value: what the `combine-parallel-*` passes share.

    %1 = relay.nn.conv2d %x, %w1              %w = relay.concatenate %w1, %w2
    %2 = relay.add %1, %b1                    %0 = relay.nn.conv2d %x, %w
    %3 = relay.nn.conv2d %x, %w2        ->    %b = relay.concatenate %b1, %b2
    %4 = relay.add %3, %b2                    %1 = relay.add %0, %b
                                              %2 = relay.strided_slice %1 [.. first channels ..]
                                              %4 = relay.strided_slice %1 [.. last channels ..]

A branch begins with an operator that a `Combiner` knows, and goes on with arithmetic as long as each value has one use.
Branches with one `key` are a group; their steps are combined as far as all of the group are the same but for operands
that can be joined. What the combined operators read must not depend on what they give, and what lies in between must be
free to move behind them: a group of which that is not so is left, with a remark.

Counterpart of TVM's `ParallelOpCombiner`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.relay.base import DYNAMIC, Pointwise, RelayOp, Value, normalize_axis, shape_of, tensor
from ...dialects.relay.core import FuncOp, TupleGetOp, TupleOp
from ...dialects.relay.ops.nn.dense import BiasAddOp
from ...dialects.relay.ops.slicing import ConcatenateOp, SplitOp, StackOp, StridedSliceOp
from ...dialects.relay.ops.tiling import RepeatOp
from ...dialects.relay.ops.transform import ExpandDimsOp, SqueezeOp
from ..infra import remarks
from ..infra.walk import walk
from .emitter import Emitter
from .purity import is_pure

Op = TypeVar("Op", bound=RelayOp)


class Combiner(ABC, Generic[Op]):
    """How operators of one kind are combined, and what follows them."""

    op_type: type[Op]
    GROWS: ClassVar[bool] = False
    """Whether what follows may have more dimensions in front."""

    @abstractmethod
    def key(self, op: Op) -> Hashable | None:
        """What operators that can be combined have in common; `None` for one that cannot be."""

    @abstractmethod
    def combined(self, emit: Emitter, ops: Sequence[Op]) -> SSAValue:
        """The one operator for all of `ops`."""

    @abstractmethod
    def joined(self, emit: Emitter, values: Sequence[SSAValue], steps: Sequence[RelayOp]) -> SSAValue | None:
        """One operand for the combined `steps` of the branches, of which `values` are each one's; `None` if they cannot
        be joined."""

    @abstractmethod
    def step_properties(self, step: RelayOp) -> bool:
        """Whether a step of the first branch can be done on the combined value with the same properties."""

    @abstractmethod
    def parts(self, emit: Emitter, value: SSAValue, ends: Sequence[SSAValue]) -> list[SSAValue]:
        """What each branch gave, `ends`, out of the combined value."""

    def took(self, step: RelayOp) -> None:
        """Take note of a step that was combined; most change nothing."""


class Concatenating(Combiner[Op], ABC, Generic[Op]):
    """Weights one after the other along the axis of their outputs; results stand so along `axis`."""

    @abstractmethod
    def axis(self, op: Op) -> int:
        """The axis of the result along which it consists of the single results."""

    _axis: int = -1
    """That axis, counted from the end: what is added may have more dimensions in front."""

    GROWS: ClassVar[bool] = True
    REPEATS: ClassVar[bool] = False
    """Whether an operand that is one for all channels of a branch is repeated for each of them."""

    def concatenate(self, emit: Emitter, values: Sequence[SSAValue], axis: int) -> SSAValue:
        return emit(ConcatenateOp(emit(TupleOp(*values)), axis=axis))

    def joined(self, emit: Emitter, values: Sequence[SSAValue], steps: Sequence[RelayOp]) -> SSAValue | None:
        shapes, results = [shape_of(value) for value in values], [shape_of(step.results[0]) for step in steps]
        same = len(set(values)) == 1
        if self.REPEATS and not same and any(not shape for shape in shapes):
            values = [v if shape else emit(ExpandDimsOp(v, axis=-1)) for v, shape in zip(values, shapes, strict=True)]
            shapes = [shape or (1,) for shape in shapes]
        axis = 0 if isinstance(steps[0], BiasAddOp) else self._axis + len(shapes[0])
        if same and (axis < 0 or shapes[0][axis] == 1):  # it does not tell channels from one another
            return values[0]
        if len({len(shape) for shape in shapes}) > 1 or axis < 0:
            return None
        counts = [result[self._axis] for result in results]
        if self.REPEATS and DYNAMIC not in counts:
            values = [
                emit(RepeatOp(value, repeats=count, axis=axis)) if shape[axis] == 1 < count else value
                for value, shape, count in zip(values, shapes, counts, strict=True)
            ]
            shapes = [shape_of(value) for value in values]
        if any(s[axis] in (DYNAMIC, 0) or s[axis] != count for s, count in zip(shapes, counts, strict=True)):
            return None
        others = {(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}
        return self.concatenate(emit, values, axis) if len(others) == 1 else None

    def step_properties(self, step: RelayOp) -> bool:
        if isinstance(step, BiasAddOp):
            rank = len(shape_of(step.data))
            return normalize_axis(step.axis.value.data, rank) == self._axis + rank
        return step.has_trait(Pointwise) or isinstance(step, ExpandDimsOp)

    def took(self, step: RelayOp) -> None:
        if isinstance(step, ExpandDimsOp):
            rank = len(shape_of(step.data))
            if normalize_axis(step.axis.value.data, rank + 1) > self._axis + rank:
                self._axis -= step.num_newaxis.value.data

    def begin(self, ops: Sequence[Op]) -> None:
        """Take note of the group that is combined."""
        self._axis = self.axis(ops[0]) - len(shape_of(ops[0].results[0]))

    def parts(self, emit: Emitter, value: SSAValue, ends: Sequence[SSAValue]) -> list[SSAValue]:
        parts: list[SSAValue] = []
        start, axis = 0, self._axis + len(shape_of(ends[0]))
        for end in ends:
            count = shape_of(end)[axis]
            begin, size, strides = [*(0,) * axis, start], [*(-1,) * axis, count], [1] * (axis + 1)
            parts.append(emit(StridedSliceOp(value, begin=begin, end=size, strides=strides, slice_mode="size")))
            start += count
        return parts


class Stacking(Combiner[Op], ABC, Generic[Op]):
    """Operands of equal shapes as a batch: each branch is one element of it."""

    def joined(self, emit: Emitter, values: Sequence[SSAValue], steps: Sequence[RelayOp]) -> SSAValue | None:
        if len({value.type for value in values}) > 1 or DYNAMIC in shape_of(values[0]):
            return None
        missing = len(shape_of(steps[0].results[0])) - len(shape_of(values[0]))
        if missing:
            values = [emit(ExpandDimsOp(value, axis=0, num_newaxis=missing)) for value in values]
        return emit(StackOp(emit(TupleOp(*values)), axis=0))

    def step_properties(self, step: RelayOp) -> bool:
        return step.has_trait(Pointwise)

    def parts(self, emit: Emitter, value: SSAValue, ends: Sequence[SSAValue]) -> list[SSAValue]:
        split = emit(SplitOp(value, indices_or_sections=len(ends), axis=0))
        return [emit(SqueezeOp(emit(TupleGetOp(split, index)), axis=[0])) for index in range(len(ends))]


@dataclass
class _Group(Generic[Op]):
    """Branches that are combined, each a chain of operations."""

    branches: list[list[RelayOp]]
    combiner: Combiner[Op]

    def emit(self, emit: Emitter) -> list[SSAValue]:
        """The combined operations; cuts the branches to what is combined, and returns what takes their results'
        place."""
        combiner, firsts = self.combiner, [cast(Op, branch[0]) for branch in self.branches]
        if isinstance(combiner, Concatenating):
            combiner.begin(firsts)
        value = combiner.combined(emit, firsts)
        depth = 1
        while depth < min(map(len, self.branches)):
            mark = len(emit.ops)
            next_value = self._step(emit, value, depth)
            if next_value is None:
                for op in reversed(emit.ops[mark:]):
                    op.erase()
                del emit.ops[mark:]
                break
            value, depth = next_value, depth + 1
        for branch in self.branches:
            del branch[depth:]
        return combiner.parts(emit, value, [branch[-1].results[0] for branch in self.branches])

    def _step(self, emit: Emitter, value: SSAValue, depth: int) -> SSAValue | None:
        steps = [branch[depth] for branch in self.branches]
        first = steps[0]
        if any(type(s) is not type(first) or s.properties != first.properties for s in steps):
            return None
        if not self.combiner.step_properties(first):
            return None
        results = [branch[depth - 1].results[0] for branch in self.branches]
        operands: list[SSAValue] = []
        for position in range(len(first.operands)):
            values = [step.operands[position] for step in steps]
            inner = [v is result for v, result in zip(values, results, strict=True)]
            joined = value if all(inner) else None if any(inner) else self.combiner.joined(emit, values, steps)
            if joined is None:
                return None
            operands.append(joined)
        self.combiner.took(first)
        return emit(type(first)(*operands, **first.properties))


def combine_parallel(func: FuncOp, combiner: Combiner[Op], min_num_branches: int, name: str) -> bool:
    """Combine what can be, in every block of `func`; return whether there was anything."""
    blocks = [block for op in list(walk(func)) for region in op.regions for block in region.blocks]
    return any([_combine_block(block, combiner, min_num_branches, name) for block in blocks])


def _combine_block(block: Block, combiner: Combiner[Op], min_num_branches: int, name: str) -> bool:
    groups: dict[Hashable, list[list[RelayOp]]] = {}
    for op in block.ops:
        if type(op) is combiner.op_type and (key := combiner.key(op)) is not None:
            groups.setdefault(key, []).append(_chain(op, combiner.GROWS))
    changed = False
    for branches in groups.values():
        if len(branches) >= min_num_branches and len(branches) > 1:
            changed |= _apply(block, _Group(branches, combiner), name)
    return changed


def _chain(op: RelayOp, grows: bool) -> list[RelayOp]:
    """An operation, and the arithmetic on its result as long as each value has one use. With `grows` there may be more
    dimensions in front, and new ones of extent one anywhere."""
    chain, shape = [op], shape_of(op.results[0])
    while (use := chain[-1].results[0].get_user_of_unique_use()) is not None:
        if use.parent is not op.parent or not isinstance(use, RelayOp) or len(use.results) != 1:
            break
        widens = grows and isinstance(use, ExpandDimsOp)
        if not (use.has_trait(Pointwise) or isinstance(use, BiasAddOp) or widens) or not isinstance(
            use.results[0].type, TensorType
        ):
            break
        result = shape_of(use.results[0])
        if widens:
            shape = result
        elif result != shape and not (grows and result[len(result) - len(shape) :] == shape):
            break
        chain.append(use)
    return chain


def _apply(block: Block, group: _Group[Op], name: str) -> bool:
    emit = Emitter()
    results = group.emit(emit)
    made = set(emit.ops)
    order = {op: position for position, op in enumerate(block.ops)}
    operands = {operand for op in emit.ops for operand in op.operands if operand.owner not in made}
    owners = [owner for value in operands if isinstance(owner := value.owner, Operation) and owner in order]
    last = max(owners, key=order.__getitem__, default=None)
    ends = [branch[-1].results[0] for branch in group.branches]
    after = _dependents(ends, order)
    obstacle = None
    inside = {op for branch in group.branches for op in branch}
    if any(owner in after or owner in inside for owner in owners):
        obstacle = "what one of them reads depends on what another one gives"
    moving = sorted((op for op in after if last is not None and order[op] < order[last]), key=order.__getitem__)
    if not all(map(is_pure, moving)):
        obstacle = "an effect on the result of one of them comes before what another one reads"
    if obstacle is not None:
        for op in reversed(emit.ops):
            op.erase()
        remarks.missed(name, group.branches[0][0], f"{len(group.branches)} of the kind are left: {obstacle}")
        return False
    first = group.branches[0][0]
    place = first if last is None or order[last] < order[first] else last.next_op
    assert place is not None
    for op in emit.ops:
        op.location = first.location
        block.insert_op_before(op, place)
    for op in moving:
        op.detach()
        block.insert_op_before(op, place)
    for end, result in zip(ends, results, strict=True):
        result.name_hint = end.name_hint
        end.replace_all_uses_with(result)
    for branch in group.branches:
        for op in reversed(branch):
            op.detach()
            op.erase()
    remarks.passed(name, emit.ops[0], f"{len(group.branches)} operators become one")
    return True


def _dependents(values: Sequence[SSAValue], order: dict[Operation, int]) -> set[Operation]:
    """The operations of a block that read `values`, themselves or by way of others."""
    found: set[Operation] = set()
    pending = list(values)
    while pending:
        for use in pending.pop().uses:
            op: Operation | None = use.operation
            while op is not None and op not in order:  # it stands in a branch of an operation of the block
                op = op.parent_op()
            if op is not None and op not in found:
                found.add(op)
                pending.extend(op.results)
    return found


def total(ops: Sequence[RelayOp], name: str, count: int) -> dict[str, Value]:
    """The properties of one operator for all of `ops`, with `count` for the number of outputs where it is given."""
    first = ops[0]
    kept: dict[str, Value] = {key: value for key, value in first.properties.items() if key != name}
    return {**kept, name: count} if name in first.properties else kept


def element(value: SSAValue) -> Hashable:
    """The element type of a tensor."""
    return tensor(value).element_type
