"""Reductions along rows that are taken in lanes: whatever the length, the operation and the type."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from native import parse
from strict_c import needs_compiler
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr

import weft
from weft import relay
from weft.dialects.tir.core import ForOp, PrimFuncOp
from weft.kernel import build_kernel
from weft.lowering.tir_to_loops.lane_combinations import LaneReduction, lane_reduction_of

pytestmark = pytest.mark.sampled(5)

NDArray: TypeAlias = npt.NDArray[Any]

LENGTHS = (9, 16, 49, 77, 128, 131, 197, 1003)
"""Below a vector, whole vectors, with a rest, and more than are taken without a loop."""

REDUCTIONS = ("sum", "prod", "max", "min")


def reduced(name: str, length: int, dtype: str, target: str = "llvm -mcpu=native") -> weft.Executable:
    x = relay.var("x", shape=(5, length), dtype=dtype)
    graph = relay.Function([x], getattr(relay, name)(x, axis=1))
    return weft.compile(graph, target=target, threads=1)


def result(executable: weft.Executable, *arrays: NDArray) -> NDArray:
    """The only one, in a type that all others can be compared with."""
    return np.asarray(executable(*arrays), np.float64)


def wanted(name: str, data: NDArray) -> NDArray:
    return getattr(np, name)(data, axis=1).astype(np.float64)


def rows(length: int, dtype: str) -> NDArray:
    generator = np.random.default_rng(length)
    if np.dtype(dtype).kind in "iu":
        least = -3 if np.dtype(dtype).kind == "i" else 1  # an unsigned 0 would hide one that counts for nothing
        return generator.integers(least, 4, (5, length)).astype(dtype)
    return (generator.random((5, length)) * 0.2 + 0.9).astype(dtype)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_rows_of_any_length_are_reduced(name: str, length: int) -> None:
    data = rows(length, "float32")
    data[2] = -data[2]  # what counts for nothing is no number that could be among them
    np.testing.assert_allclose(result(reduced(name, length, "float32"), data), wanted(name, data), rtol=2e-4)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "int64", "int8", "uint8", "uint32"])
@pytest.mark.parametrize("name", ["sum", "max", "min"])
def test_rows_of_any_type_are_reduced(name: str, dtype: str) -> None:
    data = rows(77, dtype)
    np.testing.assert_allclose(result(reduced(name, 77, dtype), data), wanted(name, data), rtol=2e-3)


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("place", [0, 16, 63, 76])
def test_what_is_no_number_stays_whichever_lane_it_is_in(name: str, place: int) -> None:
    data = rows(77, "float32")
    data[1, place] = np.nan
    got = result(reduced(name, 77, "float32"), data)
    assert np.isnan(got[1])
    assert not np.isnan(np.delete(got, 1)).any()


@pytest.mark.parametrize("shape", [(3, 4, 2, 20), (2, 3, 2, 33), (2, 3, 2, 200)])
@pytest.mark.parametrize("name", ["sum", "max", "min"])
def test_lanes_are_put_together_once_for_two_axes(name: str, shape: tuple[int, ...]) -> None:
    """Of which one lies between: the loop over it carries what lanes have added up."""
    x = relay.var("x", shape=shape)
    executable = weft.compile(relay.Function([x], getattr(relay, name)(x, axis=[1, 3])), threads=1)
    assert "vector.reduction" in executable.ir["loops"]
    data = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    data[0, -1, 1, -1] = np.nan
    np.testing.assert_allclose(result(executable, data), getattr(np, name)(data, axis=(1, 3)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("name", "least"), [("max", -np.inf), ("min", np.inf)])
def test_extremes_of_infinities_are_no_nans(name: str, least: float) -> None:
    data = np.full((5, 77), least, np.float32)
    data[3, 5], data[4, 70] = 2, np.nan
    np.testing.assert_array_equal(result(reduced(name, 77, "float32"), data), [least, least, least, 2, np.nan])


def test_a_sum_of_negative_zeros_is_zero() -> None:
    got = result(reduced("sum", 77, "float32"), np.full((5, 77), -0.0, np.float32))
    np.testing.assert_array_equal(got, np.zeros(5, np.float32))


@needs_compiler
@pytest.mark.parametrize("name", REDUCTIONS)
def test_c_reduces_in_lanes_too(name: str) -> None:
    data = rows(77, "float32")
    np.testing.assert_allclose(result(reduced(name, 77, "float32", "c"), data), wanted(name, data), rtol=2e-4)


@needs_compiler
def test_c_finds_extremes_of_bfloat16_in_lanes() -> None:
    x = relay.var("x", shape=(2, 77), dtype="bfloat16")
    executable = weft.compile(relay.Function([x], relay.max(x, axis=1)), target="c", threads=1)
    assert "vector.reduction" in executable.ir["loops"]
    data = np.linspace(-9, 8, 154).reshape(2, 77).astype(pytest.importorskip("ml_dtypes").bfloat16)
    data[1, 70] = np.nan
    np.testing.assert_array_equal(result(executable, data), [np.float64(data[0, -1]), np.nan])


@needs_compiler
@pytest.mark.parametrize("length", [3, 16, 77, 200])
def test_c_reduces_rows_of_an_open_length(length: int) -> None:
    x = relay.var("x", shape=(5, relay.Any()))
    executable = weft.compile(relay.Function([x], relay.max(x, axis=1)), target="c", threads=1)
    data = -rows(length, "float32")
    np.testing.assert_array_equal(result(executable, data), wanted("max", data))


@needs_compiler
@pytest.mark.parametrize("name", ["sum", "max", "min"])
def test_c_reduces_integers_in_lanes(name: str) -> None:
    data = rows(77, "int32")
    np.testing.assert_array_equal(result(reduced(name, 77, "int32", "c"), data), wanted(name, data))


@pytest.fixture(scope="module")
def softmax_of_open_rows() -> weft.Executable:
    x = relay.var("x", shape=(5, relay.Any()))
    return weft.compile(relay.Function([x], relay.nn.softmax(x)), threads=1)


@pytest.mark.parametrize("length", [1, 3, 15, 16, 17, 64, 77, 200])
def test_rows_of_an_open_length_are_reduced(length: int, softmax_of_open_rows: weft.Executable) -> None:
    data = np.random.default_rng(1).standard_normal((5, length)).astype(np.float32)
    power = np.exp(data - data.max(1, keepdims=True))
    np.testing.assert_allclose(result(softmax_of_open_rows, data), power / power.sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("length", [20, 49, 77, 128, 197])
def test_softmax_and_norms_of_rows_with_a_rest(length: int) -> None:
    x = relay.var("x", shape=(7, length))
    softmax = weft.compile(relay.Function([x], relay.nn.softmax(x)), threads=1)
    data = np.random.default_rng(2).standard_normal((7, length)).astype(np.float32)
    power = np.exp(data - data.max(1, keepdims=True))
    np.testing.assert_allclose(result(softmax, data), power / power.sum(1, keepdims=True), rtol=1e-5)
    x, g, b = relay.var("x", shape=(7, length)), relay.var("g", shape=(length,)), relay.var("b", shape=(length,))
    norm = weft.compile(relay.Function([x, g, b], relay.nn.layer_norm(x, g, b)), threads=1)
    scale, shift = np.linspace(0.5, 1, length, dtype=np.float32), np.linspace(-1, 1, length, dtype=np.float32)
    expected = (data - data.mean(1, keepdims=True)) / np.sqrt(data.var(1, keepdims=True) + 1e-5) * scale + shift
    np.testing.assert_allclose(result(norm, data, scale, shift), expected, rtol=1e-3, atol=1e-4)


NO_STEPS = """
tir.prim_func @f(%x: memref<11xf32>, %s: memref<1xf32>) {
  tir.for %once = 0 to 1 {
    tir.block @start(%v: spatial 1) = [0] reads() writes(%s[%v] : memref<1xf32>) {
      %0 = arith.constant 3.0 : f32
      memref.store %0, %s[%v] : memref<1xf32>
    }
    tir.for %k = 0 to 0 annotations {lanes = 4 : i64} {
      tir.block @sum(%v: partial spatial 1, %vk: partial reduce 11) = [0, %k] reads(%x[%vk] : memref<11xf32>)
          writes(%s[%v] : memref<1xf32>) {
        %1 = memref.load %x[%vk] : memref<11xf32>
        %2 = memref.load %s[%v] : memref<1xf32>
        %3 = arith.addf %2, %1 fastmath<reassoc> : f32
        memref.store %3, %s[%v] : memref<1xf32>
      }
    }
  }
}
"""


def test_a_loop_without_steps_adds_nothing() -> None:
    func = next(op for op in parse(NO_STEPS).ops if isinstance(op, PrimFuncOp))
    kernel = build_kernel(func, start="schedule", codegen_level=1)
    (total,) = kernel(np.ones(11, np.float32))
    assert total.tolist() == [3]


def test_what_is_read_of_another_element_than_is_written_is_no_result_so_far() -> None:
    func = next(op for op in parse(NO_STEPS).ops if isinstance(op, PrimFuncOp))
    *_, loop = (op for op in func.walk() if isinstance(op, ForOp))
    found = lane_reduction_of(loop)
    assert isinstance(found, LaneReduction)
    elsewhere = arith.ConstantOp(IntegerAttr(0, IndexType()))
    found.block.body.block.insert_op_before(elsewhere, found.so_far)
    found.so_far.operands[1] = elsewhere.result
    assert lane_reduction_of(loop) == "it combines something else than its result so far"
