"""What kernels say of inputs that they may find overwritten, and the calls that make use of it; what calls pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects import func
from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerType
from xdsl.ir import Operation, SSAValue

from ..rt.core import SlotsType
from ..support.diagnostics import Diagnostic
from ..support.hints import isa
from .core import CallOp, CopyOp, buffer_type, byte_size, root_of, start_in_root

IN_PLACE = "weft.in_place"
"""Attribute of a kernel: places of inputs and of the outputs that may be in their memory, in pairs: `array<i64: 0, 1>`
of an input and an output, by their places among its arguments."""

Pairs: TypeAlias = Sequence[tuple[int, int]]


def overwritable(kernel: Operation) -> Pairs:
    """The inputs and outputs that a kernel says may have one memory."""
    said = kernel.attributes.get(IN_PLACE)
    if not isa(said, DenseArrayBase[IntegerType]):
        return ()
    places = [int(value) for value in said.get_values()]
    return tuple(zip(places[::2], places[1::2], strict=False))


def check_overlaps(op: CallOp | CopyOp, kernel: Operation) -> None:
    """See that a call writes over an input only where the kernel allows it.

    Raises:
        Diagnostic: it does so elsewhere.
    """
    if not isinstance(op, CallOp):
        return
    for number, source in enumerate(op.inputs):
        for place, target in enumerate(op.writes, len(op.inputs)):
            if not _overlap(source, target):
                continue
            same = start_in_root(source) == start_in_root(target)
            if not same or (number, place) not in overwritable(kernel):
                message = f"writes over its input {number}, and {op.callee} does not say that it can ({IN_PLACE})"
                raise Diagnostic.at(op, message, hint="give the output memory of its own")


def check_extents(op: CallOp | CopyOp, kernel: func.FuncOp) -> None:
    """See that a call passes as many extents as the kernel has symbols: its indices, but for the number of threads,
    which stands behind the slots by which a processor's share work.

    Raises:
        Diagnostic: it passes others.
    """
    types = kernel.function_type.inputs.data
    before = [None, *types]
    count = sum(isinstance(b, IndexType) and not isinstance(a, SlotsType) for a, b in zip(before, types, strict=False))
    if len(op.extents) != count:
        raise Diagnostic.at(op, f"passes {len(op.extents)} extents to {op.callee}, which takes {count}")


def _overlap(one: SSAValue, other: SSAValue) -> bool:
    """Whether two buffers have bytes in common; of buffers of unknown size, whether they are in one."""
    if root_of(one) is not root_of(other):
        return False
    sizes = [byte_size(buffer_type(value)) for value in (one, other)]
    if sizes[0] is None or sizes[1] is None:
        return True
    starts = [start_in_root(value) for value in (one, other)]
    return starts[0] < starts[1] + sizes[1] and starts[1] < starts[0] + sizes[0]
