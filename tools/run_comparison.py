"""Whether two results are the same, to a tolerance that follows from the graph, or that is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from weft.dialects.support.diagnostics import Diagnostic
from weft.testing.tolerance import Tolerance, difference, usual_tolerance

if TYPE_CHECKING:
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Allowance:
    """What a user allows: `|a - b| <= atol + rtol * |b|`, in place of all that the graph says; one that is not given
    is 0 where the other is."""

    atol: float | None = None
    rtol: float | None = None

    def of(self, tolerance: Tolerance) -> Tolerance:
        """What is allowed where the graph says `tolerance`."""
        if self.rtol is None and self.atol is None:
            return tolerance
        return Tolerance(self.rtol or 0.0, absolute=self.atol or 0.0)


def compare(
    got: Mapping[str, NDArray],
    wanted: Mapping[str, NDArray],
    what: str,
    limits: Allowance = Allowance(),
    tolerances: Mapping[str, Tolerance] = MappingProxyType({}),
) -> float:
    """Compare outputs by name. NaN equals NaN, and an infinity itself.

    Args:
        got: what is judged.
        wanted: what it is to be, which is of `what`.
        what: where that comes from, for messages.
        limits: what a user allows.
        tolerances: what the graph says, by the outputs' names; without it, the element type decides.

    Returns:
        The greatest absolute difference of finite elements.

    Raises:
        Diagnostic: an output is missing on either side, or has another shape, dtype or value than `wanted`.
    """
    greatest = 0.0
    if extra := [name for name in got if name not in wanted]:
        raise Diagnostic(f"{what} has no output '{extra[0]}'; its outputs: {', '.join(wanted)}")
    for name, expected in wanted.items():
        if name not in got:
            raise Diagnostic(f"there is no output '{name}', which {what} has; outputs: {', '.join(got)}")
        tolerance = limits.of(tolerances.get(name) or usual_tolerance(expected.dtype))
        greatest = max(greatest, _compare(name, got[name], expected, what, tolerance))
    return greatest


def _compare(name: str, got: NDArray, wanted: NDArray, what: str, tolerance: Tolerance) -> float:
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        raise Diagnostic(
            f"output '{name}' is {got.dtype.name}{list(got.shape)}, but {what} gives "
            f"{wanted.dtype.name}{list(wanted.shape)}"
        )
    if not got.size:
        return 0.0
    excess = tolerance.excess(got, wanted)
    if excess.any():
        place = tuple(map(int, np.unravel_index(np.argmax(excess), excess.shape)))
        raise Diagnostic(
            f"output '{name}' differs from {what} in {np.count_nonzero(excess)} of {got.size} elements; "
            f"at {list(place)} it is {got[place]}, not {wanted[place]} ({tolerance})"
        )
    error = difference(got, wanted)
    finite = error[np.isfinite(error)]
    return float(finite.max()) if finite.size else 0.0
