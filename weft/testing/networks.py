"""More networks of real size to measure with: what others run besides classifiers of images and encoders.

Built operator by operator as PyTorch exports them, random weights from a seed. Each has something that the networks of
`weft.testing.models` have not: gates and wide depthwise kernels (EfficientNet, ConvNeXt), grouped convolutions
(ResNeXt), channels that are shuffled (ShuffleNet v2), transposed convolutions (U-Net, DCGAN), taps that lie apart
(DeepLab), enlarged images and long concatenations (YOLO), one token against a cache (GPT-2), recurrence (LSTM, GRU).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from onnx import ModelProto, TensorProto, ValueInfoProto, helper

from weft.testing.models import GraphBuilder


class NetworkBuilder(GraphBuilder):
    """A graph of convolutions whose batch normalisations are folded already, as exporters for inference do."""

    def conv(
        self,
        x: str,
        inputs: int,
        outputs: int,
        kernel: int = 1,
        stride: int = 1,
        groups: int = 1,
        dilation: int = 1,
        act: str = "relu",
    ) -> str:
        """A convolution with bias that keeps the size (over the stride), and its activation."""
        weight = self.normal(
            outputs, inputs // groups, kernel, kernel, scale=math.sqrt(1.7 / (inputs // groups * kernel * kernel))
        )
        y = self.op(
            "Conv",
            x,
            weight,
            self.normal(outputs, scale=0.05),
            strides=[stride] * 2,
            pads=[dilation * (kernel // 2)] * 4,
            group=groups,
            kernel_shape=[kernel] * 2,
            dilations=[dilation] * 2,
        )
        return self.activation(y, act)

    def split(self, x: str, parts: Sequence[int]) -> list[str]:
        """The parts of `x` along its channels."""
        names = [f"part_{len(self._nodes)}_{i}" for i in range(len(parts))]
        self._nodes.append(helper.make_node("Split", [x, self.constant([*parts])], names, axis=1))
        return names

    def activation(self, x: str, act: str) -> str:
        """`relu`, `silu`, `hardswish`, `sigmoid`, `gelu`; nothing for `none`."""
        if act == "silu":
            return self.op("Mul", x, self.op("Sigmoid", x))
        if act == "gelu":
            return self.gelu(x)
        names = {"relu": "Relu", "sigmoid": "Sigmoid", "hardswish": "HardSwish"}
        return self.op(names[act], x) if act in names else x

    def squeeze_excite(self, x: str, channels: int, squeezed: int, act: str, gate: str) -> str:
        """Channels by a gate that their means decide (Hu et al., 2018)."""
        mean = self.op("GlobalAveragePool", x)
        hidden = self.conv(mean, channels, squeezed, act=act)
        weights = self.conv(hidden, squeezed, channels, act="none")
        return self.op("Mul", x, self.op(gate, weights))

    def classifier(self, x: str, channels: int, classes: int = 1000) -> str:
        """The mean of each channel, and a linear layer."""
        return self.linear(self.op("Flatten", self.op("GlobalAveragePool", x)), channels, classes)


def _image(pixels: int) -> ValueInfoProto:
    return helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, pixels, pixels])


EFFICIENTNET_B0 = (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 40, 2, 2, 5),
    (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
)
"""Expansion, channels, blocks, first stride and kernel of each stage: table 1 of Tan and Le (2019)."""


def efficientnet_b0(pixels: int = 224, seed: int = 0) -> ModelProto:
    """EfficientNet B0 (Tan and Le, 2019)."""
    g, channels = NetworkBuilder(seed), 32
    x = g.conv("image", 3, channels, 3, stride=2, act="silu")
    for expansion, outputs, blocks, stride, kernel in EFFICIENTNET_B0:
        for block in range(blocks):
            step, wide = (stride if block == 0 else 1), channels * expansion
            y = g.conv(x, channels, wide, act="silu") if expansion != 1 else x
            y = g.conv(y, wide, wide, kernel, stride=step, groups=wide, act="silu")
            y = g.squeeze_excite(y, wide, max(1, channels // 4), "silu", "Sigmoid")
            y = g.conv(y, wide, outputs, act="none")
            x = g.op("Add", x, y) if step == 1 and channels == outputs else y
            channels = outputs
    x = g.classifier(g.conv(x, channels, 1280, act="silu"), 1280)
    return g.model([_image(pixels)], x, [1, 1000])


MOBILENET_V3 = (
    (3, 16, 16, False, "relu", 1),
    (3, 64, 24, False, "relu", 2),
    (3, 72, 24, False, "relu", 1),
    (5, 72, 40, True, "relu", 2),
    (5, 120, 40, True, "relu", 1),
    (5, 120, 40, True, "relu", 1),
    (3, 240, 80, False, "hardswish", 2),
    (3, 200, 80, False, "hardswish", 1),
    (3, 184, 80, False, "hardswish", 1),
    (3, 184, 80, False, "hardswish", 1),
    (3, 480, 112, True, "hardswish", 1),
    (3, 672, 112, True, "hardswish", 1),
    (5, 672, 160, True, "hardswish", 2),
    (5, 960, 160, True, "hardswish", 1),
    (5, 960, 160, True, "hardswish", 1),
)
"""Kernel, expanded channels, channels, gate, activation and stride of each block: table 1 of Howard et al. (2019)."""


def mobilenet_v3(pixels: int = 224, seed: int = 0) -> ModelProto:
    """MobileNet v3 large (Howard et al., 2019)."""
    g, channels = NetworkBuilder(seed), 16
    x = g.conv("image", 3, channels, 3, stride=2, act="hardswish")
    for kernel, wide, outputs, gated, act, stride in MOBILENET_V3:
        y = g.conv(x, channels, wide, act=act) if wide != channels else x
        y = g.conv(y, wide, wide, kernel, stride=stride, groups=wide, act=act)
        y = g.squeeze_excite(y, wide, wide // 4 // 8 * 8 or 8, "relu", "HardSigmoid") if gated else y
        y = g.conv(y, wide, outputs, act="none")
        x = g.op("Add", x, y) if stride == 1 and channels == outputs else y
        channels = outputs
    x = g.op("GlobalAveragePool", g.conv(x, channels, 960, act="hardswish"))
    x = g.op("HardSwish", g.linear(g.op("Flatten", x), 960, 1280))
    return g.model([_image(pixels)], g.linear(x, 1280, 1000), [1, 1000])


def shufflenet_v2(pixels: int = 224, seed: int = 0) -> ModelProto:
    """ShuffleNet v2 1.0x (Ma et al., 2018)."""
    g, channels = NetworkBuilder(seed), 24
    x = g.conv("image", 3, channels, 3, stride=2)
    size = pixels // 4
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for outputs, blocks in ((116, 4), (232, 8), (464, 4)):
        half, size = outputs // 2, size // 2
        for block in range(blocks):
            if block == 0:
                left = g.conv(x, channels, channels, 3, stride=2, groups=channels, act="none")
                left, right, inner, step = g.conv(left, channels, half), x, channels, 2
            else:
                left, right = g.split(x, [half, half])
                inner, step = half, 1
            y = g.conv(right, inner, half)
            y = g.conv(y, half, half, 3, stride=step, groups=half, act="none")
            y = g.conv(y, half, half)
            y = g.op("Concat", left, y, axis=1)
            y = g.op("Reshape", y, g.constant([1, 2, half, size, size]))
            y = g.op("Transpose", y, perm=[0, 2, 1, 3, 4])
            x = g.op("Reshape", y, g.constant([1, outputs, size, size]))
        channels = outputs
    return g.model([_image(pixels)], g.classifier(g.conv(x, channels, 1024), 1024), [1, 1000])


def resnext50(pixels: int = 224, seed: int = 0) -> ModelProto:
    """ResNeXt-50 32x4d (Xie et al., 2017)."""
    g, channels = NetworkBuilder(seed), 64
    x = g.conv("image", 3, channels, 7, stride=2)
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for stage, blocks in enumerate((3, 4, 6, 3)):
        wide, outputs = 128 << stage, 256 << stage
        for block in range(blocks):
            stride = 2 if stage and block == 0 else 1
            y = g.conv(x, channels, wide)
            y = g.conv(y, wide, wide, 3, stride=stride, groups=32)
            y = g.conv(y, wide, outputs, act="none")
            x = x if channels == outputs else g.conv(x, channels, outputs, stride=stride, act="none")
            x, channels = g.op("Relu", g.op("Add", y, x)), outputs
    return g.model([_image(pixels)], g.classifier(x, channels), [1, 1000])


def convnext_tiny(pixels: int = 224, seed: int = 0) -> ModelProto:
    """ConvNeXt-T (Liu et al., 2022)."""
    g, channels, size = NetworkBuilder(seed), 96, pixels // 4

    def patch(x: str, inputs: int, outputs: int, kernel: int) -> str:
        weight = g.normal(outputs, inputs, kernel, kernel, scale=1 / math.sqrt(inputs * kernel * kernel))
        return g.op("Conv", x, weight, g.normal(outputs, scale=0.02), strides=[kernel] * 2, kernel_shape=[kernel] * 2)

    def last(x: str) -> str:
        return g.op("Transpose", x, perm=[0, 2, 3, 1])

    def first(x: str) -> str:
        return g.op("Transpose", x, perm=[0, 3, 1, 2])

    x = first(g.layer_norm(last(patch("image", 3, channels, 4)), channels))
    for stage, blocks in enumerate((3, 3, 9, 3)):
        if stage:
            x = patch(first(g.layer_norm(last(x), channels)), channels, channels * 2, 2)
            channels, size = channels * 2, size // 2
        for _ in range(blocks):
            y = g.layer_norm(last(g.conv(x, channels, channels, 7, groups=channels, act="none")), channels)
            y = g.linear(g.gelu(g.linear(y, channels, 4 * channels)), 4 * channels, channels)
            x = g.op("Add", x, first(g.op("Mul", y, g.normal(channels, scale=0.1))))
    x = g.layer_norm(g.op("ReduceMean", x, axes=[2, 3], keepdims=0), channels)
    return g.model([_image(pixels)], g.linear(x, channels, 1000), [1, 1000])


def unet(pixels: int = 256, width: int = 32, seed: int = 0) -> ModelProto:
    """U-Net (Ronneberger et al., 2015), half as wide, with padding."""
    g, skips, channels = NetworkBuilder(seed), list[tuple[str, int]](), 3
    x = "image"
    for level in range(5):
        wide = width << level
        x = g.conv(g.conv(x, channels, wide, 3), wide, wide, 3)
        channels = wide
        if level < 4:
            skips.append((x, wide))
            x = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    for skip, wide in reversed(skips):
        weight = g.normal(channels, wide, 2, 2, scale=math.sqrt(1 / channels))
        up = g.op("ConvTranspose", x, weight, g.normal(wide, scale=0.02), strides=[2, 2], kernel_shape=[2, 2])
        x = g.op("Concat", skip, up, axis=1)
        x = g.conv(g.conv(x, 2 * wide, wide, 3), wide, wide, 3)
        channels = wide
    x = g.conv(x, channels, 2, act="sigmoid")
    return g.model([_image(pixels)], x, [1, 2, pixels, pixels])


def dcgan(width: int = 64, seed: int = 0) -> ModelProto:
    """The generator of DCGAN (Radford et al., 2016): `[1, 100, 1, 1]` in, an image of 64 x 64 pixels out."""
    g, x, channels = NetworkBuilder(seed), "noise", 100
    for outputs, stride, pad in ((8 * width, 1, 0), (4 * width, 2, 1), (2 * width, 2, 1), (width, 2, 1), (3, 2, 1)):
        weight = g.normal(channels, outputs, 4, 4, scale=math.sqrt(stride * stride / (16 * channels)))
        x = g.op(
            "ConvTranspose",
            x,
            weight,
            g.normal(outputs, scale=0.02),
            kernel_shape=[4, 4],
            strides=[stride] * 2,
            pads=[pad] * 4,
        )
        x, channels = g.op("Tanh" if outputs == 3 else "Relu", x), outputs
    noise = helper.make_tensor_value_info("noise", TensorProto.FLOAT, [1, 100, 1, 1])
    return g.model([noise], x, [1, 3, 64, 64])


def deeplab_v3(pixels: int = 256, classes: int = 21, seed: int = 0) -> ModelProto:
    """DeepLab v3 (Chen et al., 2017) on a ResNet-18 whose last two stages have taps that lie apart."""
    g, channels = NetworkBuilder(seed), 64
    x = g.conv("image", 3, channels, 7, stride=2)
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for outputs, stride, dilation in ((64, 1, 1), (128, 2, 1), (256, 1, 2), (512, 1, 4)):
        for block in range(2):
            step = stride if block == 0 else 1
            y = g.conv(x, channels, outputs, 3, stride=step, dilation=dilation if step == 1 else 1)
            y = g.conv(y, outputs, outputs, 3, dilation=dilation, act="none")
            x = x if channels == outputs else g.conv(x, channels, outputs, stride=step, act="none")
            x, channels = g.op("Relu", g.op("Add", x, y)), outputs
    size, width = pixels // 8, channels // 4
    means = g.conv(g.op("GlobalAveragePool", x), channels, width)
    means = g.op("Resize", means, "", "", g.constant([1, width, size, size]), mode="linear")
    branches = [g.conv(x, channels, width), *(g.conv(x, channels, width, 3, dilation=rate) for rate in (6, 12, 18))]
    x = g.conv(g.op("Concat", *branches, means, axis=1), 5 * width, width)
    x = g.conv(x, width, classes, act="none")
    x = g.op("Resize", x, "", g.constant(np.array([1, 1, 8, 8], np.float32)), mode="linear")
    return g.model([_image(pixels)], x, [1, classes, pixels, pixels])


def yolo_v5n(pixels: int = 320, width: int = 16, seed: int = 0) -> ModelProto:
    """YOLO v5 nano: CSP blocks, pooling pyramid, two ways through the scales, three heads put side by side."""
    g = NetworkBuilder(seed)

    def conv(x: str, inputs: int, outputs: int, kernel: int = 1, stride: int = 1) -> str:
        return g.conv(x, inputs, outputs, kernel, stride=stride, act="silu")

    def csp(x: str, inputs: int, outputs: int, blocks: int, shortcut: bool = True) -> str:
        half = outputs // 2
        y = conv(x, inputs, half)
        for _ in range(blocks):
            z = conv(conv(y, half, half), half, half, 3)
            y = g.op("Add", y, z) if shortcut else z
        return conv(g.op("Concat", y, conv(x, inputs, half), axis=1), outputs, outputs)

    def up(x: str) -> str:
        scales = g.constant(np.array([1, 1, 2, 2], np.float32))
        return g.op(
            "Resize", x, "", scales, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"
        )

    w = width
    x = csp(conv(conv("image", 3, w, 5, 2), w, 2 * w, 3, 2), 2 * w, 2 * w, 1)
    small = csp(conv(x, 2 * w, 4 * w, 3, 2), 4 * w, 4 * w, 2)
    middle = csp(conv(small, 4 * w, 8 * w, 3, 2), 8 * w, 8 * w, 3)
    x = csp(conv(middle, 8 * w, 16 * w, 3, 2), 16 * w, 16 * w, 1)
    pooled = [conv(x, 16 * w, 8 * w)]
    for _ in range(3):
        pooled.append(g.op("MaxPool", pooled[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4))
    x = conv(g.op("Concat", *pooled, axis=1), 32 * w, 16 * w)
    top = conv(x, 16 * w, 8 * w)
    x = csp(g.op("Concat", up(top), middle, axis=1), 16 * w, 8 * w, 1, shortcut=False)
    lateral = conv(x, 8 * w, 4 * w)
    fine = csp(g.op("Concat", up(lateral), small, axis=1), 8 * w, 4 * w, 1, shortcut=False)
    x = g.op("Concat", conv(fine, 4 * w, 4 * w, 3, 2), lateral, axis=1)
    medium = csp(x, 8 * w, 8 * w, 1, shortcut=False)
    x = g.op("Concat", conv(medium, 8 * w, 8 * w, 3, 2), top, axis=1)
    coarse = csp(x, 16 * w, 16 * w, 1, shortcut=False)
    heads, cells = list[str](), 0
    for value, channels, size in (
        (fine, 4 * w, pixels // 8),
        (medium, 8 * w, pixels // 16),
        (coarse, 16 * w, pixels // 32),
    ):
        y = g.conv(value, channels, 255, act="none")
        y = g.op("Reshape", y, g.constant([1, 3, 85, size * size]))
        y = g.op("Sigmoid", g.op("Transpose", y, perm=[0, 1, 3, 2]))
        heads.append(g.op("Reshape", y, g.constant([1, 3 * size * size, 85])))
        cells += 3 * size * size
    return g.model([_image(pixels)], g.op("Concat", *heads, axis=1), [1, cells, 85])


def gpt2_decode(past: int = 128, layers: int = 12, hidden: int = 768, heads: int = 12, seed: int = 0) -> ModelProto:
    """One token of GPT-2 small (Radford et al., 2019) against a cache of `past` tokens, without the vocabulary."""
    g, size = NetworkBuilder(seed), hidden // heads
    inputs = [helper.make_tensor_value_info("hidden", TensorProto.FLOAT, [1, 1, hidden])]
    x, split = "hidden", g.constant([1, 1, heads, size])
    for layer in range(layers):
        y = g.layer_norm(x, hidden)
        query, key, value = (
            g.op("Transpose", g.op("Reshape", g.linear(y, hidden, hidden), split), perm=[0, 2, 1, 3]) for _ in range(3)
        )
        for kind in ("key", "value"):
            inputs.append(helper.make_tensor_value_info(f"{kind}_{layer}", TensorProto.FLOAT, [1, heads, past, size]))
        key = g.op("Concat", f"key_{layer}", key, axis=2)
        value = g.op("Concat", f"value_{layer}", value, axis=2)
        scores = g.op("MatMul", query, g.op("Transpose", key, perm=[0, 1, 3, 2]))
        scores = g.op("Div", scores, g.constant(np.float32(math.sqrt(size))))
        mixed = g.op("MatMul", g.op("Softmax", scores, axis=-1), value)
        merged = g.op("Reshape", g.op("Transpose", mixed, perm=[0, 2, 1, 3]), g.constant([1, 1, hidden]))
        x = g.op("Add", x, g.linear(merged, hidden, hidden))
        wide = g.linear(g.layer_norm(x, hidden), hidden, 4 * hidden)
        x = g.op("Add", x, g.linear(g.gelu(wide), 4 * hidden, hidden))
    return g.model(inputs, g.layer_norm(x, hidden), [1, 1, hidden])


def gru(steps: int = 64, width: int = 256, layers: int = 2, seed: int = 0) -> ModelProto:
    """Layers of gated recurrent units that go over a sequence in both directions (Cho et al., 2014)."""
    g, x, inputs, scale = NetworkBuilder(seed), "sequence", width, 1 / math.sqrt(width)
    for _ in range(layers):
        w, r = g.normal(2, 3 * width, inputs, scale=scale), g.normal(2, 3 * width, width, scale=scale)
        bias = g.normal(2, 6 * width, scale=scale)
        y = g.op("GRU", x, w, r, bias, hidden_size=width, direction="bidirectional", linear_before_reset=1)
        x = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3]), g.constant([steps, 1, 2 * width]))
        inputs = 2 * width
    sequence = helper.make_tensor_value_info("sequence", TensorProto.FLOAT, [steps, 1, width])
    return g.model([sequence], x, [steps, 1, 2 * width])


def lstm(steps: int = 64, inputs: int = 256, hidden: int = 512, layers: int = 2, seed: int = 0) -> ModelProto:
    """Two layers of a long short-term memory over a sequence (Hochreiter and Schmidhuber, 1997)."""
    g, x, wide = NetworkBuilder(seed), "sequence", inputs
    for _ in range(layers):
        scale = 1 / math.sqrt(hidden)
        w, r = g.normal(1, 4 * hidden, wide, scale=scale), g.normal(1, 4 * hidden, hidden, scale=scale)
        y = g.op("LSTM", x, w, r, g.normal(1, 8 * hidden, scale=scale), hidden_size=hidden)
        x, wide = g.op("Squeeze", y, g.constant([1])), hidden
    sequence = helper.make_tensor_value_info("sequence", TensorProto.FLOAT, [steps, 1, inputs])
    return g.model([sequence], x, [steps, 1, hidden])


NETWORKS: dict[str, Callable[..., ModelProto]] = {
    "convnext_tiny": convnext_tiny,
    "dcgan": dcgan,
    "deeplab_v3": deeplab_v3,
    "efficientnet_b0": efficientnet_b0,
    "gpt2_decode_128": gpt2_decode,
    "gru_64": gru,
    "lstm_64": lstm,
    "mobilenet_v3": mobilenet_v3,
    "resnext50": resnext50,
    "shufflenet_v2": shufflenet_v2,
    "unet_256": unet,
    "yolo_v5n_320": yolo_v5n,
}
"""Those of `bench/make_models.py`, at their full size."""
