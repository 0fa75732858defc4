"""What a rule that is registered for the layouts of an operator is given (`op_rules`), and which operators are left.

    @register_rule(Conv2dOp, ALTER)
    def in_blocks(op, wanted, emit):              # the operator in other layouts, on operands as they will be
        data, weight = emit.operands
        return emit(Conv2dOp(data, weight, **{**op.properties, "data_layout": "NCHW16c"}))

A rule says in which layouts an operator is computed, not how its operands come to stand in these: `emit.operands` stand
for the operator's own, and have no types yet. `convert-layout` brings what an operator has in the layouts that the new
one names (`LAYOUTS`), and finds how the result's axes stand. Which layouts are wanted the second argument says: none
where the rule is to choose.

Counterparts of TVM's `register_alter_op_layout` (`FTVMAlterOpLayout`) and `register_convert_op_layout`
(`FTVMConvertOpLayout`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from typing import Self

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.relay.base import RelayOp
from ...dialects.relay.types import IncompleteType
from ...dialects.support.arguments import checked
from .emitter import Emitter


class LayoutEmitter(Emitter):
    """Collects what a rule makes of `operands`, which stand for those of an operator."""

    def __init__(self, op: RelayOp):
        super().__init__()
        self.stand_ins = Block(arg_types=[IncompleteType()] * len(op.operands))
        for stand_in, value in zip(self.operands, op.operands, strict=True):
            stand_in.name_hint = value.name_hint

    @property
    def operands(self) -> Sequence[SSAValue]:
        return self.stand_ins.args


def discard(ops: Sequence[Operation]) -> None:
    """Let go of operations that were made, and are not needed."""
    for op in reversed(ops):
        op.erase()


_skipped: ContextVar[tuple[int, ...]] = ContextVar("_skipped", default=())


def skipped_layers() -> tuple[int, ...]:
    """The numbers of operators that a `LayoutConfig` around says to leave."""
    return _skipped.get()


class LayoutConfig(AbstractContextManager["LayoutConfig"]):
    """While it is open, `convert-layout` leaves operators by their numbers, counted among those to be converted."""

    @checked
    def __init__(self, skip_layers: Sequence[int] = ()):
        self.skip_layers = tuple(skip_layers)
        self._tokens: list[Token[tuple[int, ...]]] = []

    def __enter__(self) -> Self:
        self._tokens.append(_skipped.set(self.skip_layers))
        return self

    def __exit__(self, *error: object) -> None:
        _skipped.reset(self._tokens.pop())
