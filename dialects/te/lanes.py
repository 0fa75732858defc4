"""Vectors of integers simplified: what is in lane `l` is an expression of `l`, of which the analyzer knows the range.

ramp(x * 8, 1, 4) floordiv 4   is   (x * 8 + l) floordiv 4 with 0 <= l < 4, which is x * 2: broadcast(x * 2, 4)
"""

from __future__ import annotations

from xdsl.dialects.builtin import VectorType, i1
from xdsl.ir import Attribute

from ..support.hints import isa
from ..tir.analyzer.analyzer import Analyzer, coefficient, is_linear_in, without
from ..tir.analyzer.nodes import const
from .expr import Binary, Cast, Expr, Slot, binary, cast
from .integer_forms import integer_form, is_integer
from .vectors import Broadcast, Ramp
from .written_forms import written


def simplified_lanes(expr: Expr, analyzer: Analyzer) -> Expr:
    """A vector of integers, or of conditions, as a ramp or a broadcast of simpler numbers; as it is, where it is
    neither."""
    vector = expr.type
    if not isa(vector, VectorType[Attribute]) or not is_integer(vector.element_type):
        return expr
    type, lanes = vector.element_type, vector.get_shape()[0]
    lane = Slot("lane", type)
    if (scalar := _in_lane(expr, lane)) is None:
        return expr
    number = integer_form(lane)
    with analyzer.assuming(number >= 0, number < lanes):
        form = analyzer.simplify(integer_form(scalar))
    step, rest = coefficient(form, number), without(form, number)
    if not is_linear_in(form, number) or number in rest.variables or (step and type == i1):
        return expr
    base = written(rest, type, [scalar])
    return Ramp(base, written(const(step), type), lanes) if step else Broadcast(base, lanes)


def _in_lane(expr: Expr, lane: Slot) -> Expr | None:
    """What a vector holds in a lane; `None` where its lanes are not known apart."""
    match expr:
        case Broadcast(value):
            return value
        case Ramp(base, stride):
            return base + cast(lane, base.type) * stride
        case Binary(kind, lhs, rhs):
            a, b = _in_lane(lhs, lane), _in_lane(rhs, lane)
            return None if a is None or b is None else binary(kind, a, b)
        case Cast(operand, type) if isa(type, VectorType[Attribute]) and is_integer(type.element_type):
            inner = _in_lane(operand, lane)
            return None if inner is None or not is_integer(inner.type) else cast(inner, type.element_type)
        case _:
            return None
