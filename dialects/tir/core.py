"""TIR's own concepts: functions on buffers, loops with kinds, blocks, and checks of indices.

What MLIR already has is used as it is: a buffer is a `memref` value, an element access is `memref.load` or
`memref.store`, arithmetic is `arith` and `math`. A block is the unit that a schedule moves about: an instance of it
computes one element (or one step of a reduction) and is addressed by its iterators, whatever the loops around it.

Each operation has a file of its own; what they have in common to check is in `legality`.
"""

from __future__ import annotations

from xdsl.ir import Operation

from .asserts import AssertOp
from .assumptions import AssumeOp, UndefOp
from .blocks import BlockOp, IterKind, accessing_blocks, blocks_under
from .buffers import AllocBufferOp, Scope, memref_of
from .calls import AddressOfOp, CallOp
from .checks import CheckOp
from .dot import DotOp
from .functions import PrimFuncOp
from .loops import ForKind, ForOp, dimension_ranges, enclosing_loops, loop_of, loop_range
from .outer_blocks import OuterBlockOp
from .storage_sync import StorageSyncOp

__all__ = [
    "OPS",
    "AddressOfOp",
    "AllocBufferOp",
    "AssertOp",
    "AssumeOp",
    "BlockOp",
    "CallOp",
    "CheckOp",
    "DotOp",
    "ForKind",
    "ForOp",
    "IterKind",
    "OuterBlockOp",
    "PrimFuncOp",
    "Scope",
    "StorageSyncOp",
    "UndefOp",
    "accessing_blocks",
    "blocks_under",
    "dimension_ranges",
    "enclosing_loops",
    "loop_of",
    "loop_range",
    "memref_of",
]

OPS: list[type[Operation]] = [
    PrimFuncOp,
    AllocBufferOp,
    ForOp,
    BlockOp,
    OuterBlockOp,
    CheckOp,
    AssertOp,
    AssumeOp,
    UndefOp,
    CallOp,
    AddressOfOp,
    DotOp,
    StorageSyncOp,
]
