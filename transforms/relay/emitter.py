"""Write graphs as formulas: every operation is collected, its value returned.

emit = Emitter()
scale = emit(MultiplyOp(gamma, emit(RsqrtOp(variance))))
rewriter.replace(op, emit.ops)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.relay.base import RelayOp
from ...dialects.relay.core import ConstantOp, TupleGetOp, TupleOp
from ...dialects.support.dtypes import numpy_dtype

if TYPE_CHECKING:
    import numpy.typing as npt


class Emitter:
    """Collects operations in the order in which they are made."""

    def __init__(self) -> None:
        self.ops: list[Operation] = []

    def __call__(self, op: RelayOp | ConstantOp | TupleOp | TupleGetOp) -> SSAValue:
        """Take an operation with one result, and return that."""
        return self.insert(op)

    def insert(self, op: Operation) -> SSAValue:
        """The same, of any operation."""
        self.ops.append(op)
        return op.results[0]

    def constant(self, value: npt.ArrayLike, type: Attribute, name: str = "constant") -> SSAValue:
        """A constant with elements of the scalar type `type`; a Python number gives a tensor of rank 0."""
        import numpy as np

        return self(ConstantOp.from_numpy(np.asarray(value, numpy_dtype(type)), name))

    def insert_before(self, op: Operation) -> None:
        """Put what was collected before an operation, at its place in the source."""
        block = op.parent
        assert block is not None
        for made in self.ops:
            made.location = op.location
            block.insert_op_before(made, op)

    def erase(self) -> None:
        """Drop what was collected, none of which is used elsewhere."""
        for made in reversed(self.ops):
            made.erase()
        self.ops.clear()
