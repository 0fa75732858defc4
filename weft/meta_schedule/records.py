"""Traces that were measured, by what they schedule (`tvm.meta_schedule.database`): what a task scheduler fills and a
search begins with.

What is here lives as long as the program; a `JSONDatabase` is kept in files. Those of `weft.tune` are a `Database`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass
from statistics import fmean
from typing import Self

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ..dialects.support.arguments import checked_methods
from ..dialects.support.diagnostics import UsageError
from ..dialects.support.hints import isa
from ..dialects.tir.core import PrimFuncOp
from ..dialects.tir.script.modules import IRModule
from ..ir_json import load_json, save_json
from ..lowering.machine.target import Target
from ..structural import structural_equal, structural_hash
from ..transforms.infra.config import DATABASE, TUNING_RECORDS
from ..transforms.infra.context import PassContext
from ..transforms.tir.scheduling.schedule import Schedule
from ..transforms.tir.scheduling.trace import Trace
from .arg_info import ArgInfo
from .module_equality import ModuleEquality
from .rule import Named, Scheduled


@dataclass(frozen=True, eq=False)
class Workload:
    """What is scheduled: a module, or a function in one of its own. Two are one where their functions are, but for
    names. Counterpart of TVM's `Workload`."""

    mod: IRModule

    def __init__(self, mod: Scheduled):
        object.__setattr__(self, "mod", IRModule.of(mod))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Workload) and structural_equal(self.mod, other.mod)

    def __hash__(self) -> int:
        return structural_hash(self.mod)

    def as_json(self) -> str:
        """The module, as a text that JSON can hold."""
        return save_json(self.mod)

    @staticmethod
    def from_json(json_obj: object) -> Workload:
        """What `as_json` has given.

        Raises:
            Diagnostic: it has given no such text.
        """
        if not isinstance(json_obj, str):
            raise UsageError("this is no workload as JSON")
        node = load_json(json_obj)
        if not isinstance(node, ModuleOp | PrimFuncOp):
            raise UsageError("this is no workload as JSON, but a part of a graph")
        return Workload(node)


@checked_methods
@dataclass(frozen=True, eq=False)
class MeasureCandidate:
    """A schedule that is to be measured, and the arguments of its function. Counterpart of TVM's class of that name."""

    sch: Schedule
    args_info: Sequence[ArgInfo] | None = None


class Seconds(float):
    """The seconds of a run: a number, which has itself as `value`, as those of TVM's records have theirs."""

    @property
    def value(self) -> float:
        """The number."""
        return float(self)


@checked_methods
@dataclass(frozen=True, eq=False)
class TuningRecord:
    """A trace that was measured. Counterpart of TVM's `TuningRecord`.

    Args:
        trace: what schedules the workload.
        workload: what is scheduled.
        run_secs: the seconds of each run; none where it was not run.
        target: what it was built for.
        args_info: the arguments that it ran on.
    """

    trace: Trace
    workload: Workload
    run_secs: Sequence[float] | None = None
    target: Target | None = None
    args_info: Sequence[ArgInfo] | None = None

    def __post_init__(self) -> None:
        if self.run_secs is not None:
            object.__setattr__(self, "run_secs", [Seconds(each) for each in self.run_secs])

    @property
    def seconds(self) -> float:
        """The mean of the runs; without end where there are none."""
        return fmean(self.run_secs) if self.run_secs else float("inf")

    @property
    def is_valid(self) -> bool:
        """Whether there is a run that did not fail."""
        return any(seconds < FAILED for seconds in self.run_secs or ())

    def as_json(self) -> list[object]:
        """The trace, the seconds, the target and the arguments, as lists and plain values."""
        seconds = None if self.run_secs is None else list(self.run_secs)
        args = None if self.args_info is None else [each.as_json() for each in self.args_info]
        return [self.trace.as_json(), seconds, None if self.target is None else str(self.target), args]

    @staticmethod
    def from_json(json_obj: object, workload: Workload) -> TuningRecord:
        """What `as_json` has given, of a workload.

        Raises:
            UsageError: it has given no such list.
        """
        fields = json_obj if isa(json_obj, list[object]) and len(json_obj) == 4 else [None, None, 0, None]
        trace, seconds, target, args = fields
        if not (
            isinstance(target, str | None)
            and isa(seconds, list[float | int] | None)
            and isa(args, list[list[object]] | None)
        ):
            raise UsageError("this is no tuning record as JSON", hint="[trace, seconds, target, arguments]")
        return TuningRecord(
            Trace.from_json(trace),
            workload,
            seconds,
            None if target is None else Target.parse(target),
            None if args is None else [ArgInfo.from_json(each) for each in args],
        )

    def as_measure_candidate(self) -> MeasureCandidate:
        """The schedule of its workload, to be measured again."""
        schedule = Schedule(self.workload.mod)
        self.trace.apply_to_schedule(schedule)
        return MeasureCandidate(schedule, self.args_info)


FAILED = 1e10
"""The seconds by which TVM says that a run failed."""


_ENTERED: ContextVar[tuple[Used, ...]] = ContextVar("weft_databases", default=())


class Used(Named):
    """What compilations use in a `with` block. Counterpart of what TVM's `Database` has for that."""

    def _settings(self) -> Mapping[str, object]:
        """The configuration that has compilations use it, and none of those around it."""
        return {DATABASE: self, TUNING_RECORDS: None}

    def __enter__(self) -> Self:
        """Let compilations use what it knows, in whatever `PassContext` they run, unless the configuration
        `relay.backend.use_meta_schedule` is false there."""
        entered = ExitStack()
        entered.enter_context(PassContext.settled(self._settings()))
        token = _ENTERED.set((*_ENTERED.get(), self))
        entered.callback(_ENTERED.reset, token)
        self.__dict__.setdefault("_left", []).append(entered)  # one's own may not call __init__
        return self

    def __exit__(self, *error: object) -> None:
        self.__dict__["_left"].pop().close()

    @staticmethod
    def current() -> Used | None:
        """The database that was entered last; `None` where there is none."""
        return next(reversed(_ENTERED.get()), None)


class TraceDatabase(Used, ABC):
    """Records by workload. Counterpart of TVM's `Database`, as one's own are derived from it (`PyDatabase`).

    In a `with` block compilations ask it for a schedule of each kernel: as a module of one function `main`, with what
    the kernel is called in the module's attribute `task_name`.
    """

    def schedule_for(self, function: PrimFuncOp, target: Target) -> Schedule | None:
        """The schedule of the fastest record of a kernel; `None` where there is none.

        Raises:
            ScheduleError: its trace does not apply.
        """
        module = task_module(function)
        record = self.query_tuning_record(module, target, function.sym_name.data)
        if record is None:
            return None
        schedule = Schedule(module)
        record.trace.apply_to_schedule(schedule)
        return schedule

    @abstractmethod
    def has_workload(self, mod: Scheduled) -> bool:
        """Whether it knows the module."""

    @abstractmethod
    def commit_workload(self, mod: Scheduled) -> Workload:
        """Make a module known; that which is known already, where there is one."""

    @abstractmethod
    def commit_tuning_record(self, record: TuningRecord) -> None:
        """Add what was measured."""

    @abstractmethod
    def get_all_tuning_records(self) -> list[TuningRecord]:
        """All records."""

    @abstractmethod
    def get_top_k(self, workload: Workload, top_k: int) -> list[TuningRecord]:
        """The fastest so many of a workload, the fastest first."""

    @abstractmethod
    def __len__(self) -> int: ...

    def query_tuning_record(
        self, mod: Scheduled, target: Target | str, workload_name: str | None = None
    ) -> TuningRecord | None:
        """The fastest record of a module; `None` where there is none. The rest is for a database of one's own."""
        if not self.has_workload(mod):
            return None
        return next(iter(self.get_top_k(self.commit_workload(mod), 1)), None)

    def query_schedule(self, mod: Scheduled, target: Target | str, workload_name: str | None = None) -> Schedule | None:
        """The schedule of the fastest record."""
        record = self.query_tuning_record(mod, target, workload_name)
        return None if record is None else record.as_measure_candidate().sch

    def query_ir_module(
        self, mod: Scheduled, target: Target | str, workload_name: str | None = None
    ) -> IRModule | None:
        """The module, scheduled."""
        schedule = self.query_schedule(mod, target, workload_name)
        return None if schedule is None else schedule.mod

    def query(
        self, mod: Scheduled, target: Target | str, *, workload_name: str = "main", kind: str = "schedule"
    ) -> Schedule | IRModule | TuningRecord | None:
        """The `"record"`, the `"schedule"` or the `"ir_module"` of the fastest.

        Raises:
            UsageError: the kind is none of these.
        """
        match kind:
            case "record":
                return self.query_tuning_record(mod, target, workload_name)
            case "schedule":
                return self.query_schedule(mod, target, workload_name)
            case "ir_module":
                return self.query_ir_module(mod, target, workload_name)
            case _:
                raise UsageError(f"there is no kind '{kind}'", hint="'record', 'schedule' or 'ir_module'")


def task_module(function: PrimFuncOp) -> IRModule:
    """A module of a copy of a kernel, which is called `main` there; the attribute `task_name` says its own name."""
    module = IRModule({"main": function})
    module.attributes["task_name"] = StringAttr(function.sym_name.data)
    return module


class MemoryDatabase(TraceDatabase):
    """Records in memory. Counterpart of TVM's class of that name.

    Args:
        module_equality: what makes modules one, as `ModuleEquality` says.

    Raises:
        UsageError: there is no such equality.
    """

    def __init__(self, *, module_equality: str = "structural"):
        self._equality = ModuleEquality(module_equality)
        self._workloads: dict[int, list[Workload]] = {}
        self._records: list[tuple[Workload, TuningRecord]] = []
        """Each with the workload that its own is."""

    def _same(self, mod: Scheduled) -> list[Workload]:
        """Those among which a module is, if it is known."""
        return self._workloads.setdefault(self._equality.hash(IRModule.of(mod)), [])

    def _found(self, mod: Scheduled) -> Workload | None:
        """The workload that a module is."""
        module = IRModule.of(mod)
        return next((each for each in self._same(module) if self._equality.equal(each.mod, module)), None)

    def has_workload(self, mod: Scheduled) -> bool:
        return self._found(mod) is not None

    def commit_workload(self, mod: Scheduled) -> Workload:
        if (found := self._found(mod)) is not None:
            return found
        made = Workload(mod)
        self._same(mod).append(made)
        return made

    def commit_tuning_record(self, record: TuningRecord) -> None:
        self._records.append((self.commit_workload(record.workload.mod), record))

    def get_all_tuning_records(self) -> list[TuningRecord]:
        return [record for _, record in self._records]

    def get_top_k(self, workload: Workload, top_k: int) -> list[TuningRecord]:
        if top_k < 0:
            raise UsageError(f"top_k is not negative: {top_k}")
        known = self._found(workload.mod)
        ran = [record for each, record in self._records if each is known and record.is_valid]
        return sorted(ran, key=lambda record: record.seconds)[:top_k]

    def __len__(self) -> int:
        return len(self._records)


class QueriedDatabase(TraceDatabase):
    """One that answers queries only: it holds no records that could be counted or added to."""

    def has_workload(self, mod: Scheduled) -> bool:
        raise self._no_place("has_workload")

    def commit_workload(self, mod: Scheduled) -> Workload:
        raise self._no_place("commit_workload")

    def commit_tuning_record(self, record: TuningRecord) -> None:
        raise self._no_place("commit_tuning_record")

    def get_all_tuning_records(self) -> list[TuningRecord]:
        raise self._no_place("get_all_tuning_records")

    def get_top_k(self, workload: Workload, top_k: int) -> list[TuningRecord]:
        raise self._no_place("get_top_k")

    def __len__(self) -> int:
        raise self._no_place("__len__")

    def _no_place(self, name: str) -> UsageError:
        return UsageError(f"a {type(self).__name__} answers queries only, and has no {name}")


class ScheduleFnDatabase(QueriedDatabase):
    """What a function makes of each schedule. Counterpart of TVM's class of that name.

    Args:
        schedule_fn: schedules what it is given, and says whether it has.
        module_equality: as for `MemoryDatabase`; the function is asked for each module, so that it is of no account.
    """

    def __init__(self, schedule_fn: Callable[[Schedule], bool], module_equality: str = "structural"):
        ModuleEquality(module_equality)
        self.schedule_fn = schedule_fn

    def query_tuning_record(
        self, mod: Scheduled, target: Target | str, workload_name: str | None = None
    ) -> TuningRecord | None:
        schedule = Schedule(mod)
        if not self.schedule_fn(schedule):
            return None
        return TuningRecord(schedule.trace, Workload(mod), None, Target.parse(target))


class OrderedUnionDatabase(QueriedDatabase):
    """Several, of which the first that has a record is asked. Counterpart of TVM's class of that name."""

    def __init__(self, *databases: TraceDatabase):
        self.databases = databases

    def query_tuning_record(
        self, mod: Scheduled, target: Target | str, workload_name: str | None = None
    ) -> TuningRecord | None:
        return next(iter(self._found(mod, target, workload_name)), None)

    def _found(self, mod: Scheduled, target: Target | str, name: str | None) -> list[TuningRecord]:
        found = (each.query_tuning_record(mod, target, name) for each in self.databases)
        return [record for record in found if record is not None]


class UnionDatabase(OrderedUnionDatabase):
    """Several, of which the one with the fastest record is asked. Counterpart of TVM's class of that name."""

    def query_tuning_record(
        self, mod: Scheduled, target: Target | str, workload_name: str | None = None
    ) -> TuningRecord | None:
        return min(self._found(mod, target, workload_name), key=lambda record: record.seconds, default=None)
