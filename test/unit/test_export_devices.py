"""Libraries for C of graphs on several devices: they compute what the executable does, in parts of one workspace."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported import Library, Refused, check

import weft
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.mlir import parse_mlir
from weft.runtime.library.glue import glue
from weft.runtime.library.header import header

CPU, FAR, THIRD = (f"#relay.virtual_device<{each}>" for each in ("cpu", "ext_dev", "ext_dev, id = 1"))
F32 = np.float32
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-Wpedantic", "-Wconversion")
pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc) on this machine"),
    pytest.mark.sampled(2),
]


def compiled(text: str) -> weft.Executable:
    return weft.compile(parse_mlir(text, "far.mlir"), threads=2)


def chain(type: str, attributes: str = "") -> str:
    """Softmax here, on one other device, and on a third; a constant is read on two of them."""
    return f"""
relay.func @main(%a: {type}, %b: {type}) -> ({type}, {type}) attributes {{{attributes}
    param_virtual_devices = [{CPU}, {FAR}], result_virtual_devices = [{CPU}, {THIRD}]}} {{
  %c = relay.constant dense<[[0.5, 1.0, 1.5, 2.0, 2.5, 3.0]]> : tensor<1x6xf32>
  %0 = relay.nn.softmax %a : {type}
  %n0 = relay.on_device %0 {{virtual_device = {CPU}}} : {type}
  %1 = relay.add %n0, %b : ({type}, {type}) -> {type}
  %2 = relay.multiply %1, %c : ({type}, tensor<1x6xf32>) -> {type}
  %n2 = relay.on_device %2 {{virtual_device = {FAR}}} : {type}
  %3 = relay.nn.softmax %n2 : {type}
  %n3 = relay.on_device %3 {{virtual_device = {THIRD}}} : {type}
  %d = relay.constant dense<[[0.5, 1.0, 1.5, 2.0, 2.5, 3.0]]> : tensor<1x6xf32>
  %4 = relay.multiply %n3, %d : ({type}, tensor<1x6xf32>) -> {type}
  %5 = relay.sum %4 {{axis = array<i64: 0>}} : ({type}) -> tensor<6xf32>
  %n5 = relay.on_device %5 {{virtual_device = {THIRD}}} : tensor<6xf32>
  %6 = relay.multiply %a, %n5 : ({type}, tensor<6xf32>) -> {type}
  relay.return %6, %4 : {type}, {type}
}}
"""


def pair(n: int) -> Any:
    return np.random.default_rng(n).standard_normal((2, n, 6)).astype(F32)


def test_a_graph_on_three_devices_computes_in_c_what_it_does_in_python(tmp_path: Path) -> None:
    exe = compiled(chain("tensor<40x6xf32>"))
    assert len(exe.graph.device_names) == 3
    library = Library(exe, tmp_path / "far.so")
    for _ in range(2):
        check(exe, library, *pair(40))
    said = (tmp_path / "far.h").read_text()
    assert "several devices (cpu, ext_dev:0, ext_dev:1)" in said and "far_model" in said
    assert library.model.workspace_bytes >= sum(each.arena_bytes for each in exe.graph.devices)


def test_extents_are_open_on_all_devices(tmp_path: Path) -> None:
    exe = compiled(chain("tensor<?x6xf32>", 'dim_names = [["n", ""], ["n", ""]],'))
    library = Library(exe, tmp_path / "far.so")
    for n in (3, 100, 1, 0, 40):
        check(exe, library, *pair(n))
    with pytest.raises(Refused, match="another shape than the model takes"):
        library(pair(3)[0], pair(4)[1])


def test_what_data_decides_on_one_device_is_as_large_on_another(tmp_path: Path) -> None:
    type, where = "tensor<?xf32>", "tensor<?xi32>"
    moved = f"{{src_virtual_device = {CPU}, dst_virtual_device = {FAR}}}"
    exe = compiled(f"""
relay.func @main(%x: {type}) -> ({type}, {type}) attributes {{
    param_virtual_devices = [{CPU}], result_virtual_devices = [{FAR}, {FAR}]}} {{
  %r = relay.nn.relu %x : {type}
  %w = relay.argwhere %r : ({type}) -> tensor<?x1xi32>
  %c = relay.reshape %w {{newshape = array<i64: -1>}} : (tensor<?x1xi32>) -> {where}
  %cf = relay.device_copy %c {moved} : {where}
  %rf = relay.device_copy %r {moved} : {type}
  %y = relay.take %rf, %cf {{axis = 0 : i64}} : ({type}, {where}) -> {type}
  %z = relay.add %y, %y : ({type}, {type}) -> {type}
  relay.return %y, %z : {type}, {type}
}}
""")
    library = Library(exe, tmp_path / "found.so")
    for sample in ([1, 0, 2, -3, 4], [0, 0], [1], [], list(range(-20, 20))):
        x = np.array(sample, F32)
        found, twice = library(x, threads=2)
        np.testing.assert_array_equal(found, x[x > 0])
        np.testing.assert_array_equal(twice, 2 * x[x > 0])


@pytest.mark.parametrize("rows", ["4", "?"])
def test_a_check_that_fails_on_another_device_is_told(tmp_path: Path, rows: str) -> None:
    taken = f"tensor<{rows}x2xf32>"
    exe = compiled(f"""
relay.func @main(%rows: {taken}, %which: tensor<3xi64>) -> (tensor<3x2xf32>, tensor<3x2xf32>)
    attributes {{param_virtual_devices = [{FAR}, {FAR}], result_virtual_devices = [{CPU}, {FAR}]}} {{
  %0 = relay.take %rows, %which {{axis = 0 : i64, mode = "error"}} : ({taken}, tensor<3xi64>) -> tensor<3x2xf32>
  %1 = relay.on_device %0 {{virtual_device = {FAR}}} : tensor<3x2xf32>
  %2 = relay.exp %1 : tensor<3x2xf32>
  %3 = relay.take %0, %which {{axis = 0 : i64, mode = "error"}}
    : (tensor<3x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  relay.return %2, %3 : tensor<3x2xf32>, tensor<3x2xf32>
}}
""")
    library = Library(exe, tmp_path / "take.so")
    rows_given = np.arange(8, dtype=F32).reshape(4, 2)
    check(exe, library, rows_given, np.array([2, 0, 1]))
    for which in ([0, 5, 1], [3, 0, 1]):
        with pytest.raises(weft.CheckError) as error:
            exe(rows_given, np.array(which))
        with pytest.raises(Refused) as refused:
            library(rows_given, np.array(which))
        assert str(refused.value) in str(error.value).replace("error: ", "")
    check(exe, library, rows_given, np.array([2, 2, 2]))


def test_the_source_is_strict_c_and_a_program_runs_it_without_python(tmp_path: Path) -> None:
    exe = compiled(chain("tensor<4x6xf32>"))
    (tmp_path / "m.h").write_text(header(exe.graph, "m"))
    (tmp_path / "m.c").write_text(glue(exe.graph, "m", "m.h"))
    subprocess.run(["cc", *STRICT, "-c", "m.c", "-o", "m.o"], cwd=tmp_path, check=True)
    exe.export_library(tmp_path / "far.a")
    (tmp_path / "main.c").write_text("""
#include "far.h"
#include <stdio.h>
int main(void) {
  static float a[24], b[24], y[24], z[24];
  const void *ins[] = {a, b};
  void *outs[] = {y, z}, *workspace = far_model()->allocate();
  for (int i = 0; i < 24; i++)
    a[i] = (float)(i % 5), b[i] = (float)(i % 7);
  if (far_model()->run(ins, outs, workspace, 2) != 0)
    return 1;
  for (int i = 0; i < 24; i++)
    printf("%.9g %.9g ", y[i], z[i]);
}
""")
    command = ["cc", "-std=c11", "main.c", "far.a", "-lm", "-pthread", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    printed = subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    numbers = np.arange(24)
    a, b = ((numbers % each).astype(F32).reshape(4, 6) for each in (5, 7))
    found = np.array(printed.split(), F32).reshape(24, 2)
    for one, other in zip(found.T, exe(a, b), strict=True):
        np.testing.assert_array_equal(one.reshape(4, 6), other)


def test_what_python_alone_runs_has_no_model(tmp_path: Path) -> None:
    """A program whose code asks for parts on other devices."""
    type = "tensor<6xf32>"
    exe = compiled(f"""
relay.func @main(%x: {type}, %b: tensor<i1>) -> {type}
    attributes {{param_virtual_devices = [{CPU}, {CPU}], result_virtual_devices = [{CPU}]}} {{
  %y = relay.if %b : (tensor<i1>) -> {type} {{
    %0 = relay.nn.relu %x : {type}
    %1 = relay.device_copy %0 {{src_virtual_device = {CPU}, dst_virtual_device = {FAR}}} : {type}
    %2 = relay.exp %1 : {type}
    %3 = relay.device_copy %2 {{src_virtual_device = {FAR}, dst_virtual_device = {CPU}}} : {type}
    relay.yield %3 : {type}
  }} else {{
    relay.yield %x : {type}
  }}
  relay.return %y : {type}
}}
""")
    assert exe.graph.segments
    exe.export_library(tmp_path / "branch.so")
    assert not hasattr(ctypes.CDLL(str(tmp_path / "branch.so")), "branch_model")
    said = (tmp_path / "branch.h").read_text()
    assert "which Python runs" in said and "weft_model" not in said


def test_steps_that_use_what_is_not_there_are_not_exported(tmp_path: Path) -> None:
    exe = compiled(chain("tensor<4x6xf32>"))
    devices = [replace(each, arena_bytes=0) for each in exe.graph.devices]
    broken = replace(exe.graph, devices=tuple(devices), arena_bytes=0)
    with pytest.raises(Diagnostic):
        glue(broken, "m", "m.h")
