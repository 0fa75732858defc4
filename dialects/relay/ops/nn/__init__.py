"""Operators of neural networks: `relay.nn`."""

from . import activation, conv_transpose, convolution, dense, norm, pool, pool_gradient, spatial

OPS = [
    *activation.OPS,
    *conv_transpose.OPS,
    *convolution.OPS,
    *dense.OPS,
    *norm.OPS,
    *pool.OPS,
    *pool_gradient.OPS,
    *spatial.OPS,
]
