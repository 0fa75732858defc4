"""What is planned, and where it lies (`tvm.tir.usmp.utils`)."""

from ...transforms.mem.usmp import CANDIDATE_MEMORY_POOL_ATTR as CANDIDATE_MEMORY_POOL_ATTR
from ...transforms.mem.usmp import BufferInfo as BufferInfo
from ...transforms.mem.usmp import PoolAllocation as PoolAllocation
