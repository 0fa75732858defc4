"""`te.decl_tensor_intrin` and `tensorize`: statements take the place of loops, and the numbers stay."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import ModuleOp

import weft
from weft import Diagnostic, te, tir
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.nodes.buffers import Buffer
from weft.tir import Interpreter

pytestmark = pytest.mark.sampled(3)

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler to make the functions with")

NOTHING = tir.Evaluate(te.const(0))

Array: TypeAlias = npt.NDArray[np.float32]

SOURCE = """
int test_te_fill(float *c, int m) { for (int i = 0; i < m; ++i) c[i] = 0; return 0; }
int test_te_gemv(float *c, const float *a, const float *b, int m, int l, int stride) {
  for (int i = 0; i < m; ++i) for (int j = 0; j < l; ++j) c[i] += a[j] * b[i * stride + j];
  return 0;
}
"""


@pytest.fixture(scope="module")
def c_functions(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder: Path = tmp_path_factory.mktemp("intrinsics")
    (folder / "gemv.c").write_text(SOURCE)
    library = folder / "gemv.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(folder / "gemv.c")], check=True)
    weft.load_library(str(library))


def gemv(m: int, depth: int, parts: int = 3, stride: int | None = None) -> te.TensorIntrin:
    """`c = b a`, by functions of C, which are told how far apart the rows of `b` lie."""
    a, b = te.placeholder((depth,), name="a"), te.placeholder((m, depth), name="b")
    k = te.reduce_axis((0, depth), "k")
    c = te.compute((m,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")
    far = te.var("stride") if stride is None else stride
    rows = tir.decl_buffer(b.shape, b.dtype, name="rows", strides=[far, 1])

    def how(ins: list[Buffer], outs: list[Buffer]) -> object:
        (x, y), (z,) = ins, outs

        def step() -> te.Expr:
            read = x.access_ptr("r"), y.access_ptr("r")
            return tir.call_extern("int32", "test_te_gemv", z.access_ptr("rw"), *read, m, depth, far)

        def fill() -> te.Expr:
            return tir.call_extern("int32", "test_te_fill", z.access_ptr("w"), m)

        ib = tir.ir_builder.create()
        ib.emit(fill())
        ib.emit(step())
        every = ib.get(), fill() if parts == 3 else None, step()
        return every[0] if parts == 1 else every

    return te.decl_tensor_intrin(c.op, how, name="gemv", binds={b: rows})


def product(n: int = 8, m: int = 32, depth: int = 24) -> tuple[te.Tensor, te.Tensor, te.Tensor, te.IterVar]:
    a, b = te.placeholder((n, depth), name="A"), te.placeholder((m, depth), name="B")
    k = te.reduce_axis((0, depth), "k")
    return a, b, te.compute((n, m), lambda i, j: te.sum(a[i, k] * b[j, k], axis=k), name="C"), k


def assert_equal(s: te.Schedule, args: list[te.Tensor], expected: Callable[[Array, Array], Array], calls: str) -> str:
    """The interpreter and machine code give what NumPy does, and the text has the call; gives it."""
    module = weft.lower(s, args)
    random = np.random.default_rng(0)
    inputs = [random.standard_normal(each.shape, np.float32) for each in args[:-1]]
    wanted = expected(inputs[0], inputs[1])
    (function,) = (op for op in module.ops if isinstance(op, PrimFuncOp))
    (interpreted,) = Interpreter(function)(inputs)
    np.testing.assert_allclose(interpreted.astype(np.float32), wanted, rtol=1e-4, atol=1e-5)
    compiled = np.full(args[-1].shape, np.nan, np.float32)
    weft.build(s, args, threads=1)(*inputs, compiled)
    np.testing.assert_allclose(compiled, wanted, rtol=1e-4, atol=1e-5)
    assert calls in str(module)
    return str(module)


def transposed(a: Array, b: Array) -> Array:
    return a @ b.T


@needs_cc
@pytest.mark.usefixtures("c_functions")
def test_an_intrinsic_does_a_reduction_whole() -> None:
    a, b, c, _ = product()
    s = te.create_schedule(c.op)
    _, inner = s[c].split(c.op.axis[1], factor=8)
    s[c].tensorize(inner, gemv(8, 24, parts=1))
    text = assert_equal(s, [a, b, c], transposed, '"test_te_gemv"')
    assert "memref.load" not in text and text.count("tir.for") == 2


@needs_cc
@pytest.mark.usefixtures("c_functions")
@pytest.mark.parametrize(("parts", "fills"), [(3, 1), (2, 0)])
def test_an_intrinsic_goes_on_with_a_reduction(parts: int, fills: int) -> None:
    """What begins it is a block before its loops: the intrinsic's, or a loop that stores."""
    a, b, c, k = product()
    s = te.create_schedule(c.op)
    outer, inner = s[c].split(c.op.axis[1], factor=8)
    steps, step = s[c].split(k, factor=6)
    s[c].reorder(outer, steps, inner, step)
    s[c].tensorize(inner, gemv(8, 6, parts))
    text = assert_equal(s, [a, b, c], transposed, '"test_te_gemv"')
    assert text.count('"test_te_fill"') == fills and text.count("memref.store") == 1 - fills


@needs_cc
@pytest.mark.usefixtures("c_functions")
def test_rows_lie_as_far_apart_as_those_of_the_buffer_that_is_read() -> None:
    """Those of `B` are 24 elements long, whatever part of them the intrinsic takes; those of a cache as well."""
    for cached in (False, True):
        a, b, c, k = product()
        s = te.create_schedule(c.op)
        outer, inner = s[c].split(c.op.axis[1], factor=8)
        steps, step = s[c].split(k, factor=6)
        s[c].reorder(outer, steps, inner, step)
        if cached:
            s[s.cache_read(b, "local", [c])].compute_at(s[c], outer)
        s[c].tensorize(inner, gemv(8, 6))
        assert "arith.constant 24 : index" in assert_equal(s, [a, b, c], transposed, '"test_te_gemv"')


@needs_cc
@pytest.mark.usefixtures("c_functions")
def test_a_stage_in_a_loop_of_another_is_tensorized() -> None:
    a, b, c, _ = product()
    s = te.create_schedule(c.op)
    sums = s.cache_write(c, "local")
    outer, _ = s[c].split(c.op.axis[1], factor=8)
    s[sums].compute_at(s[c], outer)
    s[sums].tensorize(sums.op.axis[1], gemv(8, 24))
    assert_equal(s, [a, b, c], transposed, '"test_te_gemv"')


def test_a_list_of_statements_is_an_implementation() -> None:
    a, b = (te.placeholder((16,), name=name) for name in "AB")
    c = te.compute((16,), lambda i: a[i] + b[i], name="C")
    x, y = te.placeholder((8,), name="x"), te.placeholder((8,), name="y")
    z = te.compute((8,), lambda i: x[i] + y[i], name="z")

    def how(ins: list[Buffer], outs: list[Buffer]) -> object:
        halves: list[tir.Stmt] = []
        for first in (4, 0):
            ib = tir.ir_builder.create()
            with ib.for_range(0, 4, name="half") as half:
                ib.emit(outs[0].vstore([first + half], ins[0][first + half] + ins[1][first + half]))
            halves.append(ib.get())
        return tir.SeqStmt(halves)

    s = te.create_schedule(c.op)
    _, inner = s[c].split(c.op.axis[0], factor=8)
    s[c].tensorize(inner, te.decl_tensor_intrin(z.op, how))
    assert_equal(s, [a, b, c], _added, "%half")


def adding(n: int) -> te.TensorIntrin:
    """An addition, by a loop that goes backwards."""
    x, y = te.placeholder((n,), name="x"), te.placeholder((n,), name="y")
    z = te.compute((n,), lambda i: x[i] + y[i], name="z")

    def how(ins: list[Buffer], outs: list[Buffer]) -> object:
        ib = tir.ir_builder.create()
        with ib.for_range(0, n, name="back") as back:
            ib.emit(outs[0].vstore([n - 1 - back], ins[0].vload([n - 1 - back]) + ins[1].vload([n - 1 - back])))
        return ib.get()

    return te.decl_tensor_intrin(z.op, how)


def test_a_formula_is_the_call_of_an_intrinsic() -> None:
    a, b = (te.placeholder((12, 16), name=name) for name in "AB")
    doubled = te.compute((12, 16), lambda i, j: b[i, j] * 2.0, name="doubled")
    add = adding(16)
    c = te.compute((12, 16), lambda i: add(a[i, 0:16], doubled[i, 0:16]), name="C")
    assert [axis.dim for axis in c.op.axis] == [12, 16]

    def expected(x: Array, y: Array) -> Array:
        return x + y * 2

    assert_equal(te.create_schedule(c.op), [a, b, c], expected, "%back")
    s = te.create_schedule(c.op)
    outer, inner = s[c].split(c.op.axis[0], factor=4)
    s[c].reorder(inner, outer)
    s[doubled].compute_at(s[c], inner)
    assert_equal(s, [a, b, c], expected, "%back")
    s = te.create_schedule(c.op)
    copied = s.cache_read(a, "local", c)
    s.cache_write(c, "local")
    assert copied.name == "A.local"
    assert_equal(s, [a, b, c], expected, "%back")
    (function,) = [te.create_prim_func([a, b, c])]
    x, y = (np.full((12, 16), value, np.float32) for value in (1, 2))
    (result,) = Interpreter(function)([x, y])
    np.testing.assert_array_equal(result, x + y * 2)


def _summed(a: Array, b: Array) -> Array:
    return np.einsum("ikfr,jkr->ijf", a, b)


@needs_cc
@pytest.mark.usefixtures("c_functions")
def test_what_an_intrinsic_gives_is_summed() -> None:
    a, b = te.placeholder((4, 3, 8, 6), name="A"), te.placeholder((5, 3, 6), name="B")
    k = te.reduce_axis((0, 3), "k")
    part = gemv(8, 6)
    c = te.compute((4, 5, 8), lambda i, j: part(b[j, k, 0:6], a[i, k, 0:8, 0:6], reduce_axis=k), name="C")
    s = te.create_schedule(c.op)
    i, j, _ = s[c].op.axis
    s[c].reorder(j, i)
    text = assert_equal(s, [a, b, c], _summed, '"test_te_fill"')
    assert "reduce 3" in text


def test_numbers_are_given_to_an_intrinsic() -> None:
    x = te.placeholder((8,), name="x")
    scale, shift = te.var("scale"), te.var("shift")
    z = te.compute((8,), lambda i: x[i] * scale + shift, name="z")

    def how(ins: list[Buffer], outs: list[Buffer], numbers: tuple[te.Expr, ...]) -> object:
        assert numbers == (scale, shift)
        return NOTHING

    intrin = te.decl_tensor_intrin(z.op, how, scalar_params=[scale, shift])
    a = te.placeholder((6, 8), name="A")
    c = te.compute((6, 8), lambda i: intrin(i * 2, a[i, 0:8], i + 1), name="C")
    (result,) = Interpreter(te.create_prim_func([a, c]))([np.ones((6, 8), np.float32)])
    np.testing.assert_array_equal(result[:, 0], [i * 2 + i + 1 for i in range(6)])
    with pytest.raises(tir.ScheduleError, match="is for given values of scale, shift"):
        weft.lower(te.create_schedule(c.op), [a, c])


def _added(x: Array, y: Array) -> Array:
    return x + y


def test_what_was_said_of_a_loop() -> None:
    a, b = (te.placeholder((32,), name=name) for name in "AB")
    c = te.compute((32,), lambda i: a[i] + b[i], name="C")
    s = te.create_schedule(c.op)
    _, inner = s[c].split(c.op.axis[0], factor=8)
    add, before = adding(8), tir.TensorIntrin.foreign()
    s[c].tensorize(inner, add)
    assert s[c].iter_var_attrs[inner].tensor_intrin is add
    assert s[c].iter_var_attrs[inner].iter_type == te.IterVar.Tensorized
    assert_equal(s, [a, b, c], _added, "%back")
    assert tir.TensorIntrin.foreign() == before, "it is known while the schedule is applied"


def lowered(change: Callable[[te.Schedule, te.Tensor, te.IterVar], object]) -> ModuleOp:
    a, b, c, k = product()
    s = te.create_schedule(c.op)
    change(s, c, k)
    return weft.lower(s, [a, b, c])


def _over_steps(s: te.Schedule, c: te.Tensor, k: te.IterVar, intrin: te.TensorIntrin) -> None:
    outer, inner = s[c].split(c.op.axis[1], factor=8)
    steps, step = s[c].split(k, factor=6)
    s[c].reorder(outer, steps, inner, step)
    s[c].tensorize(inner, intrin)


def _split_later(s: te.Schedule, c: te.Tensor, k: te.IterVar) -> None:
    s[c].tensorize(c.op.axis[1], gemv(32, 24))
    s[c].split(c.op.axis[1], factor=8)


MISTAKES: list[tuple[Callable[[te.Schedule, te.Tensor, te.IterVar], object], str]] = [
    (lambda s, c, k: s[c].tensorize(c.op.axis[1], gemv(16, 24)), "is of loops of 16, 24 iterations, not of 32, 24"),
    (lambda s, c, k: s[c].tensorize(c.op.axis[1], adding(32)), "is of loops of 32 iterations"),
    (lambda s, c, k: _over_steps(s, c, k, gemv(8, 6, parts=1)), "does all of a reduction, of which there are loops"),
    (lambda s, c, k: _over_steps(s, c, k, gemv(8, 6, stride=6)), "lie 6 apart, and 24 where it is used"),
    (_split_later, "was split or fused afterwards"),
    (lambda s, c, k: s[c].tensorize(k.__class__("x", 3), gemv(8, 6)), "is no loop of 'C'"),
]


@pytest.mark.parametrize(("change", "message"), MISTAKES)
def test_what_does_not_fit_is_refused(
    change: Callable[[te.Schedule, te.Tensor, te.IterVar], object], message: str
) -> None:
    with pytest.raises(tir.ScheduleError, match=message):
        lowered(change)


def nothing(ins: list[Buffer], outs: list[Buffer]) -> object:
    return NOTHING


def _of(result: object) -> te.TensorIntrin:
    x = te.placeholder((4,), name="x")
    return te.decl_tensor_intrin(te.compute((4,), lambda i: x[i] + 1.0, name="z").op, lambda ins, outs: result)


def _reading_what_is_computed() -> None:
    x = te.placeholder((4,), name="x")
    y = te.compute((4,), lambda i: x[i] + 1.0, name="y")
    te.decl_tensor_intrin(te.compute((4,), lambda i: y[i] + 1.0, name="z").op, nothing)


A4 = te.placeholder((4, 4), name="A")

DECLARATIONS: list[tuple[Callable[[], object], str]] = [
    (lambda: _of(3), "neither a statement nor a call"),
    (lambda: _of(None), "nothing says how"),
    (lambda: _of((NOTHING, None, None)), "does not reduce"),
    (lambda: te.decl_tensor_intrin(A4.op, nothing), "and not of an input"),
    (_reading_what_is_computed, "reads 'y', which is computed"),
    (lambda: adding(4)(A4[0, 0:4]), "takes 2 tensors and 0 numbers, not 1 and 0"),
    (lambda: adding(4)(A4[0, 0:3], A4[0, 0:4]), r"of the shape \(4,\), and not \(3,\)"),
    (lambda: adding(4)(A4[0, 0:4:2], A4[0, 0:4]), "has a step of 2"),
    (lambda: te.compute((4, 5), lambda i: adding(4)(A4[i, 0:4], A4[i, 0:4])), "computes .4,. of it at once"),
    (lambda: te.compute((5, 4), lambda i: adding(4)(A4[i, 0:4], A4[i, 0:4])), "reads 'A' outside"),
    (lambda: te.compute((4, 4), lambda i: A4[i, 0:4]), "its function takes 1 ind"),
]


@pytest.mark.parametrize(("make", "message"), DECLARATIONS)
def test_what_is_no_intrinsic_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises((Diagnostic, IndexError), match=message):
        make()


def test_parts_may_begin_at_an_index() -> None:
    row = te.placeholder((16,), name="row")
    doubled = te.compute((16,), lambda j: row[j] * 2.0, name="doubled")

    def how(ins: list[Buffer], outs: list[Buffer]) -> tir.Stmt:
        ib = tir.ir_builder.create()
        with ib.for_range(0, 16, name="j") as j:
            ib.emit(outs[0].vstore([j], ins[0][j] * 2.0))
        return ib.get()

    intrin = te.decl_tensor_intrin(doubled.op, how, name="doubled_row")
    a = te.placeholder((24, 16), name="A")
    flat = te.placeholder((40,), name="flat")
    b = te.compute((24, 16), lambda i: intrin(flat[i : i + 16]), name="B")
    values = np.arange(40, dtype=np.float32)
    found = np.empty((24, 16), np.float32)
    weft.build(te.create_schedule(b.op), [flat, b])(values, found)
    np.testing.assert_array_equal(found, [values[i : i + 16] * 2 for i in range(24)])
    with pytest.raises(UsageError, match="takes 'row' of the shape"):
        te.compute((24, 16), lambda i: intrin(a[i, i:16]))


@pytest.mark.parametrize("form", ["buffer", "data", "access_ptr"])
def test_an_intrinsic_that_is_handed_buffers_reads_its_inputs_and_writes_its_result(form: str) -> None:
    """However it is handed them; its elements may be at quotients and remainders, of which all are reached."""

    @weft.register_func("test_te_windows", override=True)
    def windows(x: Array, y: Array) -> None:
        y[...] = [[x[j // 3 + i % 3, j % 3 + i // 3] for j in range(9)] for i in range(9)]

    def how(ins: list[Buffer], outs: list[Buffer]) -> te.Expr:
        match form:
            case "buffer":
                return tir.call_packed("test_te_windows", ins[0], outs[0])
            case "data":
                return tir.call_packed("test_te_windows", ins[0].data, outs[0].data)
            case _:
                return tir.call_packed("test_te_windows", ins[0].access_ptr("r"), outs[0].access_ptr("w"))

    def read(of: te.Tensor) -> te.Tensor:
        return te.compute((9, 9), lambda i, j: of[j // 3 + i % 3, j % 3 + i // 3])

    tile, given = te.placeholder((5, 5), name="tile"), te.placeholder((5, 5), name="A")
    result = read(given)
    s = te.create_schedule(result.op)
    s[result].tensorize(result.op.axis[0], te.decl_tensor_intrin(read(tile).op, how, name="windows"))
    a, b = np.random.default_rng(0).standard_normal((5, 5)).astype(np.float32), np.zeros((9, 9), np.float32)
    weft.build(s, [given, result])(a, b)
    np.testing.assert_array_equal(b, [[a[j // 3 + i % 3, j % 3 + i // 3] for j in range(9)] for i in range(9)])


def test_an_intrinsic_whose_elements_go_together_does_not_reach_all() -> None:
    def read(of: te.Tensor) -> te.Tensor:
        return te.compute((9,), lambda i: of[i // 3 + i % 3 * 2])  # of one iterator: not told apart

    def how(ins: list[Buffer], outs: list[Buffer]) -> te.Expr:
        return tir.call_packed("test_te_none", ins[0], outs[0])

    tile, given = te.placeholder((7,), name="tile"), te.placeholder((7,), name="A")
    result = read(given)
    s = te.create_schedule(result.op)
    s[result].tensorize(result.op.axis[0], te.decl_tensor_intrin(read(tile).op, how, name="together"))
    with pytest.raises(tir.ScheduleError, match="its description does not reach all of %tile"):
        weft.lower(s, [given, result])
