"""Evaluate at compile time what depends on constants alone.

    %a = relay.constant dense<1.0> : tensor<4xf32>          %c = relay.constant dense<4.0> : tensor<4xf32>
    %b = relay.add %a, %a : ...                         ->  %y = relay.add %x, %c : ...
    %c = relay.multiply %b, %b : ...
    %y = relay.add %x, %c : ...

Folded are pure operators whose operands are all constants or tuples of them, projections of tuples, and `shape_of` and
`ndarray_size` of values with static shapes; what `on_device` says of a constant is no obstacle, and stays where the
constant does. An operator without operands (`ones`, `full`) stays where it is, for to store its result would only cost
memory, but is evaluated where another operator folds over it. Of an `if` whose condition is known, the branch that is
taken stands in its place. Left alone are stateful operators, those that are not
computations (unless `fold-qnn`), those that fail on their operands, calls, and the bodies of `relay.primitive`. An
operator of `relay.dyn` whose operands say a shape that is known becomes the one that is told it by properties (TVM's
`DynamicToStatic`), and what follows is typed anew.

One walk in the order of the block, into branches where they stand. Arrays live in NumPy while they are used, and become
attributes only where something that does not fold reads them: a chain of operators on a large weight makes one
constant, and each array is dropped with its last reader. Arrays whose elements are all equal stay one element in memory
as far as the operators allow. What a large array is made of is noted only, where that cannot fail: it is made where
somebody first asks for its elements (`Later`), which for most weights is when code is generated, step by step in the
same memory.

Counterpart of TVM's `FoldConstant`, which compiles and runs every subgraph; here `dialects/relay/reference.py` does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsolatedFromAbove

from ...dialects.relay.attributes import Later, array_to_attribute
from ...dialects.relay.base import (
    DYNAMIC,
    NonComputational,
    Pointwise,
    RelayOp,
    ReshapeLike,
    is_static,
    shape_of,
    tensor,
)
from ...dialects.relay.control import IfOp
from ...dialects.relay.core import ConstantOp, FuncOp, TupleGetOp, TupleOp
from ...dialects.relay.layout import LayoutTransformOp
from ...dialects.relay.ops.annotation import OnDeviceOp
from ...dialects.relay.ops.creation import NdarraySizeOp, ShapeOfOp
from ...dialects.relay.ops.dyn import DynReshapeOp
from ...dialects.relay.ops.nn.winograd import WinogradWeightTransformOp
from ...dialects.relay.ops.transform import TransposeOp
from ...dialects.relay.told import DynOp
from ...dialects.support.checks import CheckError
from ...dialects.support.dtypes import numpy_dtype
from ..infra import FunctionPass, report_changed
from ..infra.remarks import missed
from ..infra.visitors import values_used_by
from .dead_code_elimination import eliminate_dead_code
from .infer_type import infer_function
from .purity import is_pure

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]
    Known: TypeAlias = "NDArray | Later | tuple[Known, ...]"

LARGE = 1 << 18
"""Bytes of an array that is made later."""

MAX_STEPS = 64
"""Steps of an array that is made later, at most: making it is recursive, and so is comparing it with another."""

_SURE = (LayoutTransformOp, TransposeOp, WinogradWeightTransformOp)
"""Operators that give a result whatever the elements are, beside those that are pointwise or see another shape."""


@dataclass(frozen=True)
class FoldConstantPass(FunctionPass):
    """Options: `fold-qnn` evaluates quantised operators too."""

    name = "fold-constant"
    opt_level: ClassVar[int] = 2
    tvm_name: ClassVar[str | None] = "FoldConstant"

    fold_qnn: bool = False

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        fold_constants(func, fold_qnn=self.fold_qnn)


def fold_constants(func: FuncOp, *, fold_qnn: bool = False) -> None:
    """Fold the constant subgraphs of `func`, and drop what is dead."""
    erased = eliminate_dead_code(func)
    folder = _Folder(fold_qnn)
    folder.run(func.body.block)
    if folder.retyped:
        infer_function(func, {})
    report_changed(erased or folder.changed)


def _mixes_symbols(op: DynOp) -> bool:
    """Whether it sees memory under another shape where several extents are open: not as an operator on elements."""
    return isinstance(op, DynReshapeOp) and shape_of(op.data).count(DYNAMIC) > 1


@dataclass
class _Folder:
    fold_qnn: bool
    known: dict[SSAValue, Known] = field(default_factory=dict[SSAValue, "Known"])
    """What a value is worth. Its operation stays in the block, without operands, until a constant takes its place."""
    folded: set[Operation] = field(default_factory=set[Operation])
    changed: bool = False
    retyped: bool = False
    """Whether a value has got a type that says more."""

    def run(self, block: Block) -> None:
        pending = deque(block.ops)
        while pending:
            op = pending.popleft()
            if isinstance(op, IfOp) and (holds := self.known.get(op.condition)) is not None:
                pending.extendleft(reversed(self._take_branch(op, bool(_array(holds)))))
                continue
            if isinstance(op, DynOp):
                op = self._told(op)
            if isinstance(op, ConstantOp):
                made_later = op.pending
                value = op.seen() if made_later is None else made_later
                if value is not None:
                    self.known[op.result] = value
            elif isinstance(op, TupleGetOp) and isinstance(source := op.tuple.owner, TupleOp) and source.fields:
                self._forward(op, source.fields[op.index.value.data])
            elif isinstance(op, OnDeviceOp) and self._is_known(op.body):
                if op.body.owner in self.folded:
                    self._materialize(op.body)
                self.known[op.result] = self._value(op.body)
            elif (values := self._evaluate(op)) is not None:
                self.known.update(zip(op.results, values, strict=True))
                self.folded.add(op)
                self._release(op)
            else:
                for operand in dict.fromkeys(op.operands):
                    if operand.owner in self.folded:
                        self._materialize(operand)
                if op.regions and not op.has_trait(IsolatedFromAbove):
                    for inner in [inner for region in op.regions for inner in region.blocks]:
                        self.run(inner)

    def _take_branch(self, op: IfOp, holds: bool) -> list[Operation]:
        """Have the branch that is taken stand in the place of an `if`; gives what is computed there."""
        block, outer = (op.then_region if holds else op.else_region).block, op.parent
        end = block.last_op
        assert end is not None and outer is not None
        moved, read = [each for each in block.ops if each is not end], values_used_by(op)
        for each in moved:
            each.detach()
            outer.insert_op_before(each, op)
        for result, given in zip(op.results, list(end.operands), strict=True):
            result.replace_all_uses_with(given)
        _erase(op)
        for value in read:
            self._drop_if_dead(value)
        self.changed = True
        return moved

    def _evaluate(self, op: Operation) -> list[Known] | None:
        """The values of `op`'s results, or `None` if it does not fold."""
        if isinstance(op, TupleOp):
            return [tuple(map(self._value, op.fields))] if all(map(self._is_known, op.fields)) else None
        if isinstance(op, TupleGetOp):
            value = self.known.get(op.tuple)
            return [value[op.index.value.data]] if isinstance(value, tuple) else None
        if isinstance(op, ShapeOfOp | NdarraySizeOp) and is_static(op.data.type):
            return [_measure(op)]
        if not op.operands or not self._folds(op) or not all(map(self._is_known, op.operands)):
            return None
        assert isinstance(op, RelayOp)
        try:
            return self._noted(op) or _evaluate(op, [self._value(operand) for operand in op.operands])
        except CheckError as error:
            missed("fold-constant", op, f"it is left to fail when it runs: {error.message}")
            return None

    def _noted(self, op: RelayOp) -> list[Known] | None:
        """The result of `op`, made later, where it is large and sure to be there when somebody asks for it."""
        if not _is_sure(op):
            return None
        type = tensor(op.results[0])
        dtype = numpy_dtype(type.element_type)
        given = [self._value(operand) for operand in op.operands]
        if prod(type.get_shape()) * dtype.itemsize < LARGE or any(isinstance(each, tuple) for each in given):
            return None
        later = [each for each in given if isinstance(each, Later)]
        if sum(each.steps for each in later) >= MAX_STEPS:
            return None
        if not later and (_is_view(op) or all(map(_is_one_element, given))):
            return None
        sources = [_source(operand, value) for operand, value in zip(op.operands, given, strict=True)]
        step = op.clone({}, {})
        step.operands = Block(arg_types=op.operand_types).args

        def make() -> NDArray:
            from ...dialects.relay.reference import evaluate_op

            return evaluate_op(step, list(map(_array, given)))[0]

        for each in later:
            each.readers += 1
        return [Later(type.get_shape(), dtype, make, (op.name, op.properties, *sources))]

    def _folds(self, op: Operation) -> bool:
        if not isinstance(op, RelayOp) or not is_pure(op) or not all(map(is_static, op.result_types)):
            return False
        return self.fold_qnn or not op.has_trait(NonComputational)

    def _is_known(self, value: SSAValue) -> bool:
        owner = value.owner
        return value in self.known or (isinstance(owner, RelayOp) and not owner.operands and self._folds(owner))

    def _value(self, value: SSAValue) -> Known:
        """What a known value is worth; operators without operands are evaluated here, at first need."""
        if value not in self.known:
            owner = value.owner
            assert isinstance(owner, RelayOp)
            self.known.update(zip(owner.results, _evaluate(owner, []), strict=True))
        return self.known[value]

    def _told(self, op: DynOp) -> Operation:
        """The operator that is told by properties what this one is by operands, in its place if these are known."""
        if not all(map(self._is_known, op.told())) or _mixes_symbols(op):
            return op
        values: list[NDArray] = []
        for value in map(self._value, op.told()):
            values.append(_array(value))
        static = op.told_by(*values)
        block = op.parent_block()
        assert block is not None
        block.insert_op_before(static, op)
        static.location = op.location
        for old, new in zip(op.results, static.results, strict=True):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        operands = dict.fromkeys(op.operands)
        _erase(op)
        for operand in operands:
            self._drop_if_dead(operand)
        self.changed = self.retyped = True
        return static

    def _forward(self, op: TupleGetOp, field: SSAValue) -> None:
        """Replace a projection of a tuple that is made in sight by the field."""
        source = op.tuple
        op.result.replace_all_uses_with(field)
        _erase(op)
        self._drop_if_dead(source)
        self.changed = True

    def _release(self, op: Operation) -> None:
        """Take the operands from a folded operation, and with them every value that it was the last to read."""
        operands = dict.fromkeys(op.operands)
        op.operands = ()
        for operand in operands:
            self._drop_if_dead(operand)

    def _drop_if_dead(self, value: SSAValue) -> None:
        owner = value.owner
        if not isinstance(owner, Operation) or any(result.first_use is not None for result in owner.results):
            return
        if isinstance(owner, TupleOp) or any(result in self.known for result in owner.results):
            for result in owner.results:
                self.known.pop(result, None)
            self.folded.discard(owner)
            noted = owner.body if isinstance(owner, OnDeviceOp) else None
            _erase(owner)
            if noted is not None:
                self._drop_if_dead(noted)

    def _materialize(self, value: SSAValue) -> None:
        """Put a constant in the place of a folded value."""
        owner = value.owner
        assert isinstance(owner, Operation)
        self.known[new := _constant(self.known[value], owner, value.name_hint)] = self.known[value]
        value.replace_all_uses_with(new)
        self._drop_if_dead(value)
        self.changed = True


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()


def _evaluate(op: RelayOp, operands: Sequence[Known]) -> list[Known]:
    """The results of `op`. Where all inputs are uniform, one element of a pointwise operator is computed for all."""
    import numpy as np

    from ...dialects.relay.reference import evaluate_compute, evaluate_op, specialize

    inputs = list(_flatten(operands))
    if inputs and all(map(_is_one_element, inputs)):
        elements = [array[(slice(0, 1),) * array.ndim] for array in inputs]
        if op.has_trait(Pointwise):
            return [np.broadcast_to(evaluate_compute(specialize(op, elements), elements)[0], shape_of(op.results[0]))]
        if isinstance(op, LayoutTransformOp) and prod(shape_of(op.result)) == inputs[0].size:  # none of them padding
            return [np.broadcast_to(elements[0].reshape(()), shape_of(op.result))]
    results = iter(evaluate_op(op, inputs))
    return [_unflatten(type, results) for type in op.result_types]


def _is_sure(op: RelayOp) -> bool:
    """Whether it has one result, whatever the elements are."""
    if len(op.results) != 1:
        return False
    return isinstance(op, _SURE) or op.has_trait(Pointwise) or op.has_trait(ReshapeLike)


def _is_view(op: RelayOp) -> bool:
    """Whether an array that is there becomes the result without a copy."""
    return op.has_trait(ReshapeLike) or isinstance(op, LayoutTransformOp | TransposeOp)


def _is_one_element(value: Known) -> bool:
    """Whether all elements are one in memory."""
    assert not isinstance(value, tuple | Later)
    return value.size > 0 and not any(value.strides)


def _source(value: SSAValue, known: Known) -> object:
    """What tells a value that something is made of from others: that two are equal says that their elements are."""
    if isinstance(known, Later):
        return known
    if isinstance(owner := value.owner, ConstantOp):
        return owner.value
    assert not isinstance(known, tuple)
    return array_to_attribute(known)


def _array(value: Known) -> NDArray:
    """The array that a value is, made now if it was not yet."""
    assert not isinstance(value, tuple)
    return value.array if isinstance(value, Later) else value


def _flatten(values: Iterable[Known]) -> Iterator[NDArray]:
    for value in values:
        if isinstance(value, tuple):
            yield from _flatten(value)
        else:
            yield _array(value)


def _unflatten(type: Attribute, arrays: Iterator[NDArray]) -> Known:
    if isinstance(type, TupleType):
        return tuple(_unflatten(field, arrays) for field in type.types)
    return next(arrays)


def _constant(value: Known, at: Operation, hint: str | None) -> SSAValue:
    """A constant, or a tuple of constants, that holds `value`, with the name and the location of what it replaces."""
    if isinstance(value, tuple):
        new = TupleOp(*(_constant(field, at, None) for field in value))
    elif isinstance(value, Later):
        new = ConstantOp.later(value, hint or "constant")
    else:
        new = ConstantOp.from_numpy(value, hint or "constant")
    block = at.parent
    assert block is not None
    block.insert_op_before(new, at)
    new.location = at.location
    new.result.name_hint = hint
    return new.result


def _measure(op: ShapeOfOp | NdarraySizeOp) -> NDArray:
    """The shape of the operand, or the number of its elements."""
    import numpy as np

    shape = shape_of(op.data)
    dtype = numpy_dtype(tensor(op.result).element_type)
    return np.array(shape if isinstance(op, ShapeOfOp) else np.prod(shape), dtype)
