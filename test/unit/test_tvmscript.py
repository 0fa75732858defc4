"""TVMScript: functions are read from Python's text, and what is printed parses back to the same function."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from operator_kernels import COMPILED, as_kernel
from te_samples import batch_matmul, blocked_conv, conv, dense, gather, layer_norm, pool, softmax
from tir_run import Stage, prim_func
from xdsl.dialects.builtin import ModuleOp, StringAttr

import weft
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.dialects.tir.specialize import specialize
from weft.lowering.relay_to_tir.lower_te import LowerTEPass
from weft.script import ir_module
from weft.script import tir as T
from weft.tir import IRModule, Schedule, ScheduleError, assert_structural_equal, from_source, structural_equal
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.tir.schedule_rules import ScheduleRulesPass

N = 8


@T.prim_func
def matmul(A: T.Buffer[(N, N), "float32"], B: T.Buffer((8, 8), "float32"), c: T.handle) -> None:
    """A matrix product."""
    T.func_attr({"global_symbol": "matmul", "tir.noalias": True})
    C = T.match_buffer(c, [N, N], dtype="float32", align=64, offset_factor=1)
    for i, j, k in T.grid(N, N, N):
        with T.block("update"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


def test_a_function_computes_what_its_text_says() -> None:
    a, b = np.random.default_rng(0).standard_normal((2, N, N)).astype(np.float32)
    c = Interpreter(matmul)([a, b])[0].astype(np.float32)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5, atol=1e-5)
    assert matmul.sym_name == StringAttr("matmul") and not matmul.attributes


MATMUL = """
from weft.script import tir as T


@T.prim_func
def matmul(A: T.Buffer[(8, 8), "float32"], B: T.Buffer[(8, 8), "float32"], C: T.Buffer[(8, 8), "float32"]):
    for i, j, k in T.grid(8, 8, 8):
        with T.block("update"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(A[vi, vk], B[vk, vj])
            T.writes(C[vi, vj])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def test_a_function_is_printed_as_tvmscript(capsys: pytest.CaptureFixture[str]) -> None:
    assert matmul.script() == MATMUL.lstrip()
    matmul.show()
    assert capsys.readouterr().out == MATMUL.lstrip() + "\n"


@ir_module
class Several:
    @T.prim_func
    def first(A: T.Buffer[(4,), "int32"], B: T.Buffer[(4,), "int32"]):
        for i in T.parallel(4):
            with T.block("first"):
                vi = T.axis.S(4, i)
                B[vi] = A[3 - vi] // 2

    @T.prim_func
    def second(A: T.Buffer[(4,), "bool"], B: T.Buffer[(4,), "bool"]):
        for i in T.serial(4, annotations={"pragma_unroll": 2}):
            with T.block("second"):
                vi = T.axis.S(4, i)
                B[vi] = not A[vi]


def test_a_module_is_a_class_and_prints_as_one() -> None:
    assert [op.sym_name.data for op in Several.ops if isinstance(op, PrimFuncOp)] == ["first", "second"]
    again = from_source(Several.script())
    assert isinstance(again, IRModule)
    assert_structural_equal(again, Several)
    assert_structural_equal(Several["second"], again["second"])
    with pytest.raises(KeyError):
        Several["third"]


def test_what_is_no_function_stands_in_no_module() -> None:
    with pytest.raises(Diagnostic, match="a module holds functions only, and 'x' is none"):

        @ir_module
        class _:
            x = 3


def test_a_schedule_shows_its_module() -> None:
    schedule = Schedule(matmul)
    i, j, _ = schedule.get_loops(schedule.get_block("update"))
    schedule.split(j, [None, 3])
    schedule.parallel(i)
    text = schedule.mod.script()
    assert "for i in T.parallel(8):" in text and "T.where(j * 3 + j_1 < 8)" in text
    assert_structural_equal(from_source(text), schedule.mod)


@T.prim_func
def everything(
    A: T.Buffer[(16, 8), "float32"],
    idx: T.Buffer[(16,), "int64"],
    out: T.Buffer[(), "float32"],
    D: T.Buffer[(16, 8), "float16"],
):
    T.func_attr({"words": [1, 2.5, "x", True, None], "type": T.attribute("dense<1> : tensor<2xi8>")})
    tile = N // 2
    cache = T.alloc_buffer((16, 8), "float32")
    count = T.alloc_buffer([1], "int32", scope="local")
    for i_0 in T.thread_binding(4, thread="blockIdx.x"):
        for i_1 in T.unroll(tile):
            for j in T.vectorized(2, 8):
                with T.block("cached"):
                    vi = T.axis.spatial(16, i_0 * 4 + i_1)
                    vj = T.axis.spatial((0, 8), j, partial=True)
                    T.where(i_0 * 4 + i_1 < 15 and 0 <= i_1)
                    T.block_attr({"word": {"inner": [1]}})
                    x: T.float32 = T.max(A[vi, vj], 0)
                    y = T.exp(x) * x
                    if vj % 3 == 1 or not (vi > 2):
                        cache[vi, vj] = y + T.cast(vi * 4 + vj, "float32")
                    elif idx[vi] != 0:
                        cache[vi, vj] = T.if_then_else(idx[vi] < 8, A[idx[vi], vj], T.float32("-inf"))
                    else:
                        cache[vi, vj] = T.Select(T.isnan(x), -x, T.sqrt(T.abs(y)) / 3.0)
                with T.block("half"):
                    vi = T.axis.spatial(16, i_0 * 4 + i_1)
                    vj = T.axis.spatial(8, j, partial=True)
                    T.reads(cache[vi, vj], D[vi, vj])
                    D[vi, vj] = cache[vi, vj]
                    D[vi, vj] += T.float16(0.1)
    with T.block("scalar"):
        count[0] = T.bitwise_and(T.cast(idx[3], "int32") << 2, 255) | T.truncmod(T.int32(7), 4)
        old = count[0]
        count[0] = old + 1
        out[()] = T.float32(1.5) if count[0] > old else T.arith.addf(A[0, 0], 2.0, fastmath="none")


EVERYTHING = """
@T.prim_func
def everything(
    A: T.Buffer[(16, 8), "float32"],
    idx: T.Buffer[(16,), "int64"],
    out: T.Buffer[(), "float32"],
    D: T.Buffer[(16, 8), "float16"],
):
    T.func_attr({'words': [1, 2.5, 'x', True, None], 'type': T.attribute('dense<1> : tensor<2xi8>')})
    cache = T.alloc_buffer((16, 8), "float32")
    count = T.alloc_buffer((1,), "int32", scope="local")
"""


def test_every_statement_survives_printing() -> None:
    text = everything.script()
    assert EVERYTHING.strip() in text
    again = from_source(text)
    assert_structural_equal(again, everything)
    assert again.script() == text


STAGES: dict[str, Stage] = {
    "dense": dense(8, 16, 12),
    "batch_matmul": batch_matmul(2, 3, 4, 6),
    "softmax": softmax(4, 6),
    "layer_norm": layer_norm(3, 8),
    "conv": conv(1, 2, 6, 6, 8, 3, pad=1),
    "blocked_conv": blocked_conv(1, 2, 2, 6, 6, 3, 8),
    "pool": pool(8, 6, 6, 3, 8, 1, average=True),
    "gather": gather(4, 3, 2),
}


@pytest.mark.parametrize("name", STAGES)
def test_unscheduled_and_scheduled_functions_survive_printing(name: str) -> None:
    module = ModuleOp([prim_func(STAGES[name])])
    for scheduled in (False, True):
        if scheduled:
            ScheduleRulesPass().apply(new_ir_context(), module)
        for func in list(module.ops):
            assert isinstance(func, PrimFuncOp)
            again = from_source(func.script())
            assert isinstance(again, PrimFuncOp)
            assert_structural_equal(again, func)
            assert from_source(again.script()).script() == again.script()


@pytest.mark.parametrize("first", range(4))
def test_the_kernels_of_operators_survive_printing(first: int) -> None:
    """Of every sixteenth operator, four times."""
    differing: list[str] = []
    for example in COMPILED[first::16]:
        module = as_kernel(example.op)
        LowerTEPass().apply(new_ir_context(), module)
        for func in module.ops:
            if isinstance(func, PrimFuncOp) and not structural_equal(from_source(func.script()), func):
                differing.append(str(example))
    assert len(COMPILED) > 150 and not differing


def test_what_is_read_back_computes_the_same() -> None:
    func = prim_func(STAGES["softmax"])
    x = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    again = from_source(func.script())
    assert isinstance(again, PrimFuncOp)
    np.testing.assert_array_equal(Interpreter(again)([x])[0], Interpreter(func)([x])[0])


@T.prim_func
def symbolic(x: T.handle, y: T.handle, n: T.int32):
    m = T.var("int32")
    X = T.match_buffer(x, (n, m * 2), "float32")
    Y = T.match_buffer(y, (n, m * 2))
    Z = T.alloc_buffer((n, m * 2))
    for i, j in T.grid(n, m * 2):
        with T.block("z"):
            vi, vj = T.axis.remap("SS", [i, j])
            Z[vi, vj] = X[vi, m * 2 - 1 - vj] + T.cast(n - vi, "float32")
    for i, j in T.grid((n + 3) // 4, 4):
        for k in range(m * 2):
            with T.block("y"):
                vi = T.axis.spatial(n, i * 4 + j)
                vk = T.axis.spatial((0, m * 2), k)
                T.where(i * 4 + j < n)
                Y[vi, vk] = Z[vi, vk] * 2.0


def test_extents_may_be_sizes_that_are_known_when_the_function_is_called() -> None:
    text = symbolic.script()
    assert "def symbolic(X_handle: T.handle, Y_handle: T.handle, n: T.int64, m: T.int64):" in text
    assert 'X = T.match_buffer(X_handle, (n, m * 2), "float32")' in text
    assert "for i, j, k in T.grid((n + 3) // 4, 4, m * 2):" in text
    again = from_source(text)
    assert_structural_equal(again, symbolic)
    assert again.script() == text
    assert not structural_equal(symbolic, from_source(text.replace("m * 2", "m * 3")))
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    given = Interpreter(specialize(symbolic, {2: 3, 3: 2}))([x])[0]
    np.testing.assert_array_equal(given, (x[:, ::-1] + np.array([[3], [2], [1]])) * 2)


def test_an_index_is_checked_against_a_size() -> None:
    buffers = 'idx: T.Buffer[(16,), "int64"], y: T.handle, n: T.int32'
    text = body("B[vi] = T.check(idx[vi], idx[vi], n, 'outside: {index} of {extent}')", buffers=buffers)
    text = text.replace("    for i", '    B = T.match_buffer(y, (16,), "int64")\n    for i', 1)
    func = from_source(text)
    assert "T.index = T.check(idx[vi], idx[vi], n, 'outside: {index} of {extent}')" in func.script()
    assert_structural_equal(from_source(func.script()), func)


def test_what_a_schedule_makes_of_sizes_survives_printing() -> None:
    schedule = Schedule(symbolic)
    rows, _ = schedule.get_loops(schedule.get_block("z"))
    schedule.split(rows, [None, 16])
    text = schedule.mod.script()
    assert "T.where(i * 16 + i_1 < n)" in text
    assert_structural_equal(from_source(text), schedule.mod)


def body(*lines: str, buffers: str = 'A: T.Buffer[(16,), "float32"], B: T.Buffer[(16,), "float32"]') -> str:
    """A function with one block over 16 elements."""
    header = ["@T.prim_func", f"def f({buffers}):", "    for i in range(16):", '        with T.block("b"):']
    return "\n".join([*header, "            vi = T.axis.spatial(16, i)", *(f"            {line}" for line in lines)])


def interpreted(text: str, *arrays: np.ndarray) -> np.ndarray:
    func = from_source(text)
    assert isinstance(func, PrimFuncOp)
    return Interpreter(func)(list(arrays))[0]


def test_unsigned_integers_are_compared_divided_and_widened_as_such() -> None:
    buffers = 'A: T.Buffer[(16,), "uint8"], B: T.Buffer[(16,), "int32"]'
    a = np.arange(120, 136, dtype=np.uint8)
    given = interpreted(
        body("B[vi] = T.cast(A[vi] // 3, 'int32') + T.Select(A[vi] > 130, 1000, 0)", buffers=buffers), a
    )
    np.testing.assert_array_equal(given, a.astype(np.int32) // 3 + np.where(a > 130, 1000, 0))
    given = interpreted(body("B[vi] = T.max(A[vi], 129)", buffers=buffers), a)
    np.testing.assert_array_equal(given, np.maximum(a, 129))


def test_division_rounds_down_also_below_zero() -> None:
    buffers = 'A: T.Buffer[(16,), "int32"], B: T.Buffer[(16,), "int32"]'
    a = np.arange(-8, 8, dtype=np.int32)
    np.testing.assert_array_equal(
        interpreted(body("B[vi] = A[vi] % 3 + 10 * (A[vi] // 3)", buffers=buffers), a), a % 3 + 10 * (a // 3)
    )
    wrapped = body("B[vi] = A[(vi - 5) % 16]", buffers=buffers)
    np.testing.assert_array_equal(interpreted(wrapped, a), np.roll(a, 5))
    assert "A[(vi - 5) % 16]" in from_source(wrapped).script()


def test_an_element_that_is_read_before_it_is_written_keeps_its_value() -> None:
    text = body("B[vi] = A[vi]", "x = B[vi]", "B[vi] = x + 1.0", "B[vi] = B[vi] * x")
    a = np.arange(16, dtype=np.float32)
    np.testing.assert_array_equal(interpreted(text, a), (a + 1) * a)
    printed = from_source(text).script()
    assert "x: T.float32 = B[vi]" in printed
    np.testing.assert_array_equal(interpreted(printed, a), (a + 1) * a)


def test_text_keeps_the_bits_of_floats() -> None:
    numbers = [0.1, 1e-42, -0.0, 3.4028235e38, 1 / 3]
    text = body(*(f"B[vi] = T.float32({number!r})" for number in numbers), 'B[vi] = T.float32("nan")')
    func = from_source(text)
    assert_structural_equal(from_source(func.script()), func)
    half = body("B[vi] = T.float16(0.1)", buffers='A: T.Buffer[(16,), "float16"], B: T.Buffer[(16,), "float16"]')
    assert "T.float16(0.1)" in from_source(half).script()


def test_functions_that_differ_are_not_equal() -> None:
    base = from_source(body("B[vi] = A[vi] + 1.0"))
    assert structural_equal(
        base, from_source(body("B[vi] = A[vi] + T.float32(1)").replace("vi", "w").replace("A", "X"))
    )
    for other in ("B[vi] = A[vi] + 2.0", "B[vi] = A[vi] - 1.0", "B[vi] = A[15 - vi] + 1.0",
                  'B[vi] = T.arith.addf(A[vi], 1.0, fastmath="none")'):  # fmt: skip
        assert not structural_equal(base, from_source(body(other)))
    with pytest.raises(AssertionError, match=r"-            B\[vi\] = A\[vi\] \+ T.float32\(1\)"):
        assert_structural_equal(base, from_source(body("B[vi] = A[vi] + 2.0")))
    assert not structural_equal(base, from_source(body("B[vi] = A[vi] + 1.0").replace("range", "T.parallel")))
    assert structural_equal(base, from_source(body("B[vi] = A[vi] + 1.0").replace('"b"', '"c"')))


def test_neither_where_a_buffer_is_allocated_nor_two_divisions_for_one_make_a_difference() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer[(64,), "float32"], B: T.Buffer[(4, 4, 4), "float32"]):
    C = T.alloc_buffer((64,), "float32")
    D = T.alloc_buffer((64,), "float32")
    for i in range(64):
        with T.block("c"):
            vi = T.axis.spatial(64, i)
            C[vi] = A[vi]
    for i in range(64):
        with T.block("d"):
            vi = T.axis.spatial(64, i)
            D[vi] = C[vi]
    for i in range(64):
        with T.block("b"):
            vi = T.axis.spatial(4, i // 16)
            vj = T.axis.spatial(4, i % 16 // 4)
            vk = T.axis.spatial(4, i % 4)
            B[vi, vj, vk] = D[vi * 16 + vj * 4 + vk]
"""
    d = '    D = T.alloc_buffer((64,), "float32")\n'
    later = text.replace(d, "").replace(
        '    for i in range(64):\n        with T.block("d")', d + '    for i in range(64):\n        with T.block("d")'
    )
    divided = text.replace("i % 16 // 4", "i // 4 % 4")
    assert later != text != divided
    assert_structural_equal(from_source(text), from_source(later))
    assert_structural_equal(from_source(text), from_source(divided))
    assert not structural_equal(from_source(text), from_source(text.replace("i % 16 // 4", "i % 8 // 2")))


def test_a_call_may_say_its_dtype_and_a_cast_may_begin_with_it() -> None:
    a = np.arange(16, dtype=np.float32) / 4
    text = body('B[vi] = T.exp(T.Cast("float32", T.Cast("int32", A[vi])), dtype="float32")')
    assert np.allclose(interpreted(text, a), np.exp(a.astype(np.int32).astype(np.float32)))
    with pytest.raises(Diagnostic, match=r"T\.exp gives float32 here, not float16"):
        from_source(body('B[vi] = T.exp(A[vi], dtype="float16")'))


def test_the_only_function_of_a_module_is_its_main() -> None:
    func = from_source(body("B[vi] = A[vi]"))
    assert isinstance(func, PrimFuncOp)
    module = IRModule.of(func)
    assert module["main"] is module["f"]
    with pytest.raises(KeyError):
        module["g"]


REFUSED = {
    "B[vi] = A[vj]": (6, 23, "'vj' is not defined"),
    "B[vi] = T.exq(A[vi])": (6, 21, "there is no T.exq in an expression"),
    "B[vi] = T.exp(vi)": (6, 21, "T.exp is of floats, not index"),
    "B[vi, vi] = A[vi]": (6, 13, "2 indices for a buffer of 1 dimensions"),
    "B[vi] = A": (6, 21, "'A' is a buffer"),
    "B[vi] = A[vi] & 3": (6, 21, "'&' is not defined on float32"),
    "B[A[vi]] = 1.0": (6, 15, "an index is an integer, not float32"),
    "B[vi] = print(A[vi])": (6, 21, "'print' cannot be called here"),
    "B[vi] = 1 // 0": (6, 21, "Python cannot compute this: ZeroDivisionError"),
    "B[vi] = A[vi] + 'x'": (6, 21, "a string is no scalar"),
    "T.reads(Q[vi])": (6, 21, "'Q' is no buffer"),
    "T.where(i)": (6, 21, "T.where takes comparisons"),
    "B[vi] = T.let(3, A[vi], A[vi])": (6, 27, "T.let gives a value a name"),
    "del A": (6, 13, "a block's body has no 'del A'"),
    "vj = T.axis.scan(16, i)": (6, 18, "there is no T.axis.scan"),
    "vj = T.axis.spatial(16, i * i)": (6, 37, "an index multiplies by numbers"),
    "vj = T.axis.remap('SR', [i])": (6, 18, "T.axis.remap gives 1 iterators"),
    "vj = T.axis.spatial(16, i, 3, 4)": (6, 18, "T.axis.spatial takes dom, value, partial"),
    "B[vi] = A[vi + 1]": (6, 23, "reads %A outside"),
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_has_no_meaning_is_refused_at_its_place(line: str) -> None:
    row, column, message = REFUSED[line]
    with pytest.raises(Diagnostic) as error:
        from_source(body(line), "kernel.py")
    assert message in error.value.message
    place = error.value.place
    assert place is not None and (place.file, place.line, place.column) == ("kernel.py", row, column)
    assert place.text is not None and line in place.text


FUNCTIONS_REFUSED = {
    "def f(A): pass": "'A' has no type",
    "def f(A: int): pass": "a parameter is a buffer, not int",
    "def f(a: T.handle):\n    A = T.match_buffer(a, (m,))": "'m' is not defined",
    'def f(A: T.Buffer[(4,), "int8"]):\n    for i in range(A): pass': "'A' is neither a size known",
    "def f():\n    for i in range(3):\n        for j in range(i): pass": "'i' is a loop; how often another",
    "def f():\n    for i in range(3):\n        with T.block():\n            v = T.axis.S(3, i)\n"
    "            v = T.axis.S(3, i)": "the block has an iterator 'v' already",
    "def f():\n    for i, j in T.grid(3, 3):\n        with T.block():\n"
    "            v, v = T.axis.remap('SS', [i, j])": "the block has an iterator 'v' already",
    "def f():\n    for i in range(3):\n        with T.block():\n            T.where(i < 2)\n"
    "            T.where(i < 1)": "the block has T.where already",
    "def f(a: T.handle): pass": "no T.match_buffer says what 'a' is",
    "def f(*a): pass": "a function takes buffers by position",
    'def f(A: T.Buffer[(4, -1), "int8"]): pass': "an extent is not negative: -1",
    'def f(A: T.Buffer[(4,), "int9"]): pass': "there is no dtype 'int9'",
    "def f():\n    for i in T.foo(3): pass": "a loop does not run over 'T.foo(3)'",
    "def f():\n    for i in T.grid(3, 4): pass": "T.grid has 2 extents for 1 loop variables",
    "def f():\n    for i in T.thread_binding(3): pass": "T.thread_binding names a thread",
    "def f():\n    C = T.alloc_buffer((4,), scope='attic')": 'unknown scope "attic"',
    "def f():\n    C = T.alloc_buffer((4,), strides=[2, 1])": "2 strides for 1 dimensions",
    "def f():\n    C = T.alloc_buffer((4,), strides=[-2])": "strides are numbers of elements",
    "def f():\n    C = T.alloc_buffer((4,), elem_offset=-2)": "an offset is a number of elements",
    "def f():\n    C = T.Buffer((4,))": "gives memory a shape: data=A.data",
    "def f():\n    C = T.decl_buffer((4,), data=3)": "this is the memory of no buffer",
    'def f(A: T.Buffer[(4,), "int8"]):\n    C = T.Buffer((2, 3), "int8", data=A.data)': "reaches number 5",
    'def f(A: T.Buffer[(4,), "int8"]):\n    C = T.Buffer((2, 2), "int16", data=A.data)': "elements of i8, not i16",
    "def f():\n    C = T.allocate([4], 'int8', 'global', False)": "memory is allocated always",
    'def f(A: T.Buffer[(4,), "int8"]):\n    C = T.Buffer((2, 2), "int8", data=A.data)\n    C[0] = T.int8(1)': (
        "1 indices for a buffer of 2 dimensions"
    ),
    'def f(A: T.Buffer[(4,), "int8"]):\n    A[T.ramp(0, 1, 4)] = T.int8(1)': "1 lanes are stored to 4",
    'def f(A: T.Buffer[(4,), "int8"]):\n    A[T.ramp(0, 1, 4)] = A[T.ramp(0, 1, 2)]': "2 lanes are stored to 4",
    'def f(A: T.Buffer[(4,), "int8"]):\n    A[T.ramp(0, 1, 4)] = A[T.ramp(0, 1, 4)] + T.broadcast(1, 2)': (
        "a vector of 2 lanes meets one of 4"
    ),
    'def f(A: T.Buffer[(4,), "int8"]):\n    A[0:4] = T.shuffle([A[1], A[2]], [1, 2, 0, 0])': "have not so many lanes",
    'def f(A: T.Buffer[(4,), "int8"]):\n    A[0:] = T.broadcast(T.int8(1), 4)': "a first element and an end",
    'def f(A: T.Buffer[(4,), "int8"]):\n    A[T.ramp(0, 1, A[0])] = A[T.ramp(0, 1, 2)]': "this must be known",
    'def f(A: T.Buffer[(4,), "int8"]):\n    A[0] = T.shuffle([A[1], A[2]], [1, 0])': "2 lanes are stored to 1",
    "def f():\n    C[0] = 3": "'C' is no buffer",
    "def f():\n    x = y": "'y' is not defined",
    'def f(A: T.Buffer[(4,), "int32"]):\n    x = A[0]\n    for i in range(3): A[i] = x': "has its name in a block",
    'def f(A: T.Buffer[(4,), "int8"]):\n    if A[0] < 3:\n        for i in range(3): A[i] = 0': "compares loop",
    'def f(A: T.Buffer[(4,), "int8"]):\n    for i in range(2):\n        if i < 1:\n'
    "            for j in range(4): A[j] = 0\n        else: pass": "an if around loops and blocks has no else",
    "def f():\n    return 3": "a function has no 'return 3'",
    "def f():\n    T.func_attr({'a': T.attribute('dense<')})": "this is no attribute",
    "def f(:": "this is no Python",
}


@pytest.mark.parametrize("text", FUNCTIONS_REFUSED)
def test_functions_without_meaning_are_refused(text: str) -> None:
    with pytest.raises(Diagnostic, match=FUNCTIONS_REFUSED[text].replace("(", r"\(").replace(")", r"\)")):
        from_source(f"@T.prim_func\n{text}\n")


def test_a_mistake_in_a_decorated_function_stands_in_this_file() -> None:
    with pytest.raises(Diagnostic) as error:

        @T.prim_func
        def _(A: T.Buffer[(4,), "float32"]):
            for i in range(4):
                with T.block("b"):
                    vi = T.axis.spatial(4, i)
                    A[vi] = mystery

    place = error.value.place
    assert place is not None and place.file == __file__
    assert open(__file__).read().splitlines()[place.line - 1].strip() == "A[vi] = mystery"
    assert place.text is not None and place.text[place.column - 1 :] == "mystery"


def test_what_has_no_form_in_tvmscript_is_refused_at_its_place() -> None:
    text = """tir.prim_func @f(%a: memref<4xf32>, %b: memref<4xf32>) {
  tir.block @b() = [] reads(%a : memref<4xf32>) writes(%b : memref<4xf32>) {
    %i = arith.constant 0 : index
    %c = arith.constant true
    %x = memref.load %a[%i] : memref<4xf32>
    %y = scf.if %c -> (f32) {
      memref.store %x, %b[%i] : memref<4xf32>
      scf.yield %x : f32
    } else {
      scf.yield %x : f32
    }
    memref.store %y, %b[%i] : memref<4xf32>
  }
}"""
    func = parse_module(text, new_ir_context(), "f.mlir").body.block.first_op
    assert isinstance(func, PrimFuncOp)
    with pytest.raises(Diagnostic, match=r"f.mlir:7:7: error: 'memref.store': stands in a branch with a result"):
        func.script()


def test_names_of_values_may_be_anything() -> None:
    """Keywords, names with dots, and names that stand for several values."""
    text = """tir.prim_func @"odd name"(%T: memref<4xf32>, %lambda: memref<4xf32>, %a.b: memref<4xf32>) {
  tir.for %range = 0 to 4 {
    tir.block @b(%T_1: spatial 4) = [%range] reads(%T[%T_1] : memref<4xf32>) writes(%lambda[%T_1] : memref<4xf32>) {
      %x = memref.load %T[%T_1] : memref<4xf32>
      memref.store %x, %lambda[%T_1] : memref<4xf32>
    }
  }
}"""
    func = parse_module(text, new_ir_context(), "f.mlir").body.block.first_op
    assert isinstance(func, PrimFuncOp)
    again = from_source(func.script())
    assert isinstance(again, PrimFuncOp) and again.sym_name.data == "odd name"
    assert_structural_equal(again, func)


def test_the_page_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Written to a file, as functions are read from their text."""
    page = (Path(__file__).parents[2] / "docs" / "tvmscript.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 4
    (tmp_path / "page.py").write_text("\n".join(blocks))
    runpy.run_path(str(tmp_path / "page.py"))
    shown = capsys.readouterr().out
    assert "for i in T.parallel(16):" in shown
    assert "iterator %vi of block @b takes the value 4 where %i = 4, outside of its extent 4" in shown


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
        from_source(from_three("vk = T.axis.reduce((3, 8), 10 - k)"))
    with pytest.raises(Diagnostic, match="does not begin its reduction with the first step"):
        from_source(from_three("vk = T.axis.reduce(8, k, partial=True)"))


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
    a = np.random.default_rng(0).standard_normal((16, 16), np.float32)
    b, wanted = np.zeros((16, 16), np.float32), 2 * a
    wanted[:, 0], wanted[0, 15] = wanted.ravel()[3::16], 7
    weft.build(func)(a, b)
    np.testing.assert_array_equal(b, wanted)
    assert_structural_equal(from_source(func.script()), func)


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
        with pytest.raises(weft.Diagnostic, match=r"is none|dtype"):
            run(*wrong)


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


def test_a_function_may_take_numbers_only() -> None:
    text = """@T.prim_func
def f(n: T.int64, m: T.int64):
    T.evaluate(T.call_extern("abs", m - n, dtype="int32"))
"""
    assert structural_equal(from_source(from_source(text).script()), from_source(text))
    assert not structural_equal(from_source(text.replace("m - n", "n - m")), from_source(text))


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
    with pytest.raises(Diagnostic, match=r"(?s)test_tvmscript.py:\d+:20: error: .*'scale' is float32"):

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
