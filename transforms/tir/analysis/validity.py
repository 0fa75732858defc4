"""What the verifier says of a function that a pass has made, before it takes the place of another one."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ....dialects.support.diagnostics import Diagnostic
from ....dialects.support.verifier import verify
from ....dialects.tir.core import PrimFuncOp


def fault_of(made: PrimFuncOp, func: PrimFuncOp) -> Diagnostic | None:
    """What is wrong with `made`, which stands nowhere and does what `func` does; nothing if `func` is not valid."""
    fault = _fault(made)
    return None if fault is None or _fault(func.clone()) is not None else fault


def _fault(func: PrimFuncOp) -> Diagnostic | None:
    try:
        verify(ModuleOp([func]))
    except Diagnostic as error:
        return error
    finally:
        func.detach()
    return None
