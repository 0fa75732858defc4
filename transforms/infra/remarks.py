"""Remarks: what a pass did, and what it did not do and why.

with collect() as remarks:
    module = FuseOpsPass()(module)
for remark in remarks:
    print(remark)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation

from ...dialects.support.diagnostics import Diagnostic, Place, Severity


class RemarkKind(Enum):
    """MLIR's kinds of optimisation remarks."""

    PASSED = "passed"
    MISSED = "missed"
    ANALYSIS = "analysis"


@dataclass(frozen=True)
class Remark:
    """One thing a pass had to say about one operation. Holds no reference into the IR."""

    kind: RemarkKind
    pass_name: str
    op_name: str
    location: LocationAttr
    message: str
    suggestion: str | None = None

    def as_diagnostic(self) -> Diagnostic:
        """The remark as what the renderer shows and `expected-remark` compares with."""
        message = f"[{self.pass_name}] {self.kind.value}: '{self.op_name}': {self.message}"
        place = Place.of_location(self.location)
        return Diagnostic(message, place, hint=self.suggestion, severity=Severity.REMARK)

    def __str__(self) -> str:
        return str(self.as_diagnostic())


RemarkSink: TypeAlias = Callable[[Remark], None]

_SINKS: ContextVar[tuple[RemarkSink, ...]] = ContextVar("weft_remark_sinks", default=())


def passed(pass_name: str, op: Operation, message: str) -> None:
    """Report that a pass did its work on `op`."""
    _emit(RemarkKind.PASSED, pass_name, op, message, None)


def missed(pass_name: str, op: Operation, reason: str, suggestion: str | None = None) -> None:
    """Report that a pass left `op` as it was, why, and what would let it go on."""
    _emit(RemarkKind.MISSED, pass_name, op, reason, suggestion)


def analysis(pass_name: str, op: Operation, message: str) -> None:
    """Report something a pass found out, whether or not it acts on it."""
    _emit(RemarkKind.ANALYSIS, pass_name, op, message, None)


def listening() -> bool:
    """Whether anybody wants remarks: ask before a costly message is put together."""
    return bool(_SINKS.get())


def _emit(kind: RemarkKind, pass_name: str, op: Operation, message: str, suggestion: str | None) -> None:
    if sinks := _SINKS.get():
        remark = Remark(kind, pass_name, op.name, op.location, message, suggestion)
        for sink in sinks:
            sink(remark)


@contextmanager
def sent_to(sinks: Sequence[RemarkSink]) -> Generator[None]:
    """Hand every remark of the `with` block to `sinks` too."""
    token = _SINKS.set((*_SINKS.get(), *sinks))
    try:
        yield
    finally:
        _SINKS.reset(token)


@contextmanager
def unheard() -> Generator[None]:
    """Hand no remark of the `with` block to anybody."""
    token = _SINKS.set(())
    try:
        yield
    finally:
        _SINKS.reset(token)


@contextmanager
def collect() -> Generator[list[Remark]]:
    """Collect the remarks of the `with` block in a list."""
    remarks: list[Remark] = []
    with sent_to([remarks.append]):
        yield remarks
