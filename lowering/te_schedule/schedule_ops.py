"""`te.ScheduleOps`: what a te schedule is as statements, before it is a function; and the function of such statements.

    statements = te.ScheduleOps(s, te.InferBound(s))
    function = te.SchedulePostProcToPrimFunc([A, B, C], statements)

Counterparts of `tvm.te.schedule.ScheduleOps` and `SchedulePostProcToPrimFunc`. `weft.lower` does both at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from weakref import WeakKeyDictionary

from ...dialects import te
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.hints import is_tuple
from ...dialects.tir.core import PrimFuncOp
from ...dialects.tir.nodes import tree as tree  # functions are trees of nodes, too
from ...dialects.tir.nodes.buffers import Buffer
from ...dialects.tir.nodes.prim_func import PrimFunc
from ...dialects.tir.nodes.statements import Stmt
from ...dialects.tir.nodes.stmt_functor import walk
from .infer_bound import Bound
from .schedule import Schedule
from .translation import translate

_tensors: WeakKeyDictionary[Buffer, te.Tensor] = WeakKeyDictionary()
"""What tensor a buffer of statements is."""


@checked
def ScheduleOps(
    schedule: Schedule, bounds: Mapping[te.IterVar, Bound] | None = None, debug_keep_trivial_loop: bool = False
) -> Stmt:
    """The loops and blocks that compute a schedule's outputs from its inputs, as nodes (`tir.For`, `tir.Block`, ...).
    `bounds` follow from the schedule, and loops of one iteration are left out: both arguments are TVM's.

    Raises:
        UsageError, ScheduleError: as `weft.lower` says.
    """
    inputs = [tensor for tensor in te.topological_order(schedule.outputs) if tensor.producer is None]
    arguments = [*inputs, *schedule.outputs]
    module = translate(schedule, arguments).mod
    (function,) = (op for op in module.ops if isinstance(op, PrimFuncOp))
    buffers = list(function.buffer_map.values())
    order = [*inputs, *(each for each in schedule.outputs if each not in inputs)]
    for buffer, tensor in zip(buffers, order, strict=True):
        _tensors[buffer] = tensor
    return function.body


@checked
def SchedulePostProcToPrimFunc(
    arg_list: Sequence[te.Tensor | te.Var], body: Stmt, extern_buffer: Mapping[te.Tensor, Buffer] | None = None
) -> PrimFuncOp:
    """The function of what `ScheduleOps` has given, or of what was made of that by changing nodes, with these tensors
    and symbols for parameters; `extern_buffer` says which buffers of the statements others are.

    Raises:
        UsageError: the statements use a tensor that is no parameter.
    """
    known = dict(extern_buffer or {})
    for buffer in _buffers_of(body):
        if (tensor := _tensors.get(buffer)) is not None:
            known.setdefault(tensor, buffer)
    missing = [each.name for each in known if each not in arg_list]
    if missing:
        raise UsageError(f"'{missing[0]}' is used, and not among the parameters", hint="add it to arg_list")
    parameters: list[te.Expr | Buffer] = []
    for each in arg_list:
        if isinstance(each, te.Tensor):
            parameters.append(known.get(each) or Buffer(each.name, each.dims, each.element_type))
        else:
            parameters.append(each)
    return PrimFunc(parameters, body)


def _buffers_of(body: Stmt) -> list[Buffer]:
    """The buffers that statements use."""
    found: dict[Buffer, None] = {}
    for node in walk(body):
        pending: list[object] = [getattr(node, each.name) for each in fields(node)] if is_dataclass(node) else []
        while pending:
            value = pending.pop()
            if isinstance(value, Buffer):
                found[value] = None
            elif is_tuple(value):
                pending += value
    return list(found)
