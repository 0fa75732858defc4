"""`tir.get_first_structural_mismatch`: where two trees of nodes first differ."""

# pyright: basic, reportArgumentType=false, reportOptionalSubscript=false, reportCallIssue=false
# pyright: reportInvalidTypeForm=false
from __future__ import annotations

import numpy as np
import pytest

import weft
from weft import te, tir
from weft.tir import ObjectPath, get_first_structural_mismatch

ROOT = ObjectPath.root()


def differ(lhs: object, rhs: object, map_free_vars: bool = False) -> tuple[str, str] | None:
    """Where, in each; the other way round it is the same."""
    found = get_first_structural_mismatch(lhs, rhs, map_free_vars)
    back = get_first_structural_mismatch(rhs, lhs, map_free_vars)
    assert (found is None) == (back is None) == tir.structural_equal(lhs, rhs, map_free_vars)
    if found is None or back is None:
        return None
    assert found == back[::-1]
    return str(found[0]), str(found[1])


def loop(body: object, extent: int = 4, kind: str = "serial", name: str = "i") -> tuple[tir.For, tir.Var]:
    i = tir.Var(name, "int32")
    return tir.For(i, 0, extent, kind, body(i)), i


def test_loops_and_what_is_in_them() -> None:
    A = tir.decl_buffer((8,), "float32", name="A")

    def body(i: te.Expr, value: float = 1.0, shift: int = 0) -> tir.BufferStore:
        return tir.BufferStore(A, value, [i + shift])

    same, _ = loop(body, name="j")
    assert differ(loop(body)[0], same) is None
    assert differ(loop(body)[0], loop(body, 5)[0]) == ("<root>.extent.value",) * 2
    assert differ(loop(body)[0], loop(body, 4, "parallel")[0]) == ("<root>.kind",) * 2
    assert differ(loop(body)[0], loop(lambda i: body(i, 2.0))[0]) == ("<root>.body.value.value",) * 2
    assert differ(loop(body)[0], loop(lambda i: body(i, shift=1))[0]) == ("<root>.body.indices[0]",) * 2
    assert (
        differ(loop(lambda i: body(i, shift=2))[0], loop(lambda i: body(i, shift=1))[0])
        == ("<root>.body.indices[0].b.value",) * 2
    )
    assert differ(loop(body)[0], body(0)) == ("<root>", "<root>")


def test_a_variable_of_a_loop_is_none_of_another() -> None:
    A = tir.decl_buffer((8,), "float32", name="A")
    i, j = tir.Var("i", "int32"), tir.Var("j", "int32")

    def nest(at: te.Expr) -> tir.For:
        return tir.For(i, 0, 4, "serial", tir.For(j, 0, 4, "serial", tir.BufferStore(A, 0.0, [at])))

    assert differ(nest(i), nest(j)) == ("<root>.body.body.indices[0]",) * 2
    assert differ(nest(i), nest(i)) is None


def test_sequences_of_several_lengths() -> None:
    x = tir.Var("x", "int32")
    steps = [tir.Evaluate(x + number) for number in range(1, 5)]
    assert differ(tir.SeqStmt(steps), tir.SeqStmt(steps[:3])) == (
        "<root>.seq[3]",
        "<root>.seq[<missing element #3>]",
    )
    changed = [*steps[:2], tir.Evaluate(x + 99)]
    assert differ(tir.SeqStmt(steps), tir.SeqStmt(changed)) == ("<root>.seq[2].value.b.value",) * 2


def test_dictionaries_and_arrays() -> None:
    assert differ({"a": [1, 2], "b": 3}, {"b": 3, "a": [1, 2]}) is None
    assert differ({"a": [1, 2], "b": 3}, {"b": 4, "a": [1, 5]}) == ("<root>['a'][1]",) * 2
    assert differ({"b": 3}, {"a": 3}) == ("<root>[<missing entry>]", "<root>['a']")
    assert differ({}, []) == ("<root>",) * 2
    x, y = np.arange(4, dtype=np.int32), weft.nd.array(np.arange(4, dtype=np.int32))
    assert differ({"x": x}, {"x": y}) is None
    for other in (x.reshape(2, 2), x.astype(np.int64), x + 1):
        assert differ({"x": x}, {"x": other}) == ("<root>['x']",) * 2
    assert tir.structural_hash({"x": x}) == tir.structural_hash({"x": y}) != tir.structural_hash({"x": x + 1})
    with pytest.raises(weft.Diagnostic):
        tir.structural_equal({1: x}, {1: x})


def test_free_variables_are_the_same_or_stand_alike() -> None:
    x, y, z = (tir.Var(name, "float32") for name in "xyz")
    assert differ(x * y + x, y * x + y, map_free_vars=True) is None
    assert differ(x * y + x, y * x + y) == ("<root>.a.a",) * 2
    assert differ(x * y + x, y * z + z, map_free_vars=True) == ("<root>.b",) * 2
    assert differ(x * y + x, (x - y) + x) == ("<root>.a", "<root>.a")
    n = tir.Var("n", "int32")
    one, other = tir.LetStmt(n, 1, tir.Evaluate(n + 1)), tir.LetStmt(x, 1.0, tir.Evaluate(x))
    assert differ(one, other) == ("<root>.var",) * 2


SUM = """
@T.prim_func
def f(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "{type}"]):
    for i in range(8):
        with T.block("b"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] {op} A[vi]
"""


def test_functions_and_modules() -> None:
    add, multiply, wide = (
        tir.from_source(SUM.format(type=type, op=op))
        for type, op in (("float32", "+"), ("float32", "*"), ("float64", "+"))
    )
    places = differ(add, multiply)
    assert places == (places[1],) * 2 and places[0].startswith("<root>.body.") and places[0].endswith(".body.value")
    assert differ(add, wide) == ("<root>.buffer_map[B]",) * 2
    longer = tir.from_source(SUM.format(type="float32", op="+").replace("(8,)", "(9,)"))
    assert differ(add, longer) == ("<root>.buffer_map[A].shape[0].value",) * 2
    two = tir.IRModule({"f": add, "g": add})
    assert differ(two, tir.IRModule({"f": add})) == ("<root>.functions['g']", "<root>.functions[<missing entry>]")
    found = differ(two, tir.IRModule({"f": add, "g": multiply}))
    assert found[0].startswith("<root>.functions['g'].body")


def test_what_an_assertion_says() -> None:
    x = tir.Var("x", "int32")
    with pytest.raises(ValueError, match=r"they differ at <root>\.value\.b\.value:\n"):
        tir.assert_structural_equal(tir.Evaluate(x + 1), tir.Evaluate(x + 2))


def test_paths() -> None:
    path = ROOT.attr("body").array_index(2).map_value("k")
    assert str(path) == "<root>.body[2]['k']" and len(path) == 4
    assert path.parent == ROOT.attr("body").array_index(2) and ROOT.parent is None
    assert path.get_prefix(2) == ROOT.attr("body") and path.get_prefix(2).is_prefix_of(path)
    assert not path.is_prefix_of(ROOT) and not ROOT.attr("a").is_prefix_of(path)
    assert str(ObjectPath.root("f").attr(None).missing_array_element(1)) == "f.<missing>[<missing element #1>]"
    assert len({path, ROOT.attr("body").array_index(2).map_value("k")}) == 1
    with pytest.raises(weft.Diagnostic, match="prefixes of 1 to 4"):
        path.get_prefix(5)
