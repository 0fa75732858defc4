"""Apply schedules that are written down: every `schedule.sequence` to the function it names.

The sequences stand in the module itself, and are gone once applied, or in the file or folder that `record` names, as
`print(schedule.trace.op)` or `schedule-rules{record-to=...}` wrote them. Decisions that are recorded are made again;
others are drawn, from the name of the sequence, so that each run draws the same.

Before -> after:

```mlir
tir.prim_func @f(...) { tir.for %i = 0 to 64 { tir.block @b ... } }
schedule.sequence @s on @f {
  %b = schedule.get_block @b
  %i = schedule.get_loops %b -> 1
  %i_0, %i_1 = schedule.split %i, [?, 16] -> 2
}

tir.prim_func @f(...) { tir.for %i_0 = 0 to 4 { tir.for %i_1 = 0 to 16 { tir.block @b ... } } }
```

An instruction that does not apply is an error at its place in the schedule's text. A schedule that was found by tuning
(`weft.tuned`, see `attach-tuned-schedules`) is only a proposal: where it does not apply, a remark says why, and the
function is as it was; so it is, in a compilation, where code cannot be made of what the schedule gives (`apart`).

Does not: choose between several schedules of one function; they are applied one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...dialects.schedule.core import SequenceOp
from ...dialects.support.diagnostics import Diagnostic, UsageError, did_you_mean
from ...dialects.support.parser import parse_module
from ...dialects.support.verifier import verify
from ...dialects.tir.core import PrimFuncOp
from ..infra import ModulePass
from ..infra.remarks import missed, passed
from ..infra.walk import clone, erase
from .scheduling.schedule import Schedule
from .scheduling.trace import Trace

TUNED = "weft.tuned"
"""The attribute of a schedule that tuning has found: the record that it comes from."""


@dataclass(frozen=True)
class ApplySchedulePass(ModulePass):
    """Apply the schedules of the module, or those of the file or folder `record`."""

    name = "apply-schedule"

    record: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {func.sym_name.data: func for func in op.ops if isinstance(func, PrimFuncOp)}
        if self.record is None:
            for sequence in [each for each in op.ops if isinstance(each, SequenceOp)]:
                func = _function_of(sequence, functions)
                if TUNED in sequence.attributes:
                    functions[func.sym_name.data] = _apply_if_it_applies(sequence, func)
                else:
                    apply_sequence(sequence, func)
                sequence.detach()
                sequence.erase()
            return
        for sequence in read_record(self.record, ctx):
            if sequence.function_name is not None and sequence.function_name not in functions:
                missed(self.name, sequence, f"there is no function @{sequence.function_name} in this module")
                continue
            apply_sequence(sequence, _function_of(sequence, functions))


def read_record(path: str, ctx: Context) -> list[SequenceOp]:
    """The schedules in a file, or in all files of a folder that end in `.mlir`.

    Raises:
        Diagnostic: as `read_file` says.
    """
    files = sorted(map(str, Path(path).glob("*.mlir"))) if Path(path).is_dir() else [path]
    return [sequence for file in files for sequence in read_file(file, ctx)]


def read_file(file: str, ctx: Context) -> list[SequenceOp]:
    """The schedules in a file.

    Raises:
        Diagnostic: it cannot be read, is no valid module, or holds anything but schedules.
    """
    try:
        text = Path(file).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the schedules in {file}: {error}") from error
    module = parse_module(text, ctx, file)
    verify(module)
    found: list[SequenceOp] = []
    for each in module.ops:
        if not isinstance(each, SequenceOp):
            raise Diagnostic.at(each, "a record holds schedules only", hint="put the function into the module")
        found.append(each)
    return found


def apply_sequence(sequence: SequenceOp, func: PrimFuncOp) -> None:
    """Schedule `func` in place as `sequence` says.

    Raises:
        ScheduleError: an instruction does not apply, at its place.
    """
    schedule = Schedule.on(func)
    schedule.seed(sum(sequence.sym_name.data.encode()))
    Trace(sequence).apply_to_schedule(schedule)
    passed("apply-schedule", func, f"@{func.sym_name.data} is scheduled as @{sequence.sym_name.data} says")


def _apply_if_it_applies(sequence: SequenceOp, func: PrimFuncOp) -> PrimFuncOp:
    """The function, scheduled as `sequence` says, or as it was where that does not apply."""
    scheduled = clone(func)
    alone = ModuleOp([scheduled])
    try:
        apply_sequence(sequence, scheduled)
        verify(alone)
    except Diagnostic as error:
        missed("apply-schedule", sequence, f"it does not apply to @{func.sym_name.data} any more: {error.message}")
        return func
    block = func.parent
    assert block is not None
    scheduled.detach()
    block.insert_op_before(scheduled, func)
    erase(func)
    return scheduled


def without_tuned(module: ModuleOp) -> ModuleOp | None:
    """A copy of a module without the schedules that tuning has found; `None` where there are none."""
    if not any(isinstance(op, SequenceOp) and TUNED in op.attributes for op in module.ops):
        return None
    copy = clone(module)
    for op in list(copy.ops):
        if isinstance(op, SequenceOp) and TUNED in op.attributes:
            op.detach()
            op.erase()
    return copy


def _function_of(sequence: SequenceOp, functions: dict[str, PrimFuncOp]) -> PrimFuncOp:
    name = sequence.function_name
    if name is None and len(functions) == 1:
        return next(iter(functions.values()))
    if name is None:
        raise Diagnostic.at(
            sequence, f"names no function, and the module has {len(functions)}", hint="write: on @function"
        )
    if name not in functions:
        known = [f"@{each}" for each in functions]
        raise Diagnostic.at(sequence, f"there is no function @{name}", hint=did_you_mean(f"@{name}", known))
    return functions[name]
