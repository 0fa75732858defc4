"""Reductions (`tvm.topi.reduction`) over all dimensions or those of `axis`, which `keepdims` keeps, of extent 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..dialects import te
from ..dialects.support.arguments import checked
from .relay_operators import computed

Axes: TypeAlias = "int | Sequence[int] | None"
Reduction: TypeAlias = Callable[..., te.Tensor]


def _reduction(operator: str) -> Reduction:
    @checked
    def function(data: te.Tensor, axis: Axes = None, keepdims: bool = False) -> te.Tensor:
        return computed(operator, data, axis, keepdims)

    function.__name__ = operator
    return function


def _place(operator: str) -> Reduction:
    @checked
    def function(
        data: te.Tensor, axis: Axes = None, keepdims: bool = False, select_last_index: bool = False
    ) -> te.Tensor:
        return computed(operator, data, axis, keepdims, select_last_index=select_last_index)

    function.__name__ = operator
    return function


sum, prod, max, min, all, any = map(_reduction, ("sum", "prod", "max", "min", "all", "any"))
argmax, argmin = map(_place, ("argmax", "argmin"))
