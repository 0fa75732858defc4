"""What `weft.tir.analysis` tells of functions."""

from __future__ import annotations

from typing import Any

import pytest
from tvmscript_texts import function
from xdsl.dialects.builtin import ModuleOp

import weft
from weft import te, tir
from weft.dialects.tir.core import ForOp, PrimFuncOp
from weft.tir import analysis

MATMUL = """
@T.prim_func
def matmul(A: T.Buffer[(64, 32), "float32"], B: T.Buffer[(32, 16), "float32"], C: T.Buffer[(64, 16), "float32"]):
    for i, j, k in T.grid(64, 16, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""

BRANCHES = """
@T.prim_func
def branches(a: T.Buffer[(16,), "float32"], b: T.Buffer[(16,), "float32"]):
    for i in range(16):
        if i % 2 == 0:
            a[i] = b[i]
        else:
            if i % 3 == 0:
                a[i] = b[i - 1] + b[i - 2] * T.exp(b[i])
"""


def softmax(size: int) -> PrimFuncOp:
    x = te.placeholder((size, size), name="x")
    j, k = te.reduce_axis((0, size)), te.reduce_axis((0, size))
    most = te.compute((size,), lambda i: te.max(x[i, j], axis=j))
    power = te.compute((size, size), lambda i, j: te.exp(x[i, j] - most[i]))
    total = te.compute((size,), lambda i: te.sum(power[i, k], axis=k))
    return te.create_prim_func([x, te.compute((size, size), lambda i, j: power[i, j] / total[i])])


def test_operations_on_elements_are_counted_and_calls_and_indices_are_not() -> None:
    assert analysis.estimate_tir_flops(function(MATMUL)) == 2 * 64 * 16 * 32
    assert analysis.estimate_tir_flops(softmax(16)) == 4 * 16 * 16  # max, -, sum, /


def test_the_larger_of_a_number_and_an_element_is_an_operation() -> None:
    x = te.placeholder((16,), name="x")
    relu = te.create_prim_func([x, te.compute((16,), lambda i: te.max(x[i] + 1.0, te.const(0.0, "float32")))])
    assert analysis.estimate_tir_flops(relu) == 2 * 16


def test_of_branches_the_longer_counts_and_of_a_module_every_function() -> None:
    assert analysis.estimate_tir_flops(function(BRANCHES)) == 2 * 16
    assert analysis.estimate_tir_flops(ModuleOp([function(BRANCHES), function(MATMUL)])) == 2 * 16 + 2 * 64 * 16 * 32


def test_what_is_not_known_is_not_guessed() -> None:
    n = te.size_var("n")
    x = te.placeholder((n,), name="x")
    with pytest.raises(weft.Diagnostic, match="known only when the function is called"):
        analysis.estimate_tir_flops(te.create_prim_func([x, te.compute((n,), lambda i: x[i] + 1.0)]))


def test_the_anchor_is_the_block_that_reduces_most() -> None:
    x = te.placeholder((32, 32), name="x")
    i, j = te.reduce_axis((0, 32)), te.reduce_axis((0, 32))
    product = te.compute((32, 32), lambda a, b: te.sum(x[a, i] * x[i, b], axis=i), name="product")
    total = te.compute((32,), lambda a: te.sum(product[a, j], axis=j), name="total")
    anchor = analysis.find_anchor_block(te.create_prim_func([x, total]))
    assert anchor is not None and anchor.block_name == "product"
    assert analysis.find_anchor_block(function(BRANCHES)) is None


BUFFERS = """
@T.prim_func
def buffers(a: T.Buffer[(128,), "int8"], c: T.Buffer[(128,), "int8"]):
    K = T.allocate_const([1, 2, 3], "int8", [3])
    B = T.alloc_buffer([100], dtype="int8", scope="global.vtcm")
    D = T.alloc_buffer([100], dtype="float32")
    for i in T.serial(100):
        with T.block("B"):
            vi = T.axis.spatial(100, i)
            B[vi] = a[vi] + K[1]
    for i in T.serial(100):
        with T.block("D"):
            vi = T.axis.spatial(100, i)
            D[vi] = T.cast(B[vi], "float32")
    for i in T.serial(100):
        with T.block("C"):
            vi = T.axis.spatial(100, i)
            c[vi] = T.cast(D[vi], "int8")
"""


def test_bytes_are_told_by_memory_and_rounded_up_as_is_asked() -> None:
    func = function(BUFFERS)
    assert analysis.calculate_allocated_bytes(func) == {"global.vtcm": 100, "global": 400}
    assert analysis.calculate_workspace_bytes(func) == 500
    assert analysis.calculate_workspace_bytes(func, 64) == 128 + 448
    assert analysis.calculate_constant_bytes(func, 16) == 16
    with pytest.raises(weft.Diagnostic, match="an alignment is positive, not 0"):
        analysis.calculate_workspace_bytes(func, 0)


def test_buffers_of_bodies_one_after_the_other_share_a_workspace() -> None:
    own = """
        for i in T.serial(4):
            with T.block("outer_{0}"):
                T.reads(a[0:4])
                T.writes(c[0:4])
                B = T.alloc_buffer([{1}], dtype="float32")
                for j in T.serial(4):
                    with T.block("in_{0}"):
                        vj = T.axis.spatial(4, j)
                        B[vj] = a[vj]
                for j in T.serial(4):
                    with T.block("out_{0}"):
                        vj = T.axis.spatial(4, j)
                        c[vj] = B[vj]
    """
    head = '@T.prim_func\ndef f(a: T.Buffer[(4,), "float32"], c: T.Buffer[(4,), "float32"]):\n'
    func = function(
        head + own.format("x", 8).replace("\n        ", "\n    ") + own.format("y", 16).replace("\n        ", "\n    ")
    )
    assert analysis.calculate_allocated_bytes(func) == {"global": 96}
    assert analysis.calculate_workspace_bytes(func) == 64


def test_a_buffer_belongs_to_the_innermost_scope_that_has_all_its_uses() -> None:
    func = function(MATMUL)
    a, b, c = func.buffer_map.values()
    scopes = analysis.detect_buffer_access_lca(func)
    block = scopes[c]
    assert isinstance(block, tir.Block) and scopes[a] is scopes[b] is block
    func = function(BUFFERS)
    root = func.body
    assert isinstance(root, tir.BlockRealize)
    scopes = {buffer.name: scope for buffer, scope in analysis.detect_buffer_access_lca(func).items()}
    assert scopes["B"] is scopes["D"] is root.block
    inner = [scopes[name] for name in ("a", "c", "K")]
    assert all(isinstance(each, tir.Block) and each is not root.block for each in inner)


def test_an_address_that_is_handed_on_is_a_use_of_the_buffer() -> None:
    func = function("""
@T.prim_func
def handed(a: T.Buffer[(4, 8), "float32"]):
    for i in range(4):
        with T.block("handed"):
            v = T.axis.spatial(4, i)
            T.evaluate(T.call_extern("int32", "f", T.address_of(a[v, 0])))
""")
    ((buffer, scope),) = analysis.detect_buffer_access_lca(func).items()
    assert buffer.name == "a" and isinstance(scope, tir.Block)


def launch(threads: int, shared: int = 32) -> PrimFuncOp:
    return function(f"""
@T.prim_func
def launch(a: T.Buffer[({2 * threads},), "float32"], c: T.Buffer[({2 * threads},), "float32"]):
    S = T.alloc_buffer([{shared}], dtype="float32", scope="shared")
    for b in T.thread_binding(0, 2, thread="blockIdx.x"):
        for t in T.thread_binding(0, {threads}, thread="threadIdx.x"):
            with T.block("S"):
                v = T.axis.spatial({2 * threads}, b * {threads} + t)
                S[v % {threads}] = a[v]
            with T.block("C"):
                v = T.axis.spatial({2 * threads}, b * {threads} + t)
                c[v] = S[v % {threads}]
""")


def test_global_memory_of_a_launch_belongs_outside_of_its_blocks() -> None:
    func = launch(32)
    scopes = {buffer.name: scope for buffer, scope in analysis.detect_buffer_access_lca(func).items()}
    root = func.body
    assert isinstance(root, tir.BlockRealize)
    outer = root.block.body
    assert isinstance(outer, tir.For)
    assert scopes == {"a": outer, "c": outer, "S": outer.body}


def test_buffers_of_a_function_without_blocks_belong_to_none() -> None:
    func = function("""
@T.prim_func
def plain(a: T.Buffer[(4,), "float32"]):
    a[0] = T.float32(1)
    a[1] = T.float32(2)
""")
    assert list(analysis.detect_buffer_access_lca(func).values()) == [None]


@pytest.mark.parametrize(
    ("limits", "valid"),
    [
        ({}, True),
        ({"max_threads_per_block": 32, "max_shared_memory_per_block": 128}, True),
        ({"max_threads_per_block": 31}, False),
        ({"max_shared_memory_per_block": 127}, False),
        ({"max_thread_x": 31}, False),
        ({"max_thread_y": 1, "max_thread_z": 1}, True),
        ({"max_thread_z": 0}, False),
    ],
)
def test_a_launch_keeps_the_limits_that_are_given(limits: dict[str, int], valid: bool) -> None:
    assert analysis.verify_gpu_code(launch(32), limits) is valid


OWN = """
@T.prim_func
def launches(a: T.Buffer[(64, 64), "float16"], c: T.Buffer[(64, 64), "float16"], d: T.Buffer[(64,), "float16"]):
    S = T.alloc_buffer((64, 64), "float16", scope="local")
    for b in T.thread_binding(16, thread="blockIdx.x"):
        for w in T.thread_binding(4, thread="vthread.x"):
            for t in T.thread_binding(8, thread="threadIdx.x"):
                for i in T.vectorized(8):
                    with T.block("S"):
                        vb = T.axis.spatial(64, b * 4 + w)
                        v = T.axis.spatial(64, t * 8 + i)
                        S[vb, v] = a[vb, 0] + T.float16(1)
                for i in range(8):
                    with T.block("C"):
                        vb = T.axis.spatial(64, b * 4 + w)
                        v = T.axis.spatial(64, t * 8 + i)
                        c[vb, v] = S[vb, v]
    for t in T.thread_binding(64, thread="threadIdx.x"):
        with T.block("D"):
            v = T.axis.spatial(64, t)
            d[v] = a[v, v]
"""


@pytest.mark.parametrize(
    ("limit", "least"),
    [("max_local_memory_per_block", 16), ("max_vector_bytes", 16), ("max_vthread", 4), ("max_kernels", 2)],
)
def test_what_a_thread_has_and_how_many_launches_there_are_may_be_limited(limit: str, least: int) -> None:
    func = function(OWN)
    assert analysis.verify_gpu_code(func, {})
    assert analysis.verify_gpu_code(func, {limit: least})
    assert not analysis.verify_gpu_code(func, {limit: least - 1})


def test_a_limit_that_there_is_not_is_refused() -> None:
    with pytest.raises(weft.Diagnostic, match="there is no limit 'max_threads'") as raised:
        analysis.verify_gpu_code(launch(32), {"max_threads": 3})
    assert "did you mean 'max_vthread' or 'max_thread_z'" in str(raised.value)


def test_the_host_does_not_touch_memory_of_a_gpu() -> None:
    func = function(MATMUL)
    assert analysis.verify_memory(func)
    assert not analysis.verify_memory(func.with_attr("tir.target", "cuda"))
    assert analysis.verify_memory(launch(32).with_attr("tir.target", "cuda"))
    bind: Any = weft.transform.BindTarget
    bound = bind(weft.Target("cuda -arch=sm_90"))
    for given, valid in ((func, False), (launch(32), True), (func.with_attr("target", "llvm"), True)):
        (made,) = weft.tir.IRModule.of(bound(weft.tir.IRModule.of(given))).functions.values()
        assert analysis.verify_memory(made) is valid


def test_a_function_is_well_formed_or_it_is_said_why_not() -> None:
    func = function(MATMUL)
    assert analysis.verify_well_formed(func)
    next(op for op in func.walk() if isinstance(op, ForOp)).trip_count = 65
    assert not analysis.verify_well_formed(func, assert_mode=False)
    with pytest.raises(weft.Diagnostic, match="outside of its extent 64"):
        analysis.verify_well_formed(func)


def test_the_namespaces_are_found_from_weft() -> None:
    assert {"arith", "tir", "te", "relay"} <= set(dir(weft))
    assert set(dir(analysis)) == set(analysis.__all__) and "verify_memory" in dir(weft.tir.analysis)
    assert weft.arith.Analyzer is not None
