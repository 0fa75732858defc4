"""Whether two results are the same, to a tolerance that their element type sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from weft.dialects.support.diagnostics import Diagnostic

if TYPE_CHECKING:
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

TOLERANCES = {"float64": (1e-9, 1e-9), "float32": (1e-5, 1e-4), "float16": (1e-2, 1e-2), "bfloat16": (5e-2, 5e-2)}
"""Absolute and relative tolerance by dtype; other types must be equal."""


@dataclass(frozen=True)
class Tolerance:
    """`|a - b| <= atol + rtol * |b|`; what is not given comes from the dtype."""

    atol: float | None = None
    rtol: float | None = None

    def of(self, dtype: np.dtype[np.generic]) -> tuple[float, float]:
        atol, rtol = TOLERANCES.get(dtype.name, (0.0, 0.0))
        return atol if self.atol is None else self.atol, rtol if self.rtol is None else self.rtol


def compare(got: Mapping[str, NDArray], wanted: Mapping[str, NDArray], what: str, tolerance: Tolerance) -> float:
    """Compare outputs by name. NaN equals NaN, and an infinity itself.

    Returns:
        The greatest absolute difference of finite elements.

    Raises:
        Diagnostic: an output is missing on either side, or has another shape, dtype or value than `wanted`, which is
            of `what`.
    """
    greatest = 0.0
    if extra := [name for name in got if name not in wanted]:
        raise Diagnostic(f"{what} has no output '{extra[0]}'; its outputs: {', '.join(wanted)}")
    for name, expected in wanted.items():
        if name not in got:
            raise Diagnostic(f"there is no output '{name}', which {what} has; outputs: {', '.join(got)}")
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
    atol, rtol = tolerance.of(got.dtype)
    exact = got.dtype.kind in "biu"
    a, b = (x.astype(np.longdouble if exact else np.float64) for x in (got, wanted))
    with np.errstate(all="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        error = np.where(same, 0, np.abs(a - b))
        bad = ~(same | (np.isfinite(b) & (error <= atol + rtol * np.abs(b))))
        finite = error[np.isfinite(error)]
    if bad.any():
        excess = np.where(bad, np.nan_to_num(error, nan=np.inf, posinf=np.inf), -1)
        place = tuple(map(int, np.unravel_index(np.argmax(excess), excess.shape)))
        raise Diagnostic(
            f"output '{name}' differs from {what} in {np.count_nonzero(bad)} of {got.size} elements; "
            f"at {list(place)} it is {got[place]}, not {wanted[place]} (atol {atol:g}, rtol {rtol:g})"
        )
    return float(finite.max()) if finite.size else 0.0
