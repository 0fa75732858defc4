"""The `tir` dialect: TVM's TIR, loop nests over buffers with blocks that schedules transform.

Its operations are imported when somebody asks for the dialect: what only reckons with integers (`analyzer`) does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Dialect

if TYPE_CHECKING:
    Tir: Dialect


def __getattr__(name: str) -> object:
    if name != "Tir":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from .core import OPS

    dialect = globals()["Tir"] = Dialect("tir", OPS, [])
    return dialect
