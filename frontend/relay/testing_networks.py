"""Further models of `relay.testing`: those of images that TVM has beside ResNet and MobileNet.

Widths and depths are those of the papers; parameters are named after their layers.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.relay.core import FuncOp
from ...dialects.support.diagnostics import UsageError
from .expr import Expr, var
from .namespace import OperatorNamespace, find
from .testing_layers import Layers, function_of

nn = OperatorNamespace("nn")
concatenate = find("concatenate")


def dqn(
    batch_size: int = 1, num_actions: int = 18, image_shape: Sequence[int] = (4, 84, 84), dtype: str = "float32"
) -> FuncOp:
    """The network that plays games of Atari (Mnih et al., 2015): three convolutions, two dense layers."""
    layers, data = Layers(dtype), var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x: Expr = data
    for number, (channels, kernel, stride) in enumerate(((32, 8, 4), (64, 4, 2), (64, 3, 1)), 1):
        weight = layers.weight(f"conv{number}_weight", channels, x.shape[1], kernel, kernel)
        x = nn.conv2d(x, weight, (stride, stride), channels=channels)
        x = nn.relu(nn.bias_add(x, layers.weight(f"conv{number}_bias", channels)))
    x = nn.relu(layers.dense(nn.batch_flatten(x), 512, "dense1"))
    return function_of(layers.dense(x, num_actions, "dense2"), data)


def dcgan(
    batch_size: int = 1,
    random_len: int = 100,
    oshape: Sequence[int] = (3, 64, 64),
    ngf: int = 128,
    code: Sequence[int] | None = None,
    dtype: str = "float32",
) -> FuncOp:
    """The generator of images of 64 x 64 (Radford et al., 2016): a dense layer, then transposed convolutions, of which
    each doubles the extents.

    Raises:
        UsageError: `oshape` is of other extents.
    """
    if tuple(oshape[1:]) != (64, 64):
        raise UsageError(f"the generator makes images of 64 x 64, not of {oshape[1]} x {oshape[2]}")
    layers = Layers(dtype)
    data = var("data", shape=(batch_size, random_len) if code is None else tuple(code), dtype=dtype)
    weight = layers.weight("g1_weight", 4 * 4 * ngf * 8, data.shape[-1])
    x = find("reshape")(nn.dense(data, weight), (-1, ngf * 8, 4, 4))
    x = nn.relu(layers.batch_norm(x, "g1_bn"))
    for number, channels in enumerate((ngf * 4, ngf * 2, ngf, oshape[0]), 2):
        weight = layers.weight(f"g{number}_weight", x.shape[1], channels, 4, 4)
        x = nn.conv2d_transpose(x, weight, (2, 2), (1, 1), kernel_size=(4, 4), channels=channels, kernel_layout="IOHW")
        if channels != oshape[0] or number < 5:
            x = nn.relu(layers.batch_norm(x, f"g{number}_bn"))
    return function_of(find("tanh")(x), data)


_SQUEEZED: dict[str, tuple[int, int, tuple[int | None, ...]]] = {
    "1.0": (7, 96, (16, 16, 32, None, 32, 48, 48, 64, None, 64)),
    "1.1": (3, 64, (16, 16, None, 32, 32, None, 48, 48, 64, 64)),
}
"""The first kernel and its channels, then to how many channels each module narrows; `None` is a pool."""


def squeezenet(
    batch_size: int = 1,
    num_classes: int = 1000,
    version: str = "1.0",
    image_shape: Sequence[int] = (3, 224, 224),
    dtype: str = "float32",
) -> FuncOp:
    """SqueezeNet (Iandola et al., 2016), of version 1.0 or 1.1: modules that narrow the channels, then widen them.

    Raises:
        UsageError: there is no such version.
    """
    if version not in _SQUEEZED:
        raise UsageError(f"there is no SqueezeNet {version}; there are {' and '.join(_SQUEEZED)}")
    kernel, channels, modules = _SQUEEZED[version]
    layers, data = Layers(dtype), var("data", shape=(batch_size, *image_shape), dtype=dtype)

    def conv(x: Expr, channels: int, kernel: int, name: str, stride: int = 1, pad: int = 0) -> Expr:
        weight = layers.weight(f"{name}_weight", channels, x.shape[1], kernel, kernel)
        x = nn.conv2d(x, weight, (stride, stride), (pad, pad), channels=channels, kernel_size=(kernel, kernel))
        return nn.relu(nn.bias_add(x, layers.weight(f"{name}_bias", channels)))

    x = nn.max_pool2d(conv(data, channels, kernel, "conv1", 2), (3, 3), (2, 2))
    number = 2
    for module in modules:
        if module is None:
            x = nn.max_pool2d(x, (3, 3), (2, 2))
            continue
        squeezed = conv(x, module, 1, f"fire{number}_squeeze")
        left = conv(squeezed, 4 * module, 1, f"fire{number}_expand1x1")
        right = conv(squeezed, 4 * module, 3, f"fire{number}_expand3x3", pad=1)
        x, number = concatenate([left, right], axis=1), number + 1
    x = nn.global_avg_pool2d(conv(nn.dropout(x, 0.5), num_classes, 1, "conv_final"))
    return function_of(nn.softmax(nn.batch_flatten(x)), data)


_DENSE = {121: (64, 32, (6, 12, 24, 16)), 161: (96, 48, (6, 12, 36, 24)), 169: (64, 32, (6, 12, 32, 32)),
          201: (64, 32, (6, 12, 48, 32))}  # fmt: skip


def densenet(
    densenet_size: int = 121,
    classes: int = 1000,
    batch_size: int = 4,
    image_shape: Sequence[int] = (3, 224, 224),
    dtype: str = "float32",
) -> FuncOp:
    """DenseNet (Huang et al., 2017), of 121, 161, 169 or 201 layers: every layer of a block reads all before it.

    Raises:
        UsageError: there is none of so many layers.
    """
    if densenet_size not in _DENSE:
        raise UsageError(f"there is no DenseNet of {densenet_size} layers; there are {', '.join(map(str, _DENSE))}")
    features, growth, blocks = _DENSE[densenet_size]
    layers, data = Layers(dtype), var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x = nn.relu(layers.batch_norm(layers.conv2d(data, features, 7, "conv0", 2), "bn0"))
    x = nn.max_pool2d(x, (3, 3), (2, 2), padding=(1, 1))
    for block, count in enumerate(blocks, 1):
        for number in range(1, count + 1):
            name = f"block{block}_layer{number}"
            y = layers.conv2d(nn.relu(layers.batch_norm(x, f"{name}_bn1")), 4 * growth, 1, f"{name}_conv1")
            y = layers.conv2d(nn.relu(layers.batch_norm(y, f"{name}_bn2")), growth, 3, f"{name}_conv2")
            x = concatenate([x, y], axis=1)
        if block < len(blocks):
            y = nn.relu(layers.batch_norm(x, f"transition{block}_bn"))
            x = nn.avg_pool2d(layers.conv2d(y, y.shape[1] // 2, 1, f"transition{block}_conv"), (2, 2), (2, 2))
    x = nn.batch_flatten(nn.global_avg_pool2d(nn.relu(layers.batch_norm(x, "bn1"))))
    return function_of(layers.dense(x, classes, "dense"), data)


class _Inception:
    """Parts of Inception v3: convolutions, each with batch normalisation and ReLU, side by side."""

    def __init__(self, layers: Layers):
        self.layers = layers

    def conv(
        self, x: Expr, channels: int, kernel: Sequence[int], name: str, stride: int = 1, pad: Sequence[int] = (0, 0)
    ):
        weight = self.layers.weight(f"{name}_weight", channels, x.shape[1], *kernel)
        y = nn.conv2d(x, weight, (stride, stride), pad, channels=channels, kernel_size=kernel)
        return nn.relu(self.layers.batch_norm(y, f"{name}_bn"))

    def same(self, x: Expr, steps: Sequence[tuple[int, int, int]], name: str) -> Expr:
        """Convolutions one after the other that keep the extents: channels, and the kernel's height and width."""
        for number, (channels, height, width) in enumerate(steps):
            x = self.conv(x, channels, (height, width), f"{name}_{number}", pad=(height // 2, width // 2))
        return x

    def pooled(self, x: Expr, channels: int, name: str) -> Expr:
        y = nn.avg_pool2d(x, (3, 3), (1, 1), padding=(1, 1), count_include_pad=True)
        return self.conv(y, channels, (1, 1), f"{name}_pool")

    def inception_a(self, x: Expr, pooled: int, name: str) -> Expr:
        return concatenate(
            [
                self.same(x, [(64, 1, 1)], f"{name}_a"),
                self.same(x, [(48, 1, 1), (64, 5, 5)], f"{name}_b"),
                self.same(x, [(64, 1, 1), (96, 3, 3), (96, 3, 3)], f"{name}_c"),
                self.pooled(x, pooled, name),
            ],
            axis=1,
        )

    def narrower(self, x: Expr, ways: Sequence[tuple[Sequence[tuple[int, int, int]], int]], name: str) -> Expr:
        """Half the extents: each way ends in a convolution of 3 x 3 and stride 2; one is a pool."""
        made = [
            self.conv(self.same(x, steps, f"{name}_{number}"), last, (3, 3), f"{name}_{number}_last", 2)
            for number, (steps, last) in enumerate(ways)
        ]
        return concatenate([*made, nn.max_pool2d(x, (3, 3), (2, 2))], axis=1)

    def inception_c(self, x: Expr, narrow: int, name: str) -> Expr:
        n = narrow
        return concatenate(
            [
                self.same(x, [(192, 1, 1)], f"{name}_a"),
                self.same(x, [(n, 1, 1), (n, 1, 7), (192, 7, 1)], f"{name}_b"),
                self.same(x, [(n, 1, 1), (n, 7, 1), (n, 1, 7), (n, 7, 1), (192, 1, 7)], f"{name}_c"),
                self.pooled(x, 192, name),
            ],
            axis=1,
        )

    def inception_e(self, x: Expr, name: str) -> Expr:
        b = self.same(x, [(384, 1, 1)], f"{name}_b")
        c = self.same(x, [(448, 1, 1), (384, 3, 3)], f"{name}_c")
        forks = [self.same(y, [(384, *kernel)], f"{name}_{part}{kernel[0]}")
                 for part, y in (("b", b), ("c", c)) for kernel in ((1, 3), (3, 1))]  # fmt: skip
        return concatenate([self.same(x, [(320, 1, 1)], f"{name}_a"), *forks, self.pooled(x, 192, name)], axis=1)


def inception_v3(
    batch_size: int = 1,
    num_classes: int = 1000,
    image_shape: Sequence[int] = (3, 299, 299),
    dtype: str = "float32",
) -> FuncOp:
    """Inception v3 (Szegedy et al., 2016)."""
    layers, data = Layers(dtype), var("data", shape=(batch_size, *image_shape), dtype=dtype)
    net = _Inception(layers)
    x = net.conv(net.conv(data, 32, (3, 3), "conv", 2), 32, (3, 3), "conv_1")
    x = nn.max_pool2d(net.conv(x, 64, (3, 3), "conv_2", pad=(1, 1)), (3, 3), (2, 2))
    x = net.conv(net.conv(x, 80, (1, 1), "conv_3"), 192, (3, 3), "conv_4")
    x = nn.max_pool2d(x, (3, 3), (2, 2))
    for number, pooled in enumerate((32, 64, 64)):
        x = net.inception_a(x, pooled, f"mixed_{number}")
    x = net.narrower(x, [((), 384), (((64, 1, 1), (96, 3, 3)), 96)], "mixed_3")
    for number, narrow in enumerate((128, 160, 160, 192), 4):
        x = net.inception_c(x, narrow, f"mixed_{number}")
    x = net.narrower(x, [(((192, 1, 1),), 320), (((192, 1, 1), (192, 1, 7), (192, 7, 1)), 192)], "mixed_8")
    for number in (9, 10):
        x = net.inception_e(x, f"mixed_{number}")
    x = nn.batch_flatten(nn.avg_pool2d(x, (8, 8), (1, 1)))
    return function_of(nn.softmax(layers.dense(x, num_classes, "fc1")), data)
