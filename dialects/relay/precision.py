"""How exactly operators are computed, and what computing them in floats of half the width does to their results.

`Accuracy` is the one place that says by how much two computations of the same may differ. Machine code, the
interpreter, ONNX Runtime and TVM round in other places and add in another order. What they may differ by follows from
what an operator does to its elements, which its class says (`RelayOp.accuracy`), from their type, and from how many of
them are added up. `weft.testing.tolerance` adds this up over graphs, and compares.
"""

from __future__ import annotations

from enum import Enum
from math import isqrt


class Precision(Enum):
    """See `RelayOp.PRECISION`. The classes of `to-mixed-precision`, as in TVM and TensorFlow."""

    ALWAYS = "computed in the short type: fast, and sums are formed in a longer one"
    FOLLOW = "computed in the short type where its operands are: no reason of its own to convert them"
    NEVER = "computed in the long type: a large sum, or results much larger than operands"


SINGLE = 2.0**-23
"""The unit in the last place of 1 in f32."""

LEAST_NORMAL = 2.0**-126
"""The least number of f32 that has all its bits."""


class Accuracy(Enum):
    """What is done to elements, and so how exactly results are known."""

    EXACT = "elements are moved, chosen, compared or counted"
    ROUNDED = "each element is rounded, once or a few times"
    FUNCTION = "functions of each element are approximated"
    VANISHING = "functions of each element are approximated, and 0 where f32 has no normal number"
    SUMMED = "elements are added up, in any order, or sums of functions of a few may cancel"
    PLACED = "read between elements, at places computed in f32"

    def ulps(self, terms: int = 1) -> int:
        """By how many units in the last place two results may differ.

        Args:
            terms: how many elements are added up for one of the result. Errors of single sums mostly cancel each other:
                they grow with the root of the number (Higham, Accuracy and Stability of Numerical Algorithms, 2.8).
        """
        match self:
            case Accuracy.EXACT:
                return 0
            case Accuracy.ROUNDED:
                return 2
            case Accuracy.FUNCTION | Accuracy.VANISHING:
                return 8
            case Accuracy.SUMMED:
                return 16 + 2 * isqrt(max(terms, 1))
            case Accuracy.PLACED:
                return 64

    def error(self, epsilon: float, terms: int = 1) -> float:
        """The same as a part of the result, of a type whose unit in the last place of 1 is `epsilon`. Sums of shorter
        floats are formed in f32, and places are computed in it: what is rounded to the type is the end of it."""
        if self is Accuracy.PLACED or (self is Accuracy.SUMMED and epsilon > SINGLE):
            return Accuracy.FUNCTION.ulps() * epsilon + self.ulps(terms) * SINGLE
        return self.ulps(terms) * epsilon

    @property
    def absolute(self) -> float:
        """What is allowed beside that."""
        return LEAST_NORMAL if self is Accuracy.VANISHING else 0.0

    @property
    def mixes(self) -> bool:
        """Whether small elements of a result are made of large ones, so that an error is measured by the largest."""
        return self in (Accuracy.SUMMED, Accuracy.PLACED)
