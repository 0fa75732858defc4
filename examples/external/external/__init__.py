"""Backends for parts of graphs. docs/backends.md of Weft explains them."""
