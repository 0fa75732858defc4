"""See that a GPU can run the nests of a function as they are bound: as one launch each, within its limits.

```mlir
tir.for thread_binding "threadIdx.x" %t = 0 to 2048 {

f.mlir:2:3: error: 'tir.for': a block has 2048 threads, and the target has at most 1024
```

What is refused, with its place: more threads in a block, blocks in a grid or bytes of shared memory than the target
has; a nest in which nothing is bound to threads; loops around those of blocks; `parallel` loops; memory of other
scopes than `global`, `shared` and `local`; memory of a launch's own that two nests use; calls of the host's
functions. Of shared memory that counts which is alive at one time, as a block of threads has it. Where a limit is
given, more bytes of a thread's own than that, a vector of more bytes that is loaded or stored, more virtual threads
along a loop, or more launches are refused, too. Changes nothing. Counterpart of TVM's VerifyGPUCode.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr

from ...dialects.support.diagnostics import Diagnostic, did_you_mean
from ...dialects.support.dtypes import byte_width
from ...dialects.support.launch_limits import MAX_GRID
from ...dialects.tir.calls import Convention
from ...dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    CallOp,
    ForKind,
    ForOp,
    PrimFuncOp,
    Scope,
    blocks_under,
    memref_of,
)
from ...dialects.tir.legality.scopes import nests_using
from ...dialects.tir.thread_axes import SHARED, is_shared
from ..infra import PrimFuncPass, report_changed
from .analysis.launches import Launch, is_virtual, known_shape, launch_of, own_buffers
from .compact_buffer_allocation import extents_needed
from .verify_memory import check_left_alone

SCOPES = (*Scope, *SHARED)


@dataclass(frozen=True)
class VerifyGPUCodePass(PrimFuncPass):
    """Refuse what a GPU cannot launch. Its limits: threads of a block, in all and along each axis, and bytes that a
    block's threads share; where they are given, also bytes that each thread has for itself and of a vector, virtual
    threads, and launches."""

    name = "verify-gpu-code"
    tvm_name = "VerifyGPUCode"

    max_threads_per_block: int = 1024
    max_shared_memory_per_block: int = 49152
    max_thread_x: int = 1024
    max_thread_y: int = 1024
    max_thread_z: int = 64
    max_local_memory_per_block: int | None = None
    max_vector_bytes: int | None = None
    max_vthread: int | None = None
    max_kernels: int | None = None

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
        nests = [nest for nest in func.region.block.ops if not isinstance(nest, AllocBufferOp)]
        for number, nest in enumerate(nests):
            if number == self.max_kernels:
                raise Diagnostic.at(nest, f"there are {len(nests)} launches, and at most {number} are wanted")
            self._check_nest(nest)

    def _check_nest(self, nest: Operation) -> None:
        launch = launch_of(nest, virtual=self.max_vthread is not None)
        check_left_alone(nest, launch)
        self._check_threads(nest, launch)
        self._check_own(nest)
        used = 0
        for alloc in own_buffers(nest, SHARED):
            used += _bytes_needed(alloc)
            if used > self.max_shared_memory_per_block:
                what = (
                    f"a block's threads share {used:,} bytes, and the target has {self.max_shared_memory_per_block:,}"
                )
                raise Diagnostic.at(alloc, what)

    def _check_own(self, nest: Operation) -> None:
        """What a thread has for itself, the vectors that it loads and stores, and the virtual threads that it is."""
        most = self.max_local_memory_per_block
        own = [] if most is None else own_buffers(nest, (Scope.LOCAL,))
        sizes = [_bytes_needed(each) for each in own]
        if most is not None and sum(sizes) > most:
            raise Diagnostic.at(nest, f"a thread has {sum(sizes):,} bytes for itself, where {most:,} are the most")
        for loop in (op for op in nest.walk() if isinstance(op, ForOp)):
            if is_virtual(loop) and self.max_vthread is not None and not _is_at_most(loop, self.max_vthread):
                raise Diagnostic.at(loop, f"more than {self.max_vthread} virtual threads follow one another")
            if loop.for_kind == ForKind.VECTORIZED and self.max_vector_bytes is not None:
                self._check_vectors(loop, self.max_vector_bytes)

    def _check_vectors(self, loop: ForOp, most: int) -> None:
        """Raises:
        Diagnostic: what moves along a vectorized loop takes vectors of more bytes.
        """
        for block in blocks_under(loop):
            along = [
                number for number, binding in enumerate(block.bindings.data.results) if _moves(binding, block, loop)
            ]
            for access in block.accesses():
                if access.map is not None and not any(each in along for each in access.map.used_dims()):
                    continue
                width = byte_width(memref_of(access.buffer).element_type)
                if not _is_at_most(loop, most // width):
                    what = f"a vector of {width} bytes for each iteration is larger than {most} bytes"
                    raise Diagnostic.at(loop, what, hint="split the loop, and vectorize what is inside")

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


def _bytes_needed(alloc: AllocBufferOp) -> int:
    """What is alive at one time of a buffer of a launch's own.

    Raises:
        Diagnostic: that is known only when the function is called.
    """
    extents = extents_needed(alloc)
    if not all(isinstance(each, int) for each in extents):
        known_shape(alloc)
    return prod(each for each in extents if isinstance(each, int)) * byte_width(memref_of(alloc.buffer).element_type)


def _is_at_most(loop: ForOp, most: int) -> bool:
    """Whether a loop surely has no more iterations."""
    return not loop.is_symbolic and loop.trip_count <= most


def _moves(binding: AffineExpr, block: BlockOp, loop: ForOp) -> bool:
    """Whether an iterator of a block that is bound to `binding` depends on a loop's variable."""
    return any(block.loop_vars[number] is loop.var for number in binding.used_dims())


def _check_memory(alloc: AllocBufferOp) -> None:
    scope = alloc.scope.data
    if scope not in SCOPES:
        what = f'the scope is "{scope}", and code for a GPU has {", ".join(SCOPES)} memory'
        raise Diagnostic.at(alloc, what, hint=did_you_mean(scope, SCOPES))
    if is_shared(alloc.buffer) and (count := len(nests_using(alloc))) > 1:
        what = f'memory of the scope "{scope}" is gone when a launch ends, and {count} nests use it, a launch each'
        raise Diagnostic.at(alloc, what, hint='give it the scope "global", or join the nests')
