"""TVM's rules and postprocessors for each kind of target, in their order and with their parameters."""

from __future__ import annotations

from ....dialects.support.diagnostics import UsageError, did_you_mean
from .locations import AutoInline, InlineConstantScalars, RandomComputeLocation
from .multi_level_tiling import MultiLevelTiling, ReuseType
from .parallelize_vectorize_unroll import ParallelizeVectorizeUnroll
from .postprocs import DisallowDynamicLoop, RewriteParallelVectorizeUnroll, RewriteReductionBlock
from .reductions import AddRFactor
from .rule import Postproc, ScheduleRule


def _llvm_rules() -> list[ScheduleRule]:
    return [
        InlineConstantScalars(),
        AutoInline(
            into_producer=False,
            into_consumer=True,
            inline_const_tensor=True,
            disallow_if_then_else=True,
            require_injective=True,
            require_ordered=True,
            disallow_op=["tir.exp"],
        ),
        AddRFactor(max_jobs_per_core=16, max_innermost_factor=64),
        MultiLevelTiling("SSRSRS", max_innermost_factor=64, reuse_write=ReuseType("may", [1, 2], "global")),
        ParallelizeVectorizeUnroll(max_jobs_per_core=16, max_vectorize_extent=64, unroll_max_steps=[0, 16, 64, 512]),
        RandomComputeLocation(),
    ]


def _llvm_postprocs() -> list[Postproc]:
    return [DisallowDynamicLoop(), RewriteParallelVectorizeUnroll(), RewriteReductionBlock()]


RULES = {"llvm": _llvm_rules}
POSTPROCS = {"llvm": _llvm_postprocs}


def rules_for(kind: str) -> list[ScheduleRule]:
    """The rules for a kind.

    Raises:
        UsageError: there are none.
    """
    if kind not in RULES:
        raise UsageError(f"there are no schedule rules for '{kind}'", hint=did_you_mean(kind, list(RULES)))
    return RULES[kind]()


def postprocs_for(kind: str) -> list[Postproc]:
    """The postprocessors for a kind.

    Raises:
        UsageError: there are none.
    """
    if kind not in POSTPROCS:
        raise UsageError(f"there are no postprocessors for '{kind}'", hint=did_you_mean(kind, list(POSTPROCS)))
    return POSTPROCS[kind]()
