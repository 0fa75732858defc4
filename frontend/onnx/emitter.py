"""Writes `relay` operations for one ONNX node after the other, and looks at constants on the way."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, LocationAttr, NameLoc, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.relay.base import RelayOp, Stateful, flatten_types, is_static
from ...dialects.relay.core import ConstantOp, ReturnOp, TupleGetOp, TupleOp
from ...dialects.relay.reference import evaluate_op
from ...dialects.support.checks import CheckError
from .tensors import check_fits, decode

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from onnx import TensorProto

    NDArray: TypeAlias = npt.NDArray[np.generic]

MAX_EVALUATED_ELEMENTS = 1 << 20
"""Constant expressions with larger operands or results are left to `fold-constant`."""


def identifier(name: str) -> str:
    """An ONNX value name as an SSA name or a resource key: `gpu_0/conv1:0` -> `gpu_0_conv1_0`."""
    name = re.sub(r"[^\w$.-]", "_", name, flags=re.ASCII)
    return name if re.match(r"[A-Za-z_$.-]", name) else f"v{name}"


class Emitter:
    """Appends operations to a block.

    Args:
        block: where to.
        file: name of the model's file, for locations.
        directory: the folder in which data outside the model's file is looked for.
    """

    def __init__(self, block: Block, file: str, directory: Path | None):
        self.block = block
        self._outermost = block
        self.directory = directory
        self._file = FileLineColLoc(StringAttr(file), IntAttr(0), IntAttr(0))
        self._location: LocationAttr = self._file
        self._evaluated: dict[SSAValue, list[NDArray] | None] = {}

    def location_of(self, name: str) -> LocationAttr:
        """The location of the model's node or value `name`."""
        return NameLoc(StringAttr(name), self._file)

    def enter(self, name: str) -> None:
        """Place the operations that follow at the model's node `name`."""
        self._location = self.location_of(name)

    @property
    def location(self) -> LocationAttr:
        """Where what is inserted is placed."""
        return self._location

    @contextmanager
    def within(self, block: Block) -> Generator[Block]:
        """Append to another block meanwhile, which an operation will have that is appended afterwards. Constants stand
        outside, where all that follows sees them."""
        around, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = around

    def insert(self, op: Operation) -> None:
        """Append `op`, with the current location.

        Raises:
            Malformed: its results fit into no memory.
        """
        for type in flatten_types([result.type for result in op.results]):
            check_fits(type)
        op.location = self._location
        self.block.add_op(op)

    def constant(self, array: NDArray, name: str) -> SSAValue:
        """A constant; `name` becomes part of a large one's key.

        Raises:
            TypeError: Weft has no element type for the array's dtype.
        """
        op = ConstantOp.from_numpy(array, identifier(name))
        with self.within(self._outermost):
            self.insert(op)
        return op.result

    def tuple(self, fields: Sequence[SSAValue]) -> SSAValue:
        op = TupleOp(*fields)
        self.insert(op)
        return op.result

    def tuple_get(self, value: SSAValue, index: int) -> SSAValue:
        op = TupleGetOp(value, index)
        self.insert(op)
        return op.result

    def decode(self, tensor: TensorProto) -> NDArray:
        """The array of a tensor that stands in the model, or in a file beside it."""
        return decode(tensor, self.directory)

    def evaluate(self, value: SSAValue) -> NDArray | None:
        """The tensor that `value` is, if that follows from constants; `None` otherwise.

        Operators are evaluated by their own meaning (`compute`), so that shape arithmetic needs no second definition.
        """
        pending = [value]
        while pending:
            current = pending[-1]
            op = current.owner
            if current in self._evaluated:
                pending.pop()
            elif not isinstance(op, ConstantOp | TupleOp | TupleGetOp | RelayOp) or not _is_small(op):
                self._evaluated[current] = None
            elif missing := [v for v in op.operands if v not in self._evaluated]:
                pending += missing
            else:
                self._evaluated[op.results[0]] = self._evaluate(op)
        arrays = self._evaluated[value]
        return arrays[0] if arrays else None

    def _evaluate(self, op: Operation) -> list[NDArray] | None:
        """The result of an operation whose operands were evaluated; tuples are lists of tensors."""
        inputs: list[list[NDArray]] = []
        for operand in op.operands:
            arrays = self._evaluated[operand]
            if arrays is None:
                return None
            inputs.append(arrays)
        match op:
            case ConstantOp():
                array = op.numpy()
                return None if array is None else [array]
            case TupleOp():
                return [array for arrays in inputs for array in arrays]
            case TupleGetOp():
                return [inputs[0][op.index.value.data]]
            case RelayOp():
                try:
                    return evaluate_op(op, [array for arrays in inputs for array in arrays])
                except CheckError:  # it fails when it runs, if it does
                    return None
            case _:
                return None

    def finish(self, results: Sequence[SSAValue]) -> None:
        """Return `results`, and drop what only served to find out constants."""
        self._location = self._file
        self.insert(ReturnOp(*results))
        for op in reversed(list(self.block.ops)):
            if op.results and not any(r.first_use for r in op.results) and not op.has_trait(Stateful):
                op.detach()
                op.erase()


def _is_small(op: Operation) -> bool:
    """Whether an operation may be evaluated while importing: neither what it reads nor what it makes is large."""
    if isinstance(op, ConstantOp):
        return True
    types = [value.type for value in (*op.operands, *op.results)]
    return all(map(is_static, types)) and all(
        prod(type.get_shape()) <= MAX_EVALUATED_ELEMENTS for type in flatten_types(types)
    )
