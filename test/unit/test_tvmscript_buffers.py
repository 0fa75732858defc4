"""Buffers of TVMScript: parts, other names and shapes, layouts, pointers."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# pyright: reportArgumentType=false
# ruff: noqa: F821

import re

import numpy as np
import pytest

import weft
from weft import tir
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.core import AllocBufferOp, PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.script import tir as T
from weft.tir import assert_structural_equal, from_source, structural_equal

PART = """
@T.prim_func
def f(A: T.Buffer[(16, 4), "float32"], C: T.Buffer[(16, 4), "float32"]):
    for i, j in T.grid(4, 4):
        with T.block("outer"):
            vi, vj = T.axis.remap("SS", [i, j])
            P = T.match_buffer(A[vi * 4 : vi * 4 + 4, vj], (4, 1), offset_factor=1)
            Q = T.match_buffer(P[1:3, 0], (2, 1))
            for k in range(4):
                with T.block("inner"):
                    vi = T.axis.spatial(4, k)
                    E = T.match_buffer(C[i * 4 + vi, vj], [])
                    E[()] = P[vi, 0] + Q[vi // 2, 0]
"""


def test_a_part_of_a_buffer_stands_for_its_elements() -> None:
    func = from_source(PART)
    assert isinstance(func, PrimFuncOp)
    given = np.random.default_rng(0).standard_normal((16, 4)).astype(np.float32)
    (result,) = Interpreter(func)([given])
    parts = given.reshape(4, 4, 4)
    assert (np.asarray(result).reshape(4, 4, 4) == parts + parts[:, [1, 1, 2, 2]]).all()
    again = from_source(func.script())
    assert isinstance(again, PrimFuncOp)
    assert_structural_equal(again, func)


AROUND = """
@T.prim_func
def f(A: T.Buffer[(16, 16), "float32"], C: T.Buffer[(16, 4), "float32"]):
    for i in range(4):
        for y in range(4):
            with T.block("outer"):
                vy = T.axis.spatial(4, y)
                for x in range(4):
                    with T.block("inner"):
                        vx = T.axis.spatial(4, x)
                        P = T.match_buffer(A[i * 4 + vx, vy * 3 + vx : vy * 3 + vx + 2], (2,), offset_factor=1)
                        C[i * 4 + vx, vy] = P[0] + P[1]
"""


def test_a_part_begins_where_loops_and_outer_blocks_say() -> None:
    func = from_source(AROUND)
    assert isinstance(func, PrimFuncOp)
    given = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32)
    (result,) = Interpreter(func)([given])
    rows, columns = np.arange(16)[:, None], np.arange(4)[None] * 3 + np.arange(16)[:, None] % 4
    assert (np.asarray(result).reshape(16, 4) == given[rows, columns] + given[rows, columns + 1]).all()


def test_a_part_that_begins_by_loops_alone_is_handed_to_a_call() -> None:
    func = from_source("""
@T.prim_func
def f(A: T.Buffer[(8, 16), "float32"]):
    for i, j in T.grid(2, 4):
        with T.block("tile"):
            T.reads()
            T.writes(A[i * 4 : i * 4 + 4, j * 4 : j * 4 + 4])
            P = T.match_buffer(A[i * 4 : i * 4 + 4, j * 4 : j * 4 + 4], (4, 4), strides=[16, 1], offset_factor=1)
            T.evaluate(T.call_extern("int32", "fill", P.data, P.elem_offset, P.strides[0], P.shape[0], P.shape[-1]))
""")
    assert isinstance(func, PrimFuncOp)
    assert 'T.cast(i_1 * 64 + j_1 * 4, "index"), 16, 4, 4))' in func.script()


def test_a_part_has_as_many_extents_as_dimensions() -> None:
    with pytest.raises(Diagnostic, match="an extent is of one of 2 dimensions"):
        from_source(PART.replace("P[vi, 0] +", "P.shape[2] +"))


@pytest.mark.parametrize(
    "part, message",
    [
        ("A[vi * 4 : vi * 4 + 4, vj], (5, 1)", "the part has 4 elements along a dimension, and its shape says 5"),
        ("A[vi * 4 : vi * 4 + 4, vj], (4, 4)", "the part has 1 elements along a dimension, and its shape says 4"),
        ("A[vi * 4 : vi * 4 + 4, vj], (1,)", "leaves out dimensions"),
        ("A[vi * 4 : vi * 4 + 4, vj], (4, 1), dtype='int8'", "has elements of f32, not i8"),
        ("A[vi], (4, 1)", "1 indices for a buffer of 2 dimensions"),
        ("vi, (4, 1)", "names a part of a buffer"),
    ],
)
def test_what_is_no_part_of_a_buffer_is_refused(part: str, message: str) -> None:
    text = PART.replace("A[vi * 4 : vi * 4 + 4, vj], (4, 1), offset_factor=1", part)
    with pytest.raises(Diagnostic, match=re.escape(message)):
        from_source(text)


VIEWS = """@T.prim_func
def f(A: T.Buffer[(16, 16), "float32"], B: T.Buffer[(16, 16), "float32"]):
    A_flat = T.decl_buffer(data=A.data, shape=(256,), dtype="float32")
    B_flat = T.Buffer((256,), "float32", data=B.data)
    same = T.Buffer((256,), "float32", data=B_flat.data)
    P = T.allocate([256], "float32", "global")
    C = T.decl_buffer((64, 4), "float32", data=P)
    own = T.alloc_buffer((3, 2), "float32", strides=[5, 2])
    with T.allocate([4], "float32") as Q:
        with T.decl_buffer([2, 2], "float32", data=Q) as q:
            for i in range(4):
                q[i // 2, i % 2] = 2.0
    for i, j in T.grid(64, 4):
        C[i, j] = A_flat[i * 4 + j] * T.float32(2)
    D = T.decl_buffer((16,), "float32", data=P, strides=[16], elem_offset=3)
    for i in range(256):
        with T.block("b"):
            v = T.axis.spatial(256, i)
            T.writes(B_flat[v])
            same[v] = C[v // 4, v % 4]
    for i in range(16):
        B[i, 0] = D[i]
    for i, j in T.grid(3, 2):
        own[i, j] = 7.0
    B[0, 15] = own[2, 1]
"""


def test_memory_has_other_names_and_shapes() -> None:
    func = from_source(VIEWS)
    assert isinstance(func, PrimFuncOp)
    assert "own = T.alloc_buffer((13,)" in func.script()
    dense = from_source(VIEWS.replace("strides=[5, 2]", "strides=[1]"))  # as TVM prints rows that follow one another
    assert isinstance(dense, PrimFuncOp) and "own = T.alloc_buffer((3, 2)" in dense.script()
    a = np.random.default_rng(0).standard_normal((16, 16), np.float32)
    b, wanted = np.zeros((16, 16), np.float32), 2 * a
    wanted[:, 0], wanted[0, 15] = wanted.ravel()[3::16], 7
    weft.build(func)(a, b)
    np.testing.assert_array_equal(b, wanted)
    assert_structural_equal(from_source(func.script()), func)


def test_parts_of_buffers_have_names_among_loops_and_quotients_are_rounded_up() -> None:
    func = from_source("""@T.prim_func
def f(A: T.Buffer[(16, 16), "int32"], c: T.Buffer[(4,), "uint8"], flag: T.bool):
    T.func_attr({"kTarget": T.target("llvm")})
    T.evaluate(flag)
    T.pow(T.float32(1), T.float32(2))
    for i in range(4):
        with T.block():
            T.writes(A[i * 4 : i * 4 + 4, 0:16])
            P = T.match_buffer(A[i * 4 : i * 4 + 4, 0:16], (4, 16))
            for ii, j in T.grid(4, 16):
                with T.block("x"):
                    i, k = T.axis.remap("SS", [ii, j])
                    x = T.meta_var(T.int32(3))
                    P[i, k] = T.ceildiv(T.cast(k - 5, "int32"), x)
    for i in range(4):
        c[i] = T.ceildiv(c[i], T.uint8(3))
""")
    assert isinstance(func, PrimFuncOp)
    assert structural_equal(from_source(func.script()), func)
    a, c = np.zeros((16, 16), np.int32), np.array([0, 1, 3, 254], np.uint8).view(np.int8)
    weft.build(func.clone())(a, c, True)
    assert (a == [-((5 - k) // 3) for k in range(16)]).all() and c.tolist() == [0, 1, 1, 85]


@pytest.mark.parametrize(
    "layout",
    ["strides=[3, 1]", "offset_factor=16", "strides=[s, 1]", "strides=[s, t], elem_offset=o", "elem_offset=o"],
)
def test_names_of_a_layout_are_those_of_a_dense_buffer(layout: str) -> None:
    text = f"""
@T.prim_func
def f(a: T.handle, B: T.Buffer[(4, 3), "int32"]):
    A = T.match_buffer(a, (4, 3), "int32", {layout})
    for i, j in T.grid(4, 3):
        B[i, j] = A[i, j] + 1
"""
    used = [name for name in "sto" if re.search(rf"\b{name}\b", layout)]
    function = from_source(text.replace("    A =", "".join(f"    {n} = T.var('int32')\n" for n in used) + "    A ="))
    assert isinstance(function, PrimFuncOp) and not function.symbols
    a = np.arange(12, dtype=np.int32).reshape(4, 3)
    np.testing.assert_array_equal(Interpreter(function)([a])[0], a + 1)


def test_a_stride_is_the_number_that_a_dense_buffer_has() -> None:
    text = """
@T.prim_func
def f(a: T.handle, B: T.Buffer[(1,), "int32"]):
    s = T.var("int32")
    A = T.match_buffer(a, (4, 3), "int32", strides=[s, 1])
    with T.block("b"):
        B[0] = A[0, 0] + s
"""
    function = from_source(text)
    assert isinstance(function, PrimFuncOp)
    (b,) = Interpreter(function)([np.full((4, 3), 5, np.int32)])
    assert b == [8]
    with pytest.raises(Diagnostic, match="a buffer is dense"):
        from_source(text.replace("strides=[s, 1]", "strides=[s, 2]"))


def test_a_part_is_given_as_the_memory_of_its_buffer_and_where_it_begins_there() -> None:
    @T.prim_func
    def touched(A: T.Buffer[(16, 16), "float32"]):
        for i in range(4):
            with T.block("touched"):
                vi = T.axis.spatial(4, i)
                P = T.match_buffer(A[vi * 4 : vi * 4 + 4, 8:16], (4, 8))
                T.evaluate(T.call_extern("int32", "f", P.data, P.elem_offset))

    assert 'A.access_ptr("rw"), T.cast(vi * 64 + 8, "index")' in touched.script()


def test_a_buffer_in_an_attribute_is_its_name() -> None:
    @T.prim_func
    def said(a: T.handle, B: T.Buffer[(4,), "float32"]):
        size = 4
        A = T.match_buffer(a, (size,), "float32")
        C = T.alloc_buffer((size,), "float32")
        for i in range(4):
            with T.block("first"):
                T.block_attr({"layout_free_placeholders": [A, C]})
                vi = T.axis.spatial(4, i)
                C[vi] = A[vi]
        for i in range(4):
            B[i] = C[i]

    assert "T.block_attr({'layout_free_placeholders': ['A', 'C']})" in said.script()
    assert_structural_equal(from_source(said.script()), said)


def test_pointers_lead_to_as_many_elements_as_a_declaration_says() -> None:
    @T.prim_func
    def f(A: T.Ptr("float32"), B: T.Ptr[T.float32]):
        for i in range(4):
            A_1 = T.Buffer((4,), data=A)
            B_1 = T.decl_buffer((2, 2), "float32", data=B)
            B_1[i // 2, i % 2] = A_1[i] * 2.0

    x, y = np.arange(4, dtype=np.float32), np.empty((2, 2), np.float32)
    weft.build(f)(x, y)
    np.testing.assert_array_equal(y, [[0, 2], [4, 6]])
    assert_structural_equal(from_source(f.script()), f)


@pytest.mark.parametrize(
    ("parameter", "declared", "message"),
    [
        ('T.Ptr("float32")', 'T.Buffer((4,), "int32", data=A)', "'A' leads to elements of float32, and here to i32"),
        ("T.Ptr[T.uint8]", 'T.Buffer((4,), "int8", data=A)', "'A' leads to elements of uint8"),
        ('T.Ptr("int32")', 'T.alloc_buffer((4,), "int32")', "nothing says how many elements 'A' leads to"),
        ('T.Ptr("int32")', 'T.Buffer((2,), "int32", data=A, strides=[2])', "'A' is first used as a dense buffer"),
    ],
)
def test_pointers_whose_memory_is_not_told_are_refused(parameter: str, declared: str, message: str) -> None:
    with pytest.raises(Diagnostic, match=message):
        from_source(f"@T.prim_func\ndef f(A: {parameter}):\n    B = {declared}\n    B[0] = 1\n")


def extents_of(extent: str) -> PrimFuncOp:
    text = f"""
@T.prim_func
def f(A: T.Buffer[(16,), "float32"], n: T.int32):
    for i in range(n):
        with T.block("outer"):
            B = T.alloc_buffer(({extent},), "float32")
            with T.block("inner"):
                B[0] = A[0]
"""
    func = from_source(text)
    assert isinstance(func, PrimFuncOp)
    return func


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("T.min(n, 1) * 8", "8"),
        ("T.min(4, n + 3)", "4"),
        ("T.max(n + 1, 2)", "n + 1"),
        ("T.max(n, T.min(n + 2, n + 1))", "n + 1"),
    ],
)
def test_the_lesser_of_two_extents_of_a_buffer_is_known_if_it_is_for_all_sizes(written: str, known: str) -> None:
    assert_structural_equal(extents_of(written), extents_of(known))


def test_an_extent_that_is_one_or_the_other_is_refused() -> None:
    with pytest.raises(Diagnostic, match=r"which extent is T\.min differs from size to size"):
        extents_of("T.min(n, 4)")
    with pytest.raises(Diagnostic, match="bound to loop variables"):  # a loop of none is no loop of one
        from_source(
            "@T.prim_func\ndef f(A: T.Buffer[(16,), 'float32'], n: T.int32):\n"
            "    for i in range(T.min(n, 1)):\n        A[0] = 1.0\n"
        )


def test_memory_that_nothing_gives_is_a_parameter_after_the_other_buffers() -> None:
    @T.prim_func
    def scaled(a: T.handle, n: T.int64):
        A = T.match_buffer(a, (n, 4), "float32")
        B = T.Buffer((n, 4), "float32")
        for i, j in T.grid(n, 4):
            B[i, j] = A[i, j] * 2.0

    assert [each.name for each in scaled.buffer_map.values()] == ["A", "B"]
    given = np.arange(16, dtype=np.float32).reshape(4, 4)
    weft.build(scaled)(given[:3].copy(), made := np.zeros((3, 4), np.float32), 3)
    assert (made == given[:3] * 2).all()


def test_dimensions_of_memory_are_said_by_either_of_tvms_declarations() -> None:
    @T.prim_func
    def together(C: T.Buffer((6, 20), "int32")):
        A = T.decl_buffer([2, 3, 4, 5], "int32", axis_separators=[2])
        for i, j, k, m in T.grid(2, 3, 4, 5):
            A[i, j, k, m] = i * 60 + j * 20 + k * 5 + m
        for i, j, k, m in T.grid(2, 3, 4, 5):
            C[i * 3 + j, k * 5 + m] = A[i, j, k, m]

    @T.prim_func
    def named(C: T.Buffer((6, 20), "int32")):
        memory = T.allocate([6, 20], "int32", "global")
        A = T.Buffer([6, 20], "int32", data=memory, axis_separators=[1])
        for i, j, k, m in T.grid(2, 3, 4, 5):
            A[i * 3 + j, k * 5 + m] = i * 60 + j * 20 + k * 5 + m
        for i, j, k, m in T.grid(2, 3, 4, 5):
            C[i * 3 + j, k * 5 + m] = A[i * 3 + j, k * 5 + m]

    flat = tir.transform.FlattenBuffer()(tir.IRModule.of(together))["together"]
    assert_structural_equal(flat, named)
    allocated = next(op for op in flat.walk() if isinstance(op, AllocBufferOp))
    assert list(allocated.axis_separators) == [1]


def test_arguments_say_the_dimensions_of_their_memory() -> None:
    @T.prim_func
    def twice(A: T.Buffer((6, 20), "int32", axis_separators=[1]), c: T.handle, n: T.int32):
        C = T.match_buffer(c, (n, 20), "int32", axis_separators=(1,))
        for i, j in T.grid(6, 20):
            A[i, j] = 2 * i + j
        for i in range(n):
            C[i, 0] = i

    assert [buffer.axis_separators for buffer in twice.buffer_map.values()] == [(1,), (1,)]
    assert_structural_equal(from_source(twice.script()), twice)
    known = twice.specialize({twice.params[-1]: 4})
    assert [buffer.axis_separators for buffer in known.buffer_map.values()] == [(1,), (1,)]
    text = '@T.prim_func\ndef f(A: T.Buffer((4,), "int32", axis_separators=[1])):\n    pass'
    with pytest.raises(Diagnostic, match=r"axis_separators = \[1\] are no dimensions of the buffer"):
        from_source(text)
