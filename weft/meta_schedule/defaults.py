"""TVM's rules, postprocessors and mutators for each kind of target, in their order and with their parameters."""

from __future__ import annotations

from ..tir.tensor_intrin.cuda import get_wmma_intrin_group
from .custom_rule import ApplyCustomRule
from .gpu_postprocs import RewriteCooperativeFetch, VerifyGPUCode
from .locations import AutoInline, InlineConstantScalars, RandomComputeLocation
from .multi_level_tiling import MultiLevelTiling, ReuseType
from .mutators import MutateComputeLocation, MutateThreadBinding, MutateTileSize, MutateUnroll
from .parallel_plans import MutateParallel
from .parallelize_vectorize_unroll import ParallelizeVectorizeUnroll
from .postprocs import DisallowDynamicLoop, RewriteParallelVectorizeUnroll, RewriteReductionBlock
from .reductions import AddRFactor
from .rule import MUTATORS, POSTPROCS, RULES, Mutator, Postproc, ScheduleRule
from .tensor_cores import MultiLevelTilingTensorCore
from .tensor_intrinsics import MultiLevelTilingWithIntrin, RewriteTensorize
from .threads import AutoBind, CrossThreadReduction, RewriteUnboundBlock


def _llvm_rules() -> list[ScheduleRule]:
    return [
        ApplyCustomRule(),
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


def _llvm_mutators() -> dict[Mutator, float]:
    return {MutateTileSize(): 0.9, MutateComputeLocation(): 0.05, MutateUnroll(): 0.03, MutateParallel(16): 0.02}


def _vnni_rules() -> list[ScheduleRule]:
    rules = _llvm_rules()
    with_dots = MultiLevelTilingWithIntrin(
        "dot_16x4_vnni", "SSRSRS", max_innermost_factor=64, reuse_write=ReuseType("may", [1, 2], "global")
    )
    rules.insert(next(n for n, rule in enumerate(rules) if isinstance(rule, MultiLevelTiling)), with_dots)
    return rules


def _vnni_postprocs() -> list[Postproc]:
    return [*_llvm_postprocs(), RewriteTensorize(vectorize_init_loop=True)]


def _cuda_rules() -> list[ScheduleRule]:
    return [
        ApplyCustomRule(),
        MultiLevelTiling(
            "SSSRRSRS",
            tile_binds=["blockIdx.x", "vthread.x", "threadIdx.x"],
            max_innermost_factor=64,
            vector_load_lens=[1, 2, 3, 4, 8, 16],
            reuse_read=ReuseType("must", [4], "shared"),
            reuse_write=ReuseType("must", [3], "local"),
        ),
        InlineConstantScalars(),
        AutoInline(
            into_producer=True,
            into_consumer=True,
            inline_const_tensor=True,
            disallow_if_then_else=False,
            require_injective=False,
            require_ordered=False,
        ),
        CrossThreadReduction([4, 8, 16, 32, 64, 128, 256, 512]),
        ParallelizeVectorizeUnroll(-1, -1, unroll_max_steps=[0, 16, 64, 512, 1024]),
        AutoBind(256, [32, 64, 128, 256, 512, 1024]),
    ]


def _cuda_postprocs() -> list[Postproc]:
    return [
        DisallowDynamicLoop(),
        RewriteCooperativeFetch(),
        RewriteUnboundBlock(256),
        RewriteParallelVectorizeUnroll(),
        RewriteReductionBlock(),
        VerifyGPUCode(),
    ]


def _cuda_mutators() -> dict[Mutator, float]:
    return {MutateTileSize(): 0.9, MutateUnroll(): 0.08, MutateThreadBinding(): 0.02}


def _cuda_tensorcore_rules() -> list[ScheduleRule]:
    groups = [
        get_wmma_intrin_group("shared.dyn", "shared.dyn", given, out, trans_b)
        for given, out in (("float16", "float32"), ("float16", "float16"), ("int8", "int32"))
        for trans_b in (False, True)
    ]
    with_tensor_cores = MultiLevelTilingTensorCore(
        groups,
        "SSSRRSRS",
        tile_binds=["blockIdx.y", "blockIdx.x", "threadIdx.y"],
        max_innermost_factor=4,
        vector_load_lens=[1, 2, 3, 4, 8, 16],
        reuse_read=ReuseType("must", [4], "shared.dyn"),
        reuse_write=ReuseType("must", [2], "shared.dyn"),
    )
    first, *rules = _cuda_rules()
    return [first, with_tensor_cores, *rules]


def _cuda_tensorcore_postprocs() -> list[Postproc]:
    return [*_cuda_postprocs(), RewriteTensorize()]


RULES["llvm"] = _llvm_rules
POSTPROCS["llvm"] = _llvm_postprocs
MUTATORS["llvm"] = _llvm_mutators
RULES["vnni"] = _vnni_rules
POSTPROCS["vnni"] = _vnni_postprocs
MUTATORS["vnni"] = _llvm_mutators
RULES["cuda"] = _cuda_rules
POSTPROCS["cuda"] = _cuda_postprocs
MUTATORS["cuda"] = _cuda_mutators
RULES["cuda-tensorcore"] = _cuda_tensorcore_rules
POSTPROCS["cuda-tensorcore"] = _cuda_tensorcore_postprocs
MUTATORS["cuda-tensorcore"] = _cuda_mutators
