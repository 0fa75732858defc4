"""Layouts of buffers and of the iterators of blocks, `unsafe_set_dtype`: what they compute, and what is refused."""

from __future__ import annotations

from typing import cast

from te_samples import batch_matmul, dense, layer_norm
from tir_run import Stage, assert_computes, module_of, prim_func
from tvmscript_texts import only, refused
from xdsl.dialects.builtin import f32
from xdsl.ir.affine import AffineExpr

from weft.dialects import te
from weft.dialects.tir.core import AllocBufferOp, BlockOp
from weft.tir import IndexMap as TirIndexMap
from weft.tir import Schedule
from weft.transforms.tir.scheduling.schedule import IndexMap

SEPARATOR = TirIndexMap.AXIS_SEPARATOR


def of(stage: Stage) -> Schedule:
    return Schedule(prim_func(stage), debug_mask="all")


DENSE = dense(8, 16, 12)


# layouts


def test_a_buffer_in_another_layout_holds_the_same() -> None:
    schedule = of(DENSE)
    schedule.transform_layout(schedule.get_block("dense"), ("write", 0), lambda i, j: (j // 4, i, j % 4))
    assert_computes(only(schedule), DENSE)


def test_a_block_without_loops_gets_one_for_each_new_iterator() -> None:
    x = te.placeholder((1,), f32, "x")
    twice = te.compute((1,), lambda i: x[i] + x[i], "twice")
    thrice = te.compute((1,), lambda i: twice[i] + x[i], "thrice")
    stage: Stage = ([x], [thrice])
    schedule = of(stage)
    block = schedule.get_block("twice")
    schedule.transform_block_layout(block, lambda i: (i, 0))
    assert len(schedule.get_loops(block)) == 2
    assert_computes(only(schedule), stage, threads=[1])


def test_a_layout_takes_memory_apart_and_is_given_for_a_buffer_itself() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    op = schedule.operation(block)
    assert isinstance(op, BlockOp)

    def apart(*i: AffineExpr, j: AffineExpr) -> list[object]:
        return [j // 4, SEPARATOR, *i, j % 4]

    schedule.transform_layout(block, op.writes[0], cast("IndexMap", apart), pad_value=0)
    alloc = op.writes[0].owner
    assert isinstance(alloc, AllocBufferOp) and alloc.axis_separators == (1,)
    schedule.set_axis_separator(block, ("write", 0), [])
    assert_computes(only(schedule), DENSE, threads=[1])
    again = of(DENSE)
    schedule.trace.apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod)
    wrong: list[IndexMap] = [lambda i, j, k: [SEPARATOR, i, j, k], lambda i, j, k: [i, j, k, SEPARATOR]]
    for map in wrong:
        refused(lambda map=map: schedule.transform_layout(block, ("write", 0), map), schedule, "between two indices")
    reader = schedule.operation(schedule.get_block("relu"))
    assert isinstance(reader, BlockOp)
    refused(lambda: schedule.set_axis_separator(block, reader.writes[0], [1]), schedule, "touches no buffer")


def test_layouts_that_lose_elements_are_refused() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    layouts: list[tuple[IndexMap, str]] = [
        (lambda i, j: (i,), "does not give each index a place of its own"),
        (lambda i, j: (i, j * 2), "leaves places of index 1 empty"),
        (lambda i, j: (i + j,), "does not give each index a place of its own"),
        (lambda i: (i,), "does not take 2 indices"),
        (lambda i, j: ("a", j), "is no affine expression"),
        (lambda i, j: (i * j, j), "the index d0 \\* d1 is not affine"),
        (lambda i, j: (i, 0 if j == 0 else j), "the truth of `d1 == 0` is not known here"),
        (lambda i, j: (i, i if i != j else 0), "the truth of `d0 != d1` is not known here"),
        (lambda i, j: (i, j if j < 4 else 0), "the truth of `3 >= d1` is not known here"),
    ]
    for map, reason in layouts:
        refused(lambda map=map: schedule.transform_layout(block, ("write", 0), map), schedule, reason)
    called = Schedule(module_of(prim_func(DENSE), DENSE))
    block = called.get_block("dense", "k")
    refused(
        lambda: called.transform_layout(block, ("read", 0), lambda i, j: (j, i)), called, "its callers know its layout"
    )


def test_a_block_with_other_iterators_computes_the_same() -> None:
    stage = batch_matmul(2, 5, 12, 7)
    schedule = of(stage)
    block = schedule.get_block("matmul")
    schedule.transform_block_layout(block, lambda b, i, j, k: (b * 5 + i, j // 4, k, j % 4))
    assert_computes(only(schedule), stage, threads=[1])


def test_iterators_of_several_kinds_are_not_mixed() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    extent = DENSE[0][0].shape[1]
    refused(
        lambda: schedule.transform_block_layout(block, lambda i, j, k: (i, j * extent + k)), schedule, "mixes iterators"
    )


def test_a_block_in_shared_loops_keeps_its_iterators() -> None:
    schedule = of(DENSE)
    dense_block, relu = schedule.get_block("dense"), schedule.get_block("relu")
    schedule.compute_at(dense_block, schedule.get_loops(relu)[0])
    refused(
        lambda: schedule.transform_block_layout(relu, lambda i, j: (j, i)), schedule, "does not stand alone in serial"
    )


def test_a_buffer_may_hold_other_floats() -> None:
    stage = layer_norm(5, 8)
    schedule = of(stage)
    schedule.unsafe_set_dtype(schedule.get_block("mean"), 0, "float64")
    assert_computes(only(schedule), stage, threads=[1])
    block = schedule.get_block("mean")
    refused(lambda: schedule.unsafe_set_dtype(block, 0, "int32"), schedule, "only floats can be exchanged")
