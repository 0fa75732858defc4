"""`transform_layout` of stages of `te`: what is laid out, what reads it, and what callers see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import te
from weft.dialects.tir.core import AllocBufferOp
from weft.tir import ScheduleError

pytestmark = pytest.mark.sampled(5)

Map = Callable[..., Any]


def chain() -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    a = te.placeholder((4, 6, 8), name="A")
    b = te.compute(a.shape, lambda i, j, k: a[i, j, k] * 2.0 + 1.0, name="B")
    return a, b, te.compute(a.shape, lambda i, j, k: b[i, j, k] - a[i, j, 7 - k], name="C")


def flat(i: Any, j: Any, k: Any) -> Any:
    return i * 48 + j * 8 + k


def packed(i: Any, j: Any, k: Any) -> Any:
    return [k // 4, i, j, k % 4]


def turned(*indices: Any) -> Any:
    return indices[::-1]


AS_NUMPY: dict[Map, Callable[[Any], Any]] = {
    flat: lambda x: x.reshape(-1),
    packed: lambda x: x.reshape(4, 6, 2, 4).transpose(2, 0, 1, 3),
    turned: lambda x: x.transpose(2, 1, 0),
}


@pytest.mark.parametrize(
    ("of_a", "of_b", "of_c"), [(turned, packed, flat), (flat, turned, packed), (packed, flat, turned)]
)
def test_an_input_what_is_between_and_an_output_are_laid_out(of_a: Map, of_b: Map, of_c: Map) -> None:
    a, b, c = chain()
    s = te.create_schedule(c.op)
    s[a].transform_layout(of_a)
    s[b].transform_layout(of_b)
    axes = s[c].transform_layout(of_c)
    assert list(axes) == s[c].leaf_iter_vars == list(s[c].op.axis)
    outer, inner = s[c].split(axes[-1], factor=2)
    s[c].unroll(inner)
    s[b].compute_at(s[c], outer)
    x = np.random.default_rng(0).standard_normal((4, 6, 8), np.float32)
    expected = AS_NUMPY[of_c](x * 2 + 1 - x[:, :, ::-1])
    result = np.empty(expected.shape, np.float32)
    weft.build(s, [a, c], threads=1)(np.ascontiguousarray(AS_NUMPY[of_a](x)), result)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_a_reduction_is_laid_out_and_laid_out_again() -> None:
    a = te.placeholder((8, 12, 5), name="A")
    k = te.reduce_axis((0, 5), "k")
    b = te.compute((8, 12), lambda i, j: te.sum(a[i, j, k], axis=k), name="B")
    s = te.create_schedule(b.op)
    s[b].transform_layout(lambda i, j: [j, i])
    axes = s[b].transform_layout(lambda j, i: [j // 3, i, j % 3])
    assert [str(axis.dom.extent) for axis in axes] == ["T.index(4)", "T.index(8)", "T.index(3)"]
    copied = s.cache_write(b, "global")
    s[copied].compute_at(s[b], s[b].op.axis[0])
    x = np.random.default_rng(0).standard_normal((8, 12, 5), np.float32)
    result = np.empty((4, 8, 3), np.float32)
    weft.build(s, [a, b], threads=1)(x, result)
    np.testing.assert_allclose(result, x.sum(2).T.reshape(4, 3, 8).transpose(0, 2, 1), rtol=1e-5, atol=1e-5)


def test_a_separator_takes_memory_apart_that_is_the_function_s_own() -> None:
    a, b, c = chain()
    s = te.create_schedule(c.op)
    s[b].transform_layout(lambda i, j, k: [k, te.AXIS_SEPARATOR, i, j])
    (alloc,) = [op for op in weft.lower(s, [a, c]).walk() if isinstance(op, AllocBufferOp)]
    assert list(alloc.axis_separators) == [1]
    s[a].transform_layout(lambda i, j, k: [k, te.AXIS_SEPARATOR, i, j])
    with pytest.raises(ScheduleError, match="'A' is the caller's memory, which has one dimension"):
        weft.lower(s, [a, c])


def test_what_cannot_be_laid_out_says_why() -> None:
    _, b, c = chain()
    s = te.create_schedule(c.op)
    with pytest.raises(ScheduleError, match="the index map of 'B' does not give each index a place of its own"):
        s[b].transform_layout(lambda i, j, k: [i, j])
    with pytest.raises(
        ScheduleError, match="'B' does not give each index a place of its own: 16 does not divide the ex"
    ):
        s[b].transform_layout(lambda i, j, k: [i, j, k // 16, k % 16])
    s[b].split(s[b].op.axis[0], factor=2)
    with pytest.raises(ScheduleError, match="transform_layout of 'B' comes before what else is asked"):
        s[b].transform_layout(turned)
    n = te.var("n")
    open_input = te.placeholder((n,), name="X")
    open_stages = te.create_schedule(te.compute((n,), lambda i: open_input[i], name="Y").op)
    with pytest.raises(ScheduleError, match="'X' has extents that are not known"):
        open_stages[open_input].transform_layout(lambda i: [i // 4, i % 4])
    whole = te.extern((4, 6, 8), [b], lambda ins, outs: te_call(ins[0], outs[0]), name="E")
    s = te.create_schedule(whole.op)
    with pytest.raises(ScheduleError, match="'B' is read as a whole"):
        s[b].transform_layout(turned)
    with pytest.raises(ScheduleError, match="'E' is filled by statements"):
        s[whole].transform_layout(turned)


def test_an_intrinsic_of_a_stage_is_not_forgotten_for_a_layout_or_a_copy() -> None:
    x = te.placeholder((8, 4), "int32", name="A")
    b = te.compute((8, 4), lambda i, j: x[i, j] + 1, name="B")
    row = te.placeholder((4,), "int32", name="row")
    next_row = te.compute((4,), lambda j: row[j] + 1, name="next_row")
    intrin = te.decl_tensor_intrin(next_row.op, lambda ins, outs: te_call(ins[0], outs[0]))
    s = te.create_schedule(b.op)
    s[b].tensorize(s[b].op.axis[1], intrin)
    with pytest.raises(ScheduleError, match="transform_layout of 'B' comes before what else is asked"):
        s[b].transform_layout(lambda i, j: [j, i])
    with pytest.raises(ScheduleError, match="cache_write"):
        s.cache_write(b, "local")


def te_call(source: Any, target: Any) -> Any:
    return weft.tir.call_packed("test.copy", source, target)
