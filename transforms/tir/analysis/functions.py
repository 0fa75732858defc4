"""What can be told of functions of `tir` without changing them, under TVM's names (`tvm.tir.analysis`):
`weft.tir.analysis`.

assert tir.analysis.estimate_tir_flops(matmul) == 2 * 128**3
assert tir.analysis.verify_gpu_code(func, {"max_threads_per_block": 1024})

Functions are `tir.prim_func` operations; loops, blocks and buffers the nodes of their `body`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ....dialects.support.arguments import checked
from ....dialects.support.diagnostics import Diagnostic, UsageError, did_you_mean
from ....dialects.te.expr import Expr
from ....dialects.tir.blocks import BlockOp, blocks_under
from ....dialects.tir.functions import PrimFuncOp
from ....dialects.tir.legality.bounds import check_accesses
from ....dialects.tir.legality.symbolic import check_symbolic_accesses
from ....dialects.tir.nodes.blocks import Block, BufferRegion
from ....dialects.tir.nodes.buffers import Buffer
from ....dialects.tir.nodes.statements import For, Stmt
from ...infra.decorators import prim_func_pass
from ...infra.passes import Pass
from ..schedule.errors import ScheduleError
from ..verify_gpu_code import VerifyGPUCodePass
from ..verify_memory import VerifyMemoryPass
from . import counting, node_regions

_LIMITS = tuple(field.name for field in fields(VerifyGPUCodePass))
_NONE = dict.fromkeys([each.name for each in fields(VerifyGPUCodePass) if each.default is not None], 2**31 - 1)
"""No limit, where the pass has one unless it is told otherwise."""


@checked
def estimate_tir_flops(stmt_or_mod: PrimFuncOp | ModuleOp) -> float:
    """The arithmetic operations on elements of a function, or of all of a module.

    Raises:
        Diagnostic: the number of iterations of a loop is not known.
    """
    return float(counting.arithmetic_operations(stmt_or_mod))


@checked
def find_anchor_block(mod: PrimFuncOp | ModuleOp) -> BlockOp | None:
    """The block that reduces whose nest has the most arithmetic operations, if one reduces.

    Raises:
        Diagnostic: the number of iterations of a loop is not known.
    """
    return counting.anchor_block(mod)


@checked
def calculate_allocated_bytes(func: PrimFuncOp) -> dict[str, int]:
    """The bytes of the buffers that a function allocates, by the scope of their memory.

    Raises:
        Diagnostic: an extent is not known.
    """
    return counting.allocated_bytes(func)


@checked
def calculate_constant_bytes(func: PrimFuncOp, constant_byte_alignment: int = 1) -> int:
    """The bytes of the constants that a function holds, each rounded up to a multiple of `constant_byte_alignment`.

    Raises:
        UsageError: the alignment is not positive.
    """
    return counting.constant_bytes(func, _positive(constant_byte_alignment))


@checked
def calculate_workspace_bytes(func: PrimFuncOp, workspace_byte_alignment: int = 1) -> int:
    """The bytes that the buffers which a function allocates take at most at one time, each rounded up to a multiple of
    `workspace_byte_alignment`.

    Raises:
        UsageError: the alignment is not positive.
        Diagnostic: an extent is not known.
    """
    return counting.workspace_bytes(func, _positive(workspace_byte_alignment))


def _positive(alignment: int) -> int:
    if alignment < 1:
        raise UsageError(f"an alignment is positive, not {alignment}")
    return alignment


@checked
def detect_buffer_access_lca(func: PrimFuncOp) -> dict[Buffer, Stmt | None]:
    """For each buffer that is used the innermost loop or block of `func.body` with all its uses; `None` for a function
    without a root block."""
    return node_regions.scopes_of_buffers(func)


@checked
def get_block_access_region(
    block: Block | For, buffer_var_map: Mapping[Expr, Buffer] | None = None
) -> tuple[list[BufferRegion], list[BufferRegion], list[BufferRegion]]:
    """The parts of buffers that a block or a loop of `func.body` reads, writes, and hands to calls; of those whose
    variables a map has, if one is given. They are over the iterators of a block; of a block of blocks, which has none
    here, and of a loop over the variables of the loops around it.

    Raises:
        UsageError: the node is of no function.
    """
    return node_regions.regions_of(block, buffer_var_map)


@checked
def get_block_read_write_region(
    block: Block | For, buffer_var_map: Mapping[Expr, Buffer] | None = None
) -> tuple[list[BufferRegion], list[BufferRegion]]:
    """The parts of buffers that a block or a loop of `func.body` reads and writes; what is handed to calls as a whole.

    Raises:
        UsageError: the node is of no function.
    """
    reads, writes, _ = node_regions.regions_of(block, buffer_var_map)
    read, written = node_regions.handed_to(block, buffer_var_map)
    return [*reads, *read], [*writes, *written]


@checked
def verify_well_formed(func: PrimFuncOp, assert_mode: bool = True) -> bool:
    """Whether a function is valid.

    Raises:
        Diagnostic: it is not, in `assert_mode`.
    """
    try:
        func.verify()
    except (Diagnostic, VerifyException) as error:
        if assert_mode:
            raise error if isinstance(error, Diagnostic) else Diagnostic.at(func, str(error)) from error
        return False
    return True


def OOBChecker() -> Pass:
    """A pass that refuses functions that surely touch what is outside of a buffer, as one may that is read without
    being verified. Changes nothing.

    Raises (when it is called):
        ScheduleError: there is one; the message names the buffer.
    """

    def check(func: PrimFuncOp, mod: object, context: object) -> PrimFuncOp:
        is_symbolic = bool(func.symbols)
        for block in blocks_under(func):
            for finding in check_symbolic_accesses(block) if is_symbolic else check_accesses(block):
                if finding.certain:
                    buffer = getattr(finding.op, "memref", None)
                    where = f", in the buffer {buffer.name_hint}" if isinstance(buffer, SSAValue) else ""
                    raise ScheduleError.at(finding.op, f"{finding.message}{where}", hint=finding.hint)
        return func

    return prim_func_pass(check, opt_level=0, name="OOBChecker")


@checked
def verify_memory(func: PrimFuncOp) -> bool:
    """Whether the host leaves memory of a GPU alone: of a function for a GPU all blocks are run by threads of a launch.
    What is for the processor needs none."""
    try:
        VerifyMemoryPass().check(func)
    except Diagnostic:
        return False
    return True


@checked
def verify_gpu_code(func: PrimFuncOp, constraints: Mapping[str, int]) -> bool:
    """Whether a GPU with these limits can run a function: `max_threads_per_block`, `max_thread_x`, `max_thread_y`,
    `max_thread_z`, `max_vthread` of threads, `max_shared_memory_per_block`, `max_local_memory_per_block` (of what is
    alive of a thread's own buffers), `max_vector_bytes` in bytes, and `max_kernels`. What is not given has no limit.

    Raises:
        UsageError: there is no such limit.
    """
    for name in constraints:
        if name not in _LIMITS:
            hint = did_you_mean(name, _LIMITS) or f"they are: {', '.join(_LIMITS)}"
            raise UsageError(f"there is no limit '{name}'", hint=hint)
    try:
        VerifyGPUCodePass(**{**_NONE, "max_vthread": 2**31 - 1, **constraints}).check(func)
    except Diagnostic:
        return False
    return True
