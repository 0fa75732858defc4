"""Transposed convolutions as convolutions of their phases: the same numbers, together and apart."""

from __future__ import annotations

import numpy as np
import pytest

from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.relay.ops.nn.convolution import Conv2dOp
from weft.dialects.support.parser import parse_module
from weft.lowering import phases
from weft.lowering.machine.target import Target
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.relay.interleave_transposed_conv import InterleaveTransposedConvPass

CASES = [
    # data, kernel, stride, padding before and after, output padding, whether channels fill lanes, whether apart
    ((4, 3), (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), True, True),
    ((4, 4), (3, 3), (2, 2), (1, 1, 1, 1), (0, 0), True, True),
    ((4, 5), (4, 4), (2, 2), (1, 1, 1, 1), (0, 0), True, True),
    ((3, 5), (5, 5), (2, 2), (2, 1, 2, 2), (1, 0), True, True),
    ((3, 4), (7, 5), (3, 2), (2, 2, 3, 1), (0, 1), True, True),
    ((4, 3), (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), False, False),
    ((4, 4), (3, 3), (2, 2), (2, 2, 2, 2), (0, 0), True, False),
    ((4, 4), (2, 2), (3, 3), (0, 0, 0, 0), (0, 0), True, False),
    ((5, 4), (3, 3), (2, 2), (0, 1, 2, 0), (0, 0), True, True),
]


def extent(data: int, kernel: int, stride: int, paddings: int, more: int) -> int:
    return (data - 1) * stride + kernel - paddings + more


@pytest.mark.parametrize(("data", "kernel", "stride", "padding", "more", "fills", "apart"), CASES)
def test_phases_give_the_same_numbers(
    data: tuple[int, int],
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int, int, int],
    more: tuple[int, int],
    fills: bool,
    apart: bool,
) -> None:
    sums = padding[0] + padding[2], padding[1] + padding[3]
    rows, columns = map(extent, data, kernel, stride, sums, more)
    types = f"tensor<1x2x{data[0]}x{data[1]}xf32>", f"tensor<2x4x{kernel[0]}x{kernel[1]}xf32>"
    result = f"tensor<1x4x{rows}x{columns}xf32>"
    text = f"""
relay.func @main(%x: {types[0]}, %w: {types[1]}) -> {result} {{
  %y = relay.nn.conv2d_transpose %x, %w {{strides = array<i64: {stride[0]}, {stride[1]}>,
      padding = array<i64: {", ".join(map(str, padding))}>, output_padding = array<i64: {more[0]}, {more[1]}>}}
      : ({", ".join(types)}) -> {result}
  relay.return %y : {result}
}}"""
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((1, 2, *data), (2, 4, *kernel)))
    wanted, found = (parse_module(text, new_ir_context(), "deconv.mlir") for _ in range(2))
    InterleaveTransposedConvPass(vector_bytes=16 if fills else 64).apply(new_ir_context(), found)
    assert sum(isinstance(op, Conv2dOp) for op in found.walk()) == (stride[0] * stride[1] if apart else 1)
    mains = (next(op for op in module.ops if isinstance(op, FuncOp)) for module in (wanted, found))
    (before,), (after,) = (evaluate_function(main, [x, w]) for main in mains)
    np.testing.assert_array_equal(after, before)


def test_lanes_are_those_of_the_target() -> None:
    """12 channels fill no vector of 16 lanes, but three of 4."""
    for cpu, wanted in (("skylake-avx512", 64), ("haswell", 32), ("x86-64", 16)):
        target = Target.parse(f"llvm -mtriple=x86_64-unknown-linux-gnu -mcpu={cpu}")
        (found,) = (each for each in phases.graph(target) if isinstance(each, InterleaveTransposedConvPass))
        assert found.vector_bytes == wanted
