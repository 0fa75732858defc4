"""See that a GPU can run the nests of a function as they are bound: as one launch each, within its limits.

```mlir
tir.for thread_binding "threadIdx.x" %t = 0 to 2048 {

f.mlir:2:3: error: 'tir.for': a block has 2048 threads, and the target has at most 1024
```

What is refused, with its place: more threads in a block, blocks in a grid or bytes of shared memory than the target
has; a nest in which nothing is bound to threads; loops around those of blocks; `parallel` loops; memory of other scopes
than `global`, `shared` and `local`; memory of a launch's own that two nests use; calls of the host's functions. Changes
nothing. Counterpart of TVM's VerifyGPUCode.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.ir import Operation

from ...dialects.support.diagnostics import Diagnostic, did_you_mean
from ...dialects.support.dtypes import byte_width
from ...dialects.support.launch_limits import MAX_GRID
from ...dialects.tir.calls import Convention
from ...dialects.tir.core import AllocBufferOp, CallOp, PrimFuncOp, Scope, memref_of
from ...dialects.tir.legality.scopes import nests_using
from ...dialects.tir.thread_axes import SHARED, is_shared
from ..infra import PrimFuncPass, report_changed
from .analysis.launches import Launch, known_shape, launch_of, own_buffers
from .verify_memory import check_left_alone

SCOPES = (*Scope, *SHARED)


@dataclass(frozen=True)
class VerifyGPUCodePass(PrimFuncPass):
    """Refuse what a GPU cannot launch. Its limits: threads of a block, in all and along each axis, and bytes that a
    block's threads share."""

    name = "verify-gpu-code"
    tvm_name = "VerifyGPUCode"

    max_threads_per_block: int = 1024
    max_shared_memory_per_block: int = 49152
    max_thread_x: int = 1024
    max_thread_y: int = 1024
    max_thread_z: int = 64

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        self.check(func)
        report_changed(False)

    def check(self, func: PrimFuncOp) -> None:
        """
        Raises:
            Diagnostic: a GPU with these limits cannot run the function.
        """
        for op in func.walk():
            if isinstance(op, AllocBufferOp):
                _check_memory(op)
            elif isinstance(op, CallOp) and op.kind != Convention.INTRIN:
                raise Diagnostic.at(op, f"calls {op.callee.data}, a function of the host, which a GPU cannot")
        for nest in func.region.block.ops:
            if not isinstance(nest, AllocBufferOp):
                self._check_nest(nest)

    def _check_nest(self, nest: Operation) -> None:
        launch = launch_of(nest)
        check_left_alone(nest, launch)
        self._check_threads(nest, launch)
        used = 0
        for alloc in own_buffers(nest, SHARED):
            used += prod(known_shape(alloc)) * byte_width(memref_of(alloc.buffer).element_type)
            if used > self.max_shared_memory_per_block:
                what = (
                    f"a block's threads share {used:,} bytes, and the target has {self.max_shared_memory_per_block:,}"
                )
                raise Diagnostic.at(alloc, what)

    @property
    def _most_along(self) -> tuple[int, int, int]:
        return self.max_thread_x, self.max_thread_y, self.max_thread_z

    def _check_threads(self, nest: Operation, launch: Launch) -> None:
        if launch.threads > self.max_threads_per_block:
            what = f"a block has {launch.threads} threads, and the target has at most {self.max_threads_per_block}"
            raise Diagnostic.at(nest, what, hint="split a loop that is bound to threads")
        for way, extent, most in zip("xyz", launch.block, self._most_along, strict=True):
            if extent > most:
                raise Diagnostic.at(nest, f"a block has {extent} threads along {way}, where {most} are the most")
        for way, extent, most in zip("xyz", launch.grid, MAX_GRID, strict=True):
            if isinstance(extent, int) and extent > most:
                raise Diagnostic.at(nest, f"a grid has {extent} blocks along {way}, where {most} are the most")


def _check_memory(alloc: AllocBufferOp) -> None:
    scope = alloc.scope.data
    if scope not in SCOPES:
        what = f'the scope is "{scope}", and code for a GPU has {", ".join(SCOPES)} memory'
        raise Diagnostic.at(alloc, what, hint=did_you_mean(scope, SCOPES))
    if is_shared(alloc.buffer) and (count := len(nests_using(alloc))) > 1:
        what = f'memory of the scope "{scope}" is gone when a launch ends, and {count} nests use it, a launch each'
        raise Diagnostic.at(alloc, what, hint='give it the scope "global", or join the nests')
