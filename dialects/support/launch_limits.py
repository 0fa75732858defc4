"""What no launch on a GPU may be larger than, whichever it is: known to passes and to what launches."""

MAX_GRID = (2**31 - 1, 65535, 65535)
"""Blocks along x, y and z of CUDA's GPUs."""
