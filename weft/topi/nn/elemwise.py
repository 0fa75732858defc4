"""Functions of each element, with a rule for those below 0 (`tvm.topi.nn.elemwise`)."""

from __future__ import annotations

from ...dialects import te
from ...dialects.support.arguments import checked
from ..relay_operators import computed


@checked
def relu(x: te.Tensor) -> te.Tensor:
    """The greater of each element and 0."""
    return computed("nn.relu", x)


@checked
def leaky_relu(x: te.Tensor, alpha: float) -> te.Tensor:
    """The elements above 0, and `alpha` times the others."""
    return computed("nn.leaky_relu", x, alpha)


@checked
def prelu(x: te.Tensor, slope: te.Tensor, axis: int = 1) -> te.Tensor:
    """The elements above 0, and the others times the slope of their channel."""
    return computed("nn.prelu", x, slope, axis)
