"""The `relay` dialect: TVM's Relay graph language in SSA form."""

from xdsl.ir import Dialect

from . import (
    annotation,
    broadcast,
    core,
    creation,
    elementwise,
    gather,
    image,
    layout,
    nn_activation,
    nn_conv_transpose,
    nn_convolution,
    nn_dense,
    nn_norm,
    nn_pool,
    nn_spatial,
    reduce,
    slicing,
    tiling,
    transcendental,
    transform,
    vision,
)
from .attributes import ResourceAttr

Relay = Dialect(
    "relay",
    [
        *core.OPS,
        *elementwise.OPS,
        *transcendental.OPS,
        *broadcast.OPS,
        *reduce.OPS,
        *transform.OPS,
        *slicing.OPS,
        *tiling.OPS,
        *gather.OPS,
        *creation.OPS,
        *annotation.OPS,
        *image.OPS,
        *layout.OPS,
        *nn_activation.OPS,
        *nn_conv_transpose.OPS,
        *nn_convolution.OPS,
        *nn_dense.OPS,
        *nn_norm.OPS,
        *nn_pool.OPS,
        *nn_spatial.OPS,
        *vision.OPS,
    ],
    [ResourceAttr],
)
