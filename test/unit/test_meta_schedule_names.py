"""What TVM's users make by name, or without a module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tvmscript_texts import function

from weft import meta_schedule as ms
from weft.dialects.support.diagnostics import UsageError
from weft.meta_schedule import database as databases
from weft.meta_schedule.feature_extractor import RandomFeatureExtractor
from weft.tir import Schedule

COPY = """
@T.prim_func
def main(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"]):
    for i in range(8):
        with T.block("copy"):
            v = T.axis.spatial(8, i)
            B[v] = A[v]
"""


def test_databases_are_made_by_their_names(tmp_path: Path) -> None:
    memory = databases.create("memory", module_equality="ignore-ndarray")
    assert type(memory) is databases.MemoryDatabase and len(memory) == 0
    assert type(databases.create(work_dir=tmp_path)) is databases.JSONDatabase
    assert (tmp_path / "database_workload.json").exists()
    for kind, made in (("union", databases.UnionDatabase), ("ordered_union", databases.OrderedUnionDatabase)):
        union = databases.create(
            kind, memory, databases.create(lambda sch: bool(sch.vectorize(sch.get_loops("copy")[0])) or True)
        )
        assert type(union) is made
        scheduled = union.query_ir_module(function(COPY), "llvm")
        assert scheduled is not None and "T.vectorized" in scheduled.script()
    with pytest.raises(UsageError, match="there is no database 'jsn'") as caught:
        databases.create("jsn")
    assert caught.value.hint == "did you mean 'json'?"


def test_a_context_needs_a_module_only_to_schedule_it() -> None:
    context = ms.TuneContext()
    given = RandomFeatureExtractor(feature_size=7, max_block_num=3, seed=1)
    candidates: list[Any] = [ms.MeasureCandidate(Schedule(function(COPY)))] * 20
    features = given.extract_from(context, candidates)
    assert len(features) == 20 and {each.shape[1] for each in features} == {7}
    assert {each.shape[0] for each in features} == {1, 2, 3}
    again = RandomFeatureExtractor(feature_size=7, max_block_num=3, seed=1).extract_from(context, candidates)
    assert all(np.array_equal(one, other) for one, other in zip(features, again, strict=True))
    with pytest.raises(UsageError, match="the context has no module"):
        context.generate_design_space()
