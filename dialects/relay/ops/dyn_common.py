"""What the operators that are told by operands share: `relay.dyn`."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...te.assume import at_most
from ...te.dims import as_dim
from ..base import (
    DYNAMIC,
    Fusion,
    FusionPattern,
    tensor,
)
from ..told import DynOp

if TYPE_CHECKING:
    from ..base import NDArray


def numbers(values: NDArray) -> list[int]:
    """The integers of a tensor."""
    return [int(value) for value in values.reshape(-1)]


def integers(told: Sequence[te.Dim | float]) -> list[te.Dim]:
    """What is told, which are no floats.

    Raises:
        TypeError: there is one.
    """
    if any(isinstance(n, float) for n in told):
        raise TypeError("te: an extent is an integer")
    return [n for n in told if not isinstance(n, float)]


def extents(told: Sequence[te.Dim | float]) -> list[int]:
    """What is told as extents, which compute like integers (`te.Tensor.shape`); they are asked not to be negative.

    Raises:
        TypeError: one is.
    """
    found = [as_dim(n) for n in integers(told)]
    if not all(at_most(0, n) for n in found):
        raise TypeError("te: an extent is negative")
    return cast("list[int]", found)


def count_of(value: SSAValue, what: str) -> int:
    """How many integers a vector has, which must be known.

    Raises:
        VerifyException: it is no vector of integers, or has an open extent.
    """
    type = tensor(value)
    shape = type.get_shape()
    if not isinstance(type.element_type, IntegerType) or len(shape) != 1 or shape[0] == DYNAMIC:
        raise VerifyException(f"{what} must be a vector of a known number of integers, got {type}")
    return shape[0]


def open_tensor(element: Attribute, rank: int) -> Attribute:
    """A tensor of which nothing but the rank is known."""
    return TensorType(element, [DYNAMIC] * rank)


class OfData(DynOp, ABC):
    """An operator on data, of injective pattern."""

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE))
