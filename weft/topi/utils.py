"""Shapes as numbers (`tvm.topi.utils`)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr

from ..dialects import te
from ..dialects.relay.base import DYNAMIC
from ..dialects.support.arguments import checked
from ..dialects.te.dims import is_number


@checked
def get_const_int(expr: int | te.Expr) -> int:
    """The number that an expression is.

    Raises:
        ValueError: it is none.
    """
    value = expr.value if isinstance(expr, te.Const) else expr
    if not isinstance(value, int):
        raise ValueError(f"{expr} is known only when it runs")
    return value


@checked
def get_const_tuple(in_tuple: Sequence[int | te.Expr] | ArrayAttr[IntAttr]) -> tuple[int | te.Expr, ...]:
    """Extents, as numbers where they are some; also those of a type of Relay's (`expr.checked_type.shape`), of which
    -1 is one that is not known."""
    if isinstance(in_tuple, ArrayAttr):
        return tuple(-1 if each.data == DYNAMIC else each.data for each in in_tuple)
    return tuple(get_const_int(each) if isinstance(each, int) or is_number(each) else each for each in in_tuple)
