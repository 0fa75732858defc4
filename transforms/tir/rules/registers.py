"""What a rule may assume of the processor."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Attribute

from ....dialects.support.dtypes import byte_width
from ....dialects.support.machine_model import MachineModel


@dataclass(frozen=True)
class VectorRegisters:
    """The vector registers of a target, how many, and how many bytes each holds; and what it takes for work.

    `each` is in how many registers a vector stands that a tile's rows share: in more than one where the instructions
    take other numbers than memory has."""

    count: int = 32
    bytes: int = 64
    machine: MachineModel = field(default_factory=MachineModel)
    each: int = 1

    def lanes(self, type: Attribute) -> int:
        """Elements of a scalar type in one register."""
        return max(1, self.bytes // byte_width(type))
