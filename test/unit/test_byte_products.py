"""Matrix products of bytes: exact in 32 bits, of all signs and shapes, by dot products where the target has them."""

from __future__ import annotations

import numpy as np
import pytest
from byte_layers import DTYPES, SIGNS, bytes_of, dense

import weft
from weft.dialects.support.parser import parse_module
from weft.transforms.infra.registry import new_ir_context

WITH_VNNI = "llvm -mcpu=icelake-server -mtriple=x86_64-unknown-linux-gnu"
WITH_DOTPROD = "llvm -mcpu=cortex-a76 -mtriple=aarch64-unknown-linux-gnu"


def assert_product(lhs: str, rhs: str, rows: tuple[int, ...], depth: int, units: int, **how: str | bool) -> None:
    """What is compiled for this machine is what NumPy computes."""
    op, bound = str(how.get("op", "nn.dense")), how.get("bound", True)
    x = bytes_of(DTYPES[lhs], (*rows, depth), 0)
    w = bytes_of(DTYPES[rhs], (units, depth) if op == "nn.dense" else (depth, units), 1)
    module = dense(lhs, rhs, "x".join(map(str, rows)), depth, units, op)
    run = weft.compile(module, params={"w": w} if bound else {}, target="llvm -mcpu=native", threads=1)
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
    run = weft.compile(dense("i8", "i8", "?", 8, 16), params={"w": w}, target="llvm -mcpu=native", threads=1)
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


def test_processors_without_dot_products_multiply_as_they_do() -> None:
    text = llvm_of("ui8", "i8", "llvm -mcpu=x86-64-v3 -mtriple=x86_64-unknown-linux-gnu")
    assert "llvm.x86" not in text and "llvm.aarch64" not in text


def test_a_batch_of_products_of_bytes_is_exact() -> None:
    x, y = bytes_of(DTYPES["ui8"], (2, 3, 8), 0), bytes_of(DTYPES["i8"], (2, 5, 8), 1)
    types = "tensor<2x3x8xui8>", "tensor<2x5x8xi8>", "tensor<2x3x5xi32>"
    text = f"""
relay.func @main(%x: {types[0]}, %y: {types[1]}) -> {types[2]} {{
  %z = relay.nn.batch_matmul %x, %y {{out_dtype = "int32"}} : ({types[0]}, {types[1]}) -> {types[2]}
  relay.return %z : {types[2]}
}}"""
    run = weft.compile(parse_module(text, new_ir_context(), "batch.mlir"), target="llvm -mcpu=native", threads=1)
    expected = np.matmul(x.astype(np.int32), y.swapaxes(1, 2).astype(np.int32))
    np.testing.assert_array_equal(np.asarray(run(x, y)), expected)
