"""Stages of which a tensor intrinsic computes a part at once: `s[C].tensorize(inner, intrin)`.

The intrinsic of `te` becomes one of `tir`: its formula, as a function, is what blocks are compared with, and its
statements take their place. Of a reduction that goes on over loops outside of the intrinsic, the beginning is a block
of its own, which the intrinsic's statements compute where there are some for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...dialects import te
from ...dialects.support.diagnostics import UsageError
from ...dialects.te.substitution import substitute as formula_with
from ...dialects.te.tensor_intrin import TensorIntrin, strides_of
from ...dialects.tir.core import PrimFuncOp, blocks_under
from ...dialects.tir.nodes.buffers import Buffer
from ...dialects.tir.nodes.expressions import Call, Handle
from ...dialects.tir.nodes.prim_func import function_of as function_of_statements
from ...dialects.tir.nodes.statements import Stmt
from ...dialects.tir.nodes.stmt_functor import Substitution, ir_transform
from ...transforms.tir.intrinsics.tensor_intrin import Strides
from ...transforms.tir.intrinsics.tensor_intrin import TensorIntrin as TirIntrin
from ...transforms.tir.schedule.errors import ScheduleError
from .prim_func import function_of


def whole(intrin: TensorIntrin) -> TirIntrin:
    """All that the intrinsic computes."""
    return _made(intrin, _description(intrin), intrin.body, intrin.buffers, "w")


def update(intrin: TensorIntrin) -> TirIntrin:
    """How it goes on with a reduction.

    Raises:
        ScheduleError: it does not say how.
    """
    if intrin.reduce_update is None:
        raise ScheduleError(
            f"te: the intrinsic '{intrin.name}' does all of a reduction, of which there are loops around it",
            hint="let its function give three statements: to do all of it, to begin it, to go on with it",
        )
    description = _description(intrin)
    (block,) = blocks_under(description)
    begun = block.init
    assert begun is not None
    block.detach_region(begun)
    begun.erase()
    block.update_accesses()
    return _made(intrin, description, intrin.reduce_update, intrin.buffers, "rw")


def reset(intrin: TensorIntrin) -> TirIntrin | None:
    """How it begins one; `None` where it does not say."""
    if intrin.reduce_init is None:
        return None
    compute = intrin.op.tensor.producer
    assert compute is not None
    body = compute.body
    assert isinstance(body, te.Reduce | te.Fold)
    first = te.first_value(body) if isinstance(body, te.Reduce) else te.first_values(body)[0]
    tensor = intrin.op.tensor
    begun = te.compute(
        tensor.dims, lambda *axes: formula_with(first, dict(zip(compute.axes, axes, strict=True))), tensor.name
    )
    description, _ = function_of(f"{intrin.name}_reset", [begun])
    return _made(intrin, description, intrin.reduce_init, intrin.buffers[-1:], "w")


def _description(intrin: TensorIntrin) -> PrimFuncOp:
    if intrin.scalar_params:
        names = ", ".join(each.name for each in intrin.scalar_params)
        raise ScheduleError(
            f"te: the intrinsic '{intrin.name}' is for given values of {names}, which loops do not give",
            hint="call it in the formula of te.compute, where its scalar_params are given",
        )
    try:
        return function_of(intrin.name, [*intrin.inputs, intrin.op.tensor])[0]
    except UsageError as error:
        raise ScheduleError(f"te: the intrinsic '{intrin.name}': {error.message}") from error


def _made(
    intrin: TensorIntrin, description: PrimFuncOp, statement: Stmt, buffers: Sequence[Buffer], result: str
) -> TirIntrin:
    """The intrinsic whose statement does with the last of the buffers what `result` says (`access_ptr`)."""
    told = _told(statement, {each: result if each is buffers[-1] else "r" for each in buffers})

    def implementation(strides: Sequence[Strides]) -> PrimFuncOp:
        return _implementation(intrin, told, buffers, strides)

    own: list[Strides] = []
    for buffer in buffers:
        dense = strides_of(Buffer(buffer.name, buffer.shape, buffer.type))
        pairs = zip(strides_of(buffer), dense, strict=True)
        own.append(tuple(_number(usual if isinstance(step, te.Var) else step) for step, usual in pairs))
    try:
        return TirIntrin.of(intrin.name, description, implementation(own), implementation)
    except ValueError as error:
        raise ScheduleError(f"te: {error}") from error


def _told(statement: Stmt, masks: Mapping[Buffer, str]) -> Stmt:
    """The statement, in which calls that are handed a buffer, or where it is, are told what they do with it: they read
    what the intrinsic is given, and write its result."""
    at = {buffer.data: buffer for buffer in masks}

    def known(given: object) -> object:
        buffer = at.get(given) if isinstance(given, Handle) else given
        return buffer.access_ptr(masks[buffer]) if isinstance(buffer, Buffer) and buffer in masks else given

    def call(node: te.Expr) -> te.Expr | None:
        if not isinstance(node, Call) or not node.name:
            return None
        return Call(node.word, node.result, node.name, tuple(map(known, node.args)))

    return ir_transform(statement, None, call, ["tir.Call"])


def _number(step: te.Dim) -> int:
    if not isinstance(step, int):
        raise ScheduleError("te: how far apart the elements of a buffer lie is a number or a te.var", hint="te.var()")
    return step


def _implementation(
    intrin: TensorIntrin, statement: Stmt, buffers: Sequence[Buffer], strides: Sequence[Strides]
) -> PrimFuncOp:
    """The function of the statement, for buffers that lie so.

    Raises:
        ScheduleError: the statement is for others.
    """
    known: dict[te.Var, int] = {}
    plain: dict[Buffer, Buffer] = {}
    for buffer, steps in zip(buffers, strides, strict=True):
        for extent, wanted, step in zip(buffer.shape, strides_of(buffer), steps, strict=True):
            where = f"'{buffer.name}' of the intrinsic '{intrin.name}'"
            if isinstance(wanted, te.Var) and known.setdefault(wanted, step) != step:
                raise ScheduleError(f"te: '{wanted.name}', a stride in {where}, is {known[wanted]} and {step}")
            if not isinstance(wanted, te.Var) and extent != 1 and wanted != step:
                raise ScheduleError(
                    f"te: elements of {where} lie {wanted} apart, and {step} where it is used",
                    hint="a stride that is a te.var is told to it; or copy the tile (cache_read)",
                )
        if isinstance(buffer.elem_offset, te.Var):
            known[buffer.elem_offset] = 0
        plain[buffer] = Buffer(buffer.name, buffer.shape, buffer.type)
    body = Substitution({each: te.const(value, te.index) for each, value in known.items()}, plain).of(statement)
    return function_of_statements([plain[each] for each in buffers], body, intrin.name)[0]
