"""The Python that notes, while the interpreter of `tir` runs, which iterations of an unordered loop touch what.

    r1, w1 = {}, {}               # of the loop's buffer: the iterations that have read and written, by element
    for v3 in unordered(range(0, 8)):
        if (other := written(r1, w1, v5, v3)) is not None: raise race(...)
        v1[v5] = v6

Only buffers are noted of which it is not proved that no two iterations meet in them, so that it mostly costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import memref
from xdsl.ir import SSAValue

from ..support.diagnostics import Diagnostic
from .buffers import memref_of
from .legality.bounds import buffer_name
from .legality.dependence import check_independence
from .legality.reductions import shared_reductions
from .loops import ForOp
from .thread_axes import is_of_block


@dataclass
class Notes:
    """What is noted in the loops around the place that is written."""

    loops: list[tuple[ForOp, dict[SSAValue, tuple[str, str]]]] = field(
        default_factory=list[tuple[ForOp, dict[SSAValue, tuple[str, str]]]]
    )
    """Unordered loops, outermost first, and for each buffer the names of what is known of reads and of writes."""
    count: int = 0

    def enter(self, loop: ForOp) -> list[str]:
        """Begin with a loop; the lines in front of it."""
        names: dict[SSAValue, tuple[str, str]] = {}
        for finding in check_independence(loop, shared_too=is_of_block(loop), reducing=shared_reductions(loop)):
            if finding.buffer is not None and finding.buffer not in names:
                self.count += 1
                names[finding.buffer] = f"r{self.count}", f"w{self.count}"
        self.loops.append((loop, names))
        return [f"{read}, {written} = {{}}, {{}}" for read, written in names.values()]

    def names(self) -> list[str]:
        """The names of what is known of the innermost loop."""
        return [name for pair in self.loops[-1][1].values() for name in pair]

    def leave(self) -> None:
        """End with the innermost loop."""
        self.loops.pop()

    def touched(self, op: memref.LoadOp | memref.StoreOp) -> list[tuple[ForOp, str]]:
        """The loops that note the access `op`, and the beginning of the call that does, without place and iteration."""
        function = "written" if isinstance(op, memref.StoreOp) else "read"
        found = [(loop, names[op.memref]) for loop, names in self.loops if op.memref in names]
        return [(loop, f"{function}({', '.join(names)}, ") for loop, names in found]


_SEVERAL = -1 << 70
"""Stands for several iterations that have read an element."""


def read(readers: dict[int, int], writers: dict[int, int], place: int, turn: int) -> int | None:
    """Note that iteration `turn` reads an element; another one that has written it."""
    if (other := writers.get(place, turn)) != turn:
        return other
    if readers.setdefault(place, turn) != turn:
        readers[place] = _SEVERAL
    return None


def written(readers: dict[int, int], writers: dict[int, int], place: int, turn: int) -> int | None:
    """Note that iteration `turn` writes an element; another one that has touched it."""
    for touched in (writers, readers):
        if (other := touched.get(place, turn)) != turn:
            return other
    writers[place] = turn
    return None


def race(op: memref.LoadOp | memref.StoreOp, loop: ForOp, turn: int, other: int, place: int) -> Diagnostic:
    """What is said of two iterations that touch an element which one of them writes."""
    first = "others" if other == _SEVERAL else f"iteration {other}"
    element = list(_indices(place, memref_of(op.memref).get_shape()))
    return Diagnostic.at(
        op,
        f"iteration {turn} of %{loop.var.name_hint or 'i'}, a {loop.for_kind.value} loop, touches "
        f"{buffer_name(op.memref)}{element}, as {first} did, and not both only read it",
        hint="let the loop be serial",
    )


def _indices(place: int, shape: Sequence[int]) -> list[int]:
    indices: list[int] = []
    for extent in reversed(shape):
        indices.append(place % extent)
        place //= extent
    return indices[::-1]
