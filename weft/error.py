"""The errors of Weft under TVM's names (`tvm.error`).

Every error that a user causes is a `Diagnostic`, which is a `RuntimeError`, as TVM's are; those of a module of its own,
like `weft.tir.ScheduleError`, are kinds of it. `TVMError` is any `RuntimeError`: what instruments and registered
functions raise comes out of Weft as it is, where TVM makes an error of its own of it.
"""

from .dialects.support.diagnostics import Diagnostic, InternalError

DiagnosticError = Diagnostic
TVMError = RuntimeError

__all__ = ["DiagnosticError", "InternalError", "TVMError"]
