"""`weft.te`: TVM's names and argument forms, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from te_run import assert_scheduled, computed

import weft
from weft import te, tir
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.te.evaluate import evaluate
from weft.dialects.tir.core import ForOp, blocks_under
from weft.tir import Interpreter, ScheduleError


def test_a_placeholder_takes_a_dtype_by_name_and_float32_without_one() -> None:
    assert te.placeholder((2, 3), "int8", "x").dtype == "int8"
    assert te.placeholder((2, 3), name="x").dtype == "float32"
    assert te.placeholder(4).shape == (4,)
    assert te.placeholder((2, 3), dtype="uint8").op.name == "placeholder"


def test_axes_are_called_as_the_parameters_are() -> None:
    x = te.placeholder((2, 3, 4), name="x")

    def row_wise(row: te.IterVar, *rest: te.IterVar) -> te.Expr:
        return x[(row, *rest)] + 1.0

    y = te.compute(x.shape, row_wise, name="y")
    assert [axis.name for axis in y.op.axis] == ["row", "rest0", "rest1"]
    assert y.op.input_tensors == [x] and y.op.output(0) is y and y.op.num_outputs == 1
    assert "tir.for %row = 0 to 2" in str(te.create_prim_func([x, y]))


def test_tensors_are_called_or_indexed() -> None:
    x = te.placeholder((4, 5), name="x")
    y = te.compute((4, 5), lambda i, j: x(i, j) - x[i, 4 - j], name="y")
    got, a = computed(y, x)
    np.testing.assert_array_equal(got, a - a[:, ::-1])


def test_an_index_becomes_what_it_meets() -> None:
    x = te.placeholder((6,), "int32", "x")
    y = te.compute((6,), lambda i: x[i] * 10 + i, name="y")
    z = te.compute((6,), lambda i: i * 0.5, name="z")
    got, a = computed(y, x)
    np.testing.assert_array_equal(got, a * 10 + np.arange(6))
    assert (z.dtype, te.compute((6,), lambda i: i * 2, name="w").dtype) == ("float32", "int32")
    np.testing.assert_array_equal(computed(z)[0], np.arange(6) * np.float32(0.5))


def test_a_tensor_of_integers_is_an_index() -> None:
    x, at = te.placeholder((4, 3), name="x"), te.placeholder((5,), "int32", "at")
    y = te.compute((5, 3), lambda i, j: x[at[i], j], name="y")
    got, a, b = computed(y, x, at)
    np.testing.assert_array_equal(got, a[b])
    assert_scheduled(te.create_schedule(y.op), [x, at, y])


def test_a_condition_chooses_and_guards() -> None:
    x = te.placeholder((6,), name="x")
    y = te.compute((8,), lambda i: te.if_then_else(te.all(i >= 1, te.any(i < 7, i.equal(3))), x[i - 1], 0.0), name="y")
    got, a = computed(y, x)
    np.testing.assert_array_equal(got, np.pad(a, 1))
    assert_scheduled(te.create_schedule(y.op), [x, y])


def _chosen(i: te.IterVar) -> object:
    return 1.0 if i > 2 else 0.0


def _both(i: te.IterVar) -> object:
    return i > 2 and i < 4


def _not(i: te.IterVar) -> object:
    return not (i > 2)


@pytest.mark.parametrize(
    "body",
    [_chosen, _both, _not],
    ids=["if", "and", "not"],
)
def test_a_condition_has_no_truth_value_in_python(body: Callable[[te.IterVar], object]) -> None:
    with pytest.raises(TypeError, match=r"te\.if_then_else\(c, a, b\).*te\.all\(c, d\).*te\.any\(c, d\)"):
        te.compute((8,), body)


@pytest.mark.parametrize("name", ["exp", "tanh", "sqrt", "floor", "abs", "sigmoid", "erf", "log2", "rsqrt", "atan"])
def test_functions_have_tvms_names(name: str) -> None:
    x = te.placeholder((9,), name="x")
    y = te.compute((9,), lambda i: getattr(te, name)(x[i] * x[i] + 1.0), name="y")
    assert_scheduled(te.create_schedule(y.op), [x, y])


def test_division_says_how_it_rounds() -> None:
    x = te.placeholder((6,), "int32", "x")
    y = te.compute(
        (6,),
        lambda i: te.floordiv(x[i] - 2, 3) * 1000 + te.truncdiv(x[i] - 2, 3) * 100 + te.floormod(x[i] - 2, 3),
        name="y",
    )
    got, a = computed(y, x)
    np.testing.assert_array_equal(got, (a - 2) // 3 * 1000 + np.trunc((a - 2) / 3).astype(int) * 100 + (a - 2) % 3)


def test_a_prim_func_takes_its_tensors_by_name() -> None:
    x, y = te.placeholder((4,), name="x"), te.placeholder((4,), name="x")
    z = te.compute((4,), lambda i: x[i] + y[i], name="a b")
    function = te.create_prim_func([x, y, z], name="add")
    assert str(function).startswith("tir.prim_func @add(%x: memref<4xf32>, %x_1: memref<4xf32>, %a_b: memref<4xf32>)")
    function.verify()


MISTAKES: list[tuple[Callable[[te.Tensor], Any], str]] = [
    (lambda x: te.placeholder((2, -1)), "-1 is no extent"),
    (lambda x: te.placeholder((2.5,)), "has 2.5, a float in it"),  # pyright: ignore[reportArgumentType]
    (lambda x: te.placeholder((2,), "float33"), "float33"),
    (lambda x: te.compute((2, 3), lambda i: x[i]), "2 dimensions, and its function takes 1"),
    (lambda x: te.compute((2,), lambda i, j: x[i]), "1 dimensions, and its function takes 2"),
    (lambda x: te.compute((2,), lambda i: "x"), "is a str"),
    (lambda x: te.compute((2,), lambda i: (x[i], None)), "not an expression"),
    (lambda x: te.sum(x[0], axis=te.compute((2,), lambda i: x[i]).op.axis), "no reduce_axis"),
    (lambda x: te.sum(x[0], k := te.reduce_axis(4), init=k), "`init` depends on rv, over which is reduced"),
    (lambda x: te.sum(x[0], te.reduce_axis(4), init=te.max(x[0], te.reduce_axis(4))), "is a reduction itself"),
    (lambda x: te.if_then_else(x[0], 1.0, 2.0), "a condition is a comparison"),
    (lambda x: te.all(), "at least one condition"),
    (lambda x: te.reduce_axis((3, 1)), "ends before it begins"),
    (lambda x: te.extern((2,), [x], lambda ins, outs: 1), "is a int, and neither a statement nor a call"),
    (lambda x: te.scan(x, x, x), "no te.compute"),
    (lambda x: te.hybrid(None), "te.hybrid"),
    (lambda x: te.thread_axis(), "takes the thread's name"),
    (lambda x: te.create_schedule(x.op), "takes tensors that are computed"),
    (lambda x: te.create_prim_func([x]), "none of the tensors that are given is computed"),
    (lambda x: te.create_prim_func([te.compute((2,), lambda i: x[i])]), "'x' is read, and not among the arguments"),
    (lambda x: te.create_prim_func([x, x]), "'x' is given twice"),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES, ids=[message for _, message in MISTAKES])
def test_a_mistake_is_told_with_its_reason(mistake: Callable[[te.Tensor], Any], message: str) -> None:
    with pytest.raises(Diagnostic, match=message):
        mistake(te.placeholder((4,), name="x"))


def test_names_are_offered_without_being_loaded() -> None:
    assert set(te.__all__) <= set(dir(te)) and "create_schedule" in te.__all__
    assert weft.te is te


def test_an_axis_of_one_value_is_a_loop_of_a_function_of_tensors() -> None:
    a = te.placeholder((1, 4), name="a")
    text = te.create_prim_func([a, te.compute((1, 4), lambda i, j: a[i, j] + 1.0, name="b")]).script()
    assert "for i, j in T.grid(1, 4):" in text and 'T.axis.remap("SS", [i, j])' in text


def test_equality_is_a_condition() -> None:
    x = te.placeholder((6,), name="x")
    y = te.compute((6,), lambda i: te.if_then_else(i == 2, 7.0, te.if_then_else(x[i] != 0.0, x[i], 1.0)), name="y")
    got, a = computed(y, x)
    np.testing.assert_array_equal(got, [7.0 if i == 2 else v or 1.0 for i, v in enumerate(a)])
    assert_scheduled(te.create_schedule(y.op), [x, y])


def _equal(i: te.IterVar) -> object:
    return 1.0 if i == 2 else 0.0


def test_equality_with_a_number_has_no_truth_value_in_python() -> None:
    with pytest.raises(TypeError, match="no truth value"):
        te.compute((8,), _equal)


def test_the_truth_of_equality_says_whether_two_are_one() -> None:
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), name="x")
    i, j = te.compute((n, m), lambda i, j: x[i, j]).op.axis
    assert i in (j, i) and [j, i].index(i) == 1 and {i: 1, j: 2}[j] == 2 and i != j
    assert n == n and not n == m and n != m and n + 1 == 1 + n and not n == 0 and n != n + 1
    assert te.const(3) == 3 and te.const(3) != 4 and (n, 4) == (n, 4) and i not in (n, "i", None)


def test_a_tensor_is_read_one_dimension_after_the_other() -> None:
    x = te.placeholder((4, 5, 6), name="x")
    y = te.compute((4, 5), lambda i, j: x[i][j][0] + x[i, j][1] + x[0][0, 2], name="y")
    got, a = computed(y, x)
    np.testing.assert_allclose(got, a[:, :, 0] + a[:, :, 1] + a[0, 0, 2], rtol=1e-6)
    part: Any = x[0]
    assert part.shape == (5, 6)
    wrong: list[Callable[[te.IterVar], object]] = [
        lambda i: x[i],
        lambda i: x[i][0] + 1.0,
        lambda i: x[i][0][0][0],
        lambda i: 2.0 * x[i, 0],
    ]
    for formula in wrong:
        with pytest.raises(IndexError, match="has rank 3 but is read with"):
            te.compute((4,), formula)


def test_integers_are_shifted_and_raised() -> None:
    x = te.placeholder((4,), "int32", "x")
    y = te.compute(
        (4,), lambda i: (x[i] << 2) + (x[i] >> 1) + (1 << te.abs(x[i]) % 8) + (7 & x[i]) + 100 // (abs(x[i]) + 1)
    )
    got, a = computed(y, x)
    expected = [(v << 2) + (v >> 1) + (1 << abs(v) % 8) + (7 & v) + 100 // (abs(v) + 1) for v in a.tolist()]
    np.testing.assert_array_equal(got, np.array(expected, np.int64).astype(np.int32))


def test_several_formulas_give_several_tensors() -> None:
    n = te.size_var("n")
    a, b = te.placeholder((n,), name="a"), te.placeholder((n,), name="b")
    both: Any = te.compute((n,), lambda i: (a[i] + b[i], a[i] * b[i]), name="both")
    plus, times = both
    assert (plus.name, times.name) == ("both.v0", "both.v1")
    x, y = np.arange(4, dtype=np.float32), np.ones(4, np.float32) * 3
    for got, expected in zip(evaluate([plus, times], {a: x, b: y}), (x + y, x * y), strict=True):
        np.testing.assert_array_equal(got, expected)
    function = te.create_prim_func([a, b, plus, times], index_dtype_override="int64")
    results = Interpreter(function)([x, y])
    np.testing.assert_array_equal(results[1], x * y)
    with pytest.raises(UsageError, match="int32 or int64"):
        te.create_prim_func([a, b, plus], "int8")


@pytest.mark.parametrize("name", ["_0", "_0_1", "4", "a b", "ä", ""])
def test_names_of_all_kinds_are_names_of_values(name: str) -> None:
    x = te.placeholder((2, 3), name=name)
    y = te.compute((2, 3), lambda *_: x(*_) + 1.0, name=name)
    z = te.compute((2, 3), lambda _, _0: y[_, _0] * 2.0, name=name)
    function = te.create_prim_func([x, z]).clone().clone()
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(Interpreter(function)([a])[0], (a + 1) * 2)
    tir.assert_structural_equal(tir.from_source(function.script()), function)


def _nests(function: Any) -> list[list[str]]:
    """The names of the blocks of each nest of loops."""
    tops = [op for op in function.region.block.ops if isinstance(op, ForOp)]
    return [[block.block_name for block in blocks_under(top)] for top in tops]


def test_what_one_function_gives_is_computed_in_one_nest() -> None:
    x = te.placeholder((4, 1), name="x")
    twice = te.compute((4, 1), lambda i, j: x[i, j] * 2.0, name="twice")
    both: Any = te.compute((4, 1), lambda i, j: (x[i, j] + 1.0, twice[i, j] * 3.0), name="both")
    first, second = both
    more: Any = te.compute((4, 1), lambda i, j: (first[i, j] - 5.0, twice[i, j]), name="more")
    end = te.compute((4, 1), lambda i, j: more[0][i, j] + second[i, j] + more[1][i, j], name="end")
    function = te.create_prim_func([x, first, second, end])
    assert _nests(function) == [["twice"], ["both.v0", "both.v1"], ["more.v0", "more.v1"], ["end"]]
    a = np.arange(4, dtype=np.float32).reshape(4, 1)
    results = Interpreter(function)([a])
    for got, expected in zip(results, (a + 1, a * 6, a - 4 + a * 6 + a * 2), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_attributes_of_several_formulas_stand_on_the_block_of_each() -> None:
    x = te.placeholder((4,), name="x")
    a, b = cast("Any", te.compute((4,), lambda i: (x[i] + 1.0, x[i] * 3.0), name="both", attrs={"note": 1}))
    function = te.create_prim_func([x, a, b])
    assert [sorted(block.attributes) for block in blocks_under(function)] == [["note"], ["note"]]


def test_one_of_several_formulas_alone_and_sums_beside_one_another_have_nests_of_their_own() -> None:
    x, k, m = te.placeholder((4, 3), name="x"), te.reduce_axis((0, 3), "k"), te.reduce_axis((0, 3), "m")
    sums: Any = te.compute((4,), lambda i: (te.sum(x[i, k], axis=k), te.max(x[i, m], axis=m)), name="sums")
    assert _nests(te.create_prim_func([x, *sums])) == [["sums.v0"], ["sums.v1"]]
    both: Any = te.compute((4, 3), lambda i, j: (x[i, j] + 1.0, x[i, j] * 3.0), name="both")
    assert _nests(te.create_prim_func([x, both[1]])) == [["both.v1"]]
    alone: Any = te.compute((), lambda: (x[0, 0], x[1, 1]), name="alone")
    results = Interpreter(te.create_prim_func([x, *alone]))([np.arange(12, dtype=np.float32).reshape(4, 3)])
    assert [float(each) for each in results] == [0.0, 4.0]


def test_a_module_is_made_of_functions_by_name() -> None:
    x = te.placeholder((4,), name="x")
    function = te.create_prim_func([x, te.compute((4,), lambda i: x[i] + 1.0, name="y")])
    module = weft.tir.IRModule({"one": function, "two": function})
    assert module["one"].sym_name.data == "one" and module["two"].sym_name.data == "two"
    assert function.sym_name.data == "main" and function.parent is None


def test_modules_of_one_function_are_one_whatever_it_is_called() -> None:
    a = te.placeholder((4,), name="a")
    made = te.create_prim_func([a, te.compute((4,), lambda i: a[i] + 1.0, name="b")], name="added")
    other = te.create_prim_func([a, te.compute((4,), lambda i: a[i] + 2.0, name="b")])
    alone, called = tir.IRModule.of(made), tir.IRModule({"main": made})
    assert tir.structural_equal(alone, called) and tir.structural_hash(alone) == tir.structural_hash(called)
    assert not tir.structural_equal(alone, tir.IRModule.of(other))
    two = [tir.IRModule({"main": made, name: other}) for name in ("one", "two")]
    assert not tir.structural_equal(two[0], two[1])


def test_tir_has_the_functions_of_expressions() -> None:
    x = te.placeholder((6,), name="x")
    tir = cast("Any", weft.tir)
    y = te.compute(
        (6,), lambda i: tir.Select(tir.all(i >= 1, x[i] > 0.0), tir.exp(x[i]), tir.const(2, "float32")), name="y"
    )
    got, a = computed(y, x)
    expected = np.where((np.arange(6) >= 1) & (a > 0), np.exp(a), np.float32(2))
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    assert tir.floormod is te.floormod and tir.Select is te.Select


def test_tags_and_attributes_are_kept_for_schedules_of_ones_own() -> None:
    x = te.placeholder((4,), name="x")
    with te.tag_scope(tag="gemm"):
        y = te.compute((4,), lambda i: x[i] * 2.0, name="y", attrs={"tile": [4, 8]})
    assert y.op.tag == "gemm" and y.op.attrs == {"tile": [4, 8]} and x.op.tag == ""
    assert te.compute((4,), lambda i: x[i], tag="copy").op.tag == "copy"

    @te.tag_scope(tag="conv")
    def twice() -> te.Tensor:
        return te.compute((4,), lambda i: x[i] * 2.0)

    assert twice().op.tag == "conv"
    with te.tag_scope(tag="outer"), pytest.raises(UsageError, match="stands within"):
        twice()
    assert te.compute((4,), lambda i: x[i]).op.tag == ""


def test_what_attributes_say_of_a_computation_is_on_its_block() -> None:
    x, w = te.placeholder((4, 4), name="x"), te.placeholder((4, 4), name="w")
    y = te.compute((4, 4), lambda i, j: x[i, j] * w[j, i], name="y", attrs={"layout_free_placeholders": [w]})
    z = te.compute((4, 4), lambda i, j: y[i, j], name="z", attrs={"tile": [4, 8], "layout_free_placeholders": [w, y]})
    func = te.create_prim_func([z, x, w])
    script = func.script()
    assert "T.block_attr({'tile': [4, 8], 'layout_free_placeholders': ['y']})" in script
    assert script.count("T.block_attr") == 1 and "'layout_free_buffers': [1]" in script
    odd = te.compute((4, 4), lambda i, j: x[i, j], name="odd", attrs={"word": object()})
    with pytest.raises(UsageError, match="attribute 'word' of 'odd': there is no attribute for a object"):
        te.create_prim_func([x, odd])


def test_stages_of_a_group_move_together() -> None:
    x = te.placeholder((8, 12), name="x")
    a = te.compute((8, 12), lambda i, j: x[i, j] + 1.0, name="a")
    b = te.compute((8, 12), lambda i, j: a[i, j] * 2.0, name="b")
    c = te.compute((8, 12), lambda i, j: b[i, j] - x[i, j], name="c")
    s = te.create_schedule(c.op)
    group = s.create_group(outputs=b, inputs=a, include_inputs=True)
    assert s[a].group is s[b].group is group and s[c].group is None and group.num_child_stages == 2
    group.compute_at(s[c], c.op.axis[0])
    assert group.attach_stage is s[c]
    text = str(weft.lower(s, [x, c]))
    assert text.count("= 0 to 8 ") == 1 and text.count("= 0 to 12 ") == 3
    assert_scheduled(s, [x, c])
    s[a].compute_at(s[b], b.op.axis[1])  # its own place within the group
    assert_scheduled(s, [x, c])
    group.compute_root()
    assert_scheduled(s, [x, c])
    inner = s.create_group(outputs=b, inputs=a)
    assert inner.group is group and s[b].group is inner and group.num_child_stages == 2
    cache = s.cache_write(b, "local")
    assert s[cache].group is inner
    with pytest.raises(ScheduleError, match="is in the group"):
        group.compute_at(s[b], s[b].op.axis[0])


def test_errors_are_those_of_tvms_kinds() -> None:
    x = te.var("x")
    with pytest.raises(ValueError, match="no truth value"):
        assert x + 1
    with pytest.raises(TypeError, match="no truth value"):
        assert x > 1
    with pytest.raises(ValueError, match="take at least one condition"):
        te.any()
