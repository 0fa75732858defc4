"""What a schedule primitive raises when it does not apply."""

from __future__ import annotations

from ....dialects.support.diagnostics import Diagnostic


class ScheduleError(Diagnostic):
    """A primitive does not apply to its loop or block; nothing was changed. Counterpart of TVM's `ScheduleError`."""


class UnknownFunctionError(ScheduleError, ValueError):
    """There is no function of a name, or it is not said which of several is scheduled."""


class HandleError(ScheduleError, IndexError):
    """A handle stands for nothing: it is another schedule's, or what it stood for is gone."""
