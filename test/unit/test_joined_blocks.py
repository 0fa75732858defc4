"""Channels in blocks that are joined within blocks: what is computed, and that it is in vectors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import weft
from weft.dialects.support.parser import parse_module
from weft.transforms.infra.registry import new_ir_context

Array = npt.NDArray[np.float32]
RNG = np.random.default_rng(7)

CASES: list[tuple[tuple[int, ...], tuple[int, int], int, int]] = [  # channels of each, pixels, their block, that of all
    ((44, 44, 44, 44), (8, 8), 16, 16),
    ((36, 36), (8, 7), 16, 16),  # the last block is filled up
    ((18, 5, 20, 3), (31, 1), 16, 16),  # some are all within a block; rows that nothing divides
    ((60, 60), (3, 4), 16, 8),  # blocks of the result are halves of those of the sources
    ((12, 28), (1, 1), 4, 8),
]


def blocked(x: Array, block: int) -> Array:
    """Channels in blocks, the last one filled up with what must not matter."""
    n, c, h, w = x.shape
    held = np.full((n, -(-c // block) * block, h, w), np.nan, np.float32)
    held[:, :c] = x
    return held.reshape(n, -1, block, h, w).transpose(0, 1, 3, 4, 2).copy()


def text_of(values: Array) -> str:
    return "x".join(map(str, values.shape)) + "xf32"


def graph(number: int, parts: list[Array], block: int) -> tuple[str, list[str], str]:
    """The lines of one case, its arguments with their types, and the type of its result."""
    channels, (h, w), held, made = CASES[number]
    lines: list[str] = []
    plain = [f"tensor<1x{c}x{h}x{w}xf32>" for c in channels]
    names: list[str] = []
    for i, (c, part, type) in enumerate(zip(channels, parts, plain, strict=True)):
        source, before = f"tensor<{text_of(part)}>", f"%x{number}_{i}"
        if i:
            lines.append(f"%r{number}_{i} = relay.nn.relu {before} : {source}")
            before = f"%r{number}_{i}"
        extents = f", extents = array<i64: 0, {c}, 0, 0>" if c % held else ""
        lines.append(
            f'%p{number}_{i} = relay.layout_transform {before} {{src_layout = "NCHW{held}c", dst_layout = "NCHW"'
            f"{extents}}} : ({source}) -> {type}"
        )
        names.append(f"%p{number}_{i}")
    types, total = ", ".join(plain), sum(channels)
    joined = f"tensor<1x{total}x{h}x{w}xf32>"
    result = f"tensor<1x{-(-total // block)}x{h}x{w}x{block}xf32>"
    lines += [
        f"%t{number} = relay.tuple({', '.join(names)}) : ({types}) -> tuple<{types}>",
        f"%j{number} = relay.concatenate %t{number} {{axis = 1 : i64}} : (tuple<{types}>) -> {joined}",
        f'%y{number} = relay.layout_transform %j{number} {{src_layout = "NCHW", dst_layout = "NCHW{made}c"}} : '
        f"({joined}) -> {result}",
    ]
    return "\n".join(lines), [f"%x{number}_{i}: tensor<{text_of(part)}>" for i, part in enumerate(parts)], result


def test_channels_are_joined_within_blocks_a_vector_at_a_time() -> None:
    values = [[RNG.standard_normal((1, c, *size), np.float32) for c in channels] for channels, size, *_ in CASES]
    parts = [[blocked(x, held) for x in each] for each, (_, _, held, _) in zip(values, CASES, strict=True)]
    graphs = [graph(n, each, CASES[n][3]) for n, each in enumerate(parts)]
    arguments = ", ".join(argument for _, each, _ in graphs for argument in each)
    types = ", ".join(result for *_, result in graphs)
    source = (
        f"relay.func @main({arguments}) -> ({types}) {{\n" + "\n".join(lines for lines, *_ in graphs)
        + f"\nrelay.return {', '.join(f'%y{n}' for n in range(len(CASES)))} : {types}\n}}"
    )  # fmt: skip
    exe = weft.compile(parse_module(source, new_ir_context()), threads=2)
    results = exe(*[part for each in parts for part in each])
    for got, each, (_, _, _, made) in zip(results, values, CASES, strict=True):
        joined = np.concatenate([each[0], *[np.maximum(x, 0) for x in each[1:]]], axis=1)
        channels = joined.shape[1]
        plain = np.asarray(got).transpose(0, 1, 4, 2, 3).reshape(1, -1, *joined.shape[2:])
        np.testing.assert_array_equal(plain[:, :channels], joined)
        assert made * np.asarray(got).shape[1] == plain.shape[1]


def test_lanes_that_come_from_one_source_are_one_vector_in_each_part() -> None:
    part = blocked(RNG.standard_normal((1, 44, 8, 8), np.float32), 16)
    lines, arguments, result = graph(0, [part] * 4, 16)
    source = f"relay.func @main({', '.join(arguments)}) -> {result} {{\n{lines}\nrelay.return %y0 : {result}\n}}"
    target = "llvm -mcpu=x86-64-v4 -mtriple=x86_64-unknown-linux-gnu"
    text = str(weft.compile(parse_module(source, new_ir_context()), target, threads=1).ir["loops"])
    assert "vector.load" in text and "scf.if" not in text and "memref.load" not in text and "arith.rem" not in text


def test_channels_that_are_shuffled_into_blocks_are_no_vectors_and_what_they_are() -> None:
    """Their lanes lie apart: one pixel's are written together, with no vector made of them first."""
    source = """relay.func @main(%x: tensor<1x20x5x7xf32>) -> tensor<1x2x5x7x16xf32> {
  %0 = relay.reshape %x {newshape = array<i64: 1, 4, 5, 5, 7>} : (tensor<1x20x5x7xf32>) -> tensor<1x4x5x5x7xf32>
  %1 = relay.transpose %0 {axes = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x4x5x5x7xf32>) -> tensor<1x5x4x5x7xf32>
  %2 = relay.reshape %1 {newshape = array<i64: 1, 20, 5, 7>} : (tensor<1x5x4x5x7xf32>) -> tensor<1x20x5x7xf32>
  %y = relay.layout_transform %2 {src_layout = "NCHW", dst_layout = "NCHW16c"}
     : (tensor<1x20x5x7xf32>) -> tensor<1x2x5x7x16xf32>
  relay.return %y : tensor<1x2x5x7x16xf32>
}"""
    exe = weft.compile(parse_module(source, new_ir_context()), threads=1)
    assert "vectorized" not in exe.ir["schedule"]
    x = RNG.standard_normal((1, 20, 5, 7), np.float32)
    shuffled = x.reshape(1, 4, 5, 5, 7).transpose(0, 2, 1, 3, 4).reshape(1, 20, 5, 7)
    got = np.asarray(exe(x)).transpose(0, 1, 4, 2, 3).reshape(1, 32, 5, 7)
    np.testing.assert_array_equal(got[:, :20], shuffled)


BYTES = """relay.func @main(%x: tensor<1x2x5x7x16xui8>, %y: tensor<1x2x5x7x16xui8>) -> tensor<1x1x5x7x64xui8> {
  %a = relay.layout_transform %x {src_layout = "NCHW16c", dst_layout = "NCHW"} : (tensor<1x2x5x7x16xui8>) -> tensor<1x32x5x7xui8>
  %b = relay.layout_transform %y {src_layout = "NCHW16c", dst_layout = "NCHW"} : (tensor<1x2x5x7x16xui8>) -> tensor<1x32x5x7xui8>
  %t = relay.tuple(%a, %b) : (tensor<1x32x5x7xui8>, tensor<1x32x5x7xui8>) -> tuple<tensor<1x32x5x7xui8>, tensor<1x32x5x7xui8>>
  %j = relay.concatenate %t {axis = 1 : i64} : (tuple<tensor<1x32x5x7xui8>, tensor<1x32x5x7xui8>>) -> tensor<1x64x5x7xui8>
  %r = relay.layout_transform %j {src_layout = "NCHW", dst_layout = "NCHW64c"} : (tensor<1x64x5x7xui8>) -> tensor<1x1x5x7x64xui8>
  relay.return %r : tensor<1x1x5x7x64xui8>
}"""  # noqa: E501


def test_a_block_of_bytes_is_joined_of_smaller_ones_a_vector_at_a_time() -> None:
    x, y = RNG.integers(0, 256, (2, 1, 2, 5, 7, 16), np.uint8)
    exe = weft.compile(parse_module(BYTES, new_ir_context()), target="llvm -mcpu=x86-64-v4", threads=1)
    loops = exe.ir["loops"]
    assert "vector<16xi8>" in loops and "vector.gather" not in loops and "vector<64xi8>" not in loops
    joined = np.concatenate([x, y], 1).transpose(0, 2, 3, 1, 4).reshape(1, 1, 5, 7, 64)
    native = weft.compile(parse_module(BYTES, new_ir_context()), threads=1)
    np.testing.assert_array_equal(np.asarray(native(x, y)), joined)
