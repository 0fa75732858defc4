"""The order of a function's arguments."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType

from .functions import PrimFuncOp


def sort_arguments(func: PrimFuncOp, order: Sequence[int]) -> None:
    """Let the arguments of a function without symbols stand in another order."""
    block = func.body.block
    old = list(block.args)
    if list(order) == list(range(len(old))):
        return
    for place in order:
        argument = block.insert_arg(old[place].type, len(block.args))
        argument.name_hint = old[place].name_hint
        old[place].replace_all_uses_with(argument)
    for argument in old:
        block.erase_arg(argument)
    func.properties["function_type"] = FunctionType.from_lists([a.type for a in block.args], [])
