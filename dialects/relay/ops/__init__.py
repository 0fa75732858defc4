"""Relay's operators, a module for each family."""

FAMILIES = (
    "elementwise", "broadcast", "transcendental", "reduce", "arg_reduce", "collapse", "transform", "slicing", "tiling",
    "gather", "creation", "annotation", "sort", "scatter", "scan", "einsum", "sequence", "dynamic", "matrix",
    "advanced_indexing", "image", "vision", "fixed_point", "strided_set", "dilation", "reinterpret", "qnn", "dyn",
    "dyn_images", "dyn_creation", "suppression", "random", "sparse", "boxes",
)  # fmt: skip
"""Those of `relay`, but for neural networks', which are beside: what is met most often stands first."""
