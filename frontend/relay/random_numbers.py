"""TVM's calls of the operators that draw random numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dialects.support.arguments import checked
from .expr import Expr, Operand, const
from .operators import operator


@checked
def threefry_key(seed: int) -> Expr:
    """The key of a seed, a number of up to 256 bits, from which random numbers are drawn."""
    words = [seed >> 64 * place & 2**64 - 1 for place in (3, 2, 1, 0)]
    return const(np.array([*words, 0, 0, 0, 0, 1 << 63, 0], np.uint64))


@checked
def uniform(
    key: Operand, shape: Sequence[int], dtype: str = "float32", low: Operand = 0.0, high: Operand = 1.0
) -> Expr:
    """The next key, and numbers from `low` to just below `high`."""
    return operator("random.uniform")(key, _parameter(low, dtype), _parameter(high, dtype), shape, dtype)


@checked
def normal(
    key: Operand, shape: Sequence[int], dtype: str = "float32", mean: Operand = 0.0, scale: Operand = 1.0
) -> Expr:
    """The next key, and numbers of a normal distribution."""
    return operator("random.normal")(key, _parameter(mean, dtype), _parameter(scale, dtype), shape, dtype)


def _parameter(value: Operand, dtype: str) -> Expr:
    return value if isinstance(value, Expr) else const(np.asarray(value), dtype)


RANDOM = {"random.threefry_key": threefry_key, "random.uniform": uniform, "random.normal": normal}
"""By their names without `relay.`."""
