"""`te.schedule.CreateReadGraph`: what computes what."""

from __future__ import annotations

from weft import te
from weft.te.schedule import CreateReadGraph, PostDFSOrder


def test_a_graph_says_what_each_operation_reads() -> None:
    A, B = te.placeholder((4, 4), name="A"), te.placeholder((4, 4), name="B")
    C = te.compute((4, 4), lambda i, j: A[i, j] + B[j, i], name="C")
    D = te.compute((4, 4), lambda i, j: C[i, j] * A[i, j], name="D")
    graph = CreateReadGraph([D.op])
    assert graph == {A.op: [], B.op: [], C.op: [A, B], D.op: [C, A]}
    assert PostDFSOrder([D.op], graph) == [A.op, B.op, C.op, D.op]
    assert PostDFSOrder([B.op, C.op], graph) == [B.op, A.op, C.op]
