"""Attributes that are made again and again, made once: xDSL checks the parameters of each that is made."""

from __future__ import annotations

from functools import lru_cache

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    TensorType,
    UnitAttr,
    VectorType,
    i32,
    i64,
)
from xdsl.ir import Attribute

index = IndexType()
UNIT = UnitAttr()
NO_SPACE = NoneAttr()
"""The memory space of a memref that says nothing of it."""


@lru_cache(maxsize=4096)
def index_attribute(value: int) -> IntegerAttr[IndexType]:
    """`value : index`."""
    return IntegerAttr(value, index)


@lru_cache(maxsize=4096)
def integer_attribute(value: int, bits: int) -> IntegerAttr[IntegerType]:
    """`value : i<bits>`, signless."""
    return IntegerAttr(value, bits)


@lru_cache(maxsize=1024)
def segment_sizes(*sizes: int) -> DenseArrayBase[IntegerType]:
    """How many operands each segment of an operation has."""
    return DenseArrayBase.from_list(i32, sizes)


@lru_cache(maxsize=1024)
def vector_of(element: Attribute, width: int) -> VectorType[Attribute]:
    """`vector<width x element>`."""
    return VectorType(element, [width])


@lru_cache(maxsize=4096)
def tensor_of(element: Attribute, shape: tuple[int, ...]) -> TensorType[Attribute]:
    """`tensor<shape x element>`."""
    return TensorType(element, shape)


@lru_cache(maxsize=4096)
def shaped_memref(element: Attribute, shape: tuple[int, ...], space: Attribute = NO_SPACE) -> MemRefType[Attribute]:
    """`memref<shape x element, space>`."""
    return MemRefType(element, shape, memory_space=space)


def flat_memref(element: Attribute, extent: int) -> MemRefType[Attribute]:
    """`memref<extent x element>`."""
    return shaped_memref(element, (extent,))


@lru_cache(maxsize=4096)
def numbers(array: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
    """The numbers in an `array<...>`."""
    return tuple(int(value) for value in array.get_values())


@lru_cache(maxsize=1024)
def int_array(*values: int) -> DenseArrayBase[IntegerType]:
    """`array<i32: values>`."""
    return DenseArrayBase.from_list(i32, values)


@lru_cache(maxsize=4096)
def long_array(*values: int) -> DenseArrayBase[IntegerType]:
    """`array<i64: values>`."""
    return DenseArrayBase.from_list(i64, values)
