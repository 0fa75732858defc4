"""Elements by the mean, the deviation or the sum of others (`tvm.topi.nn`)."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import te
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from ..broadcast import add, multiply
from ..relay_operators import computed, computed_all


@checked
def softmax(x: te.Tensor, axis: int = -1) -> te.Tensor:
    """`exp(x)` divided by the sum of it along a dimension."""
    return computed("nn.softmax", x, axis)


@checked
def fast_softmax(x: te.Tensor, axis: int = -1) -> te.Tensor:
    """The same, by a polynomial."""
    return computed("nn.fast_softmax", x, axis)


@checked
def log_softmax(x: te.Tensor, axis: int = -1) -> te.Tensor:
    """The logarithm of `softmax`."""
    return computed("nn.log_softmax", x, axis)


@checked
def batch_norm(
    data: te.Tensor,
    gamma: te.Tensor,
    beta: te.Tensor,
    moving_mean: te.Tensor,
    moving_var: te.Tensor,
    axis: int = 1,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> list[te.Tensor]:
    """`data` less the mean of its channel, divided by the deviation, times `gamma`, plus `beta`; then both as given."""
    given = (data, gamma, beta, moving_mean, moving_var)
    return [*computed_all("nn.batch_norm", *given, axis, epsilon, center, scale)[:1], moving_mean, moving_var]


@checked
def layer_norm(
    data: te.Tensor, gamma: te.Tensor, beta: te.Tensor, axis: int | Sequence[int] = -1, epsilon: float = 1e-5
) -> te.Tensor:
    """`data` less the mean along a dimension, divided by the deviation, times `gamma`, plus `beta`.

    Raises:
        UsageError: there are several dimensions.
    """
    return computed("nn.layer_norm", data, gamma, beta, _only(axis, "layer_norm"), epsilon)


def _only(axis: int | Sequence[int], what: str) -> int:
    axes = [axis] if isinstance(axis, int) else list(axis)
    if len(axes) != 1:
        raise UsageError(f"topi: {what} is along one dimension, not {len(axes)}", hint="reshape them into one")
    return axes[0]


@checked
def lrn(
    data: te.Tensor, size: int, axis: int = 1, alpha: float = 0.0001, beta: float = 0.75, bias: float = 2
) -> te.Tensor:
    """`data` divided by a power of the sum of squares of its neighbours along a dimension."""
    return computed("nn.lrn", data, size, axis, bias, alpha, beta)


@checked
def scale_shift_nchw(Input: te.Tensor, Scale: te.Tensor, Shift: te.Tensor) -> te.Tensor:
    """Each channel times its scale, plus its shift."""
    places = [computed("reshape", each, (-1, 1, 1)) for each in (Scale, Shift)]
    return add(multiply(Input, places[0]), places[1])


@checked
def scale_shift_nhwc(Input: te.Tensor, Scale: te.Tensor, Shift: te.Tensor) -> te.Tensor:
    """The same, of channels inside."""
    return add(multiply(Input, Scale), Shift)
