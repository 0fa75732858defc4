"""Matrix products of bytes: exact in 32 bits, of all signs and shapes, by dot products where the target has them."""

from __future__ import annotations

from collections.abc import Callable
from platform import machine

import numpy as np
import pytest
from byte_layers import DTYPES, SIGNS, bytes_of, dense
from xdsl.dialects.builtin import ModuleOp

import weft
from weft import relay
from weft.dialects.support.parser import parse_module
from weft.runtime.tensors import InputError
from weft.transforms.infra.registry import new_ir_context

pytestmark = pytest.mark.sampled(6)

WITH_NATIVE = "llvm -mcpu=native"
WITH_VNNI = "llvm -mcpu=icelake-server -mtriple=x86_64-unknown-linux-gnu"
WITH_DOTPROD = "llvm -mcpu=cortex-a76 -mtriple=aarch64-unknown-linux-gnu"


def assert_product(lhs: str, rhs: str, rows: tuple[int, ...], depth: int, units: int, **how: str | bool) -> None:
    """What is compiled for this machine is what NumPy computes."""
    op, bound = str(how.get("op", "nn.dense")), how.get("bound", True)
    x = bytes_of(DTYPES[lhs], (*rows, depth), 0)
    w = bytes_of(DTYPES[rhs], (units, depth) if op == "nn.dense" else (depth, units), 1)
    module = dense(lhs, rhs, "x".join(map(str, rows)), depth, units, op)
    run = weft.compile(module, params={"w": w} if bound else {}, target=WITH_NATIVE, threads=1)
    expected = x.astype(np.int32) @ (w.T if op == "nn.dense" else w).astype(np.int32)
    np.testing.assert_array_equal(np.asarray(run(x) if bound else run(x, w)), expected)


@pytest.mark.parametrize(("lhs", "rhs"), SIGNS)
def test_products_of_all_signs_are_exact(lhs: str, rhs: str) -> None:
    assert_product(lhs, rhs, (20,), 36, 48)


@pytest.mark.parametrize(("rows", "depth", "units"), [((1,), 64, 32), ((2, 5), 7, 20), ((5,), 1, 33)])
def test_products_of_all_shapes_are_exact(rows: tuple[int, ...], depth: int, units: int) -> None:
    assert_product("i8", "i8", rows, depth, units)


@pytest.mark.parametrize("rows", [4, 24])
def test_weights_that_are_no_constants_are_put_in_order_for_many_rows(rows: int) -> None:
    assert_product("ui8", "i8", (rows,), 12, 32, bound=False)


def test_a_weight_may_be_given_in_rows() -> None:
    assert_product("ui8", "ui8", (8,), 20, 32, op="nn.matmul")


def test_a_product_of_bytes_may_have_any_number_of_rows() -> None:
    x, w = bytes_of(DTYPES["i8"], (3, 8), 0), bytes_of(DTYPES["i8"], (16, 8), 1)
    run = weft.compile(dense("i8", "i8", "?", 8, 16), params={"w": w}, target=WITH_NATIVE, threads=1)
    np.testing.assert_array_equal(np.asarray(run(x)), x.astype(np.int32) @ w.T.astype(np.int32))


def llvm_of(lhs: str, rhs: str, target: str) -> str:
    w = bytes_of(DTYPES[rhs], (32, 64), 1)
    module = dense(lhs, rhs, "24", 64, 32)
    return str(weft.compile(module, params={"w": w}, target=target, threads=1).ir["llvm"])


@pytest.mark.parametrize(("lhs", "rhs"), [("ui8", "i8"), ("i8", "i8")])
def test_x86_sums_products_of_bytes_without_by_bytes_with_a_sign(lhs: str, rhs: str) -> None:
    assert 'call_intrinsic "llvm.x86.avx512.vpdpbusd.512"' in llvm_of(lhs, rhs, WITH_VNNI)


def test_aarch64_sums_products_of_bytes_of_one_kind() -> None:
    assert 'call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"' in llvm_of("ui8", "i8", WITH_DOTPROD)


@pytest.mark.parametrize(
    ("cpu", "name"),
    [("skylake-avx512", "avx512.pmaddw.d.512"), ("x86-64-v3", "avx2.pmadd.wd"), ("x86-64", "sse2.pmadd.wd")],
)
@pytest.mark.parametrize(("lhs", "rhs"), [("i8", "i8"), ("ui8", "ui8")])
def test_other_x86_sums_pairs_of_products_of_16_bits(cpu: str, name: str, lhs: str, rhs: str) -> None:
    text = llvm_of(lhs, rhs, f"llvm -mcpu={cpu} -mtriple=x86_64-unknown-linux-gnu")
    assert f'call_intrinsic "llvm.x86.{name}"' in text and "vpdpbusd" not in text


@pytest.mark.skipif(machine() not in ("x86_64", "AMD64"), reason="it is x86 that has products of 16 bits")
@pytest.mark.parametrize(("lhs", "rhs"), SIGNS)
def test_pairs_of_products_of_the_largest_bytes_do_not_saturate(lhs: str, rhs: str) -> None:
    x, w = (
        np.full(shape, np.iinfo(DTYPES[of]).min or 255, DTYPES[of]) for of, shape in ((lhs, (4, 8)), (rhs, (16, 8)))
    )
    x[1::2], w[::2] = np.iinfo(DTYPES[lhs]).max, np.iinfo(DTYPES[rhs]).max
    run = weft.compile(dense(lhs, rhs, "4", 8, 16), params={"w": w}, target="llvm -mcpu=x86-64", threads=1)
    np.testing.assert_array_equal(np.asarray(run(x)), x.astype(np.int32) @ w.T.astype(np.int32))


def test_processors_without_dot_products_multiply_as_they_do() -> None:
    text = llvm_of("ui8", "i8", "llvm -mcpu=cortex-a53 -mtriple=aarch64-unknown-linux-gnu")
    assert "llvm.x86" not in text and "llvm.aarch64" not in text


def batch(lhs: str, rhs: str, shapes: tuple[str, str, str], transposed: bool = True) -> ModuleOp:
    """A product of each pair of matrices of a batch."""
    types = [f"tensor<{shape}x{type}>" for shape, type in zip(shapes, (lhs, rhs, "i32"), strict=True)]
    text = f"""
relay.func @main(%x: {types[0]}, %y: {types[1]}) -> {types[2]} {{
  %z = relay.nn.batch_matmul %x, %y {{out_dtype = "int32", transpose_b = {str(transposed).lower()}}}
     : ({types[0]}, {types[1]}) -> {types[2]}
  relay.return %z : {types[2]}
}}"""
    return parse_module(text, new_ir_context(), "batch.mlir")


def assert_batch(run: Callable[..., object], lhs: str, rhs: str, sizes: tuple[int, ...], transposed: bool) -> None:
    """A compiled product of a batch is what NumPy computes, for so many elements, rows, columns and steps."""
    number, rows, columns, steps = sizes
    x = bytes_of(DTYPES[lhs], (number, rows, steps), 0)
    y = bytes_of(DTYPES[rhs], (number, columns, steps) if transposed else (number, steps, columns), 1)
    expected = np.matmul(x.astype(np.int32), (y.swapaxes(1, 2) if transposed else y).astype(np.int32))
    np.testing.assert_array_equal(np.asarray(run(x, y)), expected)


@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize(("lhs", "rhs"), SIGNS)
def test_a_batch_of_products_of_bytes_is_exact(lhs: str, rhs: str, transposed: bool) -> None:
    module = batch(lhs, rhs, ("2x17x10", "2x20x10" if transposed else "2x10x20", "2x17x20"), transposed)
    run = weft.compile(module, target=WITH_NATIVE, threads=1)
    assert_batch(run, lhs, rhs, (2, 17, 20, 10), transposed)


@pytest.mark.parametrize(("lhs", "transposed"), [("i8", True), ("ui8", False)])
def test_a_batch_of_products_of_bytes_may_have_any_extents(lhs: str, transposed: bool) -> None:
    module = batch(lhs, "i8", ("?x?x?", "?x?x?", "?x?x?"), transposed)
    run = weft.compile(module, target=WITH_NATIVE, threads=1)
    for sizes in ((2, 20, 17, 9), (1, 1, 1, 1), (3, 5, 32, 8), (0, 3, 4, 5), (1, 0, 4, 5), (2, 3, 0, 5), (2, 3, 4, 0)):
        assert_batch(run, lhs, "i8", sizes, transposed)


@pytest.mark.parametrize("steps", [7, 9])
def test_open_numbers_of_steps_that_differ_are_refused(steps: int) -> None:
    run = weft.compile(batch("ui8", "i8", ("2x4x?", "2x16x8", "2x4x16")), threads=1)
    with pytest.raises(InputError):
        run(np.zeros((2, 4, steps), np.uint8), np.zeros((2, 16, 8), np.int8))
    run = weft.compile(batch("ui8", "i8", ("?x?x?", "?x?x?", "?x?x?")), target=WITH_NATIVE, threads=1)
    with pytest.raises(InputError, match="the graph takes inputs for which"):
        run(np.zeros((2, 4, steps), np.uint8), np.zeros((2, 16, 8), np.int8))


def test_one_matrix_of_bytes_for_a_batch_is_multiplied_by_rows() -> None:
    module = batch("ui8", "i8", ("2x12x8", "1x32x8", "2x12x32"))
    run = weft.compile(module, target=WITH_NATIVE, threads=1)
    x, y = bytes_of(DTYPES["ui8"], (2, 12, 8), 0), bytes_of(DTYPES["i8"], (1, 32, 8), 1)
    np.testing.assert_array_equal(np.asarray(run(x, y)), x.astype(np.int32) @ y[0].T.astype(np.int32))


@pytest.mark.parametrize("extents", [("2x24x64", "2x32x64", "2x24x32"), ("?x?x?", "?x?x?", "?x?x?")])
def test_x86_sums_products_of_bytes_of_batches(extents: tuple[str, str, str]) -> None:
    text = str(weft.compile(batch("ui8", "i8", extents), target=WITH_VNNI, threads=1).ir["llvm"])
    assert 'call_intrinsic "llvm.x86.avx512.vpdpbusd.512"' in text


def test_layers_of_bytes_with_open_extents_sum_four_products_at_once() -> None:
    w = bytes_of(DTYPES["i8"], (32, 20), 1)
    run = weft.compile(dense("i8", "i8", "?x?", 20, 32), params={"w": w}, target=WITH_VNNI, threads=1)
    assert 'call_intrinsic "llvm.x86.avx512.vpdpbusd.512"' in str(run.ir["llvm"])
    run = weft.compile(dense("i8", "i8", "?x?", 20, 32), params={"w": w}, target=WITH_NATIVE, threads=1)
    for rows in ((2, 9), (1, 1), (0, 3)):
        x = bytes_of(DTYPES["i8"], (*rows, 20), 0)
        np.testing.assert_array_equal(np.asarray(run(x)), x.astype(np.int32) @ w.T.astype(np.int32))


@pytest.mark.parametrize(("x_zero", "y_zero"), [(0, 0), (200, 0), (0, -3), (200, -3)])
def test_zero_points_of_quantised_batches_are_taken_from_products_of_bytes(x_zero: int, y_zero: int) -> None:
    x, y = bytes_of(DTYPES["ui8"], (2, 17, 10), 0), bytes_of(DTYPES["i8"], (2, 20, 10), 1)
    zeros, scale = [relay.const(np.int32(zero)) for zero in (x_zero, y_zero)], relay.const(np.float32(0.5))
    a = relay.var("x", shape=(2, 17, relay.Any()), dtype="uint8")
    b = relay.var("y", shape=(2, 20, relay.Any()), dtype="int8")
    product = relay.qnn.batch_matmul(a, b, *zeros, scale, scale)
    run = weft.compile(relay.Function([a, b], product), target=WITH_NATIVE, threads=1)
    if machine() in ("x86_64", "AMD64"):
        assert "relay.nn.contrib_dense_pack" in str(run.ir["graph"])
    expected = (x.astype(np.int32) - x_zero) @ (y.astype(np.int32) - y_zero).swapaxes(1, 2)
    np.testing.assert_array_equal(np.asarray(run(x, y)), expected)
