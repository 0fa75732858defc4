"""Planes of volumes that are images: what is seen of them, and convolutions that see them where they stand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import weft
from weft.dialects.relay.ops.nn.convolution import Conv2dNCHWcOp
from weft.dialects.relay.ops.nn.planes import SeePlanesOp
from weft.dialects.relay.ops.nn.winograd import WinogradConv2dOp, WinogradWeightTransformOp
from weft.dialects.relay.planes import Planes
from weft.dialects.relay.winograd import FILTERINGS, Convolution3x3
from weft.frontend.mlir import parse_mlir
from weft.testing.operators import run_operator

RNG = np.random.default_rng(0)
SEEN = [Planes(3, 2), Planes(4, 3, before=1, after=1), Planes(5, 2, stride=2, dilation=3, before=2), Planes(3, 1, 2)]


@pytest.mark.parametrize("planes", SEEN)
@pytest.mark.parametrize("volumes", [1, 2])
def test_what_a_plane_sees_is_computed_as_numpy_has_it(planes: Planes, volumes: int) -> None:
    x = RNG.standard_normal((volumes * planes.held, 2, 3), np.float32)
    wanted = planes.see(x)
    assert wanted.shape == (volumes * planes.made, planes.seen * 2, 3)
    np.testing.assert_array_equal(run_operator(SeePlanesOp, [x], planes=planes.numbers), wanted)
    assert planes.see(x[..., :0]).shape == (volumes * planes.made, planes.seen * 2, 0)


@pytest.mark.parametrize("planes", SEEN)
def test_a_convolution_in_blocks_sees_planes_where_they_stand(planes: Planes) -> None:
    x = RNG.standard_normal((2 * planes.held, 2, 4, 4, 4))
    w = RNG.standard_normal((1, 2 * planes.seen, 3, 3, 4, 4))
    layouts = {"data_layout": "NCHW4c", "kernel_layout": "OIHW4i4o", "padding": (1, 1)}
    plain = x.transpose(0, 1, 4, 2, 3).reshape(2 * planes.held, 8, 4, 4)
    seen = planes.see(plain).reshape(2 * planes.made, -1, 4, 4, 4).transpose(0, 1, 3, 4, 2)
    wanted = run_operator(Conv2dNCHWcOp, [seen, w], **layouts)
    np.testing.assert_allclose(run_operator(Conv2dNCHWcOp, [x, w], **layouts, planes=planes.numbers), wanted)


@pytest.mark.parametrize("planes", SEEN)
def test_minimal_filtering_transforms_each_plane_once(planes: Planes) -> None:
    x = RNG.standard_normal((2 * planes.held, 3, 5, 6))
    u = run_operator(WinogradWeightTransformOp, [RNG.standard_normal((2, 3 * planes.seen, 3, 3))], tile_size=2)
    wanted = run_operator(WinogradConv2dOp, [planes.see(x), u], tile_size=2, padding=(1, 1))
    got = run_operator(WinogradConv2dOp, [x, u], tile_size=2, padding=(1, 1), planes=planes.numbers)
    np.testing.assert_allclose(got, wanted)


def test_what_is_transformed_once_costs_less() -> None:
    every = Convolution3x3(8, 56, 56, 3 * 32, 32, 16)
    once = replace(every, seeing=Planes(8, 3, before=1, after=1))
    assert once.winograd(FILTERINGS[4]) < every.winograd(FILTERINGS[4])
    assert once.direct() == every.direct()


def test_a_convolution_that_sees_planes_of_open_images_has_the_shape_that_it_declares() -> None:
    planes = Planes(4, 3, 2, 1, 1, 1)
    text = """
    relay.func @main(%x: tensor<8x16x?x9xf32>, %w: tensor<16x48x3x3xf32>) -> tensor<4x16x?x7xf32> {
      %p = relay.nn.contrib_see_planes %x {planes = array<i64: 4, 3, 2, 1, 1, 1>}
         : (tensor<8x16x?x9xf32>) -> tensor<4x48x?x9xf32>
      %y = relay.nn.conv2d %p, %w : (tensor<4x48x?x9xf32>, tensor<16x48x3x3xf32>) -> tensor<4x16x?x7xf32>
      relay.return %y : tensor<4x16x?x7xf32>
    }"""
    x, w = RNG.standard_normal((8, 16, 9, 9), np.float32), RNG.standard_normal((16, 48, 3, 3), np.float32)
    exe = weft.compile(parse_mlir(text, "planes.mlir"), params={"w": w}, threads=1)
    assert "planes =" in str(exe.ir["graph"])
    windows = np.lib.stride_tricks.sliding_window_view(planes.see(x), (3, 3), axis=(2, 3))
    found: Any = exe(x)
    np.testing.assert_allclose(found, np.einsum("nchwij,ocij->nohw", windows, w), atol=1e-3)
