"""Regions of operators for other compilers: what bounds them, and which operators are in them."""
