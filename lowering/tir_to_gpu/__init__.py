"""From `tir` to functions that a GPU is launched with."""
