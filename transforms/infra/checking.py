"""Instruments that check: the verifier after each pass, statistics, and a reproducer of a failing pass."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType, ModuleOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import DiagnosticException

from ...dialects.relay.base import tensor
from ...dialects.relay.core import ConstantOp
from ...dialects.support.verifier import verify
from .execution import active_run
from .info import PassInfo
from .instruments import PassInstrument
from .walk import walk


class VerifyEach(PassInstrument):
    """Verifies the module after every pass, so that a pass that breaks it is found out, not a later one.

    With `before`, also before the first pass.
    """

    def __init__(self, *, before: bool = False):
        self._before = before
        self._depth = 0

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        if self._before and self._depth == 0:
            verify(module)
        self._depth += 1

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self._depth -= 1
        if info.is_sequence:
            return
        try:
            verify(module)
        except DiagnosticException as error:
            error.add_note(f"the module does not verify after the pass {info.spec}")
            raise

    def run_after_failure(self, module: ModuleOp, info: PassInfo, error: Exception) -> None:
        self._depth -= 1


@dataclass
class PassRecord:
    """What one run of a pass did to the size of the module."""

    name: str
    ops_before: int = 0
    ops_after: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    by_op: Counter[str] = field(default_factory=Counter[str])
    """Operation name -> how many more there are afterwards; negative for fewer."""
    rewrites: dict[str, int] = field(default_factory=dict[str, int])
    """Pattern -> how many times it rewrote something."""
    changed: bool | None = None
    """What the pass said about it."""
    figures: dict[str, int] = field(default_factory=dict[str, int])
    """What the pass has measured, by what it is."""


class PassStatistics(PassInstrument):
    """Counts operations, bytes of constants and rewrites per pass.

    with PassContext(instruments=[statistics := PassStatistics()]):
        module = Sequential([...])(module)
    print(statistics.render())
    """

    def __init__(self) -> None:
        self.records: list[PassRecord] = []
        self._open: list[tuple[Counter[str], int]] = []

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self._open.append(_measure(module))

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        ops_before, bytes_before = self._open.pop()
        if info.is_sequence:
            return
        ops_after, bytes_after = _measure(module)
        difference = Counter(ops_after)
        difference.subtract(ops_before)
        run = active_run()
        self.records.append(
            PassRecord(
                info.name,
                ops_before.total(),
                ops_after.total(),
                bytes_before,
                bytes_after,
                Counter({name: n for name, n in difference.items() if n}),
                dict(run.rewrites) if run is not None else {},
                run.changed if run is not None else None,
                dict(run.figures) if run is not None else {},
            )
        )

    def run_after_failure(self, module: ModuleOp, info: PassInfo, error: Exception) -> None:
        self._open.pop()

    def render(self) -> str:
        """One line a pass, one a pattern that rewrote something, and one a figure that the pass has measured."""
        width = max((len(record.name) for record in self.records), default=0)
        lines: list[str] = []
        for r in self.records:
            memory = f", {r.bytes_before} -> {r.bytes_after} bytes" if r.bytes_before != r.bytes_after else ""
            what = ", ".join(f"{n:+} {name}" for name, n in sorted(r.by_op.items()))
            lines.append(
                f"{r.name:<{width}}  {r.ops_before} -> {r.ops_after} ops{memory}{f' ({what})' if what else ''}"
            )
            lines += [f"{'':<{width}}  {count} x {pattern}" for pattern, count in sorted(r.rewrites.items())]
            lines += [f"{'':<{width}}  {number} {what}" for what, number in r.figures.items()]
        return "\n".join(lines) + "\n" if lines else ""


def _measure(module: ModuleOp) -> tuple[Counter[str], int]:
    """How many operations of each name there are, and how many bytes constants stand for; equal ones count once."""
    ops: Counter[str] = Counter()
    constants: dict[Attribute, int] = {}
    for op in walk(module):
        ops[op.name] += 1
        if isinstance(op, ConstantOp):
            type = tensor(op.result)
            bits = type.element_type.bitwidth if isinstance(type.element_type, FixedBitwidthType) else 0
            constants[op.value] = prod(type.get_shape()) * bits // 8
    return ops, sum(constants.values())
