"""Element types as texts that know their parts: `DataType("float32x4").lanes`."""

from __future__ import annotations

import re
from typing import Self

from xdsl.dialects.builtin import BFloat16Type, IntegerType, Signedness

from .arguments import checked
from .dtypes import scalar_type
from .hints import isa


class DataType(str):
    """A dtype by its name, `"int8"`, with `x` and a number of lanes for a vector, `"float32x4"`. It is that text.
    Counterpart of TVM's `DataType`."""

    bits: int
    """Of a lane."""
    lanes: int
    """1 unless it is a vector."""
    type_code: int
    """0: an integer with a sign, 1: one without, 2: a float, 4: a bfloat."""

    @checked
    def __new__(cls, type_str: str) -> Self:
        """
        Raises:
            TypeError: there is no such type.
        """
        made = super().__new__(cls, type_str)
        found = re.fullmatch(r"(.*?)(?:x(\d+))?", type_str)
        assert found is not None  # all may be in the first part
        scalar, lanes = found.groups()
        type = scalar_type(scalar)
        made.lanes = 1 if lanes is None else int(lanes)
        made.bits = int(getattr(type, "bitwidth", 64))
        if isa(type, IntegerType):
            is_unsigned = type.signedness.data == Signedness.UNSIGNED or made.bits == 1
            made.type_code = 1 if is_unsigned else 0
        else:
            made.type_code = 4 if isinstance(type, BFloat16Type) else 2
        return made
