"""Records of tuning, as a database of schedules (`tvm.meta_schedule.database`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from xdsl.dialects.builtin import StringAttr

from ..dialects.schedule.queries import GetBlockOp
from ..dialects.support.arguments import checked, checked_methods
from ..dialects.support.diagnostics import UsageError, did_you_mean
from ..dialects.tir.core import PrimFuncOp
from ..dialects.tir.script.modules import IRModule
from ..lowering.machine.target import Target
from ..lowering.prim_func_graph import graph_of
from ..transforms.infra.config import DATABASE, TUNING_RECORDS
from ..transforms.infra.registry import new_ir_context
from ..transforms.tir.attach_tuned_schedules import kernel_key, sequence_of
from ..transforms.tir.scheduling.schedule import Schedule
from ..transforms.tir.scheduling.trace import Trace
from ..transforms.tir.scheduling.tuning_records import Status, append_record, read_records
from ..transforms.tir.scheduling.tuning_records import TuningRecord as FileRecord
from .json_database import JSONDatabase as JSONDatabase
from .module_equality import ModuleEquality as ModuleEquality
from .records import MemoryDatabase as MemoryDatabase
from .records import OrderedUnionDatabase as OrderedUnionDatabase
from .records import ScheduleFnDatabase as ScheduleFnDatabase
from .records import TraceDatabase as TraceDatabase
from .records import TuningRecord as TuningRecord
from .records import UnionDatabase as UnionDatabase
from .records import Used
from .records import Workload as Workload
from .rule import Scheduled

NAME = "database_tuning_record.json"
"""What the file in a folder is called."""


@checked_methods
class Database(Used):
    """A file of tuning records, as `weft.tune` and `tune_tir` write them: what is added by others is seen. Counterpart
    of TVM's `meta_schedule.Database`; traces of one's own are kept in a `JSONDatabase`.

    A function is known by what it computes, whatever it is called, as `weft.compile` knows kernels.

    Args:
        path_tuning_record: the file; it need not be there yet.
        work_dir: the folder that it is in, by TVM's name, where the file is not given.
    """

    def __init__(
        self,
        path_tuning_record: str | os.PathLike[str] | None = None,
        *,
        work_dir: str | os.PathLike[str] | None = None,
    ):
        match path_tuning_record, work_dir:
            case None, str() | os.PathLike():
                self.path = str(Path(work_dir) / NAME)
            case str() | os.PathLike(), None:
                self.path = str(Path(path_tuning_record))
            case _:
                raise UsageError("a database is a file, or in a folder: one of both is given")

    def __len__(self) -> int:
        return len(self.get_all_tuning_records())

    def _settings(self) -> Mapping[str, object]:
        return {TUNING_RECORDS: self.path, DATABASE: None}

    def get_all_tuning_records(self) -> list[FileRecord]:
        """All of them, in the order in which they were measured.

        Raises:
            Diagnostic: the file holds something else.
        """
        return read_records(self.path) if os.path.exists(self.path) else []

    def commit_tuning_record(self, record: FileRecord) -> None:
        """Add one, to the file as well.

        Raises:
            Diagnostic: it cannot be written.
        """
        append_record(self.path, record)

    def has_workload(self, mod: Scheduled) -> bool:
        """Whether there is a record of each function."""
        known = {record.kernel for record in self.get_all_tuning_records()}
        return all(key_of(function) in known for function in functions_in(mod))

    def get_top_k(self, mod: Scheduled, top_k: int, target: Target | str | None = None) -> list[FileRecord]:
        """The `top_k` records of the schedules of a function that took least of the time of the rules' schedule.

        Args:
            target: only those for it.

        Raises:
            UsageError: the module has another number of functions than one.
        """
        functions = functions_in(mod)
        if len(functions) != 1:
            raise UsageError(f"the module has {len(functions)} functions, and records are of one")
        name = None if target is None else Target.parse(target).name()
        key = key_of(functions[0])
        found = [
            record
            for record in self.get_all_tuning_records()
            if record.kernel == key and record.status is Status.MEASURED and name in (None, record.target)
        ]
        return sorted(found, key=lambda record: record.ratio)[:top_k]

    def query_tuning_record(
        self, mod: Scheduled, target: Target | str, workload_name: str = "main"
    ) -> FileRecord | None:
        """The record of the fastest schedule; `None` where there is none. `workload_name` is for people."""
        return next(iter(self.get_top_k(mod, 1, target)), None)

    def query_schedule(self, mod: Scheduled, target: Target | str, workload_name: str = "main") -> Schedule | None:
        """A schedule of the module with the fastest of each function applied; `None` where none has a record.

        Raises:
            Diagnostic: a record is none for the function any more.
        """
        schedule: Schedule | None = None
        for function in functions_in(mod):
            record = self.query_tuning_record(function, target, workload_name)
            if record is None:
                continue
            name = function.sym_name.data
            sequence = sequence_of(record.schedule, new_ir_context(), self.path, name)
            schedule = schedule or Schedule(mod)
            if len(functions_in(mod)) > 1:
                for op in sequence.instructions:
                    if isinstance(op, GetBlockOp):
                        op.properties["function"] = StringAttr(name)
            Trace(sequence).apply_to_schedule(schedule)
        return schedule

    def query_ir_module(self, mod: Scheduled, target: Target | str, workload_name: str = "main") -> IRModule | None:
        """The module, scheduled; `None` where no function has a record."""
        schedule = self.query_schedule(mod, target, workload_name)
        return None if schedule is None else schedule.mod


PyDatabase = TraceDatabase
"""TVM's name of what one's own are derived from."""


_KINDS: dict[str, type[TraceDatabase]] = {
    "json": JSONDatabase,
    "memory": MemoryDatabase,
    "union": UnionDatabase,
    "ordered_union": OrderedUnionDatabase,
}


@checked
def create(kind: str | Callable[[Schedule], bool] = "json", *args: object, **parameters: object) -> TraceDatabase:
    """The database of traces of a name: `"json"`, `"memory"`, `"union"` or `"ordered_union"`; or of a function that
    schedules. The rest is what its class is given. Counterpart of TVM's `database.create`.

    Raises:
        UsageError: there is none of the name.
    """
    if not isinstance(kind, str):
        return ScheduleFnDatabase(kind, *args, **parameters)  # pyright: ignore[reportArgumentType]
    if kind not in _KINDS:
        raise UsageError(f"there is no database '{kind}'", hint=did_you_mean(kind, _KINDS) or ", ".join(_KINDS))
    return _KINDS[kind](*args, **parameters)


def functions_in(mod: Scheduled) -> list[PrimFuncOp]:
    """The functions that are scheduled."""
    return [mod] if isinstance(mod, PrimFuncOp) else [op for op in mod.ops if isinstance(op, PrimFuncOp)]


def key_of(function: PrimFuncOp) -> str:
    """What records know a function by: the same as a kernel that does the same, with its inputs first.

    Raises:
        Diagnostic: it cannot be called by a graph.
    """
    kernel = graph_of(function).body.block.first_op
    assert isinstance(kernel, PrimFuncOp)
    return kernel_key(kernel)
