"""`plan-memory` against TVM v0.10: the same storages of the same sizes; and how much better the default is."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from statistics import median
from typing import cast

import pytest
from oracle_fusion import fused_module, recorded
from oracle_memory import (
    bufferized,
    plan_of,
    planned_and_bound,
    put_on_devices,
    recorded_plan,
    reshapes,
    without_annotations,
)
from oracle_records import Graph, Json, Record, graph_of, records
from oracle_relay import build
from xdsl.dialects.builtin import ModuleOp

from weft.transforms.mem.elide_copies import ElideCopiesPass
from weft.transforms.mem.plan_memory import PlanMemoryPass
from weft.transforms.relay.fuse_ops import FuseOpsPass

Count = Callable[[str, int], None]

TVM = PlanMemoryPass(strategy="tvm-greedy", alignment=1)
RESHAPES = ElideCopiesPass(reshapes=True, slices=False, concatenations=False, outputs=False)


@cache
def graphs() -> dict[int, Graph]:
    """The graphs of `fuse_ops`, by their seeds."""
    return {cast(int, record["seed"]): graph_of(record) for record in records("fuse_ops")}


@cache
def homogeneous(seed: int) -> ModuleOp:
    """The graph of a seed, over buffers. Passes that are called leave it as it is."""
    return bufferized(graphs()[seed])


PLANS = [pytest.param(record, id=f"plan_memory-{record['seed']}") for record in records("plan_memory")]
ALL_HETERO = list(records("plan_memory_hetero"))
HETERO = [pytest.param(record, id=f"plan_memory_hetero-{record['seed']}") for record in ALL_HETERO]


@pytest.mark.skipif(bool(os.environ.get("WEFT_ORACLE_DIR")), reason="other records take the place of the shipped ones")
def test_the_shipped_records_are_found() -> None:
    assert (len(PLANS), len(ALL_HETERO)) == (160, 48)


@pytest.mark.sampled(6)
@pytest.mark.sampled(3)
@pytest.mark.parametrize("record", PLANS)
def test_storages_are_those_of_tvm(record: Record, count: Count) -> None:
    seed = cast(int, record["seed"])
    graph, module = graphs()[seed], homogeneous(seed)
    expected = recorded_plan(cast(Record, record["plan"]))
    given = plan_of(TVM(module), graph, {})
    assert (given.storages, given.storage_bytes) == (expected.storages, expected.storage_bytes)
    count("plan_memory: plans equal", 1)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "record",
    [p for p in PLANS if "error" not in cast(Record, cast(Record, p.values[0])["plan_lowered"])],
)
def test_reshapes_take_the_storage_of_what_they_reshape_as_in_tvm(record: Record, count: Count) -> None:
    seed = cast(int, record["seed"])
    graph, module = graphs()[seed], homogeneous(seed)
    copies = reshapes(module, graph)
    expected = recorded_plan(cast(Record, record["plan_lowered"]))
    given = plan_of(TVM(RESHAPES(module)), graph, copies)
    assert (given.storages, given.storage_bytes) == (expected.storages, expected.storage_bytes)
    count("plan_memory: lowered plans equal", 1)
    count("plan_memory: reshapes without storage of their own", len(copies))


def heterogeneous(record: Record) -> tuple[ModuleOp, Graph]:
    """The graph of a record, over buffers on its devices."""
    graph = without_annotations(graph_of(record))
    nodes = cast("Sequence[Mapping[str, Json]]", cast("Mapping[str, Json]", record["graph"])["nodes"])
    devices = {cast(int, node["id"]): cast(str, node["device"]) for node in nodes}
    module = bufferized(graph)
    put_on_devices(module, graph, devices)
    return module, graph


@pytest.mark.sampled(3)
@pytest.mark.parametrize("record", HETERO)
def test_storages_on_several_devices_are_those_of_tvm(record: Record, count: Count) -> None:
    module, graph = heterogeneous(record)
    expected = recorded_plan(cast(Record, record["plan"]))
    assert plan_of(TVM(module), graph, {}) == expected
    count("plan_memory_hetero: plans equal", 1)


def rounded_temporary_bytes(plan: Record, alignment: int) -> int:
    """The bytes of TVM's storages but for inputs and constants, each as large as it is where memory is aligned."""
    items = cast("Sequence[Mapping[str, Json]]", plan["items"])
    pinned = {sid for i in items if i["kind"] in ("var", "const") for sid in cast("Sequence[int]", i["sids"])}
    sizes = cast("Sequence[int]", plan["token_bytes"])
    return sum(-(-size // alignment) * alignment for sid, size in enumerate(sizes) if sid not in pinned)


def compared(step: int) -> list[tuple[ModuleOp, Record]]:
    """Every `step`-th bufferised graph that TVM has planned, and its plan."""
    found: list[tuple[ModuleOp, Record]] = []
    for param in PLANS[::step]:
        record = cast(Record, param.values[0])
        module = homogeneous(cast(int, record["seed"]))
        found.append((module, cast(Record, record["plan"])))
        if "error" not in cast(Record, record["plan_lowered"]):
            found.append((RESHAPES(module), cast(Record, record["plan_lowered"])))
    found += [(heterogeneous(record)[0], cast(Record, record["plan"])) for record in ALL_HETERO[::step]]
    return found


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.large)])
def test_the_default_never_needs_more_than_tvm_and_hardly_more_than_there_must_be(step: int, count: Count) -> None:
    above: list[float] = []
    saved: list[float] = []
    for module, plan in compared(step):
        planned, bound = planned_and_bound(PlanMemoryPass(alignment=1)(module))
        tvm = cast(int, plan["temp_bytes"])
        assert planned <= tvm
        assert planned_and_bound(PlanMemoryPass()(module))[0] <= rounded_temporary_bytes(plan, 64)
        above.append(planned / bound if bound else 1)
        saved.append(1 - planned / tvm if tvm else 0)
    assert median(above) <= 1.05
    count("plan_memory: plans of the default compared in size", len(above))
    count(f"of these larger than the lower bound (the largest by {max(above) - 1:.1%})", sum(a > 1 for a in above))
    count(f"of these smaller than TVM's (in the median by {median(saved):.1%})", sum(s > 0 for s in saved))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("record", HETERO)
def test_graphs_on_several_devices_are_fused_as_in_tvm(record: Record) -> None:
    graph = without_annotations(graph_of(record))
    fused = fused_module(graph, FuseOpsPass(fuse_opt_level=2, strategy="tvm")(build(graph)))
    expected = recorded(cast(Record, record["partition"]))
    assert [k.members for k in fused.kernels] == [k.members for k in expected.kernels]
