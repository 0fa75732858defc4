"""Calls of functions outside, as expressions: `tir.call_pure_extern("float32", "cosf", x)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute

from .element_types import vector_type
from .expr import Expr

Argument: TypeAlias = "Expr | int | float | str | object"


@dataclass(frozen=True, eq=False)
class Call(Expr):
    """A call of a function outside: `word` is TVMScript's (`call_extern`), `result` the dtype of what it gives, if it
    gives something. A builtin of TVM's has no `name` but its word (`ptx_commit_group`)."""

    word: str
    result: str | None
    name: str
    args: tuple[Argument, ...]

    @property
    def type(self) -> Attribute:  # pyright: ignore[reportIncompatibleVariableOverride]
        return i32 if self.result is None else vector_type(self.result)

    @property
    def operands(self) -> tuple[Expr, ...]:
        """What it is given that are expressions."""
        return tuple(each for each in self.args if isinstance(each, Expr))
