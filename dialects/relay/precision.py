"""What computing an operator in floats of half the width does to its result: see `RelayOp.PRECISION`."""

from __future__ import annotations

from enum import Enum


class Precision(Enum):
    """The classes of `to-mixed-precision`, as in TVM and TensorFlow."""

    ALWAYS = "computed in the short type: fast, and sums are formed in a longer one"
    FOLLOW = "computed in the short type where its operands are: no reason of its own to convert them"
    NEVER = "computed in the long type: a large sum, or results much larger than operands"
