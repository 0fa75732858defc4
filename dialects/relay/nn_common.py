"""What the neural-network operators share: windows that slide, padding stages, types of accumulators."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from xdsl.dialects.builtin import BFloat16Type, Float16Type, IntegerAttr, IntegerType, TensorType, f32, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from .. import te
from ..support.dtypes import scalar_type
from ..te.assume import agree
from .base import (
    DYNAMIC,
    Fusion,
    FusionPattern,
    Moves,
    RelayOp,
    Tensor,
    is_told,
    normalize_axis,
    shape_of,
    string,
    tensor,
)
from .blocking import PLAIN, Blocks, layout_text
from .layout import parse_layout
from .reordering import Form, Order, Reordered

if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from .base import NDArray


class MovingOp(RelayOp, ABC):
    """An operator that only moves elements about: an injective map of indices."""

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE), Moves())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"


class ToldLayoutOp(RelayOp, ABC):
    """An operator on `data` that is told its layout by a property, and does nothing along the channels."""

    data = operand_def(TensorType)
    layout = string("NCHW")

    LAYOUTS: ClassVar[tuple[str, ...]] = ("layout",)

    def reordered(self, order: Order) -> Reordered:
        return self.reblocked(order)

    def reblocked(self, form: Form) -> Reordered:
        return Reordered([form], {"layout": parse_layout(self.layout.data).reordered(form)})

    def channel_block(self, blocks: Blocks) -> int:
        return blocks.channel_block(shape_of(self.data)[1]) if self.layout.data == "NCHW" else PLAIN

    def in_any_block(self) -> bool:
        return True

    def to_blocks(self, blocks: Blocks, block: int) -> None:
        kept = {name: value for name, value in self.properties.items() if not name.endswith("layout")}
        new = type(self)(blocks.get(self.data, block, self), **kept, layout=layout_text(block))
        blocks.replace(self, new, block)


def accumulator(element: Attribute) -> Attribute:
    """The type in which sums of `element`s are formed: f32 for the half-width floats, else the type itself."""
    return f32 if isinstance(element, Float16Type | BFloat16Type) else element


def mean_accumulator(element: Attribute, count: te.Dim | None = None) -> Attribute:
    """The type in which `element`s are summed up whose mean is asked for, `count` of them or any number. The mean of
    integers is one of their type, though their sum may not be: that of up to 32 bits is formed in one that holds it."""
    if not isa(element, IntegerType) or element.width.data not in (8, 16, 32):
        return accumulator(element)
    return i32 if isinstance(count, int) and count.bit_length() + element.width.data < 32 else i64


def result_element(element: Attribute, out_dtype: str) -> Attribute:
    """The type that `out_dtype` names, or `element` where it is empty.

    Raises:
        VerifyException: there is no such type.
    """
    if not out_dtype:
        return element
    try:
        return scalar_type(out_dtype)
    except TypeError as error:
        raise VerifyException(f"out_dtype: {error}") from None


def narrow(x: te.Tensor, element: Attribute) -> te.Tensor:
    """`x` with elements of type `element`: a stage of its own where that is another type."""
    if x.element_type == element:
        return x
    return te.compute(x.shape, lambda *i: te.cast(x[i], element), "cast")


def check_vector(vector: Tensor, data: Tensor, axis: int, what: str) -> Tensor:
    """The type of `data`, whose extent along `axis` is that of `vector`, where it is open itself.

    Raises:
        VerifyException: `vector` is not of rank 1, of the data's type, with one element for each index of `axis`.
    """
    extent, shape = data.get_shape()[axis], vector.get_shape()
    if len(shape) != 1 or (DYNAMIC not in (extent, *shape) and shape[0] != extent):
        raise VerifyException(f"'{what}' must have one element for each of axis {axis} of {data}, got {vector}")
    if vector.element_type != data.element_type:
        raise VerifyException(f"'{what}' has element type {vector.element_type}, the data has {data.element_type}")
    if extent != DYNAMIC or shape[0] == DYNAMIC:
        return data
    return TensorType(data.element_type, [shape[0] if d == axis else n for d, n in enumerate(data.get_shape())])


def aligned_axis(x: te.Tensor, axis: int, *vectors: te.Tensor) -> int:
    """`axis` of `x`, counted from the front, along which each of `vectors` has one element for each index: of extents
    that are symbols it is noted that they must.

    Raises:
        VerifyException: there is no such axis, or a vector is not as long.
    """
    axis = normalize_axis(axis, x.rank)
    for vector in vectors:
        if not agree(x.dims[axis], vector.dims[0]):
            raise VerifyException(f"there are {vector.shape[0]} elements for {x.shape[axis]} of axis {axis}")
    return axis


def vector_along(data: Attribute, axis: int) -> Tensor:
    """The type of a vector of one element for each index of an axis of a tensor.

    Raises:
        VerifyException: there is no such axis.
    """
    type = tensor(data)
    return TensorType(type.element_type, [type.get_shape()[normalize_axis(axis, len(type.get_shape()))]])


def optional_int(value: IntegerAttr | None) -> int | None:
    """The Python value of an optional integer property."""
    return None if value is None else value.value.data


def per_axis(values: Sequence[int], rank: int, what: str, least: int = 1) -> tuple[int, ...]:
    """One value for each of `rank` spatial axes; a single value stands for all.

    Raises:
        VerifyException: another number of values, or one below `least`.
    """
    if len(values) not in (1, rank):
        raise VerifyException(f"'{what}' has {len(values)} values for {rank} spatial dimensions")
    if any(v < least for v in values):
        raise VerifyException(f"'{what}' must be at least {least}, got {list(values)}")
    return tuple(values) * (rank if len(values) == 1 else 1)


def normalize_padding(padding: Sequence[int], rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """TVM's `padding` as (before, after), each with one value for every spatial axis.

    One value pads every side; `rank` values pad both sides of their axis; `2 * rank` are all befores, then all afters
    (top, left, bottom, right).

    Raises:
        VerifyException: another number of values, or a negative one.
    """
    if len(padding) not in (1, rank, 2 * rank):
        raise VerifyException(f"'padding' has {len(padding)} values; expected 1, {rank} or {2 * rank}")
    if any(p < 0 for p in padding):
        raise VerifyException(f"'padding' must not be negative, got {list(padding)}")
    if len(padding) == 2 * rank:
        return tuple(padding[:rank]), tuple(padding[rank:])
    sides = tuple(padding) * (rank if len(padding) == 1 else 1)
    return sides, sides


@dataclass(frozen=True)
class Window:
    """A window that slides over the spatial axes: one value for each axis in every field."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilation: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    ceil_mode: bool = False

    @property
    def spans(self) -> tuple[int, ...]:
        """How many elements lie between the first and the last tap, both counted."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation, strict=True))

    def outputs(self, extents: Sequence[int]) -> tuple[int, ...]:
        """How many places the window takes along each axis of the given extents.

        In ceil mode the last place may reach beyond the padding, but must not begin there (as in PyTorch and ONNX); of
        an extent that is a number, the first place may be the last.

        Raises:
            VerifyException: the window is larger than the padded data, in ceil mode by a stride or more.
        """
        return tuple(self.output(axis, n) for axis, n in enumerate(extents))

    def output(self, axis: int, n: int) -> int:
        """How many places the window takes along `axis` of extent `n`; see `outputs`. That it fits into an extent that
        is a symbol is asked of it."""
        if not is_told(n):
            return DYNAMIC
        stride, before = self.strides[axis], self.before[axis]
        room = n + before + self.after[axis] - self.spans[axis]
        beyond = stride - 1 if self.ceil_mode and te.is_number(n) and n > 0 else 0
        if not te.at_most(self.spans[axis], n + before + self.after[axis] + beyond):
            raise VerifyException(
                f"a window of {self.spans[axis]} does not fit into spatial extent {n} with padding "
                f"{before} and {self.after[axis]}"
            )
        count = (-(-room // stride) if self.ceil_mode else room // stride) + 1
        if not self.ceil_mode or te.surely_at_most((count - 1) * stride + 1, n + before):
            return count
        if te.is_number(n):
            return count - 1
        if self.after[axis] >= self.spans[axis]:
            raise TypeError("te: padding as wide as the window, in ceil mode, beyond an extent that is not known")
        return cast("int", te.extreme(te.BinaryKind.MIN, count, (n + before - 1) // stride + 1))

    def reach(self, extents: Sequence[int]) -> tuple[int, ...]:
        """How far the window reaches beyond the end of each axis: what has to be padded there; of an extent that is a
        symbol, what it may be at most."""
        return tuple(
            max(0, (count - 1) * self.strides[axis] + self.spans[axis] - n - self.before[axis])
            if te.is_number(n)
            else self.after[axis] + (self.strides[axis] - 1 if self.ceil_mode else 0)
            for axis, (n, count) in enumerate(zip(extents, self.outputs(extents), strict=True))
        )

    def tap(self, axis: int, place: te.Expr, k: te.Expr) -> te.Expr:
        """The index, in the padded data, of tap `k` of the window at `place`."""
        return place * self.strides[axis] + k * self.dilation[axis]

    def taps(self, letters: str) -> tuple[te.IterVar, ...]:
        """One reduce axis for each spatial axis: `kh`, `kw`, ..."""
        return tuple(te.reduce_axis(k, f"k{name.lower()}") for k, name in zip(self.kernel, letters, strict=True))

    def views(self, x: NDArray) -> NDArray:
        """All windows of an array whose last axes are the padded spatial ones: `[..., *places, *taps]`."""
        import numpy as np

        rank = len(self.kernel)
        axes = tuple(range(x.ndim - rank, x.ndim))
        view = np.lib.stride_tricks.sliding_window_view(x, self.spans, axis=axes)
        lead = (slice(None),) * (x.ndim - rank)
        strided = tuple(slice(None, None, s) for s in self.strides)
        return view[(*lead, *strided, *(slice(None, None, d) for d in self.dilation))]


def pad_stage(
    x: te.Tensor, before: Mapping[int, int], after: Mapping[int, int], value: float = 0, name: str = "data_pad"
) -> te.Tensor:
    """`x` with `value` around it; dimensions that are not named are not padded. Without padding, `x` itself. How much
    there is may depend on symbols."""
    lead = [before.get(d, 0) for d in range(x.rank)]
    trail = [after.get(d, 0) for d in range(x.rank)]
    starts, ends = ([d for d, n in enumerate(each) if not te.is_number(n) or n != 0] for each in (lead, trail))
    if not starts and not ends:
        return x
    shape = [p + n + q for p, n, q in zip(lead, x.shape, trail, strict=True)]

    def body(*i: te.IterVar) -> te.Expr:
        inside = [i[d] >= lead[d] for d in starts]
        inside += [i[d] < lead[d] + x.shape[d] for d in ends]
        return te.select(te.all_of(inside), x[tuple(i[d] - lead[d] for d in range(x.rank))], value)

    return te.compute(shape, body, name)


def widened(array: NDArray, element: Attribute) -> npt.NDArray[Any]:
    """`array` in the dtype of `accumulator(element)`."""
    from ..support.dtypes import numpy_dtype

    return array.astype(numpy_dtype(accumulator(element)), copy=False)
