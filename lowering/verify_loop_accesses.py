"""Refuse loops that were written or edited by hand and touch what their buffers do not have.

    scf.for %i = %c0 to %c9 step %c1 {
      memref.store %x, %out[%i] : memref<8xf32>     error: index 8 of dimension 0 of %out, ..., lies outside

Runs first where a compilation starts at the phase `loops`. What the compiler itself makes of blocks was checked when
they were verified. An access whose index depends on data, or that a branch on data guards, is left alone:
`--bounds-checks` checks these when they run. TVM's counterpart is `OOBChecker`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..dialects.support.diagnostics import Diagnostic
from ..dialects.tir.buffers import memref_of
from ..dialects.tir.legality.bounds import buffer_name
from ..dialects.tir.legality.decide import Verdict
from ..transforms.infra import ModulePass
from .loop_accesses import Judgement, judge_accesses


@dataclass(frozen=True)
class VerifyLoopAccessesPass(ModulePass):
    """Refuse accesses that certainly lie outside of their buffers."""

    name = "verify-loop-accesses"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Raises:
            Diagnostic: an access lies outside of its buffer.
        """
        for found in judge_accesses(op):
            if found.is_sure and found.answer.verdict == Verdict.REFUTED:
                raise _outside(found)


def _outside(found: Judgement) -> Diagnostic:
    extent = memref_of(found.buffer).get_shape()[found.dimension]
    first = found.answer.value
    place = f"index {first}" if found.lanes == 1 else f"indices {first} to {first + found.lanes - 1}"
    at = ", ".join(f"{name} = {value}" for name, value in zip(found.names, found.answer.point, strict=True))
    return Diagnostic.at(
        found.op,
        f"{place} of dimension {found.dimension} of {buffer_name(found.buffer)}, whose extent is {extent}, "
        f"lie{'s' if found.lanes == 1 else ''} outside{f', in iteration {at}' if at else ''}",
        hint="let the loops end with the buffer, or guard the access with scf.if",
    )
