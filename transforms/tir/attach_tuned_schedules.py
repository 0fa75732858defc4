"""Put the best schedules that tuning has found beside the functions that they are for.

`records` is a file that `weft-tune` wrote. A function is known by what it computes (`kernel_key`), whatever model it
comes from and whatever it is called there. Its schedule stands in the module as any other, and is applied by
`apply-schedule`: it can be read and changed in between, and what is compiled depends on nothing else.

Before -> after:

```mlir
tir.prim_func @fused_nn_dense_2(...) { ... }

tir.prim_func @fused_nn_dense_2(...) { ... }
schedule.sequence @fused_nn_dense_2_tuned on @fused_nn_dense_2 attributes {weft.tuned = "model.jsonl"} { ... }
```

A function without a record that is surely faster than the rules' schedule, or with a schedule of its own beside it, is
left to that. Does not: look whether the schedule applies, which `apply-schedule` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr

from ...dialects.schedule.core import SequenceOp
from ...dialects.schedule.queries import GetBlockOp
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.fingerprint import fingerprint
from ...dialects.support.parser import parse_module
from ...dialects.support.unique_names import unique_symbols
from ...dialects.support.verifier import verify
from ...dialects.tir.core import PrimFuncOp
from ..infra import ModulePass
from ..infra.execution import report_changed
from ..infra.remarks import missed, passed
from ..infra.walk import clone
from .apply_schedule import TUNED
from .scheduling.tuning_records import best_records, read_records


@dataclass(frozen=True)
class AttachTunedSchedulesPass(ModulePass):
    """Take schedules from the tuning records in the file `records`; if `target` or `threads` are given, only what was
    measured there, and on so many."""

    name = "attach-tuned-schedules"
    config_keys: ClassVar[dict[str, str]] = {"tuning.records": "records"}

    records: str | None = None
    target: str | None = None
    threads: int | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Raises:
            UsageError: the file cannot be read.
            Diagnostic: it holds something else than records.
        """
        report_changed(False)
        if self.records is None:
            return
        records = read_records(self.records)
        usable = [each for each in records if self.target in (None, each.target)]
        fitting = [each for each in usable if self.threads in (None, each.threads)]
        if records and not usable:
            others = ", ".join(sorted({each.target for each in records}))
            missed(self.name, op, f"no record of {self.records} is for {self.target}", f"they are for {others}")
        elif usable and not fitting:
            others = ", ".join(map(str, sorted({each.threads for each in usable})))
            missed(
                self.name,
                op,
                f"no record of {self.records} is for as many threads: {self.threads}",
                f"they are for {others}",
            )
        best = best_records(fitting)
        names = unique_symbols(op)
        named = {each.function_name for each in op.ops if isinstance(each, SequenceOp)}
        for func in [each for each in op.ops if isinstance(each, PrimFuncOp) and each.sym_name.data not in named]:
            if (record := best.get(kernel_key(func))) is None:
                continue
            try:
                sequence = sequence_of(record.schedule, ctx, self.records, func.sym_name.data)
            except Diagnostic as error:
                missed(self.name, func, f"the schedule of its record cannot be read any more: {error.message}")
                continue
            name = func.sym_name.data
            sequence.properties["sym_name"] = StringAttr(names.new(f"{name}_tuned"))
            sequence.attributes[TUNED] = StringAttr(self.records)
            op.body.block.insert_op_after(sequence, func)
            report_changed(True)
            passed(self.name, func, f"@{name} has a schedule that took {record.ratio:.2f} of the time of the rules'")


def kernel_key(func: PrimFuncOp) -> str:
    """What is the same for functions that compute the same in the same way, before they are scheduled: names of
    functions and values do not count, those of blocks do, since schedules refer to them."""
    copy = clone(func)
    copy.properties["sym_name"] = StringAttr("kernel")
    return sha256(fingerprint(copy, names=False).encode()).hexdigest()[:32]


def sequence_of(text: str, ctx: Context, place: str, function: str) -> SequenceOp:
    """The schedule in a text, as an operation that stands nowhere, for the function of a name.

    Raises:
        Diagnostic: the text is not valid, or holds anything but one schedule.
    """
    module = parse_module(text, ctx, place)
    verify(module)
    ops = list(module.ops)
    if len(ops) != 1 or not isinstance(sequence := ops[0], SequenceOp):
        raise Diagnostic("it is not one schedule.sequence")
    sequence.detach()
    point_at(sequence, function)
    return sequence


def point_at(sequence: SequenceOp, function: str) -> None:
    """Make a schedule one for the function of another name."""
    for op in sequence.instructions:
        if isinstance(op, GetBlockOp) and op.function is not None and op.function.data == sequence.function_name:
            op.properties["function"] = StringAttr(function)
    sequence.properties["function"] = SymbolRefAttr(function)
