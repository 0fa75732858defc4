"""The phases of a compilation that kernels for GPUs go through otherwise than those for processors (`phases.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.passes import ModulePass

from ..dialects.support.diagnostics import UsageError
from ..transforms.infra.config import BOUNDS_CHECKS
from ..transforms.infra.context import PassContext

if TYPE_CHECKING:
    from .machine.target import Target


def gpu_passes(phase: str, gpu: Target) -> list[ModulePass]:
    """The passes of a phase that a kernel for a GPU goes through.

    `schedule`: schedule as `schedule.sequence`s say, else bind loops to blocks and threads; then as `weft.lower`.
    `loops`: see that it can be launched, let threads share reductions and wait for one another, and divide it into what
    is launched and the host's launches.

    Raises:
        UsageError: accesses are to be checked, and code for GPUs has nobody to tell.
    """
    from ..transforms.tir.apply_schedule import ApplySchedulePass
    from ..transforms.tir.gpu_schedule_rules import GPUScheduleRulesPass
    from ..transforms.tir.inject_virtual_thread import InjectVirtualThreadPass
    from ..transforms.tir.lower_cross_thread_reduction import LowerCrossThreadReductionPass
    from ..transforms.tir.thread_sync import ThreadSyncPass
    from ..transforms.tir.verify_gpu_code import VerifyGPUCodePass
    from .lower_passes import lower_passes
    from .tir_to_gpu.convert_tir_to_gpu import ConvertTirToGPUPass

    threads, memory = gpu.limit("max_threads_per_block"), gpu.limit("max_shared_memory_per_block")
    if phase == "schedule":
        if PassContext.current().get_config(BOUNDS_CHECKS, False):
            raise UsageError(
                "accesses are not checked in code for GPUs",
                hint="check them in code for the processor: the target llvm",
            )
        asked = lower_passes(PassContext.current(), simple_mode=True)
        return [ApplySchedulePass(), GPUScheduleRulesPass(threads, memory), *asked]
    return [
        InjectVirtualThreadPass(),
        LowerCrossThreadReductionPass(),
        VerifyGPUCodePass(threads, memory),
        ThreadSyncPass(),
        ConvertTirToGPUPass(),
    ]
