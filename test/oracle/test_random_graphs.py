"""`fuse-ops` and `plan-memory` on random graphs, against what TVM's documentation says that it does with them.

The reference is a second implementation (`support/tvm_reference.py`), which is held to TVM's own results here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from statistics import median
from typing import cast

import pytest
from oracle_fusion import Fused, Setting, forward_graph, fused_module, recorded_results
from oracle_memory import bufferized, plan_of, planned_and_bound, recorded_plan, reshapes
from oracle_records import Graph, Record, graph_of, records
from oracle_relay import build, unsupported
from random_records import random_record
from tvm_reference import Refused, fused, planned

from weft.transforms.mem.elide_copies import ElideCopiesPass
from weft.transforms.mem.plan_memory import PlanMemoryPass
from weft.transforms.relay.fuse_ops import FuseOpsPass
from weft.transforms.relay.fusion.partition import partition

Count = Callable[[str, int], None]

NAMES = ("L0", "L2", "L2_depth1", "L2_depth2", "L2_depth3", "L2_depth5")
TVM = PlanMemoryPass(strategy="tvm-greedy", alignment=1)
RESHAPES = ElideCopiesPass(reshapes=True, slices=False, concatenations=False, outputs=False)
FEW = 8
FIELDS = tuple(range(seed, seed + 1) for seed in (5977, 6340, 10040, 13202))  # reshapes of which kernels take a field
SOME = [range(FEW), *FIELDS, *(pytest.param(range(n, n + 100), marks=pytest.mark.large) for n in range(FEW, 2000, 100))]


@pytest.mark.parametrize("step", [16, pytest.param(1, marks=pytest.mark.large)])
def test_the_reference_gives_what_tvm_gave(step: int, count: Count) -> None:
    graphs = {record["seed"]: graph_of(record) for record in records("fuse_ops")}
    for record in list(records("fuse_ops"))[::step]:
        if unsupported(graph := graph_of(record)):
            continue
        for name, expected in recorded_results(record).items():
            if not (setting := Setting.named(name)).link_params:
                assert fused(graph, setting) == expected, (record["seed"], name)
                count("random graphs: partitions of TVM's that the reference gives", 1)
    for record in list(records("plan_memory"))[::step]:
        graph = graphs[record["seed"]]
        for what in ("plan", "plan_lowered"):
            if "error" in (plan := cast(Record, record[what])):
                continue
            storages = planned(graph, fused(graph, Setting.named("L2")), lowered=what == "plan_lowered")
            expected = recorded_plan(plan)
            assert (storages.of, storages.sizes) == (expected.storages, expected.storage_bytes), record["seed"]
            assert storages.temporary == plan["temp_bytes"]
            count("random graphs: plans of TVM's that the reference gives", 1)


@pytest.mark.skipif(bool(os.environ.get("WEFT_ORACLE_DIR")), reason="other records take the place of the shipped ones")
def test_random_graphs_are_of_many_kinds() -> None:
    made = {node.op for seed in range(16) for node in random_record(seed).nodes}
    assert len(made) > 40 and made >= {"tuple", "split", "annotation.stop_fusion", "topk", "const"}


def compare_fusion(graph: Graph, settings: list[Setting]) -> Fused:
    """Hold fusion, as an analysis and in IR, to the reference; what it is at level 2. The default takes it, too."""
    forward, module = forward_graph(graph), build(graph)
    for setting in settings:
        expected = fused(graph, setting)
        root = partition(forward, fuse=setting.level > 0, max_depth=setting.max_depth).root
        for kernel in expected.kernels:
            assert tuple(i for i, head in enumerate(root) if head == kernel.root) == kernel.members, setting
        fuse = FuseOpsPass(fuse_opt_level=setting.level, max_depth=setting.max_depth, strategy="tvm")
        assert fused_module(graph, fuse(module)) == expected, setting
    FuseOpsPass()(module).verify()
    return fused(graph, Setting.named("L2"))


@pytest.mark.parametrize("seeds", SOME)
def test_random_graphs_are_fused_and_planned_as_tvm_says_it_does(seeds: range, count: Count) -> None:
    above: list[float] = []
    for seed in seeds:
        graph = random_record(seed)
        groups = compare_fusion(graph, [Setting.named(name) for name in ("L2", NAMES[seed % len(NAMES)])])
        memory = bufferized(graph)
        copies, lowered = reshapes(memory, graph), RESHAPES(memory)
        for module, elided, is_lowered in ((memory, {}, False), (lowered, copies, True)):
            ours, bound = planned_and_bound(PlanMemoryPass(alignment=1)(module))
            try:
                storages = planned(graph, groups, lowered=is_lowered)
            except Refused:
                count("random graphs: plans that TVM does not make", 1)
            else:
                given = plan_of(TVM(module), graph, elided)
                assert (given.storages, given.storage_bytes) == (storages.of, storages.sizes), seed
                assert ours <= storages.temporary, seed
            above.append(ours / bound if bound else 1)
    assert median(above) <= 1.05
    count("random graphs: fused and planned as the reference does", len(seeds))
    count(f"random graphs: the default's memory (at most {max(above) - 1:.1%} above the lower bound)", len(above))
