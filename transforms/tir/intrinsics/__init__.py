"""Tensor intrinsics: what a processor computes at once, as a function that says what, and one that says how."""
