"""Kernels that may write over an input: which say so, that their results are the same, and what is refused."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# pyright: reportArgumentType=false
# ruff: noqa: F821

import shutil

import numpy as np
import pytest

import weft
from weft import Diagnostic, relay
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.frontend.mlir import parse_mlir
from weft.lowering.tir_to_loops.in_place import pairs_in_place
from weft.script import tir as T
from weft.tir import from_source

pytestmark = pytest.mark.sampled(5)

HEAD = '@T.prim_func\ndef f(A: T.Buffer[(8, 8), "float32"], B: T.Buffer[(8, 8), "float32"]):\n'


def pairs(body: str) -> list[tuple[int, int]]:
    return pairs_in_place(from_source(HEAD + body))


def elementwise(value: str) -> str:
    lines = ("for i, j in T.grid(8, 8):", '    with T.block("b"):', '        vi, vj = T.axis.remap("SS", [i, j])')
    return "".join(f"    {line}\n" for line in (*lines, f"        B[vi, vj] = {value}"))


def test_what_reads_only_the_element_that_it_writes_may_overwrite_it() -> None:
    assert pairs(elementwise("A[vi, vj] + A[vi, vj] * T.float32(2)")) == [(0, 1)]


@pytest.mark.parametrize("value", ["A[vj, vi]", "A[vi, 0]", "A[vi, 7 - vj]", "A[vi, vj] + A[vj, vi]", "A[vi // 2, vj]"])
def test_what_reads_another_element_may_not(value: str) -> None:
    assert pairs(elementwise(value)) == []


def test_rows_that_are_read_before_they_are_written_may_be_overwritten() -> None:
    rows = """    S = T.alloc_buffer((8,), "float32", scope="local")
    for i in T.parallel(8):
        with T.block("init"):
            vi = T.axis.spatial(8, i)
            S[vi] = T.float32(0)
        for k in range(8):
            with T.block("sum"):
                vi, vk = T.axis.remap("SR", [i, k])
                S[vi] = S[vi] + A[{0}]
        for j in range(8):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] / S[vi]
"""
    assert pairs(rows.format("vi, vk")) == [(0, 1)]
    assert pairs(rows.format("vk, vi")) == []  # a column is read that other rows write


def test_each_loop_in_common_is_about_elements_of_its_own() -> None:
    """By way of one number: the last iterations would read what the first ones have written."""
    body = """    S = T.alloc_buffer((1,), "float32", scope="local")
    for i, j in T.grid(8, 8):
        with T.block("s"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[0] = A[vi, {0}]
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = S[0]
"""
    assert pairs(body.format("vj")) == [(0, 1)]
    assert pairs(body.format("7 - vj")) == []


@pytest.mark.parametrize("loops", ["i, j in T.grid(4, 8)", "i, j, k in T.grid(8, 8, 2)"], ids=["some", "twice"])
def test_an_output_of_which_not_each_element_is_written_once_overwrites_nothing(loops: str) -> None:
    assert pairs(elementwise("A[vi, vj] * T.float32(2)").replace("i, j in T.grid(8, 8)", loops)) == []


def test_what_is_read_behind_what_is_written_may_not_be_overwritten() -> None:
    assert pairs("""    S = T.alloc_buffer((8, 8), "float32")
    for i, j in T.grid(8, 8):
        with T.block("s"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = A[vj, vi]
    for i, j in T.grid(8, 8):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = S[vi, vj]
""") == [(0, 1)]
    assert (
        pairs("""    S = T.alloc_buffer((8, 8), "float32")
    for i, j in T.grid(8, 8):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.float32(1)
    for i, j in T.grid(8, 8):
        with T.block("s"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = A[vj, vi]
""")
        == []
    )


ONE_BLOCK = """
    for i in range(64):
        with T.block("b"):
            vi = T.axis.spatial(64, i)
            C[vi] = B[vi]
            if A[vi] > T.float32(1):
                D[vi] = A[vi] + B[vi]
            else:
                D[vi] = A[vi] - B[vi]
"""
BLOCKS_WITHOUT_A_NAME = """
    for i in range(64):
        with T.block("b"):
            vi = T.axis.spatial(64, i)
            C[vi] = B[vi]
            D[vi] = T.float32(0)
            for k in range(3):
                D[vi] = D[vi] + A[vi]
"""
CALLS_OF_TWO = """
relay.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = relay.exp %x : tensor<64xf32>
  %b = relay.tanh %y : tensor<64xf32>
  %c, %d = relay.call_lowered @f(%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  %e = relay.negative %c : tensor<64xf32>
  %f = relay.negative %d : tensor<64xf32>
  relay.return %e, %f : tensor<64xf32>, tensor<64xf32>
}
"""


@pytest.mark.parametrize("body", [ONE_BLOCK, BLOCKS_WITHOUT_A_NAME])
def test_what_is_read_behind_another_output_that_is_written_is_not_overwritten_by_that(body: str) -> None:
    arguments = ", ".join(f'{name}: T.Buffer[(64,), "float32"]' for name in "ABCD")
    function = from_source(f"@T.prim_func\ndef f({arguments}):{body}")
    found = pairs_in_place(function)
    assert (0, 2) not in found and (1, 2) in found
    x, y = np.random.default_rng(0).standard_normal((2, 64)).astype(np.float32)
    made = weft.compile(parse_mlir(str(function) + CALLS_OF_TWO, "calls.mlir"), threads=1)(x, y)
    a, b = np.exp(x), np.tanh(y)
    second = 3 * a if body is BLOCKS_WITHOUT_A_NAME else np.where(a > 1, a + b, a - b)
    for given, expected in zip(made, (-b, -second), strict=True):
        np.testing.assert_allclose(given, expected, rtol=1e-4, atol=1e-5)


@T.prim_func
def twice(A: T.Buffer[(100,), "float32"], B: T.Buffer[(100,), "float32"]):
    for i in range(100):
        with T.block("b"):
            vi = T.axis.spatial(100, i)
            B[vi] = A[vi] + A[vi]


def test_a_schedule_that_computes_elements_again_takes_the_right_away() -> None:
    schedule = weft.tir.Schedule(twice)
    assert pairs_in_place(twice) == [(0, 1)]
    loop = schedule.get_loops(schedule.get_block("b"))[0]
    outer, _ = schedule.split(loop, [None, 16])
    schedule.parallel(outer)
    function = next(iter(schedule.mod.ops))
    assert pairs_in_place(function) == []  # it has a predicate: what runs when is not looked at
    even = weft.tir.Schedule(twice)
    even.vectorize(even.split(even.get_loops(even.get_block("b"))[0], [None, 10])[1])
    assert pairs_in_place(next(iter(even.mod.ops))) == [(0, 1)]


def chain() -> tuple[FuncOp, list[np.ndarray]]:
    """Kernels that overwrite what they read, rows and elements, one after the other, and one that may not."""

    def kernel(x: relay.Expr) -> relay.Expr:
        return relay.annotation.stop_fusion(x)

    x = relay.var("x", shape=(33, 50))
    a = kernel(relay.tanh(kernel(relay.exp(x))))
    b = kernel(relay.nn.softmax(a))
    c = kernel(relay.sqrt(kernel(relay.multiply(b, b))))
    return relay.Function([x], relay.Tuple([relay.add(c, relay.negative(c)), relay.sum(c)])), [
        np.random.default_rng(0).standard_normal((33, 50)).astype(np.float32)
    ]


@pytest.mark.parametrize("target", ["llvm", *(["c"] if shutil.which("cc") else [])])
@pytest.mark.parametrize("threads", [1, 2])
def test_results_are_the_same_in_less_memory(target: str, threads: int) -> None:
    function, arrays = chain()
    exe = weft.compile(function, target=target, threads=threads)
    with weft.PassContext(opt_level=3, disabled_pass=["write-in-place"]):
        apart = weft.compile(function, target=target, threads=threads)
    assert exe.graph.arena_bytes <= apart.graph.arena_bytes - 33 * 50 * 4
    wanted = evaluate_function(function, arrays)
    for given, other, expected in zip(exe(*arrays), apart(*arrays), wanted, strict=True):
        np.testing.assert_array_equal(given, other)
        np.testing.assert_allclose(given, expected, rtol=1e-5, atol=1e-6)


CALLS = """
func.func private @k(memref<8xf32>, memref<8xf32>, !rt.slots<1>, index){said}
mem.graph @main(%x: memref<8xf32>) writes(%y: memref<8xf32>) {{
  %pool = mem.pool : memref<64xi8>
  %a = mem.alloc at %pool[0] : memref<8xf32> in memref<64xi8>
  mem.call @k(%x) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @k(%a) writes(%a) : (memref<8xf32>) writes(memref<8xf32>)
  mem.call @k(%a) writes(%y) : (memref<8xf32>) writes(memref<8xf32>)
}}
"""


def test_writing_over_what_may_not_be_is_refused_with_its_place() -> None:
    materialize = weft.transform.get_pass("materialize-memory")
    allowed = CALLS.format(said=" attributes {weft.in_place = array<i64: 0, 1>}")
    assert "func.call @k(%a, %a" in str(materialize(parse_mlir(allowed, "calls.mlir")))
    with pytest.raises(Diagnostic, match=r"calls.mlir:7:3: error: .* writes over its input 0"):
        materialize(parse_mlir(CALLS.format(said=""), "calls.mlir"))


def test_functions_claim_of_no_such_buffers_that_they_are_apart() -> None:
    x = relay.var("x", shape=(4, 5))
    phases = weft.compile(relay.Function([x], relay.tanh(relay.annotation.stop_fusion(relay.exp(x))))).ir
    heads = [line for line in phases["llvm"].splitlines() if "llvm.func" in line and "fused_" in line]
    assert len(heads) >= 4 and not any("noalias" in head for head in heads)
    y = relay.var("y", shape=(5, 4))
    moved = weft.compile(relay.Function([y], relay.exp(relay.transpose(y)))).ir["llvm"]
    assert "noalias" in moved  # a kernel that reads elsewhere does claim it


def test_llvm_is_told_that_elements_are_apart_where_they_are_written_in_place() -> None:
    """Without a word LLVM compares the addresses, and takes one element after the other if they are the same."""
    x = relay.var("x", shape=(64, 64))
    graph = relay.Function([x], relay.cumsum(relay.sqrt(relay.cumsum(x, axis=1)), axis=1))
    exe = weft.compile(graph, threads=1)
    loops, llvm_ir = exe.ir["loops"], exe.ir.llvm_ir()
    (call,) = (line for line in loops.splitlines() if "func.call @fused_sqrt(" in line)
    buffers = call[call.index("(") + 1 :].split(", ")
    assert buffers[0] == buffers[1]
    assert loops.count("parallelAccesses = #llvm.access_group<id = distinct[0]<>>") == 1
    assert llvm_ir.count("!llvm.access.group !") == 2 and "llvm.loop.parallel_accesses" in llvm_ir
    data = np.random.default_rng(0).random((64, 64), np.float32)
    np.testing.assert_allclose(exe(data), np.cumsum(np.sqrt(np.cumsum(data, axis=1)), axis=1), rtol=1e-4)
