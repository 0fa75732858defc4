"""Blocks of TVMScript that only statements can say, texts for functions of C, and where parts of buffers lie."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

import numpy as np
import pytest
from tvmscript_texts import function

import weft
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.tir import Schedule, ScheduleError, assert_structural_equal, from_source
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.tir.unroll_loop import UnrollLoopPass

N = 8
LATE_END = """
@T.prim_func
def f(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8, 8), "float32"]):
    for i, j in T.grid(8, 8):
        with T.block("zero"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.float32(0)
    for i in range(8):
        for j, k in T.grid(i, T.min(i, 2)):
            with T.block("B"):
                vi = T.axis.S(8, i)
                vj, vk = T.axis.remap("SR", [j, k])
                T.where(A[vi] > 0.0)
                with T.init():
                    B[vi, vj] = T.float32(100)
                B[vi, vj] = B[vi, vj] + A[vi]
"""
CURVED = """
@T.prim_func
def f(A: T.Buffer[(32,), "float32"], C: T.Buffer[(1,), "float32"]):
    for k in range(8):
        with T.block("C"):
            vk = T.axis.R(32, T.floordiv(k * k, 2))
            T.reads(A[vk])
            T.writes(C[0])
            T.block_attr({"weight": 2})
            with T.init():
                C[0] = T.float32(10)
            C[0] = C[0] + A[vk]
"""
IN_A_BRANCH = """
@T.prim_func
def f(A: T.Buffer[(8, 8), "float32"], B: T.Buffer[(8, 8), "float32"]):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.S(8, i)
            T.reads(A[0:8, 0:8])
            T.writes(B[0:8, 0:8])
            if A[vi, 0] > 0.0:
                with T.block("C"):
                    for j in range(8):
                        with T.block("D"):
                            vj = T.axis.S(8, j)
                            B[vi, vj] = A[vi, vj] * 3.0
            else:
                for j in range(8):
                    with T.block("E"):
                        vj = T.axis.S(8, j)
                        B[vi, vj] = A[vi, vj] * 2.0
"""
SWAPPED = """
@T.prim_func
def f(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8, 8), "float32"]):
    for i, j in T.grid(8, 8):
        with T.block("zero"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.float32(0)
    for i in range(8):
        for j in range(i):
            with T.block("B"):
                i, j = T.axis.remap("SS", [j, i])
                B[i, j] = A[i] + A[j] * T.float32(3)
"""
CHOSEN = """
@T.prim_func
def f(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"]):
    for i in range(8):
        with T.block("copy"):
            vi = T.axis.S(8, i)
            B[vi] = A[vi]
    with T.block("B"):
        x: T.float32 = T.if_then_else(A[1] < 100.0, B[0] + A[2], 1.0) * 2.0
        if A[1] < 100.0:
            B[0] = 5.0
        B[1] = x
"""
"""A choice reads an element that is another one where the choice is used."""
CHANGED_END = """
@T.prim_func
def f(A: T.Buffer[(8,), "int32"], B: T.Buffer[(8,), "int32"]):
    for i in range(8):
        with T.block("copy"):
            vi = T.axis.S(8, i)
            B[vi] = A[vi]
    for i in range(8):
        for j in range(B[i]):
            with T.block("B"):
                vj = T.axis.S(8, j)
                B[i] = 0
                B[vj] = B[vj] + 1
"""
"""A loop changes the element that says where it ends."""


def late_end(a: np.ndarray) -> np.ndarray:
    b = np.zeros((N, N), np.float32)
    for i in range(N):
        for j in range(i):
            b[i, j] = 100 + min(i, 2) * a[i] if a[i] > 0 else 0
    return b


def swapped(a: np.ndarray) -> np.ndarray:
    return np.triu(a[:, None] + a[None, :] * 3, 1)


def chosen(a: np.ndarray) -> np.ndarray:
    return np.concatenate([[5, (a[0] + a[2]) * 2], a[2:]])


CASES = {
    "a loop that another ends": (LATE_END, (N,), late_end),
    "a product of loops": (CURVED, (32,), lambda a: 10 + sum(a[k * k // 2] for k in range(1, 8))),
    "iterators with the names of other loops": (SWAPPED, (N,), swapped),
    "a choice before what changes it": (CHOSEN, (N,), chosen),
    "a branch": (IN_A_BRANCH, (N, N), lambda a: np.where(a[:, :1] > 0, a * 3, a * 2)),
}


@pytest.mark.parametrize("case", CASES)
def test_a_block_that_only_statements_can_say_computes_what_it_says(case: str) -> None:
    text, shape, meaning = CASES[case]
    func = function(text)
    a = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    (result,) = Interpreter(func)([a])
    np.testing.assert_allclose(np.asarray(result).reshape(-1), np.asarray(meaning(a)).reshape(-1), rtol=1e-6)
    out = np.zeros(np.asarray(result).shape, np.float32)
    weft.build(func)(a, out)
    np.testing.assert_allclose(out, np.asarray(result).reshape(out.shape), rtol=1e-6)
    again = function(func.script())
    assert_structural_equal(again, func)
    np.testing.assert_array_equal(Interpreter(again)([a])[0], result)


def test_a_loop_whose_end_its_steps_change_is_printed_in_the_block_that_it_is_in() -> None:
    func = function(CHANGED_END)
    again = function(func.script())
    assert_structural_equal(again, func)
    a = np.array([0, 1, 4, 0, 0, 2, 7, 3], np.int32)
    b = a.copy()
    for i in range(8):
        for j in range(b[i]):
            b[i] = 0
            b[j] += 1
    for each in (func, again):
        np.testing.assert_array_equal(Interpreter(each)([a])[0], b)


@pytest.mark.parametrize("value", ["A[vi] + A[0] * 2.0", "T.if_then_else(A[0] > 1.0, A[vi], 2.0)", "A[vi]"])
def test_a_value_that_nothing_uses_is_printed_as_a_statement_if_elements_are_read_for_it(value: str) -> None:
    func = function(f"""
@T.prim_func
def f(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"]):
    for i in range(8):
        with T.block("b"):
            vi = T.axis.S(8, i)
            x: T.float32 = {value}
            B[vi] = T.float32(1)
""")
    assert f"T.evaluate({value}".replace(".0", "")[:20] in func.script().replace(".0", "")
    assert_structural_equal(function(func.script()), func)
    assert "T.evaluate" in str(func.body)


def test_a_loop_that_an_element_ends_is_printed_in_the_block_that_counts_it_without_loops_around_it() -> None:
    text = CHANGED_END.replace("range(B[i])", "range(A[i])").replace(
        "range(8):\n        for j", "T.unroll(8):\n        for j"
    )
    schedule = Schedule(function(text))
    UnrollLoopPass().apply(new_ir_context(), schedule.mod)
    (func,) = schedule.mod.ops
    assert isinstance(func, PrimFuncOp)
    assert 'range(T.cast(A[7], "index"))' in func.script()
    assert_structural_equal(function(func.script()), func)


def test_schedules_find_such_a_block_by_its_name_and_keep_its_order() -> None:
    schedule = Schedule(function(CURVED))
    block = schedule.get_block("C")
    (loop,) = schedule.get_loops(block)
    assert "weight" in schedule.mod.script()
    with pytest.raises(ScheduleError):
        schedule.parallel(loop)
    with pytest.raises(ScheduleError):
        schedule.rfactor(loop, 0)
    assert len(Schedule(function(LATE_END)).get_loops("B")) == 1


def test_a_scan_keeps_its_order() -> None:
    text = CURVED.replace("T.axis.R(32, T.floordiv(k * k, 2))", "T.axis.scan(32, k)").replace(
        "            with T.init():\n                C[0] = T.float32(10)\n", ""
    )
    func = from_source(text)
    schedule = Schedule(func)
    with pytest.raises(ScheduleError, match="which is opaque"):
        schedule.parallel(schedule.get_loops("C")[0])


def test_attributes_of_a_block_among_statements_are_refused() -> None:
    text = IN_A_BRANCH.replace('with T.block("D"):', 'with T.block("D"):\n' + " " * 28 + 'T.block_attr({"a": 1})')
    with pytest.raises(Diagnostic, match="a block that stands among statements has no attributes of its own"):
        from_source(text)


def test_a_text_is_bytes_to_a_function_of_c() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer[(1,), "int32"]):
    with T.block("b"):
        T.reads()
        T.writes(A[0])
        A[0] = T.call_extern("int32", "atoi", "250") - T.call_extern("int32", "atoi", "8")
"""
    func = function(text)
    out = np.zeros(1, np.int32)
    weft.build(func)(out)
    assert out[0] == 242
    assert_structural_equal(function(func.script()), func)


PART = """
@T.prim_func
def f(A: T.Buffer[(2, 8, 8), "float32"], C: T.Buffer[(4,), "int32"]):
    for n, i in T.grid(2, 2):
        with T.block("b"):
            vn, vi = T.axis.remap("SS", [n, i])
            offset = T.var("int32")
            row = T.var("int32")
            P = T.match_buffer(A[vn, vi * 4 : vi * 4 + 4, 2:6], (4, 4), strides=[row, 1], elem_offset=offset)
            T.evaluate(T.call_extern("int32", "memset", P.data, 0, 4))
            C[vn * 2 + vi] = P.elem_offset * 1000 + offset * P.strides[1] + row - P.strides[-2]
"""


def test_a_part_says_where_it_lies_in_the_memory_of_its_buffer() -> None:
    func = function(PART)
    place = "(vn * 64 + vi * 32 + 2)"
    text = PART.replace("P.elem_offset", place).replace("offset * P", f"{place} * P")
    elements = function(text)
    assert_structural_equal(func, elements)
    assert "memset" in func.script() and "A.access_ptr" in func.script()


@pytest.mark.parametrize(
    "given, message",
    [
        ("strides=[7, 1]", "the stride of this dimension of the buffer is 8"),
        ("strides=[row, 2]", "the stride of this dimension of the buffer is 1"),
        ("elem_offset=3", "a buffer is dense and starts at 0"),
    ],
)
def test_a_part_lies_as_its_buffer_does(given: str, message: str) -> None:
    with pytest.raises(Diagnostic, match=message):
        from_source(PART.replace("strides=[row, 1], elem_offset=offset", given))


def test_an_intrinsic_is_found_by_its_name_as_tvm_prints_it() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer[(16,), "int8"], B: T.Buffer[(16,), "int8"]):
    for i in range(16):
        with T.block("b"):
            vi = T.axis.S(16, i)
            B[vi] = T.call_llvm_pure_intrin(
                T.llvm_lookup_intrinsic_id("llvm.ctpop.i8"), T.uint32(1), A[vi], dtype="int8"
            )
"""
    func = function(text)
    a, out = np.arange(16, dtype=np.int8), np.zeros(16, np.int8)
    weft.build(func)(a, out)
    assert out.tolist() == [int(n).bit_count() for n in a]
    assert_structural_equal(function(func.script()), func)


OWN_MEMORY = """
@T.prim_func
def f(A: T.Buffer[(8,), "float32"], D: T.Buffer[(8,), "float32"]):
    for i in range(8):
        with T.block("first"):
            T.reads(A[i])
            T.writes(D[i])
            B = T.alloc_buffer((8,), "float32", scope="local")
            K = T.allocate_const([2.0], "float32", (1,))
            B[i] = A[i] * K[0]
            D[i] = B[i] + 1.0
        with T.block("second"):
            T.reads(D[i])
            T.writes(D[i])
            B = T.alloc_buffer((1,), "float32")
            if i < 4:
                with T.block("inner"):
                    C = T.alloc_buffer((2,), "float32")
                    C[1] = D[i]
                    B[0] = C[1] * C[1]
            else:
                B[0] = 0.0
            D[i] = B[0]
"""


def test_what_a_block_has_of_its_own_stands_before_it() -> None:
    func = function(OWN_MEMORY)
    assert_structural_equal(from_source(func.script()), func)
    x, y = np.arange(8, dtype=np.float32), np.empty(8, np.float32)
    weft.build(func, threads=2)(x, y)
    np.testing.assert_array_equal(y, np.where(x < 4, (x * 2 + 1) ** 2, 0))


IN_BRANCHES = """
@T.prim_func
def f(A: T.Buffer[(64,), "int32"], B: T.Buffer[(64,), "int32"]):
    for i in T.parallel(64):
        if A[i] > 5:
            C = T.alloc_buffer((2,), "int32", scope="local")
            C[0] = A[i] * 2
            C[1] = C[0] + 1
            B[i] = C[0] + C[1]
        else:
            D = T.alloc_buffer((1,), "int32", scope="local")
            D[0] = A[i]
            while D[0] > 1:
                D[0] = D[0] - 2
            B[i] = D[0]
"""


def test_branches_in_a_parallel_loop_have_memory_of_each_thread() -> None:
    func = function(IN_BRANCHES)
    assert_structural_equal(function(func.script()), func)
    x, y = np.arange(64, dtype=np.int32) % 11, np.empty(64, np.int32)
    weft.build(func, threads=2)(x, y)
    np.testing.assert_array_equal(y, np.where(x > 5, 4 * x + 1, x % 2))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (', scope="local"', "", "perhaps block @statement writes the same element of %C in several iterations of %i"),
        ("C[0] = A[i] * 2", "C[0] = C[0] + A[i]", "not shown that each iteration of %i writes what it reads of %C"),
        ("C[1] = C[0] + 1", "C[1] = E[0]", "'E' is no buffer here"),
        (
            "D[0] = A[i]\n",
            "if A[i] > 2: D[0] = A[i]\n",
            "not shown that each iteration of %i writes what it reads of %D",
        ),
    ],
)
def test_memory_of_branches_in_a_parallel_loop_carries_nothing(old: str, new: str, message: str) -> None:
    with pytest.raises(Diagnostic, match=message):
        from_source(IN_BRANCHES.replace(old, new), check_well_formed=True)


def test_two_buffers_of_a_block_have_two_names() -> None:
    text = OWN_MEMORY.replace("C = T.alloc", "B = T.alloc").replace("C[1]", "B[1]")
    with pytest.raises(Diagnostic, match="there is a buffer 'B' already"):
        from_source(text)


def test_a_reduction_of_one_step_reads_what_it_begins_with() -> None:
    func = from_source("""
@T.prim_func
def f(A: T.Buffer[(4,), "float32"], B: T.Buffer[(4,), "float32"]):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.S(4, i)
            T.reads(A[vi])
            T.writes(B[vi])
            with T.init():
                B[vi] = T.float32(1)
            B[vi] = B[vi] + A[vi]
""")
    x, y = np.arange(4, dtype=np.float32), np.empty(4, np.float32)
    weft.build(func, threads=1)(x, y)
    np.testing.assert_array_equal(y, x + 1)
