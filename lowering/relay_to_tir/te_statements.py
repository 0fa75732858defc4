"""The statements of a `te.procedure`, as operations in the body of a `tir.block`.

    with do.loop(n) as i:              scf.while (%i = %c0) : (index) -> index {
        with do.when(x[i] > 0):          %more = arith.cmpi slt, %i, %n
            do.store(y[i], x[i])         scf.condition(%more) %i
                                       } do {
                                       ^0(%i : index):
                                         ... scf.if %positive { memref.store ... }
                                         scf.yield %next

Every statement reads its elements anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, Self

from xdsl.dialects import arith, memref, scf
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects import te
from ...dialects.support.interned import index
from ...dialects.support.name_hints import name_hint
from ...dialects.te.procedures import Let, Loop, Statement, Store, When, While


class Emitter(Protocol):
    """Where operations go."""

    buffers: dict[te.Tensor, SSAValue]

    def add(self, op: Operation) -> None: ...

    def constant(self, value: float, type: Attribute) -> SSAValue: ...

    def value(self, expr: te.Expr) -> SSAValue: ...

    def within(self, block: Block, names: Mapping[te.Slot, SSAValue]) -> Self: ...

    def forget(self, names: Mapping[te.Slot, SSAValue]) -> None: ...


def emit_statements(
    statements: Sequence[Statement], emitter: Emitter, names: Mapping[te.Slot, SSAValue] | None = None
) -> None:
    """Append what statements do, where names have values."""
    known = dict(names or {})
    for statement in statements:
        emitter.forget(known)
        match statement:
            case Store(place, value):
                indices = [emitter.value(i) for i in place.indices]
                emitter.add(memref.StoreOp.get(emitter.value(value), emitter.buffers[place.tensor], indices))
            case Let(name, value):
                known[name] = emitter.value(value)
            case When(condition, body):
                block = Block()
                test = emitter.value(condition)
                _emit_body(body, emitter.within(block, known), known)
                emitter.add(scf.IfOp(test, [], Region(block)))
            case Loop(name, extent, body):
                _emit_loop(name, emitter.value(extent), body, emitter, known)
            case While(condition, body):
                before, after = Block(), Block()
                inner = emitter.within(before, known)
                before.add_op(scf.ConditionOp(inner.value(condition)))
                _emit_body(body, emitter.within(after, known), known)
                emitter.add(scf.WhileOp([], [], Region(before), Region(after)))


def _emit_body(body: Sequence[Statement], emitter: Emitter, names: Mapping[te.Slot, SSAValue]) -> None:
    emit_statements(body, emitter, names)
    emitter.add(scf.YieldOp())


def _emit_loop(
    name: te.Slot, extent: SSAValue, body: Sequence[Statement], emitter: Emitter, names: Mapping[te.Slot, SSAValue]
) -> None:
    """A loop that counts."""
    before, after = Block(arg_types=[index]), Block(arg_types=[index])
    (count,), (at,) = before.args, after.args
    at.name_hint = name_hint(name.name)
    more = arith.CmpiOp(count, extent, "slt")
    before.add_ops([more, scf.ConditionOp(more.result, count)])
    inner = emitter.within(after, {**names, name: at})
    emit_statements(body, inner, {**names, name: at})
    one = inner.constant(1, index)
    step = arith.AddiOp(at, one)
    after.add_ops([step, scf.YieldOp(step)])
    emitter.add(scf.WhileOp([emitter.constant(0, index)], [index], Region(before), Region(after)))
