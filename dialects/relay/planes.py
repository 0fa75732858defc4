"""Planes of volumes as images of a batch, of which each plane of a result sees several.

A convolution along three axes is one along two whose images are planes: plane `d` of a result sees the planes `d *
stride + k * dilation` of the data, of which `before` and `after` are zeros around those that are held. They are more
channels to it, those of plane `k` behind those of all before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from xdsl.utils.exceptions import VerifyException

from .. import te
from .base import DYNAMIC
from .nn_common import pad_stage

if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt


@dataclass(frozen=True)
class Planes:
    """How planes are seen."""

    held: int
    """Of a volume of the data."""
    seen: int
    """By each plane of the result."""
    stride: int = 1
    dilation: int = 1
    before: int = 0
    after: int = 0

    @staticmethod
    def of(numbers: Sequence[int]) -> Planes | None:
        """Those that the six numbers of an operator's property `planes` say; `None` where it has none.

        Raises:
            VerifyException: they are not six, or no planes can be so.
        """
        if not numbers:
            return None
        if len(numbers) != 6:
            raise VerifyException(f"'planes' has six numbers, not {len(numbers)}")
        planes = Planes(*numbers)
        if min(numbers[:4]) < 1 or min(numbers[4:]) < 0 or planes.made < 1:
            raise VerifyException(f"there are no planes {list(numbers)}")
        return planes

    @property
    def numbers(self) -> tuple[int, ...]:
        """The property `planes` of an operator."""
        return astuple(self)

    @property
    def padded(self) -> int:
        """The planes of a volume of the data with those around them."""
        return self.before + self.held + self.after

    @property
    def made(self) -> int:
        """The planes of a volume of the result."""
        return (self.padded - (self.seen - 1) * self.dilation - 1) // self.stride + 1

    def volumes(self, images: int) -> int:
        """How many volumes so many images of the data are.

        Raises:
            VerifyException: they are no whole number, or not known.
        """
        if images == DYNAMIC or images % self.held:
            raise VerifyException(f"{'?' if images == DYNAMIC else images} images are no volumes of {self.held} planes")
        return images // self.held

    def place(self, volumes: int, image: te.Expr, k: te.Expr | int) -> te.Expr:
        """Where plane `k` of those that an image of the result sees stands in the padded data."""
        if volumes == 1:
            return image * self.stride + k * self.dilation
        return image // self.made * self.padded + image % self.made * self.stride + k * self.dilation

    def pad_stage(self, x: te.Tensor, images: int, before: Mapping[int, int], after: Mapping[int, int]) -> te.Tensor:
        """As `nn_common.pad_stage`, with planes around those of each volume, which are dimension `images`."""
        if self.padded == self.held:
            return pad_stage(x, before, after)
        if self.volumes(x.shape[images]) == 1:
            return pad_stage(x, {**before, images: self.before}, {**after, images: self.after})
        inner = pad_stage(x, before, after)
        shape = list(inner.shape)
        shape[images] = self.volumes(x.shape[images]) * self.padded

        def body(*at: te.IterVar) -> te.Expr:
            plane = at[images] % self.padded - self.before
            place = [*at[:images], at[images] // self.padded * self.held + plane, *at[images + 1 :]]
            return te.select(te.all_of([plane >= 0, plane < self.held]), inner[tuple(place)], 0)

        return te.compute(shape, body, "plane_pad")

    def see(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The images `[N * held, C, ...]` that the planes of the result see, `[N * made, seen * C, ...]`."""
        import numpy as np

        rest = x.shape[1:]
        volumes = x.reshape(len(x) // self.held, self.held, *rest)
        volumes = np.pad(volumes, [(0, 0), (self.before, self.after), *[(0, 0)] * len(rest)])
        first = np.arange(self.made)[:, None] * self.stride + np.arange(self.seen) * self.dilation
        return volumes[:, first].reshape(len(volumes) * self.made, self.seen * rest[0], *rest[1:])
