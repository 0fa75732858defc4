"""Targets as text, JSON, tags, and several at once."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from weft import Target
from weft.dialects.support.diagnostics import UsageError
from weft.lowering.machine.target import TargetError

SAME: list[tuple[str, Mapping[str, object]]] = [
    ("llvm", {"kind": "llvm"}),
    ("llvm -mcpu=skylake -mattr=+avx2,-avx512f", {"kind": "llvm", "mcpu": "skylake", "mattr": ["+avx2", "-avx512f"]}),
    ("c -mtriple=x86_64-linux-gnu -model=board", {"kind": "c", "mtriple": "x86_64-linux-gnu", "model": "board"}),
    ("llvm -keys=arm_cpu,cpu -num-cores=4", {"kind": "llvm", "keys": ["arm_cpu", "cpu"], "num-cores": 4}),
    (
        "cuda -arch=sm_86 -max_threads_per_block=512 -host='llvm -mcpu=skylake'",
        {"kind": "cuda", "arch": "sm_86", "max_threads_per_block": 512, "host": {"kind": "llvm", "mcpu": "skylake"}},
    ),
    ("nvptx", {"kind": "nvptx"}),
    ("nvidia/geforce-rtx-3070 -thread_warp_size=16", {"tag": "nvidia/geforce-rtx-3070", "thread_warp_size": 16}),
    ("llvm --num-cores 4 -mcpu=x86-64-v3", {"kind": "llvm", "num-cores": 4, "mcpu": "x86-64-v3"}),
    ("cuda -arch=sm_86", {"tag": "nvidia/geforce-rtx-3070"}),
]


@pytest.mark.parametrize(("text", "fields"), SAME)
def test_a_target_is_the_same_in_every_form(text: str, fields: Mapping[str, object]) -> None:
    target = Target.parse(text)
    assert Target.parse(fields) == target == Target.parse(json.dumps(fields)) == Target(text)
    assert Target.parse(str(target)) == target == Target.parse(json.dumps(target.export()))


def test_several_targets_are_one_composite() -> None:
    listed = Target.parse(["llvm -mcpu=skylake", "cuda -arch=sm_75"])
    devices = [{"kind": "llvm", "mcpu": "skylake"}, "cuda -arch=sm_75"]
    assert Target.parse({"kind": "composite", "devices": devices}) == listed == Target.parse(listed.export())
    assert listed.processor == Target("llvm", "skylake") and listed.gpu == Target("cuda -arch=sm_75")
    for devices in (["cuda", "cuda"], ["llvm", "llvm"], []):
        with pytest.raises(TargetError, match=r"do not go together|says its devices"):
            Target.parse({"kind": "composite", "devices": devices})
    with pytest.raises(TargetError, match="composite target says its devices, and nothing else"):
        Target.parse({"kind": "composite", "devices": ["llvm"], "mcpu": "x"})


def test_the_host_of_a_gpu_is_given_once() -> None:
    assert Target("cuda", host=Target("llvm -mcpu=skylake")) == Target("cuda -host='llvm -mcpu=skylake'")
    xavier = Target("nvidia/jetson-agx-xavier")
    assert xavier.host is not None and (xavier.host.cpu, xavier.host.triple) == ("carmel", "aarch64-linux-gnu")
    with pytest.raises(TargetError, match="has a host, which is not 'llvm"):
        Target("nvidia/jetson-agx-xavier", host=Target("llvm -mcpu=skylake"))
    with pytest.raises(TargetError, match="the host of a GPU is a processor"):
        Target.parse({"kind": "cuda", "host": "cuda"})


def test_kinds_have_names_as_tvms_have() -> None:
    kind = Target("llvm -mcpu=native").kind
    assert kind == getattr(kind, "name") == "llvm"  # noqa: B009
    assert {"c", "cuda", "llvm"} <= set(Target.list_kinds())
    assert all(str(Target(name)).startswith(name) for name in ("c", "cuda", "llvm"))


def test_a_target_is_given_a_host() -> None:
    assert Target("cuda").with_host("llvm").host == Target("llvm")
    assert Target("cuda").with_host() == Target("cuda")
    with pytest.raises(TargetError, match="has a host, which is not"):
        Target("cuda -host=llvm").with_host("llvm -mcpu=x86-64-v2")


def test_a_target_tells_of_itself() -> None:
    target = Target("llvm -device=arm_cpu -model=board")
    assert (target.keys, target.option("model"), target.option("tag")) == (("arm_cpu", "cpu"), "board", None)
    assert Target("llvm -keys=a,b").keys == ("a", "b") and Target("cuda").keys == ("cuda", "gpu")
    assert str(target) == "llvm -mcpu=native -device=arm_cpu -model=board"
    assert target.resolved().cpu == Target("llvm").resolved().cpu


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("lvm", r"unknown target kind 'lvm'; kinds are llvm, c, cuda(.|\n)*did you mean 'llvm'"),
        ("nvidia/geforce-rtx-307", r"there is no tag 'nvidia/geforce-rtx-307'(.|\n)*'nvidia/geforce-rtx-3070'"),
        ("llvm -mcp=x", r"unknown target option '-mcp=x'(.|\n)*did you mean '-mcpu'"),
        ("llvm -mcpu", "the target option '-mcpu' has no value"),
        ("llvm -num-cores -mcpu=x", "the target option '-num-cores' has no value"),
        ("llvm -num-cores 4 5", "unknown target option '5'"),
        ("llvm -mcpu=", "the target option '-mcpu' has no value"),
        ("llvm -mattr=+avx2 -mattr=+fma", r"'-mattr' stands twice(.|\n)*write -mattr=\+avx2,\+fma"),
        ('{"a": ' + "[" * 100_000, "is no JSON"),
        ("llvm -arch=sm_80", "unknown target option '-arch=sm_80'"),
        ("cuda -thread_warp_size=many", "'-thread_warp_size' is a positive number, not 'many'"),
        ("", "unknown target kind ''"),
        ("{", r"is no JSON"),
        ('llvm -mcpu="', "cannot be read: no closing quotation"),
        ({"mcpu": "x"}, "a target says its kind"),
        ({"kind": "llvm", "mcp": "x"}, r"unknown target option 'mcp'(.|\n)*did you mean 'mcpu'"),
        ({"kind": "llvm", "mcpu": True}, "'mcpu' is a text, a number or a list, not True"),
        ({"kind": "cuda", "host": {"kind": "lvm"}}, "unknown target kind 'lvm'"),
    ],
)
def test_what_is_no_target_is_refused_with_what_is_near(given: str | Mapping[str, object], message: str) -> None:
    with pytest.raises(TargetError, match=message):
        Target.parse(given)


def test_targets_and_hosts_are_put_together_as_in_tvm() -> None:
    assert Target.canon_target_and_host(None) == (None, None)
    with pytest.raises(UsageError, match="a host, and no target"):
        Target.canon_target_and_host(None, "llvm")
    one, host = Target.canon_target_and_host("cuda", {"kind": "llvm", "mcpu": "skylake"})
    assert one is not None and one.host == host == Target("llvm", "skylake")
    assert Target.canon_target_and_host(one, "llvm") == (one, host)


@pytest.mark.parametrize(
    ("given", "kinds"),
    [
        ("llvm", ["llvm"]),
        ({"kind": "llvm"}, ["llvm"]),
        (["llvm", "cuda"], ["llvm", "cuda"]),
        ({1: "llvm", 2: Target("cuda")}, ["llvm", "cuda"]),
    ],
)
def test_several_targets_are_listed_each_with_the_host(given: Any, kinds: list[str]) -> None:
    assert [each.kind for each in Target.canon_multi_target_and_host(given)] == kinds
    hosted = Target.canon_multi_target_and_host(given, "llvm")
    assert [each.host for each in hosted] == [Target("llvm") if kind == "cuda" else None for kind in kinds]


def test_no_target_is_refused_where_there_has_to_be_one() -> None:
    with pytest.raises(UsageError, match="there is no target"):
        Target.canon_multi_target_and_host(None)
    with pytest.raises(UsageError, match="there is no target"):
        Target.canon_multi_target_and_host([])


def test_what_is_mapped_from_targets_is_so_from_those_with_a_host() -> None:
    skylake = Target("llvm", "skylake")
    modules, host = Target.canon_target_map_and_host({"cuda": 1, "llvm": 2}, skylake)
    assert host == skylake and modules == {Target("cuda", host=skylake): 1, Target("llvm"): 2}
    assert Target.canon_target_map_and_host({Target("cuda", host=skylake): 1})[1] == skylake
    assert Target.canon_target_map_and_host({}, "llvm") == ({}, None)


def test_the_constructor_takes_every_form_and_a_host_beside_it() -> None:
    skylake = Target("llvm", "skylake")
    assert Target({"kind": "cuda", "arch": "sm_86"}, host={"kind": "llvm", "mcpu": "skylake"}).host == skylake
    assert Target(skylake) == Target(str(skylake)) == skylake
    assert Target("cuda", host="llvm -mcpu=skylake") == Target(Target("cuda"), host=skylake)


def test_what_is_given_beside_a_text_that_says_all_is_not_lost() -> None:
    with pytest.raises(TargetError, match="says all but its host, and is given cpu"):
        Target("cuda", cpu="sm_86")
    with pytest.raises(TargetError, match="is given attributes"):
        Target("cuda -arch=sm_86", attributes="+ptx80")
