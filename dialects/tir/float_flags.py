"""What float operations of `tir` may be changed into, unless they say otherwise."""

from __future__ import annotations

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.utils import FastMathFlag

CONTRACT = FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])
"""A multiplication and the addition of its product may become one fused operation."""
REASSOCIATE = FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT, FastMathFlag.REASSOC])
"""Also: the terms of a sum may be added in any order."""
NO_SIGNED_ZERO = FastMathFlagsAttr([FastMathFlag.NO_SIGNED_ZEROS])
"""0 and -0 may stand for each other."""
NONE = FastMathFlagsAttr("none")
"""It stays as it is."""
