"""`cache_read` and `reindex` among several readers: what they compute, and what is refused."""

from __future__ import annotations

from te_samples import batch_matmul, dense, softmax
from tir_run import Stage, assert_computes, prim_func
from tvmscript_texts import only, refused

from weft.dialects.tir.core import BlockOp
from weft.tir import Schedule


def of(stage: Stage) -> Schedule:
    return Schedule(prim_func(stage), debug_mask="all")


DENSE = dense(8, 16, 12)


# cache_read, reindex


def test_readers_may_share_a_copy() -> None:
    stage = softmax(6, 10)
    schedule = of(stage)
    schedule.cache_read(schedule.get_block("total"), 0, "global")
    assert str(schedule.mod).count("%power_global[") >= 3
    assert_computes(only(schedule), stage, threads=[1])


def test_a_reduction_that_begins_elsewhere_reads_what_it_updates_first() -> None:
    """As in TVM, whose traces count so."""
    schedule = of(DENSE)
    dense_block = schedule.get_block("dense")
    schedule.decompose_reduction(dense_block, schedule.get_loops(dense_block)[2])
    update = schedule.get_block("dense_update")
    refused(lambda: schedule.cache_read(update, 0, "global"), schedule, "does not only read %dense")
    refused(lambda: schedule.cache_read(update, 3, "global"), schedule, "reads 3 buffers, none of number 3")
    schedule.transform_layout(update, ("read", 0), lambda i, j: (j, i))
    copies = [schedule.operation(schedule.cache_read(update, number, "global")) for number in (1, 2)]
    assert [copy.reads[0].name_hint for copy in copies if isinstance(copy, BlockOp)] == ["p0", "p1"]
    assert_computes(only(schedule), DENSE, threads=[1])


def test_a_copy_moves_to_where_less_of_it_is_needed() -> None:
    schedule = of(DENSE)
    dense_block = schedule.get_block("dense")
    copy = schedule.cache_read(dense_block, 1, "global")
    schedule.compute_at(copy, schedule.get_loops(dense_block)[1])
    schedule.set_scope(copy, 0, "local")
    assert_computes(only(schedule), DENSE)


def test_what_is_written_in_the_same_nest_is_not_reindexed_before() -> None:
    schedule = of(DENSE)
    dense_block, relu = schedule.get_block("dense"), schedule.get_block("relu")
    schedule.compute_at(dense_block, schedule.get_loops(relu)[0])
    refused(lambda: schedule.reindex(relu, ("read", 0)), schedule, "where it would have been copied already")


def test_a_buffer_of_another_number_is_refused() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("relu")
    refused(lambda: schedule.cache_read(block, 7, "global"), schedule, "reads 2 buffers, none of number 7")
    refused(lambda: schedule.cache_read(block, 0, "attic.dyn"), schedule, 'unknown scope "attic.dyn"')
    refused(lambda: schedule.reindex(block, ("write", 7)), schedule, "writes 1 buffers, none of number 7")


def test_a_reindexed_input_computes_the_same() -> None:
    stage = batch_matmul(2, 5, 12, 7)
    schedule = of(stage)
    schedule.reindex(schedule.get_block("matmul"), ("read", 1))
    assert_computes(only(schedule), stage, threads=[1])


def test_a_reindexed_output_computes_the_same() -> None:
    schedule = of(DENSE)
    block = schedule.get_block("dense")
    copy = schedule.reindex(block, ("write", 0))
    (reader,) = schedule.get_consumers(copy)
    assert schedule.operation(reader) is schedule.operation(schedule.get_block("relu"))
    schedule.reindex(schedule.get_block("relu"), ("write", 0))
    assert_computes(only(schedule), DENSE, threads=[1])


def test_a_result_that_is_read_in_its_nest_is_not_reindexed() -> None:
    schedule = of(DENSE)
    relu, product = schedule.get_block("relu"), schedule.get_block("dense")
    schedule.compute_at(product, schedule.get_loops(relu)[0])
    refused(lambda: schedule.reindex(product, ("write", 0)), schedule, "in the same nest, before it would be copied")
    schedule.decompose_reduction(product, schedule.get_loops(product)[-1])
    refused(lambda: schedule.reindex(product, ("write", 0)), schedule, "is not a complete block")
