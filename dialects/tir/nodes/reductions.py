"""TVM's nodes of reductions: what `te.sum` and reducers of one's own give, put together by hand.

x, y = tir.Var("x", "float32"), tir.Var("y", "float32")
largest = tir.CommReducer([x], [y], [tir.Max(x, y)], [tir.FloatImm("float32", float("-inf"))])
te.compute((n,), lambda i: tir.Reduce(largest, [A[i, k]], [k], None, 0))
"""

from __future__ import annotations

from collections.abc import Sequence

from ...support.arguments import checked
from ...support.diagnostics import UsageError
from ...te.expr import Binary, Const, Expr, ExprLike, IterVar, Slot, index
from ...te.expr import cast as convert
from ...te.forms import reducer
from ...te.kinds import ReduceKind
from ...te.reducers import check_combiner, folded
from ...te.reduction import COMBINER, Combiner, Fold, reduce_identity
from ...te.reduction import Reduce as ReduceExpr
from ...te.vectors import operand
from .expressions import Node


@checked
def comm_reducer_node(
    lhs: Sequence[Expr], rhs: Sequence[Expr], result: Sequence[Expr], identity_element: Sequence[Expr]
) -> Combiner:
    """How a reduction goes on: `result` over the variables `lhs`, what it has so far, and `rhs`, its next step, and the
    literals `identity_element` that it starts from; one of each for each result.

    Raises:
        UsageError: they are not as many, not of one type or no variables and literals, the order of steps matters, or
            the identity changes what it is combined with.
    """
    so_far, step = (tuple(each for each in side if isinstance(each, Slot)) for side in (lhs, rhs))
    identity = tuple(each for each in identity_element if isinstance(each, Const))
    count = len(lhs)
    if not count or not len(so_far) == len(step) == len(identity) == len(result) == count:
        message = "tir.CommReducer: there is a variable on each side, a result and a literal for each result"
        raise UsageError(message, hint='tir.Var("x", dtype) is a variable')
    if not len(rhs) == len(identity_element) == count:
        raise UsageError("tir.CommReducer: there are more variables or literals than results")
    for group in zip(so_far, step, result, identity, strict=True):
        if len({each.type for each in group}) > 1:
            found = ", ".join(each.dtype for each in group)
            raise UsageError(f"tir.CommReducer: what belongs to one result is of one type, and not {found}")
    made = Combiner(so_far, step, tuple(result), identity)
    check_combiner(made, "tir.CommReducer")
    return made


@checked
def reduce_node(
    combiner: Combiner | None,
    src: Sequence[ExprLike],
    rdom: Sequence[IterVar],
    condition: Expr | None,
    value_index: int,
    init: Sequence[ExprLike] | None = None,
) -> Expr:
    """Result `value_index` of `src` combined over all values of `rdom` for which `condition` holds.

    Raises:
        UsageError: there is no combiner, `src` or `init` does not fit it, there is no such result, or something in
            `rdom` is no axis of a reduction.
    """
    if combiner is None:
        raise UsageError("tir.Reduce: a reduction combines", hint="tir.CommReducer, or te.comm_reducer, says how")
    types = [each.type for each in combiner.results]
    if len(src) != len(types) or not 0 <= value_index < len(types):
        message = f"tir.Reduce: the combiner has {len(types)} results, and not {len(src)}, nor one number {value_index}"
        raise UsageError(message)
    if not rdom or not all(each.reduce for each in rdom):
        hint = "make the axis with te.reduce_axis((0, n))"
        raise UsageError("tir.Reduce reduces over a variable that is no reduce_axis", hint=hint)
    if init and len(init) != len(types):
        raise UsageError(f"tir.Reduce: `init` gives {len(init)} values for {len(types)} results")
    given = [operand(each, like) for each, like in zip(src, combiner.results, strict=True)]
    for each, like in zip(given, combiner.results, strict=True):
        if each.type not in (like.type, index):
            message = f"tir.Reduce: the combiner combines {like.dtype}, and not {each.dtype}"
            raise UsageError(message, hint="convert it: .astype")
    operands = [convert(each, like.type) for each, like in zip(given, combiner.results, strict=True)]
    if (kind := _kind_of(combiner)) is not None:
        return reducer(kind, "Reduce")(operands[0], tuple(rdom), condition, init[0] if init else None)
    return folded(combiner, operands, tuple(rdom), condition, init or None, "Reduce")[value_index]


def _kind_of(combiner: Combiner) -> ReduceKind | None:
    """The kind of reduction that a combiner is of; `None` if it is one of its own."""
    match combiner.results:
        case [Binary() as result] if {result.lhs, result.rhs} == {*combiner.so_far, *combiner.step}:
            for kind, each in COMBINER.items():
                if each == result.kind and reduce_identity(kind, result.type).value == combiner.identity[0].value:
                    return kind
            return None
        case _:
            return None


class CommReducers:
    """`tir.CommReducer`: called, it makes one, and `isinstance` tells them."""

    def __call__(
        self, lhs: Sequence[Expr], rhs: Sequence[Expr], result: Sequence[Expr], identity_element: Sequence[Expr]
    ) -> Combiner:
        return comm_reducer_node(lhs, rhs, result, identity_element)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, Combiner)


CommReducer = CommReducers()
Reduce = Node(reduce_node, lambda e: isinstance(e, ReduceExpr | Fold))
"""What is combined over all values of some axes, as `te.sum` gives it."""
