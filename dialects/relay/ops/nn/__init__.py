"""Operators of neural networks: `relay.nn`."""

from . import (
    activation,
    backward_weight,
    conv_transpose,
    convolution,
    deformable,
    dense,
    loss,
    norm,
    pool,
    pool_gradient,
    spatial,
)

OPS = [
    *activation.OPS,
    *backward_weight.OPS,
    *conv_transpose.OPS,
    *convolution.OPS,
    *deformable.OPS,
    *dense.OPS,
    *loss.OPS,
    *norm.OPS,
    *pool.OPS,
    *pool_gradient.OPS,
    *spatial.OPS,
]
