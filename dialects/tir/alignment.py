"""How far apart neighbours along a dimension lie in memory, where a block says so of a buffer that it writes.

    attributes {buffer_dim_align = [[0, 0, 32, 8]]}

is a list of entries `[buffer, axis, factor, offset]`: neighbours along `axis` of the buffer of that number, among those
that the block writes, are a multiple of `factor`, and `offset`, elements apart: the next such distance from that in a
dense buffer. The elements in between mean nothing. Counterpart of TVM's `buffer_dim_align`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..support.hints import isa
from .buffers import memref_of

BUFFER_DIM_ALIGN = "buffer_dim_align"


@dataclass(frozen=True)
class Alignment:
    """One entry."""

    buffer: int
    axis: int
    factor: int
    offset: int

    def stride(self, dense: int) -> int:
        """The least distance from `dense` on."""
        return dense + (self.offset - dense) % self.factor


def alignments(attribute: Attribute | None, written: Sequence[SSAValue]) -> list[Alignment]:
    """What a block says of the buffers that it writes.

    Raises:
        VerifyException: the attribute is not of the form, or speaks of a buffer or dimension that there is not.
    """
    if attribute is None:
        return []
    form = f"{BUFFER_DIM_ALIGN} is a list of [buffer, axis, factor, offset]"
    if not isa(attribute, ArrayAttr[ArrayAttr[IntegerAttr]]):
        raise VerifyException(form)
    found: list[Alignment] = []
    for entry in attribute:
        if len(entry) != 4:
            raise VerifyException(form)
        each = Alignment(*(number.value.data for number in entry))
        if not 0 <= each.buffer < len(written):
            raise VerifyException(f"{BUFFER_DIM_ALIGN}: the block writes {len(written)} buffers, none of {each.buffer}")
        rank = len(memref_of(written[each.buffer]).get_shape())
        if not 0 <= each.axis < rank:
            raise VerifyException(f"{BUFFER_DIM_ALIGN}: a buffer of {rank} dimensions has none of number {each.axis}")
        if each.factor < 1:
            raise VerifyException(f"{BUFFER_DIM_ALIGN}: the factor {each.factor} is not positive")
        found.append(each)
    return found
