"""Libraries for C of graphs and programs with open extents: they say sizes, and compute what the executable gives."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from exported import Library, Refused, check, table
from open_loops import falling

import weft
from weft import relay
from weft.frontend.mlir import parse_mlir
from weft.runtime.library.glue import glue
from weft.runtime.library.header import header

NDArray = npt.NDArray[Any]
OPEN = relay.Any()
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-Wpedantic")
pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc) on this machine"),
    pytest.mark.sampled(2),
]


def rows(n: int, columns: int = 16) -> NDArray:
    return np.random.default_rng(n).standard_normal((n, columns)).astype(np.float32)


@pytest.fixture(scope="module")
def dense() -> weft.Executable:
    x, y = relay.var("x", shape=(OPEN, 16)), relay.var("y", shape=(OPEN, 8))
    w = relay.const(rows(8))
    product = relay.nn.dense(x, w)
    return weft.compile(
        relay.Function([x, y], relay.Tuple([relay.add(product, y), relay.concatenate([product, y], 0)]))
    )


def test_extents_that_are_known_at_the_call(dense: weft.Executable, tmp_path: Path) -> None:
    library = Library(dense, tmp_path / "dense.so")
    for n in (0, 1, 2, 7, 64, 100):
        check(dense, library, rows(n), rows(n, 8))
    with pytest.raises(Refused, match="'y' has another shape than the model takes: \\[\\?, 8\\]"):
        library(rows(3), rows(4, 8))
    model = library.model
    assert (model.inputs[0].shape[0], model.inputs[0].bytes, model.workspace_bytes) == (-1, 0, 0)
    assert model.allocate() is None
    array = rows(3)
    status = model.run(table([array, array]), table([array, array]), 64, 1)
    with pytest.raises(Refused, match="run_at says which"):
        library.see(status, None)


def test_extents_that_data_decides(tmp_path: Path) -> None:
    x = relay.var("x", shape=(OPEN, 3))
    places = relay.argwhere(x)
    values = relay.gather_nd(x, relay.transpose(places), index_rank=2)
    exe = weft.compile(relay.Function([x], relay.Tuple([places, relay.exp(values)])))
    library = Library(exe, tmp_path / "found.so")
    for n in (0, 1, 5, 40):
        check(exe, library, np.maximum(rows(n, 3), 0))
    assert library.model.num_outputs == 2


def test_elements_of_inputs_that_say_sizes(tmp_path: Path) -> None:
    x, s = relay.var("x", shape=(OPEN, 6)), relay.var("s", shape=(2,), dtype="int32")
    exe = weft.compile(relay.Function([x, s], relay.exp(relay.dyn.reshape(relay.negative(x), s))))
    library = Library(exe, tmp_path / "told.so")
    for n, shape in ((1, (2, 3)), (4, (8, 3)), (0, (0, 5))):
        check(exe, library, rows(n, 6), np.array(shape, np.int32))
    with pytest.raises(Refused, match="the model takes inputs for which"):
        library(rows(1, 6), np.array((2, 4), np.int32))
    with pytest.raises(Refused, match="the model takes inputs for which"):
        library(rows(1, 6), np.array((-2, -3), np.int32))


def test_a_size_that_falls_with_an_extent_has_its_memory_where_that_is_none(tmp_path: Path) -> None:
    exe = weft.compile(parse_mlir(falling(64), "falling"))
    library = Library(exe, tmp_path / "falling.so")
    for n in (0, 1, 9, 10):
        check(exe, library, rows(10, 64), np.zeros(n, np.float32))


def test_programs_that_branch_find_memory_for_what_they_give(tmp_path: Path) -> None:
    n, x = relay.var("n", shape=(), dtype="int64"), relay.var("x", shape=(OPEN, 2))
    double, one, zero = relay.GlobalVar("double"), relay.const(1, "int64"), relay.const(0, "int64")
    twice = relay.concatenate(relay.Tuple([x, x]), axis=0)
    body = relay.If(relay.greater(n, zero), relay.Call(double, [n - one, twice]), x)
    type = relay.TensorType((OPEN, 2), "float32")
    main = relay.Function([n, x], double(n, x), type)
    exe = weft.compile(relay.IRModule({double: relay.Function([n, x], body, type), "main": main}))
    library = Library(exe, tmp_path / "doubling.so")
    for turns in (0, 1, 5):
        for count in (0, 1, 3):
            check(exe, library, np.array(turns), rows(count, 2))


def test_a_graph_of_one_size_goes_the_same_way(tmp_path: Path) -> None:
    x, i = relay.var("x", shape=(4, 2)), relay.var("i", shape=(3,), dtype="int64")
    exe = weft.compile(relay.Function([x, i], relay.take(x, i, axis=0, mode="error")))
    library = Library(exe, tmp_path / "taking.so")
    check(exe, library, rows(4, 2), np.array([3, 0, 1]))
    with pytest.raises(Refused, match="index 4 lies outside"):
        library(rows(4, 2), np.array([3, 4, 1]))
    with pytest.raises(Refused, match="'x' has another shape"):
        library(rows(5, 2), np.array([3, 0, 1]))


def test_a_program_in_c_calls_it_on_threads_at_several_sizes(dense: weft.Executable, tmp_path: Path) -> None:
    (tmp_path / "m.h").write_text(header(dense.graph, "m"))
    (tmp_path / "m.c").write_text(glue(dense.graph, "m", "m.h"))
    subprocess.run(["cc", *STRICT, "-Wconversion", "-c", tmp_path / "m.c", "-o", tmp_path / "m.o"], check=True)
    dense.export_library(tmp_path / "libdense.so")
    (tmp_path / "main.c").write_text("""
#include "libdense.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *call(void *at) {
  const weft_model *model = dense_model();
  int64_t n = *(int64_t *)at, x_shape[] = {n, 16}, y_shape[] = {n, 8}, sum_shape[2], both_shape[2];
  const int64_t *shapes[] = {x_shape, y_shape};
  int64_t *output_shapes[] = {sum_shape, both_shape};
  float *x = calloc((size_t)n * 16, sizeof *x), *y = calloc((size_t)n * 8, sizeof *y);
  for (int64_t i = 0; i < n * 8; i++)
    y[i] = (float)i;
  const void *inputs[] = {x, y};
  size_t bytes;
  if (model->measure(shapes, NULL, output_shapes, &bytes) != 0 || both_shape[0] != 2 * n)
    return at;
  float *sum = malloc((size_t)(n * 8) * sizeof *sum), *both = malloc((size_t)(n * 16) * sizeof *both);
  void *outputs[] = {sum, both}, *workspace = aligned_alloc(64, bytes);
  int failed = 0;
  for (int turn = 0; turn < 50; turn++) {
    failed |= model->run_at(shapes, inputs, output_shapes, outputs, workspace, 2) != 0;
    for (int64_t i = 0; i < n * 8; i++)
      failed |= sum[i] != (float)i || both[n * 8 + i] != (float)i;
  }
  free(x), free(y), free(sum), free(both), free(workspace);
  return failed ? at : NULL;
}
int main(void) {
  pthread_t threads[4];
  int64_t sizes[] = {1, 9, 40, 3};
  int failed = 0;
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, call, &sizes[i]);
  for (int i = 0; i < 4; i++) {
    void *failure;
    pthread_join(threads[i], &failure);
    failed |= failure != NULL;
  }
  return failed;
}
""")
    command = ["cc", *STRICT, "-pthread", f"-I{tmp_path}", tmp_path / "main.c", tmp_path / "libdense.so"]
    subprocess.run([*command, f"-Wl,-rpath,{tmp_path}", "-o", tmp_path / "run"], check=True)
    subprocess.run([tmp_path / "run"], check=True)
