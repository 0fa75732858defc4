"""What a check has found."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ...support.diagnostics import Diagnostic


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with `op`, or, where not `certain`, could not be shown to be right."""

    op: Operation
    message: str
    hint: str | None = None
    certain: bool = True
    buffer: SSAValue | None = None
    """The buffer that it is about, if it is about one."""
    by_data: bool = False
    """Whether data decides it, whatever the sizes of symbols are."""

    def diagnostic(self) -> Diagnostic:
        """What the user is told."""
        return Diagnostic.at(self.op, self.message, hint=self.hint)
