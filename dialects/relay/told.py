"""Operators that are told by operands what others are told by properties: what is theirs alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from .. import te
from ..support.diagnostics import Diagnostic
from ..support.dtypes import numpy_dtype
from ..te.contents import Number, contents
from .base import RelayOp, compatible, flatten_types, tensor
from .core import ConstantOp

if TYPE_CHECKING:
    from .base import NDArray


class DynOp(RelayOp, ABC):
    """An operator of which the operands named in `TOLD` say what it gives, as properties of another do."""

    TOLD: ClassVar[tuple[str, ...]]

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    @abstractmethod
    def told_by(self, *values: NDArray) -> RelayOp:
        """The operator that is told by properties what the operands of `TOLD` say.

        Raises:
            VerifyException: it cannot be that.
        """

    @abstractmethod
    def open_type(self) -> Attribute:
        """The type of the result as far as it does not depend on data.

        Raises:
            VerifyException: the operands do not fit.
        """

    @classmethod
    def has_compute(cls) -> bool:
        """Not by itself: what tells it has to be known, if only as made of extents."""
        return False

    def told_extents(self) -> Sequence[SSAValue]:
        return self.told()

    def told(self) -> list[SSAValue]:
        """The operands of `TOLD`."""
        return [getattr(self, name) for name in self.TOLD]

    def infer(self) -> Sequence[Attribute]:
        type = self.open_type()
        values = [value.owner.numpy() if isinstance(value.owner, ConstantOp) else None for value in self.told()]
        known = [value for value in values if value is not None]
        if len(known) != len(values):
            return [type]
        op = self.told_by(*known)
        types = op.result_types
        op.erase()
        return types

    def compute(self, *inputs: te.Tensor) -> te.Tensor | Sequence[te.Tensor]:
        names = [name for name, _ in self.get_irdl_definition().operands]
        given = dict(zip(names, inputs, strict=True))
        values = [self.contents_of(name, given.pop(name)) for name in self.TOLD]
        data = [given[name] for name in names if name in given]
        numbers = [[n for n in value if not isinstance(n, te.Expr)] for value in values]
        if [len(each) for each in numbers] != [len(value) for value in values]:
            return self.compute_symbolic(values, *data)
        from .computing import compute_results

        op = self.told_by(*(self._array(name, each) for name, each in zip(self.TOLD, numbers, strict=True)))
        try:
            return compute_results(op, data)
        finally:
            op.erase()

    def compute_symbolic(
        self, told: Sequence[Sequence[te.Dim | float]], *data: te.Tensor
    ) -> te.Tensor | Sequence[te.Tensor]:
        """The result where what is told is made of symbols: `told` are the elements of the operands of `TOLD`, and
        `data` the other operands.

        Raises:
            TypeError: there is none.
        """
        raise TypeError("te: it takes numbers that are known when it is compiled")

    def contents_of(self, name: str, tensor: te.Tensor) -> list[te.Dim | float]:
        """What an operand of `TOLD` holds.

        Raises:
            TypeError: that is known only when it runs.
        """
        found = self.elements_of(name, tensor)
        known = [value for value in found if value is not None]
        if len(known) != len(found) or not all(isinstance(dim, int) for dim in tensor.dims):
            raise TypeError(f"te: what '{name}' holds is known only when it runs")
        return known

    def elements_of(self, name: str, tensor: te.Tensor) -> Sequence[Number]:
        """The elements of an operand of `TOLD`, `None` for what is known only when it runs; nothing of many."""
        owner = getattr(self, name).owner
        if isinstance(owner, ConstantOp) and (array := owner.numpy()) is not None:
            return [value.item() for value in array.reshape(-1)]
        return contents(tensor) or []

    def _array(self, name: str, values: Sequence[te.Dim | float]) -> NDArray:
        import numpy as np

        type = tensor(getattr(self, name))
        return np.array(values, numpy_dtype(type.element_type)).reshape(type.get_shape())

    def numpy(self, *inputs: NDArray) -> Sequence[NDArray]:
        from .reference import evaluate_op

        names = [name for name, _ in self.get_irdl_definition().operands]
        given = dict(zip(names, inputs, strict=True))
        try:
            op = self.told_by(*(given.pop(name) for name in self.TOLD))
        except VerifyException as error:
            raise Diagnostic.at(self, str(error)) from error
        try:
            results = evaluate_op(op, [given[name] for name in names if name in given])
        finally:
            op.erase()
        for type, array in zip(flatten_types(self.result_types), results, strict=True):
            if not compatible(type, TensorType(type.element_type, array.shape)):
                raise Diagnostic.at(self, f"is told to give an array of shape {array.shape}, but declares {type}")
        return results
