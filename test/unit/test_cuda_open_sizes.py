"""Graphs on GPUs whose extents are known when they are called: how many blocks there are is computed for each call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_emulation import Emulator

import weft
from weft import te
from weft.frontend.mlir import parse_mlir
from weft.runtime import artefact
from weft.runtime.cuda import CudaError

pytestmark = pytest.mark.sampled(5)

OPEN = "tensor<?x?x12xf32>"
GRAPH = f"""
relay.func @main(%x: {OPEN}, %b: tensor<12xf32>) -> {OPEN} {{
  %0 = relay.nn.bias_add %x, %b {{axis = 2 : i64}} : ({OPEN}, tensor<12xf32>) -> {OPEN}
  %1 = relay.nn.relu NOTED : {OPEN}
  %2 = relay.nn.softmax %1 : {OPEN}
  relay.return %2 : {OPEN}
}}
"""
ALL = GRAPH.replace("NOTED", "%0")
PARTLY = GRAPH.replace(
    "  %1 = relay.nn.relu NOTED",
    f"""  %n = relay.on_device %0 {{virtual_device = #relay.virtual_device<cuda>}} : {OPEN}
  %1 = relay.nn.relu %n""",
)
SIZES = ((2, 3), (3, 300), (1, 1), (0, 4), (5, 0), (4, 21))


def arrays(n: int, m: int) -> list[Any]:
    rng = np.random.default_rng(n + m)
    return [rng.standard_normal((n, m, 12)).astype(np.float32), rng.standard_normal(12).astype(np.float32)]


def assert_close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("text", "target"), [(ALL, "cuda"), (PARTLY, ["llvm", "cuda"])], ids=["all", "partly"])
def test_one_program_serves_every_size(driver: Emulator, text: str, target: str | list[str], tmp_path: Path) -> None:
    exe, reference = weft.compile(parse_mlir(text, "g.mlir"), target=target), weft.compile(parse_mlir(ALL, "g.mlir"))
    driver.register(exe.ir)
    exe.save(path := tmp_path / "g.weft")
    for program in (exe, weft.load(path)):
        for sizes in SIZES:
            driver.told()
            assert_close(program(*arrays(*sizes)), reference(*arrays(*sizes)))
            assert any("launch" in line for line in driver.told()) == (0 not in sizes)
        assert "cuda:0" in program.profile(*arrays(2, 3), repeat=1).by_device()


def test_there_are_as_many_blocks_as_the_sizes_of_a_call_want(driver: Emulator) -> None:
    text = f"""relay.func @main(%x: {OPEN}) -> {OPEN} {{
      %0 = relay.exp %x : {OPEN}
      relay.return %0 : {OPEN}
    }}"""
    exe = weft.compile(parse_mlir(text, "g.mlir"), target="cuda")
    driver.register(exe.ir)
    (code,) = exe.graph.device_code
    assert ".param .u64 fused_exp_kernel_0_param_2" in code.source and ".reqntid 256" in code.source
    for (n, m), blocks in (((2, 3), "(1, 2, 1)"), ((3, 300), "(15, 3, 1)")):
        driver.told()
        x, _ = arrays(n, m)
        assert_close(exe(x), np.exp(x))
        assert f"launch fused_exp_kernel_0 {blocks} (256, 1, 1)" in driver.told()
    with pytest.raises(CudaError, match="'fused_exp_kernel_0' has 65536 blocks along y, where 65535 are the most"):
        exe(np.zeros((65536, 1, 12), np.float32))
    forged = replace(code, launches=(replace(code.launches[0], grid=(("n", 1), 1, 1)),))
    assert artefact.misfit(replace(exe.graph, device_code=(forged,))) is not None


def test_four_open_loops_and_a_reduction(driver: Emulator) -> None:
    """A grid has three axes: what is left is run through by each thread."""
    t, s = "tensor<?x?x?x?x5xf32>", "tensor<?x?x?x?xf32>"
    text = f"""relay.func @main(%x: {t}) -> {s} {{
      %0 = relay.sum %x {{axis = array<i64: 4>}} : ({t}) -> {s}
      relay.return %0 : {s}
    }}"""
    exe = weft.compile(parse_mlir(text, "g.mlir"), target="cuda")
    driver.register(exe.ir)
    for shape in ((3, 2, 4, 7, 5), (1, 1, 1, 1, 5), (2, 3, 1, 300, 5)):
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        driver.told()
        assert_close(exe(x), x.sum(4))
        assert f"({-(-shape[3] // 256)}, {shape[2]}, {shape[1]}) (256, 1, 1)" in str(driver.told())


LOOP = """
relay.func @main(%x: tensor<?xf32>, %n: tensor<i64>) -> tensor<?xf32> {
  %y = relay.call @loop(%x, %n) : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
  relay.return %y : tensor<?xf32>
}
relay.func private @loop(%x: tensor<?xf32>, %n: tensor<i64>) -> tensor<?xf32> {
  %zero = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %more = relay.greater %n, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r = relay.if %more : (tensor<i1>) -> tensor<?xf32> {
    %t = relay.tuple(%x, %x) : (tensor<?xf32>, tensor<?xf32>) -> tuple<tensor<?xf32>, tensor<?xf32>>
    %a = relay.concatenate %t {axis = 0 : i64} : (tuple<tensor<?xf32>, tensor<?xf32>>) -> tensor<?xf32>
    %there = relay.on_device %a {virtual_device = #relay.virtual_device<cuda>} : tensor<?xf32>
    %y = relay.sqrt %there : tensor<?xf32>
    %m = relay.subtract %n, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %z = relay.call @loop(%y, %m) : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
    relay.yield %z : tensor<?xf32>
  } else {
    relay.yield %x : tensor<?xf32>
  }
  relay.return %r : tensor<?xf32>
}
"""


@pytest.mark.parametrize("target", ["cuda", ["llvm", "cuda"]])
def test_a_program_that_branches_launches_for_other_sizes_in_each_turn(
    driver: Emulator, target: str | list[str]
) -> None:
    exe = weft.compile(parse_mlir(LOOP, "loop.mlir"), target=target)
    driver.register(exe.ir)
    assert exe.graph.segments and exe.graph.device_code
    for count, turns in ((3, 0), (3, 4), (1, 2), (200, 2)):
        x = expected = np.random.default_rng(0).random(count).astype(np.float32)
        for _ in range(turns):
            expected = np.sqrt(np.concatenate([expected, expected]))
        assert_close(exe(x, np.array(turns)), expected)


def test_data_decides_how_many_blocks_there_are(driver: Emulator) -> None:
    text = """relay.func @main(%x: tensor<?xf32>) -> tensor<?x1xi32> {
      %0 = relay.argwhere %x : (tensor<?xf32>) -> tensor<?x1xi32>
      %1 = relay.negative %0 : tensor<?x1xi32>
      relay.return %1 : tensor<?x1xi32>
    }"""
    exe = weft.compile(parse_mlir(text, "g.mlir"), target="cuda")
    driver.register(exe.ir)
    for count in (0, 5, 300):
        x = np.random.default_rng(count).integers(0, 2, count).astype(np.float32)
        np.testing.assert_array_equal(exe(x), -np.argwhere(x))


def test_a_te_schedule_is_built_for_every_size(driver: Emulator) -> None:
    n = te.var("n")
    a, b = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    c = te.compute((n,), lambda i: a[i] + b[i], name="C")
    s = te.create_schedule(c.op)
    outer, inner = s[c].split(c.op.axis[0], factor=64)
    s[c].bind(outer, te.thread_axis("blockIdx.x"))
    s[c].bind(inner, te.thread_axis("threadIdx.x"))
    add = weft.build(s, [a, b, c], target="cuda", name="add")
    assert ".visible .entry add_kernel_0(" in add.get_source() == add.imported_modules[0].get_source()
    driver.register_text(add.get_source("ll"))
    for count, blocks in ((0, 0), (1, 1), (64, 1), (1000, 16)):
        driver.told()
        x, y = np.random.default_rng(count).random((2, count)).astype(np.float32)
        z = np.zeros(count, np.float32)
        add(x, y, z)
        assert_close(z, x + y)
        launches = [line for line in driver.told() if "launch" in line]
        assert launches == ([f"launch add_kernel_0 ({blocks}, 1, 1) (64, 1, 1)"] if blocks else [])


def test_threads_share_rows_of_open_length(driver: Emulator) -> None:
    """What a stage computes on the way lies in memory that is made for the call."""
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), name="x")
    k = te.reduce_axis((0, m), "k")
    doubled = te.compute((n, m), lambda i, j: x[i, j] * 2.0, name="doubled")
    y = te.compute((n,), lambda i: te.sum(doubled[i, k], axis=k), name="y")
    s = te.create_schedule(y.op)
    s[doubled].bind(doubled.op.axis[0], te.thread_axis("blockIdx.x"))
    _, inner = s[y].split(y.op.reduce_axis[0], factor=16)
    parts = s.rfactor(y, inner)
    rows, row = s[y].split(s[y].op.axis[0], factor=4)
    s[y].bind(rows, te.thread_axis("blockIdx.x"))
    s[y].bind(row, te.thread_axis("threadIdx.y"))
    s[y].bind(s[y].op.reduce_axis[0], te.thread_axis("threadIdx.x"))
    s[parts].compute_at(s[y], s[y].op.reduce_axis[0])
    sums = weft.build(s, [x, y], target="cuda", name="sums")
    driver.register_text(sums.get_source("ll"))
    before = driver.held()
    for rows_given, columns in ((3, 5), (10, 17), (1, 1)):
        data = np.random.default_rng(columns).random((rows_given, columns)).astype(np.float32)
        found = np.zeros(rows_given, np.float32)
        driver.told()
        sums(data, found)
        assert_close(found, 2 * data.sum(1))
        assert f"launch sums_kernel_1 ({-(-rows_given // 4)}, 1, 1) (16, 4, 1)" in driver.told()
    assert driver.held() == before, "memory is given back"
