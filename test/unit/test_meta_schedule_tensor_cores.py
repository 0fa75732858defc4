"""Tiles of products of matrices for tensor cores: `MultiLevelTilingTensorCore`, and what carries its designs out."""

# pyright: basic, reportAttributeAccessIssue=false

from __future__ import annotations

import numpy as np
import pytest
from tvmscript_texts import function, only

from weft import meta_schedule as ms
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.tir.interpreter import Interpreter
from weft.meta_schedule.schedule_rule import MultiLevelTilingTensorCore, ReuseType
from weft.tir import Schedule, tensor_intrin

pytestmark = pytest.mark.sampled(5)


def product(rows: int, columns: int, depth: int, *, trans_b: bool = False, dtype: str = "float16") -> str:
    shape, at = ((columns, depth), "B[vj, vk]") if trans_b else ((depth, columns), "B[vk, vj]")
    return f"""
@T.prim_func
def main(
    A: T.Buffer[({rows}, {depth}), "{dtype}"],
    B: T.Buffer[{shape}, "{dtype}"],
    D: T.Buffer[({rows}, {columns}), "float32"],
):
    C = T.alloc_buffer(({rows}, {columns}), "float32")
    for i, j, k in T.grid({rows}, {columns}, {depth}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], "float32") * T.cast({at}, "float32")
    for i, j in T.grid({rows}, {columns}):
        with T.block("relu"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.max(C[vi, vj], T.float32(0))
"""


CONVOLUTION = """
@T.prim_func
def main(
    X: T.Buffer[(1, 6, 6, 16), "float16"],
    W: T.Buffer[(3, 3, 16, 16), "float16"],
    C: T.Buffer[(1, 4, 4, 16), "float32"],
):
    for n, h, w, o, rh, rw, rc in T.grid(1, 4, 4, 16, 3, 3, 16):
        with T.block("conv"):
            vn, vh, vw, vo, vrh, vrw, vrc = T.axis.remap("SSSSRRR", [n, h, w, o, rh, rw, rc])
            with T.init():
                C[vn, vh, vw, vo] = T.float32(0)
            C[vn, vh, vw, vo] = C[vn, vh, vw, vo] + T.cast(X[vn, vh + vrh, vw + vrw, vrc], "float32") * T.cast(
                W[vrh, vrw, vrc, vo], "float32"
            )
"""


def rule(
    write: str = "shared", trans_b: tuple[bool, ...] = (False,), pipeline: bool = False
) -> MultiLevelTilingTensorCore:
    group = tensor_intrin.cuda.get_wmma_intrin_group
    return MultiLevelTilingTensorCore(
        [group("shared", write, "float16", "float32", each) for each in trans_b],
        "SSSRRSRS",
        tile_binds=["blockIdx.y", "blockIdx.x", "threadIdx.y"],
        max_innermost_factor=4,
        vector_load_lens=[1, 2, 3, 4, 8, 16],
        reuse_read=ReuseType("must", [4], "shared"),
        reuse_write=ReuseType("no" if write == "global" else "must", [2], write),
        use_software_pipeline=pipeline,
    )


def context(text: str, *rules: ms.ScheduleRule) -> ms.TuneContext:
    given = ms.space_generator.PostOrderApply(sch_rules=list(rules), postprocs=[], mutator_probs={})
    return ms.TuneContext(function(text), "cuda", given, rand_state=3)


def designs(text: str, *rules: ms.ScheduleRule) -> list[Schedule]:
    return context(text, *rules).generate_design_space()


def check_result(sch: Schedule, rows: int, columns: int, depth: int, trans_b: bool = False) -> None:
    random = np.random.default_rng(0)
    a = random.integers(-8, 8, (rows, depth)).astype(np.float16)
    b = random.integers(-8, 8, (columns, depth) if trans_b else (depth, columns)).astype(np.float16)
    (result,) = Interpreter(only(sch))([a, b])
    expected = a.astype(np.float32) @ (b.T if trans_b else b).astype(np.float32)
    assert np.array_equal(result, np.maximum(expected, 0))


@pytest.mark.parametrize(
    ("write", "shape"), [("shared", (32, 16, 16)), ("global", (16, 32, 16)), ("shared", (15, 16, 17))]
)
def test_a_product_goes_through_fragments(write: str, shape: tuple[int, int, int]) -> None:
    (design,) = designs(product(*shape), rule(write))
    text = design.mod.script()
    scope = "shared" if write == "shared" else "global"
    for name in (
        "wmma_sync_16x16x16_f16f16f32",
        "wmma_load_16x16x16_f16_a_shared",
        "wmma_load_16x16x16_f16_b_shared",
        f"wmma_store_16x16x16_f32_{scope}",
    ):
        assert f"'meta_schedule.auto_tensorize': '{name}'" in text
    assert text.count("'buffer_dim_align': [[0, 0, 32, 8]]") == 2
    assert text.count("meta_schedule.cooperative_fetch") == (3 if write == "shared" else 2)
    check_result(design, *shape)


def test_postprocessors_let_the_threads_of_a_warp_load_and_intrinsics_compute() -> None:
    text = product(16, 32, 32)
    told = context(text, rule())
    (design,) = told.generate_design_space()
    for each in ms.Postproc.create("cuda-tensorcore"):
        each.initialize_with_tune_context(told)
        accepted = each.apply(design)
        name = type(each).__name__
        assert accepted is (name != "VerifyGPUCode")  # no target makes code of fragments
        if name == "RewriteReductionBlock":
            check_result(design, 16, 32, 32)
    script = design.mod.script()
    assert 'T.thread_binding(32, thread="threadIdx.x")' in script and "auto_tensorize" not in script
    calls = ("tvm_fill_fragment", "tvm_load_matrix_sync", "tvm_mma_sync", "tvm_store_matrix_sync")
    assert [script.count(call) for call in calls] == [1, 2, 1, 1]
    loads = [line for line in script.splitlines() if "tvm_load_matrix_sync" in line]
    assert all(", 40, " in line for line in loads)  # rows of 32 elements, 8 more apart


def test_there_is_a_design_for_each_group_that_computes_what_the_block_does() -> None:
    found = designs(product(16, 16, 16, trans_b=True), rule(trans_b=(False, True)))
    plain = [each for each in found if "'wmma_sync_16x16x16_f16f16f32'" in each.mod.script()]
    transposed = [each for each in found if "'wmma_sync_16x16x16_f16f16f32_trans'" in each.mod.script()]
    assert len(found) == 2 and len(plain) == len(transposed) == 1
    check_result(transposed[0], 16, 16, 16, trans_b=True)


def test_a_convolution_becomes_a_product() -> None:
    (design,) = designs(CONVOLUTION, rule())
    script = design.mod.script()
    assert "wmma_sync_16x16x16_f16f16f32" in script and 'T.alloc_buffer((16, 144), "float16", scope="shared")' in script
    random = np.random.default_rng(0)
    x, w = (random.integers(-4, 4, shape).astype(np.float16) for shape in ((1, 6, 6, 16), (3, 3, 16, 16)))
    (result,) = Interpreter(only(design))([x, w])
    taps = [(i, j) for i in range(3) for j in range(3)]
    expected = sum(x[:, i : i + 4, j : j + 4].astype(np.float32) @ w[i, j].astype(np.float32) for i, j in taps)
    assert np.array_equal(result, expected)


def test_pipelines_are_told_where_there_are_several_steps() -> None:
    (design,) = designs(product(16, 16, 64), rule(pipeline=True))
    script = design.mod.script()
    assert (
        "'software_pipeline_stage': [0, 0, 1]" in script
        and "'software_pipeline_order': [0, 3, 1, 4, 5, 2, 6]" in script
    )
    assert script.count("'tir.manifest_shared_memory_local_stage': 1") == 2
    (single,) = designs(product(16, 16, 16), rule(pipeline=True))
    assert "software_pipeline" not in single.mod.script()


def test_what_tensor_cores_do_not_compute_stays() -> None:
    text = product(16, 16, 16, dtype="float32")
    (design,) = designs(text, rule())
    assert design.mod.script() == Schedule(function(text)).mod.script()


def test_generators_take_rules_by_the_name_of_a_kind() -> None:
    apply = ms.space_generator.PostOrderApply
    made = apply(sch_rules="cuda-tensorcore", postprocs="cuda-tensorcore", mutator_probs="from-target")
    assert [type(each).__name__ for each in made.sch_rules or ()][:3] == [
        "ApplyCustomRule",
        "MultiLevelTilingTensorCore",
        "MultiLevelTiling",
    ]
    told = ms.TuneContext(function(product(16, 16, 16)), "llvm", apply(sch_rules="from-target", postprocs=[]))
    names = [type(each).__name__ for each in told.space_generator.sch_rules or ()]
    assert "AddRFactor" in names and told.space_generator.postprocs == [] and told.space_generator.mutator_probs
    with pytest.raises(UsageError, match="there are no schedule rules for 'cuda-tensorcor'"):
        apply(sch_rules="cuda-tensorcor")


def test_parameters_that_make_no_design_are_refused() -> None:
    group = tensor_intrin.cuda.get_wmma_intrin_group("shared", "shared", "float16", "float32", False)
    with pytest.raises(UsageError, match=r"threadIdx\.x is that of the threads which use a tensor core together"):
        MultiLevelTilingTensorCore([group], "SSSRRSRS", tile_binds=["blockIdx.x", "threadIdx.x"])
    with pytest.raises(UsageError, match="lacks load_b"):
        MultiLevelTilingTensorCore([{key: name for key, name in group.items() if key != "load_b"}], "SSSRRSRS")
    with pytest.raises(UsageError, match="has no two levels R"):
        MultiLevelTilingTensorCore([group], "SSRS")
