"""Convolutions of bytes: exact in 32 bits, of all signs, by dot products where the target has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from byte_layers import DTYPES, Bytes, bytes_of
from onnx import TensorProto, helper, numpy_helper

import weft
from weft import relay
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.core import ForKind, ForOp
from weft.dialects.tir.dot import DotOp
from weft.transforms.infra.registry import new_ir_context

pytestmark = pytest.mark.sampled(5)

WITH_VNNI = "llvm -mcpu=icelake-server -mtriple=x86_64-unknown-linux-gnu"
WITH_SHORT_VNNI = "llvm -mcpu=alderlake -mtriple=x86_64-unknown-linux-gnu"
WITH_PAIRS = "llvm -mcpu=x86-64-v3 -mtriple=x86_64-unknown-linux-gnu"


def convolved(x: Bytes, w: Bytes, pad: int, groups: int = 1) -> Any:
    """The convolution in 64 bits, images padded with zeros."""
    x = np.pad(x.astype(np.int64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    parts = zip(np.split(windows, groups, 1), np.split(w.astype(np.int64), groups), strict=True)
    return np.concatenate([np.einsum("nchwij,ocij->nohw", part, weights) for part, weights in parts], 1)


def conv(lhs: str, rhs: str, channels: int, outputs: int, pad: int, groups: int = 1) -> Any:
    types = f"tensor<1x{channels}x7x6x{lhs}>", f"tensor<{outputs}x{channels // groups}x3x3x{rhs}>"
    result = f"tensor<1x{outputs}x{5 + 2 * pad}x{4 + 2 * pad}xi32>"
    text = f"""
relay.func @main(%x: {types[0]}, %w: {types[1]}) -> {result} {{
  %y = relay.nn.conv2d %x, %w {{out_dtype = "int32", groups = {groups} : i64, padding = array<i64: {pad}, {pad}>}}
     : ({", ".join(types)}) -> {result}
  relay.return %y : {result}
}}"""
    return parse_module(text, new_ir_context(), "conv.mlir")


@pytest.mark.parametrize(("lhs", "rhs"), [("ui8", "i8"), ("i8", "i8"), ("ui8", "ui8")])
def test_convolutions_of_all_signs_are_exact(lhs: str, rhs: str) -> None:
    x, w = bytes_of(DTYPES[lhs], (1, 8, 7, 6), 0), bytes_of(DTYPES[rhs], (16, 8, 3, 3), 1)
    run = weft.compile(conv(lhs, rhs, 8, 16, 1), params={"w": w}, threads=1)
    np.testing.assert_array_equal(np.asarray(run(x)), convolved(x, w, 1))


@pytest.mark.parametrize(("channels", "outputs", "groups"), [(24, 20, 1), (16, 16, 16)])
def test_convolutions_of_all_channels_are_exact(channels: int, outputs: int, groups: int) -> None:
    x = bytes_of(DTYPES["ui8"], (1, channels, 7, 6), 0)
    w = bytes_of(DTYPES["i8"], (outputs, channels // groups, 3, 3), 1)
    run = weft.compile(conv("ui8", "i8", channels, outputs, 0, groups), params={"w": w}, threads=1)
    np.testing.assert_array_equal(np.asarray(run(x)), convolved(x, w, 0, groups))


def test_x86_sums_four_channels_at_once() -> None:
    w = bytes_of(DTYPES["i8"], (16, 8, 3, 3), 1)
    compiled = weft.compile(conv("ui8", "i8", 8, 16, 1), params={"w": w}, target=WITH_VNNI, threads=1)
    assert "x86.avx512.vpdpbusd.512" in str(compiled.ir["llvm"])


def test_a_quantised_convolution_is_one_of_bytes_padded_with_the_zero_point() -> None:
    x = relay.var("x", shape=(1, 8, 7, 6), dtype="int8")
    w = bytes_of(DTYPES["i8"], (16, 8, 3, 3), 1)
    zero, none, scale = relay.const(np.int32(5)), relay.const(np.int32(0)), relay.const(np.float32(0.5))
    y = relay.qnn.conv2d(
        x, relay.const(w), zero, none, scale, scale, channels=16, kernel_size=(3, 3), padding=(1, 1, 0, 2)
    )
    run = weft.compile(relay.Function([x], y), threads=1)
    assert "relay.nn.contrib_conv2d_NCHWc" in str(run.ir["graph"])
    data = bytes_of(DTYPES["i8"], (1, 8, 7, 6), 0)
    padded = np.pad(data.astype(np.int64) - 5, ((0, 0), (0, 0), (1, 0), (1, 2)))
    np.testing.assert_array_equal(np.asarray(run(data)), convolved(padded, w, 0))


def test_onnx_convolutions_of_integers_are_of_bytes() -> None:
    w = bytes_of(DTYPES["i8"], (16, 8, 3, 3), 1)
    node = helper.make_node("ConvInteger", ["x", "w", "z"], ["y"], pads=[1, 1, 0, 2])
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 8, 7, 6])],
        [helper.make_tensor_value_info("y", TensorProto.INT32, None)],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(np.array(200, np.uint8), "z")],
    )
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    run = weft.compile(model, threads=1)
    assert "relay.nn.contrib_conv2d_NCHWc" in str(run.ir["graph"])
    data = bytes_of(DTYPES["ui8"], (1, 8, 7, 6), 0)
    padded = np.pad(data.astype(np.int64) - 200, ((0, 0), (0, 0), (1, 0), (1, 2)))
    np.testing.assert_array_equal(np.asarray(run(data)), convolved(padded, w, 0))


def test_onnx_products_of_integers_with_zero_points_are_of_bytes_of_any_depth() -> None:
    node = helper.make_node("MatMulInteger", ["a", "b", "za", "zb"], ["y"])
    inputs = [("a", TensorProto.UINT8, ["n", "m", "k"]), ("b", TensorProto.INT8, ["n", "k", 20])]
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(*each) for each in inputs],
        [helper.make_tensor_value_info("y", TensorProto.INT32, None)],
        [numpy_helper.from_array(np.array(200, np.uint8), "za"), numpy_helper.from_array(np.array(-3, np.int8), "zb")],
    )
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    assert "vpdpbusd" in str(weft.compile(model, target=WITH_VNNI, threads=1).ir["llvm"])
    run = weft.compile(model, threads=1)
    for rows, depth in ((18, 9), (1, 4)):
        a, b = bytes_of(DTYPES["ui8"], (2, rows, depth), 0), bytes_of(DTYPES["i8"], (2, depth, 20), 1)
        np.testing.assert_array_equal(np.asarray(run(a, b)), (a.astype(np.int32) - 200) @ (b.astype(np.int32) + 3))


def sums_of_tile(target: str) -> int:
    """How many vectors of sums the tile of a convolution has; what is left over has fewer."""
    w = bytes_of(DTYPES["i8"], (16, 8, 3, 3), 1)
    module = weft.compile(conv("ui8", "i8", 8, 16, 1), params={"w": w}, target=target, threads=1).ir.module("schedule")
    found: list[int] = []
    for dot in [op for op in module.walk() if isinstance(op, DotOp)]:
        sums, loop = 1, dot.parent_op()
        while (loop := None if loop is None else loop.parent_op()) is not None:
            if isinstance(loop, ForOp) and loop.for_kind == ForKind.UNROLLED:
                assert isinstance(loop.size, int)
                sums *= loop.size
        found.append(sums)
    return max(found)


def test_bytes_that_become_numbers_of_16_bits_leave_fewer_of_16_registers_to_sums() -> None:
    assert sums_of_tile(WITH_PAIRS) <= 10 < sums_of_tile(WITH_SHORT_VNNI)
