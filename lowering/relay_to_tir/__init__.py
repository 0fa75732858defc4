"""`relay` to `tir`: kernels become loop nests over blocks."""
