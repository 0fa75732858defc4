"""Targets as text, JSON, tags, and several at once."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

import weft
from weft import Target
from weft.dialects.support import knobs
from weft.dialects.support.diagnostics import UsageError
from weft.lowering.loops_to_c.compile import has_compiler
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
    ("rocm", {"kind": "rocm"}),
    ("opencl -device=mali", {"kind": "opencl", "device": "mali"}),
    ("llvm -mcpu='of my own'", {"kind": "llvm", "mcpu": "of my own"}),
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
    assert listed.processor == Target("llvm", cpu="skylake") and listed.gpu == Target("cuda -arch=sm_75")
    refused = [["cuda"] * 2, ["llvm"] * 2, ["opencl", "cuda"], ["llvm", "opencl", "opencl"], ["llvm", "c"], []]
    for devices in refused:
        with pytest.raises(TargetError, match=r"do not go together|says its devices"):
            Target.parse({"kind": "composite", "devices": devices})
    for text in (
        "composite -devices=llvm,cuda",
        "composite --host=llvm --devices=cuda",
        "composite -host=llvm -devices=llvm,cuda",
    ):
        assert Target.parse(text) == Target.parse(["llvm", "cuda"])
    for text in ("composite -devices=", "composite -mcpu=x", "composite -devices=llvm -devices=cuda"):
        with pytest.raises(TargetError, match="says nothing of a composite target"):
            Target.parse(text)
    with pytest.raises(TargetError, match="composite target says its devices"):
        Target.parse("composite")
    three = Target("composite --host=llvm --devices=cuda,opencl")
    assert (three.kind, three.host, three.gpu) == ("composite", Target("llvm"), Target("cuda"))
    assert three.attrs["devices"] == [Target("cuda"), Target("opencl")] and Target.parse(three.export()) == three
    assert str(three.resolved().processor) == str(Target("llvm").resolved())
    with pytest.raises(TargetError, match="composite target says its devices, and nothing else"):
        Target.parse({"kind": "composite", "devices": ["llvm"], "mcpu": "x"})


def test_the_host_of_a_gpu_is_given_once() -> None:
    assert Target("cuda", host=Target("llvm -mcpu=skylake")) == Target("cuda -host='llvm -mcpu=skylake'")
    xavier = Target("nvidia/jetson-agx-xavier")
    assert xavier.host is not None and (xavier.host.cpu, xavier.host.triple) == ("carmel", "aarch64-linux-gnu")
    with pytest.raises(TargetError, match="has a host, which is not 'llvm"):
        Target("nvidia/jetson-agx-xavier", host=Target("llvm -mcpu=skylake"))
    with pytest.raises(TargetError, match="the host of a GPU is a processor"):
        Target.parse({"kind": "cuda", "host": "cuda"}).resolved()
    with pytest.raises(TargetError, match="the host of 'llvm -mcpu=native' is itself, and not 'c"):
        Target("llvm -host=c").resolved()


def test_kinds_have_names_as_tvms_have() -> None:
    kind = Target("llvm -mcpu=native").kind
    assert kind == getattr(kind, "name") == "llvm"  # noqa: B009
    assert {"c", "cuda", "llvm"} <= set(Target.list_kinds())
    assert all(str(Target(name)).startswith(name) for name in ("c", "cuda", "llvm"))


def test_a_target_is_given_a_host() -> None:
    assert Target("cuda").with_host("llvm").host == Target("llvm")
    assert Target("cuda").with_host() == Target("cuda")
    assert Target("cuda -host=llvm").with_host("llvm -mcpu=x86-64-v2").host == Target("llvm -mcpu=x86-64-v2")
    hosted = Target("llvm -mcpu=skylake", host="llvm")
    assert hosted.host == Target("llvm") and Target.parse(str(hosted)) == hosted == Target.parse(hosted.export())
    assert hosted.processor == Target("llvm -mcpu=skylake") and hosted.platform() == hosted.processor.platform()


def test_a_target_tells_of_itself() -> None:
    target = Target("llvm -device=arm_cpu -model=board")
    assert (target.keys, target.option("model"), target.option("tag")) == (("arm_cpu", "cpu"), "board", None)
    assert Target("llvm -keys=a,b").keys == ("a", "b", "cpu") and Target("cuda").keys == ("cuda", "gpu")
    assert str(target) == "llvm -mcpu=native -device=arm_cpu -model=board"
    assert target.resolved().cpu == Target("llvm").resolved().cpu


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("lvm", r"unknown target kind 'lvm'; kinds are llvm, c, cuda, rocm(.|\n)*did you mean 'llvm'"),
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
        ("llvm -num-cores=x", "'-num-cores' is a positive number, not 'x'"),
        ({"kind": "llvm", "num-cores": 0}, "'-num-cores' is a positive number, not '0'"),
        ({"kind": "llvm", "num-cores": 10**30}, "'-num-cores' is a positive number, not '1000"),
        ({"kind": "llvm", "tag": ["a"]}, r"there is no tag '\['a'\]'"),
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
    for kind in (UsageError, ValueError, AssertionError):
        with pytest.raises(kind, match="Target host is not empty when target is empty"):
            Target.canon_target_and_host(None, "llvm")
    assert Target.canon_multi_target(None) is None and Target.target_or_current("llvm") == Target("llvm")
    with pytest.raises(ValueError, match="Target is not set"):
        Target.target_or_current(None)
    one, host = Target.canon_target_and_host("cuda", {"kind": "llvm", "mcpu": "skylake"})
    assert one is not None and one.host == host == Target("llvm", cpu="skylake")
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
    assert [each.host for each in hosted] == [Target("llvm")] * len(kinds)


def test_no_target_is_refused_where_there_has_to_be_one() -> None:
    with pytest.raises(UsageError, match="there is no target"):
        Target.canon_multi_target_and_host(None)
    with pytest.raises(UsageError, match="there is no target"):
        Target.canon_multi_target_and_host([])


def test_what_is_mapped_from_targets_is_so_from_those_with_a_host() -> None:
    skylake = Target("llvm", cpu="skylake")
    modules, host = Target.canon_target_map_and_host({"cuda": 1, "llvm": 2}, skylake)
    assert host == skylake and modules == {Target("cuda", host=skylake): 1, Target("llvm", host=skylake): 2}
    assert Target.canon_target_map_and_host({Target("cuda", host=skylake): 1})[1] == skylake
    assert Target.canon_target_map_and_host({}, "llvm") == ({}, None)


def test_the_constructor_takes_every_form_and_a_host_beside_it() -> None:
    skylake = Target("llvm", cpu="skylake")
    assert Target({"kind": "cuda", "arch": "sm_86"}, host={"kind": "llvm", "mcpu": "skylake"}).host == skylake
    assert Target(skylake) == Target(str(skylake)) == skylake
    assert (
        Target("cuda", host="llvm -mcpu=skylake")
        == Target(Target("cuda"), skylake)
        == Target(target="cuda", host=skylake)
    )
    assert Target("nvidia/jetson-nano", {"kind": "llvm"}).host == Target("llvm") and Target("cuda", None) == Target(
        "cuda"
    )


def test_what_is_given_beside_a_text_that_says_all_is_not_lost() -> None:
    with pytest.raises(TargetError, match="says all but its host, and is given cpu"):
        Target("cuda", cpu="sm_86")
    with pytest.raises(TargetError, match="is given attributes"):
        Target("cuda -arch=sm_86", attributes="+ptx80")


def test_a_target_answers_by_tvms_names() -> None:
    gpu = Target("cuda -arch=sm_75 -thread_warp_size=16 -libs=cublas,cudnn")
    assert (gpu.arch, gpu.thread_warp_size, gpu.max_num_threads, gpu.libs) == ("sm_75", 16, 1024, ["cublas", "cudnn"])
    assert gpu.attrs["max_shared_memory_per_block"] == 49152 and gpu.attrs["libs"] == gpu.libs
    assert gpu.supports_integer_dot_product and not Target("cuda -arch=sm_53").supports_integer_dot_product
    board = Target({"kind": "llvm", "mcpu": "skylake", "mattr": ["+avx2", "-fma"], "num-cores": 4})
    assert board.attrs == {"mcpu": "skylake", "mattr": ["+avx2", "-fma"], "num-cores": 4}
    assert (board.mcpu, board.mattr, board.model) == ("skylake", ["+avx2", "-fma"], "unknown")
    assert Target("llvm").attrs == {} and (Target("llvm").mcpu, Target("llvm").max_function_args) == ("", -1)
    with pytest.raises(TargetError, match="has no 'thread_warp_size'"):
        _ = board.thread_warp_size
    assert [Target(text).get_target_device_type() for text in ("llvm", "c", "cuda", "metal")] == [1, 1, 2, 8]
    assert Target("vulkan -supports_float16=True -device_name='Two words'").attrs["supports_float16"] is True
    assert Target.parse(["llvm", "cuda"]).attrs["devices"] == [Target("cuda")]


@pytest.mark.parametrize(
    ("text", "features"),
    [
        ("c -mcpu=cortex-m55", {"has_dsp": True, "has_mve": True}),
        ("llvm -mcpu=cortex-m55 -mattr=+nomve", {"has_dsp": True, "has_mve": False}),
        ("llvm -mcpu=cortex-m7+nodsp", {"has_dsp": False, "has_mve": False}),
        ("llvm -mcpu=cortex-m3", {"has_dsp": False, "has_mve": False}),
        (
            "llvm -mtriple=aarch64-linux-gnu -mattr=+v8.2a,+dotprod",
            {"is_aarch64": True, "has_asimd": True, "has_dotprod": True, "has_matmul_i8": False},
        ),
        ("llvm -mtriple=aarch64-linux-gnu -mattr=+v8.1a,+dotprod", {"has_dotprod": False, "has_matmul_i8": False}),
        ("llvm -mtriple=armv7a-linux-gnueabihf", {"is_aarch64": False, "has_asimd": False, "has_dotprod": False}),
        ("llvm -mtriple=aarch64-linux-gnu -mattr=+v8.6a,+noi8mm", {"has_dotprod": True, "has_matmul_i8": False}),
    ],
)
def test_arms_processors_have_features_and_a_key(text: str, features: Mapping[str, bool]) -> None:
    target = Target(text)
    assert {name: getattr(target.features, name) for name in features} == features
    assert target.keys == ("arm_cpu", "cpu")


def test_others_have_no_features_that_anybody_knows_of() -> None:
    for text in ("llvm -mcpu=skylake", "cuda -mcpu=cortex-m55"):
        assert Target(text).features.has_dsp is None and "arm_cpu" not in Target(text).keys


def test_a_target_is_enabled_where_what_is_built_for_it_runs() -> None:
    for target in ("cpu", "llvm", "llvm -mcpu=native", "ext_dev"):
        assert weft.runtime.enabled(target)
    assert weft.runtime.enabled("c") is has_compiler()
    here = Target.parse("llvm").platform().architecture
    for triple in ("aarch64-linux-gnu", "x86_64-linux-gnu"):
        assert weft.runtime.enabled(f"llvm -mtriple={triple}") is triple.startswith(here)
    assert not weft.runtime.enabled("metal") and not weft.runtime.enabled("vulkan")
    with knobs.CUDA_LIBRARY.set("libno-such-driver.so"):
        assert not any(map(weft.runtime.enabled, ("cuda", "gpu", "nvptx", "cuda -arch=sm_80")))
        assert weft.cpu().exist and not weft.cuda().exist and not weft.device("metal").exist
    with pytest.raises(TargetError, match="unknown target kind 'stackvn'"):
        weft.runtime.enabled("stackvn")
