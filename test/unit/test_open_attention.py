"""Attention over numbers of queries and keys that are known when it is called: one kernel for all of them."""

from __future__ import annotations

import shutil
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import weft
from weft.compilation import load_module
from weft.lowering.compiler import lower
from weft.lowering.loops_to_c.compile import compile_c_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable

pytestmark = pytest.mark.sampled(5)

NDArray = npt.NDArray[Any]
HEADS, SIZE = 3, 16
MASK = ("b", 1, "queries", "keys")
SIZES = [(1, 1), (7, 7), (16, 16), (17, 17), (1, 300), (14, 33), (128, 128), (197, 197), (30, 1500), (0, 4)]


def attention(mask: list[str | int] | None = None) -> onnx.ModelProto:
    """Queries, keys and values with their heads side by side, and what is added to the scores, of the shape `mask`."""
    constants = {
        "apart": np.array([0, 0, HEADS, SIZE]),
        "joined": np.array([0, 0, HEADS * SIZE]),
        "root": np.array(np.sqrt(SIZE), np.float32),
    }
    nodes = [
        helper.make_node("Reshape", ["q", "apart"], ["q4"]),
        helper.make_node("Transpose", ["q4"], ["qs"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["k", "apart"], ["k4"]),
        helper.make_node("Transpose", ["k4"], ["ks"], perm=[0, 2, 3, 1]),
        helper.make_node("Reshape", ["v", "apart"], ["v4"]),
        helper.make_node("Transpose", ["v4"], ["vs"], perm=[0, 2, 1, 3]),
        helper.make_node("MatMul", ["qs", "ks"], ["scores"]),
        helper.make_node("Div", ["scores", "root"], ["scaled"]),
        helper.make_node("Softmax", ["masked" if mask else "scaled"], ["weights"], axis=-1),
        helper.make_node("MatMul", ["weights", "vs"], ["out4"]),
        helper.make_node("Transpose", ["out4"], ["swapped"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["swapped", "joined"], ["out"]),
    ]
    shapes: dict[str, list[str | int]] = {
        name: ["b", length, HEADS * SIZE] for name, length in zip("qkv", ("queries", "keys", "keys"), strict=True)
    }
    if mask:
        shapes["m"] = mask
        nodes.insert(8, helper.make_node("Add", ["scaled", "m"], ["masked"]))
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    output = helper.make_tensor_value_info("out", TensorProto.FLOAT, shapes["q"])
    weights = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "attention", inputs, [output], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def arrays(batch: int, queries: int, keys: int) -> list[NDArray]:
    random = np.random.default_rng(queries * 1000 + keys)
    return [random.standard_normal((batch, n, HEADS * SIZE)).astype(np.float32) for n in (queries, keys, keys)]


def expected(q: NDArray, k: NDArray, v: NDArray, mask: NDArray | float = 0.0) -> NDArray:
    batch = len(q)
    heads = [x.reshape(batch, -1, HEADS, SIZE).transpose(0, 2, 1, 3).astype(np.float64) for x in (q, k, v)]
    scores = heads[0] @ heads[1].transpose(0, 1, 3, 2) / np.sqrt(SIZE) + mask
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        result = weights / weights.sum(-1, keepdims=True) @ heads[2]
    return result.transpose(0, 2, 1, 3).reshape(q.shape)


@cache
def compiled(*mask: str | int) -> weft.Executable:
    return weft.compile(attention(list(mask)), threads=2)


def check(result: Any, *given: Any) -> None:
    np.testing.assert_allclose(np.asarray(result), expected(*given), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize(("queries", "keys"), SIZES)
def test_attention_of_any_length_is_computed(queries: int, keys: int) -> None:
    for batch in (1, 2):
        given = arrays(batch, queries, keys)
        check(compiled()(*given), *given)


@pytest.mark.parametrize("options", ["", " -mattr=-avx512f"])
def test_keys_that_fill_vectors_leave_the_next_row_alone(options: str) -> None:
    """Behind whole vectors there is one of no lanes, which takes room like any other."""
    executable = weft.compile(attention(), f"llvm -mcpu=native{options}", threads=1) if options else compiled()
    for keys in (8, 16, 24, 32, 48, 80):
        given = arrays(1, 15, keys)
        check(executable(*given), *given)


def test_scores_do_not_leave_the_kernel() -> None:
    given = arrays(2, 7, 7)
    for executable, inputs in ((compiled(), given), (compiled(*MASK), [*given, np.zeros((2, 1, 7, 7), np.float32)])):
        lines = str(executable.profile(*inputs)).splitlines()
        assert sum("batch_matmul" in line for line in lines) == 1


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (17, 17), (5, 40), (197, 197)])
def test_causal_masks_and_rows_that_see_nothing(queries: int, keys: int) -> None:
    later = np.arange(keys)[None, :] - (keys - queries) > np.arange(queries)[:, None]
    mask = np.where(later, -np.inf, np.linspace(-1, 1, keys)).astype(np.float32)
    mask = np.stack([mask, mask * 2])[:, None]
    if queries > 3:
        mask[:, :, 3] = -np.inf
    given = [*arrays(2, queries, keys), mask]
    result = np.asarray(compiled(*MASK)(*given))
    check(result, *given)
    assert np.isnan(result[:, 3]).all() if queries > 3 else not np.isnan(result).any()


def test_memory_grows_with_the_number_of_keys_and_not_with_its_square() -> None:
    executable, room = compiled(), list[int]()
    for length in (512, 4096):
        executable(*arrays(1, length, length))
        (context,) = executable.program.free
        room.append(context.arena.nbytes)
    assert room[1] < 9 * room[0]


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc) on this machine")
def test_the_target_c_computes_it_too() -> None:
    target = Target.parse("c")
    module = load_module(attention())
    lower(module, target, "loops")
    executable = Executable(compile_c_graph(module, target, 1, ("-Wall", "-Wextra", "-Werror")))
    for queries, keys in ((1, 1), (17, 5), (40, 50)):
        given = arrays(2, queries, keys)
        check(executable(*given), *given)
