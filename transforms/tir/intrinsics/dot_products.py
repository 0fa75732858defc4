"""Dot products of bytes as tensor intrinsics.

`dot_u8s8`, `dot_s8s8`, ... sum four products into one number (`u8` are bytes without a sign, `s8` those with one), and
`dot_u8s8_from_0` begins with it. They know nothing of lanes: a loop around them that is vectorised becomes the lanes of
the processor's instruction, x86's `vpdpbusd` or AArch64's `sdot` and `udot`, or plain arithmetic where it has none.

Those that have TVM's names are of one row and a block of columns (`x86`, `arm_cpu`, `hexagon`). They, too, are loops
that become vectors, and run on any target.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

_DTYPES = {"u8": "uint8", "s8": "int8"}

_ONE = """
@T.prim_func
def {name}(a: T.Buffer[(4,), "{lhs}"], b: T.Buffer[(4,), "{rhs}"], c: T.Buffer[({shape}), "int32"]):
    for k in range(4):
        with T.block("step"):
            vk = T.axis.reduce(4, k)
{init}            c[{at}] = c[{at}] + T.cast(a[vk], "int32") * T.cast(b[vk], "int32")
"""
_ONE_IMPL = """
@T.prim_func
def {name}(a: T.Buffer[(4,), "{lhs}"], b: T.Buffer[(4,), "{rhs}"], c: T.Buffer[({shape}), "int32"]):
    with T.block("dot"):
        vk = T.axis.reduce(1, 0)
{init}        c[{at}] = T.dot(c[{at}], [a[0], a[1], a[2], a[3]], [b[0], b[1], b[2], b[3]])
"""
_INIT = """{indent}with T.init():
{indent}    c[()] = 0
"""
_COLUMNS = """
@T.prim_func
def {name}(a: T.Buffer[({k},), "{lhs}"], b: T.Buffer[({lanes}, {k}), "{rhs}"], c: T.Buffer[({lanes},), "int32"]):
    for j, k in T.grid({lanes}, {k}):
        with T.block("step"):
            vj, vk = T.axis.remap("SR", [j, k])
            c[vj] = c[vj] + T.cast(a[vk], "int32") * T.cast(b[vj, vk], "int32")
"""
_COLUMNS_IMPL = """
@T.prim_func
def {name}(a: T.Buffer[({k},), "{lhs}"], b: T.Buffer[({lanes}, {k}), "{rhs}"], c: T.Buffer[({lanes},), "int32"]):
    for j in T.vectorized({lanes}):
        with T.block("dot"):
            vj = T.axis.spatial({lanes}, j)
            c[vj] = {sum}
"""
_BYTES = "T.dot(c[vj], [a[0], a[1], a[2], a[3]], [b[vj, 0], b[vj, 1], b[vj, 2], b[vj, 3]])"
_PAIRS = " + ".join(["c[vj]", *(f'T.cast(a[{n}], "int32") * T.cast(b[vj, {n}], "int32")' for n in range(2))])

SINGLE = ("dp4a", "sdot4")
"""TVM's intrinsics of four products of bytes that are added to one number, in a buffer of one dimension."""

COLUMNS = {
    "dot_16x4_vnni": ("uint8", "int8", 16, 4),
    "dot_16x4_avx512": ("uint8", "int8", 16, 4),
    "dot_4x4_i8i8s32_sdot": ("int8", "int8", 4, 4),
    "dot_4x4_i8i8s32_neon": ("int8", "int8", 4, 4),
    "dot_32x4_u8u8i32_vrmpy": ("uint8", "uint8", 32, 4),
    "dot_32x4_u8i8i32_vrmpy": ("uint8", "int8", 32, 4),
    "dot_product_32x2_i16i16i32_vdmpy": ("int16", "int16", 32, 2),
}
"""TVM's intrinsics of a row and a block of columns: their elements, how many columns, and how many products of each."""


def dot_name(lhs_unsigned: bool, rhs_unsigned: bool, starts: bool) -> str:
    """The name of the intrinsic that sums four products of bytes."""
    return f"dot_{'us'[not lhs_unsigned]}8{'us'[not rhs_unsigned]}8{'_from_0' if starts else ''}"


def _one(name: str, lhs: str, rhs: str, inits: Sequence[str], shape: str, at: str) -> tuple[str, str]:
    desc, impl = (
        text.format(name=name, lhs=lhs, rhs=rhs, init=init, shape=shape, at=at)
        for text, init in zip((_ONE, _ONE_IMPL), inits, strict=True)
    )
    return desc, impl


def texts() -> dict[str, tuple[str, str]]:
    """What each of the dot products computes, and how, by name."""
    found: dict[str, tuple[str, str]] = {}
    for (left, lhs), (right, rhs), starts in product(_DTYPES.items(), _DTYPES.items(), (False, True)):
        name = dot_name(left == "u8", right == "u8", starts)
        inits = [_INIT.format(indent=" " * n) if starts else "" for n in (12, 8)]
        found[name] = _one(name, lhs, rhs, inits, "", "()")
    for name in SINGLE:
        found[name] = _one(name, "int8", "int8", ["", ""], "1,", "0")
    for name, (lhs, rhs, lanes, k) in COLUMNS.items():
        sum = _BYTES if k == 4 else _PAIRS
        desc, impl = (
            text.format(name=name, lhs=lhs, rhs=rhs, lanes=lanes, k=k, sum=sum) for text in (_COLUMNS, _COLUMNS_IMPL)
        )
        found[name] = desc, impl
    return found
