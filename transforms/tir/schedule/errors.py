"""What a schedule primitive raises when it does not apply."""

from __future__ import annotations

from xdsl.ir import Operation


class ScheduleError(Exception):
    """A primitive does not apply to its loop or block; nothing was changed. Counterpart of TVM's `ScheduleError`."""

    def __init__(self, message: str, op: Operation):
        super().__init__(message)
        self.op = op
