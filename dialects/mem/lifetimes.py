"""When the buffers of a graph are needed: from the first access to the last, of a buffer or of anything that it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.ir import Block, SSAValue

from .core import Access, AllocOp, CallOp, CopyOp, ScanOp, root_of


@dataclass(frozen=True)
class Step:
    """One access, by its number: the buffers that it reads and writes, as roots, in the order of its operands."""

    op: Access
    reads: tuple[SSAValue, ...]
    writes: tuple[SSAValue, ...]


@dataclass
class Lifetime:
    """The steps at which a buffer is accessed, in order."""

    reads: list[int] = field(default_factory=list[int])
    writes: list[int] = field(default_factory=list[int])

    @property
    def first(self) -> int:
        """The first step at which the buffer is needed."""
        return min(self.reads[:1] + self.writes[:1], default=0)

    @property
    def last(self) -> int:
        """The last step at which the buffer is needed; before the first where there is none."""
        return max(self.reads[-1:] + self.writes[-1:], default=-1)


@dataclass
class Timeline:
    """What happens in a block, and when each buffer is needed."""

    steps: list[Step] = field(default_factory=list[Step])
    lifetimes: dict[SSAValue, Lifetime] = field(default_factory=dict[SSAValue, Lifetime])
    """Of every buffer that is accessed: inputs, outputs, constants, allocations."""

    @staticmethod
    def of(block: Block) -> Timeline:
        timeline = Timeline()
        for number, op in enumerate(accesses(block)):
            reads = tuple(root_of(value) for value in op.reads)
            writes = tuple(root_of(value) for value in op.writes)
            timeline.steps.append(Step(op, reads, writes))
            for root in dict.fromkeys(reads):
                timeline.lifetimes.setdefault(root, Lifetime()).reads.append(number)
            for root in dict.fromkeys(writes):
                timeline.lifetimes.setdefault(root, Lifetime()).writes.append(number)
        return timeline

    def lifetime(self, alloc: AllocOp) -> Lifetime:
        """When an allocation is needed."""
        return self.lifetimes.get(alloc.result, Lifetime())


def accesses(block: Block) -> Iterator[Access]:
    """What reads and writes buffers in a block, in order."""
    for op in block.ops:
        if isinstance(op, CallOp | CopyOp | ScanOp):
            yield op
