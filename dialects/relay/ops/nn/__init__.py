"""Operators of neural networks: `relay.nn`."""

FAMILIES = (
    "activation", "dense", "padding", "upsampling", "spatial", "norm", "convolution", "pool", "adaptive_pool",
    "backward_weight", "conv_transpose", "deformable", "loss", "pool_gradient", "winograd", "sparse", "sparse_conv2d",
    "planes", "correlation", "dense_few_bits",
)  # fmt: skip
"""What is met most often stands first."""
