"""Whether networks of bytes are computed with bytes on a target, or with the floats that these stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.passes import ModulePass

if TYPE_CHECKING:
    from ..dialects.support.vector_unit import VectorUnit

LEFT_FACTORS = {"vnni": "uint8", "dotprod": "int8", "pmaddwd": None}
"""What the instructions for dot products of bytes take to multiply with bytes that have a sign; `None`: any."""


def on_bytes(unit: VectorUnit, dot: str | None) -> list[ModulePass]:
    """They are where products of bytes are summed faster than those of floats. By `pmaddwd` in vectors of 64 bytes they
    are not: the two units that multiply floats have to add up as well."""
    from ..transforms.relay.sink_dequantize import SinkDequantizePass

    if dot is None or (dot == "pmaddwd" and unit.bytes == 64):
        return []
    return [SinkDequantizePass(data=LEFT_FACTORS[dot])]
