"""Code for NVIDIA's GPUs: PTX, what the host launches, and graphs of which some runs there.

What is launched runs on a driver of the tests (`cuda_emulation`), on memory that the host cannot reach.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_emulation import Emulator, needs_compiler
from tiled_product import CACHED, TILED
from tvmscript_texts import function

import weft
from weft import te
from weft.dialects.support import knobs
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.mlir import parse_mlir
from weft.lowering.abi import Launch, steps_within
from weft.lowering.machine.target import Target, TargetError
from weft.runtime import devices
from weft.runtime.cuda import CudaError
from weft.runtime.devices import DeviceAccessError, copy, device_by_name
from weft.runtime.memory import NotEnoughMemory, address
from weft.runtime.module import Module
from weft.tools import weft_opt

pytestmark = [pytest.mark.usefixtures("optimized_code"), pytest.mark.sampled(5)]

T = "tensor<4x6xf32>"
GRAPH = f"""
relay.func @main(%a: {T}, %b: {T}) -> ({T}, tensor<12x2xf32>) {{
  %c = relay.constant dense<2.0> : {T}
  %0 = relay.nn.softmax %a : {T}
  %1 = relay.add %0, %b : ({T}, {T}) -> {T}
  %2 = relay.multiply %1, %c : ({T}, {T}) -> {T}
  %3 = relay.nn.softmax NOTE : {T}
  %10 = relay.exp %3 : {T}
  %11 = relay.reshape %10 {{newshape = array<i64: 12, 2>}} : ({T}) -> tensor<12x2xf32>
  relay.return %2, %11 : {T}, tensor<12x2xf32>
}}
"""
ALL = GRAPH.replace("NOTE", "%2")
THERE = "{virtual_device = #relay.virtual_device<cuda>}"
NOTES = f"""%n = relay.on_device %2 {{virtual_device = #relay.virtual_device<cpu>}} : {T}
  %s = relay.nn.softmax %n : {T}
  %3 = relay.on_device %s {THERE}"""
PARTLY = GRAPH.replace("%3 = relay.nn.softmax NOTE", NOTES)


def arrays() -> list[Any]:
    return list(np.random.default_rng(1).standard_normal((2, 4, 6)).astype(np.float32))


@pytest.fixture(scope="module")
def tiled() -> Module:
    return weft.build(function(TILED), target="cuda -arch=sm_80")


def accepted_by_ptxas(source: str, arch: str, folder: Path) -> None:
    """NVIDIA's assembler takes a text, where there is one."""
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        pytest.skip("there is no ptxas on this machine")
    (folder / "k.ptx").write_text(source)
    words = [ptxas, f"-arch={arch}", str(folder / "k.ptx"), "-o", str(folder / "k.cubin")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# PTX.


def test_a_schedule_of_shared_memory_becomes_ptx(tiled: Module) -> None:
    source = tiled.get_source()
    assert tiled.type_key == "cuda" and tiled.imported_modules[0].get_source() == source
    assert ".target sm_80" in source and ".visible .entry matmul_kernel_kernel_0(" in source
    assert ".reqntid 4, 4, 1" in source and re.findall(r"\.shared \.align \d+ \.b8 \w+\[(\d+)\]", source) == [
        "64",
        "64",
    ]
    for instruction in ("%ctaid.y", "%tid.x", "bar.sync", "st.shared", "ld.shared", "ld.global", "fma.rn.f32"):
        assert instruction in source
    assert "ptx_kernel" in tiled.get_source("ll")
    with pytest.raises(UsageError, match="a module for 'cuda' has no source 'asm'"):
        tiled.get_source("asm")
    with pytest.raises(UsageError, match="has no source 'asm'"):
        tiled.imported_modules[0].get_source("asm")


def test_nvidias_assembler_accepts_it(tiled: Module, tmp_path: Path) -> None:
    accepted_by_ptxas(tiled.get_source(), "sm_80", tmp_path)


def test_a_te_schedule_is_built_as_it_is_bound() -> None:
    x = te.placeholder((1000,), name="x")
    y = te.compute((1000,), lambda i: te.exp(x[i]) + 1.0, name="y")
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(y.op.axis[0], factor=64)
    s[y].bind(outer, te.thread_axis("blockIdx.x"))
    s[y].bind(inner, te.thread_axis("threadIdx.x"))
    mod = weft.build(s, [x, y], target="nvptx -arch=sm_75", name="plus_one")
    (code,) = mod["plus_one"].executable.graph.device_code
    assert code.launches == (Launch("plus_one_kernel_kernel_0", (16, 1, 1), (64, 1, 1), (0, 1)),)
    assert ".target sm_75" in code.source and "ex2" not in code.source


def test_what_is_bound_to_nothing_is_refused() -> None:
    x = te.placeholder((8,), name="x")
    y = te.compute((8,), lambda i: x[i] + 1.0, name="y")
    with pytest.raises(Diagnostic, match="is run by the host, which cannot touch the memory of a GPU"):
        weft.build(te.create_schedule(y.op), [x, y], target="cuda")


def test_what_no_gpu_computes_is_refused() -> None:
    graph = """
relay.func @main(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = relay.sin %x : tensor<4xf64>
  relay.return %0 : tensor<4xf64>
}"""
    with pytest.raises(Diagnostic, match="sin of f64 is computed, and there is no such function for a GPU"):
        weft.compile(parse_mlir(graph, "sin.mlir"), target="cuda")


def test_without_a_driver_there_is_code_and_a_reason(tiled: Module) -> None:
    with knobs.CUDA_LIBRARY.set("libno-such-driver.so"):
        mod = weft.build(function(TILED), target="cuda")
        assert mod.get_source()
        with pytest.raises(CudaError, match="there is no CUDA driver on this machine") as error:
            mod(*np.zeros((3, 8, 8), np.float32))
        assert error.value.hint is not None and "WEFT_CUDA_LIBRARY" in error.value.hint


# Targets.


def test_accesses_are_not_left_unchecked_in_silence() -> None:
    with (
        weft.PassContext(config={"tir.bounds-checks": True}),
        pytest.raises(UsageError, match="accesses are not checked in code for GPUs"),
    ):
        weft.compile(parse_mlir(ALL, "graph.mlir"), target="cuda")


SEQUENCE = """
tir.prim_func @double(%x: memref<64xf32>, %y: memref<64xf32>) attributes {tir.target = "cuda"} {
  tir.for %i = 0 to 64 {
    tir.block @b(%v: spatial 64) = [%i] reads(%x[%v] : memref<64xf32>) writes(%y[%v] : memref<64xf32>) {
      %0 = memref.load %x[%v] : memref<64xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %y[%v] : memref<64xf32>
    }
  }
}
schedule.sequence @by_hand on @double {
  %b = schedule.get_block @b
  %i = schedule.get_loops %b -> 1
  %i_0, %i_1 = schedule.split %i, [4, 16] -> 2
  schedule.bind %i_0, "blockIdx.x"
  schedule.bind %i_1, "threadIdx.x"
}
"""


def test_a_schedule_beside_a_function_is_applied_for_a_gpu_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "by_hand.mlir"
    path.write_text(SEQUENCE)
    assert weft_opt.main([str(path), "--compile-to", "schedule", "--target", "cuda"]) == 0
    text = capsys.readouterr().out
    assert 'tir.for thread_binding "blockIdx.x" %i = 0 to 4' in text
    assert 'tir.for thread_binding "threadIdx.x" %i_1 = 0 to 16' in text
    assert "schedule.sequence" not in text


def test_targets_of_gpus_say_what_they_have() -> None:
    target = Target.parse("cuda -arch=sm_90 -max_threads_per_block=512 -host='llvm -mcpu=x86-64'")
    assert target.limit("max_threads_per_block") == 512 and target.limit("max_shared_memory_per_block") == 49152
    assert target.is_gpu and target.gpu is target and target.processor == Target.parse("llvm -mcpu=x86-64")
    assert Target.parse(str(target)) == target and Target.parse("nvptx") == Target.parse("cuda -arch=sm_80")
    both = Target.parse(["cuda -arch=sm_90", "llvm"])
    assert not both.is_gpu and both.processor == Target.parse("llvm") and both.gpu == Target.parse("cuda -arch=sm_90")


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (["cuda", "cuda"], "do not go together"),
        (["llvm", "c"], "do not go together"),
        (["llvm", "cuda -host='llvm -mcpu=x86-64'"], "has a host, which is not 'llvm -mcpu=native'"),
    ],
)
def test_targets_that_do_not_go_together_are_refused(targets: list[str], message: str) -> None:
    with pytest.raises(TargetError, match=message):
        Target.parse(targets)


def test_a_host_is_a_processor() -> None:
    func = function(TILED)
    with pytest.raises(TargetError, match="the host of a GPU is a processor"):
        weft.build(func, target="cuda", target_host="c")
    with pytest.raises(TargetError, match="the host of 'llvm -mcpu=native' is itself"):
        weft.build(func, target="llvm", target_host="cuda")


def test_a_target_is_refused_before_anything_is_lowered_for_it_whoever_looks_on() -> None:
    with weft.PassContext(instruments=[weft.PassTimingInstrument()]):
        with pytest.raises(TargetError, match="the host of 'llvm -mcpu=native' is itself"):
            weft.build(function(TILED), target="llvm", target_host="cuda")


def test_a_block_of_threads_is_within_the_targets_limits() -> None:
    with pytest.raises(Diagnostic, match="a block has 16 threads, and the target has at most 8"):
        weft.build(function(TILED), target="cuda -max_threads_per_block=8")


# What the host does.


@needs_compiler
@pytest.mark.parametrize("backwards", [False, True])
def test_threads_share_memory_and_wait(driver: Emulator, tmp_path: Path, backwards: bool) -> None:
    mod = weft.build(function(TILED), target="cuda")
    driver.register(mod["matmul"].executable.ir)
    driver.shuffle(backwards)
    a, b = np.random.default_rng(0).standard_normal((2, 8, 8)).astype(np.float32)
    mod.export_library(tmp_path / "matmul.so")
    for each in (mod, weft.runtime.load_module(tmp_path / "matmul.so")):
        c = np.zeros((8, 8), np.float32)
        each["matmul"](a, b, c)
        np.testing.assert_allclose(c, a @ b, rtol=1e-5, atol=1e-6)
    driver.shuffle(False)
    told = driver.told()
    assert "launch matmul_kernel_kernel_0 (2, 2, 1) (4, 4, 1)" in told and told[-1] == "synchronize"


@needs_compiler
@pytest.mark.parametrize("backwards", [False, True])
def test_threads_share_as_much_memory_as_is_alive_at_one_time(driver: Emulator, backwards: bool) -> None:
    mod = weft.build(function(CACHED), target="cuda -max_shared_memory_per_block=128")
    assert re.findall(r"\.shared \.align \d+ \.b8 \w+\[(\d+)\]", mod.get_source()) == ["64", "64"]
    driver.register(mod["matmul"].executable.ir)
    driver.shuffle(backwards)
    a, b = np.random.default_rng(0).standard_normal((2, 8, 8)).astype(np.float32)
    c = np.zeros((8, 8), np.float32)
    mod["matmul"](a, b, c)
    driver.shuffle(False)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5, atol=1e-6)
    with pytest.raises(Diagnostic, match="share 128 bytes, and the target has 127"):
        weft.build(function(CACHED), target="cuda -max_shared_memory_per_block=127")


def test_a_product_of_any_size_is_scheduled_with_tiles_in_shared_memory() -> None:
    x, y = te.placeholder((1024, 1024), name="x"), te.placeholder((1024, 1024), name="y")
    r = te.reduce_axis((0, 1024), "r")
    z = te.compute((1024, 1024), lambda i, j: te.sum(x[i, r] * y[r, j], axis=r), name="z")
    s = weft.tir.Schedule(te.create_prim_func([x, y, z]))
    block = s.get_block("z")
    i, j, k = s.get_loops(block)
    (bi, ti), (bj, tj), (ko, ki) = s.split(i, [None, 32]), s.split(j, [None, 32]), s.split(k, [None, 32])
    s.reorder(bi, bj, ti, tj, ko, ki)
    for loop, thread in ((bi, "blockIdx.y"), (bj, "blockIdx.x"), (ti, "threadIdx.y"), (tj, "threadIdx.x")):
        s.bind(loop, thread)
    for number in (0, 1):
        tile = s.cache_read(block, number, "shared")
        s.compute_at(tile, ko)
        _, along_y, along_x = s.split(s.fuse(*s.get_loops(tile)[-2:]), [None, 32, 32])
        s.bind(along_y, "threadIdx.y")
        s.bind(along_x, "threadIdx.x")
    source = weft.build(s.mod, target="cuda").get_source()
    assert re.findall(r"\.shared \.align \d+ \.b8 \w+\[(\d+)\]", source) == ["4096", "4096"]


def test_a_graph_runs_on_a_gpu_as_on_a_processor(driver: Emulator, tmp_path: Path) -> None:
    expected = weft.compile(parse_mlir(ALL, "g.mlir"))(*arrays())
    exe = weft.compile(parse_mlir(ALL, "g.mlir"), target="cuda")
    driver.register(exe.ir)
    assert {step.device for step in steps_within(exe.graph.steps) if step.kernel} == {1}
    assert "and a GPU" in repr(exe)
    for found, wanted in zip(exe(*arrays()), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    driver.told()
    exe(*arrays())
    told = driver.told()
    assert told.count("copy in") == 2 and told.count("copy out") == 2 and "load" not in told
    assert "cuda:0" in exe.profile(*arrays(), repeat=1).by_device()
    exe.save(tmp_path / "g.weft")
    loaded = weft.load(tmp_path / "g.weft")
    assert loaded.graph.device_code == exe.graph.device_code
    for found, wanted in zip(loaded(*arrays()), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    accepted_by_ptxas("\n".join(code.source for code in exe.graph.device_code[:1]), "sm_80", tmp_path)


def test_part_of_a_graph_runs_on_a_gpu(driver: Emulator, tmp_path: Path) -> None:
    expected = weft.compile(parse_mlir(ALL, "g.mlir"))(*arrays())
    exe = weft.compile(parse_mlir(PARTLY, "part.mlir"), target=["llvm", "cuda"])
    driver.register(exe.ir)
    kernels = {step.kernel: step.device for step in steps_within(exe.graph.steps) if step.kernel}
    assert set(kernels.values()) == {0, 1} and len(exe.graph.device_code) == 1
    exe.export_library(tmp_path / "part.so")
    for each in (exe, weft.load(tmp_path / "part.so")):
        for found, wanted in zip(each(*arrays()), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-6)


LOOP = """
relay.func @main(%x: tensor<64xf32>, %n: tensor<i64>) -> tensor<64xf32> {
  %y = relay.call @loop(%x, %n) : (tensor<64xf32>, tensor<i64>) -> tensor<64xf32>
  relay.return %y : tensor<64xf32>
}
relay.func private @loop(%x: tensor<64xf32>, %n: tensor<i64>) -> tensor<64xf32> {
  %zero = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %more = relay.greater %n, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r = relay.if %more : (tensor<i1>) -> tensor<64xf32> {
    %k = relay.constant dense<0.5> : tensor<64xf32>
    %a = relay.multiply %x, %k : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %there = relay.on_device %a {virtual_device = #relay.virtual_device<cuda>} : tensor<64xf32>
    %y = relay.add %there, %k : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %m = relay.subtract %n, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %z = relay.call @loop(%y, %m) : (tensor<64xf32>, tensor<i64>) -> tensor<64xf32>
    relay.yield %z : tensor<64xf32>
  } else {
    relay.yield %x : tensor<64xf32>
  }
  relay.return %r : tensor<64xf32>
}
"""


@pytest.mark.parametrize("target", ["cuda", ["llvm", "cuda"]])
def test_a_program_that_branches_has_parts_on_a_gpu(driver: Emulator, tmp_path: Path, target: str | list[str]) -> None:
    """The processor decides and calls; what it calls is launched."""
    exe = weft.compile(parse_mlir(LOOP, "loop.mlir"), target=target)
    driver.register(exe.ir)
    exe.save(tmp_path / "loop.weft")
    x = np.random.default_rng(0).standard_normal(64).astype(np.float32)
    for program in (exe, weft.load(tmp_path / "loop.weft")):
        assert program.graph.segments and program.graph.device_code
        for turns in (0, 1, 5):
            expected = x
            for _ in range(turns):
                expected = expected * np.float32(0.5) + np.float32(0.5)
            driver.told()
            found: Any = program(x, np.array(turns))
            np.testing.assert_allclose(found, expected, rtol=1e-6)
            assert sum("launch fused_multiply_add" in line for line in driver.told()) == turns
        assert "cuda:0" in program.profile(x, np.array(2), repeat=1).by_device()


@pytest.mark.parametrize("target", ["cuda", "cuda -host=llvm"])
def test_a_kernel_with_several_results_runs_on_a_gpu(driver: Emulator, target: str) -> None:
    """Two functions of one tensor: a launch for each, of one piece of code."""
    t = "tensor<64x1024xf32>"
    text = f"""relay.func @main(%x: {t}) -> ({t}, {t}) {{
      %0 = relay.nn.relu %x : {t}
      %1 = relay.negative %x : {t}
      relay.return %0, %1 : {t}, {t}
    }}"""
    exe = weft.compile(parse_mlir(text, "g.mlir"), target=target)
    driver.register(exe.ir)
    assert [step.device for step in steps_within(exe.graph.steps) if step.kernel] == [1]
    (code,) = exe.graph.device_code
    assert code.source.count(".visible .entry") == code.source.count("st.global") == 2
    x = np.random.default_rng(0).standard_normal((64, 1024)).astype(np.float32)
    for found, expected in zip(exe(x), (np.maximum(x, 0), -x), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_gpu_without_code_for_it_is_refused() -> None:
    with pytest.raises(Diagnostic, match="code is made for cpu and ext_dev"):
        weft.compile(parse_mlir(PARTLY, "part.mlir"), target="llvm")


def test_what_a_function_does_not_write_stays(driver: Emulator) -> None:
    func = function("""
@T.prim_func
def f(A: T.Buffer[(4,), "float32"], C: T.Buffer[(8,), "float32"]):
    for t in T.thread_binding(4, thread="threadIdx.x"):
        with T.block("half"):
            v = T.axis.spatial(4, t)
            C[v * 2] = A[v]
""")
    mod = weft.build(func, target="cuda")
    driver.register(mod["f"].executable.ir)
    c = np.full(8, 7, np.float32)
    mod(np.arange(4, dtype=np.float32), c)
    assert list(c) == [0, 7, 1, 7, 2, 7, 3, 7]


def test_memory_of_a_gpu_is_its_own(driver: Emulator) -> None:
    cpu, gpu = device_by_name("cpu"), device_by_name("cuda:0")
    before = driver.held()
    place = gpu.allocate(400)
    data, back = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    copy(gpu, place, cpu, address(back), 400)
    assert not back.any()
    copy(cpu, address(data), gpu, place, 400)
    copy(gpu, place + 40, cpu, address(back), 40)
    assert list(back[:10]) == list(range(10, 20))
    far = device_by_name("ext_dev:3")
    there = far.allocate(400)
    copy(gpu, place, far, there, 400)
    copy(gpu, place, gpu, place + 200, 80)
    for start, size in ((place, 401), (address(data), 4)):
        with pytest.raises(DeviceAccessError, match="not in the memory of cuda:0"):
            gpu.read(start, address(back), size)
    with pytest.raises(DeviceAccessError, match="does not run code of the processor"):
        gpu.launch(lambda: None, [])
    gpu.free(place)
    with pytest.raises(DeviceAccessError, match="nothing was allocated"):
        gpu.free(place)
    with pytest.raises(NotEnoughMemory):
        gpu.allocate(1 << 40)
    first = gpu.record()
    assert gpu.record().since(first) >= 0 and driver.held() == before
    assert gpu.scopes == ("global", "shared", "local")


def test_a_kernel_that_the_driver_does_not_find_is_named(driver: Emulator) -> None:
    func = function(TILED.replace("def matmul", "def nowhere"))
    with pytest.raises(CudaError, match="the CUDA driver refuses cuModuleGetFunction: named symbol not found"):
        weft.build(func, target="cuda")(*(np.zeros((8, 8), np.float32) for _ in range(3)))


def test_a_gpu_that_is_not_there_is_named(driver: Emulator) -> None:
    assert weft.cuda().exist and weft.cuda(0).exist and not weft.cuda(1).exist
    with pytest.raises(Diagnostic, match="there is no GPU 1: this machine has 1"):
        device_by_name("cuda:1")


def test_the_driver_is_not_loaded_where_no_gpu_is_asked_for() -> None:
    words = (
        "import sys, weft.runtime.devices as d; d.device_by_name('cpu'); sys.exit('weft.runtime.cuda' in sys.modules)"
    )
    python = [sys.executable, "-c", words]
    assert subprocess.run(python, check=False).returncode == 0
    assert devices.device_by_name("cpu").is_addressable
