"""Functions that move elements about (`tvm.topi.transform`, `sort` and `scan`), and products of matrices.

Each is Relay's operator, which says what it computes; arguments are TVM's of `topi`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..dialects import te
from ..dialects.support.arguments import checked
from ..dialects.support.diagnostics import UsageError
from .relay_operators import computed, computed_all


@checked
def expand_dims(a: te.Tensor, axis: int, num_newaxis: int = 1) -> te.Tensor:
    """`num_newaxis` dimensions of extent 1 at `axis`."""
    return computed("expand_dims", a, axis, num_newaxis)


@checked
def transpose(a: te.Tensor, axes: Sequence[int] | None = None) -> te.Tensor:
    """The dimensions in this order; unless given, the other way round."""
    return computed("transpose", a, axes)


@checked
def flip(a: te.Tensor, axis: int = 0) -> te.Tensor:
    """The elements along a dimension from the last to the first."""
    return computed("reverse", a, axis)


@checked
def reverse_sequence(a: te.Tensor, seq_lengths: te.Tensor, seq_axis: int = 1, batch_axis: int = 0) -> te.Tensor:
    """The first `seq_lengths[b]` elements of each batch the other way round."""
    return computed("reverse_sequence", a, seq_lengths, seq_axis, batch_axis)


@checked
def strided_slice(
    a: te.Tensor,
    begin: Sequence[int],
    end: Sequence[int],
    strides: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    slice_mode: str = "end",
) -> te.Tensor:
    """The elements from `begin` up to, not including, `end`; with `slice_mode="size"` as many as that says."""
    return computed("strided_slice", a, begin, end, strides, axes, slice_mode)


@checked
def reshape(a: te.Tensor, newshape: Sequence[int]) -> te.Tensor:
    """The elements, in order, in another shape."""
    return computed("reshape", a, tuple(newshape))


@checked
def squeeze(a: te.Tensor, axis: int | Sequence[int] | None = None) -> te.Tensor:
    """Without the dimensions of extent 1, or those of `axis`."""
    return computed("squeeze", a, axis)


@checked
def concatenate(a_tuple: Sequence[te.Tensor], axis: int = 0) -> te.Tensor:
    """Tensors one after the other along a dimension."""
    return computed("concatenate", tuple(a_tuple), axis)


@checked
def stack(a: Sequence[te.Tensor], axis: int = 0) -> te.Tensor:
    """Tensors one after the other along a new dimension."""
    return computed("stack", tuple(a), axis)


@checked
def split(ary: te.Tensor, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[te.Tensor]:
    """So many parts of a tensor, or those that begin at these places."""
    return computed_all("split", ary, indices_or_sections, axis)


@checked
def take(
    a: te.Tensor, indices: te.Tensor, axis: int | None = None, batch_dims: int = 0, mode: str = "clip"
) -> te.Tensor:
    """The elements, or those at these places of a dimension."""
    return computed("take", a, indices, axis, batch_dims, mode)


@checked
def gather(data: te.Tensor, axis: int, indices: te.Tensor) -> te.Tensor:
    """For each element of `indices` that of `data` there, at this place along `axis`."""
    return computed("gather", data, axis, indices)


@checked
def gather_nd(a: te.Tensor, indices: te.Tensor) -> te.Tensor:
    """The elements, or parts, at the places that the columns of `indices` are."""
    return computed("gather_nd", a, indices)


@checked
def matmul(a: te.Tensor, b: te.Tensor, transp_a: bool = False, transp_b: bool = False) -> te.Tensor:
    """The product of matrices, either of which may be transposed."""
    return computed("nn.matmul", a, b, transpose_a=transp_a, transpose_b=transp_b)


@checked
def tensordot(a: te.Tensor, b: te.Tensor, axes: int | Sequence[Sequence[int]] | Sequence[int] = 2) -> te.Tensor:
    """The sum of products over `axes`: the last of `a` with as many first of `b`, or those that are named of each.

    Raises:
        UsageError: they are not as many, or not of one extent.
    """
    if isinstance(axes, int):
        ours, theirs = list(range(a.rank - axes, a.rank)), list(range(axes))
    else:
        ours, theirs = ([each] if isinstance(each, int) else list(each) for each in axes)
    letters = iter("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    if len(ours) != len(theirs):
        raise UsageError(f"topi: tensordot is told {len(ours)} dimensions of one, and {len(theirs)} of the other")
    first, second = [next(letters) for _ in range(a.rank)], [next(letters) for _ in range(b.rank)]
    for left, right in zip(ours, theirs, strict=True):
        second[right] = first[left]
    kept = [s for s in (*first, *second) if (s in first) != (s in second)]
    return computed("einsum", (a, b), f"{''.join(first)},{''.join(second)}->{''.join(kept)}")


@checked
def einsum(subscripts: str, *operand: te.Tensor) -> te.Tensor:
    """The sum of products that `subscripts` says, as NumPy's."""
    return computed("einsum", operand, subscripts)


@checked
def arange(start: float, stop: float | None = None, step: float = 1, dtype: str = "float32") -> te.Tensor:
    """The numbers from `start` (0 where only one is given) up to, not including, `stop`."""
    return computed("arange", *_numbers((start, stop, step), dtype), dtype=dtype)


def _numbers(values: Sequence[float | None], dtype: str) -> list[object]:
    from ..frontend.relay.expr import const

    return [None if each is None else const(each, dtype) for each in values]


@checked
def repeat(a: te.Tensor, repeats: int, axis: int) -> te.Tensor:
    """Each element so many times, along a dimension."""
    return computed("repeat", a, repeats, axis)


@checked
def tile(a: te.Tensor, reps: Sequence[int]) -> te.Tensor:
    """The tensor so many times along each dimension."""
    return computed("tile", a, tuple(reps))


@checked
def layout_transform(array: te.Tensor, src_layout: str, dst_layout: str) -> te.Tensor:
    """The elements in another layout: `NCHW` to `NCHW8c`."""
    return computed("layout_transform", array, src_layout, dst_layout)


@checked
def sequence_mask(data: te.Tensor, valid_length: te.Tensor, mask_value: float = 0, axis: int = 0) -> te.Tensor:
    """`mask_value` behind the first `valid_length[b]` of each batch."""
    return computed("sequence_mask", data, valid_length, mask_value, axis)


@checked
def where(condition: te.Tensor, x: te.Tensor, y: te.Tensor) -> te.Tensor:
    """The elements of `x` where `condition` holds, those of `y` elsewhere."""
    return computed("where", condition, x, y)


@checked
def one_hot(indices: te.Tensor, on_value: float, off_value: float, depth: int, axis: int, dtype: str) -> te.Tensor:
    """`on_value` where a new dimension of extent `depth` is at an index, `off_value` elsewhere."""
    return computed("one_hot", indices, *_numbers((on_value, off_value), dtype), depth, axis, dtype)


@checked
def unravel_index(indices: te.Tensor, shape: te.Tensor) -> te.Tensor:
    """The places in a shape that are at these in order."""
    return computed("unravel_index", indices, shape)


@checked
def cumsum(
    data: te.Tensor, axis: int | None = None, dtype: str | None = None, exclusive: bool | None = None
) -> te.Tensor:
    """The sum of all elements up to each along a dimension; without that itself if `exclusive`."""
    return computed("cumsum", data, axis, dtype or "", exclusive)


@checked
def cumprod(
    data: te.Tensor, axis: int | None = None, dtype: str | None = None, exclusive: bool | None = None
) -> te.Tensor:
    """The product of all elements up to each along a dimension; without that itself if `exclusive`."""
    return computed("cumprod", data, axis, dtype or "", exclusive)


@checked
def sort(data: te.Tensor, axis: int = -1, is_ascend: bool | int = True) -> te.Tensor:
    """The elements along a dimension in order."""
    return computed("sort", data, axis, bool(is_ascend))


@checked
def argsort(
    data: te.Tensor,
    valid_count: te.Tensor | None = None,
    axis: int = -1,
    is_ascend: bool | int = True,
    dtype: str = "float32",
) -> te.Tensor:
    """The places of the elements along a dimension in order.

    Raises:
        UsageError: only some are told to be valid, which no operator here knows.
    """
    if valid_count is not None:
        raise UsageError("topi: argsort sorts all elements", hint="leave valid_count out, and mask what is not valid")
    return computed("argsort", data, axis, bool(is_ascend), dtype)


@checked
def topk(
    data: te.Tensor,
    k: int = 1,
    axis: int = -1,
    ret_type: str = "both",
    is_ascend: bool = False,
    dtype: str = "int64",
) -> te.Tensor | list[te.Tensor]:
    """The first `k` elements in order along a dimension, their places, or both."""
    found = computed_all("topk", data, k, axis, ret_type, is_ascend, dtype)
    return found if ret_type == "both" else found[0]
