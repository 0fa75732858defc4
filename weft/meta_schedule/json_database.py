"""Traces that were measured, in two files of JSON (`tvm.meta_schedule.database.JSONDatabase`).

One file has a line for each workload, the module as `weft.ir.save_json` writes it. The other has a line for each
record: the number of its workload, and what `TuningRecord.as_json` gives.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias, cast

from ..dialects.support.arguments import checked_methods
from ..dialects.support.diagnostics import Diagnostic, Place, UsageError
from ..dialects.support.hints import isa
from .records import MemoryDatabase, TuningRecord, Workload
from .rule import Scheduled

WORKLOADS, RECORDS = "database_workload.json", "database_tuning_record.json"
"""What the files in a folder are called."""
File: TypeAlias = "str | os.PathLike[str] | None"


@checked_methods
class JSONDatabase(MemoryDatabase):
    """Records by workload that are kept in files, and read from them when it is made. Counterpart of TVM's class of
    that name; the files are Weft's own.

    Args:
        path_workload: the file of workloads.
        path_tuning_record: the file of records.
        work_dir: the folder that both are in, where they are not given.
        allow_missing: make files that are not there.
        module_equality: what makes modules one, as for `MemoryDatabase`.

    Raises:
        UsageError: neither the files nor their folder are given, or there is no such equality.
        Diagnostic: a file is not there and not to be made, cannot be written, or holds something else.
    """

    def __init__(
        self,
        path_workload: File = None,
        path_tuning_record: File = None,
        *,
        work_dir: File = None,
        allow_missing: bool = True,
        module_equality: str = "structural",
    ):
        super().__init__(module_equality=module_equality)
        self.path_workload = _path(path_workload, work_dir, WORKLOADS)
        self.path_tuning_record = _path(path_tuning_record, work_dir, RECORDS)
        self._numbers: dict[Workload, int] = {}
        workloads: list[Workload] = []

        def record(line: object) -> None:
            if not isa(line, list[object]) or len(line) != 2 or line[0] not in range(len(workloads)):
                raise UsageError("is no record of a workload", hint="files of weft.tune are a meta_schedule.Database")
            made = TuningRecord.from_json(line[1], workloads[cast("int", line[0])])
            super(JSONDatabase, self).commit_tuning_record(made)

        def workload(line: object) -> None:
            made = super(JSONDatabase, self).commit_workload(Workload.from_json(line).mod)
            self._numbers.setdefault(made, len(workloads))
            workloads.append(made)

        _read(self.path_workload, workload, allow_missing)
        _read(self.path_tuning_record, record, allow_missing)
        self._count = len(workloads)

    def commit_workload(self, mod: Scheduled) -> Workload:
        made = super().commit_workload(mod)
        if made not in self._numbers:
            _append(self.path_workload, made.as_json())
            self._numbers[made] = self._count
            self._count += 1
        return made

    def commit_tuning_record(self, record: TuningRecord) -> None:
        number = self._numbers[self.commit_workload(record.workload.mod)]
        super().commit_tuning_record(record)
        _append(self.path_tuning_record, [number, record.as_json()])


def _path(given: File, folder: File, name: str) -> str:
    if given is None and folder is None:
        raise UsageError("a database is two files, or in a folder", hint="work_dir=")
    return str(Path(folder or "") / name) if given is None else str(Path(given))


def _read(path: str, take: Callable[[object], None], allow_missing: bool) -> None:
    """Hand over each line of a file, which is made where it may be missing."""
    try:
        if allow_missing:
            Path(path).touch()
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Diagnostic(f"'{path}' cannot be read: {error}") from None
    for number, line in enumerate(text.splitlines(), 1):
        try:
            take(json.loads(line))
        except (ValueError, RecursionError, Diagnostic) as error:
            told = error.message if isinstance(error, Diagnostic) else f"is no JSON: {error}"
            hint = error.hint if isinstance(error, Diagnostic) else None
            raise Diagnostic(told, Place(path, number, 1), hint=hint) from error


def _append(path: str, line: object) -> None:
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    except OSError as error:
        raise Diagnostic(f"'{path}' cannot be written: {error}") from None
