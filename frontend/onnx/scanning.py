"""Loops of turns whose number is known: a `relay.scan` of a function, which is one turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType, TensorType
from xdsl.ir import Block, Region, SSAValue

from ...dialects.relay.base import is_static, shape_of, tensor
from ...dialects.relay.core import ConstantOp, FuncOp, ReturnOp
from ...dialects.relay.extents import unknown
from ...dialects.relay.scan import ScanOp
from ...dialects.support.shaped import is_tensor
from .errors import Unsupported
from .looping import AddFunction, close
from .node import Node

Rows: TypeAlias = Sequence[SSAValue]
Body: TypeAlias = Callable[[Rows, Rows], "tuple[Rows, Rows] | None"]
"""Writes a turn, which is given its rows and what is carried: what it hands on, and the rows that it gives. Nothing
where what it has written cannot be any turn."""


def scan(
    node: Node,
    add_function: AddFunction,
    rows: Rows,
    backwards: Sequence[bool],
    carried: Rows,
    body: Body,
    gathered_backwards: Sequence[bool],
) -> tuple[Rows, Rows] | None:
    """One loop of a node, a turn for each of the `rows`, of which there are equally many: what is carried, and what is
    gathered, after the last turn. Rows are taken, and gathered, from the last one back where `backwards` says so.

    Nothing where turns differ in the types of what they take and give, or extents are open: then nothing is written.
    """
    emitter = node.emitter
    types = [TensorType(tensor(value).element_type, shape_of(value)[1:]) for value in rows]
    if not all(is_static(value.type) for value in (*rows, *carried)):
        return None
    with emitter.within(Block(arg_types=[*types, *(value.type for value in carried)])) as block:
        if emitter.extents is not None:
            for argument in block.args:
                emitter.extents.known[argument] = unknown([tensor(argument)], "row")
        try:
            written = body(block.args[: len(rows)], block.args[len(rows) :])
        except Unsupported:  # which may depend on the number of the turn
            written = None
    back = dict[SSAValue, bool]()
    one_way = written is not None and all(
        back.setdefault(value, each) == each for value, each in zip(written[1], gathered_backwards, strict=True)
    )
    if written is None or not one_way or not _is_any_turn(block, written, carried):
        for op in reversed(list(block.ops)):
            op.detach()
            op.erase(safe_erase=False)
        return None
    kept, given = written
    results = [*kept, *dict.fromkeys(value for value in given if value not in kept)]
    with emitter.within(block):
        emitter.insert(ReturnOp(*results))
    captured = close(block)
    type = FunctionType.from_lists(block.arg_types, [value.type for value in results])
    name = add_function("turn", FuncOp("turn", type, Region(block), private=True))
    directions = [*map(int, backwards), *map(int, back.values())]
    gathered = [(results.index(value), value.type) for value in back]  # what is carried as well stands nowhere else
    turns = shape_of(rows[0])[0]
    op = ScanOp(name, captured, rows, carried, turns, gathered, directions)
    emitter.insert(op)
    whole = dict(zip(back, op.res[len(carried) :], strict=True))
    return op.res[: len(carried)], [whole[value] for value in given]


def _is_any_turn(block: Block, written: tuple[Rows, Rows], carried: Rows) -> bool:
    """Whether a turn hands on what it takes, and all in it is known tensors."""
    kept, given = written
    if [value.type for value in kept] != [value.type for value in carried]:
        return False
    if not all(is_static(result.type) for op in block.walk() for result in op.results):
        return False
    inside = {result for op in block.walk() for result in op.results} | set(block.args)
    inside |= {argument for op in block.walk() for r in op.regions for b in r.blocks for argument in b.args}
    seen = {operand for op in block.walk() for operand in op.operands if operand not in inside}
    seen |= {value for value in given if value not in inside}
    values = [*given, *(value for value in seen if not isinstance(value.owner, ConstantOp))]
    return all(is_tensor(type) and is_static(type) for type in (value.type for value in values))
