"""Pools of memory (`tvm.ir.memory_pools`)."""

from ..transforms.mem.usmp import ConstantInfo as ConstantInfo
from ..transforms.mem.usmp import ConstantPoolInfo as ConstantPoolInfo
from ..transforms.mem.usmp import PoolInfoProperties as PoolInfoProperties
from ..transforms.mem.usmp import WorkspacePoolInfo as WorkspacePoolInfo
