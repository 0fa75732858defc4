"""Winograd's minimal filtering: its matrices, what it costs, and what is compiled of it against plain convolutions."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.dialects.relay.ops.nn.convolution import Conv2dOp
from weft.dialects.relay.ops.nn.winograd import WinogradConv2dOp, WinogradWeightTransformOp
from weft.dialects.relay.winograd import FILTERINGS, Convolution3x3, Filtering
from weft.dialects.support.parser import parse_module
from weft.testing.operators import run_operator
from weft.transforms.infra.registry import new_ir_context

pytestmark = pytest.mark.sampled(6)

NDArray = npt.NDArray[Any]
RNG = np.random.default_rng(17)


def exact(rows: Any) -> NDArray:
    return np.array([[Fraction(n).limit_denominator(48) for n in row] for row in rows], dtype=object)


@pytest.mark.parametrize("tile", FILTERINGS)
def test_each_product_of_a_tap_and_an_element_comes_out_where_it_belongs(tile: int) -> None:
    by = FILTERINGS[tile]
    result, data, weight = (exact(rows) for rows in (by.result, by.data, by.weight))
    for tap in range(3):
        for place in range(by.points):
            product = (weight[:, tap] * data[:, place]).astype(object)
            wanted = [Fraction(int(place == out + tap)) for out in range(tile)]
            assert list(result @ product) == wanted


@pytest.mark.parametrize("tile", FILTERINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_many_weights_are_transformed_as_each_alone_and_rounded_once(tile: int, dtype: type[np.floating[Any]]) -> None:
    weight = RNG.standard_normal((7, 347, 3, 3)).astype(dtype)  # more than are transformed at once
    matrix = np.array(FILTERINGS[tile].weight)
    wide = np.einsum("ap,oipq,bq->aboi", matrix, weight.astype(np.float64), matrix)
    made = FILTERINGS[tile].transform_weight(weight)
    assert made.dtype == dtype
    np.testing.assert_array_max_ulp(made.astype(dtype), wide.astype(dtype), 1)


@pytest.mark.parametrize("tile", FILTERINGS)
@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
def test_what_is_no_finite_number_goes_no_further_than_the_factors_that_are_not_zero(tile: int, special: float) -> None:
    weight = RNG.standard_normal((1, 1, 3, 3)).astype(np.float32)
    weight[0, 0, 1, 2] = special
    matrix = np.array(FILTERINGS[tile].weight)
    made = run_operator(WinogradWeightTransformOp, [weight], tile_size=tile)[:, :, 0, 0]
    assert (np.isfinite(made) == (np.outer(matrix[:, 1], matrix[:, 2]) == 0)).all()


@pytest.mark.parametrize(
    ("shape", "tile"),
    [
        ((1, 56, 56, 64, 64), 4),
        ((1, 28, 28, 128, 128), 4),
        ((1, 14, 14, 256, 256), 2),  # the weights of 36 points would stream by for sixteen tiles
        ((1, 7, 7, 512, 512), None),
        ((16, 7, 7, 512, 512), 4),
        ((1, 4, 4, 16, 16), None),
    ],
)
def test_tiles_are_as_large_as_pays(shape: tuple[int, int, int, int, int], tile: int | None) -> None:
    best = Convolution3x3(*shape, lanes=16).best(4)
    assert (best.tile if best else None) == tile


def test_no_tile_is_larger_than_is_allowed() -> None:
    cost = Convolution3x3(1, 56, 56, 64, 64, 16)
    assert cost.best(2) is FILTERINGS[2] and cost.best(0) is None


CASES = [  # images, channels in and out, height, width, padding, dilation, tile
    (1, 16, 32, 13, 3, (0, 0), 1, 2),
    (2, 24, 20, 5, 7, (1, 0, 2, 1), 1, 4),  # blocks that are not full on either side
    (2, 16, 16, 5, 8, (3, 0, 2, 3), 3, 2),  # nine images of each, some of which have a row or a column less
]


def graph() -> str:
    lines = ["relay.func @main("]
    lines.append(", ".join(f"%x{i}: tensor<{n}x{c}x{h}x{w}xf32>" for i, (n, c, _, h, w, *_) in enumerate(CASES)))
    outs: list[str] = []
    body: list[str] = []
    for i, (n, c, o, h, w, pad, apart, _) in enumerate(CASES):
        top, left, bottom, right = (*pad, *pad)[:4]
        out = f"tensor<{n}x{o}x{h + top + bottom - 2 * apart}x{w + left + right - 2 * apart}xf32>"
        outs.append(out)
        pads = ", ".join(map(str, pad))
        steps = f"dilation = array<i64: {apart}, {apart}>"
        body.append(
            f"%y{i} = relay.nn.conv2d %x{i}, %w{i} {{padding = array<i64: {pads}>, {steps}}} : "
            f"(tensor<{n}x{c}x{h}x{w}xf32>, tensor<{o}x{c}x3x3xf32>) -> {out}\n"
            f"%b{i} = relay.constant dense<0.5> : tensor<{o}x1x1xf32>\n"
            f"%s{i} = relay.add %y{i}, %b{i} : ({out}, tensor<{o}x1x1xf32>) -> {out}\n"
            f"%z{i} = relay.nn.relu %s{i} : {out}"
        )
    weights = ", ".join(f"%w{i}: tensor<{o}x{c}x3x3xf32>" for i, (_, c, o, *_) in enumerate(CASES))
    results = ", ".join(f"%z{i}" for i in range(len(CASES)))
    types = ", ".join(outs)
    return (
        f"{lines[0]}{lines[1]}, {weights}) -> ({types}) {{\n" + "\n".join(body)
        + f"\nrelay.return {results} : {types}\n}}"
    )  # fmt: skip


def test_compiled_tiles_are_the_convolution_up_to_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    tiles = [tile for *_, tile in CASES]

    def insist(self: Convolution3x3, largest: int, direct: float, moved: int) -> Filtering | None:
        return FILTERINGS[tiles.pop(0)]

    monkeypatch.setattr(Convolution3x3, "best", insist)
    data = [RNG.standard_normal((n, c, h, w), np.float32) for n, c, _, h, w, *_ in CASES]
    weights = [RNG.standard_normal((o, c, 3, 3), np.float32) for _, c, o, *_ in CASES]
    params = {f"w{i}": weight for i, weight in enumerate(weights)}
    exe = weft.compile(parse_module(graph(), new_ir_context()), threads=2, params=params)
    assert not tiles
    for x, w, got, (*_, padding, apart, tile) in zip(data, weights, exe(*data), CASES, strict=True):
        operands = [x.astype(float), w.astype(float)]
        wanted = np.maximum(run_operator(Conv2dOp, operands, padding=padding, dilation=[apart, apart]) + 0.5, 0)
        assert np.abs(got - wanted).max() <= 2e-6 * np.abs(wanted).max() * (1 if tile == 2 else 8)


def test_one_compilation_is_for_any_number_of_images(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Convolution3x3, "best", largest_tiles)
    weight = RNG.standard_normal((16, 16, 3, 3), np.float32)
    x = relay.var("x", shape=(relay.Any(), 16, 16, 16))
    exe = weft.compile(relay.Function([x], relay.nn.conv2d(x, relay.const(weight), padding=(1, 1))), threads=2)
    assert "winograd" in exe.ir["fuse"]
    for images in (1, 3, 0):
        data = RNG.standard_normal((images, 16, 16, 16), np.float32)
        wanted = run_operator(Conv2dOp, [data.astype(float), weight.astype(float)], padding=[1, 1])
        got = np.asarray(exe(data), np.float32)
        assert got.shape == wanted.shape and np.abs(got - wanted).max(initial=0) <= 16e-6 * np.abs(wanted).max(
            initial=0
        )


def test_transformations_are_unrolled_in_registers() -> None:
    source = """
    relay.func @main(%x: tensor<1x1x8x8x16xf32>, %w: tensor<4x4x1x1x16x16xf32>) -> tensor<1x1x8x8x16xf32> {
      %y = relay.nn.contrib_conv2d_winograd_without_weight_transform %x, %w {tile_size = 2 : i64,
        padding = array<i64: 1, 1>, data_layout = "NCHW16c", kernel_layout = "HWOI16i16o", out_layout = "NCHW16c"}
        : (tensor<1x1x8x8x16xf32>, tensor<4x4x1x1x16x16xf32>) -> tensor<1x1x8x8x16xf32>
      relay.return %y : tensor<1x1x8x8x16xf32>
    }"""
    exe = weft.compile(
        parse_module(source, new_ir_context()), "llvm -mcpu=x86-64-v4 -mtriple=x86_64-unknown-linux-gnu", threads=1
    )
    text = str(exe.ir["schedule"])
    for name in ("winograd_rows", "winograd_result_rows", "winograd_result"):
        assert f'%{name} = tir.alloc_buffer "local"' in text
    assert text.count("tir.for unrolled") == 5 * 2 + 3  # two in each transformation, one around each product's vectors


@pytest.mark.parametrize(("channels", "step"), [(18, 2), (17, 1), (24, 8)])
def test_channels_that_leave_a_rest_are_transformed_in_whole_vectors(channels: int, step: int) -> None:
    inner = f"{step}i" if step > 1 else ""
    shape = f"4x4x1x{channels // step}x{f'{step}x' if step > 1 else ''}16"
    source = f"""
    relay.func @main(%x: tensor<1x2x8x7x16xf32>, %w: tensor<{shape}xf32>) -> tensor<1x1x8x7x16xf32> {{
      %y = relay.nn.contrib_conv2d_winograd_without_weight_transform %x, %w {{tile_size = 2 : i64,
        padding = array<i64: 1, 1>, data_layout = "NCHW16c", kernel_layout = "HWOI{inner}16o", out_layout = "NCHW16c"}}
        : (tensor<1x2x8x7x16xf32>, tensor<{shape}xf32>) -> tensor<1x1x8x7x16xf32>
      relay.return %y : tensor<1x1x8x7x16xf32>
    }}"""
    exe = weft.compile(
        parse_module(source, new_ir_context()), "llvm -mcpu=x86-64-v4 -mtriple=x86_64-unknown-linux-gnu", threads=1
    )
    assert '%winograd_data = tir.alloc_buffer "global" : memref<2x4x4x2x1x2x4x16xf32>' in str(exe.ir["schedule"])
    x, w = RNG.standard_normal((1, channels, 8, 7), np.float32), RNG.standard_normal((16, channels, 3, 3), np.float32)
    blocks = np.full((1, 32, 8, 7), np.nan, np.float32)  # what fills up the last block does not matter
    blocks[:, :channels] = x
    u = run_operator(WinogradWeightTransformOp, [w], tile_size=2).transpose(0, 1, 3, 2)
    run = weft.compile(parse_module(source, new_ir_context()), threads=2)
    got = np.asarray(run(blocks.reshape(1, 2, 16, 8, 7).transpose(0, 1, 3, 4, 2).copy(), u.reshape(shape_of(shape))))
    wanted = run_operator(Conv2dOp, [x.astype(float), w.astype(float)], padding=(1, 1))
    assert np.abs(got[:, 0].transpose(0, 3, 1, 2) - wanted).max() <= 4e-6 * np.abs(wanted).max()


def largest_tiles(self: Convolution3x3, largest: int, direct: float, moved: int) -> Filtering | None:
    """What takes the place of the choice between tiles."""
    return FILTERINGS[4]


def shape_of(text: str) -> list[int]:
    return [int(number) for number in text.split("x")]


def test_threads_go_on_with_the_tiles_that_they_have_transformed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Convolution3x3, "best", largest_tiles)
    weight, bias = RNG.standard_normal((32, 32, 3, 3), np.float32), RNG.standard_normal((32, 1, 1), np.float32)
    x = relay.var("x", shape=(1, 32, 56, 64))
    y = relay.nn.conv2d(x, relay.const(weight), padding=(1, 1)) + relay.const(bias)
    exe = weft.compile(relay.Function([x], y), "llvm -mcpu=x86-64-v4 -mtriple=x86_64-unknown-linux-gnu", threads=2)
    text = str(exe.ir["schedule"])
    assert buffers(text, "winograd_data") == [[2, 6, 6, 2, 1, 7, 16, 16]]  # two strips, each of seven lines of 16 tiles
    assert buffers(text, "winograd_product") == [[2, 36, 2, 112, 16]]
    shares = [line for line in str(exe.ir["loops"]).splitlines() if "rt.share %slots[" in line]
    of_convolution = shares[[("slots[2]" in line) for line in shares].index(True) - 2 :][:4]
    assert [line.rstrip(" {").split("rows ")[1:] for line in of_convolution] == [["2"], [], [], ["2"]]
    data = RNG.standard_normal((1, 32, 56, 64), np.float32)
    wanted: NDArray = run_operator(Conv2dOp, [data.astype(float), weight.astype(float)], padding=[1, 1]) + bias
    got: NDArray = np.asarray(weft.compile(relay.Function([x], y), threads=2)(data))
    assert np.abs(got - wanted).max() <= 16e-6 * np.abs(wanted).max()


def test_lines_that_a_factor_does_not_move_along_are_no_strips() -> None:
    """Each kernel has one parallel region: a depthwise convolution pads its data in it, band by band."""
    x, weight = relay.var("x", shape=(1, 144, 56, 56)), relay.const(np.ones((144, 1, 3, 3), np.float32))
    y = relay.nn.conv2d(relay.nn.relu(x), weight, padding=(1, 1), groups=144, channels=144, kernel_size=(3, 3))
    exe = weft.compile(relay.Function([x], y), "llvm -mcpu=x86-64-v4 -mtriple=x86_64-unknown-linux-gnu", threads=2)
    assert "rt.share %slots[0]" in exe.ir["loops"] and "rt.share %slots[1]" not in exe.ir["loops"]


def buffers(text: str, name: str) -> list[list[int]]:
    """The shapes of the buffers of a name that the text allocates."""
    found = re.findall(rf'%{name} = tir\.alloc_buffer "global" : memref<([0-9x]+)xf32>', text)
    return [shape_of(shape) for shape in found]


@pytest.mark.parametrize(
    ("images", "height"),  # of 8, 7, 5, 3, 11 and 4 lines of tiles of four
    [
        pytest.param(n, height, marks=() if n == 1 or height in (12, 28) else pytest.mark.large)
        for n in (1, 2, 3, 4)
        for height in (32, 28, 20, 12, 44, 13)
    ],
)
def test_tiles_lie_in_strips_of_whole_lines_or_images(
    images: int, height: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Convolution3x3, "best", largest_tiles)
    weight = RNG.standard_normal((32, 16, 3, 3), np.float32)
    x = relay.var("x", shape=(images, 16, height, 28))
    y = relay.nn.conv2d(x, relay.const(weight), padding=(1, 1))
    exe = weft.compile(relay.Function([x], y), threads=2)
    high = -(-height // 4)
    of_lines = {32: (2, 1, 4), 28: (7, 1, 1), 20: (5, 1, 1), 12: (3, 1, 1), 44: (1, 1, 11), 13: (2, 1, 2)}
    of_images = {2: (2, 1, high), 3: (3, 1, high), 4: (2, 2, high)}
    strips, *wanted_extents = of_lines[height] if images == 1 else of_images[images]
    if images > 1 and images // strips * high * 7 < 28:
        strips, wanted_extents = 1, [images, high]
    ((*outer, found_images, found_high, _, channels),) = buffers(str(exe.ir["schedule"]), "winograd_data")
    assert [found_images, found_high] == wanted_extents
    assert outer[:3] == ([strips, 6, 6] if strips > 1 else [6, 6, 16 // channels])
    data = RNG.standard_normal((images, 16, height, 28), np.float32)
    wanted: NDArray = run_operator(Conv2dOp, [data.astype(float), weight.astype(float)], padding=[1, 1])
    assert np.abs(np.asarray(exe(data)) - wanted).max() <= 16e-6 * np.abs(wanted).max()


def test_plain_layouts_are_computed_too() -> None:
    x, w = RNG.standard_normal((1, 2, 5, 6)), RNG.standard_normal((3, 2, 3, 3))
    u = run_operator(WinogradWeightTransformOp, [w], tile_size=4)
    y = run_operator(WinogradConv2dOp, [x, u], tile_size=4, padding=(1, 0))
    np.testing.assert_allclose(y, run_operator(Conv2dOp, [x, w], padding=(1, 0)), atol=1e-12)


def test_rows_of_products_are_divided_into_strips() -> None:
    """Of a convolution along three axes: each thread goes on with the rows that it has transformed."""
    x, weight = relay.var("x", shape=(1, 16, 8, 33, 35)), RNG.standard_normal((24, 16, 3, 3, 3), np.float32)
    y = relay.nn.conv3d(x, relay.const(weight), padding=(1, 1, 1), channels=24, kernel_size=(3, 3, 3))
    exe = weft.compile(relay.Function([x], y), "llvm -mcpu=x86-64-v4 -mtriple=x86_64-unknown-linux-gnu", threads=2)
    kernels = str(exe.ir["schedule"]).split("tir.prim_func")[1:]
    assert any("winograd_product" in kernel for kernel in kernels)
    assert all("tir.for parallel" in kernel for kernel in kernels)
