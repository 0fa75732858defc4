"""What a rule may assume of the processor."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Attribute

from ....dialects.support.dtypes import byte_width


@dataclass(frozen=True)
class VectorRegisters:
    """The vector registers of a target: how many, and how many bytes each holds."""

    count: int = 32
    bytes: int = 64

    def lanes(self, type: Attribute) -> int:
        """Elements of a scalar type in one register."""
        return max(1, self.bytes // byte_width(type))
