"""What the rules choose on processors of several kinds: the tables of `docs/machines.md`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import f32

from weft.dialects import te
from weft.dialects.relay.winograd import Convolution3x3
from weft.dialects.tir.core import BlockOp
from weft.lowering.machine.known_machines import model_of
from weft.lowering.relay_to_tir.te_to_tir import create_prim_func
from weft.transforms.tir.rules.choose_tile import find_tile
from weft.transforms.tir.rules.registers import VectorRegisters

Stage: TypeAlias = tuple[Sequence[te.Tensor], Sequence[te.Tensor]]
"""Inputs and outputs of a computation."""

PROCESSORS = {
    "Haswell, AVX2": VectorRegisters(16, 32, model_of("haswell", 32)),
    "Zen 3, AVX2": VectorRegisters(16, 32, model_of("znver3", 32)),
    "Cascade Lake, AVX-512": VectorRegisters(32, 64, model_of("cascadelake", 64)),
    "Sapphire Rapids, AVX-512": VectorRegisters(32, 64, model_of("sapphirerapids", 64)),
    "Zen 4, AVX-512": VectorRegisters(32, 64, model_of("znver4", 64)),
    "Neoverse N1, NEON": VectorRegisters(32, 16, model_of("neoverse-n1", 16)),
}


def convolution(channels: int, outputs: int, pixels: int, kernel: int, stride: int = 1) -> Callable[[int], Stage]:
    """A convolution of data in blocks of channels, or of as many as there are."""

    def made(lanes: int) -> Stage:
        inner, size = min(channels, lanes), pixels * stride + kernel - 1
        x = te.placeholder((1, channels // inner, size, size, inner), f32, "x")
        w = te.placeholder((outputs // lanes, channels // inner, kernel, kernel, inner, lanes), f32, "w")
        c, y, z, r = (te.reduce_axis(n) for n in (channels // inner, kernel, kernel, inner))

        def term(n: te.Expr, o: te.Expr, h: te.Expr, v: te.Expr, i: te.Expr) -> te.Expr:
            return te.sum(x[n, c, h * stride + y, v * stride + z, r] * w[o, c, y, z, r, i], (c, y, z, r))

        return [x, w], [te.compute((1, outputs // lanes, pixels, pixels, lanes), term, "conv2d")]

    return made


def pointwise(channels: int, outputs: int, pixels: int) -> Callable[[int], Stage]:
    """A convolution of one tap, whose pixels are fused."""

    def made(lanes: int) -> Stage:
        x = te.placeholder((channels // lanes, pixels * pixels, lanes), f32, "x")
        w = te.placeholder((outputs // lanes, channels // lanes, lanes, lanes), f32, "w")
        c, r = te.reduce_axis(channels // lanes), te.reduce_axis(lanes)
        shape = (outputs // lanes, pixels * pixels, lanes)
        return [x, w], [te.compute(shape, lambda o, p, i: te.sum(x[c, p, r] * w[o, c, r, i], (c, r)), "conv2d")]

    return made


def dense(rows: int, terms: int, columns: int) -> Callable[[int], Stage]:
    """A product with weights in blocks of columns."""

    def made(lanes: int) -> Stage:
        x, w = te.placeholder((rows, terms), f32, "x"), te.placeholder((-(-columns // lanes), terms, lanes), f32, "w")
        k = te.reduce_axis(terms)
        return [x, w], [
            te.compute((rows, columns), lambda i, j: te.sum(x[i, k] * w[j // lanes, k, j % lanes], k), "dense")
        ]

    return made


def depthwise(channels: int, pixels: int, kernel: int) -> Callable[[int], Stage]:
    """A convolution of each channel by itself."""

    def made(lanes: int) -> Stage:
        size = pixels + kernel - 1
        x = te.placeholder((channels // lanes, size, size, lanes), f32, "x")
        w = te.placeholder((channels // lanes, kernel, kernel, lanes), f32, "w")
        y, z = te.reduce_axis(kernel), te.reduce_axis(kernel)
        shape = (channels // lanes, pixels, pixels, lanes)

        def term(o: te.Expr, h: te.Expr, v: te.Expr, i: te.Expr) -> te.Expr:
            return te.sum(x[o, h + y, v + z, i] * w[o, y, z, i], (y, z))

        return [x, w], [te.compute(shape, term, "depthwise")]

    return made


KERNELS = {
    "convolution 7x7, 3 to 64, stride 2, 112x112": convolution(3, 64, 112, 7, 2),
    "3x3, 64 to 64, 56x56": convolution(64, 64, 56, 3),
    "3x3, 256 to 256, 14x14": convolution(256, 256, 14, 3),
    "3x3, 512 to 512, 7x7": convolution(512, 512, 7, 3),
    "3x3, 384 to 384, 13x13": convolution(384, 384, 13, 3),
    "1x1, 256 to 64, 56x56": pointwise(256, 64, 56),
    "1x1, 1024 to 256, 14x14": pointwise(1024, 256, 14),
    "1x1, 512 to 2048, 7x7": pointwise(512, 2048, 7),
    "depthwise 3x3, 96, 56x56": depthwise(96, 56, 3),
    "matrices 128x768 and 768x3072": dense(128, 768, 3072),
    "matrices 197x768 and 768x768": dense(197, 768, 768),
    "matrices 196x1024 and 1024x1024": dense(196, 1024, 1024),
    "a row of 2048 and 2048x1000": dense(1, 2048, 1000),
}
"""What computes each, by the lanes of a vector."""


def tile(make: Callable[[int], Stage], registers: VectorRegisters) -> str:
    """Rows and vectors of the register tile that is chosen."""
    func = create_prim_func("kernel", *make(registers.lanes(f32)))
    found = find_tile(next(op for op in func.walk() if isinstance(op, BlockOp) and op.is_reduction), registers)
    return "-" if found is None else f"{found.rows} x {found.columns}"


@dataclass(frozen=True)
class Layer:
    """A convolution of 3x3 taps, as many channels of the result as of the data."""

    images: int
    pixels: int
    channels: int

    def __str__(self) -> str:
        return f"{self.images} x {self.channels} channels, {self.pixels}x{self.pixels}"

    def filtering(self, registers: VectorRegisters) -> str:
        """The tiles of results by which it is computed."""
        shape = (self.images, self.pixels, self.pixels, self.channels, self.channels)
        by = Convolution3x3(*shape, registers.lanes(f32), registers.machine).best(4)
        return "all taps" if by is None else f"{by.tile}x{by.tile}"


LAYERS = (Layer(1, 56, 64), Layer(1, 28, 128), Layer(1, 14, 256), Layer(1, 7, 512), Layer(16, 7, 512))

KEPT = {"a tile of rows of attention": 1, "a band of padded data, a row of a softmax": 2}
"""What is kept -> by how much less than `MachineModel.kept_near` that may be."""
