"""Tiles of dot products on a GPU: copies of what an intrinsic reads, which threads load together."""

from __future__ import annotations

import numpy as np
from tvmscript_texts import function, only

from weft import meta_schedule as ms
from weft.dialects.tir.interpreter import Interpreter
from weft.meta_schedule.schedule_rule import MultiLevelTilingWithIntrin, ReuseType

PRODUCT = """
@T.prim_func
def main(X: T.Buffer[(16, 32), "int8"], W: T.Buffer[(16, 32), "int8"], C: T.Buffer[(16, 16), "int32"]):
    for i, j, k in T.grid(16, 16, 32):
        with T.block("product"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.cast(X[vi, vk], "int32") * T.cast(W[vj, vk], "int32")
"""


def test_what_an_intrinsic_reads_is_copied_to_memory_that_threads_share() -> None:
    rule = MultiLevelTilingWithIntrin(
        "dp4a",
        "SSSRRSRS",
        tile_binds=["blockIdx.x", "vthread.x", "threadIdx.x"],
        max_innermost_factor=64,
        vector_load_lens=[1, 2, 4],
        reuse_read=ReuseType("must", [4], "shared"),
        reuse_write=ReuseType("must", [3], "local"),
    )
    given = ms.space_generator.PostOrderApply(sch_rules=[rule], postprocs=[], mutator_probs={})
    (design,) = ms.TuneContext(function(PRODUCT), "cuda", given, rand_state=0).generate_design_space()
    text = design.mod.script()
    assert text.count('scope="shared"') == 2 and text.count('scope="local"') == 1
    assert text.count("meta_schedule.cooperative_fetch") == 2
    assert "'meta_schedule.auto_tensorize': 'dp4a'" in text
    random = np.random.default_rng(0)
    x, w = (random.integers(-128, 128, (16, 32), np.int8) for _ in range(2))
    (result,) = Interpreter(only(design))([x, w])
    assert np.array_equal(result, x.astype(np.int32) @ w.astype(np.int32).T)
