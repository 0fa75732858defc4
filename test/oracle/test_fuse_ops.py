"""`fuse-ops` against TVM v0.10: the same kernels, results, arguments and marks, at every level and depth recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import cast

import pytest
from oracle_control import Program, fused_program, is_control, told
from oracle_fusion import Setting, forward_graph, fused_module, recorded, recorded_results
from oracle_records import Record, graph_of, records
from oracle_relay import build, unsupported

from weft import PassContext
from weft.transforms.relay.fuse_ops import FuseOpsPass
from weft.transforms.relay.fusion.partition import partition

Count = Callable[[str, int], None]

FILES = ("fuse_ops", "fuse_ops_control", "fuse_ops_tvmtests")


@cache
def loaded(name: str) -> list[Record]:
    return list(records(name))


def label(file: str, index: int, record: Record) -> str:
    return f"{file}-{record.get('test', '')}{record.get('seed', index)}"


RECORDS = [
    pytest.param(file, record, id=label(file, index, record))
    for file in FILES
    for index, record in enumerate(loaded(file))
]
SUPPORTED = [param for param in RECORDS if not unsupported(graph_of(cast(Record, param.values[1])))]


@pytest.mark.skipif(bool(os.environ.get("WEFT_ORACLE_DIR")), reason="other records take the place of the shipped ones")
def test_the_shipped_records_are_found() -> None:
    assert [len(loaded(file)) for file in FILES[:2]] == [160, 40]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("file", "record"), RECORDS)
def test_the_analysis_partitions_as_tvm_does(file: str, record: Record, count: Count) -> None:
    """All records, those with control flow included: which nodes share a group."""
    graph = graph_of(record)
    forward = forward_graph(graph)
    results = recorded_results(record)
    for name, expected in results.items():
        setting = Setting.named(name)
        root = partition(forward, fuse=setting.level > 0, max_depth=setting.max_depth).root
        constants = {node.id for node in graph.nodes if node.op == "const"} if setting.link_params else set[int]()
        groups: dict[int, set[int]] = {}
        for i, node in enumerate(graph.nodes):
            groups.setdefault(graph.nodes[root[i]].id, set()).add(node.id)
        for kernel in expected.kernels:
            assert groups[kernel.root] - constants == set(kernel.members) - constants, name
    what = "" if is_control(graph) else " and ".join(unsupported(graph))
    if what:
        count(f"{file}: records compared by partition alone, as {what} in relay belong to a later stage", 1)
    count(f"{file}: partitions equal", len(results))


@pytest.mark.sampled(6)
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("file", "record"), SUPPORTED)
def test_the_pass_fuses_as_tvm_does(file: str, record: Record, count: Count) -> None:
    graph = graph_of(record)
    module = build(graph)
    results = recorded_results(record)
    for name, expected in results.items():
        setting = Setting.named(name)
        fuse = FuseOpsPass(
            fuse_opt_level=setting.level,
            max_depth=setting.max_depth,
            link_params=setting.link_params,
            strategy="tvm",
        )
        assert fused_module(graph, fuse(module)) == expected, name
    count(f"{file}: records equal", 1)
    count(f"{file}: results equal", len(results))


CONTROL = [param for param in RECORDS if is_control(graph_of(cast(Record, param.values[1])))]


@pytest.mark.sampled(6)
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("file", "record"), CONTROL)
def test_the_pass_fuses_around_control_flow_as_tvm_does(file: str, record: Record, count: Count) -> None:
    """Branches are regions; what `let` binds is kept apart. The records are the kernels of all blocks."""
    graph = graph_of(record)
    module = Program(graph).module()
    results = recorded_results(record)
    for name, expected in results.items():
        setting = Setting.named(name)
        fuse = FuseOpsPass(
            fuse_opt_level=setting.level, max_depth=setting.max_depth, link_params=setting.link_params, strategy="tvm"
        )
        assert fused_program(graph, fuse(module)) == told(graph, expected), name
    count(f"{file}: records with control flow equal", 1)
    count(f"{file}: results with control flow equal", len(results))


CALLS = [param for param in SUPPORTED if "result" in cast(Record, param.values[1])]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("file", "record"), CALLS)
def test_the_pass_takes_level_and_options_from_the_context_as_tvm_does(file: str, record: Record, count: Count) -> None:
    """The calls of TVM's own tests, with TVM's names of the options."""
    graph = graph_of(record)
    config = {
        key: bool(value) if key.endswith("link_params") else value
        for key, value in cast("Mapping[str, int]", record["config"]).items()
    }
    with PassContext(opt_level=cast(int, record["pass_context_opt_level"]), config=config):
        fused = FuseOpsPass(fuse_opt_level=cast(int, record["fuse_opt_level_arg"]), strategy="tvm")(build(graph))
    assert fused_module(graph, fused) == recorded(cast(Record, record["result"]))
    count(f"{file}: calls equal", 1)
