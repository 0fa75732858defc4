"""Loops of as many turns as there are rows: a `relay.scan` of a function, which is one turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType, TensorType
from xdsl.ir import Block, Region, SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, RelayOp, is_static, shape_of, tensor
from ...dialects.relay.core import ConstantOp, FuncOp, ReturnOp, TupleGetOp, TupleOp
from ...dialects.relay.extents import Extents, Known, unknown
from ...dialects.relay.scan import ScanOp
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.shaped import is_tensor
from ...dialects.te.assume import Assumptions
from .emitter import Emitter
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

    Nothing where turns differ in the types of what they take and give, or data decides extents of theirs: then nothing
    is written.
    """
    emitter = node.emitter
    types = [TensorType(tensor(value).element_type, shape_of(value)[1:]) for value in rows]
    counts = {shape_of(value)[0] for value in rows}
    dims = [*(emitter.dims(value)[1:] for value in rows), *(emitter.dims(value) for value in carried)]
    if len(counts) != 1:
        return None
    (count,) = counts
    if emitter.extents is not None and any(emitter.extents.depends_on_data(dim) for each in dims for dim in each):
        return None
    with emitter.within(Block(arg_types=[*types, *(value.type for value in carried)])) as block:
        if emitter.extents is not None:
            for argument, each in zip(block.args, dims, strict=True):
                emitter.extents.known[argument] = [Known(each)]
        try:
            written = body(block.args[: len(rows)], block.args[len(rows) :])
        except Unsupported:  # which may depend on the number of the turn
            written = None
    back = dict[SSAValue, bool]()
    one_way = written is not None and all(
        back.setdefault(value, each) == each for value, each in zip(written[1], gathered_backwards, strict=True)
    )
    if written is None or not one_way or not _is_any_turn(emitter, block, written, carried):
        _drop(block)
        return None
    kept, given = written
    results = [*kept, *dict.fromkeys(value for value in given if value not in kept)]
    dims = [emitter.dims(value) for value in back]
    with emitter.within(block):
        emitter.insert(ReturnOp(*results))
    captured = close(block)
    type = FunctionType.from_lists(block.arg_types, [value.type for value in results])
    function = FuncOp("turn", type, Region(block), private=True)
    if not _follows(function, len(carried)):
        function.body.detach_block(block)
        _put_back(block, captured)
        _drop(block)
        return None
    directions = [*map(int, backwards), *map(int, back.values())]
    gathered = [(results.index(value), value.type) for value in back]  # what is carried as well stands nowhere else
    name = add_function("turn", function)
    op = ScanOp(name, captured, rows, carried, None if count == DYNAMIC else count, gathered, directions)
    emitter.insert(op)
    if emitter.extents is not None:
        turns = emitter.dims(rows[0])[0]
        for value, result in zip(carried, op.res, strict=False):
            emitter.extents.known[result] = [Known(emitter.dims(value))]
        for each, result in zip(dims, op.res[len(carried) :], strict=True):
            emitter.extents.known[result] = [Known((turns, *each))]
    whole = dict(zip(back, op.res[len(carried) :], strict=True))
    return op.res[: len(carried)], [whole[value] for value in given]


def _drop(block: Block) -> None:
    for op in reversed(list(block.ops)):
        op.detach()
        op.erase(safe_erase=False)


def _put_back(block: Block, captured: Rows) -> None:
    """Let a block see what is around it again."""
    for argument, value in zip(block.args, captured, strict=False):
        argument.replace_all_uses_with(value)


def _follows(function: FuncOp, carried: int) -> bool:
    """Whether the extents in a turn follow from those that it is given, which it hands on."""
    arguments = function.body.block.args
    results_of = (result for op in function.body.block.walk() for result in op.results)
    if all(is_static(value.type) for value in (*arguments, *results_of)):
        return True
    extents = Extents()
    try:
        given = [unknown([tensor(argument)], "row")[0] for argument in arguments]
        results = extents.through(function, given)
        for before, after in zip(arguments[len(arguments) - carried :], results, strict=False):
            same = zip(extents.of(before)[0].dims, after.dims, strict=True)
            extents.take(Assumptions(equal=list(same)), function)
    except Diagnostic:
        return False
    return not extents.decided


def _is_any_turn(emitter: Emitter, block: Block, written: tuple[Rows, Rows], carried: Rows) -> bool:
    """Whether a turn hands on what it takes, does not branch, and all in it is tensors."""
    kept, given = written
    if not all(isinstance(op, RelayOp | ConstantOp | TupleOp | TupleGetOp | ScanOp) for op in block.walk()):
        return False
    for after, before in zip(kept, carried, strict=True):
        if not is_tensor(after.type) or after.type.element_type != tensor(before).element_type:
            return False
        one, other = emitter.dims(after), emitter.dims(before)
        if len(one) != len(other) or not all(map(te.same, one, other)):
            return False
    inside = {result for op in block.walk() for result in op.results} | set(block.args)
    inside |= {argument for op in block.walk() for r in op.regions for b in r.blocks for argument in b.args}
    seen = {operand for op in block.walk() for operand in op.operands if operand not in inside}
    seen |= {value for value in given if value not in inside}
    values = [*given, *(value for value in seen if not isinstance(value.owner, ConstantOp))]
    return all(is_tensor(value.type) for value in values)
