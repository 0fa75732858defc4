"""What there is to tune in a model: its distinct kernels, and how much of its time each takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute

from ..dialects.relay.base import is_static
from ..dialects.relay.calls import CallLoweredOp
from ..dialects.relay.core import ConstantOp, FuncOp, ReturnOp
from ..dialects.schedule.core import SequenceOp
from ..dialects.support.dtypes import byte_width
from ..dialects.support.hints import isa
from ..dialects.tir.core import PrimFuncOp
from ..lowering.compiler import compile_graph, lower
from ..lowering.machine.target import Target
from ..runtime.executable import Executable
from ..transforms.infra.config import PASS_EXTENTS
from ..transforms.infra.context import PassContext
from ..transforms.infra.walk import clone, walk
from ..transforms.tir.attach_tuned_schedules import kernel_key

KERNEL = "kernel"
"""What a task's function is called, whatever the model calls it."""

COLD_BYTES = 64 << 20
"""Weights of a model that take more than this are not in a cache when they are read again."""


@dataclass(frozen=True)
class Task:
    """A kernel to tune."""

    key: str
    """What it is known by in the records: equal kernels of any models have the same."""
    name: str
    """What the model calls it."""
    function: PrimFuncOp
    """Unscheduled, and called `KERNEL`."""
    text: str
    """A module at phase `tir` that does nothing but call it."""
    calls: int
    """How often an inference calls it."""
    us: float
    """Microseconds of an inference that it takes with the default schedule."""
    share: float
    """The part of an inference that is."""
    weights: tuple[int, ...]
    """Which of its inputs are weights: an inference reads them once, from memory where the model has many."""
    copies: int
    """How many copies of the weights take as much memory as those of the whole model."""


@dataclass
class Tasks:
    """The kernels of a model."""

    tasks: list[Task]
    """Those that can be tuned, what takes most first."""
    left_out: dict[str, str] = field(default_factory=dict[str, str])
    """The others by name, and why."""
    us: float = 0.0
    """Microseconds of an inference, kernel by kernel."""


def extract_tasks(module: ModuleOp, target: Target, start: str, threads: int | None) -> Tasks:
    """The kernels of a model that is at phase `start`, which it no longer is afterwards, by the rules of the current
    `PassContext`. The model is run, for the time that each kernel takes.

    Raises:
        Diagnostic: the model cannot be compiled or run.
    """
    kernels = kernels_of(module, target, start)
    total = sum(_bytes(op.result.type) for op in walk(module) if isinstance(op, ConstantOp))
    exe = Executable(compile_graph(clone(module), target, start="tir"), threads)
    profile = exe.profile()
    spent: dict[str, float] = {}
    for step in profile.steps:
        spent[step.kernel] = spent.get(step.kernel, 0.0) + step.us
    found = Tasks([], us=profile.total_us)
    for name, (function, calls, why) in kernels.items():
        if why is not None:
            found.left_out[name] = why
            continue
        call, us = calls[0], spent.get(name, 0.0)
        weights = tuple(n for n, value in enumerate(call.arguments) if isinstance(value.owner, ConstantOp))
        mine = sum(_bytes(call.arguments[n].type) for n in weights)
        found.tasks.append(
            Task(
                kernel_key(function),
                name,
                kernel := _called_kernel(function),
                str(_alone(kernel, call)),
                len(calls),
                us,
                us / max(found.us, 1e-9),
                weights,
                max(1, min(16, -(-min(total, COLD_BYTES) // mine))) if mine else 1,
            )
        )
    found.tasks.sort(key=lambda task: -task.us)
    return found


def kernels_of(
    module: ModuleOp, target: Target, start: str
) -> dict[str, tuple[PrimFuncOp, list[CallLoweredOp], str | None]]:
    """The kernels of a model that is at phase `start`, and is at `tir` afterwards, by the rules of the current
    `PassContext`: each by its name, with its calls, and why it cannot be tuned by itself, if it cannot.

    Raises:
        Diagnostic: the model cannot be lowered.
    """
    current = PassContext.current()
    with current.at_level(current.opt_level, {PASS_EXTENTS: False}):  # a schedule is for known extents
        lower(module, target, "tir", start)
    scheduled = {op.function_name for op in module.ops if isinstance(op, SequenceOp)}
    calls: dict[str, list[CallLoweredOp]] = {}
    for op in walk(module):
        if isinstance(op, CallLoweredOp):
            calls.setdefault(op.callee.string_value(), []).append(op)
    found: dict[str, tuple[PrimFuncOp, list[CallLoweredOp], str | None]] = {}
    for function in (op for op in module.ops if isinstance(op, PrimFuncOp)):
        name, mine = function.sym_name.data, calls.get(function.sym_name.data, [])
        why = "it has a schedule of its own" if name in scheduled else _why_not(function, mine)
        found[name] = function, mine, why
    return found


def _why_not(function: PrimFuncOp, calls: Iterable[CallLoweredOp]) -> str | None:
    calls = list(calls)
    if not calls:
        return "nothing calls it"
    if any(call.copies is not None for call in calls):
        return "it only lays its inputs side by side"
    if any(call.updates is not None for call in calls):
        return "it changes memory that it is given"
    values = [*calls[0].arguments, *calls[0].res]
    if not all(isa(value.type, TensorType) and is_static(value.type) for value in values):
        return "its sizes are not known"
    if len(function.region.block.args) != len(values):
        return "it is given sizes"
    return None


def _bytes(type: Attribute) -> int:
    return prod(type.get_shape()) * byte_width(type.element_type) if isa(type, TensorType) and is_static(type) else 0


def _called_kernel(function: PrimFuncOp) -> PrimFuncOp:
    copy = clone(function)
    copy.properties["sym_name"] = StringAttr(KERNEL)
    return copy


def _alone(kernel: PrimFuncOp, call: CallLoweredOp) -> ModuleOp:
    """A module whose graph is one call of `kernel`, as `call` is."""
    types = [value.type for value in call.arguments], [value.type for value in call.res]
    main = FuncOp("main", FunctionType.from_lists(*types))
    again = CallLoweredOp(KERNEL, list(main.body.block.args), types[1])
    main.body.block.add_ops([again, ReturnOp(*again.res)])
    return ModuleOp([main, clone(kernel)])
