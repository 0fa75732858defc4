"""Networks that `weft.testing.networks` has no like of: groups, windows of attention, and sequences of samples.

RegNet Y has groups of 24 channels, one and a half vectors, and gates. MobileViT and Swin attend within windows, which
are batches of few rows; a Swin transformer masks what its shifted windows must not see by -100. A temporal
convolutional network has dilated taps along one axis that see the past only; a vocoder makes samples by transposed
ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from onnx import ModelProto, TensorProto, helper

from weft.testing.networks import NetworkBuilder


class SequenceBuilder(NetworkBuilder):
    """Convolutions along one axis, and attention of batches."""

    def conv1d(
        self, x: str, inputs: int, outputs: int, kernel: int, dilation: int = 1, pads: tuple[int, int] | None = None
    ) -> str:
        """A convolution with bias that keeps the length, unless `pads` are others."""
        weight = self.normal(outputs, inputs, kernel, scale=math.sqrt(1.7 / (inputs * kernel)))
        bias, pad = self.normal(outputs, scale=0.05), dilation * (kernel // 2)
        pads = (pad, pad) if pads is None else pads
        return self.op("Conv", x, weight, bias, kernel_shape=[kernel], dilations=[dilation], pads=pads)

    def windows(self, x: str, shape: tuple[int, int, int], heads: int, *added: str) -> str:
        """Self-attention in windows, `x` of `shape` `[windows, tokens, hidden]`; what is `added` to the scores."""
        (count, tokens, hidden), size = shape, shape[2] // heads
        split = self.constant([count, tokens, heads, size])
        query, key, value = (
            self.op("Transpose", self.op("Reshape", self.linear(x, hidden, hidden), split), perm=perm)
            for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
        )
        scores = self.op("Mul", self.op("MatMul", query, key), self.constant(np.float32(1 / math.sqrt(size))))
        for each in added:
            scores = self.op("Add", scores, each)
        mixed = self.op("Transpose", self.op("MatMul", self.op("Softmax", scores, axis=-1), value), perm=[0, 2, 1, 3])
        return self.linear(self.op("Reshape", mixed, self.constant([*shape])), hidden, hidden)


def regnet_y(pixels: int = 224, seed: int = 0) -> ModelProto:
    """RegNet Y (Radosavovic et al., 2020) of seven blocks, groups of 24 channels."""
    g, channels = NetworkBuilder(seed), 32
    x = g.conv("image", 3, channels, 3, stride=2)
    for outputs, blocks in ((72, 1), (168, 2), (408, 3), (912, 1)):
        for block in range(blocks):
            step = 2 if block == 0 else 1
            y = g.conv(g.conv(x, channels, outputs), outputs, outputs, 3, stride=step, groups=outputs // 24)
            y = g.squeeze_excite(y, outputs, channels // 4, "relu", "Sigmoid")
            y = g.conv(y, outputs, outputs, act="none")
            x = x if step == 1 else g.conv(x, channels, outputs, stride=2, act="none")
            x, channels = g.op("Relu", g.op("Add", x, y)), outputs
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, pixels, pixels])
    return g.model([image], g.classifier(x, channels), [1, 1000])


def swin(pixels: int = 224, hidden: int = 96, window: int = 7, seed: int = 0) -> ModelProto:
    """The first stage of a Swin transformer (Liu et al., 2021): windows as they stand, and shifted ones, masked."""
    g, size, heads = SequenceBuilder(seed), pixels // 4, hidden // 32
    tokens, side = window * window, size // window
    weight = g.normal(hidden, 3, 4, 4, scale=0.1)
    x = g.op("Conv", "image", weight, g.normal(hidden, scale=0.02), strides=[4, 4], kernel_shape=[4, 4])
    x = g.op("Reshape", g.op("Transpose", x, perm=[0, 2, 3, 1]), g.constant([1, size, size, hidden]))

    def rolled(y: str, axis: int, by: int) -> str:
        ends = [g.op("Slice", y, *(g.constant([n]) for n in (*part, axis))) for part in ((by, size), (0, by))]
        return g.op("Concat", *ends, axis=axis)

    for shift in (0, window // 2):
        y = g.layer_norm(x, hidden)
        y = rolled(rolled(y, 1, shift), 2, shift) if shift else y
        y = g.op("Reshape", y, g.constant([1, side, window, side, window, hidden]))
        y = g.op("Reshape", g.op("Transpose", y, perm=[0, 1, 3, 2, 4, 5]), g.constant([side * side, tokens, hidden]))
        added = [g.normal(1, heads, tokens, tokens, scale=0.1)]
        if shift:
            region = np.add.outer(*(np.arange(size) // max(size - shift, 1) * n for n in (1, 2)))
            seen = region.reshape(side, window, side, window).transpose(0, 2, 1, 3).reshape(side * side, 1, tokens)
            hidden_from = seen != seen.transpose(0, 2, 1)
            added.append(g.constant(np.where(hidden_from, -100, 0).astype(np.float32)[:, None]))
        y = g.windows(y, (side * side, tokens, hidden), heads, *added)
        y = g.op("Reshape", y, g.constant([1, side, side, window, window, hidden]))
        y = g.op("Reshape", g.op("Transpose", y, perm=[0, 1, 3, 2, 4, 5]), g.constant([1, size, size, hidden]))
        x = g.op("Add", x, rolled(rolled(y, 1, size - shift), 2, size - shift) if shift else y)
        wide = g.gelu(g.linear(g.layer_norm(x, hidden), hidden, 4 * hidden))
        x = g.op("Add", x, g.linear(wide, 4 * hidden, hidden))
    x = g.op("ReduceMean", g.layer_norm(x, hidden), axes=[1, 2], keepdims=0)
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, pixels, pixels])
    return g.model([image], g.linear(x, hidden, 1000), [1, 1000])


def mobile_vit(pixels: int = 256, seed: int = 0) -> ModelProto:
    """A block of MobileViT (Mehta and Rastegari, 2022) on 64 channels: pixels attend to those at their like places."""
    g, channels, hidden, size = SequenceBuilder(seed), 64, 96, pixels // 8
    x = g.conv(g.conv("image", 3, 16, 3, stride=2, act="silu"), 16, 48, 3, stride=2, act="silu")
    x = g.conv(x, 48, channels, 3, stride=2, act="silu")
    half = size // 2
    y = g.conv(g.conv(x, channels, channels, 3, act="silu"), channels, hidden, act="none")
    y = g.op("Transpose", g.op("Reshape", y, g.constant([hidden * half, 2, half, 2])), perm=[0, 2, 1, 3])
    y = g.op("Transpose", g.op("Reshape", y, g.constant([1, hidden, half * half, 4])), perm=[0, 3, 2, 1])
    y = g.op("Reshape", y, g.constant([4, half * half, hidden]))
    y = g.op("Add", y, g.windows(g.layer_norm(y, hidden), (4, half * half, hidden), 4))
    wide = g.activation(g.linear(g.layer_norm(y, hidden), hidden, 2 * hidden), "silu")
    y = g.layer_norm(g.op("Add", y, g.linear(wide, 2 * hidden, hidden)), hidden)
    y = g.op("Transpose", g.op("Reshape", y, g.constant([1, 4, half * half, hidden])), perm=[0, 3, 2, 1])
    y = g.op("Transpose", g.op("Reshape", y, g.constant([hidden * half, half, 2, 2])), perm=[0, 2, 1, 3])
    y = g.conv(g.op("Reshape", y, g.constant([1, hidden, size, size])), hidden, channels, act="silu")
    x = g.conv(g.op("Concat", x, y, axis=1), 2 * channels, channels, 3, act="silu")
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, pixels, pixels])
    return g.model([image], g.classifier(x, channels), [1, 1000])


def tcn(length: int = 400, channels: int = 64, seed: int = 0) -> ModelProto:
    """A temporal convolutional network (Bai et al., 2018) of four levels."""
    g, x, inputs = SequenceBuilder(seed), "sequence", 8
    for level in range(4):
        y, width, past = x, inputs, (2 << level, 0)
        for _ in range(2):
            y, width = g.op("Relu", g.conv1d(y, width, channels, 3, 1 << level, past)), channels
        kept = x if inputs == channels else g.conv1d(x, inputs, channels, 1)
        x, inputs = g.op("Relu", g.op("Add", y, kept)), channels
    sequence = helper.make_tensor_value_info("sequence", TensorProto.FLOAT, [1, 8, length])
    return g.model([sequence], g.conv1d(x, channels, 10, 1), [1, 10, length])


def vocoder(frames: int = 40, channels: int = 256, seed: int = 0) -> ModelProto:
    """The generator of HiFi-GAN (Kong et al., 2020), two stages of it: 32 samples of each frame."""
    g, length = SequenceBuilder(seed), frames
    x = g.conv1d("mel", 80, channels, 7)
    for stride in (8, 4):
        scale = 1 / math.sqrt(2 * channels)
        weight, bias = g.normal(channels, channels // 2, 2 * stride, scale=scale), g.normal(channels // 2, scale=0.1)
        pads, x = [stride // 2] * 2, g.op("LeakyRelu", x, alpha=0.1)
        x = g.op("ConvTranspose", x, weight, bias, kernel_shape=[2 * stride], strides=[stride], pads=pads)
        channels, length = channels // 2, length * stride
        branches: list[str] = []
        for kernel in (3, 7):
            y = x
            for dilation in (1, 3):
                z = g.conv1d(g.op("LeakyRelu", y, alpha=0.1), channels, channels, kernel, dilation)
                y = g.op("Add", y, g.conv1d(g.op("LeakyRelu", z, alpha=0.1), channels, channels, kernel))
            branches.append(y)
        x = g.op("Add", *branches)
    mel = helper.make_tensor_value_info("mel", TensorProto.FLOAT, [1, 80, frames])
    return g.model([mel], g.op("Tanh", g.conv1d(x, channels, 1, 7)), [1, 1, length])


FURTHER_NETWORKS: dict[str, Callable[..., ModelProto]] = {
    "mobile_vit": mobile_vit,
    "regnet_y": regnet_y,
    "swin": swin,
    "tcn": tcn,
    "vocoder": vocoder,
}
"""Those of `bench/make_models.py`, at their full size."""
