"""Which loops of a block can be those of an intrinsic's description."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# pyright: reportArgumentType=false, reportOptionalMemberAccess=false

from collections.abc import Callable

import numpy as np
import pytest

from weft import te, tir
from weft.dialects.tir.core import PrimFuncOp
from weft.script import tir as T
from weft.tir import IndexMap, Interpreter, Schedule, TensorIntrin, assert_structural_equal


@T.prim_func
def tile(a: T.Buffer((4, 4), "float32"), b: T.Buffer((4, 8), "float32"), c: T.Buffer((4, 8), "float32")):
    with T.block("root"):
        T.reads(c[0:4, 0:8], a[0:4, 0:4], b[0:4, 0:8])
        T.writes(c[0:4, 0:8])
        for i, j, k in T.grid(4, 8, 4):
            with T.block("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                c[vi, vj] = c[vi, vj] + a[vi, vk] * b[vk, vj]


def product(n: int, m: int, k: int) -> PrimFuncOp:
    a, b = te.placeholder((n, k), name="a"), te.placeholder((k, m), name="b")
    step = te.reduce_axis((0, k), "k")
    x = te.compute((n, k), lambda i, j: a[i, j], name="a_copy")
    y = te.compute((k, m), lambda i, j: b[i, j], name="b_copy")
    c = te.compute((n, m), lambda i, j: te.sum(x[i, step] * y[step, j], axis=step), name="c")
    return te.create_prim_func([a, b, te.compute((n, m), lambda i, j: c[i, j], name="d")])


def convolution(n: int, size: int, channels: int, out: int) -> PrimFuncOp:
    x = te.placeholder((n, size + 2, size + 2, channels), name="x")
    w = te.placeholder((3, 3, channels, out), name="w")
    p, q, r = te.reduce_axis((0, 3), "p"), te.reduce_axis((0, 3), "q"), te.reduce_axis((0, channels), "r")
    y = te.compute(
        (n, size, size, out),
        lambda b, i, j, o: te.sum(x[b, i + p, j + q, r] * w[p, q, r, o], axis=[p, q, r]),
        name="y",
    )
    return te.create_prim_func([x, w, y])


@pytest.fixture(autouse=True)
def intrinsic() -> None:
    TensorIntrin.register("test_mapped", tile, tile, override=True)


def assert_product(schedule: Schedule, n: int, m: int, k: int) -> None:
    schedule.mod.verify()
    a, b = (np.random.default_rng(0).integers(-3, 4, shape).astype(np.float32) for shape in ((n, k), (k, m)))
    np.testing.assert_array_equal(Interpreter(schedule.mod["main"])([a, b])[0], a @ b)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_loops_are_found_whatever_their_order(order: tuple[int, ...]) -> None:
    schedule = Schedule(product(8, 16, 12))
    block = schedule.get_block("c")
    loops = schedule.get_loops(block)
    schedule.reorder(*(loops[n] for n in order))
    info = tir.get_tensorize_loop_mapping(schedule, block, tile)
    wanted: list[tir.Stmt] = []
    tir.stmt_functor.pre_order_visit(tile.body, lambda node: not isinstance(node, tir.For) or not wanted.append(node))
    assert info is not None and info.block_iter_paddings is None
    assert [info.desc_loop_indexer[each] for each in wanted] == [0, 1, 2]
    found = {theirs: schedule.operation(ours) for ours, theirs in info.loop_map.items()}
    assert [found[each] for each in wanted] == [schedule.operation(loop) for loop in loops]


def test_the_innermost_iterators_of_a_kind_are_taken() -> None:
    info = tir.get_tensorize_loop_mapping(schedule := Schedule(convolution(2, 8, 16, 8)), schedule.get_block("y"), tile)
    assert info is not None
    loops = schedule.get_loops("y")
    assert {info.desc_loop_indexer[theirs]: schedule.operation(ours) for ours, theirs in info.loop_map.items()} == {
        0: schedule.operation(loops[2]), 1: schedule.operation(loops[3]), 2: schedule.operation(loops[6])
    }  # fmt: skip


@pytest.mark.parametrize("sizes", [(7, 8, 4), (8, 8, 5), (2, 8, 4)])
def test_extents_that_are_no_multiples_are_mapped_with_padding_only(sizes: tuple[int, int, int]) -> None:
    schedule = Schedule(product(*sizes))
    block = schedule.get_block("c")
    assert tir.get_tensorize_loop_mapping(schedule, block, tile) is None
    assert tir.tile_with_tensor_intrin(schedule, block, "test_mapped") is None
    info = tir.get_tensorize_loop_mapping(schedule, block, tile, allow_padding=True)
    assert info is not None
    assert info.block_iter_paddings == tuple(-n % by for n, by in zip(sizes, (4, 8, 4), strict=True))


@pytest.mark.parametrize("sizes", [(8, 16, 12), (7, 8, 5), (4, 8, 4)])
def test_a_block_is_tiled_as_an_intrinsic_wants_it(sizes: tuple[int, int, int]) -> None:
    schedule = Schedule(product(*sizes), debug_mask="all")
    block = schedule.get_block("c")
    loop = tir.tile_with_tensor_intrin(schedule, block, "test_mapped", allow_padding=True)
    assert loop is not None
    assert [schedule.operation(each).size for each in schedule.get_loops(block)][-3:] == [4, 8, 4]
    assert schedule.operation(loop) is schedule.operation(schedule.get_loops(block)[-3])
    schedule.tensorize(loop, "test_mapped")
    assert_product(schedule, *sizes)
    again = Schedule(product(*sizes))
    schedule.trace.apply_to_schedule(again)
    assert_structural_equal(again.mod, schedule.mod)


def test_loops_that_hold_more_or_are_symbols_are_not_mapped() -> None:
    schedule = Schedule(product(8, 8, 4))
    copy, block = schedule.get_block("a_copy"), schedule.get_block("c")
    schedule.compute_at(copy, schedule.get_loops(block)[1])
    assert tir.get_tensorize_loop_mapping(schedule, block, tile) is None
    n = te.var("n")
    x = te.placeholder((n, 8), name="x")
    step = te.reduce_axis((0, n), "k")
    open_ = te.create_prim_func([x, te.compute((n, 8), lambda i, j: te.sum(x[step, j] * x[i, 0], axis=step), name="c")])
    schedule = Schedule(open_)
    assert tir.get_tensorize_loop_mapping(schedule, schedule.get_block("c"), tile) is None
    assert tir.get_auto_tensorize_mapping_info(schedule, schedule.get_block("c"), tile) is None


@pytest.mark.parametrize(
    ("func", "name", "expected"),
    [
        (product(8, 8, 8), "c", lambda i, j, k: [i, j, k]),
        (product(1, 8, 8), "c", lambda i, j, k: [i, j, k]),
        (
            convolution(2, 8, 16, 8),
            "y",
            lambda n, h, w, o, p, q, r: [n * 64 + h * 8 + w, o, p * 48 + q * 16 + r],
        ),
    ],
)
def test_a_block_is_one_of_the_description_by_the_buffers_that_iterators_index(
    func: PrimFuncOp, name: str, expected: Callable[..., object]
) -> None:
    schedule = Schedule(func)
    block = schedule.get_block(name)
    info = tir.get_auto_tensorize_mapping_info(schedule, block, tile)
    assert info is not None
    (mapping,) = info.mappings
    assert mapping.is_equivalent_to(IndexMap.from_func(expected))
    assert [each.name_hint for each in info.buffers] == ["c", "a", "b"]
    schedule.transform_block_layout(block, mapping)
    schedule.mod.verify()


def test_what_computes_something_else_has_no_mapping() -> None:
    a = te.placeholder((8, 8), name="a")
    step = te.reduce_axis((0, 8), "k")
    square = te.compute((8, 8), lambda i, j: te.sum(a[i, step] * a[i, step] + a[step, j], axis=step), name="c")
    schedule = Schedule(te.create_prim_func([a, square]))
    assert tir.get_auto_tensorize_mapping_info(schedule, schedule.get_block("c"), tile) is None
    row = te.compute((8,), lambda i: te.sum(a[i, step] * a[step, i], axis=step), name="c")
    schedule = Schedule(te.create_prim_func([a, row]))
    assert tir.get_auto_tensorize_mapping_info(schedule, schedule.get_block("c"), tile) is None


def test_index_maps_divide_by_the_functions_of_expressions() -> None:
    by_words = IndexMap.from_func(lambda i: [tir.floordiv(i, 4), tir.floormod(i, 4)])
    assert by_words.is_equivalent_to(IndexMap.from_func(lambda i: [i // 4, i % 4]))
    schedule = Schedule(product(8, 8, 8))
    schedule.transform_layout("c", ("write", 0), lambda i, j: (tir.indexdiv(i, 4), j, tir.indexmod(i, 4)))
    assert_product(schedule, 8, 8, 8)
