"""Types, literals and names in C."""

from __future__ import annotations

import re
from math import isinf, isnan

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    VectorType,
)
from xdsl.ir import Attribute

from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.hints import isa
from ...dialects.support.unique_names import UniqueNames

KEYWORDS = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main
    bool true false asm typeof abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh div erf exit exp
    exp2 expm1 fabs floor fma fmax fmin fmod free hypot isfinite isinf isnan j0 j1 jn labs log log10 log1p log2 malloc
    memcpy memset nearbyint pow rand remainder rint round sin sinh sqrt tan tanh tgamma trunc y0 y1 yn signbit
    INFINITY NAN NULL index time clock signal""".split()
)
"""What a name in C cannot be, or had better not be."""


IN_HEADERS = frozenset({
    "memcpy", "memmove", "memset", "memcmp", "memchr", "strlen", "malloc", "calloc", "free", "abort", "exit", "rand",
    "srand", "abs", "labs", "llabs", "lround", "lroundf", "llround", "llroundf", "ilogb", "ilogbf",
    *(
        f"{name}{suffix}"
        for suffix in ("", "f")
        for name in (
            "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh",
            "erf", "erfc", "exp", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "hypot",
            "ldexp", "lgamma", "log", "log10", "log1p", "log2", "logb", "nearbyint", "nextafter", "pow", "remainder",
            "rint", "round", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc",
        )
    ),
})  # fmt: skip
"""Functions that the headers declare which each file of C includes."""


class Names(UniqueNames):
    """Names for C, each once."""

    def new(self, wanted: str) -> str:
        """`wanted`, or something like it, that C can have and nothing else has."""
        return super().new(identifier(wanted))


def identifier(text: str) -> str:
    """A text as a name in C."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", text) or "_"
    if name[0].isdigit():
        name = f"v{name}"
    return f"{name}_" if name in KEYWORDS or name.startswith("weft_") else name


def scalar(type: Attribute) -> str:
    """The type of a scalar. A bfloat16 is kept as its bits, an integer as a signed one.

    Raises:
        Diagnostic: C has none.
    """
    match type:
        case IndexType():
            return "int64_t"
        case Float32Type():
            return "float"
        case Float64Type():
            return "double"
        case Float16Type():
            return "_Float16"
        case BFloat16Type():
            return "uint16_t"
        case IntegerType():
            width = type.width.data
            if width == 1:
                return "bool"
            if width in (8, 16, 32, 64):
                return f"int{width}_t"
        case _:
            pass
    raise Diagnostic(f"a value of type {type} has no type in C")


def unsigned(type: Attribute) -> str:
    """The unsigned type of the same width as an integer type."""
    name = scalar(element(type))
    return name if name == "bool" else f"u{name}"


def element(type: Attribute) -> Attribute:
    """The type of a vector's lanes, or the scalar type itself."""
    return type.element_type if isa(type, VectorType) else type


def lanes(type: Attribute) -> int:
    """The lanes of a vector type; 0 for a scalar type.

    Raises:
        Diagnostic: it has several dimensions, or no power of two of lanes.
    """
    if not isa(type, VectorType):
        return 0
    shape = type.get_shape()
    if len(shape) != 1 or shape[0] < 1 or shape[0] & (shape[0] - 1):
        raise Diagnostic(f"a vector {type} has no type in C", hint="vectors have 2, 4, 8, ... lanes")
    return shape[0]


_SHORT = {
    "int64_t": "i64", "int32_t": "i32", "int16_t": "i16", "int8_t": "i8", "uint64_t": "u64", "uint32_t": "u32",
    "uint16_t": "u16", "uint8_t": "u8", "float": "f32", "double": "f64", "_Float16": "f16", "bool": "i8",
}  # fmt: skip
_BYTES = {"i64": 8, "i32": 4, "i16": 2, "i8": 1, "u64": 8, "u32": 4, "u16": 2, "u8": 1, "f32": 4, "f64": 8, "f16": 2}
_LONG = {short: long for long, short in reversed(_SHORT.items())} | {"i8": "int8_t"}


class VectorTypes:
    """The vector types that a file uses: GCC's and Clang's extension. A vector of truth values has lanes 0 and -1."""

    def __init__(self) -> None:
        self._used: dict[tuple[str, int], None] = {}

    def name(self, scalar_name: str, count: int) -> str:
        """The type of `count` lanes of a C type."""
        short = _SHORT[scalar_name]
        self._used[short, count] = None
        return f"{short}x{count}"

    def mask(self, type: Attribute, count: int) -> str:
        """The type of integers that compare to lanes of `type`, which are not `i1`."""
        short = _SHORT[scalar(type)]
        return self.name(_LONG[f"i{8 * _BYTES[short]}"], count)

    def of(self, type: Attribute) -> str:
        """The type of a value: of a vector, or of a scalar."""
        count = lanes(type)
        return self.name(scalar(element(type)), count) if count else scalar(type)

    def definitions(self) -> str:
        """The definitions: of each type, and of one of the same lanes that may stand anywhere in memory."""
        lines: list[str] = []
        for short, count in sorted(self._used, key=lambda used: (used[0], used[1])):
            size, of = _BYTES[short], _LONG[short]
            name = f"{short}x{count}"
            lines.append(f"typedef {of} {name} __attribute__((vector_size({size * count})));")
            placed = f"vector_size({size * count}), aligned({size}), may_alias"
            lines.append(f"typedef {of} {name}_at __attribute__(({placed}));")
        return "\n".join(lines)


def pointee(type: Attribute) -> str:
    """The type of what a memref holds."""
    if not isinstance(type, MemRefType):
        raise Diagnostic(f"{type} is no memref")
    return scalar(type.element_type)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def float_literal(value: float, type: Attribute) -> str:
    """A literal of a float type, exactly; of bfloat16, its bits."""
    if isinstance(type, BFloat16Type):
        import struct

        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        return hex(bits >> 16)
    if isnan(value):
        return "NAN" if isinstance(type, Float32Type) else f"({scalar(type)})NAN"
    if isinf(value):
        return "-INFINITY" if value < 0 else "INFINITY"
    if isinstance(type, Float32Type):
        text = _shortest_float32(value)
        return f"{text}f"
    text = repr(float(value))
    return text if isinstance(type, Float64Type) else f"(_Float16){text}"


def _shortest_float32(value: float) -> str:
    import numpy as np

    text = str(np.float32(value))
    return text if "." in text or "e" in text else f"{text}.0"


def int_literal(value: int, type: Attribute) -> str:
    """A literal of an integer type."""
    if isa(type, IntegerType):
        width = type.width.data
        if width == 1:
            return "true" if value & 1 else "false"
        value = (value + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))
    if value == -(1 << 63):
        return "INT64_MIN"
    return str(value) if abs(value) < 1 << 31 else f"INT64_C({value})"


def is_float(type: Attribute) -> bool:
    """Whether values, or lanes, are floats."""
    return isa(element(type), AnyFloat)
