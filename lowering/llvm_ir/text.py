"""How types, constants, names, flags and loop hints are written in LLVM IR."""

from __future__ import annotations

import math
import re
import struct
from functools import lru_cache
from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    i1,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute

from ...dialects.extensions.llvm_loop_annotation import HintAttr, LoopAnnotationAttr
from ...dialects.support.vector_types import as_vector
from ..loops_to_llvm.types import LoweringError


@lru_cache(maxsize=4096)
def type_text(type: Attribute) -> str:
    """The type as LLVM IR writes it: `float`, `<16 x float>`, `[4 x i8]`, `ptr`.

    Raises:
        LoweringError: LLVM has no such type.
    """
    match type:
        case IntegerType():
            return f"i{type.bitwidth}"
        case llvm.LLVMPointerType():
            space = _address_space(type)
            return f"ptr addrspace({space})" if space else "ptr"
        case llvm.LLVMVoidType():
            return "void"
        case llvm.LLVMArrayType():
            return f"[{type.size.data} x {type_text(type.type)}]"
        case llvm.LLVMStructType():
            if type.struct_name.data:
                raise LoweringError(None, f"the struct '{type.struct_name.data}' has a name, which has no LLVM IR here")
            return f"{{ {', '.join(map(type_text, type.types))} }}"
        case _:
            vector = as_vector(type)
            if vector is not None:
                return f"<{_fixed_lanes(vector)} x {type_text(vector.element_type)}>"
            return _float_names(type)[0]


@lru_cache(maxsize=4096)
def mangled(type: Attribute) -> str:
    """The type as it stands in the name of an intrinsic: `f32`, `v16f32`, `p0`."""
    match type:
        case IntegerType():
            return f"i{type.bitwidth}"
        case llvm.LLVMPointerType():
            return f"p{_address_space(type)}"
        case _:
            vector = as_vector(type)
            if vector is not None:
                return f"v{_fixed_lanes(vector)}{mangled(vector.element_type)}"
            return _float_names(type)[1]


def _address_space(type: llvm.LLVMPointerType) -> int:
    return type.addr_space.data if isinstance(type.addr_space, IntAttr) else 0


def _fixed_lanes(vector: VectorType[Attribute]) -> int:
    if len(vector.get_shape()) != 1 or vector.get_num_scalable_dims():
        raise LoweringError(None, f"{vector} is not a vector of one fixed dimension")
    return vector.get_shape()[0]


def _float_names(type: Attribute) -> tuple[str, str]:
    match type:
        case Float16Type():
            return "half", "f16"
        case BFloat16Type():
            return "bfloat", "bf16"
        case Float32Type():
            return "float", "f32"
        case Float64Type():
            return "double", "f64"
        case _:
            raise LoweringError(None, f"{type} has no LLVM IR type")


def constant_text(value: Attribute, type: Attribute) -> str:
    """A constant, without its type.

    Raises:
        LoweringError: the attribute is not a number or a vector of numbers.
    """
    if isinstance(value, IntegerAttr):
        return _integer_text(value.value.data, type)
    if isinstance(value, FloatAttr):
        return float_text(value.value.data, type)
    vector = as_vector(type)
    if isinstance(value, DenseIntOrFPElementsAttr) and vector is not None:
        return _vector_text(cast(Attribute, value), vector)
    raise LoweringError(None, f"the constant {value} has no LLVM IR")


def _integer_text(number: int, type: Attribute) -> str:
    return ("true" if number else "false") if type == i1 else str(number)


def float_text(number: float, type: Attribute) -> str:
    """A floating-point constant by its bits, exactly as the type holds it."""
    match type:
        case Float16Type():
            return f"0xH{_bits(number, 'e', 'H'):04X}"
        case BFloat16Type():
            return f"0xR{bfloat_bits(number):04X}"
        case Float32Type():
            return f"0x{_double_bits(_as_float32(number)):016X}"
        case Float64Type():
            return f"0x{_double_bits(number):016X}"
        case _:
            raise LoweringError(None, f"constants of type {type} have no LLVM IR")


def _bits(number: float, packed: str, unpacked: str) -> int:
    try:
        return struct.unpack(unpacked, struct.pack(packed, number))[0]
    except OverflowError:
        return struct.unpack(unpacked, struct.pack(packed, math.copysign(math.inf, number)))[0]


def _as_float32(number: float) -> float:
    return struct.unpack("f", struct.pack("I", _bits(number, "f", "I")))[0]


def _double_bits(number: float) -> int:
    return _bits(number, "d", "Q")


def bfloat_bits(number: float) -> int:
    """A number as bf16 holds it: rounded to nearest, halves to even; a NaN stays one."""
    bits = _bits(number, "f", "I")
    if math.isnan(number):
        return bits >> 16 | 0x40
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def _vector_text(value: Attribute, vector: VectorType[Attribute]) -> str:
    dense = cast(DenseIntOrFPElementsAttr[IntegerType | Float32Type], value)
    data, count = dense.data.data, vector.get_shape()[0]
    if not any(data):
        return "zeroinitializer"
    element = vector.element_type
    name = type_text(element)
    written = [f"{name} {_element_text(number, element)}" for number in dense.get_values()]
    if data == data[: len(data) // count] * count:
        return f"splat ({written[0]})"
    return f"<{', '.join(written)}>"


def _element_text(number: object, type: Attribute) -> str:
    return _integer_text(number, type) if isinstance(number, int) else float_text(cast(float, number), type)


_SIMPLE_NAME = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*")


def symbol(name: str) -> str:
    """The name of a function or variable, quoted where it needs to be."""
    return f"@{name}" if _SIMPLE_NAME.fullmatch(name) else f'@"{escaped_bytes(name.encode())}"'


_PRINTABLE = bytes(code for code in range(32, 127) if code not in b'"\\')
_ESCAPES = [chr(code) if code in _PRINTABLE else f"\\{code:02X}" for code in range(256)]


def escaped_bytes(data: bytes) -> str:
    """The inside of a quoted string."""
    return "".join(map(_ESCAPES.__getitem__, data))


@lru_cache(maxsize=256)
def flag_text(flags: llvm.FastMathAttr) -> str:
    """Fast-math flags with a space behind each: `nnan contract `, `fast `."""
    if len(flags.data) == len(FastMathFlag):
        return "fast "
    return "".join(f"{flag.value} " for flag in FastMathFlag if flag in flags.data)


def loop_properties(annotation: LoopAnnotationAttr) -> list[str]:
    """The metadata strings of a loop's hints, as upstream's translation has them."""
    unroll, vectorize, interleave = (annotation.hints().get(key) for key in ("unroll", "vectorize", "interleave"))
    properties: list[str] = []

    def add(name: str, value: str | None = "") -> None:
        if value is not None:
            properties.append(f'!"llvm.loop.{name}"{value and ", "}{value}')

    add("disable_nonforced", _when(annotation.flag("disableNonforced")))
    add("mustprogress", _when(annotation.flag("mustProgress")))
    add("isvectorized", "i32 1" if annotation.flag("isVectorized") else None)
    if isinstance(vectorize, HintAttr):
        disable = vectorize.flag("disable")
        add("vectorize.enable", None if disable is None else _bit(not disable))
        add("vectorize.predicate.enable", _bit(vectorize.flag("predicateEnable")))
        add("vectorize.scalable.enable", _bit(vectorize.flag("scalableEnable")))
        add("vectorize.width", _number(vectorize.number("width")))
    if isinstance(interleave, HintAttr):
        add("interleave.count", _number(interleave.number("count")))
    if isinstance(unroll, HintAttr):
        disable = unroll.flag("disable")
        if disable is not None:
            add("unroll.disable" if disable else "unroll.enable")
        add("unroll.count", _number(unroll.number("count")))
        add("unroll.runtime.disable", _bit(unroll.flag("runtimeDisable")))
        add("unroll.full", _when(unroll.flag("full")))
    return properties


def _when(flag: bool | None) -> str | None:
    return "" if flag else None


def _bit(flag: bool | None) -> str | None:
    return None if flag is None else f"i1 {'true' if flag else 'false'}"


def _number(number: int | None) -> str | None:
    return None if number is None else f"i32 {number}"
