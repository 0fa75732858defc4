"""Rows of a thread's own memory have room for whole vectors; what lies there is never what another vector wrote."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from native import parse
from strict_c import STRICT, needs_compiler

import weft
from weft import relay
from weft.dialects.tir.core import PrimFuncOp
from weft.kernel import build_kernel
from weft.lowering.loops_to_c.compile import compiler_command

pytestmark = pytest.mark.sampled(5)

NDArray = npt.NDArray[Any]

PARTS = """
tir.prim_func @parts(%x: memref<3x12xf32>, %y: memref<3x12xf32>) {
  %t = tir.alloc_buffer "local" : memref<3x12xf32>
  tir.for %i = 0 to 3 {
    tir.for vectorized %j = 0 to 6 {
      tir.block @high(%v: spatial 3, %w: spatial 6) = [%i, %j]
          reads(%x[%v, %w + 6] : memref<3x12xf32>) writes(%t[%v, %w + 6] : memref<3x12xf32>) {
        %c6 = arith.constant 6 : index
        %k = arith.addi %w, %c6 : index
        %0 = memref.load %x[%v, %k] : memref<3x12xf32>
        memref.store %0, %t[%v, %k] : memref<3x12xf32>
      }
    }
    tir.for vectorized %j = 0 to 6 {
      tir.block @low(%v: spatial 3, %w: spatial 6) = [%i, %j]
          reads(%x[%v, %w] : memref<3x12xf32>) writes(%t[%v, %w] : memref<3x12xf32>) {
        %0 = memref.load %x[%v, %w] : memref<3x12xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %t[%v, %w] : memref<3x12xf32>
      }
    }
    tir.for %j = 0 to 12 {
      tir.block @copy(%v: spatial 3, %w: spatial 12) = [%i, %j]
          reads(%t[%v, %w] : memref<3x12xf32>) writes(%y[%v, %w] : memref<3x12xf32>) {
        %0 = memref.load %t[%v, %w] : memref<3x12xf32>
        memref.store %0, %y[%v, %w] : memref<3x12xf32>
      }
    }
  }
}
"""


OPEN_PARTS = """
tir.prim_func @parts(%x: memref<3x?xf32>, %y: memref<3x?xf32>, %n: index) shapes(%x[3, %n], %y[3, %n + 6]) {
  %t = tir.alloc_buffer "local" [3, %n + 6] : memref<3x?xf32>
  tir.for %i = 0 to 3 {
    tir.for vectorized %j = 0 to 6 {
      tir.block @high(%v: spatial 3, %w: spatial 6) = [%i, %j]
          reads() writes(%t[%v, %w + %n] : memref<3x?xf32>) {
        %k = arith.addi %w, %n : index
        %0 = arith.constant 5.0 : f32
        memref.store %0, %t[%v, %k] : memref<3x?xf32>
      }
    }
    tir.for %j = 0 to %n floordiv 16 {
      tir.for vectorized %l = 0 to 16 {
        tir.block @low(%v: partial spatial 3, %w: partial spatial %n) = [%i, %j * 16 + %l]
            reads(%x[%v, %w] : memref<3x?xf32>) writes(%t[%v, %w] : memref<3x?xf32>) {
          %0 = memref.load %x[%v, %w] : memref<3x?xf32>
          memref.store %0, %t[%v, %w] : memref<3x?xf32>
        }
      }
    }
    tir.for vectorized %l = 0 to %n mod 16 {
      tir.block @rest(%v: partial spatial 3, %w: partial spatial %n) = [%i, (%n floordiv 16) * 16 + %l]
          reads(%x[%v, %w] : memref<3x?xf32>) writes(%t[%v, %w] : memref<3x?xf32>) {
        %0 = memref.load %x[%v, %w] : memref<3x?xf32>
        memref.store %0, %t[%v, %w] : memref<3x?xf32>
      }
    }
    tir.for %j = 0 to %n + 6 {
      tir.block @copy(%v: spatial 3, %w: spatial %n + 6) = [%i, %j]
          reads(%t[%v, %w] : memref<3x?xf32>) writes(%y[%v, %w] : memref<3x?xf32>) {
        %0 = memref.load %t[%v, %w] : memref<3x?xf32>
        memref.store %0, %y[%v, %w] : memref<3x?xf32>
      }
    }
  }
}
"""


def test_a_rest_of_lanes_in_the_middle_of_an_open_row_leaves_what_follows_it_alone() -> None:
    func = next(op for op in parse(OPEN_PARTS).ops if isinstance(op, PrimFuncOp))
    kernel = build_kernel(func, start="schedule", codegen_level=1)
    for count in (1, 15, 16, 21):
        x = np.arange(3 * count, dtype=np.float32).reshape(3, count)
        (found,) = kernel(x)
        np.testing.assert_array_equal(found, np.concatenate([x, np.full((3, 6), 5)], axis=1))


def test_the_last_lanes_of_a_threads_own_open_row_are_stored_with_what_lies_behind_them() -> None:
    """Loads that follow a masked store wait until it is in memory."""
    x = relay.var("x", shape=(relay.Any(), relay.Any()))
    exe = weft.compile(relay.Function([x], relay.nn.softmax(x)), threads=1)
    masked = [line.split()[1] for line in exe.ir["loops"].splitlines() if "vector.maskedstore" in line]
    assert masked and all(buffer.startswith("%out[") for buffer in masked)
    for shape in ((2, 5), (3, 16), (1, 37)):
        data = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        wanted = np.exp(data) / np.exp(data).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(np.asarray(exe(data), np.float32), wanted, rtol=1e-5, atol=1e-6)


def test_two_vectors_of_one_row_leave_each_other_alone() -> None:
    """The second, of six elements in eight lanes, ends where the first begins."""
    func = next(op for op in parse(PARTS).ops if isinstance(op, PrimFuncOp))
    x = np.arange(36, dtype=np.float32).reshape(3, 12)
    (found,) = build_kernel(func, start="schedule")(x)
    np.testing.assert_array_equal(found, np.concatenate([2 * x[:, :6], x[:, 6:]], axis=1))


@needs_compiler
def test_no_vector_reaches_beyond_the_last_row(tmp_path: Path) -> None:
    """Of the lanes of two axes, the last five lie in the middle of a row: GCC tells of what reaches out of it."""
    x = relay.var("x", shape=(2, 5, 3, 7))
    exe = weft.compile(relay.Function([x], relay.nn.log_softmax(x, axis=1)), target="c", threads=1)
    data = np.random.default_rng(0).standard_normal((2, 5, 3, 7)).astype(np.float32)
    shifted = data - data.max(axis=1, keepdims=True)
    wanted = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(np.asarray(exe(data), np.float32), wanted, rtol=1e-5, atol=1e-6)
    (tmp_path / "unit.c").write_text(exe.ir.c_source())
    words = [*compiler_command(), "-std=c11", "-O3", *STRICT, "-Wno-psabi", "-c", "unit.c", "-o", "unit.o"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_sums_of_as_many_lanes_as_a_symbol_says_stay_in_registers() -> None:
    x, y = relay.var("x", shape=(5, 64)), relay.var("y", shape=(64, relay.Any()))
    exe = weft.compile(relay.Function([x, y], relay.nn.relu(relay.nn.matmul(x, y))), threads=1)
    masked = [line.split()[1] for line in exe.ir["loops"].splitlines() if "vector.maskedstore" in line]
    assert masked, "the result has a rest of lanes"
    assert all(buffer.startswith("%out[") for buffer in masked), "stores of sums are masked, and go through memory"
    random = np.random.default_rng(0)
    for columns in (0, 1, 5, 15, 16, 17, 31, 33):
        lhs, rhs = (random.standard_normal(shape).astype(np.float32) for shape in ((5, 64), (64, columns)))
        np.testing.assert_allclose(
            np.asarray(exe(lhs, rhs), np.float32), np.maximum(lhs @ rhs, 0), rtol=1e-4, atol=1e-4
        )


@pytest.mark.parametrize(
    ("shape", "shared"), [((1, 12, None, None), "0 to 12 {"), ((None, 3, None, None), "0 to %x_d0 * 3 {")]
)
def test_threads_share_what_stands_before_rows_of_which_there_are_any_number(
    shape: tuple[int | None, ...], shared: str
) -> None:
    """Only the outermost loop of a nest is shared, and one that is open is not fused into another."""
    x = relay.var("x", shape=[relay.Any() if extent is None else extent for extent in shape])
    exe: Any = weft.compile(relay.Function([x], relay.nn.softmax(x)), threads=2)
    (parallel,) = (line for line in exe.ir["schedule"].splitlines() if "tir.for parallel" in line)
    assert parallel.startswith("    tir.for") and parallel.endswith(shared)
    for size in (1, 7):
        given = np.random.default_rng(size).standard_normal([extent or size for extent in shape]).astype(np.float32)
        wanted = np.exp(given)
        np.testing.assert_allclose(np.asarray(exe(given)), wanted / wanted.sum(-1, keepdims=True), rtol=1e-5)


def encoded(x: NDArray, factors: NDArray) -> NDArray:
    """Sines and cosines of all products of a row's elements and the factors, after these elements."""
    angles = (x[:, :, None] * factors).reshape(len(x), -1)
    return np.concatenate([x, np.sin(angles), np.cos(angles)], axis=1)


@pytest.mark.parametrize(("columns", "factors"), [(3, 10), (2, 16), (5, 4), (2, 33), (3, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_axes_that_are_seen_as_one_are_vectors_between_their_multiples(columns: int, factors: int, dtype: str) -> None:
    """Of 30 columns that are 3 times 10, read at a tenth and at a remainder, each ten are a vector; those of a
    concatenation are loops for each of its parts."""
    scale = np.linspace(0.5, 2, factors).astype(dtype)
    x = relay.var("x", shape=(37, columns), dtype=dtype)
    products = relay.multiply(relay.expand_dims(x, 2), relay.const(scale, dtype=dtype))
    angles = relay.reshape(products, (37, columns * factors))
    joined = relay.concatenate([x, relay.sin(angles), relay.cos(angles)], 1)
    func = relay.Function([x], joined)
    exe: Any = weft.compile(func, threads=1)
    if (factors, dtype) == (10, "float32"):
        text = weft.compile(func, "llvm -mcpu=x86-64-v4", threads=1).ir["schedule"]
        assert text.count("tir.for vectorized") == 2 and "scf.if" not in text
        assert "= 3 to 33 {" in text and "= 33 to 63 {" in text
    given = np.random.default_rng(0).standard_normal((37, columns)).astype(dtype)
    tolerance = 4e-3 if dtype == "float16" else 1e-5
    np.testing.assert_allclose(np.asarray(exe(given)), encoded(given, scale), rtol=tolerance, atol=tolerance)


def test_a_row_whose_divisor_leaves_a_rest_is_taken_one_by_one() -> None:
    """Of 25 elements that are read at a tenth, the last vector would be of five."""
    x, y = relay.var("x", shape=(37, 3)), relay.var("y", shape=(37, 25))
    each = relay.strided_slice(relay.repeat(x, 10, 1), [0, 0], [37, 25])
    exe: Any = weft.compile(relay.Function([x, y], relay.nn.softmax(relay.add(each, y))), threads=1)
    a, b = (np.random.default_rng(0).standard_normal(shape).astype(np.float32) for shape in ((37, 3), (37, 25)))
    exponentials = np.exp(np.repeat(a, 10, 1)[:, :25] + b)
    found = np.asarray(exe(a, b))
    np.testing.assert_allclose(found, exponentials / exponentials.sum(1, keepdims=True), rtol=1e-5)
