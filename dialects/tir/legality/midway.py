"""Verifying what is on its way: functions in the middle of being scheduled.

A buffer of a thread's own whose blocks stand in several nests cannot be compiled: what one thread writes in one of them
another may read in the next. It is what `cache_write` gives, though, until `compute_at` has moved all into one nest,
and what is written for a schedule begins so. Here such a buffer is taken to be everybody's until it is there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ...support.diagnostics import Diagnostic, Diagnostics
from ...support.verifier import MAX_REPORTED, find_failures
from ..buffers import AllocBufferOp, Scope
from .scopes import is_torn, nests_using


def verify_midway(module: ModuleOp, known: Collection[str] = ()) -> None:
    """Verify a module that is being scheduled. Messages that are `known` are of no account.

    Raises:
        Diagnostics: it does not verify, wherever its threads' own buffers may lie.
    """
    if new := [each for each in faults_midway(module) if each.message not in known]:
        raise Diagnostics(new[:MAX_REPORTED])


def faults_midway(module: ModuleOp) -> list[Diagnostic]:
    """What is wrong with a module that is being scheduled, wherever its threads' own buffers may lie."""
    if on_their_way(module.walk()):
        module = module.clone()
        share(on_their_way(module.walk()))
    return find_failures(module)


def in_several_nests(ops: Iterable[object]) -> list[AllocBufferOp]:
    """The buffers of a thread's own among `ops` that are used in several nests: on their way once threads run one."""
    allocs = [op for op in ops if isinstance(op, AllocBufferOp)]
    return [op for op in allocs if op.is_private and len(nests_using(op)) > 1]


def on_their_way(ops: Iterable[object]) -> list[AllocBufferOp]:
    """The buffers of a thread's own among `ops` that are used in several nests, of which threads run some."""
    return [op for op in in_several_nests(ops) if is_torn(op)]


def share(allocs: Iterable[AllocBufferOp]) -> None:
    """Let buffers be everybody's."""
    for op in allocs:
        op.properties["scope"] = StringAttr(Scope.GLOBAL)
