"""The errors of Weft under TVM's names (`tvm.error`).

Every error that a user causes is a `Diagnostic`, which is a `RuntimeError`, as TVM's are; those of a module of its own,
like `weft.tir.ScheduleError`, are kinds of it.
"""

from .dialects.support.diagnostics import Diagnostic, InternalError

TVMError = DiagnosticError = Diagnostic

__all__ = ["DiagnosticError", "InternalError", "TVMError"]
