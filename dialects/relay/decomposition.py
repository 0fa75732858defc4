"""Operators that are written as others: their `canonical` form is their meaning, from which all else follows.

    class DequantizeOp(WrittenOut):
        def canonical(self, emit: Emit) -> SSAValue:
            wide = emit(CastOp(self.data, dtype="int32"))
            return emit(MultiplyOp(emit(SubtractOp(wide, self.input_zero_point)), self.input_scale))

Their type relation and their evaluation read it; a pass that replaces them by it is all that compiling them takes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Operation, SSAValue

from .. import te
from ..support.dtypes import numpy_dtype
from .base import RelayOp, flatten_types
from .computing import compute_results
from .core import ConstantOp, TupleGetOp, TupleOp

if TYPE_CHECKING:
    import numpy.typing as npt


class Emit(Protocol):
    """What takes operations, and gives their results."""

    def __call__(self, op: RelayOp | ConstantOp | TupleOp | TupleGetOp) -> SSAValue: ...

    def constant(self, value: npt.ArrayLike, type: Attribute, name: str = ...) -> SSAValue: ...


class Writer:
    """Takes operations into a list."""

    def __init__(self) -> None:
        self.ops: list[Operation] = []

    def __call__(self, op: RelayOp | ConstantOp | TupleOp | TupleGetOp) -> SSAValue:
        self.ops.append(op)
        return op.results[0]

    def constant(self, value: npt.ArrayLike, type: Attribute, name: str = "constant") -> SSAValue:
        """A constant with elements of the scalar type `type`."""
        import numpy as np

        return self(ConstantOp.from_numpy(np.asarray(value, numpy_dtype(type)), name))

    def forget(self) -> None:
        """Drop the operations, so that they are no uses of what they read."""
        for op in reversed(self.ops):
            op.erase(safe_erase=False)  # one that was refused while it was made may read it


class WrittenOut(RelayOp, ABC):
    """An operator with one result that others make, of which single numbers are the only constants."""

    @abstractmethod
    def canonical(self, emit: Emit) -> SSAValue:
        """The operators that compute it, on its operands.

        Raises:
            VerifyException: the operands do not fit.
        """

    def check(self) -> None:
        """
        Raises:
            VerifyException: the operands are not what the operator is for.
        """

    def infer(self) -> Sequence[Attribute]:
        self.check()
        writer = Writer()
        try:
            return [self.canonical(writer).type]
        finally:
            writer.forget()

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        remaining = iter(inputs)
        tensors: dict[SSAValue, list[te.Tensor]] = {}
        for operand in self.operands:
            given = [next(remaining) for _ in flatten_types([operand.type])]
            tensors.setdefault(operand, given)  # an operand that stands twice is one tensor
        writer = Writer()
        try:
            result = self.canonical(writer)
            return self._computed(writer.ops, tensors)[result]
        finally:
            writer.forget()

    def _computed(
        self, ops: Sequence[Operation], given: dict[SSAValue, list[te.Tensor]]
    ) -> dict[SSAValue, list[te.Tensor]]:
        """The tensors of all values, from those of the operands."""
        tensors = dict(given)
        for op in ops:
            match op:
                case ConstantOp():
                    tensors[op.result] = [_number(op)]
                case TupleOp():
                    tensors[op.result] = [each for field in op.fields for each in tensors[field]]
                case TupleGetOp():
                    assert isinstance(op.tuple.type, TupleType)
                    widths = [len(flatten_types([type])) for type in op.tuple.type.types]
                    start = sum(widths[: op.index.value.data])
                    tensors[op.result] = tensors[op.tuple][start : start + widths[op.index.value.data]]
                case RelayOp():
                    found = compute_results(op, [each for operand in op.operands for each in tensors[operand]])
                    tensors.update(zip(op.results, ([each] for each in found), strict=True))
                case _:
                    raise TypeError(f"'{op.name}' is no operator")
        return tensors


def _number(op: ConstantOp) -> te.Tensor:
    """A single number, known where it is read."""
    array = op.numpy()
    assert array is not None and array.size == 1
    type = flatten_types([op.result.type])[0].element_type
    value = array.reshape(-1)[0].item()
    return te.compute(array.shape, lambda *_: te.const(value, type), "constant")
