"""Which parts of buffers blocks and loops touch."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

import pytest

import weft
from weft.dialects.tir.core import PrimFuncOp, blocks_under, enclosing_loops
from weft.script import tir as T
from weft.tir import analysis


@T.prim_func
def blurred(A: T.Buffer[(16, 18), "float32"], B: T.Buffer[(16, 16), "float32"]):
    for i in range(4):
        for ii, j in T.grid(4, 16):
            with T.block("b"):
                vi = T.axis.spatial(16, i * 4 + ii)
                vj = T.axis.spatial(16, j)
                B[vi, vj] = A[vi, vj] + A[vi, vj + 2]
    with T.block("show"):
        T.evaluate(T.call_extern("", "show", B.access_ptr("r")))


def regions(found: list[analysis.BufferRegion]) -> list[tuple[str | None, str]]:
    """The names of buffers, and their parts as text."""
    return [(each.buffer.name_hint, str([(str(low), size) for low, size in each.region])) for each in found]


def test_a_loop_touches_what_its_iterations_do_together() -> None:
    block = blocks_under(blurred)[0]
    outer, inner, _ = enclosing_loops(block)
    reads, writes, opaque = analysis.get_block_access_region(outer)
    assert regions(reads) == [("A", "[('0', 16), ('0', 18)]")] and not opaque
    reads, writes, _ = analysis.get_block_access_region(inner)
    assert regions(reads) == [("A", "[('(d0 * 4)', 4), ('0', 18)]")]
    assert regions(writes) == [("B", "[('(d0 * 4)', 4), ('0', 16)]")]
    reads, _ = analysis.get_block_read_write_region(block)
    assert regions(reads) == [("A", "[('((d0 * 4) + d1)', 1), ('d2', 3)]")]


def test_what_is_handed_to_a_call_is_touched_as_a_whole() -> None:
    assert isinstance(blurred, PrimFuncOp)
    show = blocks_under(blurred)[-1]
    reads, writes, opaque = analysis.get_block_access_region(show)
    assert not reads and not writes and regions(opaque) == [("B", "[('0', 16), ('0', 16)]")]
    assert [regions(each) for each in analysis.get_block_read_write_region(show)] == [regions(opaque)] * 2


def test_regions_are_of_loops_and_blocks() -> None:
    with pytest.raises(weft.Diagnostic, match="get_block_access_region"):
        analysis.get_block_access_region(blurred)  # pyright: ignore[reportArgumentType]
