"""What schedule rules and postprocessors are: see `weft.meta_schedule`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from random import Random
from typing import Protocol, Self, TypeAlias

from xdsl.dialects.builtin import ModuleOp

from ..dialects.support.arguments import checked
from ..dialects.support.diagnostics import UsageError, did_you_mean
from ..dialects.tir.core import PrimFuncOp
from ..lowering.machine.target import Target
from ..transforms.tir.scheduling.handles import BlockRV
from ..transforms.tir.scheduling.schedule import Schedule
from ..transforms.tir.scheduling.trace import Trace

Scheduled: TypeAlias = ModuleOp | PrimFuncOp
"""What is scheduled."""


def only_function(mod: Scheduled) -> PrimFuncOp:
    """The function of a module that has one.

    Raises:
        UsageError: it has another number.
    """
    if isinstance(mod, PrimFuncOp):
        return mod
    functions = [op for op in mod.ops if isinstance(op, PrimFuncOp)]
    if len(functions) != 1:
        raise UsageError(f"the module has {len(functions)} functions, and one is tuned at a time")
    return functions[0]


class Context(Protocol):
    """What rules, strategies and models ask of a `TuneContext`."""

    target: Target
    """What code is made for."""
    task_name: str
    """What reports call it."""
    rand_state: int
    """The seed for what is sampled; -1 for one that nobody knows."""

    @property
    def mod(self) -> Scheduled:
        """What is scheduled."""
        ...

    @property
    def cores(self) -> int:
        """How many cores rules reckon with."""
        ...

    @property
    def mutator_probs(self) -> Mapping[Mutator, float]:
        """What varies a design, each with how often it is asked."""
        ...

    def generate_design_space(self) -> list[Schedule]:
        """The designs, before postprocessors."""
        ...

    def postprocess(self, sch: Schedule) -> bool:
        """Apply the postprocessors to a design; whether all have taken it."""
        ...


class Named:
    """What `str` shows as TVM does: its class, and where it is."""

    def __str__(self) -> str:
        return f"meta_schedule.{type(self).__name__}({hex(id(self))})"


class OfContext(Named):
    """What may ask for what it works."""

    def initialize_with_tune_context(self, context: Context) -> None:
        """Take from the context, its target above all, what is needed to be applied.

        Raises:
            UsageError: the target does not say it.
        """

    def clone(self) -> Self:
        """A copy, for another context."""
        return copy(self)


class ScheduleRule(OfContext):
    """Gives the ways to schedule one block. Counterpart of TVM's `meta_schedule.ScheduleRule`.

    A class derived from it defines `apply`. `ScheduleRule.create("llvm")` gives the rules that TVM has for a kind.
    """

    def apply(self, sch: Schedule, block: BlockRV) -> list[Schedule]:
        """The schedules that follow, `sch` itself where the rule has nothing to do with the block. The handles of `sch`
        stand for the same in copies of it.

        Raises:
            ScheduleError: a primitive refuses.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method apply")

    @staticmethod
    @checked
    def create(kind: str) -> list[ScheduleRule]:
        """TVM's rules for `"llvm"`, `"vnni"` (x86 with dot products of bytes), `"cuda"` or
        `"cuda-tensorcore"`, in their order.

        Raises:
            UsageError: there are none for this kind.
        """
        if kind not in RULES:
            raise UsageError(f"there are no schedule rules for '{kind}'", hint=did_you_mean(kind, list(RULES)))
        return RULES[kind]()


class Postproc(OfContext):
    """Repairs a schedule that rules have made, or rejects it. Counterpart of TVM's `meta_schedule.Postproc`.

    A class derived from it defines `apply`. `Postproc.create("llvm")` gives those that TVM has for a kind.
    """

    def apply(self, sch: Schedule) -> bool:
        """Whether the schedule is one to be built.

        Raises:
            ScheduleError: a primitive refuses.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method apply")

    @staticmethod
    @checked
    def create(kind: str) -> list[Postproc]:
        """TVM's postprocessors for `"llvm"`, `"vnni"` (x86 with dot products of bytes), `"cuda"` or
        `"cuda-tensorcore"`, in their order.

        Raises:
            UsageError: there are none for this kind.
        """
        if kind not in POSTPROCS:
            raise UsageError(f"there are no postprocessors for '{kind}'", hint=did_you_mean(kind, list(POSTPROCS)))
        return POSTPROCS[kind]()


class Mutator(OfContext):
    """Gives a design that differs from another in one decision. Counterpart of TVM's `meta_schedule.Mutator`.

    A class derived from it defines `apply`. `Mutator.create("llvm")` gives those that TVM has for a kind.
    """

    def apply(self, trace: Trace, random: Random | None = None) -> Trace | None:
        """A trace with another decision, without what postprocessors have done; `None` where there is none to change.

        Args:
            trace: that of a design, which stays as it is.
            random: what is drawn from.

        Raises:
            ScheduleError: the trace does not apply.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method apply")

    @staticmethod
    @checked
    def create(kind: str) -> dict[Mutator, float]:
        """TVM's mutators for `"llvm"`, `"vnni"` (x86 with dot products of bytes), `"cuda"` or
        `"cuda-tensorcore"`, each with how often it is to be asked.

        Raises:
            UsageError: there are none for this kind.
        """
        if kind not in MUTATORS:
            raise UsageError(f"there are no mutators for '{kind}'", hint=did_you_mean(kind, list(MUTATORS)))
        return MUTATORS[kind]()


RULES: dict[str, Callable[[], list[ScheduleRule]]] = {}
"""Those of `ScheduleRule.create`; `defaults` fills it."""
POSTPROCS: dict[str, Callable[[], list[Postproc]]] = {}
"""Those of `Postproc.create`."""
MUTATORS: dict[str, Callable[[], dict[Mutator, float]]] = {}
"""Those of `Mutator.create`."""
