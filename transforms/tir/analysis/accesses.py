"""Where a function uses its buffers."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from ....dialects.support.memory_scopes import memory_of
from ....dialects.tir.calls import AddressOfOp, CallOp
from ....dialects.tir.core import AllocBufferOp, BlockOp, ForOp, PrimFuncOp
from ....dialects.tir.outer_blocks import OuterBlockOp
from ....dialects.tir.thread_axes import is_of_grid

_SCOPES = (PrimFuncOp, ForOp, BlockOp, OuterBlockOp)


def innermost_common_scopes(func: PrimFuncOp) -> dict[SSAValue, Operation]:
    """For each buffer that is used the innermost loop, block or function with all its uses; of memory that all blocks
    of a launch see, not within the loops over those. Counterpart of TVM's `detect_buffer_access_lca`."""
    found: dict[SSAValue, Operation] = {}
    for op in func.walk():
        if isinstance(op, memref.LoadOp | memref.StoreOp | AddressOfOp | CallOp):
            around = _scopes_around(op)
            for value in op.operands:
                if isinstance(value.type, MemRefType) and not isinstance(value.owner, AddressOfOp):
                    own = _outside_of_grid(around) if _is_global(value) else around
                    if value in found:
                        common = set(_scopes_around(found[value], itself=True))
                        own = [scope for scope in own if scope in common]
                    found[value] = own[0]
    return found


def _scopes_around(op: Operation, itself: bool = False) -> list[Operation]:
    """From the inside to the function."""
    scopes: list[Operation] = []
    scope = op if itself else op.parent_op()
    while scope is not None:
        if isinstance(scope, _SCOPES):
            scopes.append(scope)
        if isinstance(scope, PrimFuncOp):
            break
        scope = scope.parent_op()
    return scopes


def _outside_of_grid(scopes: list[Operation]) -> list[Operation]:
    """From the outermost loop over blocks of a launch outwards, that loop included; all where there is none."""
    numbers = [number for number, scope in enumerate(scopes) if isinstance(scope, ForOp) and is_of_grid(scope)]
    return scopes[numbers[-1] :] if numbers else scopes


def _is_global(buffer: SSAValue) -> bool:
    owner = buffer.owner
    return not isinstance(owner, AllocBufferOp) or memory_of(owner.scope.data) == "global"
