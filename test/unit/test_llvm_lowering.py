"""Every family of operations of the loops phase runs as machine code and gives what NumPy gives."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TypeAlias, cast

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from native import Native, NDArray, aligned, lower
from xdsl.dialects.builtin import IndexType, IntegerType, VectorType, f32, f64, i1, i8
from xdsl.dialects.llvm import CallOp
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
func.func @f(%A: memref<64x{source}>, %B: memref<64x{source}>, %C: memref<64x{result}>) {{
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


def operands(source: str) -> tuple[NDArray, NDArray]:
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


def check(text: str, source: str, result: str, expected: Expected) -> None:
    a, b = (cast(Integers, array) for array in operands(source))
    c = aligned((COUNT,), DTYPES[result])
    Native(text)("f", a, b, c)
    with np.errstate(all="ignore"):
        wanted = np.asarray(expected(a, b)).astype(DTYPES[result])
    np.testing.assert_array_equal(c.astype(np.float64), wanted.astype(np.float64))


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
    check(elementwise(op, source), source, source, expected)
    check(vectorwise(op, source), source, source, expected)


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
    check(elementwise(op, source), source, source, expected)
    check(vectorwise(op, source), source, source, expected)


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
    check(elementwise(op, source, result, 1), source, result, lambda a, b: a)
    check(vectorwise(op, source, result), source, result, lambda a, b: a)


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
    check(elementwise(op, source, "i1"), source, "i1", expected)
    check(vectorwise(op, source, "i1"), source, "i1", expected)


def run(body: str, *arguments: NDArray | int, signature: str, declarations: str = "") -> None:
    Native(f"{declarations}\nfunc.func @f({signature}) {{\n{body}\n  func.return\n}}")("f", *arguments)


INDICES = "".join(f"  %c{number} = arith.constant {number} : index\n" for number in (0, 1, 2, 3, 4, 5, 7, 8, 16))


def test_a_loop_with_dynamic_bounds_may_not_run_at_all() -> None:
    text = f"""
func.func @f(%out: memref<1xi64>, %n: index) {{
{INDICES}
  %zero = arith.constant 0 : i64
  %sum = scf.for %i = %c1 to %n step %c2 iter_args(%a = %zero) -> (i64) {{
    %j = arith.index_cast %i : index to i64
    %b = arith.addi %a, %j : i64
    scf.yield %b : i64
  }}
  memref.store %sum, %out[%c0] : memref<1xi64>
  func.return
}}"""
    native, out = Native(text), aligned((1,), np.int64)
    for n, wanted in ((-3, 0), (0, 0), (1, 0), (2, 1), (8, 1 + 3 + 5 + 7)):
        native("f", out, n)
        assert out[0] == wanted, n


@pytest.mark.parametrize(("first", "end", "step"), [(0, 0, 1), (3, 4, 1), (0, 7, 3), (5, 2, 1), (-4, 4, 4)])
def test_a_loop_with_static_bounds_runs_as_range_does(first: int, end: int, step: int) -> None:
    out = aligned((2,), np.int64)
    run(
        f"""
{INDICES}
  %first = arith.constant {first} : index
  %end = arith.constant {end} : index
  %step = arith.constant {step} : index
  %r:2 = scf.for %i = %first to %end step %step iter_args(%n = %c0, %s = %c0) -> (index, index) {{
    %m = arith.addi %n, %c1 : index
    %t = arith.addi %s, %i : index
    scf.yield %m, %t : index, index
  }}
  memref.store %r#0, %out[%c0] : memref<2xindex>
  memref.store %r#1, %out[%c1] : memref<2xindex>""",
        out,
        signature="%out: memref<2xindex>",
    )
    assert list(out) == [len(range(first, end, step)), sum(range(first, end, step))]


def test_if_while_and_switch_choose_as_written() -> None:
    text = f"""
func.func @f(%out: memref<8xindex>, %n: index) {{
{INDICES}
  %small = arith.cmpi slt, %n, %c4 : index
  %a = scf.if %small -> (index) {{
    %t = arith.muli %n, %n : index
    scf.yield %t : index
  }} else {{
    scf.yield %n : index
  }}
  memref.store %a, %out[%c0] : memref<8xindex>
  scf.if %small {{
    memref.store %c1, %out[%c1] : memref<8xindex>
  }}
  %halved, %steps = scf.while (%x = %n, %k = %c0) : (index, index) -> (index, index) {{
    %more = arith.cmpi sgt, %x, %c1 : index
    scf.condition(%more) %x, %k : index, index
  }} do {{
  ^bb0(%x: index, %k: index):
    %y = arith.divsi %x, %c2 : index
    %l = arith.addi %k, %c1 : index
    scf.yield %y, %l : index, index
  }}
  memref.store %steps, %out[%c2] : memref<8xindex>
  %s = scf.index_switch %n -> index
  case 2 {{
    scf.yield %c7 : index
  }}
  case 5 {{
    scf.yield %c8 : index
  }}
  default {{
    scf.yield %c16 : index
  }}
  memref.store %s, %out[%c3] : memref<8xindex>
  func.return
}}"""
    native = Native(text)
    for n, wanted in ((2, [4, 1, 1, 7]), (5, [5, 0, 2, 8]), (9, [9, 0, 3, 16])):
        out = aligned((8,), np.int64)
        native("f", out, n)
        assert list(out[:4]) == wanted


def test_blocks_and_branches_are_kept() -> None:
    text = """
func.func @f(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %n : index, index)
^head(%sum: index, %left: index):
  %done = arith.cmpi eq, %left, %c0 : index
  cf.cond_br %done, ^end(%sum : index), ^body
^body:
  %next = arith.addi %sum, %left : index
  %less = arith.subi %left, %c1 : index
  cf.br ^head(%next, %less : index, index)
^end(%result: index):
  func.return %result : index
}"""
    assert Native(text)("f", 10, result=ctypes.c_int64) == 55


def test_both_edges_of_a_branch_may_lead_to_one_block_with_different_values() -> None:
    text = """
func.func @f(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %odd = arith.remsi %n, %c1 : index
  %positive = arith.cmpi sgt, %n, %c0 : index
  cf.cond_br %positive, ^end(%n : index), ^end(%c1 : index)
^end(%result: index):
  func.return %result : index
}"""
    native = Native(text)
    assert [native("f", n, result=ctypes.c_int64) for n in (-5, 5)] == [1, 5]


def test_a_function_may_return_several_values() -> None:
    text = """
func.func private @both(%a: index, %b: index) -> (index, index) {
  func.return %b, %a : index, index
}
func.func @f(%a: index, %b: index) -> index {
  %x:2 = func.call @both(%a, %b) : (index, index) -> (index, index)
  %y = arith.subi %x#0, %x#1 : index
  func.return %y : index
}"""
    assert Native(text)("f", 3, 10, result=ctypes.c_int64) == 7


def test_a_failed_assertion_ends_the_process_with_its_message() -> None:
    import subprocess
    import sys
    from pathlib import Path

    support = Path(__file__).parents[1] / "support"
    body = '%c = arith.index_cast %n : index to i1\n  cf.assert %c, "n is even"\n  func.return\n'
    text = f"func.func @f(%n: index) {{\n  {body}}}"
    load = f"import sys; sys.path.insert(0, {str(support)!r})\nfrom native import Native\n"
    code = f"{load}f = Native({text!r})\nf('f', 1)\nf('f', 2)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "n is even" in done.stdout


def test_strided_views_reach_the_right_elements() -> None:
    a = aligned((6, 8), np.float32)
    a[...] = np.arange(48).reshape(6, 8)
    out = aligned((2, 3), np.float32)
    run(
        f"""
{INDICES}
  %v = memref.subview %a[1, 2] [2, 3] [2, 2] : memref<6x8xf32> to memref<2x3xf32, strided<[16, 2], offset: 10>>
  "memref.copy"(%v, %out) : (memref<2x3xf32, strided<[16, 2], offset: 10>>, memref<2x3xf32>) -> ()""",
        a,
        out,
        signature="%a: memref<6x8xf32>, %out: memref<2x3xf32>",
    )
    np.testing.assert_array_equal(out, a[1:5:2, 2:8:2])


def test_a_view_with_dynamic_offset_and_size_knows_its_extent() -> None:
    a, out = aligned((16,), np.float32), aligned((1,), np.int64)
    a[...] = np.arange(16)
    text = f"""
func.func @f(%a: memref<16xf32>, %out: memref<1xindex>, %o: index, %n: index) {{
{INDICES}
  %v = memref.subview %a[%o] [%n] [1] : memref<16xf32> to memref<?xf32, strided<[1], offset: ?>>
  %d = memref.dim %v, %c0 : memref<?xf32, strided<[1], offset: ?>>
  %last = arith.subi %d, %c1 : index
  %x = memref.load %v[%last] : memref<?xf32, strided<[1], offset: ?>>
  %y = arith.fptosi %x : f32 to i64
  %z = arith.index_cast %y : i64 to index
  memref.store %z, %out[%c0] : memref<1xindex>
  func.return
}}"""
    Native(text)("f", a, out, 3, 6)
    assert out[0] == 8


def test_a_transposed_layout_is_addressed_by_its_strides() -> None:
    a = aligned((3, 4), np.float32)
    a[...] = np.arange(12).reshape(3, 4)
    out = aligned((4, 3), np.float32)
    run(
        f"""
{INDICES}
  %t = memref.reinterpret_cast %a to offset: [0], sizes: [4, 3], strides: [1, 4]
    : memref<3x4xf32> to memref<4x3xf32, strided<[1, 4]>>
  scf.for %i = %c0 to %c4 step %c1 {{
    scf.for %j = %c0 to %c3 step %c1 {{
      %x = memref.load %t[%i, %j] : memref<4x3xf32, strided<[1, 4]>>
      memref.store %x, %out[%i, %j] : memref<4x3xf32>
    }}
  }}""",
        a,
        out,
        signature="%a: memref<3x4xf32>, %out: memref<4x3xf32>",
    )
    np.testing.assert_array_equal(out, a.T)


def test_views_of_an_arena_of_bytes() -> None:
    arena, out = aligned((256,), np.int8), aligned((8,), np.float32)
    arena[64:96] = np.arange(8, dtype=np.float32).view(np.int8)
    run(
        f"""
{INDICES}
  %shift = arith.constant 64 : index
  %v = memref.view %arena[%shift][] : memref<256xi8> to memref<2x4xf32>
  %w = memref.collapse_shape %v [[0, 1]] : memref<2x4xf32> into memref<8xf32>
  %u = memref.expand_shape %w [[0, 1]] output_shape [4, 2] : memref<8xf32> into memref<4x2xf32>
  %x = memref.load %u[%c3, %c1] : memref<4x2xf32>
  "memref.copy"(%w, %out) : (memref<8xf32>, memref<8xf32>) -> ()
  memref.store %x, %out[%c0] : memref<8xf32>""",
        arena,
        out,
        signature="%arena: memref<256xi8>, %out: memref<8xf32>",
    )
    assert list(out) == [7, 1, 2, 3, 4, 5, 6, 7]


def test_allocations_on_stack_and_heap_hold_their_values() -> None:
    out = aligned((2,), np.float32)
    run(
        f"""
{INDICES}
  %x = arith.constant 1.5 : f32
  %stack = memref.alloca() : memref<4x5xf32>
  %heap = memref.alloc() : memref<7xf32>
  %more = memref.alloc(%n) : memref<?x3xf32>
  memref.store %x, %stack[%c3, %c4] : memref<4x5xf32>
  memref.store %x, %more[%c4, %c2] : memref<?x3xf32>
  %y = memref.load %more[%c4, %c2] : memref<?x3xf32>
  memref.store %y, %heap[%c5] : memref<7xf32>
  %a = memref.load %stack[%c3, %c4] : memref<4x5xf32>
  %b = memref.load %heap[%c5] : memref<7xf32>
  %d = memref.dim %more, %c0 : memref<?x3xf32>
  memref.store %a, %out[%c0] : memref<2xf32>
  memref.store %b, %out[%c1] : memref<2xf32>
  memref.dealloc %heap : memref<7xf32>
  memref.dealloc %more : memref<?x3xf32>""",
        out,
        5,
        signature="%out: memref<2xf32>, %n: index",
    )
    assert list(out) == [1.5, 1.5]


def test_a_large_local_buffer_is_on_the_heap() -> None:
    text = f"""
func.func @f(%out: memref<1xf32>, %n: index) {{
{INDICES}
  %large = memref.alloca() : memref<64x65536xf32>
  %x = arith.constant 2.5 : f32
  memref.store %x, %large[%c7, %n] : memref<64x65536xf32>
  %y = memref.load %large[%c7, %n] : memref<64x65536xf32>
  memref.store %y, %out[%c0] : memref<1xf32>
  func.return
}}"""
    names = [op.callee.root_reference.data for op in lower(text).walk() if isinstance(op, CallOp) and op.callee]
    assert names == ["aligned_alloc", "free"]
    out = aligned((1,), np.float32)
    Native(text)("f", out, 100)
    assert out[0] == 2.5


def test_globals_hold_their_initial_values() -> None:
    out = aligned((2, 3), np.float32)
    run(
        f"""
{INDICES}
  %g = memref.get_global @g : memref<2x3xf32>
  %b = memref.get_global @bits : memref<3xi1>
  %z = memref.get_global @zeros : memref<3xf32>
  "memref.copy"(%g, %out) : (memref<2x3xf32>, memref<2x3xf32>) -> ()
  %bit = memref.load %b[%c1] : memref<3xi1>
  %zero = memref.load %z[%c1] : memref<3xf32>
  scf.if %bit {{
    memref.store %zero, %out[%c1, %c2] : memref<2x3xf32>
  }}""",
        out,
        signature="%out: memref<2x3xf32>",
        declarations="""

"memref.global"() <{sym_name = "g", sym_visibility = "private", type = memref<2x3xf32>, constant,
  initial_value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>}> : () -> ()
"memref.global"() <{sym_name = "bits", sym_visibility = "private", type = memref<3xi1>, constant,
  initial_value = dense<[false, true, false]> : tensor<3xi1>}> : () -> ()
"memref.global"() <{sym_name = "zeros", sym_visibility = "private", type = memref<3xf32>, initial_value}> : () -> ()""",
    )
    np.testing.assert_array_equal(out, [[1, 2, 3], [4, 5, 0]])


def test_constants_are_found_through_the_table() -> None:
    text = """
"memref.global"() <{sym_name = "w", sym_visibility = "private", type = memref<4xf32>, constant, initial_value}>
  {weft.constant_index = 2 : i64} : () -> ()
func.func @f(%out: memref<4xf32>) {
  %w = memref.get_global @w : memref<4xf32>
  "memref.copy"(%w, %out) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}"""
    native = Native(text)
    data, out = np.arange(4, dtype=np.float32), aligned((4,), np.float32)
    table = (ctypes.c_void_p * 3).from_address(native.address("weft_constants"))
    table[2] = data.ctypes.data
    native("f", out)
    np.testing.assert_array_equal(out, data)


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
