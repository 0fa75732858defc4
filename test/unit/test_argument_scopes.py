"""Scopes of what a function is given, which tensor intrinsics are told of the tiles that they take."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft import tir
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.functions import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter


def function(text: str) -> PrimFuncOp:
    func = tir.from_source(text)
    assert isinstance(func, PrimFuncOp)
    return func


def tile(name: str, kind: str, scope: str = "local") -> PrimFuncOp:
    """Twice the numbers of a tile that lies in a scope, one after the other or as a vector."""
    return function(f"""
@T.prim_func
def {name}(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (4,), "float32", align=64, offset_factor=1, scope="{scope}")
    C = T.match_buffer(c, (4,), "float32", align=64, offset_factor=1)
    for i in T.{kind}(4):
        with T.block("twice"):
            vi = T.axis.spatial(4, i)
            C[vi] = A[vi] * T.float32(2)
""")


def test_what_a_function_is_given_may_lie_in_a_scope() -> None:
    func = tile("twice", "serial")
    assert 'A: T.Buffer((4,), "float32", scope="local")' in func.script()
    assert [func.buffer_map[each].scope() for each in func.params] == ["local", "global"]
    tir.assert_structural_equal(function(func.script()), func)
    assert not tir.structural_equal(func, tile("twice", "serial", "global"))
    tir.assert_structural_equal(func.with_body(func.body), func)
    (result,) = Interpreter(func)([np.arange(4, dtype=np.float32)])
    np.testing.assert_array_equal(np.asarray(result), [0, 2, 4, 6])
    with pytest.raises(Diagnostic, match='an argument is of the scope "local", and what is passed lies in the global'):
        weft.build(func)


def test_nodes_say_where_what_a_function_is_given_lies() -> None:
    A, C = tir.decl_buffer((4,), name="A", scope="shared"), tir.decl_buffer((4,), name="C")
    i = tir.Var("i", "int32")
    func = tir.PrimFunc([A, C], tir.For(i, 0, 4, "serial", C.vstore([i], A.vload([i]) * 2.0)))
    assert [func.buffer_map[each].scope() for each in func.params] == ["shared", "global"]


def scheduled(scope: str) -> tir.Schedule:
    schedule = tir.Schedule(
        function("""
@T.prim_func
def f(A: T.Buffer[(24,), "float32"], C: T.Buffer[(24,), "float32"]):
    for i in range(24):
        with T.block("c"):
            vi = T.axis.spatial(24, i)
            C[vi] = A[vi] * T.float32(2)
""")
    )
    outer, inner = schedule.split(schedule.get_loops("c")[0], [None, 4])
    if scope != "global":
        copy = schedule.cache_read("c", 0, scope)
        schedule.compute_at(copy, outer)
    schedule.tensorize(schedule.get_loops("c")[1] if scope == "global" else inner, "test_scoped_twice")
    return schedule


@pytest.fixture
def twice() -> None:
    tir.TensorIntrin.register("test_scoped_twice", tile("desc", "serial"), tile("impl", "vectorized"), override=True)


@pytest.mark.usefixtures("twice")
@pytest.mark.parametrize("threads", [1, 3])
def test_an_intrinsic_takes_tiles_in_its_scopes(threads: int) -> None:
    func = scheduled("local").mod["main"]
    a, c = np.arange(24, dtype=np.float32), np.zeros(24, np.float32)
    weft.build(func, threads=threads)(a, c)
    np.testing.assert_array_equal(c, a * 2)
    (found,) = Interpreter(func)([a])
    np.testing.assert_array_equal(np.asarray(found), c)


@pytest.mark.usefixtures("twice")
@pytest.mark.parametrize("scope", ["global", "shared"])
def test_tiles_elsewhere_are_refused(scope: str) -> None:
    with pytest.raises(tir.ScheduleError, match=f"takes its %A in the scope local, and %.* has the scope {scope}"):
        scheduled(scope)


def test_both_functions_of_an_intrinsic_say_the_same() -> None:
    with pytest.raises(ValueError, match="the functions of test_other take buffers of other scopes"):
        tir.TensorIntrin.register("test_other", tile("desc", "serial"), tile("impl", "serial", "shared"))
