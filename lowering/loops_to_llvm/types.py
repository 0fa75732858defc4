"""How the types of the `loops` phase look in LLVM: as values, and in memory.

| loops                  | value                 | in memory              |
|------------------------|-----------------------|------------------------|
| `index`                | `i64`                 | `i64`                  |
| `i1`                   | `i1`                  | `i8`, 0 or 1           |
| `ui8`, `si32`, ...     | `i8`, `i32`, ...      | the same               |
| `f32`, `f16`, `f64`    | the same              | the same               |
| `bf16`                 | `i16`, its bits       | the same               |
| `f8E4M3FN`, `f4E2M1FN` | `i8`, its bits        | the same               |
| `i4`, `ui2`            | `i4`, `i2`            | `i8`, zeros in front   |
| `vector<16xi1>`        | `vector<16xi1>`       | `vector<16xi8>`        |
| `memref<4x8xf32, ...>` | `!llvm.ptr`           |                        |

`!rt.slots<n>` and `!rt.record` are `!llvm.ptr` too.

A memref value is the address of the first element it can reach, whatever the offset in its type says: strides must be
static, offsets and the outermost extent need not be.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    FunctionType,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    VectorType,
    i8,
    i16,
    i64,
)
from xdsl.ir import Attribute, Operation

from ...dialects.rt.checks import RecordType
from ...dialects.rt.core import SlotsType
from ...dialects.support.diagnostics import Diagnostic, Place
from ...dialects.support.dtypes import is_small_float
from ...dialects.support.vector_types import as_vector, element_type, with_element_type

PTR = llvm.LLVMPointerType()
VOID = llvm.LLVMVoidType()

SHARED_SPACE = 3
"""The number of the address space of what the threads of a block of a GPU share, in memrefs and in LLVM."""
SHARED_PTR = llvm.LLVMPointerType(IntAttr(SHARED_SPACE))


def is_shared_memory(type: Attribute) -> bool:
    """Whether a memref lies in memory that the threads of a block of a GPU share."""
    space = cast(MemRefType, type).memory_space if isinstance(type, MemRefType) else None
    return isinstance(space, IntegerAttr) and space.value.data == SHARED_SPACE


class LoweringError(Diagnostic):
    """An operation or type that has no translation. Where a type is asked about, the operation is not yet known."""

    def __init__(self, op: Operation | None, message: str):
        place = None if op is None else Place.of_location(op.location)
        super().__init__(message if op is None else f"'{op.name}': {message}", place)
        self.op = op


def as_memref(type: Attribute) -> MemRefType:
    """`type`, which the operation's verifier has found to be a memref.

    Raises:
        LoweringError: an unranked memref.
    """
    if isinstance(type, MemRefType):
        refuse_memory_space(cast(MemRefType, type))
        return cast(MemRefType, type)
    raise LoweringError(None, f"{type} has no rank; only ranked memrefs can be lowered")


def refuse_memory_space(type: MemRefType) -> None:
    """There is one memory, that of the processor.

    Raises:
        LoweringError: `type` lies in another one.
    """
    if not isinstance(type.memory_space, NoneAttr):
        raise LoweringError(None, f"{type} lies in a memory space of its own, and there is one memory here")


@lru_cache(maxsize=4096)
def value_type(type: Attribute) -> Attribute:
    """The type of an SSA value after lowering.

    Raises:
        LoweringError: the type has no counterpart.
    """
    if isinstance(type, BFloat16Type):
        return i16
    if is_small_float(type):
        return i8
    if isinstance(type, AnyFloat | llvm.LLVMPointerType | llvm.LLVMArrayType | llvm.LLVMStructType):
        return type
    if isinstance(type, IndexType):
        return i64
    if isinstance(type, IntegerType):
        return IntegerType(type.bitwidth)
    if isinstance(type, MemRefType):
        refuse_memory_space(cast(MemRefType, type))
        return PTR
    if isinstance(type, FunctionType | SlotsType | RecordType):
        return PTR
    vector = as_vector(type)
    if vector is None:
        raise LoweringError(None, f"{type} has no LLVM type")
    if len(vector.get_shape()) != 1 or vector.get_num_scalable_dims():
        raise LoweringError(None, f"{type} is not a vector of one fixed dimension")
    return VectorType(value_type(vector.element_type), vector.get_shape())


def is_kept(type: Attribute) -> bool:
    """Whether values of a type are of the same one after lowering, and so are the parts of a structure or an array."""
    if isinstance(type, llvm.LLVMStructType):
        return all(map(is_kept, type.types))
    if isinstance(type, llvm.LLVMArrayType):
        return is_kept(type.type)
    return type.name.startswith("llvm.") or value_type(type) == type


@lru_cache(maxsize=4096)
def memory_type(type: Attribute) -> Attribute:
    """The type of an element in memory: as a value, but integers of less than 8 bits are bytes."""
    value = value_type(type)
    element = element_type(value)
    if isinstance(element, IntegerType) and element.bitwidth < 8:
        return with_element_type(value, i8)
    return value


@lru_cache(maxsize=4096)
def byte_size(type: Attribute) -> int:
    """Bytes of one element in memory.

    Raises:
        LoweringError: the type is not a whole number of bytes.
    """
    stored = memory_type(type)
    vector = as_vector(stored)
    if vector is not None:
        return byte_size(vector.element_type) * vector.get_shape()[0]
    if isinstance(stored, llvm.LLVMPointerType):
        return 8
    bits = stored.bitwidth if isinstance(stored, IntegerType | AnyFloat) else 0
    if bits % 8 or not bits:
        raise LoweringError(None, f"elements of type {type} are not a whole number of bytes")
    return bits // 8


def alignment(type: Attribute) -> int:
    """Bytes to which an access of this type is known to be aligned: an element's size."""
    vector = as_vector(memory_type(type))
    return byte_size(type if vector is None else vector.element_type)


@lru_cache(maxsize=4096)
def static_strides(type: MemRefType) -> tuple[int, ...]:
    """Elements between neighbours along each dimension.

    Raises:
        LoweringError: a stride is dynamic, or the layout is not strided.
    """
    strides = type.get_strides()
    if strides is None:
        raise LoweringError(None, f"the layout of {type} is not strided")
    known = [stride for stride in strides if stride is not None and stride >= 0]
    if len(known) != len(strides):
        raise LoweringError(None, f"{type} has a dynamic stride")
    return tuple(known)


def num_elements(type: MemRefType) -> int:
    """Elements from the first to the last that a static memref reaches, both included.

    Raises:
        LoweringError: an extent is dynamic.
    """
    shape = type.get_shape()
    if any(extent < 0 for extent in shape):
        raise LoweringError(None, f"{type} has a dynamic extent")
    if not all(shape):
        return 0
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, static_strides(type), strict=True))


@lru_cache(maxsize=4096)
def stepped_type(type: MemRefType) -> Attribute | None:
    """The nested array type over which one `getelementptr` with all indices of the memref walks.

    `memref<4x8x16xf32>` gives `!llvm.array<8 x array<16 x f32>>`. None where the strides do not nest, as in a
    transpose.
    """
    strides = static_strides(type)
    sizes: list[int] = []
    for outer, inner in zip(strides, (*strides[1:], 1), strict=True):
        if inner == 0 or outer % inner or outer == 0:
            return None
        sizes.append(outer // inner)
    stepped = memory_type(type.element_type)
    for position, size in enumerate(reversed(sizes)):
        if position or size != 1:
            stepped = llvm.LLVMArrayType(size, stepped)
    return stepped


def array_type(type: MemRefType) -> Attribute:
    """The type of the storage of a static memref: nested arrays for a dense one, a flat array for a strided one."""
    element = memory_type(type.element_type)
    shape: Sequence[int] = type.get_shape()
    if static_strides(type) != tuple(MemRefType.strides_for_shape(shape)):
        shape = [num_elements(type)]
    for extent in reversed(shape):
        element = llvm.LLVMArrayType(extent, element)
    return element
