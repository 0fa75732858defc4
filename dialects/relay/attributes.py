"""Constant data: small tensors stand in the text, large ones beside it.

A weight of hundreds of MiB must not pass through text. `#relay.resource<"key">` names it; the NumPy array itself is
held by the attribute in memory, and by a file beside the `.mlir` on disk (`weights.py`). The key ends in a digest of
the content, so that equal keys mean equal data and two constants can be compared without looking at them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import ne
from threading import RLock
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, TensorType, i1
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ..support.dtypes import numpy_dtype, scalar_type
from ..support.interned import tensor_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

MAX_INLINE_ELEMENTS = 16
"""Constants up to this size are printed in the text."""


class Later:
    """An array that is made where somebody first asks for its elements, which may be at the end of a compilation.

    Where one reader alone will ask, as for a step on the way to a weight as it is packed, it is made for that one and
    not kept: many weights that are made one after another take the same memory for their steps.

    Two are equal if they are made of the same in the same way, which says nothing of others.

    Args:
        shape, dtype: of the array.
        make: what makes it. It may come in any order in memory.
        recipe: of what, and how.
    """

    def __init__(
        self, shape: Sequence[int], dtype: np.dtype[np.generic], make: Callable[[], NDArray], recipe: tuple[object, ...]
    ):
        self.shape, self.dtype, self.recipe = tuple(shape), dtype, recipe
        self.readers = 0
        """How many will ask for it."""
        self.steps = 1 + sum(each.steps for each in recipe if isinstance(each, Later))
        """How many arrays its recipe tells of, each as often as it is told of: so far goes who compares two."""
        self._make: Callable[[], NDArray] | None = make
        self._made: NDArray | None = None
        self._making = RLock()

    @property
    def array(self) -> NDArray:
        """The array. Do not write to it."""
        with self._making:
            if self._made is not None:
                return self._made
            assert self._make is not None
            made = self._make()
            if self.readers != 1:
                self._made, self._make = made, None  # and what it was made of may go
            return made

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Later)
            and (self.shape, self.dtype) == (other.shape, other.dtype)
            and self.recipe == other.recipe
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))


class Resource:
    """A named array, or what reads or makes it where it is first asked for. Two are equal if their keys are; of those
    that are made of others, if they are made of the same in the same way.

    Args:
        key: its key; without one, it is made of the array where somebody first asks for it: a digest of hundreds of
            MiB takes long, and mostly nobody asks.
        given: the array.
        later: what reads or makes it.
        name: what the key begins with, up to the last underscore; to be given where there is no key.
        seen: the elements of an array that is made later, in another order in memory.
        pending: what the array is made of, in its own order in memory, where it is made later.
    """

    def __init__(
        self,
        key: str | None,
        given: NDArray | None = None,
        later: Callable[[], NDArray] | None = None,
        name: str | None = None,
        seen: NDArray | None = None,
        pending: Later | None = None,
    ):
        self._key = key
        self._seen = given if seen is None else seen
        self._name = name if key is None else key.rpartition("_")[0]
        self.given = given
        self.later = later
        self._pending = pending
        self._made: NDArray | None = None
        self._corners: tuple[object, ...] = ()
        """What `_known` has found, where there was an array; else empty."""
        self._glance: tuple[object, ...] | None = None
        """See `glance`; nothing where nobody has looked yet."""
        self._making = RLock()
        """One for each: who reads a weight keeps nobody from another, not even in a process that was forked then."""
        self.token = object()
        """Tells this one from others, without its data."""

    def __getstate__(self) -> dict[str, object]:
        if self._key is None:
            assert self.array is not None, "what makes an array stays here, and what it has made may go elsewhere"
        return {name: value for name, value in self.__dict__.items() if name != "_making"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, _making=RLock())

    @property
    def key(self) -> str:
        """What the text has in its place."""
        if self._key is None:
            array = self.array
            assert array is not None and self._name is not None
            self._key = _key(array, self._name)
        return self._key

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Resource):
            return self is other
        if self._name != other._name:
            return False
        mine, its = self._known(), other._known()
        if mine != its and (len(mine) == len(its) or any(map(ne, mine, its))):
            return False
        if self._pending is not None and other._pending is not None:
            return self._pending == other._pending
        return self.key == other.key

    @property
    def glance(self) -> tuple[object, ...]:
        """The type, the shape and the corners, as far as they were there without making anything when somebody first
        asked. Two that have as much of it, and other, differ: for tables of many of one name, all of which have one
        hash. What is loaded later does not change it: tables would not find again what they hold."""
        if self._glance is None:
            self._glance = self._known()
        return self._glance

    def _known(self) -> tuple[object, ...]:
        """What a glance would tell now."""
        if self._corners:
            return self._corners
        if (seen := self._seen) is None:
            return () if (pending := self._pending) is None else (pending.dtype, pending.shape)
        corners = ((0,) * seen.ndim, (-1,) * seen.ndim) if seen.size else ()
        self._corners = (seen.dtype, seen.shape, *(seen[corner].tobytes() for corner in corners))
        return self._corners

    def __hash__(self) -> int:
        return hash(self._name)

    def __repr__(self) -> str:
        return f"Resource({self.key!r})"

    @property
    def is_known(self) -> bool:
        """Whether there is an array."""
        return self.given is not None or self._made is not None or self.later is not None

    @property
    def array(self) -> NDArray | None:
        """The array; `None` where the text was read without the file that holds the data.

        Raises:
            Diagnostic: it cannot be read.
        """
        if self.given is not None:
            return self.given
        with self._making:
            if self._made is None and self.later is not None:
                self._made = self._seen = self.later()
                self.later = self._pending = None  # and what it was made of may go
            return self._made

    @property
    def pending(self) -> Later | None:
        """What makes the array, as long as nobody has asked for it; `None` where it is there, or is read."""
        return self._pending

    @property
    def seen(self) -> NDArray | None:
        """The array, or one like it whose elements lie in another order in memory: for who copies them anyway."""
        return self.array if self._seen is None else self._seen


@irdl_attr_definition
class ResourceAttr(Data[Resource]):
    """Tensor data that stands outside the text.

    ```mlir
    %w = relay.constant #relay.resource<"conv1_w_5f3a9c21"> : tensor<64x3x7x7xf32>
    ```
    """

    name = "relay.resource"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Resource:
        with parser.in_angle_brackets():
            return Resource(parser.parse_str_literal(" for the key of a resource"))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.data.key)


def glance(value: Attribute) -> tuple[object, ...]:
    """What tells the data of a constant apart at a glance (`Resource.glance`); nothing where they stand in the text."""
    return value.data.glance if isinstance(value, ResourceAttr) else ()


def resource(array: NDArray, name: str = "constant") -> ResourceAttr:
    """`array` as a resource; its key is `name` and a digest of dtype, shape and content.

    An array whose elements are all equal is held as one element seen under the whole shape (strides of zero), so a
    fill of hundreds of MiB takes no memory until a reader copies it. One that is another seen with axes exchanged is
    brought into its own order when somebody asks for it: mostly it is packed in yet another order before.
    """
    import numpy as np

    if is_uniform(array):
        array = _as_one_element(array)
    elif not array.flags.c_contiguous and _has_axes_exchanged(array):
        from ..support.aligned_arrays import contiguous

        return ResourceAttr(Resource(None, later=partial(contiguous, array), name=name, seen=array))
    else:
        array = np.ascontiguousarray(array)
    return ResourceAttr(Resource(None, array, name=name))


def resource_later(pending: Later, name: str = "constant") -> ResourceAttr:
    """An array that is not made yet as a resource; its key is as that of `resource`, and makes it."""
    pending.readers += 1
    return ResourceAttr(Resource(None, later=partial(_own, pending), name=name, pending=pending))


def _own(pending: Later) -> NDArray:
    from ..support.aligned_arrays import contiguous

    array = pending.array
    return _as_one_element(array) if is_uniform(array) else contiguous(array)


def _as_one_element(array: NDArray) -> NDArray:
    """An array whose elements are all equal as one, seen under the whole shape."""
    import numpy as np

    return np.broadcast_to(np.ascontiguousarray(array[(slice(0, 1),) * array.ndim]), array.shape)


def _has_axes_exchanged(array: NDArray) -> bool:
    """Whether the elements follow each other in memory in some order of the axes."""
    return array.transpose(sorted(range(array.ndim), key=lambda axis: -array.strides[axis])).flags.c_contiguous


def _key(array: NDArray, name: str) -> str:
    """The key of an array that is contiguous, or seen under a shape of which all elements are one."""
    import hashlib

    import numpy as np

    digest = hashlib.blake2b(f"{array.dtype.name}{array.shape}".encode(), digest_size=6)
    if array.size and not any(array.strides):
        digest.update(b"uniform" + array[(slice(0, 1),) * array.ndim].tobytes())
    else:
        digest.update(array.view(np.uint8).data if array.size else b"")
    return f"{name}_{digest.hexdigest()}"


def is_uniform(array: NDArray) -> bool:
    """Whether all elements of `array` are the same, bit for bit. Arrays that are not cost next to nothing to reject."""
    import numpy as np

    if array.size == 0:
        return False
    if not any(array.strides):
        return True
    bits = np.dtype(f"V{array.dtype.itemsize}")
    first = array[(0,) * array.ndim].tobytes()
    if array[(-1,) * array.ndim].tobytes() != first:
        return False
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    flat = array.reshape(-1).view(bits)
    step = 1 << 16
    return all(bool((flat[i : i + step] == np.void(first)).all()) for i in range(0, flat.size, step))


def copied(value: npt.ArrayLike) -> NDArray:
    """A copy of what a constant is made of, as this machine orders bytes.

    Raises:
        ValueError: rows have several lengths, or elements are masked.
    """
    import numpy as np

    mask = getattr(value, "mask", None)  # of a `numpy.ma.MaskedArray`
    if isinstance(mask, np.ndarray | np.bool_) and mask.any():
        raise ValueError("it has elements that are masked")
    array = np.array(value)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def tensor_type_of(array: NDArray) -> TensorType[Attribute]:
    """The tensor type of a NumPy array.

    Raises:
        TypeError: Weft has no element type for the array's dtype.
    """
    return tensor_of(scalar_type(array.dtype), array.shape)


def array_to_attribute(array: NDArray, name: str = "constant") -> Attribute:
    """The attribute that holds `array`: `dense<...>` up to `MAX_INLINE_ELEMENTS`, else a resource."""
    import numpy as np

    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.size > MAX_INLINE_ELEMENTS:
        return resource(array, name)
    return DenseIntOrFPElementsAttr(tensor_type_of(array), BytesAttr(np.ascontiguousarray(array).tobytes()))  # pyright: ignore[reportArgumentType]


def attribute_to_array(value: Attribute, type: TensorType[Attribute]) -> NDArray | None:
    """The array that a constant's attribute holds; `None` for a resource whose data was not loaded."""
    import numpy as np

    if isinstance(value, ResourceAttr):
        return value.data.array
    assert isinstance(value, DenseIntOrFPElementsAttr)
    dtype = numpy_dtype(type.element_type)
    shape = type.get_shape()
    data = value.data.data
    if type.element_type == i1:
        flat = np.array([bool(v) for v in value.get_values()], dtype)
        return np.broadcast_to(flat[0], shape).copy() if flat.size == 1 else flat.reshape(shape)
    flat = np.frombuffer(data, dtype)
    return np.broadcast_to(flat[0], shape).copy() if flat.size == 1 else flat.reshape(shape)
