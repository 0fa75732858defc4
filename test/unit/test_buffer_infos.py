"""What modules of `tir` functions hold in memory, and when, as TVM's `extract_buffer_info` finds it."""

from __future__ import annotations

# Kinds of nodes are no classes to type checkers.
# pyright: basic, reportArgumentType=false, reportCallIssue=false, reportAttributeAccessIssue=false
from collections.abc import Mapping

import numpy as np
import pytest

import weft
from weft import PoolInfoProperties, WorkspacePoolInfo, tir
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.tir.nodes.stmt_functor import walk
from weft.script import tir as T
from weft.targets import Target
from weft.tir import stmt_functor, usmp
from weft.tir.usmp.analysis import BufferInfoAnalysis, extract_buffer_info

HEAD = "from weft.script import tir as T\n\n\n"


def function(text: str) -> tir.PrimFunc:
    found = T.from_source(HEAD + text)
    assert isinstance(found, tir.PrimFunc)
    return found


def module(text: str) -> tir.IRModule:
    found = T.from_source(f"{HEAD}class Module:\n" + "".join(f"    {line}\n" for line in text.splitlines()))
    assert isinstance(found, tir.IRModule)
    return found


SMALL = WorkspacePoolInfo("small", [Target("c")], PoolInfoProperties(size_hint_bytes=64))
LARGE = WorkspacePoolInfo("large", [Target("c")])


CHAIN = module("""
@T.prim_func
def widen(A: T.Buffer[(16,), "int8"], B: T.Buffer[(16,), "int16"]):
    for i in range(16):
        B[i] = T.cast(A[i], "int16")

@T.prim_func
def smooth(A: T.Buffer[(16,), "int16"], B: T.Buffer[(16,), "int16"]):
    padded = T.allocate([18], "int16", "global")
    for i in range(18):
        padded[i] = T.if_then_else(1 <= i and i < 17, A[i - 1], T.int16(0))
    for i in range(16):
        row = T.allocate([3], "int32", "global")
        for j in range(3):
            row[j] = T.cast(padded[i + j], "int32")
        B[i] = T.cast(row[0] + row[1] + row[2], "int16")

@T.prim_func
def main(input: T.handle, output: T.handle):
    T.attr("default", "device_id", 0)
    wide = T.allocate([32], "int8", "global")
    first = T.allocate([32], "int8", "global")
    T.evaluate(T.call_extern("widen", input, wide, dtype="int32"))
    T.evaluate(T.call_extern("smooth", wide, first, dtype="int32"))
    T.evaluate(T.call_extern("smooth", first, output, dtype="int32"))
""")


def with_pools(module: tir.IRModule, *pools: WorkspacePoolInfo) -> tir.IRModule:
    said = {usmp.utils.CANDIDATE_MEMORY_POOL_ATTR: pools}

    def told(node: tir.Allocate) -> tir.Allocate:
        return tir.Allocate(node.buffer_var, node.dtype, node.extents, node.condition, node.body, said)

    return tir.IRModule(
        {
            name: func.with_body(stmt_functor.ir_transform(func.body, None, told, ["tir.Allocate"]))
            for name, func in module.functions.items()
        }
    )


def found_in(module: tir.IRModule, *pools: WorkspacePoolInfo) -> BufferInfoAnalysis:
    planned = with_pools(module, *(pools or (SMALL, LARGE)))
    return extract_buffer_info(planned["main"], planned)


def conflicts(found: BufferInfoAnalysis) -> Mapping[str, set[str]]:
    return {info.name_hint: {each.name_hint for each in info.conflicts} for info in found.buffer_info_stmts}


def test_what_is_needed_at_one_time_is_in_conflict_through_calls() -> None:
    found = found_in(CHAIN)
    assert {info.name_hint: info.size_bytes for info in found.buffer_info_stmts} == {
        "wide": 32, "first": 32, "padded": 36, "row": 12,
    }  # fmt: skip
    assert conflicts(found) == {
        "wide": {"padded"}, "first": {"padded", "row"}, "padded": {"wide", "first", "row"}, "row": {"first", "padded"},
    }  # fmt: skip
    assert found.memory_pressure == 36 + 32 + 12


def test_a_pool_that_is_told_of_by_an_annotation_is_that_pool() -> None:
    (info, *_) = found_in(CHAIN).buffer_info_stmts
    assert info.pool_candidates == [SMALL, LARGE] and hash(info.pool_candidates[0]) == hash(SMALL)
    assert info.pool_candidates[0].size_hint_bytes == 64
    assert WorkspacePoolInfo("small", [Target("c")]) != SMALL


@pytest.mark.parametrize("algorithm", ["greedy_by_size", "greedy_by_conflicts", "hill_climb"])
def test_places_do_not_overlap_and_belong_to_the_statements(algorithm: str) -> None:
    found = found_in(CHAIN)
    infos = weft.get_global_func("tir.usmp.CreateArrayBufferInfo")(found.buffer_info_stmts)
    places = weft.get_global_func(f"tir.usmp.algo.{algorithm}")(infos, found.memory_pressure)
    for info in infos:
        for other in info.conflicts:
            a, b = places[info], places[other]
            assert (
                a.pool_info != b.pool_info
                or a.byte_offset + info.size_bytes <= b.byte_offset
                or b.byte_offset + other.size_bytes <= a.byte_offset
            )
    at = weft.get_global_func("tir.usmp.AssignStmtPoolAllocations")(found.buffer_info_stmts, places)
    assert {each.buffer_var.name for each in at} == {"wide", "first", "padded", "row"}
    with pytest.raises(UsageError, match="has no place"):
        weft.get_global_func("tir.usmp.AssignStmtPoolAllocations")(found.buffer_info_stmts, {})


LOOPS = module("""
@T.prim_func
def main(B: T.Buffer[(8,), "int32"]):
    before = T.allocate([1], "int32", "global")
    before[0] = 1
    for i in range(2):
        for j in range(4):
            B[i * 4 + j] = before[0]
        after = T.allocate([2], "int32", "global")
        for j in range(2):
            after[j] = 3
        for j in range(2):
            B[i * 4 + j] = after[j]
    for _ in T.parallel(0, 4):
        own = T.allocate([3], "int32", "global")
        own[0] = 1
        B[0] = own[0]
""")


def test_what_a_loop_touches_is_needed_from_its_outermost_loop_on() -> None:
    found = found_in(LOOPS)
    assert conflicts(found) == {"before": {"after"}, "after": {"before"}}  # the next iteration reads `before` again
    assert found.memory_pressure == 12


RECURSIVE = module("""
@T.prim_func
def main(input: T.handle):
    T.evaluate(T.call_extern("main", input, dtype="int32"))
""")


def test_what_cannot_be_planned_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing says which pools 'wide' may lie in"):
        extract_buffer_info(CHAIN["main"], CHAIN)
    with pytest.raises(UsageError, match="@main calls itself"):
        extract_buffer_info(RECURSIVE["main"], RECURSIVE)
    constants = weft.ConstantPoolInfo("rom", [], [weft.ConstantInfo("k", 0, np.zeros(2))])
    with pytest.raises(UsageError, match="has constants in it"):
        found_in(CHAIN, constants)
    with pytest.raises(UsageError, match="no pool of memory is told of by 3"):
        found_in(CHAIN, 3)


def test_annotations_of_memory_stay_in_the_text_and_in_the_tree() -> None:
    func = function("""
@T.prim_func
def func(A: T.Buffer[(4,), "int32"], B: T.Buffer[(4,), "int32"]):
    C = T.allocate([4], "int32", "global", annotations={"why": [1, {"deep": "x"}]})
    K = T.allocate_const([1, 2, 3, 4], "int32", [4], annotations={"rom": True})
    for i in range(4):
        with T.block("b"):
            vi = T.axis.spatial(4, i)
            C[vi] = A[vi] + K[vi]
    for i in range(4):
        with T.block("c"):
            vi = T.axis.spatial(4, i)
            B[vi] = C[vi]
""")

    said = {"why": [1, {"deep": "x"}]}, {"rom": True}
    for each in (func, T.from_source(func.script()), func.with_body(func.body)):
        tir.assert_structural_equal(each, func)
        found = [node for node in walk(each.body) if isinstance(node, tir.Allocate | tir.AllocateConst)]
        assert tuple(node.annotations for node in found) == said
    plain = func.with_body(
        stmt_functor.ir_transform(
            func.body,
            None,
            lambda node: tir.Allocate(node.buffer_var, node.dtype, node.extents, node.condition, node.body),
            ["tir.Allocate"],
        )
    )
    assert not tir.structural_equal(plain, func) and not tir.structural_equal(plain.body, func.body)


def test_handles_that_are_only_handed_on_are_addresses() -> None:
    func = function("""
@T.prim_func
def func(a: T.handle):
    T.evaluate(T.call_extern("f", a, T.lookup_param("k"), T.lookup_param("a", dtype="handle"), dtype="int32"))
    T.evaluate(T.call_extern("g", T.lookup_param("k"), dtype="int32"))
""")

    assert [param.name for param in func.params] == ["a", "k", "a"]
    assert all(func.buffer_map[param].shape == () for param in func.params)
    tir.assert_structural_equal(T.from_source(func.script()), func)
    head = "from weft.script import tir as T\n@T.prim_func\ndef f(a: T.handle):\n    "
    with pytest.raises(weft.Diagnostic, match=r"no T\.match_buffer says what 'a' is"):
        T.from_source(head + "a[0] = 1.0")
    with pytest.raises(weft.Diagnostic, match="a constant is looked up by its name"):
        T.from_source(head + 'T.evaluate(T.call_extern("f", a, T.lookup_param("k", "int32")))')


def test_a_node_of_memory_prints_its_annotations() -> None:
    memory = CHAIN["main"].body
    assert isinstance(memory, tir.Allocate)
    told = tir.Allocate(memory.buffer_var, memory.dtype, memory.extents, True, tir.Evaluate(0), {"why": 3})
    assert "T.allocate([32], 'int8', 'global', annotations={'why': 3})" in told.script().replace('"', "'")


def conflicts_of(text: str) -> dict[str, list[str]]:
    found = with_pools(module(text), LARGE)
    infos = extract_buffer_info(found["main"], found).buffer_info_stmts
    return {info.name_hint: sorted(each.name_hint for each in info.conflicts) for info in infos}


def test_what_is_needed_in_a_while_loop_is_needed_in_all_of_it() -> None:
    found = conflicts_of("""
@T.prim_func
def main(O: T.Buffer[(16,), "float32"]):
    X = T.allocate([16], "float32", "global")
    Y = T.allocate([16], "float32", "global")
    N = T.allocate([1], "int32", "global")
    N[0] = 0
    while N[0] < 3:
        for i in range(16):
            O[i] = X[i]
        for i in range(16):
            Y[i] = O[i]
        N[0] = N[0] + 1
""")
    assert found == {"X": ["N", "Y"], "Y": ["N", "X"], "N": ["X", "Y"]}


def test_a_number_that_a_call_is_given_is_read_for_it() -> None:
    found = conflicts_of("""
@T.prim_func
def add(A: T.Buffer[(16,), "float32"], k: T.float32, B: T.Buffer[(16,), "float32"]):
    for i in range(16):
        B[i] = A[i] + k

@T.prim_func
def main(input: T.Buffer[(16,), "float32"], output: T.Buffer[(16,), "float32"]):
    X = T.allocate([16], "float32", "global")
    Y = T.allocate([16], "float32", "global")
    for i in range(16):
        X[i] = input[i]
    T.evaluate(T.call_extern("add", input.data, X[1], Y, dtype="int32"))
    T.evaluate(T.call_extern("add", Y, X[2], output.data, dtype="int32"))
""")
    assert found == {"X": ["Y"], "Y": ["X"]}


def test_what_one_call_gives_a_parameter_is_not_what_the_next_one_does() -> None:
    found = conflicts_of("""
@T.prim_func
def copy(A: T.Buffer[(16,), "float32"], B: T.Buffer[(16,), "float32"]):
    for i in range(16):
        B[i] = A[i]

@T.prim_func
def add(A: T.Buffer[(16,), "float32"], B: T.Buffer[(16,), "float32"]):
    for i in range(16):
        B[i] = A[i] + T.float32(1)

@T.prim_func
def main(input: T.handle, output: T.handle):
    X = T.allocate([16], "float32", "global")
    Y = T.allocate([16], "float32", "global")
    Z = T.allocate([16], "float32", "global")
    T.evaluate(T.call_extern("copy", input, X, dtype="int32"))
    T.evaluate(T.call_extern("add", X, Y, dtype="int32"))
    T.evaluate(T.call_extern("add", Y, Z, dtype="int32"))
    T.evaluate(T.call_extern("copy", Z, output, dtype="int32"))
""")
    assert found == {"X": ["Y"], "Y": ["X", "Z"], "Z": ["Y"]}


def test_what_one_statement_reads_and_what_it_writes_are_in_conflict() -> None:
    found = conflicts_of("""
@T.prim_func
def main(O: T.Buffer[(1,), "int32"]):
    X = T.allocate([1], "int32", "global")
    Y = T.allocate([1], "int32", "global")
    Z = T.allocate([1], "int32", "global")
    X[0] = 1
    Y[0] = X[0]
    Z[0] = Y[0]
    O[0] = Z[0]
""")
    assert found == {"X": ["Y"], "Y": ["X", "Z"], "Z": ["Y"]}


def test_what_is_a_threads_own_is_left_out() -> None:
    """What a serial loop has of another scope, and all that a parallel loop has."""
    found = conflicts_of("""
@T.prim_func
def main(O: T.Buffer[(4,), "int32"]):
    for i in range(4):
        near = T.allocate([1], "int32", "local")
        far = T.allocate([1], "int32", "global")
        near[0] = i
        far[0] = near[0]
        O[i] = far[0]
    for i in T.parallel(0, 4):
        own = T.allocate([1], "int32", "global")
        own[0] = i
        O[i] = own[0]
""")
    assert found == {"far": []}


def test_buffers_of_one_name_are_numbered() -> None:
    found = conflicts_of("""
@T.prim_func
def main(O: T.Buffer[(4,), "int32"]):
    for i in range(4):
        X = T.allocate([1], "int32", "global")
        X[0] = i
        O[i] = X[0]
    for i in range(4):
        X = T.allocate([1], "int32", "global")
        X[0] = i
        O[i] = X[0]
    for i in range(4):
        X = T.allocate([1], "int32", "global")
        X[0] = i
        O[i] = X[0]
""")
    assert found == {"X": [], "X1": [], "X2": []}


def test_two_calls_of_a_function_in_a_loop_share_its_memory() -> None:
    told = with_pools(
        module("""
@T.prim_func
def twice(A: T.Buffer[(4,), "int32"]):
    own = T.allocate([4], "int32", "global")
    for i in range(4):
        own[i] = A[i]
    for i in range(4):
        A[i] = own[i] + own[i]

@T.prim_func
def main(A: T.handle):
    for _ in range(2):
        T.evaluate(T.call_extern("twice", A, dtype="int32"))
        T.evaluate(T.call_extern("twice", A, dtype="int32"))
"""),
        LARGE,
    )
    found = extract_buffer_info(told["main"], told)
    assert conflicts(found) == {"own": set()} and found.memory_pressure == 16
