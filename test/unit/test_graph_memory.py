"""What a graph's function does with memory, seen from outside: results are right wherever tensors lie."""

from __future__ import annotations

import numpy as np
import pytest
from memory_graphs import GRAPHS
from native import parse
from tir_run import HOST

from weft.lowering.compiler import compile_graph
from weft.runtime.executable import Executable

X = np.arange(8, dtype=np.float32) - 3


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("graph", GRAPHS)
def test_results_are_right(graph: str, threads: int) -> None:
    body, expected = GRAPHS[graph]
    outputs = body.rpartition(" : ")[2]
    module = parse(f"relay.func @main(%x: tensor<1x8xf32>) -> ({outputs}) {{\n{body}\n}}")
    executable = Executable(compile_graph(module, HOST, codegen_level=1, jobs=1), threads)
    x = X.reshape(1, 8)
    for _ in range(2):
        given = executable(x)
        for got, want in zip(given, expected(x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
