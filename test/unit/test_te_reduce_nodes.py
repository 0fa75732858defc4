"""TVM's nodes of reductions (`tir.Reduce`, `tir.CommReducer`)."""

# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false, reportOperatorIssue=false
# pyright: reportCallIssue=false, reportGeneralTypeIssues=false, reportIndexIssue=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import te, tir
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.tir.interpreter import Interpreter


def sums(dtype: str = "float32") -> Any:
    x, y = tir.Var("x", dtype), tir.Var("y", dtype)
    return tir.CommReducer([x], [y], [x + y], [tir.const(0, dtype)])


def largest_places() -> Any:
    (i, j), (v, w) = (tuple(tir.Var(n, "int32") for n in names) for names in ("ij", "vw"))
    takes = tir.Or(v > w, tir.And(v.equal(w), i < j))
    least = te.min_value("int32")
    return tir.CommReducer([i, v], [j, w], [te.if_then_else(takes, i, j), te.if_then_else(takes, v, w)], [
        tir.const(2147483647, "int32"), least,
    ])  # fmt: skip


def test_what_reducers_give_is_a_node_that_says_what_it_combines() -> None:
    n = te.size_var("n")
    a, k = te.placeholder((n,), name="a"), te.reduce_axis((0, n), "k")
    for found, kind, start in (
        (te.sum(a[k], axis=k), tir.Add, 0.0),
        (te.max(a[k], axis=k), tir.Max, -np.inf),
        (te.comm_reducer(lambda x, y: x + y, lambda dtype: tir.const(0, dtype))(a[k], axis=k), tir.Add, 0.0),
        (tir.Reduce(sums(), [a[k]], [k], None, 0), tir.Add, 0.0),
    ):
        assert isinstance(found, tir.Reduce) and not isinstance(found, tir.Add)
        assert isinstance(found.combiner, tir.CommReducer)
        (x,), (y,), (result,), (identity,) = (
            found.combiner.lhs, found.combiner.rhs, found.combiner.result, found.combiner.identity_element,
        )  # fmt: skip
        assert isinstance(result, kind) and {result.a, result.b} == {x, y} and identity.value == start
        assert found.value_index == 0 and found.axis == (k,) and len(found.source) == 1 and found.init == ()
        assert found.condition.value == 1
    assert not isinstance(a[k], tir.Reduce) and not isinstance(sums(), tir.Reduce)


COMPUTATIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[np.ndarray], np.ndarray]]] = {
    "a sum": (lambda a, k: lambda i: tir.Reduce(sums("int32"), [a[i, k]], [k], None, 0), lambda x: x.sum(1)),
    "a sum where": (
        lambda a, k: lambda i: tir.Reduce(sums("int32"), [a[i, k]], [k], k % 2 < 1, 0),
        lambda x: x[:, ::2].sum(1),
    ),
    "a sum from": (
        lambda a, k: lambda i: tir.Reduce(sums("int32"), [a[i, k]], [k], None, 0, [i + 3]),
        lambda x: x.sum(1) + np.arange(len(x)) + 3,
    ),
    "several results": (
        lambda a, k: lambda i: tuple(tir.Reduce(c, [k, a[i, k]], [k], None, n) for c in [PLACES] for n in range(2)),
        lambda x: x.argmax(1),
    ),
}  # fmt: skip
PLACES = largest_places()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("case", COMPUTATIONS)
def test_reductions_that_are_put_together_compute_what_they_say(case: str, threads: int) -> None:
    formula, meaning = COMPUTATIONS[case]
    n, m = te.size_var("n"), te.size_var("m")
    a, k = te.placeholder((n, m), "int32", name="a"), te.reduce_axis((0, m), "k")
    made = te.compute((n,), formula(a, k), name="b")
    outputs = list(made) if isinstance(made, tuple | list) else [made]
    s = te.create_schedule([each.op for each in outputs])
    built = weft.build(s, [a, *outputs], threads=threads)
    interpreter = Interpreter(weft.lower(s, [a, *outputs])["main"])
    for shape in ((1, 1), (5, 7), (0, 3), (17, 2)):
        array = np.random.default_rng(0).integers(-9, 9, shape, dtype=np.int32)
        results = [np.zeros(shape[0], np.int32) for _ in outputs]
        built(array, *results)
        np.testing.assert_array_equal(results[0], meaning(array))
        for each, other in zip(interpreter([array]), results, strict=True):
            np.testing.assert_array_equal(each, other)


def test_reductions_without_meaning_are_refused() -> None:
    a, k = te.placeholder((4,), name="a"), te.reduce_axis((0, 4), "k")
    x, y = tir.Var("x", "float32"), tir.Var("y", "float32")
    zero = tir.const(0.0, "float32")
    i = te.compute((4,), lambda i: a[i]).op.axis[0]
    for make, message in (
        (lambda: tir.Reduce(None, [a[k]], [k], None, 0), "a reduction combines"),
        (lambda: tir.Reduce(sums(), [a[k], a[k]], [k], None, 0), "the combiner has 1 results, and not 2"),
        (lambda: tir.Reduce(sums(), [a[k]], [k], None, 1), "nor one number 1"),
        (lambda: tir.Reduce(sums(), [a[k]], [], None, 0), "no reduce_axis"),
        (lambda: tir.Reduce(sums(), [a[i]], [i], None, 0), "no reduce_axis"),
        (lambda: tir.Reduce(sums(), [a[k]], [k], None, 0, [1.0, 2.0]), "`init` gives 2 values for 1 results"),
        (lambda: tir.Reduce(sums("int32"), [a[k]], [k], None, 0), "the combiner combines int32, and not float32"),
        (lambda: tir.Reduce(sums(), [a[k].astype("float64")], [k], None, 0), "combines float32, and not float64"),
        (lambda: tir.Reduce(sums("int32"), [k], [k], None, 0, [5.5]), "`init` gives float32 for a result of int32"),
        (lambda: te.sum(a[k].astype("int32"), axis=k, init=5.5), "`init` gives float32 for a result of int32"),
        (lambda: tir.CommReducer([x], [y], [te.abs(x - y)], [zero]), "where the last two come first"),
        (lambda: tir.CommReducer([x], [y], [x - y], [zero]), "is no identity"),
        (lambda: tir.CommReducer([x], [y], [x + y], [tir.const(1.0, "float32")]), "is no identity"),
        (lambda: tir.CommReducer([x], [y], [x + a[0]], [zero]), "made of the two values"),
        (lambda: tir.CommReducer([x], [y], [x + y], [tir.const(0, "int32")]), "of one type"),
        (lambda: tir.CommReducer([x], [], [x], [zero]), "a variable on each side"),
        (lambda: tir.CommReducer([a[0]], [y], [y], [zero]), "a variable on each side"),
    ):
        with pytest.raises(UsageError, match=message):
            make()
