"""Functions that are built by TVMScript's words, run as Python."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from weft import build, tir
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.tir.core import PrimFuncOp
from weft.kernel import build_kernel
from weft.script.ir_builder import IRBuilder
from weft.script.ir_builder import ir as I
from weft.script.ir_builder import tir as T
from weft.tir import from_source


def test_a_product_with_a_reduction_is_the_function_of_its_text() -> None:
    with IRBuilder() as ib:
        with T.prim_func():
            T.func_name("product")
            A = T.arg("A", T.Buffer((8, 4), "float32"))
            given = T.arg("hB", T.handle())
            B = T.match_buffer(given, (4, 6), "float32")
            C = T.arg("C", T.Buffer((8, 6), "float32"))
            D = T.alloc_buffer((8, 6), "float32", name="D")
            with T.grid(8, 6, 4) as (i, j, k):
                with T.block("D"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    T.reads(A[vi, vk], B[vk, vj])
                    T.writes(D[vi, vj])
                    with T.init():
                        T.buffer_store(D, T.float32(0), [vi, vj])
                    T.buffer_store(D, D[vi, vj] + A[vi, vk] * B[vk, vj], [vi, vj])
            with T.parallel(8) as i:
                with T.serial(6) as j:
                    with T.block("C"):
                        vi = T.axis.spatial(8, i)
                        vj = T.axis.S(6, j)
                        T.block_attr({"note": 1})
                        T.buffer_store(C, T.max(D[vi, vj], T.float32(0)), [vi, vj])

    product = from_source("""
@T.prim_func
def product(A: T.Buffer[(8, 4), "float32"], hB: T.handle, C: T.Buffer[(8, 6), "float32"]):
    B = T.match_buffer(hB, (4, 6), "float32")
    D = T.alloc_buffer((8, 6), "float32")
    for i, j, k in T.grid(8, 6, 4):
        with T.block("D"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                D[vi, vj] = 0.0
            D[vi, vj] = D[vi, vj] + A[vi, vk] * B[vk, vj]
    for i in T.parallel(8):
        for j in T.serial(6):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.block_attr({"note": 1})
                C[vi, vj] = T.max(D[vi, vj], 0.0)
""")
    func = ib.get()
    assert isinstance(func, PrimFuncOp)
    tir.assert_structural_equal(func, product)
    assert func.sym_name.data == "product"
    a, b = np.ones((8, 4), np.float32), np.arange(24, dtype=np.float32).reshape(4, 6) - 12
    (found,) = build_kernel(func, codegen_level=1)(a, b)
    np.testing.assert_array_equal(found, np.maximum(a @ b, 0))


def test_branches_loops_and_names_of_values_are_the_nodes() -> None:
    x = T.Buffer((8,), "int32")
    with IRBuilder() as ib:
        with T.serial(1, 8) as i:
            with T.let(T.var("int32", "t"), x[i] * 2) as t:
                with T.If(t > 3):
                    with T.Then():
                        T.buffer_store(x, t, [i])
                    with T.Else():
                        T.evaluate(0)
    y = tir.Var("y", "int32")
    j = tir.Var("j", "int32")
    chosen = tir.IfThenElse(y > 3, tir.BufferStore(x, y, [j]), tir.Evaluate(0))
    expected = tir.For(j, 1, 7, "serial", tir.LetStmt(y, tir.BufferLoad(x, [j]) * 2, chosen))
    tir.assert_structural_equal(ib.get(), expected, map_free_vars=True)


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (T.serial(4), "serial"),
        (T.parallel(4), "parallel"),
        (T.vectorized(4), "vectorized"),
        (T.unroll(4), "unrolled"),
        (T.thread_binding(4, thread="threadIdx.x"), "thread_binding"),
    ],
)
def test_each_kind_of_loops(frame: object, kind: str) -> None:
    with IRBuilder() as ib:
        with frame:  # pyright: ignore
            T.evaluate(1)
    loop = ib.get()
    assert isinstance(loop, tir.For)
    assert loop.kind == kind
    assert loop.thread_binding == ("threadIdx.x" if kind == "thread_binding" else None)


def test_memory_and_loops_of_unknown_length() -> None:
    with IRBuilder() as ib:
        with T.prim_func():
            A = T.arg("A", T.Buffer((4,), "int32"))
            n = T.arg("n", T.int32())
            with T.allocate([1], "int32", scope="local") as left, T.allocate_const([3, 5], "int32", [2]) as K:
                T.buffer_store(left, n, [0])
                with T.While(left[0] > 0):
                    T.buffer_store(A, A[0] + K[1], [0])
                    T.buffer_store(left, left[0] - 1, [0])
    func = ib.get()
    assert isinstance(func, PrimFuncOp)
    found = np.zeros(4, np.int32)
    build(func)(found, 3)
    assert found[0] == 15


def test_asserts_and_attributes_are_the_nodes() -> None:
    with IRBuilder() as ib:
        with T.Assert(T.var("int32", "n") > 0, message="n is a size"), T.launch_thread("threadIdx.x", 4) as thread:
            T.evaluate(thread)
    made = ib.get()
    assert isinstance(made, tir.AssertStmt) and made.message == "n is a size"
    assert isinstance(made.body, tir.AttrStmt)
    assert (made.body.node, made.body.attr_key, made.body.value) == (thread, "thread_extent", 4)


def test_modules_hold_functions() -> None:
    with IRBuilder() as ib:
        with I.ir_module():
            for name in ("one", "two"):
                with T.prim_func():
                    T.func_name(name)
                    T.func_attr({"note": name})
                    T.evaluate(0)
    module = ib.get()
    assert isinstance(module, tir.IRModule)
    assert list(module.functions) == ["one", "two"]
    assert "note" in str(module.functions["two"])


def test_builders_are_open_within_each_other_and_in_threads() -> None:
    with pytest.raises(ValueError, match="no builder is open"):
        IRBuilder.current()
    with IRBuilder() as outer:
        with IRBuilder() as inner:
            assert IRBuilder.current() is inner
            T.evaluate(1)
        assert IRBuilder.current() is outer
        seen: list[str] = []

        def elsewhere() -> None:
            try:
                IRBuilder.current()
            except ValueError as error:
                seen.append(str(error))

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert seen and "no builder is open" in seen[0]
        with pytest.raises(ValueError, match="nothing was built"):
            outer.get()


def test_a_frame_that_an_error_leaves_gives_nothing() -> None:
    with IRBuilder() as ib:
        with pytest.raises(ZeroDivisionError):
            with T.serial(4):
                raise ZeroDivisionError
        assert not ib.frames
        T.evaluate(0)
    assert isinstance(ib.get(), tir.Evaluate)


def test_what_stands_in_the_wrong_place_is_refused() -> None:
    def opened(word: str) -> None:
        with IRBuilder():
            match word:
                case "where":
                    T.where(True)
                case "axis":
                    T.axis.spatial(4, 0)
                case "init":
                    with T.init():
                        pass
                case "then":
                    with T.Then():
                        pass
                case "bare":
                    with T.If(T.var("int32") > 0):
                        T.evaluate(0)
                case "none":
                    with T.If(T.var("int32") > 0):
                        pass
                case "handle":
                    with T.prim_func():
                        T.arg("h", T.handle())
                case "returns":
                    with T.prim_func():
                        T.func_ret("int64")
                case "remap":
                    with T.serial(1, 4) as i, T.block("b"):
                        T.axis.remap("S", [i])
                case "kinds":
                    with T.serial(4) as i, T.block("b"):
                        T.axis.remap("SR", [i])
                case "twice":
                    T.evaluate(0)
                    T.evaluate(1)
                case "module":
                    with I.ir_module():
                        T.evaluate(0)
                case "function":
                    with T.serial(4), T.prim_func():
                        T.evaluate(0)
                case "region":
                    with T.prim_func():
                        T.match_buffer(T.Buffer((4,), "int32")[0], (2,), "int32")
                case "alloc":
                    T.alloc_buffer((4,))
                case _:
                    with T.block("b"):
                        T.where(True)
                        T.where(False)

    for word, said in {
        "where": "T.where stands in a T.block",
        "axis": "T.axis stands in a T.block",
        "init": "T.init stands in a T.block",
        "then": "T.Then stands directly in a T.If",
        "bare": "stand in the T.Then and the T.Else",
        "none": "a T.If has a T.Then",
        "handle": "nothing says which buffer the parameter 'h' is",
        "returns": "a function writes to its arguments",
        "remap": "variable of no loop around that begins at 0",
        "kinds": "T.axis.remap: 1 kinds",
        "twice": "has what it builds already",
        "module": "a module holds functions",
        "function": "stands in no statement",
        "region": "T.match_buffer is of a parameter",
        "alloc": "stands in a T.block or a T.prim_func",
        "again": "a block has one T.where",
    }.items():
        with pytest.raises(UsageError, match=said):
            opened(word)


def test_a_part_of_a_buffer_is_a_region() -> None:
    A = tir.decl_buffer((8, 4), "float32", name="A")
    n = tir.Var("n", "int32")
    region = A[2:6, n]
    assert isinstance(region, tir.BufferRegion)
    assert [str(each.min) for each in region.region] == ["T.index(2)", "n"]
    assert [each.extent for each in region.region] == [4, 1]
    whole = A[:, :]
    assert isinstance(whole, tir.BufferRegion)
    assert [each.extent for each in whole.region] == [8, 4]


def test_values_are_named_and_taken_apart() -> None:
    one = T.meta_var(1)
    a, b = T.meta_var([3, 4])
    assert (one.value, a.value, b.value) == (1, 3, 4)
    with IRBuilder() as ib, T.prim_func():
        x = IRBuilder.name("data", T.Buffer((4,), "int32"))
        T.arg("x", x)
        T.buffer_store(x, 1, [0])
    assert "%x" in str(ib.get())
