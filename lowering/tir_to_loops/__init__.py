"""`tir` to loops: blocks, loop kinds and buffers become scf, vector and flat memrefs."""
