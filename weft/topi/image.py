"""Images (`tvm.topi.image`)."""

from __future__ import annotations

from collections.abc import Sequence

from ..dialects import te
from ..dialects.support.arguments import checked
from .relay_operators import computed


@checked
def resize2d(
    data: te.Tensor,
    roi: Sequence[float],
    size: Sequence[int],
    layout: str = "NCHW",
    method: str = "linear",
    coordinate_transformation_mode: str = "half_pixel",
    rounding_method: str = "",
    bicubic_alpha: float = -0.5,
    bicubic_exclude: int = 0,
    extrapolation_value: float = 0.0,
    out_dtype: str | None = None,
) -> te.Tensor:
    """An image, or the part `roi` of it, of another size."""
    return computed(
        "image.resize2d", data, tuple(size), tuple(roi) or None, layout, method, coordinate_transformation_mode,
        rounding_method, bicubic_alpha, bicubic_exclude, extrapolation_value, out_dtype,
    )  # fmt: skip


@checked
def grid_sample(
    data: te.Tensor,
    grid: te.Tensor,
    method: str = "bilinear",
    layout: str = "NCHW",
    padding_mode: str = "zeros",
    align_corners: bool = True,
) -> te.Tensor:
    """The image at places that a grid says, from -1 to 1."""
    return computed("image.grid_sample", data, grid, method, layout, padding_mode, align_corners)
