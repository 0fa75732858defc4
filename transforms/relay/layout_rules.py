"""Rules that users give for the layouts of operators, and what an expression of theirs comes to.

    @register_layout_rule(Conv2dOp, ALTER)
    def in_blocks(op, wanted, emit):              # the operator in other layouts, on operands as they will be
        data, weight = emit.operands
        return emit(Conv2dOp(data, weight, **{**op.properties, "data_layout": "NCHW16c"}))

A rule says in which layouts an operator is computed, not how its operands come to stand in these: `emit.operands` stand
for the operator's own, and have no types yet. `convert-layout` brings what an operator has in the layouts that the new
one names (`LAYOUTS`), and finds how the result's axes stand.

Counterparts of TVM's `register_alter_op_layout` (`FTVMAlterOpLayout`) and `register_convert_op_layout`
(`FTVMConvertOpLayout`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from typing import Any, Self, TypeAlias, TypeVar

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.relay.base import RelayOp
from ...dialects.relay.types import IncompleteType
from ...dialects.support.plugins import note_change
from .emitter import Emitter

ALTER = "FTVMAlterOpLayout"
CONVERT = "FTVMConvertOpLayout"
KINDS = (ALTER, CONVERT)


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


Rule: TypeAlias = Callable[[Any, Sequence[str], LayoutEmitter], "SSAValue | None"]
"""Given an operator, the layouts that are wanted of it (none where it is to choose), and an emitter."""
R = TypeVar("R", bound=Rule)

_rules: dict[tuple[str, type[RelayOp]], Rule] = {}


def register_layout_rule(op_type: type[RelayOp], kind: str) -> Callable[[R], R]:
    """Make a function the rule for operators of a class: of `alter-op-layout` (`ALTER`), or of `convert-layout`
    (`CONVERT`); the last one counts."""

    def add(rule: R) -> R:
        note_change(rule.__module__)
        _rules[kind, op_type] = rule
        return rule

    return add


def unregister_layout_rule(op_type: type[RelayOp], kind: str) -> None:
    """Take the rule for a class away."""
    note_change("")
    _rules.pop((kind, op_type), None)


def layout_rules(kind: str) -> Mapping[type[RelayOp], Rule]:
    """The rules of a kind by the classes of operators."""
    return {op_type: rule for (of, op_type), rule in _rules.items() if of == kind}


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

    def __init__(self, skip_layers: Sequence[int] = ()):
        self.skip_layers = tuple(skip_layers)
        self._tokens: list[Token[tuple[int, ...]]] = []

    def __enter__(self) -> Self:
        self._tokens.append(_skipped.set(self.skip_layers))
        return self

    def __exit__(self, *error: object) -> None:
        _skipped.reset(self._tokens.pop())
