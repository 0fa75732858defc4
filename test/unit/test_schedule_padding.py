"""Primitives on padding and on memory: what they make, what they refuse, and what it computes as machine code."""

from __future__ import annotations

import numpy as np
import pytest
from te_samples import conv, dense
from tir_run import Stage, assert_computes, prim_func
from tvmscript_texts import function, refused
from xdsl.utils.exceptions import VerifyException

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.lowering.tir_to_loops.convert_tir_to_loops import lower_prim_func
from weft.tir import Schedule, assert_structural_equal, from_source
from weft.transforms.infra.registry import new_ir_context

CONV = conv(1, 2, 6, 6, 8, 3, pad=1)
DENSE = dense(7, 5, 6)


def of(stage: Stage) -> Schedule:
    return Schedule(prim_func(stage), debug_mask="all")


def of_text(lines: str, parameters: str = 'A: T.Buffer[(6,), "float32"], B: T.Buffer[(8,), "float32"]') -> Schedule:
    body = "\n".join(f"    {line}" for line in lines.strip("\n").splitlines())
    func = function(f"@T.prim_func\ndef f({parameters}):\n{body}\n")
    return Schedule(func, debug_mask="all")


def text_of(schedule: Schedule) -> str:
    return schedule.mod.script()


# decompose_padding


def test_padding_is_filled_before_the_nest_and_its_loops_become_shorter() -> None:
    schedule = of(CONV)
    pad = schedule.get_block("pad")
    fill = schedule.decompose_padding(pad, schedule.get_loops(pad)[0])
    assert "for j, k, l in T.grid(2, 6, 8):" in text_of(schedule)
    assert "pad[vi, vj, vk + 1, vl + 1] = p0[vi, vj, vk, vl]" in text_of(schedule)
    assert len(schedule.get_loops(fill)) == 3
    assert_computes(schedule.mod["k"], CONV)
    again = Schedule(prim_func(CONV))
    schedule.trace.apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod)


def test_padding_that_is_computed_where_it_is_needed_is_filled_there() -> None:
    """Its iterators are made of several loops, so that the rest has a predicate."""
    schedule = of(CONV)
    pad, block = schedule.get_block("pad"), schedule.get_block("conv")
    loops = schedule.get_loops(block)
    rows, _ = schedule.split(loops[1], [3, 2])
    schedule.reorder(rows, loops[0])
    schedule.compute_at(pad, rows)
    inner = schedule.get_loops(pad)[1]
    schedule.decompose_padding(pad, inner)
    assert "T.where(" in text_of(schedule)
    assert_computes(schedule.mod["k"], CONV)
    schedule.set_scope(pad, 0, "local")
    schedule.parallel(rows)
    assert_computes(schedule.mod["k"], CONV)


def test_a_selection_is_padding_as_well_and_indices_that_divide_stay() -> None:
    schedule = of_text(
        """
for i in range(8):
    with T.block("pad"):
        vi = T.axis.spatial(8, i)
        B[vi] = T.Select(2 <= vi and vi < 8, A[(vi + 4) // 4] + T.cast(vi, "float32"), T.float32(7))
"""
    )
    before = schedule.mod["f"].clone()
    pad = schedule.get_block("pad")
    schedule.decompose_padding(pad, schedule.get_loops(pad)[0])
    assert "for i in range(6):" in text_of(schedule)
    _same_results(before, schedule.mod["f"])


def _same_results(one: PrimFuncOp, other: PrimFuncOp) -> None:
    a = np.arange(6, dtype=np.float32)
    np.testing.assert_array_equal(Interpreter(one)([a])[0], Interpreter(other)([a])[0])


def test_conditions_on_several_iterators_stay_as_a_predicate() -> None:
    schedule = of_text(
        """
for i, j in T.grid(3, 4):
    with T.block("pad"):
        vi, vj = T.axis.remap("SS", [i, j])
        B[vi, vj] = T.if_then_else(vi + vj < 3 and vj == 1, A[vi + vj], T.float32(1))
""",
        'A: T.Buffer[(6,), "float32"], B: T.Buffer[(3, 4), "float32"]',
    )
    before = schedule.mod["f"].clone()
    pad = schedule.get_block("pad")
    schedule.decompose_padding(pad, schedule.get_loops(pad)[1])
    assert "T.where(i + j < 2)" in text_of(schedule)
    _same_results(before, schedule.mod["f"])


@pytest.mark.parametrize(
    "condition",
    [
        "vi < 2 or vi > 4",
        "1 <= vi and vi != 4",
        "not (vi == 3 or vi >= 6)",
        "vi // 3 < 2 and vi >= 1",
        "vi % 2 == 1",
        "vi - vi >= 1",
        "vi < 6 and vi - vi < 1",
    ],
)
def test_conditions_that_are_no_bounds_stay_as_a_predicate(condition: str) -> None:
    schedule = of_text(
        f"""
for i in range(8):
    with T.block("pad"):
        vi = T.axis.spatial(8, i)
        B[vi] = T.if_then_else({condition}, A[vi % 6] + T.float32(3), T.float32(7))
"""
    )
    before = schedule.mod["f"].clone()
    pad = schedule.get_block("pad")
    schedule.decompose_padding(pad, schedule.get_loops(pad)[0])
    _same_results(before, schedule.mod["f"])


NOT_PADDING = {
    "A[vi % 6]": "pads nothing",
    "T.if_then_else(A[vi % 6] > 1.0, A[vi % 6], T.float32(0))": "comparisons of its iterators",
    "T.if_then_else(0 <= vi and vi < 8, A[vi % 6], T.float32(0))": "its condition always holds",
    "T.if_then_else(vi < 2, A[vi % 6], A[0])": "does not pad with a literal",
}


@pytest.mark.parametrize("value", NOT_PADDING)
def test_what_is_no_padding_is_not_taken_apart(value: str) -> None:
    schedule = of_text(
        f"""
for i in range(8):
    with T.block("pad"):
        vi = T.axis.spatial(8, i)
        B[vi] = {value}
"""
    )
    pad = schedule.get_block("pad")
    (loop,) = schedule.get_loops(pad)
    refused(lambda: schedule.decompose_padding(pad, loop), schedule, NOT_PADDING[value])


def test_a_reduction_is_no_padding() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    loops = schedule.get_loops(block)
    refused(lambda: schedule.decompose_padding(block, loops[0]), schedule, "reduces, and does not only pad")
    other = schedule.get_block("relu")
    refused(lambda: schedule.decompose_padding(other, loops[0]), schedule, "the loop is not around block @relu")


# pad_einsum


def test_a_product_is_padded_with_zeros() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    for index in (0, 1):
        schedule.cache_read(block, index, "global")
    schedule.pad_einsum(block, [1, 3, 2])
    text = text_of(schedule)
    assert 'p0_global = T.alloc_buffer((8, 8), "float32")' in text and 'T.alloc_buffer((8, 8), "float32")' in text
    assert "T.if_then_else(v0 < 7 and v1 < 6, p0[v0, v1], T.float32(0))" in text
    assert_computes(schedule.mod["k"], DENSE)
    again = Schedule(prim_func(DENSE))
    schedule.trace.apply_to_schedule(again)
    assert_structural_equal(again.mod, schedule.mod)
    i, _, _ = schedule.get_loops(block)
    schedule.split(i, [None, 4])
    assert "T.where" not in text_of(schedule)
    assert_computes(schedule.mod["k"], DENSE)


def test_an_argument_is_not_padded() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    refused(lambda: schedule.pad_einsum(block, [0, 0, 1]), schedule, "is an argument of the function")
    refused(lambda: schedule.pad_einsum(block, [0, 1]), schedule, "3 iterators: give as many numbers")
    refused(lambda: schedule.pad_einsum(block, [0, 0, -1]), schedule, "none negative")
    schedule.pad_einsum(block, [0, 0, 0])


def test_loops_that_are_split_are_not_padded() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    for index in (0, 1):
        schedule.cache_read(block, index, "global")
    schedule.split(schedule.get_loops(block)[-1], [2, 3])
    refused(lambda: schedule.pad_einsum(block, [0, 0, 1]), schedule, "has no loop of its own to become longer")


NO_PRODUCTS = {
    "C[vi] + (A[vi, vk] + A[vi, vk])": "adds no product of elements",
    "C[vi] * A[vi, vk]": "is no sum",
    "T.max(C[vi], A[vi, vk])": "is no sum",
    "C[vi] + A[vi, vk] * B[vi]": "does not depend on all of them",
    "C[vi] + A[vi, vk] * A[vi, 0]": "does not touch an element at its iterators",
    "A[vi, vk] * A[vi, vk]": "is no sum",
}


@pytest.mark.parametrize("value", NO_PRODUCTS)
def test_what_is_no_sum_of_products_is_not_padded(value: str) -> None:
    schedule = of_text(
        f"""
A = T.alloc_buffer((4, 3), "float32")
C = T.alloc_buffer((4,), "float32")
for i, k in T.grid(4, 3):
    with T.block("fill"):
        vi, vk = T.axis.remap("SS", [i, k])
        A[vi, vk] = B[vi]
for i, k in T.grid(4, 3):
    with T.block("sum"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            C[vi] = T.float32(0)
        C[vi] = {value}
for i in range(4):
    with T.block("out"):
        vi = T.axis.spatial(4, i)
        D[vi] = C[vi]
""",
        'B: T.Buffer[(4,), "float32"], D: T.Buffer[(4,), "float32"]',
    )
    block = schedule.get_block("sum")
    refused(lambda: schedule.pad_einsum(block, [0, 1]), schedule, NO_PRODUCTS[value])


# storage_align


def test_rows_lie_apart_in_memory() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    schedule.storage_align(block, 0, axis=0, factor=8, offset=0)
    schedule.storage_align(block, 0, axis=0, factor=8, offset=1)
    assert "T.block_attr({'buffer_dim_align': [[0, 0, 8, 1]]})" in text_of(schedule)
    assert_structural_equal(from_source(text_of(schedule)), schedule.mod)
    kernel = str(lower_prim_func(schedule.mod["k"].clone())[-1])
    assert "memref<63xf32>" in kernel and "memref<35xf32>) {" not in kernel  # 7 rows of 9 elements
    assert_computes(schedule.mod["k"], DENSE)


def test_rows_of_a_threads_own_buffer_lie_apart_too() -> None:
    schedule = of(DENSE)
    block, relu = schedule.get_block("dense"), schedule.get_block("relu")
    i, _ = schedule.get_loops(relu)
    outer, _ = schedule.split(i, [None, 4])
    schedule.compute_at(block, outer)
    schedule.set_scope(block, 0, "local")
    schedule.storage_align(block, 0, axis=0, factor=16, offset=0)
    schedule.parallel(outer)
    nest = "\n".join(str(each) for each in lower_prim_func(schedule.mod["k"].clone()))
    assert "memref<64xf32>" in nest  # 4 rows of 16 elements
    assert_computes(schedule.mod["k"], DENSE)


def test_buffers_are_laid_out_anew_before_it_is_said_how_they_lie_in_memory() -> None:
    schedule = of(DENSE)
    block, relu = schedule.get_block("dense"), schedule.get_block("relu")
    schedule.storage_align(block, 0, axis=0, factor=8, offset=0)
    reason = "says how rows of its buffer lie apart"
    refused(lambda: schedule.transform_layout(block, ("write", 0), lambda i, j: (j, i)), schedule, reason)
    refused(lambda: schedule.cache_write(block, 0, "global"), schedule, reason)
    schedule.unannotate(block, "buffer_dim_align")
    schedule.set_axis_separator(block, ("write", 0), [1])
    reason = "has memory of several dimensions"
    refused(lambda: schedule.transform_layout(relu, ("read", 0), lambda i, j: (j, i)), schedule, reason)


def test_axes_are_counted_from_the_last_too() -> None:
    schedule = of(DENSE)
    schedule.storage_align("dense", 0, -2, 32, 8)
    assert "'buffer_dim_align': [[0, 0, 32, 8]]" in schedule.mod.script()


def test_what_cannot_lie_apart_is_refused() -> None:
    schedule = of(DENSE)
    block, relu = schedule.get_block("dense"), schedule.get_block("relu")
    refused(lambda: schedule.storage_align(relu, 0, 0, 8, 0), schedule, "is an argument of the function")
    refused(lambda: schedule.storage_align(block, 1, 0, 8, 0), schedule, "writes 1 buffers, none of number 1")
    refused(lambda: schedule.storage_align(block, 0, 2, 8, 0), schedule, "has 2 dimensions, none of number 2")
    refused(lambda: schedule.storage_align(block, 0, -3, 8, 0), schedule, "has 2 dimensions, none of number -3")
    refused(lambda: schedule.storage_align(block, 0, 0, 0, 0), schedule, "the factor 0 is not positive")


@pytest.mark.parametrize("words", ["[0]", "[[0, 0, 8]]", "[[1, 0, 8, 0]]", "[[0, 3, 8, 0]]", "[[0, 0, 0, 0]]"])
def test_what_says_nothing_about_memory_does_not_verify(words: str) -> None:
    with pytest.raises(VerifyException, match="buffer_dim_align"):
        of_text(
            f"""
for i in range(8):
    with T.block("b"):
        vi = T.axis.spatial(8, i)
        T.block_attr({{"buffer_dim_align": {words}}})
        B[vi] = A[vi % 6]
"""
        ).mod["f"].verify()


# set_axis_separator


def test_memory_of_several_dimensions_is_refused_by_the_lowering_for_a_processor() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    schedule.set_axis_separator(block, ("write", 0), [1])
    text = text_of(schedule)
    assert 'dense = T.alloc_buffer((7, 5), "float32", axis_separators=[1])' in text
    assert_structural_equal(from_source(text), schedule.mod)
    with pytest.raises(Diagnostic, match=r"has memory of several dimensions \(axis_separators\)"):
        lower_prim_func(schedule.mod["k"])
    schedule.set_axis_separator(block, ("write", 0), [])
    assert_computes(schedule.mod["k"], DENSE)


def test_arguments_may_have_memory_of_several_dimensions() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    schedule.set_axis_separator(block, ("read", 1), [1])
    func = schedule.mod["k"]
    again = from_source(text_of(schedule))
    assert_structural_equal(again, schedule.mod)
    assert [buffer.axis_separators for buffer in func.buffer_map.values()].count((1,)) == 1
    assert parse_module(str(schedule.mod), new_ir_context(), "again.mlir").is_structurally_equivalent(schedule.mod)
    rebuilt = func.with_body(func.body)
    assert_structural_equal(rebuilt, func)
    with pytest.raises(Diagnostic, match=r"has memory of several dimensions \(axis_separators\)"):
        lower_prim_func(func)
    schedule.set_axis_separator(block, ("read", 1), [])
    assert "axis_separators" not in str(schedule.mod)
    assert_computes(schedule.mod["k"], DENSE)


def test_separators_that_are_none_are_refused() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    for separators in ([0], [2], [1, 1]):
        refused(
            lambda given=separators: schedule.set_axis_separator(block, ("write", 0), given),
            schedule,
            "axis separators ascend, each from 1 to 1",
        )
    refused(lambda: schedule.set_axis_separator(block, ("read", 7), [1]), schedule, "reads 2 buffers, none of number 7")
