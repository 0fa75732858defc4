"""Operators on quantised tensors: `relay.qnn`."""

from . import arithmetic, functions, products, quantization

OPS = [*quantization.OPS, *arithmetic.OPS, *products.OPS, *functions.OPS]
