"""What is raised where two things are not one but for names."""

from __future__ import annotations


class StructuralDifferenceError(AssertionError, ValueError):
    """Two things are not one but for names. It is an `AssertionError`, and the `ValueError` that TVM raises."""
