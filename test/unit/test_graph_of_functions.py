"""Graphs in TVM's JSON whose nodes call functions that `weft.build` made, as TVM's own tests put them together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from strict_c import needs_compiler

import weft
from weft import te
from weft.dialects.support.diagnostics import Diagnostic
from weft.graph_executor import GraphModule, create
from weft.runtime.memory import aligned_copy

te: Any = te
F32 = np.float32


def functions(n: int = 4) -> Any:
    """`add_one` of one array, and `sub` of two."""
    a, b = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")

    def more(i: Any) -> Any:
        return a[i] + 1.0

    def less(i: Any) -> Any:
        return a[i] - b[i]

    one = te.create_prim_func([a, te.compute((n,), more, name="C")]).with_attr("global_symbol", "add_one")
    two = te.create_prim_func([a, b, te.compute((n,), less, name="D")]).with_attr("global_symbol", "sub")
    return weft.build([one, two], threads=1)


def node(name: str, kernel: str | None, *inputs: int) -> dict[str, Any]:
    given = [[number, 0, 0] for number in inputs]
    if kernel is None:
        return {"op": "null", "name": name, "inputs": []}
    said = {"func_name": kernel, "num_inputs": str(len(inputs)), "num_outputs": "1", "flatten_data": "0"}
    return {"op": "tvm_op", "name": name, "inputs": given, "attrs": said}


def graph(n: int = 4, first: str = "add_one", devices: list[int] | None = None) -> str:
    """`(x + 1) - y`, seen as `[n / 2, 2]`, and copied."""
    nodes = [
        node("x", None), node("y", None), node("more", first, 0), node("less", "sub", 2, 1), node("seen", "__nop", 3),
        node("copied", "__copy", 4),
    ]  # fmt: skip
    shapes = [[n]] * 4 + [[n // 2, 2]] * 2
    said = {
        "shape": ["list_shape", shapes],
        "dltype": ["list_str", ["float32"] * 6],
        "storage_id": ["list_int", [0, 1, 2, 3, 3, 2]],
    }
    if devices is not None:
        said["device_index"] = ["list_int", devices]
    whole = {"nodes": nodes, "arg_nodes": [0, 1], "heads": [[3, 0, 0], [5, 0, 0]], "node_row_ptr": [*range(7)]}
    return json.dumps({**whole, "attrs": said})


X, Y = np.arange(4, dtype=F32), np.array([4, 3, 2, 1], F32)


def test_nodes_call_functions_by_their_names(tmp_path: Path) -> None:
    module = create(graph(), functions(), weft.cpu())
    for x in (X, 2 * X):
        flat, seen = module(x, Y)
        np.testing.assert_array_equal(flat, x + 1 - Y)
        np.testing.assert_array_equal(seen, (x + 1 - Y).reshape(2, 2))
    assert [step.kernel for step in module.profile(X, Y, repeat=1).steps] == ["add_one", "sub", "copy"]
    module.run_debug(tmp_path, X, Y)
    np.testing.assert_array_equal(module.get_node_output("more"), (X + 1 - Y).reshape(-1))  # its storage is taken anew
    module.execute_node(2)
    np.testing.assert_array_equal(module.get_node_output("more"), X + 1)


def test_functions_follow_arrays_of_callers() -> None:
    module = GraphModule(graph(), functions())
    module.set_input("y", Y)
    mine, out = aligned_copy(3 * X), aligned_copy(np.zeros(4, F32))
    module.set_input_zero_copy("x", mine)
    module.set_output_zero_copy(0, out)
    module.run()
    np.testing.assert_array_equal(out, 3 * X + 1 - Y)
    mine[:] = 0
    module.run()
    np.testing.assert_array_equal(out, 1 - Y)


@needs_compiler
def test_functions_of_a_library_serve_a_graph(tmp_path: Path) -> None:
    functions().export_library(tmp_path / "functions.so")
    loaded: Any = weft.runtime.load_module(tmp_path / "functions.so", threads=1)
    np.testing.assert_array_equal(create(graph(), loaded)(X, Y)[0], X + 1 - Y)


def test_what_a_function_does_not_take_is_refused() -> None:
    assert "sub" in functions() and "twice" not in functions()
    with pytest.raises(Diagnostic, match=r"node 2 \('more'\): .*shape"):
        GraphModule(graph(8), functions())
    with pytest.raises(Diagnostic, match=r"node 2 \('more'\): 'sub' takes 3 arrays"):
        GraphModule(graph(first="sub"), functions())
    with pytest.raises(Diagnostic, match=r"node 2 \('more'\) calls twice, which is not in the library"):
        GraphModule(graph(first="twice"), functions())
    with pytest.raises(Diagnostic, match="and there is only cpu"):
        GraphModule(graph(devices=[2] * 6), functions())
