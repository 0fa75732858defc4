"""Which parts of buffers blocks and loops touch."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

from collections.abc import Sequence
from typing import Any

import pytest

import weft
from weft import ir, tir
from weft.dialects.support.diagnostics import UsageError
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


def regions(found: Sequence[tir.BufferRegion]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The names of buffers, and their parts as text."""
    zero = "T.index(0)"
    return [
        (each.buffer.name, [(str(part.min).replace(zero, "0"), str(part.extent)) for part in each.region])
        for each in found
    ]


def blocks_and_loops(func: Any) -> tuple[list[tir.Block], list[tir.For]]:
    found: list[Any] = []
    tir.stmt_functor.pre_order_visit(func.body, found.append)
    blocks = [each for each in found if isinstance(each, tir.Block) and each.name_hint != "root"]
    return blocks, [each for each in found if isinstance(each, tir.For)]


def test_a_loop_touches_what_its_iterations_do_together() -> None:
    _, (outer, inner, _) = blocks_and_loops(blurred)
    reads, writes, opaque = analysis.get_block_access_region(outer)
    assert regions(reads) == [("A", [("0", "16"), ("0", "18")])] and not opaque
    reads, writes, _ = analysis.get_block_access_region(inner)
    assert regions(reads) == [("A", [("i * 4", "4"), ("0", "18")])]
    assert regions(writes) == [("B", [("i * 4", "4"), ("0", "16")])]


def test_a_block_touches_parts_over_its_iterators() -> None:
    (block, _), _ = blocks_and_loops(blurred)
    reads, writes = analysis.get_block_read_write_region(block)
    assert regions(reads) == [("A", [("0", "16"), ("0", "18")])]  # several elements
    assert regions(writes) == [("B", [("vi", "1"), ("vj", "1")])]
    tir.assert_structural_equal(block.writes, writes)
    A, B = blurred.buffer_map.values()
    reads, writes, _ = analysis.get_block_access_region(block, {A.data: A})
    assert [each.buffer for each in reads] == [A] and not writes and B is not A


def test_what_is_handed_to_a_call_is_touched_as_a_whole() -> None:
    (_, show), _ = blocks_and_loops(blurred)
    reads, writes, opaque = analysis.get_block_access_region(show)
    assert not reads and not writes and regions(opaque) == [("B", [("0", "16"), ("0", "16")])]
    assert [regions(each) for each in analysis.get_block_read_write_region(show)] == [regions(opaque), []]


def test_regions_are_of_loops_and_blocks() -> None:
    with pytest.raises(weft.Diagnostic, match="get_block_access_region"):
        analysis.get_block_access_region(blurred)  # pyright: ignore[reportArgumentType]
    with pytest.raises(weft.Diagnostic, match="those of a function's body"):
        analysis.get_block_access_region(tir.Block([], [], [], "b", tir.Evaluate(0)))


def test_parts_of_buffers_take_ranges_of_the_analyzer_and_of_nodes():
    (block, *_), _ = blocks_and_loops(blurred)
    assert len(block.iter_vars) == 2
    vi, vj = (each.var for each in block.iter_vars)
    (A, B) = (blurred.buffer_map[each] for each in blurred.params)
    part = tir.BufferRegion(B, [ir.Range.from_min_extent(vi, 1), ir.Range(vj, vj + 1)])
    ir.assert_structural_equal(block.writes, [part])
    assert not tir.structural_equal(block.writes, [tir.BufferRegion(B, [ir.Range(vi, vi + 1), ir.Range(1)])])
    wide = tir.BufferRegion(A, [ir.Range(vi, vi + 4), ir.Range.from_min_extent(vj * 2 + 1, vi)])
    assert wide.script() == "A[vi:vi + 4, vj * 2 + 1:vj * 2 + 1 + vi]"
    with pytest.raises(UsageError, match="'A' has 2 dimensions, and a part of it 1 ranges"):
        tir.BufferRegion(A, [ir.Range(3)])
