"""Look up in a table what depends on one byte alone.

    %0 = relay.cast %q : to i32
    %1 = relay.subtract %0, %zero_point
    %2 = relay.cast %1 : to f32
    %3 = relay.multiply %2, %scale              ->     %t = relay.constant : tensor<256xui8>
    %4 = relay.sigmoid %3                              %y = relay.take %t, %q
    %5 = relay.divide %4, %scale_of_y
    ...
    %y = relay.cast %9 : to ui8

Networks of bytes compute their activations on numbers that were bytes and become bytes again. However long the way from
one to the other, there are 256 of them; the table holds what the interpreter gives for each. What reads two different
bytes, or a constant whose elements differ, has no table; neither has what is read in between as well, where it must be
computed anyway.

Does not: move what takes a few instructions (a change of scale), which is as fast as the look-up, nor small tensors,
for which a kernel of their own costs more. Counterpart of TVM's `create_integer_lookup_op`, which does so for single
operators of `qnn`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.relay.attributes import is_uniform
from ...dialects.relay.base import DYNAMIC, Pointwise, RelayOp, as_attribute, shape_of, tensor
from ...dialects.relay.core import ConstantOp, FuncOp
from ...dialects.relay.ops.gather import TakeOp
from ...dialects.relay.ops.nn.byte_products import is_unsigned_byte
from ...dialects.relay.ops.reinterpret import ReinterpretOp
from ...dialects.relay.reference import evaluate_op
from ...dialects.support.checks import CheckError
from ...dialects.support.dtypes import numpy_dtype
from ...dialects.support.retyping import retype
from ..infra import FunctionPass, report_changed
from ..infra.walk import walk
from .emitter import Emitter
from .fusion.costs import elements, is_expensive
from .purity import is_pure

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

BYTES = 256

COSTLY = 2
"""Operators that take dozens of instructions, or one for which others wait, from which on a look-up is faster. With one
alone, such as the division of a change of scale, vectors are as fast."""

FEW = 2048
"""Elements below which the start of a kernel takes longer than what the table saves."""


@dataclass(frozen=True)
class TabulateBytesPass(FunctionPass):
    """No options."""

    name = "tabulate-bytes"
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        blocks = [block for op in walk(func) for region in op.regions for block in region.blocks]
        report_changed(any([_Bytes(block).run() for block in blocks]))


@dataclass
class _Bytes:
    """The values of one block that depend on one byte each."""

    block: Block
    source: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Of a value made elementwise from the bytes of one tensor of its shape: that tensor."""

    def run(self) -> bool:
        for op in self.block.ops:
            if (source := self._source_of(op)) is not None:
                self.source[op.results[0]] = source
        ends = self._ends()
        unread = self._unread(ends)
        steps = {end: self._steps(end) for end in ends}
        worthwhile = [end for end in ends if sum(op in unread and is_expensive(op) for op in steps[end]) >= COSTLY]
        tables = [(end, table) for end in worthwhile if (table := self._table(steps[end])) is not None]
        for end, table in tables:
            self._look_up(end, table)
        return bool(tables)

    def _source_of(self, op: Operation) -> SSAValue | None:
        """The tensor of whose bytes `op` makes its result, element for element; `None` where there is no such one."""
        if not isinstance(op, RelayOp) or len(op.results) != 1 or not op.has_trait(Pointwise) or not is_pure(op):
            return None
        varying = [operand for operand in op.operands if not isinstance(operand.owner, ConstantOp)]
        sources = {self.source.get(operand, operand) for operand in varying}
        if len(sources) != 1:
            return None
        (source,) = sources
        if not (_is_tensor(source) and _is_bytes(source) and _is_tensor(op.results[0])):
            return None
        constants = [operand for operand in op.operands if isinstance(operand.owner, ConstantOp)]
        if shape_of(op.results[0]) != shape_of(source) or not all(_is_number(each, source) for each in constants):
            return None
        return source

    def _ends(self) -> list[Operation]:
        """What makes the last bytes on the ways from their sources to whoever reads what comes of them."""
        ends: set[Operation] = set()
        seen: set[SSAValue] = set()
        pending = [value for value, source in self.source.items() if self._is_read_beside(value, source)]
        while pending:
            value = pending.pop()
            if value in seen or value not in self.source:
                continue
            seen.add(value)
            assert isinstance(value.owner, Operation)
            if _is_bytes(value):
                ends.add(value.owner)
            else:
                pending += value.owner.operands
        return [op for op in self.block.ops if op in ends and elements(shape_of(op.results[0])) >= FEW]

    def _is_read_beside(self, value: SSAValue, source: SSAValue) -> bool:
        """Whether a value is read for more than to make others from the same source."""
        return any(self._source_of_results(use.operation) is not source for use in value.uses)

    def _source_of_results(self, op: Operation) -> SSAValue | None:
        return self.source.get(op.results[0]) if len(op.results) == 1 else None

    def _steps(self, end: Operation) -> list[Operation]:
        """What `end` is made of from its source on, operands first, and itself."""
        steps: dict[Operation, None] = {}
        pending = [(end, False)]
        while pending:
            op, is_done = pending.pop()
            if is_done:
                steps[op] = None
            elif op not in steps:
                pending.append((op, True))
                before = (operand.owner for operand in op.operands if operand in self.source)
                pending += [(each, False) for each in before if isinstance(each, Operation)]
        return list(steps)

    def _unread(self, ends: list[Operation]) -> set[Operation]:
        """What nobody reads any more once tables give the results of `ends`."""
        unread = set(ends)
        for op in reversed(list(self.block.ops)):
            if self._source_of_results(op) is not None and all(use.operation in unread for use in op.results[0].uses):
                unread.add(op)
        return unread

    def _table(self, steps: list[Operation]) -> NDArray | None:
        """What the last of `steps` gives for each byte of its source, in the order of the bytes' bits; `None` where a
        step refuses some byte, which is left to fail when it runs."""
        import numpy as np

        source = self.source[steps[-1].results[0]]
        each_byte = np.arange(BYTES, dtype=np.uint8).view(numpy_dtype(tensor(source).element_type))
        known: dict[SSAValue, NDArray] = {source: each_byte}
        for op in steps:
            assert isinstance(op, RelayOp)
            given = [known[operand] if operand in known else _number(operand) for operand in op.operands]
            alone = op.clone()
            elements = [tensor(operand).element_type for operand in op.operands]
            types = [TensorType(element, array.shape) for element, array in zip(elements, given, strict=True)]
            alone.operands = Block(arg_types=types).args
            retype(alone.results[0], alone.infer()[0])
            try:
                (known[op.results[0]],) = evaluate_op(alone, given)
            except CheckError:
                return None
        return known[steps[-1].results[0]]

    def _look_up(self, end: Operation, table: NDArray) -> None:
        """Put a look-up in `table` in the place of what `end` gives."""
        result = end.results[0]
        source = self.source[result]
        emit = Emitter()
        is_unsigned = is_unsigned_byte(tensor(source).element_type)
        index = source if is_unsigned else emit(ReinterpretOp(source, dtype=as_attribute("uint8")))
        looked_up = emit(TakeOp(emit(ConstantOp.from_numpy(table, "table")), index))
        emit.insert_before(end)
        looked_up.name_hint = result.name_hint
        result.replace_all_uses_with(looked_up)


def _is_tensor(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType)


def _is_bytes(value: SSAValue) -> bool:
    return is_unsigned_byte(tensor(value).element_type) is not None


def _number(constant: SSAValue) -> NDArray:
    """The number that all elements of a constant are, as an array of rank 0."""
    assert isinstance(constant.owner, ConstantOp)
    array = constant.owner.numpy()
    assert array is not None
    return array.flat[:1].reshape(())


def _is_number(constant: SSAValue, source: SSAValue) -> bool:
    """Whether the elements of a constant are one number, whichever of them an element of `source` meets."""
    assert isinstance(constant.owner, ConstantOp)
    if DYNAMIC in shape_of(source) and prod(shape_of(constant)) != 1:
        return False  # its extents may say what those of the source are
    array = constant.owner.numpy()
    return array is not None and is_uniform(array)
