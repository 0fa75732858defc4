"""Operations of the loops phase on numbers and vectors run as machine code and give what NumPy gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from native import INDICES, Native, NDArray, aligned, lower, run
from xdsl.dialects.builtin import IndexType, IntegerType, VectorType, f32, f64, i1, i8
from xdsl.ir import Attribute

from weft.lowering.loops_to_llvm.types import LoweringError, byte_size

COUNT = 64

DTYPES: dict[str, npt.DTypeLike] = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "i1": np.bool_,
}


Integers: TypeAlias = npt.NDArray[np.int64]
"""Integers of any width; lambdas over arrays need some type to have their operators checked."""

Expected: TypeAlias = Callable[[Integers, Integers], npt.ArrayLike]


def elementwise(op: str, source: str, result: str | None = None, operands: int = 2) -> str:
    """A loop that applies `op`, written with `{x}` and `{y}`, to the elements of arrays."""
    result = result or source
    text = op.format(x="%x", y="%y", t=source, r=result)
    loads = f"%y = memref.load %B[%i] : memref<64x{source}>" if operands == 2 else ""
    return f"""
func.func @f(%A: memref<64x{source}>, %B: memref<64x{source}>, %C: memref<64x{result}>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {{
    %x = memref.load %A[%i] : memref<64x{source}>
    {loads}
    %z = {text}
    memref.store %z, %C[%i] : memref<64x{result}>
  }}
  func.return
}}"""


def vectorwise(op: str, source: str, result: str | None = None) -> str:
    """The same in vectors of 16."""
    result = result or source
    text = op.format(x="%x", y="%y", t=f"vector<16x{source}>", r=f"vector<16x{result}>")
    return f"""
func.func @vectors(%A: memref<64x{source}>, %B: memref<64x{source}>, %C: memref<64x{result}>) {{
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c16 {{
    %x = vector.load %A[%i] : memref<64x{source}>, vector<16x{source}>
    %y = vector.load %B[%i] : memref<64x{source}>, vector<16x{source}>
    %z = {text}
    vector.store %z, %C[%i] : memref<64x{result}>, vector<16x{result}>
  }}
  func.return
}}"""


def samples(source: str) -> tuple[NDArray, NDArray]:
    generator = np.random.default_rng(7)
    a, b = aligned((COUNT,), DTYPES[source]), aligned((COUNT,), DTYPES[source])
    if source == "i1":
        a[...], b[...] = generator.integers(0, 2, (2, COUNT)).astype(bool)
    elif source.startswith("i"):
        a[...], b[...] = generator.integers(-100, 100, (2, COUNT))
        b[b == 0] = 3
    else:
        a[...], b[...] = generator.uniform(-8, 8, (2, COUNT)).astype(DTYPES[source])
        a[:3], b[3:5] = [np.nan, np.inf, -0.0], [np.nan, 0.0]
    return a, b


def check(op: str, source: str, result: str, expected: Expected, operands: int = 2) -> None:
    """`op` gives what is expected, one element at a time and in vectors."""
    a, b = (cast(Integers, array) for array in samples(source))
    with np.errstate(all="ignore"):
        wanted = np.asarray(expected(a, b)).astype(DTYPES[result])
    native = Native(elementwise(op, source, result, operands) + vectorwise(op, source, result))
    for function in ("f", "vectors"):
        c = aligned((COUNT,), DTYPES[result])
        native(function, a, b, c)
        np.testing.assert_array_equal(c.astype(np.float64), wanted.astype(np.float64), function)


def unsigned(a: Integers) -> npt.NDArray[np.uint64]:
    return cast(npt.NDArray[np.uint64], a.view(a.dtype.str.replace("i", "u")))


FLOAT: list[tuple[str, Expected]] = [
    ("arith.addf {x}, {y} : {t}", lambda a, b: a + b),
    ("arith.subf {x}, {y} : {t}", lambda a, b: a - b),
    ("arith.mulf {x}, {y} : {t}", lambda a, b: a * b),
    ("arith.divf {x}, {y} : {t}", lambda a, b: a / b),
    ("arith.maximumf {x}, {y} : {t}", np.maximum),
    ("arith.minimumf {x}, {y} : {t}", np.minimum),
    ("arith.maxnumf {x}, {y} : {t}", np.fmax),
    ("arith.minnumf {x}, {y} : {t}", np.fmin),
    ("arith.negf {x} : {t}", lambda a, b: -a),
    ("math.absf {x} : {t}", lambda a, b: np.abs(a)),
    ("math.floor {x} : {t}", lambda a, b: np.floor(a)),
    ("math.ceil {x} : {t}", lambda a, b: np.ceil(a)),
    ("math.roundeven {x} : {t}", lambda a, b: np.rint(a)),
    ("math.trunc {x} : {t}", lambda a, b: np.trunc(a)),
    ("math.sqrt {x} : {t}", lambda a, b: np.sqrt(a)),
    ("math.copysign {x}, {y} : {t}", np.copysign),
]


@pytest.mark.parametrize("source", ["f32", "f64", "f16", "bf16"])
@pytest.mark.parametrize(("op", "expected"), FLOAT, ids=[op.split()[0] for op, _ in FLOAT])
def test_float_operations_give_what_numpy_gives(op: str, expected: Expected, source: str) -> None:
    check(op, source, source, expected)


INTEGER: list[tuple[str, Expected]] = [
    ("arith.addi {x}, {y} : {t}", lambda a, b: a + b),
    ("arith.subi {x}, {y} : {t}", lambda a, b: a - b),
    ("arith.muli {x}, {y} : {t}", lambda a, b: a * b),
    ("arith.divsi {x}, {y} : {t}", lambda a, b: np.trunc(a.astype(float) / b)),
    ("arith.remsi {x}, {y} : {t}", np.fmod),
    ("arith.divui {x}, {y} : {t}", lambda a, b: (unsigned(a) // unsigned(b)).view(a.dtype)),
    ("arith.remui {x}, {y} : {t}", lambda a, b: (unsigned(a) % unsigned(b)).view(a.dtype)),
    ("arith.floordivsi {x}, {y} : {t}", lambda a, b: a // b),
    ("arith.ceildivsi {x}, {y} : {t}", lambda a, b: np.ceil(a.astype(float) / b)),
    (
        "arith.ceildivui {x}, {y} : {t}",
        lambda a, b: np.ceil(unsigned(a) / unsigned(b).astype(float)).astype(np.uint8).view(np.int8),
    ),
    ("arith.andi {x}, {y} : {t}", lambda a, b: a & b),
    ("arith.ori {x}, {y} : {t}", lambda a, b: a | b),
    ("arith.xori {x}, {y} : {t}", lambda a, b: a ^ b),
    ("arith.maxsi {x}, {y} : {t}", np.maximum),
    ("arith.minsi {x}, {y} : {t}", np.minimum),
    ("arith.maxui {x}, {y} : {t}", lambda a, b: np.maximum(unsigned(a), unsigned(b)).view(a.dtype)),
    ("arith.minui {x}, {y} : {t}", lambda a, b: np.minimum(unsigned(a), unsigned(b)).view(a.dtype)),
    ("math.absi {x} : {t}", lambda a, b: np.abs(a)),
    ("math.ctpop {x} : {t}", lambda a, b: np.bitwise_count(unsigned(a))),
]


@pytest.mark.parametrize("source", ["i8", "i32", "i64"])
@pytest.mark.parametrize(("op", "expected"), INTEGER, ids=[op.split()[0] for op, _ in INTEGER])
def test_integer_operations_give_what_numpy_gives(op: str, expected: Expected, source: str) -> None:
    if "ceildivui" in op and source != "i8":
        pytest.skip("quotients of wide unsigned integers are not exact in float64, in which the results are compared")
    if op.startswith(("arith.divui", "arith.remui")) and source == "i64":
        pytest.skip("quotients of wide unsigned integers are not exact in float64, in which the results are compared")
    check(op, source, source, expected)


CONVERSIONS: list[tuple[str, str, str]] = [
    ("arith.extf {x} : {t} to {r}", "f32", "f64"),
    ("arith.extf {x} : {t} to {r}", "f16", "f32"),
    ("arith.extf {x} : {t} to {r}", "bf16", "f32"),
    ("arith.extf {x} : {t} to {r}", "bf16", "f64"),
    ("arith.truncf {x} : {t} to {r}", "f64", "f32"),
    ("arith.truncf {x} : {t} to {r}", "f32", "f16"),
    ("arith.truncf {x} : {t} to {r}", "f32", "bf16"),
    ("arith.sitofp {x} : {t} to {r}", "i32", "f32"),
    ("arith.sitofp {x} : {t} to {r}", "i8", "f64"),
    ("arith.sitofp {x} : {t} to {r}", "i32", "bf16"),
    ("arith.extsi {x} : {t} to {r}", "i8", "i32"),
    ("arith.trunci {x} : {t} to {r}", "i64", "i8"),
    ("arith.extui {x} : {t} to {r}", "i1", "i32"),
]


@pytest.mark.parametrize(("op", "source", "result"), CONVERSIONS)
def test_conversions_give_what_numpy_gives(op: str, source: str, result: str) -> None:
    check(op, source, result, lambda a, b: a, 1)


def test_floats_become_integers_towards_zero() -> None:
    a, c = aligned((COUNT,), np.float32), aligned((COUNT,), np.int32)
    a[...] = np.linspace(-30, 30, COUNT)
    Native(elementwise("arith.fptosi {x} : {t} to {r}", "f32", "i32", 1))("f", a, a, c)
    np.testing.assert_array_equal(c, np.trunc(a).astype(np.int32))


COMPARISONS: list[tuple[str, str, Expected]] = [
    ("arith.cmpf olt, {x}, {y} : {t}", "f32", np.less),
    ("arith.cmpf une, {x}, {y} : {t}", "f64", np.not_equal),
    ("arith.cmpf oge, {x}, {y} : {t}", "bf16", np.greater_equal),
    ("arith.cmpf uno, {x}, {y} : {t}", "f32", lambda a, b: np.isnan(a) | np.isnan(b)),
    ("arith.cmpi slt, {x}, {y} : {t}", "i32", np.less),
    ("arith.cmpi uge, {x}, {y} : {t}", "i8", lambda a, b: unsigned(a) >= unsigned(b)),
    ("arith.andi {x}, {y} : {t}", "i1", np.logical_and),
]


@pytest.mark.parametrize(("op", "source", "expected"), COMPARISONS)
def test_comparisons_store_bytes_of_zero_and_one(op: str, source: str, expected: Expected) -> None:
    check(op, source, "i1", expected)


def test_vectors_in_memory_and_lanes() -> None:
    a, out = aligned((32,), np.float32), aligned((32,), np.float32)
    a[...] = np.arange(32)
    run(
        f"""
{INDICES}
  %x = vector.load %a[%c1] : memref<32xf32>, vector<8xf32>
  %acc = memref.alloca() : memref<2xvector<8xf32>>
  memref.store %x, %acc[%c1] : memref<2xvector<8xf32>>
  %y = memref.load %acc[%c1] : memref<2xvector<8xf32>>
  %z = vector.shuffle %y, %x [7, 6, 5, 4, 8, 9, 10, 11] : vector<8xf32>, vector<8xf32>
  %e = vector.extract %z[0] : f32 from vector<8xf32>
  %f = vector.extract %y[%c2] : f32 from vector<8xf32>
  %g = arith.addf %e, %f : f32
  %h = vector.insert %g, %z [%c3] : f32 into vector<8xf32>
  %b = vector.broadcast %g : f32 to vector<8xf32>
  %i = vector.fma %h, %b, %x : vector<8xf32>
  vector.store %i, %out[%c0] : memref<32xf32>, vector<8xf32>
  %mask = vector.create_mask %c3 : vector<8xi1>
  vector.maskedstore %out[%c8], %mask, %x : memref<32xf32>, vector<8xi1>, vector<8xf32>
  %m = vector.maskedload %a[%c0], %mask, %b : memref<32xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.store %m, %out[%c16] : memref<32xf32>, vector<8xf32>""",
        a,
        out,
        signature="%a: memref<32xf32>, %out: memref<32xf32>",
    )
    x = a[1:9]
    z = np.concatenate([x[[7, 6, 5, 4]], x[:4]])
    g = z[0] + x[2]
    z[3] = g
    np.testing.assert_array_equal(out[:8], z * g + x)
    np.testing.assert_array_equal(out[8:16], [*x[:3], 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(out[16:24], [0, 1, 2, g, g, g, g, g])


@pytest.mark.parametrize(
    ("kind", "type", "expected"),
    [
        ("add", "f32", np.sum),
        ("mul", "f32", np.prod),
        ("maximumf", "f32", np.max),
        ("minnumf", "f32", np.min),
        ("add", "i32", np.sum),
        ("minsi", "i32", np.min),
        ("maxui", "i32", np.max),
        ("xor", "i32", np.bitwise_xor.reduce),
    ],
)
def test_lanes_are_reduced_with_and_without_an_accumulator(
    kind: str, type: str, expected: Callable[[NDArray], float]
) -> None:
    a, out = aligned((9,), DTYPES[type]), aligned((2,), DTYPES[type])
    a[...] = [3, 1, 4, 1, 5, 9, 2, 6, 7]
    run(
        f"""
{INDICES}
  %x = vector.load %a[%c0] : memref<9x{type}>, vector<8x{type}>
  %y = memref.load %a[%c8] : memref<9x{type}>
  %r = vector.reduction <{kind}>, %x : vector<8x{type}> into {type}
  %s = vector.reduction <{kind}>, %x, %y : vector<8x{type}> into {type}
  memref.store %r, %out[%c0] : memref<2x{type}>
  memref.store %s, %out[%c1] : memref<2x{type}>""",
        a,
        out,
        signature=f"%a: memref<9x{type}>, %out: memref<2x{type}>",
    )
    assert list(out) == [expected(a[:8]), expected(a)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('"test.op"() : () -> ()', "'test.op': has no lowering"),
        ("%v = memref.alloca(%n) : memref<?xf32>", "dynamic extent"),
        ("%v = vector.load %a[%n, %n] : memref<4x4xf32>, vector<2x2xf32>", "not a vector of one fixed dimension"),
        (
            "%v = memref.subview %a[0, 0] [2, 2] [%n, 1] : memref<4x4xf32> to memref<2x2xf32, strided<[?, 1]>>",
            "dynamic stride",
        ),
        ("%v = memref.dim %a, %n : memref<4x4xf32>", "not a constant"),
    ],
)
def test_what_cannot_be_lowered_is_named(line: str, message: str) -> None:
    text = f"func.func @f(%a: memref<4x4xf32>, %n: index) {{\n  {line}\n  func.return\n}}"
    with pytest.raises(LoweringError, match=message):
        lower(text)


@pytest.mark.parametrize(
    ("type", "size"),
    [
        (i1, 1),
        (i8, 1),
        (IntegerType(24), 3),
        (f64, 8),
        (VectorType(f32, [4]), 16),
        (VectorType(i1, [3]), 3),
        (IndexType(), 8),
    ],
)
def test_an_element_takes_so_many_bytes(type: Attribute, size: int) -> None:
    assert byte_size(type) == size


@pytest.mark.parametrize("type", [IntegerType(12), IntegerType(20)])
def test_what_is_no_whole_number_of_bytes_has_no_size(type: Attribute) -> None:
    with pytest.raises(LoweringError, match="are not a whole number of bytes"):
        byte_size(type)
