"""Values that tell operators apart: of both signs, with zeros; and the special ones of floating point."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import AnyFloat, i1

from ..dialects.relay.base import DYNAMIC, Tensor, shape_of
from ..dialects.support.arguments import checked
from ..dialects.support.dtypes import numpy_dtype

NDArray = npt.NDArray[Any]

DYNAMIC_EXTENT = 3
"""What a dynamic dimension becomes."""


def _shape(type: Tensor) -> tuple[int, ...]:
    return tuple(DYNAMIC_EXTENT if n == DYNAMIC else n for n in shape_of(type))


@checked
def random_array(type: Tensor, rng: np.random.Generator, *, signed_integers: bool = True) -> NDArray:
    """Floats in (-2, 2), integers from -3 to 3 (from 0 for unsigned ones), truth values.

    Of several floats one is zero, of several truth values some are true and some are false.

    Args:
        signed_integers: without it, integers are 1 or 2: what counts or points at something must be in bounds.
    """
    shape = _shape(type)
    if type.element_type == i1:
        drawn = rng.integers(0, 2, shape).astype(bool)
        if drawn.size > 1 and drawn.all() == drawn.any():
            drawn.flat[rng.integers(drawn.size)] ^= True
        return drawn
    dtype = numpy_dtype(type.element_type)
    if not isinstance(type.element_type, AnyFloat):
        if not signed_integers:
            return rng.integers(1, 3, shape).astype(dtype)
        return rng.integers(0 if dtype.kind == "u" else -3, 4, shape).astype(dtype)
    drawn = rng.uniform(-2, 2, shape)
    if drawn.size > 1:
        drawn.flat[rng.integers(drawn.size)] = 0  # one only: ties would be broken in more than one way
    return drawn.astype(dtype)


SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-30, -1e30, 0.5, -0.5, 1.5)
"""Values at which functions of floats go wrong."""


@checked
def special_array(type: Tensor, rng: np.random.Generator) -> NDArray:
    """Floats drawn from `SPECIAL`; for other types as `random_array`."""
    if not isinstance(type.element_type, AnyFloat):
        return random_array(type, rng)
    with np.errstate(over="ignore"):
        return rng.choice(SPECIAL, _shape(type)).astype(numpy_dtype(type.element_type))
