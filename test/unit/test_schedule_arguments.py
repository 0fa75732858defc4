"""Blocks and buffers may be given to a schedule by their names, as in TVM."""

from __future__ import annotations

import pytest
from tvmscript_texts import function

from weft.dialects.schedule import Schedule as Dialect
from weft.dialects.schedule.core import Instruction
from weft.tir import Schedule, ScheduleError

TEXT = """
@T.prim_func
def two(A: T.Buffer[(8, 8), "float32"], C: T.Buffer[(8, 8), "float32"]):
    B = T.alloc_buffer((8, 8), "float32")
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(8, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
"""


def schedule() -> Schedule:
    func = function(TEXT)
    return Schedule(func, debug_mask="all")


def test_a_block_may_be_given_by_its_name() -> None:
    by_name, by_handle = schedule(), schedule()
    by_name.compute_at("B", by_name.get_loops("C")[0])
    by_name.set_scope("B", 0, "local")
    block = by_handle.get_block("B")
    by_handle.compute_at(block, by_handle.get_loops(by_handle.get_block("C"))[0])
    by_handle.set_scope(block, 0, "local")
    assert str(by_name.mod) == str(by_handle.mod)
    assert [by_name.get(each) for each in by_name.get_consumers("B")] == [by_name.get(by_name.get_block("C"))]
    again = schedule()
    by_name.trace.apply_to_schedule(again)
    assert str(again.mod) == str(by_name.mod)


def test_a_buffer_may_be_given_by_its_name() -> None:
    by_name, by_number = schedule(), schedule()
    by_name.cache_read("C", "B", "global")
    by_name.cache_write("C", "C", "global")
    by_name.transform_layout("B", "B", lambda i, j: (j, i))
    by_number.cache_read("C", 0, "global")
    by_number.cache_write("C", 0, "global")
    by_number.transform_layout("B", ("write", 0), lambda i, j: (j, i))
    assert str(by_name.mod) == str(by_number.mod)


def test_names_that_there_are_not_are_refused() -> None:
    made = schedule()
    with pytest.raises(ScheduleError, match="has no block @D"):
        made.compute_inline("D")
    with pytest.raises(ScheduleError, match="block @B reads no buffer %C"):
        made.cache_read("B", "C", "local")
    with pytest.raises(ScheduleError, match="block @B touches no buffer %C"):
        made.transform_layout("B", "C", lambda i, j: (j, i))


def test_whether_padding_can_be_decomposed_is_asked_without_a_change() -> None:
    made = schedule()
    before = str(made.mod)
    assert not made.can_decompose_padding("B", made.get_loops("B")[0])
    assert str(made.mod) == before


def test_questions_and_choices_change_nothing() -> None:
    """So nothing is verified after them."""
    asked = schedule()
    before = str(asked.mod)
    block = asked.get_block("C")
    loop = asked.get_loops(block)[0]
    asked.get_child_blocks(loop)
    asked.get_producers(block)
    asked.get_consumers(block)
    asked.sample_perfect_tile(loop, 2)
    asked.sample_categorical([1, 2], [0.5, 0.5])
    asked.sample_compute_location(block)
    asked.enter_postproc()
    assert str(asked.mod) == before
    questions = {op for op in Dialect.operations if issubclass(op, Instruction) and not op.CHANGES}
    assert {type(inst.op) for inst in asked.trace.insts} == questions
