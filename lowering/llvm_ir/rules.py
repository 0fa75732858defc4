"""Operation class -> emitter: the table that the modules of emitters fill."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar, cast

from xdsl.ir import Operation

from .function import FunctionEmitter, OpEmitter

OpT = TypeVar("OpT", bound=Operation)

EMITTERS: dict[type[Operation], OpEmitter] = {}


def emits(
    *kinds: type[OpT],
) -> Callable[[Callable[[FunctionEmitter, OpT], None]], Callable[[FunctionEmitter, OpT], None]]:
    def add(function: Callable[[FunctionEmitter, OpT], None]) -> Callable[[FunctionEmitter, OpT], None]:
        for kind in kinds:
            EMITTERS[kind] = cast(OpEmitter, function)
        return function

    return add


def register(table: Mapping[type[Operation], OpEmitter]) -> None:
    EMITTERS.update(table)
