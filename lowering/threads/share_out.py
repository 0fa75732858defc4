"""Divide a loop, or give one thread what cannot be divided: the `rt.share` around operations that are still to come."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Region, SSAValue

from ...dialects.rt.core import ShareOp
from ...dialects.support.interned import index


def share_out(
    block: Block,
    slots: SSAValue,
    number: int,
    num_threads: SSAValue,
    extent: int | SSAValue | None,
    emit: Callable[[Block, Sequence[SSAValue]], None],
    rows: int = 1,
) -> None:
    """Append to `block` an `rt.share` by slot `number` of `slots`, in which `emit` puts what one share does.

    A parallel loop of `extent` iterations is divided, and `emit(body, [first, last])` gets the bounds of a share.
    Its shares stand in `rows` (see `rt.share`). Without an `extent` there is one share: `emit(body, [])`.
    """
    body = Block(arg_types=[] if extent is None else [index, index])
    length: SSAValue | None = None
    if extent is not None:
        if isinstance(extent, int):
            constant = arith.ConstantOp(IntegerAttr(extent, index))
            block.add_op(constant)
            length = constant.result
        else:
            length = extent
        for argument, name in zip(body.args, ("first", "last"), strict=True):
            argument.name_hint = name
    emit(body, body.args)
    block.add_op(ShareOp(slots, number, Region(body), length, None if length is None else num_threads, rows))
