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
from tvmscript_texts import body, function, interpreted
from xdsl.dialects.builtin import ModuleOp, StringAttr

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.dialects.tir.specialize import specialize
from weft.lowering.relay_to_tir.lower_te import LowerTEPass
from weft.script import ir_module
from weft.script import tir as T
from weft.tir import IRModule, Schedule, assert_structural_equal, from_source, structural_equal, structural_hash
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
                    T.where(i_0 * 4 + i_1 < 15)
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
            again = function(func.script())
            assert_structural_equal(again, func)
            assert from_source(again.script()).script() == again.script()


def test_a_block_counts_a_loop_whose_end_is_a_value() -> None:
    text = """from weft.script import tir as T


@T.prim_func
def kernel(a: T.Buffer[(6,), "int64"], b: T.Buffer[(1,), "int64"]):
    with T.block("count"):
        T.reads(a[0:6], b[0])
        T.writes(b[0])
        for i in range(T.index(6)):
            b[0] = b[0] + a[i]
"""
    func = from_source(text)
    assert "scf.while" in str(func) and "tir.for" not in str(func)
    assert structural_equal(from_source(func.script()), func)


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


def test_values_that_are_used_twice_by_what_is_used_twice_are_compared_once() -> None:
    """As a tree, 64 squares of squares have 2**64 leaves."""

    def squares(kind: str) -> PrimFuncOp:
        steps = "\n".join(f"%{n + 1} = arith.{kind} %{n}, %{n} : f32" for n in range(64))
        text = f"""tir.prim_func @f(%x: memref<f32>, %y: memref<f32>) {{
  tir.block @b() = [] reads(%x[] : memref<f32>) writes(%y[] : memref<f32>) {{
    %0 = memref.load %x[] : memref<f32>
    {steps}
    memref.store %64, %y[] : memref<f32>
  }}
}}"""
        func = parse_module(text, new_ir_context()).body.block.first_op
        assert isinstance(func, PrimFuncOp)
        return func

    assert structural_equal(squares("mulf"), squares("mulf"))
    assert structural_hash(squares("mulf")) == structural_hash(squares("mulf"))
    assert not structural_equal(squares("mulf"), squares("addf"))


def test_what_is_read_back_computes_the_same() -> None:
    func = prim_func(STAGES["softmax"])
    x = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    again = function(func.script())
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
    func = function(body("B[vi] = A[vi]"))
    module = IRModule.of(func)
    assert module["main"] is module["f"]
    with pytest.raises(KeyError):
        module["g"]


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


@pytest.mark.parametrize(
    "value",
    [
        "T.Select(T.int32(0) != T.int32(0), A[vi], 2)",
        "A[vi] + (T.int32(2) + T.int32(3))",
        "A[vi] + T.max(T.int32(-1), T.int32(2))",
        "A[vi] + T.int32(-7) // T.int32(2)",
    ],
)
def test_an_operation_on_two_literals_is_printed_as_one(value: str) -> None:
    func = function(f"""
@T.prim_func
def f(A: T.Buffer[(4,), "int32"], B: T.Buffer[(4,), "int32"]):
    for i in range(4):
        with T.block("b"):
            vi = T.axis.S(4, i)
            B[vi] = {value}
""")
    again = from_source(func.script())
    assert_structural_equal(again, func)


PADDED = """
@T.prim_func
def f(A: T.Buffer[(8,), "float32"], B: T.Buffer[(4,), "float32"]):
    P = T.alloc_buffer((10,), "float32")
    for i in range(LAST):
        with T.block("P"):
            v = T.axis.spatial(10, i)
            P[v] = T.if_then_else(v > 0 and v < 9, A[v - 1], T.float32(0))
    for i in range(4):
        with T.block("B"):
            v = T.axis.spatial(4, i)
            B[v] = P[v * 2] + P[v * 2 + 1]
"""


def test_elements_of_an_own_buffer_that_nothing_reads_may_be_left_out() -> None:
    func = from_source(PADDED.replace("LAST", "8"), check_well_formed=True)
    assert isinstance(func, PrimFuncOp)
    assert "v = T.axis.spatial(10, i, partial=True)" in func.script()
    assert_structural_equal(from_source(func.script()), func)
    with pytest.raises(Diagnostic, match="reads %P at index 7 of dimension 0, where nothing is written to it"):
        from_source(PADDED.replace("LAST", "7"), check_well_formed=True)
    for read in ("P[C[v]]", "T.if_then_else(C[v] > 0, P[v + 6], 0.0)"):  # data says which elements
        text = PADDED.replace("LAST", "8").replace("P[v * 2] + P[v * 2 + 1]", read)
        with pytest.raises(Diagnostic, match="iterator %v of block @P does not take every value of its extent 10"):
            from_source(text.replace("B: T", 'C: T.Buffer[(4,), "int32"], B: T'), check_well_formed=True)
    whole = PADDED.replace("LAST", "10").replace("range(4)", "range(3)")
    with pytest.raises(Diagnostic, match="iterator %v of block @B does not take every value of its extent 4"):
        from_source(whole, check_well_formed=True)
