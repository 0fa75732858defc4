"""What is asked of the loops of a stage: which became which, their order, and how they run."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from ...dialects import te
from ...dialects.tir.nodes.expressions import StringImm
from ...transforms.tir.schedule.errors import ScheduleError


@dataclass(frozen=True)
class Split:
    """A loop became an outer and an inner one: the inner has `factor` iterations, or the outer `nparts`."""

    parent: te.IterVar
    outer: te.IterVar
    inner: te.IterVar
    factor: te.Dim | None
    nparts: int | None


@dataclass(frozen=True)
class Fuse:
    """Two loops, one in the other, became one."""

    outer: te.IterVar
    inner: te.IterVar
    fused: te.IterVar


@dataclass(frozen=True)
class Singleton:
    """Of no loops, one of one iteration was made, outside of all others."""

    axis: te.IterVar


@dataclass(frozen=True)
class Reorder:
    """These loops took this order, in the places that they have together."""

    order: tuple[te.IterVar, ...]


Action: TypeAlias = Split | Fuse | Singleton | Reorder


class Kind(Enum):
    """How a loop runs."""

    PARALLEL = "parallel"
    VECTORIZED = "vectorize"
    UNROLLED = "unroll"


NUMBERS = {
    Kind.PARALLEL: te.IterVar.Parallelized,
    Kind.VECTORIZED: te.IterVar.Vectorized,
    Kind.UNROLLED: te.IterVar.Unrolled,
}
"""TVM's numbers of kinds."""


@dataclass
class IterVarAttr:
    """What was said of a loop, by TVM's names: `s[C].iter_var_attrs[axis]`."""

    iter_type: int
    bind_thread: str | None = None
    pragma_keys: list[StringImm] = field(default_factory=list[StringImm])
    pragma_values: list[object] = field(default_factory=list[object])
    tensor_intrin: object = None


def made_by(action: Split | Fuse | Singleton) -> tuple[te.IterVar, ...]:
    """The loops that there are instead."""
    match action:
        case Split():
            return action.outer, action.inner
        case Fuse():
            return (action.fused,)
        case Singleton():
            return (action.axis,)


def taken_by(action: Split | Fuse | Singleton) -> tuple[te.IterVar, ...]:
    """The loops that are no more."""
    match action:
        case Split():
            return (action.parent,)
        case Fuse():
            return action.outer, action.inner
        case Singleton():
            return ()


def split_size(
    factor: int | te.Const | te.Var | None, nparts: int | te.Const | None
) -> tuple[te.Dim | None, int | None]:
    """The one number that a split is given: a factor that a symbol may be, or a number of parts.

    Raises:
        ScheduleError: there are two, or none, or it is no positive integer.
    """
    if (factor is None) == (nparts is None):
        raise ScheduleError("te: split takes either a factor, of the inner loop, or nparts, of the outer one")
    if isinstance(factor, te.Var):
        return factor, None
    size = factor if nparts is None else nparts
    if isinstance(size, te.Const):
        size = size.value
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise ScheduleError(f"te: a loop is split by a positive integer, not by {size!r}")
    return (None, size) if factor is None else (size, None)
