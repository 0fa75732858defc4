"""`tir.suggest_index_map`: the layout in which loops touch elements one after the other."""

# pyright: basic, reportArgumentType=false

from collections.abc import Sequence

import pytest

from weft import te, tir
from weft.tir import IndexMap


def suggested(shape: Sequence[int], extents: Sequence[int], indices) -> IndexMap | None:
    variables = [tir.Var(name, "int32") for name in "ijk"[: len(extents)]]
    body = tir.Evaluate(te.const(0))
    loops = [tir.For(v, 0, extent, tir.ForKind.SERIAL, body) for v, extent in zip(variables, extents, strict=True)]
    return tir.suggest_index_map(tir.decl_buffer(shape, "float32"), indices(*variables), loops, True)


@pytest.mark.parametrize(
    ("shape", "extents", "indices", "expected"),
    [
        (
            [8, 256], [32, 64], lambda i, j: [i // 16 * 4 + j // 16, i % 16 * 16 + j % 16],
            lambda x, y: [x // 4, y // 16, x % 4, y % 16],
        ),
        ([8], [2, 32], lambda i, j: [j % 4 * 2 + i], lambda x: [x % 2, x // 2]),
        ([4, 8], [4, 8], lambda i, j: [i, j], lambda x, y: [x, y]),
        ([4, 8], [8, 4], lambda i, j: [j, i], lambda x, y: [y, x]),
    ],
)  # fmt: skip
def test_a_layout_has_the_digits_in_the_order_of_the_loops(shape, extents, indices, expected) -> None:
    found = suggested(shape, extents, indices)
    assert found is not None and found.is_equivalent_to(IndexMap.from_func(expected)), found


@pytest.mark.parametrize(
    ("shape", "extents", "indices"),
    [
        ([64], [8, 8], lambda i, j: [i * 2 + j]),
        ([64], [8, 8], lambda i, j: [i * j]),
        ([64], [64], lambda i: [i // 0]),
        ([64], [8, 8], lambda i, j: [3]),
        ([64, 2], [8, 8], lambda i, j: [i]),
        ([64], [32], lambda i: [i * 2]),
        ([64], [32], lambda i: [i]),
    ],
)
def test_there_is_no_layout_where_elements_are_touched_in_no_such_order(shape, extents, indices) -> None:
    assert suggested(shape, extents, indices) is None


def test_there_is_no_layout_of_open_extents() -> None:
    n, i = te.var("n"), tir.Var("i", "int32")
    loop = tir.For(i, 0, n, "serial", tir.Evaluate(te.const(0)))
    assert tir.suggest_index_map(tir.decl_buffer((64,), "float32"), [i], [loop]) is None
    closed = tir.For(i, 0, 64, "serial", tir.Evaluate(te.const(0)))
    assert tir.suggest_index_map(tir.decl_buffer((n,), "float32"), [i], [closed]) is None


def test_a_suggested_layout_is_one_for_a_schedule() -> None:
    x = te.placeholder((8, 4), name="x")
    y = te.compute((4, 8), lambda i, j: x[j, i] + 1.0, name="y")
    found = suggested([8, 4], [4, 8], lambda i, j: [j, i])
    schedule = tir.Schedule(te.create_prim_func([x, y]))
    copy = schedule.cache_read("y", 0, "global")
    schedule.transform_layout(copy, ("write", 0), found)
    assert "(4, 8)" in schedule.mod.script()
