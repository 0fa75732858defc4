"""Gradients of operators on elements, from their derivatives: `gradient = slope(lambda x, y: 1 - y * y)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from .gradient import Gradient, Term, Terms

    Facet: TypeAlias = Callable[..., Terms]

Slope: TypeAlias = "Term | float | None"
"""A derivative: a number where it is that everywhere, `None` where it is zero."""


def slope(formula: Callable[[Term, Term], Slope]) -> Facet:
    """The facet `gradient` of `y = f(x)`, from its derivative for `x` and `y`."""

    def gradient(self: object, g: Gradient) -> Terms:
        return _scaled(g, [formula(g.input, g.output)])

    return gradient


def slopes(formula: Callable[[Term, Term, Term], tuple[Slope, Slope]]) -> Facet:
    """The facet `gradient` of `z = f(x, y)`, from its derivatives by both for `x`, `y` and `z`."""

    def gradient(self: object, g: Gradient) -> Terms:
        return _scaled(g, formula(g.inputs[0], g.inputs[1], g.output))

    return gradient


def _scaled(g: Gradient, found: Sequence[Slope]) -> Terms:
    return [None if each is None else g.grad if each == 1 else g.grad * each for each in found]
