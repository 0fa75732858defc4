"""The `mem` dialect: a graph of kernels and the memory they work in. Between `relay` and loops.

A `mem.graph` says what exists, in the order in which things happen: buffers (`mem.alloc`, `mem.constant`, the graph's
own inputs and outputs), what is another buffer seen otherwise (`mem.alias`, `mem.part`), and what reads and writes
them (`mem.call`, `mem.copy`, `mem.scan`). Where a buffer lies is said last, by giving each `mem.alloc` a place in a
`mem.pool`.

Buffers are memrefs with the tensor's shape and element type; the memory space is the device, and none means the cpu.
"""

from xdsl.ir import Dialect

from .core import (
    AliasOp,
    AllocOp,
    CallOp,
    ConstantOp,
    CopyOp,
    ExtentOp,
    PartOp,
    PoolOp,
    ReadExtentOp,
    ScanOp,
    SizeOp,
)
from .graph import GraphOp

Mem = Dialect(
    "mem",
    [GraphOp, ExtentOp, SizeOp, ReadExtentOp, PoolOp, AllocOp, ConstantOp, AliasOp, PartOp, CallOp, CopyOp, ScanOp],
    [],
)
