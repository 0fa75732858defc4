"""Arrays under TVM's names: `weft.nd.array(x).numpy()`.

What Weft's executors take and give are NumPy's arrays. Those that TVM's names give (`relay.create_executor`, a
`GraphModule`, a `VirtualMachine`, and what a registered function is called with) are NumPy's too, and answer besides as
TVM's do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    Base: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.generic]]
else:
    Base = np.ndarray


class OfDevice(Protocol):
    """A device, as TVM has it."""

    @property
    def device_type(self) -> int: ...


class NDArray(Base):
    """An array of NumPy's with the methods of TVM's."""

    def numpy(self) -> npt.NDArray[np.generic]:
        """The same elements as a plain array."""
        return np.asarray(self)

    asnumpy = numpy

    def same_as(self, other: object) -> bool:
        """Whether it is the same array."""
        return self is other

    def copyfrom(self, source: npt.ArrayLike) -> NDArray:
        """Take the elements of an array of the same shape.

        Raises:
            ValueError: it has another shape.
        """
        given = np.asarray(source)
        if given.shape != self.shape:
            raise ValueError(f"the array is {list(self.shape)}, and what is copied {list(given.shape)}")
        self[...] = given
        return self

    def copyto(self, target: Base | OfDevice) -> NDArray:
        """Give the elements to an array of the same shape, or to a new one for a device: on the host, as `nd.array`.

        Raises:
            ValueError: it has another shape.
        """
        if isinstance(target, np.ndarray):
            return as_nd(target).copyfrom(self)
        return as_nd(self.copy())


def as_nd(value: npt.ArrayLike) -> NDArray:
    """An array, on the memory that it has, with TVM's methods."""
    return np.asarray(value).view(NDArray)
