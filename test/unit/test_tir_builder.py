"""Functions that Python puts together: the builder, nodes, `te.extern`, `te.scan`, and Python's functions in a text."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# pyright: reportArgumentType=false
# ruff: noqa: F821

from functools import partial
from typing import Any

import numpy as np
import pytest

import weft
from weft import te, tir
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.te.evaluate import evaluate
from weft.dialects.tir.core import BlockOp
from weft.script import tir as T
from weft.tir import Interpreter, assert_structural_equal, from_source, structural_equal

RNG = np.random.default_rng(0)


def floats(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def negatives() -> tir.Stmt:
    """How many numbers of each row are negative, each of which becomes positive; others grow."""
    ib = tir.ir_builder.create()
    a, counts = ib.buffer_ptr(A), ib.buffer_ptr(COUNTS)
    count = ib.allocate("int32", (1,), name="count", scope="local")
    with ib.for_range(0, 5, name="i") as i:
        count[0] = 0
        with ib.for_range(0, 4, name="j") as j:
            with ib.if_scope(a[i, j] < 0.0):
                count[0] += 1
                a[i, j] = -a[i, j]
            with ib.else_scope():
                a[i * 4 + j] = a[i, j] + i / 4.0
        counts[i] = count[0]
    return ib.get()


A = tir.decl_buffer((5, 4), "float32", name="A")
COUNTS = tir.decl_buffer((5,), "int32", name="counts")


def test_the_builder_makes_a_function_of_statements() -> None:
    body = negatives()
    assert isinstance(body, tir.Allocate) and isinstance(body.body, tir.For)
    function = tir.PrimFunc([A, COUNTS], body)
    a, counts = floats(5, 4), np.zeros(5, np.int32)
    given = a.copy()
    weft.build(function)(a, counts)
    np.testing.assert_array_equal(counts, (given < 0).sum(1))
    np.testing.assert_allclose(a, np.where(given < 0, -given, given + np.arange(5, dtype=np.float32)[:, None] / 4))
    assert_structural_equal(from_source(function.script()), function)


def test_a_loop_goes_on_while_a_condition_holds_and_says_what_is_said_of_it() -> None:
    given, steps = tir.decl_buffer((4,), "int32", name="given"), tir.decl_buffer((4,), "int32", name="steps")
    ib = tir.ir_builder.create()
    left, taken = ib.buffer_ptr(given), ib.buffer_ptr(steps)
    with ib.for_range(0, 4, name="i") as i:
        ib.scope_attr(i, "pragma_auto_unroll_max_step", 4)
        taken[i] = 0
        with ib.while_loop(left[i] > 0):
            left[i] = left[i] // 2
            taken[i] += 1
    made = tir.PrimFunc([given, steps], ib.get())
    assert "'pragma_auto_unroll_max_step': 4" in made.script()
    (counts,) = Interpreter(made)([np.array([0, 1, 7, 8], np.int32)])
    assert counts.tolist() == [0, 1, 3, 4]


def test_the_place_of_an_element_follows_from_the_layout() -> None:
    strided = tir.decl_buffer((5, 4), strides=(8, 2), elem_offset=1)
    for buffer, indices, wanted in ((A, [2, 3], 11), (strided, [2, 3], 23), (tir.decl_buffer(()), [], 0)):
        assert weft.arith.Analyzer().can_prove_equal(*buffer.offset_of(indices), wanted)
    n = te.var("n")
    assert weft.arith.Analyzer().can_prove_equal(*tir.decl_buffer((5, n)).offset_of([2, 3]), n * 2 + 3)


def test_an_address_says_what_tvms_call_is_given() -> None:
    n = te.size_var("n")
    buffer = tir.decl_buffer((4, n), "int8", strides=[n + 1, 1], elem_offset=7)
    annotation, data, start, extent, done = buffer.access_ptr("rw", offset=2).args
    assert annotation.dtype == "int8" and data is buffer.data and int(start) == 9
    assert weft.arith.Analyzer().can_prove_equal(extent, n * 4 + 2)
    assert int(done) == tir.Buffer.READ | tir.Buffer.WRITE == 3
    assert int(buffer.access_ptr("w", extent=5).args[3]) == 5
    assert int(tir.decl_buffer((3, 4)).access_ptr("r").args[3]) == 12


def test_handles_are_the_buffers_that_the_map_says() -> None:
    x, n = tir.Var("x", "handle"), te.var("n")
    buffer = tir.decl_buffer((n,), "float32", name="B")
    loop = tir.Var("i", "int32")
    body = tir.For(loop, te.const(0), n, "serial", tir.BufferStore(buffer, buffer[loop] * 2.0, [loop]))
    function = tir.PrimFunc([x], body, buffer_map={x: buffer}, attrs={"key": 3})
    assert len(function.symbols) == 1 and "key" in function.attributes
    assert "B[i] = B[i] * T.float32(2)" in function.script()
    with pytest.raises(UsageError, match="does not say which buffer the parameter 'x' is"):
        tir.PrimFunc([x], body)
    plain = te.var("p")
    assert len(tir.PrimFunc([plain], body, buffer_map={plain: buffer}).buffer_map) == 1
    with pytest.raises(UsageError, match="buffer_map has p, which is no parameter"):
        tir.PrimFunc([x], body, buffer_map={x: buffer, plain: buffer})


def test_vectors_are_loaded_and_stored() -> None:
    ib = tir.ir_builder.create()
    x, y = tir.decl_buffer((8,), name="x"), tir.decl_buffer((8,), name="y")
    with ib.for_range(0, 2, name="i") as i:
        ib.emit(y.vstore([i * 4], x.vload([i * 4], "float32x4") + tir.Broadcast(te.const(1.0), 4)))
    a, b = floats(8), np.zeros(8, np.float32)
    weft.build(tir.PrimFunc([x, y], ib.get()))(a, b)
    np.testing.assert_array_equal(b, a + 1)
    assert x.vload([0], "float32x4").dtype == "float32x4"


def test_nodes_make_expressions_and_tell_them() -> None:
    x, y = tir.Var("x", "float32"), tir.Var("y", "float32")
    assert isinstance(x + y, tir.Add) and not isinstance(x - y, tir.Add)
    assert isinstance(tir.Max(x, 0), tir.Max) and isinstance(x > 0.0, tir.GT) and isinstance(x, tir.Var)
    assert isinstance(tir.IntImm("int32", 3), tir.IntImm) and tir.FloatImm("float16", 1).dtype == "float16"
    assert str(tir.Select(x < y, x, 2) * 3) == "T.if_then_else(x < y, x, T.float32(2.0)) * 3.0"
    with pytest.raises(UsageError, match="an IntImm is of integers"):
        tir.IntImm("float32", 1)


def test_nodes_are_equal_but_for_names() -> None:
    def doubled(name: str, factor: float) -> tir.Stmt:
        i = tir.Var(name, "int32")
        return tir.For(i, te.const(0), te.const(5), "serial", tir.BufferStore(COUNTS, COUNTS[i] * int(factor), [i]))

    assert structural_equal(doubled("i", 2), doubled("j", 2)) and not structural_equal(doubled("i", 2), doubled("i", 3))
    x, y = tir.Var("x", "int32"), tir.Var("y", "int32")
    assert not structural_equal(x + 1, y + 1) and structural_equal(x + 1, y + 1, map_free_vars=True)
    assert not structural_equal(x + y, x + x, map_free_vars=True)
    assert not structural_equal(x + 1, tir.Var("z", "int64") + 1, map_free_vars=True)
    with pytest.raises(AssertionError):
        assert_structural_equal(x + 1, x + 2)


def test_what_nothing_gives_is_a_parameter() -> None:
    n = te.var("n")
    x, y = tir.decl_buffer((4,), name="x"), tir.decl_buffer((n,), name="y")
    v, i = tir.Var("v", "float32"), tir.Var("i", "int32")
    func = tir.PrimFunc([], tir.For(i, 0, n, "serial", tir.BufferStore(y, v + x[0], [i])))
    names = [argument.name_hint for argument in func.region.block.args]
    assert names == ["y", "x", "v", "n"]
    given = tir.PrimFunc([x, v], tir.For(i, 0, n, "serial", tir.BufferStore(y, v + x[0], [i])))
    assert [argument.name_hint for argument in given.region.block.args] == ["x", "v", "y", "n"]
    found = np.zeros(3, np.float32)
    weft.build(given)(np.full(4, 2, np.float32), 0.5, found)
    np.testing.assert_array_equal(found, np.full(3, 2.5, np.float32))


def test_a_function_surrounds_what_follows_in_a_builder() -> None:
    x, v = tir.decl_buffer((4,), name="x"), tir.Var("v", "float32")
    ib = tir.ir_builder.create()
    with ib.for_range(0, 4) as i:
        ib.emit(lambda body: tir.LetStmt(v, x[i] * 2.0, body))
        ib.emit(tir.BufferStore(x, v, [i]))
    j = tir.Var("j", "int32")
    expected = tir.For(j, 0, 4, "serial", tir.LetStmt(v, x[j] * 2.0, tir.BufferStore(x, v, [j])))
    assert structural_equal(ib.get(), expected, map_free_vars=True)


def test_a_function_is_verified_where_that_is_asked() -> None:
    x = tir.decl_buffer((4,), name="x")
    beyond = tir.BufferStore(x, 1.0, [4])
    assert "x[4] = " in tir.PrimFunc([x], beyond).script()
    with pytest.raises(Diagnostic, match="outside"):
        tir.PrimFunc([x], beyond, check_well_formed=True)


def test_what_has_no_place_is_refused() -> None:
    x = tir.decl_buffer((4,), name="x")
    ib = tir.ir_builder.create()
    with pytest.raises(UsageError, match="directly behind an if_scope"), ib.else_scope():
        pass
    with ib.if_scope(True):
        ib.emit(tir.BufferStore(x, 1.0, [0]))
    with ib.else_scope():
        ib.emit(tir.BufferStore(x, 2.0, [0]))
    with pytest.raises(UsageError, match="directly behind an if_scope"), ib.else_scope():
        pass
    with pytest.raises(UsageError, match="no loops of kind 'sideways'"), ib.for_range(0, 4, kind="sideways"):
        pass
    with pytest.raises(UsageError, match="computes with the variable 'v'"):
        te.compute((4,), lambda i: tir.Var("v", "float32") + 1.0)


def test_what_is_external_fills_several_tensors() -> None:
    x = te.placeholder((6, 4), name="x")
    twice = te.compute((6, 4), lambda i, j: x[i, j] * 2.0, name="twice")

    def fill(ins: list[Any], outs: list[Any]) -> tir.Stmt:
        ib = tir.ir_builder.create()
        a, b, c = (ib.buffer_ptr(each) for each in (*ins, *outs))
        with ib.for_range(0, 6, kind="parallel") as i, ib.for_range(0, 4, name="j") as j:
            b[i, j] = a[i, j] * 3.0
            c[i, j] = a[i, j] - 1.0
        return ib.get()

    b, c = te.extern([(6, 4), (6, 4)], [twice], fill, name="E")
    total = te.compute((6, 4), lambda i, j: b[i, j] + c[i, j], name="total")
    a, out = floats(6, 4), np.zeros((6, 4), np.float32)
    schedule = te.create_schedule(total.op)
    schedule[twice].compute_inline()
    weft.build(schedule, [x, total])(a, out)
    np.testing.assert_allclose(out, a * 8 - 1, rtol=1e-6)
    np.testing.assert_allclose(evaluate([total], {x: a})[0], a * 8 - 1, rtol=1e-6)
    assert c.value_index == 1 and c.op.axis == () and b.op.input_tensors == [twice]
    (only,) = Interpreter(te.create_prim_func([x, c]))([a])
    np.testing.assert_allclose(only.astype(np.float32), a * 2 - 1, rtol=1e-6)


def test_what_is_external_calls_python_and_knows_extents() -> None:
    @weft.register_func("test.tir_builder.add")
    def add(x: Any, y: Any, out: Any, n: int) -> None:
        out[:n] = x[:n] + y[:n]

    m, n = te.var("m"), te.var("n")
    x, y, u = (te.placeholder((size,), name=name) for name, size in (("x", n), ("y", n), ("u", m)))

    def fill(ins: list[Any], outs: list[Any]) -> tir.Stmt:
        ib = tir.ir_builder.create()
        ib.emit(tir.call_packed("test.tir_builder.add", *ins, outs[0], n))
        with ib.for_range(0, n) as i:
            ib.emit(outs[0].vstore(i, outs[0][i] + i))
        return ib.get()

    z = te.extern((n,), [x, y], fill, name="z")
    w = te.compute((m, n), lambda i, j: z[j] * u[i], name="w")
    function = te.create_prim_func([u, x, y, w])
    a, b, c = floats(7), floats(7), floats(3)
    (got,) = Interpreter(function)([c, a, b])
    np.testing.assert_allclose(got.astype(np.float32), np.outer(c, a + b + np.arange(7)), rtol=1e-5)
    assert_structural_equal(from_source(function.script()), function)


def test_a_function_fills_tensors() -> None:
    @T.prim_func
    def shifted(y: T.Buffer[(8,), "float32"], x: T.Buffer[(8,), "float32"]):
        for i in range(8):
            y[i] = x[7 - i]

    x = te.placeholder((8,), name="x")
    z = te.compute((8,), lambda i: te.extern_primfunc([x], shifted)[i] + 1.0, name="z")
    a = floats(8)
    np.testing.assert_allclose(evaluate([z], {x: a})[0], a[::-1] + 1)
    with pytest.raises(UsageError, match="not of the shape and type"):
        te.extern_primfunc([te.placeholder((4,), name="w")], shifted)


def recurrent(steps: int) -> tuple[te.Tensor, ...]:
    x, s, w = (
        te.placeholder(shape, name=name) for shape, name in (((steps, 4), "x"), ((steps, 4), "s"), ((4, 4), "w"))
    )
    k = te.reduce_axis((0, 4), "k")
    hidden = te.compute((steps, 4), lambda t, i: te.sum(s[t - 1, k] * w[k, i], axis=k), name="hidden")
    update = te.compute((steps, 4), lambda t, i: te.tanh(hidden[t, i]) + x[t, i], name="update")
    first = te.compute((1, 4), lambda t, i: x[0, i], name="first")
    return x, w, te.scan(first, update, s)


def test_steps_are_made_of_steps_before_them() -> None:
    x, w, result = recurrent(6)
    last = te.compute((6, 4), lambda t, i: result[t, i] + 1.0, name="last")
    a, b, out = floats(6, 4), floats(4, 4), np.zeros((6, 4), np.float32)
    expected = a.copy()
    for t in range(1, 6):
        expected[t] = np.tanh(expected[t - 1] @ b) + a[t]
    weft.build(te.create_schedule(last.op), [x, w, last])(a, b, out)
    np.testing.assert_allclose(out, expected + 1, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(evaluate([last], {x: a, w: b})[0], expected + 1, rtol=1e-4, atol=1e-5)


def first_of(x: te.Tensor) -> te.Tensor:
    return te.compute((4, 2), lambda t, i: x[0, i], name="again")


def test_a_step_is_not_made_of_itself_or_later_ones() -> None:
    x, s = te.placeholder((4, 2), name="x"), te.placeholder((4, 2), name="s")
    first = te.compute((1, 2), lambda t, i: x[0, i], name="first")
    for back in (0, 2):
        update = te.compute((4, 2), partial(lambda back, t, i: s[t - back, i] + x[t, i], back), name="update")
        with pytest.raises(UsageError, match="'update' reads 's' at t") as refused:
            te.scan(first, update, s)
        assert "a step is made of those before it" in str(refused.value)
    longer = te.compute((2, 2), lambda t, i: x[0, i], name="longer")
    with pytest.raises(UsageError, match="have not the same steps"):
        te.scan([first, longer], [update, first_of(x)], [s, te.placeholder((4, 2), name="other")])
    with pytest.raises(IndexError, match="its index there runs from -1"):
        te.create_prim_func([s, te.compute((4, 2), lambda t, i: s[t - 1, i], name="y")])


def test_whole_tensors_are_added_by_numpys_rule() -> None:
    x, y = te.placeholder((3, 4), name="x"), te.placeholder((3, 1), name="y")
    z = (x * 2.0 - y) / 4.0 + 1.0
    a, b = floats(3, 4), floats(3, 1)
    np.testing.assert_allclose(evaluate([z], {x: a, y: b})[0], (a * 2 - b) / 4 + 1, rtol=1e-6)
    with pytest.raises(UsageError, match="do not go together"):
        _ = x + te.placeholder((2, 4), name="w")


def clipped(x: Any, low: Any, high: Any) -> Any:
    return te.max(te.min(x, high), low)


def test_a_text_calls_functions_of_expressions() -> None:
    @T.prim_func
    def f(x: T.Buffer[(8,), "float32"], u: T.Buffer[(8,), "uint8"]):
        for i in range(8):
            x[i] = clipped(x[i], -0.5, high=0.5)
            u[i] = clipped(u[i], 3, 200)

    a, b = floats(8), np.array([0, 3, 5, 127, 128, 200, 201, 255], np.uint8)
    expected = np.clip(a, -0.5, 0.5)
    weft.build(f)(a, b.view(np.int8))
    np.testing.assert_array_equal(a, expected)
    np.testing.assert_array_equal(b, [3, 3, 5, 127, 128, 200, 200, 200])
    assert_structural_equal(from_source(f.script()), f)


def test_a_function_that_fails_on_expressions_is_refused_where_it_is_called() -> None:
    decide = lambda x: 1.0 if x > 0.0 else 2.0  # noqa: E731
    with pytest.raises(Diagnostic, match="has no truth value before it runs"):

        @T.prim_func
        def f(x: T.Buffer[(8,), "float32"]):
            for i in range(8):
                x[i] = decide(x[i])


def test_loops_within_a_while_count_as_data_says() -> None:
    @T.prim_func
    def f(x: T.Buffer[(8,), "float32"], n: T.Buffer[(1,), "int32"], y: T.Buffer[(8,), "float32"]):
        c = T.alloc_buffer((1,), "int32")
        for i in range(8):
            y[i] = 0.0
        c[0] = 0
        while c[0] < n[0]:
            for i, j in T.grid(2, 4):
                y[i * 4 + j] += x[i * 4 + j]
            for i in T.serial(1, n[0]):
                y[i] = y[i] * 2.0
                n[0] = n[0] - 0
            c[0] += 1

    again = from_source(f.script())
    assert_structural_equal(again, f)
    a, n, out = floats(8), np.array([3], np.int32), np.zeros(8, np.float32)
    expected = np.zeros(8, np.float32)
    for _ in range(3):
        expected += a
        expected[1:3] *= 2
    weft.build(f)(a, n, out)
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    np.testing.assert_allclose(Interpreter(again)([a, n])[0].astype(np.float32), expected, rtol=1e-5)


def test_sizes_stand_anywhere_among_the_parameters() -> None:
    text = 'def f(n: T.int32, x: T.handle):\n  X = T.match_buffer(x, (n,), "int8")\n  for i in range(n):\n    X[i] = 1'
    function = from_source(text)
    assert [argument.name_hint for argument in function.region.block.args] == ["X", "n"]


def test_a_name_of_the_builder_is_what_its_value_was_then() -> None:
    x, y = tir.decl_buffer((4,), "float32", name="x"), tir.decl_buffer((4,), "float32", name="y")
    ib = tir.ir_builder.create()
    a, b = ib.buffer_ptr(x), ib.buffer_ptr(y)
    with ib.for_range(0, 4) as i:
        v = ib.let("v", a[i])
        a[i] = a[i] + 10.0
        b[i] = v
    changed, kept = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    weft.build(tir.PrimFunc([x, y], ib.get()), threads=1)(changed, kept)
    assert [*kept] == [0, 1, 2, 3] and [*changed] == [10, 11, 12, 13]


def test_a_scan_has_an_update_of_its_own_for_each_state() -> None:
    s, t = (te.placeholder((4, 2), name=name) for name in "st")
    first = te.compute((1, 2), lambda _, i: 1.0)
    update = te.compute((4, 2), lambda k, i: s[k - 1, i] + t[k - 1, i])
    with pytest.raises(UsageError, match="an update, is given twice"):
        te.scan([first, first], [update, update], [s, t])
    with pytest.raises(UsageError, match="a state, or an update, is given twice"):
        te.scan([first, first], [update, te.compute((4, 2), lambda k, i: s[k - 1, i])], [s, s])


@T.prim_func
def copied(a: T.Buffer((4,), "uint8"), b: T.Buffer((4,), "uint8")):
    for i in range(4):
        with T.block("b"):
            vi = T.axis.spatial(4, i)
            b[vi] = a[vi]


def test_bytes_of_which_a_function_does_not_say_that_they_are_signed_are_no_tensor() -> None:
    with pytest.raises(UsageError, match="whether the elements that @copied writes, i8, are signed is not known"):
        te.extern_primfunc([te.placeholder((4,), "uint8", name="x")], copied)


def test_pointers_are_to_as_many_elements_as_statements_come_to() -> None:
    ib, n = tir.ir_builder.create(), te.var("n")
    x, y = ib.pointer("float32", name="x"), ib.pointer("float32", name="y")
    with ib.for_range(0, n) as i, ib.for_range(0, 4, kind="vectorized") as j:
        y[i * 4 + j] = x[i + 2] + 1.0
    made = tir.PrimFunc([x, y.asobject(), n], ib.get())
    assert [str(made.buffer_map[each].shape[0]) for each in made.params[:2]] == ["n + 2", "n * 4"]
    data, found = np.arange(5, dtype=np.float32), np.zeros(12, np.float32)
    weft.build(made)(data, found, 3)
    np.testing.assert_array_equal(found, np.repeat(data[2:] + 1, 4))


def test_memory_that_is_used_as_data_says_has_a_size_of_its_own() -> None:
    ib = tir.ir_builder.create()
    at, y = tir.decl_buffer((4,), "int32", name="at"), ib.pointer("float32", name="y")
    with ib.for_range(0, 4) as i:
        y[ib.buffer_ptr(at)[i]] = 1.0
    made = tir.PrimFunc([at, y], ib.get())
    assert [str(each) for each in made.buffer_map[made.params[1]].shape] == ["y_size"]
    found = np.zeros(6, np.float32)
    weft.build(made)(np.array([5, 0, 2, 5], np.int32), found)
    np.testing.assert_array_equal(found, [1, 0, 1, 0, 0, 1])


def test_memory_that_threads_use_is_as_large_as_all_of_them_need() -> None:
    ib = tir.ir_builder.create()
    x = ib.pointer("float32", name="x")
    thread = te.thread_axis("threadIdx.x")
    ib.scope_attr(thread, "thread_extent", 32)
    with ib.for_range(0, 4) as i:
        x[thread * 4 + i] = 1.0
    made = tir.PrimFunc([x], ib.get())
    assert [int(each) for each in made.buffer_map[made.params[0]].shape] == [128]


def test_memory_whose_use_no_expression_of_sizes_says_is_read_and_refused_where_it_may_be_too_small() -> None:
    ib = tir.ir_builder.create()
    x, n, m = ib.pointer("float32", name="x"), te.var("n"), te.var("m")
    with ib.for_range(0, n) as i:
        x[i] = 1.0
    with ib.for_range(0, m) as i:
        x[i] = 2.0
    made = tir.PrimFunc([x], ib.get())
    assert "x_size" in made.script()
    with pytest.raises(Diagnostic, match="writes %x outside"):
        weft.build(made)


def test_a_scope_ends_what_is_open_in_it() -> None:
    ib = tir.ir_builder.create()
    y = ib.buffer_ptr(tir.decl_buffer((4,), name="y"))
    with ib.new_scope():
        b = ib.allocate("float32", (1,), name="b")
        b[0] = 2.0
        y[0] = b[0]
    y[1] = 3.0
    first, second = ib.get().seq
    assert isinstance(first, tir.Allocate) and isinstance(second, tir.BufferStore)


def test_registered_functions_are_called_with_arrays_that_answer_as_tvms() -> None:
    def called(x: weft.nd.NDArray, y: weft.nd.NDArray) -> None:
        assert type(x.numpy()) is np.ndarray
        x.copyto(y)

    weft.register_func("test.tir_builder.copied", called, override=True)
    x = te.placeholder((4,), name="x")
    y = te.extern((4,), [x], lambda ins, outs: tir.call_packed("test.tir_builder.copied", ins[0], outs[0]), name="y")
    func = te.create_prim_func([x, y])
    data, found = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    weft.build(func)(data, found)
    np.testing.assert_array_equal(found, data)
    np.testing.assert_array_equal(Interpreter(func)([data])[0], data)


def test_attributes_are_read_as_values() -> None:
    func = tir.PrimFunc([A], tir.BufferStore(A, 1.0, [0, 0]), attrs={"global_symbol": "f", "key": [1, "x"]})
    assert func.attrs["global_symbol"] == "f" and func.attrs["key"] == [1, "x"]


def test_the_extents_of_memory_are_expressions() -> None:
    ib, n = tir.ir_builder.create(), te.var("n")
    b = ib.allocate("float32", (n, 8), name="b")
    b[0, 0] = 1.0
    alloc = ib.get()
    assert alloc.extents[0] is n and isinstance(alloc.extents[1], tir.IntImm) and alloc.extents[1].value == 8


def test_the_extent_of_a_pointer_follows_from_named_places() -> None:
    ib = tir.ir_builder.create()
    a = ib.pointer("float32", name="A")
    with ib.for_range(0, 8) as i:
        a[ib.let("x", i * 2)] = 1.0
    found = tir.PrimFunc([a], ib.get())
    assert [int(n) for n in found.buffer_map[found.params[0]].shape] == [15]


@pytest.mark.parametrize("axis", ["vthread", "cthread", "threadIdx.x"])
def test_virtual_threads_run_one_after_the_other(axis: str) -> None:
    ib, first, second = tir.ir_builder.create(), te.thread_axis(axis), te.thread_axis(axis)
    a, b = ib.pointer("float32", name="A"), ib.pointer("float32", name="B")
    ib.scope_attr(first, "virtual_thread", 2)
    ib.scope_attr(second, "virtual_thread", 3)
    b[first * 3 + second] = a[second * 2 + first] + 1.0
    found = tir.PrimFunc([a, b], ib.get())
    lowered = tir.transform.InjectVirtualThread()(tir.IRModule.from_expr(found))["main"]
    assert 'thread="' + ("cthread" if axis == "cthread" else "vthread") in found.script()
    assert "thread_binding" not in str(lowered)
    data, result = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    weft.build(lowered)(data, result)
    np.testing.assert_array_equal(result, data.reshape(3, 2).T.ravel() + 1)


def test_statements_of_virtual_threads_are_no_blocks_afterwards() -> None:
    ib = tir.ir_builder.create()
    thread = te.thread_axis("vthread")
    with ib.for_range(0, 8, name="i") as i:
        ib.scope_attr(thread, "virtual_thread", 2)
        own = ib.allocate("float32", 4, name="A", scope="shared")
        own[thread] = thread + 1.0
        ib.emit(tir.call_extern("int32", "Run", i, own.asobject().access_ptr("r")))
    lowered = tir.transform.InjectVirtualThread()(tir.IRModule.from_expr(tir.PrimFunc([], ib.get())))["main"]
    body = lowered.body.body.body
    assert isinstance(body, tir.Allocate) and isinstance(body.body.seq[0], tir.BufferStore)
    assert "T.block" not in lowered.script() and lowered.body.body.kind == "serial"


def test_a_thread_that_nothing_gives_its_numbers_is_a_parameter() -> None:
    ib = tir.ir_builder.create()
    a = ib.pointer("float32", name="A")
    a[te.thread_axis("vthread")] = 1.0
    assert [each.name for each in tir.PrimFunc([a], ib.get()).params] == ["A", "vthread", "A_size"]


def test_steps_that_are_not_known_leave_memory_a_size_of_its_own() -> None:
    n, ib = te.var("n", dtype="int32"), tir.ir_builder.create()
    a = ib.pointer("float32", name="A")
    a[tir.Ramp(0, n, 4)] = tir.Broadcast(tir.const(1.0, "float32"), 4)
    made = tir.PrimFunc([a, n], ib.get())
    assert [str(each) for each in made.buffer_map[made.params[0]].shape] == ["A_size"]


def test_a_call_that_fills_a_tensor_reads_what_it_is_given_and_writes_the_tensor() -> None:
    @weft.register_func("test.scaled", override=True)
    def scaled(x: Any, y: Any) -> int:
        y[:] = x * 3
        return 7

    x = te.placeholder((4, 4), name="x")
    y = te.extern((4, 4), [x], lambda ins, outs: tir.call_packed("test.scaled", ins[0], outs[0].data), name="y")
    function = te.create_prim_func([x, y])
    (block,) = [op for op in function.walk() if isinstance(op, BlockOp)]
    assert list(block.reads) == [function.region.block.args[0]]
    assert list(block.writes) == [function.region.block.args[1]]
    data, found = np.ones((4, 4), np.float32), np.empty((4, 4), np.float32)
    weft.build(te.create_schedule(y.op), [x, y])(data, found)
    np.testing.assert_array_equal(found, data * 3)


def test_memory_may_stand_among_what_a_while_does() -> None:
    ib = tir.ir_builder.create()
    count = ib.allocate("int32", (1,), name="count")
    y = ib.pointer("int32", name="y", shape=(4,))
    count[0] = 0
    with ib.while_loop(count[0] < 4):
        twice = ib.allocate("int32", (2,), name="twice")
        twice[1] = count[0] * 2
        y[count[0]] = twice[1]
        count[0] += 1
    found = np.zeros(4, np.int32)
    weft.build(tir.PrimFunc([y], ib.get()))(found)
    np.testing.assert_array_equal(found, [0, 2, 4, 6])
