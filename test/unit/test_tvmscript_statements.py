"""Statements of TVMScript: loops, branches and names without blocks, lanes, calls, where reductions begin."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# pyright: reportArgumentType=false
# ruff: noqa: F821

import re

import numpy as np
import pytest

import weft
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.script import tir as T
from weft.tir import IRModule, Schedule, ScheduleError, assert_structural_equal, from_source, structural_equal


def test_statements_without_a_block_have_one_of_their_own_which_names_the_loops() -> None:
    func = from_source("""
@T.prim_func
def f(A: T.Buffer[(8,), "int32"], B: T.Buffer[(1,), "int32"], C: T.Buffer[(8,), "int32"]):
    B[0] = 0
    for i in range(2, 8):
        B[0] += A[i]
    for i in range(8):
        with T.block("last"):
            C[i] = A[i] * T.int32(2) + B[0]
""")
    assert isinstance(func, PrimFuncOp)
    given = np.arange(8, dtype=np.int32)
    first, second = Interpreter(func)([given])
    assert np.asarray(first) == [27] and (np.asarray(second) == given * 2 + 27).all()
    schedule = Schedule(func)
    (loop,) = schedule.get_loops(schedule.get_block("statement", number=1))
    with pytest.raises(ScheduleError, match="which is opaque: its steps cannot run at the same time"):
        schedule.parallel(loop)


def test_literals_of_any_width_that_meet_an_index_are_indices() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer[(64,), "int8"], B: T.Buffer[(16, 4), "int8"]):
    for i in range(T.int64(64)):
        with T.block("b"):
            v = T.axis.spatial(T.int64(64), i)
            B[v // T.int64(4), v % T.int64(4)] = A[v]
"""
    wide, plain = from_source(text), from_source(re.sub(r"T.int64\((\d+)\)", r"\1", text))
    assert isinstance(wide, PrimFuncOp) and isinstance(plain, PrimFuncOp)
    assert_structural_equal(wide, plain)


def test_blocks_in_an_outer_block_are_compared_by_what_they_do_for_the_loops() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer[(64,), "int8"], B: T.Buffer[(64,), "int8"]):
    for i in range(16):
        with T.block("outer"):
            vo = T.axis.spatial(16, i)
            for j in range(4):
                with T.block("b"):
                    vi = T.axis.spatial(4, j)
                    B[vo * 4 + vi] = A[vo * 4 + vi]
"""
    whole = text.replace("T.axis.spatial(4, j)", "T.axis.spatial(64, vo * 4 + j)").replace("vo * 4 + vi", "vi")
    other = text.replace("A[vo * 4 + vi]", "A[vo * 4 + 3 - vi]")
    one, two, three = (from_source(each) for each in (text, whole, other))
    assert structural_equal(one, two) and not structural_equal(one, three)


DEVICE = """
@T.prim_func
def f(A: T.Buffer[(16,), "float32"], B: T.Buffer[(16,), "float32"]):
    C = T.alloc_buffer((16,), "float32")
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = A[vi] * T.float32(2)
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            T.reads(C[0:16])
            T.writes(B[0:16])
            T.evaluate(C.access_ptr("r", extent=16))
            T.evaluate(T.tvm_load_matrix_sync(
                B.data, 16, vi // 4,
                T.tvm_access_ptr(T.type_annotation(dtype="float32"), C.data, vi * 4, 16, 1, dtype="handle"),
                dtype="handle"
            ))
            B[vi] = C[vi]
"""


def test_calls_for_devices_are_kept_and_not_built_for_others() -> None:
    func = from_source(DEVICE)
    assert isinstance(func, PrimFuncOp)
    again = from_source(func.script())
    assert isinstance(again, PrimFuncOp)
    assert_structural_equal(again, func)
    for old, new in (
        ("vi * 4, 16, 1", "vi * 4, 8, 1"),
        ("extent=16", "offset=16"),
        ("extent=16", "offset=1, extent=16"),
    ):
        assert not structural_equal(from_source(DEVICE.replace(old, new)), func)
    with pytest.raises(ScheduleError, match="call"):
        Schedule(func).compute_inline("C")
    with pytest.raises(Diagnostic, match="tvm_access_ptr"):
        Interpreter(func)([np.zeros(16, np.float32)])


@T.prim_func
def branching(A: T.Buffer[(16,), "float32"], B: T.Buffer[(16,), "float32"]):
    for i in T.serial(16):
        if i < 12:
            B[i] = A[i]
        else:
            x = A[i] * T.float32(2)
            B[i] = x
    T.evaluate(0)
    for i in T.serial(4):
        if i < 2:
            for j in T.serial(4):
                B[i * 4 + j] = B[i * 4 + j] + T.float32(1)
    while B[0] < T.float32(8):
        B[0] = B[0] + T.float32(3)
    with T.let(y, B[1] + T.float32(1)):
        B[2] = y
    assert B[3] > T.float32(0), "nothing was stored"
    z: T.float32 = B[4]
    B[5] = T.let(w, z * z, w + w)


def test_branches_loops_and_names_without_a_block_have_one_of_their_own() -> None:
    a = np.linspace(1, 2, 16, dtype=np.float32)
    expected = np.where(np.arange(16) < 12, a, a * 2).astype(np.float32)
    expected[:8] += 1
    while expected[0] < 8:
        expected[0] += 3
    expected[2] = expected[1] + 1
    expected[5] = 2 * expected[4] * expected[4]
    (got,) = Interpreter(branching)([a])
    np.testing.assert_allclose(np.asarray(got, np.float32), expected, rtol=1e-6)
    weft.build(branching)(a, out := np.zeros(16, np.float32))
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    again = from_source(IRModule([branching.clone()]).script())
    assert isinstance(again, IRModule)
    (got,) = Interpreter(again["branching"])([a])
    np.testing.assert_allclose(np.asarray(got, np.float32), expected, rtol=1e-6)


def test_a_dtype_is_a_number_where_python_computes() -> None:
    assert (T.int8(3) + T.uint16(4), T.float32(0.5) * 2, T.bool(True)) == (7, 1.0, True)


def test_a_function_takes_attributes_and_a_name() -> None:
    named = branching.with_attr("global_symbol", "other").with_attr({"layers": [1, "a"], "fast": True})
    assert (branching.sym_name.data, named.sym_name.data) == ("branching", "other") and not branching.attributes
    assert "'layers': [1, 'a']" in named.script().replace('"', "'")
    for key, value in (("global_symbol", 3), ("layers", object())):
        with pytest.raises(UsageError, match=key if key == "layers" else "is a text, not 3"):
            branching.with_attr(key, value)


def from_three(iterator: str, loop: str = "range(3, 8)") -> str:
    """A sum over a reduction whose domain begins at 3."""
    return f"""
@T.prim_func
def f(A: T.Buffer[(4, 8), "float32"], C: T.Buffer[(4,), "float32"]):
    for i in range(4):
        for k in {loop}:
            with T.block("c"):
                vi = T.axis.spatial(4, i)
                {iterator}
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + A[vi, vk]
"""


@pytest.mark.parametrize(
    ("iterator", "loop", "primitive"),
    [
        ("vk = T.axis.remap('R', [k])", "range(3, 8)", "decompose"),
        ("vk = T.axis.reduce((3, 8), k)", "range(3, 8)", "decompose"),
        ("vk = T.axis.reduce((3, 8), k + 3)", "range(5)", "split"),
        ("vk = T.axis.reduce((3, 8), k + 3)", "range(5)", "rfactor"),
    ],
)
def test_a_reduction_is_begun_at_the_first_value_of_its_domain(iterator: str, loop: str, primitive: str) -> None:
    func = from_source(from_three(iterator, loop))
    assert isinstance(func, PrimFuncOp)
    a = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
    expected = a[:, 3:].sum(1)
    np.testing.assert_allclose(Interpreter(func)([a])[0].astype(np.float32), expected, rtol=1e-5)
    schedule = Schedule(func)
    block = schedule.get_block("c")
    outer, inner = schedule.get_loops(block)
    if primitive == "decompose":
        schedule.decompose_reduction(block, outer)
    else:
        _, lane = schedule.split(inner, [None, 2 if primitive == "split" else 5])
        if primitive == "rfactor":
            schedule.rfactor(lane, 0)
    scheduled = schedule.mod.body.block.first_op
    assert isinstance(scheduled, PrimFuncOp)
    np.testing.assert_allclose(Interpreter(scheduled)([a])[0].astype(np.float32), expected, rtol=1e-5)


def test_a_reduction_whose_first_value_does_not_come_first_is_refused() -> None:
    with pytest.raises(Diagnostic, match="does not begin its reduction with the first step"):
        from_source(from_three("vk = T.axis.reduce((3, 8), 10 - k)"), check_well_formed=True)
    with pytest.raises(Diagnostic, match="does not begin its reduction with the first step"):
        from_source(from_three("vk = T.axis.reduce(8, k, partial=True)"), check_well_formed=True)


def test_what_an_outer_block_begins_with_is_done_at_the_first_value_of_its_domain_where_the_block_runs() -> None:
    func = from_source("""
@T.prim_func
def f(A: T.Buffer[(4, 8), "float32"], C: T.Buffer[(4,), "float32"]):
    for i in range(4):
        with T.block("fill"):
            vi = T.axis.spatial(4, i)
            C[vi] = T.float32(-1)
    for io, k in T.grid(2, 5):
        with T.block("outer"):
            vo = T.axis.spatial(2, io)
            vk = T.axis.reduce((3, 8), k + 3)
            T.where(io < 1)
            with T.init():
                for j in range(2):
                    with T.block("init"):
                        vj = T.axis.spatial(2, j)
                        C[vo * 2 + vj] = T.float32(0)
            for j in range(2):
                with T.block("add"):
                    vj = T.axis.spatial(2, j)
                    C[vo * 2 + vj] = C[vo * 2 + vj] + A[vo * 2 + vj, vk]
""")
    assert isinstance(func, PrimFuncOp)
    a = np.ones((4, 8), np.float32)
    assert Interpreter(func)([a])[0].tolist() == [5, 5, -1, -1]


LANES = """@T.prim_func
def f(A: T.Buffer[(16,), "float32"], B: T.Buffer[(16,), "float32"], C: T.Buffer[(4,), "int32"]):
    for i in range(4):
        B[T.ramp(i * 4, 1, 4)] = A[T.ramp(i * 4 + 3, -1, 4)] * T.broadcast(A[i], 4) + T.broadcast(T.float32(1), 4)
    with T.block("b"):
        x = T.cast(A[T.ramp(0, 2, 8)], "int32x8")
        C[T.Ramp(0, 1, 4)] = T.shuffle([x, T.Broadcast(7, 2)], [3, 8, 0, 1]) + T.int32x4(2)
    B[0:4] = B[T.ramp(3, -1, 4)]
    for i in T.parallel(2):
        B[i * 4 + 4 : i * 4 + 8] = B[i * 4 + 4 : i * 4 + 8] + T.broadcast(T.float32(1), 4)
        B[i + 14 : i + 15] = T.float32(0)
"""


def test_a_vector_is_its_lanes_each_computed_before_one_is_stored() -> None:
    func = from_source(LANES)
    a = np.random.default_rng(0).random(16, np.float32) * 9
    b, c = np.zeros(16, np.float32), np.zeros(4, np.int32)
    weft.build(func)(a, b, c)
    wanted = (a.reshape(4, 4)[:, ::-1] * a[:4, None] + 1).ravel()
    wanted[:4] = wanted[3::-1].copy()
    wanted[4:12] += 1
    wanted[14:] = 0
    np.testing.assert_allclose(b, wanted, rtol=1e-6)
    lanes = a[::2].astype(np.int32)
    assert c.tolist() == [lanes[3] + 2, 9, lanes[0] + 2, lanes[1] + 2]


def test_a_scalar_parameter_is_a_buffer_of_one_element_and_is_called_with_a_number() -> None:
    func = from_source("""@T.prim_func
def f(A: T.Buffer[(4,), "float32"], x: T.float32, b: T.bool, B: T.Buffer[(4,), "float32"]):
    for i in range(4):
        if b:
            B[i] = A[i] * x
""")
    assert isinstance(func, PrimFuncOp)
    assert 'x: T.Buffer[(), "float32"]' in func.script()
    run, a, b = weft.build(func), np.ones(4, np.float32), np.zeros(4, np.float32)
    run(a, 2.5, True, b)
    assert b.tolist() == [2.5] * 4
    run(a, np.float32(3), np.bool_(False), b)
    assert b.tolist() == [2.5] * 4
    for wrong in ((a, 2.5, 1, b), (a, "2", True, b)):
        with pytest.raises(weft.Diagnostic, match=r"is none|takes numbers of float32, and no str"):
            run(*wrong)


def test_a_function_may_take_numbers_only() -> None:
    text = """@T.prim_func
def f(n: T.int64, m: T.int64):
    T.evaluate(T.call_extern("abs", m - n, dtype="int32"))
"""
    assert structural_equal(from_source(from_source(text).script()), from_source(text))
    assert not structural_equal(from_source(text.replace("m - n", "n - m")), from_source(text))


def test_numbers_and_dtypes_of_python_stand_where_they_are_named() -> None:
    rows, columns, dtype = weft.tir.IntImm("int32", 3), np.int64(4), "int32"
    seven, half, high = weft.tir.IntImm("int32", 7), weft.tir.FloatImm("float16", 0.5), weft.tir.const(200, "uint8")

    @T.prim_func
    def named(A: T.Buffer[4, dtype], B: T.Buffer[(rows, columns), dtype], C: T.Buffer[4, "float16"]):
        for i in range(columns):
            A[i] = T.if_then_else(i < rows, seven, T.Cast(dtype, high))
            C[i] = half
        for i, j in T.grid(rows, columns):
            with T.block("b"):
                vi = T.axis.spatial(rows, i)
                vj = T.axis.spatial(columns, j)
                B[vi, vj] = rows + vj

    results = Interpreter(named)([])
    np.testing.assert_array_equal(results[0], [7, 7, 7, 200])
    np.testing.assert_array_equal(results[1], [np.arange(4) + 3] * 3)
    np.testing.assert_array_equal(results[2], [0.5] * 4)


def test_expressions_of_python_stand_where_they_are_named() -> None:
    """Their variables are sizes, behind all other parameters and in the order of their names; loops of the text keep
    variables of their own."""
    i, j, k = (weft.tir.Var(name, "int32") for name in "ijk")
    known, asked = weft.tir.all(k < j, weft.tir.IntImm("int32", 0) < i), [i - k * 2, i < j]

    @T.prim_func
    def captured(A: T.Buffer[(4,), "int32"], B: T.Buffer[(4,), "bool"]):
        for j in range(4):
            A[j] = asked[0] + j
            if known:
                B[j] = asked[1]

    @T.prim_func
    def written(A: T.Buffer[(4,), "int32"], B: T.Buffer[(4,), "bool"], i: T.int32, j: T.int32, k: T.int32):
        for l in range(4):  # noqa: E741
            A[l] = i - k * 2 + l
            if k < j and 0 < i:
                B[l] = i < j

    assert_structural_equal(captured, written)
    results = Interpreter(captured)([], sizes={"i": 7, "j": 9, "k": 2})
    np.testing.assert_array_equal(results[0], np.arange(4) + 3)
    np.testing.assert_array_equal(results[1], [True] * 4)


def test_what_no_size_gives_a_value_is_refused_where_it_is_named() -> None:
    scale = weft.tir.Var("scale", "float32")
    with pytest.raises(Diagnostic, match=r"(?s)test_tvmscript_statements.py:\d+:20: error: .*'scale' is float32"):

        @T.prim_func
        def scaled(A: T.Buffer[(4,), "float32"]):
            A[0] = scale * A[0]


def test_loops_and_memory_are_read_in_either_of_tvms_ways() -> None:
    text = """
def f(c: T.handle, n: T.int32, m: T.int32):
    C = T.match_buffer(c, (n, m), "float32")
    for i in T.serial(n, annotations={"pragma_note": 1}):
        B = T.alloc_buffer((m,), "float32")
        for j in T.serial(m):
            B[j] = T.float32(1)
        for j in T.serial(m):
            C[i, j] = B[j] * T.float32(2)
"""
    other = text.replace("alloc_buffer", "decl_buffer").replace("T.serial(n,", "range(n,")
    assert_structural_equal(from_source(other), from_source(text))
    assert "pragma_note" in from_source(other).script()
    bound = """
def f(C: T.Buffer[(8,), "float32"]):
    for i in T.thread_binding(0, 8, thread="threadIdx.x"):
        C[i] = T.float32(1)
"""
    assert_structural_equal(from_source(bound.replace('0, 8, thread="', '8, "')), from_source(bound))


def test_a_branch_around_loops_has_two_sides() -> None:
    @T.prim_func
    def sides(A: T.Buffer[(6, 4), "int32"]):
        for i in range(6):
            if 1 < i and i * 2 < T.Cast("int32", i) + 4:
                for j in T.parallel(4):
                    A[i, j] = 1
            else:
                for j in T.parallel(2):
                    A[i, j * 2] = 2
                    A[i, j * 2 + 1] = 3

    given = np.zeros((6, 4), np.int32)
    weft.build(sides)(given)
    assert given.tolist() == [[1] * 4 if 1 < i < 4 else [2, 3, 2, 3] for i in range(6)]


def test_branches_around_loops_may_say_what_is_not_equal() -> None:
    text = """
def f(A: T.Buffer[(6, 4), "float32"], n: T.int32):
    for i in range(6):
        if i != 3:
            for j in range(4):
                A[i, j] = A[i, j] + T.float32(1)
"""
    array = np.zeros((6, 4), np.float32)
    weft.build(from_source(text.replace(", n: T.int32", "")))(array)
    np.testing.assert_array_equal(
        array, np.array([1, 1, 1, 0, 1, 1], np.float32)[:, None] * np.ones((1, 4), np.float32)
    )
    with pytest.raises(Diagnostic, match="compares loop variables by <, <=, ==, !=, > and >="):
        from_source(text.replace("i != 3", "i != n").replace("range(4)", "T.parallel(4)"))


@T.prim_func
def loops_in_branches(A: T.Buffer[(4, 8), "float32"], B: T.Buffer[(4, 8), "float32"]):
    for i in range(4):
        if i % 2 == 0:
            for j in range(8):
                B[i, j] = A[i, j]
        else:
            x: T.float32 = A[i, 0]
            for j in range(1, 8):
                B[i, j] = x
            B[i, 0] = T.float32(3)


@T.prim_func
def loops_after_a_name(A: T.Buffer[(4, 8), "float32"], B: T.Buffer[(4, 8), "float32"]):
    for i in range(4):
        x: T.float32 = A[i, 0] + T.float32(1)
        for j, k in T.grid(2, 4):
            B[i, j * 4 + k] = x
        with T.let(y, A[i, 1]):
            for j in range(2):
                B[i, j] = y


def test_branches_and_names_that_no_predicate_says_may_hold_loops_that_count() -> None:
    a = np.arange(32, dtype=np.float32).reshape(4, 8)
    branched = np.where(
        np.arange(4)[:, None] % 2 == 0, a, np.concatenate([np.full((4, 1), 3.0), a[:, :1] * np.ones(7)], 1)
    )
    named = np.repeat(a[:, :1] + 1, 8, 1)
    named[:, :2] = a[:, 1:2]
    for func, expected in ((loops_in_branches, branched), (loops_after_a_name, named)):
        weft.build(func)(a, b := np.zeros((4, 8), np.float32))
        assert (b == expected).all()
        assert (np.asarray(Interpreter(func)([a])[0]) == expected).all()
        assert_structural_equal(from_source(func.script()), func)
    assert_structural_equal(loops_in_branches.with_body(loops_in_branches.body), loops_in_branches)


def test_a_block_without_a_name_is_the_root_only_where_it_is_all_of_a_function() -> None:
    @T.prim_func
    def alone(A: T.Buffer[(4,), "float32"]):
        with T.block():
            for i in range(4):
                A[i] = T.float32(1)

    @T.prim_func
    def beside(A: T.Buffer[(4,), "float32"], B: T.Buffer[(4,), "float32"]):
        with T.block():
            C = T.decl_buffer((4,), "float32")
            for i in range(4):
                C[i] = A[i]
            for i in range(4):
                B[i] = C[i] + T.float32(1)
        B[0] = T.float32(0)

    assert [op.name for op in alone.region.block.ops] == ["tir.for"]
    assert [op.name for op in beside.region.block.ops] == ["tir.outer_block", "tir.block"]
    weft.build(beside)(a := np.arange(4, dtype=np.float32), b := np.zeros(4, np.float32))
    assert (b == np.where(np.arange(4) == 0, 0, a + 1)).all()


def test_a_loop_begins_at_a_size() -> None:
    func = from_source("""
@T.prim_func
def f(a: T.handle, b: T.handle, n: T.int32) -> None:
    A = T.match_buffer(a, (n * 2 + 4,), "float32")
    B = T.match_buffer(b, (n * 2 + 4,), "float32")
    for i in range(n):
        B[i] = 0.0
    for i in range(n, n + 2):
        for j in range(1):
            B[i] = A[i + 1 + j]
    for i in T.parallel(n + 2, n * 2 + 4):
        with T.block("twice"):
            vi = T.axis.spatial(n * 2 + 4, i, partial=True)
            B[vi] = A[vi] * 2.0
""")
    assert isinstance(func, PrimFuncOp)
    assert_structural_equal(from_source(func.script()), func)
    x, y = np.arange(14, dtype=np.float32), np.zeros(14, np.float32)
    weft.build(func, threads=2)(x, y)
    np.testing.assert_array_equal(y, [0] * 5 + [6, 7] + [2 * i for i in range(7, 14)])


def test_a_call_whose_result_nothing_needs_is_equal_to_one_without() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer[(4,), "float32"]):
    T.evaluate(T.call_packed("f", A.access_ptr("rw"), dtype="int32"))
    T.evaluate(T.call_extern("int32", "g", A.access_ptr("r")))
"""
    without = text.replace(', dtype="int32"', "").replace('"int32", "g"', '"", "g"')
    assert_structural_equal(from_source(text), from_source(without))
