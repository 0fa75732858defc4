"""Loops: TVM's `relay.loops`.

i, total = (relay.var(name, shape=(), dtype="int32") for name in ("i", "total"))
loop = relay.loops.while_loop(
    lambda i, total: relay.less(i, relay.const(10)),
    [i, total],
    lambda i, total: (i + relay.const(1), total + i),
)
relay.TupleGetItem(loop(relay.const(0), relay.const(0)), 1)  # 45
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects.support.arguments import checked
from .expr import Expr, Function, If, Let, Operand, Tuple, Var, var


@checked
def while_loop(
    cond: Callable[..., Operand], loop_vars: Sequence[Expr], loop_bodies: Callable[..., Sequence[Operand]]
) -> Expr:
    """A function that takes the first values of a loop's variables and gives, as a tuple, those after its last turn:
    the first for which `cond` does not hold. It is compiled to a loop.

    Args:
        cond: from the variables to a `tensor<i1>`: whether there is another turn.
        loop_vars: the variables, or expressions of their types.
        loop_bodies: from the variables to as many values, those of the next turn.
    """
    loop = Var("while_loop")
    inside = [
        var(each.name_hint if isinstance(each, Var) else f"arg{number}", each.checked_type)
        for number, each in enumerate(loop_vars)
    ]
    turn = If(cond(*inside), loop(*loop_bodies(*inside)), Tuple(inside))
    return Let(loop, Function(inside, turn), loop)
