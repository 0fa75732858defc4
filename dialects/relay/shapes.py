"""Tensor types, their shapes with extents that are not known (`?`), and NumPy's broadcasting of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, TensorType, TupleType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from .. import te
from ..te.assume import agree

Tensor: TypeAlias = TensorType[Attribute]


DYNAMIC = DYNAMIC_INDEX


def common_rows(a: SSAValue, b: SSAValue) -> int:
    """The number of leading dimensions that an operator's operand and its result have in common: open extents too, as
    what stands in one place of both has to agree."""
    number = 0
    for n, m in zip(shape_of(a), shape_of(b), strict=False):
        if n != m:
            break
        number += 1
    return number


MAX_RANK = 64
"""Of tensors: as many dimensions as NumPy's arrays have."""


def compatible(inferred: Attribute, declared: Attribute) -> bool:
    """Whether `declared` is `inferred`, but for dimensions that one of the two leaves dynamic."""
    if inferred is declared or inferred == declared:
        return True
    if isinstance(inferred, TensorType) and isinstance(declared, TensorType):
        x, y = cast(Tensor, inferred), cast(Tensor, declared)
        a, b = x.get_shape(), y.get_shape()
        return (
            x.element_type == y.element_type
            and len(a) == len(b)
            and all(m == n or DYNAMIC in (m, n) for m, n in zip(a, b, strict=True))
        )
    if isinstance(inferred, TupleType) and isinstance(declared, TupleType):
        a, b = inferred.types.data, declared.types.data
        return len(a) == len(b) and all(compatible(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(inferred, FunctionType) and isinstance(declared, FunctionType):
        sides = ((inferred.inputs.data, declared.inputs.data), (inferred.outputs.data, declared.outputs.data))
        return all(len(a) == len(b) and all(map(compatible, a, b)) for a, b in sides)
    return False


def check_extents(what: str, found: Sequence[int], wanted: Sequence[int]) -> None:
    """Hold extents of an operand to those that others ask for: of symbols it is noted that they must be equal.

    Raises:
        VerifyException: they are not.
    """
    if not all(agree(n, m) for n, m in zip(found, wanted, strict=True)):
        raise VerifyException(f"{what} is of extents {list(found)}, not {list(wanted)}")


def tensor(value: SSAValue | Attribute) -> Tensor:
    """The tensor type of a value.

    Raises:
        VerifyException: it is not a tensor.
    """
    type = value.type if isinstance(value, SSAValue) else value
    if not isinstance(type, TensorType):
        raise VerifyException(f"expected a tensor, got {type}")
    return cast(Tensor, type)


def shape_of(value: SSAValue | Attribute) -> tuple[int, ...]:
    """The shape of a tensor value or type; `DYNAMIC` stands for `?`."""
    return tensor(value).get_shape()


def is_told(extent: te.Dim) -> bool:
    """Whether an extent is a number or a symbol, and not the `?` of a type."""
    return not isinstance(extent, int) or extent != DYNAMIC


def shape_text(shape: Sequence[int]) -> str:
    """A shape as messages show it: `[2, ?]`, open extents of a kernel by their names: `[2, n]`."""
    return f"[{', '.join('?' if n == DYNAMIC else extent_text(n) for n in shape)}]"


def extent_text(extent: te.Dim) -> str:
    """A number, or an open extent, as messages show it."""
    if isinstance(extent, int):
        return str(extent)
    from ..te.text import text_of

    return text_of(extent)


def is_static(type: Attribute) -> bool:
    """Whether a tensor or tuple type has no dynamic dimension."""
    if isinstance(type, TupleType):
        return all(is_static(t) for t in type.types)
    return isinstance(type, TensorType) and DYNAMIC not in type.get_shape()


def is_dynamic(type: Attribute) -> bool:
    """Whether a tensor, or one in a tuple, has a dynamic dimension; functions, references and data types have none."""
    if isinstance(type, TupleType):
        return any(is_dynamic(t) for t in type.types)
    return isinstance(type, TensorType) and DYNAMIC in type.get_shape()


def leaf_types(types: Sequence[Attribute]) -> list[Attribute]:
    """`types` with tuples opened, depth first: of tensors, functions, references."""
    flat: list[Attribute] = []
    for type in types:
        flat.extend(leaf_types(type.types.data) if isinstance(type, TupleType) else [type])
    return flat


def flatten_types(types: Sequence[Attribute]) -> list[Tensor]:
    """The tensor types in `types`, tuples opened, depth first.

    Raises:
        VerifyException: there is something else among them.
    """
    return [tensor(type) for type in leaf_types(types)]


def tensors_in(*types: Attribute) -> list[Tensor]:
    """The tensor types in `types`, tuples opened, depth first; other types are passed over."""
    return [cast(Tensor, type) for type in leaf_types(types) if isinstance(type, TensorType)]


def normalize_axis(axis: int, rank: int, what: str = "axis") -> int:
    """`axis` with negative values counted from the end.

    Raises:
        VerifyException: it is outside `[-rank, rank)`.
    """
    if not -rank <= axis < rank:
        raise VerifyException(f"{what} {axis} is out of range for a tensor of rank {rank}")
    return axis % rank


def broadcast_dims(a: int, b: int) -> int:
    """One dimension of a broadcast.

    Raises:
        VerifyException: neither equals the other, or 1.
    """
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if DYNAMIC in (a, b):
        return max(a, b)  # the other one is static and not 1: the dynamic one must be equal to it, or 1
    if agree(a, b):
        return b if isinstance(cast("object", b), int) else a
    raise VerifyException(f"dimensions {extent_text(a)} and {extent_text(b)} do not broadcast")


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """NumPy's broadcast of shapes, with dynamic dimensions.

    Raises:
        VerifyException: the shapes do not broadcast; the message shows both.
    """
    result: tuple[int, ...] = ()
    for shape in shapes:
        rank = max(len(result), len(shape))
        a = (1,) * (rank - len(result)) + tuple(result)
        b = (1,) * (rank - len(shape)) + tuple(shape)
        try:
            result = tuple(broadcast_dims(x, y) for x, y in zip(a, b, strict=True))
        except VerifyException as error:
            raise VerifyException(
                f"shapes {shape_text(result)} and {shape_text(shape)} do not broadcast: {error}"
            ) from None
    return result


def broadcast_read(x: te.Tensor, indices: Sequence[te.ExprLike]) -> te.Read:
    """`x` read at the trailing `indices` of a broadcast: size-one dimensions of `x` are read at 0."""
    trailing = indices[len(indices) - x.rank :]
    return x[tuple(0 if n == 1 else i for n, i in zip(x.shape, trailing, strict=True))]
