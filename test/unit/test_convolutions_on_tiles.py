"""Convolutions of bytes on a matrix unit: channels of a block and taps of a line are a tile's steps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from byte_layers import DTYPES, SIGNS, Bytes, bytes_of

import weft
from weft import relay
from weft.lowering.machine.target import Target

pytestmark = pytest.mark.sampled(5)

WITH_AMX = "llvm -mcpu=sapphirerapids -mtriple=x86_64-unknown-linux-gnu"
on_tiles = pytest.mark.skipif(
    not Target("llvm").vector_unit().amx_int8, reason="this processor has no tiles, or the system keeps them"
)


def compiled(x: Bytes, w: Bytes, target: str, **properties: Any) -> weft.Executable:
    """A convolution of bytes into 32 bits."""
    data = relay.var("x", shape=x.shape, dtype=x.dtype.name)
    said = {"kernel_size": w.shape[2:], "channels": w.shape[0], "out_dtype": "int32"}
    y = relay.nn.conv2d(data, relay.const(w), **said, **properties)
    return weft.compile(relay.Function([data], y), target=target, threads=1)


def convolved(x: Bytes, w: Bytes, padding: int, stride: int, dilation: int, groups: int) -> Any:
    """The same in 64 bits."""
    x = np.pad(x.astype(np.int64), ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    reach = [dilation * (taps - 1) + 1 for taps in w.shape[2:]]
    views = np.lib.stride_tricks.sliding_window_view(x, reach, axis=(2, 3))
    views = views[:, :, ::stride, ::stride, ::dilation, ::dilation]
    parts = zip(np.split(views, groups, 1), np.split(w.astype(np.int64), groups), strict=True)
    return np.concatenate([np.einsum("nchwij,ocij->nohw", part, weights) for part, weights in parts], 1)


def loads(exe: weft.Executable) -> set[str]:
    """How the tiles of data are read."""
    return set(re.findall(r"tile_load \d, %(?!p1\b)\w+\[.*\] (rows [^:]*) :", exe.ir["loops"]))


CASES: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, int], set[str]]] = [
    # 12 steps are three taps of 16 channels, and pixels lie over one another.
    ((1, 32, 9, 20), (48, 32, 3, 3), {}, {"rows 16 stride 16 bytes 48", "rows 4 stride 16 bytes 48"}),
    ((2, 32, 9, 33), (16, 32, 3, 3), {"stride": 2}, {"rows 16 stride 32 bytes 48", "rows 1 stride 32 bytes 48"}),
    # Taps that do not lie side by side are walked through one by one, and so are those that fill more than a tile.
    ((1, 64, 12, 12), (64, 64, 3, 3), {"dilation": 2, "padding": 2}, {"rows 12 stride 64"}),
    ((1, 16, 8, 16), (32, 16, 5, 5), {"padding": 2}, {"rows 16 stride 16 bytes 16"}),
    ((1, 512, 3, 15), (32, 512, 1, 1), {"padding": 0}, {"rows 16 stride 16 bytes 16", "rows 13 stride 16 bytes 16"}),
    # 64 channels fill a row, and pixels of several lines a tile, where taps do not look over the edge.
    ((1, 64, 5, 10), (128, 64, 1, 1), {"padding": 0}, {"rows 10 stride 64"}),
    ((1, 512, 5, 10), (64, 512, 1, 1), {"padding": 0}, {"rows 16 stride 64", "rows 9 stride 64"}),
    ((1, 64, 10, 10), (32, 64, 3, 3), {"padding": 0}, {"rows 8 stride 64"}),
    # Two lines of seven pixels at a time, and the last one by itself.
    ((1, 128, 7, 7), (64, 128, 3, 3), {}, {"rows 7 stride 64"}),
    ((2, 128, 6, 15), (64, 128, 3, 3), {}, {"rows 15 stride 64"}),
    # An image of three colours, filled up to four.
    (
        (1, 3, 14, 40),
        (32, 3, 7, 7),
        {"padding": 3, "stride": 2},
        {"rows 16 stride 8 bytes 28", "rows 4 stride 8 bytes 28"},
    ),
    ((1, 64, 6, 16), (64, 32, 3, 3), {"groups": 2}, {"rows 16 stride 16 bytes 48"}),
]


@pytest.mark.parametrize(("data", "weight", "properties", "read"), CASES)
def test_channels_and_taps_that_lie_side_by_side_are_steps_of_tiles(
    data: tuple[int, ...], weight: tuple[int, ...], properties: dict[str, int], read: set[str]
) -> None:
    said = {"padding": 1, "stride": 1, "dilation": 1, "groups": 1, **properties}
    x, w = bytes_of(DTYPES["ui8"], data, 0), bytes_of(DTYPES["i8"], weight, 1)
    names = {"strides": said["stride"], "padding": said["padding"], "dilation": said["dilation"]}
    pairs = {name: (number, number) for name, number in names.items()}
    exe = compiled(x, w, WITH_AMX, **pairs, groups=said["groups"])
    assert loads(exe) == read and 'rt.dot "vnni"' not in exe.ir["loops"]
    if Target("llvm").vector_unit().amx_int8:
        run = compiled(x, w, "llvm", **pairs, groups=said["groups"])
        np.testing.assert_array_equal(np.asarray(run(x)), convolved(x, w, **said))


@on_tiles
@pytest.mark.parametrize(("lhs", "rhs"), SIGNS)
def test_convolutions_of_all_signs_are_exact_on_tiles(lhs: str, rhs: str) -> None:
    x, w = bytes_of(DTYPES[lhs], (1, 32, 6, 9), 0), bytes_of(DTYPES[rhs], (32, 32, 3, 3), 1)
    run = compiled(x, w, "llvm", padding=(1, 1))
    assert "rt.tile_dot" in run.ir["loops"]
    np.testing.assert_array_equal(np.asarray(run(x)), convolved(x, w, 1, 1, 1, 1))


@pytest.mark.parametrize(("data", "weight"), [
    ((1, 64, 9, 3), (32, 64, 3, 3)),  # lines of three pixels
    ((1, 64, 3, 5), (32, 64, 3, 3)),  # fifteen pixels
    ((1, 128, 32, 32), (32, 128, 1, 1)),  # tiles of a quarter of the steps, too few times for what sums cost in memory
    ((1, 3, 20, 20), (32, 3, 1, 1)),  # one step
])  # fmt: skip
def test_convolutions_that_do_not_fill_tiles_are_summed_in_vectors(
    data: tuple[int, ...], weight: tuple[int, ...]
) -> None:
    x, w = bytes_of(DTYPES["ui8"], data, 0), bytes_of(DTYPES["i8"], weight, 1)
    loops = compiled(x, w, WITH_AMX, padding=(weight[2] // 2, weight[3] // 2)).ir["loops"]
    assert "rt.tile" not in loops and 'rt.dot "vnni"' in loops


def joined(parts: Sequence[int]) -> str:
    """A network of bytes in which convolutions' channels are joined, as `alter-op-layout` leaves it."""
    x = relay.var("x", shape=(1, 64, 6, 6), dtype="uint8")
    convolved = [product(x, 64, channels) for channels in parts]
    y = product(relay.concatenate(convolved, axis=1), sum(parts), 64)
    return weft.compile(relay.Function([x], y), target=WITH_AMX, threads=1).ir["graph"]


def product(x: relay.Expr, inputs: int, outputs: int) -> relay.Expr:
    weight = relay.const(bytes_of(DTYPES["i8"], (outputs, inputs, 1, 1), outputs))
    sums = relay.nn.conv2d(x, weight, kernel_size=(1, 1), channels=outputs, out_dtype="int32")
    return relay.cast(relay.clip(relay.right_shift(sums, relay.const(7)), 0.0, 255.0), "uint8")


def test_channels_stand_in_blocks_of_64_where_all_that_they_are_joined_with_can() -> None:
    assert 'out_layout = "NCHW16c"' not in joined([64, 128])
    text = joined([64, 32])  # 96 channels
    assert 'out_layout = "NCHW16c"' in text and 'src_layout = "NCHW64c"' not in text


def test_two_short_lines_share_what_columns_are_multiplied_by() -> None:
    x, w = bytes_of(DTYPES["ui8"], (1, 128, 8, 7), 0), bytes_of(DTYPES["i8"], (64, 128, 3, 3), 1)
    loops = compiled(x, w, WITH_AMX, padding=(1, 1)).ir["loops"]
    assert [len(re.findall(rf"tile_load \d, %{name}", loops)) for name in ("data_pad", "p1")] == [2, 2]
    assert loops.count("rt.tile_dot") == 4
