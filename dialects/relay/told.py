"""Operators that are told by operands what others are told by properties: what is theirs alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.ir import Attribute, SSAValue

from .base import RelayOp
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

    def numpy(self, *inputs: NDArray) -> Sequence[NDArray]:
        from .reference import evaluate_op

        names = [name for name, _ in self.get_irdl_definition().operands]
        given = dict(zip(names, inputs, strict=True))
        op = self.told_by(*(given.pop(name) for name in self.TOLD))
        try:
            return evaluate_op(op, [given[name] for name in names if name in given])
        finally:
            op.erase()
