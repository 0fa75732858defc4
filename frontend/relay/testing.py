"""Models to try things on, with seeded random parameters: `relay.testing` of TVM.

    module, params = relay.testing.resnet.get_workload(num_layers=18)
    executable = weft.compile(module, params=params)

Each has `get_net(...)`, which gives the function, and `get_workload(...)`, which gives a module and its parameters by
name; the input is called `data`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Generic, ParamSpec, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from ...dialects.relay.base import tensor
from ...dialects.relay.core import FuncOp
from ...dialects.relay.functions import name_of
from ...dialects.support.arguments import checked
from ...dialects.support.dtypes import numpy_dtype
from ...dialects.support.nd import as_nd
from . import testing_networks
from .expr import Expr, Operand, const, var
from .module import IRModule
from .namespace import OperatorNamespace, find
from .nat import count as count
from .nat import make_nat_expr as make_nat_expr
from .nat import make_nat_value as make_nat_value
from .op_attrs import TempOpAttr as TempOpAttr
from .testing_layers import Layers, function_of

NDArray: TypeAlias = npt.NDArray[np.generic]
P = ParamSpec("P")

nn = OperatorNamespace("nn")


@checked
def create_workload(
    net: FuncOp | Operand, initializer: Callable[[str, NDArray], object] | None = None, seed: int = 0
) -> tuple[IRModule, dict[str, NDArray]]:
    """A module with `net` as `@main`, and an array for each parameter but `data`, `data1`, ...

    Weights of convolutions are normally distributed with the variance of He et al. (2015), those of dense layers with a
    smaller one; scales and variances are positive, around 1. An `initializer` is given the name of each parameter, and
    an array of zeros that it fills.
    """
    rng = np.random.default_rng(seed)
    module = IRModule.from_expr(net)
    params: dict[str, NDArray] = {}
    for argument in module["main"].body.block.args:
        name, type = name_of(argument), tensor(argument)
        if name.rstrip("0123456789") == "data":
            continue
        if initializer is None:
            params[name] = as_nd(_initial(name, type.get_shape(), rng).astype(numpy_dtype(type.element_type)))
        else:
            params[name] = as_nd(np.zeros(type.get_shape(), numpy_dtype(type.element_type)))
            initializer(name, params[name])
    return module, params


def _initial(name: str, shape: Sequence[int], rng: np.random.Generator) -> NDArray:
    if name.endswith(("gamma", "var")):
        return rng.uniform(0.8, 1.2, shape)
    if len(shape) < 2 or name.endswith(("beta", "mean", "bias")):
        return rng.normal(0, 0.05, shape)
    gain = 2.0 if len(shape) > 2 else 0.1  # dense layers: logits are to be small, or a softmax would saturate
    return rng.normal(0, math.sqrt(gain / math.prod(shape[1:])), shape)


@dataclass(frozen=True)
class Workload(Generic[P]):
    """One model. `get_net` makes its function; `get_workload` that in a module, with parameters from a seed of 0."""

    get_net: Callable[P, FuncOp]

    def get_workload(self, *args: P.args, **kwargs: P.kwargs) -> tuple[ModuleOp, dict[str, NDArray]]:
        return create_workload(self.get_net(*args, **kwargs))


def _mlp(
    batch_size: int = 1, num_classes: int = 10, image_shape: tuple[int, ...] = (1, 28, 28), dtype: str = "float32"
) -> FuncOp:
    """A perceptron of three layers."""
    layers, data = Layers(dtype), var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x = nn.relu(layers.dense(nn.batch_flatten(data), 128, "fc1"))
    x = nn.relu(layers.dense(x, 64, "fc2"))
    return function_of(nn.softmax(layers.dense(x, num_classes, "fc3")), data)


_RESNETS = {18: ((2, 2, 2, 2), False), 34: ((3, 4, 6, 3), False), 50: ((3, 4, 6, 3), True), 101: ((3, 4, 23, 3), True)}


def _resnet(
    batch_size: int = 1,
    num_classes: int = 1000,
    num_layers: int = 18,
    image_shape: tuple[int, int, int] = (3, 224, 224),
    dtype: str = "float32",
) -> FuncOp:
    """A residual network before activation (He et al., 2016), of 18, 34, 50 or 101 layers; images of at most 32 rows
    are not made smaller before the first of them.

    Raises:
        ValueError: there is none of so many layers.
    """
    if num_layers not in _RESNETS:
        known = ", ".join(map(str, _RESNETS))
        raise ValueError(f"there is no residual network of {num_layers} layers; there are those of {known}")
    units, bottleneck = _RESNETS[num_layers]
    layers, data = Layers(dtype), var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x = layers.batch_norm(data, "bn_data", scale=False)
    if image_shape[1] <= 32:
        x = layers.conv2d(x, 64, 3, "conv0")
    else:
        x = nn.relu(layers.batch_norm(layers.conv2d(x, 64, 7, "conv0", 2), "bn0"))
        x = nn.max_pool2d(x, (3, 3), (2, 2), padding=(1, 1))
    for stage, units_of_stage in enumerate(units):
        channels = 64 * 2**stage * (4 if bottleneck else 1)
        for unit in range(units_of_stage):
            name, stride = f"stage{stage + 1}_unit{unit + 1}", 2 if stage and not unit else 1
            y = nn.relu(layers.batch_norm(x, f"{name}_bn1"))
            shortcut = x if unit else layers.conv2d(y, channels, 1, f"{name}_sc", stride)
            if bottleneck:
                y = layers.conv2d(y, channels // 4, 1, f"{name}_conv1")
                y = nn.relu(layers.batch_norm(y, f"{name}_bn2"))
                y = layers.conv2d(y, channels // 4, 3, f"{name}_conv2", stride)
                y = nn.relu(layers.batch_norm(y, f"{name}_bn3"))
                y = layers.conv2d(y, channels, 1, f"{name}_conv3")
            else:
                y = layers.conv2d(y, channels, 3, f"{name}_conv1", stride)
                y = nn.relu(layers.batch_norm(y, f"{name}_bn2"))
                y = layers.conv2d(y, channels, 3, f"{name}_conv2")
            x = y + shortcut
    x = nn.global_avg_pool2d(nn.relu(layers.batch_norm(x, "bn1")))
    return function_of(nn.softmax(layers.dense(nn.batch_flatten(x), num_classes, "fc1")), data)


_MOBILENET = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *(((512, 1),) * 5), (1024, 2), (1024, 1))


def _mobilenet(
    batch_size: int = 1,
    num_classes: int = 1000,
    image_shape: tuple[int, int, int] = (3, 224, 224),
    dtype: str = "float32",
) -> FuncOp:
    """MobileNet (Howard et al., 2017): depthwise convolutions and such of one pixel in turns."""
    layers, data = Layers(dtype), var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x = nn.relu(layers.batch_norm(layers.conv2d(data, 32, 3, "conv0", 2), "bn0"))
    for number, (channels, stride) in enumerate(_MOBILENET, 1):
        before = x.shape[1]
        x = layers.conv2d(x, before, 3, f"depthwise{number}", stride, groups=before)
        x = nn.relu(layers.batch_norm(x, f"depthwise{number}_bn"))
        x = nn.relu(layers.batch_norm(layers.conv2d(x, channels, 1, f"pointwise{number}"), f"pointwise{number}_bn"))
    x = nn.batch_flatten(nn.global_avg_pool2d(x))
    return function_of(nn.softmax(layers.dense(x, num_classes, "fc")), data)


def _lstm(iterations: int = 4, num_hidden: int = 16, batch_size: int = 1, dtype: str = "float32") -> FuncOp:
    """A recurrent network of long short-term memory (Hochreiter and Schmidhuber, 1997), as many steps as asked for one
    after the other, each with data (`data`, `data1`, ...) and weights of its own, as TVM's; gives what the last puts
    out."""
    layers, width = Layers(dtype), 4 * num_hidden

    def gates(x: Expr, name: str) -> Expr:
        weight, bias = layers.weight(f"{name}_weight", width, num_hidden), layers.weight(f"{name}_bias", width)
        return nn.bias_add(nn.dense(x, weight, units=width), bias, axis=-1)

    hidden = memory = const(np.zeros((batch_size, num_hidden)), dtype)
    inputs = [
        var("data" if step == 0 else f"data{step}", shape=(batch_size, num_hidden), dtype=dtype)
        for step in range(iterations)
    ]
    for step, data in enumerate(inputs):
        both = gates(data, f"i2h_{step}") + gates(hidden, f"h2h_{step}")
        taken, forgotten, new, shown = find("split")(both, 4, axis=1)
        taken, forgotten, shown = (find("sigmoid")(gate) for gate in (taken, forgotten, shown))
        memory = forgotten * memory + taken * find("tanh")(new)
        hidden = shown * find("tanh")(memory)
    return function_of(hidden, *inputs)


def _synthetic(
    input_shape: tuple[int, int, int, int] = (1, 3, 24, 12), dtype: str = "float32", wtype: str | None = None
) -> FuncOp:
    """A small network of many kinds of operators: twice, a dense layer over rows beside a convolution; between these a
    bias and a batch normalisation."""
    layers, data = Layers(wtype or dtype), var("data", shape=input_shape, dtype=dtype)
    _, channels, _, width = input_shape

    def block(x: Expr, dense: str, conv: str) -> Expr:
        rows = find("reshape")(x, (-1, width))
        rows = nn.relu(nn.dense(rows, layers.weight(f"{dense}_weight", width, width), units=width))
        image = nn.softmax(layers.conv2d(x, channels, 3, conv))
        return find("reshape_like")(rows, x) + image

    x = nn.bias_add(block(data, "dense", "conv"), layers.weight("bias", channels))
    return function_of(block(layers.batch_norm(x, "batch_norm"), "dense2", "conv2"), data)


mlp = Workload(_mlp)
synthetic = Workload(_synthetic)
temp_op_attr = ModuleType("weft.relay.testing.temp_op_attr", "The class, by the module that TVM has it in.")
vars(temp_op_attr).update(TempOpAttr=TempOpAttr)
init = ModuleType("weft.relay.testing.init", "The function, by the module that TVM has it in.")
vars(init).update(create_workload=create_workload)
resnet = Workload(_resnet)
mobilenet = Workload(_mobilenet)
lstm = Workload(_lstm)
dcgan = Workload(testing_networks.dcgan)
densenet = Workload(testing_networks.densenet)
dqn = Workload(testing_networks.dqn)
inception_v3 = Workload(testing_networks.inception_v3)
squeezenet = Workload(testing_networks.squeezenet)
