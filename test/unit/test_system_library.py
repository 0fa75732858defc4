"""What is linked to a process is found by name: models by programs in C, functions and graphs from Python."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft import relay, te
from weft.dialects.support.checks import CheckError
from weft.dialects.support.diagnostics import UsageError
from weft.relay import backend
from weft.runtime.pieces import has_artefacts
from weft.tir import from_source

relay: Any = relay
te: Any = te
system_lib: Any = weft.runtime.system_lib
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc) on this machine")
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-Wpedantic", "-pthread")
F32 = np.float32

CALLING = """
@T.prim_func
def {name}(A: T.Buffer[(4,), "float32"], B: T.Buffer[(4,), "float32"], C: T.Buffer[(4,), "int32"]):
    with T.block("all"):
        T.reads(A[0:4])
        T.writes(B[0:4])
        T.evaluate(T.call_packed("test.system.twice", A, B))
    for i in T.parallel(4):
        with T.block("each"):
            vi = T.axis.spatial(4, i)
            C[vi] = T.call_packed("test.system.next", B[vi], vi, dtype="int32")
"""


def adding(name: str, number: float) -> Any:
    A = te.placeholder((8,), name="A")

    def more(i: Any) -> Any:
        return A[i] + number

    B = te.compute((8,), more, name="B")
    runtime = backend.Runtime("cpp", {"system-lib": True})
    return weft.build(te.create_schedule(B.op), [A, B], name=name, runtime=runtime)


def calling(name: str) -> Any:
    return weft.build(from_source(CALLING.format(name=name)))


def run(folder: Path, source: str, *files: str, options: tuple[str, ...] = ()) -> str:
    (folder / "main.c").write_text(source)
    command = ["cc", *STRICT, "main.c", *options, *files, "-Wl,-rpath,.", "-lm", "-o", "main"]
    subprocess.run(command, cwd=folder, check=True)
    return subprocess.run(["./main"], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("suffix", ["o", "so", "a"])
def test_a_program_in_c_finds_the_models_that_it_is_linked_with_by_name(tmp_path: Path, suffix: str) -> None:
    for name, number in (("one", 1.0), ("two", 2.0)):
        adding(f"{name}_more", number).export_library(tmp_path / f"lib{name}.{suffix}")
    source = """
#include "libone.h"
#include "libtwo.h"
#include <stdio.h>
int main(void) {
  const char *names[] = {"one_more", "two_more", "three_more", "one", ""};
  for (int i = 0; i < 5; i++) {
    const weft_model *model = weft_system_lib(names[i]);
    if (model == NULL) {
      printf("none ");
      continue;
    }
    float a[8] = {0}, b[8];
    const void *ins[] = {a};
    void *outs[] = {b}, *workspace = model->allocate();
    int status = (int)model->run(ins, outs, workspace, 1);
    printf("%d %s %g ", status, model->name, b[7]);
  }
}
"""
    files = [f"./libone.{suffix}", f"./libtwo.{suffix}"]
    # Nothing but their names refers to them: a linker has to be told that they are wanted.
    wanted = {"so": "-Wl,--no-as-needed", "a": "-Wl,--whole-archive", "o": "-Wl,--as-needed"}[suffix]
    after = ["-Wl,--no-whole-archive"]
    assert run(tmp_path, source, *files, *after, options=(wanted,)) == "0 one_more 1 0 two_more 2 none none none "


def test_libraries_that_a_process_has_loaded_are_found_by_the_names_of_their_functions(tmp_path: Path) -> None:
    before = system_lib()
    with pytest.raises(UsageError, match="no library of this process has a function 'system_three'"):
        before["system_three"]
    assert not before.implements_function("system_three")
    for number in (3.0, 4.0):
        adding("system_three", number).export_library(tmp_path / f"three{number:.0f}.so")
    a, b = np.zeros(8, F32), np.zeros(8, F32)
    ctypes.CDLL(str(tmp_path / "three3.so"))
    before["system_three"](a, b)
    assert (b == 3).all()
    before.get_function("system_three")(b, a)
    assert (a == 6).all() and system_lib().implements_function("system_three")
    with pytest.raises(UsageError, match="no library of this process has a function 'system_tree'"):
        before["system_tree"]
    with pytest.raises(UsageError, match="is exported to no other"):
        before.export_library(tmp_path / "all.so")
    ctypes.CDLL(str(tmp_path / "three4.so"))
    with pytest.raises(UsageError, match=r"2 libraries of this process have 'system_three': .*three[34]\.so"):
        before["system_three"]


def test_the_graphs_of_a_process_are_found(tmp_path: Path) -> None:
    program = """
import ctypes, sys
import numpy as np
import weft
library = weft.runtime.system_lib()
for name in sys.argv[1:]:
    ctypes.CDLL(name)
json = library.get_function("get_graph_json")()
for graph in (library["default"](weft.cpu()), weft.graph_executor.create(json, library, weft.cpu())):
    graph.run(x=np.full(3, 2, np.float32))
    print(np.asarray(graph.get_output(0)).tolist())
assert not [name for name in sys.modules if name.startswith("weft.lowering.relay")]
"""
    x = relay.var("x", shape=(3,))
    relay.build(relay.IRModule.from_expr(relay.Function([x], x + x))).export_library(tmp_path / "g.so")
    command = [sys.executable, "-c", program, str(tmp_path / "g.so")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.stdout == "[4.0, 4.0, 4.0]\n" * 2, done.stderr


def test_only_libraries_of_weft_have_artefacts(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no library, though it has some bytes in it, more than there are in a header of ELF")
    assert not has_artefacts(str(tmp_path / "text")) and not has_artefacts(sys.executable)
    adding("one", 1.0).export_library(tmp_path / "one.so")
    assert has_artefacts(str(tmp_path / "one.so"))
    (tmp_path / "cut").write_bytes((tmp_path / "one.so").read_bytes()[:900])
    assert not has_artefacts(str(tmp_path / "cut"))


@pytest.fixture
def functions() -> Generator[None]:
    def twice(source: Any, target: Any) -> None:
        target[:] = 2 * np.asarray(source)

    def following(value: float, place: int) -> int:
        return int(value) + place + 1

    weft.register_func("test.system.twice", twice)
    weft.register_func("test.system.next", following)
    yield
    weft.remove_global_func("test.system.twice")
    if weft.get_global_func("test.system.next", allow_missing=True) is not None:
        weft.remove_global_func("test.system.next")


@pytest.mark.parametrize("suffix", ["so", "a"])
def test_a_library_that_calls_functions_of_python_is_loaded_by_python(
    functions: None, tmp_path: Path, suffix: str
) -> None:
    calling("calling").export_library(tmp_path / f"m.{suffix}")
    loaded: Any = weft.runtime.load_module(tmp_path / f"m.{suffix}")
    a, b, c = np.arange(4, dtype=F32), np.zeros(4, F32), np.zeros(4, np.int32)
    loaded["calling"](a, b, c)
    assert b.tolist() == [0, 2, 4, 6] and c.tolist() == [1, 4, 7, 10]
    weft.remove_global_func("test.system.next")
    with pytest.raises(CheckError, match=r"the packed function 'test\.system\.next' failed: .*test\.system\.next"):
        loaded["calling"](a, b, c)


def test_a_program_in_c_gives_the_functions_that_code_calls_by_name(tmp_path: Path) -> None:
    calling("calling").export_library(tmp_path / "m.so")
    source = """
#include "m.h"
#include <stdio.h>
#include <string.h>
static int64_t twice(const char *types, weft_value *values) {
  if (strcmp(types, "const float32[4],float32[4]|") != 0)
    return 7;
  const float *from = values[0].buffer;
  float *to = values[1].buffer;
  for (int i = 0; i < 4; i++)
    to[i] = 2 * from[i];
  return 0;
}
static int64_t next(const char *types, weft_value *values) {
  if (strcmp(types, "float32,int64|int32") != 0)
    return -8;
  values[2].integer = (int64_t)values[0].number + values[1].integer + 1;
  return 0;
}
static int64_t fails(const char *types, weft_value *values) {
  (void)types, (void)values;
  return -12;
}
static void call(const weft_model *model) {
  float a[4] = {0, 1, 2, 3}, b[4] = {0};
  int32_t c[4] = {0};
  const void *ins[] = {a};
  void *outs[] = {b, c}, *workspace = model->allocate();
  int64_t status = model->run(ins, outs, workspace, 2);
  char text[200];
  model->message(status, workspace, text, sizeof text);
  printf("%s\\n", text);
  if (status == 0)
    printf("%g %g %d %d\\n", b[1], b[3], c[1], c[3]);
}
int main(void) {
  const weft_model *model = weft_system_lib("calling");
  call(model);
  if (weft_register_func("test.system.twice", twice) || weft_register_func("test.system.next", next))
    return 1;
  call(model);
  weft_register_func("test.system.next", fails);
  call(model);
}
"""
    said = run(tmp_path, source, "./m.so").splitlines()
    assert said[0].endswith(
        "function 'test.system.twice' failed: no function of this name was given to weft_register_func"
    )
    assert said[1:3] == ["all went well", "2 6 4 10"]
    assert said[3].endswith("function 'test.system.next' failed: it gave -12")
