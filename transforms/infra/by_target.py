"""Passes for kernels of a GPU and for others, one list or the other for each module.

by-target(cpu(schedule-rules,loop-partition),gpu(gpu-schedule-rules))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass as XdslPass

from ...dialects.tir.core import PrimFuncOp
from ...dialects.tir.functions import is_for_gpu
from .execution import run
from .sequential import Sequential


class ByTarget(Sequential):
    """Runs `gpu` on a module whose `tir.prim_func`s say that a GPU is to run them (`tir.target`), else `cpu`."""

    cpu: Sequential
    gpu: Sequential

    def __init__(self, cpu: Sequence[XdslPass], gpu: Sequence[XdslPass]):
        processor, graphics = Sequential(cpu, name="cpu"), Sequential(gpu, name="gpu")
        super().__init__([processor, graphics], name="by-target")
        text = f"by-target(cpu({processor.members_text}),gpu({graphics.members_text}))"
        object.__setattr__(self, "sequence_info", replace(self.sequence_info, spec=text))
        object.__setattr__(self, "cpu", processor)
        object.__setattr__(self, "gpu", graphics)

    def __str__(self) -> str:
        return self.info.spec

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Raises:
            UnknownPassError, RequirementError: the requirements of an enabled pass cannot be resolved; no pass has run.
        """
        self.begin()
        functions = [func for func in op.ops if isinstance(func, PrimFuncOp)]
        graphics = bool(functions) and all(is_for_gpu(func) for func in functions)
        run(self.gpu if graphics else self.cpu, op, ctx)
